"""Problems for the tests with JAX and PyTorch, and whether these are installed."""

from __future__ import annotations

import importlib
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from problems import Array, columns, spd


def required(name: str) -> Any:
    """The library, or a skip; an error if CHOLUPDATE_REQUIRE_JAX or CHOLUPDATE_REQUIRE_TORCH is 1."""
    if os.environ.get(f"CHOLUPDATE_REQUIRE_{name.upper()}") == "1":
        return importlib.import_module(name)
    return pytest.importorskip(name)


def blocks(page: str) -> list[tuple[int, str]]:
    """The Python of a page of the documents, each block with the number of lines before it. Source distributions have no pages."""
    path = Path(__file__).parents[2] / "docs" / page
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, each.start(1)), each[1]) for each in found]


def factor(n: int, dtype: Any = np.float64, seed: int = 0, graded: bool = False) -> Array:
    l: Array = np.linalg.cholesky(spd(n, seed=seed)) if n else np.zeros((0, 0))
    if graded:
        l = l * np.logspace(0, -3, n)[:, None]
    if np.dtype(dtype).kind == "c":
        l = l + 0.1j * np.tril(columns(n, n, seed=seed + 7), -1)
    return l.astype(dtype)


def modification(n: int, k: int, dtype: Any = np.float64, seed: int = 1, graded: bool = False) -> tuple[Array, Array]:
    """V and weights of both signs, by which a `factor` can be modified."""
    v = columns(n, k, seed=seed, size=0.3 / max(k, 1) ** 0.5)
    if np.dtype(dtype).kind == "c":
        v = v + 1j * columns(n, k, seed=seed + 9, size=0.1 / max(k, 1) ** 0.5)
    if graded:
        v = v * np.logspace(0, -3, n)[:, None]
    w = np.random.default_rng(seed).choice([-0.5, 1.0, 2.0], k)
    norm = np.sqrt((np.abs(v) ** 2).sum(0).clip(1e-30)) if v.size else np.ones(k)
    v = v / np.maximum(1.0, norm / 0.6) if not graded else v
    return v.astype(dtype), w.astype(np.zeros(0, dtype).real.dtype)


EXTENTS = [(0, 0), (0, 2), (1, 0), (1, 1), (1, 3), (2, 1), (5, 0), (5, 3), (4, 9), (17, 1), (40, 5), (60, 20), (130, 2)]
