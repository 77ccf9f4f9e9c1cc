"""Rust, the command and Python are one: the same files, the same bits."""

import json
import os
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

import mercer

CLI = os.environ.get("MERCER_CLI")
needs_cli = pytest.mark.skipif(not CLI, reason="MERCER_CLI names the command's program")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:500] / 16, y[:500], X[500:700] / 16


def command(*args):
    out = subprocess.run([CLI, *map(str, args)], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    return out.stdout


def write(path, X, y=None):
    """A file whose numbers read back as they are."""
    rows = [",".join(map(repr, map(float, row))) for row in X]
    head = ",".join(f"p{j}" for j in range(X.shape[1]))
    if y is not None:
        head, rows = head + ",label", [f"{r},{c}" for r, c in zip(rows, y, strict=True)]
    path.write_text(head + "\n" + "\n".join(rows) + "\n")


def answers(model, data, folder):
    """What the command answers: predictions and the outputs behind them, bit for bit."""
    command("predict", data, model, "--decision", "-o", folder / "out.json")
    return json.loads((folder / "out.json").read_text())


@needs_cli
def test_a_model_from_python_predicts_the_same_in_the_command(digits, tmp_path):
    X, y, new = digits
    write(tmp_path / "new.csv", new)
    for name, machine in (
        ("svc", mercer.SVC(C=5, gamma=0.03)),
        ("svr", mercer.SVR(C=5, gamma=0.03)),
        ("one-class", mercer.OneClassSVM(nu=0.1, gamma=0.03)),
    ):
        frame = pd.DataFrame(X, columns=[f"p{j}" for j in range(X.shape[1])])
        machine.fit(frame, y)
        machine.save(tmp_path / f"{name}.mercer")
        told = answers(tmp_path / f"{name}.mercer", tmp_path / "new.csv", tmp_path)
        mine = pd.DataFrame(new, columns=frame.columns)
        assert [float(v) for v in told["predictions"]] == machine.predict(mine).tolist()
        assert np.array_equal(np.array(told["values"]), machine._call("decision", mine))
        again = mercer.load(tmp_path / f"{name}.mercer")
        assert type(again) is type(machine)
        assert np.array_equal(again.predict(mine), machine.predict(mine))


@needs_cli
def test_a_model_from_the_command_is_the_same_as_pythons(digits, tmp_path):
    X, y, new = digits
    write(tmp_path / "train.csv", X, y)
    args = ["--kernel", "rbf(gamma=0.03)", "-c", "5", "--scale", "none"]
    command("train", tmp_path / "train.csv", "-o", tmp_path / "cli.mercer", *args)
    theirs = mercer.load(tmp_path / "cli.mercer")
    mine = mercer.SVC(C=5, gamma=0.03).fit(X, y)
    assert isinstance(theirs, mercer.SVC) and theirs.C == 5
    assert np.array_equal(theirs.classes_, mine.classes_)
    assert np.array_equal(theirs.model_.coef, mine.model_.coef)
    assert np.array_equal(theirs.model_.offset, mine.model_.offset)
    assert np.array_equal(theirs.model_.support, mine.model_.support)
    frame = pd.DataFrame(new, columns=theirs.feature_names_in_)
    assert np.array_equal(theirs.decision_function(frame), mine.decision_function(new))


@pytest.mark.parametrize(
    "machine",
    [
        mercer.SVC(),
        mercer.SVC(multi_class="ovr", probability=True),
        mercer.SVC(kernel="linear"),
        mercer.NuSVC(nu=0.1),
        mercer.SVR(),
        mercer.NuSVR(),
        mercer.OneClassSVM(),
        mercer.SVDD(),
        mercer.KernelRidge(kernel="rbf"),
        mercer.KernelPCA(5, kernel="rbf"),
        mercer.KernelFisher(),
        mercer.KernelKMeans(3),
        mercer.AdaBoostReg(n_estimators=3),
    ],
    ids=str,
)
def test_every_model_is_read_back_as_what_it_was(digits, machine, tmp_path):
    X, y, new = digits
    machine.fit(X[:200], y[:200])
    mercer.save(machine, tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    assert type(again) is type(machine)
    for method in ("predict", "decision_function", "transform", "predict_proba"):
        if hasattr(machine, method):
            assert np.array_equal(getattr(machine, method)(new), getattr(again, method)(new)), method
    with pytest.raises(ValueError, match="features"):
        again.score_samples(new[:, :5]) if hasattr(again, "score_samples") else answer(again, new[:, :5])


def answer(estimator, X):
    return estimator.transform(X) if hasattr(estimator, "transform") else estimator.predict(X)


def test_files_that_are_none_are_refused(tmp_path):
    (tmp_path / "junk").write_bytes(b"not a model")
    with pytest.raises(ValueError, match="model file"):
        mercer.load(tmp_path / "junk")


def test_onnx_is_written(digits, tmp_path):
    X, y, _ = digits
    machine = mercer.SVC().fit(X, y)
    data = mercer.to_onnx(machine, tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").read_bytes() == data and len(data) > 1000
