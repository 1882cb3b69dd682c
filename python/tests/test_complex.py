"""The class `Cholesky` of complex numbers, against NumPy and SciPy: A = L Lᴴ."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from numpy.typing import NDArray

import cholupdate as cu

Array = NDArray[Any]

DTYPES = [np.complex64, np.complex128]


def columns(n: int, k: int, dtype: Any = np.complex128, seed: int = 1, size: float = 0.1) -> Array:
    parts: Array = size * np.random.default_rng(seed).standard_normal((2, n, k))
    return np.asarray(parts[0] + 1j * parts[1], dtype)


def hpd(n: int, dtype: Any = np.complex128, seed: int = 0) -> Array:
    """A Hermitian positive definite matrix that is not close to a singular one."""
    x = columns(n, n + 5, seed=seed, size=1.0)
    return (x @ x.conj().T / (n + 5) + np.eye(n)).astype(dtype)


def real_dtype(dtype: Any) -> Any:
    """The dtype of the real part."""
    return np.finfo(dtype).dtype


def assert_close(found: Array, wanted: Array, factor: float = 100.0) -> None:
    """Equal to some units of the dtype's roundoff, and of the same dtype."""
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, atol=factor * np.finfo(wanted.dtype).eps)


def assert_is_factor(f: cu.Cholesky, a: Array) -> None:
    l = f.factor()
    assert f.dtype == l.dtype == a.dtype
    assert np.all(np.triu(l, 1) == 0) and np.all(np.imag(np.diag(l)) == 0) and np.all(np.real(np.diag(l)) > 0)
    assert_close(l @ l.conj().T, a)
    assert_close(f.reconstruct(), a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_factor_is_made_of_either_triangle(dtype: Any) -> None:
    a = hpd(7, dtype)
    wanted = np.linalg.cholesky(a)
    assert_close(scipy.linalg.cholesky(a, lower=True), wanted)
    lower, upper = np.tril(a), np.triu(a)
    lower[np.triu_indices(7, 1)] = np.nan
    upper[np.tril_indices(7, -1)] = np.nan
    for order in ("C", "F"):
        for given, is_upper in ((lower, False), (upper, True)):
            f = cu.Cholesky(np.array(given, order=order), upper=is_upper)
            assert_close(f.factor(), wanted)
            r = f.factor(upper=True)
            assert np.array_equal(r, f.factor().conj().T) and r.flags.c_contiguous
            assert f.factor().flags.f_contiguous
            assert_is_factor(f, a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_imaginary_part_of_the_diagonal_is_not_read(dtype: Any) -> None:
    a = hpd(5, dtype)
    for value in (1.0, np.nan, np.inf):
        given = a.copy()
        given[np.diag_indices(5)] += complex(0.0, value)
        for upper in (False, True):
            assert np.array_equal(cu.Cholesky(given, upper=upper).factor(), cu.Cholesky(a, upper=upper).factor())


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_factor_is_taken_up_to_phases(dtype: Any) -> None:
    l = np.tril(columns(5, 5, dtype, seed=3), -1) + np.diag(np.arange(1, 6)).astype(dtype)
    assert np.array_equal(cu.Cholesky.from_factor(l).factor(), l)
    assert np.array_equal(cu.Cholesky.from_factor(l.conj().T, upper=True).factor(), l)
    assert np.array_equal(cu.Cholesky.from_factor(np.array(l.conj().T, order="F"), upper=True).factor(), l)
    phases = np.exp(1j * np.arange(5)).astype(dtype)
    f = cu.Cholesky.from_factor(l * phases)
    assert_close(f.factor(), l)
    assert_is_factor(f, l @ l.conj().T)
    assert_is_factor(cu.Cholesky.from_factor((l * phases).conj().T, upper=True), l @ l.conj().T)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 9, 70])
