"""Estimators, models and reports in the cells of notebooks."""

import json
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

import mercer
from mercer import _html

X, y = load_iris(return_X_y=True)
NAMES = sorted(
    name for name in mercer.__all__ if hasattr(getattr(mercer, name), "get_params") and name not in ("Predictor", "TableEncoder", "ReducedSet")
)
MORE = {"n_components": 5, "n_estimators": 5, "n_centres": 5}
EVIL = "<script>alert('&\"x')</script>"


class Seen(HTMLParser):
    """Names of tags, whether all are closed, and the text of cells."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.cells = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("input", "meta", "br", "img", "path"):
            self.open.append(tag)
        if tag in ("td", "th", "caption"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert tag == "path" or self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th", "caption"):
            self.cells[-1] += data


def seen(text):
    found = Seen(text)
    assert not found.open
    return found


def made(name):
    kind = getattr(mercer, name)
    known = kind().get_params()
    return kind(**{key: value for key, value in MORE.items() if key in known})


@pytest.mark.parametrize("name", NAMES)
def test_an_estimator_is_scikit_learns_diagram_and_what_was_learned(name):
    estimator = made(name)
    assert "sk-top-container" in estimator._repr_html_() and "mercer-report" not in estimator._repr_html_()
    estimator.fit(np.abs(X), y)
    text = estimator._repr_html_()
    assert "sk-top-container" in text and type(estimator).__name__ in text
    model = estimator.__dict__.get("model_")
    if model is not None:
        report = seen(text[text.index('<div class="mercer-report">') :])
        assert "caption" in report.tags and model.kernel in report.cells
    bundle = estimator._repr_mimebundle_()
    assert bundle["text/plain"] == repr(estimator) and "sk-top-container" in bundle["text/html"]
    with sklearn.config_context(display="text"):
        assert not hasattr(estimator, "_repr_html_")
        assert "text/html" not in estimator._repr_mimebundle_()


def test_a_model_is_a_table_and_a_line():
    machine = mercer.SVC(gamma=0.1).fit(X, y)
    cells = seen(machine.model_._repr_html_()).cells
    facts = dict(zip(cells[1::2], cells[2::2], strict=True))
    assert cells[0] == "svc, to classify"
    assert facts["kernel"] == "rbf(gamma=0.1)"
    assert facts["classes"] == "0, 1, 2" and facts["columns"] == "4" and facts["stopped"] == "converged"
    assert int(facts["support vectors"]) == len(machine.support_)
    assert repr(machine.model_) == f"<mercer.Model: svc, to classify, rbf(gamma=0.1), {len(machine.support_)} centres>"


def test_names_from_strangers_stay_text():
    labels = np.array([EVIL, "b", "c"])[y]
    frame = pd.DataFrame({EVIL: labels, "a": X[:, 0], "b": X[:, 1]})
    machine = mercer.SVC(gamma=0.1).fit(X, labels)
    table = mercer.SVC(gamma=0.1).fit(frame, y)
    chosen = mercer.AutoClassifier().fit(frame, labels)
    for estimator in (machine, table, chosen, mercer.compress(machine, X, labels, vectors=10)):
        text = _html.report(estimator)
        assert "<script" not in text and "script" not in seen(text).tags
        assert "<script" not in estimator.model_._repr_html_()
    assert EVIL in " ".join(seen(machine.model_._repr_html_()).cells)
    for about in ({"what": EVIL, "value": EVIL, "why": EVIL},):
        assert seen(_html.choices([about])).cells[-3:] == [EVIL] * 3
    assert "<script" not in _html.table(EVIL, [(EVIL, EVIL)], (EVIL, EVIL))


def test_reports_of_searches_and_compressions():
    chosen = mercer.AutoClassifier().fit(X, y)
    cells = seen(chosen._repr_html_().partition('<div class="mercer-report">')[2].rpartition("</div>")[0]).cells
    assert "chosen settings" in cells and {c["what"] for c in chosen.choices_} <= set(cells)
    small = mercer.ReducedSet(mercer.SVC(), vectors=9).fit(X, y)
    text = small._repr_html_()
    assert "centres before" in text and _html.number(small.compression_["error"]) in text
    assert "compression" in mercer.compress(mercer.SVC().fit(X, y), vectors=9)._repr_html_()


def test_many_classes_are_counted_and_what_is_missing_is_left_out():
    many = np.arange(len(X)) % 30
    cells = seen(mercer.SVC().fit(X, many).model_._repr_html_()).cells
    assert cells[cells.index("classes") + 1] == "30"
    about = json.loads(mercer.SVC().fit(X, y).model_.describe())
    about["info"]["gap"] = None
    assert "gap" not in dict(_html.facts(about)) and "iterations" in dict(_html.facts(about))


def test_a_pipeline_shows_its_steps_as_before():
    pipe = make_pipeline(StandardScaler(), mercer.SVC()).fit(X, y)
    text = estimator_html_repr(pipe)
    assert text.count("sk-top-container") == estimator_html_repr(make_pipeline(StandardScaler())).count("sk-top-container")
    assert "mercer-report" not in text and "SVC" in text
