"""Matrices, and the bound of the README's chapter on accuracy."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def opencl() -> tuple[str, ...]:
    """The engine "opencl", if there is an OpenCL device. CHOLUPDATE_REQUIRE_OPENCL=1 requires one."""
    script = "import cholupdate; cholupdate.Cholesky([[1.0]], engine='opencl')"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    if found.returncode == 0:
        return ("opencl",)
    assert "DeviceError" in found.stderr and os.environ.get("CHOLUPDATE_REQUIRE_OPENCL") != "1", found.stderr
    return ()


def spd(n: int, dtype: Any = np.float64, seed: int = 0) -> Array:
    """A symmetric positive definite matrix that is not close to a singular one."""
    x = np.random.default_rng(seed).standard_normal((n, n + 5))
    return (x @ x.T / (n + 5) + np.eye(n)).astype(dtype)


def quasidefinite(n: int, m: int, dtype: Any = np.float64, seed: int = 0) -> Array:
    """[[H, Aᵀ], [A, −G]] with H (n × n) and G (m × m) positive definite: n positive and m negative eigenvalues."""
    below = columns(m, n, seed=seed + 1, size=0.5)
    return np.block([[spd(n, seed=seed), below.T], [below, -spd(m, seed=seed + 2)]]).astype(dtype)


def columns(n: int, k: int, dtype: Any = np.float64, seed: int = 1, size: float = 0.1) -> Array:
    return (size * np.random.default_rng(seed).standard_normal((n, k))).astype(dtype)


def exact(a: Array) -> Array:
    return a.astype(np.longdouble)


def assert_within_bound(new: Array, old: Array, v: Array, weights: Array, c: float = 4.0) -> None:
    """|new newᵀ − (old oldᵀ + V diag(w) Vᵀ)|_ij ≤ c max(n + k, 12) u √(M_ii M_jj)."""
    n = old.shape[0]
    v = v.reshape(n, -1)
    unit = np.finfo(new.dtype).eps / 2
    new, old, v, weights = exact(new), exact(old), exact(v), exact(weights)
    wanted = old @ old.T + (v * weights) @ v.T
    scale = np.sqrt(np.diag(old @ old.T + (v * np.abs(weights)) @ v.T))
    bound = c * max(n + v.shape[1], 12) * unit * np.outer(scale, scale)
    assert np.all(np.abs(new @ new.T - wanted) <= bound)
