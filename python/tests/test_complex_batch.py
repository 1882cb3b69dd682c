"""The class `CholeskyBatch` of complex numbers, against NumPy and single factors: A = L Lᴴ."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import cholupdate as cu
from fake_cuda import Driver, put
from test_complex import DTYPES, assert_close, columns, hpd, real_dtype

Array = NDArray[Any]

COUNT = 11


def solved(a: Array, b: Array) -> Array:
    return np.linalg.solve(a, b)  # pyright: ignore


def factored(a: Array) -> Array:
    return np.linalg.cholesky(a)  # pyright: ignore


def stack(n: int, dtype: Any, seed: int = 0) -> Array:
    return np.array([hpd(n, dtype, seed + 20 * b) for b in range(COUNT)])


def columns_of(n: int, k: int, dtype: Any, seed: int = 5) -> Array:
    return np.array([columns(n, k, dtype, seed + b) for b in range(COUNT)])


def adjoint(a: Array) -> Array:
    return a.conj().swapaxes(-1, -2)


def assert_are_factors(batch: cu.CholeskyBatch, a: Array) -> None:
    l = batch.factors()
    assert batch.dtype == l.dtype == a.dtype and len(batch) == len(a)
    pivots = np.diagonal(l, axis1=1, axis2=2)
    assert np.all(np.triu(l, 1) == 0) and np.all(np.imag(pivots) == 0) and np.all(np.real(pivots) > 0)
    assert_close(l @ adjoint(l), a)
    for b in range(len(batch)):
        assert np.array_equal(batch.factor(b), l[b])


@pytest.mark.parametrize("n", [1, 2, 5, 17])
@pytest.mark.parametrize("dtype", DTYPES)
def test_modifications(dtype: Any, n: int) -> None:
    a, v = stack(n, dtype), columns_of(n, 3, dtype)
    given = np.tril(a) + np.triu(np.full((n, n), np.nan, dtype), 1)
    np.imag(given)[:, np.arange(n), np.arange(n)] = np.nan
    batch = cu.CholeskyBatch(given)
    assert_are_factors(batch, a)
    changed = a + v @ adjoint(v)
    outcome = batch.update(v)
    assert outcome.failed.size == 0 and np.all(outcome.min_pivot_ratio >= 1)
    assert_are_factors(batch, changed)
    logs = np.linalg.slogdet(changed)[1] - np.linalg.slogdet(a)[1]
    np.testing.assert_allclose(outcome.log_det_change, logs, atol=1e3 * n * np.finfo(dtype).eps)
    batch.downdate(np.asfortranarray(v)).check()
    assert_are_factors(batch, a)
    weights = np.linspace(-0.5, 2.0, 3 * COUNT).reshape(COUNT, 3).astype(real_dtype(dtype))
    where = np.arange(COUNT) % 3 != 1
    batch.modify(v, weights, where=where).check()
    changed = a + np.where(where[:, None, None], (v * weights[:, None]) @ adjoint(v), 0)
    assert_are_factors(batch, changed.astype(dtype))
    np.testing.assert_allclose(batch.log_det(), np.linalg.slogdet(changed)[1], atol=1e3 * np.finfo(dtype).eps)
    batch.modify(v[..., 0], [0.25]).check()
    assert_are_factors(batch, (changed + 0.25 * v[..., :1] @ adjoint(v[..., :1])).astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_solutions(dtype: Any) -> None:
    n = 6
    a, b = stack(n, dtype), columns_of(n, 2, dtype, 9)
    batch = cu.CholeskyBatch(a)
    x = np.linalg.solve(a, b)
    assert_close(batch.solve(b), x)
    assert_close(batch.solve(b[..., 0]), x[..., 0])
    of_ones = solved(a, np.ones((COUNT, n, 1), dtype))[..., 0]
    assert_close(batch.solve(np.ones((COUNT, n), int)), of_ones)
    for in_place in (b.copy(), np.array(b[:, ::-1])[:, ::-1], np.asfortranarray(b)):
        assert batch.solve_in_place(in_place).failed.size == 0
        assert_close(in_place, x)
    b[3, 1, 0] = complex(0.0, np.nan)
    b[4, 1, 1] = complex(np.inf, 0.0)
    found = batch.solve(b)
    assert np.isnan(np.real(found)[[3, 4]]).all() and np.isnan(np.imag(found)[[3, 4]]).all()
    assert_close(found[5:], x[5:])
    before = b.copy()
    status = batch.solve_in_place(b)
    assert status.failed.tolist() == [3, 4] and np.array_equal(b[3:5], before[3:5], equal_nan=True)
    assert "`b` is not finite at (1, 0)" in str(status.errors[3])


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows(dtype: Any) -> None:
    n = 7
    a = stack(n, dtype)
    batch = cu.CholeskyBatch(a[:, :-1, :-1])
    batch.reserve(n)
    column = a[:, :, -1].copy()
    np.imag(column)[:, -1] = np.nan
    batch.append(column).check()
    assert_are_factors(batch, a)
    batch.remove(2).check()
    left = np.delete(np.arange(n), 2)
    for b, l in enumerate(batch.factors()):
        assert_close(l[:-1, :-1] @ adjoint(l[:-1, :-1]), a[b][np.ix_(left, left)])
    assert batch.orders.tolist() == [n - 1] * COUNT and batch.order == n


@pytest.mark.parametrize("dtype", DTYPES)
def test_known_factors_and_copies(dtype: Any) -> None:
    n = 5
    a = stack(n, dtype)
    phases = np.exp(1j * np.arange(n)).astype(dtype)
    batch = cu.CholeskyBatch.from_factors(np.linalg.cholesky(a) * phases)
    assert_are_factors(batch, a)
    copies = [copy.copy(batch), copy.deepcopy(batch), batch.copy(), batch.select(slice(None))]
    batch.update(columns_of(n, 1, dtype)).check()
    for other in copies:
        assert_are_factors(other, a)
    batch.replace(-1, a[0])
    assert_close(batch.factor(COUNT - 1), factored(a[0]))
    assert repr(copies[0]) == f"<cholupdate.CholeskyBatch of {COUNT} matrices of order {n}, {np.dtype(dtype).name}>"


def test_a_failure_stops_no_other() -> None:
    n = 4
    a, v = stack(n, np.complex128), columns_of(n, 2, np.complex128)
    a[2, 3, 1] = complex(0.0, np.nan)
    a[5, 0, 0] = -1.0
    batch = cu.CholeskyBatch(a)
    assert batch.missing.tolist() == [2, 5]
    assert isinstance(batch.status(5), cu.NotPositiveDefiniteError)
    v[7, 1, 0] = complex(0.0, np.inf)
    v[8] *= 100.0
    before = batch.factors()
    outcome = batch.downdate(v)
    assert outcome.failed.tolist() == [2, 5, 7, 8]
    assert "`v` is not finite at (1, 0)" in str(outcome.errors[7])
    assert isinstance(outcome.errors[8], cu.NotPositiveDefiniteError)
    after = batch.factors()
    assert np.array_equal(after[[2, 5, 7, 8]], before[[2, 5, 7, 8]], equal_nan=True)
    for b in (0, 1, 3, 4, 6, 9, 10):
        single = cu.Cholesky(a[b])
        single.downdate(v[b])
        assert_close(after[b], single.factor())


def test_real_and_integer_arguments_are_converted() -> None:
    batch = cu.CholeskyBatch(np.array([np.eye(2, dtype=complex) * 4]))
    batch.update(np.ones((1, 2))).check()
    batch.modify([[1, 0]], [2]).check()
    assert_close(batch.factors() @ adjoint(batch.factors()), np.array([[[7, 1], [1, 5]]], complex))


def test_there_is_none_on_a_gpu(driver: Driver) -> None:
    a = np.array([np.eye(3, dtype=complex)])
    for make in (cu.CholeskyBatch, cu.CholeskyBatch.from_factors):
        message = "has dtype complex128, expected float32 or float64 for a batch on a GPU"
        with pytest.raises(TypeError, match=re.escape(message)):
            make(a, engine="cuda")
    batch = cu.CholeskyBatch(a)
    for call in (batch.update, batch.solve, batch.append):
        with pytest.raises(TypeError, match="is in the memory of a GPU, but the factors are in host memory"):
            call(put(driver, np.ones((1, 3))))
