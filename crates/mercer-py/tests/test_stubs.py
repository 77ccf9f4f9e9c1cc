"""The stubs say what the compiled part has."""

import ast
import importlib.resources
import json
import subprocess
import sys
from pathlib import Path

import pytest

import mercer
from mercer import _mercer


def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


def test_stubs_and_module_have_the_same_names():
    files = importlib.resources.files(mercer)
    assert (files / "py.typed").is_file()
    tree = ast.parse((files / "_mercer.pyi").read_text())
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    assert functions | set(classes) == public(_mercer)
    for name, node in classes.items():
        told = {part.name for part in node.body if isinstance(part, ast.FunctionDef) and part.name != "__init__"}
        there = getattr(_mercer, name)
        # Hooks such as `_repr_html_` are told, too, and must be there; names that begin with `_` need not be told.
        assert {part for part in told if not part.startswith("_")} == public(there), name
        assert all(hasattr(there, part) for part in told), name


def test_parameters_of_functions_agree():
    import inspect

    tree = ast.parse((importlib.resources.files(mercer) / "_mercer.pyi").read_text())
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            arguments = [a.arg for a in node.args.args + node.args.kwonlyargs]
            assert arguments == list(inspect.signature(getattr(_mercer, node.name)).parameters), node.name


def test_every_estimator_is_documented_in_numpydoc():
    for name in mercer.__all__:
        thing = getattr(mercer, name)
        if hasattr(thing, "get_params") and name != "Predictor":
            text = thing.__doc__
            assert all(f"{head}\n    {'-' * len(head)}" in text for head in ("Parameters", "Attributes", "Examples")), name
            named = text.split("Attributes")[0]
            assert all(p in named for p in inspect_parameters(thing)), name


def inspect_parameters(cls):
    import inspect

    return [p for p in inspect.signature(cls.__init__).parameters if p != "self"]


HERE = Path(__file__).parent
MYPY = ["--strict", "--disable-error-code=import-untyped", "--no-incremental", "--no-error-summary"]


def mypy(*files):
    pytest.importorskip("mypy")
    line = [sys.executable, "-m", "mypy", *MYPY, *map(str, files)]
    return subprocess.run(line, capture_output=True, text=True, cwd=HERE / "typed").stdout


def test_the_stubs_are_what_the_docstrings_say():
    done = subprocess.run([sys.executable, str(HERE.parent / "stubs.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_typed_code_has_no_faults_and_wrong_code_has_all_of_them():
    told = mypy(HERE / "typed/example.py", HERE / "typed/wrong.py")
    lines = (HERE / "typed/wrong.py").read_text().splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert len(wrong) >= 7
    assert "example.py" not in told, told
    assert {int(line.split(":")[1]) for line in told.splitlines() if "error:" in line} == wrong, told


def test_pyright_finds_nothing_in_typed_code_and_every_fault_in_wrong_code(tmp_path):
    pytest.importorskip("pyright")
    for file in (HERE / "typed").glob("*.py"):
        (tmp_path / file.name).write_text(file.read_text())
    # Stubs of scikit-learn are not there, so what its classes bring is not known to a strict reader.
    told = {"typeCheckingMode": "strict", "reportMissingTypeStubs": False, "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(told))
    line = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.lstrip().startswith("{"), done.stdout + done.stderr
    found = [d for d in json.loads(done.stdout)["generalDiagnostics"] if d["severity"] == "error"]
    example = [d["message"] for d in found if d["file"].endswith("example.py")]
    assert not example, example
    lines = (HERE / "typed/wrong.py").read_text().splitlines()
    wrong = {number for number, line in enumerate(lines) if line.endswith("# wrong")}
    assert {d["range"]["start"]["line"] for d in found if d["file"].endswith("wrong.py")} == wrong, found
