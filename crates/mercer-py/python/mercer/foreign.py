"""Fitted estimators of scikit-learn as estimators of this package."""

from __future__ import annotations

import json

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _mercer
from ._base import _columns
from ._data import names_of, rows_of, type_of
from .convert import wrap
from .kernels import line_of
from .kpca import KernelPCA
from .linear import LinearSVC, LinearSVR
from .ridge import KernelRidge
from .svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

__all__ = ["from_sklearn"]

HOMES = ("sklearn.svm._classes", "sklearn.decomposition._kernel_pca", "sklearn.kernel_ridge")
MACHINES = {
    "SVC": (SVC, "svc"),
    "NuSVC": (NuSVC, "nu-svc"),
    "SVR": (SVR, "svr"),
    "NuSVR": (NuSVR, "nu-svr"),
    "OneClassSVM": (OneClassSVM, "one-class"),
}
READ = (
    "SVC, NuSVC, SVR, NuSVR, OneClassSVM, LinearSVC, LinearSVR, KernelRidge or KernelPCA of scikit-learn, or a Pipeline that "
    "ends in one of them"
)


def from_sklearn(estimator):
    """A fitted estimator of scikit-learn as one of this package: to compress it, to save it, to export it.

    Parameters
    ----------
    estimator : fitted estimator of scikit-learn
        SVC, NuSVC, SVR, NuSVR, OneClassSVM, LinearSVC, LinearSVR, KernelRidge or KernelPCA with a kernel by name; a Pipeline
        of scalers, PCA or RBFSampler, and one of them (not KernelPCA), whose steps become stages of the model; a search over such
        estimators, of which the best is used.

    Returns
    -------
    estimator
        Makes the same decisions as the given one, up to rounding. Probabilities agree to about 0.005, the accuracy at which
        LIBSVM stops coupling the probabilities of pairs.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import sklearn.svm
    >>> import mercer
    >>> X, y = load_digits(return_X_y=True)
    >>> theirs = make_pipeline(StandardScaler(), sklearn.svm.SVC(C=10)).fit(X[:600], y[:600])
    >>> ours = mercer.from_sklearn(theirs)
    >>> bool((ours.predict(X) == theirs.predict(X)).all())
    True
    >>> mercer.compress(ours, vectors=100).score(X[600:], y[600:]) > 0.8
    True
    """
    from sklearn.pipeline import Pipeline

    if hasattr(estimator, "best_estimator_"):
        return from_sklearn(estimator.best_estimator_)
    check_is_fitted(estimator)
    if isinstance(estimator, Pipeline):
        return _pipeline(estimator)
    return _plain(estimator, None)


def _plain(estimator, stages):
    if callable(getattr(estimator, "kernel", None)):
        raise ValueError("kernel: got a Python callable, expected a kernel by name")
    match _name(estimator):
        case "KernelPCA" if stages is None:
            return _components(estimator)
        case "KernelRidge":
            return _ridge(estimator, stages)
        case "LinearSVC":
            return _linear(estimator, LinearSVC, stages)
        case "LinearSVR":
            return _linear(estimator, LinearSVR, stages)
        case name if name in MACHINES:
            return _machine(estimator, *MACHINES[name], stages)
    raise ValueError(f"{type(estimator).__name__}: must be {READ}")


def _name(estimator):
    """The name of the class of scikit-learn that an estimator is of.

    By its home: the name in scikit-learn's modules may have been replaced by a class of this package.
    """
    for kind in type(estimator).__mro__:
        if kind.__module__ in HOMES:
            return kind.__name__
    return None


def _pipeline(pipeline):
    steps = [step for _, step in pipeline.steps[:-1] if step is not None and step != "passthrough"]
    width = pipeline.n_features_in_
    parts = []
    for step in steps:
        stage = _stage(step, width)
        parts.append(stage)
        width = stage["header"]["stage"].get("outputs", width)
    stages = _mercer.Stages.from_json(json.dumps(parts))
    last = _plain(pipeline.steps[-1][1], stages)
    # As it would come back from a file: its rows are those of the pipeline.
    found = wrap(last.model_)
    for name in ("classes_", "offset_"):
        if hasattr(last, name):
            setattr(found, name, getattr(last, name))
    if hasattr(pipeline, "feature_names_in_"):
        found.feature_names_in_ = pipeline.feature_names_in_
    return found


