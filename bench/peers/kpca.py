"""scikit-learn's kernel PCA: fits, features, and denoising by its learned way back."""

import numpy as np
from serve import serve, timed
from sklearn.decomposition import KernelPCA

held = {}


def load(request):
    for key in ("x", "test_x"):
        if key in request:
            held[key] = np.ascontiguousarray(np.load(request[key]), dtype=np.float64)


def made(request, **more):
    return KernelPCA(
        n_components=request.get("components"),
        kernel="rbf",
        gamma=request["gamma"],
        eigen_solver=request["solver"],
        random_state=1,
        **more,
    )


def fit(request):
    with timed() as t:
        held["model"] = made(request).fit(held["x"])
    return t.answer | {"values": held["model"].eigenvalues_[:2000].tolist()}


def transform(request):
    with timed() as t:
        features = held["model"].transform(held["test_x"])
    return t.answer | {"check": abs(float(features[0, 0]))}


def denoise(request):
    """The whole job: fit with the way back, then noisy rows there and back."""
    with timed() as t:
        model = made(request, fit_inverse_transform=True).fit(held["x"])
        model.inverse_transform(model.transform(held["test_x"]))
    return t.answer


serve({"load": load, "fit": fit, "transform": transform, "denoise": denoise})
