"""Decision regions, margin and support vectors for four kernels.

    python regions.py [FOLDER]      writes regions.png
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from mercer import SVC
from mercer.plot import RegionDisplay

X, y = make_moons(160, noise=0.18, random_state=0)
kernels = ["linear", "poly(degree=3, coef0=1)", "rbf(gamma=2)", "laplacian(gamma=1)"]
figure, axes = plt.subplots(1, 4, figsize=(13, 3), sharey=True)
for axis, kernel in zip(axes, kernels, strict=True):
    machine = SVC(kernel=kernel, C=5).fit(X, y)
    RegionDisplay.from_estimator(machine, X, y, ax=axis)
    axis.set_title(f"{kernel}: {len(machine.support_)} support vectors", fontsize=9)
    print(f"{kernel}: {len(machine.support_)} support vectors, training accuracy {machine.score(X, y):.3f}")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "regions.png", dpi=80, bbox_inches="tight")
