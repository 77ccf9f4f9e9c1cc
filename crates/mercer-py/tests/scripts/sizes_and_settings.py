"""Curves over the number of rows and over a setting, with scores of several kinds and times."""

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GroupKFold, ShuffleSplit, TimeSeriesSplit, learning_curve, validation_curve
from sklearn.svm import SVC, SVR, LinearSVC

X, y = load_digits(return_X_y=True)
X, y = X[:500] / 16, y[:500]
splits = ShuffleSplit(n_splits=3, test_size=0.3, random_state=0)
sizes, train, test = learning_curve(SVC(gamma=0.05), X, y, cv=splits, train_sizes=[50, 150, 350])
found = learning_curve(LinearSVC(C=0.1, random_state=0), X, y, cv=splits, train_sizes=[0.2, 1.0], return_times=True)
widths, least = validation_curve(SVC(), X, y, param_name="gamma", param_range=np.logspace(-3, 0, 4), cv=splits)
groups = np.arange(500) % 7
costs, held = validation_curve(
    SVC(gamma=0.05), X, y, param_name="C", param_range=[0.1, 10], groups=groups, cv=GroupKFold(4), scoring="f1_macro"
)
t = np.arange(300) / 20
wave = np.sin(t) + 0.1 * np.cos(9 * t)
past = np.column_stack([np.roll(wave, k) for k in range(1, 6)])[5:]
tube = learning_curve(SVR(C=10.0, epsilon=0.01), past, wave[5:], cv=TimeSeriesSplit(4), train_sizes=[0.5, 1.0], scoring="r2")
ridge = validation_curve(KernelRidge(kernel="rbf"), past, wave[5:], param_name="alpha", param_range=[1e-3, 1.0], cv=TimeSeriesSplit(4))
np.savez(
    sys.argv[1],
    labels_sizes=sizes,
    values_train=train,
    values_test=test,
    values_line=found[2],
    values_widths=np.stack([widths, least]),
    values_costs=np.stack([costs, held]),
    values_tube=tube[2],
    exact_ridge=ridge[1],
)
