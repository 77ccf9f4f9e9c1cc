"""Inputs and outputs of the compiled part: rows, predictions, threads, progress."""

from __future__ import annotations

import re
from collections import namedtuple

import numpy as np
import scipy.sparse as sp
from sklearn import get_config

from ._threads import threads_of as threads_of

Progress = namedtuple("Progress", ["phase", "done", "total", "gap", "support_vectors"])
Progress.__doc__ = """A step of long work, as `callback` gets it: what is being done, how much of it is done, the gap to the
optimum and the number of support vectors so far (None where not known)."""


class TableRows:
    """A table as the compiled part takes it: names, columns, kinds."""

    def __init__(self, names, columns, kinds):
        self.parts = (names, columns, kinds)
        self.shape = (len(columns[0]) if columns else 0, len(columns))

    def __len__(self):
        return self.shape[0]


def rows_of(X):
    """Rows for the compiled part: contiguous arrays as they are, sparse ones and tables in parts."""
    if isinstance(X, TableRows):
        return X.parts
    if sp.issparse(X):
        X = X.tocsr()
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        values = np.require(X.data, np.float64, ["C", "A"])
        # Column numbers are never negative: the same bytes serve as unsigned ones.
        columns = X.indices.view(np.uint32) if X.indices.dtype == np.int32 else X.indices.astype(np.uint32)
        return (values, np.require(columns, requirements=["C", "A"]), X.indptr.astype(np.uint64), X.shape[1])
    # Arrays that were read from a file or a message may begin anywhere.
    return X if X.flags.carray or X.flags.c_contiguous and X.flags.aligned else np.require(X, requirements=["C", "A"])


def array_of(rows):
    """The inverse of :func:`rows_of`."""
    if isinstance(rows, tuple):
        data, indices, indptr, columns = rows
        shape = (len(indptr) - 1, columns)
        return sp.csr_array((data, indices.astype(np.int64), indptr.astype(np.int64)), shape=shape)
    return rows


def as_configured(rows):
    """Sparse rows as a matrix or an array, whichever scikit-learn is configured to return."""
    if not sp.issparse(rows):
        return rows
    # A setting since 1.9; before, matrices.
    arrays = get_config().get("sparse_interface", "spmatrix") == "sparray"
    return sp.csr_array(rows) if arrays else sp.csr_matrix(rows)


def names_of(classes) -> list[str]:
    """Names of classes as files have them: whole numbers without a point."""
    names = []
    for c in classes:
        if isinstance(c, (float, np.floating)) and float(c).is_integer():
            c = int(c)
        elif isinstance(c, np.generic):
            c = c.item()
        names.append(str(c))
    return names


def type_of(classes) -> str:
    """The type of class labels as files keep it: ``str``, ``object``, ``bool``, or that of the numbers."""
    match classes.dtype.kind:
        case "b" | "i" | "u":
            return classes.dtype.name
        case "f":
            return classes.dtype.name if classes.dtype.itemsize <= 8 else "float64"
        case "O":
            return "object"
        case _:
            return "str"


WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]*)", re.ASCII)
NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)


def classes_from(names, kind=None) -> np.ndarray:
    """Classes from the names in a file, of the type that the file says.

    Files of the command and of other libraries say none: there names are whole numbers or numbers where all of them are
    written as such and no two are the same number. All others are text, so ``01`` stays ``01``.
    """
    if kind is None:
        kind = _guess(names)
    match kind:
        case "str":
            return np.array(names, dtype=str)
        case "object":
            return np.array(names, dtype=object)
        case "bool":
            return np.array([name == "True" for name in names])
        case _:
            number = float if kind.startswith("float") else int
            return np.array([number(name) for name in names], dtype=kind)


def _guess(names) -> str:
    for pattern, number, kind in ((WHOLE, int, "int64"), (NUMBER, float, "float64")):
        if not all(pattern.fullmatch(name) for name in names):
            continue
        values = [number(name) for name in names]
        fits = all(map(np.isfinite, values)) if number is float else all(-(2**63) <= v < 2**63 for v in values)
        return kind if fits and len(set(values)) == len(values) else "str"
    return "str"


def check_labels(y):
    """Refuse text and numbers side by side: numpy makes text of both, and 1 and '1' would be one class."""
    if isinstance(y, (list, tuple)):
        labels = y
    elif getattr(y, "dtype", None) == object:
        labels = np.asarray(y, dtype=object).ravel()
    else:
        return
    kinds = {type(label) for label in labels}
    if any(issubclass(kind, str) for kind in kinds) and not all(issubclass(kind, str) for kind in kinds):
        told = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"y has labels of several types ({told}): all class labels must be of one type")


def watcher(verbose, callback):
    """The callback for the compiled part, and the function to call at the end; the callback is None if nothing is reported."""
    bar = None
    if verbose:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            pass
        else:
            bar = tqdm(unit="step", leave=True)
    if bar is None and callback is None:
        return None, lambda: None

    def hear(phase, done, total, gap, centres):
        if bar is not None:
            bar.total = total
            bar.n = done
            bar.set_description(phase, refresh=False)
            known = {"gap": gap, "sv": centres}
            bar.set_postfix({k: v for k, v in known.items() if v is not None}, refresh=False)
            bar.refresh()
        return callback is not None and callback(Progress(phase, done, total, gap, centres))

    return hear, (bar.close if bar is not None else lambda: None)
