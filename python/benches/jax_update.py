"""Times of `cholupdate.jax` against what JAX has: its `cholesky_update` (rank one), a new factorization, and gradients through one.

All functions are compiled, in double precision, and each donates its factor if it returns one. The calls are interleaved; a time is
the median. "agree" is the largest difference from the new factorization, in units of the largest entry.

    XLA_FLAGS=--xla_cpu_multi_thread_eigen=false RAYON_NUM_THREADS=1 python benches/jax_update.py
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from cholupdate.jax import cholesky_update

jax.config.update("jax_enable_x64", True)


def refactored(l: Any, v: Any) -> Any:
    return lax.linalg.cholesky(jnp.tril(l) @ jnp.tril(l).T + v @ v.T, symmetrize_input=False)


def gradient(update: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """The cotangents of L and V."""

    def pull(l: Any, v: Any, g: Any) -> Any:
        return jax.vjp(update, l, v)[1](g)

    return pull


def seconds(calls: dict[str, Callable[[], Any]], least: float) -> dict[str, float]:
    for call in calls.values():
        jax.block_until_ready(call())
    times: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + least * len(calls)
    while time.perf_counter() < end or len(next(iter(times.values()))) < 3:
        # In any order, so that each follows each.
        for name, call in random.sample(list(calls.items()), len(calls)):
            start = time.perf_counter()
            jax.block_until_ready(call())
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(each) for name, each in times.items()}


def carried(update: Callable[[Any, Any], Any], l: Any, v: Any) -> Callable[[], Any]:
    """Calls of a function that donates the factor, which the next call takes."""
    run, held = jax.jit(update, donate_argnums=0), [jnp.array(l)]

    def call() -> Any:
        held[0] = run(held[0], v)
        return held[0]

    return call


STEPS = 16


def in_scan(l: Any, v: Any) -> Any:
    """The update, so many times in one program."""
    return lax.scan(lambda l, v: (cholesky_update(l, v), None), l, jnp.stack([v] * STEPS))[0]


def compared(n: int, k: int, least: float) -> None:
    rng = np.random.default_rng(n + k)
    x = rng.standard_normal((n, n + 8))
    l = jnp.linalg.cholesky(x @ x.T / n + np.eye(n))
    # So small that thousands of updates leave the factor as it is.
    v = jnp.array(1e-3 * rng.standard_normal((n, k)))
    g = jnp.array(rng.standard_normal((n, n)))
    ours, theirs = jax.jit(gradient(cholesky_update)), jax.jit(gradient(refactored))
    calls = {
        "update": carried(cholesky_update, l, v),
        "upper": carried(lambda r, v: cholesky_update(r, v, upper=True), l.T, v),
        "scan": carried(in_scan, l, v),
        "refactored": carried(refactored, l, v),
        "vjp": lambda: ours(l, v, g),
        "vjp refactored": lambda: theirs(l, v, g),
    }
    # Its loop takes 2 µs a row, and is compiled for each row.
    if k == 1 and n <= 256:
        calls["jax"] = carried(lambda r, v: lax.linalg.cholesky_update(r, v[:, 0]), l.T, v)
    agree = max(
        float(jnp.abs(x - y).max() / jnp.abs(y).max())
        for x, y in zip(
            (cholesky_update(l, v), *ours(l, v, g)), (refactored(l, v), *theirs(l, v, g)), strict=True
        )
    )
    found = seconds(calls, least)
    found["scan"] /= STEPS
    names = ("update", "upper", "scan", "jax", "refactored", "vjp", "vjp refactored")
    cells = [f"{found[name] * 1e6:.4g}" if name in found else "" for name in names]
    print(f"| {n} | {k} | " + " | ".join(cells) + f" | {agree:.0e} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, nargs="+", default=[4, 16, 64, 256, 512, 1024, 2048])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--seconds", type=float, default=0.3, help="for each call")
    options = parser.parse_args()
    smallest = jax.jit(lambda l, v: lax.linalg.triangular_solve(l, v, left_side=True, lower=True))
    l, v = jnp.eye(4), jnp.ones((4, 1))
    ours = jax.jit(cholesky_update)
    floor = seconds({"solve": lambda: smallest(l, v), "update": lambda: ours(l, v)}, options.seconds)
    print(f"n = 4: JAX's triangular solve {floor['solve'] * 1e6:.2f} µs, an update {floor['update'] * 1e6:.2f} µs")
    print("| n | k | update | upper | step of a scan | `lax.linalg.cholesky_update` | factor again | gradient | of factoring | agree |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for n in options.orders:
        for k in options.ranks:
            compared(n, k, options.seconds)


if __name__ == "__main__":
    main()
