"""Non-negative least squares by Lawson and Hanson's active-set method, on one factor that variables enter and leave.

The program is: minimize |A x - b| over x >= 0, with A (m x n). P are the variables that are not held at zero. The method needs the
Cholesky factor of G_PP, with G = A^T A, and changes P by a few variables at a time: `append` takes one in, `remove` takes out those
that would become negative. Up to eight enter before the next solution. Some of them may leave at once, but not all, so that the
residual decreases in every step. A column of A that depends on those of P has no pivot left: `append` refuses it, with the factor as it
was, and the solver goes on to the next one.

    pip install ./python scipy threadpoolctl
    python python/examples/nnls.py [--quick] [--plot FILE]

It prints a table of times, medians up to n = 800 and single runs from there on, beside those of `scipy.optimize.nnls`, which takes in one
variable at a time and works with A, and of the same method with a new factor of G_PP (LAPACK) for every variable that enters and all
that leave together, on one thread each. `--together 1` takes in one variable at a time here as well. `--plot` (needs matplotlib) draws
the times. One column in twenty comes twice, so x is not unique; the fits A x are, and are checked to be equal. Working with G squares
the condition number of A.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.lapack import dpotrf
from scipy.optimize import nnls as scipy_nnls
from threadpoolctl import threadpool_limits

import cholupdate as cu

# A pivot of at most this part of its diagonal entry, squared, is rounding.
DEPENDENT = 1e-11


class Passive(Protocol):
    """A factor of G_PP."""

    def append(self, cross: np.ndarray, corner: float) -> bool:
        """Takes a variable in, unless its column depends on the others."""

    def remove(self, rows: np.ndarray) -> None: ...

    def solve(self, b: np.ndarray) -> np.ndarray: ...


class Kept:
    """The factor of this library, which changes with P."""

    def __init__(self) -> None:
        self._factor = cu.Cholesky(np.empty((0, 0)), threads=1)

    def append(self, cross: np.ndarray, corner: float) -> bool:
        try:
            report = self._factor.append(cross[:, np.newaxis], corner)
        except cu.NotPositiveDefiniteError:
            return False
        if np.exp(report.log_det_change) > DEPENDENT * corner:
            return True
        self._factor.remove(len(self._factor) - 1)
        return False

    def remove(self, rows: np.ndarray) -> None:
        self._factor.remove(rows)

    def solve(self, b: np.ndarray) -> np.ndarray:
        return self._factor.solve(b)


class Refactored:
    """A factor that is computed again after every change."""

    def __init__(self) -> None:
        self._matrix, self._factor = np.empty((0, 0)), np.empty((0, 0))

    def append(self, cross: np.ndarray, corner: float) -> bool:
        matrix = np.block([[self._matrix, cross[:, np.newaxis]], [cross[np.newaxis], np.full((1, 1), corner)]])
        factor, info = dpotrf(matrix, lower=1)
        if info or factor[-1, -1] ** 2 <= DEPENDENT * corner:
            return False
        self._matrix, self._factor = matrix, factor
        return True

    def remove(self, rows: np.ndarray) -> None:
        self._matrix = np.delete(np.delete(self._matrix, rows, 0), rows, 1)
        self._factor = dpotrf(self._matrix, lower=1)[0]

    def solve(self, b: np.ndarray) -> np.ndarray:
        return cho_solve((self._factor, True), b, check_finite=False)


def nnls(a: np.ndarray, b: np.ndarray, factor: Passive, together: int) -> tuple[np.ndarray, dict[str, int]]:
    """x (n) for A (m x n) and b (m), with the numbers of variables that entered, left and were refused.

    Before the next solution up to `together` variables enter: those with the largest gradients, down to half of the largest.
    """
    gram, ab = a.T @ a, a.T @ b
    n = len(ab)
    x, gradient, passive = np.zeros(n), ab.copy(), np.empty(0, int)  # P, in the order of the rows of the factor
    closed = np.zeros(n, bool)  # variables in P, and those that were refused since the last one left P
    counts = {"entered": 0, "left": 0, "refused": 0}
    tolerance = 10.0 * n * np.finfo(np.float64).eps * np.abs(ab).max()
    for _ in range(10 * n):
        candidates = np.flatnonzero(~closed & (gradient > tolerance))
        if len(candidates) == 0:
            return x, counts
        candidates = candidates[np.argsort(-gradient[candidates], kind="stable")][:together]
        for candidate in candidates[gradient[candidates] >= 0.5 * gradient[candidates[0]]]:
            closed[candidate] = True
            if factor.append(gram[candidate, passive], gram[candidate, candidate]):
                counts["entered"] += 1
                passive = np.append(passive, candidate)
            else:
                counts["refused"] += 1
        solution = factor.solve(ab[passive])
        while solution.min(initial=0.0) < 0.0:
            # As far as x may go, and there the variables that have become zero leave.
            falling = np.flatnonzero(solution < 0.0)
            before = x[passive]
            ratios = before[falling] / (before[falling] - solution[falling])
            step = ratios.min()
            x[passive] += step * (solution - before)
            rows = falling[ratios <= step]
            x[passive[rows]] = 0.0
            closed[:] = False
            factor.remove(rows)
            passive = np.delete(passive, rows)
            closed[passive] = True
            counts["left"] += len(rows)
            solution = factor.solve(ab[passive])
        x[passive] = solution
        gradient = ab - gram @ x
    raise RuntimeError("no solution after 10 n steps")


def problem(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A library of n smooth non-negative profiles, each twentieth of them twice, and a noisy mixture of a quarter of them."""
    m, unique = 2 * n, n - n // 20
    at = np.linspace(0.0, 1.0, m)[:, np.newaxis]
    width = 2.0 / n
    profiles = np.exp(-0.5 * ((at - np.linspace(0.0, 1.0, unique)) / width) ** 2)
    profiles += 0.3 * rng.random((m, unique)) * (rng.random((m, unique)) < 0.1)
    a = np.hstack([profiles, profiles[:, rng.choice(unique, n - unique, replace=False)]])
    a = a[:, rng.permutation(n)]
    weights = np.where(rng.random(n) < 0.25, rng.exponential(size=n), 0.0)
    clean = a @ weights
    return a, clean + 0.1 * clean.std() * rng.standard_normal(m)


