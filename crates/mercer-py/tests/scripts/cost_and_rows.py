"""How the best C of a linear machine goes with the number of rows, under an L1 and an L2 penalty."""

import sys

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import ShuffleSplit, validation_curve
from sklearn.svm import LinearSVC

X, y = make_classification(n_samples=100, n_features=300, n_informative=5, random_state=1)
found = {}
for penalty, costs in (("l1", np.logspace(-2.3, -1.3, 4)), ("l2", np.logspace(-8, 4, 4))):
    machine = LinearSVC(penalty=penalty, loss="squared_hinge", dual=penalty == "l2", tol=1e-3, max_iter=20000, random_state=0)
    for size in (0.3, 0.7):
        splits = ShuffleSplit(train_size=size, test_size=0.3, n_splits=4, random_state=1)
        _, scores = validation_curve(machine, X, y, param_name="C", param_range=costs, cv=splits)
        found[f"values_{penalty}_{size}"] = scores.mean(axis=1)
np.savez(sys.argv[1], **found)
