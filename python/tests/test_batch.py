"""The class `CholeskyBatch`, compared with single factors."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cholupdate as cu
from problems import Array, assert_within_bound, columns, spd

FLOATS = (np.float32, np.float64)


def stack(count: int, n: int, dtype: Any = np.float64, seed: int = 0) -> Array:
    return np.array([spd(n, dtype, seed + b) for b in range(count)], dtype).reshape(count, n, n)


def stacked_columns(count: int, n: int, k: int, dtype: Any = np.float64, seed: int = 100) -> Array:
    return np.array([columns(n, k, dtype, seed + b) for b in range(count)], dtype).reshape(count, n, k)


def laid_out(values: Array, layout: str) -> Array:
    """The same entries in another memory layout."""
    if layout == "C":
        return np.array(values, order="C")
    if layout == "F":
        return np.array(values, order="F")
    if layout == "reversed":
        back = (slice(None, None, -1),) * values.ndim
        return np.ascontiguousarray(values[back])[back]
    if layout == "sliced":
        wide = np.full(tuple(2 * extent for extent in values.shape), np.nan, values.dtype)
        every = (slice(1, None, 2),) * values.ndim
        wide[every] = values
        return wide[every]
    if layout == "swapped":
        return values.astype(values.dtype.newbyteorder())
    if layout == "read-only":
        frozen = values.copy()
        frozen.flags.writeable = False
        return frozen
    if layout == "beside":
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(values, 0, -1)), -1, 0)
    if layout == "unaligned":
        raw = np.empty(values.nbytes + 1, np.uint8)[1:].view(values.dtype).reshape(values.shape)
        raw[...] = values
        return raw
    raise ValueError(layout)


LAYOUTS = ("C", "F", "reversed", "sliced", "swapped", "read-only", "beside", "unaligned")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("count", "n", "k"), [(1, 1, 1), (5, 3, 1), (40, 8, 2), (19, 33, 3), (3, 150, 5), (4, 2, 0), (0, 3, 1)])
def test_every_matrix_as_alone(count: int, n: int, k: int, dtype: Any) -> None:
    a, v = stack(count, n, dtype), stacked_columns(count, n, k, dtype)
    w = np.resize(np.array([1.0, -0.5, 2.0], dtype), k)
    batch = cu.CholeskyBatch(a)
    assert len(batch) == count and batch.order == n and batch.dtype == dtype and batch.missing.size == 0
    before = batch.factors()
    assert before.shape == (count, n, n) and before.dtype == dtype
    for weights in (np.ones(k, dtype), -np.ones(k, dtype), w):
        outcome = batch.modify(v, w) if weights is w else (batch.update if np.all(weights > 0) else batch.downdate)(v)
        after = batch.factors()
        assert outcome.failed.shape == (0,) and outcome.errors == {}
        assert outcome.min_pivot_ratio.shape == outcome.log_det_change.shape == (count,)
        for b in range(count):
            assert_within_bound(after[b], before[b], v[b], weights)
            assert np.array_equal(np.triu(after[b], 1), np.zeros((n, n)))
            assert np.array_equal(batch.factor(b), after[b])
            alone = cu.Cholesky.from_factor(before[b])
            report = alone.modify(v[b], weights)
            np.testing.assert_allclose(outcome.log_det_change[b], report.log_det_change, rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(outcome.min_pivot_ratio[b], report.min_pivot_ratio, rtol=1e-4)
        before = after
    np.testing.assert_allclose(batch.log_det(), [2 * np.log(np.diag(l)).sum() for l in before], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_bits(dtype: Any, layout: str) -> None:
    a, v, b = stack(21, 6, dtype), stacked_columns(21, 6, 3, dtype), stacked_columns(21, 6, 2, dtype, 7)
    w = np.array([1.0, -0.5, 2.0], dtype)
    plain, other = cu.CholeskyBatch(a), cu.CholeskyBatch(laid_out(a, layout))
    laid = laid_out(v, layout)
    for batch, given_v in ((plain, v), (other, laid)):
        assert batch.modify(given_v, w).failed.size == 0
        assert batch.update(given_v[:, :, 0]).failed.size == 0
        assert batch.downdate(given_v[:, :, 0]).failed.size == 0
    assert np.array_equal(plain.factors(), other.factors()) and np.array_equal(laid, v)
    each = np.outer(np.linspace(0.1, 1, 21), w).astype(dtype)
    plain.modify(v, each)
    other.modify(laid, laid_out(each, layout))
    assert np.array_equal(plain.factors(), other.factors())
    wanted = plain.solve(b)
    assert np.array_equal(wanted, other.solve(laid_out(b, layout))) and wanted.shape == b.shape and wanted.dtype == dtype
    assert np.array_equal(plain.solve(b[:, :, 0]), wanted[:, :, 0])
    np.testing.assert_allclose(plain.factors() @ (plain.factors().transpose(0, 2, 1) @ wanted), b, atol=1e-4)
    again = cu.CholeskyBatch.from_factors(laid_out(plain.factors(), layout))
    assert np.array_equal(again.factors(), plain.factors())
    if layout in ("C", "F", "reversed", "sliced", "beside"):
        x = laid_out(b, layout)
        assert plain.solve_in_place(x).failed.size == 0
        assert np.array_equal(x, wanted)
        y = laid_out(b[:, :, 1], layout)
        assert plain.solve_in_place(y).failed.size == 0
        assert np.array_equal(y, wanted[:, :, 1])


def test_matrices_without_rows() -> None:
    batch = cu.CholeskyBatch(np.zeros((3, 0, 0)))
    outcome = batch.downdate(np.zeros((3, 0, 2)))
    assert outcome.min_pivot_ratio.tolist() == [1.0] * 3 and outcome.log_det_change.tolist() == [0.0] * 3
    assert batch.solve(np.zeros((3, 0))).shape == (3, 0) and batch.log_det().tolist() == [0.0] * 3
    assert batch.factor(0).shape == (0, 0) and batch.select([1]).factors().shape == (1, 0, 0)


def test_only_lower_triangles_are_read() -> None:
    a = stack(9, 5)
    above = a + np.triu(np.full((5, 5), np.nan), 1)
    assert np.array_equal(cu.CholeskyBatch(above).factors(), cu.CholeskyBatch(a).factors())
    l = cu.CholeskyBatch(a).factors()
    assert np.array_equal(cu.CholeskyBatch.from_factors(l + np.triu(np.full((5, 5), np.inf), 1)).factors(), l)
    assert np.array_equal(cu.CholeskyBatch.from_factors(-l).factors(), l)


@pytest.mark.parametrize("dtype", FLOATS)
def test_one_that_fails_stays_as_it_was(dtype: Any) -> None:
    count, n = 37, 6
    v = stacked_columns(count, n, 2, dtype)
    batch, wanted = cu.CholeskyBatch(stack(count, n, dtype)), cu.CholeskyBatch(stack(count, n, dtype))
    before = batch.factors()
    wanted.downdate(v)
    v[3] *= 1000
    v[17, 4, 1] = np.nan
    v[36, 0, 0] = np.inf
    outcome = batch.downdate(v)
    failed = [3, 17, 36]
    others = np.setdiff1d(np.arange(count), failed)
    assert outcome.failed.tolist() == failed and outcome.failed.dtype == np.intp
    after = batch.factors()
    assert after[failed].tobytes() == before[failed].tobytes()
    assert after[others].tobytes() == wanted.factors()[others].tobytes()
    for numbers in (outcome.min_pivot_ratio, outcome.log_det_change):
        assert np.isnan(numbers[failed]).all() and np.isfinite(numbers[others]).all()
    assert sorted(outcome.errors) == failed
    refused = outcome.errors[3]
    assert isinstance(refused, cu.NotPositiveDefiniteError)
    assert refused.matrix == 3 and isinstance(refused.column, int) and str(refused).startswith("matrix 3: not positive definite")
    assert isinstance(outcome.status(17), ValueError) and str(outcome.status(17)) == "matrix 17: `v` is not finite at (4, 1)"
    assert outcome.status(0) is None and str(outcome.status(-1)) == "matrix 36: `v` is not finite at (0, 0)"
    with pytest.raises(cu.NotPositiveDefiniteError, match="matrix 3: not positive definite"):
        outcome.check()
    assert repr(outcome) == "<cholupdate.BatchOutcome of 37 matrices, 3 failed>"
    # It has its own numbers.
    ratios = outcome.min_pivot_ratio.copy()
    batch.update(stacked_columns(count, n, 2, dtype))
    del batch
    assert np.array_equal(outcome.min_pivot_ratio, ratios, equal_nan=True) and outcome.failed.tolist() == failed
    again = pickle.loads(pickle.dumps(refused))
    assert (again.matrix, again.column, str(again)) == (3, refused.column, str(refused))


def test_matrices_without_a_factor() -> None:
    a = stack(6, 3)
    a[1] = -np.eye(3)
    a[4, 2, 0] = np.nan
    batch = cu.CholeskyBatch(a)
    assert batch.missing.tolist() == [1, 4]
    assert isinstance(batch.status(1), cu.NotPositiveDefiniteError) and batch.status(0) is None
    assert str(batch.status(4)) == "matrix 4: `a` is not finite at (2, 0)"
    with pytest.raises(cu.NotPositiveDefiniteError, match="matrix 1: not positive definite") as caught:
        batch.factor(1)
    assert caught.value.matrix == 1
    assert np.isnan(batch.factors()[[1, 4]]).all() and np.isfinite(batch.factors()[[0, 2, 3, 5]]).all()
    assert np.isnan(batch.log_det()).tolist() == [False, True, False, False, True, False]
    v = stacked_columns(6, 3, 1)
    assert batch.update(v).failed.tolist() == [1, 4]
    mask = np.array([True, False, True, False, True, True])
    assert batch.modify(v, [1.0], where=mask).failed.tolist() == [4]
    b = np.ones((6, 3))
    x = batch.solve(b)
    assert np.isnan(x).all(1).tolist() == np.isnan(x).any(1).tolist() == [False, True, False, False, True, False]
    b[0, 1] = np.nan
    before = b.copy()
    status = batch.solve_in_place(b)
    assert status.failed.tolist() == [0, 1, 4] and type(status) is cu.BatchStatus
    assert str(status.status(0)) == "matrix 0: `b` is not finite at (1, 0)"
    assert np.array_equal(b[[0, 1, 4]], before[[0, 1, 4]], equal_nan=True) and np.array_equal(b[2], x[2])
    with pytest.raises(cu.NotPositiveDefiniteError):
        batch.replace(0, -np.eye(3))
    batch.replace(1, np.eye(3))
    batch.replace(-2, 4 * np.eye(2))
    assert batch.missing.size == 0 and np.array_equal(batch.factor(4), 2 * np.eye(2))
    assert np.array_equal(batch.factors()[4], np.diag([2.0, 2.0, 0.0]))


def test_singular_factors() -> None:
    batch = cu.CholeskyBatch.from_factors(np.zeros((3, 2, 2)))
    assert batch.missing.size == 0 and np.isnan(batch.log_det()).all()
    status = batch.solve_in_place(np.ones((3, 2)))
    assert status.failed.tolist() == [0, 1, 2]
    error = status.errors[2]
    assert isinstance(error, cu.SingularError) and error.matrix == 2 and error.column == 0
    assert isinstance(batch.downdate(np.ones((3, 2))).errors[0], cu.SingularError)
    assert batch.update(np.tile(np.eye(2), (3, 1, 1))).failed.size == 0
    assert np.array_equal(batch.factors(), np.tile(np.eye(2), (3, 1, 1)))


def test_masks() -> None:
    a, v = stack(20, 4), stacked_columns(20, 4, 2)
    mask = np.arange(20) % 3 == 0
    for where in (mask, mask.tolist(), tuple(mask)):
        batch, all_of_them = cu.CholeskyBatch(a), cu.CholeskyBatch(a)
        before = batch.factors()
        outcome, whole = batch.modify(v, [1.0, -1.0], where=where), all_of_them.modify(v, [1.0, -1.0])
        assert outcome.failed.size == 0
        assert np.array_equal(batch.factors()[~mask], before[~mask])
        assert np.array_equal(batch.factors()[mask], all_of_them.factors()[mask])
        assert np.array_equal(outcome.log_det_change, np.where(mask, whole.log_det_change, 0.0))
        assert np.array_equal(outcome.min_pivot_ratio, np.where(mask, whole.min_pivot_ratio, 1.0))
    # What is left out is not read.
    v[~mask] = np.nan
    assert batch.modify(v, [1.0, -1.0], where=mask).failed.size == 0


def test_weights_of_all_and_of_each() -> None:
    a, v = stack(11, 3), stacked_columns(11, 3, 2)
    shared, each = cu.CholeskyBatch(a), cu.CholeskyBatch(a)
    shared.modify(v, [2.0, -0.5])
    each.modify(v, np.tile([2.0, -0.5], (11, 1)))
    assert np.array_equal(shared.factors(), each.factors())
    w = np.random.default_rng(0).standard_normal((11, 2))
    outcome = each.modify(v, w)
    assert outcome.failed.size == 0
    for b in range(11):
        assert_within_bound(each.factor(b), shared.factor(b), v[b], w[b])
    w[5, 1] = np.nan
    outcome = each.modify(v, w)
    assert outcome.failed.tolist() == [5] and "`weights` is not finite" in str(outcome.status(5))
    # A column without weight is not read.
    v[:, :, 1] = np.nan
    assert each.modify(v, [1.0, 0.0]).failed.size == 0


def test_orders() -> None:
    a, orders = stack(9, 5), [5, 3, 0, 1, 5, 4, 2, 5, 3]
    garbage = a.copy()
    for b, order in enumerate(orders):
        garbage[b, order:] = np.nan
    batch = cu.CholeskyBatch(garbage, orders=orders)
    assert batch.order == 5 and batch.missing.size == 0
    v = stacked_columns(9, 5, 1)
    for b, order in enumerate(orders):
        v[b, order:] = np.nan
    assert batch.update(v).failed.size == 0
    x = batch.solve(np.nan_to_num(v))
    for b, order in enumerate(orders):
        alone = cu.Cholesky(a[b, :order, :order])
        alone.update(v[b, :order])
        np.testing.assert_allclose(batch.factor(b), alone.factor(), rtol=1e-12)
        np.testing.assert_allclose(x[b, :order], alone.solve(v[b, :order]), rtol=1e-12, atol=1e-13)
        assert np.array_equal(batch.factors()[b, order:], np.zeros((5 - order, 5)))
    assert np.array_equal(cu.CholeskyBatch(a, orders=np.array(orders)).factors()[0], cu.CholeskyBatch(a).factor(0))


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_come_and_go(dtype: Any) -> None:
    count, n = 13, 6
    a = stack(count, n, dtype)
    batch = cu.CholeskyBatch(np.empty((count, 0, 0), dtype))
    batch.reserve(n)
    assert batch.order == n and batch.orders.tolist() == [0] * count
    for m in range(n):
        column = np.full((count, n), np.nan, dtype)
        column[:, : m + 1] = a[:, m, : m + 1]
        outcome = batch.append(column if m % 2 else column[:, :, None])
        assert outcome.failed.size == 0 and (outcome.min_pivot_ratio <= 1).all()
        for b in range(count):
            alone = cu.Cholesky(a[b, :m, :m])
            report = alone.append(a[b, :m, m : m + 1], a[b, m : m + 1, m : m + 1])
            tolerance = 1e-3 if dtype is np.float32 else 1e-12
            np.testing.assert_allclose(batch.factor(b), alone.factor(), rtol=tolerance, atol=tolerance)
            np.testing.assert_allclose(outcome.log_det_change[b], report.log_det_change, rtol=tolerance, atol=tolerance)
    assert (batch.orders == n).all()
    full = batch.append(np.ones((count, n), dtype))
    assert full.failed.tolist() == list(range(count))
    assert "matrix 4: `a`: the number of rows is 6, expected 7" in str(full.errors[4])
    indices = np.arange(count) % (n + 1)
    before = batch.factors()
    outcome = batch.remove(indices)
    assert outcome.failed.tolist() == [6] and isinstance(outcome.errors[6], IndexError)
    assert np.isnan(outcome.log_det_change[6]) and np.array_equal(batch.factor(6), before[6])
    for b, index in enumerate(indices.tolist()):
        if index < n:
            left = [i for i in range(n) if i != index]
            kept: Array = a[b][left][:, left]
            np.testing.assert_allclose(batch.factor(b), cu.Cholesky(kept).factor(), rtol=1e-3, atol=1e-5)
    assert batch.orders.tolist() == [n if b == 6 else n - 1 for b in range(count)]
    batch.remove(0).check()


def test_rows_of_some_matrices() -> None:
    count, n = 10, 3
    batch = cu.CholeskyBatch(stack(count, n))
    batch.reserve(n + 1)
    assert np.array_equal(batch.factors()[:, :n, :n], cu.CholeskyBatch(stack(count, n)).factors())
    before, mask = batch.factors(), np.arange(count) % 3 == 0
    column = np.tile([0.1, 0.2, 0.3, 5.0], (count, 1))
    column[~mask] = np.nan
    outcome = batch.append(column, where=mask)
    assert outcome.failed.size == 0
    assert batch.orders.tolist() == [n + 1 if chosen else n for chosen in mask.tolist()]
    assert np.array_equal(outcome.log_det_change == 0, ~mask)
    outcome = batch.remove(np.where(mask, n, -7), where=mask.tolist())
    assert outcome.failed.size == 0 and np.array_equal(batch.factors(), before)
    # A matrix without a factor has no row, and fails unless it is left out.
    broken = cu.CholeskyBatch([np.eye(2), -np.eye(2)], orders=[1, 1])
    assert broken.orders.tolist() == [1, 0]
    assert broken.append(np.eye(2)[::-1]).failed.tolist() == [1]
    assert broken.remove(1).failed.tolist() == [1]
    assert broken.remove([0, 0], where=[True, False]).failed.size == 0


def test_selections_and_copies() -> None:
    a = stack(12, 3)
    batch = cu.CholeskyBatch(a)
    l = batch.factors()
    for chosen in ([3, 0, 3, -1], slice(1, None, 4), np.arange(12) % 2 == 0, 5, [], np.array([7, 7])):
        indices: Any = chosen
        selected = batch.select(indices)
        assert np.array_equal(selected.factors(), np.atleast_3d(l[indices]).reshape(-1, 3, 3))
    for made in (batch.copy(), copy.copy(batch), copy.deepcopy(batch)):
        made.update(np.ones((12, 3)))
        assert np.array_equal(batch.factors(), l) and not np.array_equal(made.factors(), l)
    assert repr(batch) == "<cholupdate.CholeskyBatch of 12 matrices of order 3, float64>"


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_number_of_threads_changes_no_bit(dtype: Any) -> None:
    count, n, k = 3000, 12, 2
    a, v = np.resize(stack(50, n, dtype), (count, n, n)), np.resize(stacked_columns(50, n, k, dtype), (count, n, k))
    v[1234] *= 1000
    results: list[tuple[Array, ...]] = []
    for threads in (1, 2, 3, -1, None):
        batch = cu.CholeskyBatch(a, threads=threads)
        outcome = batch.downdate(v)
        results.append((batch.factors(), outcome.failed, outcome.log_det_change, batch.solve(v)))
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            assert one.tobytes() == two.tobytes()
    assert results[0][1].tolist() == [1234]


def test_threads_of_python() -> None:
    a, b = stack(2000, 10), np.ones((2000, 10))
    batch = cu.CholeskyBatch(a)
    wanted = batch.solve(b)
    outcomes: list[bool] = []

    def read() -> None:
        outcomes.append(all(np.array_equal(batch.solve(b), wanted) for _ in range(10)))

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert outcomes == [True] * 4


class During:
    """An index that is asked for in the middle of a call, and makes another call then."""

    def __init__(self, call: Callable[[], object], refused: bool) -> None:
        self.call, self.refused, self.asked = call, refused, False

    def __index__(self) -> int:
        self.asked = True
        if self.refused:
            with pytest.raises(RuntimeError, match="the batch is in use by another thread"):
                self.call()
        else:
            self.call()
        return 0


def test_a_batch_in_use() -> None:
    batch = cu.CholeskyBatch(stack(2, 3))
    before = batch.factors()
    while_changed, while_read = During(batch.log_det, True), During(lambda: batch.update(np.ones((2, 3))), True)
    batch.replace(while_changed, np.eye(3))
    batch.select([while_read, During(batch.log_det, False)])
    assert while_changed.asked and while_read.asked
    assert np.array_equal(batch.factor(0), np.eye(3)) and np.array_equal(batch.factor(1), before[1])


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_process_works() -> None:
    script = """
