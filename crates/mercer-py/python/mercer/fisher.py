"""Kernel Fisher discriminants."""

from __future__ import annotations

from sklearn.utils.metaestimators import available_if

from .boost import FunctionClassifier
from .svm import _seed

__all__ = ["KernelFisher"]

_LEARNERS = {"closed": "kfd", "sparse": "kfd-sparse", "linear": "kfd-lp", "greedy": "kfd-greedy"}


def _has_probability(estimator):
    if estimator.threshold != "probability":
        raise AttributeError("probabilities require threshold='probability'")
    if len(getattr(estimator, "classes_", ())) > 2:
        # Each direction has its own, and the largest need not be that of the class predicted.
        raise AttributeError("probabilities are supported for two classes only")
    return True


class KernelFisher(FunctionClassifier):
    """Fisher's discriminant in feature space: maximises between-class over within-class scatter (Mika et al. 1999).

    Parameters
    ----------
    alpha : float, default=0.1
        Regularisation strength.
    form : {'closed', 'sparse', 'linear', 'greedy'}, default='closed'
        Method: the closed form, with every row as a centre; few centres by a quadratic ('sparse') or a linear program
        ('linear'); or greedily selected centres.
    kernel : str, Kernel or callable, default='rbf'
    gamma : {'scale', 'auto'} or float, default='scale'
    degree : int, default=3
    coef0 : float, default=0.0
        As in :class:`mercer.SVC`.
    penalty : {'identity', 'kernel'}, default='identity'
        Penalty on the coefficients or on the norm of the direction (``form`` 'closed' and 'greedy').
    threshold : {'means', 'svm', 'probability'}, default='means'
        How the threshold on the projection is chosen, for two classes.
    n_centres : int, default=100
        Maximum number of centres (``form='greedy'``).
    candidates : int, default=2000
        Candidate rows per centre (``form='greedy'``).
    leave_one_out : bool, default=False
        Whether to compute the leave-one-out error (``form`` 'closed' and 'greedy').
    tol : float, default=1e-3
        Stopping tolerance (``form`` 'sparse' and 'linear').
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
    SVC : The maximum-margin hyperplane.
    KernelFisherRegressor : The same method for regression.
    KernelPCA : Directions of largest variance, without labels.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import KernelFisher
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> KernelFisher(alpha=0.01).fit(X, y).score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        alpha=0.1,
        *,
        form="closed",
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=0.0,
        penalty="identity",
        threshold="means",
        n_centres=100,
        candidates=2000,
        leave_one_out=False,
        tol=1e-3,
        random_state=None,
        verbose=False,
        n_jobs=None,
        callback=None,
    ):
        self.alpha = alpha
        self.form = form
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.penalty = penalty
        self.threshold = threshold
        self.n_centres = n_centres
        self.candidates = candidates
        self.leave_one_out = leave_one_out
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X, y, sample_weight=None):
        """Fit the discriminant.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; under a precomputed kernel its matrix.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self
        """
        if self.form not in _LEARNERS:
            raise ValueError(f"form = {self.form!r}: must be one of {', '.join(_LEARNERS)}")
        greedy = self.form == "greedy"
        known = {
            "lambda": self.alpha,
            "penalty": self.penalty if self.form in ("closed", "greedy") else None,
            "threshold": self.threshold,
            "centres": self.n_centres if greedy else None,
            "candidates": self.candidates if greedy else None,
            "leave_one_out": bool(self.leave_one_out) if self.form in ("closed", "greedy") else None,
            "tol": self.tol if self.form in ("sparse", "linear") else None,
            "seed": _seed(self.random_state) if greedy else None,
        }
        return self._fit_function(_LEARNERS[self.form], self._more(**known), X, y, sample_weight)

    @available_if(_has_probability)
    def predict_proba(self, X):
        """Predict probabilities of two classes, from normal densities on the direction.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._call("probabilities", X)
