"""Learning with Mercer kernels: support vector machines, kernel PCA, pre-images and reduced sets.

Estimators have scikit-learn's interface; models are the same files as those of the command ``mercer``.
"""

from typing import TYPE_CHECKING, Any

from . import _threads, kernels
from ._data import Progress
from ._mercer import Model, __version__
from ._versions import show_versions
from .auto import AutoClassifier, AutoRegressor
from .boost import AdaBoostReg
from .cluster import KernelKMeans, SpectralClustering
from .convert import Predictor, load, save, to_onnx
from .fisher import KernelFisher
from .foreign import from_sklearn
from .invariance import InvariantTransform, VirtualSVC
from .kernels import RBF, Kernel, Laplacian, Linear, Poly, Sigmoid
from .kpca import KernelPCA, denoise, preimage
from .learners import (
    AdaBoost,
    ArcGV,
    BayesPointMachine,
    HuberSVR,
    KernelAdatron,
    KernelFisherRegressor,
    KernelKNNClassifier,
    KernelKNNRegressor,
    KernelPerceptron,
    KernelRidgeClassifier,
    LPBoost,
    LPMachineClassifier,
    LPMachineRegressor,
    LaplaceSVR,
    LargeClassifier,
    LargeHingeClassifier,
    LargeLogisticClassifier,
    LargeRegressor,
    ParzenClassifier,
    ParzenNovelty,
    RBFNetworkClassifier,
    RBFNetworkRegressor,
)
from .linear import LinearSVC, LinearSVR
from .maps import EmpiricalKernelMap, Nystroem, RBFSampler
from .reduce import ReducedSet, compress
from .ridge import KernelRidge
from .svm import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM
from .table import TableEncoder

_threads.register()

if TYPE_CHECKING:
    from .patch import patch_sklearn, unpatch_sklearn

__all__ = [
    "AdaBoost",
    "AdaBoostReg",
    "ArcGV",
    "AutoClassifier",
    "AutoRegressor",
    "BayesPointMachine",
    "EmpiricalKernelMap",
    "HuberSVR",
    "InvariantTransform",
    "Kernel",
    "KernelAdatron",
    "KernelFisher",
    "KernelFisherRegressor",
    "KernelKMeans",
    "KernelKNNClassifier",
    "KernelKNNRegressor",
    "KernelPCA",
    "KernelPerceptron",
    "KernelRidge",
    "KernelRidgeClassifier",
    "LPBoost",
    "LPMachineClassifier",
    "LPMachineRegressor",
    "LaplaceSVR",
    "Laplacian",
    "LargeClassifier",
    "LargeHingeClassifier",
    "LargeLogisticClassifier",
    "LargeRegressor",
    "Linear",
    "LinearSVC",
    "LinearSVR",
    "Model",
    "NuSVC",
    "NuSVR",
    "Nystroem",
    "OneClassSVM",
    "ParzenClassifier",
    "ParzenNovelty",
    "Poly",
    "Predictor",
    "Progress",
    "RBF",
    "RBFNetworkClassifier",
    "RBFNetworkRegressor",
    "RBFSampler",
    "ReducedSet",
    "SVC",
    "SVDD",
    "SVR",
    "Sigmoid",
    "SpectralClustering",
    "TableEncoder",
    "VirtualSVC",
    "__version__",
    "compress",
    "denoise",
    "from_sklearn",
    "kernels",
    "load",
    "patch_sklearn",
    "preimage",
    "save",
    "show_versions",
    "to_onnx",
    "unpatch_sklearn",
]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: it imports all of scikit-learn's modules whose names it replaces.
    if name in ("patch_sklearn", "unpatch_sklearn"):
        from . import patch

        return getattr(patch, name)
    raise AttributeError(f"module 'mercer' has no attribute {name!r}")
