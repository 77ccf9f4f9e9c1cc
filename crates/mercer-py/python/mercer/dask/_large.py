"""The learners for large data over shards: workers keep their rows, the client solves for the coefficients.

The solver, the preconditioner and the choice of centres are the library's own, on the client.
"""

from __future__ import annotations

import json

import numpy as np

from .. import _mercer, learners
from .._data import names_of, rows_of, threads_of, type_of, watcher
from ..convert import wrap
from ..kernels import Kernel, line_of
from ..svm import _seed
from . import _lazy, _parts
from ._cluster import check_versions, client_of, freed
from ._shards import Rows

__all__ = ["LargeClassifier", "LargeHingeClassifier", "LargeKernelPCA", "LargeLogisticClassifier", "LargeRegressor"]

#: Bytes of rows that the client chooses centres from, about.
SAMPLE = 256 << 20


class Large:
    """What the estimators over shards have in common. Parameters are those of the estimator of the same name in :mod:`mercer`."""

    _local: type
    _kind: str

    def __init__(self, *, client=None, **params):
        self.client = client
        self._params = self._local(**params).get_params()

    def get_params(self, deep=True):
        """Parameters by name."""
        return {"client": self.client, **self._params}

    def set_params(self, **params):
        """Set parameters by name."""
        if "client" in params:
            self.client = params.pop("client")
        self._params = self._local(**{**self._params, **params}).get_params()
        return self

    def __repr__(self):
        return f"mercer.dask.{self._local(**self._params)!r}"

    def __getattr__(self, name):
        # Fitted attributes are those of the ordinary estimator.
        if name.startswith("_") or "local_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self.local_, name)

    def __getstate__(self):
        return {**self.__dict__, "client": None}

    def to_local(self):
        """The fitted estimator as the ordinary one, that needs no cluster."""
        if "local_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} is not fitted yet")
        return self.local_

    def save(self, path):
        """Save the model to a file that the command ``mercer`` also reads."""
        self.to_local().save(path)

    def predict(self, X):
        """Predictions: lazy for collections of Dask, an array for rows in memory."""
        return _lazy.predict(self.to_local(), X)

    def fit(self, X, y, sample_weight=None):
        """Fit on the rows of all workers.

        Parameters
        ----------
        X : dask array, dask frame, list of delayed parts, or rows in memory
        y : the same, cut in the same places
            Classes or numbers.
        sample_weight : the same, default=None

        Returns
        -------
        self
        """
        client = client_of(self.client)
        check_versions(client)
        local = self._local(**self._params)
        hear, done = watcher(local.verbose, local.callback)
        futures = []
        try:
            with freed(client, futures):
                self.local_ = self._fitted(client, local, (X, y, sample_weight), futures, hear)
        finally:
            done()
        return self

    def _fitted(self, client, local, given, futures, hear):
        names = _parts.names_of(given[0])
        rows = Rows(client, self._kind, given, local, futures, hear)
        local.n_features_in_ = rows.columns
        if names is not None:
            local.feature_names_in_ = names
        if rows.classes is not None:
            local.classes_ = rows.classes
        params = local._params()
        threads = threads_of(local.n_jobs)
        centres, shards = _shared(local, rows, threads)
        model = _mercer.fit_large(
            local._learner,
            params,
            centres,
            rows.count,
            rows.weight,
            shards,
            threads=threads,
            columns=None if names is None else [str(name) for name in names],
            labels=None if rows.classes is None else type_of(rows.classes),
            callback=hear,
        )
        local.model_ = model
        self.n_shards_, self.n_passes_ = len(shards.shards), shards.passes
        local._depth = 6
        local._told()
        return local


def _shared(local, rows, threads):
    """The centres of a fit, and its shards."""
    params = local._params()
    line = _line(local, rows.spread)
    some, targets = rows.gather(_drawn(rows, local))
    if rows.classes is not None:
        targets = (names_of(rows.classes), targets.astype(np.uint32))
    centres = _mercer.large_centres(
        local._learner, params, line, rows_of(some), targets, rows.count, threads=threads
    )
    return centres, rows.shards(centres, local._learner, params)


def _drawn(rows, local):
    """Numbers of the rows that centres are chosen from: ten times as many as centres, while the client has room for them."""
    count = min(rows.count, int(local.n_centres))
    room = SAMPLE // max(8 * rows.columns, 1)
    drawn = np.random.default_rng(_seed(local.random_state)).choice(
        rows.count, size=min(rows.count, max(count, min(10 * count, room))), replace=False
    )
    return np.sort(drawn)


