"""Sixteen points and four kernels: what each makes of them."""

import sys

import numpy as np
from sklearn.svm import SVC

X = np.array(
    [[0.4, -0.7], [-1.5, -1.0], [-1.4, -0.9], [-1.3, -1.2], [-1.1, -0.2], [-1.2, -0.4], [-0.5, 1.2], [-1.5, 2.1]]
    + [[1.0, 1.0], [1.3, 0.8], [1.2, 0.5], [0.2, -2.0], [0.5, -2.4], [0.2, -2.3], [0.0, -2.7], [1.3, 2.1]]
)
y = np.repeat([0, 1], 8)
grid = np.stack(np.meshgrid(np.linspace(-3, 3, 15), np.linspace(-3, 3, 15)), axis=-1).reshape(-1, 2)
found = {}
for kernel in ("linear", "poly", "rbf", "sigmoid"):
    machine = SVC(kernel=kernel, gamma=2).fit(X, y)
    found[f"labels_{kernel}"] = machine.predict(X)
    if kernel == "sigmoid":
        # Not positive definite: solvers may end at different local optima.
        continue
    found[f"values_{kernel}"] = machine.decision_function(grid) / np.abs(machine.decision_function(grid)).max()
    found[f"labels_support_{kernel}"] = np.sort(machine.support_)
np.savez(sys.argv[1], **found)
