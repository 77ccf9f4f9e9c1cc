"""Kernels as objects: added, multiplied, raised to powers, called on rows.

Behind each stands one line of text, the same that the command and model files have, so whatever can be written here can
be saved, compressed and exported.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _mercer
from ._data import rows_of, threads_of
from ._params import InvalidParameterError, whole_number

__all__ = [
    "Kernel",
    "Linear",
    "RBF",
    "Poly",
    "Sigmoid",
    "Laplacian",
    "ChiSquared",
    "InverseMultiquadric",
    "Multiquadric",
    "BSpline",
    "available",
]


class Kernel:
    """A kernel, given as a line of text.

    Parameters
    ----------
    line : str
        Kernels listed by :func:`available`, combined with ``+``, ``*`` and ``^``: ``"0.5*rbf(gamma=1/128) + linear"``.

    Examples
    --------
    >>> from mercer.kernels import RBF, Linear, Kernel
    >>> RBF(0.1) + 0.5 * Linear()
    Kernel('rbf(gamma=0.1) + 0.5*linear')
    >>> (Linear() ** 2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[121.]])
    >>> Kernel("rbf(gamma=-1)")
    Traceback (most recent call last):
        ...
    ValueError: kernel `rbf(gamma=-1)`: gamma = -1: must be a number above 0
    """

    __slots__ = ("line",)

    def __init__(self, line: str) -> None:
        self.line = _mercer.kernel_line(str(line))

    def __add__(self, other: Kernel) -> Kernel:
        if isinstance(other, Kernel):
            return Kernel(f"{self.line} + {other.line}")
        return NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel):
            return Kernel(f"({self.line})*({other.line})")
        if isinstance(other, numbers.Real):
            return Kernel(f"{float(other)!r}*({self.line})")
        return NotImplemented

    __rmul__ = __mul__

    def __pow__(self, degree: int) -> Kernel:
        return Kernel(f"({self.line})^{whole_number(degree, 'degree', 1)}")

    def normalised(self) -> Kernel:
        """The kernel divided by the lengths of both images: ``k(x, y) / sqrt(k(x, x) k(y, y))``."""
        return Kernel(f"normalised({self.line})")

    def __call__(self, X: Any, Y: Any = None, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Kernel values between the rows of X and the rows of Y.

        Parameters
        ----------
        X : array-like of shape (n, d)
        Y : array-like of shape (m, d), default=None
            X itself if None.
        n_jobs : int, default=None
            Number of threads; None means all (or what ``OMP_NUM_THREADS`` says).

        Returns
        -------
        ndarray of shape (n, m)
        """
        y = None if Y is None else rows_of(_numbers(Y))
        return _mercer.kernel_matrix(self.line, rows_of(_numbers(X)), y, threads=threads_of(n_jobs))

    def __repr__(self) -> str:
        return f"Kernel({self.line!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self.line == other.line

    def __hash__(self) -> int:
        return hash(self.line)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Kernel, (self.line,))


def _numbers(X):
    if hasattr(X, "indptr"):
        return X
    X = np.asarray(X)
    return X if X.dtype == np.float32 else np.asarray(X, dtype=np.float64)


def Linear() -> Kernel:
    """``x.y``."""
    return Kernel("linear")


def RBF(gamma: float = 1.0) -> Kernel:
    """The Gaussian ``exp(-gamma |x - y|^2)``.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse squared width.
    """
    return Kernel(f"rbf(gamma={float(gamma)!r})")


def Poly(degree: int = 3, gamma: float = 1.0, coef0: float = 0.0) -> Kernel:
    """``(gamma x.y + coef0)^degree``.

    Parameters
    ----------
    degree : int, default=3
        Degree of the polynomial.
    gamma : float, default=1.0
        Factor of the dot product.
    coef0 : float, default=0.0
        Constant added to the dot product.
    """
    return Kernel(f"poly(degree={whole_number(degree, 'degree')}, scale={float(gamma)!r}, coef0={float(coef0)!r})")


def Sigmoid(gamma: float = 1.0, coef0: float = 0.0) -> Kernel:
    """``tanh(gamma x.y + coef0)``: not positive definite.

    Parameters
    ----------
    gamma : float, default=1.0
        Factor of the dot product.
    coef0 : float, default=0.0
        Constant added to the dot product.
    """
    return Kernel(f"sigmoid(scale={float(gamma)!r}, shift={float(coef0)!r})")


def Laplacian(gamma: float = 1.0) -> Kernel:
    """``exp(-gamma sum_i |x_i - y_i|)``.

    Parameters
    ----------
    gamma : float, default=1.0
        Inverse width.
    """
    return Kernel(f"laplacian(gamma={float(gamma)!r})")


