"""Models of other libraries, and files."""

from __future__ import annotations

import json
import os

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _mercer
from ._base import Fitted, _columns
from ._data import array_of, classes_from, names_of, rows_of, type_of
from .boost import AdaBoostReg, FunctionClassifier
from .cluster import KernelKMeans
from .fisher import KernelFisher
from .kernels import line_of
from .kpca import KernelPCA
from .ridge import KernelRidge
from .svm import SVC, SVDD, SVR, Classifier, NuSVC, NuSVR, OneClassSVM, Regressor

__all__ = ["from_sklearn", "load", "save", "to_onnx", "Predictor"]


def save(estimator, path):
    """Writes a fitted estimator to a file that the command ``mercer`` reads too.

    Parameters
    ----------
    estimator : fitted estimator
    path : str or path-like

    Examples
    --------
    >>> import tempfile, os, mercer
    >>> machine = mercer.SVC().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mercer.save(machine, os.path.join(folder, "m.mercer"))
    ...     again = mercer.load(os.path.join(folder, "m.mercer"))
    >>> again.predict([[0.2], [2.9]])
    array([0, 1])
    """
    estimator.save(path)


def to_onnx(estimator, path=None):
    """A fitted estimator as ONNX: bytes, and a file if a path is given.

    Parameters
    ----------
    estimator : fitted estimator
    path : str or path-like, default=None

    Returns
    -------
    bytes
    """
    return estimator.to_onnx(path)


