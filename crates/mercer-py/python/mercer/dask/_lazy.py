"""What is done with a fitted model, partition by partition: nothing is computed before it is requested.

Every function takes a fitted estimator (of :mod:`mercer` or :mod:`mercer.dask`) and rows. For an array or a frame of Dask the result
is one with the same partitions, for a list of delayed parts a list of such, and for rows in memory the estimator's own.
"""

from __future__ import annotations

import copy

import numpy as np
import scipy.sparse as sp
from dask import delayed

from .. import kpca as _kpca
from .. import reduce as _reduce
from .._data import array_of
from . import _parts
from ._cluster import aligned

__all__ = ["compress", "decision_function", "denoise", "predict", "predict_proba", "transform"]


def predict(estimator, X):
    """Classes or numbers of rows."""
    return _apply(estimator, X, _method("predict"))


def decision_function(estimator, X):
    """Outputs of a model at rows."""
    return _apply(estimator, X, _method("decision_function"))


def predict_proba(estimator, X):
    """Probabilities of the classes."""
    return _apply(estimator, X, _method("predict_proba"))


def transform(estimator, X):
    """Features of rows: kernel principal components, empirical kernel maps."""
    return _apply(estimator, X, _method("transform"))


def denoise(X, estimator, *, n_components=None):
    """Denoise rows: :func:`mercer.denoise` with fitted components.

    Parameters
    ----------
    X : dask array, dask frame, list of delayed parts, or rows in memory
    estimator : fitted KernelPCA
    n_components : int, default=None
        None: all of the estimator's.
    """
    return _apply(estimator, X, _Denoise(n_components))


def compress(estimator, X=None, y=None, *, rows=10_000, random_state=1, **options):
    """The same model with fewer centres, as a delayed estimator: :func:`mercer.compress` on a worker.

    Parameters
    ----------
    estimator : fitted estimator
    X : dask array, dask frame, list of delayed parts, or rows in memory, default=None
        Rows that agreement is measured on, or to refit the coefficients on.
    y : the same, default=None
    rows : int, default=10000
        Number of rows that are drawn from X.
    random_state : int, default=1
    **options
        As in :func:`mercer.compress`: ``vectors``, ``ratio``, ``agreement``, ``error``, ``method``, ..

    Returns
    -------
    dask.delayed.Delayed
        ``compute()`` gives the estimator.
    """
    model = delayed(local(estimator), pure=False, traverse=False)
    if X is None:
        return delayed(_compressed, pure=False)(model, None, None, random_state, options)
    if not _parts.is_lazy(X):
        return delayed(_compressed, pure=False)(model, X, y, random_state, options)
    parts = _parts.parts_of(X, y, None, {})
    some = [delayed(_drawn, pure=False)(x, t, rows, [random_state, i]) for i, (x, t, _) in enumerate(parts)]
    both = delayed(_joined, pure=False)(some, rows)
    return delayed(_compressed, pure=False)(model, both[0], both[1], random_state, options)


def local(estimator):
    """The ordinary estimator behind one of a cluster."""
    return estimator.to_local() if hasattr(estimator, "to_local") else estimator


class _Method:
    """One of an estimator's methods; a class, so that it travels by name."""

    def __init__(self, name):
        self.name = name

    def __call__(self, estimator, rows):
        return getattr(estimator, self.name)(rows)


def _method(name):
    return _Method(name)


class _Denoise:
    name = "denoise"

    def __init__(self, n_components):
        self.n_components = n_components

    def __call__(self, estimator, rows):
        return _kpca.denoise(rows, estimator, n_components=self.n_components, n_jobs=1)


def _apply(estimator, X, what):
    estimator = local(estimator)
    if not _parts.is_lazy(X):
        return what(estimator, X)
    # A worker has as many tasks at once as threads.
    alone = copy.copy(estimator)
    if hasattr(alone, "n_jobs"):
        alone.n_jobs = 1
    model = delayed(alone, pure=False, traverse=False)
    example = _example(alone, what)
    if hasattr(X, "map_partitions"):
        return X.map_partitions(_frame, alone, what, example, meta=_meta(example, X._meta.index[:0]))
    task = delayed(_part, pure=False)
    if isinstance(X, (list, tuple)):
        return [task(part, model, what, example) for part in X]
    if not hasattr(X, "chunks"):
        return task(X, model, what, example)
    import dask.array as da

    blocks = _parts._blocks("X", X)
    shapes = [(rows, *example.shape[1:]) for rows in X.chunks[0]]
    found = [
        da.from_delayed(task(block, model, what, example), shape=shape, dtype=example.dtype)
        for block, shape in zip(blocks, shapes, strict=True)
    ]
    return da.concatenate(found, axis=0, allow_unknown_chunksizes=True)


def _example(estimator, what):
    """The result for no rows: its type and columns, from the result for one row."""
    model = getattr(estimator, "model_", None)
    centres = None if model is None else model.centres
    row = None if centres is None else array_of(centres)[:1]
    if row is None or row.shape[1] != estimator.n_features_in_ or not row.shape[0]:
        row = np.zeros((1, estimator.n_features_in_))
    if sp.issparse(row):
        row = row.toarray()
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        import pandas as pd

        row = pd.DataFrame(row, columns=list(names))
    return np.asarray(what(estimator, row))[:0]


def _part(rows, estimator, what, example):
    return example if rows.shape[0] == 0 else np.asarray(what(estimator, aligned(rows)))


def _meta(example, index):
    import pandas as pd

    if example.ndim == 1:
        return pd.Series(example, index=index)
    return pd.DataFrame(example, index=index, columns=[str(c) for c in range(example.shape[1])])


def _frame(rows, estimator, what, example):
    import pandas as pd

    found = _part(rows, estimator, what, example)
    if found.ndim == 1:
        return pd.Series(found, index=rows.index)
    return pd.DataFrame(found, index=rows.index, columns=[str(c) for c in range(found.shape[1])])


def _drawn(x, y, rows, seed):
    """Some rows of a partition, with the random numbers that choose among those of all partitions."""
    draws = np.random.default_rng(seed).random(x.shape[0])
    order = np.argsort(draws, kind="stable")[:rows]
    take = (lambda v: v.iloc[order]) if hasattr(x, "iloc") else (lambda v: v[order])
    return draws[order], take(x), None if y is None else (np.asarray(y)[order])


def _joined(some, rows):
    draws = np.concatenate([part[0] for part in some])
    order = np.argsort(draws, kind="stable")[:rows]
    X = [part[1] for part in some]
    if hasattr(X[0], "iloc"):
        import pandas as pd

        X = pd.concat(X).iloc[order]
    else:
        X = (sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.concatenate(X))[order]
    return X, None if some[0][2] is None else np.concatenate([part[2] for part in some])[order]


def _compressed(estimator, X, y, random_state, options):
    return _reduce.compress(estimator, X, y, random_state=random_state, **options)
