# %% [markdown]
"""A Gaussian process that learns the CO2 record of Mauna Loa online: error and time against steps.

Each step learns four weeks (`Cholesky.append`), forgets all but the last 780 observations (`Cholesky.remove`), and forecasts
four weeks a year later. For comparison each step also factors its matrix with `scipy.linalg.cho_factor`, three times, of which the
fastest counts; a change is made once. The cells open in Jupyter or an editor that supports `# %%`; as a script:

    pip install ./python matplotlib scipy threadpoolctl
    python python/examples/online_gp_notebook.py [--quick] [--plot target/online_gp.png]

It prints the medians of the two times, the differences of L Lᵀ and of the forecasts from those of a new factor, and the errors of the
forecasts and of a naive forecast, checks the differences against bounds, and draws all of them by step. Both use one thread.
"""

# %%
from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.linalg import cho_factor, cho_solve
from threadpoolctl import threadpool_limits

import cholupdate as cu

parser = argparse.ArgumentParser(description="error and time of an online Gaussian process against steps")
parser.add_argument("--quick", action="store_true", help="few steps, for a test")
parser.add_argument("--plot", type=Path, default=Path("target/online_gp.png"))
arguments = parser.parse_known_args()[0]  # Jupyter has arguments of its own
threadpool_limits(1)

# %% [markdown]
# ## The record, and a covariance for it
# Weekly means in ppm since March 1958; weeks without a measurement are left out. Form and parameters of the covariance are those
# of Rasmussen and Williams, *Gaussian Processes for Machine Learning* (2006), section 5.4.3.

# %%
BLOCK, WINDOW, YEAR = 4, 780, 52
NOISE = 4.0 * 0.19**2  # ppm², of one week: four of them make a month, whose noise is known

lines = (Path(__file__).parents[2] / "examples/data/mauna_loa_co2.csv").read_text().splitlines()
entries = [line.split(",")[1] for line in lines if line[:1].isdigit()]
measured = {week: float(ppm) for week, ppm in enumerate(entries) if ppm}
record = np.array(list(measured))


