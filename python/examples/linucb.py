"""LinUCB with a linear model for each user, on factors that are updated.

Of some articles with features x, LinUCB (Li, Chu, Langford and Schapire, 2010) shows the one with the largest
θᵀx + α √(xᵀ A⁻¹ x), where

    A = I + Σ x xᵀ,   b = Σ r x,   A θ = b

sum over the articles that the user was shown before, and the clicks r. So a visit is a solve with the articles and b, and an
update of rank 1. `CholeskyBatch` keeps the factors of all users. NumPy and PyTorch add x xᵀ to A, factor it again with
`numpy.linalg.cholesky` or `torch.linalg.cholesky_ex`, and solve with `numpy.linalg.solve`, which factors A once more, as NumPy
does not solve with a factor, or `torch.cholesky_solve`.

    pip install ./python threadpoolctl [torch]
    python python/examples/linucb.py [--quick] [--users 100000]

The stream is generated, in the form of a recorded one: every visitor was shown one of four articles at random, and clicked or did
not. It is replayed (Li, Chu, Langford and Wang, 2011): LinUCB learns where it would have shown the same. The example prints the
rates of clicks, the medians of the times of a round, in which all users visit once, and the largest difference of the estimates.
All work on one thread, some minutes with 100,000 users, in some 6 GB of memory.
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

FEATURES, ARTICLES = 32, 4
ALPHA = 0.3


class Stream:
    """Users who like a few of the topics, articles on a few, and clicks."""

    def __init__(self, users: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.likes = rng.standard_normal((users, FEATURES)) * (rng.uniform(size=(users, FEATURES)) < 0.3)
        topics = rng.exponential(size=(500, FEATURES)) * (rng.uniform(size=(500, FEATURES)) < 0.06)
        topics[:, 0] += 0.1
        self.articles = topics / np.linalg.norm(topics, axis=1)[:, None]
        popularity = 1.0 / np.arange(1.0, 501.0)
        self.popularity = popularity / popularity.sum()

    def visits(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every user one: x (users, ARTICLES, FEATURES), the article that was shown, and whether it was clicked."""
        users = np.arange(len(self.likes))
        x = self.articles[self.rng.choice(500, (users.size, ARTICLES), p=self.popularity)]
        shown = self.rng.integers(ARTICLES, size=users.size)
        liking = np.sum(self.likes * x[users, shown], axis=1)
        return x, shown, self.rng.uniform(size=users.size) < 1.0 / (1.0 + np.exp(2.0 - 5.0 * liking))


class Ours:
    name = "cholupdate"

    def __init__(self, a: np.ndarray) -> None:
        self.batch = cu.CholeskyBatch(a, threads=1)

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        return self.batch.solve(rhs)

    def learn(self, x: np.ndarray, learns: np.ndarray) -> None:
        self.batch.modify(x, [1.0], where=learns).check()


class NumPy:
    """Factors again the matrices that have changed."""

    name = "numpy"

    def __init__(self, a: np.ndarray) -> None:
        self.a, self.l = a.copy(), np.linalg.cholesky(a)

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        return np.linalg.solve(self.a, rhs)

    def learn(self, x: np.ndarray, learns: np.ndarray) -> None:
        new = self.a[learns] + x[learns] * x[learns].transpose(0, 2, 1)
        self.a[learns], self.l[learns] = new, np.linalg.cholesky(new)


class Torch:
    """The same with PyTorch."""

    name = "torch"

    def __init__(self, a: np.ndarray) -> None:
        self.a = torch.tensor(a)
        self.l = torch.linalg.cholesky(self.a)

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        solved: np.ndarray = torch.cholesky_solve(torch.from_numpy(rhs), self.l).numpy()
        return solved

    def learn(self, x: np.ndarray, learns: np.ndarray) -> None:
        mask, v = torch.from_numpy(learns), torch.from_numpy(x[learns])
        new = self.a[mask] + v * v.mT
        self.a[mask], self.l[mask] = new, torch.linalg.cholesky_ex(new).L


def timed(times: list[float], call: Callable[..., Any], *arguments: Any) -> Any:
    start = time.perf_counter()
    done = call(*arguments)
    times.append(time.perf_counter() - start)
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few users, for a test")
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=40)
    given = parser.parse_args()
    users, rounds = (300, 40) if given.quick else (given.users, given.rounds)
    threadpool_limits(1)
    if torch:
        torch.set_num_threads(1)
    stream = Stream(users, np.random.default_rng(20))

    kinds: list[Any] = [Ours, NumPy, Torch] if torch else [Ours, NumPy]
    models = [kind(np.broadcast_to(np.eye(FEATURES), (users, FEATURES, FEATURES))) for kind in kinds]
    solving: list[list[float]] = [[] for _ in models]
    learning: list[list[float]] = [[] for _ in models]
    b, learned, apart = np.zeros((users, FEATURES)), np.zeros(users), 0.0
    clicks = np.zeros((rounds, 2))  # rates, where LinUCB would have shown the same, and everywhere
    for t in range(rounds):
        x, shown, clicked = stream.visits()
        rhs = np.concatenate([b[:, None], x], axis=1).transpose(0, 2, 1).copy()  # (users, FEATURES, 1 + ARTICLES)
        solved, *others = [timed(solving[i], model.solve, rhs) for i, model in enumerate(models)]
        for other in others:
            norm = np.linalg.norm(other, axis=1)
            difference = np.linalg.norm(solved - other, axis=1)
            apart = max(apart, float(np.max(difference / np.where(norm > 0.0, norm, 1.0))))

        width = np.sqrt(np.einsum("uif,ufi->ui", x, solved[:, :, 1:]))
        bound = np.einsum("uif,uf->ui", x, solved[:, :, 0]) + ALPHA * width
        learns = bound.argmax(axis=1) == shown
        v = x[np.arange(users), shown]  # (users, FEATURES)
        for i, model in enumerate(models):
            timed(learning[i], model.learn, v[:, :, None], learns)
        b += (learns & clicked)[:, None] * v
        learned += learns
        clicks[t] = clicked[learns].mean(), clicked.mean()

    print(f"{users} users with {FEATURES} features, {rounds} rounds of visits; {learned.mean():.1f} of a user are learned from")
    first, last, random = clicks[: rounds // 4, 0].mean(), clicks[-rounds // 4 :, 0].mean(), clicks[:, 1].mean()
    print(f"clicks: {first:.3f} of the first articles, {last:.3f} of the last, {random:.3f} of articles at random")
    print(f"{'ms a round':>10} {'solve':>8} {'learn':>8}")
    for model, solves, learns_ in zip(models, solving, learning, strict=True):
        print(f"{model.name:>10} {1e3 * np.median(solves):>8.2f} {1e3 * np.median(learns_):>8.2f}")
    # The smallest eigenvalue of A is at least 1, the largest at most 1 + Σ ‖x‖²; an update errs by (n + 1) u of A at most.
    tolerance = (1.0 + learned.max()) * rounds * (FEATURES + 1) * np.finfo(np.float64).eps / 2.0
    print(f"estimates differ by at most {apart:.1e}, allowed are {tolerance:.1e}")
    assert apart <= tolerance
    assert last > 1.1 * random


if __name__ == "__main__":
    main()
