"""Golden model files predict the same through a reader that knows the format's page only."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from model_file import Model  # noqa: E402

GOLDEN = Path(__file__).parents[2] / "mercer-cli" / "tests" / "golden" / "v2"
#: Kernels and stages whose formulas the small reader leaves out.
ELSEWHERE = {"images", "letters", "sequences", "virtual"}


def rows(name, columns):
    """The features of a file of rows."""
    if name.endswith(".svm"):
        out = []
        for line in (GOLDEN / name).read_text().splitlines():
            row = np.zeros(columns)
            for pair in line.split()[1:]:
                column, value = pair.split(":")
                row[int(column) - 1] = float(value)
            out.append(row)
        return np.array(out)
    with (GOLDEN / name).open() as file:
        lines = list(csv.reader(file))
    return np.array([[float(v) for v in line[:columns]] for line in lines[1:]])


def models():
    for path in sorted(GOLDEN.glob("*.mercer")):
        if path.stem not in ELSEWHERE:
            (told,) = (p for p in GOLDEN.glob(f"{path.stem}.*.csv") if p.name != f"{path.stem}.csv")
            yield pytest.param(path, told, id=path.stem)


@pytest.mark.parametrize(("path", "told"), list(models()))
def test_a_reader_written_from_the_page_predicts_the_same(path, told):
    model = Model(path)
    data = told.name[len(path.stem) + 1 : -len(".csv")]
    first = model.layers[0] if model.layers else model.f
    columns = model.body["stages"][0]["columns"] if model.body["stages"] else first.centres.shape[1]
    x = rows(data, columns)
    with told.open() as file:
        head, *lines = list(csv.reader(file))
    if head[0] != "prediction":
        features = model.decision(x)
        # The label follows the features.
        wanted = [[float(v) for v in line[: features.shape[1]]] for line in lines]
        np.testing.assert_allclose(features, wanted, rtol=1e-7, atol=1e-9)
        return
    predicted, wanted = model.predict(x), [line[0] for line in lines]
    if model.machine["role"] == "numbers":
        np.testing.assert_allclose(predicted, [float(v) for v in wanted], rtol=1e-9, atol=1e-9)
    else:
        assert list(predicted) == wanted
    if path.stem != "probability":
        values = np.array([[float(v) for v in line[1:]] for line in lines])
        np.testing.assert_allclose(model.decision(x), values, rtol=1e-8, atol=1e-9)


def test_most_golden_models_are_read():
    assert len(list(models())) >= 50
