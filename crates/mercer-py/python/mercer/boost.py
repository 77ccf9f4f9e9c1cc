"""Boosting with soft margins."""

from __future__ import annotations

from sklearn.base import ClassifierMixin

from ._base import FLOATS, Fitted
from ._data import check_labels
from ._frames import check_is_fitted, validate_data
from .svm import _seed, answers_of

__all__ = ["AdaBoostReg"]


class FunctionClassifier(ClassifierMixin, Fitted):
    """Classifiers whose model is one function per class, or one for two classes."""

    def _fit_function(self, learner, params, X, y, sample_weight):
        check_labels(y)
        X, y = validate_data(self, X, y, accept_sparse=self._sparse, dtype=FLOATS, order="C")
        self.classes_, answers = answers_of(y)
        return self._fit_model(learner, params, X, answers, sample_weight)

    def decision_function(self, X):
        """Evaluate the decision function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes positive for the second.
        """
        values = self._call("decision", X)
        return values.ravel() if len(self.classes_) == 2 else values

    def predict(self, X):
        """Predict class labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        codes = self._call("predict", X)
        return self.classes_[codes]


class AdaBoostReg(FunctionClassifier):
    """AdaBoost with soft margins (Raetsch, Onoda and Mueller 2001).

    Parameters
    ----------
    C : float, default=0.1
        Softness of the margin: larger values ignore hard rows sooner; 0 is AdaBoost.
    n_estimators : int, default=100
        Maximum number of hypotheses.
    base : {'network', 'stump', 'kernel'}, default='network'
        Type of the hypotheses: RBF networks, decision stumps on single columns, or single kernel functions.
    n_centres : int, default=6
        Number of centres per network.
    alpha : float, default=1e-4
        Regularisation strength of a network.
    steps : int, default=10
        Number of gradient steps for the centres of a network.
    kernel : str or Kernel, default=None
        Kernel of ``base='kernel'``; None: a Gaussian whose width is chosen from the data.
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
    classes_ : ndarray of shape (n_classes,)
        The classes.
    model_ : mercer.Model
        The fitted model.

    See Also
    --------
    LPBoost : Boosting by a linear program.
    ArcGV : Boosting towards the largest minimum margin.
    SVC : Support vector classification.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import AdaBoostReg
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> AdaBoostReg(n_estimators=20).fit(X, y).score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        C=0.1,
        *,
        n_estimators=100,
        base="network",
        n_centres=6,
        alpha=1e-4,
        steps=10,
        kernel=None,
        random_state=None,
        verbose=False,
        n_jobs=None,
        callback=None,
    ):
        self.C = C
        self.n_estimators = n_estimators
        self.base = base
        self.n_centres = n_centres
        self.alpha = alpha
        self.steps = steps
        self.kernel = kernel
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X, y, sample_weight=None):
        """Fit the hypotheses and their vote.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self
        """
        known = {
            "c": self.C,
            "rounds": self.n_estimators,
            "base": self.base,
            "centres": self.n_centres,
            "lambda": self.alpha,
            "steps": self.steps,
            "seed": _seed(self.random_state),
        }
        return self._fit_function("adaboost-reg", self._more(**known), X, y, sample_weight)

    def _line(self, X):
        if self.kernel is None:
            return None
        return self.kernel.line if hasattr(self.kernel, "line") else str(self.kernel)

    @property
    def n_estimators_(self):
        """Hypotheses that the vote has."""
        check_is_fitted(self)
        return int(dict(self._description["facts"])["hypotheses"])
