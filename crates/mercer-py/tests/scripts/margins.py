"""The plane between two clouds of points, its margins, and how C moves them."""

import sys

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.svm import SVC, LinearSVC

X, y = make_blobs(n_samples=120, centers=2, cluster_std=1.6, random_state=6)
grid = np.stack(np.meshgrid(np.linspace(-12, 12, 25), np.linspace(-12, 12, 25)), axis=-1).reshape(-1, 2)
found = {}
for C in (0.05, 1, 100):
    plane = SVC(kernel="linear", C=C, tol=1e-6).fit(X, y)
    found[f"labels_{C}"] = plane.predict(grid)
    found[f"values_{C}"] = plane.decision_function(grid)
    found[f"values_width_{C}"] = 1 / np.sqrt((plane.coef_**2).sum(axis=1))
    assert len(plane.support_vectors_) == plane.n_support_.sum() == plane.dual_coef_.shape[1]
    assert np.allclose(plane.dual_coef_ @ plane.support_vectors_, plane.coef_)
quick = LinearSVC(C=1, loss="hinge", max_iter=10000, random_state=0).fit(X, y)
found["labels_quick"] = quick.predict(grid)
found["values_quick"] = quick.decision_function(grid)
np.savez(sys.argv[1], **found)
