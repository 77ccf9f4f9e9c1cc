"""Columns chosen by a test before the machine: cross-validated scores by the share that is kept."""

import sys

import numpy as np
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectPercentile, f_classif
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

X, y = load_iris(return_X_y=True)
rng = np.random.RandomState(0)
X = np.hstack((X, 2 * rng.random((X.shape[0], 36))))
chain = Pipeline([("anova", SelectPercentile(f_classif)), ("scaler", StandardScaler()), ("svc", SVC(gamma="auto"))])
scores = []
for percentile in (1, 3, 6, 10, 15, 20, 30, 40, 60, 80, 100):
    chain.set_params(anova__percentile=percentile)
    scores.append(cross_val_score(chain, X, y))
np.savez(sys.argv[1], values=np.array(scores).mean(axis=1))