def covariance(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Of the concentrations in two lists of weeks, ppm²."""
    years = np.abs(np.subtract.outer(rows, columns)) * 7.0 / 365.25

    def gauss(amplitude: float, length: float) -> np.ndarray:
        return amplitude**2 * np.exp(-0.5 * (years / length) ** 2)

    season = gauss(2.4, 90.0) * np.exp(-2.0 * (np.sin(np.pi * years) / 1.3) ** 2)
    medium = 0.66**2 * (1.0 + years**2 / (2.0 * 0.78 * 1.2**2)) ** -0.78
    return gauss(66.0, 67.0) + season + medium + gauss(0.18, 1.6 / 12.0)


def with_noise(weeks: np.ndarray) -> np.ndarray:
    return covariance(weeks, weeks) + NOISE * np.eye(weeks.size)


# %% [markdown]
# ## Learn, forget, forecast

# %%
known = record[: 3 * YEAR]
rest = record[3 * YEAR : record.searchsorted(record[-1] - YEAR)]
rest = rest[: 20 * BLOCK] if arguments.quick else rest
factor = cu.Cholesky(with_noise(known), threads=1)
factor.reserve(WINDOW + BLOCK - known.size)

kept_ms, fresh_ms, residuals, bounds, forecasts_apart, errors, guesses, sizes = ([] for _ in range(8))
for step in range(rest.size // BLOCK):
    new = rest[step * BLOCK : (step + 1) * BLOCK]
    cross, corner = covariance(known, new), with_noise(new)
    old = range(max(known.size + BLOCK - WINDOW, 0))
    start = time.perf_counter()
    factor.append(cross, corner)
    factor.remove(old)
    kept_ms.append(1e3 * (time.perf_counter() - start))
    known = np.concatenate([known, new])[len(old) :]

    a = with_noise(known)
    times = []
    for _ in range(3):
        place = np.array(a, order="F")
        start = time.perf_counter()
        fresh = cho_factor(place, lower=True, overwrite_a=True, check_finite=False)
        times.append(1e3 * (time.perf_counter() - start))
    fresh_ms.append(min(times))

    ppm = np.array([measured[week] for week in known])
    later = new + YEAR
    cross = covariance(known, later)
    forecast = ppm.mean() + cross.T @ factor.solve(ppm - ppm.mean())
    reference = ppm.mean() + cross.T @ cho_solve(fresh, ppm - ppm.mean())
    forecasts_apart.append(np.abs(forecast - reference).max())
    residuals.append(np.abs(factor.reconstruct() - a).max() / a.max())
    # Each of the two changes of a step leaves an error of (n + r) u at most, and they add up as random errors do.
    bounds.append(np.sqrt(2.0 * (step + 1)) * (WINDOW + BLOCK) * np.finfo(np.float64).eps / 2.0)

    # The naive forecast: the rise of the last year is repeated.
    seen = [i for i, week in enumerate(later) if {week, week - YEAR, week - 2 * YEAR} <= measured.keys()]
    truth = np.array([measured[later[i]] for i in seen])
    guess = np.array([2 * measured[later[i] - YEAR] - measured[later[i] - 2 * YEAR] for i in seen])
    errors.append(np.mean((forecast[seen] - truth) ** 2) if seen else np.nan)
    guesses.append(np.mean((guess - truth) ** 2) if seen else np.nan)
    sizes.append(known.size)

# %%
full = [i for i, n in enumerate(sizes) if n == max(sizes)]
kept_time, fresh_time = np.median(np.array([kept_ms, fresh_ms])[:, full], axis=1)
print(f"{len(sizes)} steps of {BLOCK} observations, of which the last {max(sizes)} are kept")
ratio = fresh_time / kept_time
print(f"append and remove {kept_time:.2f} ms, refactorizing {fresh_time:.2f} ms: {ratio:.1f} times as fast (medians)")
print(f"largest entry of L L^T - A: {max(residuals):.1e} of the largest of A, the bound is {bounds[-1]:.1e}")
print(f"forecasts differ by at most {max(forecasts_apart):.1e} ppm")
rms, rms_guess = np.sqrt(np.nanmean(errors)), np.sqrt(np.nanmean(guesses))
print(f"error a year ahead {rms:.2f} ppm (RMS), of a guess {rms_guess:.2f}")
assert np.all(np.array(residuals) <= bounds)
# The condition of A is at most n times its largest entry over the noise; times u it bounds what rounding does to a forecast.
condition = max(sizes) * covariance(record[:1], record[:1])[0, 0] / NOISE + 1.0
assert max(forecasts_apart) <= condition * np.finfo(np.float64).eps / 2.0 * max(measured.values())

# %% [markdown]
# ## Error and time against steps

# %%
BLUE, GREY = "#1f5fa8", "#8a8a8a"
matplotlib.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left"})


def smooth(values: list[float], what: Callable[..., Any], width: int = YEAR // BLOCK) -> np.ndarray:
    """The mean or median over the last year of steps, or over what there is of it."""
    return np.array([what(values[max(i + 1 - width, 0) : i + 1]) for i in range(len(values))])


def label(axes: Axes, y: float, text: str, color: str) -> None:
    """Names a line at its right end."""
    place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "xytext": (4, 0), "textcoords": "offset points", "va": "center"}
    axes.annotate(text, (1.0, y), color=color, **place)


steps = np.arange(1, len(sizes) + 1)
figure = Figure(figsize=(8, 7.5), layout="constrained")
top, middle, bottom = figure.subplots(3, sharex=True)

middle.plot(steps, smooth(fresh_ms, np.median), color=GREY)
middle.plot(steps, smooth(kept_ms, np.median), color=BLUE)
middle.set(yscale="log", ylabel="time (ms)", title="Time of a step, median over a year of steps")
middle.yaxis.set_major_formatter("{x:g}")
label(middle, float(fresh_time), "factor again\n(SciPy)", GREY)
label(middle, float(kept_time), "append\nand remove", BLUE)

for series, color, text in [(guesses, GREY, "guess: last\nyear's rise"), (errors, BLUE, "Gaussian\nprocess")]:
    line = np.sqrt(smooth(series, np.nanmean))
    top.plot(steps, line, color=color)
    label(top, line[-1], text, color)
top.set(ylabel="error (ppm)", ylim=(0, None), title="Error of forecasts a year ahead, RMS over a year of steps")

bottom.plot(steps, bounds, "--", color=GREY)
bottom.plot(steps, residuals, color=BLUE)
label(bottom, bounds[-1], "bound", GREY)
label(bottom, residuals[-1], "append\nand remove", BLUE)
bottom.set(yscale="log", ylabel="relative error", title="Rounding: largest entry of L Lᵀ − A, relative to the largest of A")
bottom.set_xlabel("step (four weeks each, 1961 to 2000)")
for axes in (top, middle, bottom):
    axes.grid(axis="y", color="#e6e6e6")
    axes.set_axisbelow(True)
    if full[0]:
        axes.axvline(full[0] + 1, color=GREY, linewidth=1, linestyle=":")
if full[0]:
    where: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "xytext": (4, 0), "textcoords": "offset points", "va": "top"}
    top.annotate(f"from here on {max(sizes)} observations", (full[0] + 1, 1.0), color=GREY, **where)
figure.align_ylabels()

arguments.plot.parent.mkdir(parents=True, exist_ok=True)
figure.savefig(arguments.plot, dpi=120)
print(f"plot in {arguments.plot}")
