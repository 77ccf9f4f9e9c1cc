"""What goes in and out of the compiled part: rows, answers, threads, progress."""

from __future__ import annotations

import os
from collections import namedtuple

import numpy as np
import scipy.sparse as sp

Progress = namedtuple("Progress", ["phase", "done", "total", "gap", "support_vectors"])
Progress.__doc__ = """A step of long work, as `callback` gets it: what is being done, how much of how much, the gap to the
optimum and the number of support vectors so far (None where nobody knows)."""


def rows_of(X):
    """Rows for the compiled part: contiguous arrays as they are, sparse ones in parts."""
    if sp.issparse(X):
        X = X.tocsr()
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        parts = (X.data.astype(np.float64, copy=False), X.indices.astype(np.uint32), X.indptr.astype(np.uint64))
        return (*parts, X.shape[1])
    return np.ascontiguousarray(X)


def array_of(rows):
    """The inverse of :func:`rows_of`."""
    if isinstance(rows, tuple):
        data, indices, indptr, columns = rows
        shape = (len(indptr) - 1, columns)
        return sp.csr_array((data, indices.astype(np.int64), indptr.astype(np.int64)), shape=shape)
    return rows


def threads_of(n_jobs) -> int:
    """Threads for the compiled part; 0 means as many as the machine has.

    None means all of them, unless ``OMP_NUM_THREADS`` says less, as joblib's workers do.
    """
    if n_jobs is None:
        given = os.environ.get("OMP_NUM_THREADS", "")
        return int(given) if given.isdigit() else 0
    if n_jobs == 0:
        raise ValueError("n_jobs = 0: must be None, -1 or at least 1")
    return max(1, (os.cpu_count() or 1) + 1 + n_jobs) if n_jobs < 0 else int(n_jobs)


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


def classes_from(names) -> np.ndarray:
    """Classes from the names in a file: whole numbers, numbers, or text."""
    for kind in (np.int64, np.float64):
        try:
            return np.array([kind(name) for name in names])
        except ValueError:
            continue
    return np.array(names)


def watcher(verbose, callback):
    """What the compiled part tells its steps to, and what to call at the end; None where nobody listens."""
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
