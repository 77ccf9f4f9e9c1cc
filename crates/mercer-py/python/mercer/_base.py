"""What all estimators have in common."""

from __future__ import annotations

import inspect
import json
import numbers
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning, InconsistentVersionWarning
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import _check_sample_weight, _num_samples

from . import _html, _mercer
from ._data import rows_of, threads_of, type_of, watcher
from ._frames import FLOATS as FLOATS
from ._frames import check_is_fitted, validate_data, whole
from ._params import check_parameters
from .kernels import Kernel, line_of

# The library's names of parameters that are numbers.
NUMBERS = ("c", "epsilon", "lambda", "nu", "shift", "tol")
# Rows of a matrix of kernel values that a Python kernel computes at a time.
BLOCK = 4096
# Sparse rows of at most so many values, zeros included, are fitted as dense ones.
DENSE = 65_536


class Fitted(BaseEstimator):
    """An estimator around a fitted model of the library, `model_`."""

    _image = None
    # Calls between a warning about the solver and the user's `fit`.
    _depth = 4
    # Rows up to which the kernel matrix is computed in f64 before the fit.
    _exact = 0
    # What sparse rows are turned into; False where there is no way with them.
    _sparse = "csr"
    # What rows are converted to; NUMERIC refuses text, as scikit-learn's estimators of this kind do.
    _dtype = FLOATS

    def _more(self, **known):
        """Parameters of the learner from those of the estimator, as JSON, without those that are None."""
        check_parameters(self)
        for name, value in known.items():
            if isinstance(value, float) and value != value:
                raise ValueError(f"The {name!r} parameter must be a number. Got {value!r} instead.")
        return json.dumps({name: _plain(value, name in NUMBERS) for name, value in known.items() if value is not None})

    def _solver(self):
        """What all machines with a solver are told."""
        max_iter = self.max_iter
        if max_iter == -1:
            max_iter = None
        elif max_iter == 0:
            # As good as none: the library begins with one.
            max_iter = 1
        return {"tol": self.tol, "max_iter": max_iter, "shrinking": bool(self.shrinking)}

    def _memory(self):
        """The memory budget of a fit in bytes; None: half of the machine's memory."""
        size = getattr(self, "cache_size", None)
        if size is None:
            return None
        if not size > 0:
            raise ValueError(f"cache_size == {size}, must be above 0")
        return max(1, int(size * 2**20))

    def _line(self, X):
        """The line of this estimator's kernel, for training rows."""
        if self._uses_callable():
            return "precomputed"
        if self._pairwise():
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix: "
                    "X.shape[0] should be equal to X.shape[1]"
                )
            return "precomputed"
        return line_of(self.kernel, X, self.gamma, self.degree, self.coef0)

    def _uses_callable(self):
        return callable(self.kernel) and not isinstance(self.kernel, Kernel)

    def _training(self, X):
        """Training rows as the learner sees them: under a Python kernel, the matrix of its values."""
        if not self._uses_callable():
            return X
        self.X_fit_ = X
        return self._values(X)

    def _seen(self, X):
        """New rows as the model sees them."""
        return self._values(X) if self._uses_callable() else X

    def _values(self, X):
        """Values of a Python kernel between rows and the training rows, a block of rows at a time."""
        n, m = _num_samples(X), _num_samples(self.X_fit_)
        if n <= BLOCK:
            return self._block(X, n, m)
        out = np.empty((n, m))
        for start in range(0, n, BLOCK):
            rows = X[start : start + BLOCK]
            out[start : start + BLOCK] = self._block(rows, _num_samples(rows), m)
        return out

    def _block(self, rows, n, m):
        values = self.kernel(rows, self.X_fit_)
        values = np.asarray(values.toarray() if sp.issparse(values) else values, dtype=np.float64, order="C")
        if values.shape != (n, m):
            raise ValueError(f"values of the kernel {self.kernel!r}: got shape {values.shape}, expected {(n, m)}")
        return values

    def _fit_model(self, learner, params, X, answers=None, sample_weight=None):
        """Fit and keeps the model."""
        line = self._line(X)
        hear, done = watcher(self.verbose, self.callback)
        weights = self._weights(sample_weight, X)
        near = self._near()
        try:
            self.model_ = _mercer.fit(
                learner,
                params,
                line,
                rows_of(self._dense_if_small(self._training(X))),
                answers,
                weights,
                near=near,
                threads=threads_of(self.n_jobs),
                memory=self._memory(),
                exact=self._exact,
                columns=_columns(self),
                labels=type_of(self.classes_) if isinstance(answers, tuple) else None,
                image=self._image,
                callback=hear,
            )
        finally:
            done()
        self._nu = getattr(self, "nu", None)
        self._told()
        return self

    def _near(self):
        """The model whose solution a fit starts at."""
        if not getattr(self, "warm_start", False):
            return None
        # At another nu the sums of the coefficients change, and the way from the old solution is longer than from none.
        return self.__dict__.get("model_") if getattr(self, "nu", None) == self.__dict__.get("_nu") else None

    def _weights(self, sample_weight, X):
        """Weights of the rows for the compiled part."""
        if sample_weight is None:
            return None
        return np.ascontiguousarray(_check_sample_weight(sample_weight, X, dtype=np.float64))

    def _dense_if_small(self, X):
        """Sparse rows as dense ones where that costs next to nothing: the same bits as for dense rows come out."""
        return X.toarray() if sp.issparse(X) and X.shape[0] * X.shape[1] <= DENSE else X

    def _told(self):
        """Warns where a fit did not come to its end."""
        self.__dict__.pop("_about", None)
        stop = self.model_.stop
        if stop == "limit" and getattr(self, "max_iter", -1) not in (-1, None):
            words = (
                f"Solver terminated early (max_iter={self.max_iter}).  Consider pre-processing your data with "
                "StandardScaler or MinMaxScaler."
            )
        elif stop != "converged":
            words = (
                f"the solver stopped before its tolerance was reached ({stop}); "
                "scaling the data or a larger tol may help"
            )
        else:
            return
        warnings.warn(words, ConvergenceWarning, stacklevel=self._depth)

    @property
    def _description(self):
        """A summary of the model."""
        if "_about" not in self.__dict__:
            self._about = json.loads(self.model_.describe())
        return self._about

    def _html_repr(self):
        """scikit-learn's diagram, and below it what was learned."""
        return estimator_html_repr(self) + _html.report(self)

    def __getstate__(self):
        state = dict(super().__getstate__())
        state.pop("_about", None)
        return {**state, "_mercer_version": _mercer.__version__}

    def __setstate__(self, state):
        state = dict(state)
        version = state.pop("_mercer_version", None)
        if version is not None and _numbers(version) > _numbers(_mercer.__version__):
            warnings.warn(
                InconsistentVersionWarning(
                    estimator_name=type(self).__name__,
                    current_sklearn_version=f"(Mercer) {_mercer.__version__}",
                    original_sklearn_version=f"(Mercer) {version}",
                ),
                stacklevel=2,
            )
        # Parameters that came after the pickle was written.
        for name, parameter in inspect.signature(type(self).__init__).parameters.items():
            if parameter.default is not parameter.empty:
                state.setdefault(name, parameter.default)
        super().__setstate__(state)

    def _rows(self, X):
        """New rows, checked, as the compiled part takes them."""
        return rows_of(self._seen(self._new(X)))

    def _new(self, X):
        """New rows, checked."""
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse=self._sparse, dtype=self._dtype, order="C", reset=False)

    def _call(self, method, X):
        """One of the model's methods on new rows."""
        rows = self._rows(X)
        return getattr(self.model_, method)(rows, threads=threads_of(self.n_jobs), image=self._image)

    def save(self, path):
        """Save the model to a file that the command ``mercer`` also reads.

        Parameters
        ----------
        path : str or path-like
        """
        check_is_fitted(self)
        whole(self).save(path)

    def to_onnx(self, path=None):
        """Export the model to ONNX.

        Parameters
        ----------
        path : str or path-like, default=None
            Where to write it.

        Returns
        -------
        bytes
        """
        check_is_fitted(self)
        data = whole(self).to_onnx()
        if path is not None:
            with open(path, "wb") as file:
                file.write(data)
        return data

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._sparse) and not self._pairwise()
        tags.input_tags.pairwise = self._pairwise()
        return tags

    def _pairwise(self):
        return isinstance(getattr(self, "kernel", None), str) and self.kernel == "precomputed"


def _numbers(version):
    return [int(part) for part in version.split(".")[:3] if part.isdigit()]


def _columns(estimator):
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _plain(value, number=False):
    """Numbers of numpy as Python's; JSON has no infinity, the library writes ``"inf"``. True is 1 where it is a number."""
    if isinstance(value, (bool, np.bool_)):
        return float(value) if number else bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        value = float(value)
        return "inf" if value == float("inf") else value
    return value
