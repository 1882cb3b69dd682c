"""Times of a batch of small factors against factoring a stack again with NumPy, PyTorch and JAX, all in this process, on the CPU.

For every order and rank the candidates take turns, so that other load of the machine affects all of them equally; a time is the
median, in ns for one matrix. `CholeskyBatch` updates its factors and takes that back; the others factor the stack of A + V Vᵀ,
which is in place: summing it is not timed. One batch fits a second-level cache, the other none. JAX also has `cholesky_update`, of
rank 1, which `jax.vmap` refuses so far: that is printed, and its time is that of `jax.lax.map`, k updates a matrix, in a cache.

Besides the times it prints the largest of max |L'L'ᵀ − A'| / max |A'| over some matrices, after the first update and the first
downdate. If one is above max(n + k, 12) u, the result is wrong, and so is the exit status.

    pip install numpy torch jax                 # NumPy alone is required
    python benches/batch.py [--orders 4 8 16 32 64] [--ranks 1 4] [--types f64 f32] [--seconds 1]

`batch_sizes.py` measures the same by the number of matrices, and draws it.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import importlib.metadata
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import cholupdate as cu

TYPES = {"f64": np.float64, "f32": np.float32}
# Bytes of the lower triangles of a batch.
IN_CACHE, IN_MEMORY = 384 << 10, 256 << 20
# That many matrices differ, the others repeat them.
DIFFERENT = 1024
# For each candidate of a line.
TURNS = 4


def optional(name: str) -> Any:
    """A package, or None and the reason printed."""
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        print(f"without {name}: {missing}")
        return None


@dataclass
class Candidate:
    """Verbs that are called in turns, and what the factors of some matrices are after a call that returned `made`."""

    name: str
    verbs: list[Callable[[], Any]]
    factors: Callable[[Any, np.ndarray], Any]
    prepare: Callable[[], Any] = lambda: None
    times: list[list[float]] = field(default_factory=list)
    residual: float = 0.0

    def cycles(self, seconds: float) -> None:
        """Calls all verbs, again and again."""
        self.prepare()
        end = time.perf_counter() + seconds
        while True:
            for verb, times in zip(self.verbs, self.times, strict=True):
                start = time.perf_counter()
                made = verb()
                times.append(time.perf_counter() - start)
                del made  # not timed
            if time.perf_counter() >= end:
                break


class Given:
    """Matrices A and columns V that their factors outweigh."""

    def __init__(self, count: int, n: int, k: int, dtype: Any) -> None:
        random = np.random.default_rng(1)
        self.count, self.n, self.k = count, n, k
        self.of = np.arange(count) % min(count, DIFFERENT)
        different = int(self.of.max()) + 1
        g = np.tril(random.uniform(-0.5, 0.5, (different, n, n)) / np.sqrt(n), -1)
        g += random.uniform(0.5, 1.5, (different, n))[:, None] * np.eye(n)
        self.few = (g @ g.transpose(0, 2, 1)).astype(dtype)
        self.few_v = random.uniform(-0.3, 0.3, (different, n, k)).astype(dtype)
        self.v = self.few_v[self.of]

    def updated(self) -> np.ndarray:
        """A + V Vᵀ of all."""
        few: np.ndarray = self.few + self.few_v @ self.few_v.transpose(0, 2, 1)
        return few[self.of]

    def residual(self, l: Any, sample: np.ndarray, is_updated: bool) -> float:
        at = self.of[sample]
        l, a, v = (np.asarray(each, float) for each in (l, self.few[at], self.few_v[at]))
        wanted = a + v @ v.transpose(0, 2, 1) if is_updated else a
        l = np.tril(l)
        return float(np.max(np.abs(l @ l.transpose(0, 2, 1) - wanted).max(axis=(1, 2)) / np.abs(wanted).max(axis=(1, 2))))


def batch(given: Given, name: str, threads: int | None) -> Candidate:
    made = cu.CholeskyBatch(given.few, threads=threads).select(given.of)

    def called(verb: Callable[[Any], Any]) -> Callable[[], Any]:
        return lambda: verb(given.v).check()

    def factors(_: Any, sample: np.ndarray) -> Any:
        return [made.factor(matrix) for matrix in sample]

    return Candidate(name, [called(made.update), called(made.downdate)], factors)


def ours(given: Given) -> Iterator[Candidate]:
    yield batch(given, "CholeskyBatch, 1 thread", 1)
    yield batch(given, "CholeskyBatch, all threads", None)


def by_numpy(updated: np.ndarray) -> Iterator[Candidate]:
    yield Candidate("numpy cholesky", [lambda: np.linalg.cholesky(updated)], lambda made, sample: made[sample])


def by_torch(updated: np.ndarray) -> Iterator[Candidate]:
    if not torch:
        return
    a, all_threads = torch.from_numpy(updated), torch.get_num_threads()

    def on(threads: int) -> Candidate:
        name = "torch cholesky_ex, " + ("1 thread" if threads == 1 else "all threads")
        prepare = functools.partial(torch.set_num_threads, threads)
        return Candidate(name, [lambda: torch.linalg.cholesky_ex(a)], lambda made, sample: made.L[sample], prepare)

    yield on(1)
    yield on(all_threads)


def by_jax(updated: np.ndarray) -> Iterator[Candidate]:
    if not jax:
        return
    a = jax.numpy.asarray(updated)
    factored = jax.jit(jax.vmap(jax.numpy.linalg.cholesky))
    yield Candidate(
        "jax vmap(cholesky)", [lambda: factored(a).block_until_ready()], lambda made, sample: np.asarray(made[sample])
    )


def by_jax_update(given: Given) -> Iterator[Candidate]:
    if not jax:
        return

    def modified(r: Any, columns: Any) -> Any:
        for column in columns:
            r = jax.lax.linalg.cholesky_update(r, column)
        return r

    few = jax.numpy.asarray(np.linalg.cholesky(given.few).transpose(0, 2, 1))
    r, columns = few[given.of], jax.numpy.asarray(given.v.transpose(0, 2, 1))
    mapped = jax.jit(lambda r, columns: jax.lax.map(lambda each: modified(*each), (r, columns)))
    yield Candidate(
        "jax map(cholesky_update)",
        [lambda: mapped(r, columns).block_until_ready()],
        lambda made, sample: np.asarray(made[sample]).transpose(0, 2, 1),
    )


def again(updated: np.ndarray) -> Iterator[Candidate]:
    """Those that factor the stack of A + V Vᵀ."""
    yield from by_numpy(updated)
    yield from by_torch(updated)
    yield from by_jax(updated)


torch, jax = optional("torch"), optional("jax")
if jax:
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)


def candidates(given: Given, size: int) -> list[Candidate]:
    # A loop would only wait longer for memory.
    loops = by_jax_update(given) if size <= IN_CACHE else ()
    return [*ours(given), *again(given.updated()), *loops]


def measure(given: Given, all_: list[Candidate], seconds: float) -> bool:
    """Fills in times and residuals; whether all results are right."""
    sample = np.arange(0, given.count, -(-given.count // 20))
    limit = max(given.n + given.k, 12) * float(np.finfo(given.v.dtype).eps) / 2.0
    slow = []
    for candidate in all_:
        start = time.perf_counter()
        candidate.prepare()
        for verb, is_updated in zip(candidate.verbs, (True, False), strict=False):
            residual = given.residual(candidate.factors(verb(), sample), sample, is_updated)
            candidate.residual = max(candidate.residual, residual)
        slow.append(time.perf_counter() - start > 10.0 * seconds)
        candidate.times = [[] for _ in candidate.verbs]
    for turn in range(TURNS):
        for candidate, is_slow in zip(all_, slow, strict=True):
            # One that is slow is called once more; its first call may have compiled it.
            if turn == 0 or not is_slow:
                candidate.cycles(seconds / TURNS)
    return all(candidate.residual <= limit for candidate in all_)


def refused() -> Iterator[str]:
    """What `jax.vmap` says of `cholesky_update`."""
    if jax:
        eyes, ones = jax.numpy.ones((2, 1, 1)), jax.numpy.ones((2, 1))
        try:
            jax.vmap(jax.lax.linalg.cholesky_update)(eyes, ones)
        except NotImplementedError as error:
            yield f"jax.vmap(cholesky_update): {error}"


def about() -> str:
    """The machine and the versions."""
    names = [line.partition(":")[2].strip() for line in cpuinfo() if line.startswith("model name")]
    machine = names[0] if names else platform.processor() or platform.machine()
    packages = ("cholupdate", "numpy", "torch", "jax")
    found = [name for name in packages if sys.modules.get(name)]
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in found)
    threads = os.environ.get("RAYON_NUM_THREADS") or os.cpu_count()
    return f"{machine}, {threads} threads; Python {platform.python_version()}, {versions}"


def cpuinfo() -> list[str]:
    try:
        with open("/proc/cpuinfo") as lines:
            return lines.readlines()
    except OSError:
        return []


def ns(times: list[float], count: int) -> str:
    each = 1e9 * statistics.median(times) / count
    return f"{each:.3g}" if each < 1000.0 else f"{each:.0f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--orders", type=int, nargs="+", default=[4, 8, 16, 32, 64])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--types", choices=TYPES, nargs="+", default=list(TYPES))
    parser.add_argument("--bytes", type=int, nargs="+", default=[IN_CACHE, IN_MEMORY], help="of the lower triangles of a batch")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each candidate of a line")
    given = parser.parse_args()
    print(about())
    for line in refused():
        print(line)
    names: list[str] = []
    is_right = True
    for name in given.types:
        dtype = np.dtype(TYPES[name])
        for size in sorted(given.bytes):
            for n in given.orders:
                for k in given.ranks:
                    count = max(size // (n * (n + 1) // 2 * dtype.itemsize), 1)
                    made = Given(count, n, k, dtype)
                    all_ = candidates(made, size)
                    is_right &= measure(made, all_, given.seconds)
                    if not names:
                        names = [each.name for each in all_]
                        print("| type | n | k | matrices | " + " | ".join(names) + " | residuals |")
                        print("|---" * (len(names) + 5) + "|")
                    found = {each.name: " / ".join(ns(times, count) for times in each.times) for each in all_}
                    cells = " | ".join(found.get(column, "") for column in names)
                    residuals = ", ".join(f"{each.residual:.0e}" for each in all_)
                    print(f"| {name} | {n} | {k} | {count} | {cells} | {residuals} |", flush=True)
    if not is_right:
        print("WRONG: a residual is above max(n + k, 12) u")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
