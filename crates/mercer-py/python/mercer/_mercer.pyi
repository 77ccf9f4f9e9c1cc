"""The compiled part. Rows are arrays, or `(data, indices, indptr, columns)` of sparse rows."""

from collections.abc import Callable
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Sparse: TypeAlias = tuple[Floats, NDArray[np.uint32], NDArray[np.uint64], int]
Table: TypeAlias = tuple[list[str], list[Floats | list[str | None]], list[str | None]]
Rows: TypeAlias = Floats | NDArray[np.float32] | Sparse | Table
Answers: TypeAlias = Floats | tuple[list[str], NDArray[np.uint32]]
Shape: TypeAlias = tuple[int, int, int] | None
Function: TypeAlias = tuple[int, Floats, Floats]
Sums: TypeAlias = tuple[Floats, Floats, Floats]
Callback: TypeAlias = Callable[[str, int, int | None, float | None, int | None], Any] | None

__version__: str

def learner_table() -> str: ...
def fit(
    learner: str,
    params: str,
    kernel: str | None,
    rows: Rows,
    answers: Answers | None = None,
    weights: Floats | None = None,
    *,
    near: Model | None = None,
    threads: int = 0,
    memory: int | None = None,
    exact: int = 0,
    columns: list[str] | None = None,
    labels: str | None = None,
    image: Shape = None,
    callback: Callback = None,
) -> Model: ...
def fit_auto(
    rows: Rows,
    answers: Answers,
    *,
    seconds: float | None = None,
    probability: bool = False,
    seed: int = 0,
    threads: int = 0,
    columns: list[str] | None = None,
    labels: str | None = None,
    callback: Callback = None,
) -> tuple[Model, str]: ...
def search(
    rows: Rows,
    answers: Answers,
    options: str,
    *,
    hands: Callable[[str, list[str]], Any] | None = None,
    refit: bool = True,
    threads: int = 0,
    memory: int | None = None,
    columns: list[str] | None = None,
    labels: str | None = None,
    callback: Callback = None,
) -> tuple[Model | None, str]: ...
def large_centres(
    learner: str, params: str, kernel: str, rows: Rows, answers: Answers | None, count: int, *, threads: int = 0
) -> Centres: ...
def fit_large(
    learner: str,
    params: str,
    centres: Centres,
    count: int,
    weight: float,
    passes: Callable[..., Sums],
    *,
    threads: int = 0,
    columns: list[str] | None = None,
    labels: str | None = None,
    callback: Callback = None,
) -> Model: ...
def fit_large_components(
    params: str,
    centres: Centres,
    count: int,
    trace: float,
    passes: Callable[..., Sums],
    *,
    threads: int = 0,
    columns: list[str] | None = None,
    callback: Callback = None,
) -> Model: ...
def fit_components(
    params: str,
    rows: Rows,
    *,
    threads: int = 0,
    columns: list[str] | None = None,
    image: Shape = None,
    callback: Callback = None,
) -> Model: ...
def fit_denoiser(
    rows: Rows,
    noisy: Rows | None = None,
    *,
    kernel: str | None = None,
    components: int | None = None,
    noise: float | None = None,
    seed: int = 0,
    threads: int = 0,
    image: Shape = None,
    callback: Callback = None,
) -> tuple[Model, int, float | None]: ...
def fit_linear(
    rows: Rows,
    targets: Floats,
    cost: Floats,
    *,
    squared: bool,
    constant: float | None = None,
    epsilon: float | None = None,
    tol: float = 1e-4,
    epochs: int = 1000,
    seed: int = 0,
    memory: int | None = None,
    callback: Callback = None,
) -> tuple[Floats, int, bool]: ...
def fit_ridge(
    params: str,
    rows: Rows,
    targets: Floats,
    weights: Floats | None = None,
    *,
    threads: int = 0,
    memory: int | None = None,
    callback: Callback = None,
) -> tuple[Map, NDArray[np.uint32], float]: ...
def spectral_clusters(
    kernel: str,
    rows: Rows,
    clusters: int,
    *,
    starts: int = 10,
    seed: int = 0,
    threads: int = 0,
    callback: Callback = None,
) -> NDArray[np.uint32]: ...
def kernel_line(line: str) -> str: ...
def kernel_names() -> list[tuple[str, str, str, list[tuple[str, str | None, str]]]]: ...
def kernel_matrix(kernel: str, x: Rows, y: Rows | None = None, *, threads: int = 0) -> Floats: ...

