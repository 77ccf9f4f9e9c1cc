"""A noisy curve by support vector regression with three kernels, and by kernel ridge regression, tuned by search."""

import sys

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR, LinearSVR, NuSVR

rng = np.random.RandomState(42)
X = np.sort(5 * rng.rand(120, 1), axis=0)
y = np.sin(X).ravel()
y[::6] += 2 * (0.5 - rng.rand(20))
new = np.linspace(0, 5, 200)[:, None]
found = {}
for name, machine in {
    "rbf": SVR(kernel="rbf", C=100, gamma=0.1, epsilon=0.1),
    "linear": SVR(kernel="linear", C=100, gamma="auto"),
    "poly": SVR(kernel="poly", C=1, gamma="auto", degree=3, epsilon=0.1, coef0=1),
    "nu": NuSVR(C=10, gamma=0.5),
    "line": LinearSVR(C=1, loss="squared_epsilon_insensitive", epsilon=0.1, max_iter=100000),
}.items():
    found[f"values_{name}"] = machine.fit(X, y).predict(new)
grid = {"alpha": [1, 0.1, 1e-2], "gamma": np.logspace(-1, 1, 3)}
search = GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=5).fit(X, y)
found["exact_ridge"] = search.predict(new)
found["labels_best"] = np.array([search.best_params_["alpha"], search.best_params_["gamma"]])
np.savez(sys.argv[1], **found)