def _stage(step, width):
    """A fitted transformer as a saved stage."""
    import sklearn.decomposition as decomposition
    import sklearn.kernel_approximation as kernel_approximation
    import sklearn.preprocessing as preprocessing

    def numbers(values, usual):
        return np.full(width, usual) if values is None else np.asarray(values, dtype=np.float64)

    if isinstance(step, preprocessing.StandardScaler):
        return _scaled(numbers(step.mean_ if step.with_mean else None, 0.0), numbers(step.scale_, 1.0))
    if isinstance(step, preprocessing.MinMaxScaler) and not step.clip:
        return _scaled(-step.min_ / step.scale_, 1.0 / step.scale_)
    if isinstance(step, preprocessing.MaxAbsScaler) and not getattr(step, "clip", False):
        return _scaled(np.zeros(width), numbers(step.scale_, 1.0))
    if isinstance(step, preprocessing.RobustScaler):
        return _scaled(numbers(step.center_, 0.0), numbers(step.scale_, 1.0))
    if isinstance(step, preprocessing.Normalizer) and step.norm == "l2":
        return {"header": {"columns": width, "image": None, "stage": {"name": "unit"}}, "tensors": []}
    if isinstance(step, decomposition.PCA):
        matrix = np.asarray(step.components_, dtype=np.float64)
        if step.whiten:
            matrix = matrix / np.sqrt(step.explained_variance_)[:, None]
        stage = {"name": "linear", "outputs": len(matrix)}
        tensors = [_tensor("matrix", matrix), _tensor("offset", -matrix @ step.mean_)]
        return {"header": {"columns": width, "image": None, "stage": stage}, "tensors": tensors}
    if isinstance(step, kernel_approximation.RBFSampler):
        weights = np.asarray(step.random_weights_, dtype=np.float64)
        gamma = getattr(step, "_gamma", step.gamma)
        stage = {"name": "fourier", "outputs": weights.shape[1], "gamma": float(gamma)}
        tensors = [_tensor("matrix", weights.T), _tensor("offset", step.random_offset_)]
        return {"header": {"columns": width, "image": None, "stage": stage}, "tensors": tensors}
    raise ValueError(
        f"step {type(step).__name__}: must be StandardScaler, MinMaxScaler or MaxAbsScaler without clip, RobustScaler, "
        "Normalizer of the l2 norm, PCA or RBFSampler"
    )


def _scaled(mean, std):
    stage = {"name": "standard", "centred": bool(np.any(mean != 0))}
    tensors = [_tensor("mean", mean), _tensor("std", std)]
    return {"header": {"columns": len(mean), "image": None, "stage": stage}, "tensors": tensors}


def _tensor(name, values):
    return {"name": name, "shape": list(values.shape), "values": [float(v) for v in values.ravel()]}


def _shared(theirs, ours):
    """An estimator of ours with the parameters that both have, and what it knows of its rows."""
    known = ours().get_params()
    found = ours(**{name: value for name, value in theirs.get_params().items() if name in known})
    if "verbose" in known:
        found.set_params(verbose=False)
    for name in ("n_features_in_", "feature_names_in_", "classes_"):
        if hasattr(theirs, name):
            setattr(found, name, getattr(theirs, name))
    return found


def _kernel(estimator, gamma):
    names = {"polynomial": "poly"}
    name = names.get(estimator.kernel, estimator.kernel)
    return line_of(name, np.empty((1, 1)), gamma, estimator.degree, estimator.coef0)


