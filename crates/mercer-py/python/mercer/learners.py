"""Estimators for the learners that scikit-learn does not have.

Each is a row of :data:`ROWS`: names, ranges, defaults and meanings of its parameters are read from the library's own table, so
what the command takes is what these classes take.
"""

from __future__ import annotations

import inspect
import json

import numpy as np
from sklearn.base import OutlierMixin, RegressorMixin
from sklearn.utils import column_or_1d

from . import _mercer
from ._base import FLOATS, Fitted
from ._frames import check_is_fitted, validate_data
from .boost import FunctionClassifier
from .svm import Regressor, _seed

TABLE = json.loads(_mercer.learner_table())
#: The library's names of parameters, in scikit-learn's words.
PYTHON = {
    "c": "C",
    "lambda": "alpha",
    "rounds": "n_estimators",
    "centres": "n_centres",
    "neighbours": "n_neighbors",
    "offset": "fit_intercept",
    "seed": "random_state",
    "passes": "max_iter",
}
#: What every estimator with a kernel has, with its default and meaning.
KERNEL = {
    "kernel": (
        "rbf",
        "str, Kernel or callable",
        "A name, a line, an object, ``'precomputed'`` or a callable, as in :class:`mercer.SVC`.",
    ),
    "gamma": (
        "scale",
        "{'scale', 'auto'} or float",
        "Coefficient of ``'rbf'``, ``'poly'``, ``'sigmoid'`` and ``'laplacian'``, as in :class:`mercer.SVC`.",
    ),
    "degree": (3, "int", "Degree of ``'poly'``."),
    "coef0": (0.0, "float", "Constant term of ``'poly'`` and ``'sigmoid'``."),
}
MATTERS = {
    "verbose": (False, "bool", "Whether to show a progress bar, if tqdm is installed."),
    "n_jobs": (None, "int", "Number of threads; None means all (or what ``OMP_NUM_THREADS`` says)."),
    "callback": (
        None,
        "callable",
        "Called during the fit with a :class:`mercer.Progress`; if it returns True the fit stops.",
    ),
}
#: Parameters of the library's table that belong to images: :class:`mercer.VirtualSVC` has them.
ELSEWHERE = ("kernel", "virtual_vectors", "virtual_rounds")


class Declared(Fitted):
    """An estimator whose parameters are those of a learner of the library."""

    _learner = ""
    _own: dict = {}

    @property
    def n_iter_(self):
        """Iterations of the solver."""
        check_is_fitted(self)
        return max(1, int(self._description["info"]["iterations"]))

    @property
    def _least(self):
        # Neighbours of a row are others.
        return 2 if self._learner == "knn" else 1

    def _params(self):
        given = {}
        for theirs, ours in self._own.items():
            value = getattr(self, ours)
            if theirs == "seed":
                value = _seed(value)
            elif theirs == "max_iter" and value == -1:
                value = None
            given[theirs] = value
        return self._more(**given)


class DeclaredClassifier(FunctionClassifier, Declared):
    """A classifier of the library."""

    def fit(self, X, y, sample_weight=None):
        """Fit the classifier.

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
        return self._fit_function(self._learner, self._params(), X, y, sample_weight)


class DeclaredProbable(DeclaredClassifier):
    """A classifier of the library that gives probabilities."""

    def predict_proba(self, X):
        """Probabilities of the classes, in the order of ``classes_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._call("probabilities", X)


class DeclaredRegressor(RegressorMixin, Declared):
    """A regression of the library."""

    def fit(self, X, y, sample_weight=None):
        """Fit the function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; under a precomputed kernel its matrix.
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self
        """
        more = {"dtype": FLOATS, "order": "C", "y_numeric": True, "ensure_min_samples": self._least}
        X, y = validate_data(self, X, y, accept_sparse=self._sparse, **more)
        y = np.ascontiguousarray(column_or_1d(y, warn=True), dtype=np.float64)
        return self._fit_model(self._learner, self._params(), X, y, sample_weight)

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


class DeclaredMachine(Regressor, Declared):
    """A regression with support vectors."""

    def _learned(self):
        return self._learner, json.loads(self._params())

    def _solver(self):
        # Among the learner's own parameters already.
        return {}


