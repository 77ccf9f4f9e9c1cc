"""Machines are fitted on the rows where they are: measured in a process of its own, whose peak is that of the fit."""

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

kind, n, d = np.dtype(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
make = eval("lambda: mercer." + sys.argv[1])
rng = np.random.default_rng(0)
# Written to once, so that all of it is memory of this process.
X = np.ones((n, d), dtype=kind)
X[:] = 0
y = np.arange(n) % 2
X[:, :40] = rng.normal(size=(n, 40)) + 3 * y[:, None]
# The first fit of a process starts threads, loads code and makes scratch for rows of this length.
make().fit(X[:300], y[:300])
before = peak()
machine = make().fit(X, y)
assert len(getattr(machine, "support_", [])) < n / 4
print((peak() - before) / X.nbytes)
"""
# Estimator, type, rows, columns, and how much of the rows' memory a fit may take beside them. A copy of the rows would be 1 more
# than what is there: the operands of products in single precision, kernel matrices and support vectors of the library.
FITS = [
    ("SVC()", "f8", 2000, 12000, 0.75),
    ("SVC()", "f4", 2000, 24000, 1.2),
    ("SVC(kernel='linear')", "f8", 2000, 12000, 0.75),
    ("NuSVC(nu=0.1)", "f8", 2000, 12000, 1.1),
    ("SVR()", "f8", 2000, 12000, 1.7),
    ("OneClassSVM(nu=0.05)", "f8", 2000, 12000, 1.9),
    ("LinearSVC(loss='hinge')", "f8", 2000, 12000, 0.2),
    ("LinearSVC()", "f8", 2000, 12000, 0.2),
    ("LinearSVC()", "f4", 2000, 24000, 0.2),
    ("LinearSVC()", "f8", 100_000, 240, 0.2),
    ("LinearSVR(loss='squared_epsilon_insensitive')", "f8", 100_000, 240, 0.2),
    ("LinearSVR(epsilon=0.5)", "f4", 2000, 24000, 0.2),
]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak from /proc")
@pytest.mark.parametrize(("make", "kind", "n", "d", "most"), FITS, ids=lambda v: str(v))
def test_a_fit_is_lent_its_rows(make, kind, n, d, most):
    done = subprocess.run([sys.executable, "-c", SCRIPT, make, kind, str(n), str(d)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert -0.01 < float(done.stdout.splitlines()[-1]) < most


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
