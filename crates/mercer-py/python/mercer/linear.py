"""Linear machines for many rows, with scikit-learn's names: the offset is one more weight, penalised like the others."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _mercer
from ._base import FLOATS, Fitted, _columns
from ._data import as_configured, check_labels, names_of, rows_of, type_of, watcher
from ._frames import NUMERIC, validate_data
from ._params import check_parameters
from .svm import _seed, answers_of

__all__ = ["LinearSVC", "LinearSVR"]


class Linear(Fitted):
    """What both linear machines have in common."""

    kernel = "linear"
    n_jobs = None

    def _constant(self):
        """The value of the column whose weight is the offset; None: there is no such column."""
        if not self.fit_intercept:
            return None
        return float(self.intercept_scaling)

    def _weights_of(self, rows, targets, cost, **loss):
        """The weights of one machine; its epochs are counted."""
        hear, done = watcher(self.verbose, self.callback)
        seed = _seed(self.random_state)
        try:
            weights, epochs, converged = _mercer.fit_linear(
                rows,
                np.ascontiguousarray(targets, dtype=np.float64),
                np.ascontiguousarray(cost, dtype=np.float64),
                tol=self.tol,
                epochs=int(self.max_iter),
                seed=seed,
                constant=self._constant(),
                callback=hear,
                **loss,
            )
        finally:
            done()
        self.n_iter_ = max(self.n_iter_, int(epochs))
        self._converged = self._converged and converged
        return weights

    def _given(self, sample_weight, X):
        """Weights of the rows."""
        if sample_weight is None:
            return np.ones(X.shape[0])
        return _check_sample_weight(sample_weight, X, dtype=np.float64)

    def _begin(self):
        if not 0 < self.C < np.inf:
            raise ValueError(f"c = {self.C}: must be a finite number above 0")
        if not self.tol > 0:
            raise ValueError(f"tol = {self.tol}: must be a number above 0")
        if not self.intercept_scaling > 0:
            raise ValueError(
                f"Intercept scaling is {self.intercept_scaling} but needs to be greater than 0. To disable fitting an "
                "intercept, set fit_intercept=False."
            )
        self.n_iter_, self._converged = 0, True

    def _end(self):
        if not self._converged:
            words = "Liblinear failed to converge, increase the number of iterations."
            warnings.warn(words, ConvergenceWarning, stacklevel=3)
        self.__dict__.pop("_about", None)

    def _split(self, weights):
        """Weights of columns, and offsets."""
        if not self.fit_intercept:
            return weights, 0.0
        return weights[..., :-1], self.intercept_scaling * weights[..., -1]

    def _outputs(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=NUMERIC, order="C", reset=False)
        return safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_

    @property
    def model_(self):
        """The machine as a model of the library, for files."""
        return self._model()

    def _model(self, stages=None):
        check_is_fitted(self)
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else np.atleast_2d(self.coef_)
        offset = np.broadcast_to(np.asarray(self.intercept_, dtype=np.float64), (len(coef),))
        learner, params, classes, labels = self._parts()
        return _mercer.Model.from_machine(
            learner,
            params,
            "linear",
            np.ascontiguousarray(coef, dtype=np.float64),
            np.eye(len(coef)),
            [float(b) for b in offset],
            classes,
            [],
            columns=_columns(self),
            labels=labels,
            stages=stages,
        )


class LinearSVC(ClassifierMixin, Linear):
    """Linear support vector classification for many rows: one machine per class.

    Parameters
    ----------
    penalty : {'l1', 'l2'}, default='l2'
        Penalty on the weights. ``'l1'`` is solved by scikit-learn's own solver.
    loss : {'hinge', 'squared_hinge'}, default='squared_hinge'
        Cost of errors.
    dual : 'auto' or bool, default='auto'
        Ignored, apart from combinations that scikit-learn refuses: both problems have the same solution.
    tol : float, default=1e-4
        Stopping tolerance (maximum violation).
    C : float, default=1.0
        Cost of errors.
    multi_class : {'ovr', 'crammer_singer'}, default='ovr'
        One machine per class, or all in one problem; the latter is solved by scikit-learn's own solver.
    fit_intercept : bool, default=True
        Whether there is an offset.
    intercept_scaling : float, default=1.0
        The value of the column whose weight is the offset: the larger, the less the offset is penalised.
    class_weight : dict or 'balanced', default=None
        Factors of C by class.
    verbose : int, default=0
        Whether to show a progress bar, if tqdm is installed.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which rows are visited. None is a fixed seed.
    max_iter : int, default=1000
        Maximum passes over the rows.
    callback : callable, default=None
        Called during the fit with a :class:`mercer.Progress`; if it returns True the fit stops and keeps what it has.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the columns.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Offsets.
    n_iter_ : int
        Largest number of passes over the rows that a machine took.
    model_ : mercer.Model
        The machine as a model of the library.

    See Also
    --------
    SVC : Machines with any kernel.
    LinearSVR : The same for regression.
    Nystroem : A feature map that makes a linear machine a kernel machine.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> LinearSVC().fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        penalty="l2",
        loss="squared_hinge",
        *,
        dual="auto",
        tol=1e-4,
        C=1.0,
        multi_class="ovr",
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        verbose=0,
        random_state=None,
        max_iter=1000,
        callback=None,
    ):
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.callback = callback

    def fit(self, X, y, sample_weight=None):
        """Fit the machines.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C, one per row.

        Returns
        -------
        self
        """
        self._check_choice()
        check_labels(y)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, order="C")
        y = column_or_1d(y, warn=True)
        self.classes_, (_, codes) = answers_of(y)
        self._begin()
        if self.penalty == "l1" or self.multi_class == "crammer_singer":
            return self._fit_theirs(X, y, sample_weight)
        weights = self._given(sample_weight, X)
        if not (weights > 0).any():
            raise ValueError("Invalid input - all samples have zero or negative weights.")
        given = None if sample_weight is None else weights
        by_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y, sample_weight=given)
        if not (by_class >= 0).all():
            raise ValueError(f"class_weight = {self.class_weight!r}: weights must be at least 0")
        cost = self.C * np.maximum(weights, 0.0)
        rows, squared = rows_of(X), self.loss == "squared_hinge"
        sides = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        found = []
        for c in sides:
            # As in LIBLINEAR, the rest of the classes has weight 1 against one of more than two.
            factor = by_class[codes] if len(sides) == 1 else np.where(codes == c, by_class[c], 1.0)
            found.append(self._weights_of(rows, np.where(codes == c, 1.0, -1.0), cost * factor, squared=squared))
        self.coef_, self.intercept_ = self._split(np.array(found))
        self._end()
        return self

    def _check_choice(self):
        check_parameters(self)
        if self.multi_class == "crammer_singer":
            return
        given = (self.penalty, self.loss, self.dual)
        if given[:2] == ("l1", "hinge") or given in (("l2", "hinge", False), ("l1", "squared_hinge", True)):
            raise ValueError(
                f"Unsupported set of arguments: The combination of penalty={self.penalty!r} and loss={self.loss!r} is not "
                f"supported, Parameters: penalty={self.penalty!r}, loss={self.loss!r}, dual={self.dual!r}"
            )

    def _fit_theirs(self, X, y, sample_weight):
        # Not one of the library's problems.
        from sklearn.svm._classes import LinearSVC as Theirs

        known = Theirs().get_params()
        theirs = Theirs(**{name: value for name, value in self.get_params().items() if name in known})
        theirs.fit(X, y, sample_weight)
        self.coef_, self.intercept_, self.n_iter_ = theirs.coef_, theirs.intercept_, int(theirs.n_iter_)
        return self

    def decision_function(self, X):
        """Evaluate the decision function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        values = self._outputs(X)
        return values.ravel() if values.shape[1] == 1 else values

    def predict(self, X):
        """Predict class labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(np.intp) if values.ndim == 1 else np.argmax(values, axis=1)]

    def sparsify(self):
        """Make `coef_` a sparse matrix; predictions do not change.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.coef_ = as_configured(sp.csr_array(self.coef_))
        return self

    def densify(self):
        """Make `coef_` an array again.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.coef_ = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        return self

    def _parts(self):
        slack = "squared" if self.loss == "squared_hinge" else "linear"
        params = self._more(c=float(self.C), slack=slack, multi="one_vs_rest", tol=self.tol)
        return "svc", params, names_of(self.classes_), type_of(self.classes_)