@pytest.mark.parametrize("k", [1, 3, 20])
def test_updates_downdates_and_mixed_signs(dtype: Any, n: int, k: int) -> None:
    a, v = hpd(n, dtype), columns(n, k, dtype, size=0.7 / np.sqrt(n * k))
    w = np.linspace(-0.25, 2.0, k).astype(real_dtype(dtype))
    f = cu.Cholesky(a)
    report = f.update(v)
    assert report.min_pivot_ratio >= 1.0
    assert_is_factor(f, a + v @ v.conj().T)
    change = np.linalg.slogdet(a + v @ v.conj().T)[1] - np.linalg.slogdet(a)[1]
    assert isinstance(report.log_det_change, float)
    np.testing.assert_allclose(report.log_det_change, change, atol=2000 * np.finfo(dtype).eps)
    assert f.can_downdate(v) and not f.can_downdate(100 * v)
    f.downdate(v)
    assert_is_factor(f, a)
    f.modify(v, w)
    assert_is_factor(f, a + (v * w) @ v.conj().T)
    f.modify(v, -w)
    assert_is_factor(f, a)
    f.modify_scaled(0.5, v, w)
    assert_is_factor(f, (0.5 * a + (v * w) @ v.conj().T).astype(dtype))
    f.modify_scaled(1.0, v)
    assert f.submit(v, downdate=True).wait().min_pivot_ratio < 1.0
    assert_is_factor(f, (0.5 * a + (v * w) @ v.conj().T).astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_from_zeros(dtype: Any) -> None:
    x = columns(6, 9, dtype, size=1.0)
    f = cu.Cholesky.zeros(6, dtype=dtype)
    assert f.dtype == dtype and f.order == 6 and not f.factor().any()
    with pytest.raises(cu.SingularError):
        f.log_det()
    f.update(x)
    assert_close(f.reconstruct(), x @ x.conj().T, 1000)


@pytest.mark.parametrize("dtype", DTYPES)
def test_solves_products_determinant_and_condition(dtype: Any) -> None:
    a, b = hpd(30, dtype), columns(30, 4, dtype, size=1.0)
    f = cu.Cholesky(a)
    l = f.factor()
    for x in (b, b[:, 0]):
        assert f.solve(x).shape == f.multiply(x).shape == x.shape
        assert_close(a @ f.solve(x), x, 1000)
        assert_close(l @ f.solve_l(x), x, 1000)
        assert_close(l.conj().T @ f.solve_lt(x), x, 1000)
        assert_close(f.multiply(x), a @ x, 1000)
        assert_close(f.multiply_l(x), l @ x, 1000)
        assert_close(f.multiply_lt(x), l.conj().T @ x, 1000)
        assert_close(f.submit(np.zeros(30, dtype)).solve(x), f.solve(x), 1000)
    wanted = scipy.linalg.cho_solve(scipy.linalg.cho_factor(a, lower=True), b)
    assert_close(f.solve(b), wanted, 1000)
    for number in (f.log_det(), f.condition(), f.error_estimate()):
        assert isinstance(number, float)
    np.testing.assert_allclose(f.log_det(), np.linalg.slogdet(a)[1], rtol=1000 * np.finfo(dtype).eps)
    assert 0.3 < f.condition() / np.linalg.cond(a, 1) < 1.001
    assert f.error_estimate() < 1e-5 and not f.needs_refactor()


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_come_go_and_change_places(dtype: Any) -> None:
    a = hpd(8, dtype)
    f = cu.Cholesky(a[:6, :6])
    f.append(a[:6, 6:], a[6:, 6:])
    assert_is_factor(f, a)
    f.remove([2, 5])
    f.insert(2, a[np.ix_([0, 1, 2, 3, 4, 6, 7], [2])][:, 0])
    f.insert(5, a[:, 5])
    assert_is_factor(f, a)
    b = a.copy()
    b[:, 3:5] = b[3:5, :] = 0.0
    b[3, 3] = b[4, 4] = 2.0
    b[4, 3], b[3, 4] = 0.5j, -0.5j
    f.replace(3, b[:, 3:5])
    assert_is_factor(f, b)
    f.replace(3, a[:, 3:5])
    p = [3, 1, 0, 7, 6, 2, 5, 4]
    f.permute(p)
    assert_is_factor(f, a[np.ix_(p, p)])
    f.permute(np.argsort(p))
    f.shift(1, 6)
    q = np.array([0, 2, 3, 4, 5, 6, 1, 7])
    assert_is_factor(f, a[np.ix_(q, q)])
    f.remove(7)
    f.append(a[q[:7], 7], 2.0 + 0.0j)
    f.reserve(5)
    assert f.order == 8 and f.capacity >= 13
    assert f.reconstruct()[7, 7] == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_extensions(dtype: Any) -> None:
    a, b = hpd(8, dtype), columns(8, 2, dtype)
    f = cu.Cholesky(a[:6, :6])
    extension = f.extension(a[:6, 6:], a[6:, 6:])
    for of in (extension, copy.copy(extension), pickle.loads(pickle.dumps(extension))):
        assert of.order == len(of) == 8
        assert_close(a @ of.solve(b), b)
        assert_close(a @ of.solve(b[:, 0]), b[:, 0])
        np.testing.assert_allclose(of.log_det(), np.linalg.slogdet(a)[1], rtol=1000 * np.finfo(dtype).eps)
        assert_close(of.corner(), np.linalg.cholesky(a)[6:, 6:])
    f.update(b[:6])
    with pytest.raises(RuntimeError, match="has changed"):
        extension.solve(b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_right_hand_sides_go_along(dtype: Any) -> None:
    x, y = columns(60, 5, dtype, seed=1, size=1.0), columns(60, 2, dtype, seed=2, size=1.0)
    xh, ten = x.conj().T, np.ones(10, real_dtype(dtype))
    f = cu.Cholesky(xh[:, :40] @ x[:40])
    carried = cu.Carried(f, xh[:, :40] @ y[:40], np.sum(np.abs(y[:40]) ** 2, axis=0))
    f.modify_carrying(1.0, xh[:, 40:], y[40:], carried)
    f.modify_carrying(1.0, xh[:, :10], y[:10], carried, weights=-ten)
    beta = np.linalg.lstsq(x[10:], y[10:])[0]
    assert_close(f.solve_lt(carried.z), beta, 1000)
    residuals = np.sum(np.abs(y[10:] - x[10:] @ beta) ** 2, axis=0)
    assert carried.squares.dtype == real_dtype(dtype)
    np.testing.assert_allclose(carried.squares, residuals, rtol=1e4 * np.finfo(dtype).eps)
    again = pickle.loads(pickle.dumps(carried))
    assert np.array_equal(again.z, carried.z) and np.array_equal(again.squares, carried.squares)
    assert repr(carried) == "<cholupdate.Carried of order 5, 2 right-hand sides>"
    g = cu.Cholesky.zeros(5, dtype=dtype)
    alone = cu.Carried.zeros(g)
    assert alone.z.shape == (5,) and alone.z.dtype == dtype
    g.modify_carrying(1.0, xh, y[:, 0], alone)
    assert_close(g.solve_lt(alone.z), np.linalg.lstsq(x, y[:, 0])[0], 1000)


def laid_out(a: Array) -> list[Array]:
    """The same entries in all layouts that NumPy has."""
    every_other = np.zeros([2 * extent for extent in a.shape], a.dtype)[tuple(slice(None, None, 2) for _ in a.shape)]
    every_other[...] = a
    backwards = np.flip(np.array(np.flip(a)))
    readonly = a.copy()
    readonly.flags.writeable = False
    swapped = a.astype(a.dtype.newbyteorder())
    # Strides that are no multiples of an entry, as a field of a structure has.
    field = np.zeros(a.shape, [("flag", np.int8 if a.itemsize == 8 else np.float64), ("number", a.dtype)])["number"]
    field[...] = a
    return [np.array(a, order="C"), np.array(a, order="F"), every_other, backwards, readonly, swapped, field]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_layout_is_read(dtype: Any) -> None:
    a, v, b = hpd(6, dtype), columns(6, 3, dtype), columns(6, 2, dtype, seed=5)
    wanted = cu.Cholesky(a)
    wanted.update(v)
    wanted.update(v[:, 0])
    x = wanted.solve(b)
    for a_, v_, column, b_ in zip(laid_out(a), laid_out(v), laid_out(v[:, 0]), laid_out(b)):
        given = [array.copy() for array in (a_, v_, column, b_)]
        for upper in (False, True):
            f = cu.Cholesky(a_, upper=upper)
            f.update(v_)
            f.update(column)
            assert_close(f.factor(), wanted.factor())
            assert_close(f.solve(b_), x)
        assert all(np.array_equal(old, new) for old, new in zip(given, (a_, v_, column, b_)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_real_arrays_of_the_same_precision_and_bare_numbers_are_converted(dtype: Any) -> None:
    a, v = hpd(3, dtype), np.array([1.0, 0.5, 2.0], real_dtype(dtype))
    wanted = cu.Cholesky(a)
    wanted.update(v.astype(dtype))
    alike: list[Any] = [v, np.flip(np.flip(v).copy()), [1.0, 0.5, 2.0], [1.0, 0.5 + 0j, 2]]
    for given in alike:
        f = cu.Cholesky(a)
        f.update(given)
        assert np.array_equal(f.factor(), wanted.factor())
        assert f.solve(given).dtype == dtype
    f = cu.Cholesky(a)
    f.append([1, 0, 1], 9)
    f.insert(0, [9.0, 1j, 0, 1, 0])
    f.modify(np.eye(5, 1, dtype=np.int8), [2])
    assert f.order == 5 and f.dtype == dtype
    assert_close(f.reconstruct()[:2, :2], np.array([[11.0, -1j], [1j, np.real(a[0, 0])]], dtype))
    assert cu.Cholesky([[2.0, 1j], [-1j, 2.0]]).dtype == np.complex128


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("safeguard", ["shadow_buffer", "dry_run"])
def test_refused_changes_leave_the_factor(dtype: Any, safeguard: Any) -> None:
    f = cu.Cholesky(hpd(40, dtype), safeguard=safeguard)
    before = f.factor()
    bad = np.zeros(41, dtype)
    bad[25] = 10.0j
    calls: list[tuple[Callable[[], object], int]] = [
        (lambda: f.append(bad[:40], 1.0), 40),
        (lambda: f.downdate(bad[:40]), 25),
        (lambda: f.modify(bad[:40], [-1.0]), 25),
        (lambda: f.submit(bad[:40], downdate=True), 25),
        (lambda: f.insert(25, np.zeros(41, dtype)), 25),
        (lambda: f.replace(25, np.zeros(40, dtype)), 25),
    ]
    for call, column in calls:
        with pytest.raises(cu.NotPositiveDefiniteError) as caught:
            call()
        assert caught.value.column == column
        assert np.array_equal(f.factor(), before)
    with pytest.raises(cu.NotPositiveDefiniteError) as caught:
        cu.Cholesky(np.diag(np.array([1, 2, -3, 4], dtype)))
    assert caught.value.column == 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_copies_are_apart(dtype: Any) -> None:
    a, v = hpd(20, dtype), columns(20, 2, dtype)
    f = cu.Cholesky(a, threads=1, safeguard="dry_run")
    f.update(v)
    kept = f.factor()
    copies: list[cu.Cholesky] = [
        f.copy(), copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f)), f.to_engine("cpu", threads=1),
    ]  # fmt: skip
    f.downdate(v)
    for again in copies:
        assert np.array_equal(again.factor(), kept)
        again.downdate(v)
        assert np.array_equal(again.factor(), f.factor()) and again.dtype == dtype
    assert repr(f) == f"<cholupdate.Cholesky of order 20, {np.dtype(dtype).name}, engine 'cpu'>"
    with pytest.raises(TypeError, match="a Cholesky is not an array"):
        np.asarray(f)


def test_threads_read_one_factor() -> None:
    n = 300
    f, b, v = cu.Cholesky(hpd(n), threads=1), columns(n, 3), columns(n, 2)
    calls: list[Callable[[], Any]] = [
        lambda: f.solve(b),
        lambda: f.log_det(),
        lambda: f.condition(),
        lambda: f.factor(upper=True),
        lambda: f.can_downdate(v),
        lambda: f.extension(v, 9.0 * np.eye(2)).corner(),
        lambda: f.copy().update(v).log_det_change,
    ]
    wanted: list[Any] = [call() for call in calls]
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            random = np.random.default_rng(seed)
            for _ in range(40):
                at = int(random.integers(0, len(calls)))
                np.testing.assert_equal(calls[at](), wanted[at])
        except BaseException as error:  # noqa: BLE001 (any exception)
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors[0]


def test_empty_factors() -> None:
    f = cu.Cholesky(np.zeros((0, 0), complex))
    assert f.order == 0 and f.log_det() == 0.0 and f.condition() == 1.0
    f.update(np.zeros((0, 3)))
    f.append(np.zeros((0, 2)), np.array([[4.0, 0.0], [2.0j, 5.0]]))
    np.testing.assert_allclose(f.factor(), np.array([[2.0, 0.0], [1.0j, 2.0]]))
