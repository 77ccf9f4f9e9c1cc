"""What goes in and comes out: float types, strides, sparse rows, frames."""

import resource

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_moons

import mercer
from mercer import SVC, KernelPCA


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300]


def test_float_types_and_strides(digits):
    X, y = digits
    want = SVC(gamma=0.001).fit(X, y).decision_function(X)
    for other in (X.astype(np.float32), np.asfortranarray(X), X.astype(int), X.tolist(), np.repeat(X, 2, 0)[::2]):
        got = SVC(gamma=0.001).fit(other, y).decision_function(other)
        assert np.allclose(got, want, atol=1e-5)
    frozen = X.copy()
    frozen.flags.writeable = False
    assert np.array_equal(SVC(gamma=0.001).fit(frozen, y).decision_function(frozen), want)


def test_floats_of_32_bits_stay_as_they_are(digits):
    X, y = digits
    machine = SVC().fit(X.astype(np.float32), y)
    assert machine.support_vectors_.dtype == np.float32


def test_dense_rows_are_not_copied_to_predict():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 60))
    machine = SVC().fit(X, X[:, 0] > 0)
    big = np.ones((500_000, 60))
    machine.predict(big[:1000])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    machine.predict(big)
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    # Outputs and classes are a few bytes a row; a copy of the rows would be 240 MB.
    assert more < 0.4 * big.nbytes


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, sp.coo_array, sp.csc_matrix])
def test_sparse_rows(digits, kind):
    X, y = digits
    sparse = kind(X)
    a, b = SVC(gamma=0.001, tol=1e-9).fit(X, y), SVC(gamma=0.001, tol=1e-9).fit(sparse, y)
    assert np.allclose(a.decision_function(X), b.decision_function(sparse), atol=1e-6)
    assert np.allclose(b.decision_function(X), b.decision_function(sparse), atol=1e-9)
    assert sp.issparse(b.support_vectors_)
    assert np.array_equal(b.support_vectors_.toarray(), a.support_vectors_)
    unsorted = sp.csr_array(X)
    unsorted.indices[:2], unsorted.data[:2] = unsorted.indices[:2][::-1].copy(), unsorted.data[:2][::-1].copy()
    unsorted.has_sorted_indices = unsorted.has_canonical_format = False
    assert np.allclose(SVC(gamma=0.001, tol=1e-9).fit(unsorted, y).decision_function(X), a.decision_function(X), atol=1e-6)


def test_frames_in_and_out(digits):
    X, y = digits
    names = [f"p{i}" for i in range(64)]
    frame = pd.DataFrame(X, columns=names)
    machine = SVC().fit(frame, pd.Series(y))
    assert list(machine.feature_names_in_) == names
    assert (machine.predict(frame) == SVC().fit(X, y).predict(X)).all()
    polar = pl.DataFrame(X, schema=names)
    assert (SVC().fit(polar, pl.Series(y).to_numpy()).predict(polar) == machine.predict(frame)).all()
    with pytest.raises(ValueError, match="feature names"):
        machine.predict(frame[names[::-1]])
    features = KernelPCA(3, kernel="rbf").set_output(transform="pandas").fit_transform(frame)
    assert list(features.columns) == ["kernelpca0", "kernelpca1", "kernelpca2"]
    features = KernelPCA(3, kernel="rbf").set_output(transform="polars").fit_transform(polar)
    assert isinstance(features, pl.DataFrame) and features.shape == (300, 3)


def test_labels_of_all_kinds(digits, tmp_path):
    X, y = digits
    for labels in (y.astype(str), y.astype(float), y > 4, np.where(y > 4, "ä b", "c"), y - 5):
        machine = SVC().fit(X, labels)
        assert set(machine.predict(X)) <= set(labels)
        machine.save(tmp_path / "m.mercer")
        again = mercer.load(tmp_path / "m.mercer")
        assert (again.predict(X).astype(str) == machine.predict(X).astype(labels.dtype).astype(str)).all() or labels.dtype == float
    assert mercer.load(tmp_path / "m.mercer").classes_.dtype == np.int64


def test_shares_of_the_variance_choose_components(digits):
    X, _ = digits
    few, many = KernelPCA(0.5, kernel="rbf").fit(X), KernelPCA(0.95, kernel="rbf").fit(X)
    assert few.explained_variance_ratio_.sum() >= 0.5 > few.explained_variance_ratio_[:-1].sum()
    assert len(few.eigenvalues_) < len(many.eigenvalues_)
