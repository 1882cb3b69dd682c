"""A dense active-set solver for sequences of convex quadratic programs, on one factor of their KKT matrix.

    minimize ½ xᵀ H x + gᵀ x   subject to   lower ≤ A x ≤ upper

with H positive definite. The dual active-set method (Goldfarb and Idnani, A numerically stable dual method for solving strictly
convex quadratic programs, Math. Programming 27, 1983) begins at the minimum without constraints, and keeps λ ≥ 0. In each step
it takes the most violated constraint, with the normal a, and solves

    [H  Wᵀ] [z]   [a]
    [W  0 ] [r] = [0]

where W has the normals of the active constraints. It moves along −z, and λ along −r, until the constraint holds with equality,
and takes it into W, or until a λ is zero, and drops that constraint. From step to step the matrix gains or loses one row and
column. `Ldlt` keeps its factor: `append` for a constraint that comes, `remove` for those that go, O(s²) operations for s rows.
`numpy.linalg.solve` factors the matrix again in each step, in O(s³).

The next problem of a sequence begins with the factor and the active constraints of the last one, less those with λ < 0.

The inertia of the matrix is (n, rows of W) exactly if H is positive definite on the null space of W and the rows of W are
independent. `expect_inertia` makes that a test in each step: a change that violates it raises, and the factor stays as it was.

    pip install ./python scipy threadpoolctl [proxsuite quadprog daqp piqp]
    python python/examples/qp.py [--quick] [--check] [--sizes 100 200 400] [--repeats 5] [--tolerance 1e-9]

For each sequence of `qp_problems.py` it prints, as a row of a table: n, the constraints and the problems; how many constraints
were active in a problem, at most, and how many came and went in all; the milliseconds for the whole sequence, of this solver with
`Ldlt` and with `numpy.linalg.solve` (refactoring), and of those solvers of `qp_peers.py` that are there. Then it prints the
largest violation of the optimality conditions, relative to the terms of which it is the sum, and the largest relative difference
to other solutions. All work on one thread. A time is the median of `--repeats` runs. With --check each step with `Ldlt` is
compared with `numpy.linalg.solve`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np
import qp_peers
import qp_problems
from qp_problems import Problem
from threadpoolctl import threadpool_limits

import cholupdate as cu

T = TypeVar("T")
UNIT = np.finfo(np.float64).eps / 2.0
FEASIBLE = 1e-9
"""A constraint is violated if it is by more than this."""


class Kkt(Protocol):
    """[[H, Wᵀ], [W, 0]], with rows of W that come and go."""

    def append(self, normal: np.ndarray) -> None: ...
    def remove(self, at: np.ndarray) -> None: ...
    def solve(self, rhs: np.ndarray) -> np.ndarray: ...


class Kept:
    """Its factor."""

    def __init__(self, h: np.ndarray) -> None:
        self.n, self.factor = len(h), cu.Ldlt(h, threads=1)

    def append(self, normal: np.ndarray) -> None:
        active = self.factor.order - self.n
        self.factor.expect_inertia(self.n, active + 1)
        self.factor.append(np.concatenate([normal, np.zeros(active)]), 0.0)

    def remove(self, at: np.ndarray) -> None:
        self.factor.expect_inertia(self.n, self.factor.order - self.n - len(at))
        self.factor.remove(self.n + at)

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        return np.asarray(self.factor.solve(rhs))


class Refactored:
    """The matrix itself, in the first rows and columns of an array."""

    def __init__(self, h: np.ndarray) -> None:
        self.n = self.order = len(h)
        self.matrix = np.zeros((2 * self.n + 1, 2 * self.n + 1))
        self.matrix[: self.n, : self.n] = h

    def append(self, normal: np.ndarray) -> None:
        self.matrix[self.order, : self.n] = self.matrix[: self.n, self.order] = normal
        self.order += 1

    def remove(self, at: np.ndarray) -> None:
        kept = np.delete(np.arange(self.order), self.n + at)
        self.matrix[: len(kept), : len(kept)] = self.matrix[np.ix_(kept, kept)]
        self.matrix[len(kept) : self.order] = self.matrix[:, len(kept) : self.order] = 0.0
        self.order = len(kept)

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        return np.linalg.solve(self.matrix[: self.order, : self.order], rhs)


class Checked(Kept):
    """The factor, compared with the matrix in each step."""

    def __init__(self, h: np.ndarray) -> None:
        super().__init__(h)
        self.matrix = Refactored(h)

    def append(self, normal: np.ndarray) -> None:
        super().append(normal)
        self.matrix.append(normal)

    def remove(self, at: np.ndarray) -> None:
        super().remove(at)
        self.matrix.remove(at)

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        found, wanted = super().solve(rhs), self.matrix.solve(rhs)
        bound = len(rhs) * UNIT * self.factor.growth * self.factor.condition()
        assert np.linalg.norm(found - wanted) <= bound * np.linalg.norm(wanted)
        return found


class Solver:
    """Solves problems with one H, one after the other. An active constraint is the row of A, or, at its lower limit, ~row."""

    def __init__(self, h: np.ndarray, kkt: Callable[[np.ndarray], Kkt]) -> None:
        self.kkt, self.n = kkt(h), len(h)
        self.active = np.zeros(0, dtype=int)
        self.most = self.came = self.went = 0
        # aᵀ z is at least sin² of the angle between a and the rows of W, times ‖a‖² / ‖H‖.
        self.least_curvature = 1e-13 / float(np.linalg.norm(h))

    def normal(self, problem: Problem, constraint: int) -> np.ndarray:
        return np.asarray(problem.a[constraint] if constraint >= 0 else -problem.a[~constraint])

    def limits(self, problem: Problem) -> np.ndarray:
        lower = self.active < 0
        rows = np.where(lower, ~self.active, self.active)
        return np.where(lower, -problem.lower[rows], problem.upper[rows])

    def remove(self, at: np.ndarray) -> None:
        self.kkt.remove(at)
        self.active = np.delete(self.active, at)
        self.went += len(at)

    def minimum(self, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
        """x and λ where all active constraints hold with equality, of those whose λ is not negative."""
        while True:
            found = self.kkt.solve(np.concatenate([-problem.g, self.limits(problem)]))
            x, duals = found[: self.n], found[self.n :]
            negative = np.flatnonzero(duals < 0.0)
            if len(negative) == 0:
                return x, duals
            self.remove(negative)

    def solve(self, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
        """x and λ of the rows of A, negative at a lower limit."""
        x, duals = self.minimum(problem)
        while (violated := self.most_violated(problem, x)) is not None:
            while violated is not None:
                x, duals = self.take(problem, violated, x, duals)
                violated = self.most_violated(problem, x)
            x, duals = self.minimum(problem)  # without the rounding errors of the steps
        self.most = max(self.most, len(self.active))
        of_rows = np.zeros(len(problem.upper))
        of_rows[np.where(self.active < 0, ~self.active, self.active)] = np.where(self.active < 0, -duals, duals)
        return x, of_rows

    def most_violated(self, problem: Problem, x: np.ndarray) -> int | None:
        if len(problem.upper) == 0:
            return None
        ax = problem.times(x)
        above, below = ax - problem.upper, problem.lower - ax
        highest, lowest = int(np.argmax(above)), int(np.argmax(below))
        if max(above[highest], below[lowest]) <= FEASIBLE:
            return None
        return highest if above[highest] >= below[lowest] else ~lowest

    def take(self, problem: Problem, constraint: int, x: np.ndarray, duals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Takes a violated constraint into W. Those whose λ becomes zero on the way go."""
        a, dual = self.normal(problem, constraint), 0.0
        limit = problem.upper[constraint] if constraint >= 0 else -problem.lower[~constraint]
        while True:
            found = self.kkt.solve(np.concatenate([a, np.zeros(len(duals))]))
            z, r = found[: self.n], found[self.n :]
            curvature = float(a @ z)
            full = (a @ x - limit) / curvature if curvature > self.least_curvature * (a @ a) else np.inf
            steps = np.where(r > 0.0, duals / np.where(r > 0.0, r, 1.0), np.inf)
            first = int(np.argmin(steps)) if len(steps) else -1
            step = min(full, steps[first] if len(steps) else np.inf)
            if step == np.inf:
                raise ValueError("no x satisfies all constraints")
            x, duals, dual = x - step * z, duals - step * r, dual + step
            if step == full:
                self.kkt.append(a)
                self.active, self.came = np.append(self.active, constraint), self.came + 1
                return x, np.append(duals, dual)
            self.remove(np.array([first]))
            duals = np.delete(duals, first)


