"""A frame with categories, whole numbers and missing values through a transformer of columns."""

import sys

import numpy as np
import pandas as pd
from sklearn import set_config
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.decomposition import KernelPCA
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

rng = np.random.default_rng(0)
n = 200
frame = pd.DataFrame(
    {
        "age": rng.integers(18, 80, n),
        "income": rng.lognormal(3, 0.5, n),
        "town": pd.Categorical(rng.choice(["Ulm", "Bonn", "Kiel"], n)),
        "size": pd.Categorical(rng.choice(["S", "M", "L"], n), categories=["S", "M", "L"], ordered=True),
        "member": rng.random(n) < 0.4,
    }
)
frame.loc[::17, "income"] = np.nan
bought = pd.Series(np.where((frame["age"] > 45) ^ (frame["town"] == "Ulm"), "yes", "no"), name="bought")
numbers = make_pipeline(SimpleImputer(), StandardScaler())
columns = ColumnTransformer(
    [
        ("numbers", numbers, ["age", "income"]),
        ("towns", OneHotEncoder(sparse_output=False), make_column_selector(pattern="town")),
        ("sizes", OrdinalEncoder(categories=[["S", "M", "L"]]), ["size"]),
        ("rest", "passthrough", ["member"]),
    ]
)
chain = make_pipeline(columns, SVC(C=5.0)).fit(frame, bought)
line = make_pipeline(columns, Nystroem(n_components=40, gamma=0.2, random_state=0), LinearSVC(C=0.5, random_state=0)).fit(
    frame, bought.astype("category")
)
price = TransformedTargetRegressor(make_pipeline(columns, SVR()), func=np.log1p, inverse_func=np.expm1).fit(frame, frame["age"] * 3.0)
set_config(transform_output="pandas")
parts = KernelPCA(2, kernel="rbf", gamma=0.01).fit_transform(frame[["age", "member"]].astype(float))
maps = [
    kind.fit(frame[["age"]].astype(float)).transform(frame[["age"]].astype(float))
    for kind in (Nystroem(n_components=5, random_state=0), RBFSampler(n_components=4, random_state=0))
]
set_config(transform_output="default")
np.savez(
    sys.argv[1],
    labels=chain.predict(frame).astype(str),
    values=chain.decision_function(frame),
    labels_line=line.predict(frame).astype(str),
    labels_classes=line.classes_.astype(str),
    values_price=price.predict(frame) / 100,
    labels_columns=np.array([*parts.columns, *maps[0].columns, *maps[1].columns, *map(str, columns.get_feature_names_out())]),
    labels_types=np.array([type(parts).__name__, str(parts.dtypes.iloc[0]), *(str(m.index[:2].tolist()) for m in maps)]),
    exact_parts=np.abs(parts.to_numpy()),
    labels_seen=np.array([str(v) for v in SVC().fit(frame[["age", "member"]], bought).feature_names_in_]),
)