def _machine(theirs, ours, learner, stages):
    line = _kernel(theirs, theirs._gamma)
    coef = theirs._dual_coef_
    coef = coef.toarray() if hasattr(coef, "toarray") else np.asarray(coef)
    support = theirs.support_.astype(np.int64)
    classes, labels, weights, sigmoids, codes = [], None, None, None, None
    classifier = learner in ("svc", "nu-svc")
    # What LIBSVM has for a pair is positive for its first class; here it is positive for the second.
    offset = np.asarray(theirs._intercept_, dtype=np.float64)
    if classifier:
        classes, labels = names_of(theirs.classes_), type_of(theirs.classes_)
        if theirs.class_weight is not None:
            weights = {"given": dict(zip(classes, map(float, theirs.class_weight_), strict=True))}
        k = len(classes)
        codes = np.repeat(np.arange(k), theirs._n_support)
        pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
        full = np.zeros((coef.shape[1], len(pairs)))
        for at, (i, j) in enumerate(pairs):
            full[codes == i, at] = -coef[j - 1, codes == i]
            full[codes == j, at] = -coef[i, codes == j]
        offset = -offset
        if len(theirs._probA):
            sigmoids = [(float(a), -float(b)) for a, b in zip(theirs._probA, theirs._probB, strict=True)]
    else:
        full = coef.T
    pairwise = theirs.kernel == "precomputed"
    vectors = np.empty((1, 1)) if pairwise else theirs.support_vectors_
    found = _shared(theirs, ours)
    found.set_params(cache_size=None)
    if classifier:
        found.set_params(probability=True if sigmoids else "deprecated")
    fitted_with = {"svc": {"c"}, "nu-svc": {"nu"}, "svr": {"c", "epsilon"}, "nu-svr": {"c", "nu"}}
    own = {name.lower(): value for name, value in theirs.get_params().items()}
    params = {name: own[name] for name in fitted_with.get(learner, {"nu"})}
    params["max_iter"] = None if theirs.max_iter == -1 else theirs.max_iter
    if sigmoids:
        params["probability"] = True
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
        sigmoids=sigmoids,
        stages=stages,
    )
    if classifier:
        found._group_codes(codes)
    if learner == "one-class":
        found.offset_ = -np.asarray(offset, dtype=np.float64)
    return found


class _Staged:
    """A model whose estimator does not keep it."""

    def __init__(self, model, **known):
        self.model_ = model
        self.__dict__.update(known)


def _linear(theirs, ours, stages):
    found = _shared(theirs, ours)
    coef = theirs.coef_.toarray() if hasattr(theirs.coef_, "toarray") else theirs.coef_
    found.coef_, found.intercept_, found.n_iter_ = np.array(coef), np.array(theirs.intercept_), int(theirs.n_iter_)
    if stages is None:
        return found
    known = {"classes_": found.classes_} if hasattr(found, "classes_") else {}
    return _Staged(found._model(stages), **known)


def _ridge(theirs, stages):
    found = _shared(theirs, KernelRidge)
    coef = np.asarray(theirs.dual_coef_, dtype=np.float64)
    gamma = theirs.gamma if theirs.gamma is not None or theirs.kernel == "chi2" else 1.0 / theirs.X_fit_.shape[1]
    line = "precomputed" if theirs.kernel == "precomputed" else _kernel(theirs, gamma)
    columns = coef.reshape(len(coef), -1)
    if stages is not None and coef.ndim == 2:
        raise ValueError("KernelRidge of several targets in a Pipeline: a model holds one target")
    found.X_fit_, found.dual_coef_, found._offset = theirs.X_fit_, coef, np.zeros(columns.shape[1])
    found._make_model(theirs.X_fit_, line, rows_of(theirs.X_fit_), columns, found._offset, coef.ndim, stages)
    return found


def _components(theirs):
    values = np.asarray(theirs.eigenvalues_, dtype=np.float64)
    keep = values > 1e-12 * values.max()
    values = np.ascontiguousarray(values[keep])
    axes = theirs.eigenvectors_[:, keep] / np.sqrt(values)
    gamma = theirs.gamma_ if hasattr(theirs, "gamma_") else theirs.gamma
    line = _kernel(theirs, gamma)
    found = KernelPCA(
        len(values),
        kernel=theirs.kernel,
        gamma=theirs.gamma,
        degree=theirs.degree,
        coef0=theirs.coef0,
        alpha=theirs.alpha,
        fit_inverse_transform=theirs.fit_inverse_transform,
        preimage=None if theirs.fit_inverse_transform else "auto",
    )
    found.gamma_ = gamma
    # The trace of the centred matrix: its rows' squared distances from the mean.
    centred = theirs._centerer.transform(theirs._get_kernel(theirs.X_fit_))
    found.n_features_in_ = theirs.n_features_in_
    if hasattr(theirs, "feature_names_in_"):
        found.feature_names_in_ = theirs.feature_names_in_
    found.model_ = _mercer.Model.from_components(
        line, rows_of(theirs.X_fit_), np.ascontiguousarray(axes), values, float(np.trace(centred))
    )
    if theirs.fit_inverse_transform:
        found._learn_back(theirs.X_fit_)
    return found
