"""filterpy's square-root Kalman filter on a factor that is updated and downdated.

`SquareRootKalmanFilter` stores a triangular root of the covariance, P = L Lᵀ, and computes the next one by a QR factorization of a
matrix of order n + m in `update` (m measurements) and of about 2 n rows in `predict`: O(n³) each. But a measurement reduces P by a
matrix of rank m,

    P' = P - W Wᵀ,   W = P Hᵀ S^(-T/2),   S = H P Hᵀ + R,

and where the state is its own forecast (F = I: recursive least squares, parameters that drift, maps) noise adds the rank of its
root Q½. So `update` is a downdate and `predict` an update of L, m n² operations each, in place. The subclass `RankFilter` overrides
these two methods. If a downdate would lose positive definiteness, L is as it was, and filterpy's own QR does the step.

    pip install ./python filterpy threadpoolctl
    python python/examples/filterpy_kalman.py [--quick]

A vehicle maps a field on n cells that drifts in a few modes; it measures at four places in each step. For each n the example prints
the medians of the time of a step (`predict` and `update`) with filterpy and with the subclass, the final differences of the states
and the covariances of the two, and the error of the map against the truth. Both work on one thread.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from filterpy.kalman import SquareRootKalmanFilter
from scipy.linalg import solve_triangular
from threadpoolctl import threadpool_limits

import cholupdate as cu

PLACES = 4
MODES = 3
SIGMA = 0.1


class RankFilter(SquareRootKalmanFilter):  # type: ignore[misc]
    """A square-root Kalman filter whose cost depends on the rank of the measurement, not only on the order of the state."""

    x: np.ndarray
    _P1_2: np.ndarray

    def predict(self, u: float | np.ndarray = 0) -> None:
        if not np.array_equal(self.F, self._I):
            super().predict(u)
            return
        self.x = self.x + np.dot(self.B, u)
        self._P1_2 = cu.cholesky_update(self._P1_2, self._Q1_2, overwrite_l=True)
        self.x_prior, self._P1_2_prior = self.x.copy(), self._P1_2.copy("F")

    def update(self, z: np.ndarray | None, R2: float | np.ndarray | None = None) -> None:
        if z is None:
            super().update(z, R2)
            return
        root = np.asarray(self._R1_2 if R2 is None else R2)
        root = root if root.ndim else root * np.eye(self.dim_z)
        seen = self.H @ self._P1_2  # (m, n)
        s_root = np.linalg.cholesky(seen @ seen.T + root @ root.T)  # (m, m)
        w = self._P1_2 @ solve_triangular(s_root, seen, lower=True).T  # (n, m)
        try:
            self._P1_2 = cu.cholesky_update(self._P1_2, w, downdate=True, overwrite_l=True)
        except cu.NotPositiveDefiniteError:
            super().update(z, R2)
            return
        self.S1_2, self.SI1_2 = s_root, np.linalg.inv(s_root)
        self.K = w @ self.SI1_2
        self.y = z - self.H @ self.x
        self.x = self.x + self.K @ self.y
        self.z, self.x_post, self._P1_2_post = z.copy(), self.x.copy(), self._P1_2.copy("F")


class Field:
    """A field on side² cells, and the measurements of a vehicle."""

    def __init__(self, side: int, rng: np.random.Generator) -> None:
        self.side, self.rng = side, rng
        row, col = np.divmod(np.arange(side * side), side)
        square = (row[:, None] - row) ** 2 + (col[:, None] - col) ** 2
        self.covariance = np.exp(-0.5 * square / (side / 4) ** 2) + 0.01 * np.eye(side * side)
        waves = [np.cos(np.pi * k * row / side) * np.cos(np.pi * k * col / side) for k in range(MODES)]
        self.drift = 0.02 * np.stack(waves, axis=1)  # (n, modes)
        self.truth = np.linalg.cholesky(self.covariance) @ rng.standard_normal((side * side, 1))

    def step(self) -> tuple[np.ndarray, np.ndarray]:
        """The field drifts, and is measured between cells: H and z."""
        self.truth = self.truth + self.drift @ self.rng.standard_normal((MODES, 1))
        cells = np.zeros((PLACES, self.side, self.side))
        for place in cells:
            at = self.rng.uniform(0, self.side - 1, 2)
            (i, j), (p, q) = at.astype(int), at % 1.0
            place[i : i + 2, j : j + 2] = np.outer([1 - p, p], [1 - q, q])
        h = cells.reshape(PLACES, -1)
        return h, h @ self.truth + SIGMA * self.rng.standard_normal((PLACES, 1))


def made(kind: type[SquareRootKalmanFilter], field: Field) -> SquareRootKalmanFilter:
    n = field.side**2
    made = kind(dim_x=n, dim_z=PLACES)
    made.P, made.R = field.covariance, SIGMA**2 * np.eye(PLACES)
    made._Q1_2 = field.drift  # the setter of Q refuses a lower rank
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small field, for a test")
    quick = parser.parse_args().quick
    threadpool_limits(1)
    count = 10 if quick else 50
    print(f"filterpy's SquareRootKalmanFilter, {PLACES} measurements and drift of rank {MODES} in each of {count} steps")
    print(f"{'n':>5} {'before ms':>10} {'after ms':>9} {'ratio':>6} {'apart':>8} {'allowed':>8} {'RMSE':>6}")
    for side in [5] if quick else [4, 7, 10, 14, 20]:
        field = Field(side, np.random.default_rng(20))
        filters = [made(SquareRootKalmanFilter, field), made(RankFilter, field)]
        times, condition = np.empty((count, 2)), 1.0
        for t in range(count):
            h, z = field.step()
            for i, each in enumerate(filters):
                each.H = h
                start = time.perf_counter()
                each.predict()
                each.update(z)
                times[t, i] = time.perf_counter() - start
            condition = max(condition, np.linalg.cond(each.S))
        theirs, ours = filters
        apart = max(
            np.abs(ours.P - theirs.P).max() / field.covariance.max(),
            np.abs(ours.x - theirs.x).max() / np.abs(theirs.x).max(),
        )
        # A step leaves an error of (n + rank) u of P before it, twice. The gain takes it to the state, times κ(S) at most.
        n = side * side
        tolerance = count * (2 * n + PLACES + MODES) * np.finfo(np.float64).eps / 2.0 * condition
        before, after = np.median(times, axis=0) * 1e3
        rmse = np.sqrt(np.mean((ours.x - field.truth) ** 2))
        print(
            f"{n:>5} {before:>10.3f} {after:>9.3f} {before / after:>6.1f} {apart:>8.1e} {tolerance:>8.1e} {rmse:>6.3f}"
        )
        assert apart <= tolerance


if __name__ == "__main__":
    main()
