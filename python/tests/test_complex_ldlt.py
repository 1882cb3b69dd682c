"""The class `Ldlt` of complex numbers, against NumPy: A = L S Lᴴ."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import cholupdate as cu
from test_complex import DTYPES, Array, assert_close, columns, hpd, real_dtype


def hermitian(n: int, dtype: Any = np.complex128, seed: int = 0) -> Array:
    """(H Aᴴ; A −G) with H and G positive definite, a third of the rows in G."""
    own = n - n // 3
    a = hpd(n, seed=seed)
    a[own:, own:] *= -1.0
    return a.astype(dtype)


def inertia(a: Array) -> tuple[int, int]:
    of = np.linalg.eigvalsh(a.astype(np.complex128))
    return int(np.sum(of > 0.0)), int(np.sum(of < 0.0))


def assert_is_factor(f: cu.Ldlt, a: Array) -> None:
    l, s = f.l, f.signs
    assert f.dtype == l.dtype == a.dtype and s.dtype == real_dtype(a.dtype)
    assert np.all(np.triu(l, 1) == 0) and np.all(np.imag(np.diag(l)) == 0) and np.all(np.real(np.diag(l)) > 0)
    assert set(s.tolist()) <= {-1.0, 1.0} and f.inertia == inertia(a)
    assert_close((l * s) @ l.conj().T, a, 400.0)
    assert_close(f.reconstruct(), a, 400.0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_factor_is_made_of_either_triangle(dtype: Any) -> None:
    a = hermitian(9, dtype)
    lower, upper = np.tril(a), np.triu(a)
    lower[np.triu_indices(9, 1)] = np.nan
    upper[np.tril_indices(9, -1)] = np.nan
    for of in (lower, upper):
        np.imag(of)[np.diag_indices(9)] = np.nan  # not read
    for order in ("C", "F"):
        f, g = cu.Ldlt(np.array(lower, order=order)), cu.Ldlt(np.array(upper, order=order), upper=True)
        assert_is_factor(f, a)
        assert_close(f.l, g.l)
        assert np.array_equal(f.signs, g.signs)
    assert f.inertia == (6, 3)
    assert_close(cu.Ldlt(hpd(9, dtype)).l, np.linalg.cholesky(hpd(9, dtype)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_factor_is_taken_with_any_phases(dtype: Any) -> None:
    f = cu.Ldlt(hermitian(9, dtype))
    phases = np.exp(1j * np.arange(9)).astype(dtype)
    again = cu.Ldlt.from_factor(f.l * phases, 4.0 * f.signs)
    assert_is_factor(again, 4 * hermitian(9, dtype))
    assert_close(again.l, 2 * f.l)
    for other in (f.copy(), copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert np.array_equal(other.l, f.l) and np.array_equal(other.signs, f.signs) and other.dtype == dtype
    assert repr(f) == f"<cholupdate.Ldlt of order 9, inertia (6, 3), {np.dtype(dtype)}>"


@pytest.mark.parametrize("dtype", DTYPES)
def test_modifications(dtype: Any) -> None:
    a, v = hermitian(12, dtype), columns(12, 3, dtype)
    w = np.array([0.5, -1.0, 2.0], real_dtype(dtype))
    f = cu.Ldlt(a)
    f.update(v)
    assert_is_factor(f, a + v @ v.conj().T)
    f.downdate(v)
    f.modify(v, w)
    assert_is_factor(f, a + (v * w) @ v.conj().T)
    f.modify(v, -w)
    f.modify_scaled(0.5, v[:, 0], [2.0])
    assert_is_factor(f, np.asarray(0.5 * a + 2 * np.outer(v[:, 0], v[:, 0].conj()), dtype))
    report = f.downdate(20 * v)  # pivots change their signs
    assert report.changes_inertia() and report.inertia == f.inertia
    before = f.l
    f.expect_inertia(*f.inertia)
    with pytest.raises(cu.InertiaError):
        f.update(40 * v)
    assert np.array_equal(f.l, before) and not f.can_downdate(100 * columns(12, 6, dtype, seed=3))
    f.expect_signs(f.signs)
    expected = f.expected_signs
    assert expected is not None and np.array_equal(expected, f.signs)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_and_columns(dtype: Any) -> None:
    a = hermitian(12, dtype)
    f = cu.Ldlt(a[:9, :9])
    f.append(a[:9, 9:], a[9:, 9:] + 7j * np.eye(3, dtype=dtype))  # that diagonal is not read
    assert_is_factor(f, a)
    f.remove([2, 5])
    kept = [i for i in range(12) if i not in (2, 5)]
    assert_is_factor(f, a[np.ix_(kept, kept)])
    f.insert(2, a[np.ix_([0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11], [2])])
    order = [i for i in range(12) if i != 5]
    assert_is_factor(f, a[np.ix_(order, order)])
    f.shift(0, 10)
    f.permute([10, *range(10)])
    assert_is_factor(f, a[np.ix_(order, order)])
    column = a[order, 7].copy()
    column[6] = 3.0
    changed = a[np.ix_(order, order)].copy()
    changed[:, 6], changed[6] = column, column.conj()
    f.replace(6, column)
    assert_is_factor(f, changed)


@pytest.mark.parametrize("dtype", DTYPES)
def test_solutions(dtype: Any) -> None:
    a, b = hermitian(10, dtype), columns(10, 2, dtype, seed=5)
    f = cu.Ldlt(a)
    x = f.solve(b)
    assert x.dtype == dtype
    assert_close(a @ x, b, 1000.0)
    assert_close(f.solve_lt(f.signs[:, None] * f.solve_l(b)), x)
    sign, log = np.linalg.slogdet(a.astype(np.complex128))
    assert sign.real * (-1) ** f.inertia[1] > 0 and f.log_abs_det() == pytest.approx(log, abs=1e-4)
    condition = np.linalg.cond(a, 1)
    assert condition / 10 < f.condition() < 1.01 * condition
