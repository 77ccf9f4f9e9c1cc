"""Python's signatures and docstrings against the library's one declaration of each parameter."""

import inspect
import json

import pytest

import mercer
from mercer import _mercer, learners

TABLE = json.loads(_mercer.learner_table())

#: What every estimator has beside its learner's parameters.
OURS = {"verbose", "n_jobs", "callback", "gamma", "degree", "coef0", "kernel_params", "cache_size", "warm_start"}
SVM = {"tol": "tol", "shrinking": "shrinking", "max_iter": "max_iter", "kernel": "kernel"}
CLASSES = {
    "shift": "shift",
    "folds": "folds",
    "probability": "probability",
    "class_weight": "class_weights",
    "break_ties": "ties",
    "multi_class": "multi",
    "random_state": "seed",
}
#: An estimator, its learner, and the library's name of each of its parameters; None: a matter of Python.
ESTIMATORS = [
    ("SVC", "svc", {"C": "c", "slack": "slack", **SVM, **CLASSES, "decision_function_shape": None}),
    ("NuSVC", "nu-svc", {"nu": "nu", **SVM, **CLASSES, "decision_function_shape": None}),
    ("SVR", "svr", {"C": "c", "epsilon": "epsilon", **SVM}),
    ("NuSVR", "nu-svr", {"C": "c", "nu": "nu", **SVM}),
    ("OneClassSVM", "one-class", {"nu": "nu", **SVM}),
    ("SVDD", "sphere", {"nu": "nu", **SVM}),
    ("KernelRidge", "ridge", {"alpha": "lambda", "kernel": "kernel", "fit_intercept": "offset", "method": "method", "tol": "tol"}),
    (
        "KernelFisher",
        "kfd-greedy",
        {
            "alpha": "lambda",
            "form": None,
            "kernel": "kernel",
            "penalty": "penalty",
            "threshold": "threshold",
            "n_centres": "centres",
            "candidates": "candidates",
            "leave_one_out": "leave_one_out",
            "tol": None,
            "random_state": "seed",
        },
    ),
    (
        "AdaBoostReg",
        "adaboost-reg",
        {
            "C": "c",
            "n_estimators": "rounds",
            "base": "base",
            "n_centres": "centres",
            "alpha": "lambda",
            "steps": "steps",
            "kernel": "kernel",
            "random_state": "seed",
        },
    ),
    (
        "KernelKMeans",
        "kmeans",
        {
            "n_clusters": "clusters",
            "kernel": "kernel",
            "init": "start",
            "n_init": "starts",
            "max_iter": "max_iter",
            "random_state": "seed",
        },
    ),
]
#: Those whose parameters are made from the declaration.
for _name, _learner, *_ in learners.ROWS:
    _names = {ours: theirs for theirs, ours in getattr(mercer, _name)._own.items()}
    ESTIMATORS.append((_name, _learner, {**_names, "kernel": "kernel"}))
#: Learners whose estimator is that of another, and what says so.
FORMS = {
    "hard-margin": ("SVC", "C=inf"),
    "kfd": ("KernelFisher", "form='closed'"),
    "kfd-sparse": ("KernelFisher", "form='sparse'"),
    "kfd-lp": ("KernelFisher", "form='linear'"),
}
#: Virtual support vectors: VirtualSVC makes them for classes, and only the command for regressions.
ELSEWHERE = {"virtual_vectors", "virtual_kernel", "virtual_rounds", "virtual_union"}
#: Defaults that are scikit-learn's, or written in Python's way, where the library's are others.
THEIRS = {
    ("KernelRidge", "fit_intercept"),
    ("SVDD", "nu"),
    ("SVDD", "tol"),
}


@pytest.mark.parametrize(("name", "learner", "names"), ESTIMATORS, ids=[row[0] for row in ESTIMATORS])
def test_signatures_and_docstrings_are_those_of_the_declaration(name, learner, names):
    estimator, declared = getattr(mercer, name), TABLE[learner]
    signature = inspect.signature(estimator.__init__).parameters
    given = [p for p in signature if p != "self"]
    assert set(given) == set(names) | (OURS & set(given)), "a parameter that no row accounts for"
    doc = inspect.getdoc(estimator)
    for own in given:
        assert f"\n{own} : " in doc, f"{own} is not documented"
    for own, theirs in names.items():
        if theirs is None:
            continue
        assert theirs in declared, f"the library has no {theirs}"
        default, told = signature[own].default, declared[theirs]["default"]
        if isinstance(default, bool):
            same = own == "break_ties" or told == str(default).lower()
        elif isinstance(default, (int, float)):
            same = float(told) == default if own != "max_iter" or default != -1 else told == "none"
        else:
            same = True
        assert same or (name, own) in THEIRS, f"{own} = {default}, the library has {told}"


def test_every_learner_is_reachable_with_all_its_parameters():
    homes = {}
    for name, learner, names in ESTIMATORS:
        homes.setdefault(learner, set()).update(t for t in names.values() if t)
    for learner, (name, _) in FORMS.items():
        # The same class with another word: its parameters are those of its other rows.
        same = [set(filter(None, names.values())) for own, _, names in ESTIMATORS if own == name]
        homes.setdefault(learner, set()).update(*same, {"tol"})
    assert set(homes) == set(TABLE), "a learner without an estimator"
    for learner, declared in TABLE.items():
        assert set(declared) - homes[learner] - ELSEWHERE == set(), learner


def test_exceptions_are_still_exceptions():
    for name, own in THEIRS:
        learner, names = next((row[1], row[2]) for row in ESTIMATORS if row[0] == name)
        default = inspect.signature(getattr(mercer, name).__init__).parameters[own].default
        told = TABLE[learner][names[own]]["default"]
        same = told == str(default).lower() if isinstance(default, bool) else float(told) == default
        assert not same, f"{name}.{own} needs no exception any more"
