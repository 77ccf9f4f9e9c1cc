"""Calls that Mercer refuses: scikit-learn does them."""

import sys

import numpy as np
from sklearn.svm import SVC

X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]])
y = np.array([0, 0, 1, 1])
# A gamma of 0 makes all kernel values 1, which scikit-learn accepts.
machine = SVC(gamma=0.0).fit(X, y)
np.savez(sys.argv[1], labels=machine.predict(X), values=machine.decision_function(X), exact=machine.dual_coef_)
