"""Batches in the memory of a GPU, and arrays there, on a CUDA driver that runs on the CPU."""

from __future__ import annotations

import contextlib
import copy
import gc
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cholupdate as cu
from fake_cuda import DeviceArray, Driver, Namespace, Stream, exported, put
from problems import Array, columns, spd

FLOATS = (np.float32, np.float64)
ORDERS = (1, 4, 7, 12, 40)


def stack(count: int, n: int, dtype: Any = np.float64, seed: int = 0) -> Array:
    return np.array([spd(n, dtype, seed + b) for b in range(count)], dtype).reshape(count, n, n)


def stacked_columns(count: int, n: int, k: int, dtype: Any = np.float64, seed: int = 100) -> Array:
    return np.array([columns(n, k, dtype, seed + b) for b in range(count)], dtype).reshape(count, n, k)


def writable(driver: Driver, array: Array, order: Any = "C") -> DeviceArray:
    return put(driver, array, order=order, read_only=False)


def tolerance(dtype: Any) -> float:
    return 200 * float(np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", ORDERS)
def test_the_calls_of_a_batch_in_host_memory(driver: Driver, n: int, dtype: Any) -> None:
    count, k, near = 9, 3, tolerance(dtype)
    a, v, b = stack(count, n, dtype), stacked_columns(count, n, k, dtype), stacked_columns(count, n, 2, dtype, 7)
    here, there = cu.CholeskyBatch(a), cu.CholeskyBatch(a, engine="cuda")
    assert (there.engine, here.engine, there.dtype, there.order, len(there)) == ("cuda", "cpu", dtype, n, count)
    assert there.orders.tolist() == [n] * count and there.missing.size == 0 and there.status(0) is None
    w = np.array([1.0, -0.1, 0.0], dtype)
    each = np.outer(np.linspace(0.1, 1, count), w).astype(dtype)
    mask = np.arange(count) % 2 == 0
    calls: list[Callable[[cu.CholeskyBatch], cu.BatchOutcome]] = [
        lambda batch: batch.update(v),
        lambda batch: batch.downdate(0.5 * v),
        lambda batch: batch.update(v[:, :, 0]),
        lambda batch: batch.modify(v, w),
        lambda batch: batch.modify(v, each),
        lambda batch: batch.modify(v, w, where=mask),
        lambda batch: batch.update(v[:, :, :0]),
    ]
    for call in calls:
        one, two = call(here), call(there)
        assert two.failed.size == 0 and two.errors == {} and two.status(0) is None
        two.check()
        np.testing.assert_allclose(two.min_pivot_ratio, one.min_pivot_ratio, rtol=100 * near)
        np.testing.assert_allclose(two.log_det_change, one.log_det_change, rtol=100 * near, atol=10 * near)
        np.testing.assert_allclose(there.factors(), here.factors(), atol=near)
    assert isinstance(there.factors(), np.ndarray) and np.array_equal(there.factor(2), there.factors()[2])
    np.testing.assert_allclose(there.log_det(), here.log_det(), rtol=near, atol=near)
    np.testing.assert_allclose(there.solve(b), here.solve(b), atol=near)
    np.testing.assert_allclose(there.solve(b[:, :, 0]), here.solve(b)[:, :, 0], atol=near)
    for x in (b.copy(), np.asfortranarray(b), np.ascontiguousarray(b[::-1])[::-1]):
        status = there.solve_in_place(x)
        assert status.failed.size == 0 and type(status) is cu.BatchStatus
        np.testing.assert_allclose(x, here.solve(b), atol=near)
    again = cu.CholeskyBatch.from_factors(there.factors(), engine="cuda:0")
    assert np.array_equal(again.factors(), there.factors())
    assert repr(there) == f"<cholupdate.CholeskyBatch of {count} matrices of order {n}, {np.dtype(dtype).name}, engine 'cuda'>"


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("versioned", [False, True])
def test_arrays_in_device_memory(driver: Driver, dtype: Any, order: Any, versioned: bool) -> None:
    count, n, k = 7, 12, 3
    a, v, b = stack(count, n, dtype), stacked_columns(count, n, k, dtype), stacked_columns(count, n, 2, dtype, 7)
    given = put(driver, a, order=order, versioned=versioned)
    there, here = cu.CholeskyBatch(given, engine="cuda"), cu.CholeskyBatch(a, engine="cuda")
    on_device = put(driver, v, order=order, offset=256, versioned=versioned)
    one = put(driver, v[:, :, 1], order=order)
    assert there.update(on_device).failed.size == 0
    assert there.downdate(one).failed.size == 0
    assert there.modify(on_device, [1.0, -0.5, 0.0], where=[True] * count).failed.size == 0
    weights = put(driver, np.linspace(0.1, 1.0, count * k).reshape(count, k).astype(dtype), order=order)
    assert there.modify(on_device, weights).failed.size == 0
    here.update(v)
    here.downdate(v[:, :, 1])
    here.modify(v, [1.0, -0.5, 0.0])
    here.modify(v, weights.numpy())
    assert set(one.streams) == {1} and exported() == 0 and np.array_equal(on_device.numpy(), v)
    # Results are arrays of the library of the matrices, where these were on the device.
    l: Any = there.factors()
    assert type(l) is type(given) and l.shape == (count, n, n) and np.array_equal(l.numpy(), here.factors())
    assert np.array_equal(l.numpy(), np.tril(l.numpy())) and isinstance(here.factors(), np.ndarray)
    of_one: Any = there.factor(3)
    assert type(of_one) is type(given) and np.array_equal(of_one.numpy(), here.factor(3))
    again: Any = cu.CholeskyBatch.from_factors(l, engine="cuda").factors()
    assert np.array_equal(again.numpy(), l.numpy())
    # Solutions are arrays of the library of the right-hand sides.
    for rhs in (b, b[:, :, 1]):
        put_there = put(driver, rhs, order=order, versioned=versioned)
        x: Any = there.solve(put_there)
        assert type(x) is type(given) and x.shape == rhs.shape and np.array_equal(x.numpy(), here.solve(rhs))
        assert np.array_equal(put_there.numpy(), rhs)
        place = writable(driver, rhs, order)
        status = there.solve_in_place(place)
        assert repr(status) == f"<cholupdate.BatchStatus of {count} matrices, not read yet>"
        assert status.failed.size == 0 and np.array_equal(place.numpy(), here.solve(rhs))
    assert isinstance(there.solve(b), np.ndarray) and exported() == 0
    managed = put(driver, v, device_type=13)
    there.update(managed)
    here.update(v)
    assert np.array_equal(there.factors().numpy(), here.factors())


@pytest.mark.parametrize("dtype", FLOATS)
def test_weights_in_device_memory(driver: Driver, dtype: Any) -> None:
    count, n, k = 5, 7, 3
    v = stacked_columns(count, n, k, dtype)
    on_device = put(driver, v)
    there, here = cu.CholeskyBatch(stack(count, n, dtype), engine="cuda"), cu.CholeskyBatch(stack(count, n, dtype), engine="cuda")
    each = np.linspace(-0.1, 1.0, 4 * count * k).reshape(2 * count, 2 * k).astype(dtype)
    mask = np.arange(count) % 2 == 0
    for weights in (each[0, :k], each[:count, :k]):
        for given in (put(driver, weights, order="C"), put(driver, weights)):
            assert there.modify(on_device, given).failed.tolist() == here.modify(v, weights).failed.tolist()
            assert np.array_equal(there.factors(), here.factors())
        there.modify(on_device, put(driver, weights), where=mask)
        here.modify(v, weights, where=mask)
        assert np.array_equal(there.factors(), here.factors())
    # Of every second column, and of every second matrix.
    part = put(driver, each, order="C")
    part.shape, part.strides = (k,), (2,)
    there.modify(on_device, part)
    here.modify(v, each[0, ::2])
    part.shape, part.strides = (count, k), (4 * k, 2)
    there.modify(on_device, part)
    here.modify(v, each[::2, ::2])
    assert np.array_equal(there.factors(), here.factors())
    # Backwards, which their library copies first.
    part.shape, part.strides, part.offset = (k,), (-1,), (k - 1) * each.itemsize
    there.modify(on_device, part)
    here.modify(v, each[0, k - 1 :: -1])
    assert np.array_equal(there.factors(), here.factors()) and exported() == 0


def test_orders_and_what_has_no_factor(driver: Driver) -> None:
    a = stack(5, 4)
    a[1], a[3, 2, 1] = -np.eye(4), np.nan
    orders = [4, 4, 2, 4, 0]
    here, given = cu.CholeskyBatch(a, orders=orders), put(driver, a)
    for matrices in (a, given):
        there: Any = cu.CholeskyBatch(matrices, orders=orders, engine="cuda")
        assert there.missing.tolist() == [1, 3] and there.orders.tolist() == [4, 0, 2, 0, 0]
        assert isinstance(there.status(1), cu.NotPositiveDefiniteError) and there.status(-1) is None
        assert str(there.status(3)) == "matrix 3: `a` is not finite at (2, 1)"
        with pytest.raises(cu.NotPositiveDefiniteError, match="matrix 1") as caught:
            there.factor(1)
        assert caught.value.matrix == 1
        l = there.factors() if matrices is a else there.factors().numpy()
        np.testing.assert_allclose(l, here.factors(), rtol=1e-12)
        assert np.array_equal(np.isnan(there.log_det()), [False, True, False, True, False])
        b = np.ones((5, 4))
        b[0, 2] = np.inf
        x: Any = there.solve(b if matrices is a else put(driver, b))
        assert np.array_equal(np.isnan(x if matrices is a else x.numpy()).all(1), [True, True, False, True, False])
        place = writable(driver, b)
        status = there.solve_in_place(place)
        assert status.failed.tolist() == [0, 1, 3] and np.array_equal(place.numpy()[[0, 1, 3]], b[[0, 1, 3]])
        assert str(status.errors[0]) == "matrix 0: `b` is not finite at (2, 0)"
    singular = cu.CholeskyBatch.from_factors(np.zeros((2, 3, 3)), engine="cuda")
    assert np.isnan(singular.log_det()).all()
    error = singular.solve_in_place(writable(driver, np.ones((2, 3)))).status(1)
    assert isinstance(error, cu.SingularError) and (error.matrix, error.column) == (1, 0)


@pytest.mark.parametrize("n", ORDERS[1:])
def test_one_that_fails_stays_as_it_was(driver: Driver, n: int) -> None:
    count = 8
    v = stacked_columns(count, n, 2)
    batch, wanted = cu.CholeskyBatch(stack(count, n), engine="cuda"), cu.CholeskyBatch(stack(count, n), engine="cuda")
    before = batch.factors()
    wanted.downdate(v)
    v[3] *= 1000
    v[6, 1, 1] = np.nan
    for given in (v, put(driver, v)):
        outcome = batch.downdate(given)
        assert repr(outcome) == "<cholupdate.BatchOutcome of 8 matrices, not read yet>"
        assert outcome.failed.tolist() == [3, 6] and outcome.failed.dtype == np.intp
        assert repr(outcome) == "<cholupdate.BatchOutcome of 8 matrices, 2 failed>"
        assert isinstance(outcome.errors[3], cu.NotPositiveDefiniteError) and outcome.status(0) is None
        assert str(outcome.status(-2)) == "matrix 6: `v` is not finite at (1, 1)"
        for numbers in (outcome.min_pivot_ratio, outcome.log_det_change):
            assert np.array_equal(np.isnan(numbers), np.isin(np.arange(count), [3, 6]))
        with pytest.raises(cu.NotPositiveDefiniteError, match="matrix 3: not positive definite"):
            outcome.check()
        assert batch.factors()[[3, 6]].tobytes() == before[[3, 6]].tobytes()
        if given is v:
            assert np.array_equal(np.delete(batch.factors(), [3, 6], 0), np.delete(wanted.factors(), [3, 6], 0))


def test_numbers_are_on_the_device_until_the_next_call(driver: Driver) -> None:
    batch = cu.CholeskyBatch(stack(3, 5), engine="cuda")
    v, b = stacked_columns(3, 5, 1), writable(driver, np.ones((3, 5)))
    read, unread = batch.update(v), None
    ratios = read.min_pivot_ratio.copy()
    unread = batch.update(v)
    status = batch.solve_in_place(b)
    # Solves and modifications have numbers of their own, and a refused call changes none.
    with pytest.raises(ValueError, match="`v`"):
        batch.update(v[:2])
    assert np.array_equal(read.min_pivot_ratio, ratios) and read.failed.size == 0
    with pytest.raises(ValueError, match="`b`"):
        batch.solve(np.ones((3, 4)))
    last = batch.downdate(v)
    for ask in (lambda: unread.failed, lambda: unread.log_det_change, unread.check, unread.on_device, lambda: unread.status(0)):
        with pytest.raises(RuntimeError, match="the numbers of this call are gone: they stay on the GPU until the next modification"):
            ask()
    assert status.failed.size == 0 and last.failed.size == 0
    unread_status = batch.solve_in_place(b)
    batch.solve(np.ones((3, 5)))
    with pytest.raises(RuntimeError, match="until the next solve of the batch"):
        unread_status.check()
    # An outcome keeps its batch.
    kept = cu.CholeskyBatch(stack(3, 5), engine="cuda").downdate(1e3 * v)
    gc.collect()
    assert kept.failed.tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", FLOATS)
def test_numbers_that_stay_on_the_device(driver: Driver, dtype: Any) -> None:
    library = Namespace(driver)
    batch, v = cu.CholeskyBatch(stack(4, 6, dtype), engine="cuda"), stacked_columns(4, 6, 1, dtype)
    v[2] *= 1000
    outcome = batch.downdate(v)
    arrays = outcome.on_device()
    assert all(isinstance(array, cu.DeviceArray) and array.shape == (4,) for array in arrays)
    status, ratio, change = (library.from_dlpack(array) for array in arrays)
    assert status.dtype == np.int32 and ratio.dtype == change.dtype == dtype
    assert np.array_equal(status.numpy() != 0, [False, False, True, False]) and status.numpy()[2] == 1
    good = [0, 1, 3]
    np.testing.assert_allclose(ratio.numpy()[good].astype(float) ** 2, outcome.min_pivot_ratio[good], rtol=1e-6)
    np.testing.assert_allclose(change.numpy()[good], outcome.log_det_change[good], rtol=1e-6)
    # They are those of the last modification, and outlive the batch.
    batch.update(v)
    assert status.numpy().tolist() == [0] * 4 and (change.numpy() > 0).all()
    del batch, outcome, arrays
    gc.collect()
    assert status.numpy().tolist() == [0] * 4
    with pytest.raises(ValueError, match="the batch is in host memory"):
        cu.CholeskyBatch([[[1.0]]]).update([[1.0]]).on_device()


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_come_and_go(driver: Driver, dtype: Any) -> None:
    count, n = 7, 6
    a = stack(count, n, dtype)
    there, here = cu.CholeskyBatch(np.empty((count, 0, 0), dtype), engine="cuda"), cu.CholeskyBatch(np.empty((count, 0, 0), dtype))
    for batch in (there, here):
        batch.reserve(n)
    assert there.order == n and there.orders.tolist() == [0] * count
    for m in range(n):
        column = np.full((count, n), np.nan, dtype)
        column[:, : m + 1] = a[:, m, : m + 1]
        outcome, wanted = there.append(put(driver, column) if m % 2 else column), here.append(column)
        assert outcome.failed.size == 0
        np.testing.assert_allclose(outcome.log_det_change, wanted.log_det_change, atol=tolerance(dtype))
    np.testing.assert_allclose(there.factors(), here.factors(), atol=tolerance(dtype))
    full = there.append(np.ones((count, n), dtype))
    assert full.failed.tolist() == list(range(count))
    assert "matrix 4: `a`: the number of rows is 6, expected 7" in str(full.errors[4])
    outcome, wanted = there.remove(np.arange(count)), here.remove(np.arange(count))
    assert outcome.failed.tolist() == wanted.failed.tolist() == [6] and isinstance(outcome.errors[6], IndexError)
    assert str(outcome.errors[6]) == str(wanted.errors[6]) and there.orders.tolist() == here.orders.tolist()
    mask = np.arange(count) % 2 == 0
    for batch in (there, here):
        batch.remove(0, where=mask).check()
    column = np.full((count, n), 0.1, dtype) * np.arange(1, n + 1, dtype=dtype)
    outcome, wanted = there.append(column, where=~mask), here.append(column, where=~mask)
    assert outcome.failed.tolist() == wanted.failed.tolist()
    np.testing.assert_allclose(there.factors(), here.factors(), atol=10 * tolerance(dtype))


def test_selections_copies_and_room(driver: Driver) -> None:
    a = stack(6, 5)
    given = put(driver, a)
    batch = cu.CholeskyBatch(given, engine="cuda")
    l = batch.factors().numpy()
    chosen: Any = [3, 0, 3, -1]
    for made, wanted in ((batch.select(chosen), l[chosen]), (batch.copy(), l), (copy.deepcopy(batch), l)):
        assert made.engine == "cuda" and type(made.factors()) is type(given) and np.array_equal(made.factors().numpy(), wanted)
    made.update(np.ones((6, 5)))
    assert np.array_equal(batch.factors().numpy(), l)
    outcome = batch.update(np.zeros((6, 5)))
    status = Namespace(driver).from_dlpack(outcome.on_device()[0])
    batch.reserve(7)
    assert batch.order == 7 and np.array_equal(batch.factors().numpy()[:, :5, :5], l)
    with pytest.raises(RuntimeError, match="the numbers of this call are gone"):
        outcome.check()
    batch.downdate(1e3 * np.ones((6, 7)))
    assert status.numpy().tolist() == [1] * 6
    with pytest.raises(cu.NotPositiveDefiniteError):
        batch.replace(1, -np.eye(5))
    outcome, solved = batch.update(np.zeros((6, 7))), batch.solve_in_place(writable(driver, np.ones((6, 7))))
    batch.replace(1, put(driver, 4 * np.eye(5)))
    for ask in (outcome.check, outcome.on_device, solved.check):
        with pytest.raises(RuntimeError, match="the numbers of this call are gone: .*, `replace` or `reserve`"):
            ask()
    batch.replace(-2, 9 * np.eye(2))
    assert np.array_equal(batch.factor(1).numpy(), 2 * np.eye(5)) and np.array_equal(batch.factor(4).numpy(), 3 * np.eye(2))
    with pytest.raises(ValueError, match="`a`: the number of rows is 8, expected at most 7"):
        batch.replace(0, np.eye(8))
    with pytest.raises(ValueError, match="`order` must be at most 4096"):
        batch.reserve(5000)


class CuPyArray(DeviceArray):
    """An array of a library with a current stream, which is the one of `cupy`."""

    device = contextlib.nullcontext()


CuPyArray.__module__ = "cupy"


@pytest.fixture
def stream(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> Stream:
    stream = Stream(driver)
    current = SimpleNamespace(get_current_stream=lambda: stream)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=current, from_dlpack=Namespace(driver).from_dlpack))
    return stream


