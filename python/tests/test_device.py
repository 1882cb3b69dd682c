"""The GPU engines, and arrays in GPU memory, on a CUDA driver that runs on the CPU."""

from __future__ import annotations

import gc
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cholupdate as cu
from fake_cuda import Driver, Namespace, exported, put
from problems import columns, opencl, quasidefinite, spd

ENGINES = ("cpu", "hybrid", "cuda", "cuda:0-0", *opencl())
DTYPES = (np.float32, np.float64)


def test_without_a_driver() -> None:
    script = """
import cholupdate, numpy, pickle
for engine in ("cuda", "hybrid", "opencl"):
    try:
        cholupdate.Cholesky(numpy.eye(2), engine=engine)
    except cholupdate.DeviceError as error:
        assert error.kind == pickle.loads(pickle.dumps(error)).kind
        print(error.kind)
"""
    environment = {**os.environ, "OCL_ICD_VENDORS": "/nonexistent"}
    run = [sys.executable, "-c", script]
    found = subprocess.run(run, capture_output=True, text=True, check=True, env=environment)
    if found.stdout:
        assert set(found.stdout.split()) == {"unavailable"}


@pytest.mark.parametrize("engine", (*ENGINES[1:], "cuda:0-1"))
@pytest.mark.parametrize("dtype", DTYPES)
def test_all_verbs(driver: Driver, engine: str, dtype: Any) -> None:
    tolerance = 100 * np.finfo(dtype).eps
    a, v = spd(90, dtype), columns(90, 5, dtype)
    w = np.array([-0.5, 0.0, 0.25, 0.5, 1.0], dtype)
    f, g = cu.Cholesky(a, engine=engine), cu.Cholesky(a)
    assert (f.engine, f.dtype, f.order) == (engine, dtype, 90)
    changes: list[Callable[[cu.Cholesky], cu.Modification]] = [
        lambda f: f.update(v),
        lambda f: f.modify(v, w),
        lambda f: f.downdate(0.5 * v),
        lambda f: f.remove([3, 80]),
        lambda f: f.append(v[:88, 0], 7.0),
        lambda f: f.insert(0, [7.0] + [0.0] * 89),
        lambda f: f.replace(5, [0.0] * 5 + [9.0] + [0.0] * 84),
        lambda f: f.shift(2, 50),
        lambda f: f.permute(np.arange(90)[::-1]),
    ]
    for change in changes:
        there, here = change(f), change(g)
        np.testing.assert_allclose(there.log_det_change, here.log_det_change, atol=100 * tolerance)
        np.testing.assert_allclose(f.factor(), g.factor(), atol=tolerance)
    assert f.can_downdate(0.01 * v) and not f.can_downdate(100 * v)
    np.testing.assert_allclose(f.solve(v), g.solve(v), atol=tolerance)
    np.testing.assert_allclose(f.log_det(), g.log_det(), rtol=tolerance)
    np.testing.assert_allclose(f.condition(), g.condition(), rtol=100 * tolerance)
    more = f.extension(v[:, 0], 3.0)
    np.testing.assert_allclose(more.log_det(), g.extension(v[:, 0], 3.0).log_det(), rtol=tolerance)
    for again in (f.copy(), pickle.loads(pickle.dumps(f)), f.to_engine("cpu")):
        assert np.array_equal(again.factor(), f.factor())
    before = f.factor()
    with pytest.raises(cu.NotPositiveDefiniteError):
        f.downdate(100 * v)
    assert np.array_equal(f.factor(), before)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("versioned", [False, True])
