"""What fitted estimators tell, beside scikit-learn's: coefficients, counts, several targets, indefinite kernels, conversions."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.decomposition
import sklearn.kernel_ridge
import sklearn.svm
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler

import mercer

X, Y = load_iris(return_X_y=True)
XD, YD = load_diabetes(return_X_y=True)
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"])
def test_coefficients_are_scikit_learns(name, kernel):
    # Few rows, solved to the end: the problem has one solution, and both have found it.
    rows, targets = (X[::5], Y[::5]) if "SVC" in name or name == "OneClassSVM" else (XD[:40], YD[:40] / 100)
    given = {"kernel": kernel, "gamma": 0.3, "coef0": 1.0, "degree": 2, "tol": 1e-10}
    ours = getattr(mercer, name)(**given).fit(rows, targets)
    theirs = getattr(sklearn.svm, name)(**given).fit(rows, targets)
    assert np.allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    if kernel == "rbf":
        assert np.array_equal(ours.support_, theirs.support_)
        assert np.array_equal(ours.n_support_, theirs.n_support_)
        assert np.allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    if kernel == "linear":
        assert ours.coef_.shape == theirs.coef_.shape
        assert np.allclose(ours.coef_, theirs.coef_, atol=1e-4)
        # The rows behind the weights: of machines of pairs, which row counts for which is scikit-learn's matter.
        if ours.dual_coef_.shape[0] == 1:
            assert np.allclose(ours.dual_coef_ @ ours.support_vectors_, ours.coef_)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_array])
@pytest.mark.parametrize("rows", [150, 2000], ids=["small", "large"])
def test_attributes_are_sparse_where_rows_were(make, rows):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(rows, 60)) * (rng.random((rows, 60)) < 0.2)
    y = dense[:, :3].sum(axis=1) > 0
    for kernel in ("linear", "rbf"):
        machine = mercer.SVC(kernel=kernel).fit(make(dense), y)
        # Whatever the rows were: scikit-learn's setting `sparse_interface` decides.
        kind = sp.spmatrix
        shown = [machine.support_vectors_, machine.dual_coef_] + ([machine.coef_] if kernel == "linear" else [])
        assert all(isinstance(values, kind) and values.format == "csr" for values in shown)
        assert np.array_equal(machine.support_vectors_.toarray(), dense[machine.support_])
        same = mercer.SVC(kernel=kernel).fit(dense, y)
        assert np.allclose(machine.decision_function(dense), same.decision_function(dense), atol=5e-3)
        with pytest.raises(ValueError, match="cannot use sparse input in 'SVC' trained on dense data"):
            same.predict(make(dense))


def test_counts_of_support_vectors_survive_a_file(tmp_path):
    for estimator, target in (
        (mercer.SVC(), Y),
        (mercer.NuSVC(nu=0.2), Y),
        (mercer.SVC(), Y == 1),
        (mercer.SVR(), X[:, 0]),
        (mercer.OneClassSVM(), None),
    ):
        fitted = estimator.fit(X) if target is None else estimator.fit(X, target)
        fitted.save(tmp_path / "m.mercer")
        again = mercer.load(tmp_path / "m.mercer")
        assert np.array_equal(again.n_support_, fitted.n_support_)
        assert np.array_equal(again.support_, fitted.support_)
        assert np.allclose(again.dual_coef_, fitted.dual_coef_)


def test_a_linear_machine_from_a_file_has_weights_and_says_what_it_lacks(tmp_path):
    fitted = mercer.SVC(kernel="linear").fit(X, Y)
    fitted.save(tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    assert np.allclose(again.coef_, fitted.coef_)
    with pytest.raises(AttributeError, match="see coef_"):
        _ = again.dual_coef_


def test_ridge_takes_several_targets_weights_and_regularisations():
    targets, weights = np.c_[YD, XD[:, 0] * 100, -YD], np.random.default_rng(0).random(len(YD))
    for given in (
        {"alpha": 0.1},
        {"alpha": [0.1, 1.0, 10.0]},
        {"alpha": 0.1, "kernel": "rbf", "gamma": 2.0},
        {"alpha": [1.0, 0.5, 0.1], "kernel": "poly"},
    ):
        theirs = sklearn.kernel_ridge.KernelRidge(**given).fit(XD, targets, sample_weight=weights)
        ours = mercer.KernelRidge(**given).fit(XD, targets, sample_weight=weights)
        assert ours.dual_coef_.shape == theirs.dual_coef_.shape
        assert np.allclose(ours.predict(XD[:50]), theirs.predict(XD[:50]), rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="one target"):
        ours.save("nowhere.mercer")


def test_ridge_solves_indefinite_and_singular_systems():
    indefinite = {"kernel": "sigmoid", "gamma": 4.0, "coef0": -1.0, "alpha": 1e-3}
    theirs = sklearn.kernel_ridge.KernelRidge(**indefinite)
    ours = mercer.KernelRidge(**indefinite)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want, got = theirs.fit(XD[:60], YD[:60]).predict(XD[:80]), ours.fit(XD[:60], YD[:60]).predict(XD[:80])
    assert np.abs(np.linalg.eigvalsh(sklearn.metrics.pairwise.sigmoid_kernel(XD[:60], gamma=4.0, coef0=-1.0)).min()) > 1e-6
    assert np.allclose(got, want, rtol=1e-5, atol=1e-3 * np.abs(want).max())
    with pytest.warns(UserWarning, match="least-squares"):
        plain = mercer.KernelRidge(alpha=0).fit(np.repeat(XD[:20], 2, axis=0), np.repeat(YD[:20], 2))
    assert np.isfinite(plain.predict(XD[:20])).all()
    with pytest.raises(ValueError, match="alpha"):
        mercer.KernelRidge(alpha=-1.0).fit(XD, YD)


@pytest.mark.parametrize("made", [mercer.KernelRidge, mercer.KernelPCA])
def test_callables_take_rows_or_blocks(made):
    def rows(a, b):
        return np.minimum(a, b).sum()

    def blocks(A, B):
        return np.minimum(A[:, None], B).sum(axis=-1)

    found = []
    for kernel in (rows, blocks):
        estimator = made(kernel=kernel).fit(X[:30], Y[:30])
        found.append(getattr(estimator, "predict" if hasattr(estimator, "predict") else "transform")(X[30:40]))
    assert np.allclose(found[0], found[1])


def test_components_that_are_not_there_are_zero():
    flat = np.c_[X[:, :1], X[:, :1], X[:, :1]]
    assert mercer.KernelPCA().fit_transform(flat).shape == (150, 1)
    padded = mercer.KernelPCA(3).fit(flat)
    theirs = sklearn.decomposition.KernelPCA(3).fit(flat)
    assert padded.eigenvalues_.shape == theirs.eigenvalues_.shape == (3,)
    assert np.allclose(padded.transform(flat), theirs.transform(flat), atol=1e-5)
    assert mercer.KernelPCA(3, remove_zero_eig=True).fit_transform(flat).shape == (150, 1)
    same = np.ones((5, 2))
    assert mercer.KernelPCA().fit_transform(same).shape == (5, 0)
    assert not mercer.KernelPCA(2).fit_transform(same).any()
    with pytest.raises(ValueError, match="cannot be saved as a model file"):
        mercer.KernelPCA(2).fit(same).save("nowhere.mercer")


def test_indefinite_components_are_those_of_largest_value():
    rng = np.random.default_rng(1)
    half = rng.normal(size=(40, 40))
    matrix = half + half.T
    theirs = sklearn.decomposition.KernelPCA(3, kernel="precomputed", eigen_solver="dense").fit(matrix)
    ours = mercer.KernelPCA(3, kernel="precomputed").fit(matrix)
    assert np.allclose(ours.eigenvalues_, theirs.eigenvalues_)
    new = rng.normal(size=(5, 40))
    assert np.allclose(ours.transform(new), theirs.transform(new))
    skew = matrix + np.triu(rng.normal(size=(40, 40)), 1)
    theirs = sklearn.decomposition.KernelPCA(3, kernel="precomputed", eigen_solver="dense").fit(skew)
    ours = mercer.KernelPCA(3, kernel="precomputed").fit(skew)
    assert np.allclose(ours.transform(new), theirs.transform(new))


def test_the_way_back_is_scikit_learns_or_our_own():
    given = {"n_components": 5, "kernel": "rbf", "gamma": 0.1}
    theirs = sklearn.decomposition.KernelPCA(fit_inverse_transform=True, alpha=0.01, **given).fit(X)
    ours = mercer.KernelPCA(fit_inverse_transform=True, alpha=0.01, tol=0, **given).fit(X)
    assert np.allclose(ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)), atol=1e-4)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    with pytest.raises(NotFittedError):
        mercer.KernelPCA(**given).fit(X).inverse_transform(np.zeros((1, 5)))
    free = mercer.KernelPCA(preimage="auto", **given).fit(X)
    assert ((free.inverse_transform(free.transform(X)) - X) ** 2).sum() < 0.1 * ((X - X.mean(axis=0)) ** 2).sum()


CLASSIFIERS = [
    sklearn.svm.SVC(probability=True, random_state=0),
    sklearn.svm.LinearSVC(),
    make_pipeline(StandardScaler(), sklearn.svm.SVC(probability=True, random_state=0)),
    make_pipeline(StandardScaler(with_mean=False), MinMaxScaler(), PCA(2, whiten=True), sklearn.svm.NuSVC(nu=0.2)),
    make_pipeline(RobustScaler(), "passthrough", sklearn.svm.LinearSVC()),
    make_pipeline(MaxAbsScaler(), Normalizer(), sklearn.svm.OneClassSVM()),
    GridSearchCV(sklearn.svm.SVC(), {"C": [1, 10]}, cv=2),
]


@pytest.mark.parametrize("theirs", CLASSIFIERS, ids=lambda e: str(e)[:60].replace("\n", ""))
def test_machines_of_scikit_learn_are_read_with_their_steps(theirs, tmp_path):
    theirs.fit(X, Y)
    ours = mercer.from_sklearn(theirs)
    ours.save(tmp_path / "m.mercer")
    for found in (ours, mercer.load(tmp_path / "m.mercer")):
        assert np.array_equal(found.predict(X), theirs.predict(X))
        assert np.allclose(found.decision_function(X), theirs.decision_function(X), atol=1e-9)
        if hasattr(theirs, "predict_proba"):
            # LIBSVM couples the probabilities of pairs to 0.005.
            assert np.abs(found.predict_proba(X) - theirs.predict_proba(X)).max() < 0.01


def test_two_classes_have_scikit_learns_probabilities():
    theirs = sklearn.svm.SVC(probability=True, random_state=0).fit(X[:100, :2], Y[:100])
    ours = mercer.from_sklearn(theirs)
    # There, two classes are coupled like more of them, to 0.005.
    assert np.abs(ours.predict_proba(X[:, :2]) - theirs.predict_proba(X[:, :2])).max() < 0.005
    assert np.allclose(ours.probA_, theirs.probA_) and np.allclose(ours.probB_, theirs.probB_)


@pytest.mark.parametrize(
    "theirs",
    [
        sklearn.svm.LinearSVR(max_iter=10000),
        sklearn.kernel_ridge.KernelRidge(kernel="rbf"),
        sklearn.kernel_ridge.KernelRidge(),
        make_pipeline(StandardScaler(), sklearn.kernel_ridge.KernelRidge(kernel="poly")),
        make_pipeline(StandardScaler(), sklearn.svm.SVR()),
    ],
    ids=lambda e: str(e)[:60].replace("\n", ""),
)
def test_regressions_of_scikit_learn_are_read(theirs, tmp_path):
    theirs.fit(XD, YD)
    ours = mercer.from_sklearn(theirs)
    ours.save(tmp_path / "m.mercer")
    for found in (ours, mercer.load(tmp_path / "m.mercer")):
        assert np.allclose(found.predict(XD), theirs.predict(XD), rtol=1e-9)


def test_steps_that_are_no_stages_are_refused_by_name():
    from sklearn.preprocessing import PolynomialFeatures

    theirs = make_pipeline(PolynomialFeatures(), sklearn.svm.SVC()).fit(X, Y)
    with pytest.raises(ValueError, match="step PolynomialFeatures"):
        mercer.from_sklearn(theirs)
    with pytest.raises(ValueError, match="LogisticRegression: must be SVC"):
        from sklearn.linear_model import LogisticRegression

        mercer.from_sklearn(LogisticRegression(max_iter=1000).fit(X, Y))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_linear_machines_minimise_what_scikit_learns_do(loss):
    for fit_intercept in (True, False):
        given = {"loss": loss, "fit_intercept": fit_intercept, "tol": 1e-8, "max_iter": 100_000, "intercept_scaling": 2.0}
        theirs, ours = sklearn.svm.LinearSVC(**given).fit(X, Y), mercer.LinearSVC(**given).fit(X, Y)
        assert np.allclose(ours.coef_, theirs.coef_, atol=2e-3)
        assert np.allclose(ours.intercept_, theirs.intercept_, atol=2e-3)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_linear_regressions_minimise_what_scikit_learns_do(loss):
    given = {"loss": loss, "C": 0.5, "epsilon": 0.1, "tol": 1e-8, "max_iter": 1_000_000}
    rows, target = X[:, :3], X[:, 3]
    theirs, ours = sklearn.svm.LinearSVR(**given).fit(rows, target), mercer.LinearSVR(**given).fit(rows, target)
    assert np.allclose(ours.coef_, theirs.coef_, atol=2e-3)
    assert np.allclose(ours.intercept_, theirs.intercept_, atol=2e-3)
