"""What a fitted machine tells: names, types and shapes of all its attributes, and their values."""

import sys
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM, l1_min_c

X, y = load_iris(return_X_y=True)
estimators = {
    "svc": SVC(),
    "linear": SVC(kernel="linear"),
    "nu": NuSVC(),
    "svr": SVR(),
    "linear-svr": SVR(kernel="linear"),
    "nusvr": NuSVR(),
    "one": OneClassSVM(),
    "one-linear": OneClassSVM(kernel="linear"),
    "lsvc": LinearSVC(random_state=0),
    "lsvr": LinearSVR(random_state=0),
    "no-intercept": LinearSVC(fit_intercept=False, random_state=0),
    "ridge": KernelRidge(kernel="rbf"),
    "pca": KernelPCA(3, kernel="rbf"),
    "back": KernelPCA(2, kernel="rbf", fit_inverse_transform=True),
    "map": Nystroem(n_components=10, random_state=0),
    "drawn": RBFSampler(n_components=10, random_state=0),
}
found = {}
for form, rows in {"dense": X, "sparse": sp.csr_matrix(X)}.items():
    for name, estimator in estimators.items():
        for kind, target in {"three": y, "two": (y > 0).astype(int)}.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    estimator.fit(rows, target)
                except Exception as error:  # noqa: BLE001: what it is, is what is asked
                    found[f"labels_{name}-{form}-{kind}"] = np.array([type(error).__name__])
                    continue
            for public in (
                "classes_",
                "support_",
                "support_vectors_",
                "n_support_",
                "dual_coef_",
                "coef_",
                "shape_fit_",
                "fit_status_",
                "n_iter_",
                "class_weight_",
                "offset_",
                "probA_",
                "n_features_in_",
                "eigenvalues_",
                "eigenvectors_",
                "X_fit_",
                "gamma_",
                "dual_coef_",
                "X_transformed_fit_",
                "intercept_",
                "components_",
                "component_indices_",
                "normalization_",
                "random_weights_",
                "random_offset_",
            ):
                if name == "ridge" and public == "intercept_":
                    # Mercer's may have one.
                    continue
                value = getattr(estimator, public, None)
                what = [type(value).__name__, str(getattr(value, "dtype", "")), str(getattr(value, "shape", ""))]
                if name == "nusvr" and public in ("support_", "support_vectors_", "dual_coef_"):
                    # A problem without a unique solution: other rows may do as well.
                    what = what[:2]
                found[f"labels_{name}-{form}-{kind}-{public}"] = np.array(what)
np.savez(sys.argv[1], **found, values_c=np.array([l1_min_c(X, y)]))
