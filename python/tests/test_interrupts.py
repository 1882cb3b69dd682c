"""Control-C during calls of seconds."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
import pytest

import cholupdate as cu

N, K = 2500, 1200


@contextmanager
def interrupted_after(seconds: float) -> Generator[None]:
    """Simulates Control-C at that time."""
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


@pytest.fixture(scope="module")
def v() -> Any:
    return np.asfortranarray(1e-3 * np.random.default_rng(0).standard_normal((N, K)))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("safeguard", ["shadow_buffer", "dry_run"])
def test_a_downdate_that_is_interrupted_leaves_the_factor(v: Any, threads: int, safeguard: Any) -> None:
    f = cu.Cholesky(4.0 * np.eye(N), threads=threads, safeguard=safeguard)
    f.update(v)
    before = f.factor()
    calls: list[Callable[[], object]] = [
        lambda: f.downdate(v),
        lambda: f.modify(v, -np.ones(K)),
        lambda: f.can_downdate(v),
        lambda: f.modify_scaled(0.5, v, -np.ones(K)),
    ]
    for call in calls:
        # The message says that the call had not ended.
        with interrupted_after(0.05), pytest.raises(KeyboardInterrupt, match="before it had changed anything"):
            call()
        assert np.array_equal(f.factor(), before)
    f.downdate(v)
    np.testing.assert_allclose(f.factor(), 2.0 * np.eye(N), atol=1e-12)


def test_an_update_ends_first_and_says_so(v: Any) -> None:
    f, g = cu.Cholesky(4.0 * np.eye(N), threads=1), cu.Cholesky(4.0 * np.eye(N), threads=1)
    with interrupted_after(0.05), pytest.raises(KeyboardInterrupt, match="had done what it was to do"):
        f.update(v)
    g.update(v)
    assert np.array_equal(f.factor(), g.factor())


def test_the_function_on_arrays(v: Any) -> None:
    l = np.asfortranarray(2.0 * np.eye(N))
    with interrupted_after(0.05), pytest.raises(KeyboardInterrupt, match="before it had changed anything"):
        cu.cholesky_update(l, v)
    with interrupted_after(0.05), pytest.raises(KeyboardInterrupt, match="had done what it was to do"):
        cu.cholesky_update(l, v, overwrite_l=True)
    assert not np.array_equal(l, 2.0 * np.eye(N))
    before = l.copy()
    with interrupted_after(0.05), pytest.raises(KeyboardInterrupt, match="before it had changed anything"):
        cu.cholesky_update(l, v, downdate=True, overwrite_l=True)
    assert np.array_equal(l, before)


def test_a_handler_of_ones_own_runs_meanwhile_and_may_raise(v: Any) -> None:
    f = cu.Cholesky(4.0 * np.eye(N), threads=1)
    f.update(v)
    before, seen = f.factor(), list[str]()

    class Enough(Exception):
        pass

    def handler(number: int, frame: FrameType | None) -> None:
        # The factor is in use by the interrupted call.
        for call in (f.log_det, lambda: f.update(v[:, 0]), lambda: f.can_downdate(v[:, 0])):
            try:
                call()
            except RuntimeError as error:
                seen.append(str(error))
        if len(seen) > 3:
            raise Enough

    old = signal.signal(signal.SIGINT, handler)
    try:
        with interrupted_after(0.05):
            assert f.can_downdate(v)
        assert seen == ["the factor is in use by another thread"] * 3
        with interrupted_after(0.05), pytest.raises(Enough):
            f.downdate(v)
    finally:
        signal.signal(signal.SIGINT, old)
    assert np.array_equal(f.factor(), before)


def test_another_thread_is_not_interrupted(v: Any) -> None:
    f = cu.Cholesky(4.0 * np.eye(N), threads=1)
    f.update(v)
    thread = threading.Thread(target=f.downdate, args=(v,))
    thread.start()
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.05):
        time.sleep(60.0)
    thread.join()
    np.testing.assert_allclose(f.factor(), 2.0 * np.eye(N), atol=1e-12)