def timed(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The median time of a call, and its result."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return float(np.median(times)), result


def draw(path: str, rows: list[tuple[int, float, float, float]]) -> None:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "nnls"})
    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    orders, *times = zip(*rows, strict=True)
    for label, series in zip(["append and remove", "factoring at every change", "scipy.optimize.nnls"], times, strict=True):
        axes.loglog(orders, series, "o-", label=label)
    axes.set_xticks(orders, [str(n) for n in orders])
    axes.minorticks_off()
    axes.set(xlabel="variables", ylabel="seconds")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few variables, for a test")
    parser.add_argument("--plot", metavar="FILE", help="where to draw the times")
    parser.add_argument("--together", type=int, default=8, metavar="N", help="variables that enter before the next solution")
    arguments = parser.parse_args()
    together: int = arguments.together
    threadpool_limits(1)
    rng = np.random.default_rng(1974)

    print("seconds, and how far the fits and the norms of the residuals are from SciPy's, relative to b")
    print(f"{'n':>5} {'entered':>7} {'left':>5} {'refused':>7} {'kept':>7} {'again':>7} {'scipy':>7} {'ratios':>11} {'fit':>8} {'norm':>8}")
    rows = []
    for n in [60, 120] if arguments.quick else [200, 400, 800, 1300, 1600]:
        a, b = problem(n, rng)
        repeats = 5 if n <= 400 else 3 if n <= 800 else 1
        kept, (x, counts) = timed(lambda: nnls(a, b, Kept(), together), repeats)  # noqa: B023 (called at once)
        again, (x_again, _) = timed(lambda: nnls(a, b, Refactored(), together), repeats)  # noqa: B023
        scipy, (x_scipy, norm) = timed(lambda: scipy_nnls(a, b, maxiter=10 * n), repeats)  # noqa: B023
        size = np.linalg.norm(b)
        fit = max(np.linalg.norm(a @ (x_scipy - other)) / size for other in (x, x_again))
        excess = max(np.linalg.norm(a @ other - b) - norm for other in (x, x_again)) / size
        rows.append((n, kept, again, scipy))
        print(
            f"{n:>5} {counts['entered']:>7} {counts['left']:>5} {counts['refused']:>7} {kept:>7.3f} {again:>7.3f} {scipy:>7.3f} "
            f"{again / kept:>5.1f} {scipy / kept:>5.1f} {fit:>8.1e} {excess:>8.1e}"
        )
        assert x.min() >= 0.0 and (together == 1 or counts["refused"] > 0)
        assert fit <= 1e-10 and abs(excess) <= 1e-12
    if arguments.plot:
        draw(arguments.plot, rows)


if __name__ == "__main__":
    main()
