"""The same call of scikit-learn's class and of Mercer's, on inputs and settings that its own tests leave out."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.decomposition
import sklearn.kernel_approximation
import sklearn.kernel_ridge
import sklearn.svm
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import pairwise_kernels

import mercer

HOMES = (sklearn.svm, sklearn.decomposition, sklearn.kernel_ridge, sklearn.kernel_approximation)
CLASSIFIERS = ("SVC", "NuSVC", "LinearSVC")
REGRESSIONS = ("SVR", "NuSVR", "LinearSVR", "KernelRidge")
MAPS = ("KernelPCA", "Nystroem", "RBFSampler")
ALL = (*CLASSIFIERS, *REGRESSIONS, *MAPS, "OneClassSVM")
SETTINGS = {
    "NuSVC": {"nu": 0.3},
    "LinearSVC": {"random_state": 0, "max_iter": 10000},
    "LinearSVR": {"random_state": 0, "loss": "squared_epsilon_insensitive"},
    "KernelPCA": {"n_components": 3, "kernel": "rbf"},
    "Nystroem": {"n_components": 15, "random_state": 0},
    "RBFSampler": {"n_components": 15, "random_state": 0},
}


def both(name):
    home = next(home for home in HOMES if hasattr(home, name))
    return getattr(home, name), getattr(mercer, name)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:75]
    return X[rows], y[rows]


def outputs(estimator, X):
    for method in ("transform", "decision_function", "predict"):
        if hasattr(estimator, method):
            return getattr(estimator, method)(X)


def frames(X):
    names = list("abcd")
    frame = pd.DataFrame(X, columns=names)
    return {
        "objects": frame.astype(object),
        "texts": frame.map(repr).astype(object),
        "categories": pd.DataFrame({name: pd.Categorical(X[:, j]) for j, name in enumerate(names)}),
        "nullable": frame.astype("Float64"),
        "lists": X.tolist(),
        "objects of numpy": X.astype(object),
    }


@pytest.mark.parametrize("name", ALL)
def test_frames_that_scikit_learn_takes_are_taken_as_there(name, iris):
    X, y = iris
    theirs, ours = both(name)
    want = outputs(theirs(**SETTINGS.get(name, {})).fit(X, y), X)
    for kind, rows in frames(X).items():
        got = ours(**SETTINGS.get(name, {})).fit(rows, y)
        assert not hasattr(got, "table_"), kind
        assert np.abs(outputs(got, rows) - want).max() < 2e-2 * max(1.0, np.abs(want).max()), kind


def test_a_frame_with_one_column_of_text_is_still_a_table(iris):
    X, y = iris
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 2] > 3, "long", "short"), "c": X[:, 3].astype(object)})
    assert hasattr(mercer.SVC().fit(frame, y), "table_")
    missing = frame.drop(columns="b").assign(c=pd.Series([None, *X[1:, 3]], dtype=object))
    assert hasattr(mercer.SVC().fit(missing, y), "table_")


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("rows", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_maps_answer_single_precision_in_single_precision(name, rows, iris):
    X = iris[0].astype(np.float32)
    theirs, ours = (estimator(**SETTINGS[name]).fit(rows(X)) for estimator in both(name))
    want, got = theirs.transform(rows(X)), ours.transform(rows(X))
    assert got.dtype == want.dtype == np.float32
    assert np.abs(np.abs(got) - np.abs(want)).max() < 1e-3
    assert ours.transform(rows(X.astype(np.float64))).dtype == np.float64


@pytest.mark.parametrize("weights", ["balanced", {0: 2.0}, {0: 1.0, 1: 5.0, 2: 0.2}, {1: 0.0}], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_class_weights_of_linear_machines_are_those_of_liblinear(weights, classes, iris):
    X, y = iris
    keep = (y < classes) & (np.arange(len(y)) % 4 > 0) | (y == 0)
    X, y = X[keep], y[keep]
    settings = {"class_weight": weights, "random_state": 0, "max_iter": 100_000, "tol": 1e-6}
    theirs, ours = (estimator(**settings).fit(X, y) for estimator in both("LinearSVC"))
    assert np.abs(theirs.coef_ - ours.coef_).max() < 1e-3
    assert np.abs(theirs.intercept_ - ours.intercept_).max() < 1e-3
    with pytest.raises(ValueError, match="class_weight"):
        mercer.LinearSVC(class_weight={0: -1.0}).fit(X, y)
    weighted = mercer.LinearSVC(class_weight="balanced").fit(X, y, sample_weight=2.0)
    assert np.isfinite(weighted.coef_).all()


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.5])
def test_a_nu_machine_under_an_indefinite_kernel_is_not_turned_round(nu, iris):
    X, y = iris[0], iris[1] > 0
    theirs, ours = (estimator(nu=nu, kernel="sigmoid").fit(X, y) for estimator in both("NuSVC"))
    assert ours.score(X, y) > theirs.score(X, y) - 0.1
    # The coefficients are those of outputs that are 1 and -1 at the margins.
    free = np.abs(ours.dual_coef_[0]) < 0.999 * np.abs(ours.dual_coef_[0]).max()
    at_margin = ours.decision_function(ours.support_vectors_[free])
    assert free.any() and np.abs(np.abs(at_margin) - 1.0).max() < 0.05


LINES = [
    {"kernel": kernel, **({} if gamma is None else {"gamma": gamma})}
    for kernel in ("linear", "poly", "rbf", "laplacian", "sigmoid", "cosine", "chi2", "additive_chi2")
    for gamma in (None, 0.3)
] + [
    {"kernel": "poly", "degree": 2.5, "gamma": 0.1},
    {"kernel": "poly", "degree": 0},
    {"kernel": "poly", "coef0": -1.0, "gamma": 0.1},
    {"kernel": "rbf", "gamma": 0},
    {"kernel": "sigmoid", "gamma": 0.0},
]


@pytest.mark.parametrize("line", LINES, ids=str)
@pytest.mark.parametrize("name", ["KernelRidge", "Nystroem", "KernelPCA"])
def test_kernels_by_name_are_scikit_learns(name, line, iris):
    X = iris[0] / 8.0
    y = X[:, 0] - X[:, 3] ** 2
    if name == "KernelPCA" and line["kernel"] in ("laplacian", "chi2", "additive_chi2"):
        pytest.skip("scikit-learn's has no such kernel")
    if name == "KernelRidge" and line == {"kernel": "chi2"}:
        pytest.skip("scikit-learn's ends with a TypeError: it passes gamma=None on")
    if name == "Nystroem" and line.get("degree") == 0:
        pytest.skip("scikit-learn's takes degrees from 1 on")
    theirs, ours = (estimator(**{**SETTINGS.get(name, {}), **line}).fit(X, y) for estimator in both(name))
    want, got = outputs(theirs, X), outputs(ours, X)
    if name == "KernelPCA":
        found = theirs.eigenvalues_ > 1e-8 * max(1.0, theirs.eigenvalues_.max())
        want, got = np.abs(want * found), np.abs(got * found)
    assert got.shape == want.shape
    assert np.abs(got - want).max() < 1e-5 * max(1.0, np.abs(want).max())


def least(a, b, scale=1.0):
    return scale * float(np.minimum(a, b).sum())


NYSTROEM = [
    ({"kernel": least}, None),
    ({"kernel": least, "kernel_params": {"scale": 2.0}}, None),
    ({"kernel": "poly", "kernel_params": {"degree": 2, "gamma": 0.1}}, None),
    ({"kernel": "precomputed", "n_components": 75}, "laplacian"),
]


@pytest.mark.parametrize(("settings", "matrix"), NYSTROEM, ids=[str(i) for i in range(len(NYSTROEM))])
def test_nystroem_takes_callables_and_matrices(settings, matrix, iris):
    X = iris[0]
    rows = X if matrix is None else pairwise_kernels(X, metric=matrix)
    theirs, ours = (estimator(**{"n_components": 10, "random_state": 0, **settings}).fit(rows) for estimator in both("Nystroem"))
    assert np.array_equal(theirs.component_indices_, ours.component_indices_)
    assert np.abs(theirs.transform(rows[:20]) - ours.transform(rows[:20])).max() < 1e-6
    for wrong in ({"kernel": least, "gamma": 1.0}, {"kernel": "precomputed", "degree": 2}):
        with pytest.raises(ValueError, match="Don't pass gamma"):
            mercer.Nystroem(**wrong).fit(rows)
    with pytest.warns(UserWarning, match="n_components > n_samples"):
        mercer.Nystroem(n_components=500).fit(X)


def test_a_matrix_gives_fewer_features_than_rows(iris):
    X = iris[0]
    rows = pairwise_kernels(X, metric="rbf", gamma=0.3)
    small = {"n_components": 10, "random_state": 0}
    by_matrix = mercer.Nystroem(kernel="precomputed", **small).fit(rows).transform(rows)
    by_rows = mercer.Nystroem(gamma=0.3, **small).fit(X).transform(X)
    assert np.abs(by_matrix - by_rows).max() < 1e-8


@pytest.mark.parametrize("rows", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("settings", [{}, {"kernel": "rbf"}, {"kernel": least}, {"kernel": "precomputed"}], ids=str)
def test_components_keep_their_training_rows(settings, rows, iris):
    X = iris[0]
    if settings.get("kernel") == "precomputed":
        X = X @ X.T
    elif callable(settings.get("kernel")):
        rows = np.asarray
    if settings.get("kernel") == "precomputed" and rows is not np.asarray:
        pytest.skip("scikit-learn takes no sparse matrix of kernel values")
    theirs, ours = (estimator(n_components=2, **settings).fit(rows(X)) for estimator in both("KernelPCA"))
    kept = ours.X_fit_.toarray() if sp.issparse(ours.X_fit_) else ours.X_fit_
    assert np.array_equal(kept, X)
    assert np.abs(np.abs(theirs.eigenvectors_) - np.abs(ours.eigenvectors_)).max() < 1e-6


def test_small_habits(iris):
    X, y = iris
    theirs, ours = (estimator().fit(X) for estimator in both("OneClassSVM"))
    assert ours.offset_.shape == theirs.offset_.shape == (1,)
    theirs, ours = (estimator(alpha=[0.1]).fit(X, y) for estimator in both("KernelRidge"))
    assert np.abs(theirs.predict(X) - ours.predict(X)).max() < 1e-8
    assert np.isfinite(mercer.LinearSVC(C=True).fit(X, y).model_.coef).all()
