"""Support vector classifiers of scikit-learn, scikit-learn-intelex (oneDAL), LIBSVM's own package and Mercer's.

    svm.py sklearn|onedal|libsvm|mercer

All train one against one with a Gaussian kernel, probabilities off, cache 4000 MB.
"""

import sys

import numpy as np
from serve import serve, timed

CACHE_MB = 4000
held = {}


def load(request):
    """Rows as float32 in .npy files; held in the type and layout in which this peer is asked to work."""
    held.clear()
    for name in ("x", "y", "test_x", "test_y"):
        held[name] = np.load(request[name])
    for name in ("x", "test_x"):
        held[name] = held[name].astype(request["dtype"])
        if request.get("sparse"):
            from scipy.sparse import csr_matrix

            held[name] = csr_matrix(held[name])


class Sklearn:
    """scikit-learn's SVC: LIBSVM inside."""

    def make(self, request):
        from sklearn.svm import SVC

        return SVC(C=request["c"], gamma=request["gamma"], tol=request["tol"], cache_size=CACHE_MB)

    def fit(self, request):
        machine = self.make(request)
        with timed() as t:
            machine.fit(held["x"], held["y"])
        self.machine = machine
        return t.answer | {"sv": int(machine.support_.size)}

    def predict(self):
        with timed() as t:
            labels = self.machine.predict(held["test_x"])
        return t.answer, labels

    def parts(self):
        """Support rows, coefficients (classes - 1) x rows, and the number of rows a class."""
        m = self.machine
        coef = m.dual_coef_.toarray() if hasattr(m.dual_coef_, "toarray") else m.dual_coef_
        return m.support_, np.asarray(coef), m.n_support_, m.classes_


class Onedal(Sklearn):
    """scikit-learn-intelex: the same face, oneDAL inside."""

    def make(self, request):
        from sklearnex.svm import SVC

        return SVC(C=request["c"], gamma=request["gamma"], tol=request["tol"], cache_size=CACHE_MB)


class Mercer(Sklearn):
    """Our own package."""

    def make(self, request):
        from mercer import SVC

        return SVC(C=request["c"], gamma=request["gamma"], tol=request["tol"])


class Libsvm:
    """LIBSVM's own Python package."""

    def fit(self, request):
        from libsvm.svm import svm_problem
        from libsvm.svmutil import svm_train

        problem = svm_problem(held["y"].astype(float), held["x"])
        line = f"-q -s 0 -t 2 -m {CACHE_MB} -c {request['c']!r} -g {request['gamma']!r} -e {request['tol']!r}"
        with timed() as t:
            self.machine = svm_train(problem, line)
        return t.answer | {"sv": self.machine.get_nr_sv()}

    def predict(self):
        from libsvm.svmutil import svm_predict

        with timed() as t:
            labels, _, _ = svm_predict([], held["test_x"], self.machine, "-q")
        return t.answer, np.asarray(labels).astype(np.int64)

    def parts(self):
        m = self.machine
        coef = np.asarray(m.get_sv_coef()).T
        support = np.asarray(m.get_sv_indices()) - 1
        classes = np.asarray(m.get_labels())
        return support, coef, np.asarray(m.nSV[: len(classes)]), classes


peer = {"sklearn": Sklearn, "onedal": Onedal, "libsvm": Libsvm, "mercer": Mercer}[sys.argv[1]]()


def predict(request):
    answer, labels = peer.predict()
    np.save(request["out"], labels.astype(np.int64))
    return answer | {"error_percent": float(100 * np.mean(labels != held["test_y"]))}


def objective(request):
    """Each pair's dual objective 1/2 a'Qa - sum a, from the coefficients, in float64."""
    support, coef, counts, classes = peer.parts()
    x = held["x"][support]
    x = (x.toarray() if hasattr(x, "toarray") else x).astype(np.float64)
    start = np.concatenate([[0], np.cumsum(counts)])
    pairs = {}
    for i in range(len(classes)):
        for j in range(i + 1, len(classes)):
            a, b = slice(start[i], start[i + 1]), slice(start[j], start[j + 1])
            c = np.concatenate([coef[j - 1, a], coef[i, b]])
            rows = np.concatenate([x[a], x[b]])[c != 0]
            c = c[c != 0]
            pairs["%d,%d" % tuple(sorted((classes[i], classes[j])))] = quadratic(rows, c, request["gamma"]) / 2 - float(
                np.abs(c).sum()
            )
    return {"objective": pairs}


def quadratic(x, c, gamma, block=2048):
    """c'Kc without ever holding K."""
    squares, total = (x * x).sum(1), 0.0
    for s in range(0, len(x), block):
        k = squares[s : s + block, None] + squares[None, :] - 2 * x[s : s + block] @ x.T
        total += float(c[s : s + block] @ (np.exp(-gamma * np.maximum(k, 0)) @ c))
    return total


serve({"load": load, "fit": peer.fit, "predict": predict, "objective": objective})
