"""Kernel k-means."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._base import FLOATS, Fitted
from ._data import rows_of, threads_of
from ._frames import validate_data
from .svm import _seed

__all__ = ["KernelKMeans"]


class KernelKMeans(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, Fitted):
    """Points whose images lie together.

    Parameters
    ----------
    n_clusters : int, default=2
        How many clusters.
    kernel : str, Kernel or callable, default='rbf'
    gamma : {'scale', 'auto'} or float, default='scale'
    degree : int, default=3
    coef0 : float, default=0.0
        As in :class:`mercer.SVC`.
    init : {'distances', 'spectral', 'online'}, default='distances'
        Where clusters start: far apart, by components, or one by one.
    n_init : int, default=10
        Starts tried; the best is kept.
    max_iter : int, default=300
        Most passes a start.
    random_state : int, RandomState instance or None, default=None
        Seed of what is drawn. None is a fixed seed.
    verbose : bool, default=False
        Show a bar, if tqdm is installed.
    n_jobs : int, default=None
        Threads; None means all.
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
        """Finds the clusters.

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
        """The nearest clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._call("predict", X).astype(np.int32)

    def transform(self, X):
        """Distances to the clusters' means in feature space.

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
