"""Rows as partitions on workers: from arrays, frames, delayed parts, or memory."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from dask import delayed
from dask.delayed import Delayed
from distributed import Future
from sklearn.utils import check_array

from .._base import FLOATS
from .._frames import column_names, is_table

#: What a partition may take of a worker's memory: it is held twice while it is made, and kernel values need room.
SHARE = 0.4


class Part:
    """The rows of a partition on its worker: checked, rows of weight 0 left out."""

    def __init__(self, X, y, weight):
        self.X, self.y, self.weight = X, y, weight

    def __sizeof__(self):
        return sum(_bytes(v) for v in (self.X, self.y, self.weight)) + 100


def _bytes(values):
    if values is None:
        return 0
    if sp.issparse(values):
        return values.data.nbytes + values.indices.nbytes + values.indptr.nbytes
    return values.nbytes


def is_lazy(X):
    """Whether X is a collection of Dask or a list of delayed parts."""
    if isinstance(X, (Delayed, Future)):
        return True
    if isinstance(X, (list, tuple)):
        return bool(X) and all(isinstance(part, (Delayed, Future)) for part in X)
    return hasattr(X, "__dask_graph__")


def names_of(X):
    """The names of the columns of a frame, as estimators keep them; None for anything else."""
    names = column_names(X)
    if not names and hasattr(X, "columns") and hasattr(X, "to_delayed"):
        names = list(X.columns)
    return np.array(names, dtype=object) if names and all(isinstance(name, str) for name in names) else None


def parts_of(X, y, sample_weight, workers):
    """`(x, y, weight)` of each partition, lazily. Arrays in memory are cut into one per thread of the cluster."""
    columns = {"X": X, "y": y, "sample_weight": sample_weight}
    given = {name: values for name, values in columns.items() if values is not None}
    if not is_lazy(X):
        threads = sum(about["threads"] for about in workers.values())
        return _cut(given, threads)
    lists = {name: _blocks(name, values) for name, values in given.items()}
    counts = {name: len(blocks) for name, blocks in lists.items()}
    if len(set(counts.values())) > 1:
        lists = _aligned(given)
        counts = {name: len(blocks) for name, blocks in lists.items()}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise ValueError(f"partitions: {told}; expected the same number, with the same rows in each")
    _fits(X, workers)
    none = [None] * counts["X"]
    return list(zip(lists["X"], lists.get("y", none), lists.get("sample_weight", none), strict=True))


def _cut(given, pieces):
    for name, values in given.items():
        if is_lazy(values):
            raise ValueError(f"{name} is lazy and X is not: pass both as collections of Dask, or both in memory")
    X = given["X"]
    if not sp.issparse(X) and column_names(X) is None:
        X = np.asarray(X)
    n = X.shape[0]
    pieces = max(1, min(pieces, n))
    ends = [n * i // pieces for i in range(pieces + 1)]

    def some(values, start, end):
        if values is None:
            return None
        return values.iloc[start:end] if hasattr(values, "iloc") else np.asarray(values)[start:end]

    found = []
    for start, end in zip(ends, ends[1:]):
        rows = X[start:end] if sp.issparse(X) or not hasattr(X, "iloc") else X.iloc[start:end]
        rest = (some(given.get(name), start, end) for name in ("y", "sample_weight"))
        found.append(tuple(None if part is None else delayed(part, pure=False) for part in (rows, *rest)))
    return found


def _blocks(name, values):
    """The blocks of a collection, as delayed parts."""
    if isinstance(values, (Delayed, Future)):
        return [values]
    if isinstance(values, (list, tuple)):
        return list(values)
    if not hasattr(values, "to_delayed"):
        raise ValueError(
            f"{name}: got {type(values).__name__}, expected an array or a frame of Dask, or a list of delayed parts"
        )
    if hasattr(values, "rechunk") and values.ndim == 2 and len(values.chunks[1]) > 1:
        values = values.rechunk({1: -1})
    # Graphs of frames are optimised as a whole, so that a column is not read twice.
    return list(np.asarray(values.to_delayed(), dtype=object).ravel())


def _aligned(given):
    """Arrays whose rows are cut in the same places as those of X, where that is known."""
    chunks = getattr(given["X"], "chunks", None)
    lists = {}
    for name, values in given.items():
        if chunks is not None and hasattr(values, "rechunk") and not any(np.isnan(chunks[0])):
            values = values.rechunk({0: chunks[0]})
        lists[name] = _blocks(name, values)
    return lists


def _fits(X, workers):
    """Fail where a partition is larger than a worker's memory: the worker would be killed, again and again."""
    chunks, dtype = getattr(X, "chunks", None), getattr(X, "dtype", None)
    limits = [about["memory"] for about in workers.values() if about["memory"]]
    if chunks is None or dtype is None or not limits or len(limits) < len(workers):
        return
    rows = np.nanmax(np.asarray(chunks[0], dtype=float)) if len(chunks[0]) else 0
    line = float(np.nansum(np.asarray(chunks[1], dtype=float))) * max(np.dtype(dtype).itemsize, 4)
    if not rows * line > SHARE * max(limits):
        return
    most = max(1, int(SHARE * max(limits) / max(line, 1)))
    raise ValueError(
        f"a partition of X has {rows:.0f} rows and takes {rows * line / 2**20:.0f} MiB, the largest worker has "
        f"{max(limits) / 2**20:.0f} MiB: use partitions of at most {most} rows, X.rechunk(({most}, -1))"
    )