import os, numpy as np, cholupdate as cu
a, v = np.tile(4.0 * np.eye(10), (3000, 1, 1)), np.full((3000, 10), 0.1)
batch = cu.CholeskyBatch(a)
batch.update(v)
wanted = cu.CholeskyBatch(batch.factors() @ batch.factors().transpose(0, 2, 1)).solve(v)
batch = cu.CholeskyBatch(a)
child = os.fork()
if child == 0:
    batch.update(v)
    os._exit(0 if np.allclose(batch.solve(v), wanted) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=120)


@settings(max_examples=40, deadline=None)
@given(
    count=st.integers(1, 20),
    n=st.integers(1, 12),
    k=st.integers(0, 5),
    dtype=st.sampled_from(FLOATS),
    layout=st.sampled_from(LAYOUTS),
    seed=st.integers(0, 2**31),
)
def test_any_batch_in_any_layout(count: int, n: int, k: int, dtype: Any, layout: str, seed: int) -> None:
    a, v = stack(count, n, dtype, seed), stacked_columns(count, n, k, dtype, seed + 1)
    plain, other = cu.CholeskyBatch(a), cu.CholeskyBatch(laid_out(a, layout))
    for one, two in ((plain.update(v), other.update(laid_out(v, layout))), (plain.downdate(v), other.downdate(laid_out(v, layout)))):
        assert np.array_equal(one.log_det_change, two.log_det_change) and np.array_equal(one.failed, two.failed)
    assert np.array_equal(plain.factors(), other.factors())
