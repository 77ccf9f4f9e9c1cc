"""What one call costs on a small problem: 200 rows of 10 columns, fitted and predicted again and again.

    calls.py sklearn|mercer

An answer is the fastest of `calls` calls; the driver alternates between the sides.
"""

import importlib
import sys
import time

import numpy as np
from serve import serve
from sklearn.datasets import make_classification

HOMES = {
    "KernelRidge": "sklearn.kernel_ridge",
    "KernelPCA": "sklearn.decomposition",
    "Nystroem": "sklearn.kernel_approximation",
    "RBFSampler": "sklearn.kernel_approximation",
}
# Arguments with which both sides do the same work.
GIVEN = {
    "KernelRidge": {"kernel": "rbf"},
    "KernelPCA": {"kernel": "rbf", "n_components": 5},
    "KernelPCA all": {"kernel": "rbf"},
    "KernelPCA cosine": {"kernel": "cosine", "n_components": 5},
    "KernelPCA inverse": {"kernel": "rbf", "n_components": 5, "fit_inverse_transform": True},
    "KernelRidge columns": {"kernel": "rbf"},
    "LinearSVC": {"random_state": 0},
    "LinearSVR": {"random_state": 0},
    "Nystroem": {"n_components": 50, "random_state": 0},
    "RBFSampler": {"random_state": 0},
    "RBFSampler 1000": {"n_components": 1000, "random_state": 0},
    "SVC linear": {"kernel": "linear"},
}

X, y = make_classification(200, 10, n_informative=5, random_state=0)
targets = X[:, 0] + np.sin(X[:, 1])
fitted = {}


def make(name):
    kind = name.partition(" ")[0]
    module = "mercer" if sys.argv[1] == "mercer" else HOMES.get(kind, "sklearn.svm")
    return getattr(importlib.import_module(module), kind)(**GIVEN.get(name, {}))


def has(request):
    """Whether this side has an estimator: another commit's package may be older than it."""
    try:
        make(request["name"])
    except AttributeError:
        return {"has": False}
    return {"has": True}


def call(request):
    name, best = request["name"], float("inf")
    goal = X if name == "KernelRidge columns" else targets if name.endswith("SVR") or name == "KernelRidge" else y
    if request["phase"] == "predict":
        machine = fitted[name]
        work = machine.transform if hasattr(machine, "transform") else machine.predict
        given = (X,)
    else:
        given = (X, goal)
    for _ in range(request["calls"]):
        if request["phase"] == "fit":
            machine = make(name)
            work = machine.fit
        start = time.perf_counter()
        work(*given)
        best = min(best, time.perf_counter() - start)
    if request["phase"] == "fit":
        fitted[name] = machine
    return {"seconds": best}


serve({"call": call, "has": has})
