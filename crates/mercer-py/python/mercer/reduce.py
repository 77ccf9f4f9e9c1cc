"""Reduced sets: the same machine with fewer support vectors."""

from __future__ import annotations

import copy
import json

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import column_or_1d, estimator_html_repr, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _html
from ._data import rows_of, threads_of, watcher
from ._params import whole_number

__all__ = ["compress", "ReducedSet"]


def compress(
    estimator,
    X=None,
    y=None,
    *,
    vectors=None,
    ratio=None,
    agreement=None,
    error=None,
    method="auto",
    retrain=False,
    rounds=0,
    widths=False,
    descent=None,
    random_state=1,
    n_jobs=None,
    callback=None,
):
    """A copy of a fitted estimator with fewer support vectors.

    Prediction costs one kernel value per vector, so ten times fewer are about ten times faster.

    Parameters
    ----------
    estimator : fitted estimator of this package, or one that :func:`from_sklearn` reads
    X : array-like of shape (n_samples, n_features), default=None
        Rows to fit thresholds on, preferably the training rows; None: the support vectors themselves.
    y : array-like of shape (n_samples,), default=None
        Their targets.
    vectors : int, default=None
        Number of vectors.
    ratio : float, default=None
        Factor by which the number of vectors is reduced; 10 by default.
    agreement : float, default=None
        Use the fewest vectors that keep this fraction of predictions unchanged.
    error : float, default=None
        Use the fewest vectors that keep the distance in feature space below this fraction of the norm.
    method : str, default='auto'
        auto, fixed-point, gradient, moved, square, exact, greedy, kpca or l1.
    retrain : bool, default=False
        Whether to retrain the coefficients on X and y instead of approximating the original machine.
    rounds : int, default=0
        With `retrain`: number of rounds in which the vectors are optimised as well.
    widths : bool, default=False
        Whether to optimise a separate width for each Gaussian, stored in an additional column of the vectors.
    descent : int, default=None
        Steps of the joint descent over all vectors; None: 200, or none for methods that select.
    random_state : int, default=1
        Seed of the random starts.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).
    callback : callable, default=None
        Called with a :class:`mercer.Progress`.

    Returns
    -------
    estimator
        With `compression_`, a dict of results: centres before and after, the relative error in feature
        space, the fraction of unchanged predictions.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import SVC, compress
    >>> X, y = load_digits(return_X_y=True)
    >>> machine = SVC(C=10).fit(X[:600], y[:600])
    >>> small = compress(machine, X[:600], y[:600], ratio=4)
    >>> small.compression_["before"] // small.compression_["after"], small.score(X[600:], y[600:]) > 0.9
    (4, True)
    """
    if type(estimator).__module__.startswith("sklearn."):
        from .foreign import from_sklearn

        estimator = from_sklearn(estimator)
    check_is_fitted(estimator)
    if estimator._uses_callable() or estimator._pairwise():
        # Vectors can only be selected there, and values against the rest of the rows are not at hand.
        raise ValueError("a kernel that is a matrix or a Python callable cannot be compressed")
    rows = answers = None
    if X is not None:
        from sklearn.utils.validation import validate_data

        from ._base import FLOATS

        X = validate_data(estimator, X, accept_sparse=estimator._sparse, dtype=FLOATS, order="C", reset=False)
        rows = rows_of(X)
        if y is not None:
            answers = _answers(estimator, y)
    hear, done = watcher(False, callback)
    try:
        model, about = estimator.model_.compress(
            rows,
            answers,
            vectors=vectors,
            ratio=ratio,
            agreement=agreement,
            error=error,
            method=method,
            retrain=retrain,
            rounds=rounds,
            widths=widths,
            descent=descent,
            seed=int(random_state),
            threads=threads_of(n_jobs),
            image=estimator._image,
            callback=hear,
        )
    finally:
        done()
    small = copy.copy(estimator)
    small.model_ = model
    small.compression_ = json.loads(about)
    # Vectors are no training rows any more.
    for gone in ("_about", "_order", "_n_support", "_support_rows", "_dual", "dual_coef_", "X_fit_"):
        small.__dict__.pop(gone, None)
    return small


