"""The same answers as scikit-learn's where both solve the same problem."""

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.kernel_ridge
import sklearn.svm as svm
from sklearn.datasets import load_diabetes, load_digits, make_moons
from sklearn.preprocessing import StandardScaler

import mercer


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:500] / 16, y[:500], X[500:900] / 16


@pytest.fixture(scope="module")
def numbers():
    X, y = load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(X), y / 50


def objective(machine, X):
    """-1/2 a'Ka + sum |a| of a two-class machine."""
    sv = machine.support_vectors_
    a = machine.dual_coef_[0]
    K = np.exp(-machine._gamma_ * ((sv[:, None] - sv) ** 2).sum(-1))
    return -0.5 * a @ K @ a + np.abs(a).sum()


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "sigmoid"])
def test_classes_and_values_agree(digits, kernel):
    X, y, new = digits
    told = dict(kernel=kernel, C=3.0, tol=1e-7, coef0=0.5 if kernel == "poly" else 0.0, gamma=0.02)
    theirs, ours = svm.SVC(**told).fit(X, y), mercer.SVC(**told).fit(X, y)
    assert (theirs.predict(new) == ours.predict(new)).mean() > 0.997
    for shape in ("ovr", "ovo"):
        theirs.decision_function_shape = ours.decision_function_shape = shape
        a, b = theirs.decision_function(new), ours.decision_function(new)
        assert a.shape == b.shape
        assert np.quantile(np.abs(a - b), 0.99) < 1e-4
    assert np.allclose(theirs.intercept_, ours.intercept_, atol=1e-4)
    if kernel != "linear":
        assert (theirs.support_ == ours.support_).all()
        assert (theirs.n_support_ == ours.n_support_).all()
        assert np.allclose(theirs.dual_coef_, ours.dual_coef_, atol=1e-3)
        assert np.array_equal(theirs.support_vectors_, ours.support_vectors_)
    else:
        assert np.allclose(theirs.coef_, ours.coef_, atol=1e-3)


def test_the_dual_objective_is_reached():
    X, y = make_moons(300, noise=0.2, random_state=0)
    values = []
    for machine in (svm.SVC(gamma=1.0, C=2.0, tol=1e-6), mercer.SVC(gamma=1.0, C=2.0, tol=1e-6)):
        machine.fit(X, y)
        machine._gamma_ = 1.0
        values.append(objective(machine, X))
    assert values[0] == pytest.approx(values[1], rel=1e-8)
    assert -machine.dual_objective_ == pytest.approx(values[1], rel=1e-6)


def test_weights_agree():
    X, y = make_moons(300, noise=0.3, random_state=1)
    w = np.random.default_rng(0).uniform(0, 2, 300)
    told = dict(gamma=1.0, tol=1e-7, class_weight={0: 1.0, 1: 3.0})
    a = svm.SVC(**told).fit(X, y, sample_weight=w).decision_function(X)
    b = mercer.SVC(**told).fit(X, y, sample_weight=w).decision_function(X)
    assert np.abs(a - b).max() < 1e-4
    told["class_weight"] = "balanced"
    a = svm.SVC(**told).fit(X[:200], y[:200]).decision_function(X)
    b = mercer.SVC(**told).fit(X[:200], y[:200]).decision_function(X)
    assert np.abs(a - b).max() < 1e-4


def test_nu_machine_agrees():
    X, y = make_moons(300, noise=0.3, random_state=1)
    a = svm.NuSVC(nu=0.3, gamma=1.0, tol=1e-8).fit(X, y)
    b = mercer.NuSVC(nu=0.3, gamma=1.0, tol=1e-8).fit(X, y)
    assert np.abs(a.decision_function(X) - b.decision_function(X)).max() < 1e-3


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_regressions_agree(numbers, kernel):
    X, y = numbers
    told = dict(kernel=kernel, gamma=0.1, C=2.0, tol=1e-7)
    for theirs, ours in (
        (svm.SVR(epsilon=0.2, **told), mercer.SVR(epsilon=0.2, **told)),
        (svm.NuSVR(nu=0.4, **told), mercer.NuSVR(nu=0.4, **told)),
    ):
        a, b = theirs.fit(X, y), ours.fit(X, y)
        assert np.abs(a.predict(X) - b.predict(X)).max() < 2e-4


def test_one_class_agrees(numbers):
    X, _ = numbers
    a, b = (m(nu=0.2, gamma=0.1, tol=1e-7).fit(X) for m in (svm.OneClassSVM, mercer.OneClassSVM))
    assert np.abs(a.decision_function(X) - b.decision_function(X)).max() < 1e-4
    assert np.abs(a.score_samples(X) - b.score_samples(X)).max() < 1e-4
    assert a.offset_ == pytest.approx(b.offset_, abs=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian", "cosine"])
def test_ridge_agrees(numbers, kernel):
    X, y = numbers
    w = np.random.default_rng(0).uniform(0.5, 2, len(y))
    for weights in (None, w):
        a = sklearn.kernel_ridge.KernelRidge(alpha=0.7, kernel=kernel).fit(X, y, weights)
        b = mercer.KernelRidge(alpha=0.7, kernel=kernel).fit(X, y, weights)
        assert np.allclose(a.predict(X), b.predict(X), rtol=1e-6, atol=1e-6)
        assert np.allclose(a.dual_coef_, b.dual_coef_, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_components_agree(numbers, kernel):
    X, _ = numbers
    a = sklearn.decomposition.KernelPCA(4, kernel=kernel, gamma=0.05).fit(X)
    b = mercer.KernelPCA(4, kernel=kernel, gamma=0.05, tol=1e-10, preimage="auto").fit(X)
    assert np.allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-7)
    ta, tb = a.transform(X), b.transform(X)
    # The signs are scikit-learn's, too.
    assert np.allclose(ta, tb, atol=1e-6)
    back = b.inverse_transform(tb)
    assert back.shape == X.shape
    assert ((back - X) ** 2).sum() < 0.9 * ((X - X.mean(0)) ** 2).sum()
    if kernel == "linear":
        truth = sklearn.decomposition.PCA(4).fit(X)
        assert np.allclose(truth.inverse_transform(truth.transform(X)), back, atol=1e-6)


def test_probabilities_are_calibrated_and_repeat(digits):
    X, y, new = digits
    machine = mercer.SVC(probability=True, random_state=3).fit(X, y)
    p = machine.predict_proba(new)
    assert p.shape == (len(new), 10) and np.allclose(p.sum(1), 1)
    assert (machine.classes_[p.argmax(1)] == machine.predict(new)).mean() > 0.97
    assert np.array_equal(p, mercer.SVC(probability=True, random_state=3).fit(X, y).predict_proba(new))
    with pytest.raises(AttributeError):
        mercer.SVC().fit(X, y).predict_proba
