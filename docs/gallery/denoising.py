"""Noisy digits, restored by linear and by kernel principal components.

    python denoising.py [FOLDER]      writes denoising.png
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import mercer

X, y = load_digits(return_X_y=True)
X = X / 16
clean, held = X[:1200], X[1200:]
noisy = held + np.random.default_rng(0).normal(scale=0.4, size=held.shape)

pca = PCA(16).fit(clean)
restored = {
    "as it was": held,
    "with noise": noisy,
    "16 linear components": pca.inverse_transform(pca.transform(noisy)),
    "kernel components": mercer.denoise(noisy, clean=clean, image_shape=(8, 8)),
}

shown = [int(np.flatnonzero(y[1200:] == digit)[3]) for digit in range(10)]
figure, axes = plt.subplots(len(restored), 10, figsize=(7, 3.4))
for row, (name, images) in zip(axes, restored.items(), strict=True):
    error = ((images - held) ** 2).sum(1).mean()
    print(f"{name}: mean squared distance {error:.2f}")
    for axis, at in zip(row, shown, strict=True):
        axis.imshow(images[at].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        axis.set_xticks([])
        axis.set_yticks([])
    label = name if error == 0 else f"{name}\n{error:.1f}"
    row[0].set_ylabel(label, rotation=0, ha="right", va="center", fontsize=9)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "denoising.png", dpi=80, bbox_inches="tight")
