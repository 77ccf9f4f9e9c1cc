"""Targets of every type: categories, text, truth values, floats, columns of frames, whole numbers of any size."""

import sys
import warnings

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC

X, y = load_iris(return_X_y=True)
words = np.array(["setosa", "versicolor", "virginica"])[y]
kinds = {
    "categories": pd.Categorical(words),
    "ordered": pd.Series(pd.Categorical(words, categories=["virginica", "setosa", "versicolor"], ordered=True)),
    "objects": words.astype(object),
    "text": words,
    "series": pd.Series(words, index=np.arange(150)[::-1]),
    "string": pd.Series(words, dtype="string"),
    "truth": y > 0,
    "nullable": pd.Series(y, dtype="Int64"),
    "floats": y.astype(float),
    "single": y.astype(np.float32),
    "bytes": y.astype(np.int8),
    "unsigned": y.astype(np.uint64),
    "negative": np.where(y > 0, 1, -1),
    "large": y * 10**12,
    "list": y.tolist(),
    "tuple": tuple(words),
    "column": y[:, None],
    "frame": pd.DataFrame({"y": y}),
    "apart": y * 7 - 3,
    "numbers": y * 0.5 if False else y.astype(">i4"),
}
found = {}
for name, target in kinds.items():
    for machine in (SVC(gamma=0.2), LinearSVC(C=0.1, random_state=0), NuSVC(nu=0.2)):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            machine.fit(X, target)
        kind = f"{type(machine).__name__}-{name}"
        predicted = machine.predict(X)
        found[f"labels_{kind}"] = np.array([str(v) for v in predicted])
        found[f"labels_types-{kind}"] = np.array([str(predicted.dtype), str(machine.classes_.dtype), *map(str, machine.classes_)])
        found[f"labels_heard-{kind}"] = np.array(sorted({w.category.__name__ for w in heard}))
numbers = {
    "whole": y,
    "truth": y > 0,
    "frame": pd.DataFrame({"a": y * 0.1}),
    "single": (y * 0.1).astype(np.float32),
    "half": (y * 0.5).astype(np.float16),
    "objects": y.astype(object),
    "nullable": pd.Series(y, dtype="Float64"),
}
for name, target in numbers.items():
    for machine in (SVR(), KernelRidge(kernel="rbf")):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            predicted = machine.fit(X, target).predict(X)
        kind = f"{type(machine).__name__}-{name}"
        found[f"values_{kind}"] = predicted
        found[f"labels_shape-{kind}"] = np.array(
            [str(predicted.shape), str(predicted.dtype), *sorted({w.category.__name__ for w in heard})]
        )
np.savez(sys.argv[1], **found)
