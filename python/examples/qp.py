"""A dense active-set solver for convex quadratic programs, on one factor of its KKT matrix.

    minimize ½ xᵀ H x + gᵀ x   subject to   A x ≤ b

with H positive definite. The primal active-set method (Nocedal and Wright, Numerical Optimization, algorithm 16.3) begins at a
feasible x. In each step it solves

    [H  Wᵀ] [p]   [−(H x + g)]
    [W  0 ] [λ] = [    0     ]

where W has the active constraints, moves along p until a constraint blocks, and takes that one into W, or drops the one with
the most negative λ. From step to step the matrix gains or loses one row and column. `Ldlt` keeps its factor: `append` for a
constraint that comes, `remove` for one that goes, O(s²) operations for s rows. `numpy.linalg.solve` factors the matrix again in
each step, in O(s³).

The inertia of the matrix is (n, rows of W) exactly if H is positive definite on the null space of W and the rows of W are
independent. `expect_inertia` makes that a test in each step: a change that violates it raises, and the factor stays as it was.

    pip install cholupdate threadpoolctl [proxsuite] [qpsolvers and one of its solvers]
    python python/examples/qp.py [--quick] [--check] [--sizes 100 200 400]

It prints the number of steps, how many of them removed a constraint, the median and the sum of the times of a step with both, and
the largest difference of their solutions; with --check each difference is compared with its bound. All work on one thread. The
optimality conditions are checked at the end. If ProxSuite or qpsolvers is there, the table also has their times for the whole
problem, and their solutions are compared. (Solvers with other methods, such as quadprog's dual one, take fewer steps.)
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import cholupdate as cu

UNIT = np.finfo(np.float64).eps / 2.0


class Problem:
    """H, g, A and b, with x = 0 feasible. The constraints are close to each other, so that many come and go."""

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        x = rng.standard_normal((n, 2 * n))
        self.h = x @ x.T / (2 * n) + 0.05 * np.eye(n)
        self.g = 3.0 * rng.standard_normal(n)
        common = rng.standard_normal((2 * n, n // 4)) @ rng.standard_normal((n // 4, n))
        self.a = (rng.standard_normal((2 * n, n)) + common) / np.sqrt(n)
        self.b = rng.uniform(0.5, 2.0, 2 * n)


class KeptFactor:
    """The KKT matrix of some constraints, by its factor."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.active = problem, list[int]()
        self.factor = cu.Ldlt(problem.h, threads=1)

    def append(self, constraint: int) -> None:
        n, active = len(self.problem.g), self.active
        cross = np.concatenate([self.problem.a[constraint], np.zeros(len(active))])
        self.factor.expect_inertia(n, len(active) + 1)
        self.factor.append(cross, 0.0)
        active.append(constraint)

    def remove(self, at: int) -> None:
        n, active = len(self.problem.g), self.active
        self.factor.expect_inertia(n, len(active) - 1)
        self.factor.remove(n + at)
        del active[at]

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        return self.factor.solve(rhs)


def kkt(problem: Problem, active: list[int]) -> np.ndarray:
    """The matrix itself, for `numpy.linalg.solve`. Its assembly is not timed."""
    w = problem.a[active]
    return np.block([[problem.h, w.T], [w, np.zeros((len(active), len(active)))]])


def seconds(call: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    done = call(*arguments)
    return time.perf_counter() - start, done


def solve(problem: Problem, check: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[int], float]:
    """x, λ of the active constraints, times of the steps with both (steps × 2), the constraints, and the largest difference."""
    n, (change, kept) = len(problem.g), seconds(KeptFactor, problem)
    x, times, apart = np.zeros(n), list[tuple[float, float]](), 0.0
    while True:
        rhs = np.concatenate([-(problem.h @ x + problem.g), np.zeros(len(kept.active))])
        ours, found = seconds(kept.solve, rhs)
        theirs, wanted = seconds(np.linalg.solve, kkt(problem, kept.active), rhs)
        times.append((change + ours, theirs))
        difference = float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))
        apart = max(apart, difference)
        assert kept.factor.inertia == (n, len(kept.active))
        if check:
            assert difference <= len(rhs) * UNIT * kept.factor.growth * kept.factor.condition()

        p, duals = found[:n], found[n:]
        ahead, room = problem.a @ p, problem.b - problem.a @ x
        blocking = ahead > 1e-12 * np.linalg.norm(p)
        blocking[kept.active] = False
        steps = np.where(blocking, np.maximum(room, 0.0) / np.where(blocking, ahead, 1.0), np.inf)
        first = int(np.argmin(steps))
        x = x + min(1.0, steps[first]) * p
        if steps[first] < 1.0:
            change, _ = seconds(kept.append, first)
        elif len(duals) == 0 or duals.min() >= -1e-10:
            return x, duals, np.array(times), kept.active, apart
        else:
            change, _ = seconds(kept.remove, int(np.argmin(duals)))


