"""A grid search judged by several metrics at once, refitted by one of them."""

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:300], y[:300]
scoring = {"auc": "roc_auc", "accuracy": "accuracy", "f1": make_scorer(f1_score, pos_label=0), "ap": "average_precision"}
search = GridSearchCV(
    make_pipeline(StandardScaler(), SVC()),
    {"svc__C": [0.1, 1, 10], "svc__gamma": ["scale", 0.01]},
    scoring=scoring,
    refit="auc",
    cv=StratifiedKFold(4, shuffle=True, random_state=0),
    return_train_score=True,
).fit(X, y)
found = {f"values_{name}_{part}": search.cv_results_[f"mean_{part}_{name}"] for name in scoring for part in ("test", "train")}
np.savez(
    sys.argv[1],
    labels_rank=search.cv_results_["rank_test_auc"],
    labels_best=np.array([search.best_index_]),
    labels=search.predict(X),
    values=search.decision_function(X),
    **found,
)
