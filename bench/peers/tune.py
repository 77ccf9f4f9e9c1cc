"""scikit-learn's `GridSearchCV` over its own `SVC` or that of scikit-learn-intelex (oneDAL).

    tune.py sklearn|onedal
"""

import sys
import time

import numpy as np
from serve import serve
from sklearn.model_selection import GridSearchCV

held = {}


def load(request):
    held["x"] = np.load(request["x"]).astype(np.float64)
    held["y"] = np.load(request["y"])
    fold = np.asarray(request["fold_of_row"])
    held["folds"] = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(fold.max() + 1)]


def search(request):
    """The whole grid on the folds given; times are those of `fit` alone."""
    if sys.argv[1] == "onedal":
        from sklearnex.svm import SVC
    else:
        from sklearn.svm import SVC
    grid = {"C": request["c"], "gamma": request["gamma"]}
    found = GridSearchCV(SVC(cache_size=1000), grid, cv=held["folds"], n_jobs=request["threads"], refit=False)
    start = time.perf_counter()
    found.fit(held["x"], held["y"])
    seconds = time.perf_counter() - start
    scores = found.cv_results_["mean_test_score"].reshape(len(request["c"]), len(request["gamma"]))
    return {"seconds": seconds, "scores": scores.tolist()}


serve({"load": load, "search": search})
