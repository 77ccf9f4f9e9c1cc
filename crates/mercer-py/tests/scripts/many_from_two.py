"""Several classes from machines of two: against the rest, by pairs, by codes, chains and many outputs."""

import sys

import numpy as np
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor, RegressorChain
from sklearn.svm import SVC, SVR, LinearSVC

X, y = load_iris(return_X_y=True)
names = np.array(["setosa", "versicolor", "virginica"], dtype=object)[y]
rest = OneVsRestClassifier(SVC(gamma=0.5), n_jobs=1).fit(X, names)
pairs = OneVsOneClassifier(SVC(gamma=0.5)).fit(X, names)
codes = OutputCodeClassifier(LinearSVC(random_state=0, C=0.1), code_size=2, random_state=0).fit(X, y)
M, Y = make_multilabel_classification(150, 8, n_classes=4, random_state=0)
chain = ClassifierChain(SVC(gamma=0.02), order=[2, 0, 1, 3]).fit(M, Y)
each = MultiOutputClassifier(SVC(gamma=0.02)).fit(M, Y)
sets = OneVsRestClassifier(LinearSVC(C=0.01, random_state=0)).fit(M, Y)
T = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])
both = MultiOutputRegressor(SVR(C=5.0)).fit(X, T)
after = RegressorChain(SVR(C=5.0)).fit(X, T)
np.savez(
    sys.argv[1],
    labels_rest=rest.predict(X).astype(str),
    values_rest=rest.decision_function(X),
    labels_pairs=pairs.predict(X).astype(str),
    values_pairs=pairs.decision_function(X),
    labels_codes=codes.predict(X),
    labels_chain=chain.predict(M),
    labels_each=each.predict(M),
    labels_sets=sets.predict(M),
    values_both=both.predict(X),
    values_after=after.predict(X),
)