class DeclaredNovelty(OutlierMixin, Declared):
    """A novelty detector of the library."""

    def fit(self, X, y=None, sample_weight=None):
        """Fit the novelty detector.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self
        """
        X = validate_data(self, X, accept_sparse=self._sparse, dtype=FLOATS, order="C")
        self._fit_model(self._learner, self._params(), X, None, sample_weight)
        self.offset_ = 0.0
        return self

    def decision_function(self, X):
        """Evaluate the decision function: positive for inliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._call("decision", X).ravel()

    def score_samples(self, X):
        """The same as :meth:`decision_function`: its threshold is 0.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.decision_function(X)

    def predict(self, X):
        """Predict 1 for inliers and -1 for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.where(self._call("predict", X) == 1, 1, -1)


MOONS = """    >>> from sklearn.datasets import make_moons
    >>> from mercer import {name}
    >>> X, y = make_moons(120, noise=0.1, random_state=0)
    >>> {name}({given}).fit(X, y).score(X, y) > 0.9
    True
"""
CURVE = """    >>> import numpy as np
    >>> from mercer import {name}
    >>> X = np.linspace(0, 3, 60)[:, None]
    >>> {name}({given}).fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.9
    True
"""
CLOUD = """    >>> import numpy as np
    >>> from mercer import {name}
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> {name}({given}).fit(X).predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
"""

#: Class, learner, base, what it is, arguments of its example.
ROWS = (
    (
        "AdaBoost",
        "adaboost",
        DeclaredClassifier,
        "AdaBoost on networks, stumps or kernel functions: each hypothesis is fitted on rows weighted by the "
        "errors of those before (Freund and Schapire 1997).",
        "n_estimators=20",
    ),
    (
        "ArcGV",
        "arc-gv",
        DeclaredClassifier,
        "Boosting that maximises the smallest margin (Breiman 1999).",
        "n_estimators=20",
    ),
    (
        "LPBoost",
        "lpboost",
        DeclaredClassifier,
        "Boosting by a linear program; nu bounds the fraction of rows below the margin (Demiriz, Bennett and "
        "Shawe-Taylor 2002).",
        "n_estimators=20",
    ),
    (
        "KernelRidgeClassifier",
        "ridge",
        DeclaredClassifier,
        "The least-squares support vector machine: kernel ridge regression on codes of the classes (Suykens "
        "and Vandewalle 1999).",
        "alpha=0.1",
    ),
    (
        "RBFNetworkClassifier",
        "rbf-network",
        DeclaredClassifier,
        "A network of few Gaussians whose centres are placed by k-means, trained by gradient descent, or support vectors.",
        "n_centres=20",
    ),
    (
        "RBFNetworkRegressor",
        "rbf-network",
        DeclaredRegressor,
        "A network of few Gaussians for regression.",
        "n_centres=10",
    ),
    (
        "LPMachineClassifier",
        "lp-machine",
        DeclaredClassifier,
        "A linear-programming machine: few kernel functions, selected by an L1 penalty.",
        "C=10",
    ),
    (
        "LPMachineRegressor",
        "lp-machine",
        DeclaredRegressor,
        "A linear-programming machine for regression: few kernel functions, selected by an L1 penalty.",
        "C=100",
    ),
    (
        "KernelPerceptron",
        "perceptron",
        DeclaredClassifier,
        "The kernel perceptron, averaged: an online learner updated by its errors (Freund and Schapire 1999).",
        "gamma=5.0",
    ),
    (
        "KernelAdatron",
        "adatron",
        DeclaredClassifier,
        "An online learner that converges to the maximum-margin machine (Friess, Cristianini and Campbell 1998).",
        "C=10",
    ),
    (
        "BayesPointMachine",
        "bayes-point",
        DeclaredClassifier,
        "The centre of mass of version space, found by a billiard (Herbrich, Graepel and Campbell 2001).",
        "gamma=5.0",
    ),
    (
        "ParzenClassifier",
        "parzen",
        DeclaredClassifier,
        "Parzen windows: each class is scored by the mean of its kernel functions.",
        "gamma=5.0",
    ),
    ("ParzenNovelty", "parzen", DeclaredNovelty, "Novelty detection by a Parzen density estimate with a threshold.", ""),
    ("KernelKNNClassifier", "knn", DeclaredClassifier, "Majority vote of the nearest neighbours in feature space.", ""),
    ("KernelKNNRegressor", "knn", DeclaredRegressor, "Mean of the nearest neighbours in feature space.", ""),
    (
        "LargeRegressor",
        "large",
        DeclaredRegressor,
        "Kernel ridge regression on few centres, for many rows: conjugate gradients with the Nystroem preconditioner "
        "(Rudi, Carratino and Rosasco 2017). With as many centres as rows it is :class:`mercer.KernelRidge`.",
        "n_centres=30",
    ),
    (
        "LargeClassifier",
        "large",
        DeclaredClassifier,
        "Kernel ridge regression on codes of the classes, on few centres, for many rows: conjugate gradients with the "
        "Nystroem preconditioner (Rudi, Carratino and Rosasco 2017).",
        "n_centres=30",
    ),
    (
        "LargeLogisticClassifier",
        "large-logistic",
        DeclaredProbable,
        "Kernel logistic regression on few centres, for many rows: Newton steps by preconditioned conjugate gradients "
        "(Marteau-Ferey, Bach and Rudi 2019).",
        "n_centres=30",
    ),
    (
        "LargeHingeClassifier",
        "large-hinge",
        DeclaredClassifier,
        "Squared hinge loss on few centres, for many rows: Newton steps by preconditioned conjugate gradients.",
        "n_centres=30",
    ),
    (
        "KernelFisherRegressor",
        "kfd",
        DeclaredRegressor,
        "Regression in the form of a kernel Fisher discriminant (Mika, Raetsch and Mueller 2001).",
        "alpha=1e-3",
    ),
    (
        "HuberSVR",
        "huber",
        DeclaredMachine,
        "Support vector regression with Huber loss: squared errors up to delta, then absolute ones, robust to outliers.",
        "C=10",
    ),
    (
        "LaplaceSVR",
        "laplace",
        DeclaredMachine,
        "Support vector regression with absolute errors, which estimates the conditional median.",
        "C=10",
    ),
)
#: Related estimators of each class, for its docstring.
SEE = {
    "AdaBoost": {"AdaBoostReg": "Soft margin: tolerates rows that are hard to classify.", "LPBoost": "Boosting by a linear program."},
    "ArcGV": {"AdaBoost": "The weights of AdaBoost.", "LPBoost": "A soft margin, by a linear program."},
    "LPBoost": {"AdaBoost": "Boosting by exponential weights.", "LPMachineClassifier": "A linear program on kernel functions."},
    "KernelRidgeClassifier": {"KernelRidge": "The same for regression.", "LargeClassifier": "The same for many rows."},
    "RBFNetworkClassifier": {"RBFNetworkRegressor": "The same for regression.", "SVC": "Centres are support vectors."},
    "RBFNetworkRegressor": {"RBFNetworkClassifier": "The same for classification.", "SVR": "Centres are support vectors."},
    "LPMachineClassifier": {"LPMachineRegressor": "The same for regression.", "SVC": "The norm in feature space as penalty."},
    "LPMachineRegressor": {"LPMachineClassifier": "The same for classification.", "SVR": "The norm in feature space as penalty."},
    "KernelPerceptron": {"KernelAdatron": "Converges to the largest margin.", "SVC": "The maximum-margin machine."},
    "KernelAdatron": {"KernelPerceptron": "Updates on errors only.", "SVC": "The same machine by a faster solver."},
    "BayesPointMachine": {"SVC": "The centre of the largest ball in version space.", "KernelPerceptron": "One point of it."},
    "ParzenClassifier": {"KernelKNNClassifier": "Nearest neighbours instead of all rows.", "SVC": "Optimised weights."},
    "ParzenNovelty": {"OneClassSVM": "A sparse machine with the same meaning of nu.", "SVDD": "A sphere around the data."},
    "KernelKNNClassifier": {"KernelKNNRegressor": "The same for regression.", "ParzenClassifier": "All rows, weighted."},
    "KernelKNNRegressor": {"KernelKNNClassifier": "The same for classification.", "KernelRidge": "A smooth regression."},
    "LargeRegressor": {"KernelRidge": "Exact, for up to some ten thousand rows.", "LargeClassifier": "The same for classification."},
    "LargeClassifier": {"LargeLogisticClassifier": "With probabilities.", "SVC": "Exact, for up to some 100,000 rows."},
    "LargeLogisticClassifier": {"LargeClassifier": "Squared loss, faster.", "LargeHingeClassifier": "Squared hinge loss."},
    "LargeHingeClassifier": {"SVC": "Exact support vector machines.", "LargeLogisticClassifier": "With probabilities."},
    "KernelFisherRegressor": {"KernelFisher": "The same for classification.", "KernelRidge": "The norm in feature space as penalty."},
    "HuberSVR": {"SVR": "Epsilon-insensitive loss.", "LaplaceSVR": "Absolute errors."},
    "LaplaceSVR": {"SVR": "Epsilon-insensitive loss.", "HuberSVR": "Squared loss near 0."},
}
#: Parameters of a learner that its other task uses.
UNUSED = {
    "ParzenClassifier": ("nu",),
    "KernelFisherRegressor": ("threshold", "leave_one_out"),
}


def _value(word):
    """A default as the library writes it, in Python."""
    match word:
        case "true" | "false":
            return word == "true"
        case "none":
            return -1
    try:
        number = float(word)
    except ValueError:
        return word
    return int(number) if number.is_integer() and "." not in word and "e" not in word else number


def _kind(allowed, default):
    if allowed.startswith("one of "):
        return "{" + ", ".join(f"'{word}'" for word in allowed.removeprefix("one of ").split(", ")) + "}"
    if isinstance(default, bool):
        return "bool"
    return "int" if "whole" in allowed else "float"


def _parameters(name, learner):
    """`{python's name: (default, type, meaning)}`, and the library's name of each."""
    fields, own = {}, {}
    for theirs, about in TABLE[learner].items():
        if theirs in ELSEWHERE or theirs in UNUSED.get(name, ()):
            continue
        ours = PYTHON.get(theirs, theirs)
        own[theirs] = ours
        if theirs == "seed":
            fields[ours] = (None, "int, RandomState instance or None", "Seed of the random number generator. None is a fixed seed.")
            continue
        default = _value(about["default"])
        if isinstance(default, int) and not isinstance(default, bool) and "whole" not in about["allowed"]:
            default = float(default)
        meaning = about["doc"][0].upper() + about["doc"][1:] + "."
        if default == -1:
            meaning = meaning.removesuffix(".") + "; -1: no limit."
        fields[ours] = (default, _kind(about["allowed"], default), meaning)
    return fields, own


