"""Kernels that are given as a matrix or as a function, in searches and cross-validation."""

import sys

import numpy as np
from sklearn.datasets import load_iris
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel, polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer
from sklearn.svm import SVC, SVR, NuSVC, OneClassSVM

X, y = load_iris(return_X_y=True)
K = rbf_kernel(X, gamma=0.3)
search = GridSearchCV(SVC(kernel="precomputed"), {"C": [0.1, 1, 10]}, cv=4).fit(K, y)
rows, new = train_test_split(np.arange(150), random_state=0)
own = SVC(kernel=chi2_kernel).fit(X[rows], y[rows])
laplace = NuSVC(nu=0.2, kernel=lambda a, b: laplacian_kernel(a, b, gamma=0.5)).fit(X[rows], y[rows])
tube = SVR(kernel="precomputed", C=5.0).fit(polynomial_kernel(X[rows], degree=2), y[rows])
odd = OneClassSVM(kernel="precomputed", nu=0.2).fit(K[np.ix_(rows, rows)])
ridge = KernelRidge(kernel=RBF(1.5), alpha=0.1).fit(X[rows], y[rows])
parts = KernelPCA(3, kernel="precomputed").fit(K[np.ix_(rows, rows)])
centred = make_pipeline(KernelCenterer(), SVC(kernel="precomputed")).fit(K[np.ix_(rows, rows)], y[rows])
np.savez(
    sys.argv[1],
    values_search=search.cv_results_["mean_test_score"],
    labels_search=search.predict(K),
    labels_crossed=cross_val_predict(SVC(kernel="precomputed", C=2.0), K, y, cv=5),
    values_scores=cross_val_score(KernelRidge(kernel="precomputed", alpha=0.1), K, y, cv=3),
    labels_own=own.predict(X[new]),
    values_own=own.decision_function(X[new]),
    labels_laplace=laplace.predict(X[new]),
    values_tube=tube.predict(polynomial_kernel(X[new], X[rows], degree=2)),
    values_odd=odd.decision_function(K[np.ix_(new, rows)]),
    exact_ridge=ridge.predict(X[new]),
    exact_parts=np.abs(parts.transform(K[np.ix_(new, rows)])),
    labels_centred=centred.predict(K[np.ix_(new, rows)]),
)
