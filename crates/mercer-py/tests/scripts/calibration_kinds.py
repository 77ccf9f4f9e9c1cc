"""Calibration of fitted and unfitted machines, with and without an ensemble, and curves of reliability."""

import sys

import numpy as np
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.svm import SVC, LinearSVC, NuSVC

X, y = make_classification(500, 8, n_informative=5, random_state=3)
w = np.where(np.arange(500) % 3 == 0, 2.0, 1.0)
train, mid, test = slice(0, 200), slice(200, 350), slice(350, None)
fitted = SVC(gamma=0.1).fit(X[train], y[train])
prefit = CalibratedClassifierCV(FrozenEstimator(fitted), method="sigmoid").fit(X[mid], y[mid])
alone = CalibratedClassifierCV(NuSVC(nu=0.3, gamma=0.1), ensemble=False, cv=3).fit(X[train], y[train])
weighed = CalibratedClassifierCV(LinearSVC(C=0.5, random_state=0), cv=4).fit(X[train], y[train], sample_weight=w[train])
share, mean = calibration_curve(y[test], prefit.predict_proba(X[test])[:, 1], n_bins=3)
np.savez(
    sys.argv[1],
    values_prefit=prefit.predict_proba(X[test]),
    values_alone=alone.predict_proba(X[test]),
    values_weighed=weighed.predict_proba(X[test]),
    values_losses=np.array([brier_score_loss(y[test], p.predict_proba(X[test])[:, 1]) for p in (prefit, alone, weighed)]),
    values_log=np.array([log_loss(y[test], prefit.predict_proba(X[test]))]),
    values_mean=mean,
)