def proxqp(problem: Problem) -> np.ndarray:
    """ProxSuite's dense solver, to about the precision of the others."""
    dense = importlib.import_module("proxsuite").proxqp.dense
    qp = dense.QP(len(problem.g), 0, len(problem.b))
    qp.settings.eps_abs, qp.settings.eps_rel = 1e-10, 0.0
    qp.init(problem.h, problem.g, None, None, problem.a, np.full(len(problem.b), -1e20), problem.b)
    qp.solve()
    return np.asarray(qp.results.x)


def by_qpsolvers(name: str) -> Callable[[Problem], np.ndarray]:
    def solved(problem: Problem) -> np.ndarray:
        solve_qp = importlib.import_module("qpsolvers").solve_qp
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(solve_qp(problem.h, problem.g, problem.a, problem.b, solver=name))

    return solved


def peers() -> dict[str, Callable[[Problem], np.ndarray]]:
    """The other solvers that can be imported: active-set methods, and ProxSuite."""
    found: dict[str, Callable[[Problem], np.ndarray]] = {}
    if importlib.util.find_spec("proxsuite"):
        importlib.import_module("proxsuite")  # so that no call has to
        found["proxsuite"] = proxqp
    if importlib.util.find_spec("qpsolvers"):
        available = importlib.import_module("qpsolvers").available_solvers
        found |= {name: by_qpsolvers(name) for name in ("quadprog", "daqp", "qpoases") if name in available}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small problem, with --check, for a test")
    parser.add_argument("--check", action="store_true", help="compare with numpy.linalg.solve in every step")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 200, 400], help="numbers of variables")
    given = parser.parse_args()
    threadpool_limits(1)
    others = peers()

    print(f"{'':>27} {'ms a step':>17} {'ms of all steps':>17}")
    names = " ".join(f"{name:>9}" for name in others)
    columns = f"{'Ldlt':>8} {'numpy':>8} {'Ldlt':>8} {'numpy':>8} {'apart':>8}"
    print(f"{'n':>5} {'active':>6} {'steps':>6} {'removed':>7} {columns} {names}")
    for n in [40] if given.quick else given.sizes:
        problem = Problem(n, np.random.default_rng(20))
        x, duals, times, active, apart = solve(problem, given.check or given.quick)
        median, total = 1e3 * np.median(times, axis=0), 1e3 * times.sum(axis=0)

        # The optimality conditions: stationary, feasible, and λ that is not negative.
        gradient = problem.h @ x + problem.g + problem.a[active].T @ duals
        assert np.linalg.norm(gradient) <= 1e-9 * np.linalg.norm(problem.g)
        assert (problem.a @ x - problem.b).max() <= 1e-9 and np.all(duals >= -1e-10)
        row = []
        for name, call in others.items():
            spent, other = seconds(call, problem)
            assert np.linalg.norm(other - x) <= 1e-5 * np.linalg.norm(x), name
            row.append(f"{1e3 * spent:>9.1f}")
        removed = (len(times) - 1 - len(active)) // 2
        print(
            f"{n:>5} {len(active):>6} {len(times):>6} {removed:>7} {median[0]:>8.3f} {median[1]:>8.3f} {total[0]:>8.1f} "
            f"{total[1]:>8.1f} {apart:>8.1e} {' '.join(row)}"
        )


if __name__ == "__main__":
    main()
