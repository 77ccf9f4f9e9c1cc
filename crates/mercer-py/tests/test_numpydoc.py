"""Docstrings of public classes have the sections that numpydoc readers expect."""

import inspect
import re

import pytest
from sklearn.base import BaseEstimator

import mercer
from mercer import plot

dask = pytest.importorskip("mercer.dask")

SECTIONS = ("Parameters", "Attributes", "See Also", "Examples")


def public(module, base=object):
    named = ((name, getattr(module, name)) for name in module.__all__)
    return [(name, thing) for name, thing in named if inspect.isclass(thing) and issubclass(thing, base)]


CLASSES = [
    # A Predictor is never constructed by its user: `load` returns it.
    *((name, thing) for name, thing in public(mercer, BaseEstimator) if name != "Predictor"),
    *public(plot),
    *((name, thing) for name, thing in public(dask) if name.startswith("Large")),
]


def test_classes_are_found():
    assert len(CLASSES) > 45


@pytest.mark.parametrize(("name", "thing"), CLASSES, ids=[name for name, _ in CLASSES])
def test_a_class_has_every_section(name, thing):
    doc = inspect.getdoc(thing)
    missing = [section for section in SECTIONS if not re.search(rf"^{section}\n-+$", doc, re.M)]
    assert not missing, f"{name}: {missing}"


@pytest.mark.parametrize(("name", "thing"), CLASSES, ids=[name for name, _ in CLASSES])
def test_related_classes_exist(name, thing):
    section = re.search(r"^See Also\n-+\n(.*?)(?:\n\n|\Z)", inspect.getdoc(thing), re.M | re.S).group(1)
    related = re.findall(r"^([\w.]+) : ", section, re.M)
    assert related, name
    for other in related:
        if not other.startswith("sklearn."):
            short = other.removeprefix("mercer.")
            assert any(hasattr(module, short) for module in (mercer, plot, dask)), f"{name}: {other}"
