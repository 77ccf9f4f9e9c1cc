"""Probabilities from decision values by cross-validation: of two classes and of ten."""

import sys

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, make_classification
from sklearn.svm import SVC, LinearSVC

X, y = make_classification(n_samples=600, n_features=20, n_informative=2, n_redundant=2, random_state=42)
line = CalibratedClassifierCV(LinearSVC(C=1.0, max_iter=20000), method="sigmoid", cv=3).fit(X[:300], y[:300])
steps = CalibratedClassifierCV(LinearSVC(C=1.0, max_iter=20000), method="isotonic", cv=3).fit(X[:300], y[:300])
D, t = load_digits(return_X_y=True)
many = CalibratedClassifierCV(SVC(gamma=0.001), cv=3).fit(D[:600], t[:600])
np.savez(
    sys.argv[1],
    values_line=line.predict_proba(X[300:]),
    votes_steps=steps.predict_proba(X[300:]),
    # Decision values of ten classes are votes, which jump where a pair is tied.
    votes_many=many.predict_proba(D[600:900]),
    labels_many=many.predict(D[600:900]),
)
