"""Times of `cholupdate.jax` on a GPU against the class whose factor is there, and against a new factorization.

All in one process, double and single precision. A time is that of 20 updates, one after the other, divided by 20; the median of some
rounds, in which all calls take turns. "upper" and "lower" are programs of one update, "loop" is one program of 20; the class has V on
the device. "agree" is the largest difference of "upper" from the class, in units of the largest entry: 0 if all bits agree.

    python benches/jax_cuda_update.py [--orders 512,2048] [--rounds 9]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import cholupdate
from cholupdate.jax import cholesky_update

jax.config.update("jax_enable_x64", True)
STEPS = 20


def repeated(step: Callable[[Any], Any], first: Any) -> Callable[[], Any]:
    def run() -> Any:
        x = first
        for _ in range(STEPS):
            x = step(x)
        return x

    return run


def medians(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    for call in calls.values():
        jax.block_until_ready(call())
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            jax.block_until_ready(call())
            times[name].append((time.perf_counter() - start) / STEPS)
    return {name: statistics.median(each) for name, each in times.items()}


def row(n: int, k: int, dtype: Any, rounds: int) -> str:
    random = np.random.default_rng(0)
    l = np.tril(random.standard_normal((n, n)) / np.sqrt(n)).astype(dtype)
    l[np.arange(n), np.arange(n)] = 1 + random.random(n)
    v = (0.1 * random.standard_normal((n, k))).astype(dtype)
    lower, upper, columns = jnp.asarray(l), jnp.asarray(l.T), jnp.asarray(v)
    by_columns = jnp.asarray(np.asfortranarray(v))

    step_up = jax.jit(lambda r: cholesky_update(r, columns, upper=True))
    step_low = jax.jit(lambda l: cholesky_update(l, columns))
    loop = jax.jit(lambda l: lax.fori_loop(0, STEPS, lambda _, l: cholesky_update(l, columns), l))

    def refactor(l: Any) -> Any:
        product = jnp.matmul(l, l.T, precision="highest") + jnp.matmul(columns, columns.T, precision="highest")
        return jnp.linalg.cholesky(product, symmetrize_input=False)

    step_new = jax.jit(refactor)
    once = cholupdate.Cholesky.from_factor(l, engine="cuda")
    once.update(by_columns)
    expected, found = np.asarray(once.factor()), np.asarray(step_up(upper)).T
    agree = np.abs(found - expected).max() / np.abs(expected).max()
    del found, expected
    factor = cholupdate.Cholesky.from_factor(l, engine="cuda")

    def by_the_class() -> None:
        for _ in range(STEPS):
            factor.update(by_columns)

    calls = {
        "class": by_the_class,
        "upper": repeated(step_up, upper),
        "lower": repeated(step_low, lower),
        "loop": lambda: loop(lower),
        "factor again": repeated(step_new, lower),
    }
    found_times = medians(calls, rounds)
    cells = " | ".join(f"{1e6 * found_times[name]:.4g}" for name in calls)
    return f"| {np.dtype(dtype).name} | {n} | {k} | {cells} | {found_times['upper'] / found_times['class']:.3f} | {agree:.1g} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", default="512,2048,4096,8192,16384")
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    print(f"{jax.devices()[0].device_kind}, JAX {jax.__version__}; microseconds")
    print("| type | n | k | class | upper | lower | loop | factor again | upper / class | agree |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for dtype in (np.float64, np.float32):
        for n in map(int, given.orders.split(",")):
            for k in (1, 16):
                print(row(n, k, dtype, given.rounds), flush=True)


if __name__ == "__main__":
    main()