def on_stream(driver: Driver, array: Array) -> CuPyArray:
    there = put(driver, array, order="C")
    return CuPyArray(driver, there.memory, there.shape, there.strides, there.dtype, read_only=False)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [5, 12, 40])
def test_calls_are_in_the_order_of_the_current_stream(driver: Driver, stream: Stream, n: int, seed: int) -> None:
    count = 6
    a, v, b = stack(count, n), stacked_columns(count, n, 2), stacked_columns(count, n, 1)
    batch, wanted = cu.CholeskyBatch(a, engine="cuda"), cu.CholeskyBatch(a, engine="cuda")
    driver.seed(seed)
    sources = on_stream(driver, v), on_stream(driver, b)
    place, rhs, taken = (on_stream(driver, np.full_like(array, np.nan)) for array in (v, b, b))
    for sign in (1, -1, 1):
        stream.copy(sources[0], place)
        outcome = (batch.update if sign > 0 else batch.downdate)(place)
        stream.fill(place, 0xFF)
        (wanted.update if sign > 0 else wanted.downdate)(v)
    status, ratio, change = outcome.on_device()
    assert status.__dlpack_device__() == (2, 0)
    stream.copy(sources[1], rhs)
    solved = batch.solve_in_place(rhs)
    stream.copy(rhs, taken)
    stream.fill(rhs, 0xFF)
    assert place.streams == [stream.ptr] * 3
    # For another stream than that of the call, an export waits for it.
    library = Namespace(driver)
    assert library.from_dlpack(status).numpy().tolist() == [0] * count
    assert np.array_equal(library.from_dlpack(change).numpy(), outcome.log_det_change)
    np.testing.assert_allclose(library.from_dlpack(ratio).numpy() ** 2, outcome.min_pivot_ratio, rtol=1e-12)
    assert solved.failed.size == 0 and outcome.failed.size == 0
    stream.synchronize()
    assert np.array_equal(taken.numpy(), wanted.solve(b))
    assert np.array_equal(batch.factors(), wanted.factors()) and np.isnan(place.numpy()).all()
    # A solution that is returned is complete.
    stream.copy(sources[1], rhs)
    x: Any = batch.solve(rhs)
    stream.fill(rhs, 0xFF)
    assert np.array_equal(x.numpy(), wanted.solve(b))


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("versioned", [False, True])
def test_capsules_are_made_on_the_device_of_the_array(
    driver: Driver, monkeypatch: pytest.MonkeyPatch, library: str, versioned: bool
) -> None:
    current: list[str] = ["cuda:0"]

    class Device:
        def __enter__(self) -> None:
            current.append("cuda:1")

        def __exit__(self, *_: object) -> None:
            current.pop()

    asked: list[str] = []

    class There(DeviceArray):
        device = Device()

        def __dlpack__(self, **keywords: Any) -> Any:
            asked.append(current[-1])
            return super().__dlpack__(**keywords)

    There.__module__ = library

    def itself(device: Any) -> Any:
        return device

    def current_stream(_device: Any) -> Any:
        return SimpleNamespace(cuda_stream=0)

    def get_current_stream() -> Any:
        return SimpleNamespace(ptr=0)

    cuda = SimpleNamespace(device=itself, current_stream=current_stream, get_current_stream=get_current_stream)
    monkeypatch.setitem(sys.modules, library, SimpleNamespace(cuda=cuda, from_dlpack=Namespace(driver).from_dlpack))
    v = stacked_columns(3, 5, 2)
    given = put(driver, v)
    there = There(driver, given.memory, given.shape, given.strides, given.dtype, versioned=versioned)
    batch, wanted = cu.CholeskyBatch(stack(3, 5), engine="cuda"), cu.CholeskyBatch(stack(3, 5), engine="cuda")
    batch.update(there).check()
    wanted.update(v)
    assert set(asked) == {"cuda:1"} and current == ["cuda:0"] and np.array_equal(batch.factors(), wanted.factors())


