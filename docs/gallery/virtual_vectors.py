"""Digits moved by a pixel stay what they are: machines that are told so, and one that is not.

    python virtual_vectors.py [FOLDER]      writes virtual_vectors.png
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline

from mercer import SVC, InvariantTransform, VirtualSVC

X, y = load_digits(return_X_y=True)
X = X / 16
# Room on both sides: images of 8 x 12.
X = np.pad(X.reshape(-1, 8, 8), ((0, 0), (0, 0), (2, 2))).reshape(len(X), -1)
train, truth, new, answers = X[:600], y[:600], X[900:], y[900:]
shape = (8, 12)

machines = {
    "told nothing": SVC(C=10, gamma=0.05),
    "invariant map": make_pipeline(InvariantTransform("shift=1", image_shape=shape, factor=0.6), SVC(C=10, gamma=0.02)),
    "virtual support vectors": VirtualSVC(C=10, gamma=0.05, transformations="shift=1", image_shape=shape),
}
moves = [-2, -1, 0, 1, 2]
figure, axis = plt.subplots(figsize=(5.5, 3.2))
for name, machine in machines.items():
    machine.fit(train, truth)
    moved = [np.roll(new.reshape(-1, *shape), move, axis=2).reshape(len(new), -1) for move in moves]
    errors = [100 * (1 - machine.score(images, answers)) for images in moved]
    print(f"{name}: " + ", ".join(f"{move:+d}: {error:.1f} %" for move, error in zip(moves, errors, strict=True)))
    axis.plot(moves, errors, "o-", label=name)
axis.set_xticks(moves)
axis.set_xlabel("test images moved by so many pixels")
axis.set_ylabel("test error in %")
axis.legend(frameon=False)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "virtual_vectors.png", dpi=80, bbox_inches="tight")
