"""Every kind of data and model that the command makes, asked over HTTP: to the last digit what `mercer predict` prints."""

import csv
import io
import json
import re
import signal
import subprocess
import urllib.request

import numpy as np
import pytest
import tritonclient.http as triton

from test_clients import MERCER, run

NEW = 9
#: Name of the model, command that makes it from `train.*`, and the flag and output that are compared.
KINDS = {
    "classes": ("numbers.csv", ["train", "--proba"]),
    "values": ("reals.csv", ["train"]),
    "table": ("table.csv", ["train"]),
    "usual": ("numbers.csv", ["novelty", "--label", "class"]),
    "groups": ("numbers.csv", ["cluster", "--clusters", "3", "--label", "class"]),
    "large": ("numbers.csv", ["train", "--learner", "large", "--set", "centres=12"]),
    "sparse": ("sparse.svm", ["train", "--scale", "none"]),
    "digits": ("digits.csv", ["train", "--image", "8x8", "--label", "label"]),
    "dna": ("dna.txt", ["train", "--kernel", "kmer_spectrum(k=3)"]),
}


def numbers(random, n):
    """Three classes of three columns with names that need quotes."""
    middle = np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, 2.0, 2.0]])
    rows = (middle[np.arange(n) % 3] + 0.4 * random.normal(size=(n, 3))).round(6)
    return ["a", "b, c", 'say "d"'], rows.tolist(), [f"class {i % 3}" for i in range(n)]


def tables(random, n):
    """Text, a date, a number that is sometimes missing."""
    rows, labels = [], []
    for i in range(n):
        colour, age = ["red", "green", "dark blue"][i % 3], int(random.integers(18, 80))
        rows.append([colour, None if i % 7 == 3 else age, f"2024-{1 + i % 12:02}-{1 + i % 28:02}", None if i % 9 == 4 else "yes" if i % 2 else "no"])
        labels.append("keep" if (age > 45) != (colour == "red") else "drop")
    return ["colour", "age", "since", "paid"], rows, labels


def lines(rows, header=None):
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    if header:
        write.writerow(header)
    write.writerows([["" if cell is None else cell for cell in row] for row in rows])
    return out.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds")
    random = np.random.default_rng(5)
    names, rows, labels = numbers(random, 60)
    (folder / "numbers.csv").write_text(lines([[*row, label] for row, label in zip(rows, labels)], [*names, "class"]))
    (folder / "reals.csv").write_text(lines([[*row, round(row[0] - row[1] ** 2, 6)] for row in rows], [*names, "target"]))
    names, rows, labels = tables(random, 90)
    (folder / "table.csv").write_text(lines([[*row, label] for row, label in zip(rows, labels)], [*names, "label"]))
    sparse = [f"{1 + i % 2} " + " ".join(f"{j + 1}:{random.random() + (i % 2) * (j % 2):.4f}" for j in range(12) if random.random() < 0.5) for i in range(60)]
    (folder / "sparse.svm").write_text("\n".join(sparse) + "\n")
    letters = {c: "".join(letter * weight for letter, weight in zip("ACGT", weights)) for c, weights in {"x": (4, 3, 2, 1), "y": (1, 2, 3, 4)}.items()}
    word = lambda c: "".join(random.choice(list(letters[c]), size=24))
    (folder / "dna.txt").write_text("".join(f"{'xy'[i % 2]}\t{word('xy'[i % 2])}\n" for i in range(60)))
    run(folder, "data", "toy", "digits", "digits.csv", "--rows", "150", "--quiet")
    (folder / "models").mkdir()
    for name, (data, command) in KINDS.items():
        run(folder, command[0], data, *command[1:], "--quiet", "-o", f"models/{name}.mercer")
    run(folder, "convert", "models/sparse.mercer", "--to", "libsvm", "-o", "models/old.model")
    run(folder, "pca", "fit", "numbers.csv", "--label", "class", "--components", "3", "--quiet", "-o", "models/parts.mercer")
    return folder


@pytest.fixture(scope="module")
def address(folder):
    server = subprocess.Popen([MERCER, "serve", "models", "--listen", "127.0.0.1:0"], cwd=folder, stdout=subprocess.PIPE, text=True)
    yield re.search(r"http://(\S+?):? ", server.stdout.readline() + " ").group(1).rstrip(":")
    server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=30) == 0


