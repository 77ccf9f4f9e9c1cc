"""Votes of three classes where they are tied, decided by order or by decision values."""

import sys

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

X, y = make_blobs(random_state=27)
x0, x1 = (np.linspace(X[:, c].min() - 1, X[:, c].max() + 1, 60) for c in (0, 1))
grid = np.stack(np.meshgrid(x0, x1), axis=-1).reshape(-1, 2)
found = {}
for broken in (False, True):
    machine = SVC(kernel="linear", C=1, break_ties=broken, decision_function_shape="ovr").fit(X, y)
    # Labels as numbers: a point of the grid on the boundary itself may have either.
    found[f"votes_{broken}"] = machine.predict(grid).astype(float)
    found[f"labels_{broken}"] = machine.predict(X)
np.savez(sys.argv[1], **found)
