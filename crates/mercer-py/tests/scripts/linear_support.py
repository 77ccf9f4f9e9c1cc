"""Support vectors of LinearSVC, which does not keep them: rows whose decision value is at most 1."""

import sys

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.svm import LinearSVC

X, y = make_blobs(n_samples=40, centers=2, random_state=0)
found = {}
for C in (1, 100):
    machine = LinearSVC(C=C, loss="hinge", random_state=42, tol=1e-8, max_iter=1000000).fit(X, y)
    values = machine.decision_function(X)
    found[f"values_{C}"] = values
    found[f"labels_support_{C}"] = np.where(np.abs(values) <= 1 + 1e-3)[0]
    found[f"values_plane_{C}"] = np.r_[machine.coef_.ravel(), machine.intercept_]
np.savez(sys.argv[1], **found)