def test_what_is_refused(driver: Driver) -> None:
    there, here = cu.CholeskyBatch(stack(2, 3), engine="cuda"), cu.CholeskyBatch(stack(2, 3))
    before = there.factors()
    v = np.ones((2, 3))

    def refused(kind: type[Exception], message: str, call: Any) -> None:
        with pytest.raises(kind, match=message):
            call()
        assert np.array_equal(there.factors(), before) and exported() == 0

    refused(TypeError, "`v` has dtype float32, but the factor has float64", lambda: there.update(put(driver, v.astype(np.float32))))
    refused(TypeError, "`v` has dtype int64, but the factor has float64", lambda: there.update(put(driver, v.astype(np.int64))))
    refused(TypeError, "`a` has dtype int64, expected float32 or", lambda: cu.CholeskyBatch(put(driver, np.ones((1, 1, 1), np.int64)), engine="cuda"))
    refused(ValueError, "`a` has 2 dimensions, expected 3", lambda: cu.CholeskyBatch(put(driver, np.eye(3)), engine="cuda"))
    refused(ValueError, "`a`: the number of columns is 4, expected 3", lambda: cu.CholeskyBatch(put(driver, np.ones((2, 3, 4))), engine="cuda"))
    refused(ValueError, "`v` has 1 dimensions, expected 2 or 3", lambda: there.update(put(driver, np.ones(3))))
    refused(ValueError, "`v`: the number of matrices is 3, expected 2", lambda: there.update(put(driver, np.ones((3, 3)))))
    refused(ValueError, "`b`: the number of rows is 4, expected 3", lambda: there.solve(put(driver, np.ones((2, 4)))))
    refused(ValueError, "`b`: the number of rows is 4, expected 3", lambda: there.solve_in_place(writable(driver, np.ones((2, 4)))))
    refused(ValueError, "`b` is read-only", lambda: there.solve_in_place(put(driver, v)))
    refused(TypeError, "`b` must be an ndarray, not list", lambda: there.solve_in_place([[1.0] * 3] * 2))  # type: ignore # pyright: ignore
    refused(ValueError, "`weights` has shape", lambda: there.modify(put(driver, v), put(driver, np.ones((3, 1)))))
    refused(TypeError, "`where` is in the memory of a GPU", lambda: there.modify(put(driver, v), [1.0], where=put(driver, v)))  # type: ignore # pyright: ignore
    refused(TypeError, "`v` is in the memory of a GPU, but the factors are in host memory", lambda: here.update(put(driver, v)))
    refused(TypeError, "`a` is in the memory of a GPU, but the factors are", lambda: cu.CholeskyBatch(put(driver, stack(2, 3))))
    refused(ValueError, "`threads` is for the engine \"cpu\" alone", lambda: cu.CholeskyBatch(stack(2, 3), engine="cuda", threads=1))
    refused(ValueError, "`engine` is \"hybrid\", expected \"cpu\" or \"cuda\"", lambda: cu.CholeskyBatch(stack(2, 3), engine="hybrid"))
    refused(ValueError, "`engine` is \"cuda:0-1\", expected \"cpu\" or \"cuda\"", lambda: cu.CholeskyBatch(stack(2, 3), engine="cuda:0-1"))
    refused(ValueError, "`engine` is \"gpu\", expected", lambda: cu.CholeskyBatch.from_factors(stack(2, 3), engine="gpu"))
    refused(cu.DeviceError, "there is no device 5", lambda: cu.CholeskyBatch(stack(2, 3), engine="cuda:5"))
    refused(ValueError, "`a` must be of an order of at most 4096", lambda: cu.CholeskyBatch(np.broadcast_to(1.0, (1, 5000, 5000)), engine="cuda"))
    elsewhere = put(driver, v, device_id=1)
    refused(cu.DeviceError, "`v` is on device 1, the batch on device 0", lambda: there.update(elsewhere))
    refused(cu.DeviceError, "`b` is on device 1, the batch on device 0", lambda: there.solve(elsewhere))
    on_device = put(driver, v)
    refused(cu.DeviceError, "`weights` is on device 1, the batch on device 0", lambda: there.modify(on_device, put(driver, np.ones(1), device_id=1)))
    narrow = put(driver, np.ones(1, np.float32))
    refused(TypeError, "`weights` has dtype float32, but the factor has float64", lambda: there.modify(on_device, narrow))
    second = cu.CholeskyBatch(stack(2, 3), engine="cuda:1")
    refused(cu.DeviceError, "`v` is on device 0, the batch on device 1", lambda: second.update(put(driver, v)))
    assert second.engine == "cuda:1" and second.update(v).failed.size == 0


