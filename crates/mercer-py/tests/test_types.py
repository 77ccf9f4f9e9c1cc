"""Parameters of a wrong type are refused by every estimator, whether or not the fit would have looked at them."""

import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_moons

import mercer

sys.path.insert(0, str(Path(__file__).parent))
from test_counts import ESTIMATORS, make  # noqa: E402

# What the documented type does not allow. None stands for the default in some of them.
WRONG = {
    "bool": ["yes", 1, 0.0, [True]],
    "float": ["1", [1.0], float("nan"), 1j],
}
# Values that are right all the same.
RIGHT = {
    "bool": [np.bool_(True)],
    "float": [np.float32(0.25)],
}


def typed(name, kind):
    """Parameters documented with this type, without those that may be words as well."""
    told = inspect.getdoc(getattr(mercer, name)).split("Attributes\n---")[0]
    found = re.findall(rf"^([\w, ]+) : {kind}(?: or None)?, default", told, re.MULTILINE)
    return [own for names in found for own in names.split(", ") if own != "verbose"]


CASES = [(name, own, kind) for name in ESTIMATORS for kind in WRONG for own in typed(name, kind)]
IDS = [f"{name}-{own}" for name, own, _ in CASES]


def test_there_are_many_of_them():
    assert len(CASES) > 80
    assert {"C", "tol", "shrinking", "coef0", "nu", "warm_start", "fit_intercept"} <= {own for _, own, _ in CASES}


@pytest.mark.parametrize(("name", "own", "kind"), CASES, ids=IDS)
def test_what_is_of_another_type_is_refused(name, own, kind):
    X, y = make_moons(60, noise=0.2, random_state=0)
    for wrong in WRONG[kind]:
        with pytest.raises((ValueError, TypeError)) as told:
            make(name, **{own: wrong}).fit(X, y)
        words = str(told.value)
        assert own in words or own.lower() in words or repr(wrong) in words, (wrong, words)


@pytest.mark.parametrize(("name", "own", "kind"), CASES, ids=IDS)
def test_numbers_and_truth_values_of_numpy_are_taken(name, own, kind):
    X, y = make_moons(60, noise=0.2, random_state=0)
    for right in RIGHT[kind] if own != "degree" else [np.float32(2.0)]:
        make(name, **{own: right}).fit(X, y)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_gamma_is_a_number_or_a_rule(name):
    X, y = make_moons(60, noise=0.2, random_state=0)
    if "gamma" not in make(name).get_params(deep=False):
        pytest.skip("it has none")
    for wrong in ("wide", -1.0, float("nan"), [1.0]):
        with pytest.raises((ValueError, TypeError)):
            make(name, gamma=wrong).fit(X, y)
