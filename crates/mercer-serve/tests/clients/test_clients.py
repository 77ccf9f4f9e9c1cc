"""The service as clients that others wrote see it: tritonclient, and the curl examples of docs/serve.md."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tritonclient.http as triton

ROOT = Path(__file__).resolve().parents[4]
MERCER = os.environ["MERCER_CLI"]
NAMES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]


def run(folder, *args):
    return subprocess.run([MERCER, *args], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model `iris` of three classes of flowers, with probabilities, and rows that are new to it."""
    folder = tmp_path_factory.mktemp("serve")
    random = np.random.default_rng(1)
    lines = [",".join([*NAMES, "species"])]
    for name, middle in [("setosa", (5.0, 3.4, 1.5, 0.2)), ("versicolor", (5.9, 2.8, 4.3, 1.3)), ("virginica", (6.6, 3.0, 5.6, 2.0))]:
        for row in random.normal(middle, 0.2, (30, 4)):
            lines.append(",".join([*(f"{v:.2f}" for v in row), name]))
    (folder / "iris.csv").write_text("\n".join(lines) + "\n")
    (folder / "models").mkdir()
    run(folder, "train", "iris.csv", "--proba", "--quiet", "-o", "models/iris.mercer")
    rows = random.normal((5.9, 3.0, 4.0, 1.2), 1.0, (20, 4)).round(2)
    (folder / "new.csv").write_text("\n".join([",".join(NAMES), *(",".join(map(str, r)) for r in rows)]) + "\n")
    return folder


@pytest.fixture(scope="module")
def address(folder):
    command = [MERCER, "serve", "models", "--listen", "127.0.0.1:0"]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    line = server.stdout.readline()
    address = re.search(r"http://(\S+?):? ", line + " ").group(1).rstrip(":")
    yield address
    server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=30) == 0


@pytest.fixture(scope="module")
def client(address):
    with triton.InferenceServerClient(address) as client:
        yield client


def rows(folder):
    return np.loadtxt(folder / "new.csv", delimiter=",", skiprows=1)


def expected(folder, flag):
    """What `mercer predict` prints: labels, and the numbers beside them."""
    lines = [line.split(",") for line in run(folder, "predict", "new.csv", "models/iris.mercer", flag).splitlines()[1:]]
    return [line[0] for line in lines], np.array([[float(v) for v in line[1:]] for line in lines])


def test_metadata(client):
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("iris")
    assert not client.is_model_ready("none")
    assert client.get_server_metadata()["name"] == "mercer"
    about = client.get_model_metadata("iris")
    assert about["inputs"] == [{"name": "rows", "datatype": "FP64", "shape": [-1, 4]}]
    assert {output["name"] for output in about["outputs"]} == {"label", "decision", "score", "probability"}
    index = client.get_model_repository_index()
    assert [(one["name"], one["state"]) for one in index] == [("iris", "READY")]


@pytest.mark.parametrize("binary_in", [True, False])
@pytest.mark.parametrize("binary_out", [True, False])
def test_infer(client, folder, binary_in, binary_out):
    x = rows(folder)
    tensor = triton.InferInput("rows", x.shape, "FP64")
    tensor.set_data_from_numpy(x, binary_data=binary_in)
    outputs = [triton.InferRequestedOutput(name, binary_data=binary_out) for name in ["label", "probability", "decision"]]
    result = client.infer("iris", [tensor], outputs=outputs, request_id="7")
    assert result.get_response()["id"] == "7"
    labels, probability = expected(folder, "--proba")
    text = lambda v: v.decode() if isinstance(v, bytes) else str(v)
    assert [text(v) for v in result.as_numpy("label").ravel()] == labels
    np.testing.assert_array_equal(result.as_numpy("probability"), probability)
    np.testing.assert_array_equal(result.as_numpy("decision"), expected(folder, "--decision")[1])


@pytest.mark.parametrize("datatype, kind", [("FP32", np.float32), ("INT32", np.int32), ("INT64", np.int64), ("UINT8", np.uint8)])
def test_datatypes(client, folder, datatype, kind):
    x = rows(folder).round().astype(kind)
    narrow = triton.InferInput("rows", x.shape, datatype)
    narrow.set_data_from_numpy(x)
    wide = triton.InferInput("rows", x.shape, "FP64")
    wide.set_data_from_numpy(x.astype(float))
    a, b = (client.infer("iris", [tensor]).as_numpy("decision") for tensor in (narrow, wide))
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("compression", ["gzip", "deflate"])
def test_compressed_requests(client, folder, compression, binary):
    x = rows(folder)
    tensor = triton.InferInput("rows", x.shape, "FP64")
    tensor.set_data_from_numpy(x, binary_data=binary)
    result = client.infer("iris", [tensor], request_compression_algorithm=compression)
    np.testing.assert_array_equal(result.as_numpy("decision"), expected(folder, "--decision")[1])


def test_refusals_reach_the_client(client):
    x = np.zeros((2, 3))
    tensor = triton.InferInput("rows", x.shape, "FP64")
    tensor.set_data_from_numpy(x)
    with pytest.raises(triton.InferenceServerException, match="columns of the points.*: got 3, expected 4"):
        client.infer("iris", [tensor])
    with pytest.raises(triton.InferenceServerException, match="no model `none`"):
        client.infer("none", [tensor])


def test_unload_and_load(client):
    client.unload_model("iris")
    assert not client.is_model_ready("iris")
    client.load_model("iris")
    assert client.is_model_ready("iris")


def examples():
    text = (ROOT / "docs/serve.md").read_text()
    return [block.strip() for block in re.findall(r"```sh\n(curl .*?)```", text, re.S)]


def test_there_are_examples():
    assert len(examples()) >= 6


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("example", examples())
def test_curl_examples_of_the_page(folder, address, example):
    line = example.replace("127.0.0.1:8000", address)
    done = subprocess.run(f"{line} --fail --silent --show-error", shell=True, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{line}\n{done.stderr}"
    if "predict" in line or "infer" in line:
        assert any(name in done.stdout for name in ["setosa", "versicolor", "virginica"]), done.stdout
    else:
        assert "iris" in done.stdout
