"""The benchmarks of batches run, in a small size and with NumPy alone. Each checks its own results."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benches"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the benchmarks are in the repository alone")
# The imports of PyTorch and JAX take seconds. With this they fail, as where they are missing.
WITHOUT_PEERS = f"""
import runpy, sys
sys.modules.update(torch=None, jax=None)
sys.path.insert(0, {str(FOLDER)!r})
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


def output(name: str, *arguments: str) -> str:
    command = [sys.executable, "-c", WITHOUT_PEERS, str(FOLDER / name), "--seconds", "0.01", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_table() -> None:
    lines = output("batch.py", "--orders", "3", "5", "--ranks", "1", "2", "--bytes", "2000").splitlines()
    cells = [line.split(" | ")[1:3] for line in lines if line.startswith("| f32")]
    assert cells == [["3", "1"], ["3", "2"], ["5", "1"], ["5", "2"]]


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="needs matplotlib")
def test_curves(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("sizes.csv", "sizes.svg")]
    output("batch_sizes.py", "--orders", "3", "--largest", "100", "--csv", files[0], "--svg", files[1])
    lines = Path(files[0]).read_text().splitlines()
    assert len(lines) == 2 + 3 * 3
    assert "CholeskyBatch" in Path(files[1]).read_text()
