"""The class `Ldlt`: values, against NumPy."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cholupdate as cu
from problems import Array, columns, exact, quasidefinite, spd
from test_arguments import LAYOUTS, laid_out

FLOATS = (np.float32, np.float64)


def inertia(a: Array) -> tuple[int, int]:
    of = np.linalg.eigvalsh(a.astype(np.float64))
    return int(np.sum(of > 0.0)), int(np.sum(of < 0.0))


def parts(f: cu.Ldlt) -> tuple[Array, Array]:
    """L S Lᵀ and L Lᵀ, in extended precision."""
    l = exact(f.l)
    return (l * exact(f.signs)) @ l.T, l @ l.T


def assert_factor(f: cu.Ldlt, wanted: Array, before: Array | float = 0.0, c: float = 4.0) -> None:
    """|L S Lᵀ − A|_ij ≤ c max(n, 12) u √(M_ii M_jj) with M = |L| |D| |Lᵀ| + before; and what holds for any L and S."""
    a, m = parts(f)
    unit = np.finfo(f.l.dtype).eps / 2
    scale = np.sqrt(np.diag(m + before))
    bound = c * max(f.order, 12) * unit * np.outer(scale, scale)
    assert np.all(np.abs(a - exact(wanted)) <= bound)
    assert np.all(np.abs(exact(f.reconstruct()) - exact(wanted)) <= 2.0 * bound)
    assert np.all(np.triu(f.l, 1) == 0) and np.all(np.diag(f.l) > 0) and set(f.signs.tolist()) <= {-1.0, 1.0}
    assert f.inertia == inertia(wanted) == (int(np.sum(f.signs > 0)), int(np.sum(f.signs < 0)))
    growth = max(1.0, float(np.diag(m).max() / np.abs(np.diag(a)).max()))
    # The diagonal of A is a difference of sums in the factor's precision.
    assert f.growth == pytest.approx(growth, rel=8.0 * growth * float(unit))


def assert_report(report: cu.LdltModification, f: cu.Ldlt, before: tuple[tuple[int, int], float]) -> None:
    """What a call returned, and inertia and log |det A| before it."""
    assert (report.inertia_before, report.inertia) == (before[0], f.inertia) and report.growth == f.growth
    assert report.changes_inertia() == (before[0] != f.inertia)
    assert 0.0 < report.min_pivot_ratio
    change = f.log_abs_det() - before[1]
    assert report.log_abs_det_change == pytest.approx(change, abs=2e3 * float(np.finfo(f.l.dtype).eps))


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_factor_is_made_of_either_triangle(dtype: Any) -> None:
    a = quasidefinite(7, 4, dtype)
    lower, upper = np.tril(a), np.triu(a)
    lower[np.triu_indices(11, 1)] = np.nan
    upper[np.tril_indices(11, -1)] = np.nan
    for order in ("C", "F"):
        f, g = cu.Ldlt(np.array(lower, order=order)), cu.Ldlt(np.array(upper, order=order), upper=True)
        assert_factor(f, a)
        assert f.dtype == g.dtype == f.l.dtype == f.signs.dtype == dtype and f.inertia == (7, 4)
        assert np.array_equal(f.l, g.l) and np.array_equal(f.signs, g.signs) and f.l.flags.f_contiguous
    p = cu.Ldlt(spd(9, dtype))
    np.testing.assert_allclose(p.l, np.linalg.cholesky(spd(9, dtype)), atol=20 * np.finfo(dtype).eps)
    assert p.inertia == (9, 0) and p.growth == pytest.approx(1.0)
    assert cu.Ldlt([[4, 2], [2, -5]]).dtype == np.float64


def test_a_factor_is_taken_as_it_is() -> None:
    a = quasidefinite(6, 5)
    f = cu.Ldlt(a)
    again = cu.Ldlt.from_factor(f.l, f.signs)
    assert np.array_equal(again.l, f.l) and np.array_equal(again.signs, f.signs) and again.growth == f.growth
    unit, d = f.l / np.diag(f.l), f.signs * np.diag(f.l) ** 2
    assert_factor(cu.Ldlt.from_factor(unit, d), a)
    above = np.triu(np.full((11, 11), np.nan), 1)
    assert_factor(cu.Ldlt.from_factor(above - unit, d.tolist()), a)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("n", "k"), [(20, 1), (20, 3), (20, 40), (150, 16), (300, 2)])
def test_modifications(dtype: Any, n: int, k: int) -> None:
    m = 2 * n // 5
    v, w = columns(n, k, dtype, size=0.4 / np.sqrt(k)), np.linspace(-1.0, 1.5, k).astype(dtype)
    f = cu.Ldlt(quasidefinite(n - m, m, dtype))
    one = np.ones(k, dtype)
    calls: list[tuple[Callable[[], cu.LdltModification], float, Array]] = [
        (lambda: f.update(v), 1.0, one),
        (lambda: f.downdate(v), 1.0, -one),
        (lambda: f.modify(v, w), 1.0, w),
        (lambda: f.modify_scaled(0.75, v, w), 0.75, w),
        (lambda: f.modify_scaled(0.75, v), 0.75, one),
        (lambda: f.modify(16.0 * v, -w), 1.0, -256.0 * w),  # which changes signs of eigenvalues
    ]
    for call, decay, weights in calls:
        before, (a, size) = (f.inertia, f.log_abs_det()), parts(f)
        report = call()
        wanted = decay * a + (exact(v) * exact(weights)) @ exact(v).T
        assert_factor(f, wanted, size + (exact(v) * np.abs(exact(weights))) @ exact(v).T)
        assert_report(report, f, before)
        sign, logarithm = np.linalg.slogdet(wanted.astype(np.float64))
        assert sign == (-1.0) ** f.inertia[1]
        assert f.log_abs_det() == pytest.approx(logarithm, abs=10.0 * f.growth * f.condition() * float(np.finfo(dtype).eps))


def test_an_eigenvalue_changes_its_sign() -> None:
    f, first = cu.Ldlt(quasidefinite(8, 5)), np.eye(13)[0]
    assert f.modify(first, [-30.0]).inertia == f.inertia == (7, 6)
    report = f.modify(first, [30.0])
    assert (report.inertia_before, report.inertia, report.changes_inertia()) == ((7, 6), (8, 5), True)
    assert_factor(f, quasidefinite(8, 5), 60.0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_come_go_and_change_places(dtype: Any) -> None:
    shuffled = np.random.default_rng(5).permutation(11)
    a = quasidefinite(6, 5, dtype)[np.ix_(shuffled, shuffled)]
    b = a.copy()
    b[:, 3:5] = b[3:5, :] = 0.0
    b[3, 3], b[4, 4] = -2.0, 2.0
    f = cu.Ldlt(a[:9, :9])
    p, q = [3, 1, 0, 7, 6, 2, 5, 4, 10, 9, 8], [0, 2, 3, 4, 5, 6, 1, 7, 8, 9, 10]
    kept = [0, 1, 3, 4, 6, 7, 8, 9, 10]
    calls: list[tuple[Callable[[], cu.LdltModification], Array]] = [
        (lambda: f.append(a[:9, 9:], a[9:, 9:]), a),
        (lambda: f.remove([5, 2]), a[np.ix_(kept, kept)]),
        (lambda: f.insert(2, a[np.delete(np.arange(11), 5), 2]), np.delete(np.delete(a, 5, 0), 5, 1)),
        (lambda: f.insert(5, a[:, 5:6]), a),
        (lambda: f.replace(3, b[:, 3:5]), b),
        (lambda: f.replace(3, a[:, 3:5]), a),
        (lambda: f.permute(p), a[np.ix_(p, p)]),
        (lambda: f.permute(np.argsort(p)), a),
        (lambda: f.shift(1, 6), a[np.ix_(q, q)]),
        (lambda: f.shift(6, 1), a),
        (lambda: f.remove(np.int64(-1)), a[:10, :10]),
        (lambda: f.append(a[:10, 10], a[10, 10]), a),
        (lambda: f.remove(slice(4, 8)), np.delete(np.delete(a, slice(4, 8), 0), slice(4, 8), 1)),
        (lambda: f.remove(np.arange(7) == 0), np.delete(np.delete(a, [0, 4, 5, 6, 7], 0), [0, 4, 5, 6, 7], 1)),
    ]
    for call, wanted in calls:
        before = (f.inertia, f.log_abs_det())
        report = call()
        # Rounding errors of earlier calls remain.
        assert_factor(f, wanted, 8.0)
        assert_report(report, f, before)
        assert len(f) == f.order == len(wanted)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 40),
    k=st.integers(0, 50),
    dtype=st.sampled_from(FLOATS),
    layout=st.sampled_from(LAYOUTS),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_matrix_in_any_layout(n: int, k: int, dtype: Any, layout: str, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(n)
    a = quasidefinite(n - n // 3, n // 3, dtype, seed % 1000)[np.ix_(order, order)]
    v, w = columns(n, k, dtype, seed, size=0.05), np.linspace(-1.0, 1.0, k).astype(dtype)
    f, g = cu.Ldlt(a), cu.Ldlt(laid_out(a, layout), threads=2)
    (old, size), given_v = parts(f), laid_out(v, layout)
    assert f.modify(v, w) == g.modify(given_v, w)
    assert_factor(f, old + (exact(v) * exact(w)) @ exact(v).T, size + exact(v) @ exact(v).T)
    assert np.array_equal(given_v, v)
    assert f.append(v[:, :1], [[3.0]]) == g.append(given_v[:, :1], 3) if k else f.remove([]) == g.remove([])
    assert np.array_equal(f.l, g.l) and np.array_equal(f.signs, g.signs)
    b = np.ones((f.order, 2), dtype)
    assert np.array_equal(f.solve(b), g.solve(laid_out(b, layout)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_solves_and_condition(dtype: Any) -> None:
    a, b, unit = quasidefinite(9, 6, dtype), columns(15, 3, dtype), np.finfo(dtype).eps
    f = cu.Ldlt(a)
    np.testing.assert_allclose(a @ f.solve(b), b, atol=50 * unit)
    np.testing.assert_allclose(f.l @ f.solve_l(b), b, atol=50 * unit)
    np.testing.assert_allclose(f.l.T @ f.solve_lt(b[:, 0]), b[:, 0], atol=50 * unit)
    np.testing.assert_allclose(f.solve_lt(f.signs * f.solve_l(b[:, 0])), f.solve(b[:, 0]), atol=50 * unit)
    assert f.solve(b).shape == (15, 3) and f.solve(b).flags.f_contiguous and f.solve(b).dtype == dtype
    assert 0.3 < f.condition() / np.linalg.cond(a.astype(float), 1) < 1.0 + 1e3 * unit


def test_copies_are_apart() -> None:
    a, v = quasidefinite(5, 3), columns(8, 2)
    f = cu.Ldlt(a, threads=1)
    f.update(v)
    f.growth_limit = 1e6
    f.expect_signs([1, 0, 1, 1, 1, -1, -1, 0])
    l = f.l
    copies: list[cu.Ldlt] = [f.copy(), copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))]
    f.downdate(v)
    f.expect_any_inertia()
    assert f.expected_signs is None
    for again in copies:
        assert np.array_equal(again.l, l) and again.dtype == f.dtype and again.growth_limit == 1e6
        assert again.expected_signs is not None and again.expected_signs.tolist() == [1, 0, 1, 1, 1, -1, -1, 0]
        with pytest.raises(cu.SignError):
            again.modify(np.eye(8)[2], [-20.0])
        again.downdate(v)
        assert np.array_equal(again.l, f.l) and np.array_equal(again.signs, f.signs)
    f.expect_inertia(5, 3)
    single = cu.Ldlt(a.astype(np.float32))
    again, other = pickle.loads(pickle.dumps((f, single)))
    assert again.expected_inertia == (5, 3) and again.expected_signs is None
    assert other.dtype == np.float32 and np.array_equal(other.l, single.l) and other.expected_inertia is None


def test_representation_equality_and_weak_references() -> None:
    f = cu.Ldlt(quasidefinite(2, 1, np.float32))
    assert repr(f) == "<cholupdate.Ldlt of order 3, inertia (2, 1), float32>"
    v = np.ones(3, np.float32)
    first, second = f.copy().update(v), f.update(v)
    assert first == second and first != f.update(v) and pickle.loads(pickle.dumps(first)) == copy.copy(first) == first
    assert repr(first).startswith("LdltModification(min_pivot_ratio=") and "inertia_before=(2, 1)" in repr(first)
    ref = weakref.ref(f)
    del f
    gc.collect()
    assert ref() is None


def test_the_smallest_ones() -> None:
    f = cu.Ldlt(np.zeros((0, 0)))
    assert (f.order, f.inertia, f.log_abs_det(), f.condition(), f.growth) == (0, (0, 0), 0.0, 1.0, 1.0)
    assert f.update(np.zeros((0, 3))).min_pivot_ratio == 1.0 and f.solve(np.zeros((0, 2))).shape == (0, 2)
    assert f.l.shape == f.reconstruct().shape == (0, 0) and f.signs.shape == (0,)
    f.remove([])
    f.permute([])
    assert cu.Ldlt.from_factor(np.zeros((0, 0)), []).order == pickle.loads(pickle.dumps(f)).order == 0
    assert f.append(np.zeros(0), -4.0).inertia == (0, 1)
    assert f.l.tolist() == [[2.0]] and f.solve([8.0]).tolist() == [-2.0]
    report = f.update(np.zeros((1, 0)))
    assert (report.min_pivot_ratio, report.log_abs_det_change, report.inertia) == (1.0, 0.0, (0, 1))
    assert f.update([[1.0, 2.0, 3.0]]).inertia == (1, 0)
    np.testing.assert_allclose(f.reconstruct(), [[10.0]], rtol=1e-14)
    f.remove(0)
    f.insert(0, [[4.0, 0.0], [2.0, -5.0]])
    np.testing.assert_allclose(f.reconstruct(), [[4.0, 2.0], [2.0, -5.0]])
