"""Noise taken out of images by components, linear and of a kernel, and a map back that is learned."""

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA, KernelPCA
from sklearn.preprocessing import MinMaxScaler

X = MinMaxScaler().fit_transform(load_digits().data)
train, test = X[:500], X[500:560]
rng = np.random.RandomState(0)
noisy_train, noisy_test = (x + rng.normal(scale=0.25, size=x.shape) for x in (train, test))
plain = PCA(n_components=32, random_state=42).fit(noisy_train)
curved = KernelPCA(n_components=300, kernel="rbf", gamma=1e-3, fit_inverse_transform=True, alpha=5e-3, random_state=42)
curved.fit(noisy_train)
np.savez(
    sys.argv[1],
    exact_plain=plain.inverse_transform(plain.transform(noisy_test)),
    exact_curved=curved.inverse_transform(curved.transform(noisy_test)),
)