class Predictor(FunctionClassifier):
    """A model of a kind that has no estimator here, read from a file: it predicts and cannot be fitted."""

    kernel = None
    n_jobs = None

    def fit(self, X, y=None):
        """Not possible.

        Raises
        ------
        ValueError
        """
        raise ValueError("this model came from a file: it predicts and cannot be fitted")

    def predict(self, X):
        """Classes, numbers, or clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        answers = self._call("predict", X)
        return self.classes_[answers] if hasattr(self, "classes_") else answers

    def decision_function(self, X):
        """Outputs of the model, a column each; one column as a vector.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray
        """
        values = self._call("decision", X)
        return values.ravel() if values.shape[1] == 1 else values


def load(path):
    """Reads a model file of this package or of the command.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    estimator
        Of the class that fits the model; :class:`Predictor` where there is none.
    """
    return wrap(_mercer.Model.load(os.fspath(path)))


def wrap(model):
    """The estimator around a model."""
    about = json.loads(model.describe())
    params = about["params"] or {}
    kernel = about["kernel"]
    solver = {"kernel": kernel, "tol": params.get("tol", 1e-3), "shrinking": params.get("shrinking", True)}
    solver["max_iter"] = params.get("max_iter") or -1
    kind = model.kind
    match kind:
        case "svc":
            own = {"probability": True if params.get("probability") else "deprecated", **solver}
            own["multi_class"] = "ovr" if params.get("multi") == "one_vs_rest" else "ovo"
            own["break_ties"] = params.get("ties") == "sum"
            nu = params.get("kind") == "nu"
            c = float("inf") if params.get("kind") == "hard" else float(params.get("c", 1.0))
            found = NuSVC(nu=params.get("nu", 0.5), **own) if nu else SVC(C=c, **own)
        case "svr":
            nu = params.get("loss") == "nu"
            own = {"C": params.get("c", 1.0), **solver}
            found = NuSVR(nu=params.get("nu", 0.5), **own) if nu else SVR(epsilon=params.get("epsilon", 0.1), **own)
        case "one-class":
            found = OneClassSVM(nu=params.get("nu", 0.5), **solver)
        case "sphere":
            found = SVDD(nu=params["nu"], **solver)
        case "ridge" if about["task"] == "regression":
            found = KernelRidge(alpha=params["lambda"], kernel=kernel, fit_intercept=params["offset"])
        case "kpca":
            found = KernelPCA(
                params.get("components"), kernel=kernel, whiten=params.get("whiten", False), preimage="auto"
            )
        case "kmeans":
            found = KernelKMeans(params["clusters"], kernel=kernel)
        case "adaboost-reg":
            found = AdaBoostReg(params["c"], n_estimators=params["rounds"], base=params["base"])
        case "kfd" | "kfd-sparse" | "kfd-lp" | "kfd-greedy" if about["task"] == "classification":
            found = KernelFisher(params["lambda"], form=params["form"], kernel=kernel)
        case _:
            found = Predictor()
    found.model_ = model
    if about["task"] == "classification" or (about["task"] == "novelty" and isinstance(found, Predictor)):
        found.classes_ = classes_from(about["classes"], model.label_type)
    if isinstance(found, Classifier):
        found._group_by_signs()
    if isinstance(found, (OneClassSVM, SVDD)):
        found.offset_ = 0.0 if kind == "sphere" else float(-model.offset[0])
    columns = model.columns
    if columns is not None:
        found.n_features_in_ = columns
    if model.column_names:
        found.feature_names_in_ = np.array(model.column_names, dtype=object)
    return found


def from_sklearn(estimator):
    """A fitted estimator of scikit-learn as one of this package: to compress it, to save it, to export it.

    Parameters
    ----------
    estimator : SVC, NuSVC, SVR, NuSVR, OneClassSVM or KernelPCA of scikit-learn
        Fitted, with a kernel by name. Probabilities are not read.

    Returns
    -------
    estimator
        That decides as the one given, to rounding.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> import sklearn.svm
    >>> import mercer
    >>> X, y = load_digits(return_X_y=True)
    >>> theirs = sklearn.svm.SVC(C=10).fit(X[:600], y[:600])
    >>> ours = mercer.from_sklearn(theirs)
    >>> bool((ours.predict(X) == theirs.predict(X)).all())
    True
    >>> mercer.compress(ours, vectors=100).score(X[600:], y[600:]) > 0.88
    True
    """
    import sklearn.decomposition as decomposition
    import sklearn.svm as svm

    check_is_fitted(estimator)
    if callable(getattr(estimator, "kernel", None)):
        raise ValueError("kernel: got a Python callable, expected a kernel by name")
    if isinstance(estimator, decomposition.KernelPCA):
        return _components(estimator)
    for theirs, ours, kind in (
        (svm.SVC, SVC, "svc"),
        (svm.NuSVC, NuSVC, "nu-svc"),
        (svm.SVR, SVR, "svr"),
        (svm.NuSVR, NuSVR, "nu-svr"),
        (svm.OneClassSVM, OneClassSVM, "one-class"),
    ):
        if isinstance(estimator, theirs):
            return _machine(estimator, ours, kind)
    raise ValueError(
        f"{type(estimator).__name__}: must be SVC, NuSVC, SVR, NuSVR, OneClassSVM or KernelPCA of scikit-learn"
    )


def _kernel(estimator, gamma):
    names = {"polynomial": "poly"}
    name = names.get(estimator.kernel, estimator.kernel)
    return line_of(name, np.empty((1, 1)), gamma, estimator.degree, estimator.coef0)


def _machine(theirs, ours, learner):
    line = _kernel(theirs, theirs._gamma)
    coef = theirs._dual_coef_
    coef = coef.toarray() if hasattr(coef, "toarray") else np.asarray(coef)
    support = theirs.support_.astype(np.int64)
    classes, labels, weights = [], None, None
    classifier = learner in ("svc", "nu-svc")
    # What LIBSVM has for a pair is positive for its first class; here it is positive for the second.
    offset = np.asarray(theirs._intercept_, dtype=np.float64)
    if classifier:
        classes, labels = names_of(theirs.classes_), type_of(theirs.classes_)
        if theirs.class_weight is not None:
            weights = {"given": dict(zip(classes, map(float, theirs.class_weight_), strict=True))}
        k = len(classes)
        own = np.repeat(np.arange(k), theirs._n_support)
        pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
        full = np.zeros((coef.shape[1], len(pairs)))
        for at, (i, j) in enumerate(pairs):
            full[own == i, at] = -coef[j - 1, own == i]
            full[own == j, at] = -coef[i, own == j]
        offset = -offset
    else:
        full = coef.T
    pairwise = theirs.kernel == "precomputed"
    vectors = np.empty((1, 1)) if pairwise else theirs.support_vectors_
    shared = {name: value for name, value in theirs.get_params().items() if name in ours().get_params()}
    found = ours(**shared)
    found.set_params(verbose=False, cache_size=None)
    if classifier:
        found.set_params(probability="deprecated")
        found.classes_ = theirs.classes_
    if hasattr(theirs, "n_features_in_"):
        found.n_features_in_ = theirs.n_features_in_
    if hasattr(theirs, "feature_names_in_"):
        found.feature_names_in_ = theirs.feature_names_in_
    fitted_with = {"svc": {"c"}, "nu-svc": {"nu"}, "svr": {"c", "epsilon"}, "nu-svr": {"c", "nu"}}
    own = {name.lower(): value for name, value in theirs.get_params().items()}
    params = {name: own[name] for name in fitted_with.get(learner, {"nu"})}
    params["max_iter"] = None if theirs.max_iter == -1 else theirs.max_iter
    found.model_ = _mercer.Model.from_machine(
        learner,
        found._more(class_weights=weights, tol=theirs.tol, shrinking=bool(theirs.shrinking), **params),
        line,
        rows_of(vectors),
        np.ascontiguousarray(full, dtype=np.float64),
        [float(v) for v in offset],
        classes,
        [int(s) for s in support],
        columns=_columns(found),
        labels=labels,
    )
    if classifier:
        found._group_codes(own)
    if learner == "one-class":
        found.offset_ = float(-offset[0])
    return found


def _components(theirs):
    values = np.asarray(theirs.eigenvalues_, dtype=np.float64)
    keep = values > 1e-12 * values.max()
    values = np.ascontiguousarray(values[keep])
    axes = theirs.eigenvectors_[:, keep] / np.sqrt(values)
    gamma = theirs.gamma_ if hasattr(theirs, "gamma_") else theirs.gamma
    line = _kernel(theirs, gamma)
    found = KernelPCA(
        len(values), kernel=theirs.kernel, gamma=theirs.gamma, degree=theirs.degree, coef0=theirs.coef0
    )
    # The trace of the centred matrix: its rows' squared distances from the mean.
    centred = theirs._centerer.transform(theirs._get_kernel(theirs.X_fit_))
    found.n_features_in_ = theirs.n_features_in_
    if hasattr(theirs, "feature_names_in_"):
        found.feature_names_in_ = theirs.feature_names_in_
    found.model_ = _mercer.Model.from_components(
        line, rows_of(theirs.X_fit_), np.ascontiguousarray(axes), values, float(np.trace(centred))
    )
    return found
