"""Files as people have them, read by pandas and handed to estimators as they come: the outcome of each is stated."""

import importlib.util
import pathlib

import mercer
import numpy as np
import pandas as pd
import pytest

FILES = pathlib.Path(__file__).parents[2] / "mercer-cli" / "tests" / "messy"


def has(module):
    return importlib.util.find_spec(module) is not None


READERS = {
    "customers.csv.bz2": lambda path: pd.read_csv(path),
    "customers-utf16.csv": lambda path: pd.read_csv(path, encoding="utf-16", sep="\t"),
    "customers.jsonl": lambda path: pd.read_json(path, lines=True),
}
if has("openpyxl"):
    READERS["customers.xlsx"] = lambda path: pd.read_excel(path, skiprows=3, skipfooter=1)
if has("pyarrow"):
    READERS["customers.parquet"] = lambda path: pd.read_parquet(path)
    READERS["customers.feather"] = lambda path: pd.read_feather(path)


@pytest.mark.parametrize("name", READERS)
def test_frames_from_files_train_and_predict(name):
    frame = READERS[name](FILES / name)
    X, y = frame.drop(columns="outcome"), frame["outcome"]
    for estimator in [mercer.SVC(), mercer.AutoClassifier()]:
        estimator.fit(X, y)
        assert estimator.score(X, y) > 0.85, name
        assert list(estimator.feature_names_in_) == ["customer", "age", "city", "member", "visit"]
    # A table in another order, with a column more, and text that training never saw.
    other = X[X.columns[::-1]].assign(remark="new")
    other.loc[3, "city"] = "Reykjavík"
    assert np.mean(estimator.predict(other) == estimator.predict(X)) > 0.98


def test_all_files_give_the_same_predictions():
    wanted = None
    for name, read in READERS.items():
        frame = read(FILES / name)
        X = frame.drop(columns="outcome").assign(member=frame["member"].isin([True, "yes"]))
        X["visit"] = pd.to_datetime(X["visit"]).dt.tz_localize(None)
        values = mercer.SVC().fit(X, frame["outcome"]).decision_function(X)
        wanted = values if wanted is None else wanted
        assert np.abs(values - wanted).max() < 1e-9, name


def test_a_rare_class_two_hundred_classes_and_one_class():
    rng = np.random.default_rng(0)
    x = np.repeat(np.arange(200), 4)
    frame = pd.DataFrame({"x": x % 20 + 0.1 * rng.random(800), "group": [f"g{k // 20}" for k in x]})
    y = np.array([f"class {k:03}" for k in x], dtype=object)
    y[-1] = "the only one of its kind"
    model = mercer.SVC(C=10, gamma=1.0).fit(frame, y)
    assert len(model.classes_) == 201
    assert model.score(frame, y) > 0.9
    with pytest.raises(ValueError, match="class"):
        mercer.SVC().fit(frame, np.repeat("same", 800))
