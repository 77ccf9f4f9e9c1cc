"""Clusters: kernel k-means and spectral clustering."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin

from . import _mercer
from ._base import FLOATS, Fitted
from ._data import rows_of, threads_of, watcher
from ._frames import check_is_fitted, validate_data
from ._params import whole_number
from .svm import _seed

__all__ = ["KernelKMeans", "SpectralClustering"]


class KernelKMeans(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, Fitted):
    """Kernel k-means clustering.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters.
    kernel : str, Kernel or callable, default='rbf'
    gamma : {'scale', 'auto'} or float, default='scale'
    degree : int, default=3
    coef0 : float, default=0.0
        As in :class:`mercer.SVC`.
    init : {'distances', 'spectral', 'online'}, default='distances'
        Initialisation: distant rows as means, spectral clustering, or one row after another.
    n_init : int, default=10
        Number of restarts; the best result is kept.
    max_iter : int, default=300
        Maximum number of passes per restart.
    random_state : int, RandomState instance or None, default=None
        Seed of the random number generator. None is a fixed seed.
    verbose : bool, default=False
        Whether to show a progress bar, if tqdm is installed.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).
    callback : callable, default=None
        Called during the fit with a :class:`mercer.Progress`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters of the training rows.
    inertia_ : float
        Sum of squared distances to the clusters' means in feature space.
    n_iter_ : int
        Passes over the rows.
    model_ : mercer.Model
        The fitted model.

    See Also
    --------
    SpectralClustering : Clusters from eigenvectors of a similarity matrix.
    KernelPCA : Components of the same feature space.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from mercer import KernelKMeans
    >>> X, y = make_circles(200, factor=0.2, noise=0.03, random_state=0)
    >>> found = KernelKMeans(2, gamma=2.0, init="spectral").fit_predict(X)
    >>> adjusted_rand_score(y, found) > 0.95
    True
    """

    def __init__(
        self,
        n_clusters=2,
        *,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=0.0,
        init="distances",
        n_init=10,
        max_iter=300,
        random_state=None,
        verbose=False,
        n_jobs=None,
        callback=None,
    ):
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X, y=None, sample_weight=None):
        """Compute the clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; under a precomputed kernel its matrix.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self
        """
        X = validate_data(self, X, accept_sparse=self._sparse, dtype=FLOATS, order="C")
        params = self._more(
            clusters=self.n_clusters,
            start=self.init,
            starts=self.n_init,
            max_iter=self.max_iter,
            seed=_seed(self.random_state),
        )
        self._fit_model("kmeans", params, X, None, sample_weight)
        found = self.model_.predict(rows_of(self._seen(X)), threads=threads_of(self.n_jobs))
        self.labels_ = found.astype(np.int32)
        return self

    @property
    def inertia_(self):
        """Sum of squared distances to the clusters' means in feature space."""
        check_is_fitted(self)
        return dict(self._description["facts"])["inertia"]

    @property
    def n_iter_(self):
        """Passes over the rows."""
        check_is_fitted(self)
        return max(1, self._description["info"]["iterations"])

    @property
    def _n_features_out(self):
        return self.n_clusters

    def predict(self, X):
        """Predict the nearest cluster of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._call("predict", X).astype(np.int32)

    def transform(self, X):
        """Compute distances to the cluster means in feature space.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        rows = self._rows(X)
        squares = self.model_.cluster_distances(rows, threads=threads_of(self.n_jobs))
        return np.sqrt(np.maximum(squares, 0.0))


class SpectralClustering(ClusterMixin, Fitted):
    """Clusters by the first eigenvectors of the normalised matrix of similarities (Ng, Jordan and Weiss 2002).

    Finds clusters that are connected rather than round. It groups the rows it is given and predicts no others:
    :class:`mercer.KernelKMeans` with ``init='spectral'`` does.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    affinity : str, Kernel or callable, default='rbf'
        The kernel whose values are the similarities, as in :class:`mercer.SVC`, or ``'precomputed'``. Values must not be
        negative.
    gamma : {'scale', 'auto'} or float, default=1.0
        Coefficient of ``'rbf'``, ``'poly'``, ``'sigmoid'`` and ``'laplacian'``, as in :class:`mercer.SVC`.
    degree : int, default=3
        Degree of ``'poly'``.
    coef0 : float, default=1.0
        Constant term of ``'poly'`` and ``'sigmoid'``.
    n_init : int, default=10
        Number of starts of k-means among the eigenvectors; the best is kept.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts. None is a fixed seed.
    verbose : bool, default=False
        Whether to show a progress bar, if tqdm is installed.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).
    callback : callable, default=None
        Called during the fit with a :class:`mercer.Progress`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters of the rows.

    See Also
    --------
    KernelKMeans : k-means in feature space, which also predicts new rows.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.metrics import adjusted_rand_score
    >>> from mercer import SpectralClustering
    >>> X, y = make_circles(200, factor=0.4, noise=0.03, random_state=0)
    >>> adjusted_rand_score(y, SpectralClustering(2, gamma=30.0).fit_predict(X))
    1.0
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        affinity="rbf",
        gamma=1.0,
        degree=3,
        coef0=1.0,
        n_init=10,
        random_state=None,
        verbose=False,
        n_jobs=None,
        callback=None,
    ):
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.callback = callback

    @property
    def kernel(self):
        """The affinity, by the name that other estimators have for it."""
        return self.affinity

    def fit(self, X, y=None):
        """Compute the clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; with ``affinity='precomputed'`` the matrix of similarities.
        y : Ignored

        Returns
        -------
        self
        """
        X = validate_data(self, X, accept_sparse=self._sparse, dtype=FLOATS, order="C", ensure_min_samples=2)
        hear, done = watcher(self.verbose, self.callback)
        try:
            found = _mercer.spectral_clusters(
                self._line(X),
                rows_of(self._training(X)),
                whole_number(self.n_clusters, "n_clusters", 1),
                starts=whole_number(self.n_init, "n_init", 1),
                seed=_seed(self.random_state),
                threads=threads_of(self.n_jobs),
                callback=hear,
            )
        finally:
            done()
        self.labels_ = found.astype(np.int32)
        return self

    def save(self, path):
        """Spectral clusters cannot be saved as a model file: see :class:`mercer.KernelKMeans`.

        Parameters
        ----------
        path : str or path-like
            File to write.
        """
        raise ValueError("spectral clustering cannot predict new rows or be saved; use KernelKMeans(init='spectral')")

    def to_onnx(self, path=None):
        """Spectral clusters cannot be exported to ONNX.

        Parameters
        ----------
        path : str or path-like, default=None
            File to write.
        """
        raise ValueError("spectral clustering cannot predict new rows or be exported to ONNX")
