"""How a script answers the benchmarks: a request a line on the standard input, an answer a line on the standard output.

    first METHOD TYPE N K                      seconds and residual of each verb, called once
    cycles METHOD TYPE N K BUDGET LEAST MOST   seconds of each verb, cycle by cycle, within BUDGET seconds
    residual METHOD TYPE N K                   of the last verb
    end METHOD TYPE N K                        forgets the matrices

Before the first request a script prints its versions. An answer without numbers means that it cannot do it.
"""

import sys
import time
import traceback


class Method:
    """The verbs of a cycle, the last of which leads back to the first. Made for a type, an order and a rank."""

    turns = 2
    # Whether the result is released after each request: others need the memory.
    releases = False

    def prepare(self, turn):
        """Restores inputs that `run` overwrites. Not timed."""

    def run(self, turn):
        """One verb. Timed; NaN if it has no such verb."""
        raise NotImplementedError

    def has(self, turn):
        return True

    def residual(self, turn):
        """max |L'L'ᵀ − A'| / max |A'| over sampled rows, after this verb."""
        raise NotImplementedError

    def release(self):
        """Forgets the result."""

    def check(self, turn):
        self.last = self.residual(turn) if self.has(turn) else 0.0
        return self.last

    def time(self, turn):
        if not self.has(turn):
            return float("nan")
        self.prepare(turn)
        start = time.perf_counter()
        self.run(turn)
        return time.perf_counter() - start


def sampled(n):
    """The rows in which a result is checked, as the benchmarks choose them."""
    samples = n if n <= 256 else 8
    return [s * n // samples - 1 for s in range(1, samples + 1)]


def cycles(method, budget, least, most):
    times = []
    end = time.perf_counter() + budget
    while len(times) < least or len(times) < most and time.perf_counter() < end:
        times.append([method.time(turn) for turn in range(method.turns)])
    return [seconds for cycle in times for seconds in cycle]


def answer(methods, state, word, key, rest):
    if word == "end":
        state.pop(key, None)
        return []
    if word == "first":
        name, scalar, n, k = key
        state[key] = methods[name](scalar, int(n), int(k))
    method = state[key]
    last = max(filter(method.has, range(method.turns)))
    if word == "first":
        numbers = [x for turn in range(method.turns) for x in (method.time(turn), method.check(turn))]
    elif word == "cycles":
        numbers = cycles(method, float(rest[0]), int(rest[1]), int(rest[2]))
        if method.releases:
            method.check(last)
    else:
        numbers = [method.last if method.releases else method.residual(last)]
    if method.releases:
        method.release()
    return numbers


def serve(versions, methods):
    print(versions, flush=True)
    state = {}
    for line in sys.stdin:
        word, *rest = line.split()
        try:
            numbers = answer(methods, state, word, tuple(rest[:4]), rest[4:])
        except Exception:
            traceback.print_exc()
            state.pop(tuple(rest[:4]), None)
            numbers = []
        print(*(f"{x:.9e}" for x in numbers), flush=True)