def checked(number, x, y, weight, targets):
    """A partition's rows on its worker. `targets`: 'classes', 'numbers' or None for none."""
    try:
        return _checked(x, y, weight, targets)
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"partition {number}: {error}") from error


def _checked(x, y, weight, kind):
    if is_table(x):
        texts = [str(name) for name in column_names(x) if np.asarray(x[name]).dtype.kind not in "biuf"]
        raise ValueError(
            f"columns {', '.join(texts[:5])} are not numbers: encode them first, for example by a "
            "mercer.TableEncoder that was fitted on some rows"
        )
    if x is None or getattr(x, "ndim", 2) != 2:
        raise ValueError(f"got {type(x).__name__}, expected rows of 2 dimensions")
    X = check_array(x, accept_sparse="csr", dtype=FLOATS, order="C", ensure_min_samples=0, ensure_min_features=1)
    n = X.shape[0]
    if kind is None:
        return Part(X, None, None)
    if y is None:
        raise ValueError("y: got None, expected one value per row")
    y = np.asarray(y).reshape(-1)
    if len(y) != n:
        raise ValueError(f"y: got {len(y)} values, expected {n}")
    if kind == "numbers":
        y = np.ascontiguousarray(y, dtype=np.float64)
        if not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity.")
    if weight is None:
        return Part(X, y, None)
    weight = np.ascontiguousarray(np.asarray(weight).reshape(-1), dtype=np.float64)
    if len(weight) != n:
        raise ValueError(f"sample_weight: got {len(weight)} values, expected {n}")
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError("sample_weight: got a value that is negative or not finite")
    used = weight > 0
    if used.all():
        return Part(X, y, weight)
    return Part(X[used], y[used], weight[used])


def facts(part, kind, spread):
    """What the client must know of a partition: rows, columns, weight, classes, and the variance of its values."""
    n, d = part.X.shape
    about = {"rows": n, "columns": d, "single": part.X.dtype == np.float32, "sparse": sp.issparse(part.X)}
    about["weight"] = float(n if part.weight is None else part.weight.sum())
    if kind == "classes":
        about["classes"] = np.unique(part.y)
    if spread and n:
        if about["sparse"]:
            mean = float(part.X.sum()) / (n * d)
            square = float(part.X.multiply(part.X).sum()) / (n * d) - mean**2
        else:
            mean, square = float(part.X.mean(dtype=np.float64)), float(part.X.var(dtype=np.float64))
        about["spread"] = (n * d, mean, square)
    return about


class Spread:
    """The variance of all values, in the place of the rows that `gamma='scale'` looks at."""

    def __init__(self, columns, known):
        count, mean, square = 0, 0.0, 0.0
        # Chan, Golub and LeVeque 1983, in the order of the partitions.
        for n, m, s in known:
            total = count + n
            square = (count * square + n * s) / total + (m - mean) ** 2 * count * n / total**2
            mean, count = mean + (m - mean) * n / total, total
        self.shape, self._variance = (count // max(columns, 1), columns), square

    def var(self, dtype=None):
        """The variance."""
        return np.float64(self._variance)


def gathered(part, places):
    """Some rows of a partition."""
    return part.X[places], None if part.y is None else part.y[places]
