"""The Python code that the lab writes down, executed on the files that its command lines make."""

import json
import os
import subprocess
import urllib.parse
import urllib.request

import numpy as np
import pytest

MERCER = os.environ.get("MERCER_CLI")
pytestmark = pytest.mark.skipif(MERCER is None, reason="MERCER_CLI does not name the built command")


def table(n, seed):
    random = np.random.default_rng(seed)
    x = (random.normal(size=(n, 2)) + (np.arange(n) % 2)[:, None]).round(4)
    return "a,b,label\n" + "".join(f"{u},{v},{'in side' if i % 2 else 'outside'}\n" for i, (u, v) in enumerate(x))


def mixed(n, seed):
    random = np.random.default_rng(seed)
    line = lambda i: f"{['red', 'green', 'dark blue'][i % 3]},{'' if i % 7 == 0 else random.integers(18, 80)},{'yes' if (i % 3 == 0) != (random.random() < 0.1) else 'no'}\n"
    return "colour,age,label\n" + "".join(map(line, range(n)))


def prices(n, seed):
    random = np.random.default_rng(seed)
    return "a,b,price\n" + "".join(f"{i / 10},{random.random():.3f},{i / 5 + random.random():.3f}\n" for i in range(n))


def sparse(n, seed):
    random = np.random.default_rng(seed)
    return "".join(f"{1 if i % 2 else -1} {1 + i % 9}:{random.random():.3f} {10 + i % 2}:1.5\n" for i in range(n))


FILES = {"mine.csv": table(90, 1), "text.csv": mixed(90, 2), "prices.csv": prices(80, 3), "rows.svm": sparse(80, 4)}


@pytest.fixture(scope="module")
def lab():
    server = subprocess.Popen([MERCER, "lab", "--no-open", "--format", "json"], stdout=subprocess.PIPE, text=True)
    address = json.loads(server.stdout.readline())["address"].split("#")[0]

    def ask(path, body=None):
        with urllib.request.urlopen(urllib.request.Request(f"{address}api/{path}", data=body)) as reply:
            return reply.read()

    yield ask
    server.terminate()
    assert server.wait(timeout=30) == 0


@pytest.mark.parametrize("held", [0.25, 0])
@pytest.mark.parametrize("name", FILES)
def test_the_code_that_the_lab_writes_down_runs(lab, tmp_path, monkeypatch, name, held):
    (tmp_path / name).write_text(FILES[name])
    file = json.loads(lab(f"files/{urllib.parse.quote(name)}", FILES[name].encode()))["file"]
    chosen = json.loads(lab("sets", json.dumps({"file": file}).encode()))
    job = json.loads(lab("jobs/train", json.dumps({"set": chosen["id"], "auto": "quick", "held": held}).encode()))
    events = [json.loads(line[5:]) for line in lab(f"job/{job['id']}/events/0").decode().splitlines() if line.startswith("data:")]
    result = next(event["result"] for event in events if event["event"] == "done")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mercer").symlink_to(os.path.abspath(MERCER))
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    subprocess.run(["sh", "-ec", result["command"]], cwd=tmp_path, check=True, capture_output=True, env={**os.environ, "PATH": path})
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(result["python"], "lab.py", "exec"), names)
    rows = f"{name.split('.')[0]}-test.{name.split('.')[1]}" if held else name
    model = f"{name.split('.')[0]}.mercer"
    flags = [] if name.endswith("svm") else ["--label", "price" if name == "prices.csv" else "label"]
    told = subprocess.run([MERCER, "predict", rows, model, *flags], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.splitlines()
    told = told[1:] if told[0] == "prediction" else told
    if name == "prices.csv":
        np.testing.assert_allclose(names["predicted"].astype(float), [float(v) for v in told], rtol=1e-9)
    elif name == "rows.svm":
        assert [float(v) for v in names["predicted"]] == [float(v) for v in told]
    else:
        assert [str(v) for v in names["predicted"]] == told
    # The same machine again, where the package has an estimator for it.
    if "machine" in names:
        again = names["machine"].predict(names["X"])
        if name == "prices.csv":
            assert np.abs(again - names["predicted"]).max() < 0.05 * np.ptp(names["predicted"])
        else:
            assert np.mean(again == names["predicted"]) > 0.9
