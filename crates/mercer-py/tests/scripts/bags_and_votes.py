"""Ensembles of machines: bags of rows and columns, boosting, votes, stacks."""

import sys

import numpy as np
from sklearn.datasets import make_classification, make_friedman1
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC

X, y = make_classification(250, 10, n_informative=6, n_classes=3, random_state=0)
R, t = make_friedman1(200, random_state=0)
bag = BaggingClassifier(SVC(gamma=0.05), n_estimators=8, max_samples=0.6, max_features=0.7, oob_score=True, random_state=0).fit(X, y)
whole = BaggingClassifier(LinearSVC(C=0.1, random_state=0), n_estimators=5, bootstrap=False, max_samples=0.5, random_state=1).fit(X, y)
numbers = BaggingRegressor(SVR(C=10.0), n_estimators=6, oob_score=True, random_state=0).fit(R, t)
boost = AdaBoostClassifier(SVC(kernel="linear", C=0.01), n_estimators=5, random_state=0).fit(X, y)
vote = VotingClassifier([("svc", SVC(gamma=0.05)), ("nu", NuSVC(nu=0.3, gamma=0.05)), ("line", LogisticRegression(max_iter=500))]).fit(X, y)
stack = StackingClassifier(
    [("svc", SVC(gamma=0.05)), ("line", LinearSVC(C=0.1, random_state=0))], LogisticRegression(max_iter=500), cv=3
).fit(X, y)
piled = StackingRegressor([("ridge", KernelRidge(kernel="rbf", alpha=0.1)), ("svr", SVR(C=10.0))], Ridge(), cv=3).fit(R, t)
np.savez(
    sys.argv[1],
    labels_bag=bag.predict(X),
    votes_bag=bag.decision_function(X),
    values_oob=np.array([bag.oob_score_, numbers.oob_score_]),
    labels_whole=whole.predict(X),
    values_numbers=numbers.predict(R),
    labels_boost=boost.predict(X),
    labels_vote=vote.predict(X),
    labels_stack=stack.predict(X),
    votes_stack=stack.predict_proba(X),
    values_piled=piled.predict(R),
)
