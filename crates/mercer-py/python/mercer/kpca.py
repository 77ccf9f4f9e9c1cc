"""Kernel principal components and pre-images."""

from __future__ import annotations

import json
import numbers

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import KernelCenterer
from sklearn.utils.validation import _check_psd_eigenvalues, check_array

from . import _mercer
from ._base import FLOATS, _columns
from ._data import array_of, rows_of, threads_of, watcher
from ._frames import check_is_fitted, validate_data
from ._pairs import Pairwise
from .kernels import Kernel, gamma_of
from .maps import EmpiricalKernelMap as EmpiricalKernelMap  # where pickles before 0.2 look for it
from .maps import preserving
from .svm import _seed

__all__ = ["KernelPCA", "denoise", "preimage"]

_METHODS = {"dense": "complete", "arpack": "krylov", "randomized": "krylov"}


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Pairwise):
    """Kernel principal component analysis, with pre-images.

    Parameters
    ----------
    n_components : int or float, default=None
        Number of components, or the fraction of the variance to explain; None: all with a non-zero eigenvalue. Where the
        kernel matrix has fewer, the others are zero.
    kernel : str, Kernel or callable, default='linear'
        As in :class:`mercer.SVC`; a callable takes two rows, as in scikit-learn, or two blocks of rows.
    gamma : {'scale', 'auto'} or float, default=None
        None means ``1 / n_features``; ``'scale'`` and ``'auto'`` as in :class:`mercer.SVC`.
    degree : float, default=3
        Degree of ``'poly'``.
    coef0 : float, default=1
        Constant term of ``'poly'`` and ``'sigmoid'``.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    alpha : float, default=1.0
        Regularisation of the learned inverse map, for ``fit_inverse_transform=True`` and for ``preimage='learned'``.
    fit_inverse_transform : bool, default=False
        Whether to learn an inverse map by kernel ridge regression, as scikit-learn does.
    eigen_solver : {'auto', 'dense', 'arpack', 'randomized', 'nystroem', 'cholesky', 'sparse'}, default='auto'
        ``'dense'`` decomposes the full matrix; ``'arpack'`` and ``'randomized'`` both iterate products with it;
        ``'nystroem'`` and ``'cholesky'`` work in the span of `n_rows` rows.
    n_rows : int, default=None
        Number of rows to fit on, drawn at random.
    centred : bool, default=True
        Whether to centre in feature space.
    whiten : bool, default=False
        Scale features to unit variance.
    tol : float, default=1e-5
        Stopping tolerance (relative residual of an eigenvector); 0 means 1e-12.
    max_iter, iterated_power : int, default=None and 'auto'
        Ignored: the solver stops by `tol`.
    remove_zero_eig : bool, default=False
        Whether components with zero eigenvalue are removed even if n_components is given.
    random_state : int, RandomState instance or None, default=None
        Seed of the random number generator. None is a fixed seed.
    copy_X : bool, default=True
        Ignored: the fit always copies the rows.
    preimage : {'auto', 'exact', 'fixed_point', 'gradient', 'learned', 'distances'}, default=None
        Pre-image method of :meth:`inverse_transform`. None: the map learned by ``fit_inverse_transform=True``; all others
        work without it.
    verbose : bool, default=False
        Whether to show a progress bar, if tqdm is installed.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).
    callback : callable, default=None
        Called during the fit with a :class:`mercer.Progress`.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel matrix.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Its eigenvectors, if the components were computed from the full matrix.
    X_fit_ : {ndarray, sparse array} of shape (n_samples, n_features)
        The training rows; under a precomputed kernel its matrix.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The fraction of the variance in feature space that each component explains.
    model_ : mercer.Model
        The fitted model.

    See Also
    --------
    preimage : Points whose images are nearest to expansions.
    denoise : Denoises rows by projection and pre-images.
    Nystroem : An approximate feature map.
    KernelKMeans : Clusters in the same feature space.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> kpca = KernelPCA(n_components=2, kernel="rbf", preimage="auto").fit(X)
    >>> kpca.transform(X).shape, kpca.inverse_transform(kpca.transform(X)).shape
    ((50, 2), (50, 3))
    """

    # A float is a share of the variance.
    _shares = ("n_components",)
    # Here the library's own: components of a centred matrix are the same for both.
    _negative = False

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
        max_iter=None,
        iterated_power="auto",
        remove_zero_eig=False,
        random_state=None,
        copy_X=True,
        preimage=None,
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
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.preimage = preimage
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X, y=None):
        """Compute the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; under a precomputed kernel its matrix.
        y : Ignored

        Returns
        -------
        self
        """
        if self.max_iter == 0:
            raise ValueError("The 'max_iter' parameter must be an int in the range [1, inf) or None. Got 0 instead.")
        if self.fit_inverse_transform and self._pairwise():
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        X = validate_data(self, X, accept_sparse=self._sparse, dtype=self._dtype, order="C", ensure_min_samples=2)
        if self.fit_inverse_transform and sp.issparse(X):
            raise NotImplementedError("Inverse transform not implemented for sparse matrices!")
        for name in ("model_", "_about", "_own", "_zeros", "_back", "_centre", "X_fit_"):
            self.__dict__.pop(name, None)
        self._single, self._matrix = X.dtype == np.float32, sp.issparse(X) and not isinstance(X, sp.sparray)
        self.gamma_ = gamma_of(self.gamma, X)
        matrix = self._training(X) if self._pairwise() or self._uses_callable() else None
        if matrix is not None and not np.allclose(matrix, matrix.T, rtol=1e-6, atol=0.0):
            # Centring may be all that it needs; else one half of it counts, as in scikit-learn.
            self._centre = KernelCenterer().fit(matrix) if self.centred else None
            matrix = np.tril(matrix if self._centre is None else self._centre.transform(matrix))
            matrix += np.tril(matrix, -1).T
        self._fit_model_or_matrix(X, matrix)
        if "model_" in self.__dict__ and (matrix is not None or self.model_.coef.shape[0] != X.shape[0]):
            # The model is not written with the training rows.
            self.X_fit_ = X
        if self.fit_inverse_transform:
            self._learn_back(X)
        return self

    def _fit_model_or_matrix(self, X, matrix):
        wanted, share = self.n_components, None
        if isinstance(wanted, numbers.Real) and not isinstance(wanted, numbers.Integral):
            wanted, share = None, float(wanted)
        count = None if wanted is None else min(wanted, X.shape[0])
        line = self._line(X)
        # Under the linear kernel there are no more components than columns.
        most = min(X.shape) if line == "linear" else X.shape[0]
        params = self._more(
            kernel=line,
            components=None if count is None else min(count, most),
            share=share,
            method=_METHODS.get(self.eigen_solver, self.eigen_solver),
            rows=self.n_rows,
            centred=self._centres(matrix),
            whiten=bool(self.whiten),
            tol=self.tol or 1e-12,
            seed=_seed(self.random_state) if self.random_state is not None else 1,
        )
        hear, done = watcher(self.verbose, self.callback)
        try:
            self.model_ = _mercer.fit_components(
                params,
                rows_of(X if matrix is None else matrix),
                threads=threads_of(self.n_jobs),
                columns=_columns(self),
                callback=hear,
            )
        except ValueError as error:
            if "there are no components" not in str(error):
                raise
            self._zeros = 0 if count is None or self.remove_zero_eig else count
            self.X_fit_ = X
            return
        finally:
            done()
        values = np.array(self._facts["values"])
        if (values < 0).any():
            del self.model_
            self.X_fit_ = X
            self._fit_matrix(self._values_of(X) if matrix is None else matrix)
        elif count is not None and not self.remove_zero_eig:
            # Components asked for beyond the rank of the matrix are zero.
            self._zeros = count - len(values)

    def _centres(self, matrix):
        """Whether the fit is to centre; what has been centred may be so again, unless only half of it counts."""
        if "_centre" not in self.__dict__:
            return bool(self.centred)
        return self.centred and bool(np.abs(matrix.mean(axis=0)).max() <= 1e-12 * np.abs(matrix).max())

    def _fit_matrix(self, matrix):
        """Components of a matrix that is not symmetric or not positive definite, as scikit-learn has them."""
        n = matrix.shape[0]
        centre = KernelCenterer().fit(matrix) if self._centres(matrix) else None
        count = n if self.n_components is None else min(int(self.n_components), n)
        values, vectors = scipy.linalg.eigh(matrix if centre is None else centre.transform(matrix))
        by = np.abs(values) if self.eigen_solver == "randomized" else values
        order = np.argsort(by)[::-1][:count]
        values = _check_psd_eigenvalues(values[order], enable_warnings=False)
        vectors = vectors[:, order]
        vectors = vectors * np.sign(vectors[np.argmax(np.abs(vectors), axis=0), np.arange(len(values))])
        if self.remove_zero_eig or self.n_components is None:
            values, vectors = values[values > 0], vectors[:, values > 0]
        self._own = (centre, values, vectors)

    def _values_of(self, X):
        """Kernel values of rows against the training rows, as a matrix."""
        if self._pairwise() or self._uses_callable():
            return self._seen(X)
        line = self._line(self.X_fit_)
        return _mercer.kernel_matrix(line, rows_of(X), rows_of(self.X_fit_), threads=threads_of(self.n_jobs))

    def _seen(self, X):
        seen = super()._seen(X)
        centre = getattr(self, "_centre", None)
        return seen if centre is None else centre.transform(seen)

    def _learn_back(self, X):
        from .ridge import KernelRidge

        kernel = {name: getattr(self, name) for name in ("kernel", "degree", "coef0", "kernel_params")}
        self.X_transformed_fit_ = self._features(X)
        self._back = KernelRidge(self.alpha, gamma=self.gamma_, n_jobs=self.n_jobs, **kernel)
        self._back.fit(self.X_transformed_fit_, X)
        self.dual_coef_ = self._back.dual_coef_

    @property
    def _facts(self):
        return dict(self._description["facts"])

    def _found(self):
        """Eigenvalues that are not zero."""
        check_is_fitted(self)
        if "_own" in self.__dict__:
            return self._own[1]
        return np.array(self._facts["values"]) if "model_" in self.__dict__ else np.empty(0)

    @property
    def eigenvalues_(self):
        """Eigenvalues of the centred kernel matrix."""
        return self._as_rows(np.concatenate([self._found(), np.zeros(getattr(self, "_zeros", 0))]))

    def _as_rows(self, values):
        """Values in the float type of the training rows."""
        return values.astype(np.float32) if getattr(self, "_single", False) else values

    @property
    def eigenvectors_(self):
        """Eigenvectors of the centred kernel matrix; 0 where eigenvalues are."""
        check_is_fitted(self)
        return self._as_rows(self._vectors())

    def _vectors(self):
        if "_own" in self.__dict__:
            return self._own[2]
        if "model_" not in self.__dict__:
            return np.zeros((self.X_fit_.shape[0], self._zeros))
        coef, rows = self.model_.coef, int(self._facts["rows"])
        if coef.shape[0] == rows:
            vectors = coef * np.sqrt(np.abs(self._found()))
        elif "X_fit_" in self.__dict__ and self.X_fit_.shape[0] == rows:
            vectors = self._features(self.X_fit_)[:, : coef.shape[1]]
            vectors = vectors / np.linalg.norm(vectors, axis=0)
        else:
            raise AttributeError("these components do not use all training rows as centres")
        return np.hstack([vectors, np.zeros((rows, getattr(self, "_zeros", 0)))])

    @property
    def X_fit_(self):
        """The training rows; under a precomputed kernel its matrix."""
        check_is_fitted(self)
        if "X_fit_" in self.__dict__:
            return self.__dict__["X_fit_"]
        centres = self.model_.centres
        if centres is None or self.model_.coef.shape[0] != int(self._facts["rows"]):
            raise AttributeError("these components do not use all training rows as centres")
        rows = array_of(centres)
        return sp.csr_matrix(rows) if getattr(self, "_matrix", False) else rows

    @X_fit_.setter
    def X_fit_(self, X):
        self.__dict__["X_fit_"] = X

    @property
    def explained_variance_ratio_(self):
        """The fraction of the variance in feature space that each component explains."""
        values = np.abs(self.eigenvalues_)
        if "model_" not in self.__dict__:
            return values / max(values.sum(), np.finfo(float).tiny)
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
        X = self._new(X)
        found = self._features(X)
        return found.astype(np.float32) if X.dtype == np.float32 and getattr(self, "_single", False) else found

    def __sklearn_tags__(self):
        return preserving(super().__sklearn_tags__())

    def _features(self, X):
        if "_own" in self.__dict__:
            centre, values, vectors = self._own
            matrix = self._values_of(X)
            axes = np.divide(vectors, np.sqrt(values), out=np.zeros_like(vectors), where=values > 0)
            return (matrix if centre is None else centre.transform(matrix)) @ axes
        zeros = np.zeros((X.shape[0], getattr(self, "_zeros", 0)))
        if "model_" not in self.__dict__:
            return zeros
        rows = rows_of(self._seen(X))
        found = self.model_.decision(rows, threads=threads_of(self.n_jobs), image=self._image)
        return np.hstack([found, zeros]) if zeros.shape[1] else found

    def inverse_transform(self, X):
        """Compute pre-images: points whose images in feature space are nearest to the given features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Features; fewer columns than components use the first ones.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        if self.preimage is None:
            if "_back" not in self.__dict__:
                raise NotFittedError(
                    "The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse "
                    "transform is not available. (preimage='auto' or mercer.preimage finds points without it.)"
                )
            return self._back.predict(X)
        if self._pairwise() or self._uses_callable() or "model_" not in self.__dict__:
            raise ValueError("pre-images are not supported for a precomputed kernel or a Python callable")
        X = np.ascontiguousarray(check_array(X, dtype=np.float64, order="C"))[:, : len(self._found())]
        hear, done = watcher(self.verbose, self.callback)
        obey = json.dumps({"method": self.preimage, "lambda": float(self.alpha)})
        try:
            found, _ = self.model_.decode(
                np.ascontiguousarray(X), obey, threads=threads_of(self.n_jobs), callback=hear
            )
        finally:
            done()
        return array_of(found)

    def save(self, path):
        """Save the model to a file that the command ``mercer`` also reads.

        Parameters
        ----------
        path : str or path-like
        """
        check_is_fitted(self)
        if "model_" not in self.__dict__:
            raise ValueError("components of an indefinite matrix, or no components at all, cannot be saved as a model file: pickle them")
        super().save(path)

    def to_onnx(self, path=None):
        """Export the model to ONNX.

        Parameters
        ----------
        path : str or path-like, default=None
            File to write.

        Returns
        -------
        bytes
            The ONNX model.
        """
        check_is_fitted(self)
        if "model_" not in self.__dict__:
            raise ValueError("components of an indefinite matrix, or no components, cannot be exported to ONNX")
        return super().to_onnx(path)


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
    """Remove noise from rows: project them onto kernel principal components and map them back.

    Without a fitted estimator, components are computed from the rows themselves or from clean rows; the kernel and the
    number of components minimise the error on held-out rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Noisy rows.
    estimator : KernelPCA, default=None
        Fitted components to use.
    clean : array-like of shape (m_samples, n_features), default=None
        Clean rows to compute components from.
    kernel : str or Kernel, default=None
        A line or an object; None: the best of the linear kernel and several Gaussians.
    n_components : int, default=None
        None: chosen on held-out rows, or all of the estimator's.
    noise : float, default=None
        Standard deviation of the noise; None: estimated.
    image_shape : tuple, default=None
        Height and width of rows that are images.
    random_state : int, default=None
        Seed of the held-out rows.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).
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
    """Compute pre-images: points whose images are nearest to given vectors in feature space.

    Parameters
    ----------
    estimator : fitted estimator
        Its vectors are the normals of a machine, the mean of a ball, the axes of components.
    features : array-like of shape (n_samples, n_components), default=None
        With :class:`KernelPCA`: rows of features to map back, instead of the axes.
    method : {'auto', 'exact', 'fixed_point', 'gradient', 'learned', 'distances'}, default='auto'
        Pre-image method.
    bounds : (float, float), default=None
        Smallest and largest value of a coordinate.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).
    callback : callable, default=None
        Called with a :class:`mercer.Progress`.

    Returns
    -------
    points : ndarray of shape (n_vectors, n_features)
    distances : ndarray of shape (n_vectors,)
        Remaining squared distances in feature space.

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
