"""Written digits: one machine per pair of classes, shapes of the decision function, a pipeline, a search."""

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_selection import SelectPercentile, f_classif
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

X, y = load_digits(return_X_y=True)
train, test = slice(0, 700), slice(900, 1500)
machine = SVC(gamma=0.001).fit(X[train], y[train])
pairs = SVC(gamma=0.001, decision_function_shape="ovo").fit(X[train], y[train])
broken = SVC(gamma=0.001, break_ties=True).fit(X[train], y[train])
chain = make_pipeline(StandardScaler(), SelectPercentile(f_classif, percentile=60), SVC(C=5)).fit(X[train], y[train])
search = GridSearchCV(SVC(), {"C": [1, 10], "gamma": [0.0005, 0.001]}, cv=3).fit(X[train], y[train])
np.savez(
    sys.argv[1],
    labels=machine.predict(X[test]),
    votes=machine.decision_function(X[test]),
    values_pairs=pairs.decision_function(X[test]),
    labels_broken=broken.predict(X[test]),
    labels_chain=chain.predict(X[test]),
    labels_search=search.predict(X[test]),
    labels_support=machine.n_support_ > 0,
    exact_scores=cross_val_score(machine, X[train], y[train], cv=4),
)