def test_strides(driver: Driver) -> None:
    v = stacked_columns(4, 6, 4)
    there, here = cu.CholeskyBatch(stack(2, 3), engine="cuda"), cu.CholeskyBatch(stack(2, 3), engine="cuda")
    part = put(driver, v, order="C", read_only=False)
    part.shape, part.strides = (2, 3, 2), (48, 8, 2)
    there.update(part)
    here.update(v[::2, ::2, ::2])
    # One matrix for all; and what the library copies first.
    part.shape, part.strides = (2, 3, 1), (0, 4, 1)
    there.update(part)
    here.update(np.broadcast_to(v[0, :3, :1], (2, 3, 1)))
    with pytest.raises(ValueError, match="`b` must"):
        there.solve_in_place(part)
    part.shape, part.strides, part.offset = (2, 3, 1), (-24, 4, 1), 24 * 8
    there.update(part)
    here.update(v[1::-1, :3, :1])
    solved: Any = there.solve(part)
    assert np.array_equal(solved.numpy(), here.solve(v[1::-1, :3, :1]))
    with pytest.raises(ValueError, match="`b` has negative strides, and is written in place"):
        there.solve_in_place(part)
    assert np.array_equal(there.factors(), here.factors())

    class Bare:
        """No library that copies, and none whose arrays results could be."""

        def __dlpack__(self, **keywords: Any) -> Any:
            return part.__dlpack__(**keywords)

        def __dlpack_device__(self) -> tuple[int, int]:
            return part.__dlpack_device__()

    with pytest.raises(TypeError, match="`v` has strides that are not used in place, and its library made no other copy"):
        there.update(Bare())
    part.shape, part.strides, part.offset = (2, 3, 1), (3, 1, 1), 0
    made: Any = there.solve(Bare())
    assert isinstance(made, cu.DeviceArray) and made.shape == (2, 3, 1)


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0, 0)])
def test_nothing_to_do(driver: Driver, shape: tuple[int, int]) -> None:
    count, n = shape
    for batch in (
        cu.CholeskyBatch(np.zeros((count, n, n)), engine="cuda"),
        cu.CholeskyBatch(put(driver, np.zeros((count, n, n))), engine="cuda"),
    ):
        outcome = batch.downdate(put(driver, np.zeros((count, n, 2))))
        assert outcome.min_pivot_ratio.tolist() == [1.0] * count and outcome.failed.size == 0
        assert batch.solve_in_place(writable(driver, np.zeros((count, n)))).failed.size == 0
        solved: Any = batch.solve(put(driver, np.zeros((count, n, 1))))
        assert solved.shape == (count, n, 1) and batch.factors().shape == (count, n, n)
        assert batch.log_det().tolist() == [0.0] * count and len(batch) == count


