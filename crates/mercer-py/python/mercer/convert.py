"""Model files, and the estimators around what they hold."""

from __future__ import annotations

import json
import os

import numpy as np

from . import _mercer, learners
from ._data import classes_from
from .boost import AdaBoostReg, FunctionClassifier
from .cluster import KernelKMeans
from .fisher import KernelFisher
from .kpca import KernelPCA
from .ridge import KernelRidge
from .svm import SVC, SVDD, SVR, Classifier, NuSVC, NuSVR, OneClassSVM

__all__ = ["load", "save", "to_onnx", "Predictor"]


def save(estimator, path):
    """Save a fitted estimator to a file that the command ``mercer`` also reads.

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
    """Export a fitted estimator to ONNX: bytes, and a file if a path is given.

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
    """A model from a file whose learner has no estimator of its own: it predicts and cannot be fitted."""

    kernel = None
    n_jobs = None

    def fit(self, X, y=None):
        """Not possible.

        Raises
        ------
        ValueError
        """
        raise ValueError("this model was loaded from a file: it can predict but not be fitted")

    def predict(self, X):
        """Predict classes, numbers, or clusters.

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
        """Compute the outputs of the model, one column each; a single one as a vector.

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
    """Load a model file written by this package or by the command.

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
        case "svr" if params.get("loss") not in ("huber", "laplace"):
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
            found = learners.of(kind, about["task"], params, kernel) or Predictor()
    found.model_ = model
    if about["task"] == "classification" or (about["task"] == "novelty" and isinstance(found, Predictor)):
        found.classes_ = classes_from(about["classes"], model.label_type)
    if isinstance(found, Classifier):
        found._group_by_signs()
    if isinstance(found, (OneClassSVM, SVDD)):
        found.offset_ = 0.0 if kind == "sphere" else -model.offset
    columns = model.columns
    if columns is not None:
        found.n_features_in_ = columns
    if model.column_names:
        found.feature_names_in_ = np.array(model.column_names, dtype=object)
    return found
