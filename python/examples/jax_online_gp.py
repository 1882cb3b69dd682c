"""A Gaussian process in JAX that learns its hyperparameters online, through the updates of its sliding window.

The process is a linear model on n random Fourier features (Rahimi and Recht, 2007), which depend on a length scale l. It knows the
last W observations: with the amplitude s and the noise σ,

    A = Φᵀ Φ + (σ / s)² I,   η = Φᵀ y,   y_t ~ N(φᵀ A⁻¹ η, σ² (1 + φᵀ A⁻¹ φ)),

and a step takes the new observation in and the oldest out: A ← A + φ_new φ_newᵀ − φ_old φ_oldᵀ. The hyperparameters follow the
gradient of the log likelihood of the next m observations, each given the W before it. Since the window slides, there is no single
matrix whose determinant is this likelihood: it needs m factors, and its gradient goes through the modifications, by V (l enters the
features) and by the first L (all three). `cholupdate.jax.cholesky_update` makes both in O(n²) a step, within one compiled `scan`.
For comparison, the same program factors A in each step with `jnp.linalg.cholesky`, or keeps A⁻¹ by the formula of Sherman and
Morrison, and JAX differentiates that.

    pip install ./python jax matplotlib
    XLA_FLAGS=--xla_cpu_multi_thread_eigen=false RAYON_NUM_THREADS=1 python python/examples/jax_online_gp.py [--quick] [--plot FILE]

It prints the medians of the times of the likelihood and of its gradient, and how far the gradients are apart; then learns from a
stream whose length scale and noise change, and draws what it has learned.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

try:
    import jax
    import jax.numpy as jnp
    import matplotlib
    from matplotlib.figure import Figure
except ImportError as missing:
    raise SystemExit(f"this example needs JAX and Matplotlib: pip install jax matplotlib ({missing})") from None

from cholupdate.jax import cholesky_update

jax.config.update("jax_enable_x64", True)

Array = jax.Array
SIGNS = np.array([1.0, -1.0])  # of what comes in and what goes out


class Stream(NamedTuple):
    """W observations that are known, and m to come: places (W + m, 2), values (W + m,), frequencies (n / 2, 2)."""

    x: Array
    y: Array
    frequencies: Array


def features(theta: Array, x: Array, frequencies: Array) -> Array:
    """Φ, with Φ Φᵀ about the squared exponential kernel of length exp(theta[0])."""
    phase = (x / jnp.exp(theta[0])) @ frequencies.T
    return jnp.concatenate([jnp.cos(phase), jnp.sin(phase)], axis=-1) / np.sqrt(len(frequencies))


class Updated:
    """L, modified in each step."""

    name = "cholesky_update"

    @staticmethod
    def first(a: Array) -> Array:
        return jnp.linalg.cholesky(a)

    @staticmethod
    def solved(l: Array, phi: Array, eta: Array) -> tuple[Array, Array]:
        """φᵀ A⁻¹ η and φᵀ A⁻¹ φ."""
        half = jax.scipy.linalg.solve_triangular(l, jnp.stack([phi, eta], axis=1), lower=True)
        mean, square = half.T @ half[:, 0]
        return square, mean

    @staticmethod
    def next(l: Array, v: Array) -> Array:
        return cholesky_update(l, v, SIGNS)


class Refactored(Updated):
    """A, factored in each step."""

    name = "factor again"

    @staticmethod
    def first(a: Array) -> Array:
        return a

    @staticmethod
    def solved(a: Array, phi: Array, eta: Array) -> tuple[Array, Array]:
        return Updated.solved(jnp.linalg.cholesky(a), phi, eta)

    @staticmethod
    def next(a: Array, v: Array) -> Array:
        return a + (v * SIGNS.astype(v.dtype)) @ v.T


class Inverse(Updated):
    """A⁻¹, changed by the formula of Sherman and Morrison, once for each sign."""

    name = "inverse"

    @staticmethod
    def first(a: Array) -> Array:
        return jnp.linalg.inv(a)

    @staticmethod
    def solved(p: Array, phi: Array, eta: Array) -> tuple[Array, Array]:
        row = p @ phi
        return row @ eta, row @ phi

    @staticmethod
    def next(p: Array, v: Array) -> Array:
        for sign, column in zip(SIGNS, v.T, strict=True):
            row = p @ column
            p = p - jnp.outer(row, row) / (sign + column @ row)
        return p


def log_likelihood(form: type[Updated], window: int, theta: Array, stream: Stream) -> Array:
    """The mean of log p(y_t | the W observations before it) over the observations to come."""
    phi = features(theta, stream.x, stream.frequencies)
    noise = jnp.exp(2.0 * theta[2])
    known = phi[:window]
    a = known.T @ known + noise * jnp.exp(-2.0 * theta[1]) * jnp.eye(known.shape[1], dtype=known.dtype)

    def step(carry: tuple[Array, Array], moved: tuple[Array, Array]) -> tuple[tuple[Array, Array], Array]:
        (factor, eta), (v, values) = carry, moved  # v (n, 2)
        mean, square = form.solved(factor, v[:, 0], eta)
        variance = noise * (1.0 + square)
        density = -0.5 * (jnp.log(2.0 * np.pi * variance) + (values[0] - mean) ** 2 / variance)
        return (form.next(factor, v), eta + v @ (values * SIGNS.astype(v.dtype))), density

    here, gone = slice(window, None), slice(0, len(stream.y) - window)
    moved = (jnp.stack([phi[here], phi[gone]], axis=2), jnp.stack([stream.y[here], stream.y[gone]], axis=1))
    densities = jax.lax.scan(step, (form.first(a), known.T @ stream.y[:window]), moved)[1]
    return densities.mean()


@cache
def compiled(form: type[Updated], window: int) -> tuple[Callable[..., Array], Callable[..., tuple[Array, Array]]]:
    """The log likelihood, and it with its gradient."""
    value = partial(log_likelihood, form, window)
    return jax.jit(value), jax.jit(jax.value_and_grad(value))


def medians(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Milliseconds, of calls in turn, after one of each that is not counted."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            jax.block_until_ready(call())
            times[name].append(1e3 * (time.perf_counter() - start))
    return {name: statistics.median(each[1:]) for name, each in times.items()}


def frequencies(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((n // 2, 2))


class World:
    """Values of functions whose length scale and noise change in three periods, a new function in each."""

    periods = ((0.5, 0.1), (0.2, 0.1), (0.2, 0.3))

    def __init__(self, each: int, rng: np.random.Generator) -> None:
        self.each, count = each, each * len(self.periods)
        self.truth = np.repeat(self.periods, each, axis=0)  # (count, 2)
        self.x = rng.uniform(size=(count, 2))
        self.y = np.empty(count)
        for at, (length, noise) in enumerate(self.periods):
            rows = slice(at * each, (at + 1) * each)
            phi = features(jnp.log(jnp.array([length])), jnp.asarray(self.x[rows]), jnp.asarray(frequencies(2000, rng)))
            self.y[rows] = phi @ rng.standard_normal(2000) + noise * rng.standard_normal(each)

    def stream(self, start: int, stop: int, omega: np.ndarray) -> Stream:
        return Stream(jnp.array(self.x[start:stop]), jnp.array(self.y[start:stop]), jnp.array(omega))


def compare(n: int, window: int, steps: int, repeats: int) -> None:
    """One line for each form: times, and the distance of the gradient from that of factoring."""
    rng = np.random.default_rng(7)
    stream = World(window + steps, rng).stream(0, window + steps, frequencies(n, rng))
    theta = jnp.log(jnp.array([0.4, 1.2, 0.02]))
    forms = (Updated, Refactored, Inverse)
    values = {form.name: compiled(form, window)[0] for form in forms}
    gradients = {form.name: compiled(form, window)[1] for form in forms}
    value_ms = medians({name: partial(call, theta, stream) for name, call in values.items()}, repeats)
    ms = medians({name: partial(call, theta, stream) for name, call in gradients.items()}, repeats)

    expected = gradients[Refactored.name](theta, stream)[1]
    for name, call in gradients.items():
        apart = float(jnp.abs(call(theta, stream)[1] - expected).max() / jnp.abs(expected).max())
        print(f"{n:>5} {steps:>5} {name:>16} {value_ms[name]:>10.2f} {ms[name]:>11.2f} {apart:>8.1e}")
        assert apart <= 1e-8
    # And against differences of the likelihood.
    for at, slope in enumerate(gradients[Updated.name](theta, stream)[1]):
        ahead, back = (values[Updated.name](theta.at[at].add(by), stream) for by in (1e-4, -1e-4))
        assert abs((ahead - back) / 2e-4 - slope) <= 1e-6 * float(jnp.abs(expected).max())


def learn(world: World, n: int, window: int, steps: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """What is learned, block by block of so many steps, and the densities with and without learning."""
    omega = frequencies(n, rng)
    (likelihood, call), (_, refactored) = compiled(Updated, window), compiled(Refactored, window)
    fixed = theta = jnp.log(jnp.array([world.periods[0][0], 1.0, world.periods[0][1]]))
    mean, square = jnp.zeros(3), jnp.zeros(3)
    found: dict[str, list[Any]] = {"step": [], "theta": [], "density": [], "fixed": [], "apart": []}
    for block, start in enumerate(range(0, len(world.y) - window - steps + 1, steps)):
        stream = world.stream(start, start + window + steps, omega)
        density, gradient = call(theta, stream)
        for name, value in (("step", start + window + steps), ("theta", theta), ("density", density)):
            found[name].append(value)
        found["fixed"].append(likelihood(fixed, stream))
        if block % 8 == 0:
            expected = refactored(theta, stream)[1]
            found["apart"].append(jnp.abs(gradient - expected).max() / jnp.abs(expected).max())
        # Adam (Kingma and Ba, 2015), one step a block, on gradients of length 1 at most: a new function is a surprise for some blocks.
        gradient = gradient / jnp.maximum(jnp.linalg.norm(gradient), 1.0)
        mean, square = 0.8 * mean + 0.2 * gradient, 0.9 * square + 0.1 * gradient**2
        corrected = mean / (1 - 0.8 ** (block + 1)), square / (1 - 0.9 ** (block + 1))
        theta = theta + 0.1 * corrected[0] / (jnp.sqrt(corrected[1]) + 1e-2)
    return {name: np.array(each) for name, each in found.items()}


BLUE, GREY = "#1f5fa8", "#8a8a8a"


def draw(found: dict[str, np.ndarray], world: World, to: Path) -> None:
    matplotlib.rcParams.update({"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "gp", "font.family": "sans-serif"})
    figure = Figure(figsize=(8, 5.4), facecolor="white", layout="constrained")
    charts = figure.subplots(3, sharex=True)
    shown = np.arange(found["step"][0], found["step"][-1])
    learned = np.exp(found["theta"])
    rows = [("length scale", learned[:, 0], world.truth[shown, 0]), ("noise", learned[:, 2], world.truth[shown, 1])]
    for chart, (name, line, truth) in zip(charts, rows, strict=False):
        chart.plot(shown, truth, color=GREY, linewidth=1, label="truth")
        chart.plot(found["step"], line, color=BLUE, label="learned")
        chart.set(ylabel=name, yscale="log")
        chart.yaxis.set_major_formatter("{x:g}")
        chart.yaxis.set_minor_formatter("")
        chart.set_yticks([0.1, 0.2, 0.4])
    charts[2].plot(found["step"], found["fixed"], color=GREY, label="fixed")
    charts[2].plot(found["step"], found["density"], color=BLUE, label="learned")
    charts[2].set(ylabel="log likelihood", xlabel="observation", ylim=(max(found["fixed"].min(), -6.0), None))
    for chart in charts:
        chart.grid(axis="y", color="#e6e6e6")
        chart.spines[["top", "right"]].set_visible(False)
    charts[0].legend(frameon=False)
    charts[2].legend(frameon=False, loc="lower left")
    to.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(to, metadata={"Date": None})
    print(f"plot in {to}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few features and steps, for a test")
    parser.add_argument("--plot", type=Path, default=Path("target/jax_online_gp.svg"))
    given = parser.parse_args()

    print("log likelihood of the steps of a window, and its gradient")
    print(f"{'n':>5} {'steps':>5} {'':>16} {'value ms':>10} {'gradient ms':>11} {'apart':>8}")
    for n in (32,) if given.quick else (64, 128, 256, 512):
        compare(n, window=2 * n, steps=16 if given.quick else 64, repeats=2 if given.quick else 9)

    n, window, steps, each = (32, 64, 16, 192) if given.quick else (256, 512, 64, 3072)
    rng = np.random.default_rng(20)
    world = World(each, rng)
    start = time.perf_counter()
    found = learn(world, n, window, steps, rng)
    spent = time.perf_counter() - start
    late = found["step"] > each
    density, fixed = found["density"][late].mean(), found["fixed"][late].mean()
    print(f"{len(world.y)} observations, {window} in the window, {n} features, {len(found['step'])} gradients, {spent:.0f} s")
    print(f"gradients differ from those of factoring by at most {found['apart'].max():.1e}")
    print(f"log likelihood of an observation after the first period: {density:.3f} learned, {fixed:.3f} fixed")
    assert found["apart"].max() <= 1e-8
    assert density > fixed
    draw(found, world, given.plot)


if __name__ == "__main__":
    main()
