"""Support vector machines with scikit-learn's interface."""

from __future__ import annotations

import warnings

import numpy as np
import sklearn
from sklearn.base import ClassifierMixin, OutlierMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from ._data import check_labels, names_of
from ._frames import check_is_fitted
from ._machine import LARGE, Machine

__all__ = ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "SVDD"]

# Whether scikit-learn's own `probability` and what comes with it are on their way out.
THEIRS_DEPRECATED = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 9)


def _has_probability(estimator):
    if estimator.probability == "deprecated" or not estimator.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


def answers_of(y):
    """Classes, and class codes for the compiled part."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
    return classes, (names_of(classes), codes.astype(np.uint32).ravel())


class Classifier(ClassifierMixin, Machine):
    """What both classifiers have in common."""

    def _learned(self):
        raise NotImplementedError

    def fit(self, X, y, sample_weight=None):
        """Fit the machines.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; under a precomputed kernel its matrix.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C, one per row. Rows of weight 0 are ignored.

        Returns
        -------
        self
        """
        check_labels(y)
        X, y = self._checked(X, y)
        y = column_or_1d(y, warn=True)
        self.classes_, answers = answers_of(y)
        weights = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        self.class_weight_ = weights
        given = None
        if self.class_weight is not None:
            given = {"given": dict(zip(answers[0], map(float, weights), strict=True))}
        learner, own = self._learned()
        if sample_weight is not None:
            self._check_weights(sample_weight, X, answers[1])
        params = self._more(
            class_weights=given,
            multi={"ovo": "one_vs_one", "ovr": "one_vs_rest"}.get(self.multi_class, self.multi_class),
            ties="sum" if self.break_ties else "first",
            probability=self._calibrated(),
            folds=self.folds,
            shift=self.shift,
            seed=_seed(self.random_state),
            **own,
            **self._solver(),
        )
        self._fit_machine(learner, params, X, answers, sample_weight)
        self._group(answers[1])
        return self

    def _calibrated(self):
        """Whether probabilities are requested; explicit values warn as scikit-learn's do."""
        if self.probability == "deprecated":
            return False
        if THEIRS_DEPRECATED:
            name = type(self).__name__
            warnings.warn(
                f"The `probability` parameter of scikit-learn's {name} is deprecated from 1.9 on; Mercer keeps it. "
                f"`CalibratedClassifierCV({name}(), ensemble=False)` works with both",
                FutureWarning,
                stacklevel=3,
            )
        return bool(self.probability)

    def _check_weights(self, sample_weight, X, codes):
        weights = self._weights(sample_weight, X)
        left = np.unique(codes[weights > 0])
        if len(left) == len(self.classes_):
            return
        if self._learned()[0] == "nu-svc":
            raise ValueError("specified nu is infeasible: a class has no samples with positive weights")
        if len(left) == 1:
            raise ValueError(
                "Invalid input - all samples with positive weights belong to the same class. "
                f"The class is {self.classes_[left[0]]!r}"
            )

    def _group(self, codes):
        # Grouped by class, as scikit-learn has them.
        support = self.model_.support.astype(np.intp)
        self._order = np.argsort(codes[support], kind="stable")
        self._n_support = np.bincount(codes[support], minlength=len(self.classes_)).astype(np.int32)

    def _group_by_signs(self):
        """The same for a model from a file, whose coefficients say which class a support vector is of."""
        self.__dict__.pop("_n_support", None)
        coef, sides = self.model_.coef, self.model_.sides
        if not len(coef) or len(coef) != len(self.model_.support) or any(other < 0 for _, other in sides[1:]):
            return
        codes = np.full(len(coef), -1)
        for row, (positive, negative) in zip(coef.T, sides, strict=True):
            codes[row > 0] = positive
            codes[row < 0] = 1 - positive if negative < 0 else negative
        self._group_codes(codes)

    def _group_codes(self, codes):
        self._order = np.argsort(codes, kind="stable")
        self._n_support = np.bincount(codes, minlength=len(self.classes_)).astype(np.int32)

    @property
    def n_support_(self):
        """Number of support vectors of each class; of all of them together where their classes are not known."""
        return self._n_support if "_n_support" in self.__dict__ else super().n_support_

    @property
    def n_iter_(self):
        """Iterations of each machine's solver."""
        check_is_fitted(self)
        each = self.model_.iterations
        return np.maximum(1, np.array(each if any(each) else [super().n_iter_], dtype=np.int32))

    def _sigmoid(self, place):
        check_is_fitted(self)
        if THEIRS_DEPRECATED:
            warnings.warn(
                f"Attribute `prob{'AB'[place]}_` was deprecated in scikit-learn 1.8 and will be removed there; "
                "Mercer keeps it",
                FutureWarning,
                stacklevel=3,
            )
        found = np.array([pair[place] for pair in self.model_.sigmoids])
        # There, outputs are positive for the first class of a pair, and the sigmoid is that class's probability.
        return -found if place == 1 else found

    @property
    def probA_(self):
        """Slopes of the sigmoids of ``probability=True``, one per machine."""
        return self._sigmoid(0)

    @property
    def probB_(self):
        """Shifts of the sigmoids of ``probability=True``, one per machine."""
        return self._sigmoid(1)

    @property
    def _votes(self):
        sides = self.model_.sides
        return len(sides) > 1 and sides[0][1] >= 0

    def _sorted(self):
        return getattr(self, "_order", slice(None))

    @property
    def support_(self):
        """Rows of the training data that are support vectors, grouped by class."""
        return super().support_[self._sorted()]

    @property
    def support_vectors_(self):
        """The support vectors, grouped by class."""
        vectors = super().support_vectors_
        return vectors[self._sorted()] if vectors.shape[0] else vectors

    @property
    def dual_coef_(self):
        """Coefficients of the support vectors, in scikit-learn's layout.

        For two classes one row. For k classes, one-vs-one, k - 1 rows: those of a support vector of class i are its
        coefficients against the other classes in order. Machines against the rest have a row each, and so have
        compressed machines, whose vectors belong to no class.
        """
        check_is_fitted(self)
        coef = self._coef().T
        if "_order" in self.__dict__:
            coef = coef[:, self._order]
            if self._votes:
                coef = self._by_class(coef)
        return self._stored(np.ascontiguousarray(coef))

    def _by_class(self, coef):
        k = len(self.classes_)
        out = np.zeros((k - 1, coef.shape[1]))
        own = np.repeat(np.arange(k), self.n_support_)
        for row, (positive, negative) in zip(coef, self.model_.sides, strict=True):
            for mine, other in ((positive, negative), (negative, positive)):
                place = other if other < mine else other - 1
                # A pair's output is positive for the class that comes first there, for the second one here.
                out[place, own == mine] = -row[own == mine]
        return out

    @property
    def coef_(self):
        """Weights of the columns, one row per machine, for the linear kernel."""
        check_is_fitted(self)
        if not self._collapsed:
            raise AttributeError("coef_ is only available when using a linear kernel")
        return self._frozen(-self._normal() if self._votes else self._normal())

    @property
    def intercept_(self):
        """Offsets of the machines."""
        offset = super().intercept_
        return -offset if self._votes else offset

    def decision_function(self, X):
        """Evaluate the decision function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_classes * (n_classes - 1) / 2)
            For two classes positive for the second. For more, one value per class, or with
            ``decision_function_shape='ovo'`` one per pair, positive for its first class.
        """
        if self.decision_function_shape not in ("ovo", "ovr"):
            raise ValueError(
                f"decision_function_shape must be either 'ovr' or 'ovo', got {self.decision_function_shape}."
            )
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return self._call("decision", X).ravel()
        if self._votes and self.decision_function_shape == "ovo":
            return -self._call("decision", X)
        return self._call("class_scores", X)

    def predict(self, X):
        """Predict class labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        if self.break_ties and len(self.classes_) > 2:
            return self.classes_[np.argmax(self.decision_function(X), axis=1)]
        codes = self._call("predict", X)
        return self.classes_[codes]

    @available_if(_has_probability)
    def predict_proba(self, X):
        """Predict class probabilities; requires ``probability=True``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        if not self.model_.sigmoids:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        return self._call("probabilities", X)

    @available_if(_has_probability)
    def predict_log_proba(self, X):
        """Logarithms of :meth:`predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        """
        return np.log(self.predict_proba(X))


