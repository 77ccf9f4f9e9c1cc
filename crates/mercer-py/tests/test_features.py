"""Random features and spectral clusters beside scikit-learn's."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster
import sklearn.kernel_approximation
import sklearn.svm
from sklearn.datasets import load_iris, make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("store", ["dense", "sparse"])
@pytest.mark.parametrize("gamma", [0.3, "scale"])
def test_random_features_are_scikit_learns(dtype, store, gamma):
    X, _ = load_iris(return_X_y=True)
    X = X.astype(dtype)
    rows = sp.csr_array(X) if store == "sparse" else X
    told = {"gamma": gamma, "n_components": 40, "random_state": 3}
    theirs = sklearn.kernel_approximation.RBFSampler(**told).fit(rows)
    ours = mercer.RBFSampler(**told).fit(rows)
    assert np.allclose(ours.random_weights_, theirs.random_weights_, rtol=1e-5)
    close = 1e-5 if dtype == np.float32 else 1e-10
    assert np.abs(ours.transform(rows) - theirs.transform(rows)).max() < close
    assert ours.transform(X).dtype == dtype
    again = pickle.loads(pickle.dumps(ours))
    assert np.array_equal(again.transform(rows), ours.transform(rows))


def test_random_features_become_a_stage_of_a_model(tmp_path):
    X, y = make_moons(200, noise=0.1, random_state=0)
    theirs = make_pipeline(
        StandardScaler(), sklearn.kernel_approximation.RBFSampler(gamma=1.0, random_state=0), sklearn.svm.LinearSVC()
    ).fit(X, y)
    ours = mercer.from_sklearn(theirs)
    assert np.allclose(ours.decision_function(X).ravel(), theirs.decision_function(X), atol=1e-8)
    ours.save(tmp_path / "m.mercer")
    assert np.array_equal(mercer.load(tmp_path / "m.mercer").predict(X), theirs.predict(X))


@pytest.mark.parametrize(
    ("X", "y", "clusters", "gamma"),
    [
        (*make_circles(200, factor=0.4, noise=0.03, random_state=0), 2, 30.0),
        (*make_moons(200, noise=0.05, random_state=0), 2, 30.0),
        (*make_blobs(150, centers=3, cluster_std=0.6, random_state=2), 3, 0.5),
    ],
    ids=["circles", "moons", "blobs"],
)
def test_spectral_clusters_are_scikit_learns(X, y, clusters, gamma):
    theirs = sklearn.cluster.SpectralClustering(clusters, gamma=gamma, random_state=0).fit_predict(X)
    found = mercer.SpectralClustering(clusters, gamma=gamma)
    assert adjusted_rand_score(theirs, found.fit_predict(X)) == 1.0
    assert adjusted_rand_score(y, found.labels_) == 1.0
    matrix = mercer.RBF(gamma)(X)
    given = mercer.SpectralClustering(clusters, affinity="precomputed").fit_predict(matrix)
    assert np.array_equal(given, found.labels_)
    called = mercer.SpectralClustering(clusters, affinity=lambda A, B: mercer.RBF(gamma)(A, B)).fit_predict(X)
    assert np.array_equal(called, found.labels_)


def test_similarities_must_be_a_symmetric_matrix_without_negative_values():
    X, _ = make_blobs(20, random_state=0)
    for wrong, words in (
        (-np.eye(20), "a number from 0"),
        (np.triu(np.ones((20, 20))), "symmetric"),
        (np.ones((20, 3)), "square matrix"),
    ):
        with pytest.raises(ValueError, match=words):
            mercer.SpectralClustering(2, affinity="precomputed").fit(wrong)
    with pytest.raises(ValueError, match="number of rows"):
        mercer.SpectralClustering(21).fit(X)
