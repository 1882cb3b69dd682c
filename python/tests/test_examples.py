"""The examples run, in their quick mode. Each checks its own results."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the examples are in the repository alone")
EXAMPLES = {
    "sklearn_online_gp": ("sklearn", "threadpoolctl"),
    "sklearn_lars": ("sklearn", "threadpoolctl"),
    "optuna_gp_append": ("optuna", "torch", "threadpoolctl"),
    "filterpy_kalman": ("filterpy", "scipy", "threadpoolctl"),
    "online_gp_notebook": ("matplotlib", "scipy", "threadpoolctl"),
    "kalman_bank": ("threadpoolctl",),
    "linucb": ("threadpoolctl",),
    "qp": ("scipy", "threadpoolctl"),
    "nnls": ("matplotlib", "scipy", "threadpoolctl"),
    "jax_online_gp": ("jax", "matplotlib"),
    "kalman_scan": ("jax",),
    "botorch_fantasy": ("torch", "botorch"),
}
DRAWING = {"online_gp_notebook": "plot.png", "jax_online_gp": "plot.svg", "nnls": "plot.svg"}
PARTS = {"qp_problems", "qp_peers"}  # modules that an example imports


def test_all_are_here() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == EXAMPLES.keys() | PARTS


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, tmp_path: Path) -> None:
    missing = [package for package in EXAMPLES[name] if importlib.util.find_spec(package) is None]
    if missing:
        pytest.skip(f"needs {' and '.join(missing)}")
    command = [sys.executable, str(FOLDER / f"{name}.py"), "--quick"]
    if name in DRAWING:
        command += ["--plot", str(tmp_path / DRAWING[name])]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout
    assert [path.name for path in tmp_path.iterdir()] == [DRAWING[name] for _ in range(name in DRAWING)]


def test_missing_package() -> None:
    if importlib.util.find_spec("torch") is not None:
        pytest.skip("PyTorch is here")
    command = [sys.executable, str(FOLDER / "optuna_gp_append.py")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install torch optuna" in done.stderr
    assert "Traceback" not in done.stderr
