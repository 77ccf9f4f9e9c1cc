"""Python kernels of estimators whose callables take two rows in scikit-learn: there, blocks of rows work too."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _num_samples

from ._base import Fitted


class Pairwise(Fitted):
    """An estimator whose callable kernel is called with two rows, or with two blocks where it takes them."""

    def _training(self, X):
        if self._uses_callable():
            self._blocks = self._takes_blocks(X)
            if not self._blocks:
                self.X_fit_ = X
                return self._mirrored(X)
        return super()._training(X)

    def _called(self, x, y):
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
