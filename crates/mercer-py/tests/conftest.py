"""What holds for all tests."""

import os

import pytest

#: Dask sets these in the process that starts workers, and leaves them there; Mercer obeys the first.
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
AT_FIRST = {name: os.environ.get(name) for name in THREADS}


@pytest.fixture(autouse=True)
def threads_as_at_first():
    """Every test begins with the environment that the first one had."""
    for name, value in AT_FIRST.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
