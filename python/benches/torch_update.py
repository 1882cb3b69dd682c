"""Times of `cholupdate.torch` against a new factorization by PyTorch, and gradients through one, in double precision.

The calls are interleaved; a time is the median. "agree" is the largest difference from the new factorization, in units of the largest
entry.

    RAYON_NUM_THREADS=1 OMP_NUM_THREADS=1 python benches/torch_update.py
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from cholupdate.torch import cholesky_update


def refactored(l: Any, v: Any) -> Any:
    return torch.linalg.cholesky(l.tril() @ l.tril().mT + v @ v.mT)


def gradient(update: Callable[[Any, Any], Any], l: Any, v: Any, g: Any) -> Any:
    l, v = l.detach().requires_grad_(), v.detach().requires_grad_()
    return torch.autograd.grad(update(l, v), (l, v), g)


def seconds(calls: dict[str, Callable[[], Any]], least: float) -> dict[str, float]:
    for call in calls.values():
        call()
    times: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + least * len(calls)
    while time.perf_counter() < end or len(next(iter(times.values()))) < 3:
        # In any order, so that each follows each.
        for name, call in random.sample(list(calls.items()), len(calls)):
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(each) for name, each in times.items()}


def compared(n: int, k: int, least: float) -> None:
    torch.manual_seed(n + k)
    x = torch.randn(n, n + 8, dtype=torch.float64)
    l = torch.linalg.cholesky(x @ x.mT / n + torch.eye(n, dtype=torch.float64))
    v, g = torch.randn(n, k, dtype=torch.float64), torch.randn(n, n, dtype=torch.float64)
    calls = {
        "update": lambda: cholesky_update(l, v),
        "refactored": lambda: refactored(l, v),
        "gradient": lambda: gradient(cholesky_update, l, v, g),
        "gradient refactored": lambda: gradient(refactored, l, v, g),
    }
    ours, theirs = ((f(l, v), *gradient(f, l, v, g)) for f in (cholesky_update, refactored))
    agree = max(float((x - y).abs().max() / y.abs().max()) for x, y in zip(ours, theirs, strict=True))
    cells = [f"{each * 1e6:.4g}" for each in seconds(calls, least).values()]
    print(f"| {n} | {k} | " + " | ".join(cells) + f" | {agree:.0e} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, nargs="+", default=[4, 16, 64, 256, 512, 1024, 2048])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--seconds", type=float, default=0.3, help="for each call")
    options = parser.parse_args()
    print("| n | k | update | factor again | update and gradient | of factoring | agree |")
    print("|---|---|---|---|---|---|---|")
    for n in options.orders:
        for k in options.ranks:
            compared(n, k, options.seconds)


if __name__ == "__main__":
    main()