def _line(local, spread):
    if callable(local.kernel) and not isinstance(local.kernel, Kernel) or local.kernel == "precomputed":
        raise ValueError("kernel: a precomputed or Python kernel is not supported on a cluster: use a name, line or Kernel")
    return line_of(local.kernel, spread, local.gamma, local.degree, local.coef0)


class Classifier(Large):
    """What the classifiers have in common."""

    _kind = "classes"

    def decision_function(self, X):
        """Outputs: lazy for collections of Dask, an array for rows in memory."""
        return _lazy.decision_function(self.to_local(), X)


class LargeRegressor(Large):
    """:class:`mercer.LargeRegressor` trained on the rows of all workers.

    Parameters
    ----------
    client : distributed.Client, default=None
        None: the current one.
    **params
        Those of :class:`mercer.LargeRegressor`.

    Attributes
    ----------
    local_ : mercer.LargeRegressor
        The fitted estimator, which needs no cluster; its attributes are available here too.
    n_shards_ : int
        Number of shards of rows.
    n_passes_ : int
        Number of passes over the rows.

    See Also
    --------
    mercer.LargeRegressor : The same on one machine.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from mercer.dask import LargeRegressor
    >>> x = np.linspace(0, 3, 200)[:, None]
    >>> X, y = da.from_array(x, chunks=(50, 1)), da.from_array(np.sin(x[:, 0]), chunks=50)
    >>> with Client(processes=False, dashboard_address=None):
    ...     machine = LargeRegressor(n_centres=30).fit(X, y).to_local()
    >>> machine.score(x, y.compute()) > 0.9
    True
    """

    _local, _kind = learners.LargeRegressor, "numbers"


class LargeClassifier(Classifier):
    """:class:`mercer.LargeClassifier` trained on the rows of all workers.

    Parameters
    ----------
    client : distributed.Client, default=None
        None: the current one.
    **params
        Those of :class:`mercer.LargeClassifier`.

    Attributes
    ----------
    local_ : mercer.LargeClassifier
        The fitted estimator, which needs no cluster; its attributes are available here too.
    n_shards_ : int
        Number of shards of rows.
    n_passes_ : int
        Number of passes over the rows.

    See Also
    --------
    mercer.LargeClassifier : The same on one machine.
    LargeLogisticClassifier : With probabilities.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from mercer.dask import LargeClassifier
    >>> x = np.linspace(0, 3, 200)[:, None]
    >>> X, y = da.from_array(x, chunks=(50, 1)), da.from_array(x[:, 0] > 1, chunks=50)
    >>> with Client(processes=False, dashboard_address=None):
    ...     machine = LargeClassifier(n_centres=30).fit(X, y).to_local()
    >>> machine.score(x, y.compute()) > 0.9
    True
    """

    _local = learners.LargeClassifier


class LargeHingeClassifier(Classifier):
    """:class:`mercer.LargeHingeClassifier` trained on the rows of all workers.

    Parameters
    ----------
    client : distributed.Client, default=None
        None: the current one.
    **params
        Those of :class:`mercer.LargeHingeClassifier`.

    Attributes
    ----------
    local_ : mercer.LargeHingeClassifier
        The fitted estimator, which needs no cluster; its attributes are available here too.
    n_shards_ : int
        Number of shards of rows.
    n_passes_ : int
        Number of passes over the rows.

    See Also
    --------
    mercer.LargeHingeClassifier : The same on one machine.
    LargeLogisticClassifier : With probabilities.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from mercer.dask import LargeHingeClassifier
    >>> x = np.linspace(0, 3, 200)[:, None]
    >>> X, y = da.from_array(x, chunks=(50, 1)), da.from_array(x[:, 0] > 1, chunks=50)
    >>> with Client(processes=False, dashboard_address=None):
    ...     machine = LargeHingeClassifier(n_centres=30).fit(X, y).to_local()
    >>> machine.score(x, y.compute()) > 0.9
    True
    """

    _local = learners.LargeHingeClassifier


