"""scikit-learn's way back from kernel principal components, learned by ridge regression, at its best.

One decomposition serves all numbers of components and all ridges: features are nested, and what follows is
scikit-learn's own `inverse_transform` on the first of them.
"""

import numpy as np
from serve import serve
from sklearn.decomposition import KernelPCA

held = {}


def load(request):
    for key in ("x", "noisy", "clean"):
        held[key] = np.ascontiguousarray(np.load(request[key]), dtype=np.float64)


def best(request):
    """Its least mean squared error over widths, components and ridges, looked for on the test rows themselves."""
    least = {"error2": np.inf}
    for gamma in request["gammas"]:
        base = KernelPCA(n_components=max(request["counts"]), kernel="rbf", gamma=gamma).fit(held["x"])
        features, noisy = base.transform(held["x"]), base.transform(held["noisy"])
        for n in request["counts"]:
            for alpha in request["alphas"]:
                model = KernelPCA(n_components=n, kernel="rbf", gamma=gamma, alpha=alpha, fit_inverse_transform=True)
                model.gamma_ = gamma
                model._fit_inverse_transform(features[:, :n], held["x"])
                back = model.inverse_transform(noisy[:, :n])
                error = float(((back - held["clean"]) ** 2).sum(axis=1).mean())
                if error < least["error2"]:
                    least = {"error2": error, "gamma": gamma, "components": n, "alpha": alpha}
    return least


serve({"load": load, "best": best})
