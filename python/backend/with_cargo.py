"""maturin as the build backend, where there is what it needs: a machine without Rust ends in a sentence, not in a traceback.

What it builds names no folder of the machine, unless RUSTFLAGS are set.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import maturin

MISSING = (
    "cholupdate is compiled from its sources here, which takes Rust 1.89 or later, and cargo was not found: "
    "install Rust (https://rustup.rs) and try again."
)


def _with_cargo(hook: Callable[..., Any]) -> Callable[..., Any]:
    def checked(*args: Any, **kwargs: Any) -> Any:
        if shutil.which("cargo") is None:
            sys.exit(MISSING)
        sources = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo") / "registry" / "src"
        arguments = shlex.join(["--config", f"build.rustflags=['--remap-path-prefix={sources}=']"])
        before = os.environ.get("MATURIN_PEP517_ARGS", "")
        if arguments not in before:
            os.environ["MATURIN_PEP517_ARGS"] = f"{before} {arguments}".strip()
        return hook(*args, **kwargs)

    return checked


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    return []


get_requires_for_build_wheel = _with_cargo(maturin.get_requires_for_build_wheel)
get_requires_for_build_editable = _with_cargo(maturin.get_requires_for_build_editable)
prepare_metadata_for_build_wheel = _with_cargo(maturin.prepare_metadata_for_build_wheel)
prepare_metadata_for_build_editable = _with_cargo(maturin.prepare_metadata_for_build_editable)
build_wheel = _with_cargo(maturin.build_wheel)
build_editable = _with_cargo(maturin.build_editable)
build_sdist = _with_cargo(maturin.build_sdist)
