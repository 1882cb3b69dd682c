"""A bank of square-root Kalman filters in JAX: `lax.scan` over time, `vmap` over filters, and the gradient through both.

Each filter estimates phases and frequencies of four clocks, of which only differences are measured, by links of known quality. Their common error against true
time is not observable: it is 10,000 times as large as what the differences allow, and grows. So P is ill-conditioned, by nature.
P = L Lᵀ, with frequencies before phases in the state, where the transition F is lower triangular, as those of all chains of
integrators are in this order. Then a step is

    L ← F L,   P ← P + Q: an update of the rank of Q,   P ← P − W Wᵀ: a downdate, W = L (H L)ᵀ S^(-T/2),   S = R + H P Hᵀ,

without a QR factorization: three calls of `cholupdate.jax.cholesky_update`, one of which makes S^½ from R^½ and H L. For
comparison there is the array form, two QR factorizations by `jnp.linalg.qr` that replace these, and the covariance form, which
stores P. All of them give the log likelihood of the measurements, whose gradient by the noise of the clocks fits a model.

    pip install ./python jax
    XLA_FLAGS=--xla_cpu_multi_thread_eigen=false RAYON_NUM_THREADS=1 python python/examples/kalman_scan.py [--quick] [--filters 1000]

For each form it prints, in double and in single precision, the medians of the times of the log likelihood of all filters and of its
gradient, how many filters have failed (a variance that is not positive, or NaN), and the largest relative errors, against the array
form in double precision, of the deviations of the differences of clocks and of the gradient. It checks that the square-root forms agree,
and the gradient against finite differences.

A downdate has its limit as well: a measurement that is 1 / u times as precise as its prediction, 10⁷ times in single precision, may
leave no digit of P, and breaks down. The array form has no such limit.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

try:
    import jax
    import jax.numpy as jnp
except ImportError as missing:
    raise SystemExit(f"this example needs JAX: pip install jax ({missing})") from None

from cholupdate.jax import cholesky_update

jax.config.update("jax_enable_x64", True)

Array = jax.Array
CLOCKS, ORDER = 4, 8
COMMON = 1e4  # deviation of the common phase; of phases apart from it it is 1
TRUTH = np.log([0.3, 0.02, 0.5])  # deviations of the noise of phases, of frequencies, and of the measurements
F = np.kron([[1.0, 0.0], [1.0, 1.0]], np.eye(CLOCKS))
H = np.concatenate(
    [np.zeros((CLOCKS - 1, CLOCKS)), -np.ones((CLOCKS - 1, 1)), np.eye(CLOCKS - 1)], axis=1
)  # against the first clock
PRIOR = np.block(
    [
        [0.01 * np.eye(CLOCKS), np.zeros((CLOCKS, CLOCKS))],
        [np.zeros((CLOCKS, CLOCKS)), np.eye(CLOCKS) + COMMON**2 * np.ones((CLOCKS, CLOCKS))],
    ]
)


class Filter(NamedTuple):
    """x, and L or P."""

    x: Array
    p: Array


class Known(NamedTuple):
    """The model in the precision of the filter: F, H, and the diagonals of Q^½ and R^½."""

    f: Array
    h: Array
    q: Array
    r: Array


def likelihood(s_root: Array, innovation: Array) -> tuple[Array, Array]:
    """S^-½ (z − H x), and log p(z) by it."""
    white = jax.scipy.linalg.solve_triangular(s_root, innovation, lower=True)
    log_det = jnp.log(jnp.abs(jnp.diagonal(s_root))).sum()
    return white, -0.5 * (white @ white + len(white) * np.log(2.0 * np.pi)) - log_det


class Updated:
    name = "cholesky_update"

    @staticmethod
    def first(p: np.ndarray) -> np.ndarray:
        return np.linalg.cholesky(p)

    @staticmethod
    def predicted(known: Known, l: Array) -> Array:
        return cholesky_update(known.f @ l, jnp.diag(known.q))

    @staticmethod
    def measured(known: Known, l: Array) -> tuple[Array, Array, Array]:
        """S^½, W and the next L."""
        seen = known.h @ l
        s_root = cholesky_update(jnp.diag(known.r), seen)
        w = jax.scipy.linalg.solve_triangular(s_root, seen @ l.T, lower=True).T
        return s_root, w, cholesky_update(l, w, downdate=True, on_breakdown="nan")


class Arrays(Updated):
    name = "QR"

    @staticmethod
    def predicted(known: Known, l: Array) -> Array:
        return jnp.linalg.qr(jnp.concatenate([(known.f @ l).T, jnp.diag(known.q)]), mode="r").T

    @staticmethod
    def measured(known: Known, l: Array) -> tuple[Array, Array, Array]:
        m = CLOCKS - 1
        left = jnp.concatenate([jnp.diag(known.r), jnp.zeros((ORDER, m), l.dtype)])
        right = jnp.concatenate([jnp.zeros((m, ORDER), l.dtype), l.T])
        array = jnp.linalg.qr(jnp.concatenate([left.at[m:].set((known.h @ l).T), right], axis=1), mode="r").T
        return array[:m, :m], array[m:, :m], array[m:, m:]


class Covariances(Updated):
    name = "covariance"

    @staticmethod
    def first(p: np.ndarray) -> np.ndarray:
        return p

    @staticmethod
    def predicted(known: Known, p: Array) -> Array:
        return known.f @ p @ known.f.T + jnp.diag(known.q**2)

    @staticmethod
    def measured(known: Known, p: Array) -> tuple[Array, Array, Array]:
        seen = known.h @ p
        s_root = jnp.linalg.cholesky(seen @ known.h.T + jnp.diag(known.r**2))
        w = jax.scipy.linalg.solve_triangular(s_root, seen, lower=True).T
        return s_root, w, p - w @ w.T


def filtered(form: type[Updated], theta: Array, start: Filter, links: Array, z: Array) -> tuple[Array, Filter]:
    """The log likelihood of z (steps, 3) by one filter, and its last state. The noise of its links (3,) is in units of the third."""
    deviations = jnp.exp(theta)
    known = Known(
        jnp.asarray(F, theta.dtype), jnp.asarray(H, theta.dtype), jnp.repeat(deviations[1::-1], CLOCKS), deviations[2] * links
    )

    def step(state: Filter, measurement: Array) -> tuple[Filter, Array]:
        x, p = known.f @ state.x, form.predicted(known, state.p)
        s_root, w, p = form.measured(known, p)
        white, density = likelihood(s_root, measurement - known.h @ x)
        return Filter(x + w @ white, p), density

    last, densities = jax.lax.scan(step, start, z)
    return densities.sum(), last


def bank(form: type[Updated], theta: Array, start: Filter, links: Array, z: Array) -> tuple[Array, Filter]:
    """The log likelihoods (filters,) of z (filters, steps, 3), and the last states."""
    return jax.vmap(partial(filtered, form, theta, start))(links, z)


def mean(form: type[Updated], theta: Array, start: Filter, links: Array, z: Array) -> Array:
    """The log likelihood of a step of one filter."""
    return bank(form, theta, start, links, z)[0].mean() / z.shape[1]


def measurements(filters: int, steps: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Links (filters, 3), and what they measure (filters, steps, 3) of clocks that are as TRUTH says."""
    phase, frequency, noise = np.exp(TRUTH)
    links = rng.uniform(0.5, 2.0, (filters, CLOCKS - 1))
    state = rng.standard_normal((filters, ORDER)) @ np.linalg.cholesky(PRIOR).T
    z = np.empty((filters, steps, CLOCKS - 1))
    for step in range(steps):
        state = state @ F.T + rng.standard_normal(state.shape) * np.repeat([frequency, phase], CLOCKS)
        z[:, step] = state @ H.T + noise * links * rng.standard_normal((filters, CLOCKS - 1))
    return links, z


