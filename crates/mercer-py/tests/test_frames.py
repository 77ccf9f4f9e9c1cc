"""Frames with text, dates and missing values, in pandas, polars and structured arrays."""

import datetime
import pickle

import mercer
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

N = 120


def frame(seed=0):
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue"], N)
    age = rng.normal(40, 10, N)
    y = np.where((colour == "red") ^ (age > 45), "yes", "no")
    age[::11] = np.nan
    when = [datetime.datetime(2024, 1, 1) + datetime.timedelta(days=int(d)) for d in rng.integers(0, 700, N)]
    data = {"age": age, "colour": list(colour), "member": rng.random(N) < 0.5, "when": when}
    return pd.DataFrame(data), y


def kinds_of_frames(X):
    polars = pl.DataFrame({name: X[name].tolist() for name in X.columns})
    fields = [("age", "f8"), ("colour", "U8"), ("member", "?"), ("when", "datetime64[s]")]
    array = np.empty(len(X), dtype=fields)
    for name, _ in fields:
        array[name] = X[name].to_numpy() if name != "when" else X[name].to_numpy().astype("datetime64[s]")
    return {"pandas": X, "polars": polars, "structured": array}


CLASSIFIERS = [mercer.SVC(), mercer.NuSVC(), mercer.LinearSVC(), mercer.KernelFisher(), mercer.SVC(probability=True)]


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: str(e)[:40])
def test_text_columns_work(estimator):
    X, y = frame()
    estimator.fit(X, y)
    assert estimator.score(X, y) > 0.7
    assert list(estimator.feature_names_in_) == list(X.columns)
    assert estimator.n_features_in_ == 4
    again = X[["when", "member", "colour", "age"]].assign(other=1)
    assert np.array_equal(estimator.predict(X), estimator.predict(again))
    with pytest.raises(ValueError, match="colour"):
        estimator.predict(X.drop(columns="colour"))


@pytest.mark.parametrize("kind", ["pandas", "polars", "structured"])
def test_frames_of_all_kinds_give_the_same(kind):
    X, y = frame()
    want = mercer.SVC().fit(X, y).decision_function(X)
    other = kinds_of_frames(X)[kind]
    got = mercer.SVC().fit(other, y).decision_function(other)
    assert np.abs(got - want).max() < 1e-9


def test_regression_and_unseen_categories():
    X, _ = frame()
    y = X["age"].fillna(40).to_numpy() * 0.1 + (X["colour"] == "red") * 3
    model = mercer.SVR(C=10).fit(X, y)
    assert model.score(X, y) > 0.8
    new = X.head(5).assign(colour="purple", age=np.nan)
    assert np.isfinite(model.predict(new)).all()


def test_arrays_and_frames_of_numbers_are_checked_as_before():
    X, y = frame()
    with pytest.raises(ValueError):
        mercer.SVC().fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match="NaN"):
        mercer.SVC().fit(X[["age"]], y)
    model = mercer.SVC().fit(X, y)
    numbers = X[["age"]].fillna(40)
    model.fit(numbers, y)
    assert not hasattr(model, "table_")
    assert model.predict(numbers).shape == (N,)


def test_files_and_pickles_keep_the_table(tmp_path):
    X, y = frame()
    model = mercer.SVC().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    model.save(tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")
    assert np.array_equal(loaded.predict(X), model.predict(X))


def test_encoder_in_a_pipeline():
    X, y = frame()
    encoder = mercer.TableEncoder(columns={"member": "identifier"}).fit(X)
    names = list(encoder.get_feature_names_out())
    assert "colour=red" in names and not any(name.startswith("member") for name in names)
    assert encoder.transform(X).shape == (N, len(names))
    scores = cross_val_score(make_pipeline(mercer.TableEncoder(), LogisticRegression(max_iter=500)), X, y)
    assert scores.mean() > 0.5
    assert cross_val_score(mercer.SVC(C=10), X, y).mean() > 0.7
    with pytest.raises(ValueError, match="not a column"):
        mercer.TableEncoder(columns={"size": "number"}).fit(X)
    with pytest.raises(ValueError, match="frame"):
        mercer.TableEncoder().fit(np.zeros((3, 2)))
