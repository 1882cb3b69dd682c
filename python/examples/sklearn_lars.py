"""scikit-learn's LARS on a factor that appends and removes features.

Least angle regression needs the Cholesky factor of the Gram matrix of its active features. scikit-learn updates it by hand: a
triangular solve for a feature that enters, `arrayfuncs.cholesky_delete` for one that leaves, and LAPACK's `potrs`, for which SciPy
copies the factor in each step. Here `Cholesky.append`, `remove` and `solve` replace them. `PATCH` has the lines of
`sklearn.linear_model._least_angle._lars_path_solver` (1.5 to 1.9) that change; the rest of the solver is scikit-learn's, and
so are `lars_path_gram` and the estimators that call it.

    pip install ./python scikit-learn
    python python/examples/sklearn_lars.py [--quick]

It prints two tables of times: medians, except for the longest paths, which run once. The first table has the three steps separately,
by the number of active features; with few features a removal takes longer than before, because of the overhead of a call. The second
has whole lasso paths, and the number of features that leave. There the time of scikit-learn's bookkeeping (it swaps rows and columns
of the Gram matrix) and of the correlations does not depend on the factor. The paths are checked to be equal up to rounding. Both use
one thread. (With features that are dependent to working precision, rounding errors change the solver's path, with either factor, but
not in the same way.)
"""

from __future__ import annotations

import argparse
import inspect
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.linear_model import _least_angle, lars_path_gram
from sklearn.utils import arrayfuncs
from threadpoolctl import threadpool_limits

import cholupdate as cu

PATCH = [
    (
        "    (solve_cholesky,) = get_lapack_funcs((\"potrs\",), (L,))\n",
        "    factor = ActiveFactor(L.dtype)\n",
    ),
    (
        """            if n_active:
                linalg.solve_triangular(
                    L[:n_active, :n_active],
                    L[n_active, :n_active],
                    trans=0,
                    lower=1,
                    overwrite_b=True,
                    **SOLVE_TRIANGULAR_ARGS,
                )

            v = np.dot(L[n_active, :n_active], L[n_active, :n_active])
            diag = max(np.sqrt(np.abs(c - v)), eps)
            L[n_active, n_active] = diag
""",
        "            diag = factor.append(L[n_active, :n_active], c)\n",
    ),
    (
        """        least_squares, _ = solve_cholesky(
            L[:n_active, :n_active], sign_active[:n_active], lower=True
        )

""",
        "        least_squares = factor.solve(sign_active[:n_active])\n\n",
    ),
    (
        """            for ii in idx:
                arrayfuncs.cholesky_delete(L[:n_active, :n_active], ii)
""",
        "            factor.remove(idx)\n",
    ),
]