class SVC(Classifier):
    """C-support vector classification.

    The same problem, parameters and attributes as scikit-learn's, solved by Mercer on all cores.

    Parameters
    ----------
    C : float, default=1.0
        Cost of errors. ``float('inf')`` trains the hard margin, and raises ValueError if the classes overlap.
    kernel : str, Kernel or callable, default='rbf'
        A name (``'rbf'``, ``'linear'``, ``'poly'``, ``'sigmoid'``, ``'laplacian'``, ...), a line such as
        ``'0.5*rbf(gamma=1/128) + linear'``, a :class:`mercer.kernels.Kernel`, ``'precomputed'``, or a callable that
        takes two blocks of rows and returns the matrix of kernel values between them.
    degree : int, default=3
        Degree of ``'poly'``.
    gamma : {'scale', 'auto'} or float, default='scale'
        Coefficient of ``'rbf'``, ``'poly'``, ``'sigmoid'``, ``'laplacian'``. ``'scale'`` is ``1 / (n_features * X.var())``,
        ``'auto'`` is ``1 / n_features``.
    coef0 : float, default=0.0
        Constant term of ``'poly'`` and ``'sigmoid'``.
    shrinking : bool, default=True
        Whether to use shrinking.
    probability : bool, default='deprecated'
        Whether to calibrate probability estimates, by cross-validation inside the fit. ``'deprecated'`` is scikit-learn's
        default from 1.9 on and means False; any other value warns with such a scikit-learn, and works.
    tol : float, default=1e-3
        Stopping tolerance (maximum KKT violation).
    cache_size : float, default=None
        Memory budget of a fit in mebibytes; None: half of the machine's memory.
    class_weight : dict or 'balanced', default=None
        Factors of C by class.
    verbose : bool, default=False
        Whether to show a progress bar, if tqdm is installed.
    max_iter : int, default=-1
        Maximum iterations per machine; -1: no limit.
    decision_function_shape : {'ovo', 'ovr'}, default='ovr'
        Shape of `decision_function` for more than two classes.
    break_ties : bool, default=False
        Whether ties between votes are broken by sums of decision values instead of the order of the classes.
    random_state : int, RandomState instance or None, default=None
        Seed of the splits of the calibration. None is a fixed seed.
    multi_class : {'ovo', 'ovr'}, default='ovo'
        Multi-class strategy: one-vs-one or one-vs-rest.
    slack : {'linear', 'squared'}, default='linear'
        Loss: hinge or squared hinge.
    shift : float, default=0.0
        Added to the diagonal of the kernel matrix, for indefinite kernels.
    folds : int, default=5
        Cross-validation folds of the calibration behind ``probability=True``.
    warm_start : bool, default=False
        Whether the next fit starts at the solution of the last one, where that was on as many rows and had the same nu:
        fewer iterations for a series of values of C, with the same result within ``tol``.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).
    callback : callable, default=None
        Called during the fit with a :class:`mercer.Progress`; if it returns True the fit stops and keeps what it has.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    support_ : ndarray of shape (n_SV,)
        Rows that are support vectors.
    support_vectors_ : {ndarray, sparse array} of shape (n_SV, n_features)
        The support vectors.
    n_support_ : ndarray of shape (n_classes,)
        Support vectors of each class.
    dual_coef_ : {ndarray, sparse array} of shape (n_classes - 1, n_SV)
        Their coefficients.
    coef_ : ndarray of shape (n_machines, n_features)
        Weights of the columns, under the linear kernel.
    intercept_ : ndarray of shape (n_machines,)
        Offsets.
    n_iter_ : ndarray of shape (n_machines,)
        Iterations of each machine's solver.
    model_ : mercer.Model
        The fitted model.

    See Also
    --------
    NuSVC : The same machine, parametrised by nu instead of C.
    LinearSVC : Linear machines for many rows or columns.
    AutoClassifier : Chooses scaling, gamma and C from the data.
    VirtualSVC : Retrains on virtual support vectors.
    ReducedSet : Fewer support vectors for faster prediction.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> X = np.array([[-1.0, -1], [-2, -1], [1, 1], [2, 1]])
    >>> y = np.array([1, 1, 2, 2])
    >>> clf = SVC(gamma="auto").fit(X, y)
    >>> clf.predict([[-0.8, -1]])
    array([1])
    >>> clf.n_support_
    array([2, 2], dtype=int32)
    """

    def __init__(
        self,
        *,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability="deprecated",
        tol=1e-3,
        cache_size=None,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
        multi_class="ovo",
        slack="linear",
        shift=0.0,
        folds=5,
        warm_start=False,
        n_jobs=None,
        callback=None,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.multi_class = multi_class
        self.slack = slack
        self.shift = shift
        self.folds = folds
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    def _learned(self):
        return "svc", {"c": self.C, "slack": self.slack}


class NuSVC(Classifier):
    """Support vector classification where nu bounds the fraction of margin errors.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound on the fraction of margin errors, lower bound on that of support vectors.
    kernel : str, Kernel or callable, default='rbf'
        A kernel's name or line, a :class:`mercer.kernels.Kernel`, ``'precomputed'``, or a callable; see :class:`SVC`.
    degree : int, default=3
        Degree of ``'poly'``.
    gamma : {'scale', 'auto'} or float, default='scale'
        Coefficient of ``'rbf'``, ``'poly'``, ``'sigmoid'`` and ``'laplacian'``; see :class:`SVC`.
    coef0 : float, default=0.0
        Constant term of ``'poly'`` and ``'sigmoid'``.
    shrinking : bool, default=True
        Whether to use shrinking.
    probability : bool, default='deprecated'
        Whether to calibrate probability estimates, by cross-validation inside the fit. ``'deprecated'`` is scikit-learn's
        default from 1.9 on and means False; any other value warns with such a scikit-learn, and works.
    tol : float, default=1e-3
        Stopping tolerance (maximum KKT violation).
    cache_size : float, default=None
        Memory budget of a fit in mebibytes; None: half of the machine's memory.
    class_weight : dict or 'balanced', default=None
        Factors of C by class.
    verbose : bool, default=False
        Whether to show a progress bar, if tqdm is installed.
    max_iter : int, default=-1
        Maximum iterations per machine; -1: no limit.
    decision_function_shape : {'ovo', 'ovr'}, default='ovr'
        Shape of `decision_function` for more than two classes.
    break_ties : bool, default=False
        Whether ties between votes are broken by sums of decision values instead of the order of the classes.
    random_state : int, RandomState instance or None, default=None
        Seed of the splits of the calibration. None is a fixed seed.
    multi_class : {'ovo', 'ovr'}, default='ovo'
        Multi-class strategy: one-vs-one or one-vs-rest.
    shift : float, default=0.0
        Added to the diagonal of the kernel matrix, for indefinite kernels.
    folds : int, default=5
        Cross-validation folds of the calibration behind ``probability=True``.
    warm_start : bool, default=False
        Whether the next fit starts at the solution of the last one, where that was on as many rows and had the same nu:
        fewer iterations for a series of values of C, with the same result within ``tol``.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).
    callback : callable, default=None
        Called during the fit with a :class:`mercer.Progress`; if it returns True the fit stops and keeps what it has.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, n_iter_, model_
        As in :class:`SVC`.

    See Also
    --------
    SVC : The same machine, parametrised by C.
    OneClassSVM : Novelty detection with the same meaning of nu.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NuSVC
    >>> X = np.array([[-1.0, -1], [-2, -1], [1, 1], [2, 1]])
    >>> NuSVC(nu=0.5).fit(X, ["a", "a", "b", "b"]).predict([[-0.8, -1]])
    array(['a'], dtype='<U1')
    """

    def __init__(
        self,
        *,
        nu=0.5,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability="deprecated",
        tol=1e-3,
        cache_size=None,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
        multi_class="ovo",
        shift=0.0,
        folds=5,
        warm_start=False,
        n_jobs=None,
        callback=None,
    ):
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.multi_class = multi_class
        self.shift = shift
        self.folds = folds
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    def _learned(self):
        return "nu-svc", {"nu": self.nu}


class Regressor(RegressorMixin, Machine):
    """What both regressions have in common."""

    def fit(self, X, y, sample_weight=None):
        """Fit the function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; under a precomputed kernel its matrix.
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C, one per row.

        Returns
        -------
        self
        """
        X, y = self._checked(X, y, y_numeric=True)
        y = np.ascontiguousarray(column_or_1d(y, warn=True), dtype=np.float64)
        learner, own = self._learned()
        self._fit_machine(learner, self._more(**own, **self._solver()), X, y, sample_weight)
        return self

    def predict(self, X):
        """Predict regression targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._call("predict", X)


class SVR(Regressor):
    """Support vector regression with an epsilon-insensitive loss.

    Parameters
    ----------
    kernel : str, Kernel or callable, default='rbf'
        A kernel's name or line, a :class:`mercer.kernels.Kernel`, ``'precomputed'``, or a callable; see :class:`SVC`.
    degree : int, default=3
        Degree of ``'poly'``.
    gamma : {'scale', 'auto'} or float, default='scale'
        Coefficient of ``'rbf'``, ``'poly'``, ``'sigmoid'`` and ``'laplacian'``; see :class:`SVC`.
    coef0 : float, default=0.0
        Constant term of ``'poly'`` and ``'sigmoid'``.
    tol : float, default=1e-3
        Stopping tolerance (maximum KKT violation).
    C : float, default=1.0
        Cost of errors; ``float('inf')`` means 1e10.
    epsilon : float, default=0.1
        Half-width of the epsilon-insensitive tube.
    shrinking : bool, default=True
        Whether to use shrinking.
    cache_size : float, default=None
        Memory budget of a fit in mebibytes; None: half of the machine's memory.
    verbose : bool, default=False
        Whether to show a progress bar, if tqdm is installed.
    max_iter : int, default=-1
        Maximum iterations per machine; -1: no limit.
    warm_start : bool, default=False
        Whether the next fit starts at the solution of the last one, where that was on as many rows and had the same nu:
        fewer iterations for a series of values of C, with the same result within ``tol``.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).
    callback : callable, default=None
        Called during the fit with a :class:`mercer.Progress`; if it returns True the fit stops and keeps what it has.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, n_iter_, model_
        As in :class:`SVC`.

    See Also
    --------
    NuSVR : The width of the tube follows from nu.
    LinearSVR : Linear regression for many rows or columns.
    HuberSVR : Huber loss, for targets with outliers.
    KernelRidge : Squared loss, in closed form.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVR
    >>> X = np.arange(6.0)[:, None]
    >>> SVR(kernel="linear", C=100, epsilon=0.01).fit(X, 2 * X[:, 0] + 1).predict([[10.0]]).round(1)
    array([21.])
    """

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        C=1.0,
        epsilon=0.1,
        shrinking=True,
        cache_size=None,
        verbose=False,
        max_iter=-1,
        warm_start=False,
        n_jobs=None,
        callback=None,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    def _learned(self):
        return "svr", {"c": min(self.C, LARGE) if self.C == np.inf else self.C, "epsilon": self.epsilon}


class NuSVR(Regressor):
    """Support vector regression where nu bounds the fraction of rows outside the tube.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound on the fraction of rows outside the tube, lower bound on that of support vectors.
    C : float, default=1.0
        Cost of errors; ``float('inf')`` means 1e10.
    kernel : str, Kernel or callable, default='rbf'
        A kernel's name or line, a :class:`mercer.kernels.Kernel`, ``'precomputed'``, or a callable; see :class:`SVC`.
    degree : int, default=3
        Degree of ``'poly'``.
    gamma : {'scale', 'auto'} or float, default='scale'
        Coefficient of ``'rbf'``, ``'poly'``, ``'sigmoid'`` and ``'laplacian'``; see :class:`SVC`.
    coef0 : float, default=0.0
        Constant term of ``'poly'`` and ``'sigmoid'``.
    shrinking : bool, default=True
        Whether to use shrinking.
    tol : float, default=1e-3
        Stopping tolerance (maximum KKT violation).
    cache_size : float, default=None
        Memory budget of a fit in mebibytes; None: half of the machine's memory.
    verbose : bool, default=False
        Whether to show a progress bar, if tqdm is installed.
    max_iter : int, default=-1
        Maximum iterations per machine; -1: no limit.
    warm_start : bool, default=False
        Whether the next fit starts at the solution of the last one, where that was on as many rows and had the same nu:
        fewer iterations for a series of values of C, with the same result within ``tol``.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).
    callback : callable, default=None
        Called during the fit with a :class:`mercer.Progress`; if it returns True the fit stops and keeps what it has.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, n_iter_, model_
        As in :class:`SVC`.

    See Also
    --------
    SVR : The width of the tube is given by epsilon.
    NuSVC : Classification with nu.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NuSVR
    >>> X = np.linspace(0, 3, 40)[:, None]
    >>> NuSVR(C=10).fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.99
    True
    """

    def __init__(
        self,
        *,
        nu=0.5,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        tol=1e-3,
        cache_size=None,
        verbose=False,
        max_iter=-1,
        warm_start=False,
        n_jobs=None,
        callback=None,
    ):
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    def _learned(self):
        return "nu-svr", {"c": min(self.C, LARGE) if self.C == np.inf else self.C, "nu": self.nu}


class Novelty(OutlierMixin, Machine):
    """What both novelty detectors have in common."""

    def fit(self, X, y=None, sample_weight=None):
        """Fit the novelty detector.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; under a precomputed kernel its matrix.
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self
        """
        X = self._checked(X)
        params = self._more(nu=self.nu, **self._solver())
        self._fit_machine(self._learner, params, X, None, sample_weight)
        self.offset_ = -self.model_.offset
        return self

    def decision_function(self, X):
        """Evaluate the decision function: positive for inliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._call("decision", X).ravel()

    def score_samples(self, X):
        """Evaluate the decision function without its threshold `offset_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X):
        """Predict 1 for inliers and -1 for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.where(self._call("predict", X) == 1, 1, -1)


