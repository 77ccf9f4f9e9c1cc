"""Mercer on clusters of 1, 2, 4, .. workers: a learner for large data on shifted digits, and a search for C and gamma.

Beside them stand independent processes that only multiply matrices, which is what this machine gives to so many workers, and
scikit-learn's search on the same cluster. One JSON object per line.
"""

import argparse
import gzip
import json
import multiprocessing
import os
import time
from pathlib import Path

import numpy as np


def tell(**what):
    print(json.dumps(what), flush=True)


def digits(folder):
    """Images as floats from 0 to 1, and their classes."""
    with gzip.open(Path(folder) / "train-images-idx3-ubyte.gz") as file:
        x = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28)
    with gzip.open(Path(folder) / "train-labels-idx1-ubyte.gz") as file:
        return x, np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)


def shifted(folder, first, last):
    """Rows first..last of the digits and their eight neighbours: every image moved by a pixel in each direction."""
    x, y = digits(folder)
    rows = np.arange(first, last)
    down, right = divmod(rows // len(x), 3)
    rows %= len(x)
    out = np.zeros((len(rows), 30, 30), np.float32)
    for place in range(9):
        mine = (down == place // 3) & (right == place % 3)
        out[mine, place // 3 : place // 3 + 28, place % 3 : place % 3 + 28] = x[rows[mine]]
    return np.ascontiguousarray(out[:, 1:29, 1:29].reshape(len(rows), 784) / np.float32(255)), y[rows]


def multiply(seconds, queue, start):
    a = np.random.default_rng(0).random((1536, 1536), np.float32)
    a @ a
    start.wait()
    done, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        a @ a
        done += 1
    queue.put(done * 2 * 1536**3 / (time.perf_counter() - begun) / 1e9)


def products(workers, threads, seconds=2.0):
    """GFLOP/s of so many processes of so many threads, together."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(threads)
    context = multiprocessing.get_context("spawn")
    queue, start = context.Queue(), context.Barrier(workers)
    all_of_them = [context.Process(target=multiply, args=(seconds, queue, start)) for _ in range(workers)]
    [process.start() for process in all_of_them]
    rates = [queue.get() for _ in all_of_them]
    [process.join() for process in all_of_them]
    return sum(rates)


def sent(client):
    """Bytes that workers have sent to each other and to the client, and those the scheduler got from them."""
    told = client.run(lambda dask_worker: int(getattr(dask_worker, "transfer_outgoing_bytes_total", 0)))
    return sum(told.values())


def large(client, args, workers):
    import dask.array as da
    from dask import delayed

    import mercer.dask

    pieces = 2 * args.threads * max(args.workers)
    ends = [args.rows * i // pieces for i in range(pieces + 1)]
    parts = [delayed(shifted, nout=2)(args.data, a, b) for a, b in zip(ends, ends[1:])]
    shape = [(b - a, 784) for a, b in zip(ends, ends[1:])]
    X = da.concatenate([da.from_delayed(p[0], s, np.float32) for p, s in zip(parts, shape)])
    y = da.concatenate([da.from_delayed(p[1], s[:1], np.int64) for p, s in zip(parts, shape)])
    X, y = client.persist([X, y])
    from distributed import wait

    wait([X, y])
    before = sent(client)
    fit = mercer.dask.LargeClassifier(
        client=client, n_centres=args.centres, gamma=0.02, alpha=args.alpha, tol=args.tol, n_jobs=args.client_threads
    )
    seconds = []
    for _ in range(args.repeats):
        begun = time.perf_counter()
        fit.fit(X, y)
        seconds.append(time.perf_counter() - begun)
    per_pass = 8 * args.centres * 10
    tell(
        case="large",
        workers=workers,
        seconds=min(seconds),
        passes=fit.n_passes_,
        shards=fit.n_shards_,
        worker_bytes=(sent(client) - before) / args.repeats,
        model_bytes=fit.n_passes_ * per_pass * (workers + fit.n_shards_),
        rows=args.rows,
        centres=args.centres,
    )
    return fit


def search(client, args, workers):
    import mercer.dask

    x, y = digits(args.data)
    X = (x[: args.search_rows].reshape(-1, 784) / 255).astype(np.float32)
    y = y[: args.search_rows]
    grid = {"c": np.logspace(-1, 3, 10), "gamma": np.logspace(-3, -0.5, 10)}
    seconds = []
    for _ in range(args.repeats):
        begun = time.perf_counter()
        found = mercer.dask.tune(client, X, y, grid=grid, scale="none", refit=False)
        seconds.append(time.perf_counter() - begun)
    tell(case="search", workers=workers, seconds=min(seconds), error=found.best_score_, best=found.best_params_)
    if not args.peer or workers != max(args.workers):
        return
    import joblib
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    values = {"C": grid["c"].tolist(), "gamma": grid["gamma"].tolist()}
    if args.peer_points < 100:
        # The same corners, thinned: seconds are per point.
        step = max(1, round((100 / args.peer_points) ** 0.5))
        values = {name: list(v)[step // 2 :: step] for name, v in values.items()}
    points = len(values["C"]) * len(values["gamma"])
    begun = time.perf_counter()
    with joblib.parallel_backend("dask", client=client):
        theirs = GridSearchCV(SVC(), values, cv=5, refit=False).fit(X, y)
    taken = time.perf_counter() - begun
    tell(
        case="search by scikit-learn", workers=workers, seconds=taken * 100 / points, measured=taken, points=points,
        error=1 - theirs.best_score_,
    )


def main():
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--data", required=True)
    given.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    given.add_argument("--threads", type=int, default=2)
    given.add_argument("--client-threads", type=int, default=None)
    given.add_argument("--rows", type=int, default=540_000)
    given.add_argument("--centres", type=int, default=2000)
    given.add_argument("--alpha", type=float, default=1e-3)
    given.add_argument("--tol", type=float, default=1e-3)
    given.add_argument("--search-rows", type=int, default=4000)
    given.add_argument("--repeats", type=int, default=2)
    given.add_argument("--memory", default="auto")
    given.add_argument("--peer", action="store_true")
    given.add_argument("--peer-points", type=int, default=100)
    args = given.parse_args()
    from distributed import Client, LocalCluster

    for workers in args.workers:
        tell(case="products", workers=workers, gflops=products(workers, args.threads))
        with (
            LocalCluster(
                n_workers=workers,
                threads_per_worker=args.threads,
                processes=True,
                dashboard_address=None,
                memory_limit=args.memory,
            ) as cluster,
            Client(cluster) as client,
        ):
            if args.rows:
                large(client, args, workers)
            if args.search_rows:
                search(client, args, workers)


if __name__ == "__main__":
    main()
