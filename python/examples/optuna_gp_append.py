"""Optuna's Gaussian process includes running trials without a copy of its factor.

If trials run in parallel, Optuna appends the running ones to the Gaussian process of the completed ones for the lifetime of one
acquisition function: `GPRegressor.append_running_data` makes a new factor of order n + r, into which it copies the old one.
Here `Cholesky.extension` borders the factor instead: r n² operations, and L (n × n) is neither copied nor changed. Three functions
of `optuna._gp.gp` change (Optuna 5.0): `_cache_matrix` keeps a `cholupdate.Cholesky` where a tensor was, `_extend_cholesky`
extends it, and `_solve_cholesky` solves with either, with the derivative that PyTorch needs. Acquisition functions, kernels and
posteriors are Optuna's own.

    pip install ./python optuna torch threadpoolctl
    python python/examples/optuna_gp_append.py [--quick]

For n completed and r running trials it prints the medians of three times, before and after: of the construction of the
acquisition function (the log of the probability of improvement; here the running trials are appended), of its values at 512 points
(a first look at the search space), and of its values and gradients at 10 points (a step of the local search). Means, variances and
the gradients of the latter are checked to be equal up to rounding. Both work on one thread. The hyperparameters are given: in
a study their fit refactorizes for each new trial, which takes longer than all of this.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import cholupdate as cu

try:
    import torch
    from optuna._gp import acqf, gp
    from optuna._gp.search_space import SearchSpace
    from optuna.distributions import FloatDistribution
    from threadpoolctl import threadpool_limits
except ImportError as missing:
    raise SystemExit(f"this example needs PyTorch and Optuna: pip install torch optuna threadpoolctl ({missing})") from None

DIMENSIONS = 6
NOISE = 1e-3

extend_by_copy, solve_by_torch = gp._extend_cholesky, gp._solve_cholesky
cache_by_torch = gp.GPRegressor._cache_matrix


def solved(factor: cu.Cholesky | cu.Extension, rows: torch.Tensor) -> torch.Tensor:
    """X with X A = B, for rows B (.., n)."""
    b = rows.detach().reshape(-1, len(factor)).numpy()
    return torch.from_numpy(factor.solve(b.T).T).reshape(rows.shape)  # B and X lie packed, and are not copied for NumPy


class Solve(torch.autograd.Function):
    """`solved`, whose derivative is a solve again, since A is symmetric."""

    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, factor: cu.Cholesky | cu.Extension) -> torch.Tensor:
        ctx.factor = factor
        return solved(factor, rows)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return solved(ctx.factor, gradient), None


def cache_matrix(self: gp.GPRegressor) -> None:
    cache_by_torch(self)
    assert self._cov_Y_Y_chol is not None
    self._cov_Y_Y_chol = cu.Cholesky.from_factor(self._cov_Y_Y_chol.numpy(), threads=1)


def extend_cholesky(L11: cu.Cholesky, K21: torch.Tensor, K22: torch.Tensor) -> cu.Extension:
    return L11.extension(K21.numpy().T, K22.numpy())


def solve_cholesky(L: Any, B: torch.Tensor, *, left: bool = True) -> torch.Tensor:
    if isinstance(L, torch.Tensor):
        return solve_by_torch(L, B, left=left)
    return Solve.apply(B.T, L).T if left else Solve.apply(B, L)


@contextmanager
def patched() -> Iterator[None]:
    """Optuna with the three functions above."""
    gp.GPRegressor._cache_matrix = cache_matrix  # type: ignore[method-assign]
    gp._extend_cholesky, gp._solve_cholesky = extend_cholesky, solve_cholesky
    try:
        yield
    finally:
        gp.GPRegressor._cache_matrix = cache_by_torch  # type: ignore[method-assign]
        gp._extend_cholesky, gp._solve_cholesky = extend_by_copy, solve_by_torch


def completed(x: np.ndarray, y: np.ndarray) -> gp.GPRegressor:
    """Optuna's Gaussian process, with its matrix factored."""
    process = gp.GPRegressor(
        is_categorical=torch.zeros(DIMENSIONS, dtype=torch.bool),
        X_train=torch.from_numpy(x),
        y_train=torch.from_numpy(y),
        inverse_squared_lengthscales=torch.full((DIMENSIONS,), 4.0, dtype=torch.float64),
        kernel_scale=torch.tensor(1.0, dtype=torch.float64),
        noise_var=torch.tensor(NOISE, dtype=torch.float64),
    )
    process._cache_matrix()
    return process


def median(call: Callable[[], Any], repeats: int) -> float:
    """Seconds, after one call that is not counted."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times[1:]))


def measured(
    x: np.ndarray, y: np.ndarray, running: np.ndarray, points: np.ndarray, repeats: int
) -> tuple[list[float], list[torch.Tensor]]:
    """Times of construction, values and gradients; and mean, variance and its gradient for comparison."""
    process = completed(x, y)
    space = SearchSpace({f"x{i}": FloatDistribution(0.0, 1.0) for i in range(DIMENSIONS)})

    def constructed() -> acqf.LogPI:
        return acqf.LogPI(copy.copy(process), space, threshold=y.max(), normalized_params_of_running_trials=running)

    function = constructed()
    few = torch.from_numpy(points[:10]).requires_grad_(True)
    times = [
        median(constructed, repeats),
        median(lambda: function.eval_acqf_no_grad(points), repeats),
        median(lambda: function.eval_acqf(few).sum().backward(), repeats),
    ]
    mean, variance = function._gpr.posterior(few)
    (gradient,) = torch.autograd.grad(variance.sum(), few)
    return times, [mean.detach(), variance.detach(), gradient]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few trials, for a test")
    quick = parser.parse_args().quick
    threadpool_limits(1)
    torch.set_num_threads(1)
    rng = np.random.default_rng(20)

    print("Optuna's LogPI with running trials, ms, before and after")
    print(f"{'n':>5} {'r':>3} {'construction':>17} {'512 values':>17} {'10 gradients':>17} {'apart':>8} {'allowed':>8}")
    for n, r in [(50, 4)] if quick else [(100, 4), (100, 16), (500, 4), (500, 16), (2000, 4), (2000, 16)]:
        x = rng.uniform(size=(n, DIMENSIONS))
        y = np.cos(5.0 * x).sum(axis=1) + np.sqrt(NOISE) * rng.standard_normal(n)
        y = (y - y.mean()) / y.std()
        running, points = rng.uniform(size=(r, DIMENSIONS)), rng.uniform(size=(512, DIMENSIONS))
        before, expected = measured(x, y, running, points, 3 if quick else 15)
        with patched():
            after, found = measured(x, y, running, points, 3 if quick else 15)
        apart = max(float((f - e).abs().max() / e.abs().max()) for f, e in zip(found, expected, strict=True))
        # Both solve with K + σ² I. Its condition is at most (n + r) / σ² + 1, and times u what rounding does.
        tolerance = ((n + r) / NOISE + 1.0) * np.finfo(np.float64).eps / 2.0
        pairs = " ".join(f"{1e3 * b:8.2f} {1e3 * a:8.2f}" for b, a in zip(before, after, strict=True))
        print(f"{n:>5} {r:>3} {pairs} {apart:>8.1e} {tolerance:>8.1e}")
        assert apart <= tolerance


if __name__ == "__main__":
    main()
