"""Forgetting, carried right-hand sides, and when to factor again."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cholupdate as cu
from fake_cuda import Driver
from problems import columns, spd

ENGINES = ("cpu", "hybrid", "cuda")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_was_seen_before_counts_less(driver: Driver, engine: str, dtype: Any) -> None:
    tolerance = 50 * np.finfo(dtype).eps
    a, v, w = spd(20, dtype), columns(20, 3, dtype), np.array([1.0, -0.5, 2.0], dtype)
    f = cu.Cholesky(a, engine=engine)
    report = f.modify_scaled(0.5, v, w)
    wanted = 0.5 * a + (v * w) @ v.T
    np.testing.assert_allclose(f.reconstruct(), wanted, atol=tolerance)
    change = np.linalg.slogdet(wanted)[1] - np.linalg.slogdet(a)[1]
    np.testing.assert_allclose(report.log_det_change, change, atol=20 * tolerance)
    f.modify_scaled(1.0, v)
    np.testing.assert_allclose(f.reconstruct(), wanted + v @ v.T, atol=tolerance)


def test_right_hand_sides_go_along() -> None:
    random = np.random.default_rng(0)
    x, y = random.standard_normal((60, 5)), random.standard_normal((60, 2))
    f = cu.Cholesky(x[:40].T @ x[:40])
    carried = cu.Carried(f, x[:40].T @ y[:40], np.sum(y[:40] ** 2, axis=0))
    f.modify_carrying(1.0, x[40:].T, y[40:], carried)
    f.modify_carrying(1.0, x[:10].T, y[:10], carried, weights=-np.ones(10))
    beta = np.linalg.lstsq(x[10:], y[10:])[0]
    np.testing.assert_allclose(f.solve_lt(carried.z), beta, atol=1e-12)
    np.testing.assert_allclose(carried.squares, np.sum((y[10:] - x[10:] @ beta) ** 2, axis=0), atol=1e-11)
    again = pickle.loads(pickle.dumps(carried))
    assert np.array_equal(again.z, carried.z) and np.array_equal(again.squares, carried.squares)
    assert repr(carried) == "<cholupdate.Carried of order 5, 2 right-hand sides>"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_least_squares_begin_from_nothing(driver: Driver, engine: str, dtype: Any) -> None:
    random = np.random.default_rng(2)
    x, y = random.standard_normal((30, 4)).astype(dtype), random.standard_normal((30, 2)).astype(dtype)
    f = cu.Cholesky.zeros(4, dtype=dtype, engine=engine)
    carried, alone = cu.Carried.zeros(f, 2), cu.Carried.zeros(f)
    assert carried.z.shape == (4, 2) and alone.z.shape == (4,) and alone.z.dtype == dtype
    for row in range(0, 30, 3):
        f.modify_carrying(1.0, x[row : row + 3].T, y[row : row + 3], carried)
    beta = np.linalg.lstsq(x, y)[0]
    tolerance = 200 * np.finfo(dtype).eps
    np.testing.assert_allclose(f.solve_lt(carried.z), beta, atol=tolerance)
    np.testing.assert_allclose(carried.squares, np.sum((y - x @ beta) ** 2, axis=0), rtol=tolerance)
    with pytest.raises(ValueError, match="`m`"):
        cu.Carried.zeros(f, -1)


@pytest.mark.parametrize("engine", ENGINES)
def test_one_right_hand_side_forgets_as_well(driver: Driver, engine: str) -> None:
    random = np.random.default_rng(1)
    x, y = random.standard_normal((30, 4)), random.standard_normal(30)
    f = cu.Cholesky(x[:20].T @ x[:20], engine=engine)
    carried = cu.Carried(f, x[:20].T @ y[:20], np.sum(y[:20] ** 2))
    assert carried.z.shape == (4,) and carried.squares.shape == (1,)
    for row in range(20, 30):
        f.modify_carrying(0.9, x[row], y[row : row + 1], carried)
    weights = np.concatenate([np.full(20, 0.9**10), 0.9 ** np.arange(9, -1, -1)])
    beta = np.linalg.solve(x.T @ (weights[:, None] * x), x.T @ (weights * y))
    np.testing.assert_allclose(f.solve_lt(carried.z), beta, atol=1e-12)
    np.testing.assert_allclose(carried.squares, np.sum(weights * (y - x @ beta) ** 2), atol=1e-12)


def test_what_fails_changes_nothing() -> None:
    f = cu.Cholesky(np.eye(3))
    carried = cu.Carried(f, np.ones(3), 5.0)
    z, squares, before = carried.z, carried.squares, f.factor()
    for decay in (0.0, -1.0, 1.5, np.nan):
        with pytest.raises(ValueError, match="`decay` must be positive and at most 1"):
            f.modify_scaled(decay, np.ones(3))
    with pytest.raises(cu.NotPositiveDefiniteError):
        f.modify_carrying(1.0, 2.0 * np.ones(3), [1.0], carried, [-1.0])
    with pytest.raises(ValueError, match="`y`: the number of rows is 2, expected 1"):
        f.modify_carrying(1.0, np.ones(3), [1.0, 1.0], carried)
    with pytest.raises(ValueError, match="`y` is not finite"):
        f.modify_carrying(1.0, np.ones(3), [np.nan], carried)
    with pytest.raises(ValueError, match="`z`: the number of rows is 3, expected 2"):
        cu.Cholesky(np.eye(2)).modify_carrying(1.0, np.ones(2), [1.0], carried)
    with pytest.raises(TypeError, match="`carried` is of a factor of another dtype"):
        single = cu.Cholesky(np.eye(3, dtype=np.float32))
        single.modify_carrying(1.0, [1, 1, 1], [1], carried)
    with pytest.raises(ValueError, match="`sums`: the number of entries is 2, expected 1"):
        cu.Carried(f, np.ones(3), [1.0, 2.0])
    with pytest.raises(ValueError, match="`b`: the number of rows is 2, expected 3"):
        cu.Carried(f, np.ones(2), [1.0])
    assert np.array_equal(carried.z, z) and np.array_equal(carried.squares, squares)
    assert np.array_equal(f.factor(), before)


def test_when_to_start_afresh() -> None:
    f = cu.Cholesky(np.eye(3))
    assert f.error_estimate() < 1e-15 and not f.needs_refactor(max_modifications=0)
    f.update(np.ones(3))
    assert not f.needs_refactor() and not f.needs_refactor(max_modifications=1)
    assert f.needs_refactor(max_modifications=0)
    g = cu.Cholesky(np.eye(3))
    g.downdate([np.sqrt(1.0 - 1e-9), 0.0, 0.0])
    g.update([0.0, 1e6, 0.0])  # of another row
    assert 1e-8 < g.error_estimate() < 1.0
    assert g.needs_refactor() and not g.needs_refactor(max_error=1.0)
    for bad in (-1, 1.5):
        with pytest.raises((ValueError, TypeError), match="`max_modifications`"):
            f.needs_refactor(max_modifications=bad)  # type: ignore[arg-type] # pyright: ignore


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_start_from_nothing(driver: Driver, engine: str, dtype: Any) -> None:
    x = np.random.default_rng(0).standard_normal((20, 5)).astype(dtype)
    f = cu.Cholesky.zeros(5, dtype=dtype, engine=engine)
    assert (f.dtype, f.order, f.engine) == (dtype, 5, engine) and not f.factor().any()
    for rows in range(5):
        refused: list[Callable[[], object]] = [
            f.log_det,
            f.condition,
            lambda: f.solve(x[0]),
            lambda: f.downdate(1e-3 * x[0]),
            lambda: f.remove(0),
        ]
        for call in refused:
            with pytest.raises(cu.SingularError, match=f"singular: the pivot of column {rows} is zero") as caught:
                call()
            assert caught.value.column == pickle.loads(pickle.dumps(caught.value)).column == rows
            assert isinstance(caught.value, np.linalg.LinAlgError)
        again = pickle.loads(pickle.dumps(f))
        assert np.array_equal(again.factor(), f.factor())
        f.update(x[rows])
    f.update(x[5:].T)
    np.testing.assert_allclose(f.reconstruct(), x.T @ x, atol=100 * np.finfo(dtype).eps)


def test_what_zeros_takes() -> None:
    assert cu.Cholesky.zeros(np.int64(3)).dtype == np.float64 and cu.Cholesky.zeros(0).log_det() == 0.0
    assert cu.Cholesky.zeros(2, dtype="f4", threads=-1).dtype == np.float32
    l = np.array([[2.0, 0.0], [1.0, 0.0]])
    f = cu.Cholesky.from_factor(l)
    f.update([0.0, 2.0])
    assert np.array_equal(f.factor(), [[2.0, 0.0], [1.0, 2.0]])
    orders: tuple[Any, ...] = ("C", "F")
    for order in orders:
        given = np.array(l, order=order)
        np.testing.assert_allclose(cu.cholesky_update(given, [0.0, 2.0]), [[2.0, 0.0], [1.0, 2.0]])
        cu.cholesky_update(given, [0.0, 2.0], overwrite_l=True)
        np.testing.assert_allclose(given, [[2.0, 0.0], [1.0, 2.0]])
    refused: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: cu.Cholesky.zeros(-1), ValueError, "`n` is -1, expected at least 0"),
        (lambda: cu.Cholesky.zeros(10**30), ValueError, "`n` must be small enough"),
        (lambda: cu.Cholesky.zeros(2**40), ValueError, "`n` must be small enough"),
        (lambda: cu.Cholesky.zeros(3, dtype=np.float16), TypeError, "`dtype` is float16, expected float32 or float64"),
        (lambda: cu.Cholesky.zeros(2.0), TypeError, "`n` must be an integer, not float"),  # type: ignore[arg-type] # pyright: ignore
    ]
    for call, kind, message in refused:
        with pytest.raises(kind, match=message):
            call()