class OneClassSVM(Novelty):
    """Novelty detection by a hyperplane that separates most of the data from the origin of feature space.

    Parameters
    ----------
    kernel : str, Kernel or callable, default='rbf'
        A kernel's name or line, a :class:`mercer.kernels.Kernel`, ``'precomputed'``, or a callable; see :class:`SVC`.
    degree : int, default=3
        Degree of ``'poly'``.
    gamma : {'scale', 'auto'} or float, default='scale'
        Coefficient of ``'rbf'``, ``'poly'``, ``'sigmoid'`` and ``'laplacian'``; see :class:`SVC`.
    coef0 : float, default=0.0
        Constant term of ``'poly'`` and ``'sigmoid'``.
    tol : float, default=1e-3
        Stopping tolerance (maximum KKT violation).
    nu : float, default=0.5
        Upper bound on the fraction of outliers, lower bound on that of support vectors.
    shrinking : bool, default=True
        Whether to use shrinking.
    cache_size : float, default=None
        Memory budget of a fit in mebibytes; None: half of the machine's memory.
    verbose : bool, default=False
        Whether to show a progress bar, if tqdm is installed.
    max_iter : int, default=-1
        Maximum iterations per machine; -1: no limit.
    warm_start : bool, default=False
        Whether the next fit starts at the solution of the last one, where that was on as many rows and had the same nu:
        fewer iterations for a series of values of C, with the same result within ``tol``.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).
    callback : callable, default=None
        Called during the fit with a :class:`mercer.Progress`; if it returns True the fit stops and keeps what it has.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        The level that scores are compared with.
    support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, n_iter_, model_
        As in :class:`SVC`.

    See Also
    --------
    SVDD : A sphere around the data instead of a hyperplane.
    ParzenNovelty : A density estimate with a threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import OneClassSVM
    >>> X = np.array([[0.0], [0.44], [0.45], [0.46], [1.0]])
    >>> OneClassSVM(gamma="auto").fit(X).predict([[0.45], [1.5]])
    array([ 1, -1])
    """

    _learner = "one-class"

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        nu=0.5,
        shrinking=True,
        cache_size=None,
        verbose=False,
        max_iter=-1,
        warm_start=False,
        n_jobs=None,
        callback=None,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback


