"""Predictions of rows by machines that have not seen them, by each method."""

import sys

import numpy as np
from sklearn.datasets import load_wine, make_regression
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

X, y = load_wine(return_X_y=True)
folds = StratifiedKFold(5, shuffle=True, random_state=1)
machine = make_pipeline(StandardScaler(), SVC(C=2.0, decision_function_shape="ovo"))
line = make_pipeline(StandardScaler(), LinearSVC(C=0.1, random_state=0))
R, t = make_regression(120, 6, noise=5.0, random_state=0)
found = cross_validate(
    make_pipeline(StandardScaler(), SVR(C=50.0)), R, t, cv=KFold(4), scoring=("r2", "neg_mean_absolute_error"), return_estimator=True
)
np.savez(
    sys.argv[1],
    labels=cross_val_predict(machine, X, y, cv=folds),
    values=cross_val_predict(machine, X, y, cv=folds, method="decision_function"),
    values_line=cross_val_predict(line, X, y, cv=folds, method="decision_function"),
    labels_line=cross_val_predict(line, X, y, cv=LeaveOneOut()),
    exact_ridge=cross_val_predict(KernelRidge(kernel="rbf", alpha=0.1), R / 3, t / 100, cv=KFold(5)),
    values_r2=found["test_r2"],
    labels_support=np.array([len(pipe[-1].support_) for pipe in found["estimator"]]).shape,
)
