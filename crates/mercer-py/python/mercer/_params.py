"""Types of parameters, checked before every fit by their names: a name means the same in every estimator.

Ranges of numbers are left to the library, whose words say why, except in estimators that scikit-learn has too: those refuse
in its words, under the names that its users know.
"""

from __future__ import annotations

import inspect
import numbers
from functools import cache

from sklearn.utils import check_random_state
from sklearn.utils._param_validation import InvalidParameterError as InvalidParameterError

from ._threads import threads_of
INFINITE = float("inf")

#: Parameters that count. What is too small is left to the library.
COUNTS = (
    "bounces",
    "candidates",
    "degree",
    "descent",
    "drop",
    "folds",
    "iterated_power",
    "max_iter",
    "n_centres",
    "n_clusters",
    "n_components",
    "n_estimators",
    "n_init",
    "n_neighbors",
    "n_rows",
    "rounds",
    "steps",
    "vectors",
    "virtual_rounds",
)
#: Parameters that are numbers though their defaults are None or whole. All whose defaults are floats are.
REALS = ("agreement", "cache_size", "coef0", "error", "intercept_scaling", "ratio", "seconds")
#: Words that a parameter may be, beside its type.
WORDS = {
    "decision_function_shape": ("ovo", "ovr"),
    "dual": ("auto", True, False),
    "probability": ("deprecated", True, False),
}
#: Ranges of numbers of the estimators that scikit-learn has too, in its notation: in words, and the test.
POSITIVE = ("a float in the range (0.0, inf)", lambda v: 0 < v < INFINITE)
NOT_NEGATIVE = ("a float in the range [0.0, inf)", lambda v: 0 <= v < INFINITE)
HARD = ("a float in the range (0.0, inf]", lambda v: v > 0)
SHARE = ("a float in the range (0.0, 1.0]", lambda v: 0 < v <= 1)
COUNTED = ("an int in the range [1, inf)", lambda v: v >= 1)
VECTORS = {"C": HARD, "tol": POSITIVE, "nu": SHARE, "epsilon": NOT_NEGATIVE}
LINES = {"C": POSITIVE, "tol": POSITIVE, "epsilon": NOT_NEGATIVE, "intercept_scaling": POSITIVE}
RANGES = {
    **dict.fromkeys(("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"), VECTORS),
    **dict.fromkeys(("LinearSVC", "LinearSVR"), LINES),
    "KernelPCA": {
        "alpha": NOT_NEGATIVE,
        "tol": NOT_NEGATIVE,
        # A share of the variance, which scikit-learn does not have, is less than 1.
        "n_components": ("an int in the range [1, inf) or None", lambda v: v > 0),
    },
    "KernelRidge": {"alpha": ("a float in the range [0.0, inf) or an array-like", lambda v: v >= 0)},
    "Nystroem": {"n_components": COUNTED},
    "RBFSampler": {"n_components": COUNTED},
}
#: Names among which one is chosen, of the same estimators.
CHOICES = {
    "LinearSVC": {"loss": ("hinge", "squared_hinge"), "penalty": ("l1", "l2"), "multi_class": ("ovr", "crammer_singer")},
    "LinearSVR": {"loss": ("epsilon_insensitive", "squared_epsilon_insensitive")},
    "KernelPCA": {
        "eigen_solver": ("auto", "dense", "arpack", "randomized", "complete", "krylov", "nystroem", "cholesky", "sparse")
    },
}


@cache
def _defaults(kind):
    """The defaults of a class's parameters."""
    found = inspect.signature(kind.__init__).parameters.values()
    return {parameter.name: parameter.default for parameter in found}


def check_parameters(estimator):
    """Refuse parameters of a wrong type, in scikit-learn's words."""
    kind = type(estimator)
    given, defaults = estimator.__dict__, _defaults(kind)
    ranges, choices = RANGES.get(kind.__name__, {}), CHOICES.get(kind.__name__, {})
    for name, default in defaults.items():
        value = given.get(name)
        # Most parameters are at their defaults.
        if value is default:
            continue
        if name in ranges and isinstance(value, numbers.Real) and not ranges[name][1](value):
            raise InvalidParameterError(
                f"The {name!r} parameter of {kind.__name__} must be {ranges[name][0]}. Got {value!r} instead."
            )
        if name in choices and not (isinstance(value, str) and value in choices[name]):
            allowed = ", ".join(map(repr, choices[name]))
            raise InvalidParameterError(
                f"The {name!r} parameter of {kind.__name__} must be a str among {{{allowed}}}. Got {value!r} instead."
            )
        if name in COUNTS:
            _check_count(estimator, name, value, default)
        elif name == "gamma":
            if isinstance(value, numbers.Real):
                if not value >= 0:
                    raise _wrong(name, "a str among {'scale', 'auto'} or a float in the range [0.0, inf)", value)
            elif value not in (("scale", "auto") if default is not None else ("scale", "auto", None)):
                raise _wrong(name, "a str among {'scale', 'auto'} or a float in the range [0.0, inf)", value)
        elif name in WORDS:
            if not any(value is word or (isinstance(value, str) and value == word) for word in WORDS[name]) and not (
                True in WORDS[name] and is_truth(value)
            ):
                raise _wrong(name, " or ".join(map(repr, WORDS[name])), value)
        elif name == "verbose":
            if not is_truth(value) and not (isinstance(value, numbers.Integral) and value >= 0):
                raise _wrong(name, "a bool or an int from 0", value)
        elif isinstance(default, bool):
            if not is_truth(value):
                raise _wrong(name, "a bool", value)
        elif isinstance(default, float) or name in REALS:
            if value is None and default is None:
                continue
            if not isinstance(value, numbers.Real) or value != value:
                raise _wrong(name, "a number", value)
            if name == "coef0" and abs(value) == float("inf"):
                raise _wrong(name, "a finite number", value)
        elif name == "kernel_params":
            if value is not None and not isinstance(value, dict):
                raise _wrong(name, "a dict or None", value)
    # Also where nothing is drawn and no thread is started.
    drawn = given.get("random_state")
    if drawn is not None and not isinstance(drawn, numbers.Integral):
        check_random_state(drawn)
    threads_of(given.get("n_jobs"))


def is_truth(value):
    """Whether a value is True or False, Python's or numpy's."""
    return isinstance(value, bool) or type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")


def _wrong(name, wanted, value):
    return InvalidParameterError(f"The {name!r} parameter must be {wanted}. Got {value!r} instead.")


def _check_count(estimator, name, value, default):
    # None and 'auto' leave the number to the library, and so does -1 where it is the default.
    if value is None and (default is None or name != "degree" and default != -1) or isinstance(value, str) and value == default == "auto":
        return
    if name in getattr(estimator, "_reals", ()) and isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        if not 0 <= value < float("inf"):
            raise _wrong(name, "a number from 0", value)
        return
    if name in getattr(estimator, "_shares", ()) and isinstance(value, float):
        if not 0 < value <= 1:
            raise InvalidParameterError(f"{name} = {value}: must be an int, or a share above 0 and at most 1")
        return
    whole_number(value, name, -1 if default == -1 else 0)


def whole_number(value, name, least=0):
    """A parameter that counts, as an int."""
    number = isinstance(value, numbers.Real) and not is_truth(value)
    if number and float(value).is_integer() and value >= least:
        return int(value)
    raise InvalidParameterError(f"The {name!r} parameter must be an int in the range [{least}, inf). Got {value!r} instead.")
