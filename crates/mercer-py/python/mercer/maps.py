"""Map whose dot products are kernel values, or nearly so: into the span of some rows, and by random features."""

from __future__ import annotations

import numbers
import warnings

import numpy as np
import scipy.linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state

from . import _mercer
from ._base import Fitted
from ._data import rows_of, threads_of
from ._frames import NUMERIC, validate_data
from ._pairs import Pairwise
from ._params import whole_number
from .kernels import gamma_of, line_of

__all__ = ["EmpiricalKernelMap", "Nystroem", "RBFSampler"]


def preserving(tags):
    """The tags of a transformer whose features are f32 where the rows are."""
    tags.transformer_tags.preserves_dtype = ["float64", "float32"]
    return tags


class EmpiricalKernelMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Fitted):
    """Features ``k(x, z_1), ..., k(x, z_m)`` on some training rows z, for methods without kernels.

    Parameters
    ----------
    n_components : int, default=None
        Number of rows m, drawn at random. None: all of them.
    kernel : str or Kernel, default='rbf'
        As in :class:`mercer.SVC`, but no callable and not ``'precomputed'``.
    gamma : {'scale', 'auto'} or float, default='scale'
    degree : int, default=3
    coef0 : float, default=0.0
    whiten : bool, default=True
        Whether to multiply by ``K^(-1/2)``, so that dot products of features are kernel values (on z exactly).
    random_state : int, RandomState instance or None, default=None
        Seed of the rows drawn.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).

    Attributes
    ----------
    component_indices_ : ndarray of shape (m,)
        The rows drawn.
    components_ : {ndarray, sparse array} of shape (m, n_features)
        The rows themselves.
    map_ : object
        The fitted map.

    See Also
    --------
    Nystroem : An orthonormal feature map from the same kernel values.
    KernelPCA : Principal components in feature space.

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
        """Draw the rows and make the map.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : Ignored

        Returns
        -------
        self
        """
        X = validate_data(self, X, accept_sparse=self._sparse, dtype=self._dtype, order="C")
        if self._pairwise() or self._uses_callable():
            raise ValueError("the map requires kernel values of new rows: pass the kernel by name, line or object")
        n = X.shape[0]
        m = n if self.n_components is None else min(whole_number(self.n_components, "n_components", 1), n)
        self.component_indices_ = self._drawn(n, m)
        self.components_ = X[self.component_indices_]
        rows = rows_of(self.components_)
        threads = threads_of(self.n_jobs)
        self.map_ = _mercer.Map.empirical(self._line(X), rows, bool(self.whiten), threads=threads)
        return self

    def _drawn(self, n, m):
        drawn = check_random_state(self.random_state).permutation(n)[:m] if m < n else np.arange(n)
        return np.sort(drawn)

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
        """A map alone cannot be saved as a model file: pickle it, or fit a machine on its features.

        Parameters
        ----------
        path : str or path-like
            File to write.
        """
        raise ValueError("an empirical kernel map cannot be saved as a model file: pickle it")

    def to_onnx(self, path=None):
        """A map alone cannot be exported to ONNX.

        Parameters
        ----------
        path : str or path-like, default=None
            Ignored.

        Raises
        ------
        ValueError
            Always.
        """
        raise ValueError("an empirical kernel map cannot be exported to ONNX")


class Nystroem(EmpiricalKernelMap, Pairwise):
    """Features whose dot products approximate kernel values, by rows drawn at random (Williams and Seeger 2001).

    Parameters
    ----------
    kernel : str, Kernel or callable, default='rbf'
        As in :class:`mercer.SVC`; a callable takes two rows, as in scikit-learn, or two blocks of rows.
    gamma : {'scale', 'auto'} or float, default=None
        Coefficient of ``'rbf'``, ``'poly'``, ``'sigmoid'`` and ``'laplacian'``; None means ``1 / n_features``.
    coef0 : float, default=None
        Constant term of ``'poly'`` and ``'sigmoid'``; None means 1.
    degree : float, default=None
        Degree of ``'poly'``; None means 3.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel; for a kernel by name, the parameters that are None.
    n_components : int, default=100
        Number of rows drawn, and of features.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows drawn.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).

    Attributes
    ----------
    components_ : {ndarray, sparse array} of shape (n_components, n_features)
        The rows drawn.
    component_indices_ : ndarray of shape (n_components,)
        Their row indices.
    normalization_ : ndarray of shape (n_components, n_components)
        Matrix by which the kernel values against them are multiplied.
    map_ : object
        The fitted map; None for a callable or precomputed kernel.

    See Also
    --------
    RBFSampler : Random Fourier features.
    EmpiricalKernelMap : Kernel values as features, without whitening.
    LargeClassifier : A classifier on landmarks, with its own solver.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import LinearSVC, Nystroem
    >>> X, y = load_digits(n_class=9, return_X_y=True)
    >>> features = Nystroem(gamma=0.2, random_state=1, n_components=300).fit_transform(X / 16)
    >>> LinearSVC().fit(features, y).score(features, y) > 0.98
    True
    """

    whiten = True

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma=None,
        coef0=None,
        degree=None,
        kernel_params=None,
        n_components=100,
        random_state=None,
        n_jobs=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _parameter(self, name, default):
        """A parameter of the kernel: the estimator's, else one of `kernel_params`."""
        value = getattr(self, name)
        return (self.kernel_params or {}).get(name, default) if value is None else value

    def _line(self, X):
        gamma, degree, coef0 = (self._parameter(*of) for of in (("gamma", None), ("degree", 3), ("coef0", 1.0)))
        return line_of(self.kernel, X, gamma, degree, coef0)

    def _drawn(self, n, m):
        # In scikit-learn's order, so that the same seed gives the same features.
        return check_random_state(self.random_state).permutation(n)[:m]

    def fit(self, X, y=None):
        """Draw the rows and make the map.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; under a precomputed kernel its matrix.
        y : Ignored

        Returns
        -------
        self
        """
        unnamed = self._pairwise() or callable(self.kernel) and self._uses_callable()
        if unnamed and not (self.gamma is self.coef0 is self.degree is None):
            raise ValueError("Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed kernel")
        if self.degree is not None and not (isinstance(self.degree, numbers.Real) and self.degree >= 1):
            raise ValueError(f"degree = {self.degree!r}: must be a number from 1 or None")
        X = validate_data(self, X, accept_sparse=self._sparse, dtype=self._dtype, order="C")
        n, m = X.shape[0], whole_number(self.n_components, "n_components", 1)
        if m > n:
            warnings.warn(
                "n_components > n_samples. This is not possible.\nn_components was set to n_samples, which results in "
                "inefficient evaluation of the full kernel.",
                stacklevel=2,
            )
        self.component_indices_ = self._drawn(n, min(m, n))
        self.components_ = X[self.component_indices_]
        self.map_ = None
        for name in ("X_fit_", "_blocks"):
            self.__dict__.pop(name, None)
        if self._pairwise():
            super()._line(X)
            self.normalization_ = _normalization(self.components_[:, self.component_indices_])
        elif self._uses_callable():
            self.normalization_ = _normalization(self._training(self.components_))
        else:
            self._fit_map(self._line(self.components_), rows_of(self.components_), threads_of(self.n_jobs))
        return self

    def _fit_map(self, line, rows, threads):
        if self.kernel == "sigmoid" or self._parameter("coef0", 1.0) < 0:
            # Its matrix may be indefinite, and scikit-learn keeps the signs of the eigenvalues.
            self.normalization_ = _normalization(_mercer.kernel_matrix(line, rows, threads=threads))
            coef = np.ascontiguousarray(self.normalization_.T)
            self.map_ = _mercer.Map.from_parts(line, rows, coef, [0.0] * len(coef))
            return
        self.map_ = _mercer.Map.empirical(line, rows, True, threads=threads)
        self.normalization_ = self.map_.coef

    def transform(self, X):
        """Features of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; under a precomputed kernel its values between them and the training rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        seen = self._new(X)
        if getattr(self, "map_", None) is not None:
            found = self.map_.apply(rows_of(seen), threads=threads_of(self.n_jobs))
        else:
            values = self._values(seen) if self._uses_callable() else seen[:, self.component_indices_]
            found = values @ self.normalization_.T
        single = seen.dtype == self.components_.dtype == np.float32
        return found.astype(np.float32) if single else found

    def __sklearn_tags__(self):
        return preserving(super().__sklearn_tags__())


def _normalization(values):
    """The inverse square root of a kernel matrix, as scikit-learn has it where the matrix is singular or indefinite."""
    left, sizes, right = scipy.linalg.svd(np.asarray(values, dtype=np.float64))
    return left / np.sqrt(np.maximum(sizes, 1e-12)) @ right


class RBFSampler(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Fitted):
    """Random Fourier features: cosines whose dot products approximate the Gaussian kernel (Rahimi and Recht 2008).

    The same seed gives the same features as scikit-learn's. In a model file they are the stage ``fourier``: see
    :func:`mercer.from_sklearn`.

    Parameters
    ----------
    gamma : 'scale' or float, default=1.0
        Coefficient of the kernel; ``'scale'`` is ``1 / (n_features * X.var())``.
    n_components : int, default=100
        Number of features. The error of a dot product falls with its square root.
    random_state : int, RandomState instance or None, default=None
        Seed of the random number generator.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).

    Attributes
    ----------
    random_weights_ : ndarray of shape (n_features, n_components)
        Frequencies.
    random_offset_ : ndarray of shape (n_components,)
        Phases.
    stages_ : object
        The fitted map.

    See Also
    --------
    Nystroem : Features from landmarks, which adapt to the data.
    LinearSVC : A linear machine for the features.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from mercer import LinearSVC, RBFSampler
    >>> X, y = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    >>> features = RBFSampler(gamma=2.0, random_state=0).fit_transform(X)
    >>> LinearSVC().fit(features, y).score(features, y)
    1.0
    """

    kernel = "rbf"
    _dtype = NUMERIC

    def __init__(self, *, gamma=1.0, n_components=100, random_state=None, n_jobs=None):
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Draw frequencies and phases.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : Ignored

        Returns
        -------
        self
        """
        X = validate_data(self, X, accept_sparse=self._sparse, dtype=self._dtype, order="C")
        gamma = 0.0 if self.gamma in (None, "auto") else float(gamma_of(self.gamma, X))
        if not 0 < gamma < np.inf:
            raise ValueError(f"gamma = {self.gamma!r}: must be 'scale' or a number above 0")
        m = whole_number(self.n_components, "n_components", 1)
        # In scikit-learn's order, so that the same seed gives the same features.
        drawn = check_random_state(self.random_state)
        weights = np.sqrt(2.0 * gamma) * drawn.normal(size=(X.shape[1], m))
        offset = drawn.uniform(0, 2 * np.pi, size=m)
        self.stages_ = _mercer.Stages.fourier(np.ascontiguousarray(weights.T), offset.tolist(), gamma)
        self._gamma = gamma
        self.random_weights_, self.random_offset_ = weights.astype(X.dtype), offset.astype(X.dtype)
        return self

    @property
    def _n_features_out(self):
        return len(self.random_offset_)

    def transform(self, X):
        """Features of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        seen = self._new(X)
        found = self.stages_.apply(rows_of(seen), threads=threads_of(self.n_jobs))
        single = seen.dtype == self.random_weights_.dtype == np.float32
        return found.astype(np.float32 if single else np.float64, copy=False)

    def __sklearn_tags__(self):
        return preserving(super().__sklearn_tags__())

    def save(self, path):
        """A map alone cannot be saved as a model file: pickle it, or fit a machine on its features.

        Parameters
        ----------
        path : str or path-like
            File to write.
        """
        raise ValueError("random features cannot be saved as a model file: pickle them, or fit a machine on them")

    def to_onnx(self, path=None):
        """A map alone cannot be exported to ONNX.

        Parameters
        ----------
        path : str or path-like, default=None
            Ignored.

        Raises
        ------
        ValueError
            Always.
        """
        raise ValueError("random features cannot be exported to ONNX")
