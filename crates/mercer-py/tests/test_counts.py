"""Parameters that count take whole numbers and nothing else, in every estimator."""

import inspect
import re

import numpy as np
import pytest
from sklearn.datasets import make_moons

import mercer

ESTIMATORS = sorted(
    name for name in mercer.__all__ if hasattr(getattr(mercer, name), "get_params") and name not in ("Predictor", "TableEncoder")
)
WRONG = [2.7, float("nan"), float("inf"), "3", [2]]


def counts(name):
    """The parameters whose documented type begins with int."""
    told = inspect.getdoc(getattr(mercer, name)).split("Attributes\n---")[0]
    found = re.findall(r"^([\w, ]+) : int\b", told, re.MULTILINE)
    return [own for names in found for own in names.split(", ")]


def make(name, **given):
    kind = getattr(mercer, name)
    if name == "ReducedSet":
        return kind(mercer.SVC(), **({"ratio": 2} if "vectors" not in given else {}), **given)
    if name in ("VirtualSVC", "InvariantTransform"):
        given = {"image_shape": (1, 2), **given}
    return kind(**given)


CASES = [(name, own) for name in ESTIMATORS for own in counts(name) if own != "verbose"]


def test_there_are_many_of_them():
    assert len(CASES) > 100
    assert {"degree", "max_iter", "n_jobs", "random_state", "n_components", "folds"} <= {own for _, own in CASES}


@pytest.mark.parametrize(("name", "own"), CASES, ids=[f"{name}-{own}" for name, own in CASES])
def test_what_is_not_whole_is_refused(name, own):
    X, y = make_moons(60, noise=0.2, random_state=0)
    for wrong in WRONG:
        with pytest.raises((ValueError, TypeError)) as told:
            make(name, **{own: wrong}).fit(X, y)
        words = str(told.value)
        # The message names the parameter, the value or what it must be.
        assert own in words or repr(wrong) in words or "int" in words or "seed" in words, words


@pytest.mark.parametrize(("name", "own"), CASES, ids=[f"{name}-{own}" for name, own in CASES])
def test_whole_numbers_of_numpy_are_taken(name, own):
    X, y = make_moons(60, noise=0.2, random_state=0)
    # There are two columns that InvariantTransform could drop.
    value = np.int64(1 if own == "drop" else 3)
    make(name, **{own: value}).fit(X, y)
