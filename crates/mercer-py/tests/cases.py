"""Cases for two classes of one name: rows of any container and type, targets, weights and settings, drawn by a seed.

A case starts as a plain call, and one to three things about it are changed, so that most of it stays near what is valid.
"""

import io

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
import sklearn.decomposition
import sklearn.kernel_approximation
import sklearn.kernel_ridge
import sklearn.svm

HOMES = (sklearn.svm, sklearn.decomposition, sklearn.kernel_ridge, sklearn.kernel_approximation)
CLASSIFIERS = ("SVC", "NuSVC", "LinearSVC")
REGRESSIONS = ("SVR", "NuSVR", "LinearSVR", "KernelRidge")
MAPS = ("KernelPCA", "Nystroem", "RBFSampler")
NAMES = (*CLASSIFIERS, *REGRESSIONS, *MAPS, "OneClassSVM")
# Settings under which both sides come close to one solution.
PLAIN = {
    "SVC": {"tol": 1e-8},
    "NuSVC": {"tol": 1e-8, "nu": 0.2},
    "SVR": {"tol": 1e-8},
    "NuSVR": {"tol": 1e-8},
    "OneClassSVM": {"tol": 1e-8},
    "LinearSVC": {"tol": 1e-9, "max_iter": 100_000, "random_state": 0},
    "LinearSVR": {"tol": 1e-9, "max_iter": 100_000, "random_state": 0, "loss": "squared_epsilon_insensitive", "dual": False},
    "KernelRidge": {},
    "KernelPCA": {"n_components": 3, "kernel": "rbf"},
    "Nystroem": {"n_components": 5, "random_state": 0},
    "RBFSampler": {"n_components": 5, "random_state": 0},
}


def both(name):
    import mercer

    home = next(home for home in HOMES if hasattr(home, name))
    return getattr(home, name), getattr(mercer, name)


def strided(X):
    wide = np.zeros((X.shape[0], 2 * X.shape[1]), X.dtype)
    wide[:, ::2] = X
    return wide[:, ::2]


def readonly(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def unaligned(X):
    raw = np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:]
    return raw.view(X.dtype).reshape(X.shape)


def mapped(X):
    file = io.BytesIO()
    np.save(file, X)
    import os
    import tempfile

    handle, path = tempfile.mkstemp(suffix=".npy")
    with os.fdopen(handle, "wb") as out:
        out.write(file.getvalue())
    found = np.load(path, mmap_mode="r")
    os.unlink(path)
    return found


def doubled(X):
    """Sparse rows with each entry in two halves, out of order, and with stored zeros."""
    found = sp.csr_array(X)
    data, indices, indptr = [], [], [0]
    for i in range(found.shape[0]):
        run = slice(found.indptr[i], found.indptr[i + 1])
        data += [*(found.data[run][::-1] / 2), *(found.data[run] / 2), 0.0]
        indices += [*found.indices[run][::-1], *found.indices[run], 0]
        indptr.append(len(data))
    return sp.csr_array((np.array(data), np.array(indices), np.array(indptr)), shape=X.shape)


def long_indices(X):
    found = sp.csr_array(X)
    found.indices, found.indptr = found.indices.astype(np.int64), found.indptr.astype(np.int64)
    return found


def names(X):
    return [f"c{j}" for j in range(X.shape[1])]