def _answers(estimator, y):
    """Targets for the compiled part."""
    y = column_or_1d(y)
    if not hasattr(estimator, "classes_"):
        return np.ascontiguousarray(y, dtype=np.float64)
    known = np.isin(y, estimator.classes_)
    if not known.all():
        raise ValueError(f"classes {np.unique(y[~known])}: must be among those trained on, {estimator.classes_}")
    # Classes of a model from a file are in the file's order.
    order = np.argsort(estimator.classes_, kind="stable")
    codes = order[np.searchsorted(estimator.classes_, y, sorter=order)]
    return json.loads(estimator.model_.describe())["classes"], codes.astype(np.uint32)


def _inner_has(name):
    def check(self):
        getattr(self.estimator_ if hasattr(self, "estimator_") else self.estimator, name)
        return True

    return check


class ReducedSet(MetaEstimatorMixin, BaseEstimator):
    """An estimator that is compressed after its fit.

    Parameters
    ----------
    estimator : machine of this package
        The estimator to fit and compress; components are compressed by :func:`compress` itself.
    vectors, ratio, agreement, error, method, retrain, rounds, widths, descent, random_state
        As in :func:`compress`.

    Attributes
    ----------
    estimator_ : estimator
        The compressed estimator.
    whole_ : estimator
        The estimator before compression.
    compression_ : dict
        Results of the compression, as :func:`compress` reports them.

    See Also
    --------
    preimage : The best single point for an expansion.
    SVC : Machines to compress.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import SVC, ReducedSet
    >>> X, y = load_digits(return_X_y=True)
    >>> small = ReducedSet(SVC(C=10), vectors=100).fit(X[:600], y[:600])
    >>> small.estimator_.support_vectors_.shape, small.score(X[600:], y[600:]) > 0.88
    ((100, 64), True)
    """

    def __init__(
        self,
        estimator,
        *,
        vectors=None,
        ratio=None,
        agreement=None,
        error=None,
        method="auto",
        retrain=False,
        rounds=0,
        widths=False,
        descent=None,
        random_state=1,
    ):
        self.estimator = estimator
        self.vectors = vectors
        self.ratio = ratio
        self.agreement = agreement
        self.error = error
        self.method = method
        self.retrain = retrain
        self.rounds = rounds
        self.widths = widths
        self.descent = descent
        self.random_state = random_state

    def fit(self, X, y=None, sample_weight=None):
        """Fit and compress.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for estimators that take them.

        Returns
        -------
        self
        """
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.whole_ = whole = clone(self.estimator).fit(X, y, **more)
        if hasattr(whole, "classes_"):
            self.classes_ = whole.classes_
        centres = whole.model_.coef.shape[0]
        if centres == 0:
            # A constant function: nothing is smaller.
            self.estimator_, self.compression_ = whole, {"before": 0, "after": 0}
            return self
        vectors = None if self.vectors is None else min(whole_number(self.vectors, "vectors", 1), centres)
        self.estimator_ = compress(
            whole,
            X,
            y if get_tags(whole).target_tags.required else None,
            vectors=vectors,
            ratio=self.ratio,
            agreement=self.agreement,
            error=self.error,
            method=self.method,
            retrain=self.retrain,
            rounds=self.rounds,
            widths=self.widths,
            descent=self.descent,
            random_state=self.random_state,
        )
        self.compression_ = self.estimator_.compression_
        return self

    def _html_repr(self):
        """scikit-learn's diagram, and below it the compressed model."""
        below = _html.report(self.estimator_) if "estimator_" in self.__dict__ else ""
        return estimator_html_repr(self) + below

    @property
    def n_features_in_(self):
        """Columns that the estimator was fitted on."""
        check_is_fitted(self)
        return self.estimator_.n_features_in_

    @property
    def offset_(self):
        """The level that scores are compared with, where the estimator has one."""
        return self.estimator_.offset_

    @available_if(_inner_has("predict"))
    def predict(self, X):
        """Predict with the compressed estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(_inner_has("score"))
    def score(self, X, y=None):
        """Score the compressed estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,), default=None
            Targets.
        """
        check_is_fitted(self)
        return self.estimator_.score(X, y)

    @available_if(_inner_has("decision_function"))
    def decision_function(self, X):
        """The compressed estimator's decision function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X):
        """The compressed estimator's probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_inner_has("score_samples"))
    def score_samples(self, X):
        """The compressed estimator's scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        return self.estimator_.score_samples(X)

    def save(self, path):
        """Write the compressed model to a file.

        Parameters
        ----------
        path : str or path-like
            File to write.
        """
        check_is_fitted(self)
        self.estimator_.save(path)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags = inner.target_tags
        tags.input_tags = inner.input_tags
        return tags
