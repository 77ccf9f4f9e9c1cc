"""The gallery's scripts run and write their figures."""

import subprocess
import sys
from pathlib import Path

import pytest

GALLERY = Path(__file__).resolve().parents[3] / "docs/gallery"
SCRIPTS = sorted(GALLERY.glob("*.py"))


def test_there_are_seven_with_their_figures():
    assert len(SCRIPTS) == 7
    assert all(script.with_suffix(".png").is_file() for script in SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_a_script_runs(script, tmp_path):
    pytest.importorskip("matplotlib")
    line = [sys.executable, str(script), str(tmp_path)]
    out = subprocess.run(line, capture_output=True, text=True, env={"MPLBACKEND": "Agg", "HOME": str(tmp_path)})
    assert out.returncode == 0, out.stderr
    assert out.stdout.strip()
    assert (tmp_path / f"{script.stem}.png").stat().st_size > 5000
