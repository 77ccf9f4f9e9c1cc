"""Copies, pickles and files of fitted estimators."""

import copy
import io
import pickle
import sys
import tempfile
from pathlib import Path

import joblib
import numpy as np
from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.datasets import load_iris
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, LinearSVC, OneClassSVM

X, y = load_iris(return_X_y=True)
chain = Pipeline([("pca", KernelPCA(3, kernel="rbf", gamma=0.1)), ("svc", SVC(C=3.0))], memory=None).fit(X, y)
found = {"labels_again": pickle.loads(pickle.dumps(chain)).predict(X)}
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "chain.joblib"
    joblib.dump(chain, file, compress=3)
    found["labels_file"] = joblib.load(file).predict(X)
    plain = Path(folder) / "plain.joblib"
    joblib.dump(chain, plain)
    found["labels_mapped"] = joblib.load(plain, mmap_mode="r").predict(X)
    stored = Pipeline([("pca", KernelPCA(3, kernel="poly")), ("svc", LinearSVC(random_state=0, C=0.1))], memory=folder).fit(X, y)
    found["labels_stored"] = Pipeline(stored.steps, memory=folder).fit(X, y).predict(X)
file = io.BytesIO()
search = GridSearchCV(SVR(), {"C": [1, 10]}, cv=3).fit(X, y)
pickle.dump(search, file)
file.seek(0)
found["values_search"] = pickle.load(file).predict(X)
found["values_copy"] = copy.deepcopy(search).predict(X)
found["exact_clone"] = clone(KernelRidge(alpha=0.5, kernel="rbf")).fit(X, y).predict(X)
kinds = [SVC(), SVR(), OneClassSVM(), LinearSVC()]
found["labels_kinds"] = np.array([[is_classifier(k), is_regressor(k), is_outlier_detector(k)] for k in kinds])
found["labels_words"] = np.array([repr(k) for k in [*kinds, SVC(C=2, kernel="poly", degree=2), chain]])
found["labels_params"] = np.array(sorted(map(str, chain.get_params(deep=True))))
found["labels_none"] = np.array(
    [hasattr(clone(chain), "classes_"), hasattr(SVC(), "support_"), hasattr(SVC(), "coef_"), hasattr(SVC(), "predict_proba")]
)
np.savez(sys.argv[1], **found)
