"""numpy and scipy on image-local kernels: k(x, y) = (sum_p (sum_q w(q - p) x_q y_q)^2 / s)^2."""

import numpy as np
from scipy import ndimage
from serve import serve, timed

held = {}


def load(request):
    held["x"] = np.load(request["x"])


def images(request):
    return np.ascontiguousarray(held["x"][: request["n"]], dtype=request["dtype"])


def windows(side, p):
    """One row a window: the pyramid's weights on every pixel."""
    i, j = np.divmod(np.arange(side * side), side)
    far = np.maximum(abs(i[:, None] - i[None, :]), abs(j[:, None] - j[None, :]))
    return np.maximum(0, (p + 1) // 2 - far).astype(np.float32)


def products(request):
    """One product of matrices a window, on the pixels it holds."""
    x, w = images(request), windows(request["side"], request["p"])
    with timed() as t:
        k = np.zeros((len(x), len(x)), x.dtype)
        for weights in w:
            held_pixels = np.flatnonzero(weights)
            patch = x[:, held_pixels] * np.sqrt(weights[held_pixels])
            z = patch @ patch.T
            z *= z
            k += z
        k /= (w.sum(1) ** 2).sum()
        k *= k
    return t.answer | {"check": float(k[0, 1])}


def filters(request):
    """Products of pixels, filtered image by image with a stack of boxes."""
    x, side, p = images(request), request["side"], request["p"]
    stack = x.reshape(-1, side, side)
    scale = (windows(side, p).sum(1) ** 2).sum()
    with timed() as t:
        k = np.empty((len(x), len(x)), x.dtype)
        for i, image in enumerate(stack):
            z = stack[i:] * image
            sums = z.copy()
            for size in range(3, p + 1, 2):
                sums += ndimage.uniform_filter(z, (1, size, size), mode="constant") * (size * size)
            k[i, i:] = k[i:, i] = ((sums * sums).sum((1, 2)) / scale) ** 2
    return t.answer | {"check": float(k[0, 1])}


def product(request):
    """The machine's rate: a general product of square matrices into memory that is there."""
    n = request["n"]
    rng = np.random.default_rng(1)
    a, b = (rng.random((n, n), dtype=np.float32) for _ in range(2))
    out = np.empty((n, n), a.dtype)
    with timed() as t:
        np.matmul(a, b, out=out)
    return t.answer


serve({"load": load, "products": products, "filters": filters, "product": product})
