"""What is like two clouds of points, and what is not."""

import sys

import numpy as np
from sklearn.svm import OneClassSVM

rng = np.random.RandomState(3)
X = 0.3 * rng.randn(100, 2)
train = np.r_[X + 2, X - 2]
odd = rng.uniform(low=-4, high=4, size=(200, 2))
machine = OneClassSVM(nu=0.1, kernel="rbf", gamma=0.1).fit(train)
np.savez(
    sys.argv[1],
    labels_odd=machine.predict(odd),
    values_odd=machine.decision_function(odd),
    values_scores=machine.score_samples(odd),
)