class LinearSVR(RegressorMixin, Linear):
    """Linear support vector regression for many rows.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half-width of the epsilon-insensitive tube.
    tol : float, default=1e-4
        Stopping tolerance (maximum violation).
    C : float, default=1.0
        Cost of errors.
    loss : {'epsilon_insensitive', 'squared_epsilon_insensitive'}, default='epsilon_insensitive'
        Cost of errors beyond epsilon.
    fit_intercept : bool, default=True
        Whether there is an offset.
    intercept_scaling : float, default=1.0
        The value of the column whose weight is the offset: the larger, the less the offset is penalised.
    dual : 'auto' or bool, default='auto'
        Ignored, apart from the combination that scikit-learn refuses.
    verbose : int, default=0
        Whether to show a progress bar, if tqdm is installed.
    random_state : int, RandomState instance or None, default=None
        Seed of the order in which rows are visited. None is a fixed seed.
    max_iter : int, default=1000
        Maximum passes over the rows.
    callback : callable, default=None
        Called during the fit with a :class:`mercer.Progress`; if it returns True the fit stops and keeps what it has.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the columns.
    intercept_ : ndarray of shape (1,) or float
        The offset.
    n_iter_ : int
        Passes over the rows.
    model_ : mercer.Model
        The machine as a model of the library.

    See Also
    --------
    SVR : Machines with any kernel.
    LinearSVC : The same for classification.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import LinearSVR
    >>> X = np.arange(20.0)[:, None]
    >>> LinearSVR(C=10, max_iter=10000).fit(X, 2 * X[:, 0]).predict([[30.0]]).round()
    array([60.])
    """

    def __init__(
        self,
        *,
        epsilon=0.0,
        tol=1e-4,
        C=1.0,
        loss="epsilon_insensitive",
        fit_intercept=True,
        intercept_scaling=1.0,
        dual="auto",
        verbose=0,
        random_state=None,
        max_iter=1000,
        callback=None,
    ):
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.callback = callback

    def fit(self, X, y, sample_weight=None):
        """Fit the function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C, one per row.

        Returns
        -------
        self
        """
        check_parameters(self)
        if self.loss == "epsilon_insensitive" and self.dual is False:
            raise ValueError(
                "Unsupported set of arguments: no solver has this combination, Parameters: penalty='l2', "
                f"loss={self.loss!r}, dual={self.dual!r}"
            )
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, order="C", y_numeric=True)
        if self.epsilon < 0:
            raise ValueError(f"epsilon = {self.epsilon}: must be a number from 0")
        y = column_or_1d(y, warn=True).astype(np.float64)
        self._begin()
        weights = self._given(sample_weight, X)
        loss = {"squared": self.loss.startswith("squared"), "epsilon": float(self.epsilon)}
        found = self._weights_of(rows_of(X), y, self.C * np.maximum(weights, 0.0), **loss)
        self.coef_, offset = self._split(found)
        self.intercept_ = np.array([offset]) if self.fit_intercept else 0.0
        self._end()
        return self

    def predict(self, X):
        """Predict regression targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._outputs(X)

    def _parts(self):
        return "svr", self._more(c=float(self.C), epsilon=float(self.epsilon), tol=self.tol), [], None
