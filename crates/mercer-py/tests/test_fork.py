"""A process that was forked after threads have worked can work too."""

import multiprocessing
import os
import signal
import time

import numpy as np
import pytest
from joblib import Parallel, delayed

import mercer

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
pytestmark = [needs_fork, pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")]
LIMIT = 60

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 20))
y = (X[:, 0] * X[:, 1] > 0).astype(int)


def work():
    """Everything that has threads: fits, predictions, kernel matrices, components, smaller models."""
    machine = mercer.SVC(C=10, gamma=0.05, n_jobs=4).fit(X, y)
    values = machine.decision_function(X)
    features = mercer.KernelPCA(5, kernel="rbf", n_jobs=4).fit(X).transform(X)
    matrix = mercer.kernels.RBF(0.1)(X, n_jobs=4)
    small = mercer.compress(machine, vectors=10)
    return values.sum(), np.abs(features).sum(), matrix.sum(), small.decision_function(X).sum()


def in_child(job):
    """Whether a job does well in a forked process, within the limit."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if job() else 2
        finally:
            os._exit(code)
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


@pytest.fixture(scope="module")
def known():
    """What the parent finds, with threads that no child has."""
    return work()


def agrees(known):
    return np.allclose(work(), known, rtol=1e-6)


def test_a_forked_process_fits_and_predicts(known):
    assert in_child(lambda: agrees(known))
    assert agrees(known), "the parent goes on"


def test_a_process_forked_from_a_forked_one_does_too(known):
    assert in_child(lambda: agrees(known) and in_child(lambda: agrees(known)) and agrees(known))


def test_multiprocessing_with_fork(known):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.apply_async(work)
        again = pool.apply_async(work)
        assert np.allclose(found.get(LIMIT), known) and np.allclose(again.get(LIMIT), known)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_joblib(backend, known):
    machines = [mercer.SVC(C=10, gamma=0.05, n_jobs=4) for _ in range(2)]
    jobs = (delayed(machine.fit)(X, y) for machine in machines)
    for fitted in Parallel(n_jobs=2, backend=backend, timeout=LIMIT)(jobs):
        assert np.isclose(fitted.decision_function(X).sum(), known[0], rtol=1e-6)


def test_a_callback_is_heard_in_a_forked_process(known):
    def heard():
        steps = []
        mercer.SVC(C=10, gamma=0.05, callback=steps.append).fit(X, y)
        return len(steps) > 0

    assert in_child(heard)