def holed(X, value):
    X = X.copy()
    X[len(X) // 2, -1] = value
    return X


def mixed(X):
    frame = pd.DataFrame(X, columns=names(X))
    return frame.assign(whole=np.arange(len(X)) % 3, flag=np.arange(len(X)) % 2 == 0)


ROWS = {
    "array": lambda X: X,
    "f32": lambda X: X.astype(np.float32),
    "f16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "int64": lambda X: np.rint(2 * X).astype(np.int64),
    "int8": lambda X: np.rint(2 * X).astype(np.int8),
    "uint8": lambda X: np.abs(np.rint(2 * X)).astype(np.uint8),
    "bool": lambda X: X > 0,
    "object": lambda X: X.astype(object),
    "object of ints": lambda X: np.rint(2 * X).astype(np.int64).astype(object),
    "text": lambda X: X.astype(str),
    "words": lambda X: np.full(X.shape, "a"),
    "bytes": lambda X: X.astype("S24"),
    "complex": lambda X: X + 1j,
    "datetime": lambda X: np.abs(np.rint(2 * X)).astype("datetime64[D]"),
    "fortran": np.asfortranarray,
    "fortran f32": lambda X: np.asfortranarray(X.astype(np.float32)),
    "strided": strided,
    "reversed": lambda X: X[::-1][::-1],
    "readonly": readonly,
    "unaligned": unaligned,
    "big endian": lambda X: X.astype(">f8"),
    "memory map": mapped,
    "masked": np.ma.masked_array,
    "masked somewhere": lambda X: np.ma.masked_array(X, mask=X > 1),
    "matrix": np.matrix,
    "list": lambda X: X.tolist(),
    "tuple": lambda X: tuple(map(tuple, X.tolist())),
    "list of arrays": list,
    "ragged": lambda X: [row[: 1 + i % 2] for i, row in enumerate(X.tolist())],
    "one row": lambda X: X[0],
    "cube": lambda X: X[None],
    "number": lambda X: 3.0,
    "nothing": lambda X: None,
    "string": lambda X: "rows",
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "NaN": lambda X: holed(X, np.nan),
    "infinity": lambda X: holed(X, np.inf),
    "large": lambda X: holed(X, 1e308),
    "large f32": lambda X: holed(X, 3e38).astype(np.float32),
    "tiny": lambda X: X * 1e-160,
    "denormal": lambda X: X * 1e-310,
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csr f32": lambda X: sp.csr_array(X.astype(np.float32)),
    "csr int": lambda X: sp.csr_array(np.rint(X).astype(np.int64)),
    "csr bool": lambda X: sp.csr_array(X > 0),
    "csr 64 bit": long_indices,
    "csr doubled": doubled,
    "csr NaN": lambda X: sp.csr_array(holed(X, np.nan)),
    "csr empty": lambda X: sp.csr_array(X.shape),
    "csr complex": lambda X: sp.csr_array(X + 1j),
    "csc": sp.csc_array,
    "csc_matrix": sp.csc_matrix,
    "coo": sp.coo_array,
    "lil": sp.lil_matrix,
    "dok": sp.dok_matrix,
    "dia": lambda X: sp.dia_matrix(X),
    "bsr": sp.bsr_array,
    "pandas": lambda X: pd.DataFrame(X, columns=names(X)),
    "pandas of numbers": pd.DataFrame,
    "pandas mixed names": lambda X: pd.DataFrame(X, columns=[0, *names(X)[1:]]),
    "pandas twins": lambda X: pd.DataFrame(X, columns=["a"] * X.shape[1]),
    "pandas index": lambda X: pd.DataFrame(X, columns=names(X), index=np.arange(len(X))[::-1] * 7),
    "pandas mixed": mixed,
    "pandas f32": lambda X: pd.DataFrame(X.astype(np.float32), columns=names(X)),
    "pandas Float64": lambda X: pd.DataFrame(X, columns=names(X)).astype("Float64"),
    "pandas Int64": lambda X: pd.DataFrame(np.rint(2 * X).astype(int), columns=names(X)).astype("Int64"),
    "pandas boolean": lambda X: pd.DataFrame(X > 0, columns=names(X)).astype("boolean"),
    "pandas NA": lambda X: pd.DataFrame(holed(X, np.nan), columns=names(X)).astype("Float64"),
    "pandas sparse": lambda X: pd.DataFrame(X, columns=names(X)).astype(pd.SparseDtype("float64", 0.0)),
    "pandas category": lambda X: pd.DataFrame({n: pd.Categorical(np.rint(X[:, j])) for j, n in enumerate(names(X))}),
    "pandas object": lambda X: pd.DataFrame(X.astype(object), columns=names(X)),
    "pandas arrow": lambda X: pd.DataFrame(X, columns=names(X)).convert_dtypes(),
    "series": lambda X: pd.Series(X[:, 0]),
    "polars": lambda X: pl.DataFrame(X, schema=names(X)),
    "polars f32": lambda X: pl.DataFrame(X.astype(np.float32), schema=names(X)),
    "polars int": lambda X: pl.DataFrame(np.rint(2 * X).astype(np.int32), schema=names(X)),
    "polars lazy": lambda X: pl.DataFrame(X, schema=names(X)).lazy(),
    "polars null": lambda X: pl.DataFrame(X, schema=names(X)).with_columns(pl.when(pl.col("c0") > 0).then(pl.col("c0"))),
    "polars series": lambda X: pl.Series(X[:, 0]),
}
CLASSES = {
    "int": lambda c: c,
    "int8": lambda c: c.astype(np.int8),
    "uint64": lambda c: c.astype(np.uint64),
    "negative": lambda c: 3 - 2 * c,
    "float": lambda c: c.astype(float),
    "float32": lambda c: c.astype(np.float32),
    "fractions": lambda c: c + 0.5,
    "bool": lambda c: c > 0,
    "text": lambda c: np.array(["red", "green", "blue"])[c],
    "text of numbers": lambda c: (c * 10).astype(str),
    "object": lambda c: np.array(["red", "green", "blue"], dtype=object)[c],
    "object of ints": lambda c: c.astype(object),
    "object of bools": lambda c: (c > 0).astype(object),
    "object of floats": lambda c: c.astype(float).astype(object),
    "bytes": lambda c: np.array([b"red", b"green", b"blue"])[c],
    "None": lambda c: np.array(["red", None, "blue"], dtype=object)[c],
    "list": lambda c: c.tolist(),
    "list of text": lambda c: np.array(["red", "green", "blue"])[c].tolist(),
    "tuple": lambda c: tuple(c.tolist()),
    "column": lambda c: c[:, None],
    "column of text": lambda c: np.array(["red", "green", "blue"])[c][:, None],
    "two columns": lambda c: np.column_stack([c, c]),
    "one hot": lambda c: np.eye(3)[c],
    "one class": lambda c: np.zeros_like(c),
    "rare class": lambda c: np.where(np.arange(len(c)) == 0, 7, c),
    "every row": lambda c: np.arange(len(c)),
    "series": pd.Series,
    "series of text": lambda c: pd.Series(np.array(["red", "green", "blue"])[c]),
    "category": lambda c: pd.Series(pd.Categorical(np.array(["red", "green", "blue"])[c])),
    "category with more": lambda c: pd.Series(pd.Categorical(np.array(["red", "green", "blue"])[c], ["x", "red", "green", "blue"])),
    "Int64": lambda c: pd.Series(c).astype("Int64"),
    "boolean": lambda c: pd.Series(c > 0).astype("boolean"),
    "Int64 NA": lambda c: pd.Series(np.where(c == 0, np.nan, c)).astype("Int64"),
    "string": lambda c: pd.Series(np.array(["red", "green", "blue"])[c]).astype("string"),
    "frame": lambda c: pd.DataFrame({"y": c}),
    "index": lambda c: pd.Index(c),
    "polars": pl.Series,
    "polars of text": lambda c: pl.Series(np.array(["red", "green", "blue"])[c]),
    "polars frame": lambda c: pl.DataFrame({"y": c}),
    "NaN": lambda c: np.where(c == 0, np.nan, c),
    "short": lambda c: c[:-1],
    "nothing": lambda c: None,
    "no rows": lambda c: c[:0],
    "sparse": lambda c: sp.csr_array(c[:, None]),
    "big endian": lambda c: c.astype(">i4"),
    "strided": lambda c: np.repeat(c, 2)[::2],
    "readonly": readonly,
    "datetime": lambda c: c.astype("datetime64[D]"),
    "complex": lambda c: c + 1j,
}
TARGETS = {
    "float": lambda t: t,
    "f32": lambda t: t.astype(np.float32),
    "f16": lambda t: t.astype(np.float16),
    "int": lambda t: np.rint(5 * t).astype(int),
    "bool": lambda t: t > 0,
    "object": lambda t: t.astype(object),
    "text of numbers": lambda t: t.astype(str),
    "words": lambda t: np.full(len(t), "a"),
    "list": lambda t: t.tolist(),
    "column": lambda t: t[:, None],
    "two columns": lambda t: np.column_stack([t, -t]),
    "no columns": lambda t: t[:, None][:, :0],
    "constant": lambda t: np.full_like(t, 2.0),
    "zero": np.zeros_like,
    "large": lambda t: 1e6 * t,
    "small": lambda t: 1e-6 * t,
    "series": pd.Series,
    "series shuffled": lambda t: pd.Series(t, index=np.arange(len(t))[::-1]),
    "Float64": lambda t: pd.Series(t).astype("Float64"),
    "frame": lambda t: pd.DataFrame({"a": t, "b": -t}),
    "polars": pl.Series,
    "polars frame": lambda t: pl.DataFrame({"a": t, "b": -t}),
    "NaN": lambda t: np.where(t > 1, np.nan, t),
    "infinity": lambda t: np.where(t > 1, np.inf, t),
    "short": lambda t: t[:-1],
    "nothing": lambda t: None,
    "strided": lambda t: np.repeat(t, 2)[::2],
    "readonly": readonly,
    "big endian": lambda t: t.astype(">f8"),
    "complex": lambda t: t + 1j,
}
WEIGHTS = {
    "ones": np.ones_like,
    "drawn": lambda w: w,
    "f32": lambda w: w.astype(np.float32),
    "int": lambda w: np.rint(3 * w).astype(int) + 1,
    "bool": lambda w: w > 0.3,
    "zeros among them": lambda w: np.where(w < 0.3, 0.0, w),
    "negative among them": lambda w: np.where(w < 0.3, -0.5, w),
    "all zero": np.zeros_like,
    "all negative": lambda w: -w - 0.1,
    "list": lambda w: w.tolist(),
    "series": pd.Series,
    "polars": pl.Series,
    "scalar": lambda w: 2.0,
    "int scalar": lambda w: 2,
    "column": lambda w: w[:, None],
    "short": lambda w: w[:-1],
    "NaN": lambda w: np.where(w < 0.3, np.nan, w),
    "infinity": lambda w: np.where(w < 0.3, np.inf, w),
    "text": lambda w: np.full(len(w), "a"),
    "strided": lambda w: np.repeat(w, 2)[::2],
    "large": lambda w: 1e3 * w,
}
CLASS_WEIGHTS = ("balanced", {0: 2.0}, {0: 2.0, 1: 0.5}, {0: 1, 1: 3, 2: 1}, {5: 2.0}, {}, "even", {0: -1.0}, {1: 0.0}, 2.0, [1.0, 2.0], {"red": 3.0})


def dot(A, B):
    values = A @ B.T
    return values.toarray() if sp.issparse(values) else np.asarray(values)


def quiet(A, B):
    return 1.0 + 0.1 * dot(A, B)


def pair(a, b):
    return float(np.minimum(np.ravel(a), np.ravel(b)).sum())


MACHINE = {
    "C": (0.01, 1, 10.0, 100, np.float32(2), np.int64(3), 0, -1, float("inf"), float("nan"), "1", None, True),
    "kernel": ("linear", "poly", "rbf", "sigmoid", "precomputed", dot, quiet, "cosine", "RBF", None, 3),
    "degree": (0, 1, 2, 5, np.int32(2), 2.5, -1, "3", None),
    "gamma": ("scale", "auto", 0.1, 2, np.float64(0.3), np.float32(0.3), 0, 0.0, -1, "wide", None, float("inf"), float("nan")),
    "coef0": (0.0, 1, -0.5, np.float32(1), "0", None, float("nan")),
    "shrinking": (True, False, 0, 1, "yes", None, np.bool_(True)),
    "tol": (1e-10, 1e-6, 0, -1, "1", None),
    "cache_size": (1, 200, 0.5, 0, -1, "200"),
    "max_iter": (-1, 100_000, 0, -2, 1.5, "1", None, np.int64(100_000)),
    "verbose": (False, True, 0, 1, 2, "yes"),
}
OF_CLASSES = {
    "class_weight": (None, *CLASS_WEIGHTS),
    "decision_function_shape": ("ovo", "ovr", "all", None),
    "break_ties": (True, False, 1, "yes"),
    "random_state": (None, 0, np.int64(3), np.random.RandomState(0), -1, 1.5, "a"),
    "probability": (False, True, 1),
}
NU = {"nu": (0.05, 0.1, 0.3, 0.5, 1, 1.0, 0, -0.1, 1.5, "0.5", None, np.float32(0.25))}
TUBE = {"epsilon": (0, 0.0, 0.01, 0.5, 5, -0.1, "0", None, np.float32(0.1))}
LINEAR = {
    "C": MACHINE["C"],
    "tol": (1e-10, 1e-6, 0, -1, "1"),
    "fit_intercept": (True, False, 1, "yes"),
    "intercept_scaling": (1, 10.0, 0.5, 0, -1, "1"),
    "dual": ("auto", True, False, "yes", None, 1),
    "max_iter": (100_000, 0, -1, 1.5, "1", np.int64(100_000)),
    "random_state": (None, 0, np.random.RandomState(0), -1, "a"),
    "verbose": (0, 0, False, "yes"),
}
KERNELS = ("linear", "poly", "polynomial", "rbf", "sigmoid", "cosine", "laplacian", "chi2", "additive_chi2", "precomputed", pair, "RBF", None)
PAIRS = {
    "kernel": KERNELS,
    "gamma": (None, 0.1, 2, np.float64(0.3), 0, -1, "wide"),
    "degree": (1, 2, 3, 2.5, 0, -1, "3", None, np.int64(2)),
    "coef0": (0, 1, -0.5, "1", None, 2.0),
    "kernel_params": (None, {}, {"degree": 2}, {"x": 1}, 3),
}
SETTINGS = {
    "SVC": {**MACHINE, **OF_CLASSES},
    "NuSVC": {**{k: v for k, v in MACHINE.items() if k != "C"}, **OF_CLASSES, **NU},
    "SVR": {**MACHINE, **TUBE},
    "NuSVR": {**MACHINE, **NU},
    "OneClassSVM": {**{k: v for k, v in MACHINE.items() if k != "C"}, **NU},
    "LinearSVC": {
        **LINEAR,
        "penalty": ("l1", "l2", "l3", None),
        "loss": ("hinge", "squared_hinge", "log", None),
        "multi_class": ("ovr", "crammer_singer", "ovo"),
        "class_weight": OF_CLASSES["class_weight"],
    },
    "LinearSVR": {**LINEAR, **TUBE, "loss": ("epsilon_insensitive", "squared_epsilon_insensitive", "l2", None)},
    "KernelRidge": {**PAIRS, "alpha": (0, 1e-3, 1, 10.0, -1, "1", None, [0.1], np.array([1.0, 2.0]))},
    "KernelPCA": {
        **PAIRS,
        "n_components": (None, 1, 2, 5, 100, 0, -1, 2.5, "3", np.int64(2)),
        "alpha": (1e-3, 1, 0, -1, "1"),
        "fit_inverse_transform": (True, False, 1, "yes"),
        "eigen_solver": ("auto", "dense", "arpack", "randomized", "other", None),
        "tol": (0, 1e-6, -1, "1"),
        "max_iter": (None, 100, 0, -1, "1"),
        "iterated_power": ("auto", 3, -1, "many"),
        "remove_zero_eig": (True, False, "yes"),
        "random_state": (None, 0, -1, "a"),
        "copy_X": (True, False, "yes"),
        "n_jobs": (None, 1, 2, -1, "1"),
    },
    "Nystroem": {
        **PAIRS,
        "n_components": (1, 2, 10, 1000, 0, -1, 2.5, "3", None),
        "random_state": (0, 1, np.random.RandomState(0), -1, "a"),
        "n_jobs": (None, 1, 2, -1, "1"),
    },
    "RBFSampler": {
        "gamma": ("scale", 0.1, 2, 0, -1, "auto", None, np.float32(0.5)),
        "n_components": (1, 2, 10, 0, -1, 2.5, "3", None),
        "random_state": (0, 1, np.random.RandomState(0), -1, "a"),
    },
}


class Case:
    """A class, its settings, what it is fitted on, what it is asked about."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        pick = lambda options: options[rng.integers(len(options))]  # noqa: E731
        self.seed, self.name = seed, pick(NAMES)
        n, d = pick((12, 30, 45)), pick((1, 2, 4, 7))
        kind = pick(("drawn", "drawn", "drawn", "whole", "with twins", "one for all", "with constants", "positive"))
        X = rng.normal(size=(n, d))
        if kind == "whole":
            X = np.rint(X * 2)
        elif kind == "with twins":
            X = X[rng.integers(n // 2, size=n)]
        elif kind == "one for all":
            X = np.full((n, d), 1.5)
        elif kind == "with constants":
            X[:, 0] = 1.0
        elif kind == "positive":
            X = np.abs(X)
        classes = rng.integers(pick((2, 3)), size=n)
        classes[:3] = (0, 1, classes.max())
        if kind != "one for all":
            X = X + classes[:, None]
        target = np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)
        new = X[rng.integers(n, size=5)] + 0.1
        self.settings, self.changes = dict(PLAIN[self.name]), [kind]
        rows, answers, weights, again = "array", "int" if self.name in CLASSIFIERS else "float", None, None
        for _ in range(rng.integers(1, 4)):
            what = pick(("rows", "rows", "answers", "weights", "settings", "settings", "settings", "new"))
            if what == "rows":
                rows = pick(list(ROWS))
            elif what == "new":
                again = pick(list(ROWS))
            elif what == "answers":
                answers = pick(list(CLASSES if self.name in CLASSIFIERS else TARGETS))
            elif what == "weights":
                weights = pick(list(WEIGHTS))
            else:
                setting = pick(list(SETTINGS[self.name]))
                value = pick(SETTINGS[self.name][setting])
                self.settings[setting] = value
        self.rows, self.answers, self.weights, self.again = rows, answers, weights, again or rows
        made = ROWS[rows](X)
        self.X, self.new = made, ROWS[self.again](new)
        if self.settings.get("kernel") == "precomputed" and isinstance(made, np.ndarray) and made.ndim == 2 and made.dtype.kind in "fiu":
            X = np.nan_to_num(np.asarray(made, dtype=float), posinf=1.0)
            self.X, self.new = X @ X.T, X[:5] @ X.T
        makers, base = (CLASSES, classes) if self.name in CLASSIFIERS else (TARGETS, target)
        self.y = makers[answers](base)
        drawn = rng.random(n) + 0.05
        self.w = None if weights is None else WEIGHTS[weights](drawn)

    def __str__(self):
        given = {k: v for k, v in self.settings.items() if k not in PLAIN[self.name] or v is not PLAIN[self.name][k]}
        told = f"case {self.seed}: {self.name}({', '.join(f'{k}={v!r}' for k, v in given.items())}) rows={self.rows}"
        return f"{told} ({self.changes[0]}) y={self.answers} weights={self.weights} new={self.again}"
