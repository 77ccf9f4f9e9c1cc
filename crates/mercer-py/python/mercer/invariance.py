"""Prior knowledge: label-preserving transformations."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _mercer
from ._base import FLOATS, Fitted
from ._data import array_of, as_configured, rows_of, threads_of
from ._params import check_parameters, whole_number
from .kpca import image_of
from .svm import SVC

__all__ = ["VirtualSVC", "InvariantTransform"]


class VirtualSVC(SVC):
    """Support vector classification of images, retrained on virtual support vectors.

    After the first fit the transformations are applied to each support vector, and the machines are retrained on both
    (Schoelkopf, Burges and Vapnik 1996).

    Parameters
    ----------
    transformations : str, default='shift=1'
        Label-preserving transformations, as a line: ``'shift=1, rotate=10'``.
    image_shape : tuple, default=None
        Height and width of the images, and the number of channels if there are several; None: square.
    virtual_kernel : str or Kernel, default=None
        Kernel of the retraining; None: the same.
    virtual_rounds : int, default=1
        Number of retrainings, each on the support vectors of the previous one.
    virtual_union : bool, default=False
        Whether to retrain each machine on the virtual support vectors of all machines.
    C, kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, class_weight, verbose, max_iter, \
decision_function_shape, break_ties, random_state, multi_class, n_jobs, callback
        As in :class:`SVC`.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, model_
        As in :class:`SVC`.
    support_vectors_ : ndarray of shape (n_SV, n_features)
        Support vectors of the last retraining; virtual ones are not rows of the training data.

    See Also
    --------
    SVC : The machine without virtual support vectors.
    InvariantTransform : Invariance built into the inputs of a linear machine or kernel.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import SVC, VirtualSVC
    >>> X, y = load_digits(return_X_y=True)
    >>> plain = SVC(C=10).fit(X[:400], y[:400]).score(X[800:], y[800:])
    >>> VirtualSVC(C=10).fit(X[:400], y[:400]).score(X[800:], y[800:]) > plain - 0.02
    True
    """

    def __init__(
        self,
        *,
        transformations="shift=1",
        image_shape=None,
        virtual_kernel=None,
        virtual_rounds=1,
        virtual_union=False,
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
        n_jobs=None,
        callback=None,
    ):
        self.transformations = transformations
        self.image_shape = image_shape
        self.virtual_kernel = virtual_kernel
        self.virtual_rounds = virtual_rounds
        self.virtual_union = virtual_union
        super().__init__(
            C=C,
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            shrinking=shrinking,
            probability=probability,
            tol=tol,
            cache_size=cache_size,
            class_weight=class_weight,
            verbose=verbose,
            max_iter=max_iter,
            decision_function_shape=decision_function_shape,
            break_ties=break_ties,
            random_state=random_state,
            multi_class=multi_class,
            n_jobs=n_jobs,
            callback=callback,
        )

    _sparse = False
    # Rows that are moved have kernel values of their own.
    _exact = 0

    @property
    def _image(self):
        return _shape(self.image_shape, self.n_features_in_)

    def _learned(self):
        second = self.virtual_kernel
        own = {
            "c": self.C,
            "virtual_vectors": self.transformations,
            "virtual_kernel": getattr(second, "line", second),
            "virtual_rounds": self.virtual_rounds,
            "virtual_union": bool(self.virtual_union),
        }
        return "svc", own

    def fit(self, X, y, sample_weight=None):
        """Fit, then retrain on virtual support vectors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Images, row by row.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of C, one per row.

        Returns
        -------
        self
        """
        if self._pairwise() or self._uses_callable():
            raise ValueError("virtual examples require new kernel values: pass the kernel by name, line or object")
        return super().fit(X, y, sample_weight)

    def _keep_support(self, X):
        # Centres are no training rows any more.
        for name in ("_support_rows", "_dual"):
            self.__dict__.pop(name, None)

    def _group(self, codes):
        self.__dict__.pop("_n_support", None)

    @property
    def n_support_(self):
        """Number of centres."""
        check_is_fitted(self)
        return np.array([self.model_.coef.shape[0]], dtype=np.int32)

    @property
    def support_(self):
        """Not available: centres include virtual examples."""
        raise AttributeError("support vectors of a VirtualSVC include virtual examples, which are not training rows: see support_vectors_")


class InvariantTransform(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Fitted):
    """Linear map of images that reduces the weight of directions of small transformations.

    A machine trained on its output is nearly invariant to them (Schoelkopf 1997, section 4.2.2).

    Parameters
    ----------
    transformations : str, default='shift=1'
        Label-preserving transformations, as a line: ``'shift=1, rotate=10'``.
    image_shape : tuple, default=None
        Height and width of the images, and the number of channels if there are several; None: square.
    factor : float, default=0.4
        Strength of the invariance: 1 has no effect, values near 0 enforce it.
    drop : int, default=0
        Directions omitted, those in which images move least.
    n_jobs : int, default=None
        Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).

    Attributes
    ----------
    stages_ : object
        The fitted map.

    See Also
    --------
    VirtualSVC : Invariance by virtual support vectors.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline
    >>> from mercer import SVC, InvariantTransform
    >>> X, y = load_digits(return_X_y=True)
    >>> machine = make_pipeline(InvariantTransform(factor=0.9), SVC(kernel="linear"))
    >>> machine.fit(X[:500] / 16, y[:500]).score(X[1000:] / 16, y[1000:]) > 0.9
    True
    """

    def __init__(self, transformations="shift=1", *, image_shape=None, factor=0.4, drop=0, n_jobs=None):
        self.transformations = transformations
        self.image_shape = image_shape
        self.factor = factor
        self.drop = drop
        self.n_jobs = n_jobs

    _sparse = False

    @property
    def _image(self):
        return _shape(self.image_shape, self.n_features_in_)

    def fit(self, X, y=None):
        """Fit the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Images, row by row.
        y : Ignored

        Returns
        -------
        self
        """
        check_parameters(self)
        X = validate_data(self, X, dtype=FLOATS, order="C")
        self.stages_ = _mercer.Stages.invariant(
            str(self.transformations),
            rows_of(X),
            float(self.factor),
            whole_number(self.drop, "drop"),
            threads=threads_of(self.n_jobs),
            image=self._image,
        )
        return self

    @property
    def _n_features_out(self):
        return self.stages_.columns

    def transform(self, X):
        """Transform images.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features - drop)
        """
        return self._through("apply", X)

    def _through(self, way, X):
        check_is_fitted(self)
        X = validate_data(self, X, dtype=FLOATS, order="C", reset=False)
        made = getattr(self.stages_, way)(rows_of(X), threads=threads_of(self.n_jobs), image=self._image)
        return as_configured(array_of(made))

    def save(self, path):
        """A map alone cannot be saved as a model file.

        Parameters
        ----------
        path : str or path-like
            File to write.
        """
        raise ValueError("a map alone cannot be saved as a model file: pickle it")

    def to_onnx(self, path=None):
        """A map alone cannot be exported to ONNX.

        Parameters
        ----------
        path : str or path-like, default=None
            Ignored.

        Raises
        ------
        ValueError
            Always.
        """
        raise ValueError("a map alone cannot be exported to ONNX")


def _shape(shape, columns):
    """The images' shape: as given, or square where that is possible, or one row high."""
    if shape is not None:
        return image_of(shape)
    side = int(round(np.sqrt(columns)))
    return (side, side, 1) if side * side == columns else (1, columns, 1)
