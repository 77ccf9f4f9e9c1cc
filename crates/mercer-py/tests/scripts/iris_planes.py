"""Four machines on two columns of the iris data: linear by pairs, linear by class, Gaussian, polynomial."""

import sys

import numpy as np
from sklearn.datasets import load_iris
from sklearn.svm import SVC, LinearSVC

X, y = load_iris(return_X_y=True)
X = X[:, :2]
found = {}
for name, machine in {
    "pairs": SVC(kernel="linear", C=1.0),
    "classes": LinearSVC(C=1.0, max_iter=10000),
    "rbf": SVC(kernel="rbf", gamma=0.7, C=1.0),
    "poly": SVC(kernel="poly", degree=3, gamma="auto", C=1.0),
}.items():
    machine.fit(X, y)
    found[f"labels_{name}"] = machine.predict(X)
    found[f"votes_{name}"] = machine.decision_function(X)
np.savez(sys.argv[1], **found)
