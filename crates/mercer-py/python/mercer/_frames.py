"""Frames with columns of text, dates and missing values: how estimators take them.

A frame of pandas, polars or another library with columns, or a structured array of numpy, in which not every column is one
of numbers goes through the stage ``table`` of the library, fitted with the estimator and kept in it. Frames of numbers alone
and arrays are checked as scikit-learn checks them.
"""

from __future__ import annotations

import datetime

import numpy as np
from sklearn import get_config
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import check_is_fitted as sklearn_check_is_fitted
from sklearn.utils.validation import validate_data as sklearn_validate_data

from . import _mercer
from ._data import TableRows, array_of
from ._params import check_parameters

# Numbers are standardised behind the table; columns of 0 and 1 stay as they are.
LINE = "table | standard(indicators=keep)"
# How scikit-learn's function is told that there are no rows or no targets to check.
NO_TARGETS = "no_validation"
# Checks that such rows pass.
PLAIN = {"accept_sparse", "dtype", "order"}
# The types that the library computes with, and the word for numbers of any type, which are converted to them.
FLOATS = [np.float64, np.float32]
NUMERIC = "numeric"


def column_names(X):
    """The names of the columns of a frame; None for anything else."""
    if isinstance(X, np.ndarray):
        return list(X.dtype.names) if X.dtype.names else None
    names = getattr(X, "columns", None)
    if names is None or not (hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__") or hasattr(X, "dtypes")):
        return None
    return list(names)


def is_table(X):
    """Whether X is a frame with a column that is not one of numbers. Columns of objects, of text or of categories count as
    numbers where each of their cells is one: scikit-learn takes such frames as they are."""
    names = column_names(X)
    if not names or not all(isinstance(name, str) for name in names):
        return False
    fields = isinstance(X, np.ndarray)
    return any(not _is_numbers(X[name]) and (fields or not _holds_numbers(X[name])) for name in names)


def _is_numbers(column):
    dtype = getattr(column, "dtype", None)
    kind = getattr(dtype, "kind", None)
    if kind is not None:
        return kind in "biuf"
    is_numeric = getattr(dtype, "is_numeric", None)
    if is_numeric is not None:
        return is_numeric() or str(dtype) == "Boolean"
    return np.asarray(column).dtype.kind in "biuf"


def _holds_numbers(column):
    """Whether a column of another type has a number in every cell, as scikit-learn reads it."""
    values = np.asarray(column)
    if values.dtype.kind not in "OUbiuf":
        return False
    try:
        return bool(np.isfinite(values.astype(np.float64)).all())
    except (TypeError, ValueError):
        return False


def cells_of(column):
    """A column for the compiled part: floats with NaN, or texts with None."""
    values = np.asarray(column)
    kind = values.dtype.kind
    if kind in "iuf":
        return np.ascontiguousarray(values, dtype=np.float64)
    if kind == "b":
        return ["true" if value else "false" for value in values]
    if kind == "M":
        texts = np.datetime_as_string(values.astype("datetime64[s]"))
        return [None if text == "NaT" else str(text).replace("T", " ") for text in texts]
    found = [_cell(value) for value in values.tolist()]
    if any(isinstance(cell, str) for cell in found):
        return [None if cell is None else cell if isinstance(cell, str) else _written(cell) for cell in found]
    return np.array([np.nan if cell is None else cell for cell in found], dtype=np.float64)


def _cell(value):
    """None where missing, a number, or text."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, float, np.number)):
        return None if value != value else float(value)
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value)


def _written(number):
    return str(int(number)) if float(number).is_integer() else repr(number)


def table_rows(X, names, kinds=None):
    """The columns of these names as a table."""
    there = column_names(X)
    if there is None:
        raise ValueError(f"X must be a frame with the columns {', '.join(names)}: the estimator was fitted on one")
    missing = [name for name in names if name not in there]
    if missing:
        raise ValueError(
            "The feature names should match those that were passed during fit.\n"
            f"Feature names seen at fit time, yet now missing:\n- {chr(10).join(missing)}"
        )
    return TableRows(names, [cells_of(X[name]) for name in names], kinds or [None] * len(names))


def whole(estimator):
    """The model of an estimator with the table's stages in front, where it was fitted on a table."""
    table = getattr(estimator, "table_", None)
    return estimator.model_ if table is None else estimator.model_.behind(table, list(estimator.feature_names_in_))


def check_is_fitted(estimator):
    """scikit-learn's function, with a short cut for estimators that hold a model: it takes as long as predicting 100 rows."""
    if "model_" not in estimator.__dict__:
        sklearn_check_is_fitted(estimator)


def _is_plain(estimator, X):
    """Whether scikit-learn's checks would return new rows as they are. The checks take longer than predicting some hundred
    rows; rows with any fault go through them and get their messages."""
    known = estimator.__dict__
    if (
        type(X) is not np.ndarray
        or X.ndim != 2
        or X.dtype not in FLOATS
        or not X.dtype.isnative
        or not X.flags.c_contiguous
        or X.shape[0] == 0
        or X.shape[1] != known.get("n_features_in_")
        or "feature_names_in_" in known
    ):
        return False
    with np.errstate(all="ignore"):
        return bool(np.isfinite(X.sum())) or get_config()["assume_finite"]


def validate_data(estimator, X=NO_TARGETS, y=NO_TARGETS, reset=True, skip_check_array=False, **more):
    """scikit-learn's function, that also takes tables and checks parameters before a fit."""
    if reset:
        check_parameters(estimator)
    if isinstance(X, str) or skip_check_array:
        return sklearn_validate_data(estimator, X, y, reset=reset, skip_check_array=skip_check_array, **more)
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a LazyFrame, which holds no rows yet: pass X.collect()")
    if reset:
        estimator.__dict__.pop("table_", None)
        if not is_table(X):
            return _checked(estimator, X, y, reset=reset, **more)
        names = column_names(X)
        rows = table_rows(X, names)
        estimator.table_ = _mercer.Stages(LINE, rows.parts)
        estimator.feature_names_in_ = np.array(names, dtype=object)
        estimator.n_features_in_ = len(names)
    elif "table_" not in estimator.__dict__:
        stages = _own_table(estimator)
        if stages is None and set(more) <= PLAIN and _is_plain(estimator, X):
            return X
        if stages is None:
            return _checked(estimator, X, y, reset=reset, **more)
        return table_rows(X, stages)
    else:
        rows = table_rows(X, list(estimator.feature_names_in_))
    seen = array_of(estimator.table_.apply(rows.parts))
    if isinstance(y, str) and y == NO_TARGETS:
        return check_array(seen, estimator=estimator, **more)
    return check_X_y(seen, y, estimator=estimator, **more)


def _checked(estimator, X, y, **more):
    """scikit-learn's function, with numbers of other types converted."""
    found = sklearn_validate_data(estimator, X, y, **more)
    if more.get("dtype") != NUMERIC:
        return found
    return (_floats(found[0]), found[1]) if isinstance(found, tuple) else _floats(found)


def _floats(X):
    return X if X.dtype in FLOATS and X.dtype.isnative else X.astype(np.float64)


def _own_table(estimator):
    """The columns of the table that the stages inside a model begin with."""
    # Linear machines make a model when asked for one; theirs has no stages.
    model = estimator.__dict__.get("model_")
    if model is None:
        return None
    columns = model.stages().table_columns()
    return None if columns is None else [name for name, *_ in columns]
