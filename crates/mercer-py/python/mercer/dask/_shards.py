"""The rows of a fit on the workers: partitions become shards, and a pass over all rows is a task per shard and a tree of sums."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import scipy.sparse as sp
from dask import delayed

from .. import _mercer
from .._data import check_labels, rows_of
from . import _cluster, _parts
from ._cluster import LOST, RETRIES, aligned, arriving, key, lost, result_of, results_of, spread, wait_for_workers

#: More partitions than this are joined to so many shards, or to one per worker where there are more workers: a shard is a task in
#: every pass.
SHARDS = 16
#: Sums that one task adds up.
FAN = 8


class Shard:
    """Rows of some partitions on their worker, with the compiled shard made of them."""

    def __init__(self, parts, centres, task):
        X = [part.X for part in parts]
        X = X[0] if len(X) == 1 else sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.concatenate(X)
        targets = np.concatenate([_coded(part.y, task["classes"], len_of(part.X)) for part in parts])
        weight = None
        if any(part.weight is not None for part in parts):
            weight = np.concatenate([np.ones(len_of(p.X)) if p.weight is None else p.weight for p in parts])
        self.__setstate__((rows_of(X), targets, weight, centres, task))
        self.compiled()

    def compiled(self):
        """The compiled shard; made here, because only a task may take its time and knows its worker."""
        with self._lock:
            if self._made is None:
                rows, targets, weight = aligned(self._given)
                limit = _cluster.memory_here()
                # Half of a worker's memory, shared by its shards: rows, Python and Dask need the rest.
                memory = None if limit is None else int(limit / 2 / self.task["sharing"])
                threads = max(1, min(self.task["threads"], _cluster.threads_here()))
                what = (self.task["learner"], self.task["params"], self.centres)
                self._made = _mercer.Shard(*what, rows, targets, weight, threads=threads, memory=memory)
                # It owns a copy.
                self._given = None
            return self._made

    def __sizeof__(self):
        return 100 + (self._made.bytes if self._made is not None else _bytes(self._given[0]))

    def __getstate__(self):
        given = self._given if self._made is None else self._made.parts()
        return (*given, self.centres, self.task)

    def __setstate__(self, state):
        # Also runs where no task does: while a shard is moved to another worker, or read from its disk.
        *given, self.centres, self.task = state
        self._given, self._made, self._lock = given, None, threading.Lock()


def _bytes(rows):
    return sum(part.nbytes for part in rows[:3]) if isinstance(rows, tuple) else rows.nbytes


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
    return shard.compiled().sums(aligned(at), aligned(along))


def _add(*sums):
    # In the order of the shards, whoever was first.
    return tuple(sum(part[1:], part[0]) for part in zip(*sums, strict=True))


class Shards:
    """All shards of a fit, as the compiled solver sees them: a callable that answers one pass at a time."""

    def __init__(self, client, futures, homes, build, trace):
        self.client, self.shards, self.homes, self.build, self.trace = client, futures, homes, build, trace
        self.at = (None, None)
        self.passes = 0
        #: What the fit releases at its end, however it ends.
        self.futures = []

    def __call__(self, at, along):
        """The sums of a pass. `at` and `along` are functions, `(number, coef, offset)`, or None."""
        for attempt in range(RETRIES + 1):
            used = []
            try:
                future = self._sent(at, along, used)
                found = aligned(result_of(self.client, future))
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

    def _sent(self, at, along, used):
        point = None
        if at is not None:
            if self.at[0] != at[0]:
                # Outputs at a point are kept by the shards: it travels once, and again to whoever comes later.
                self.at = (at[0], spread(self.client, at, at[1].nbytes))
                self.futures.append(self.at[1])
            point = self.at[1]
        line = None if along is None else spread(self.client, along, along[1].nbytes)
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
        """Make shards again that cannot be had any more."""
        wait_for_workers(self.client)
        for number, shard in enumerate(self.shards):
            if shard.status in ("lost", "cancelled", "error"):
                self.shards[number] = self.build(number)


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
        done = 0
        for future in arriving(self.client, futures):
            done += future is not None
            if future is not None and self.hear is not None and self.hear(phase, done, len(futures), None, None):
                raise RuntimeError("stopped before there was a result")
        try:
            return results_of(self.client, futures)
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
        groups = joined(self.sizes, max(SHARDS, len(self.workers)))
        count = len(groups)
        task = {
            "learner": learner,
            "params": params,
            "classes": self.classes,
            "threads": max(1, threads // count),
            "sharing": -(-count // len(self.workers)),
        }
        size = len(centres.to_bytes())
        shared = [spread(self.client, centres, size)]
        self.futures.extend(shared)
        homes = [self.homes[group[0]] for group in groups]

        def build(number):
            if shared[0].status in ("lost", "cancelled", "error"):
                shared[0] = spread(self.client, centres, size)
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
        traces = self._heard("shards", told, "a shard of the rows")
        made = Shards(self.client, shards, homes, build, sum(traces))
        made.futures = self.futures
        return made


def _ready(shard):
    return shard.compiled().trace


def homes(count, workers):
    """A worker for each of `count` partitions: neighbours together, in proportion to the workers' threads."""
    seats = list(itertools.chain.from_iterable([address] * about["threads"] for address, about in workers.items()))
    return [seats[i * len(seats) // count] for i in range(count)] if count else []


def joined(sizes, most):
    """Partitions with rows, neighbours joined where there are more than `most`."""
    there = [i for i, rows in enumerate(sizes) if rows]
    count = min(len(there), max(1, most))
    cuts = [len(there) * i // count for i in range(count + 1)]
    return [there[a:b] for a, b in zip(cuts, cuts[1:])]
