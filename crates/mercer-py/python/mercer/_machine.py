"""What support vector machines tell about themselves, in scikit-learn's words and layouts."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_consistent_length

from ._base import FLOATS, Fitted
from ._data import array_of, as_configured, rows_of
from ._frames import check_is_fitted, validate_data
from ._params import InvalidParameterError
from .kernels import gamma_of, line_of

# The cost of errors that stands for an infinite one where the library has no hard margin.
LARGE = 1e10
# What is checked of learners without targets.
NO_TARGETS = object()


class Machine(Fitted):
    """What machines with support vectors have in common."""

    # So that dense, sparse and precomputed training data give the same machine where that costs nothing.
    _exact = 256
    _depth = 8

    def __setstate__(self, state):
        state = dict(state)
        # As pickles before 0.2 have it.
        if "_linear_support" in state:
            state["_support_rows"] = state.pop("_linear_support")
        known = state.pop("n_support_", None)
        if known is not None and "_order" in state:
            state["_n_support"] = known
        super().__setstate__(state)

    def _checked(self, X, y=NO_TARGETS, **more):
        """Training rows, and targets where the estimator has some, checked as scikit-learn does."""
        if sp.issparse(X) and self._pairwise():
            raise TypeError("Sparse precomputed kernels are not supported.")
        own = self._uses_callable()
        self._container = "sparse" if sp.issparse(X) and not own else None
        if own:
            # Whatever the function takes: arrays, lists of strings, graphs.
            validate_data(self, X, skip_check_array=True)
            if y is NO_TARGETS:
                return X
            check_consistent_length(X, y)
            return X, y
        more = {"accept_sparse": self._sparse, "dtype": FLOATS, "order": "C", **more}
        return validate_data(self, X, **more) if y is NO_TARGETS else validate_data(self, X, y, **more)

    def _weights(self, sample_weight, X):
        """Weights of the rows; rows with a weight that is not positive are ignored."""
        if sample_weight is None:
            return None
        if (np.asarray(sample_weight, dtype=np.float64) <= 0).all():
            raise ValueError("Invalid input - all samples have zero or negative weights.")
        return np.ascontiguousarray(np.maximum(_check_sample_weight(sample_weight, X, dtype=np.float64), 0.0))

    def _finite(self, fit):
        """Run a fit, with scikit-learn's words where rows are too large for any kernel."""
        try:
            return fit()
        except ValueError as error:
            words = str(error)
            if "finite" in words:
                raise ValueError(
                    "The dual coefficients or intercepts are not finite. The input data may contain large values and "
                    f"need to be preprocessed. ({words})"
                ) from None
            if words.startswith("nu = ") and not 0 < self.nu <= 1:
                raise InvalidParameterError(
                    f"The 'nu' parameter of {type(self).__name__} must be a float in the range (0.0, 1.0]. "
                    f"Got {self.nu!r} instead. ({words})"
                ) from None
            if words.startswith("nu = ") and "at most" in words:
                raise ValueError(f"specified nu is infeasible ({words})") from None
            raise

    def _fit_machine(self, learner, params, X, answers, sample_weight):
        self.__dict__.pop("_order", None)
        self._finite(lambda: self._fit_scaled(learner, params, X, answers, sample_weight))
        self._keep_support(X)
        self.shape_fit_ = X.shape if hasattr(X, "shape") else (_num_samples(X),)

    def _fit_scaled(self, learner, params, X, answers, sample_weight):
        self._gamma = self._coefficient(X)
        self._fit_model(learner, params, X, answers, sample_weight)

    def _line(self, X):
        if isinstance(self.gamma, str) and isinstance(self.kernel, str) and not self._pairwise():
            # The variance of the rows has been asked for already.
            return line_of(self.kernel, X, self._gamma, self.degree, self.coef0)
        return super()._line(X)

    def _coefficient(self, X):
        if self._uses_callable() or self._pairwise() or not isinstance(self.kernel, str):
            return 0.0
        return float(gamma_of(self.gamma, X))

    def _keep_support(self, X):
        """What the model does not have: rows and coefficients behind weights, sparse rows behind dense ones."""
        for name in ("_support_rows", "_dual"):
            self.__dict__.pop(name, None)
        if self._pairwise() or self._uses_callable():
            return
        if self._container or self._collapsed:
            self._support_rows = X[self.model_.support.astype(np.intp)]
        dual = self.model_.dual
        if dual is not None:
            self._dual = dual

    @property
    def _collapsed(self):
        return self.model_.kernel == "linear"

    def _rows(self, X):
        container = getattr(self, "_container", "unknown")
        if container is None and sp.issparse(X) and not self._uses_callable():
            raise ValueError(f"cannot use sparse input in {type(self).__name__!r} trained on dense data")
        if self._uses_callable():
            check_is_fitted(self)
            return rows_of(self._values(X))
        return super()._rows(X)

    def _stored(self, values):
        """An array as scikit-learn would return it after a fit on such rows."""
        return as_configured(sp.csr_array(values)) if getattr(self, "_container", None) else values

    def _coef(self):
        """Coefficients, a row a support vector and a column an output."""
        if "_dual" in self.__dict__:
            return self._dual
        if self._collapsed and self.model_.support.size and self.model_.coef.shape[0] != self.model_.support.size:
            raise AttributeError("a linear machine from a file keeps its weights, not its coefficients: see coef_")
        return self.model_.coef

    @property
    def support_(self):
        """Rows of the training data that are support vectors."""
        check_is_fitted(self)
        return self.model_.support.astype(np.int32)

    @property
    def support_vectors_(self):
        """The support vectors; sparse if the training rows were."""
        check_is_fitted(self)
        if "_support_rows" in self.__dict__:
            return self._stored(self._support_rows)
        centres = self.model_.centres
        return np.empty((0, 0)) if centres is None else array_of(centres)

    @property
    def dual_coef_(self):
        """Coefficients of the support vectors in the decision function; sparse if the training rows were."""
        check_is_fitted(self)
        return self._stored(np.ascontiguousarray(self._coef().T))

    @property
    def coef_(self):
        """Weights of the columns, for the linear kernel; they cannot be written to."""
        check_is_fitted(self)
        if not self._collapsed:
            raise AttributeError("coef_ is only available when using a linear kernel")
        return self._frozen(self._normal())

    def _normal(self):
        centres = array_of(self.model_.centres)
        weights = self.model_.coef.T @ centres
        return weights.toarray() if sp.issparse(weights) else np.asarray(weights)

    def _frozen(self, values):
        values = self._stored(values)
        (values.data if sp.issparse(values) else values).flags.writeable = False
        return values

    @property
    def intercept_(self):
        """Offsets of the decision function."""
        check_is_fitted(self)
        return self.model_.offset

    @property
    def n_support_(self):
        """Number of support vectors."""
        if "model_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} is not fitted yet: it has no n_support_")
        known = len(self.model_.support)
        return np.array([known or self.model_.coef.shape[0]], dtype=np.int32)

    @property
    def n_iter_(self):
        """Iterations of the solver."""
        check_is_fitted(self)
        return max(1, int(self._description["info"]["iterations"]))

    @property
    def fit_status_(self):
        """0 if the solver came to its end, 1 otherwise (then the fit has warned)."""
        check_is_fitted(self)
        return 0 if self._description["info"]["stop"] == "converged" else 1

    @property
    def dual_objective_(self):
        """The value of the quadratic problem that the solver reached, summed over machines."""
        check_is_fitted(self)
        return self._description["info"]["objective"]
