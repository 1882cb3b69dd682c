"""Ten thousand square-root Kalman filters on factors that are updated.

A radar follows many aircraft, each with a filter of its own. The state x is position, velocity and acceleration in the plane; F
takes it to the next measurement z = H x + noise of covariance R. In information form, Y = P⁻¹ and y = Y x, with fading memory in
place of process noise (Sorenson and Sacks, 1971), a step is

    Y ← λ F⁻ᵀ Y F⁻¹ + Hᵀ R⁻¹ H,   y ← λ F⁻ᵀ y + Hᵀ R⁻¹ z,   Y x = y.

For x at a fixed epoch, t steps ago, and Y without its factor λᵗ, only the sum remains, with H Fᵗ for H and the weight λ⁻ᵗ. So a
step of all filters is one `CholeskyBatch.modify` of rank 2, with weights 0 where the radar has missed the aircraft, and one
`solve`. Now and then the epoch moves: L ← λ^(t/2) F⁻ᵗᵀ L, which is triangular, as F⁻ᵀ is. NumPy and PyTorch sum Y, factor it
again with `numpy.linalg.cholesky` or `torch.linalg.cholesky_ex`, and solve with `numpy.linalg.solve`, which factors Y once more,
as NumPy does not solve with a factor, or `torch.cholesky_solve`.

    pip install ./python threadpoolctl [torch]
    python python/examples/kalman_bank.py [--quick] [--filters 10000]

It prints the errors of the measurements and of the estimates, the medians of the times of a step and of a move of the epoch, and
the largest difference of the estimates. All work on one thread.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import cholupdate as cu

torch: Any = importlib.import_module("torch") if importlib.util.find_spec("torch") else None

STATE = 6  # position, velocity and acceleration, each on two axes
STEPS, EPOCH = 100, 20  # of a second; from one epoch to the next
FORGET = 0.95
MISSED = 0.1
NOISE = np.array([30.0, 0.002])  # of a range in m, and of an azimuth
AT_FIRST = np.repeat([40.0, 20.0, 1.0], 2)  # what is known: m, m/s and m/s²


def transition(t: float) -> np.ndarray:
    """Fᵗ."""
    return np.kron([[1.0, t, 0.5 * t * t], [0.0, 1.0, t], [0.0, 0.0, 1.0]], np.eye(2))


class Radar:
    """Aircraft that change their acceleration, and measurements of them."""

    def __init__(self, count: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.guess = np.tile([4e4, 0.0, 0.0, 200.0, 0.0, 0.0], (count, 1))
        self.truth = self.guess + AT_FIRST * rng.standard_normal((count, STATE))

    def step(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Azimuths, ranges and which were missed."""
        self.truth = self.truth @ transition(1.0).T
        self.truth[:, 4:] += 0.05 * self.rng.standard_normal((len(self.truth), 2))
        east, north = self.truth[:, :2].T
        noise = NOISE[:, None] * self.rng.standard_normal((2, east.size))
        range_, azimuth = np.hypot(east, north) + noise[0], np.arctan2(north, east) + noise[1]
        return range_, azimuth, self.rng.uniform(size=east.size) < MISSED


class Ours:
    name = "cholupdate"

    def __init__(self, y: np.ndarray) -> None:
        self.batch = cu.CholeskyBatch(y, threads=1)

    def measured(self, v: np.ndarray, weights: np.ndarray) -> None:
        self.batch.modify(v, weights).check()

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        return self.batch.solve(rhs)

    def move_epoch(self, inverse: np.ndarray, scale: float) -> None:
        self.batch = cu.CholeskyBatch.from_factors(np.sqrt(scale) * inverse.T @ self.batch.factors(), threads=1)


class NumPy:
    name = "numpy"

    def __init__(self, y: np.ndarray) -> None:
        self.y, self.l = y.copy(), np.linalg.cholesky(y)

    def measured(self, v: np.ndarray, weights: np.ndarray) -> None:
        self.y += (v * weights[:, None]) @ v.transpose(0, 2, 1)
        self.l = np.linalg.cholesky(self.y)

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        return np.linalg.solve(self.y, rhs[:, :, None])[:, :, 0]

    def move_epoch(self, inverse: np.ndarray, scale: float) -> None:
        self.y = scale * inverse.T @ self.y @ inverse


