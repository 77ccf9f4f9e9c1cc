"""The package as typed code uses it: mypy --strict finds nothing here."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import mercer
from mercer import RBF, SVC, KernelPCA, KernelRidge, Linear, LinearSVC, Progress


def tell(progress: Progress) -> bool:
    return progress.done > 1000 and progress.gap is not None and progress.gap < 0.1


def labels(X: NDArray[np.float64], y: NDArray[np.int64], folder: Path) -> NDArray[np.int64]:
    machine = SVC(C=10, kernel=RBF(0.1) + 0.5 * Linear(), class_weight="balanced", callback=tell).fit(X, y)
    values: NDArray[np.float64] = machine.decision_function(X)
    counts: list[int] = machine.n_support_.tolist()
    machine.save(folder / "machine.mercer")
    data: bytes = machine.to_onnx()
    print(values.shape, counts, len(data), machine.model_.kind)
    found: NDArray[np.int64] = machine.predict(X)
    return found


def curve(X: NDArray[np.float64], t: NDArray[np.float64]) -> float:
    return KernelRidge(alpha=0.1, kernel="rbf", gamma="scale").fit(X, t).score(X, t)


def flat(X: NDArray[np.float64]) -> NDArray[np.float64]:
    kpca = KernelPCA(n_components=2, kernel="rbf", gamma=None, fit_inverse_transform=True)
    features: NDArray[np.float64] = kpca.fit(X).transform(X)
    return features


def others(X: NDArray[np.float64], y: NDArray[np.int64]) -> None:
    LinearSVC(loss="hinge", max_iter=10_000).fit(X, y).sparsify()
    SVC(warm_start=True).fit(X, y).set_params(C=2.0)
    waves: NDArray[np.float64] = mercer.RBFSampler(gamma=0.5, random_state=0).fit(X).transform(X)
    groups: NDArray[np.int32] = mercer.SpectralClustering(2, affinity="rbf").fit(X).labels_
    print(waves.shape, groups.shape)
    mercer.KernelPerceptron(gamma=1.0).fit(X, y).get_params()
    small = mercer.compress(SVC().fit(X, y), vectors=5)
    mercer.save(small, "small.mercer")
    mercer.patch_sklearn(["SVC"])
    mercer.unpatch_sklearn()
    mercer.show_versions()
