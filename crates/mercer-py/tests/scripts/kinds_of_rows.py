"""The same rows in every container: sparse with long indices, mapped, read-only, in the other order, of other types."""

import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, LinearSVC, OneClassSVM

X, y = load_digits(n_class=4, return_X_y=True)
X, y = X[:240] / 16, y[:240]
csr = sp.csr_matrix(X)
long = sp.csr_matrix((csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)), csr.shape)
frozen = X.copy()
frozen.setflags(write=False)
kinds = {
    "dense": X,
    "fortran": np.asfortranarray(X),
    "strided": np.repeat(X, 2, axis=0)[::2],
    "reversed": X[:, ::-1][:, ::-1],
    "frozen": frozen,
    "half": X.astype(np.float16),
    "single": X.astype(np.float32),
    "bool": X > 0.5,
    "bytes": (X * 16).astype(np.uint8),
    "whole": (X * 16).astype(np.int64),
    "lists": X.tolist(),
    "big endian": X.astype(">f8"),
    "csr": csr,
    "csr long": long,
    "csc": sp.csc_matrix(X),
    "coo": sp.coo_array(X),
    "lil": sp.lil_matrix(X),
    "csr array": sp.csr_array(X),
    "csr single": csr.astype(np.float32),
    "csr bool": sp.csr_matrix(X > 0.5),
    "dok": sp.dok_matrix(X),
}
found = {}
with tempfile.TemporaryDirectory() as folder:
    np.save(Path(folder) / "x.npy", X)
    kinds["mapped"] = np.load(Path(folder) / "x.npy", mmap_mode="r")
    for name, rows in kinds.items():
        name = name.replace(" ", "-")
        machine = SVC(C=2.0, gamma=0.02).fit(rows, y)
        found[f"labels_svc-{name}"] = machine.predict(rows)
        found[f"labels_types-{name}"] = np.array(
            [
                type(machine.support_vectors_).__name__,
                type(machine.dual_coef_).__name__,
                machine.support_vectors_.dtype.kind,
                str(machine.support_.dtype),
                str(machine.decision_function(rows).dtype),
            ]
        )
        found[f"values_svr-{name}"] = SVR(C=2.0, gamma=0.02).fit(rows, y).predict(rows)
        found[f"labels_line-{name}"] = LinearSVC(C=0.1, random_state=0).fit(rows, y).predict(rows)
        found[f"values_one-{name}"] = OneClassSVM(nu=0.2, gamma=0.02).fit(rows).decision_function(rows)
        ridge = KernelRidge(alpha=1.0, kernel="rbf", gamma=0.02).fit(rows, y).predict(rows)
        found[f"values_ridge-{name}"] = ridge
        found[f"values_pca-{name}"] = np.abs(KernelPCA(3, kernel="rbf", gamma=0.02).fit_transform(rows))
        found[f"labels_maps-{name}"] = np.array(
            [str(Nystroem(n_components=20, gamma=0.02, random_state=0).fit_transform(rows).dtype), str(ridge.dtype)]
        )
np.savez(sys.argv[1], **found)