class Model:
    @classmethod
    def load(cls, path: str | PathLike[str]) -> Model: ...
    @classmethod
    def from_bytes(cls, bytes: bytes) -> Model: ...
    @classmethod
    def from_libsvm(cls, text: str) -> Model: ...
    @property
    def stop(self) -> str: ...
    @property
    def gap(self) -> float: ...
    @property
    def kernel(self) -> str: ...
    def behind(self, stages: Stages, columns: list[str]) -> Model: ...
    def stages(self) -> Stages: ...
    @classmethod
    def from_machine(
        cls,
        learner: str,
        params: str,
        kernel: str,
        rows: Rows,
        coef: Floats,
        offset: list[float],
        classes: list[str],
        support: list[int],
        *,
        columns: list[str] | None = None,
        labels: str | None = None,
        sigmoids: list[tuple[float, float]] | None = None,
        stages: Stages | None = None,
    ) -> Model: ...
    @classmethod
    def from_components(cls, kernel: str, rows: Rows, axes: Floats, values: Floats, total: float) -> Model: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def to_bytes(self) -> bytes: ...
    def to_onnx(self) -> bytes: ...
    def to_libsvm(self) -> str: ...
    def describe(self) -> str: ...
    def _repr_html_(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def columns(self) -> int | None: ...
    @property
    def column_names(self) -> list[str]: ...
    @property
    def label_type(self) -> str | None: ...
    @property
    def centres(self) -> Rows | None: ...
    @property
    def coef(self) -> Floats: ...
    @property
    def offset(self) -> Floats: ...
    @property
    def support(self) -> NDArray[np.uint32]: ...
    @property
    def dual(self) -> Floats | None: ...
    @property
    def iterations(self) -> list[int]: ...
    @property
    def sigmoids(self) -> list[tuple[float, float]]: ...
    @property
    def sides(self) -> list[tuple[int, int]]: ...
    def decision(self, rows: Rows, *, threads: int = 0, image: Shape = None) -> Floats: ...
    def predict(self, rows: Rows, *, threads: int = 0, image: Shape = None) -> Floats | NDArray[np.uint32]: ...
    def class_scores(self, rows: Rows, *, threads: int = 0, image: Shape = None) -> Floats: ...
    def probabilities(self, rows: Rows, *, threads: int = 0, image: Shape = None) -> Floats: ...
    def cluster_distances(self, rows: Rows, *, threads: int = 0) -> Floats: ...
    def compress(
        self,
        rows: Rows | None = None,
        answers: Answers | None = None,
        *,
        vectors: int | None = None,
        ratio: float | None = None,
        agreement: float | None = None,
        error: float | None = None,
        method: str = "auto",
        each: bool = False,
        retrain: bool = False,
        rounds: int = 0,
        widths: bool = False,
        descent: int | None = None,
        seed: int = 1,
        threads: int = 0,
        image: Shape = None,
        callback: Callback = None,
    ) -> tuple[Model, str]: ...
    def preimages(self, params: str = "{}", *, threads: int = 0, callback: Callback = None) -> tuple[Rows, Floats]: ...
    def decode(
        self, features: Floats, params: str = "{}", *, threads: int = 0, callback: Callback = None
    ) -> tuple[Rows, Floats]: ...
    def denoise(
        self,
        rows: Rows,
        components: int | None = None,
        params: str = "{}",
        *,
        threads: int = 0,
        image: Shape = None,
        callback: Callback = None,
    ) -> Rows: ...

class Map:
    @classmethod
    def empirical(
        cls, kernel: str, rows: Rows, whiten: bool, *, threads: int = 0, callback: Callback = None
    ) -> Map: ...
    @classmethod
    def from_parts(cls, kernel: str, centres: Rows, coef: Floats, offset: list[float]) -> Map: ...
    def apply(self, rows: Rows, *, threads: int = 0) -> Floats: ...
    @property
    def coef(self) -> Floats: ...
    @property
    def offset(self) -> Floats: ...

class Stages:
    def __init__(
        self, line: str, rows: Rows, answers: Answers | None = None, *, threads: int = 0, image: Shape = None
    ) -> None: ...
    @classmethod
    def invariant(
        cls, transformations: str, rows: Rows, factor: float, drop: int, *, threads: int = 0, image: Shape = None
    ) -> Stages: ...
    @classmethod
    def fourier(cls, frequencies: Floats, phases: list[float], gamma: float) -> Stages: ...
    @classmethod
    def from_json(cls, text: str) -> Stages: ...
    def to_json(self) -> str: ...
    def apply(self, rows: Rows, *, threads: int = 0, image: Shape = None) -> Rows: ...
    def undo(self, rows: Rows, *, threads: int = 0, image: Shape = None) -> Rows: ...
    def describe(self) -> list[str]: ...
    def table_columns(self) -> list[tuple[str, str, str, list[str]]] | None: ...
    @property
    def columns(self) -> int | None: ...

class Judge:
    def __init__(self, rows: Rows, answers: Answers, frame: str) -> None: ...
    def scores(
        self, unit: str, *, workers: int = 1, threads: int = 1, memory: int | None = None, callback: Callback = None
    ) -> list[tuple[float, str | None]]: ...

class Centres:
    @classmethod
    def from_bytes(cls, bytes: bytes) -> Centres: ...
    def to_bytes(self) -> bytes: ...
    @property
    def count(self) -> int: ...

class Shard:
    def __init__(
        self,
        learner: str,
        params: str,
        centres: Centres,
        rows: Rows,
        targets: Floats,
        weights: Floats | None = None,
        *,
        threads: int = 1,
        memory: int | None = None,
    ) -> None: ...
    def sums(self, at: Function | None = None, along: Function | None = None) -> Sums: ...
    def parts(self) -> tuple[Rows, Floats, Floats | None]: ...
    @property
    def rows(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def trace(self) -> float: ...
