"""Kernel ridge regression and support vector regression on one curve, both tuned by search, and learning curves."""

import sys

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, learning_curve
from sklearn.svm import SVR

rng = np.random.RandomState(42)
X = 5 * rng.rand(400, 1)
y = np.sin(X).ravel()
y[::5] += 3 * (0.5 - rng.rand(X.shape[0] // 5))
new = np.linspace(0, 5, 200)[:, None]
size = 100
tube = GridSearchCV(SVR(kernel="rbf", gamma=0.1), {"C": [1e0, 1e1, 1e2], "gamma": np.logspace(-2, 1, 4)})
ridge = GridSearchCV(KernelRidge(kernel="rbf", gamma=0.1), {"alpha": [1e0, 0.1, 1e-2], "gamma": np.logspace(-2, 1, 4)})
tube.fit(X[:size], y[:size])
ridge.fit(X[:size], y[:size])
sizes = np.linspace(0.2, 1, 3)
how = {"train_sizes": sizes, "scoring": "neg_mean_squared_error", "cv": 4}
np.savez(
    sys.argv[1],
    values_tube=tube.predict(new),
    exact_ridge=ridge.predict(new),
    labels_best=np.array([*tube.best_params_.values(), *ridge.best_params_.values()]),
    values_tube_curve=learning_curve(SVR(kernel="rbf", C=1e1, gamma=0.1), X, y, **how)[2].mean(axis=1),
    exact_ridge_curve=learning_curve(KernelRidge(kernel="rbf", alpha=0.1, gamma=0.1), X, y, **how)[2].mean(axis=1),
)
