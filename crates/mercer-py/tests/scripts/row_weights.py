"""Twenty rows, of which some weigh more: the boundary bends around them."""

import sys

import numpy as np
from sklearn.svm import SVC

rng = np.random.RandomState(0)
X = np.r_[rng.randn(10, 2) + [1, 1], rng.randn(10, 2)]
y = np.array([1] * 10 + [-1] * 10)
heavy = np.abs(rng.randn(len(X)))
heavy[15:] *= 5
heavy[9] *= 15
grid = np.stack(np.meshgrid(np.linspace(-4, 5, 30), np.linspace(-4, 5, 30)), axis=-1).reshape(-1, 2)
same = SVC(gamma=1).fit(X, y, sample_weight=np.ones(len(X)))
bent = SVC(gamma=1).fit(X, y, sample_weight=heavy)
np.savez(sys.argv[1], values_same=same.decision_function(grid), values_bent=bent.decision_function(grid), labels=bent.predict(X))