class LargeLogisticClassifier(Classifier):
    """:class:`mercer.LargeLogisticClassifier` trained on the rows of all workers.

    Parameters
    ----------
    client : distributed.Client, default=None
        None: the current one.
    **params
        Those of :class:`mercer.LargeLogisticClassifier`.

    Attributes
    ----------
    local_ : mercer.LargeLogisticClassifier
        The fitted estimator, which needs no cluster; its attributes are available here too.
    n_shards_ : int
        Number of shards of rows.
    n_passes_ : int
        Number of passes over the rows.

    See Also
    --------
    mercer.LargeLogisticClassifier : The same on one machine.
    LargeHingeClassifier : Squared hinge loss.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from mercer.dask import LargeLogisticClassifier
    >>> x = np.linspace(0, 3, 200)[:, None]
    >>> X, y = da.from_array(x, chunks=(50, 1)), da.from_array(x[:, 0] > 1, chunks=50)
    >>> with Client(processes=False, dashboard_address=None):
    ...     machine = LargeLogisticClassifier(n_centres=30).fit(X, y).to_local()
    >>> machine.score(x, y.compute()) > 0.9
    True
    """

    _local = learners.LargeLogisticClassifier

    def predict_proba(self, X):
        """Probabilities of the classes: lazy for collections of Dask, an array for rows in memory."""
        return _lazy.predict_proba(self.to_local(), X)


class LargeKernelPCA:
    """Kernel principal components in the span of centres, of the rows of all workers.

    Parameters
    ----------
    n_components : int, default=None
        None: all.
    n_centres : int, default=1000
        Number of centres.
    place : {'uniform', 'kmeans', 'cholesky'}, default='uniform'
        How centres are chosen.
    kernel, gamma, degree, coef0
        As in :class:`mercer.KernelPCA`.
    centred : bool, default=True
        Whether the rows are centred in feature space.
    whiten : bool, default=False
        Whether features have variance 1.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, default=None
        Threads of the client.
    verbose : bool, default=False
    callback : callable, default=None
        Called with a :class:`mercer.Progress`.
    client : distributed.Client, default=None
        None: the current one.

    Attributes
    ----------
    local_ : transformer
        The fitted components, which need no cluster; their attributes are available here too.
    n_shards_ : int
        Number of shards of rows.
    n_passes_ : int
        Number of passes over the rows.

    See Also
    --------
    mercer.KernelPCA : Components on one machine.
    LargeRegressor : Regression on the same centres.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from mercer.dask import LargeKernelPCA
    >>> x = np.random.default_rng(0).normal(size=(200, 2))
    >>> with Client(processes=False, dashboard_address=None):
    ...     components = LargeKernelPCA(2, n_centres=50).fit(da.from_array(x, chunks=(50, 2))).to_local()
    >>> components.transform(x).shape
    (200, 2)
    """

    def __init__(
        self,
        n_components=None,
        *,
        n_centres=1000,
        place="uniform",
        kernel="rbf",
        gamma=None,
        degree=3,
        coef0=1.0,
        centred=True,
        whiten=False,
        random_state=None,
        n_jobs=None,
        verbose=False,
        callback=None,
        client=None,
    ):
        given = {**locals()}
        del given["self"]
        self.__dict__.update(given)

    def fit(self, X, y=None):
        """Compute the components.

        Parameters
        ----------
        X : dask array, dask frame, list of delayed parts, or rows in memory
        y : ignored

        Returns
        -------
        self
        """
        client = client_of(self.client)
        check_versions(client)
        # Values in double precision: small eigenvalues are differences.
        sum_ = learners.LargeRegressor(
            tol=1e-9,
            **{name: getattr(self, name) for name in ("n_centres", "place", "kernel", "degree", "coef0", "random_state")},
            gamma="auto" if self.gamma is None else self.gamma,
        )
        hear, done = watcher(self.verbose, self.callback)
        futures = []
        names = _parts.names_of(X)
        threads = threads_of(self.n_jobs)
        try:
            with freed(client, futures):
                rows = Rows(client, None, (X, None, None), sum_, futures, hear)
                centres, shards = _shared(sum_, rows, threads)
                wanted = None if self.n_components is None else min(int(self.n_components), centres.count)
                params = {
                    "components": wanted,
                    "centred": bool(self.centred),
                    "whiten": bool(self.whiten),
                    "seed": _seed(self.random_state),
                }
                model = _mercer.fit_large_components(
                    json.dumps({name: value for name, value in params.items() if value is not None}),
                    centres,
                    rows.count,
                    shards.trace,
                    shards,
                    threads=threads,
                    columns=None if names is None else [str(name) for name in names],
                    callback=hear,
                )
                self.n_shards_, self.n_passes_ = len(shards.shards), shards.passes
        finally:
            done()
        self.local_ = wrap(model)
        return self

    __getattr__ = Large.__getattr__
    __getstate__ = Large.__getstate__
    to_local = Large.to_local
    save = Large.save

    def transform(self, X):
        """Features: lazy for collections of Dask, an array for rows in memory."""
        return _lazy.transform(self.to_local(), X)

    def fit_transform(self, X, y=None):
        """Find the components and return the features of the same rows, lazily."""
        return self.fit(X).transform(X)
