"""Machines inside estimators of other kinds: labels that are missing, gaps that are filled, neighbours of novelties."""

import sys

import numpy as np
from sklearn.covariance import EllipticEnvelope
from sklearn.datasets import load_iris, make_moons
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import SVC, SVR, LinearSVC, OneClassSVM

X, y = load_iris(return_X_y=True)
gaps = X.copy()
gaps[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
filled = IterativeImputer(KernelRidge(alpha=0.1), max_iter=3, random_state=0, tol=1e-12).fit_transform(gaps)
tubes = IterativeImputer(SVR(C=5.0), max_iter=3, random_state=0).fit_transform(gaps)
known = np.where(np.random.default_rng(1).random(150) < 0.6, -1, y)
self_taught = SelfTrainingClassifier(CalibratedClassifierCV(SVC(gamma=0.5), cv=3, ensemble=False), threshold=0.8).fit(X, known)
M, t = make_moons(300, noise=0.25, random_state=0)
tuned = TunedThresholdClassifierCV(SVC(), scoring="f1", cv=4, random_state=0).fit(M, t)
fixed = FixedThresholdClassifier(SVC(), threshold=0.4, response_method="decision_function").fit(M, t)
chain = make_pipeline(
    PolynomialFeatures(3, include_bias=False), StandardScaler(), FunctionTransformer(np.tanh), LinearSVC(C=0.3, random_state=0)
).fit(M, t)
odd = OneClassSVM(nu=0.1, gamma=0.5).fit(M)
other = EllipticEnvelope(contamination=0.1, random_state=0).fit(M)
np.savez(
    sys.argv[1],
    values_filled=filled,
    values_tubes=tubes,
    labels_taught=self_taught.predict(X),
    values_threshold=np.array([tuned.best_threshold_, tuned.best_score_]),
    labels_tuned=tuned.predict(M),
    labels_fixed=fixed.predict(M),
    labels_chain=chain.predict(M),
    # Rows on the boundary have the value 0 but for rounding.
    values_odd=odd.decision_function(M),
    values_scores=odd.score_samples(M),
    values_offset=np.ravel(odd.offset_),
    values_auc=np.array([roc_auc_score(other.predict(M), odd.decision_function(M))]),
)
