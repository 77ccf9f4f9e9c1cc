"""Models and reports as HTML, for the cells of notebooks, which have a style of their own."""

from __future__ import annotations

import json
from html import escape

# Classes listed by name; of more, their number is told.
CLASSES = 12
# Lines of settings and of notes.
LINES = 20
VERBS = {
    "classification": "classify",
    "regression": "regress",
    "novelty": "find novelties",
    "clustering": "find clusters",
    "features": "extract features",
}
# Facts that the other lines tell, or that are too long for one.
TOLD = {"machines", "free_per_machine", "bounded_per_machine", "values", "rows"}
# What a compression tells, with its name.
COMPRESSION = {
    "method": "method",
    "before": "centres before",
    "after": "centres after",
    "error": "relative error",
    "agreement": "fraction of unchanged predictions",
}


def number(value):
    """A number as people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(number(v) for v in value)
    return str(value)


def table(caption, rows, columns=None):
    """Rows of cells; without names of columns the first cell of a row is its name. Everything given stays text."""
    lines = ["<table>", f"<caption>{escape(caption)}</caption>"]
    if columns is not None:
        heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
        lines.append(f"<thead><tr>{heads}</tr></thead>")
    lines.append("<tbody>")
    for first, *rest in rows:
        cells = "".join(f"<td>{escape(number(cell))}</td>" for cell in rest)
        head = f'<th scope="row">{escape(str(first))}</th>' if columns is None else f"<td>{escape(number(first))}</td>"
        lines.append(f"<tr>{head}{cells}</tr>")
    lines.append("</tbody></table>")
    return "\n".join(lines) + "\n"


def title(about):
    """The learner and its task."""
    return f"{about['kind']}, to {VERBS.get(about['task'], about['task'])}"


def facts(about):
    """What is told of a model, by name."""
    classes, info = about["classes"], about["info"]
    rows = [("kernel", about["kernel"])]
    settings = about["params"] if isinstance(about["params"], dict) else {}
    shown = {name: value for name, value in settings.items() if isinstance(value, (bool, int, float, str)) and name != "kernel"}
    for name, value in list(shown.items())[:LINES]:
        rows.append((name.replace("_", " "), value))
    rows += [("first", stage) for stage in about["stages"]]
    rows += [("columns", about["columns"]), ("centres", about["centres"]), ("outputs", about["outputs"])]
    if classes and about["task"] == "classification":
        rows.append(("classes", ", ".join(classes) if len(classes) <= CLASSES else len(classes)))
    for name, value in about["facts"]:
        if name not in TOLD and value is not None:
            rows.append((name.replace("_", " "), value))
    rows += [(name, info[name]) for name in ("iterations", "gap") if info["iterations"] and info[name] is not None]
    rows.append(("stopped", info["stop"]))
    rows += [("note", note) for note in info["notes"][:LINES]]
    return rows


def of_model(model):
    """A fitted model of the library."""
    about = json.loads(model.describe())
    return table(title(about), facts(about))


def line(model):
    """A fitted model of the library in a line."""
    about = json.loads(model.describe())
    return f"<mercer.Model: {title(about)}, {about['kernel']}, {about['centres']} centres>"


def compression(about):
    """What a compression reached."""
    rows = [(words, about[name]) for name, words in COMPRESSION.items() if about.get(name) is not None]
    return table("compression", rows + [("note", note) for note in about.get("notes", [])[:LINES]])


def choices(found):
    """Settings that were chosen from the data."""
    return table("chosen settings", [(c["what"], c["value"], c["why"]) for c in found], ("setting", "value", "why"))


def report(estimator):
    """What a fitted estimator tells next to its diagram; empty before the fit."""
    known = estimator.__dict__
    parts = []
    if "model_" in known:
        parts.append(of_model(known["model_"]))
    if "choices_" in known:
        parts.append(choices(known["choices_"]))
    if "compression_" in known:
        parts.append(compression(known["compression_"]))
    return f'<div class="mercer-report">\n{"".join(parts)}</div>\n' if parts else ""
