"""Thousands of calls of scikit-learn's classes and of Mercer's beside each other: the same errors, kinds and values.

``MERCER_CASES=20000 pytest test_differential.py`` draws more of them. What differs by intention is written down in
:func:`is_known` and in docs/python.md; everything else fails.
"""

import copy
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).parent))
import cases  # noqa: E402

COUNT = int(os.environ.get("MERCER_CASES", "1000"))
AT_ONCE = 100
KINDS = ("classes_", "n_features_in_", "feature_names_in_", "class_weight_", "shape_fit_", "support_", "n_support_", "n_iter_")
VALUES = ("coef_", "intercept_", "offset_", "eigenvalues_", "random_weights_", "random_offset_", "gamma_", "component_indices_")
SHAPES = ("eigenvectors_", "components_", "normalization_", "X_fit_", "support_vectors_", "dual_coef_")
ASKED = ("decision_function", "predict", "predict_proba", "predict_log_proba", "transform", "score_samples")
# Largest difference of values, relative to the largest of them.
CLOSE = 2e-3
# Outputs so close to 0 are of either class.
TIE = 1e-5


def attempt(work):
    """What a call returns, or what it raises, and the categories of its warnings."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            found, error = work(), None
        except Exception as raised:  # noqa: BLE001: that is what is compared
            found, error = None, raised
    return found, error, {warning.category.__name__ for warning in heard}


def dense(values):
    return np.asarray(values.toarray() if sp.issparse(values) else values)


def kind_of(values, exact=True):
    """What an answer is; text of any length is text."""
    if isinstance(values, np.ndarray) or sp.issparse(values):
        kind = values.dtype.kind if values.dtype.kind in "US" else str(values.dtype)
        return (sp.issparse(values), values.shape, kind) if exact else (sp.issparse(values), values.ndim)
    return (type(values),)


def is_close(a, b, close=CLOSE):
    a, b = dense(a), dense(b)
    if a.dtype.kind not in "fc":
        return a.tolist() == b.tolist()
    return a.size == 0 or bool(np.abs(a - b).max() <= close * max(1.0, np.abs(a).max()))


def precision(values):
    """float128 of longer types is float64 here."""
    return values.astype(np.float64) if getattr(values, "dtype", None) == np.longdouble else values


def is_known(case, theirs, ours):
    """Differences that are meant: Mercer takes more, or says that it cannot where scikit-learn's result has no meaning."""
    if ours is None:
        # Taken here: a scalar for all weights, weights of any strides, sparse rows with long indices, other kernels by name.
        return (
            case.weights in ("scalar", "int scalar", "strided")
            or {"csr 64 bit", "csr doubled"} & {case.rows, case.again}
            or case.settings.get("kernel") in ("cosine", "laplacian", "chi2", "additive_chi2", "polynomial")
            # Dates are numbers at training there, and none at prediction.
            or "datetime" in (case.rows, case.again)
            or "float which has no callable" in str(theirs)
            or "has no attribute 'var'" in str(theirs)
            # There the machine has no margin, and scikit-learn's coefficients are infinite.
            or "not finite" in str(theirs)
            # Values that scikit-learn asks for at training also for rows drawn as landmarks.
            or "Precomputed metric requires" in str(theirs)
            # An error inside scikit-learn.
            or "gamma < 0" in str(theirs)
        )
    if theirs is None:
        return (
            case.weights in ("NaN", "infinity")
            or case.settings.get("gamma") == 0
            or "gamma = 0" in str(ours)
            or "weight of class" in str(ours)
            # There, the values that are too many are ignored.
            or "alpha has 2 values" in str(ours)
            # Values beyond the range of numbers are refused, not answered.
            or any(word in str(ours) for word in ("finite", "too large"))
        )
    return False


def errors(case, theirs, ours, where):
    """The difference between two errors, or between an error and none."""
    if theirs is None and ours is None or is_known(case, theirs, ours):
        return []
    if theirs is not None and ours is not None:
        # Which of several faults is found first may differ.
        usual = (ValueError, TypeError, NotImplementedError, AttributeError)
        if isinstance(ours, usual) or isinstance(ours, type(theirs)):
            return []
    return [f"{where}: scikit-learn {theirs!r:.200}, Mercer {ours!r:.200}"]


def differences(case):
    theirs, ours = (made(**copy.deepcopy(case.settings)) for made in cases.both(case.name))
    given = [case.X] if case.name in (*cases.MAPS, "OneClassSVM") else [case.X, case.y]
    more = {} if case.w is None or case.name in cases.MAPS else {"sample_weight": case.w}
    _, raised, warned = attempt(lambda: theirs.fit(*given, **more))
    _, refused, told = attempt(lambda: ours.fit(*given, **more))
    if raised is not None or refused is not None:
        return errors(case, raised, refused, "fit")
    found = []
    if warned != told and not (told - warned <= {"ConvergenceWarning"} and warned - told <= {"ConvergenceWarning", "UserWarning", "RuntimeWarning"}):
        found.append(f"fit warns {sorted(warned)}, Mercer {sorted(told)}")
    solved = "ConvergenceWarning" not in warned | told and has_one_solution(case, ours)
    for name in (*KINDS, *VALUES, *SHAPES):
        (a, absent, _), (b, missing, _) = attempt(lambda: getattr(theirs, name)), attempt(lambda: getattr(ours, name))  # noqa: B023
        if absent is not None or missing is not None:
            if absent is None:
                found.append(f"{name}: missing")
        elif name in ("support_", "n_support_", "n_iter_", *SHAPES):
            if kind_of(a, exact=False) != kind_of(b, exact=False):
                found.append(f"{name}: {kind_of(a)}, Mercer {kind_of(b)}")
        elif kind_of(a) != kind_of(b):
            found.append(f"{name}: {kind_of(a)}, Mercer {kind_of(b)}")
        elif solved and not (name in ("intercept_", "offset_") and case.name != "LinearSVC") and not is_close(a, b):
            found.append(f"{name}: {dense(a).ravel()[:4]}, Mercer {dense(b).ravel()[:4]}")
    for name in ASKED:
        if hasattr(theirs, name) != hasattr(ours, name):
            found.append(f"{name}: there {hasattr(theirs, name)}, Mercer {hasattr(ours, name)}")
        elif hasattr(theirs, name):
            found += [words for rows in (case.X, case.new) for words in answers(case, theirs, ours, name, rows, solved)]
    return found


