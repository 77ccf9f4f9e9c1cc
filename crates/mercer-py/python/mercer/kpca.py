"""Kernel principal components, the way back from them, and maps into the span of some rows."""

from __future__ import annotations

import json
import numbers

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from . import _mercer
from ._base import FLOATS, Fitted, _columns
from ._data import array_of, rows_of, threads_of, watcher, whole_number
from .kernels import Kernel
from .svm import _seed

__all__ = ["KernelPCA", "EmpiricalKernelMap", "denoise", "preimage"]

_METHODS = {"dense": "complete", "arpack": "krylov", "randomized": "krylov"}


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Fitted):
    """Kernel principal components, with a way back.

    Parameters
    ----------
    n_components : int or float, default=None
        Number of components, or the share of the variance they carry together; None: all that are not zero. Where the
        kernel matrix has fewer, there are fewer.
    kernel : str, Kernel or callable, default='linear'
        As in :class:`mercer.SVC`.
    gamma : float, default=None
        None means ``1 / n_features``; ``'scale'`` and ``'auto'`` as in :class:`mercer.SVC`.
    degree : int, default=3
        Degree of ``'poly'``.
    coef0 : float, default=1
        Of ``'poly'`` and ``'sigmoid'``.
    kernel_params : dict, default=None
        What a callable kernel is called with besides rows.
    alpha : float, default=1.0
        Ridge of the map back, for ``preimage='learned'``.
    fit_inverse_transform : bool, default=False
        Without effect: there is always a way back.
    eigen_solver : {'auto', 'dense', 'arpack', 'randomized', 'nystroem', 'cholesky', 'sparse'}, default='auto'
        ``'dense'`` decomposes the whole matrix, ``'arpack'`` and ``'randomized'`` both mean products with it;
        ``'nystroem'`` and ``'cholesky'`` work in the span of `n_rows` rows.
    n_rows : int, default=None
        Fit on so many rows drawn at random.
    centred : bool, default=True
        Whether the mean in feature space is taken away first.
    whiten : bool, default=False
        Scale features to unit variance.
    tol : float, default=1e-5
        Relative residual of an eigenvector left.
    random_state : int, RandomState instance or None, default=None
        Seed of what is drawn. None is a fixed seed.
    preimage : {'auto', 'exact', 'fixed_point', 'gradient', 'learned', 'distances'}, default='auto'
        How :meth:`inverse_transform` finds points.
    verbose : bool, default=False
        Show a bar, if tqdm is installed.
    n_jobs : int, default=None
        Threads; None means all.
    callback : callable, default=None
        Called during the fit with a :class:`mercer.Progress`.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel matrix.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Its eigenvectors, where components were found by the whole matrix.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The share of the variance in feature space that each component carries.
    model_ : mercer.Model
        The fitted model.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> kpca = KernelPCA(n_components=2, kernel="rbf").fit(X)
    >>> kpca.transform(X).shape, kpca.inverse_transform(kpca.transform(X)).shape
    ((50, 2), (50, 3))
    """

    def __init__(
        self,
        n_components=None,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        alpha=1.0,
        fit_inverse_transform=False,
        eigen_solver="auto",
        n_rows=None,
        centred=True,
        whiten=False,
        tol=1e-5,
        random_state=None,
        preimage="auto",
        verbose=False,
        n_jobs=None,
        callback=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.n_rows = n_rows
        self.centred = centred
        self.whiten = whiten
        self.tol = tol
        self.random_state = random_state
        self.preimage = preimage
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X, y=None):
        """Finds the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; under a precomputed kernel its matrix.
        y : Ignored

        Returns
        -------
        self
        """
        X = validate_data(self, X, accept_sparse=self._sparse, dtype=FLOATS, order="C", ensure_min_samples=2)
        wanted, share = self.n_components, None
        if isinstance(wanted, numbers.Real) and not isinstance(wanted, numbers.Integral):
            wanted, share = None, float(wanted)
        params = self._more(
            kernel=self._line(X),
            components=None if wanted is None else min(wanted, X.shape[0]),
            share=share,
            method=_METHODS.get(self.eigen_solver, self.eigen_solver),
            rows=self.n_rows,
            centred=bool(self.centred),
            whiten=bool(self.whiten),
            tol=self.tol,
            seed=_seed(self.random_state) if self.random_state is not None else 1,
        )
        hear, done = watcher(self.verbose, self.callback)
        try:
            self.model_ = _mercer.fit_components(
                params,
                rows_of(self._training(X)),
                threads=threads_of(self.n_jobs),
                columns=_columns(self),
                callback=hear,
            )
        finally:
            done()
        self.__dict__.pop("_about", None)
        return self

    @property
    def _facts(self):
        return dict(self._description["facts"])

    @property
    def eigenvalues_(self):
        """Eigenvalues of the centred kernel matrix."""
        check_is_fitted(self)
        return np.array(self._facts["values"])

    @property
    def eigenvectors_(self):
        """Eigenvectors of the centred kernel matrix."""
        check_is_fitted(self)
        coef = self.model_.coef
        if coef.shape[0] != self._facts["rows"]:
            raise AttributeError("these components are not written with all training rows")
        return coef * np.sqrt(np.abs(self.eigenvalues_))

    @property
    def explained_variance_ratio_(self):
        """The share of the variance in feature space that each component carries."""
        values = np.abs(self.eigenvalues_)
        return values / values.sum() * self._facts["share"]

    @property
    def _n_features_out(self):
        return len(self.eigenvalues_)

    def transform(self, X):
        """Features of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return self._call("decision", X)

    def inverse_transform(self, X):
        """Points whose images are nearest to what features say.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Features; fewer columns than components use the first ones.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        if self._pairwise() or self._uses_callable():
            raise ValueError("there is no way back from a kernel that is a matrix or a Python callable")
        X = np.ascontiguousarray(check_array(X, dtype=np.float64, order="C"))
        hear, done = watcher(self.verbose, self.callback)
        obey = json.dumps({"method": self.preimage, "lambda": float(self.alpha)})
        try:
            found, _ = self.model_.decode(X, obey, threads=threads_of(self.n_jobs), callback=hear)
        finally:
            done()
        return array_of(found)


class EmpiricalKernelMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Fitted):
    """Features ``k(x, z_1), ..., k(x, z_m)`` on some training rows z, for methods without kernels.

    Parameters
    ----------
    n_components : int, default=None
        m; the rows are drawn at random. None: all of them.
    kernel : str or Kernel, default='rbf'
        As in :class:`mercer.SVC`, but no callable and not ``'precomputed'``.
    gamma : {'scale', 'auto'} or float, default='scale'
    degree : int, default=3
    coef0 : float, default=0.0
    whiten : bool, default=True
        Multiply with ``K^(-1/2)``, so that dot products of features are kernel values (on z exactly).
    random_state : int, RandomState instance or None, default=None
        Seed of the rows drawn.
    n_jobs : int, default=None
        Threads; None means all.

    Attributes
    ----------
    component_indices_ : ndarray of shape (m,)
        The rows drawn.
    map_ : object
        The fitted map.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import EmpiricalKernelMap, RBF
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> F = EmpiricalKernelMap(kernel=RBF(0.5)).fit_transform(X)
    >>> bool(np.allclose(F @ F.T, RBF(0.5)(X)))
    True
    """

    def __init__(
        self,
        n_components=None,
        *,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=0.0,
        whiten=True,
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.whiten = whiten
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Draws the rows and makes the map.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : Ignored

        Returns
        -------
        self
        """
        X = validate_data(self, X, accept_sparse=self._sparse, dtype=FLOATS, order="C")
        if self._pairwise() or self._uses_callable():
            raise ValueError("the map needs kernel values of new rows: give the kernel by name, line or object")
        n = X.shape[0]
        m = n if self.n_components is None else min(whole_number(self.n_components, "n_components", 1), n)
        drawn = check_random_state(self.random_state).permutation(n)[:m] if m < n else np.arange(n)
        self.component_indices_ = np.sort(drawn)
        rows = rows_of(X[self.component_indices_])
        threads = threads_of(self.n_jobs)
        self.map_ = _mercer.Map.empirical(self._line(X), rows, bool(self.whiten), threads=threads)
        return self

    @property
    def _n_features_out(self):
        return len(self.component_indices_)

    def transform(self, X):
        """Features of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, m)
        """
        rows = self._rows(X)
        return self.map_.apply(rows, threads=threads_of(self.n_jobs))

    def save(self, path):
        """A map alone is no model file: pickle it, or fit a machine behind it."""
        raise ValueError("an empirical kernel map has no file of its own: pickle it")

    def to_onnx(self, path=None):
        """A map alone has no ONNX form."""
        raise ValueError("an empirical kernel map has no ONNX form")


def denoise(
    X,
    estimator=None,
    *,
    clean=None,
    kernel=None,
    n_components=None,
    noise=None,
    image_shape=None,
    random_state=None,
    n_jobs=None,
    callback=None,
):
    """Rows without their noise: projected onto kernel principal components and brought back.

    Without a fitted estimator, components are found in the rows themselves or in clean rows; kernel and number are those
    that leave the least error on rows set aside.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Noisy rows.
    estimator : KernelPCA, default=None
        Fitted components to use.
    clean : array-like of shape (m_samples, n_features), default=None
        Clean rows to find components in.
    kernel : str or Kernel, default=None
        A line or an object; None: the best of the linear one and some Gaussians.
    n_components : int, default=None
        None: by rows set aside, or all of the estimator's.
    noise : float, default=None
        Standard deviation of the noise; None: estimated.
    image_shape : tuple, default=None
        Height and width of rows that are images.
    random_state : int, default=None
        Seed of the rows set aside.
    n_jobs : int, default=None
        Threads; None means all.
    callback : callable, default=None
        Called with a :class:`mercer.Progress`.

    Returns
    -------
    ndarray of shape (n_samples, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> rng = np.random.default_rng(0)
    >>> t = rng.uniform(0, np.pi, 200)
    >>> truth = np.c_[np.cos(t), np.sin(t), t * 0, t * 0]
    >>> noisy = truth + rng.normal(scale=0.1, size=truth.shape)
    >>> found = mercer.denoise(noisy)
    >>> bool(((found - truth) ** 2).sum() < 0.6 * ((noisy - truth) ** 2).sum())
    True
    """
    X = check_array(X, dtype=FLOATS, order="C")
    threads, image = threads_of(n_jobs), image_of(image_shape)
    hear, done = watcher(False, callback)
    try:
        if estimator is not None:
            check_is_fitted(estimator)
            model, used = estimator.model_, n_components
        else:
            rows = X if clean is None else check_array(clean, dtype=FLOATS, order="C")
            line = kernel.line if isinstance(kernel, Kernel) else kernel
            model, used, _ = _mercer.fit_denoiser(
                rows_of(rows),
                None if clean is None else rows_of(X),
                kernel=line,
                components=n_components,
                noise=noise,
                seed=_seed(random_state),
                threads=threads,
                image=image,
                callback=hear,
            )
        return model.denoise(rows_of(X), used, threads=threads, image=image, callback=hear)
    finally:
        done()


def preimage(estimator, features=None, *, method="auto", bounds=None, n_jobs=None, callback=None):
    """Points whose images come nearest to vectors in feature space.

    Parameters
    ----------
    estimator : fitted estimator
        Its vectors are the normals of a machine, the mean of a ball, the axes of components.
    features : array-like of shape (n_samples, n_components), default=None
        With :class:`KernelPCA`: rows of features to bring back, instead of the axes.
    method : {'auto', 'exact', 'fixed_point', 'gradient', 'learned', 'distances'}, default='auto'
        How points are looked for.
    bounds : (float, float), default=None
        Least and largest value of a coordinate.
    n_jobs : int, default=None
        Threads; None means all.
    callback : callable, default=None
        Called with a :class:`mercer.Progress`.

    Returns
    -------
    points : ndarray of shape (n_vectors, n_features)
    distances : ndarray of shape (n_vectors,)
        Squared distances in feature space that are left.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVDD, preimage
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> centre, left = preimage(SVDD(nu=0.2, kernel="linear").fit(X))
    >>> bool(np.linalg.norm(centre) < 0.5)
    True
    """
    check_is_fitted(estimator)
    params = {"method": method}
    if bounds is not None:
        params["bounds"] = [float(bounds[0]), float(bounds[1])]
    hear, done = watcher(False, callback)
    try:
        if features is None:
            found = estimator.model_.preimages(json.dumps(params), threads=threads_of(n_jobs), callback=hear)
        else:
            features = np.ascontiguousarray(check_array(features, dtype=np.float64))
            found = estimator.model_.decode(
                features, json.dumps(params), threads=threads_of(n_jobs), callback=hear
            )
    finally:
        done()
    return array_of(found[0]), found[1]


def image_of(shape):
    """Height, width and channels for the compiled part."""
    if shape is None:
        return None
    shape = tuple(int(s) for s in shape)
    return shape if len(shape) == 3 else (*shape, 1)
