"""scikit-learn's k-means from given clusters, and its linear discriminant analysis."""

import numpy as np
from serve import serve
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

held = {}


def load(request):
    held["x"] = np.ascontiguousarray(np.load(request["x"]), dtype=np.float64)


def clusters(request):
    """Lloyd's algorithm from the means of clusters, until nothing moves."""
    start = np.array(request["start"])
    means = np.stack([held["x"][start == c].mean(axis=0) for c in range(start.max() + 1)])
    model = KMeans(n_clusters=len(means), init=means, n_init=1, max_iter=1000, tol=0, algorithm="lloyd")
    model.fit(held["x"])
    return {"inertia": float(model.inertia_), "labels": model.labels_.tolist()}


def discriminant(request):
    """What each class scores on each row, without what its frequency adds."""
    model = LinearDiscriminantAnalysis(solver="lsqr").fit(held["x"], np.array(request["labels"]))
    return {"scores": (model.decision_function(held["x"]) - np.log(model.priors_)).ravel().tolist()}


serve({"load": load, "clusters": clusters, "discriminant": discriminant})
