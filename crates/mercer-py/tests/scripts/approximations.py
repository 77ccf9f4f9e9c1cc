"""Linear machines on approximate kernel features beside the machine with the kernel itself."""

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC

X, y = load_digits(n_class=9, return_X_y=True)
X = X / 16
X -= X.mean(axis=0)
half = 700
whole = SVC(gamma=0.2).fit(X[:half], y[:half])
found = {"labels": whole.predict(X[half:]), "values_whole": np.array([whole.score(X[half:], y[half:])])}
for name, features in (("fourier", RBFSampler(gamma=0.2, random_state=1)), ("nystroem", Nystroem(gamma=0.2, random_state=1))):
    chain = Pipeline([("map", features), ("svm", LinearSVC(random_state=42, max_iter=20000))])
    for m in (60, 180):
        chain.set_params(map__n_components=m).fit(X[:half], y[:half])
        found[f"values_{name}_{m}"] = np.array([chain.score(X[half:], y[half:])])
        found[f"exact_{name}_{m}"] = np.abs(chain[:1].transform(X[half : half + 50]))
np.savez(sys.argv[1], **found)
