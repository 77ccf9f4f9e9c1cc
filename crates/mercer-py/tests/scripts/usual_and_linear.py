"""What is usual, by the one-class machine and by a linear one on approximate features; and in the wine data."""

import sys

import numpy as np
from sklearn.datasets import load_wine
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDOneClassSVM
from sklearn.pipeline import make_pipeline
from sklearn.svm import OneClassSVM

rng = np.random.RandomState(42)
X = 0.3 * rng.randn(250, 2)
train, odd = np.r_[X + 2, X - 2], rng.uniform(low=-4, high=4, size=(60, 2))
exact = OneClassSVM(gamma=2.0, kernel="rbf", nu=0.05).fit(train)
near = make_pipeline(Nystroem(gamma=2.0, random_state=42), SGDOneClassSVM(nu=0.05, shuffle=True, random_state=42, tol=1e-4))
near.fit(train)
wine = load_wine()["data"][:, [1, 2]]
cloud = OneClassSVM(nu=0.25, gamma=0.35).fit(wine)
np.savez(
    sys.argv[1],
    values_exact=exact.decision_function(odd),
    values_train=exact.decision_function(train),
    values_near=near.decision_function(odd),
    values_wine=cloud.decision_function(wine),
)