def ChiSquared(gamma: float = 1.0) -> Kernel:
    """``exp(-gamma sum_i (x_i - y_i)^2 / (x_i + y_i))`` for rows without negative values.

    Parameters
    ----------
    gamma : float, default=1.0
        Factor of the distance.
    """
    return Kernel(f"chi2(gamma={float(gamma)!r})")


def InverseMultiquadric(c: float = 1.0) -> Kernel:
    """``1 / sqrt(|x - y|^2 + c^2)``.

    Parameters
    ----------
    c : float, default=1.0
        Width.
    """
    return Kernel(f"inverse_multiquadric(c={float(c)!r})")


def Multiquadric(c: float = 1.0) -> Kernel:
    """``-sqrt(|x - y|^2 + c^2)``: conditionally positive definite.

    Parameters
    ----------
    c : float, default=1.0
        Width.
    """
    return Kernel(f"-1*multiquadric(c={float(c)!r})")


def BSpline(order: int = 3, width: float = 1.0) -> Kernel:
    """A product of B-splines, one per column.

    Parameters
    ----------
    order : int, default=3
        Order: the splines have degree 2 order + 1.
    width : float, default=1.0
        Distance of the knots.
    """
    return Kernel(f"bspline(order={whole_number(order, 'order')}, width={float(width)!r})")


def available() -> dict[str, str]:
    """Every kernel's name with its formula.

    Examples
    --------
    >>> from mercer import kernels
    >>> kernels.available()["rbf"]
    'exp(-gamma |x - y|^2)'
    """
    return {name: formula for name, formula, _, _ in _mercer.kernel_names()}


def line_of(kernel, X, gamma="scale", degree=3, coef0=0.0, params=None) -> str:
    """The line of a kernel given by name, by line or as an object.

    Names with parameters of their own (``rbf``, ``poly``, ``sigmoid``, ``laplacian``, ``chi2``) take them from the
    estimator, as in scikit-learn; a line or an object has its own.
    """
    if isinstance(kernel, Kernel):
        return kernel.line
    if not isinstance(kernel, str):
        raise InvalidParameterError(
            f"The 'kernel' parameter must be a name, a line, a Kernel, 'precomputed' or a callable. Got {kernel!r} instead."
        )
    name = {"polynomial": "poly", "cosine": "normalised(linear)"}.get(kernel, kernel)
    if name not in ("rbf", "poly", "sigmoid", "laplacian", "chi2"):
        try:
            return _mercer.kernel_line(name)
        except ValueError as error:
            raise InvalidParameterError(f"The 'kernel' parameter is wrong: {error}") from None
    g = repr(float(gamma_of(gamma, X, name)))
    match name:
        case "poly":
            return f"poly(degree={whole_number(degree, 'degree')}, scale={g}, coef0={float(coef0)!r})"
        case "sigmoid":
            return f"sigmoid(scale={g}, shift={float(coef0)!r})"
        case _:
            return f"{name}(gamma={g})"


# Values from which the variance is computed in blocks: numpy's own makes a copy of the rows in double precision.
MANY = 1 << 20


def _variance(X):
    with np.errstate(over="ignore", invalid="ignore"):
        if hasattr(X, "multiply"):
            if X.nnz <= MANY or not X.has_canonical_format:
                return X.multiply(X).mean() - X.mean() ** 2
            squares = sum(float(np.square(block, dtype=np.float64).sum()) for block in _blocks(X.data))
            return squares / (X.shape[0] * X.shape[1]) - X.mean() ** 2
        # Arrays that lie on several machines know their variance.
        if not isinstance(X, np.ndarray) or X.size <= MANY:
            return X.var(dtype=np.float64)
        mean = X.mean(dtype=np.float64)
        return sum(float(np.square(block - mean).sum()) for block in _blocks(X.reshape(-1))) / X.size


def _blocks(values):
    """Pieces of an array of one dimension."""
    return (values[start : start + MANY] for start in range(0, len(values), MANY))


def gamma_of(gamma, X, name="rbf"):
    """The number behind ``gamma='scale'``, ``'auto'`` or None."""
    if isinstance(gamma, str):
        if gamma == "auto":
            return 1.0 / X.shape[1]
        if gamma != "scale":
            raise ValueError(f"gamma = {gamma!r}: must be 'scale', 'auto' or a number above 0")
        variance = _variance(X)
        if not np.isfinite(variance):
            raise ValueError("gamma='scale': the variance of the training rows is not finite; scale the data first")
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    if gamma is None:
        return 1.0 if name == "chi2" else 1.0 / X.shape[1]
    if isinstance(gamma, bool) or not isinstance(gamma, numbers.Real):
        raise ValueError(f"gamma = {gamma!r}: must be 'scale', 'auto' or a number above 0")
    return gamma
