"""The learners for large data over shards: workers keep their rows, the client solves for the coefficients.

Each pass over all rows is a task per shard and a tree of sums. The solver itself, the preconditioner and the choice of centres are
the library's own, on the client.
"""

from __future__ import annotations

import itertools
import time

import numpy as np
import scipy.sparse as sp
from dask import delayed
from distributed import as_completed

from .. import _mercer, learners
from .._data import check_labels, names_of, rows_of, threads_of, type_of, watcher
from ..kernels import Kernel, line_of
from ..svm import _seed
from . import _cluster, _lazy, _parts
from ._cluster import LOST, RETRIES, Watchdog, check_versions, client_of, freed, key, lost, result_of, wait_for_workers

__all__ = ["LargeClassifier", "LargeHingeClassifier", "LargeLogisticClassifier", "LargeRegressor"]

#: Shards per thread of the cluster, at most: more partitions are joined.
PER_THREAD = 2
#: Sums that one task adds up.
FAN = 8
#: Bytes of rows that the client chooses centres from, about.
SAMPLE = 256 << 20
#: From so many workers on vectors are passed on by a tree instead of being fetched from one worker.
MANY = 16


class Shard:
    """Rows of some partitions on their worker, with the compiled shard made of them."""

    def __init__(self, parts, centres, task):
        X = [part.X for part in parts]
        X = X[0] if len(X) == 1 else sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.concatenate(X)
        targets = np.concatenate([_coded(part.y, task["classes"], len_of(part.X)) for part in parts])
        weight = None
        if any(part.weight is not None for part in parts):
            weight = np.concatenate([np.ones(len_of(p.X)) if p.weight is None else p.weight for p in parts])
        self._make(rows_of(X), targets, weight, centres, task)

    def _make(self, rows, targets, weight, centres, task):
        self.task, self.centres = task, centres
        limit = _cluster.memory_here()
        # Half of a worker's memory, shared by its shards: rows, Python and Dask need the rest.
        memory = None if limit is None else int(limit / 2 / task["beside"])
        threads = max(1, min(task["threads"], _cluster.threads_here()))
        self.compiled = _mercer.Shard(
            task["learner"], task["params"], centres, rows, targets, weight, threads=threads, memory=memory
        )

    def __sizeof__(self):
        return self.compiled.bytes + 100

    def __getstate__(self):
        return (*self.compiled.parts(), self.centres, self.task)

    def __setstate__(self, state):
        self._make(*state)


def len_of(X):
    """Rows of an array or of sparse rows."""
    return X.shape[0]


def _coded(y, classes, n):
    """Numbers of classes, or numbers, as the compiled part takes them."""
    if y is None:
        return np.zeros(n)
    if classes is None:
        return np.ascontiguousarray(y, dtype=np.float64)
    return np.searchsorted(classes, y).astype(np.float64)


def _shard(centres, task, *parts):
    return Shard([part for part in parts if len_of(part.X)] or parts[:1], centres, task)


def _pass(shard, at, along):
    return shard.compiled.sums(at, along)


def _add(*sums):
    # In the order of the shards, whoever was first.
    return tuple(sum(part[1:], part[0]) for part in zip(*sums, strict=True))


class Shards:
    """All shards of a fit, as the compiled solver sees them: a callable that answers one pass at a time."""

    def __init__(self, client, futures, homes, build):
        self.client, self.shards, self.homes, self.build = client, futures, homes, build
        self.at = (None, None)
        self.bytes = 0
        self.passes = 0

    def __call__(self, at, along):
        """The sums of a pass. `at`: None or (number, coef, offset); `along`: None or (coef, offset)."""
        for attempt in range(RETRIES + 1):
            used = []
            try:
                future = self._sent(at, along, used)
                found = result_of(self.client, future)
                self.passes += 1
                return found
            except LOST as error:
                if attempt == RETRIES:
                    raise lost(error, "a shard of the rows") from error
                self.at = (None, None)
                self._rebuilt()
            finally:
                for future in used:
                    future.release()
        raise AssertionError("a loop that returns or raises")

    def _spread(self, values):
        broadcast = len(self.client.nthreads()) >= MANY
        return self.client.scatter(values, broadcast=broadcast, hash=False)

    def _sent(self, at, along, used):
        point = None
        if at is not None:
            if self.at[0] != at[0]:
                # Outputs at a point are kept by the shards: it travels once, and again to whoever comes later.
                self.at = (at[0], self._spread(at))
            point = self.at[1]
        line = None if along is None else self._spread(along)
        if line is not None:
            used.append(line)
        level = []
        for shard, home in zip(self.shards, self.homes, strict=True):
            level.append(
                self.client.submit(
                    _pass, shard, point, line, key=key("pass"), workers=home, allow_other_workers=True, retries=RETRIES
                )
            )
        used.extend(level)
        while len(level) > 1:
            level = [
                self.client.submit(_add, *level[i : i + FAN], key=key("add"), retries=RETRIES)
                for i in range(0, len(level), FAN)
            ]
            used.extend(level)
        return level[0]

    def _rebuilt(self):
        """Makes shards again that cannot be had any more."""
        wait_for_workers(self.client)
        for number, shard in enumerate(self.shards):
            if shard.status in ("lost", "cancelled", "error"):
                self.shards[number] = self.build(number)


