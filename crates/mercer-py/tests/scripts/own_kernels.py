"""Kernels written in Python, a precomputed matrix, and text without numbers."""

import sys

import numpy as np
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

X, y = load_iris(return_X_y=True)
X = X[:, :2]
stretch = np.array([[2.0, 0], [0, 1.0]])


def stretched(A, B):
    return np.dot(np.dot(A, stretch), B.T)


def shared(A, B):
    return np.array([[float(len(set(a) & set(b))) for b in B] for a in A])


words = ["kernel", "kernels", "margin", "margins", "vector", "vectors", "support", "supports", "feature", "features"]
kinds = [len(word) > 6 for word in words]
np.savez(
    sys.argv[1],
    labels=SVC(kernel=stretched).fit(X, y).predict(X),
    values_matrix=SVC(kernel="precomputed").fit(rbf_kernel(X, gamma=0.5), y).decision_function(rbf_kernel(X, gamma=0.5)),
    values_words=SVC(kernel=shared).fit(words, kinds).decision_function(words),
)