def violation(problem: Problem, x: np.ndarray, duals: np.ndarray) -> float:
    """By how much the optimality conditions are violated, relative to the terms: stationary, feasible, and λ complementary."""
    gradient = problem.h @ x + problem.g + problem.a.T @ duals
    stationary = np.linalg.norm(gradient) / (np.linalg.norm(problem.g) + np.linalg.norm(problem.h @ x))
    if len(duals) == 0:
        return float(stationary)
    ax, size = problem.times(x), 1.0 + np.abs(problem.a) @ np.abs(x)
    infeasible = np.maximum(ax - problem.upper, problem.lower - ax) / size
    room = np.where(duals > 0.0, problem.upper - ax, np.where(duals < 0.0, ax - problem.lower, 0.0))
    return float(max(stationary, infeasible.max(), (np.abs(room) / size).max()))


def solved(problems: list[Problem], kkt: Callable[[np.ndarray], Kkt]) -> tuple[list[tuple[np.ndarray, np.ndarray]], Solver]:
    solver = Solver(problems[0].h, kkt)
    return [solver.solve(problem) for problem in problems], solver


def timed(call: Callable[[], T], repeats: int) -> tuple[float, T]:
    """The median of the times in ms, and what the first call has returned."""
    times, returned = list[float](), list[T]()
    for _ in range(repeats):
        start = time.perf_counter()
        returned.append(call())
        times.append(time.perf_counter() - start)
    return 1e3 * float(np.median(times)), returned[0]


