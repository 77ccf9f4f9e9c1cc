"""Searches inside cross-validation, a permutation test, a confusion matrix."""

import sys

import numpy as np
from sklearn.datasets import load_iris
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score, permutation_test_score, train_test_split
from sklearn.svm import SVC

X, y = load_iris(return_X_y=True)
inner, outer = (KFold(n_splits=4, shuffle=True, random_state=seed) for seed in (0, 1))
search = GridSearchCV(SVC(kernel="rbf"), {"C": [1, 10, 100], "gamma": [0.01, 0.1]}, cv=inner)
score, shuffled, chance = permutation_test_score(
    SVC(kernel="linear", random_state=7), X, y, cv=StratifiedKFold(2, shuffle=True, random_state=0), n_permutations=10, random_state=0
)
train_X, test_X, train_y, test_y = train_test_split(X, y, random_state=0)
small = SVC(kernel="linear", C=0.01).fit(train_X, train_y)
np.savez(
    sys.argv[1],
    values_nested=cross_val_score(search, X, y, cv=outer),
    values_score=np.array([score]),
    values_shuffled=np.array([shuffled.mean()]),
    labels_confusion=confusion_matrix(test_y, small.predict(test_X)),
)
