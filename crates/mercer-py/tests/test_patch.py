"""Scripts written for scikit-learn give the same with Mercer's estimators under its names."""

import inspect
import logging
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn.svm
from sklearn.base import clone
from sklearn.datasets import load_iris

import mercer
from mercer import patch

FOLDER = Path(__file__).parent / "scripts"
SCRIPTS = sorted(FOLDER.glob("*.py"))
# Decision values of machines agree as far as their stopping tolerance of 1e-3 goes.
VALUES, EXACT = 2e-2, 1e-5
# All scripts in one process, each as if it ran alone: the imports are what takes time.
EACH = """
import pathlib, runpy, sys
folder, out = map(pathlib.Path, sys.argv[1:])
for script in sorted(folder.glob("*.py")):
    sys.argv = [str(script), str(out / script.stem)]
    runpy.run_path(str(script), run_name="__main__")
"""


def run(folder, *how):
    (folder / "each.py").write_text(EACH)
    line = [sys.executable, *how, str(folder / "each.py"), str(FOLDER), str(folder)]
    done = subprocess.run(line, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    theirs, ours = tmp_path_factory.mktemp("theirs"), tmp_path_factory.mktemp("ours")
    run(theirs)
    return theirs, ours, run(ours, "-m", "mercer.patch")


def test_two_calls_fall_back_and_say_so(folders):
    assert len(SCRIPTS) >= 43
    told = [line for line in folders[2].splitlines() if "is done by scikit-learn" in line]
    assert len(told) == 2 and "gamma" in told[0] and "labels of several types" in told[1]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_a_script_gives_the_same(script, folders):
    theirs, ours = (dict(np.load(folder / f"{script.stem}.npz")) for folder in folders[:2])
    assert theirs.keys() == ours.keys()
    for name, want in theirs.items():
        got, kind = ours[name], name.partition("_")[0]
        assert got.shape == want.shape, name
        if kind == "labels":
            assert np.array_equal(got, want), f"{name}: {want}, Mercer {got}"
        elif kind == "votes":
            # A vote that was as good as a tie counts for another class.
            assert (np.abs(got - want) > VALUES).mean() < 0.005, name
        else:
            assert np.abs(got - want).max() <= (EXACT if kind == "exact" else VALUES), name


@pytest.fixture
def patched():
    mercer.patch_sklearn()
    yield
    mercer.unpatch_sklearn()


def test_names_are_replaced_and_put_back():
    original = sklearn.svm.SVC
    mercer.patch_sklearn(["SVC"])
    assert sklearn.svm.SVC is patch.SVC and patch.is_patched("SVC") and not patch.is_patched("SVR")
    mercer.unpatch_sklearn()
    assert sklearn.svm.SVC is original and not patch.is_patched("SVC")
    with pytest.raises(ValueError, match="must be among"):
        mercer.patch_sklearn(["Forest"])


@pytest.mark.parametrize(("home", "name"), [row[:2] for row in patch.TABLE], ids=[row[1] for row in patch.TABLE])
def test_replacements_have_scikit_learns_parameters(home, name):
    ours, theirs = getattr(patch, name), patch._ORIGINAL[home, name]
    assert ours().get_params() == theirs().get_params()
    assert repr(ours()) == repr(theirs())
    assert inspect.signature(ours.fit) == inspect.signature(theirs.fit)
    assert hasattr(ours, "set_fit_request") == hasattr(theirs, "set_fit_request")
    X, y = load_iris(return_X_y=True)
    seed = {"random_state": 0} if home.endswith("approximation") else {}
    fitted = clone(ours(**seed)).fit(X, y)
    assert "_theirs" not in fitted.__dict__
    again = pickle.loads(pickle.dumps(fitted))
    ask = "predict" if hasattr(fitted, "predict") else "transform"
    assert np.array_equal(getattr(again, ask)(X), getattr(fitted, ask)(X))


def test_what_falls_back_is_told_and_is_scikit_learns(patched, caplog):
    X, y = load_iris(return_X_y=True)
    machine = sklearn.svm.SVC(gamma=0.0)
    with caplog.at_level(logging.WARNING, "mercer.patch"):
        machine.fit(X, y)
    assert "SVC.fit is done by scikit-learn" in caplog.text
    theirs = patch._ORIGINAL["sklearn.svm", "SVC"](gamma=0.0).fit(X, y)
    assert np.array_equal(machine.predict(X), theirs.predict(X))
    assert np.array_equal(machine.support_, theirs.support_)
    # The next fit that Mercer can do is Mercer's.
    machine.set_params(gamma=1.0).fit(X, y)
    assert hasattr(machine, "model_")
    # What neither does is scikit-learn's error.
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        sklearn.svm.SVC().fit(X, None)
    with pytest.raises(TypeError, match=r"SVC.__init__\(\) got an unexpected keyword argument 'width'"):
        sklearn.svm.SVC(width=1.0)
    with pytest.raises(ValueError, match="The 'C' parameter of SVC"):
        sklearn.svm.SVC(C=-1.0).fit(X, y)
