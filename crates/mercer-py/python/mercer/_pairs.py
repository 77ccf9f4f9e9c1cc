"""Python kernels of estimators whose callables take two rows in scikit-learn: there, blocks of rows work too."""

from __future__ import annotations

import numbers
from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import additive_chi2_kernel, pairwise_kernels
from sklearn.utils.validation import _num_samples

from ._base import Fitted
from ._frames import NUMERIC


# Kernels with a gamma.
_NAMED = ("rbf", "laplacian", "poly", "polynomial", "sigmoid")


def _is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _known(values):
    return {name: value for name, value in values.items() if value is not None}


class Pairwise(Fitted):
    """An estimator whose callable kernel is called with two rows, or with two blocks where it takes them."""

    # Whether the additive chi-squared kernel is scikit-learn's.
    _negative = True
    _dtype = NUMERIC
    # Parameters that count elsewhere, and may be any number here.
    _reals = ("degree",)

    def _uses_callable(self):
        return super()._uses_callable() or self._theirs() is not None

    def _theirs(self):
        """A kernel that scikit-learn has under a name, and the library has not: another additive chi-squared kernel, which is
        negative, polynomials of any degree, a width without end."""
        name = self.kernel if isinstance(self.kernel, str) else None
        if name not in _NAMED and name != "additive_chi2":
            return None
        if name == "additive_chi2":
            return additive_chi2_kernel if self._negative else None
        gamma, degree, coef0 = (self._parameter(name, None) for name in ("gamma", "degree", "coef0"))
        of = {"gamma": gamma, "degree": degree, "coef0": coef0}
        if gamma is not None and not _is_number(gamma):
            return None
        poly = name in ("poly", "polynomial") and _is_number(degree) and (degree == 0 or degree > 0 and degree % 1)
        if poly or gamma == 0:
            return partial(pairwise_kernels, metric=name, filter_params=True, **_known(of))
        return None

    def _parameter(self, name, default):
        """A parameter of the kernel."""
        value = getattr(self, name)
        return default if value is None else value

    def _training(self, X):
        theirs = self._theirs()
        if theirs is not None:
            self._blocks, self.X_fit_ = True, X
            return theirs(X)
        if self._uses_callable():
            self._blocks = self._takes_blocks(X)
            if not self._blocks:
                self.X_fit_ = X
                return self._mirrored(X)
        return super()._training(X)

    def _called(self, x, y):
        theirs = self._theirs()
        if theirs is not None:
            return theirs(x, y)
        values = self.kernel(x, y, **(getattr(self, "kernel_params", None) or {}))
        return values.toarray() if sp.issparse(values) else values

    def _takes_blocks(self, X):
        """Whether the callable gives the same values for blocks as for pairs of rows."""
        left, right = X[:2], X[:3]
        shape = (_num_samples(left), _num_samples(right))
        try:
            together = np.asarray(self._called(left, right), dtype=np.float64)
        except Exception:  # noqa: BLE001: whatever a function for rows does with blocks
            return False
        if together.shape != shape:
            return False
        try:
            single = [[float(np.squeeze(self._called(x, y))) for y in right] for x in left]
        except Exception:  # noqa: BLE001: a function for blocks need not take rows
            return True
        return bool(np.allclose(together, single))

    def _mirrored(self, X):
        n = X.shape[0]
        out = np.empty((n, n))
        for i in range(n):
            for j in range(i, n):
                out[i, j] = out[j, i] = np.squeeze(self._called(X[i], X[j]))
        return out

    def _block(self, rows, n, m):
        if getattr(self, "_blocks", True):
            values = np.asarray(self._called(rows, self.X_fit_), dtype=np.float64, order="C")
            if values.shape != (n, m):
                raise ValueError(f"values of the kernel {self.kernel!r}: got shape {values.shape}, expected {(n, m)}")
            return values
        out = np.empty((n, m))
        for i in range(n):
            for j in range(m):
                out[i, j] = np.squeeze(self._called(rows[i], self.X_fit_[j]))
        return out