class SVDD(Novelty):
    """Novelty detection by the smallest sphere around most of the data in feature space.

    Parameters
    ----------
    kernel : str or Kernel, default='rbf'
        A kernel's name or line; not a callable and not ``'precomputed'``: the ball requires ``k(x, x)`` of new rows.
    degree : int, default=3
        Degree of ``'poly'``.
    gamma : {'scale', 'auto'} or float, default='scale'
        Coefficient of ``'rbf'``, ``'poly'``, ``'sigmoid'`` and ``'laplacian'``; see :class:`SVC`.
    coef0 : float, default=0.0
        Constant term of ``'poly'`` and ``'sigmoid'``.
    tol : float, default=1e-3
        Stopping tolerance (maximum KKT violation), relative to the squared diameter.
    nu : float, default=0.5
        Upper bound on the fraction of rows outside the ball.
    shrinking : bool, default=True
        Whether to use shrinking.
    cache_size : float, default=None
        Memory budget of a fit in mebibytes; None: half of the machine's memory.
    verbose : bool, default=False
        Whether to show a progress bar, if tqdm is installed.
    max_iter : int, default=-1
        Maximum iterations per machine; -1: no limit.
    warm_start : bool, default=False
        Whether the next fit starts at the solution of the last one, where that was on as many rows and had the same nu:
        fewer iterations for a series of values of C, with the same result within ``tol``.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).
    callback : callable, default=None
        Called during the fit with a :class:`mercer.Progress`; if it returns True the fit stops and keeps what it has.

    Attributes
    ----------
    radius2_ : float
        The ball's squared radius.
    support_, support_vectors_, n_support_, dual_coef_, n_iter_, model_
        As in :class:`SVC`.

    See Also
    --------
    OneClassSVM : A hyperplane instead of a sphere; the same machine under kernels with constant k(x, x).
    preimage : The point whose image is nearest to the centre.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVDD
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> ball = SVDD(nu=0.1, kernel="linear").fit(X)
    >>> int((ball.predict(X) == -1).sum()) <= 11, int(ball.predict([[5.0, 5.0]])[0])
    (True, -1)
    """

    _learner = "sphere"

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        nu=0.5,
        shrinking=True,
        cache_size=None,
        verbose=False,
        max_iter=-1,
        warm_start=False,
        n_jobs=None,
        callback=None,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X, y=None, sample_weight=None):
        """Fit the sphere.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self
        """
        if self._pairwise() or self._uses_callable():
            raise ValueError("a sphere requires k(x, x) of new rows: pass the kernel by name, line or object")
        super().fit(X, y, sample_weight)
        self.offset_ = 0.0
        return self

    @property
    def radius2_(self):
        """The ball's squared radius in feature space."""
        check_is_fitted(self)
        return dict(self._description["facts"])["radius2"]


def _seed(random_state):
    """A seed for the compiled part."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state = {random_state}: must be an int from 0, a RandomState or None")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
