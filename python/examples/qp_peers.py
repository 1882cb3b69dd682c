"""Other solvers of quadratic programs, for `qp.py`: each that can be imported, with what it offers for a sequence of problems.

Each function takes a sequence and returns one or more ways to solve it, to a tolerance if the solver has one. Data in the form
that a solver takes, such as constraints of one side, are made outside of them, and so are not timed; what the solver keeps from
problem to problem is made within.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from qp_problems import Problem

Run = Callable[[], list[np.ndarray]]
"""Solves the problems of a sequence."""


def with_all_rows(problems: list[Problem]) -> list[Problem]:
    """For solvers that keep the number of constraints: those of later problems are zero, without limits."""
    rows = len(problems[-1].upper)

    def padded(p: Problem) -> Problem:
        later = rows - len(p.upper)
        lower = np.pad(p.lower, (0, later), constant_values=-np.inf)
        upper = np.pad(p.upper, (0, later), constant_values=np.inf)
        return replace(p, a=np.pad(p.a, ((0, later), (0, 0))), lower=lower, upper=upper)

    return [padded(p) if len(p.upper) < rows else p for p in problems]


def same_rows(problems: list[Problem], at: int) -> bool:
    """Whether A is that of the problem before. It differs only if there are further rows."""
    return at > 0 and len(problems[at].upper) == len(problems[at - 1].upper)


def proxsuite(problems: list[Problem], tolerance: float) -> list[Run]:
    """ProxQP: a proximal augmented Lagrangian method, on an LDLᵀ factor that it updates too.

    One object for the sequence, which begins with the last solution, or with that without inequalities. It takes bounds as
    bounds. The duality gap is checked, as without it a λ of the last problem may remain at a constraint that is no longer active.
    (WARM_START_WITH_PREVIOUS_RESULT, which keeps the penalties as well, leaves errors a hundred times as large.)
    """
    proxqp = importlib.import_module("proxsuite").proxqp
    n, bounds, rows = len(problems[0].g), problems[0].bounds, len(problems[-1].upper) - problems[0].bounds
    data = list[dict[str, np.ndarray]]()
    for p in with_all_rows(problems):
        lower, upper = np.maximum(p.lower[bounds:], -1e20), np.minimum(p.upper[bounds:], 1e20)
        new = {"g": p.g, "l": lower, "u": upper}
        if bounds:
            new |= {"l_box": p.lower[:bounds], "u_box": p.upper[:bounds]}
        if not same_rows(problems, len(data)):
            new["C"] = p.a[bounds:]
        data.append(new)

    def run(start: str) -> list[np.ndarray]:
        qp = proxqp.dense.QP(n, 0, rows, bounds > 0)
        settings = qp.settings
        settings.eps_abs, settings.eps_rel, settings.initial_guess = tolerance, 0.0, getattr(proxqp, start)
        settings.check_duality_gap, settings.eps_duality_gap_abs = True, tolerance
        solutions = list[np.ndarray]()
        for new in data:
            if solutions:
                qp.update(**new)
            else:
                qp.init(H=problems[0].h, A=None, b=None, **new)
            qp.solve()
            assert qp.results.info.status == proxqp.PROXQP_SOLVED
            solutions.append(np.array(qp.results.x))
        return solutions

    return [partial(run, "COLD_START_WITH_PREVIOUS_RESULT"), partial(run, "EQUALITY_CONSTRAINED_INITIAL_GUESS")]


def quadprog(problems: list[Problem], _: float) -> list[Run]:
    """quadprog: the dual active-set method of Goldfarb and Idnani. It keeps nothing; it takes the inverse of a factor of H."""
    solve_qp = importlib.import_module("quadprog").solve_qp
    data = list[tuple[np.ndarray, np.ndarray | None, np.ndarray | None]]()
    for problem in problems:
        below = np.isfinite(problem.lower)
        normals = np.asfortranarray(np.vstack([-problem.a, problem.a[below]]).T)
        limits = np.concatenate([-problem.upper, problem.lower[below]])
        data.append((-problem.g, normals, limits) if len(limits) else (-problem.g, None, None))

    def run() -> list[np.ndarray]:
        inverse = np.linalg.inv(np.linalg.cholesky(problems[0].h)).T
        return [solve_qp(inverse, g, normals, limits, 0, True)[0] for g, normals, limits in data]

    return [run]


def daqp(problems: list[Problem], tolerance: float) -> list[Run]:
    """DAQP: a dual active-set method on an LDLᵀ factor that it updates too.

    One object for the sequence, which keeps the factor of H and begins with the last active constraints.
    """
    module = importlib.import_module("daqp")
    data = list[dict[str, np.ndarray]]()
    for p in with_all_rows(problems):
        new = {"f": p.g, "bupper": np.minimum(p.upper, 1e30), "blower": np.maximum(p.lower, -1e30)}
        if not same_rows(problems, len(data)):
            new["A"] = np.ascontiguousarray(p.a[p.bounds :])
        data.append(new)

    def run() -> list[np.ndarray]:
        solutions, model = list[np.ndarray](), module.Model()
        for new in data:
            if solutions:
                model.update(**new)
            else:
                model.setup(H=problems[0].h, **new)
                model.settings = {"primal_tol": tolerance, "dual_tol": tolerance}
            x, _, flag, _ = model.solve()
            assert flag == 1, flag
            solutions.append(x)
        return solutions

    return [run]


def piqp(problems: list[Problem], tolerance: float) -> list[Run]:
    """PIQP: a proximal interior-point method. It keeps its memory and its preconditioner."""
    module = importlib.import_module("piqp")
    same = all(len(problem.upper) == len(problems[0].upper) for problem in problems)
    data = list[dict[str, Any]]()
    for p in problems:
        new = {"G": p.a[p.bounds :], "h_l": p.lower[p.bounds :], "h_u": p.upper[p.bounds :]} if len(p.upper) else {}
        if p.bounds:
            new |= {"x_l": p.lower[: p.bounds], "x_u": p.upper[: p.bounds]}
        if "G" in new:
            new["G"] = np.asfortranarray(new["G"])
        data.append({"c": p.g} | new)
    h = np.asfortranarray(problems[0].h)

    def run() -> list[np.ndarray]:
        solutions, solver = list[np.ndarray](), module.DenseSolver()
        for new in data:
            if solutions and same:
                solver.update(**{name: value for name, value in new.items() if name != "G"})
            else:
                solver = module.DenseSolver()
                settings = solver.settings
                settings.preconditioner_reuse_on_update = True
                settings.eps_abs = settings.eps_duality_gap_abs = tolerance
                settings.eps_rel = settings.eps_duality_gap_rel = 0.0
                solver.setup(P=h, **new)
            assert solver.solve() == module.PIQP_SOLVED
            solutions.append(np.array(solver.result.x))
        return solutions

    return [run]


ALL = {"ProxSuite": proxsuite, "quadprog": quadprog, "DAQP": daqp, "PIQP": piqp}


def installed() -> list[str]:
    return [name for name in ALL if importlib.util.find_spec(name.lower())]


def available(problems: list[Problem], tolerance: float) -> dict[str, list[Run]]:
    return {name: ALL[name](problems, tolerance) for name in installed()}
