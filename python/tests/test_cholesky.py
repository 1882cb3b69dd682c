"""The class `Cholesky` on the CPU."""

import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cholupdate as cu
from problems import columns, spd


def test_a_factor_is_made_of_either_triangle() -> None:
    a = spd(7)
    wanted = np.linalg.cholesky(a)
    lower, upper = np.tril(a), np.triu(a)
    lower[np.triu_indices(7, 1)] = np.nan
    upper[np.tril_indices(7, -1)] = np.nan
    for order in ("C", "F"):
        np.testing.assert_allclose(cu.Cholesky(np.array(lower, order=order)).factor(), wanted, rtol=1e-13)
        f = cu.Cholesky(np.array(upper, order=order), upper=True)
        np.testing.assert_allclose(f.factor(), wanted, rtol=1e-13)
        np.testing.assert_allclose(f.factor(upper=True), wanted.T, rtol=1e-13)


def test_a_factor_is_taken_as_it_is() -> None:
    l = np.tril(columns(5, 5, seed=3)) + np.eye(5)
    assert np.array_equal(cu.Cholesky.from_factor(l).factor(), l)
    assert np.array_equal(cu.Cholesky.from_factor(l.T, upper=True).factor(), l)
    flipped = l * np.array([1, -1, 1, -1, 1])
    assert np.array_equal(cu.Cholesky.from_factor(flipped).factor(), l)


def test_what_is_returned_lies_as_is_said() -> None:
    f = cu.Cholesky(spd(4))
    assert f.factor().flags.f_contiguous and f.factor(upper=True).flags.c_contiguous
    assert np.all(np.triu(f.factor(), 1) == 0) and np.all(np.tril(f.factor(upper=True), -1) == 0)
    assert f.solve(np.ones(4)).shape == (4,) and f.solve(np.ones((4, 2))).shape == (4, 2)
    assert f.solve(np.ones((4, 2))).flags.f_contiguous


def test_updates_downdates_and_mixed_signs() -> None:
    a, v, w = spd(9), columns(9, 3), np.array([0.5, -0.25, 2.0])
    f = cu.Cholesky(a)
    report = f.update(v)
    assert report.min_pivot_ratio >= 1.0
    np.testing.assert_allclose(f.reconstruct(), a + v @ v.T, atol=1e-14)
    np.testing.assert_allclose(
        report.log_det_change, np.linalg.slogdet(a + v @ v.T)[1] - np.linalg.slogdet(a)[1], atol=1e-13
    )
    assert f.can_downdate(v)
    f.downdate(v)
    np.testing.assert_allclose(f.reconstruct(), a, atol=1e-14)
    f.modify(v, w)
    np.testing.assert_allclose(f.reconstruct(), a + (v * w) @ v.T, atol=1e-14)
    f.modify(v[:, 0], [-0.5])
    f.modify(v[:, 1:], -w[1:])
    np.testing.assert_allclose(f.reconstruct(), a, atol=1e-14)


def test_rows_come_go_and_change_places() -> None:
    a = spd(8)
    f = cu.Cholesky(a[:6, :6])
    f.append(a[:6, 6:], a[6:, 6:])
    np.testing.assert_allclose(f.reconstruct(), a, atol=1e-14)
    f.remove([2, 5])
    f.insert(2, a[np.ix_([0, 1, 2, 3, 4, 6, 7], [2])][:, 0])
    f.insert(5, a[:, 5])
    np.testing.assert_allclose(f.reconstruct(), a, atol=1e-13)
    b = a.copy()
    b[:, 3:5] = b[3:5, :] = 0.0
    b[3, 3] = b[4, 4] = 2.0
    f.replace(3, b[:, 3:5])
    np.testing.assert_allclose(f.reconstruct(), b, atol=1e-13)
    f.replace(3, a[:, 3:5])
    p = [3, 1, 0, 7, 6, 2, 5, 4]
    f.permute(p)
    np.testing.assert_allclose(f.reconstruct(), a[np.ix_(p, p)], atol=1e-13)
    f.permute(np.argsort(p))
    f.shift(1, 6)
    q = np.array([0, 2, 3, 4, 5, 6, 1, 7])
    np.testing.assert_allclose(f.reconstruct(), a[np.ix_(q, q)], atol=1e-13)
    f.remove(np.int64(7))
    assert f.order == len(f) == 7
    f.append(a[q[:7], 7], a[7, 7])
    np.testing.assert_allclose(f.reconstruct(), a[np.ix_(q, q)], atol=1e-13)