def medians(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Milliseconds, of calls in turn, after one of each that is not counted."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            jax.block_until_ready(call())
            times[name].append(1e3 * (time.perf_counter() - start))
    return {name: statistics.median(each[1:]) for name, each in times.items()}


FORMS = (Arrays, Updated, Covariances)


def arguments(form: type[Updated], links: np.ndarray, z: np.ndarray, dtype: Any) -> tuple[Array, Filter, Array, Array]:
    start = Filter(jnp.zeros(ORDER, dtype), jnp.asarray(form.first(PRIOR), dtype))
    return jnp.asarray(TRUTH + 0.1, dtype), start, jnp.asarray(links, dtype), jnp.asarray(z, dtype)


def deviations(form: type[Updated], p: np.ndarray) -> np.ndarray:
    """Of the estimated differences of the clocks (filters, 3), by P or a root of it. NaN where a variance is not positive."""
    variances = np.einsum("ij,bjk,ik->bi", H, p, H) if form is Covariances else ((H @ p) ** 2).sum(axis=2)
    return np.sqrt(np.where(variances > 0.0, variances, np.nan))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few filters and steps, for a test")
    parser.add_argument("--filters", type=int, default=1000)
    given = parser.parse_args()
    filters, steps, repeats = (16, 30, 1) if given.quick else (given.filters, 100, 7)
    links, z = measurements(filters, steps, np.random.default_rng(20))
    print(f"{filters} filters of order {ORDER}, {steps} steps of {CLOCKS - 1} measurements, deviations from 1 to {COMMON:.0e}")
    print(f"{'':>16} {'precision':>9} {'value ms':>9} {'gradient ms':>11} {'failed':>7} {'deviations':>10} {'gradient':>9}")

    programs = {form: (jax.jit(partial(bank, form)), jax.jit(jax.grad(partial(mean, form)))) for form in FORMS}
    expected: tuple[np.ndarray, np.ndarray] | None = None
    for dtype in (np.float64, np.float32):
        inputs = {form: arguments(form, links, z, dtype) for form in FORMS}
        value_ms, ms = (
            medians({form.name: partial(programs[form][at], *inputs[form]) for form in FORMS}, repeats) for at in (0, 1)
        )
        for form in FORMS:
            values, last = programs[form][0](*inputs[form])
            gradient = np.asarray(programs[form][1](*inputs[form]), np.float64)
            spread = deviations(form, np.asarray(last.p, np.float64))
            good = np.isfinite(np.asarray(values)) & np.isfinite(spread).all(axis=1)
            if expected is None:  # that of the first form, in double precision
                expected = spread, gradient
            of_spread = np.abs(spread / expected[0] - 1.0)[good].max(initial=0.0) if good.any() else np.nan
            of_gradient = np.abs(gradient - expected[1]).max() / np.abs(expected[1]).max()
            print(
                f"{form.name:>16} {np.dtype(dtype).name:>9} {value_ms[form.name]:>9.2f} {ms[form.name]:>11.2f} {filters - good.sum():>7} "
                f"{of_spread:>10.1e} {of_gradient:>9.1e}"
            )
            if form is not Covariances:
                # Roundoff times the condition of L, as for least squares.
                tolerance = COMMON * np.sqrt(steps) * np.finfo(dtype).eps
                assert good.all() and of_spread <= tolerance and of_gradient <= tolerance
            else:
                assert good.all() == (dtype == np.float64)

    # The gradient against finite differences.
    theta, *others = arguments(Updated, links, z, np.float64)
    apart = 0.0
    for at, slope in enumerate(programs[Updated][1](theta, *others)):
        ahead, back = (programs[Updated][0](theta.at[at].add(by), *others)[0].mean() / steps for by in (1e-4, -1e-4))
        apart = max(apart, abs(float((ahead - back) / 2e-4 - slope)))
    print(f"the gradient differs from finite differences by at most {apart:.1e}")
    assert apart <= 1e-6


if __name__ == "__main__":
    main()
