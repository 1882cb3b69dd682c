"""Threads, the GIL, and memory over many calls."""

from __future__ import annotations

import gc
import multiprocessing
import pickle
import resource
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cholupdate as cu
from problems import columns, spd


def test_one_factor_in_two_threads_is_a_clear_error() -> None:
    n = 1500
    f = cu.Cholesky(np.eye(n) * 4.0, threads=1)
    v = np.full((n, 64), 1e-4)
    stop = threading.Event()
    errors: list[str] = []

    def work() -> None:
        while not stop.is_set():
            try:
                f.update(v)
            except RuntimeError as error:
                errors.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 20
    while not errors and time.monotonic() < deadline:
        time.sleep(0.01)
        repr(f)
    stop.set()
    for thread in threads:
        thread.join()
    assert set(errors) == {"the factor is in use by another thread"}
    assert np.all(np.isfinite(f.factor()))


def test_readers_share() -> None:
    """Any number of threads may read one factor at the same time; no call is refused, and all results are equal."""
    n = 700
    f = cu.Cholesky(spd(n), threads=1)
    b, v = columns(n, 3), columns(n, 2)
    corner = 9.0 * np.eye(2)
    extension = f.extension(v, corner)
    calls: list[Callable[[], Any]] = [
        lambda: f.solve(b),
        lambda: f.solve_l(b),
        lambda: f.solve_lt(b),
        lambda: f.log_det(),
        lambda: f.condition(),
        lambda: f.factor(),
        lambda: f.reconstruct(),
        lambda: f.can_downdate(v),
        lambda: f.can_downdate(100.0 * v),
        lambda: f.extension(v, corner).corner(),
        lambda: extension.solve(np.ones(n + 2)),
        lambda: extension.log_det(),
        lambda: f.copy().log_det(),
        lambda: (f.order, len(f), f.capacity, repr(f), f.error_estimate(), f.needs_refactor()),
        lambda: cu.Carried(f, b, np.ones(3)).z,
        lambda: pickle.loads(pickle.dumps(f)).log_det(),
        lambda: pickle.loads(pickle.dumps(extension)).log_det(),
    ]
    wanted = [call() for call in calls]
    errors: list[BaseException] = []
    start = threading.Barrier(8)

    def work(seed: int) -> None:
        start.wait()
        try:
            random = np.random.default_rng(seed)
            for _ in range(60):
                at = int(random.integers(0, len(calls)))
                np.testing.assert_equal(calls[at](), wanted[at])
        except BaseException as error:  # noqa: BLE001 (any exception)
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors[0]


def test_a_reader_and_a_writer_do_not_share() -> None:
    n = 1500
    f = cu.Cholesky(np.eye(n) * 4.0, threads=1)
    v = np.full((n, 64), 1e-4)
    done, errors = threading.Event(), set[str]()

    def read() -> None:
        while not done.is_set():
            try:
                f.log_det()
            except RuntimeError as error:
                errors.add(str(error))

    thread = threading.Thread(target=read)
    thread.start()
    deadline = time.monotonic() + 20
    while not errors and time.monotonic() < deadline:
        try:
            f.update(v)
        except RuntimeError as error:
            errors.add(str(error))
    done.set()
    thread.join()
    assert errors == {"the factor is in use by another thread"}


def test_factors_in_threads_of_their_own_are_right() -> None:
    a, v = spd(200), columns(200, 8)

    def work(seed: int) -> Any:
        f = cu.Cholesky(a, threads=1 + seed % 2)
        for _ in range(20):
            f.update(v)
            f.downdate(v)
        f.update(v * seed)
        return f.factor()

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(work, range(8)))
    for seed, found in enumerate(together):
        assert np.array_equal(found, work(seed))


def test_the_gil_is_released() -> None:
    f = cu.Cholesky(np.eye(2000) * 4.0, threads=1)
    v = np.full((2000, 256), 1e-4)
    ticks = 0
    done = threading.Event()

    def work() -> None:
        f.update(v)
        done.set()

    thread = threading.Thread(target=work)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(100.0)
    try:
        thread.start()
        while not done.is_set():
            time.sleep(0.001)
            ticks += 1
    finally:
        sys.setswitchinterval(interval)
    thread.join()
    assert ticks > 3


