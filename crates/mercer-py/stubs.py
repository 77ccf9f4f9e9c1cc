"""Writes the stubs of the package, python/mercer/__init__.pyi, from its signatures and docstrings.

``python stubs.py`` writes them, ``python stubs.py --check`` fails if they are not what it would write. The docstrings are the one
place where types are told; tests hold that every parameter and attribute is in them.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import mercer

OUT = Path(__file__).parent / "python/mercer/__init__.pyi"
HEAD = '''"""Learning with Mercer kernels. Written by stubs.py from the docstrings: do not edit."""

from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import kernels as kernels
from ._mercer import Model as Model
from .kernels import RBF as RBF
from .kernels import Kernel as Kernel
from .kernels import Laplacian as Laplacian
from .kernels import Linear as Linear
from .kernels import Poly as Poly
from .kernels import Sigmoid as Sigmoid

# Arrays, lists of rows, sparse matrices, frames of pandas and polars: what scikit-learn takes.
Rows: TypeAlias = Any
Floats: TypeAlias = NDArray[np.float64]
Path: TypeAlias = str | PathLike[str]
Seed: TypeAlias = int | np.random.RandomState | None

__version__: str

class Progress(NamedTuple):
    phase: str
    done: int
    total: int | None
    gap: float | None
    support_vectors: int | None
'''
WORDS = {
    "float": "float",
    "int": "int",
    "bool": "bool",
    "str": "str",
    "dict": "dict[Any, Any]",
    "tuple": "tuple[int, ...]",
    "callable": "Callable[..., Any]",
    "Kernel": "Kernel",
    "array-like": "Rows",
    "iterable": "Iterable[str]",
    "estimator": "Any",
    "path-like": "PathLike[str]",
    "mercer.Model": "Model",
    "ndarray": "NDArray[Any]",
    "object": "Any",
    "bytes": "bytes",
}
RETURNS = {
    "fit": "Self",
    "fit_predict": "NDArray[Any]",
    "fit_transform": "Any",
    "transform": "Any",
    "predict": "NDArray[Any]",
    "decision_function": "Floats",
    "score_samples": "Floats",
    "predict_proba": "Floats",
    "predict_log_proba": "Floats",
    "inverse_transform": "Any",
    "score": "float",
    "save": "None",
    "to_onnx": "bytes",
    "get_params": "dict[str, Any]",
    "set_params": "Self",
    "set_output": "Self",
    "set_fit_request": "Self",
    "set_score_request": "Self",
    "get_feature_names_out": "NDArray[Any]",
    "sparsify": "Self",
    "densify": "Self",
    "invert": "Any",
}
ARGUMENTS = {"path": "Path", "deep": "bool", "sample_weight": "Rows | None", "y": "Rows | None"}
FUNCTIONS = {
    "compress": "Any",
    "denoise": "Floats",
    "from_sklearn": "Any",
    "load": "Any",
    "patch_sklearn": "None",
    "preimage": "tuple[Any, Floats]",
    "save": "None",
    "show_versions": "None",
    "to_onnx": "bytes",
    "unpatch_sklearn": "None",
}


def kind(words: str) -> str:
    """A type of a docstring as one of Python."""
    words = re.sub(r",? *default=.*$", "", words).strip()
    words = re.sub(r" of shape .*$| of str$", "", words)
    if "RandomState" in words:
        return "Seed"
    found: list[str] = []
    for choices in re.findall(r"\{([^}]*)\}", words):
        literals = [choice.strip() for choice in choices.split(",")]
        if all(re.fullmatch(r"'.*'|None|True|False|\d+", choice) for choice in literals):
            found.append(f"Literal[{', '.join(literals)}]")
        else:
            found += [kind(choice) for choice in literals]
    words = re.sub(r"\{[^}]*\}", "", words)
    for word in re.split(r",| or ", words):
        word = word.strip()
        if not word:
            continue
        if re.fullmatch(r"'.*'", word):
            found.append(f"Literal[{word}]")
        elif word == "None":
            found.append("None")
        elif word.startswith("(float"):
            found.append("tuple[float, float]")
        else:
            found.append(WORDS.get(word, "Any"))
    return " | ".join(dict.fromkeys(found)) if found and "Any" not in found else "Any"


def section(doc: str, name: str) -> dict[str, str]:
    """`{name: type}` of a section of a docstring."""
    match = re.search(rf"^{name}\n-+\n(.*?)(?=^\w[\w ]*\n-{{3,}}|\Z)", doc, re.MULTILINE | re.DOTALL)
    listed = {}
    for line in (match[1] if match else "").split("\n"):
        entry = re.match(r"^([\w, ]+) : (.*)$", line)
        for own in entry[1].split(", ") if entry else []:
            listed[own.strip()] = entry[2]
    return listed


def argument(parameter: inspect.Parameter, told: dict[str, str]) -> str:
    """A parameter with its type."""
    name, default = parameter.name, parameter.default
    of = told.get(name)
    type_ = ARGUMENTS.get(name) or (kind(of) if of else "Any")
    if default is None and type_ != "Any" and "None" not in type_ and type_ != "Seed":
        type_ += " | None"
    if isinstance(default, str) and type_ not in ("Any", "Rows") and "str" not in re.findall(r"\w+", re.sub(r"'.*?'", "", type_)):
        if repr(default) not in type_:
            type_ += f" | Literal[{default!r}]"
    return f"{name}: {type_}" + ("" if default is parameter.empty else " = ...")


def arguments(function, doc: str, skip: int) -> str:
    """All parameters of a function."""
    told, out, star = section(doc, "Parameters"), [], False
    for parameter in list(inspect.signature(function).parameters.values())[skip:]:
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            out.append("*")
            star = True
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            mark = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
            star = star or mark == "*"
            out.append(f"{mark}{parameter.name}: Any")
            continue
        out.append(argument(parameter, told))
    return ", ".join(out)


def estimator(name: str, made: type) -> str:
    """The stub of an estimator."""
    doc = inspect.getdoc(made) or ""
    lines = [f"class {name}:"]
    attributes = {own: kind(of) for own, of in section(doc, "Attributes").items()}
    lines += [f"    {own}: {type_}" for own, type_ in attributes.items()]
    own_init = arguments(made.__init__, doc, 1)
    lines.append(f"    def __init__(self{', ' if own_init else ''}{own_init}) -> None: ...")
    for method in sorted(set(dir(made)) & set(RETURNS)):
        function = inspect.getattr_static(made, method)
        function = getattr(function, "fn", function)
        if method.startswith("set_") and method.endswith("_request"):
            lines.append(f"    def {method}(self, **kwargs: bool | str | None) -> Self: ...")
            continue
        if not callable(function):
            continue
        given = arguments(function, inspect.getdoc(function) or "", 1)
        # The base classes of scikit-learn do not say more than this.
        given = re.sub(r"\bX: [^,]*", "X: Rows", given)
        lines.append(f"    def {method}(self{', ' if given else ''}{given}) -> {RETURNS[method]}: ...")
    return "\n".join(lines)


def written() -> str:
    """The whole file."""
    parts = [HEAD]
    for name in mercer.__all__:
        thing = getattr(mercer, name)
        if hasattr(thing, "get_params"):
            parts.append(estimator(name, thing) + "\n")
        elif name in FUNCTIONS:
            given = arguments(thing, inspect.getdoc(thing) or "", 0)
            parts.append(f"def {name}({given}) -> {FUNCTIONS[name]}: ...\n")
    parts.append("__all__ = [\n" + "".join(f'    "{name}",\n' for name in mercer.__all__) + "]\n")
    return "\n".join(parts)


if __name__ == "__main__":
    text = written()
    if "--check" in sys.argv:
        sys.exit(0 if OUT.read_text() == text else f"{OUT} is not what its docstrings say: run python stubs.py")
    OUT.write_text(text)