def has_one_solution(case, ours):
    """Whether outputs are determined up to the tolerance."""
    if case.name == "Nystroem" and case.changes[0] == "one for all" and ours.components_.dtype == np.float32:
        # The matrix has rank 1, and scikit-learn's root of it is rounding.
        return False
    if case.rows in ("large", "large f32", "tiny", "denormal", "csr doubled"):
        return False
    if case.name in ("SVR", "NuSVR"):
        # The offset is determined by support vectors between the bounds.
        sizes = np.abs(dense(ours.dual_coef_))
        return bool((sizes < 0.999 * sizes.max(initial=0.0)).any())
    if case.name == "NuSVC":
        # Without a margin, outputs are rounding errors divided by one another.
        notes = ours._description["info"]["notes"]
        return not any("the margin is" in note for note in notes) and case.changes[0] != "with twins"
    return True


def answers(case, theirs, ours, name, rows, solved):
    (a, raised, _), (b, refused, _) = (attempt(lambda: getattr(one, name)(rows)) for one in (theirs, ours))  # noqa: B023
    if raised is not None or refused is not None:
        return errors(case, raised, refused, name)
    a = precision(a)
    if kind_of(a) != kind_of(b):
        return [f"{name}: {kind_of(a)}, Mercer {kind_of(b)}"]
    if not solved or case.again in ("large", "large f32", "csr doubled"):
        return []
    if name in ("predict_proba", "predict_log_proba"):
        # Folds are drawn differently.
        return [] if np.isfinite(a).all() == np.isfinite(b).all() else [f"{name}: not finite"]
    if name == "transform" and case.name == "KernelPCA":
        a, b = np.abs(a), np.abs(b)
    if case.name == "Nystroem":
        # Directions in which the landmarks' matrix is nearly singular may be turned; what counts is dot products.
        a, b = a @ a.T, b @ b.T
    if name == "predict" and case.name not in cases.REGRESSIONS or name == "decision_function" and len(getattr(ours, "classes_", [])) > 2:
        # Outputs of 0 vote for either class.
        doubtful = near_ties(ours, rows)
        a, b = a[~doubtful], b[~doubtful]
    # In single precision nearly singular systems differ by more.
    close = 20 * CLOSE if "f32" in case.rows + case.again or case.name == "NuSVC" else CLOSE
    return [] if is_close(a, b, close) else [f"{name}: {dense(a).ravel()[:4]}, Mercer {dense(b).ravel()[:4]}"]


def near_ties(machine, rows):
    pairs = copy.copy(machine)
    if hasattr(machine, "decision_function_shape"):
        pairs.decision_function_shape = "ovo"
    found = np.atleast_2d(pairs.decision_function(rows).T).T
    if not hasattr(machine, "decision_function_shape") and found.shape[1] > 1:
        first = np.sort(found, axis=1)
        return first[:, -1] - first[:, -2] < CLOSE
    return (np.abs(found) <= max(TIE, CLOSE * np.abs(found).max(initial=0.0) / 10)).any(axis=1)


@pytest.mark.parametrize("start", range(0, COUNT, AT_ONCE))
def test_calls_have_the_same_outcome(start, capfd):
    found = []
    for seed in range(start, min(COUNT, start + AT_ONCE)):
        case = cases.Case(seed)
        found += [f"{case}\n    {words}" for words in differences(case)]
    capfd.readouterr()
    assert not found, "\n".join(found)


def test_cases_are_not_all_errors():
    drawn = [cases.Case(seed) for seed in range(100)]
    assert {case.name for case in drawn} == set(cases.NAMES)
    fitted = sum(attempt(lambda: cases.both(case.name)[1](**case.settings).fit(case.X, case.y))[1] is None for case in drawn)  # noqa: B023
    assert 30 < fitted < 100


@pytest.mark.parametrize("name", cases.NAMES)
def test_sparse_rows_of_any_order_are_the_same_rows(name):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((30, 4)) < 0.5, 0.0, rng.normal(size=(30, 4)))
    y = (np.arange(30) % 2).astype(int) if name in cases.CLASSIFIERS else X[:, 0]
    kind = cases.both(name)[1]
    want = kind(**cases.PLAIN[name]).fit(sp.csr_array(X), y)
    ask = "predict" if hasattr(want, "predict") else "transform"
    for make in (cases.doubled, cases.long_indices):
        got = kind(**cases.PLAIN[name]).fit(make(X), y)
        assert np.abs(getattr(got, ask)(make(X)) - getattr(want, ask)(X if ask == "transform" else sp.csr_array(X))).max() < 1e-6
