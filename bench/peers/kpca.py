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


def best(request):
    """Its least mean squared error over widths, numbers of components and ridges, looked for on the test rows themselves."""
    clean = np.load(request["clean"]).astype(np.float64)
    least, setting = np.inf, ""
    for gamma in request["gammas"]:
        for alpha in request["alphas"]:
            for n in request["counts"]:
                model = KernelPCA(
                    n_components=n, kernel="rbf", gamma=gamma, alpha=alpha, fit_inverse_transform=True,
                    eigen_solver="randomized", random_state=1,
                ).fit(held["x"])
                back = model.inverse_transform(model.transform(held["test_x"]))
                error = float(((back - clean) ** 2).sum(axis=1).mean())
                if error < least:
                    least, setting = error, f"gamma 1/{1 / gamma:.0f}, {n} components, alpha {alpha}"
    return {"error2": least, "setting": setting}


serve({"load": load, "fit": fit, "transform": transform, "denoise": denoise, "best": best})