def test_matrices_in_device_memory(
    driver: Driver, engine: str, dtype: Any, order: Any, versioned: bool
) -> None:
    a, v = spd(70, dtype), columns(70, 4, dtype)
    f, g = cu.Cholesky(a, engine=engine), cu.Cholesky(a, engine=engine)
    there = put(driver, v, order=order, offset=256, versioned=versioned)
    assert f.update(there) == g.update(v)
    assert f.can_downdate(there)
    f.downdate(there)
    g.downdate(v)
    f.modify(there, [1.0, -0.5, 0.0, 2.0])
    g.modify(v, [1.0, -0.5, 0.0, 2.0])
    vector = put(driver, v[:, 0])
    f.update(vector)
    g.update(v[:, 0])
    assert np.array_equal(f.factor(), g.factor())
    assert set(vector.streams) == {1} and exported() == 0
    assert np.array_equal(there.numpy(), v)

    for b in (there, vector):
        x = f.solve(b)
        assert type(x) is type(b) and x.shape == b.shape
        np.testing.assert_allclose(x.numpy(), g.solve(b.numpy()), atol=100 * np.finfo(dtype).eps)
        np.testing.assert_allclose(
            f.solve_lt(f.solve_l(b)).numpy(), g.solve(b.numpy()), atol=100 * np.finfo(dtype).eps
        )
    assert np.array_equal(there.numpy(), v)

    f.append(put(driver, v[:, 1]), put(driver, np.array([[9.0]], dtype)))
    g.append(v[:, 1], 9.0)
    np.testing.assert_allclose(f.factor(), g.factor(), atol=20 * np.finfo(dtype).eps)
    more, ones = f.extension(np.ones(71, dtype), 999.0), np.ones((72, 2), dtype)
    np.testing.assert_allclose(more.solve(put(driver, ones)).numpy(), more.solve(ones), atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_indefinite_factor_takes_matrices_in_device_memory(driver: Driver, dtype: Any, order: Any) -> None:
    a, v, w = quasidefinite(20, 10, dtype), columns(30, 3, dtype), np.array([1.0, -0.5, 2.0], dtype)
    f, g = cu.Ldlt(put(driver, np.tril(a), order=order)), cu.Ldlt(a)
    there = put(driver, v, order=order)
    assert f.modify(there, w) == g.modify(v, w)
    assert f.insert(3, put(driver, np.eye(31, dtype=dtype)[:, 3:4], order=order)) == g.insert(3, np.eye(31, dtype=dtype)[:, 3])
    assert isinstance(f.l, np.ndarray) and np.array_equal(f.l, g.l) and np.array_equal(f.signs, g.signs)
    b = columns(31, 2, dtype)
    x = f.solve(put(driver, b, order=order))
    assert type(x) is type(there) and np.array_equal(x.numpy(), g.solve(b))
    again = cu.Ldlt.from_factor(put(driver, g.l, order=order), g.signs)
    assert np.array_equal(again.l, g.l) and exported() == 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_factors_of_device_memory(driver: Driver, engine: str, upper: bool, order: Any) -> None:
    a = spd(20)
    read = np.triu(a) if upper else np.tril(a)
    f = cu.Cholesky(put(driver, read, order=order), upper=upper, engine=engine)
    here = np.empty(0)
    np.testing.assert_allclose(f.factor(like=here), np.linalg.cholesky(a), atol=1e-14)
    l = f.factor(upper=upper, like=here)
    again = cu.Cholesky.from_factor(put(driver, l, order=order), upper=upper, engine=engine)
    assert np.array_equal(again.factor(upper=upper, like=here), l)


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_on_the_device_stays_there(driver: Driver, dtype: Any) -> None:
    a = spd(20, dtype)
    given = put(driver, a)
    f = cu.Cholesky(given, engine="cuda")
    l: np.ndarray[Any, np.dtype[Any]] = f.factor(like=np.empty(0))
    assert isinstance(l, np.ndarray) and exported() == 0  # no reference to the matrix is kept
    for factor in (f, f.copy(), cu.Cholesky.from_factor(f.factor(), engine="cuda")):
        assert type(factor.factor()) is type(given)
        assert np.array_equal(factor.factor().numpy(), l)
        assert np.array_equal(factor.factor(upper=True).numpy(), l.T)
        made = factor.reconstruct()
        assert type(made) is type(given) and made.shape == (20, 20)
        np.testing.assert_allclose(made.numpy(), a, atol=50 * np.finfo(dtype).eps)
        assert isinstance(factor.reconstruct(like=[]), np.ndarray)
    # A pickle is for any machine, and its factor is a NumPy array in host memory.
    assert np.array_equal(pickle.loads(pickle.dumps(f)).factor(), l)
    assert isinstance(f.to_engine("cpu").factor(), np.ndarray)
    assert isinstance(cu.Cholesky(given).factor(), np.ndarray)
    # A factor from host memory can be returned on the device.
    g = cu.Cholesky(a, engine="cuda")
    assert isinstance(g.factor(), np.ndarray)
    assert np.array_equal(g.factor(like=given).numpy(), g.factor())


def test_what_is_refused(driver: Driver) -> None:
    f = cu.Cholesky(np.eye(3), engine="cuda")
    with pytest.raises(TypeError, match="`v` has dtype float32, but the factor has float64"):
        f.update(put(driver, np.ones(3, np.float32)))
    with pytest.raises(TypeError, match="`v` has dtype int64, but the factor has float64"):
        f.update(put(driver, np.ones(3, np.int64)))
    with pytest.raises(TypeError, match="`a` has dtype complex128, expected float32 or float64"):
        cu.Cholesky(put(driver, np.eye(3, dtype=complex)))
    with pytest.raises(ValueError, match="`v` has 3 dimensions"):
        f.update(put(driver, np.ones((3, 1, 1))))
    with pytest.raises(ValueError, match="`v`: the number of rows is 4, expected 3"):
        f.update(put(driver, np.ones(4)))
    with pytest.raises(ValueError, match="`v` is not finite"):
        f.update(put(driver, np.full(3, np.nan)))
    with pytest.raises(ValueError, match="`b` is not finite"):
        f.solve(put(driver, np.full(3, np.nan)))
    with pytest.raises(cu.DeviceError, match="there is no device 5"):
        cu.Cholesky(np.eye(3), engine="cuda:5")
    assert np.array_equal(f.factor(), np.eye(3))


def test_strange_strides_are_copied_on_the_device(driver: Driver) -> None:
    v = columns(6, 4)
    f, g = cu.Cholesky(spd(3), engine="cuda"), cu.Cholesky(spd(3), engine="cuda")
    whole = put(driver, v, order="C")
    whole.shape, whole.strides = (3, 4), (8, 1)
    f.update(whole)
    g.update(v[::2])
    whole.shape, whole.strides = (3,), (8,)
    f.update(whole)
    g.update(v[::2, 0])
    assert np.array_equal(f.factor(), g.factor())


def test_managed_and_host_memory(driver: Driver) -> None:
    f, g = cu.Cholesky(spd(3), engine="cuda"), cu.Cholesky(spd(3), engine="cuda")
    f.update(put(driver, columns(3, 1), device_type=13))
    g.update(columns(3, 1))
    assert np.array_equal(f.factor(), g.factor())


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_what_is_made_is_given_back(driver: Driver, max_version: tuple[int, int] | None) -> None:
    f = cu.Cholesky(spd(50), engine="cuda")
    b = put(driver, columns(50, 3))
    x = f.solve(b)

    class Bare:
        """No namespace: results are returned unconverted."""

        def __dlpack__(self, **keywords: Any) -> Any:
            return b.__dlpack__(**keywords)

        def __dlpack_device__(self) -> tuple[int, int]:
            return b.__dlpack_device__()

    made: Any = f.solve(Bare())
    assert isinstance(made, cu.DeviceArray) and made.shape == (50, 3)
    made.__dlpack__(max_version=max_version)  # a capsule that is not consumed
    with pytest.raises(BufferError):
        made.__dlpack__(dl_device=(1, 0))
    with pytest.raises(BufferError):
        made.__dlpack__(copy=True)
    taken = Namespace(driver).from_dlpack(made, max_version=max_version)
    del made
    gc.collect()
    assert np.array_equal(taken.numpy(), x.numpy())
    f.update(taken)


def test_a_device_that_fails_loses_the_factor_and_says_so(driver: Driver) -> None:
    a = spd(200)
    f = cu.Cholesky(a, engine="cuda")
    driver.fail_at(1)
    with pytest.raises(cu.DeviceError) as caught:
        f.update(columns(200, 2))
    assert caught.value.kind in ("lost", "other")
    driver.reset()
    driver.memory_cap(1000)
    with pytest.raises(cu.DeviceError) as caught:
        cu.Cholesky(a, engine="cuda")
    assert caught.value.kind == "out_of_memory"


def test_the_messages_name_the_device(driver: Driver) -> None:
    f = cu.Cholesky(np.eye(2), engine="hybrid")
    assert re.fullmatch("<cholupdate.Cholesky of order 2, float64, engine 'hybrid'>", repr(f))
    with pytest.raises(ValueError, match="`safeguard`"):
        f.to_engine("cuda", safeguard="dry_run")
    assert f.to_engine("hybrid", safeguard="none").engine == "hybrid"
