"""Kernel ridge regression."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.linalg
from sklearn.base import MultiOutputMixin, RegressorMixin

from . import _mercer
from ._base import _columns
from ._data import rows_of, threads_of, watcher
from ._frames import check_is_fitted, validate_data
from ._pairs import Pairwise

__all__ = ["KernelRidge"]

# The relative residual above which a linear system counts as not solved.
RESIDUAL = 1e-6


class KernelRidge(MultiOutputMixin, RegressorMixin, Pairwise):
    """Kernel ridge regression: squared loss with a penalty on the norm in feature space.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1
        Regularisation strength; 0 means least squares.
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
    fit_intercept : bool, default=False
        Whether the function has an unpenalised offset.
    method : {'auto', 'cholesky', 'gradients'}, default='auto'
        Solver of the linear system: a Cholesky factorisation if it fits into memory, otherwise conjugate gradients.
    tol : float, default=1e-8
        Stopping tolerance of conjugate gradients (relative residual).
    verbose : bool, default=False
        Whether to show a progress bar, if tqdm is installed.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).
    callback : callable, default=None
        Called during the fit with a :class:`mercer.Progress`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Coefficients of the training rows.
    X_fit_ : {ndarray, sparse array} of shape (n_samples, n_features)
        The training rows.
    intercept_ : float or ndarray of shape (n_targets,)
        The offset.
    model_ : mercer.Model
        The fitted model, where there is one target.

    See Also
    --------
    SVR : Epsilon-insensitive loss, with support vectors.
    LargeRegressor : The same on few centres, for many rows.
    KernelPCA : Components of the same kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRidge
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> KernelRidge(alpha=1e-3, kernel="rbf", gamma=1.0).fit(X, np.sin(X[:, 0])).predict([[1.0]]).round(3)
    array([0.841])
    """

    def __init__(
        self,
        alpha=1,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        fit_intercept=False,
        method="auto",
        tol=1e-8,
        verbose=False,
        n_jobs=None,
        callback=None,
    ):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.method = method
        self.tol = tol
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X, y, sample_weight=None):
        """Fit the function, or one function per column of targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; under a precomputed kernel its matrix.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Numbers.
        sample_weight : array-like of shape (n_samples,) or float, default=None
            Weights of the rows.

        Returns
        -------
        self
        """
        more = {"accept_sparse": self._sparse, "dtype": self._dtype, "order": "C"}
        X, y = validate_data(self, X, y, multi_output=True, y_numeric=True, **more)
        self._single = X.dtype == y.dtype == np.float32
        y = np.asarray(y, dtype=np.float64)
        self.__dict__.pop("model_", None)
        self.__dict__.pop("_map", None)
        self.X_fit_ = X
        alpha = np.asarray(self.alpha)
        alpha = alpha.reshape(()) if alpha.size == 1 else alpha
        if alpha.dtype.kind not in "biuf" or not (alpha >= 0).all():
            raise ValueError(f"alpha = {self.alpha}: must be at least 0")
        if alpha.ndim and alpha.shape != y.shape[1:]:
            targets = 1 if y.ndim == 1 else y.shape[1]
            raise ValueError(f"alpha has {alpha.size} values, but there are {targets} targets: pass one, or one per target")
        plain = alpha.ndim == 0 and alpha > 0
        if plain and y.ndim == 1 and self._fitted_by_library(X, y, sample_weight):
            return self
        line, rows = self._line(X), rows_of(self._training(X))
        weights = self._weights(sample_weight, X)
        columns = np.ascontiguousarray(y.reshape(len(y), -1))
        coef, offset = None, None
        if plain and y.ndim == 2:
            coef, offset = self._factored(line, rows, columns, weights)
        if coef is None:
            coef, offset = self._solved(line, rows, columns, weights)
        self._offset = offset
        self.dual_coef_ = coef if y.ndim == 2 else coef[:, 0]
        self._make_model(X, line, rows, coef, offset, y.ndim)
        return self

    def _ridge(self):
        """The one value of alpha."""
        return float(np.asarray(self.alpha, dtype=np.float64).reshape(()) if np.ndim(self.alpha) == 0 else self.alpha[0])

    def _system(self):
        own = {"lambda": self._ridge(), "offset": bool(self.fit_intercept)}
        return {**own, "method": self.method, "tol": self.tol}

    def _fitted_by_library(self, X, y, sample_weight):
        """Fit one target; False where the matrix turned out not to be positive definite."""
        params = self._more(**self._system())
        try:
            self._fit_model("ridge", params, X, np.ascontiguousarray(y), sample_weight)
        except ValueError as error:
            if "not positive definite" not in str(error):
                raise
            return False
        # An indefinite kernel has no Cholesky factor, and what stood in for it solves another system.
        if self.model_.gap > RESIDUAL:
            del self.model_
            return False
        if self.model_.coef.shape[0] != len(self.model_.support):
            # The model has weights alone, or lacks rows whose coefficient is 0; coefficients are what errors it leaves.
            weights = self._weights(sample_weight, X)
            fitted = self.model_.predict(rows_of(self._seen(X)), threads=threads_of(self.n_jobs))
            self.dual_coef_ = (1.0 if weights is None else weights) * (y - fitted) / self._ridge()
        else:
            self.dual_coef_ = np.zeros(X.shape[0])
            self.dual_coef_[self.model_.support.astype(np.intp)] = self.model_.coef[:, 0]
        return True

    def _factored(self, line, rows, columns, weights):
        """Coefficients by the library; None where the matrix turned out not to be positive definite."""
        params = self._more(kernel=line, **self._system())
        hear, done = watcher(self.verbose, self.callback)
        try:
            functions, support, gap = _mercer.fit_ridge(
                params, rows, columns, weights, threads=threads_of(self.n_jobs), callback=hear
            )
        except ValueError as error:
            if "not positive definite" not in str(error):
                raise
            return None, None
        finally:
            done()
        if gap > RESIDUAL or functions.coef.shape[0] != len(support):
            return None, None
        coef = np.zeros(columns.shape)
        coef[support.astype(np.intp)] = functions.coef
        return coef, functions.offset

    def _solved(self, line, rows, columns, weights):
        """Coefficients of systems that are singular or indefinite: least squares where nothing else is left."""
        matrix = rows if line == "precomputed" else _mercer.kernel_matrix(line, rows)
        keep = np.arange(len(columns)) if weights is None else np.flatnonzero(weights > 0)
        alpha = np.broadcast_to(np.asarray(self.alpha, dtype=np.float64), (columns.shape[1],))
        coef, offset = np.zeros(columns.shape), np.zeros(columns.shape[1])
        right = np.column_stack([columns[keep], np.ones(len(keep))])
        inverse = np.ones(len(keep)) if weights is None else 1.0 / weights[keep]
        for ridge in np.unique(alpha):
            system = matrix[np.ix_(keep, keep)] + np.diag(ridge * inverse)
            found = _solve(system, right)
            for target in np.flatnonzero(alpha == ridge):
                if self.fit_intercept:
                    offset[target] = found[:, target].sum() / found[:, -1].sum()
                coef[keep, target] = found[:, target] - offset[target] * found[:, -1]
        return coef, offset

    def _make_model(self, X, line, rows, coef, offset, dimensions, stages=None):
        if dimensions == 2:
            if line == "linear":
                weights, one = np.ascontiguousarray((X.T @ coef).T), np.eye(coef.shape[1])
                self._map = _mercer.Map.from_parts(line, weights, one, list(offset))
            elif line != "precomputed":
                self._map = _mercer.Map.from_parts(line, rows, np.ascontiguousarray(coef), list(offset))
            return
        params = self._more(**{"lambda": max(self._ridge(), 1e-300), "offset": bool(self.fit_intercept)})
        self.model_ = _mercer.Model.from_machine(
            "ridge",
            params,
            line,
            rows,
            np.ascontiguousarray(coef),
            list(offset),
            [],
            list(range(len(coef))),
            columns=_columns(self),
            stages=stages,
        )
        self.__dict__.pop("_about", None)

    @property
    def intercept_(self):
        """The offset, or that of each target."""
        check_is_fitted(self)
        if "model_" in self.__dict__:
            return float(self.model_.offset[0])
        return self._offset

    def predict(self, X):
        """Predict regression targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        X = self._new(X)
        found = self._predicted(rows_of(self._seen(X)))
        return found.astype(np.float32) if X.dtype == np.float32 and getattr(self, "_single", False) else found

    def _predicted(self, rows):
        threads = threads_of(self.n_jobs)
        if "model_" in self.__dict__:
            return self.model_.predict(rows, threads=threads, image=self._image)
        if "_map" in self.__dict__:
            return self._map.apply(rows, threads=threads)
        return rows @ self.dual_coef_ + self._offset

    def save(self, path):
        """Write the model to a file that the command ``mercer`` reads too; one target only.

        Parameters
        ----------
        path : str or path-like
        """
        check_is_fitted(self)
        if "model_" not in self.__dict__:
            raise ValueError("a model file supports one target: fit one estimator per target, or pickle this one")
        super().save(path)

    def to_onnx(self, path=None):
        """The model as ONNX; one target only.

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
            raise ValueError("an ONNX model holds one target: fit one estimator per target")
        return super().to_onnx(path)


def _solve(system, right):
    """A symmetric system, by least squares where it is singular."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", scipy.linalg.LinAlgWarning)
            return scipy.linalg.solve(system, right, assume_a="sym")
    except (np.linalg.LinAlgError, scipy.linalg.LinAlgWarning):
        warnings.warn("Singular matrix in solving dual problem. Using least-squares solution instead.", stacklevel=4)
        return scipy.linalg.lstsq(system, right)[0]
