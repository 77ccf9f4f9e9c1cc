"""Class labels come back as what they were: the same names, the same type, through files, pickles and the command."""

import json
import os
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest
import sklearn.svm

import mercer

CLI = os.environ.get("MERCER_CLI")
needs_cli = pytest.mark.skipif(not CLI, reason="MERCER_CLI names the command's program")

X = np.array([[0.0, 0.1], [0.2, 0.0], [2.0, 2.1], [2.2, 1.9], [5.0, 0.1], [5.1, 0.3]])
WHOLE = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
# The labels of three classes, and what the command calls them.
LABELS = {
    "str": (np.array(["1", "01", "001"]), ["001", "01", "1"]),
    "long str": (np.array(["red", "a longer name, with a comma", "b\u00e9b\u00e9"]), None),
    "object": (np.array(["True", "False", "1.0"], dtype=object), ["1.0", "False", "True"]),
    "numbers as text": (np.array(["10", "9", "-1"], dtype=object), ["-1", "10", "9"]),
    "float": (np.array([1.0, 2.0, -3.0]), ["-3", "1", "2"]),
    "float32": (np.array([0.0, 10.0, 2.0], dtype=np.float32), ["0", "2", "10"]),
    "float16": (np.array([0.0, 10.0, 2.0], dtype=np.float16), ["0", "2", "10"]),
    "largest": (np.array([2**64 - 1, 0, 2**63], dtype=np.uint64), ["0", str(2**63), str(2**64 - 1)]),
    "smallest": (np.array([-(2**63), 0, 2**63 - 1]), [str(-(2**63)), "0", str(2**63 - 1)]),
    **{kind: (np.array([7, 0, 100], dtype=kind), ["0", "7", "100"]) for kind in WHOLE},
}
MACHINES = {
    "svc": lambda: mercer.SVC(C=100),
    "nu-svc": lambda: mercer.NuSVC(nu=0.1),
    "linear, against the rest": lambda: mercer.SVC(C=100, kernel="linear", multi_class="ovr"),
    "fisher": lambda: mercer.KernelFisher(kernel="rbf"),
}


def same(a, b):
    """Equal labels of one type; the length of text does not count."""
    kinds = (a.dtype.kind, b.dtype.kind)
    assert a.dtype == b.dtype or kinds == ("U", "U"), (a.dtype, b.dtype)
    assert a.tolist() == b.tolist()
    assert [type(v) for v in a.tolist()] == [type(v) for v in b.tolist()]


def through_files(machine, folder):
    """The machine as it comes back from a file, a pickle, a pickle of its model, and a smaller one's file."""
    mercer.save(machine, folder / "m.mercer")
    yield mercer.load(folder / "m.mercer")
    yield pickle.loads(pickle.dumps(machine))
    again = mercer.load(folder / "m.mercer")
    mercer.save(again, folder / "again.mercer")
    yield mercer.load(folder / "again.mercer")
    assert pickle.loads(pickle.dumps(machine.model_)).label_type == machine.model_.label_type


