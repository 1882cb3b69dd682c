"""Times of `jit(vmap(cholesky_update))` on a GPU against the class of batches, PyTorch's operator, and peers.

All in one process; medians, in microseconds, of some rounds, in which all calls take turns. A time is that of 20 updates, one after the
other, divided by 20. The class has the factors in its own memory and changes them there; the others read matrices and write new ones, of n²
entries each, as lower triangles ("lower") or as upper ones ("upper"). "torch" is `cholupdate.torch` with the lower triangles.
"factor again" is `cholesky(l lᵀ + v vᵀ)`. JAX's own `cholesky_update` has no rule for `vmap`. "agree" is the largest difference of "lower"
from the class, relative to the largest entry.

    python python/benches/jax_cuda_batches.py [--rounds 9]
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

import cholupdate
from cholupdate.jax import cholesky_update

jax.config.update("jax_enable_x64", True)
STEPS = 20


def repeated(step: Callable[[], Any], wait: Callable[[Any], Any] = jax.block_until_ready) -> Callable[[], Any]:
    def run() -> None:
        result = None
        for _ in range(STEPS):
            result = step()
        wait(result)

    return run


def medians(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    for call in calls.values():
        call()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append((time.perf_counter() - start) / STEPS)
    return {name: statistics.median(each) for name, each in times.items()}


def by_torch(l: Any, v: Any) -> Callable[[], Any] | None:
    try:
        import torch

        from cholupdate.torch import cholesky_update as of_torch
    except ImportError:
        return None
    of_l, of_v = (torch.from_numpy(np.asarray(x).copy()).cuda() for x in (l, v))
    return repeated(lambda: of_torch(of_l, of_v), lambda _: torch.cuda.synchronize())


def row(count: int, n: int, k: int, dtype: Any, rounds: int) -> str:
    random = np.random.default_rng(n + k)
    l = np.tril(random.standard_normal((count, n, n)) / np.sqrt(n)).astype(dtype)
    l[:, np.arange(n), np.arange(n)] = 1 + random.random((count, n))
    v = (0.1 * random.standard_normal((count, n, k))).astype(dtype)
    lower, upper, columns = jnp.asarray(l), jnp.asarray(l.swapaxes(1, 2)), jnp.asarray(v)

    step_low = jax.jit(jax.vmap(cholesky_update))
    step_up = jax.jit(jax.vmap(lambda r, v: cholesky_update(r, v, upper=True)))

    def refactor(l: Any, v: Any) -> Any:
        products = [jnp.matmul(x, x.swapaxes(1, 2), precision="highest") for x in (l, v)]
        return jnp.linalg.cholesky(products[0] + products[1], symmetrize_input=False)

    again = jax.jit(refactor)
    batch = cholupdate.CholeskyBatch.from_factors(lower, engine="cuda")
    batch.update(columns)
    expected, found = np.asarray(batch.factors()), np.asarray(step_low(lower, columns))
    agree = np.abs(found - expected).max() / np.abs(expected).max()
    batch = cholupdate.CholeskyBatch.from_factors(lower, engine="cuda")

    calls = {
        "class": repeated(lambda: batch.update(columns), lambda _: None),
        "lower": repeated(lambda: step_low(lower, columns)),
        "upper": repeated(lambda: step_up(upper, columns)),
        "torch": by_torch(l, v),
        "factor again": repeated(lambda: again(lower, columns)),
    }
    times = medians({name: call for name, call in calls.items() if call is not None}, rounds)
    cells = " | ".join(f"{1e6 * times[name]:.4g}" if name in times else "" for name in calls)
    return f"| {np.dtype(dtype).name} | {count} | {n} | {k} | {cells} | {agree:.1g} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    print(f"{jax.devices()[0].device_kind}, JAX {jax.__version__}; microseconds")
    print("| type | matrices | n | k | class | lower | upper | torch | factor again | agree |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for dtype in (np.float64, np.float32):
        for count, n in ((100_000, 4), (100_000, 8), (10_000, 32), (2_000, 64), (64, 256)):
            for k in (1, 4):
                print(row(count, n, k, dtype, given.rounds), flush=True)


if __name__ == "__main__":
    main()
