"""Outliers in the targets: squared loss follows them, absolute and epsilon-insensitive losses do not.

    python robust_regression.py [FOLDER]      writes robust_regression.png
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVR, HuberSVR, KernelRidge, LaplaceSVR

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-6, 6, 120))[:, None]
clean = np.sinc(x[:, 0] / 2)
y = clean + 0.05 * rng.normal(size=len(x))
bad = rng.choice(len(x), 12, replace=False)
y[bad] += rng.choice([-1.5, 1.5], 12)

learners = {
    "ridge (squared)": KernelRidge(kernel="rbf", gamma=0.5, alpha=0.1),
    "Huber": HuberSVR(gamma=0.5, C=10, delta=0.1),
    "Laplace (absolute)": LaplaceSVR(gamma=0.5, C=10),
    "SVR (epsilon 0.1)": SVR(gamma=0.5, C=10, epsilon=0.1),
}
figure, axis = plt.subplots(figsize=(7, 3.6))
axis.plot(x, y, ".", color="#999", ms=4)
axis.plot(x, clean, color="#000", lw=1, label="truth")
for name, learner in learners.items():
    found = learner.fit(x, y).predict(x)
    error = np.sqrt(np.mean((found - clean) ** 2))
    print(f"{name}: RMSE to the truth {error:.3f}")
    axis.plot(x, found, lw=1.5, label=f"{name}: {error:.3f}")
axis.set_ylim(-1, 1.6)
axis.legend(fontsize=8)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "robust_regression.png", dpi=80, bbox_inches="tight")
