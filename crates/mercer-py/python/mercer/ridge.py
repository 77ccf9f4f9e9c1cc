"""Kernel ridge regression."""

from __future__ import annotations

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from ._base import FLOATS, Fitted

__all__ = ["KernelRidge"]


class KernelRidge(RegressorMixin, Fitted):
    """Squared errors and a smooth function: kernel ridge regression.

    Parameters
    ----------
    alpha : float, default=1
        Weight of smoothness.
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
    fit_intercept : bool, default=False
        Whether the function has an offset that costs nothing.
    verbose : bool, default=False
        Show a bar, if tqdm is installed.
    n_jobs : int, default=None
        Threads; None means all.
    callback : callable, default=None
        Called during the fit with a :class:`mercer.Progress`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,)
        Coefficients of the training rows.
    X_fit_ : {ndarray, sparse array} of shape (n_samples, n_features)
        The training rows.
    intercept_ : float
        The offset.
    model_ : mercer.Model
        The fitted model.

    Notes
    -----
    One target at a time, unlike scikit-learn's.

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
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X, y, sample_weight=None):
        """Fits the function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; under a precomputed kernel its matrix.
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows' errors.

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, accept_sparse=self._sparse, dtype=FLOATS, order="C", y_numeric=True)
        y = np.ascontiguousarray(column_or_1d(y, warn=True), dtype=np.float64)
        params = self._more(**{"lambda": self.alpha, "offset": bool(self.fit_intercept)})
        self.X_fit_ = X
        self._fit_model("ridge", params, X, y, sample_weight)
        if self._description["kernel"] == "linear":
            # The model has its weights alone; the coefficients are what errors they leave.
            weights = 1.0 if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
            self.dual_coef_ = weights * (y - self.predict(X)) / self.alpha
        else:
            self.dual_coef_ = np.zeros(X.shape[0])
            self.dual_coef_[self.model_.support.astype(np.intp)] = self.model_.coef[:, 0]
        return self

    @property
    def intercept_(self):
        """The offset."""
        check_is_fitted(self)
        return float(self.model_.offset[0])

    def predict(self, X):
        """Numbers for rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._call("predict", X)
