"""The client, its workers, and waiting for them, with a time limit."""

from __future__ import annotations

import contextlib
import time
import uuid

import dask
import numpy as np
from distributed import Client, get_client, get_worker
from distributed.client import FutureCancelledError
from distributed.scheduler import KilledWorker

from .. import _mercer

#: Seconds that a cluster without workers is waited for.
PATIENCE = 20.0
#: How often work that was lost with its worker is begun again.
RETRIES = 3
#: Bytes from which on what all workers need is not sent through the scheduler.
SCATTERED = 64 << 20
#: Seconds between looks at the workers while waiting.
LOOK = 1.0
#: Seconds between looks at what is done.
TICK = 0.01


class ClusterError(RuntimeError):
    """The cluster could not do its part: workers left, or versions differ."""


def client_of(client=None) -> Client:
    """The client given, or the current one."""
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise ValueError("no Dask client: pass client=, or make a distributed.Client first") from None
    if not isinstance(client, Client):
        raise TypeError(f"client: got {type(client).__name__}, expected a distributed.Client")
    if client.asynchronous:
        raise ValueError("client: got an asynchronous one, expected Client(asynchronous=False)")
    return client


def check_versions(client):
    """Fail where a worker has no Mercer, or another version than this process."""

    # A function inside a function travels as code: workers need not have Mercer to run it.
    def version():
        try:
            from mercer import __version__
        except Exception as error:
            return f"no Mercer ({type(error).__name__}: {error})"
        return __version__

    wait_for_workers(client)
    here = _mercer.__version__
    others = {address: found for address, found in client.run(version).items() if found != here}
    if others:
        told = "; ".join(f"{address} has {found}" for address, found in sorted(others.items())[:3])
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        raise ClusterError(
            f"Mercer {here} here, but {told}{more}: install the same version of Mercer on the client and all workers"
        )


def workers_of(client) -> dict[str, dict]:
    """Threads and memory of each worker, by its address at the scheduler."""
    try:
        info = client.scheduler_info(n_workers=-1)
    except TypeError:
        info = client.scheduler_info()
    return {
        address: {"threads": int(about["nthreads"]), "memory": int(about.get("memory_limit") or 0)}
        for address, about in info["workers"].items()
    }


def wait_for_workers(client, patience=PATIENCE):
    """The workers, waited for where there are none; an error where none comes."""
    until = time.monotonic() + patience
    while True:
        workers = workers_of(client)
        if workers:
            return workers
        if time.monotonic() > until:
            raise ClusterError(f"the cluster at {client.scheduler.address} has had no workers for {patience:g} s")
        time.sleep(0.1)


def threads_here() -> int:
    """Threads of the worker that this task runs on."""
    return int(get_worker().state.nthreads)


def memory_here() -> int | None:
    """Memory limit of this worker in bytes; None without a limit."""
    limit = get_worker().memory_manager.memory_limit
    return int(limit) if limit else None


def unwanted_check():
    """A callback that returns True once the running task is released, so that compiled work ends early."""
    worker = get_worker()
    key = worker.get_current_task()

    def unwanted(*_progress):
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    return unwanted


def key(what) -> str:
    """A key for a task: its beginning is its name on the dashboard."""
    return f"mercer-{what}-{uuid.uuid4().hex}"


def _same(values):
    return values


def spread(client, values, bytes_):
    """Something that all workers need, as a future.

    Small things are the result of a task whose argument the scheduler keeps, so that they outlive every worker; large ones go to all
    workers at once, past the scheduler.
    """
    if bytes_ > SCATTERED:
        return client.scatter([values], broadcast=True, hash=False)[0]
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GiB"}):
        return client.submit(_same, values, key=key("values"), retries=RETRIES)


def aligned(values):
    """The same values where every number begins at a multiple of its size: arrays that were received may not."""
    if isinstance(values, np.ndarray):
        return np.require(values, requirements=["C", "A"])
    return type(values)(map(aligned, values)) if isinstance(values, (tuple, list)) else values


class Watchdog:
    """Looks at the cluster now and then while somebody waits: no workers for a while is an error."""

    def __init__(self, client):
        self.client = client
        self.next = time.monotonic() + LOOK

    def look(self):
        if time.monotonic() < self.next:
            return
        if self.client.status != "running":
            raise ClusterError(f"the client of {self.client.scheduler.address} is {self.client.status}")
        wait_for_workers(self.client)
        self.next = time.monotonic() + LOOK


def arriving(client, futures):
    """Futures as they are done, with a result or an error; None now and then while there are none."""
    dog, left = Watchdog(client), list(futures)
    while left:
        done = [future.done() for future in left]
        yield from (future for future, ended in zip(left, done, strict=True) if ended)
        left = [future for future, ended in zip(left, done, strict=True) if not ended]
        if left and not any(done):
            time.sleep(TICK)
            dog.look()
            yield None


def _foreign(error):
    """Whether Dask's client could not wait because its event belongs to another loop, as happens when a worker dies meanwhile."""
    return "different event loop" in str(error)


def result_of(client, future):
    """The result of a future, with an eye on the workers."""
    dog, tries = Watchdog(client), RETRIES
    while True:
        try:
            return future.result(timeout=LOOK)
        except TimeoutError:
            # A task may raise one, too.
            if future.done():
                return future.result()
            dog.look()
        except RuntimeError as error:
            if not _foreign(error) or not tries:
                raise
            tries -= 1
            # A status can be read without an event, and what is done needs no waiting.
            for _ in arriving(client, [future]):
                pass


def results_of(client, futures):
    """The results of futures that are done, in their order."""
    try:
        return client.gather(futures)
    except RuntimeError as error:
        if not _foreign(error):
            raise
        return [result_of(client, future) for future in futures]


#: What a lost worker looks like from here.
LOST = (FutureCancelledError, KilledWorker)


def lost(error, what):
    """What to say of work that was lost again and again."""
    if isinstance(error, KilledWorker):
        limits = "a worker that needs more memory than its limit is killed: use smaller partitions or more memory per worker"
        return ClusterError(f"{what} was lost with its worker {RETRIES} times; {limits}")
    return ClusterError(
        f"{what} was lost with its worker and cannot be computed again: its rows were scattered, not loaded by a task"
    )


@contextlib.contextmanager
def freed(client, futures):
    """Free the workers at the end, however it comes: `futures` is a list that may grow."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):
            client.cancel(list(futures), force=True)
        raise
    finally:
        for future in futures:
            with contextlib.suppress(Exception):
                future.release()
        futures.clear()
