"""Modifications that continue while the host does other work."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cholupdate as cu
from fake_cuda import Driver, put
from problems import columns, spd

ENGINES = ("cpu", "hybrid", "cuda")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_submitted_is_done(driver: Driver, engine: str, dtype: Any) -> None:
    a, v, w = spd(60, dtype), columns(60, 4, dtype), np.array([1.0, -0.5, 2.0, 0.0], dtype)
    f, g = cu.Cholesky(a, engine=engine), cu.Cholesky(a, engine=engine)
    given = v.copy()
    pending = f.submit(given)
    given[:] = np.nan  # V has been copied
    assert pending.wait() == g.update(v) == pending.wait()
    assert f.submit(v, w).wait() == g.modify(v, w)
    assert f.submit(v[:, 0], downdate=True).wait() == g.downdate(v[:, 0])
    f.submit(v, w)
    g.modify(v, w)
    # The next call waits for it.
    assert np.array_equal(f.factor(), g.factor())
    b = columns(60, 2, dtype)
    pending = f.submit(v, -w)
    x = pending.solve(b)
    report = g.modify(v, -w)
    np.testing.assert_allclose(x, g.solve(b), atol=20 * np.finfo(dtype).eps)
    assert pending.wait() == report
    assert np.array_equal(pending.solve(b), f.solve(b))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_breakdown_is_told_once_it_is_known(driver: Driver, engine: str) -> None:
    f = cu.Cholesky(spd(40), engine=engine)
    before, bad = f.factor(), np.zeros(40)
    bad[25] = 10.0
    calls: list[Callable[[cu.Pending], object]] = [
        lambda pending: pending.wait(),
        lambda pending: pending.solve(np.ones(40)),
        lambda pending: (f.log_det(), pending.wait()),
    ]
    for call in calls:
        with pytest.raises(cu.NotPositiveDefiniteError) as caught:
            call(f.submit(bad, downdate=True))
        assert caught.value.column == 25
        assert np.array_equal(f.factor(), before)


@pytest.mark.parametrize("engine", ENGINES)
def test_extensions_notice_what_was_submitted(driver: Driver, engine: str) -> None:
    f = cu.Cholesky(np.eye(3), engine=engine)
    extension = f.extension(np.zeros(3), 1.0)
    f.submit(np.ones(3))
    with pytest.raises(RuntimeError, match="has changed"):
        extension.log_det()


def test_it_holds_its_factor_and_may_be_forgotten(driver: Driver) -> None:
    f = cu.Cholesky(np.eye(3), engine="cuda")
    pending = f.submit(np.ones(3))
    kept = weakref.ref(pending)
    del pending
    gc.collect()
    assert kept() is None
    assert f.log_det() == pytest.approx(np.log(4.0))
    pending = f.submit(np.ones(3))
    del f
    gc.collect()
    assert pending.wait().log_det_change == pytest.approx(np.log(7.0 / 4.0))


def test_on_the_device(driver: Driver) -> None:
    a, v, b = spd(30), columns(30, 3), columns(30, 2)
    f = cu.Cholesky(a, engine="cuda")
    x: Any = f.submit(put(driver, v)).solve(put(driver, b))
    np.testing.assert_allclose(x.numpy(), np.linalg.solve(a + v @ v.T, b), atol=1e-13)


@pytest.mark.parametrize("engine", ENGINES)
def test_readers_that_find_it_in_flight_share(driver: Driver, engine: str) -> None:
    f, v = cu.Cholesky(spd(50), engine=engine), columns(50, 2)
    errors: list[BaseException] = []

    def read(start: threading.Barrier) -> None:
        start.wait()
        try:
            f.log_det()
            f.solve(v)
        except BaseException as error:  # noqa: BLE001 (any exception)
            errors.append(error)

    for _ in range(20):
        start = threading.Barrier(4)
        f.submit(v)
        threads = [threading.Thread(target=read, args=(start,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not errors
    with pytest.raises(ValueError, match="cannot be given together"):
        f.submit(v, [1.0, 1.0], downdate=True)
    with pytest.raises(TypeError, match="`downdate` must be a bool, not int"):
        f.submit(v, downdate=1)  # type: ignore[arg-type] # pyright: ignore
