"""Pipelines of scikit-learn for many rows: kernel features and a linear machine on them, and boosted trees.

    large.py
"""

import numpy as np
from serve import serve, timed

held = {}


def load(request):
    held.clear()
    for name in ("x", "y", "test_x", "test_y"):
        held[name] = np.load(request[name])
    held["numbers"] = request["numbers"]


def features(name, m, gamma, seed):
    from sklearn.kernel_approximation import Nystroem, RBFSampler

    if name == "RBFSampler":
        return RBFSampler(gamma=gamma, n_components=m, random_state=seed)
    return Nystroem(gamma=gamma, n_components=m, random_state=seed)


def machine(name, numbers, args, seed):
    from sklearn import ensemble, linear_model

    if name == "Ridge":
        kind = linear_model.Ridge if numbers else linear_model.RidgeClassifier
        return kind(alpha=args["lambda"])
    if name == "SGD":
        kind = linear_model.SGDRegressor if numbers else linear_model.SGDClassifier
        # The penalty of one row, as the sum over all rows has lambda.
        return kind(alpha=args["lambda"] / args["rows"], random_state=seed)
    if name == "LogisticRegression":
        return linear_model.LogisticRegression(C=1.0 / args["lambda"], max_iter=1000)
    kind = ensemble.HistGradientBoostingRegressor if numbers else ensemble.HistGradientBoostingClassifier
    return kind(random_state=seed)


def learn(request):
    from sklearn.pipeline import make_pipeline

    args = request["args"] | {"rows": len(held["x"])}
    last = machine(request["machine"], held["numbers"], args, request["seed"])
    whole = last
    if request["features"]:
        whole = make_pipeline(features(request["features"], args["m"], args["gamma"], request["seed"]), last)
    with timed() as t:
        whole.fit(held["x"], held["y"])
    held["machine"] = whole
    return t.answer


def answer(request):
    with timed() as t:
        told = held["machine"].predict(held["test_x"])
    if held["numbers"]:
        return t.answer | {"mse": float(np.mean((told - held["test_y"]) ** 2))}
    return t.answer | {"error_percent": float(100 * np.mean(told != held["test_y"]))}


serve({"load": load, "learn": learn, "answer": answer})