def test_without_a_driver() -> None:
    script = """
import cholupdate, numpy
try:
    cholupdate.CholeskyBatch(numpy.ones((1, 1, 1)), engine="cuda")
except cholupdate.DeviceError as error:
    print(error.kind)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.split() in ([], ["unavailable"])


def test_threads_take_turns(driver: Driver) -> None:
    a, b = stack(20, 6), np.ones((20, 6))
    batch = cu.CholeskyBatch(a, engine="cuda")
    wanted = batch.solve(b)
    same: list[bool] = []

    def read() -> None:
        same.append(all(np.array_equal(batch.solve(b), wanted) and batch.orders.size == 20 for _ in range(5)))

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same == [True] * 3


def test_attributes_do_not_wait_for_a_call(driver: Driver) -> None:
    batch, b = cu.CholeskyBatch(64 * np.eye(64)[None].repeat(50, 0), engine="cuda"), np.ones((50, 64, 16))
    calls = 3

    def solve() -> None:
        for _ in range(calls):
            batch.solve(b)

    thread = threading.Thread(target=solve)
    thread.start()
    reads = 0
    while thread.is_alive():
        assert len(batch) == 50 and batch.order == 64 and "in use" not in repr(batch)
        reads += 1
        time.sleep(0.001)
    # If one waited for a call, there would be one of them for each call.
    assert reads > 5 * calls


def test_a_device_that_fails_says_so(driver: Driver) -> None:
    batch = cu.CholeskyBatch(stack(2, 3), engine="cuda")
    driver.fail_at(1)
    with pytest.raises(cu.DeviceError):
        batch.update(np.ones((2, 3)))
    driver.reset()
    driver.memory_cap(1000)
    with pytest.raises(cu.DeviceError) as caught:
        cu.CholeskyBatch(stack(9, 40), engine="cuda")
    assert caught.value.kind == "out_of_memory"


LEADS = [((), (), ()), ((4,), (4,), ()), ((), (5,), ()), ((5,), (), (5,)), ((2, 1), (3,), (2, 3)), ((1,), (1,), (1,)), ((2, 3), (2, 3), ()), ((0,), (1,), ()), ((2, 0), (2, 0), ())]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("lead_l", "lead_v", "lead_w"), LEADS)
def test_stacks(
    driver: Driver, dtype: Any, upper: bool, order: Any, lead_l: tuple[int, ...], lead_v: tuple[int, ...], lead_w: tuple[int, ...]
) -> None:
    n, k = 5, 2
    l = cu.CholeskyBatch(stack(int(np.prod(lead_l)), n, dtype)).factors().reshape(*lead_l, n, n)
    v = stacked_columns(int(np.prod(lead_v)), n, k, dtype).reshape(*lead_v, n, k)
    w = np.random.default_rng(3).uniform(-0.1, 1.0, (*lead_w, k)).astype(dtype)
    l = np.swapaxes(l, -1, -2).copy() if upper else l
    triangle = np.tri(n, dtype=bool).T if upper else np.tri(n, dtype=bool)
    there, on_device = put(driver, l, order=order), put(driver, v, order=order)
    for weights, downdate in ((None, False), (None, True), (w, False)):
        wanted = cu.cholesky_update(l, v, weights=weights, downdate=downdate, upper=upper)
        for given_v in (on_device, v):
            new = cu.cholesky_update(there, given_v, weights=weights, downdate=downdate, upper=upper)
            assert type(new) is type(there) and new.shape == wanted.shape
            np.testing.assert_allclose(new.numpy(), wanted, atol=tolerance(dtype))
            assert np.array_equal(new.numpy()[..., ~triangle], np.zeros_like(wanted)[..., ~triangle])
    weighted = cu.cholesky_update(there, on_device, weights=put(driver, w, order=order), upper=upper)
    assert np.array_equal(weighted.numpy(), new.numpy()) and exported() == 0
    assert np.array_equal(there.numpy(), l) and np.array_equal(on_device.numpy(), v)
    # Into memory of the caller's.
    out = writable(driver, np.full(new.shape, 7.0, dtype), order)
    if order == "F" and len(new.shape) > 3 and new.numpy().size > 0:
        with pytest.raises(ValueError, match="`out` has strides with which it is not written in place"):
            cu.cholesky_update(there, on_device, weights=w, upper=upper, out=out)
        return
    assert cu.cholesky_update(there, on_device, weights=w, upper=upper, out=out) is out
    assert np.array_equal(out.numpy()[..., triangle], new.numpy()[..., triangle]) and np.all(out.numpy()[..., ~triangle] == 7.0)
    place = writable(driver, np.broadcast_to(l, new.shape), order)
    assert cu.cholesky_update(place, on_device, weights=w, upper=upper, overwrite_l=True) is place
    assert np.array_equal(place.numpy(), new.numpy())


def test_vectors_of_all_matrices(driver: Driver) -> None:
    l, v = cu.CholeskyBatch(stack(4, 6)).factors(), columns(6, 3)
    there, given = put(driver, l), put(driver, v, order="C")
    given.shape, given.strides, given.offset = (6,), (3,), 8
    np.testing.assert_allclose(cu.cholesky_update(there, given).numpy(), cu.cholesky_update(l, v[:, 1]), atol=1e-14)
    given.strides, given.offset = (-3,), 16 * 8
    np.testing.assert_allclose(cu.cholesky_update(there, given).numpy(), cu.cholesky_update(l, v[::-1, 1]), atol=1e-14)


def test_what_stacks_refuse(driver: Driver) -> None:
    l, v = cu.CholeskyBatch(stack(3, 4)).factors(), stacked_columns(3, 4, 1)
    v[1] *= 1000
    there, on_device = writable(driver, l), put(driver, v)

    def refused(kind: type[Exception], message: str, call: Any) -> None:
        with pytest.raises(kind, match=message):
            call()
        assert np.array_equal(there.numpy(), l) and exported() == 0

    def failing() -> None:
        cu.cholesky_update(there, on_device, downdate=True, overwrite_l=True)

    refused(cu.NotPositiveDefiniteError, "matrix 1: not positive definite", failing)
    one = put(driver, l[1])
    refused(cu.NotPositiveDefiniteError, "^not positive definite", lambda: cu.cholesky_update(one, v[1], downdate=True))
    refused(ValueError, r"leading dimensions do not match: \[3\] of `l`, \[2\] of `v`", lambda: cu.cholesky_update(there, v[:2]))
    refused(ValueError, "`v`: the number of rows is 3, expected 4", lambda: cu.cholesky_update(there, put(driver, np.ones(3))))
    refused(ValueError, "`l`: the number of columns is 4, expected 3", lambda: cu.cholesky_update(put(driver, l[:, :3]), v))
    refused(ValueError, "`l` has 1 dimensions, expected 2", lambda: cu.cholesky_update(put(driver, np.ones(3)), v))
    refused(TypeError, "`l` has dtype int64, expected float32", lambda: cu.cholesky_update(put(driver, np.ones((1, 1), np.int64)), v))
    refused(TypeError, "`v` has dtype float32, but the factor", lambda: cu.cholesky_update(there, put(driver, v.astype(np.float32))))
    refused(TypeError, "`v` is in the memory of a GPU, but the factors are in host", lambda: cu.cholesky_update(l, on_device))
    refused(ValueError, "`weights`: the number of entries is 3, expected 1", lambda: cu.cholesky_update(there, v, weights=np.ones(3)))
    refused(TypeError, "`out` must be in the memory of the GPU, as `l`, not ndarray", lambda: cu.cholesky_update(there, v, out=l.copy()))
    refused(ValueError, r"`out` has shape \[4, 4\], expected \[3, 4, 4\]", lambda: cu.cholesky_update(there, v, out=one))
    refused(ValueError, "`out` has memory in common with `l`", lambda: cu.cholesky_update(there, v, out=there))
    refused(ValueError, "`out` is read-only", lambda: cu.cholesky_update(there, v, out=put(driver, l)))
    refused(ValueError, r"`l` cannot be overwritten: it has shape \[4, 4\]", lambda: cu.cholesky_update(one, v, overwrite_l=True))
    elsewhere = put(driver, v, device_id=1)
    refused(cu.DeviceError, "`v` is on device 1, the batch on device 0", lambda: cu.cholesky_update(there, elsewhere))
    many, others = put(driver, l[:1]), put(driver, v[:1])
    many.shape, many.strides = (2**40, 1, 4, 4), (0, 0, 1, 4)
    others.shape, others.strides = (2**40, 4, 1), (0, 1, 4)
    refused(ValueError, "the result is larger than memory can be", lambda: cu.cholesky_update(many, others))
    broadcast = np.broadcast_to(l[0], (2**40, 1, 4, 4)), np.broadcast_to(v[0], (2**40, 4, 1))
    refused(ValueError, "the result is larger than memory can be", lambda: cu.cholesky_update(*broadcast))
    away = put(driver, l, device_id=1, read_only=False)
    refused(cu.DeviceError, "`out` is on device 1, ", lambda: cu.cholesky_update(there, v, out=away))
