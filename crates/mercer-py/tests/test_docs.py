"""The Python of the book runs: all blocks of a page, one after the other, in a folder of its own.

A block that cannot run carries a comment ``not run: reason`` before it, and a comment ``setup`` holds shell commands that
make the page's data, as in the command's own test of the book.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted((ROOT / "docs").rglob("*.md")) + [ROOT / "crates/mercer-py/README.md"]
BLOCK = re.compile(r"(<!-- not run:[^>]*-->\n)?```python\n(.*?)```", re.DOTALL)
SETUP = re.compile(r"<!-- setup\n(.*?)-->", re.DOTALL)


def blocks_of(page):
    return [block for reason, block in BLOCK.findall(page.read_text()) if not reason]


PAGES = [page for page in PAGES if blocks_of(page)]


def test_pages_with_python_are_found():
    names = {page.name for page in PAGES}
    assert {"python.md", "tutorial.md", "start.md", "classify.md"} <= names


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    setup = "\n".join(SETUP.findall(page.read_text()))
    if setup:
        cli = os.environ.get("MERCER_CLI")
        if not cli:
            pytest.skip("needs the command, by MERCER_CLI")
        path = f"{Path(cli).parent}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(["sh", "-eu", "-c", setup], check=True, env={**os.environ, "PATH": path}, stdout=subprocess.DEVNULL)
    names = {"__name__": "__main__"}
    for block in blocks_of(page):
        exec(compile(block, str(page), "exec"), names)
