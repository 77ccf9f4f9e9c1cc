"""Feature maps before linear machines, with kernels of all kinds."""

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import AdditiveChi2Sampler, Nystroem, PolynomialCountSketch, RBFSampler
from sklearn.linear_model import Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import LinearSVC, LinearSVR

X, y = load_digits(return_X_y=True)
X, y = X[:400] / 16, y[:400]


def near(a, b, width):
    return np.exp(-((a - b) ** 2).sum() / width)


found = {}
for kernel, more in {
    "rbf": {"gamma": 0.05},
    "poly": {"degree": 2},
    "cosine": {},
    "chi2": {},
    "laplacian": {"gamma": 0.05},
    "sigmoid": {"gamma": 0.01},
    "linear": {},
}.items():
    chain = make_pipeline(Nystroem(kernel, n_components=60, random_state=1, **more), LinearSVC(C=1.0, random_state=0)).fit(X, y)
    found[f"labels_{kernel}"] = chain.predict(X)
own = Nystroem(lambda a, b: a @ b + 1, n_components=20, random_state=0).fit(X)
given = Nystroem(near, kernel_params={"width": 3.0}, n_components=20, random_state=0).fit(X)
drawn = make_pipeline(RBFSampler(gamma=0.05, n_components=200, random_state=0), SGDClassifier(random_state=0, max_iter=200)).fit(X, y)
joined = make_pipeline(
    make_union(RBFSampler(gamma=0.05, n_components=50, random_state=0), AdditiveChi2Sampler(sample_steps=1)), Ridge()
).fit(X, y)
sketch = make_pipeline(
    PolynomialCountSketch(n_components=80, random_state=0), LinearSVR(C=0.1, random_state=0, loss="squared_epsilon_insensitive")
).fit(X, y)
search = GridSearchCV(
    make_pipeline(Nystroem(random_state=0, gamma=0.05), LinearSVC(random_state=0)),
    {"nystroem__n_components": [20, 60], "linearsvc__C": [0.1, 1]},
    cv=3,
).fit(X, y)
np.savez(
    sys.argv[1],
    values_own=own.transform(X) @ own.transform(X).T,
    values_given=given.transform(X) @ given.transform(X).T,
    labels_indices=np.array([own.component_indices_, given.component_indices_]),
    labels_drawn=drawn.predict(X),
    exact_joined=joined.predict(X),
    values_sketch=sketch.predict(X),
    values_search=search.cv_results_["mean_test_score"],
    **found,
)