def test_extensions_stand_on_a_factor_until_it_changes() -> None:
    a = spd(8)
    f = cu.Cholesky(a[:6, :6])
    extension = f.extension(a[:6, 6:], a[6:, 6:])
    assert extension.order == len(extension) == 8 and "8" in repr(extension)
    b = columns(8, 2)
    np.testing.assert_allclose(a @ extension.solve(b), b, atol=1e-13)
    np.testing.assert_allclose(a @ extension.solve(b[:, 0]), b[:, 0], atol=1e-13)
    np.testing.assert_allclose(extension.log_det(), np.linalg.slogdet(a)[1])
    np.testing.assert_allclose(extension.corner(), np.linalg.cholesky(a)[6:, 6:], atol=1e-14)
    with pytest.raises(cu.NotPositiveDefiniteError) as caught:
        f.extension(a[:6, 6:], -a[6:, 6:])
    assert caught.value.column == 6
    assert extension.order == 8
    f.update(b[:6, 0])
    for call in (lambda: extension.solve(b), extension.log_det):
        with pytest.raises(RuntimeError, match="has changed"):
            call()


def test_products() -> None:
    a = spd(10)
    f, x = cu.Cholesky(a), columns(10, 3)
    l = f.factor()
    np.testing.assert_allclose(f.multiply(x), a @ x, atol=1e-13)
    np.testing.assert_allclose(f.multiply_l(x[:, 0]), l @ x[:, 0], atol=1e-13)
    np.testing.assert_allclose(f.multiply_lt(x), l.T @ x, atol=1e-13)
    for multiply in (f.multiply, f.multiply_l, f.multiply_lt):
        with pytest.raises(ValueError, match="`x`"):
            multiply(x[:4])
        with pytest.raises(ValueError, match="`x` is not finite"):
            multiply(x * np.nan)


def test_solves_determinant_and_condition() -> None:
    a = spd(10)
    f, b = cu.Cholesky(a), columns(10, 3)
    l = f.factor()
    np.testing.assert_allclose(a @ f.solve(b), b, atol=1e-14)
    np.testing.assert_allclose(l @ f.solve_l(b), b, atol=1e-14)
    np.testing.assert_allclose(l.T @ f.solve_lt(b), b, atol=1e-14)
    np.testing.assert_allclose(f.log_det(), np.linalg.slogdet(a)[1])
    assert 0.3 < f.condition() / np.linalg.cond(a, 1) < 1.0 + 1e-9
    f.reserve(5)
    assert f.capacity >= 15 and f.order == 10


def test_copies_are_apart() -> None:
    a, v = spd(5), columns(5, 2)
    f = cu.Cholesky(a, threads=1)
    f.update(v)
    kept = f.factor()
    copies: list[cu.Cholesky] = [f.copy(), copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))]
    f.downdate(v)
    for again in copies:
        assert np.array_equal(again.factor(), kept)
        again.downdate(v)
        assert np.array_equal(again.factor(), f.factor())
        assert (again.engine, again.dtype, again.order) == (f.engine, f.dtype, f.order)


def test_reports_and_extensions_survive_a_pickle() -> None:
    a = spd(6)
    f = cu.Cholesky(a[:4, :4])
    report = f.update(columns(4, 1))
    assert pickle.loads(pickle.dumps(report)) == report and copy.copy(report) == report
    a[:4, :4] = f.reconstruct()
    f.update(np.zeros(4))
    extension = f.extension(a[:4, 4:], a[4:, 4:])
    again, base = pickle.loads(pickle.dumps((extension, f)))
    b = columns(6, 2)
    for of in (again, copy.copy(extension), copy.deepcopy(extension)):
        assert np.array_equal(of.solve(b), extension.solve(b)) and np.array_equal(of.corner(), extension.corner())
    # It refers to the factor that was pickled with it.
    base.update(np.ones(4))
    with pytest.raises(RuntimeError, match="has changed"):
        again.log_det()
    assert extension.log_det() == pytest.approx(np.linalg.slogdet(a)[1])
    f.update(np.ones(4))
    for of in (copy.copy(extension), pickle.loads(pickle.dumps(extension))):
        with pytest.raises(RuntimeError, match="has changed"):
            of.log_det()


def test_weak_references() -> None:
    f = cu.Cholesky(np.eye(3))
    extension = f.extension(np.zeros(3), 1.0)
    kept: list[Callable[[], object]] = [weakref.ref(f), weakref.ref(extension)]
    cache = weakref.WeakKeyDictionary({f: 1})
    assert kept[0]() is f and len(cache) == 1
    del f, extension
    gc.collect()
    assert [ref() for ref in kept] == [None, None] and len(cache) == 0


@pytest.mark.parametrize(
    "idx",
    [
        -1, 3, np.int64(-6), [-2, 0], [5, -6], (1, -1), np.array([4, -3]), slice(1, 4), slice(None, None, -2), slice(-2, None),
        slice(9, 12), [], np.array([], int), [True, False, True, False, False, True], np.arange(6) % 2 == 0, np.zeros(6, bool),
        range(2, 5), iter([1, 2]),
    ],
    ids=str,
)  # fmt: skip
def test_rows_are_selected_as_numpy_selects_them(idx: Any) -> None:
    a = spd(6)
    left = np.delete(np.arange(6), list(idx) if hasattr(idx, "__next__") else idx)
    if hasattr(idx, "__next__"):
        left, idx = np.array([0, 3, 4, 5]), iter([1, 2])
    f = cu.Cholesky(a)
    f.remove(idx)
    np.testing.assert_allclose(f.reconstruct(), a[np.ix_(left, left)], atol=1e-14)


