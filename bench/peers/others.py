"""Machines other than plain classifiers, of scikit-learn and scikit-learn-intelex (oneDAL).

    others.py sklearn|onedal
"""

import sys

import numpy as np
from serve import serve, timed

CACHE_MB = 4000
held = {}


def load(request):
    held.clear()
    for name in ("x", "y", "test_x", "test_y"):
        held[name] = np.load(request[name])
    held["numbers"] = request["numbers"]
    for name in ("x", "test_x"):
        held[name] = held[name].astype(request["dtype"])
        if request["sparse"]:
            from scipy.sparse import csr_matrix

            held[name] = csr_matrix(held[name])


def make(name, args):
    if sys.argv[1] == "onedal":
        from sklearnex import svm
    else:
        from sklearn import svm
    if name in ("SVR", "NuSVR", "NuSVC", "OneClassSVM"):
        return getattr(svm, name)(cache_size=CACHE_MB, **args)
    if name == "LinearSVC":
        return svm.LinearSVC(dual=True, intercept_scaling=1.0, **args)
    if name == "KernelRidge":
        from sklearn.kernel_ridge import KernelRidge

        return KernelRidge(**args)
    if name == "Calibrated":
        from sklearn.calibration import CalibratedClassifierCV

        # What scikit-learn recommends in place of probability=True; the machine on all rows is one more fit.
        return CalibratedClassifierCV(svm.SVC(cache_size=CACHE_MB, **args), cv=5, ensemble=False)
    return svm.SVC(cache_size=CACHE_MB, **args)


def gaussian(a, b, gamma):
    from sklearn.metrics.pairwise import rbf_kernel

    return rbf_kernel(a, b, gamma=gamma)


def learn(request):
    name, args = request["class"], dict(request["args"])
    if name == "Folds":
        from sklearn.model_selection import cross_val_score

        folds = args.pop("folds")
        machine = make("SVC", args)
        with timed() as t:
            scores = cross_val_score(machine, held["x"], held["y"], cv=folds)
        return t.answer | {"error_percent": float(100 * (1 - np.mean(scores)))}
    rows, held["matrix"] = held["x"], None
    if name == "Precomputed":
        gamma = args.pop("gamma")
        rows, held["matrix"] = gaussian(held["x"], held["x"], gamma), gaussian(held["test_x"], held["x"], gamma)
        args["kernel"] = "precomputed"
    machine = make(name, args)
    with timed() as t:
        machine.fit(rows, held["y"])
    held["machine"], held["class"] = machine, name
    if hasattr(machine, "support_"):
        t.answer["sv"] = int(machine.support_.size)
    return t.answer


def answer(request):
    machine, rows = held["machine"], held["test_x"] if held["matrix"] is None else held["matrix"]
    with timed() as t:
        told = machine.predict_proba(rows) if held["class"] == "Calibrated" else machine.predict(rows)
    if held["class"] == "Calibrated":
        told = machine.classes_[told.argmax(axis=1)]
    if held["class"] == "OneClassSVM":
        return t.answer | {"outside_percent": float(100 * np.mean(told < 0))}
    if held["numbers"]:
        return t.answer | {"mse": float(np.mean((told - held["test_y"]) ** 2))}
    return t.answer | {"error_percent": float(100 * np.mean(told != held["test_y"]))}


serve({"load": load, "learn": learn, "answer": answer})
