"""A fit holds one copy of its rows, and no more: measured in a process of its own, whose peak is that of the fit."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.kernels import MANY, gamma_of

SCRIPT = """
import sys
import numpy as np
import mercer

def peak():
    # Not getrusage: its peak begins with that of the process that started this one.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024

kind, n, d = np.dtype(sys.argv[1]), 2000, 12000
rng = np.random.default_rng(0)
# Written to once, so that all of it is memory of this process.
X = np.ones((n, d), dtype=kind)
X[:] = 0
y = np.arange(n) % 2
X[:, :40] = rng.normal(size=(n, 40)) + 3 * y[:, None]
# The first fit of a process starts threads, loads code and makes scratch for rows of this length.
mercer.SVC().fit(X[:300], y[:300])
before = peak()
machine = mercer.SVC().fit(X, y)
assert len(machine.support_) < n / 4
print((peak() - before) / X.nbytes)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak from /proc")
def test_a_fit_copies_its_rows_once():
    done = subprocess.run([sys.executable, "-c", SCRIPT, "f8"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # One copy, and 35 MB of kernel matrix and support vectors, beside 183.
    assert 0.5 < float(done.stdout) < 1.9


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_variance_of_many_values_is_that_of_numpy(kind):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(MANY // 8 + 5, 16)) + 1e3).astype(kind)
    assert X.size > MANY
    want = 1 / (16 * X.var(dtype=np.float64))
    assert abs(gamma_of("scale", X) - want) <= 1e-12 * want
    Z = np.where(rng.random(X.shape) < 0.6, X - 1e3, 0).astype(kind)
    assert np.count_nonzero(Z) > MANY
    want = 1 / (16 * Z.var(dtype=np.float64))
    for rows in (sp.csr_matrix(Z), sp.csr_array(Z)):
        assert abs(gamma_of("scale", rows) - want) <= 1e-6 * want
