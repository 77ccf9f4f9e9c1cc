"""Mercer on a cluster of Dask: searches for settings, learners for large data, predictions partition by partition.

A thin layer on ``dask.distributed``, which brings scheduler, workers and messages: ``pip install 'mercer[dask]'``. Workers keep
their rows; what travels between them and the client are sums of a few numbers per centre. Results are ordinary estimators.
"""

from __future__ import annotations

try:
    import distributed as _distributed  # noqa: F401
except ImportError as error:  # pragma: no cover
    raise ImportError("mercer.dask needs Dask: pip install 'mercer[dask]'") from error

from ._cluster import ClusterError
from ._large import LargeClassifier, LargeHingeClassifier, LargeKernelPCA, LargeLogisticClassifier, LargeRegressor
from ._lazy import compress, decision_function, denoise, predict, predict_proba, transform
from ._search import Search, tune

__all__ = [
    "ClusterError",
    "LargeClassifier",
    "LargeHingeClassifier",
    "LargeKernelPCA",
    "LargeLogisticClassifier",
    "LargeRegressor",
    "Search",
    "compress",
    "decision_function",
    "denoise",
    "predict",
    "predict_proba",
    "transform",
    "tune",
]
