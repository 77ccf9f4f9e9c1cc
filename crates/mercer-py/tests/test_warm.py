"""Warm starts: the same machine in fewer iterations; and why there is no partial_fit."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_moons
from sklearn.utils.validation import check_is_fitted

import mercer

WARM = {
    "SVC": {"C": (1.0, 1.3)},
    "NuSVC": {"tol": (1e-3, 1e-6)},
    "SVR": {"C": (5.0, 6.0)},
    "NuSVR": {"tol": (1e-3, 1e-6)},
    "OneClassSVM": {"tol": (1e-3, 1e-6)},
    "SVDD": {"tol": (1e-3, 1e-6)},
    "HuberSVR": {"C": (5.0, 6.0)},
    "LaplaceSVR": {"C": (5.0, 6.0)},
}


def iterations(machine):
    return int(np.sum(machine.n_iter_))


def test_every_estimator_with_a_solution_to_start_from_is_tried():
    takes = {
        name
        for name in mercer.__all__
        if hasattr(getattr(mercer, name), "get_params") and name not in ("Predictor", "ReducedSet")
        and "warm_start" in getattr(mercer, name)().get_params()
    }
    assert takes == set(WARM)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("name", WARM)
def test_a_warm_start_ends_at_the_same_machine_sooner(name, kernel):
    rng = np.random.default_rng(0)
    X, y = make_moons(300, noise=0.3, random_state=0)
    if "SVR" in name:
        y = np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=len(X))
    ((own, (first, second)),) = WARM[name].items()
    make = getattr(mercer, name)
    told = {"kernel": kernel, "gamma": 1.0, "tol": 1e-6, "warm_start": True}
    warm = make(**{**told, own: first}).fit(X, y).set_params(**{own: second}).fit(X, y)
    cold = make(**{**told, "warm_start": False, own: second}).fit(X, y)
    ask = "decision_function" if hasattr(cold, "decision_function") else "predict"
    far = np.abs(getattr(warm, ask)(X) - getattr(cold, ask)(X)).max()
    assert far < 1e-3, far
    if name == "NuSVC":
        # Its tolerance follows the margin, which every fit has to find again: a start saves nothing.
        return
    assert iterations(warm) < iterations(cold), (iterations(warm), iterations(cold))
    again = iterations(warm.fit(X, y))
    assert again <= iterations(cold) / 4, again


def test_a_warm_start_follows_classes_weights_and_labels():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    # Values of pairs: votes jump where one of them crosses 0.
    told = {"gamma": 0.001, "tol": 1e-7, "decision_function_shape": "ovo"}
    for change in ({"class_weight": {3: 5.0}}, {"C": 3.0}, {"gamma": 0.002}):
        warm = mercer.SVC(**told, warm_start=True).fit(X, y).set_params(**change).fit(X, y)
        cold = mercer.SVC(**{**told, **change}).fit(X, y)
        assert np.abs(warm.decision_function(X) - cold.decision_function(X)).max() < 1e-3
    weights = np.linspace(0, 2, len(y))
    warm = mercer.SVC(**told, warm_start=True).fit(X, y).fit(X, y, sample_weight=weights)
    cold = mercer.SVC(**told).fit(X, y, sample_weight=weights)
    assert np.abs(warm.decision_function(X) - cold.decision_function(X)).max() < 1e-3
    shuffled = np.random.default_rng(0).permutation(y)
    warm = mercer.SVC(**told, warm_start=True).fit(X, y).fit(X, shuffled)
    cold = mercer.SVC(**told).fit(X, shuffled)
    assert np.abs(warm.decision_function(X) - cold.decision_function(X)).max() < 1e-3


@pytest.mark.parametrize("name", ["NuSVC", "NuSVR", "OneClassSVM", "SVDD"])
def test_another_nu_begins_anew(name):
    X, y = make_moons(200, noise=0.3, random_state=0)
    make = getattr(mercer, name)
    warm = make(nu=0.3, warm_start=True).fit(X, y).set_params(nu=0.4).fit(X, y)
    cold = make(nu=0.4).fit(X, y)
    ask = "predict" if name == "NuSVR" else "decision_function"
    assert np.array_equal(getattr(warm, ask)(X), getattr(cold, ask)(X))


def test_other_rows_classes_and_containers_begin_anew():
    X, y = load_digits(return_X_y=True)
    machine = mercer.SVC(gamma=0.001, warm_start=True).fit(X[:200], y[:200])
    for rows in (slice(0, 120), slice(100, 400)):
        fresh = mercer.SVC(gamma=0.001).fit(X[rows], y[rows] % 5)
        assert np.allclose(machine.fit(X[rows], y[rows] % 5).decision_function(X), fresh.decision_function(X), atol=2e-2)
    check_is_fitted(machine.fit(X[:100].astype(np.float32), y[:100]))


def test_a_fit_that_reached_its_limit_goes_on():
    X, y = make_moons(400, noise=0.3, random_state=0)
    with pytest.warns(Warning):
        machine = mercer.SVC(C=100, max_iter=60, warm_start=True).fit(X, y)
    before = machine.dual_objective_
    with pytest.warns(Warning):
        machine.fit(X, y)
    assert machine.dual_objective_ < before
    machine.set_params(max_iter=-1).fit(X, y)
    cold = mercer.SVC(C=100).fit(X, y)
    assert np.abs(machine.decision_function(X) - cold.decision_function(X)).max() < 2e-2


def test_nothing_has_partial_fit():
    # Every learner solves one problem on all of its rows: none keeps a state that further rows could be added to.
    assert not [name for name in mercer.__all__ if hasattr(getattr(mercer, name), "partial_fit")]
