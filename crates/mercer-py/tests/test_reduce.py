"""Compression, other people's models, pre-images, denoising."""

import numpy as np
import pytest
import sklearn.decomposition
import sklearn.svm as svm
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

import mercer
from mercer import SVC, ReducedSet, compress, from_sklearn


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, y[:600], X[600:1000] / 16, y[600:1000]


def test_fewer_vectors_nearly_the_same_answers(digits):
    X, y, new, truth = digits
    whole = SVC(C=10).fit(X, y)
    small = compress(whole, X, y, ratio=5)
    assert small.support_vectors_.shape[0] == small.compression_["after"] <= whole.support_vectors_.shape[0] // 5 + 1
    assert (small.predict(new) == whole.predict(new)).mean() > 0.93
    assert small.dual_coef_.shape == (45, small.compression_["after"])
    # The one that was compressed is as it was.
    assert whole.n_support_.sum() == whole.support_vectors_.shape[0]
    kept = compress(whole, X, y, agreement=0.98)
    assert (kept.predict(X) == whole.predict(X)).mean() >= 0.98
    wide = compress(whole, X, y, ratio=10, widths=True)
    assert wide.score(new, truth) > 0.85 and wide.n_features_in_ == 64
    with pytest.raises(ValueError, match="mutually exclusive"):
        compress(whole, vectors=3, ratio=2)
    with pytest.raises(ValueError, match="method = best"):
        compress(whole, method="best")


def test_a_meta_estimator_compresses_after_the_fit(digits):
    X, y, new, truth = digits
    small = ReducedSet(SVC(C=10), vectors=120).fit(X, y)
    assert small.estimator_.support_vectors_.shape[0] == 120
    assert small.score(new, truth) > 0.9
    regression = ReducedSet(mercer.SVR(C=10), vectors=40).fit(X, y)
    assert regression.score(new, truth) > 0.5


MACHINES = [
    svm.SVC(C=3),
    svm.SVC(C=3, kernel="poly", degree=2, coef0=1.0),
    svm.SVC(C=3, kernel="linear"),
    svm.SVC(C=3, kernel="sigmoid", gamma=0.01),
    svm.NuSVC(nu=0.1),
    svm.SVR(C=3),
    svm.NuSVR(),
    svm.OneClassSVM(nu=0.2),
]


@pytest.mark.parametrize("theirs", MACHINES, ids=str)
@pytest.mark.parametrize("classes", [2, 10])
def test_other_peoples_machines_decide_the_same_here(digits, theirs, classes, tmp_path):
    X, y, new, _ = digits
    X, y = X[y < classes], y[y < classes]
    theirs.fit(X, y)
    ours = from_sklearn(theirs)
    assert type(ours).__module__.startswith("mercer") and type(ours).__name__ == type(theirs).__name__
    if hasattr(theirs, "decision_function"):
        assert np.allclose(theirs.decision_function(new), ours.decision_function(new), atol=1e-9)
    assert np.allclose(theirs.predict(new), ours.predict(new), atol=1e-9)
    ours.save(tmp_path / "m.mercer")
    assert np.array_equal(mercer.load(tmp_path / "m.mercer").predict(new), ours.predict(new))


def test_other_peoples_machines_can_be_compressed(digits):
    X, y, new, truth = digits
    theirs = svm.SVC(C=10).fit(X, y)
    small = compress(theirs, X, y, ratio=4)
    assert small.compression_["before"] // small.compression_["after"] == 4
    assert (small.predict(new) == theirs.predict(new)).mean() > 0.93


def test_other_peoples_components(digits):
    X, _, new, _ = digits
    theirs = sklearn.decomposition.KernelPCA(8, kernel="rbf", gamma=0.05).fit(X)
    ours = from_sklearn(theirs)
    assert np.allclose(theirs.transform(new), ours.transform(new), atol=1e-9)
    back = ours.inverse_transform(ours.transform(X))
    assert ((back - X) ** 2).sum() < 0.8 * ((X - X.mean(0)) ** 2).sum()
    small = compress(ours, ratio=4)
    a, b = ours.transform(new), small.transform(new)
    assert ((a - b) ** 2).sum() < 0.2 * (a**2).sum()


def test_what_cannot_be_read_is_told(digits):
    X, y, _, _ = digits
    with pytest.raises(ValueError, match="RandomForestClassifier"):
        from_sklearn(RandomForestClassifier(2).fit(X, y))
    with pytest.raises(ValueError, match="callable"):
        from_sklearn(svm.SVC(kernel=lambda A, B: A @ B.T).fit(X, y))
    with pytest.raises(ValueError, match="cannot be compressed"):
        compress(SVC(kernel="precomputed").fit(X @ X.T, y), ratio=2)


def test_noise_goes(digits):
    X, _, new, _ = digits
    noisy = new + np.random.default_rng(0).normal(scale=0.3, size=new.shape)

    def error(found):
        return ((found - new) ** 2).mean()

    assert error(mercer.denoise(noisy, clean=X, image_shape=(8, 8))) < 0.5 * error(noisy)
    components = mercer.KernelPCA(32, kernel="rbf", gamma=0.05).fit(X)
    assert error(mercer.denoise(noisy, components)) < 0.6 * error(noisy)
    assert error(mercer.denoise(noisy, components, n_components=16)) < 0.7 * error(noisy)


def test_preimages_have_images_near_the_vectors(digits):
    X, y, _, _ = digits
    components = mercer.KernelPCA(10, kernel="rbf", gamma=0.02, preimage="auto").fit(X)
    points, left = mercer.preimage(components, components.transform(X[:5]))
    assert points.shape == (5, 64) and (left >= 0).all()
    assert np.allclose(points, components.inverse_transform(components.transform(X[:5])))
    inside, _ = mercer.preimage(components, components.transform(X[:5]), bounds=(0.0, 1.0))
    assert inside.min() >= 0 and inside.max() <= 1


def test_moved_vectors_help_on_moved_images(digits):
    X, y, new, truth = digits
    X, y = X[:300], y[:300]
    aside = np.roll(new.reshape(-1, 8, 8), 1, axis=2).reshape(-1, 64)
    plain = SVC(C=10, gamma=0.05).fit(X, y).score(aside, truth)
    moved = mercer.VirtualSVC(C=10, gamma=0.05, transformations="shift=1", image_shape=(8, 8)).fit(X, y)
    assert moved.score(aside, truth) > plain + 0.1
    assert moved.support_vectors_.shape[0] > 300
    with pytest.raises(AttributeError):
        moved.support_
    with pytest.raises(ValueError, match="transformation"):
        mercer.VirtualSVC(transformations="jump=3").fit(X, y)
