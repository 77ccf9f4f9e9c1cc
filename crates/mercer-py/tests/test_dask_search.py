"""Searches on a cluster of processes, and what a cluster does with fitted models."""

import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest

pytest.importorskip("distributed")
from distributed import Client, LocalCluster  # noqa: E402

import mercer  # noqa: E402
import mercer.dask as cluster  # noqa: E402


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None, memory_limit="1GiB") as made,
        Client(made) as client,
    ):
        yield client


def moons(n=160, seed=3):
    from sklearn.datasets import make_moons

    return make_moons(n, noise=0.25, random_state=seed)


GRID = {"c": [0.1, 1, 10], "gamma": [0.1, 1, 10]}


def table(search):
    return json.dumps([search.stages_, search.best_params_, search.best_score_])


@pytest.mark.parametrize(
    "more",
    [
        {"grid": GRID},
        {"grid": GRID, "race": True, "two_stage": True},
        {"learner": "nu-svc", "grid": {"nu": [0.1, 0.3], "gamma": [0.5, 2]}, "scale": "standard"},
        {"learner": "ridge", "grid": {"lambda": [0.01, 1], "gamma": [1.0]}, "repeats": 2, "folds": 3},
        {"kernel": ["linear", "poly"], "grid": {"c": [1.0]}, "metric": "roc-area"},
    ],
    ids=["grid", "race", "nu", "ridge", "kernels"],
)
def test_a_search_on_a_cluster_is_that_of_one_machine_bit_for_bit(client, more):
    X, y = moons()
    here, there = cluster.tune(None, X, y, **more), cluster.tune(client, X, y, **more)
    assert table(here) == table(there)
    assert (there.to_local().predict(X) == here.to_local().predict(X)).all()


def test_defaults_numbers_groups_and_tables(client):
    pd = pytest.importorskip("pandas")
    X, _ = moons(90)
    y = np.sin(3 * X[:, 0]) + X[:, 1]
    for more in ({}, {"groups": np.arange(90) // 9, "grid": {"c": [1, 10]}}):
        assert table(cluster.tune(None, X, y, **more)) == table(cluster.tune(client, X, y, **more))
    frame = pd.DataFrame({"place": ["north", "south", None] * 30, "size": X[:, 0]})
    found = [cluster.tune(who, frame, y, grid={"c": [1.0], "gamma": [0.3, 1.0]}) for who in (None, client)]
    assert table(found[0]) == table(found[1])


def test_the_command_finds_the_same(client, tmp_path):
    command = os.environ.get("MERCER_CLI")
    if not command or not os.path.exists(command):
        pytest.skip("MERCER_CLI names no command")
    X, y = moons()
    np.savetxt(tmp_path / "d.csv", np.column_stack([X, y]), delimiter=",", header="a,b,label", comments="", fmt="%.17g")
    line = [command, "tune", tmp_path / "d.csv", "--label", "label", "-c", "0.1,1,10", "--gamma", "0.1,1,10"]
    told = subprocess.run([*line, "--format", "json", "--quiet"], capture_output=True, text=True, check=True).stdout
    found = cluster.tune(client, X, y, grid=GRID)
    assert repr(found.best_score_) in told or f"{found.best_score_}" in told
    best = json.loads(told)
    assert found.best_params_["kernel"] in json.dumps(best)


def test_a_search_goes_on_from_its_checkpoint(client, tmp_path):
    X, y = moons()
    file = tmp_path / "search"
    whole = cluster.tune(client, X, y, grid=GRID, checkpoint=file)
    assert whole.known_ == 0
    lines = file.read_text().splitlines()
    assert len(lines) == 1 + 9 * 5
    file.write_text("\n".join(lines[:20]) + "\n")
    again = cluster.tune(client, X, y, grid=GRID, checkpoint=file)
    assert again.known_ == 19
    assert table(again) == table(whole)
    with pytest.raises(ValueError, match="another search"):
        cluster.tune(client, X, y, grid={"c": [3.0]}, checkpoint=file)


def test_a_callback_ends_a_search_and_an_interrupt_frees_the_workers(client):
    X, y = moons(1500)
    big = {"c": list(np.logspace(-1, 5, 12)), "gamma": list(np.logspace(-2, 2, 6))}
    ended = cluster.tune(client, X, y, grid=big, callback=lambda p: p.phase == "settings and folds" and p.done > 2)
    assert any(cell["open"] for cell in ended.cv_results_)

    def interrupt(progress):
        if progress.phase == "settings and folds":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cluster.tune(client, X, y, grid=big, callback=interrupt)
    until = time.monotonic() + 10
    while busy := [task for tasks in client.processing().values() for task in tasks]:
        assert time.monotonic() < until, busy
        time.sleep(0.05)
    executing = lambda dask_worker: dask_worker.state.executing_count  # noqa: E731
    while sum(client.run(executing).values()):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_worker_killed_in_mid_search_changes_nothing():
    X, y = moons(300)
    grid = {"c": list(np.logspace(-1, 4, 6)), "gamma": list(np.logspace(-2, 1, 4))}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as made,
        Client(made, set_as_default=False) as client,
    ):
        pids = list(client.run(os.getpid).values())
        killed = []

        def kill(progress):
            if progress.done > 2 and not killed:
                killed.append(os.kill(pids[0], signal.SIGKILL))

        got = cluster.tune(client, X, y, grid=grid, callback=kill)
        assert killed
    assert table(got) == table(cluster.tune(None, X, y, grid=grid))


def test_what_cannot_be_searched_is_said(client):
    X, y = moons(40)
    with pytest.raises(ValueError, match="expected one per row"):
        cluster.tune(client, X, y[:30])
    with pytest.raises(ValueError, match="metric"):
        cluster.tune(client, X, y, metric="rmse")
    with pytest.raises(ValueError, match="learner"):
        cluster.tune(client, X, y, learner="forest")
    with pytest.raises(ValueError, match="task"):
        cluster.tune(client, X, y, task="clustering")


def test_grid_search_of_scikit_learn_under_joblib(client):
    import joblib
    from sklearn.model_selection import GridSearchCV

    X, y = moons(120)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}
    here = GridSearchCV(mercer.SVC(), grid, cv=3).fit(X, y)
    with joblib.parallel_backend("dask", client=client):
        there = GridSearchCV(mercer.SVC(), grid, cv=3).fit(X, y)
    assert there.best_params_ == here.best_params_
    assert (there.cv_results_["mean_test_score"] == here.cv_results_["mean_test_score"]).all()


def test_threads_of_a_worker_are_those_of_dask(client):
    from mercer.dask import _cluster

    assert client.submit(_cluster.threads_here, pure=False).result() == 2
    assert client.submit(_cluster.memory_here, pure=False).result() == 2**30
    # Fits inside tasks do not take all cores: Dask's nannies set OMP_NUM_THREADS.
    from mercer._threads import threads_of

    assert client.submit(threads_of, None, pure=False).result() == 1
