"""Convex quadratic programs for `qp.py`, in sequences that share H:

    minimize ½ xᵀ H x + gᵀ x   subject to   lower ≤ A x ≤ upper

Later problems of a sequence depend on solutions of earlier ones, so each function takes a solver. It returns the problems it has
passed to it, for others to solve. All are made from the seed of the generator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import expm, solve_discrete_are


@dataclass(frozen=True)
class Problem:
    """H (n × n) positive definite, g (n), A (m × n), lower and upper (m). `lower` may be −∞."""

    h: np.ndarray
    g: np.ndarray
    a: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    bounds: int = 0
    """The first rows of A that are those of the identity: bounds of single variables."""

    def times(self, x: np.ndarray) -> np.ndarray:
        """A x."""
        return np.concatenate([x[: self.bounds], self.a[self.bounds :] @ x])


Solve = Callable[[Problem], np.ndarray]
Sequence = Callable[[int, np.random.Generator, Solve], list[Problem]]


def random(n: int, rng: np.random.Generator, solve: Solve) -> list[Problem]:
    """One problem with 2 n constraints. Their normals are close to each other, so that many come and go."""
    x = rng.standard_normal((n, 2 * n))
    h = x @ x.T / (2 * n) + 0.05 * np.eye(n)
    g = 3.0 * rng.standard_normal(n)
    common = rng.standard_normal((2 * n, n // 4)) @ rng.standard_normal((n // 4, n))
    a = (rng.standard_normal((2 * n, n)) + common) / np.sqrt(n)
    problem = Problem(h, g, a, np.full(2 * n, -np.inf), rng.uniform(0.5, 2.0, 2 * n))
    solve(problem)
    return [problem]


def correlation(n: int, rng: np.random.Generator, solve: Solve) -> list[Problem]:
    """The correlation matrix X that is nearest to a symmetric matrix C with a unit diagonal which has negative eigenvalues.

    It minimizes ½ tr((X − C) W (X − C) W) (Higham, Computing the nearest correlation matrix, IMA J. Numer. Anal. 22, 2002; W is
    that of generalized least squares, Browne, S. Afr. Statist. J. 8, 1974). The variables are the p (p − 1) / 2 entries of X
    below its diagonal, at most n. X is positive semidefinite if vᵀ X v ≥ 0 for all v. The first problem has no such constraint;
    each later one has those of the eigenvectors of the last solution with negative eigenvalues (cutting planes: Kelley 1960),
    until no eigenvalue is below −1e-4.

    C has the correlations of p series with three common factors and 2 p samples, of which a third is missing: each correlation is
    that of the samples which both series have.
    """
    p = int((1.0 + np.sqrt(1.0 + 8.0 * n)) / 2.0)
    samples = rng.standard_normal((2 * p, 3)) @ rng.standard_normal((3, p)) + 0.5 * rng.standard_normal((2 * p, p))
    samples[rng.random(samples.shape) < 1.0 / 3.0] = np.nan
    c = np.array([[pairwise(samples[:, i], samples[:, j]) for j in range(p)] for i in range(p)])

    w = np.linalg.inv(0.5 * c + 0.5 * np.eye(p) + max(0.0, -np.linalg.eigvalsh(c)[0]) * np.eye(p))
    i, j = np.tril_indices(p, -1)
    h = 2.0 * (w[np.ix_(i, i)] * w[np.ix_(j, j)] + w[np.ix_(i, j)] * w[np.ix_(j, i)])
    none = np.zeros(0)
    problem = Problem(h, -h @ c[i, j], np.zeros((0, len(i))), none, none)
    problems = list[Problem]()
    while True:
        problems.append(problem)
        x = np.eye(p)
        x[i, j] = x[j, i] = solve(problem)
        eigenvalues, v = np.linalg.eigh(x)
        v = v[:, eigenvalues < -1e-4]
        if v.shape[1] == 0:
            return problems
        # vᵀ X v = 1 + 2 Σ v_i v_j x_ij.
        a = np.vstack([problem.a, -2.0 * (v[i] * v[j]).T])
        problem = replace(problem, a=a, lower=np.full(len(a), -np.inf), upper=np.ones(len(a)))


def pairwise(x: np.ndarray, y: np.ndarray) -> float:
    both = ~np.isnan(x) & ~np.isnan(y)
    return float(np.corrcoef(x[both], y[both])[0, 1])


def control(n: int, rng: np.random.Generator, solve: Solve) -> list[Problem]:
    """Model predictive control of six oscillating masses (Wang, Boyd, Fast model predictive control using online optimization,
    IEEE Trans. Control Syst. Technol. 18, 2010).

    Six masses of 1 are connected by springs of 1 to each other and to walls on both sides. Three actuators exert tensions |u| ≤
    0.5 between masses 1 and 2, 3 and 5, 4 and 6, for n / 3 periods of 0.5. No mass may move by more than 4. The cost is half the
    sum of ‖x‖² + ‖u‖², with that of the linear-quadratic regulator for the last x. The states are eliminated (condensed), x_t =
    Fᵗ x_0 + Σ Fᵗ⁻¹⁻ˢ B u_s, so the variables are the inputs. In each period a problem is solved, its first input is applied, and
    the velocities change by random amounts of up to 1. In all 20 problems H and A are the same, g and the limits differ.
    """
    masses, states, inputs, horizon = 6, 12, 3, n // 3
    n = inputs * horizon
    rate = np.zeros((states + inputs, states + inputs))  # of the states and the inputs, in continuous time
    rate[:masses, masses:states] = np.eye(masses)
    rate[masses:states, :masses] = np.eye(masses, k=1) - 2.0 * np.eye(masses) + np.eye(masses, k=-1)
    for actuator, (one, other) in enumerate([(0, 1), (2, 4), (3, 5)]):
        rate[masses + one, states + actuator], rate[masses + other, states + actuator] = 1.0, -1.0
    f, b = np.split(expm(0.5 * rate)[:states], [states], axis=1)

    # x_1, …, x_T: T × states × states from x_0, T × states × T × inputs from the inputs.
    free, forced = np.zeros((horizon, states, states)), np.zeros((horizon, states, horizon, inputs))
    power = np.eye(states)
    for t in range(horizon):
        forced[np.arange(t, horizon), :, np.arange(horizon - t)] = power @ b
        free[t] = power = f @ power
    moved, all_forced = forced[:, :masses].reshape(-1, n), forced.reshape(-1, n)
    weighted = all_forced.copy()
    weighted[-states:] = solve_discrete_are(f, b, np.eye(states), np.eye(inputs)) @ all_forced[-states:]
    h, a = np.eye(n) + all_forced.T @ weighted, np.vstack([np.eye(n), moved])
    limit = np.repeat([0.5, 4.0], [n, len(moved)])

    problems, state = list[Problem](), np.concatenate([rng.uniform(-3.0, 3.0, masses), np.zeros(masses)])
    for _ in range(20):
        unforced = np.concatenate([np.zeros(n), (free[:, :masses] @ state).ravel()])
        g = weighted.T @ (free @ state).ravel()
        problems.append(Problem((h + h.T) / 2.0, g, a, -limit - unforced, limit - unforced, bounds=n))
        state = f @ state + b @ solve(problems[-1])[:inputs]
        state[masses:] += rng.uniform(-1.0, 1.0, masses)
    return problems
