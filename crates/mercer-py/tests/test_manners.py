"""Estimators among scikit-learn's tools: pipelines, searches, other processes, threads, pickles."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
import sklearn.decomposition
import sklearn.kernel_ridge
import sklearn.svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import RBF, SVC, Linear


@pytest.fixture(scope="module")
def moons():
    return make_moons(240, noise=0.2, random_state=0)


def test_pipeline_search_and_cross_validation(moons):
    X, y = moons
    machine = make_pipeline(StandardScaler(), SVC())
    search = GridSearchCV(machine, {"svc__C": [0.1, 10.0], "svc__kernel": ["rbf", RBF(0.5) + 0.5 * Linear()]}, cv=3)
    search.fit(X, y)
    assert search.best_score_ > 0.9
    assert cross_val_score(machine, X, y, cv=4).mean() > 0.9
    assert cross_val_score(SVC(kernel="precomputed"), RBF(1.0)(X), y, cv=4).mean() > 0.9


def test_search_in_other_processes(moons):
    X, y = moons
    search = GridSearchCV(SVC(), {"C": [0.1, 1.0, 10.0]}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.9


def test_calibration_and_one_against_the_rest(moons):
    X, y = moons
    assert CalibratedClassifierCV(SVC(), cv=3).fit(X, y).predict_proba(X).shape == (240, 2)
    X, y = load_digits(return_X_y=True)
    theirs, ours = (OneVsRestClassifier(machine(tol=1e-6)).fit(X[:400], y[:400]) for machine in (sklearn.svm.SVC, SVC))
    assert (theirs.predict(X) == ours.predict(X)).all()


FITTED = [
    mercer.SVC(probability=True),
    mercer.NuSVC(nu=0.3),
    mercer.SVC(kernel="linear"),
    mercer.LinearSVC(),
    mercer.LinearSVR(),
    mercer.SVR(),
    mercer.NuSVR(),
    mercer.OneClassSVM(),
    mercer.SVDD(),
    mercer.KernelRidge(),
    mercer.KernelPCA(2, kernel="rbf"),
    mercer.KernelFisher(),
    mercer.KernelKMeans(),
    mercer.AdaBoostReg(n_estimators=5),
    mercer.EmpiricalKernelMap(20),
    mercer.RBFSampler(random_state=0),
    mercer.InvariantTransform(image_shape=(1, 2)),
    mercer.VirtualSVC(image_shape=(1, 2)),
    mercer.ReducedSet(mercer.SVC(), ratio=2),
]


def answers(estimator, X):
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    return estimator.transform(X) if hasattr(estimator, "transform") else estimator.predict(X)


@pytest.mark.parametrize("estimator", FITTED, ids=lambda e: str(e))
def test_pickles_and_clones(estimator, moons, tmp_path):
    X, y = moons
    fitted = clone(estimator).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(answers(fitted, X), answers(again, X))
    assert repr(again) == repr(fitted)
    joblib.dump(fitted, tmp_path / "m.joblib")
    assert np.array_equal(answers(fitted, X), answers(joblib.load(tmp_path / "m.joblib"), X))
    with pytest.raises(NotFittedError):
        answers(clone(fitted), X)


def test_a_pickle_is_read_by_another_process(moons, tmp_path):
    X, y = moons
    machine = SVC().fit(X, y)
    with open(tmp_path / "m.pickle", "wb") as file:
        pickle.dump((machine, X), file)
    code = f"import pickle, sys; m, X = pickle.load(open({str(tmp_path / 'm.pickle')!r}, 'rb')); sys.stdout.buffer.write(m.decision_function(X).tobytes())"
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=tmp_path)
    assert out.stdout == machine.decision_function(X).tobytes()


def test_threads_do_not_disturb_each_other(moons):
    X, y = moons
    alone = [SVC(C=c, n_jobs=1).fit(X, y).decision_function(X) for c in (0.1, 1.0, 10.0, 100.0)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda c: SVC(C=c, n_jobs=1).fit(X, y).decision_function(X), (0.1, 1.0, 10.0, 100.0)))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_kernels_by_name_line_object_matrix_and_callable_are_one(moons):
    X, y = moons
    new = X[:50] + 0.01
    line = "rbf(gamma=0.7) + 0.5*linear"
    kernel = RBF(0.7) + 0.5 * Linear()
    want = SVC(kernel=line).fit(X, y).decision_function(new)
    assert np.array_equal(SVC(kernel=kernel).fit(X, y).decision_function(new), want)

    def mine(A, B):
        return np.exp(-0.7 * ((A[:, None] - B) ** 2).sum(-1)) + 0.5 * A @ B.T

    called = SVC(kernel=mine).fit(X, y)
    assert np.allclose(called.decision_function(new), want, atol=1e-3)
    matrix = SVC(kernel="precomputed").fit(kernel(X), y)
    assert np.allclose(matrix.decision_function(kernel(new, X)), want, atol=1e-3)
    with pytest.raises(ValueError, match="must be symmetric"):
        SVC(kernel=lambda A, B: A[:, :1] + 2 * B[:, 0]).fit(X, y)
    with pytest.raises(ValueError, match="got shape"):
        SVC(kernel=lambda A, B: A).fit(X, y)


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR", "KernelRidge", "KernelPCA"])
def test_parameters_are_scikit_learns(name):
    home = {"KernelRidge": sklearn.kernel_ridge, "KernelPCA": sklearn.decomposition}.get(name, sklearn.svm)
    theirs, ours = getattr(home, name)().get_params(), getattr(mercer, name)().get_params()
    assert set(theirs) <= set(ours)
    differ = {p for p in theirs if theirs[p] != ours[p]}
    assert differ <= ({"tol"} if name == "KernelPCA" else {"cache_size"})


def test_a_callable_gets_its_parameters(moons):
    X, y = moons

    def wide(A, B, gamma):
        return RBF(gamma)(A, B)

    called = mercer.KernelRidge(kernel=wide, kernel_params={"gamma": 2.0}).fit(X, y)
    assert np.allclose(called.predict(X), mercer.KernelRidge(kernel="rbf", gamma=2.0).fit(X, y).predict(X))


def test_errors_say_what_is_allowed(moons):
    X, y = moons
    for estimator, words in (
        (SVC(C=0), r"'C' parameter of SVC must be a float in the range \(0.0, inf\]. Got 0 instead"),
        (SVC(gamma=-1.0), r"'gamma' parameter must be .* a float in the range \[0.0, inf\)"),
        (SVC(kernel="rbff"), "kernel `rbff`"),
        (mercer.NuSVC(nu=1.5), "'nu' parameter of NuSVC"),
        (mercer.KernelKMeans(1000), "clusters = 1000"),
        (mercer.SVDD(kernel="precomputed"), "k\\(x, x\\)"),
        (SVC(gamma="wide"), "Got 'wide' instead"),
    ):
        with pytest.raises(ValueError, match=words):
            estimator.fit(X, y)
    with pytest.raises(OSError):
        mercer.load("/nowhere/at/all.mercer")
    with pytest.warns(ConvergenceWarning):
        assert SVC(max_iter=1).fit(X, y).fit_status_ == 1


def test_an_infinite_c_is_the_hard_margin(tmp_path):
    X = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]])
    y = np.array([0, 0, 1, 1])
    hard = SVC(C=float("inf"), kernel="linear").fit(X, y)
    assert np.allclose(hard.decision_function([[0.0, 0.0], [1.5, 0.5], [3.0, 0.0]]), [-1, 0, 1], atol=1e-3)
    mercer.save(hard, tmp_path / "hard.mercer")
    assert mercer.load(tmp_path / "hard.mercer").C == float("inf")
    with pytest.raises(ValueError, match="two classes overlap"):
        SVC(C=float("inf"), kernel="linear").fit(X, [0, 1, 1, 0])
    # Where the library has no hard margin, a cost that is as good as infinite.
    assert np.allclose(mercer.SVR(C=float("inf")).fit(X, y).predict(X), mercer.SVR(C=1e10).fit(X, y).predict(X))


def test_omp_num_threads_is_heard(monkeypatch):
    from mercer._data import threads_of

    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert threads_of(None) == 3
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert (threads_of(None), threads_of(2), threads_of(-1)) == (0, 2, os.cpu_count())


@pytest.mark.parametrize("degree", [2.7, float("nan"), float("inf"), True, "3"])
def test_a_degree_that_is_not_whole_is_an_error(moons, degree):
    X, y = moons
    for make in (
        lambda: mercer.kernels.Poly(degree=degree),
        lambda: Linear() ** degree,
        lambda: SVC(kernel="poly", degree=degree).fit(X, y),
    ):
        with pytest.raises(ValueError, match="must be an int"):
            make()
    assert mercer.kernels.Poly(degree=2.0).line == mercer.kernels.Poly(degree=2).line