def command(*args):
    out = subprocess.run([CLI, *map(str, args)], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    return out.stdout


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_every_type_come_back(labels, machine, tmp_path):
    of_class, _ = LABELS[labels]
    y = np.repeat(of_class, 2)
    fitted = MACHINES[machine]().fit(X, y)
    same(fitted.classes_, np.unique(y))
    told = fitted.predict(X)
    for again in through_files(fitted, tmp_path):
        same(again.classes_, fitted.classes_)
        same(again.predict(X), told)


@pytest.mark.parametrize("machine", MACHINES)
def test_truth_values_come_back(machine, tmp_path):
    fitted = MACHINES[machine]().fit(X[:4], np.array([True, True, False, False]))
    for again in through_files(fitted, tmp_path):
        same(again.classes_, np.array([False, True]))
        same(again.predict(X[:4]), np.array([True, True, False, False]))


@needs_cli
@pytest.mark.parametrize("labels", [name for name, (_, names) in LABELS.items() if names] + ["bool"])
def test_the_command_prints_labels_as_they_are_and_hands_them_back(labels, tmp_path):
    of_class, names = (np.array([True, False]), ["False", "True"]) if labels == "bool" else LABELS[labels]
    y = np.repeat(of_class, 2)
    rows = X[: len(y)]
    fitted = mercer.SVC(C=100).fit(rows, y)
    mercer.save(fitted, tmp_path / "m.mercer")
    lines = "\n".join(",".join(map(str, row)) for row in rows)
    (tmp_path / "new.csv").write_text("a,b\n" + lines + "\n")
    about = json.loads(command("explain", tmp_path / "m.mercer", "--format", "json"))
    assert about["model"]["classes"] == names
    command("predict", tmp_path / "new.csv", tmp_path / "m.mercer", "-o", tmp_path / "out.json")
    told = json.loads((tmp_path / "out.json").read_text())["predictions"]
    expected = [names[list(fitted.classes_).index(v)] for v in fitted.predict(rows)]
    assert [str(v) for v in told] == expected
    command("convert", tmp_path / "m.mercer", "--to", "json", "-o", tmp_path / "m.json")
    command("convert", tmp_path / "m.json", "--to", "safetensors", "-o", tmp_path / "back.mercer")
    command("compress", tmp_path / "m.mercer", "--vectors", 2, "-o", tmp_path / "small.mercer")
    for name in ("back.mercer", "small.mercer"):
        same(mercer.load(tmp_path / name).classes_, fitted.classes_)


@needs_cli
@pytest.mark.parametrize(
    ("names", "classes"),
    [
        (["1", "01"], np.array(["01", "1"])),
        (["001", "2"], np.array(["001", "2"])),
        (["+1", "-1"], np.array([-1, 1])),
        (["1", "2"], np.array([1, 2])),
        (["0.5", "1.5"], np.array([0.5, 1.5])),
        (["True", "False"], np.array(["False", "True"])),
        (["-inf", "inf"], np.array(["-inf", "inf"])),
        (["99999999999999999999", "1"], np.array(["1", "99999999999999999999"])),
    ],
    ids=str,
)
def test_names_of_the_command_become_numbers_only_where_nothing_is_lost(names, classes, tmp_path):
    rows = [f"{a},{b},{names[i // 2]}" for i, (a, b) in enumerate(X[:4])]
    (tmp_path / "train.csv").write_text("a,b,label\n" + "\n".join(rows) + "\n")
    command("train", tmp_path / "train.csv", "--task", "classify", "-o", tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    assert again.model_.label_type is None
    same(again.classes_, classes)


@pytest.mark.parametrize("theirs", [sklearn.svm.SVC, sklearn.svm.NuSVC])
@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_scikit_learn_come_back(labels, theirs, tmp_path):
    y = np.repeat(LABELS[labels][0], 2)
    ours = mercer.from_sklearn(theirs().fit(X, y))
    mercer.save(ours, tmp_path / "m.mercer")
    same(mercer.load(tmp_path / "m.mercer").classes_, ours.classes_)


@pytest.mark.parametrize("y", [["a", "a", 1, 1], ["1", "1", 1, 1], np.array(["a", "a", 1, 1], dtype=object)], ids=str)
@pytest.mark.parametrize("machine", [mercer.SVC(), mercer.KernelFisher(), mercer.AdaBoostReg(n_estimators=2)], ids=str)
def test_text_and_numbers_are_not_mixed(machine, y):
    with pytest.raises(ValueError, match="labels of several types .int, str.: all class labels must be of one type"):
        machine.fit(X[:4], y)


@pytest.mark.parametrize("machine", [mercer.SVC(), mercer.NuSVC(), mercer.KernelFisher()], ids=str)
def test_numbers_that_are_no_labels_are_refused(machine):
    with pytest.raises(ValueError, match="Unknown label type"):
        machine.fit(X[:4], [0.5, 0.5, 1.25, 1.25])


def test_text_of_pandas_is_text(tmp_path):
    y = pd.Series(["1", "1", "01", "01"])
    fitted = mercer.SVC(C=100).fit(X[:4], y)
    mercer.save(fitted, tmp_path / "m.mercer")
    same(mercer.load(tmp_path / "m.mercer").classes_, fitted.classes_)
    assert fitted.classes_.tolist() == ["01", "1"]


def test_a_smaller_model_keeps_the_type_and_knows_its_classes():
    y = np.repeat(np.array(["9", "10", "001"]), 2)
    fitted = mercer.SVC(C=100).fit(X, y)
    small = mercer.compress(fitted, vectors=3, X=X, y=y)
    same(small.classes_, fitted.classes_)
    assert small.model_.label_type == "str"
