"""A grid of C and gamma over the iris data, and what the Gaussian's width does to decision values."""

import sys

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

X, y = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)
grid = {"gamma": np.logspace(-4, 2, 4), "C": np.logspace(-1, 3, 3)}
splits = StratifiedShuffleSplit(n_splits=5, test_size=0.2, random_state=42)
search = GridSearchCV(SVC(), param_grid=grid, cv=splits).fit(X, y)
found = {
    "values_scores": search.cv_results_["mean_test_score"],
    "labels_best": np.array([search.best_params_["C"], search.best_params_["gamma"]]),
}
two = y > 0
X2, y2 = StandardScaler().fit_transform(X[two][:, :2]), y[two] - 1
for C in (1e-2, 1, 1e2):
    for gamma in (1e-1, 1, 1e1):
        machine = SVC(C=C, gamma=gamma).fit(X2, y2)
        found[f"values_{C}_{gamma}"] = machine.decision_function(X2)
np.savez(sys.argv[1], **found)
