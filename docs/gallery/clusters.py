"""Kernel k-means separates rings, which k-means cannot; kernel PCA shows why.

    python clusters.py [FOLDER]      writes clusters.png
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

from mercer import KernelKMeans, KernelPCA

X, y = make_circles(300, factor=0.35, noise=0.06, random_state=0)
plain = KMeans(2, n_init=10, random_state=0).fit_predict(X)
kernel = KernelKMeans(2, kernel="rbf", gamma=4.0, random_state=0).fit(X).labels_
features = KernelPCA(2, kernel="rbf", gamma=4.0).fit_transform(X)
figure, axes = plt.subplots(1, 3, figsize=(10, 3))
for axis, (name, points, found) in zip(
    axes,
    [("k-means", X, plain), ("kernel k-means", X, kernel), ("two kernel principal components", features, kernel)],
    strict=True,
):
    axis.scatter(*points.T, c=found, cmap="coolwarm", s=8)
    axis.set_title(name, fontsize=9)
    print(f"{name}: adjusted Rand index {adjusted_rand_score(y, found):.2f}")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
figure.savefig(folder / "clusters.png", dpi=80, bbox_inches="tight")
