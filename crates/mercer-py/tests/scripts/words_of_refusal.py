"""Errors and warnings: what is raised, and with which words, for calls that go wrong."""

import re
import sys
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, OneClassSVM

X, y = load_iris(return_X_y=True)
nan, inf, text = X.copy(), X.copy(), X.astype(object)
nan[3, 1], inf[5, 2], text[7, 0] = np.nan, np.inf, "seven"
fitted = SVC().fit(X, y)
calls = {
    "unfitted": lambda: SVC().predict(X),
    "unfitted-pca": lambda: KernelPCA().transform(X),
    "unfitted-ridge": lambda: KernelRidge().predict(X),
    "nan": lambda: SVC().fit(nan, y),
    "inf": lambda: SVR().fit(inf, y),
    "nan-new": lambda: fitted.predict(nan),
    "nan-target": lambda: SVR().fit(X, np.where(y > 1, np.nan, y)),
    "fewer": lambda: fitted.predict(X[:, :3]),
    "lengths": lambda: SVC().fit(X, y[:-1]),
    "flat": lambda: SVC().fit(X[:, 0], y),
    "flat-new": lambda: fitted.predict(X[0]),
    "one-class": lambda: SVC().fit(X, np.zeros(150)),
    "one-class-line": lambda: LinearSVC().fit(X, np.zeros(150)),
    "empty": lambda: SVC().fit(X[:0], y[:0]),
    "no-columns": lambda: SVC().fit(X[:, :0], y),
    "continuous": lambda: SVC().fit(X, y + 0.5),
    "continuous-line": lambda: LinearSVC().fit(X, y + 0.5),
    "table": lambda: SVC().fit(X, np.c_[y, y]),
    "none": lambda: SVC().fit(X, None),
    "deep": lambda: SVC().fit(X[:, :, None], y),
    "C": lambda: SVC(C=-1).fit(X, y),
    "kernel": lambda: SVC(kernel="rbff").fit(X, y),
    "gamma": lambda: SVC(gamma="wide").fit(X, y),
    "degree": lambda: SVC(kernel="poly", degree=-1).fit(X, y),
    "nu": lambda: NuSVC(nu=1.5).fit(X, y),
    "nu-infeasible": lambda: NuSVC(nu=0.9).fit(X, np.where(np.arange(150) < 140, 0, 1)),
    "epsilon": lambda: SVR(epsilon=-1).fit(X, y),
    "loss": lambda: LinearSVC(loss="l3").fit(X, y),
    "penalty": lambda: LinearSVC(penalty="l1", loss="hinge").fit(X, y),
    "dual": lambda: LinearSVC(penalty="l2", loss="hinge", dual=False).fit(X, y),
    "linear-svr": lambda: LinearSVR(loss="squared_hinge").fit(X, y),
    "tol": lambda: SVC(tol=0).fit(X, y),
    "shape": lambda: SVC(decision_function_shape="ovx").fit(X, y),
    "weights": lambda: SVC().fit(X, y, sample_weight=np.ones(3)),
    "weights-zero": lambda: SVC().fit(X, y, sample_weight=np.zeros(150)),
    "weights-deep": lambda: SVC().fit(X, y, sample_weight=np.ones((150, 2))),
    "one-left": lambda: SVC().fit(X, y, sample_weight=(y == 0).astype(float)),
    "class-weight": lambda: SVC(class_weight="balance").fit(X, y),
    "precomputed": lambda: SVC(kernel="precomputed").fit(X, y),
    "precomputed-new": lambda: SVC(kernel="precomputed").fit(X @ X.T, y).predict(X),
    "precomputed-sparse": lambda: SVC(kernel="precomputed").fit(sp.csr_matrix(X @ X.T), y),
    "probabilities": lambda: fitted.predict_proba(X),
    "coef": lambda: fitted.coef_,
    "ties": lambda: SVC(break_ties=True, decision_function_shape="ovo").fit(X, y).predict(X),
    "text": lambda: SVC().fit(text, y),
    "complex": lambda: SVC().fit(X + 1j, y),
    "sparse-new": lambda: fitted.predict(sp.csr_matrix(X)),
    "dense-new": lambda: SVC().fit(sp.csr_matrix(X), y).predict(X),
    "components": lambda: KernelPCA(0).fit(X),
    "many-components": lambda: KernelPCA(400).fit(X).eigenvalues_.shape,
    "inverse": lambda: KernelPCA(2).fit(X).inverse_transform(X[:, :2]),
    "inverse-given": lambda: KernelPCA(fit_inverse_transform=True, kernel="precomputed").fit(X @ X.T),
    "solver": lambda: KernelPCA(2, eigen_solver="qr").fit(X),
    "alpha": lambda: KernelRidge(alpha=-1).fit(X, y),
    "map-few": lambda: Nystroem(n_components=500).fit(X),
    "map-zero": lambda: Nystroem(n_components=0).fit(X),
    "map-gamma": lambda: RBFSampler(gamma=-1).fit(X),
    "limit": lambda: SVC(max_iter=1).fit(X, y),
    "limit-line": lambda: LinearSVC(max_iter=1, dual=True, random_state=0).fit(X, y),
    "column": lambda: SVC().fit(X, y[:, None]),
    "one-row": lambda: OneClassSVM().fit(X[:1]),
    "names": lambda: SVC().fit(X, y).feature_names_in_,
    "parameter": lambda: SVC(width=3),
    "set": lambda: SVC().set_params(width=3),
    "probability": lambda: SVC(probability=True, random_state=0).fit(X[::5], y[::5]),
    "unlike": lambda: SVC().fit(X, ["a", 1] * 75),
    "score": lambda: fitted.score(X, y[:5]),
}
found = {}
for name, call in calls.items():
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            call()
            said = ["nothing", ""]
        except Exception as error:  # noqa: BLE001: what it is, is what is asked
            # Words in any order: scikit-learn lists sets. What Mercer adds in brackets is left out.
            said = [type(error).__name__, " ".join(sorted(re.findall(r"[\w.]+", str(error).split(" (preimage")[0])))]
    found[f"labels_{name}"] = np.array([*said, *sorted({f"{w.category.__name__}" for w in heard})])
np.savez(sys.argv[1], **found)