def ask(address, model, body, kind, output):
    request = urllib.request.Request(f"http://{address}/v1/models/{model}/predict?output={output}", data=body, headers={"content-type": kind, "accept": "text/csv"})
    with urllib.request.urlopen(request) as reply:
        return reply.read().decode()


def predicted(folder, file, model, *flags):
    """What the command prints for the same bytes."""
    return run(folder, "predict", file, f"models/{model}", *flags)


def both_ways(address, folder, model, file, body, kind, *flags):
    """The plain door and the command, told the same; once from a worker and once more at once, where it was read."""
    (folder / file).write_bytes(body)
    name = model.rsplit(".", 1)[0]
    want = predicted(folder, file, model, "--decision", *flags)
    assert want.count("\n") == NEW + 1, want
    for _ in range(2):
        assert ask(address, name, body, kind, "label,decision") == want, file
    return want


def cells(text):
    rows = list(csv.reader(io.StringIO(text)))[1:]
    return [row[0] for row in rows], np.array([[float(v) for v in row[1:]] for row in rows])


def tensors(address, name, inputs, want):
    """The inference protocol, as JSON and as bytes, both ways."""
    labels, values = cells(want)
    for binary in (False, True):
        given = []
        for column, kind, array in inputs:
            tensor = triton.InferInput(column, array.shape, kind)
            tensor.set_data_from_numpy(array, binary_data=binary)
            given.append(tensor)
        outputs = [triton.InferRequestedOutput(output, binary_data=binary) for output in ("label", "decision")]
        with triton.InferenceServerClient(address) as client:
            found = client.infer(name, given, outputs=outputs)
        text = lambda v: v.decode() if isinstance(v, bytes) else str(v)
        got = found.as_numpy("label").ravel()
        if got.dtype.kind == "f":
            np.testing.assert_array_equal(got, [float(v) for v in labels])
        else:
            assert [text(v) for v in got] == labels
        np.testing.assert_array_equal(found.as_numpy("decision"), values)


@pytest.mark.parametrize("name", ["classes", "values", "usual", "groups", "large", "old", "sparse"])
def test_rows_of_numbers(folder, address, name):
    model = "old.model" if name == "old" else f"{name}.mercer"
    names, rows, _ = numbers(np.random.default_rng(6), NEW)
    if name in ("old", "sparse"):
        names, rows = [f"x{j + 1}" for j in range(12)], np.random.default_rng(6).random((NEW, 12)).round(4).tolist()
    none = ["--label", "none"]
    table = both_ways(address, folder, model, "new.csv", lines(rows, names).encode(), "text/csv", *none)
    objects = "".join(json.dumps(dict(zip(names, row))) + "\n" for row in rows).encode()
    both_ways(address, folder, model, "new.jsonl", objects, "application/x-ndjson", *none)
    array = io.BytesIO()
    np.save(array, np.array(rows))
    both_ways(address, folder, model, "new.npy", array.getvalue(), "application/x-npy", *none)
    arrays = json.dumps(rows).encode()
    assert ask(address, name, arrays, "application/json", "label,decision") == table
    assert ask(address, name, json.dumps({"rows": [dict(zip(names, row)) for row in rows]}).encode(), "application/json", "label,decision") == table
    assert ask(address, name, lines(rows).encode(), "text/csv", "label,decision") == table, "without a header"
    tensors(address, name, [("rows", "FP64", np.array(rows))], table)
    narrow = np.array(rows, dtype=np.float32)
    array = io.BytesIO()
    np.save(array, narrow)
    want = both_ways(address, folder, model, "narrow.npy", array.getvalue(), "application/x-npy", *none)
    tensors(address, name, [("rows", "FP32", narrow)], want)


@pytest.mark.parametrize("name", ["sparse", "old"])
def test_sparse_text(folder, address, name):
    model = "old.model" if name == "old" else f"{name}.mercer"
    rows = "".join(f"0 {1 + i % 3}:0.5 {5 + i % 4}:{i / 8}\n" for i in range(NEW)).encode()
    both_ways(address, folder, model, "new.svm", rows, "text/plain")


