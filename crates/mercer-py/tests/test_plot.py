"""Displays draw what they say, into new and given axes."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV

import mercer

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from mercer import plot  # noqa: E402

X, y = make_moons(80, noise=0.15, random_state=0)


@pytest.fixture(scope="module")
def machine():
    return mercer.SVC(gamma=2.0, C=10).fit(X, y)


@pytest.fixture(autouse=True)
def close():
    yield
    matplotlib.pyplot.close("all")


def test_regions_show_classes_margin_and_support_vectors(machine):
    display = plot.RegionDisplay.from_estimator(machine, X, y, grid=30)
    assert display.response.shape == (30, 30) and set(np.unique(display.response)) == {0, 1}
    assert len(display.support) == len(machine.support_)
    # The grid covers the points, and the decision value has the sign of the class.
    assert display.xx0.min() < X[:, 0].min() and display.xx1.max() > X[:, 1].max()
    assert ((display.decision > 0) == (display.response == 1)).all()
    _, ax = matplotlib.pyplot.subplots()
    assert display.plot(ax).ax_ is ax


def test_regions_of_three_classes_and_of_novelty():
    labels = (X[:, 0] > 0).astype(int) + (X[:, 0] > 1)
    names = np.array(["a", "b", "c"])[labels]
    display = plot.RegionDisplay.from_estimator(mercer.SVC().fit(X, names), X, names, grid=20)
    assert display.decision is None and set(np.unique(display.response)) == {0, 1, 2}
    display = plot.RegionDisplay.from_estimator(mercer.OneClassSVM(nu=0.1).fit(X), X, grid=20)
    assert display.decision is not None and display.classes is None
    with pytest.raises(ValueError, match="two columns"):
        plot.RegionDisplay.from_estimator(mercer.SVC(), X[:, :1])


def test_roc_has_a_curve_per_class(machine):
    display = plot.RocDisplay.from_estimator(machine, X, y)
    (name, fpr, tpr, area), = display.curves
    assert name == "1" and 0.9 < area <= 1 and fpr[0] == 0 and tpr[-1] == 1
    labels = (X[:, 0] > 0).astype(int) + (X[:, 0] > 1)
    assert len(plot.RocDisplay.from_estimator(mercer.SVC().fit(X, labels), X, labels).curves) == 3
    outliers = np.where(X[:, 0] > 1.5, -1, 1)
    novelty = mercer.OneClassSVM(nu=0.1).fit(X)
    assert plot.RocDisplay.from_estimator(novelty, X, outliers).curves[0][0] == "inliers"


def test_confusion_counts_rows(machine):
    display = plot.ConfusionDisplay.from_estimator(machine, X, y)
    assert display.matrix.sum() == len(X) and display.classes == ["0", "1"]
    display = plot.ConfusionDisplay.from_predictions(["a", "b", "b"], ["a", "a", "c"])
    assert display.matrix.tolist() == [[1, 0, 0], [1, 0, 1], [0, 0, 0]]


def test_components_and_reduced_sets(machine):
    pca = mercer.KernelPCA(2, kernel="rbf", gamma=1.0).fit(X)
    display = plot.ComponentsDisplay.from_estimator(pca, X, components=2, grid=15)
    assert display.features.shape == (15, 15, 2) and len(display.ax_) == 2
    small = mercer.compress(machine, X, y, vectors=5)
    display = plot.ReducedSetDisplay.from_estimators(machine, small, X, y, grid=15)
    assert display.centres.shape == (5, 2)


def test_searches_become_heat_maps():
    search = GridSearchCV(mercer.SVC(), {"C": [0.1, 1, 10], "gamma": [0.1, 1.0]}, cv=2).fit(X, y)
    display = plot.SearchDisplay.from_search(search)
    assert display.columns == ("C", [0.1, 1, 10]) and display.rows == ("gamma", [0.1, 1.0])
    assert display.scores.max() == pytest.approx(search.best_score_)
    assert plot.SearchDisplay.from_search(search, rows="C", columns="gamma").scores.shape == (3, 2)