class Torch:
    name = "torch"

    def __init__(self, y: np.ndarray) -> None:
        self.y = torch.tensor(y)
        self.l = torch.linalg.cholesky(self.y)

    def measured(self, v: np.ndarray, weights: np.ndarray) -> None:
        columns = torch.from_numpy(v)
        self.y += (columns * torch.from_numpy(weights)[:, None]) @ columns.mT
        self.l = torch.linalg.cholesky_ex(self.y).L

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        solved: np.ndarray = torch.cholesky_solve(torch.from_numpy(rhs)[:, :, None], self.l)[:, :, 0].numpy()
        return solved

    def move_epoch(self, inverse: np.ndarray, scale: float) -> None:
        back = torch.from_numpy(inverse)
        self.y = scale * back.mT @ self.y @ back


def timed(times: list[float], call: Callable[..., Any], *arguments: Any) -> Any:
    start = time.perf_counter()
    done = call(*arguments)
    times.append(time.perf_counter() - start)
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few filters, for a test")
    parser.add_argument("--filters", type=int, default=10_000)
    given = parser.parse_args()
    count = 100 if given.quick else given.filters
    threadpool_limits(1)
    if torch:
        torch.set_num_threads(1)
    radar = Radar(count, np.random.default_rng(20))

    information = np.tile(np.diag(AT_FIRST**-2.0), (count, 1, 1))
    y = radar.guess * AT_FIRST**-2.0
    kinds: list[Any] = [Ours, NumPy, Torch] if torch else [Ours, NumPy]
    banks = [kind(information) for kind in kinds]
    verbs = ("measured", "solve", "move_epoch")
    times: list[dict[str, list[float]]] = [{verb: [] for verb in verbs} for _ in banks]
    apart, condition, errors = 0.0, 1.0, np.zeros((STEPS, 2))
    for step in range(STEPS):
        age = step % EPOCH + 1
        range_, azimuth, missed = radar.step()
        along = np.stack([np.cos(azimuth), np.sin(azimuth)], axis=1)
        across = along[:, ::-1] * [-1.0, 1.0]
        # V = (R^(-½) H Fᵗ)ᵀ, where R^(-½) H sees a position along the line of sight, and across it as 0.
        seen = np.stack([along / NOISE[0], across / (NOISE[1] * range_)[:, None]], axis=2)
        v = transition(age)[:2].T @ seen  # (count, STATE, 2)
        weights = np.repeat(np.where(missed, 0.0, FORGET**-age)[:, None], 2, axis=1)
        y += v[:, :, 0] * (weights[:, 0] * range_ / NOISE[0])[:, None]

        for bank, spent in zip(banks, times, strict=True):
            timed(spent["measured"], bank.measured, v, weights)
        estimate, *others = [timed(spent["solve"], bank.solve, y) for bank, spent in zip(banks, times, strict=True)]
        # In units in which the diagonal of Y is 1: what rounding does to x is its condition there times the error of a factor.
        scale = np.sqrt(np.diagonal(banks[1].y, axis1=1, axis2=2))
        for other in others:
            difference = np.linalg.norm(scale * (estimate - other), axis=1)
            apart = max(apart, float(np.max(difference / np.linalg.norm(scale * other, axis=1))))
        condition = max(condition, float(np.linalg.cond(banks[1].y / scale[:, :, None] / scale[:, None]).max()))
        now = estimate @ transition(age)[:2].T - radar.truth[:, :2]
        measured = range_[:, None] * along - radar.truth[:, :2]
        errors[step] = np.mean(measured**2), np.mean(now**2)

        if age == EPOCH:
            inverse = transition(-age)
            for bank, spent in zip(banks, times, strict=True):
                timed(spent["move_epoch"], bank.move_epoch, inverse, FORGET**age)
            y = FORGET**age * y @ inverse

    noise, error = np.sqrt(errors.mean(axis=0))
    print(f"{count} filters of order {STATE}, {STEPS} steps, {noise:.0f} m error of a measurement, {error:.0f} m of an estimate")
    print(f"{'ms':>10} {'measured':>10} {'solve':>10} {'move_epoch':>10}")
    for bank, spent in zip(banks, times, strict=True):
        print(f"{bank.name:>10} " + " ".join(f"{1e3 * np.median(spent[verb]):>10.3f}" for verb in verbs))
    tolerance = condition * STEPS * (STATE + 2) * np.finfo(np.float64).eps / 2.0
    print(f"estimates differ by at most {apart:.1e}, allowed are {tolerance:.1e}")
    assert apart <= tolerance
    assert error < 0.7 * noise


if __name__ == "__main__":
    main()
