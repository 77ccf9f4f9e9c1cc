"""Estimators whose hyperparameters are chosen from the data."""

from __future__ import annotations

import json

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _mercer
from ._base import FLOATS, Fitted, _columns
from ._data import check_labels, rows_of, threads_of, type_of, watcher
from ._frames import validate_data
from .svm import _seed, answers_of

__all__ = ["AutoClassifier", "AutoRegressor"]


class Auto(Fitted):
    """What both have in common."""

    def _uses_callable(self):
        return False

    def _fit_auto(self, X, answers, probability=False):
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"seconds == {self.seconds}, must be above 0 or None")
        hear, done = watcher(self.verbose, self.callback)
        try:
            self.model_, choices = _mercer.fit_auto(
                rows_of(self._dense_if_small(X)),
                answers,
                seconds=None if self.seconds is None else float(self.seconds),
                probability=probability,
                seed=_seed(self.random_state),
                threads=threads_of(self.n_jobs),
                columns=_columns(self),
                labels=type_of(self.classes_) if isinstance(answers, tuple) else None,
                callback=hear,
            )
        finally:
            done()
        self.choices_ = json.loads(choices)
        self._told()
        return self


def _sure(estimator):
    if not estimator.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class AutoClassifier(ClassifierMixin, Auto):
    """Support vector classification with scaling, kernel width and C chosen from the data.

    Columns are scaled inside the model: no pipeline is needed.

    Parameters
    ----------
    seconds : float, default=None
        Approximate time limit of the search, in seconds. None is a quick choice of 22 settings by 5-fold cross-validation on at most
        1000 rows, which takes tenths of a second.
    probability : bool, default=False
        Whether to calibrate probability estimates, by cross-validation inside the fit.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds. None is a fixed seed.
    verbose : bool, default=False
        Whether to show a progress bar, if tqdm is installed.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).
    callback : callable, default=None
        Called during the fit with a :class:`mercer.Progress`; if it returns True the fit stops.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    choices_ : list of dict
        Chosen settings: ``what``, ``value`` and ``why`` of each.
    model_ : mercer.Model
        The fitted model.

    See Also
    --------
    SVC : A machine with explicit hyperparameters.
    AutoRegressor : The same for regression.
    TableEncoder : The encoding of tables as numbers that it uses.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import AutoClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> AutoClassifier().fit(X, y).score(X, y) > 0.95
    True
    """

    def __init__(
        self, *, seconds=None, probability=False, random_state=None, verbose=False, n_jobs=None, callback=None
    ):
        self.seconds = seconds
        self.probability = probability
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X, y):
        """Choose settings and fit the machine.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Classes.

        Returns
        -------
        self
        """
        check_labels(y)
        X, y = validate_data(self, X, y, accept_sparse=self._sparse, dtype=FLOATS, order="C")
        self.classes_, answers = answers_of(y)
        return self._fit_auto(X, answers, probability=bool(self.probability))

    def decision_function(self, X):
        """Score each class; larger is more likely.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes positive for the second.
        """
        if len(self._classes()) == 2:
            return self._call("decision", X).ravel()
        return self._call("class_scores", X)

    def _classes(self):
        check_is_fitted(self)
        return self.classes_

    def predict(self, X):
        """Predict class labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._classes()[self._call("predict", X)]

    @available_if(_sure)
    def predict_proba(self, X):
        """Predict class probabilities, if the machine was fitted with them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._call("probabilities", X)


class AutoRegressor(RegressorMixin, Auto):
    """Support vector regression with scaling, kernel width, C and epsilon chosen from the data.

    Columns are scaled inside the model: no pipeline is needed.

    Parameters
    ----------
    seconds : float, default=None
        Approximate time limit of the search, in seconds. None is a quick choice of 22 settings by 5-fold cross-validation on at most
        600 rows, which takes tenths of a second.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds. None is a fixed seed.
    verbose : bool, default=False
        Whether to show a progress bar, if tqdm is installed.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).
    callback : callable, default=None
        Called during the fit with a :class:`mercer.Progress`; if it returns True the fit stops.

    Attributes
    ----------
    choices_ : list of dict
        Chosen settings: ``what``, ``value`` and ``why`` of each.
    model_ : mercer.Model
        The fitted model.

    See Also
    --------
    SVR : A machine with explicit hyperparameters.
    AutoClassifier : The same for classification.
    TableEncoder : The encoding of tables as numbers that it uses.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import AutoRegressor
    >>> X = np.linspace(0, 6, 80)[:, None]
    >>> AutoRegressor().fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.95
    True
    """

    def __init__(self, *, seconds=None, random_state=None, verbose=False, n_jobs=None, callback=None):
        self.seconds = seconds
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X, y):
        """Choose settings and fit the function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Numbers.

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, accept_sparse=self._sparse, dtype=FLOATS, order="C", y_numeric=True)
        y = np.ascontiguousarray(column_or_1d(y, warn=True), dtype=np.float64)
        return self._fit_auto(X, y)

    def predict(self, X):
        """Predict regression targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._call("predict", X)
