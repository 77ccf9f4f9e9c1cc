"""What matters to a fitted machine: permuted columns, partial dependence, boundaries and curves as displays."""

import sys

import matplotlib

matplotlib.use("Agg")
import numpy as np
from sklearn.datasets import load_diabetes, load_wine
from sklearn.inspection import DecisionBoundaryDisplay, PartialDependenceDisplay, partial_dependence, permutation_importance
from sklearn.metrics import ConfusionMatrixDisplay, PrecisionRecallDisplay, RocCurveDisplay
from sklearn.model_selection import LearningCurveDisplay
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

X, y = load_wine(return_X_y=True)
R, t = load_diabetes(return_X_y=True)
machine = make_pipeline(StandardScaler(), SVC(tol=1e-6)).fit(X, y)
tube = make_pipeline(StandardScaler(), SVR(C=100.0)).fit(R, t)
important = permutation_importance(machine, X, y, n_repeats=4, random_state=0)
several = permutation_importance(tube, R, t, n_repeats=3, random_state=0, scoring=["r2", "neg_mean_squared_error"])
alone = partial_dependence(tube, R, [2, 8], kind="both", grid_resolution=12)
pair = partial_dependence(tube, R, [(2, 8)], grid_resolution=6)
classes = partial_dependence(machine, X, [0], grid_resolution=9, response_method="decision_function")
plane = make_pipeline(StandardScaler(), SVC()).fit(X[:, :2], y)
region = DecisionBoundaryDisplay.from_estimator(plane, X[:, :2], grid_resolution=25, response_method="predict")
PartialDependenceDisplay.from_estimator(tube, R, [2, (2, 8)], grid_resolution=5)
two = SVC().fit(X, y == 0)
levels = DecisionBoundaryDisplay.from_estimator(
    SVC(gamma=1).fit(X[:, :2], y == 0), X[:, :2], grid_resolution=20, response_method="decision_function"
)
roc, recall = RocCurveDisplay.from_estimator(two, X, y == 0), PrecisionRecallDisplay.from_estimator(two, X, y == 0)
confusion = ConfusionMatrixDisplay.from_estimator(machine, X, y)
curve = LearningCurveDisplay.from_estimator(machine, X, y, train_sizes=[0.3, 0.6, 1.0], shuffle=True, random_state=0)
np.savez(
    sys.argv[1],
    values_important=important.importances,
    values_several=several["r2"].importances,
    values_alone=np.concatenate(alone["average"]) / 100,
    values_each=alone["individual"][0] / 100,
    values_pair=pair["average"] / 100,
    values_classes=classes["average"],
    labels_region=region.response,
    values_levels=levels.response,
    values_areas=np.array([roc.roc_auc, recall.average_precision]),
    labels_confusion=confusion.confusion_matrix,
    values_curve=curve.test_scores,
)
