"""Extensions and carried right-hand sides of the class `Ldlt`, real and complex, against NumPy."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import cholupdate as cu
from test_complex import Array, assert_close, real_dtype
from test_complex import columns as complex_columns
from test_complex_ldlt import hermitian

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def of_dtype(a: Array, dtype: Any) -> Array:
    """The same numbers, or their real parts."""
    return (a if np.iscomplexobj(np.zeros(1, dtype)) else np.real(a)).astype(dtype)


def matrix(n: int, dtype: Any) -> Array:
    return of_dtype(hermitian(n), dtype)


def columns(n: int, k: int, dtype: Any, seed: int = 1) -> Array:
    return of_dtype(complex_columns(n, k, seed=seed), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_extension_is_the_append_without_the_change(dtype: Any) -> None:
    a, b = matrix(9, dtype), columns(9, 2, dtype)
    f = cu.Ldlt(a[:7, :7])
    before = f.l
    e = f.extension(a[:7, 7:], a[7:, 7:])
    assert (e.order, len(e), e.inertia) == (9, 9, (6, 3))
    x = e.solve(b)
    assert x.dtype == dtype
    assert_close(a @ x, b, 1000.0)
    assert e.solve(b[:, 0]).shape == (9,)
    c, s = e.corner(), e.signs
    schur = a[7:, 7:] - a[7:, :7] @ np.linalg.solve(a[:7, :7], a[:7, 7:])
    assert s.dtype == real_dtype(dtype)
    assert_close((c * s) @ c.conj().T, schur.astype(dtype), 1000.0)
    assert e.log_abs_det() == pytest.approx(np.linalg.slogdet(a)[1], abs=1e-4)
    again = pickle.loads(pickle.dumps(e))
    assert np.array_equal(again.solve(b), x) and again.inertia == e.inertia
    assert repr(e) == "<cholupdate.LdltExtension of order 9>"
    assert np.array_equal(f.l, before)
    f.append(a[:7, 7:], a[7:, 7:])
    for call in (lambda: e.solve(b), lambda: e.inertia, e.log_abs_det, pickle.loads(pickle.dumps(e)).log_abs_det):
        with pytest.raises(RuntimeError, match="has changed"):
            call()


def test_what_has_no_factor_is_no_extension() -> None:
    f = cu.Ldlt([[4.0, 2.0], [2.0, -5.0]])
    with pytest.raises(cu.SingularError) as refused:
        f.extension([2.0, 1.0], 1.0)
    assert refused.value.column == 2
    f.growth_limit = 10.0
    with pytest.raises(cu.UnstableError):
        f.extension([1e3, 0.0], 1.0)
    with pytest.raises(ValueError, match="`cross`"):
        f.extension([1.0], 1.0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_right_hand_sides_stay_current(dtype: Any) -> None:
    a, b = matrix(10, dtype), columns(10, 2, dtype)
    f = cu.Ldlt(a)
    z = f.solve_l(b)
    weights = np.array([1.0, -0.5, 2.0], real_dtype(dtype))
    v, y = columns(10, 3, dtype, 20), columns(3, 2, dtype, 21)
    for seed in range(5):
        v, y = columns(10, 3, dtype, seed), columns(3, 2, dtype, seed + 10)
        old = z.copy()
        report, z = f.modify_carrying(0.75, v, y, z, weights)
        assert report.inertia == f.inertia and not np.array_equal(old, z)
        a = 0.75 * a + (v * weights) @ v.conj().T
        b = 0.75 * b + (v * weights) @ y
        assert z.dtype == dtype and z.shape == (10, 2)
        assert_close(f.l @ z, b.astype(dtype), 1000.0)
        assert_close(a @ f.solve_lt(f.signs[:, None] * z), b, 4000.0)
    vector = f.solve_l(b[:, 0])
    report, after = f.modify_carrying(1.0, v[:, 0], y[0, :1], vector)
    assert after.shape == (10,)
    before, l = after.copy(), f.l
    f.expect_inertia(10, 0)
    with pytest.raises(cu.InertiaError):
        f.modify_carrying(1.0, v[:, 0], y[0, :1], after)
    assert np.array_equal(before, after) and np.array_equal(f.l, l)
    with pytest.raises(ValueError, match="`y`"):
        f.modify_carrying(1.0, v, y[:2], z)