def calls() -> dict[str, Callable[[], object]]:
    f = cu.Cholesky(spd(6))
    l, v, bad = f.factor(), columns(6, 2), np.full(6, 9.0)
    w = np.array([0.1, -0.1])

    def refused() -> None:
        with pytest.raises(cu.NotPositiveDefiniteError):
            f.downdate(bad)
        with pytest.raises(TypeError):
            f.update(bad.astype(np.float32))

    def grow() -> None:
        f.append(v[:, 0], 5.0)
        f.remove([6])

    def there_and_back() -> None:
        f.update(v)
        f.downdate(v)

    return {
        "update": there_and_back,
        "modify": lambda: (f.modify(v, w), f.modify(v, -w)),
        "solve": lambda: f.solve(v),
        "factor": lambda: (f.factor(), f.reconstruct(), f.log_det()),
        "copy": lambda: f.copy(),
        "list": lambda: (f.update(v[:, 0].tolist()), f.downdate(v[:, 0].tolist())),
        "refused": refused,
        "grow": grow,
        "extension": lambda: f.extension(v[:, 0], 5.0).solve(np.ones(7)),
        "function": lambda: cu.cholesky_update(l, v),
        "overwrite": lambda: cu.cholesky_update(np.array(l, order="F"), v, overwrite_l=True),
    }


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


@pytest.mark.parametrize("name", list(calls()))
def test_no_memory_is_lost_over_many_calls(name: str) -> None:
    call = calls()[name]
    count = 20_000 if name == "refused" else 100_000
    for _ in range(count // 10):
        call()
    gc.collect()
    tracemalloc.start()
    try:
        for _ in range(200):
            call()
        grown: list[int] = []
        for _ in range(3):
            gc.collect()
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(2000):
                call()
            gc.collect()
            grown.append(tracemalloc.get_traced_memory()[0] - before)
    finally:
        tracemalloc.stop()
    # Python's own caches grow once (CPython 3.12: 19 kB); an object a call would be 16 bytes or more, every time.
    assert min(grown) < 8 * 2000
    before = resident_bytes()
    for _ in range(count):
        call()
    assert resident_bytes() - before < 4 << 20


def test_garbage_collection_under_load() -> None:
    random = np.random.default_rng(0)
    for round_ in range(300):
        f = cu.Cholesky(spd(20, seed=round_))
        loop: list[object] = [f, f.extension(np.zeros(20), 1.0)]
        loop.append(loop)
        f.update(random.standard_normal((20, 3))[::-1, ::-1])
        x = f.solve(np.ones((20, 2)))
        del f, loop
        if round_ % 50 == 0:
            gc.collect()
        assert np.all(np.isfinite(x))
    gc.collect()


def in_a_child(n: int) -> float:
    f = cu.Cholesky(np.eye(n) * 4.0)
    f.update(np.full((n, 16), 0.01))
    return f.log_det()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
# JAX's, if it has been imported.
@pytest.mark.filterwarnings("ignore:.*fork.*:RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    wanted = in_a_child(1500)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(in_a_child, [1500, 1500]).get(timeout=60)
    assert found == [wanted, wanted]


def test_awake_or_not_the_result_is_the_same() -> None:
    n = 900
    a, v = spd(n), columns(n, 12)

    def updated() -> Any:
        f = cu.Cholesky(a)
        f.update(v)
        return f.factor()

    wanted = updated()
    with cu.keep_awake():
        assert np.array_equal(updated(), wanted)
        with cu.keep_awake(threads=2), ThreadPoolExecutor(1) as other:
            assert np.array_equal(updated(), wanted)
            assert np.array_equal(other.submit(updated).result(), wanted)
    with pytest.raises(KeyError), cu.keep_awake(-1):
        raise KeyError
    assert np.array_equal(updated(), wanted)


def test_idle_threads_use_no_processor_time() -> None:
    f = cu.Cholesky(spd(900))
    with cu.keep_awake():
        f.update(columns(900, 12))
    time.sleep(0.05)
    before = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - before < 0.05


def test_keep_awake_refuses() -> None:
    with pytest.raises(ValueError, match="`threads` is 0, expected at least 1, or -1 for all"):
        cu.keep_awake(0)
    with pytest.raises(TypeError, match="`threads` must be an integer"):
        cu.keep_awake("all")  # type: ignore[arg-type] # pyright: ignore
    context = cu.keep_awake()
    with pytest.raises(RuntimeError, match="this thread has not entered"):
        context.__exit__(None, None, None)
    context.__enter__()
    with ThreadPoolExecutor(1) as other, pytest.raises(RuntimeError, match="this thread has not entered"):
        other.submit(context.__exit__, None, None, None).result()
    context.__exit__(None, None, None)