class Large:
    """What the estimators over shards do alike. Parameters are those of the estimator of the same name in :mod:`mercer`."""

    _local: type
    _kind: str

    def __init__(self, *, client=None, **params):
        self.client = client
        self._params = self._local(**params).get_params()

    def get_params(self, deep=True):
        """Parameters by name."""
        return {"client": self.client, **self._params}

    def set_params(self, **params):
        """Sets parameters by name."""
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
        """Writes the model to a file that the command ``mercer`` reads too."""
        self.to_local().save(path)

    def predict(self, X):
        """Predictions: lazy for collections of Dask, an array for rows in memory."""
        return _lazy.predict(self.to_local(), X)

    def fit(self, X, y, sample_weight=None):
        """Fits on the rows of all workers.

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
        some, targets = rows.gather(_drawn(rows, local))
        line = _line(local, rows.spread)
        answers = targets if rows.classes is None else (names_of(rows.classes), targets.astype(np.uint32))
        centres = _mercer.large_centres(
            local._learner, params, line, rows_of(some), answers, rows.count, threads=threads
        )
        shards = rows.shards(centres, local._learner, params)
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


class Rows:
    """The partitions of a fit on their workers."""

    def __init__(self, client, kind, given, local, futures, hear):
        self.client, self.kind, self.futures, self.hear = client, kind, futures, hear
        self.workers = wait_for_workers(client)
        X, y, sample_weight = given
        if kind == "classes" and not _parts.is_lazy(y):
            check_labels(y)
        parts = _parts.parts_of(X, y, sample_weight, self.workers)
        self.homes = homes(len(parts), self.workers)
        self.parts = []
        for number, (part, home) in enumerate(zip(parts, self.homes, strict=True)):
            task = delayed(_parts.checked, pure=False)(number, *part, kind, dask_key_name=key("part"))
            self.parts.append(client.compute(task, workers=[home], allow_other_workers=True, retries=RETRIES))
        futures.extend(self.parts)
        told = [client.submit(_parts.facts, part, kind, local.gamma == "scale", key=key("facts")) for part in self.parts]
        futures.extend(told)
        about = self._heard("partitions", told, "a partition")
        self.sizes = [fact["rows"] for fact in about]
        self.count, self.weight = sum(self.sizes), sum(fact["weight"] for fact in about)
        there = [fact for fact in about if fact["rows"]]
        if not there:
            raise ValueError("Found array with 0 sample(s): no partition has a row")
        columns = {fact["columns"] for fact in there}
        if len(columns) > 1:
            raise ValueError(f"partitions have {', '.join(map(str, sorted(columns)))} columns: expected the same number")
        self.columns = columns.pop()
        self.spread = _parts.Spread(self.columns, [fact["spread"] for fact in there if "spread" in fact])
        self.spread.shape = (self.count, self.columns)
        self.classes = None
        if kind == "classes":
            self.classes = np.unique(np.concatenate([fact["classes"] for fact in there]))
            if len(self.classes) < 2:
                raise ValueError(f"The number of classes has to be greater than one; got {len(self.classes)} class")

    def _heard(self, phase, futures, what):
        """Results of tasks, in their order, with progress."""
        dog, done = Watchdog(self.client), 0
        waiting = as_completed(futures, raise_errors=False)
        left = len(futures)
        while left:
            batch = waiting.next_batch(block=False)
            left -= len(batch)
            done += len(batch)
            if not batch:
                time.sleep(0.01)
                dog.look()
            elif self.hear is not None and self.hear(phase, done, len(futures), None, None):
                raise RuntimeError("stopped before there was anything to return")
        try:
            return self.client.gather(futures)
        except LOST as error:
            raise lost(error, what) from error

    def gather(self, drawn):
        """Rows by their numbers among all, in the order given, with their targets."""
        starts = np.cumsum([0, *self.sizes])
        owner = np.searchsorted(starts, drawn, side="right") - 1
        tasks, places = [], []
        for number in np.unique(owner):
            mine = np.flatnonzero(owner == number)
            tasks.append(
                self.client.submit(_parts.gathered, self.parts[number], drawn[mine] - starts[number], key=key("rows"))
            )
            places.append(mine)
        self.futures.extend(tasks)
        found = self._heard("centres", tasks, "a partition")
        order = np.argsort(np.concatenate(places), kind="stable")
        X = [rows for rows, _ in found]
        X = sp.vstack(X, format="csr") if any(map(sp.issparse, X)) else np.concatenate(X)
        if found[0][1] is None:
            return X[order], None
        return X[order], _coded(np.concatenate([y for _, y in found]), self.classes, len(order))[order]

    def shards(self, centres, learner, params):
        """The shards, made and kept by the workers."""
        threads = sum(about["threads"] for about in self.workers.values())
        groups = joined(self.sizes, PER_THREAD * threads)
        count = len(groups)
        task = {
            "learner": learner,
            "params": params,
            "classes": self.classes,
            "threads": max(1, threads // count),
            "beside": -(-count // len(self.workers)),
        }
        shared = [self.client.scatter(centres, broadcast=True, hash=False)]
        self.futures.extend(shared)
        homes = [self.homes[group[0]] for group in groups]

        def build(number):
            if shared[0].status != "finished":
                shared[0] = self.client.scatter(centres, broadcast=True, hash=False)
                self.futures.append(shared[0])
            parts = [self.parts[i] for i in groups[number]]
            where = {"workers": homes[number], "allow_other_workers": True, "retries": RETRIES}
            made = self.client.submit(_shard, shared[0], task, *parts, key=key("shard"), **where)
            self.futures.append(made)
            return made

        shards = [build(number) for number in range(count)]
        # A task that reports each, so that shards stay where they are.
        told = [self.client.submit(_ready, shard, key=key("ready")) for shard in shards]
        self.futures.extend(told)
        self._heard("shards", told, "a shard of the rows")
        return Shards(self.client, shards, homes, build)


def _ready(shard):
    return shard.compiled.rows


def homes(count, workers):
    """A worker for each of so many partitions: neighbours together, in proportion to the workers' threads."""
    seats = list(itertools.chain.from_iterable([address] * about["threads"] for address, about in workers.items()))
    return [seats[i * len(seats) // count] for i in range(count)] if count else []


def joined(sizes, most):
    """Partitions with rows, neighbours joined where there are more than `most`."""
    there = [i for i, rows in enumerate(sizes) if rows]
    count = min(len(there), max(1, most))
    cuts = [len(there) * i // count for i in range(count + 1)]
    return [there[a:b] for a, b in zip(cuts, cuts[1:])]


class Classifier(Large):
    """What the classifiers do alike."""

    _kind = "classes"

    def decision_function(self, X):
        """Outputs: lazy for collections of Dask, an array for rows in memory."""
        return _lazy.decision_function(self.to_local(), X)


class LargeRegressor(Large):
    """:class:`mercer.LargeRegressor` over the rows of all workers."""

    _local, _kind = learners.LargeRegressor, "numbers"


class LargeClassifier(Classifier):
    """:class:`mercer.LargeClassifier` over the rows of all workers."""

    _local = learners.LargeClassifier


class LargeHingeClassifier(Classifier):
    """:class:`mercer.LargeHingeClassifier` over the rows of all workers."""

    _local = learners.LargeHingeClassifier


class LargeLogisticClassifier(Classifier):
    """:class:`mercer.LargeLogisticClassifier` over the rows of all workers."""

    _local = learners.LargeLogisticClassifier

    def predict_proba(self, X):
        """Probabilities of the classes: lazy for collections of Dask, an array for rows in memory."""
        return _lazy.predict_proba(self.to_local(), X)
