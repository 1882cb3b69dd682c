"""Times of an update against refactorizing with SciPy and NumPy, and against hyhound, all in this process.

For every order and rank the calls of the candidates are interleaved, so that other load of the machine affects all of them
equally; a time is the median. Every candidate updates the factor of its own last call, so that no candidate has an advantage by
the caches. Besides the times it prints the largest error of each candidate's first factor, max |L'L'ᵀ − (A + V Vᵀ)|_ij / √(a_ii
a_jj), so that a wrong result cannot pass as a fast one.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 RAYON_NUM_THREADS=1 python benches/compare.py
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import hyhound
import numpy as np
import scipy.linalg

import cholupdate as cu


class Candidate:
    """Computes L' by `run`, which is timed, after `prepare`, which is not."""

    def __init__(
        self,
        name: str,
        run: Callable[[], Any],
        result: Callable[[Any], Any],
        prepare: Callable[[], Any] = lambda: None,
    ) -> None:
        self.name, self.run, self.result, self.prepare = name, run, result, prepare
        self.times: list[float] = []
        self.error = np.nan


def candidates(a: Any, l: Any, v: Any) -> list[Candidate]:
    f = cu.Cholesky.from_factor(l, threads=1)
    r = np.ascontiguousarray(l.T)
    work, overwritten = np.array(l, order="F"), np.array(v, order="F")

    def copy_v() -> None:
        overwritten[...] = v

    def scipy_again() -> Any:
        return scipy.linalg.cholesky(a + v @ v.T, lower=True, overwrite_a=True, check_finite=False)

    return [
        Candidate("Cholesky.update", lambda: f.update(v), lambda _: f.factor()),
        Candidate(
            "cholesky_update", lambda: cu.cholesky_update(r, v, upper=True, overwrite_l=True), lambda made: made.T
        ),
        Candidate(
            "hyhound",
            lambda: hyhound.update_cholesky_inplace(work, overwritten),
            lambda _: np.tril(work),
            copy_v,
        ),
        Candidate("scipy", scipy_again, lambda made: made),
        Candidate("numpy", lambda: np.linalg.cholesky(a + v @ v.T), lambda made: made),
    ]


def error(l: Any, wanted: Any) -> float:
    d = np.sqrt(np.diag(wanted))
    return float(np.max(np.abs(l @ l.T - wanted) / np.outer(d, d)))


def measure(n: int, k: int, seconds: float) -> list[Candidate]:
    random = np.random.default_rng(n + k)
    x = random.standard_normal((n, n))
    a = x @ x.T / n + np.eye(n)
    l = np.linalg.cholesky(a)
    v = np.asfortranarray(random.standard_normal((n, k)) / np.sqrt(k))
    all_ = candidates(a, l, v)
    for candidate in all_:
        candidate.prepare()
        candidate.error = error(candidate.result(candidate.run()), a + v @ v.T)
        assert candidate.error < 1e-12, (candidate.name, candidate.error)
    end = time.perf_counter() + seconds
    turns = 0
    while turns < 5 or (time.perf_counter() < end and turns < 2000):
        for candidate in all_:
            candidate.prepare()
            start = time.perf_counter()
            candidate.run()
            candidate.times.append(time.perf_counter() - start)
        turns += 1
    return all_


def in_words(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def main() -> None:
    parser = argparse.ArgumentParser(description="Times of an update of rank k of a factor of order n, on one thread.")
    parser.add_argument("--orders", type=int, nargs="+", default=[64, 256, 1000, 4000])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--seconds", type=float, default=3.0, help="for each order and rank")
    given = parser.parse_args()
    header = False
    for n in given.orders:
        for k in given.ranks:
            found = measure(n, k, given.seconds)
            if not header:
                print("| n | k | " + " | ".join(candidate.name for candidate in found) + " | errors |")
                print("|---" * (len(found) + 3) + "|")
                header = True
            times = " | ".join(in_words(statistics.median(candidate.times)) for candidate in found)
            errors = ", ".join(f"{candidate.error:.0e}" for candidate in found)
            print(f"| {n} | {k} | {times} | {errors} |", flush=True)


if __name__ == "__main__":
    main()
