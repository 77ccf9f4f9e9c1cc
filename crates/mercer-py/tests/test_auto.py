"""Estimators whose hyperparameters are chosen from the data."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import train_test_split

import mercer


def test_settings_are_chosen_and_told():
    X, y = load_wine(return_X_y=True)
    names = np.array(["red", "white", "rosé"])[y]
    a, b, c, d = train_test_split(X, names, random_state=0)
    machine = mercer.AutoClassifier(probability=True).fit(a, c)
    assert machine.score(b, d) > 0.93
    assert {"kernel", "c"} <= {choice["what"] for choice in machine.choices_}
    assert any("cross-validation" in (choice["why"] or "") for choice in machine.choices_)
    p = machine.predict_proba(b)
    assert p.shape == (len(b), 3) and np.allclose(p.sum(axis=1), 1)
    assert machine.decision_function(b).shape == (len(b), 3)
    again = mercer.AutoClassifier(probability=True).fit(a, c)
    assert np.array_equal(again.decision_function(b), machine.decision_function(b))


def test_raw_columns_of_any_scale_rows_of_any_storage_and_a_search_of_some_seconds():
    X, y = load_iris(return_X_y=True)
    stretched = X * [1.0, 1e4, 1e-3, 1.0]
    assert mercer.AutoClassifier().fit(stretched, y).score(stretched, y) > 0.95
    sparse = mercer.AutoClassifier().fit(sp.csr_matrix(X), y)
    assert sparse.score(sp.csr_matrix(X), y) > 0.95
    single = mercer.AutoClassifier().fit(X.astype(np.float32), y)
    assert single.score(X.astype(np.float32), y) > 0.95
    searched = mercer.AutoRegressor(seconds=0.5).fit(X[:, :3], X[:, 3])
    assert searched.score(X[:, :3], X[:, 3]) > 0.9


def test_what_cannot_be_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="seconds"):
        mercer.AutoClassifier(seconds=0).fit(X, y)
    with pytest.raises(AttributeError, match="predict_proba"):
        mercer.AutoClassifier().fit(X, y).predict_proba(X)


def test_a_model_is_a_file_like_all_others(tmp_path):
    X, y = load_iris(return_X_y=True)
    machine = mercer.AutoClassifier().fit(X, y)
    machine.save(tmp_path / "m.mercer")
    assert np.array_equal(mercer.load(tmp_path / "m.mercer").predict(X), machine.predict(X))
