"""scikit-learn's manners: metadata routing, output containers, frames, thread limits, versions, pickles of other versions."""

import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.decomposition
import sklearn.kernel_approximation
import sklearn.kernel_ridge
import sklearn.svm
import threadpoolctl
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils._param_validation import InvalidParameterError

import mercer
from mercer import _threads

HOMES = (sklearn.svm, sklearn.decomposition, sklearn.kernel_ridge, sklearn.kernel_approximation)
GOLDEN = Path(__file__).parent / "golden"
ESTIMATORS = sorted(
    name for name in mercer.__all__ if hasattr(getattr(mercer, name), "get_params") and name not in ("Predictor", "ReducedSet", "TableEncoder")
)


@pytest.fixture(scope="module")
def frame():
    X, y = make_moons(80, noise=0.2, random_state=0)
    return pd.DataFrame(X, columns=["left", "right"]), y


def test_weights_are_routed_through_pipelines_and_searches(frame):
    X, y = frame
    weights = np.linspace(0.1, 3, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        machine = make_pipeline(scaler, mercer.SVC().set_fit_request(sample_weight=True))
        routed = machine.fit(X, y, sample_weight=weights)
        scaled = StandardScaler().fit_transform(X)
        direct = mercer.SVC().fit(scaled, y, sample_weight=weights)
        assert np.array_equal(routed.decision_function(X), direct.decision_function(scaled))
        weighted = mercer.SVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(weighted, {"C": [1, 10]}, cv=3)
        assert search.fit(X, y, sample_weight=weights).best_score_ > 0.8
        machine = make_pipeline(scaler, weighted)
        found = cross_validate(machine, X, y, params={"sample_weight": weights}, cv=3)
        assert found["test_score"].mean() > 0.8


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_fit_with_weights_can_ask_for_them(name):
    import inspect

    estimator = getattr(mercer, name)()
    takes = "sample_weight" in inspect.signature(estimator.fit).parameters
    assert hasattr(estimator, "set_fit_request") == takes
    assert get_tags(estimator).estimator_type == getattr(estimator, "_estimator_type", get_tags(estimator).estimator_type)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_go_in_and_come_out(name, kind, frame):
    X, y = frame
    rows = X if kind == "pandas" else pl.from_pandas(X)
    estimator = getattr(mercer, name)()
    if name == "VirtualSVC" or name == "InvariantTransform":
        estimator.set_params(image_shape=(1, 2))
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    plain = type(estimator)(**estimator.get_params()).fit(X.to_numpy(), y)
    fitted = estimator.fit(rows, y)
    assert list(fitted.feature_names_in_) == ["left", "right"]
    if hasattr(fitted, "transform"):
        out = fitted.set_output(transform=kind).transform(rows)
        assert isinstance(out, pd.DataFrame if kind == "pandas" else pl.DataFrame)
        assert list(out.columns) == list(fitted.get_feature_names_out())
        assert np.allclose(np.asarray(out), plain.transform(X.to_numpy()))
    elif not hasattr(fitted, "predict"):
        # It groups the rows of the fit and no others.
        assert np.array_equal(fitted.labels_, plain.labels_)
        return
    else:
        assert np.array_equal(fitted.predict(rows), plain.predict(X.to_numpy()))
    with pytest.raises(ValueError, match="feature names"):
        (fitted.transform if hasattr(fitted, "transform") else fitted.predict)(rows[["right", "left"]])


def test_threadpoolctl_lists_and_limits_the_threads(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    listed = [row for row in threadpoolctl.threadpool_info() if row["user_api"] == "mercer"]
    assert len(listed) == 1 and listed[0]["version"] == mercer.__version__
    with threadpoolctl.threadpool_limits(limits=1):
        assert _threads.threads_of(None) == 1 and _threads.threads_of(8) == 1
    assert _threads.LIMIT is None
    with threadpoolctl.threadpool_limits(limits=1, user_api="blas"):
        assert _threads.LIMIT is None
    with threadpoolctl.threadpool_limits(limits={"mercer": 1}):
        assert _threads.threads_of(None) == 1


def test_a_limit_ends_where_the_environment_sets_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    with threadpoolctl.threadpool_limits(limits=1):
        assert _threads.threads_of(8) == 1
    assert _threads.LIMIT is None and _threads.threads_of(8) == 8


@pytest.mark.parametrize("made", [sp.csr_matrix, sp.csr_array], ids=["matrix", "array"])
def test_sparse_attributes_follow_scikit_learns_setting(made):
    X, y = load_iris(return_X_y=True)
    for interface, kind in (("spmatrix", sp.spmatrix), ("sparray", sp.sparray)):
        with sklearn.config_context(sparse_interface=interface):
            machine = mercer.SVC(kernel="linear").fit(made(X), y)
            line = mercer.LinearSVC(random_state=0).fit(made(X), y).sparsify()
            for values in (machine.support_vectors_, machine.dual_coef_, machine.coef_, line.coef_):
                assert sp.issparse(values) and isinstance(values, kind)


# What scikit-learn refuses by its declared ranges, by estimator.
REFUSED = [
    ("SVC", {"C": -1}), ("SVC", {"C": 0}), ("SVC", {"tol": 0}), ("SVC", {"gamma": "wide"}), ("SVC", {"gamma": -1.0}), ("SVC", {"kernel": "rbff"}),
    ("SVC", {"degree": -1}), ("SVC", {"shrinking": 2}), ("SVC", {"decision_function_shape": "ovx"}), ("SVC", {"kernel": 3}), ("SVC", {"C": float("nan")}),
    ("NuSVC", {"nu": 0}), ("NuSVC", {"nu": 1.5}), ("SVR", {"epsilon": -1}), ("NuSVR", {"nu": 0.0}), ("OneClassSVM", {"nu": 2}),
    ("LinearSVC", {"C": float("inf")}), ("LinearSVC", {"loss": "l3"}), ("LinearSVC", {"penalty": "l0"}), ("LinearSVC", {"intercept_scaling": 0}), ("LinearSVC", {"multi_class": "ovo"}),
    ("LinearSVR", {"loss": "hinge"}), ("LinearSVR", {"C": 0}), ("KernelRidge", {"alpha": -1}), ("KernelRidge", {"kernel": "no"}),
    ("KernelPCA", {"n_components": 0}), ("KernelPCA", {"eigen_solver": "qr"}), ("KernelPCA", {"alpha": -1}), ("KernelPCA", {"tol": -1}),
    ("Nystroem", {"n_components": 0}), ("RBFSampler", {"n_components": 0}), ("RBFSampler", {"gamma": -1}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given"), REFUSED, ids=str)
def test_what_scikit_learn_refuses_is_refused_in_kind(name, given):
    X, y = load_iris(return_X_y=True)
    theirs = next(getattr(home, name) for home in HOMES if hasattr(home, name))
    with pytest.raises(InvalidParameterError):
        theirs(**given).fit(X, y)
    (word,) = given
    with pytest.raises(InvalidParameterError, match=f"'{word}' parameter"):
        getattr(mercer, name)(**given).fit(X, y)


def test_versions_are_shown(capsys):
    mercer.show_versions()
    told = capsys.readouterr().out
    for name in ("mercer", "python", "numpy", "scikit-learn", "threads"):
        assert f"\n{name}: " in "\n" + told
    assert mercer.__version__ in told


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.pickle")), ids=lambda f: f.stem)
def test_pickles_of_earlier_versions_are_read(file):
    version, X, kept = pickle.loads(file.read_bytes())
    assert kept
    for name, (estimator, ask, want, facts) in kept.items():
        got = getattr(estimator, ask)(X)
        assert np.array_equal(got, want) if want.dtype.kind in "UOi" else np.allclose(got, want, atol=1e-12), name
        for fact, value in facts.items():
            assert np.array_equal(getattr(estimator, fact), value), (name, fact)
        assert repr(estimator) and estimator.get_params()
        again = pickle.loads(pickle.dumps(estimator))
        assert np.array_equal(getattr(again, ask)(X), got), name


def test_pickles_of_later_versions_warn():
    X, y = load_iris(return_X_y=True)
    machine = mercer.SVC().fit(X, y)
    state = {**machine.__getstate__(), "_mercer_version": "99.0.0"}
    with pytest.warns(InconsistentVersionWarning, match="99.0.0"):
        mercer.SVC().__setstate__(state)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mercer.SVC().__setstate__(machine.__getstate__())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_rows_that_need_no_check_are_as_those_that_do(name, frame):
    rows, y = frame
    X = np.abs(rows.to_numpy()) + 0.1
    estimator = getattr(mercer, name)()
    estimator.fit(X, y)
    asked = [m for m in ("predict", "decision_function", "transform", "predict_proba") if hasattr(estimator, m)]
    masked = np.ma.masked_array(X)
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    swapped = X.astype(X.dtype.newbyteorder())
    other = [X.tolist(), np.asfortranarray(X), wide[:, ::2], swapped, masked, X.astype(object)]
    bad = [X[0], X[:0], X[:, :1], X[:, :0], X[None], np.where(X > 1, np.nan, X), np.where(X > 1, np.inf, X), X + 1j]
    for method in asked:
        call = getattr(estimator, method)
        want = call(X)
        for kind, same in enumerate(other):
            assert np.array_equal(call(same), want), (method, kind)
        for kind, wrong in enumerate(bad):
            with pytest.raises(ValueError) as error:
                call(wrong)
            with pytest.raises(ValueError) as theirs:
                sklearn.utils.validation.validate_data(
                    estimator, wrong, dtype=[np.float64, np.float32], order="C", reset=False
                )
            assert str(error.value) == str(theirs.value), (method, kind)
        # Many values may have a sum that is too large and be right all the same.
        large = np.full_like(X, 1e308)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                call(large)
            except ValueError as error:
                assert "infinity" not in str(error)
    if hasattr(estimator, "n_features_in_") and "predict" in asked:
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            named = getattr(mercer, name)().fit(rows.abs() + 0.1, y)
            named.predict(X)