def _make(name, learner, base, about, given):
    fields, own = _parameters(name, learner)
    machine = {
        "cache_size": (None, "float", "Memory budget of a fit in mebibytes; None: half of the machine's memory."),
        "warm_start": (
            False,
            "bool",
            "Whether the next fit starts at the solution of the last one, where that was on as many rows.",
        ),
    }
    fields = {**fields, **KERNEL, **(machine if issubclass(base, Regressor) else {}), **MATTERS}
    words = "\n".join(
        f"    {field} : {kind}, default={default!r}\n        {meaning}" for field, (default, kind, meaning) in fields.items()
    )
    attributes = ["    model_ : mercer.Model\n        The fitted model."]
    if issubclass(base, DeclaredClassifier):
        attributes.insert(0, "    classes_ : ndarray of shape (n_classes,)\n        The classes.")
    if issubclass(base, DeclaredNovelty):
        attributes.insert(0, "    offset_ : float\n        The threshold of scores: 0.")
    example = CLOUD if issubclass(base, DeclaredNovelty) else MOONS if issubclass(base, DeclaredClassifier) else CURVE
    related = "\n".join(f"    {other} : {what}" for other, what in SEE[name].items())
    doc = (
        f"{about}\n\n    Parameters\n    ----------\n{words}\n\n    Attributes\n    ----------\n"
        + "\n".join(attributes)
        + f"\n\n    See Also\n    --------\n{related}\n\n    Examples\n    --------\n{example.format(name=name, given=given)}    "
    )

    def __init__(self, **given):
        for field, (default, _, _) in fields.items():
            setattr(self, field, given.pop(field, default))
        if given:
            raise TypeError(f"{name}.__init__() got an unexpected keyword argument {next(iter(given))!r}")

    keyword = inspect.Parameter.KEYWORD_ONLY
    own_self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    listed = [inspect.Parameter(field, keyword, default=default) for field, (default, _, _) in fields.items()]
    __init__.__signature__ = inspect.Signature([own_self, *listed])
    parts = {"__init__": __init__, "__doc__": doc, "__module__": __name__, "_learner": learner, "_own": own}
    return type(name, (base,), parts)


def of(kind, task, params, kernel):
    """The estimator of a model from a file, not fitted; None where no class here is of its learner and task."""
    bases = {
        "classification": DeclaredClassifier,
        "regression": (DeclaredRegressor, DeclaredMachine),
        "novelty": DeclaredNovelty,
    }
    # All regressions with support vectors share a kind.
    learner = params.get("loss") if kind == "svr" else kind
    for name, own, base, *_ in ROWS:
        if own == learner and issubclass(base, bases.get(task, ())):
            made = globals()[name]
            given = {ours: params[theirs] for theirs, ours in made._own.items() if theirs in params}
            if given.get("max_iter", -1) is None:
                given["max_iter"] = -1
            return made(kernel=kernel, **given)
    return None


__all__ = [row[0] for row in ROWS]
for _row in ROWS:
    globals()[_row[0]] = _make(*_row)
