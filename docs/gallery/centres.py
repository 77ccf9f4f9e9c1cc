"""Large data: test error of a machine on few centres, against their number, and its decision regions.

    python centres.py [FOLDER]      writes centres.png
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, LargeClassifier


def checkerboard(n, seed):
    """Points of a four by four checkerboard, one label in twenty wrong."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, size=(n, 2))
    y = X.astype(int).sum(axis=1) % 2
    return X, np.where(rng.random(n) < 0.05, 1 - y, y)


def error(machine):
    """Test error in per cent."""
    return 100 * (1 - machine.score(X_test, y_test))


X, y = checkerboard(4000, 0)
X_test, y_test = checkerboard(4000, 1)
exact = error(SVC(gamma=4.0, C=10).fit(X, y))
numbers = [10, 30, 100, 300]
machines = [LargeClassifier(n_centres=m, gamma=4.0, alpha=1e-6, random_state=0).fit(X, y) for m in numbers]
errors = [error(machine) for machine in machines]
for m, e in zip(numbers, errors, strict=True):
    print(f"{m} centres: {e:.1f} % test error")
print(f"SVC on all rows: {exact:.1f} %")

figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
axes[0].plot(numbers, errors, "o-", color="#0072b2", label="LargeClassifier")
axes[0].axhline(exact, ls="--", color="#d55e00", label="SVC on all rows")
axes[0].set(xscale="log", xlabel="centres", ylabel="test error, %", ylim=(0, None))
axes[0].legend(fontsize=8)
grid = np.stack(np.meshgrid(np.linspace(0, 4, 160), np.linspace(0, 4, 160)), -1)
for axis, machine, m in ((axes[1], machines[1], 30), (axes[2], machines[3], 300)):
    values = machine.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    axis.contourf(grid[..., 0], grid[..., 1], values, levels=[-np.inf, 0, np.inf], colors=["#cfe3f5", "#f7dccb"])
    axis.set_title(f"{m} centres", fontsize=9)
    axis.set_aspect("equal")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "centres.png", dpi=80)
