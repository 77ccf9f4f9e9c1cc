"""Kernel components before other estimators: chosen by a search, brought back, joined with linear ones."""

import sys

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_circles
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.svm import SVC

X, y = make_circles(300, factor=0.3, noise=0.08, random_state=0)
chain = Pipeline([("kpca", KernelPCA(2)), ("log", LogisticRegression())])
search = GridSearchCV(chain, {"kpca__kernel": ["linear", "rbf", "poly"], "kpca__gamma": [0.5, 2.0]}, cv=3).fit(X, y)
D, t = load_digits(return_X_y=True)
D, t = D[:300] / 16, t[:300]
union = FeatureUnion([("pca", PCA(4)), ("kpca", KernelPCA(6, kernel="rbf", gamma=0.05))])
both = make_pipeline(union, SVC(C=3.0)).fit(D[:200], t[:200])
back = KernelPCA(20, kernel="rbf", gamma=0.02, fit_inverse_transform=True, alpha=0.01).fit(D[:200])
zero = KernelPCA(kernel="poly", degree=2, remove_zero_eig=True).fit(X)
cosine = KernelPCA(4, kernel="cosine").fit(D)
sigmoid = KernelPCA(4, kernel="sigmoid", gamma=0.001).fit(D)
arpack = KernelPCA(4, kernel="rbf", eigen_solver="arpack", random_state=0).fit(D)
drawn = KernelPCA(4, kernel="rbf", eigen_solver="randomized", random_state=0, iterated_power=7).fit(D)
groups = make_pipeline(KernelPCA(2, kernel="rbf", gamma=2.0), KMeans(2, n_init=5, random_state=0)).fit_predict(X)
lda = make_pipeline(KernelPCA(30, kernel="rbf", gamma=0.02), LinearDiscriminantAnalysis()).fit(D, t)
np.savez(
    sys.argv[1],
    values_search=search.cv_results_["mean_test_score"],
    labels_both=both.predict(D[200:]),
    labels_names=union.get_feature_names_out().astype(str),
    values_back=back.inverse_transform(back.transform(D[200:220])),
    labels_zero=np.array(zero.eigenvalues_.shape),
    values_eigen=np.concatenate([m.eigenvalues_ for m in (zero, cosine, sigmoid, arpack, drawn)]),
    values_parts=np.abs(np.hstack([m.transform(D) for m in (cosine, sigmoid, arpack)])),
    labels_groups=np.array([(groups[0] == groups).sum()]),
    labels_lda=lda.predict(D),
)
