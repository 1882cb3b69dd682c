"""The device that is current in CUDA stays so: other libraries of the program work on it."""

from __future__ import annotations

import gc
from collections.abc import Callable

import numpy as np
import pytest

import cholupdate as cu
from fake_cuda import Driver, put
from problems import columns, spd

N = 12
A = np.array([spd(N, np.float64, b) for b in range(3)])
V = np.array([columns(N, 2, np.float64, b) for b in range(3)])


@pytest.mark.parametrize("is_bound", [True, False])
def test_calls_and_ends_of_objects(driver: Driver, is_bound: bool) -> None:
    a, v, b, one = put(driver, A, order="C"), put(driver, V, order="C"), put(driver, V[:, :, 0], order="C"), put(driver, A[0])
    if not is_bound:
        driver.unbind()
    before = driver.current()
    assert (before != 0) == is_bound

    def same(call: Callable[[], object]) -> None:
        made = call()
        assert driver.current() == before
        del made
        gc.collect()
        assert driver.current() == before

    batch = cu.CholeskyBatch(A, engine="cuda:1")
    same(lambda: cu.CholeskyBatch(A, engine="cuda:1"))
    same(lambda: batch.update(V).failed)
    same(lambda: batch.select([0, 2]))
    same(lambda: (batch.log_det(), batch.orders, batch.factors(), batch.factor(0)))
    same(lambda: batch.reserve(N + 1))
    same(lambda: batch.append(np.eye(3, N + 1, N - 2)))
    same(lambda: batch.remove(0))
    same(lambda: cu.CholeskyBatch(a, engine="cuda").update(v).on_device())
    same(lambda: cu.CholeskyBatch(a, engine="cuda").solve(b))
    same(lambda: cu.CholeskyBatch(a, engine="cuda").factors())
    same(lambda: cu.cholesky_update(a, v))

    factor = cu.Cholesky(A[0], engine="cuda:1")
    same(lambda: cu.Cholesky(A[0], engine="cuda:1"))
    same(lambda: factor.update(V[0]))
    same(lambda: factor.submit(V[0]))
    same(lambda: (factor.solve(V[0]), factor.copy(), factor.factor()))
    same(lambda: cu.Cholesky(one, engine="cuda").factor())
    # With a modification in flight.
    factor.submit(V[0])
    del factor, batch
    gc.collect()
    assert driver.current() == before
    # The memory of these arrays is freed by their own library.
    driver.bind()
