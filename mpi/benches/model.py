"""How far a distributed modification scales: a model fitted to the output of the benchmark `distributed`, and its plot.

    python mpi/benches/model.py docs/benchmarks/mpi_xeon.txt docs/distributed.svg

    T(n, k, P) = a_k N + (n/b) (alpha + s/B) + c_k n^2 / P

N panels of w columns form a chain: each takes a_k for the diagonal step and the next diagonal rows. Every b columns it goes on to
another process, with a message of s bytes. The rows take c_k n^2 on one machine. a_k and c_k are fitted to the times of updates on
processes of 4 threads; alpha = 2 us and B = 25 GB/s are those of a network, not of the machine measured.
"""

import math
import re
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np

BLOCK = 256
ALPHA, BANDWIDTH = 2e-6, 25e9


def panels(order: int, rank: int) -> int:
    """Panels of an update, each inside a block of rows."""
    width = 64 if rank <= 2 else 48
    return order // BLOCK * math.ceil(BLOCK / width)


def message(rank: int) -> float:
    """Bytes: the block reflectors of a panel, its pivots and its outcome."""
    return 8 * (48 * (rank + 10) if rank > 2 else 64 * 12) + 200


def times(path: str) -> dict[tuple[int, int], list[tuple[int, int, float]]]:
    """For (processes, threads): orders, ranks and seconds of an update."""
    found: dict[tuple[int, int], list[tuple[int, int, float]]] = {}
    for line in open(path, encoding="utf-8"):
        head = re.match(r"(\d+) processes of (\d+) threads", line)
        if head:
            key = (int(head[1]), int(head[2]))
        elif (fields := line.split()) and len(fields) == 11 and fields[0].isdigit():
            found.setdefault(key, []).append((int(fields[0]), int(fields[1]), 1e-3 * float(fields[2])))
    return found


def fit(found: dict[tuple[int, int], list[tuple[int, int, float]]], rank: int) -> tuple[float, float, float]:
    """a_k, c_k of 32 threads, and the largest relative difference."""
    rows, right = [], []
    for column, key in enumerate([(4, 4), (8, 4)]):
        for order, k, seconds in found[key]:
            if k == rank:
                row = [panels(order, k), 0.0, 0.0]
                row[1 + column] = order**2
                rows.append([x / seconds for x in row])
                right.append(1.0)
    solution = np.linalg.lstsq(np.array(rows), np.array(right), rcond=None)[0]
    off = float(np.abs(np.array(rows) @ solution - 1.0).max())
    return float(solution[0]), float(solution[2]), off


def main() -> None:
    found = times(sys.argv[1])
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=False)
    machines = np.logspace(0, 12, 49, base=2)
    print("| k | a_k, µs | c_k, ps | fit within |")
    print("|---|---|---|---|")
    fitted = {rank: fit(found, rank) for rank in (1, 16, 64)}
    for rank, (a, c, off) in fitted.items():
        print(f"| {rank} | {1e6 * a:.0f} | {1e12 * c:.0f} | {100 * off:.0f} % |")
    print("\n| n | k | 1 machine | 64 | 1024 | the chain alone | half of it from |")
    print("|---|---|---|---|---|---|---|")
    for axis, order in zip(axes, (100_000, 1_000_000)):
        for rank, (a, c, _) in fitted.items():
            crossing = ALPHA + message(rank) / BANDWIDTH
            chain = panels(order, rank) * a + order / BLOCK * crossing
            total = [chain * (count > 1) + panels(order, rank) * a * (count == 1) + c * order**2 / count for count in machines]
            at = {count: chain + c * order**2 / count for count in (1, 64, 1024)}
            print(f"| {order} | {rank} | " + " | ".join(f"{at[count]:.3f} s" for count in (1, 64, 1024)), end="")
            print(f" | {chain:.3f} s | {c * order**2 / chain:.0f} machines |")
            axis.loglog(machines, total, label=f"k = {rank}")
            axis.axhline(chain, color=axis.lines[-1].get_color(), linewidth=0.7, linestyle=":")
        axis.set_title(f"n = {order:,}")
        axis.set_xlabel("machines of 32 cores")
        axis.set_ylabel("an update, s")
        axis.grid(alpha=0.3)
        axis.legend()
    figure.tight_layout()
    figure.savefig(sys.argv[2])


if __name__ == "__main__":
    main()
