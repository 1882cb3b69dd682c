"""The time for one matrix by the number of matrices of a batch: measured, as in `batch.py`, and drawn.

An update of rank 1 in double precision against factoring the stack of A + v vᵀ again, for some orders. Sizes for which the stacks
of the peers would need more than `--gib` of memory are measured without them; the whole needs some 14 GB. It writes a CSV and an
SVG; with `--draw` it draws the CSV and measures nothing.

    pip install matplotlib numpy torch jax      # PyTorch and JAX are left out where they are missing
    python benches/batch_sizes.py [--orders 8 32] [--largest 1000000] [--gib 8] [--seconds 1]
"""

from __future__ import annotations

import argparse
import csv
import datetime
import statistics
import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from batch import Given, about, again, measure, ours
from matplotlib.figure import Figure

DOCS = Path(__file__).parents[2] / "docs"
COLUMNS = ("n", "matrices", "method", "ns", "residual")
# This package is thick, all threads are dashed.
STROKES: dict[str, dict[str, Any]] = {
    "CholeskyBatch, 1 thread": {"color": "#d62728", "linewidth": 2.5},
    "CholeskyBatch, all threads": {"color": "#d62728", "linewidth": 2.5, "linestyle": "--"},
    "numpy cholesky": {"color": "#2ca02c"},
    "torch cholesky_ex, 1 thread": {"color": "#1f77b4"},
    "torch cholesky_ex, all threads": {"color": "#1f77b4", "linestyle": "--"},
    "jax vmap(cholesky)": {"color": "#9467bd"},
}


def sizes(largest: int) -> list[int]:
    """10, 32, 100, ..."""
    halves = range(2, 2 * len(str(largest)))
    return [size for size in (round(10 ** (half / 2)) for half in halves) if size <= largest]


def measured(n: int, count: int, seconds: float, gib: float) -> tuple[list[dict[str, Any]], bool]:
    """The lines of one order and size, and whether all results are right."""
    given = Given(count, n, 1, np.dtype(np.float64))
    all_ = list(ours(given))
    # The stack, JAX's copy of it, and a result.
    if 3 * 8 * n * n * count <= gib * 2**30:
        all_ += again(given.updated())
    is_right = measure(given, all_, seconds)
    lines: list[dict[str, Any]] = []
    for each in all_:
        ns = f"{1e9 * statistics.median(each.times[0]) / count:.5g}"
        lines.append(dict(zip(COLUMNS, (n, count, each.name, ns, f"{each.residual:.1e}"), strict=True)))
        print("  ".join(str(value) for value in lines[-1].values()), flush=True)
    return lines, is_right


def draw(path: Path, to: Path) -> None:
    """Curves by method, a chart for each order."""
    head, *rest = path.read_text().splitlines()
    lines = list(csv.DictReader(rest))
    matplotlib.rcParams.update({"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "batch", "font.family": "sans-serif"})
    orders = sorted({int(line["n"]) for line in lines})
    figure = Figure(figsize=(5.2 * len(orders) + 2.6, 4.6), facecolor="white", layout="constrained")
    figure.suptitle(head.lstrip("# "), fontsize=8)
    charts = figure.subplots(1, len(orders), squeeze=False)[0]
    for chart, n in zip(charts, orders, strict=True):
        for method, stroke in STROKES.items():
            points = [(int(l["matrices"]), float(l["ns"])) for l in lines if int(l["n"]) == n and l["method"] == method]
            if points:
                chart.plot(*zip(*points, strict=True), label=method, marker=".", **stroke)
        chart.set(xscale="log", yscale="log", xlabel="matrices", title=f"n = {n}, k = 1, f64")
        chart.grid(color="#cccccc", linewidth=0.5)
        chart.spines[["top", "right"]].set_visible(False)
    charts[0].set_ylabel("ns for one matrix")
    figure.legend(*charts[0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    figure.savefig(to, metadata={"Date": None})
    print(f"{to} drawn")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--orders", type=int, nargs="+", default=[8, 32])
    parser.add_argument("--largest", type=int, default=10**6, help="number of matrices")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each candidate of a size")
    parser.add_argument("--gib", type=float, default=8.0, help="memory for the stacks of the peers")
    parser.add_argument("--csv", type=Path, default=DOCS / "batch_sizes.csv")
    parser.add_argument("--svg", type=Path, default=DOCS / "batch_sizes.svg")
    parser.add_argument("--draw", action="store_true", help="draw the CSV, measure nothing")
    given = parser.parse_args()
    is_right = True
    if not given.draw:
        head = f"# {about()}; {datetime.date.today()}"
        print(head)
        found = [measured(n, count, given.seconds, given.gib) for n in given.orders for count in sizes(given.largest)]
        is_right = all(right for _, right in found)
        with given.csv.open("w", newline="") as file:
            file.write(head + "\n")
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(line for lines, _ in found for line in lines)
    draw(given.csv, given.svg)
    if not is_right:
        print("WRONG: a residual is above max(n + k, 12) u")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
