"""Derivatives on a GPU by `cholupdate.jax`: their time, that of the update, and that of the same derivative by dense formulas.

    python python/benches/jax_cuda_gradient.py [n ...]

Programs use the dense formula where it is faster; here all calls are made. Milliseconds for one call, the median of 7 of the mean of 10 in
a row. `reverse` is the cotangents of L and V from that of L', L' at hand; `forward` the tangent of L'. `difference` is the largest of those
of L and V between `reverse` and the dense formula, relative to the largest entry.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

from cholupdate import _on_gpu  # noqa: E402
from cholupdate.jax import _primitives as primitives  # noqa: E402
from cholupdate.jax import cholesky_update  # noqa: E402

CALLS, ROUNDS = 10, 7


def milliseconds(call: Callable[..., Any], *arguments: Any) -> float:
    jax.block_until_ready(call(*arguments))
    found = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        result = None
        for _ in range(CALLS):
            result = call(*arguments)
        jax.block_until_ready(result)
        found.append((time.perf_counter() - begin) / CALLS * 1e3)
    return statistics.median(found)


def one(n: int, k: int, dtype: Any, lead: tuple[int, ...] = ()) -> None:
    rng = np.random.default_rng(n + k)
    l = np.tril(rng.standard_normal((*lead, n, n)) / np.sqrt(n)) + 2 * np.eye(n)
    l, v, bar, dv = (
        jnp.asarray(x.astype(dtype)) for x in (l, *(rng.standard_normal((*lead, n, m)) / np.sqrt(n) for m in (k, n, k)))
    )
    w = jnp.ones((*[1] * len(lead), k), dtype)
    update = jax.jit(lambda l, v: cholesky_update(l, v, with_status=True))
    new, ok = update(l, v)
    bind = primitives.bind
    reverse = jax.jit(lambda *x: bind(primitives.modify_vjp_p, *x, upper=False, sign=1))
    unknown = jax.jit(lambda *x: bind(primitives.modify_vjp_p, *x, upper=False, sign=0))
    forward = jax.jit(lambda *x: bind(primitives.modify_jvp_p, *x, upper=False, sign=1))
    dense = jax.jit(lambda *x: primitives.dense_vjp(x[:5], x[5], upper=False))
    given = (l, new, v, w, ok)
    try:
        of_l, of_v, _ = dense(*given, bar)
        found_l, found_v, _ = reverse(*given, bar)
        differences = [float(abs(x - y).max() / abs(y).max()) for x, y in ((found_l, of_l), (found_v, of_v))]
        of_dense = milliseconds(dense, *given, bar)
        del of_l, of_v, found_l, found_v
    except Exception as error:  # without memory for it
        print(type(error).__name__, end=" ")
        differences, of_dense = [float("nan")], float("nan")
    times = [
        milliseconds(update, l, v),
        milliseconds(reverse, *given, bar),
        milliseconds(unknown, *given, bar),
        milliseconds(forward, *given, l, dv, w),
        of_dense,
    ]
    cells = " | ".join(f"{x:9.3f}" for x in times)
    name = "×".join(map(str, (*lead, n)))
    print(f"| {np.dtype(dtype).name} | {name:>12} | {k:3d} | {cells} | {max(differences):.1e} |", flush=True)


def main() -> None:
    _on_gpu.by_call = lambda count, n, k: True
    orders = [int(x) for x in sys.argv[1:]] or [512, 1024, 2048, 4096, 8192, 16384]
    print(jax.devices()[0].device_kind)
    print("| type | n | k | update | reverse | with given weights | forward | dense reverse | difference |")
    print("|---|---|---|---|---|---|---|---|---|")
    for dtype in (np.float64, np.float32):
        for n, count in ((8, 8192), (32, 4096), (64, 1024), (256, 64)):
            for k in (1, 4, 16):
                one(n, k, dtype, (count,))
        for n in orders:
            for k in (1, 16, 64):
                one(n, k, dtype)


if __name__ == "__main__":
    main()
