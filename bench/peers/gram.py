"""numpy and scikit-learn on whole kernel matrices."""

import numpy as np
from serve import serve, timed

held = {}


def load(request):
    held["x"] = np.load(request["x"])


def data(request):
    return np.ascontiguousarray(held["x"], dtype=request["dtype"])


def product(request):
    """The machine's product rate: a general product of two different matrices into memory that is there."""
    x = data(request)
    y, out = x.copy(), np.empty((len(x), len(x)), x.dtype)
    with timed() as t:
        np.matmul(x, y.T, out=out)
    return t.answer


def square(request):
    """The same for square matrices, where a product is at its best."""
    n = request["n"]
    rng = np.random.default_rng(1)
    a, b = (rng.random((n, n), dtype=request["dtype"]) for _ in range(2))
    out = np.empty((n, n), a.dtype)
    with timed() as t:
        np.matmul(a, b, out=out)
    return t.answer


def gram_product(request):
    """X X', for which numpy computes half and mirrors it."""
    x = data(request)
    with timed() as t:
        k = x @ x.T
    return t.answer | {"check": float(k[0, 1])}


def numpy_rbf(request):
    """The Gaussian matrix as a careful numpy user writes it: one product, then in place."""
    x, gamma = data(request), request["gamma"]
    with timed() as t:
        k = x @ x.T
        squares = k.diagonal().copy()
        k *= -2
        k += squares[:, None]
        k += squares[None, :]
        np.maximum(k, 0, out=k)
        k *= -gamma
        np.exp(k, out=k)
    return t.answer | {"check": float(k[0, 1])}


def sklearn_rbf(request):
    from sklearn.metrics.pairwise import rbf_kernel

    x = data(request)
    with timed() as t:
        k = rbf_kernel(x, gamma=request["gamma"])
    return t.answer | {"check": float(k[0, 1])}


serve(
    {
        "load": load,
        "product": product,
        "square": square,
        "gram_product": gram_product,
        "numpy_rbf": numpy_rbf,
        "sklearn_rbf": sklearn_rbf,
    }
)
