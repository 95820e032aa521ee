"""The examples run, make their figures, and find what they look for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("ERGOCL_ROOT", Path(__file__).resolve().parents[2]))


def test_where_is_tc(tmp_path: Path) -> None:
    image = pytest.importorskip("matplotlib.image")
    script = ROOT / "tools" / "python" / "examples" / "where_is_tc.py"
    done = subprocess.run([sys.executable, script, "tc"], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    for name in ("checks", "series", "binder"):
        picture = image.imread(tmp_path / "tc" / f"{name}.png")
        assert picture.shape[0] > 300 and picture[..., :3].std() > 0.03, f"{name}.png is blank"
    found = re.search(r"T_c = ([\d.]+) \+- ([\d.]+), exact ([\d.]+)", done.stdout)
    assert found, done.stdout
    t_c, error, exact = map(float, found.groups())
    # sizes 8 and 16 cross a little above T_c; the seed is fixed
    assert 0 < error < 0.02 and abs(t_c - exact) < 0.03
