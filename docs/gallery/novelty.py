"""Novelty detection: one-class machines and spheres, and the pre-image of a sphere's centre.

    python novelty.py [FOLDER]      writes novelty.png
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import SVDD, OneClassSVM, preimage

X, _ = make_moons(250, noise=0.08, random_state=0)
strange = np.random.default_rng(1).uniform((-2, -1.5), (3, 2), size=(25, 2))
grid = np.stack(np.meshgrid(np.linspace(-2, 3, 200), np.linspace(-1.5, 2, 150)), -1)

machines = {
    "one-class plane, nu = 0.05": OneClassSVM(nu=0.05, gamma=3.0),
    "sphere, nu = 0.05": SVDD(nu=0.05, gamma=3.0),
    "sphere, linear kernel, nu = 0.05": SVDD(nu=0.05, kernel="linear"),
}
figure, axes = plt.subplots(1, 3, figsize=(9, 2.9), sharey=True)
for axis, (name, machine) in zip(axes, machines.items(), strict=True):
    machine.fit(X)
    found = machine.predict(strange) == -1
    print(f"{name}: {found.sum()} of {len(found)} outliers found, {(machine.predict(X) == -1).sum()} false alarms")
    values = machine.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    axis.contourf(grid[..., 0], grid[..., 1], values, levels=[0, np.inf], colors=["#cfe3f5"])
    axis.contour(grid[..., 0], grid[..., 1], values, levels=[0], colors="#2b6cb0")
    axis.plot(*X.T, ".", color="#444", ms=3)
    axis.plot(*strange[found].T, "x", color="#c0392b", ms=5)
    axis.plot(*strange[~found].T, "x", color="#e0a030", ms=5)
    axis.set_title(name, fontsize=9)
centre, _ = preimage(machines["sphere, linear kernel, nu = 0.05"])
axes[2].plot(*centre.T, "*", color="#2b6cb0", ms=10)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "novelty.png", dpi=80, bbox_inches="tight")
