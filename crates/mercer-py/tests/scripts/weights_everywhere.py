"""Weights of rows and classes through pipelines, searches and scores, and metadata that is routed."""

import sys

import numpy as np
import sklearn
from sklearn.datasets import make_classification, make_friedman1
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight

X, y = make_classification(240, 6, n_informative=4, weights=[0.8], random_state=0)
R, t = make_friedman1(150, random_state=0)
w = np.random.default_rng(0).uniform(0.2, 3, 240)
w[::11] = 0
found = {}
for name, machine in {
    "svc": SVC(gamma=0.1),
    "balanced": SVC(gamma=0.1, class_weight="balanced"),
    "dict": SVC(gamma=0.1, class_weight={0: 1, 1: 4}),
    "line": LinearSVC(C=0.1, random_state=0, class_weight="balanced"),
    "nu": NuSVC(nu=0.1, gamma=0.1, tol=1e-6),
    "dual": LinearSVC(C=0.1, random_state=0, loss="squared_hinge", dual=True),
    "primal": LinearSVC(C=0.1, dual=False),
}.items():
    machine.fit(X, y, sample_weight=w)
    found[f"labels_{name}"], found[f"values_{name}"] = machine.predict(X), machine.decision_function(X)
    found[f"values_score-{name}"] = np.array([machine.score(X, y, sample_weight=w)])
for name, machine in {
    "svr": SVR(C=3.0),
    "nusvr": NuSVR(C=3.0),
    "linear": LinearSVR(C=1.0, loss="squared_epsilon_insensitive", random_state=0),
    "ridge": KernelRidge(kernel="rbf", alpha=0.5),
}.items():
    found[f"values_{name}"] = machine.fit(R, t, sample_weight=w[:150] + 0.01).predict(R)
found["values_one"] = OneClassSVM(nu=0.2).fit(X, sample_weight=w).decision_function(X)
found["values_classes"] = SVC(class_weight="balanced").fit(X, y).class_weight_
chain = make_pipeline(StandardScaler(), SVC(gamma=0.1)).fit(X, y, svc__sample_weight=w)
found["values_chain"] = chain.decision_function(X)
with sklearn.config_context(enable_metadata_routing=True):
    asked = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=False),
        SVC(gamma=0.1).set_fit_request(sample_weight=True).set_score_request(sample_weight=True),
    )
    search = GridSearchCV(asked, {"svc__C": [0.1, 1, 10]}, cv=3).fit(X, y, sample_weight=w)
    found["values_search"] = search.cv_results_["mean_test_score"]
    found["values_crossed"] = cross_validate(asked, X, y, cv=3, params={"sample_weight": w})["test_score"]
balanced = compute_sample_weight("balanced", y)
found["values_same"] = SVC(gamma=0.1).fit(X, y, sample_weight=balanced).decision_function(X)
found["values_computed"] = compute_class_weight("balanced", classes=np.unique(y), y=y)
np.savez(sys.argv[1], **found)
