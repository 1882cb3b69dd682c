"""Other solvers of quadratic programs, for `qp.py`: each that can be imported, with what it offers for a sequence of problems.

Each function takes a sequence and returns one or more ways to solve it, to a tolerance if the solver has one. Data in the form
that a solver takes, such as constraints of one side, are made outside of them, and so are not timed; what the solver keeps from
problem to problem is made within.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from qp_problems import Problem

Run = Callable[[], list[np.ndarray]]
"""Solves the problems of a sequence."""


def proxsuite(problems: list[Problem], tolerance: float) -> list[Run]:
    """ProxQP: a proximal augmented Lagrangian method, on an LDLᵀ factor that it updates too.

    One object for the sequence, which begins with the last solution, or with that without inequalities. It takes bounds as
    bounds. Its number of constraints is fixed, so rows that come later are zero, without limits, until then. The duality gap is
    checked, as without it a λ of the last problem may remain at a constraint that is no longer active.
    (WARM_START_WITH_PREVIOUS_RESULT, which keeps the penalties as well, leaves errors a hundred times as large.)
    """
    proxqp = importlib.import_module("proxsuite").proxqp
    n, bounds, rows = len(problems[0].g), problems[0].bounds, len(problems[-1].upper) - problems[0].bounds
    data, known = list[dict[str, np.ndarray]](), -1
    for p in problems:
        free = rows + bounds - len(p.upper)
        lower, upper = np.pad(p.lower[bounds:], (0, free)), np.pad(p.upper[bounds:], (0, free))
        lower[rows - free :], upper[rows - free :] = -1e20, 1e20
        new = {"g": p.g, "l": np.maximum(lower, -1e20), "u": upper}
        if bounds:
            new |= {"l_box": p.lower[:bounds], "u_box": p.upper[:bounds]}
        if known != len(p.upper):
            new["C"], known = np.pad(p.a[bounds:], ((0, free), (0, 0))), len(p.upper)
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
    """DAQP: a dual active-set method on an LDLᵀ factor that it updates too. It begins with the last active constraints."""
    module = importlib.import_module("daqp")
    same = all(len(problem.upper) == len(problems[0].upper) for problem in problems)
    data = [(p.h, p.g, np.ascontiguousarray(p.a[p.bounds :]), p.upper, np.maximum(p.lower, -1e30)) for p in problems]

    def run() -> list[np.ndarray]:
        solutions, duals, model = list[np.ndarray](), np.zeros(0), module.Model()
        for h, g, a, upper, lower in data:
            if solutions and same:
                model.update(f=g, bupper=upper, blower=lower)
            else:
                model = module.Model()
                duals = np.concatenate([duals, np.zeros(len(upper) - len(duals))])
                model.setup(h, g, a, upper, lower, dual_start=duals if solutions else None)
                model.settings = {"primal_tol": tolerance, "dual_tol": tolerance}
            x, _, flag, info = model.solve()
            assert flag == 1, flag
            duals = info["lam"]
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
