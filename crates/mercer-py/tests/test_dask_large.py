"""The learners for large data on a cluster of processes."""

import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
import dask.array as da  # noqa: E402
from dask import delayed  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402

import mercer  # noqa: E402
import mercer.dask as cluster  # noqa: E402
from mercer.dask import _cluster, _parts, _shards  # noqa: E402


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None, memory_limit="1GiB") as made,
        Client(made) as client,
    ):
        yield client


def blobs(n, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, 4)) + 1.5 * np.eye(classes, 4)[y]
    return X, y


def curve(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    return X, np.sin(X[:, 0]) * X[:, 1]


PAIRS = {
    "LargeRegressor": {"alpha": 1e-3},
    "LargeClassifier": {},
    "LargeLogisticClassifier": {},
    "LargeHingeClassifier": {},
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_fit_over_shards_is_the_fit_of_one_machine(client, name):
    # Every row is a centre: then the function does not depend on which rows were drawn.
    X, y = curve(150) if name == "LargeRegressor" else blobs(150)
    more = {"n_centres": 150, "gamma": 0.5, "tol": 1e-9, **PAIRS[name]}
    here = getattr(mercer, name)(**more).fit(X, y)
    there = getattr(cluster, name)(client=client, **more)
    there.fit(da.from_array(X, chunks=(40, 2)), da.from_array(y, chunks=60))
    query = X[:50] + 0.1
    outputs = "predict" if name == "LargeRegressor" else "decision_function"
    want, got = getattr(here, outputs)(query), getattr(there.to_local(), outputs)(query)
    assert np.abs(want - got).max() <= 1e-5 * np.abs(want).max()
    if name != "LargeRegressor":
        assert there.classes_.tolist() == [0, 1, 2]
        assert (there.to_local().predict(query) == here.predict(query)).all()
    assert there.n_shards_ == 4


def test_the_order_of_answers_and_the_workers_change_no_bit(client):
    X, y = blobs(600)
    X = da.from_array(X, chunks=(100, 4))
    y = da.from_array(y, chunks=100)
    fits = [cluster.LargeClassifier(client=client, n_centres=40).fit(X, y).to_local().model_.coef for _ in range(2)]
    assert (fits[0] == fits[1]).all()
    with (
        LocalCluster(n_workers=1, threads_per_worker=4, processes=False, dashboard_address=None) as other,
        Client(other, set_as_default=False) as second,
    ):
        alone = cluster.LargeClassifier(client=second, n_centres=40).fit(X, y)
        assert (alone.to_local().model_.coef == fits[0]).all()


def test_sparse_rows_weights_single_precision_and_frames(client):
    import dask.dataframe as dd
    import pandas as pd

    X, y = blobs(300)
    weight = np.where(np.arange(300) < 150, 1.0, 0.0)
    more = {"n_centres": 150, "gamma": 0.3, "tol": 1e-9}
    half = mercer.LargeClassifier(**more).fit(X[:150], y[:150])

    def same(fitted):
        return np.abs(fitted.to_local().decision_function(X) - half.decision_function(X)).max() <= 1e-4

    cut = [slice(0, 100), slice(100, 100), slice(100, 101), slice(101, 300)]
    lists = [[delayed(values[c]) for c in cut] for values in (sp.csr_matrix(X), y, weight)]
    assert same(cluster.LargeClassifier(client=client, **more).fit(*lists[:2], sample_weight=lists[2]))
    columns = ["a", "b", "c", "d"]
    frame = dd.from_pandas(pd.DataFrame(X[:150].astype(np.float32), columns=columns), npartitions=3)
    labels = dd.from_pandas(pd.Series(y[:150]), npartitions=3)
    fitted = cluster.LargeClassifier(client=client, **more).fit(frame, labels)
    assert same(fitted)
    assert list(fitted.feature_names_in_) == columns
    lazy = fitted.predict(frame)
    assert (lazy.compute().to_numpy() == half.predict(X[:150])).mean() > 0.99
    # In memory: cut into a piece per thread.
    assert same(cluster.LargeClassifier(client=client, **more).fit(X[:150], y[:150]))


def test_one_row_per_worker_and_empty_partitions(client):
    X, y = curve(4)
    parts = [delayed(X[i : i + 1]) for i in range(4)] + [delayed(X[:0])]
    targets = [delayed(y[i : i + 1]) for i in range(4)] + [delayed(y[:0])]
    fitted = cluster.LargeRegressor(client=client, n_centres=10, alpha=1e-6, gamma=1.0).fit(parts, targets)
    assert np.abs(fitted.predict(X) - y).max() < 0.01
    with pytest.raises(ValueError, match="no partition has a row"):
        cluster.LargeRegressor(client=client).fit(parts[4:], targets[4:])


def test_wrong_data_are_said_with_their_partition(client):
    X, y = blobs(40)
    bad = X.copy()
    bad[25, 1] = np.nan
    fit = cluster.LargeClassifier(client=client, n_centres=5).fit
    with pytest.raises(ValueError, match="partition 1.*NaN"):
        fit(da.from_array(bad, chunks=(20, 4)), da.from_array(y, chunks=20))
    with pytest.raises(ValueError, match="partition 0: y: got 19"):
        fit([delayed(X[:20])], [delayed(y[:19])])
    with pytest.raises(ValueError, match="same number"):
        fit([delayed(X[:20])], [delayed(y[:10]), delayed(y[10:])])
    with pytest.raises(ValueError, match="greater than one"):
        fit(da.from_array(X, chunks=(20, 4)), da.zeros(40, chunks=20, dtype=int))
    with pytest.raises(ValueError, match="columns: expected the same"):
        fit([delayed(X), delayed(X[:, :2])], [delayed(y), delayed(y)])
    with pytest.raises(ValueError, match="lazy"):
        fit(X, da.from_array(y, chunks=20))
    with pytest.raises(ValueError, match="kernel"):
        cluster.LargeClassifier(client=client, kernel=lambda a, b: a @ b.T).fit(X, y)
    with pytest.raises(TypeError, match="unexpected keyword"):
        cluster.LargeClassifier(centers=3)


def test_a_partition_larger_than_a_worker_is_said_before_it_is_made(client):
    X = da.zeros((10_000_000, 100), chunks=(5_000_000, 100))
    with pytest.raises(ValueError, match=r"rechunk\(\(\d+, -1\)\)"):
        cluster.LargeClassifier(client=client).fit(X, da.zeros(10_000_000, chunks=5_000_000))


def test_progress_comes_and_a_callback_stops_the_fit(client):
    X, y = blobs(2000)
    X, y = da.from_array(X, chunks=(500, 4)), da.from_array(y, chunks=500)
    seen = []
    cluster.LargeLogisticClassifier(client=client, n_centres=50, callback=lambda p: seen.append(p.phase)).fit(X, y)
    assert {"partitions", "shards"} <= set(seen)
    more = {"tol": 1e-12, "max_iter": 500, "callback": lambda p: p.phase == "solve" and p.done > 5}
    with pytest.warns(ConvergenceWarning, match="stopped before"):
        stopped = cluster.LargeLogisticClassifier(client=client, n_centres=50, **more).fit(X, y)
    assert stopped.n_passes_ < 100
    assert stopped.to_local().score(X.compute(), y.compute()) > 0.5


def empty(client):
    """Waits until no worker holds anything of a fit."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        held = client.run(lambda dask_worker: [str(k) for k in dask_worker.data if str(k).startswith("mercer")])
        if not any(held.values()):
            return True
        time.sleep(0.1)
    return held


def test_ctrl_c_frees_the_workers(client):
    X, y = blobs(4000)
    X, y = da.from_array(X, chunks=(1000, 4)), da.from_array(y, chunks=1000)

    def interrupt(progress):
        if progress.phase == "solve" and progress.done > 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit = cluster.LargeLogisticClassifier(client=client, n_centres=100, tol=1e-12, callback=interrupt)
        fit.fit(X, y)
    assert empty(client) is True


def test_two_clients_fit_at_once(client):
    X, y = blobs(800)
    want = cluster.LargeClassifier(client=client, n_centres=30).fit(X, y).to_local().model_.coef
    found = {}

    def one(name):
        with Client(client.scheduler.address, set_as_default=False) as own:
            found[name] = cluster.LargeClassifier(client=own, n_centres=30).fit(X, y).to_local().model_.coef

    threads = [threading.Thread(target=one, args=(i,)) for i in range(2)]
    [t.start() for t in threads]
    [t.join(60) for t in threads]
    assert sorted(found) == [0, 1]
    assert all((coef == want).all() for coef in found.values())


def test_a_fitted_estimator_is_an_ordinary_one(client, tmp_path):
    X, y = blobs(400)
    words = np.array(["ant", "bee", "cat"])[y]
    lazy = da.from_array(X, chunks=(100, 4))
    fitted = cluster.LargeLogisticClassifier(client=client, n_centres=40).fit(lazy, da.from_array(words, chunks=100))
    local = fitted.to_local()
    assert type(local) is mercer.LargeLogisticClassifier
    fitted.save(tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    assert (again.predict(X) == local.predict(X)).all()
    assert (pickle.loads(pickle.dumps(fitted)).predict(X) == local.predict(X)).all()
    proba = fitted.predict_proba(lazy)
    assert isinstance(proba, da.Array) and proba.shape == (400, 3)
    assert np.abs(proba.compute() - local.predict_proba(X)).max() < 1e-12
    assert fitted.predict(lazy).dtype == local.classes_.dtype
    assert fitted.predict(lazy).compute().tolist() == local.predict(X).tolist()
    assert fitted.get_params()["n_centres"] == 40
    assert fitted.set_params(n_centres=41).get_params()["n_centres"] == 41


def test_parts_are_joined_and_spread_in_order():
    workers = {"a": {"threads": 1, "memory": 0}, "b": {"threads": 3, "memory": 0}}
    assert _shards.homes(8, workers) == ["a"] * 2 + ["b"] * 6
    assert _shards.joined([5, 0, 5, 5, 0, 5], 2) == [[0, 2], [3, 5]]
    assert _shards.joined([1, 1, 1], 8) == [[0], [1], [2]]
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 3)) + 7
    parts = [_parts.facts(_parts.Part(x, None, None), None, True)["spread"] for x in (X[:13], X[13:20], X[20:])]
    assert abs(_parts.Spread(3, parts).var() - X.var()) < 1e-12


@pytest.mark.parametrize("when", ["partitions", "shards", "solve"])
def test_a_worker_killed_in_mid_fit_changes_nothing(when):
    X, y = blobs(3000)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as made,
        Client(made, set_as_default=False) as client,
    ):
        lazy, targets = da.from_array(X, chunks=(750, 4)), da.from_array(y, chunks=750)
        more = {"n_centres": 60, "tol": 1e-6}
        want = cluster.LargeLogisticClassifier(client=client, **more).fit(lazy, targets).to_local()
        pids = list(client.run(os.getpid).values())
        killed = []

        def kill(progress):
            if progress.phase == when and not killed:
                killed.append(pids[0])
                os.kill(pids[0], signal.SIGKILL)

        begun = time.monotonic()
        got = cluster.LargeLogisticClassifier(client=client, callback=kill, **more).fit(lazy, targets).to_local()
        assert killed and time.monotonic() - begun < 60
        assert (got.model_.coef == want.model_.coef).all()


def test_a_cluster_whose_workers_all_leave_is_an_error(monkeypatch):
    monkeypatch.setattr(_cluster, "PATIENCE", 2.0)
    monkeypatch.setattr(_cluster.wait_for_workers, "__defaults__", (2.0,))
    X, y = blobs(3000)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as made,
        Client(made, set_as_default=False) as client,
    ):

        def leave(progress):
            if progress.phase == "solve":
                made.scale(0)

        begun = time.monotonic()
        with pytest.raises(cluster.ClusterError, match="no workers"):
            fit = cluster.LargeLogisticClassifier(client=client, n_centres=50, tol=1e-12, callback=leave)
            fit.fit(da.from_array(X, chunks=(750, 4)), da.from_array(y, chunks=750))
        assert time.monotonic() - begun < 30


def test_versions_that_differ_are_said(client, monkeypatch):
    monkeypatch.setattr(_cluster._mercer, "__version__", "99.0.0")
    with pytest.raises(cluster.ClusterError, match=r"Mercer 99.0.0 here, but tcp://.* has .*install the same version"):
        cluster.LargeClassifier(client=client).fit(*blobs(20))


def test_no_client_is_said():
    with pytest.raises(TypeError, match="expected a distributed.Client"):
        cluster.LargeClassifier(client="tcp://nowhere:1").fit(*blobs(20))


def test_kernel_pca_on_centres_is_that_of_one_machine(client):
    X, _ = blobs(300)
    lazy = da.from_array(X, chunks=(80, 4))
    there = cluster.LargeKernelPCA(4, n_centres=300, gamma=0.2, client=client).fit(lazy)
    here = mercer.KernelPCA(4, kernel="rbf", gamma=0.2).fit(X)
    want, got = np.abs(here.transform(X)), there.transform(lazy)
    assert isinstance(got, da.Array) and got.shape == (300, 4)
    assert np.abs(np.abs(got.compute()) - want).max() <= 1e-5 * want.max()
    clean = cluster.denoise(lazy, there)
    assert clean.shape == X.shape
    assert np.isfinite(clean.compute()).all()


def test_compressing_is_lazy_and_draws_its_rows(client):
    X, y = blobs(500)
    lazy, labels = da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)
    fitted = cluster.LargeClassifier(client=client, n_centres=60).fit(lazy, labels)
    small = cluster.compress(fitted, lazy, labels, rows=200, vectors=12)
    assert hasattr(small, "compute")
    made = small.compute()
    assert made.model_.coef.shape[0] <= 12
    assert (made.predict(X) == fitted.predict(X)).mean() > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cluster.compress(fitted, ratio=5).compute().model_.coef.shape[0] == 12
