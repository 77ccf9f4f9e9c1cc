"""Columns chosen by the weights of linear machines, step by step and by models of models."""

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer, make_regression
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
R, t = make_regression(150, 12, n_informative=4, noise=1.0, random_state=0)
down = RFE(SVC(kernel="linear", C=0.1), n_features_to_select=6, step=2).fit(X, y)
crossed = RFECV(SVR(kernel="linear", C=10.0), step=1, cv=3).fit(R, t)
sparse = SelectFromModel(LinearSVC(C=0.02, penalty="l1", dual=False, random_state=0)).fit(X, y)
large = SelectFromModel(LinearSVR(C=1.0, random_state=0), threshold="median").fit(R, t)
forward = SequentialFeatureSelector(SVC(gamma=0.1), n_features_to_select=3, cv=3).fit(X[:, :10], y)
chain = make_pipeline(sparse, SVC()).fit(X, y)
np.savez(
    sys.argv[1],
    labels_down=down.support_,
    labels_rank=down.ranking_,
    labels_crossed=crossed.support_,
    labels_sparse=sparse.get_support(),
    labels_large=large.get_support(),
    labels_forward=forward.get_support(),
    labels=chain.predict(X),
    values_l1=sparse.estimator_.coef_,
)
