"""Circles unrolled by kernel principal components, and images brought back from them."""

import sys

import numpy as np
from sklearn.datasets import load_digits, make_circles
from sklearn.decomposition import KernelPCA

X, y = make_circles(n_samples=400, factor=0.3, noise=0.05, random_state=0)
kpca = KernelPCA(n_components=2, kernel="rbf", gamma=10, fit_inverse_transform=True, alpha=0.1).fit(X[:300])
flat = kpca.transform(X[300:])
digits = load_digits().data / 16
noisy = digits + np.random.RandomState(0).normal(scale=0.25, size=digits.shape)
images = KernelPCA(n_components=40, kernel="rbf", gamma=1e-2, fit_inverse_transform=True, alpha=5e-3)
images.fit(noisy[:400])
found = {
    "exact_flat": flat,
    "exact_back": kpca.inverse_transform(flat),
    "exact_values": kpca.eigenvalues_,
    "exact_images": images.inverse_transform(images.transform(noisy[400:450])),
}
for kernel in ("linear", "poly", "sigmoid", "cosine"):
    found[f"exact_{kernel}"] = np.abs(KernelPCA(n_components=2, kernel=kernel, gamma=0.1).fit_transform(X[:200]))
np.savez(sys.argv[1], **found)