def test_probabilities(folder, address):
    names, rows, _ = numbers(np.random.default_rng(7), NEW)
    body = lines(rows, names).encode()
    (folder / "sure.csv").write_bytes(body)
    want = predicted(folder, "sure.csv", "classes.mercer", "--proba", "--label", "none")
    assert ask(address, "classes", body, "text/csv", "label,probability") == want


def test_components(folder, address):
    names, rows, _ = numbers(np.random.default_rng(7), NEW)
    body = lines(rows, names).encode()
    (folder / "parts.csv").write_bytes(body)
    run(folder, "pca", "transform", "parts.csv", "models/parts.mercer", "--label", "none", "-o", "features.csv")
    want = np.loadtxt(folder / "features.csv", delimiter=",", skiprows=1)
    got = np.loadtxt(io.StringIO(ask(address, "parts", body, "text/csv", "features")), delimiter=",", skiprows=1)
    np.testing.assert_array_equal(got, want)


def test_tables_with_text_and_missing_values(folder, address):
    names, rows, _ = tables(np.random.default_rng(8), NEW)
    rows[0][0] = "violet"  # a category that the model has never seen
    want = both_ways(address, folder, "table.mercer", "new.csv", lines(rows, names).encode(), "text/csv", "--label", "none")
    objects = [dict(zip(names, row)) for row in rows]
    body = "".join(json.dumps(one) + "\n" for one in objects).encode()
    assert both_ways(address, folder, "table.mercer", "new.jsonl", body, "application/x-ndjson", "--label", "none") == want
    assert ask(address, "table", json.dumps(objects).encode(), "application/json", "label,decision") == want
    # In another order, with a column that the model does not know.
    turned = [{"more": 1, **dict(reversed(one.items()))} for one in objects]
    assert ask(address, "table", json.dumps(turned).encode(), "application/json", "label,decision") == want
    filled = [[("" if cell is None else cell) for cell in row] for row in rows]
    inputs = []
    for j, name in enumerate(names):
        if name == "age":
            continue
        inputs.append((name, "BYTES", np.array([[str(row[j]).encode()] for row in filled], dtype=object)))
    age = np.array([[np.nan if row[1] is None else row[1]] for row in rows], dtype=np.float64)
    labels, values = cells(want)
    given = []
    for name, kind, array in [*inputs, ("age", "FP64", age)]:
        tensor = triton.InferInput(name, array.shape, kind)
        tensor.set_data_from_numpy(array, binary_data=True)
        given.append(tensor)
    with triton.InferenceServerClient(address) as client:
        found = client.infer("table", given)
    assert [v.decode() if isinstance(v, bytes) else v for v in found.as_numpy("label").ravel()] == labels
    np.testing.assert_array_equal(found.as_numpy("decision"), values)


def test_images(folder, address):
    text = (folder / "digits.csv").read_text().splitlines()
    rows = "\n".join([text[0].rsplit(",", 1)[0], *(line.rsplit(",", 1)[0] for line in text[1 : NEW + 1])]) + "\n"
    want = both_ways(address, folder, "digits.mercer", "new.csv", rows.encode(), "text/csv", "--label", "none")
    array = np.array([[float(v) for v in line.split(",")] for line in rows.splitlines()[1:]])
    tensors(address, "digits", [("rows", "FP64", array)], want)
    image = io.BytesIO()
    np.save(image, array.reshape(NEW, 8, 8))
    both_ways(address, folder, "digits.mercer", "new.npy", image.getvalue(), "application/x-npy", "--label", "none")


def test_sequences(folder, address):
    words = [line.split("\t")[1] for line in (folder / "dna.txt").read_text().splitlines()[:NEW]]
    labelled = "".join(f"x\t{word}\n" for word in words).encode()
    want = both_ways(address, folder, "dna.mercer", "new.txt", labelled, "text/plain")
    alone = "\n".join(words).encode()
    assert ask(address, "dna", alone, "text/plain", "label,decision") == want
    assert ask(address, "dna", json.dumps(words).encode(), "application/json", "label,decision") == want
    tensors(address, "dna", [("rows", "BYTES", np.array([word.encode() for word in words], dtype=object))], want)
