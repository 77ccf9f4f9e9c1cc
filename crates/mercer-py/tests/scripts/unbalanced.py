"""The plane between a large and a small class, and what a weight of the small one does to it."""

import sys

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

X, y = make_blobs(n_samples=[1000, 100], centers=[[0.0, 0.0], [2.0, 2.0]], cluster_std=[1.5, 0.5], random_state=0, shuffle=False)
plain = SVC(kernel="linear", C=1.0).fit(X, y)
weighted = SVC(kernel="linear", class_weight={1: 10}).fit(X, y)
balanced = SVC(kernel="linear", class_weight="balanced").fit(X, y)
np.savez(
    sys.argv[1],
    values_plain=plain.decision_function(X),
    values_weighted=weighted.decision_function(X),
    values_balanced=balanced.decision_function(X),
    exact_weights=balanced.class_weight_,
    votes_labels=weighted.predict(X).astype(float),
)