def apart(ours: list[np.ndarray], theirs: list[np.ndarray]) -> float:
    return max(float(np.linalg.norm(x - y) / np.linalg.norm(y)) for x, y in zip(ours, theirs, strict=True))


def row(make: qp_problems.Sequence, n: int, repeats: int, check: bool, tolerance: float) -> tuple[list[str], list[float]]:
    """Makes a sequence, solves it by all, and checks the solutions. Returns a row, and the largest errors."""
    made: list[Solver] = []

    def solve(problem: Problem) -> np.ndarray:
        if not made:
            made.append(Solver(problem.h, Checked if check else Kept))
        return made[0].solve(problem)[0]

    problems = make(n, np.random.default_rng(20), solve)
    kept_ms, (found, solver) = timed(lambda: solved(problems, Kept), repeats)
    ours = [x for x, _ in found]
    violated = max(violation(problem, x, duals) for problem, (x, duals) in zip(problems, found, strict=True))
    assert violated <= 1e-9
    refactored_ms, (found, _) = timed(lambda: solved(problems, Refactored), repeats)
    refactored = apart(ours, [x for x, _ in found])
    assert refactored <= 1e-9

    others, farthest = list[float](), 0.0
    for runs in qp_peers.available(problems, tolerance).values():
        outcomes = [timed(run, repeats) for run in runs]
        farthest = max(farthest, *(apart(ours, solutions) for _, solutions in outcomes))
        others.append(min(ms for ms, _ in outcomes))
    assert farthest <= 1e4 * tolerance

    counts = [solver.n, len(problems[-1].upper), len(problems), solver.most, solver.came, solver.went]
    milliseconds = [f"{ms:.3g}" if ms < 1e3 else f"{ms:.0f}" for ms in (kept_ms, refactored_ms, *others)]
    return [make.__name__, *map(str, counts), *milliseconds], [violated, refactored, farthest]


def print_row(cells: list[str]) -> None:
    print("|", " | ".join(cells), "|", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small problems once, with --check, for a test")
    parser.add_argument("--check", action="store_true", help="compare with numpy.linalg.solve in every step")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 200, 400], help="numbers of variables, at most")
    parser.add_argument("--repeats", type=int, default=5, help="runs, of which a time is the median")
    parser.add_argument("--tolerance", type=float, default=1e-9, help="of the solvers that have one")
    given = parser.parse_args()
    sizes, repeats = ([40], 1) if given.quick else (given.sizes, given.repeats)
    threadpool_limits(1)

    names = ["sequence", "n", "rows", "problems", "active", "came", "went", "`Ldlt`", "refactoring", *qp_peers.installed()]
    print_row(names)
    print_row(["---"] * len(names))
    largest = np.zeros(3)
    for make in (qp_problems.random, qp_problems.correlation, qp_problems.control):
        for n in sizes:
            cells, errors = row(make, n, repeats, given.check or given.quick, given.tolerance)
            print_row(cells)
            largest = np.maximum(largest, errors)
    print(f"\nOptimality conditions are violated by at most {largest[0]:.0e}. Solutions differ by at most {largest[1]:.0e}")
    print(f"from those with numpy.linalg.solve, and by at most {largest[2]:.0e} from those of other solvers.")


if __name__ == "__main__":
    main()
