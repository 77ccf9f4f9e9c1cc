"""What a report of a problem needs."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys

from . import _mercer
from ._threads import threads_of


def show_versions() -> None:
    """Print the versions of Mercer, Python and the dependencies, and the machine.

    Examples
    --------
    >>> import mercer
    >>> mercer.show_versions()  # doctest: +ELLIPSIS
    mercer: ...
    """
    print(f"mercer: {_mercer.__version__} ({_mercer.__file__})")
    print(f"python: {sys.version.split()[0]} ({sys.executable})")
    print(f"machine: {platform.platform()}, {platform.machine()}, {os.cpu_count()} processors")
    print(f"threads: {threads_of(None) or os.cpu_count()}")
    for name in ("numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "pandas", "polars", "tqdm"):
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            version = "not installed"
        print(f"{name}: {version}")
