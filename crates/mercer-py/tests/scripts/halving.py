"""Searches that give more rows to fewer settings, at random and over a grid."""

import sys

import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import make_classification, make_friedman1
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingGridSearchCV, HalvingRandomSearchCV, RandomizedSearchCV, RepeatedStratifiedKFold
from sklearn.svm import SVC, SVR

X, y = make_classification(400, 12, n_informative=7, random_state=0)
R, t = make_friedman1(300, random_state=0)
halving = HalvingGridSearchCV(SVC(), {"C": [0.1, 1, 10, 100], "gamma": [0.001, 0.01, 0.1]}, cv=3, random_state=0, factor=3).fit(X, y)
drawn = HalvingRandomSearchCV(SVR(), {"C": loguniform(0.1, 100), "epsilon": [0.01, 0.1, 0.5]}, n_candidates=9, cv=3, random_state=0).fit(
    R, t
)
plain = RandomizedSearchCV(
    SVC(),
    {"C": loguniform(0.01, 100), "kernel": ["rbf", "poly", "linear"]},
    n_iter=8,
    cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    random_state=1,
).fit(X, y)
np.savez(
    sys.argv[1],
    labels_best=np.array([halving.best_index_, drawn.best_index_, plain.best_index_]),
    labels_rows=np.array(halving.n_resources_ + drawn.n_resources_),
    values_halving=halving.cv_results_["mean_test_score"],
    values_drawn=drawn.cv_results_["mean_test_score"],
    values_plain=plain.cv_results_["mean_test_score"],
    labels=halving.predict(X),
    values_tube=drawn.predict(R),
)