class ActiveFactor:
    """The factor of the Gram matrix of the active features, with the verbs that the solver has for it."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._factor = cu.Cholesky(np.empty((0, 0), dtype), threads=1)
        self.remove = self._factor.remove

    def append(self, cross: np.ndarray, corner: float) -> float:
        """Adds a feature, unless it depends on the others to working precision. Returns its pivot."""
        try:
            report = self._factor.append(cross[:, np.newaxis], corner)
        except cu.NotPositiveDefiniteError:
            return 0.0
        pivot = float(np.exp(0.5 * report.log_det_change))
        if pivot < 1e-7:  # below which the solver drops it
            self._factor.remove(len(self._factor) - 1)
        return pivot

    def solve(self, signs: np.ndarray) -> np.ndarray:
        """Signs come as int8 or float64."""
        return self._factor.solve(signs.astype(self._factor.dtype, copy=False))


@contextmanager
def patched() -> Iterator[None]:
    """scikit-learn with `PATCH`."""
    original = _least_angle._lars_path_solver
    source = inspect.getsource(original)
    for before, after in PATCH:
        if source.count(before) != 1:
            raise RuntimeError("the solver of this scikit-learn has other lines than those of 1.5 to 1.9")
        source = source.replace(before, after)
    names = vars(_least_angle) | {"ActiveFactor": ActiveFactor}
    exec(compile(source, "<patched _lars_path_solver>", "exec"), names)  # noqa: S102 (the source is that of scikit-learn)
    _least_angle._lars_path_solver = names["_lars_path_solver"]
    try:
        yield
    finally:
        _least_angle._lars_path_solver = original


def seconds(call: Callable[[], Any], prepare: Callable[[], Any], repeats: int) -> float:
    """The median time of the call, with a preparation before each."""
    times = []
    for _ in range(repeats):
        prepare()
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def problem(features: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    """Gram matrix and Xᵀ y of features in a chain of correlations of 0.9, every fifth of which matters."""
    samples = 2 * features
    x = rng.standard_normal((samples, features))
    for j in range(1, features):
        x[:, j] = 0.9 * x[:, j - 1] + np.sqrt(1.0 - 0.81) * x[:, j]
    truth = np.where(np.arange(features) % 5 == 0, rng.standard_normal(features), 0.0)
    y = x @ truth + rng.standard_normal(samples)
    return x.T @ x, x.T @ y, samples


def steps(active: int, rng: np.random.Generator, repeats: int) -> list[float]:
    """Seconds for a feature that enters, one that leaves from the middle and a solve, before and after."""
    gram, _, _ = problem(active + 1, rng)
    known, cross, corner = gram[:active, :active], gram[active, :active], gram[active, active]
    signs = np.sign(rng.standard_normal(active))
    lower, room = np.linalg.cholesky(known), np.empty((active + 1, active + 1))
    (potrs,) = linalg.get_lapack_funcs(("potrs",), (room,))
    kept = cu.Cholesky.from_factor(lower, threads=1)

    def fresh() -> None:
        nonlocal kept
        room[:active, :active], room[active, :active] = lower, cross
        kept = cu.Cholesky.from_factor(lower, threads=1)
        kept.reserve(1)

    def append() -> None:
        row = room[active, :active]
        linalg.solve_triangular(
            room[:active, :active], row, lower=True, overwrite_b=True, **_least_angle.SOLVE_TRIANGULAR_ARGS
        )
        room[active, active] = np.sqrt(abs(corner - np.dot(row, row)))

    calls: list[Callable[[], Any]] = [
        append,
        lambda: kept.append(cross, corner),
        lambda: arrayfuncs.cholesky_delete(room[:active, :active], active // 2),
        lambda: kept.remove(active // 2),
        lambda: potrs(room[:active, :active], signs, lower=True),
        lambda: kept.solve(signs),
    ]
    return [seconds(call, fresh, repeats) for call in calls]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few features, for a test")
    quick = parser.parse_args().quick
    threadpool_limits(1)
    rng = np.random.default_rng(20)

    print("One step, µs, before and after")
    print(f"{'active':>6} {'append':>17} {'remove':>17} {'solve':>17}")
    for active in [20, 100] if quick else [20, 50, 100, 250, 500, 1000, 2000]:
        micros = [f"{1e6 * s:8.1f}" for s in steps(active, rng, 11)]
        print(f"{active:>6} " + " ".join(" ".join(micros[i : i + 2]) for i in (0, 2, 4)))

    print("\nWhole lasso paths, ms")
    print(f"{'features':>8} {'steps':>6} {'left':>5} {'before':>9} {'after':>9} {'ratio':>6} {'apart':>8} {'allowed':>8}")
    for features in [60] if quick else [50, 250, 500, 1000, 2000]:
        gram, xy, samples = problem(features, rng)
        settings = {"n_samples": samples, "method": "lasso", "max_iter": 10 * features}
        times = []
        for _ in range(5 if features < 1000 else 1):
            start = time.perf_counter()
            alphas, entered, coefs = lars_path_gram(xy, gram, **settings)
            before = time.perf_counter() - start
            with patched():
                start = time.perf_counter()
                alphas_after, entered_after, coefs_after = lars_path_gram(xy, gram, **settings)
                times.append((before, time.perf_counter() - start))
        before, after = np.median(times, axis=0)

        assert entered == entered_after and alphas.shape == alphas_after.shape
        apart = np.abs(coefs - coefs_after).max() / np.abs(coefs).max()
        # Each step solves with the Gram matrix of the active features, an error of its condition times u; the errors add up.
        tolerance = alphas.size * np.linalg.cond(gram) * np.finfo(np.float64).eps / 2.0
        left = (alphas.size - 1 - len(entered)) // 2
        print(
            f"{features:>8} {alphas.size - 1:>6} {left:>5} {before * 1e3:>9.1f} {after * 1e3:>9.1f} "
            f"{before / after:>6.2f} {apart:>8.1e} {tolerance:>8.1e}"
        )
        assert apart <= tolerance


if __name__ == "__main__":
    main()
