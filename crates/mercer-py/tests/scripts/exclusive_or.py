"""Two classes that no line tells apart, by a nu-machine, with weights that pull the border."""

import sys

import numpy as np
from sklearn.svm import SVC, NuSVC

rng = np.random.RandomState(0)
X = rng.randn(300, 2)
y = np.logical_xor(X[:, 0] > 0, X[:, 1] > 0)
grid = np.stack(np.meshgrid(np.linspace(-3, 3, 30), np.linspace(-3, 3, 30)), axis=-1).reshape(-1, 2)
nu = NuSVC(gamma="auto", nu=0.3).fit(X, y)
weights = np.abs(rng.randn(len(X)))
weights[:30] *= 8
plain = SVC(gamma=1).fit(X, y)
pulled = SVC(gamma=1).fit(X, y, sample_weight=weights)
balanced = SVC(gamma=1, class_weight={False: 1, True: 4}).fit(X, y)
np.savez(
    sys.argv[1],
    labels_nu=nu.predict(grid),
    values_nu=nu.decision_function(grid),
    values_plain=plain.decision_function(grid),
    values_pulled=pulled.decision_function(grid),
    values_balanced=balanced.decision_function(grid),
)