def test_as_many_threads_as_there_are() -> None:
    f, v = cu.Cholesky(spd(400)), columns(400, 20)
    f.update(v)
    for threads in (-1, None, 10**30, np.int64(-1)):
        g = cu.Cholesky(spd(400), threads=threads)
        g.update(v)
        assert np.array_equal(f.factor(), g.factor())
    assert pickle.loads(pickle.dumps(cu.Cholesky(np.eye(2), threads=-1))).order == 2


def test_the_names_of_the_package() -> None:
    # The modules for other libraries are there once they have been imported.
    names = {name for name in dir(cu) if not name.startswith("_")} - {"jax", "torch"}
    assert names == set(cu.__all__) - {"__version__"}


def test_single_precision_survives_a_pickle() -> None:
    f = cu.Cholesky(spd(4, np.float32))
    again = pickle.loads(pickle.dumps(f))
    assert again.dtype == np.float32 and np.array_equal(again.factor(), f.factor())


def test_representation_and_equality() -> None:
    f = cu.Cholesky(spd(3, np.float32))
    assert repr(f) == "<cholupdate.Cholesky of order 3, float32, engine 'cpu'>"
    first, second = f.copy().update(np.ones(3, np.float32)), f.update(np.ones(3, np.float32))
    assert first == second and first != f.update(np.ones(3, np.float32))
    assert repr(first).startswith("Modification(min_pivot_ratio=")


def test_empty_factors() -> None:
    f = cu.Cholesky(np.zeros((0, 0)))
    assert f.order == 0 and f.log_det() == 0.0 and f.condition() == 1.0
    f.update(np.zeros((0, 3)))
    f.update(np.zeros(0))
    f.append(np.zeros((0, 2)), [[4.0, 0.0], [2.0, 5.0]])
    np.testing.assert_allclose(f.factor(), [[2.0, 0.0], [1.0, 2.0]])
    report = f.update(np.zeros((2, 0)))
    assert (report.min_pivot_ratio, report.log_det_change) == (1.0, 0.0)


@pytest.mark.parametrize("safeguard", ["shadow_buffer", "dry_run"])
def test_refused_changes_leave_the_factor(safeguard: Any) -> None:
    a = spd(40)
    f = cu.Cholesky(a, safeguard=safeguard)
    before = f.factor()
    bad = np.zeros(40)
    bad[25] = 10.0
    calls: list[tuple[Callable[[], object], int]] = [
        (lambda: f.append(bad, 1.0), 40),
        (lambda: f.downdate(bad), 25),
        (lambda: f.modify(bad, [-1.0]), 25),
        (lambda: f.insert(25, np.zeros(41)), 25),
        (lambda: f.replace(25, np.zeros(40)), 25),
    ]
    for call, column in calls:
        with pytest.raises(cu.NotPositiveDefiniteError) as caught:
            call()
        assert isinstance(caught.value, np.linalg.LinAlgError)
        assert caught.value.column == column
        assert np.array_equal(f.factor(), before)
        again = pickle.loads(pickle.dumps(caught.value))
        assert again.column == column and str(again) == str(caught.value)


def test_without_a_safeguard_a_breakdown_loses_the_factor() -> None:
    f = cu.Cholesky(np.eye(3), safeguard="none")
    with pytest.raises(cu.NotPositiveDefiniteError):
        f.downdate([0.0, 2.0, 0.0])
    with pytest.raises(cu.PoisonedError):
        f.update([1.0, 1.0, 1.0])
    with pytest.raises(cu.PoisonedError):
        f.factor()


def test_engines_by_name() -> None:
    f = cu.Cholesky(np.eye(3))
    assert f.engine == "cpu"
    assert np.array_equal(f.to_engine("cpu", threads=1, safeguard="dry_run").factor(), f.factor())
    for keywords, message in (
        ({"engine": "gpu"}, "`engine` is \"gpu\""),
        ({"engine": "cpu:1"}, "`engine`"),
        ({"engine": "cuda:x"}, "`engine`"),
        ({"engine": "cuda", "threads": 2}, "`threads`"),
        ({"threads": 0}, "`threads`"),
        ({"safeguard": "helmet"}, "`safeguard`"),
        ({"engine": "cuda", "safeguard": "none"}, "`safeguard`"),
    ):
        with pytest.raises(ValueError, match=message):
            cu.Cholesky(np.eye(3), **keywords)  # pyright: ignore[reportArgumentType]


def test_factors_are_collected() -> None:
    f = cu.Cholesky(np.eye(3))
    extension = f.extension(np.zeros(3), 1.0)
    del f
    gc.collect()
    assert extension.log_det() == 0.0
