"""The behaviour of a source distribution without Rust."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "backend"
HOOKS = ("get_requires_for_build_wheel", "prepare_metadata_for_build_wheel", "build_wheel", "build_editable", "build_sdist")


@pytest.mark.skipif(not FOLDER.exists(), reason="the build backend is beside the sources alone")
@pytest.mark.parametrize("hook", HOOKS)
def test_without_cargo_there_is_one_sentence(hook: str, tmp_path: Path) -> None:
    pytest.importorskip("maturin")
    command = [sys.executable, "-c", f"import with_cargo; with_cargo.{hook}('.')"]
    environment = {**os.environ, "PATH": str(tmp_path), "PYTHONPATH": str(FOLDER)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode != 0 and done.stdout == ""
    assert done.stderr.startswith("cholupdate is compiled from its sources") and "cargo was not found" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
