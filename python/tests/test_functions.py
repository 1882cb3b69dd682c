"""`cholesky_update` on arrays."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import cholupdate as cu
from problems import Array, columns, spd

NAN = np.nan


def triangle(l: Array, upper: bool, order: Any, garbage: float = NAN) -> Array:
    """L or Lᵀ, with garbage in the other triangle."""
    given = np.array(l.T if upper else l, order=order)
    other = np.tril_indices_from(given, -1) if upper else np.triu_indices_from(given, 1)
    given[other] = garbage
    return given


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", [1, 5, 67])
def test_a_new_array_or_the_given_one(dtype: Any, upper: bool, order: Any, n: int) -> None:
    a, v = spd(n, dtype), columns(n, 3, dtype)
    l = np.linalg.cholesky(a)
    wanted = np.linalg.cholesky(a + v @ v.T)
    tolerance = 50 * np.finfo(dtype).eps
    given = triangle(l, upper, order)
    before = given.copy()

    new = cu.cholesky_update(given, v, upper=upper)
    assert np.array_equal(given, before, equal_nan=True)
    np.testing.assert_allclose(new, wanted.T if upper else wanted, atol=tolerance)
    assert new.dtype == dtype

    same = cu.cholesky_update(given, v, upper=upper, overwrite_l=True)
    assert same is given
    part = np.triu if upper else np.tril
    np.testing.assert_allclose(part(given), new, atol=tolerance)
    # The other triangle is as it was.
    assert np.array_equal(given - part(given), before - part(before), equal_nan=True)

    back = cu.cholesky_update(new, v, upper=upper, downdate=True)
    np.testing.assert_allclose(back, part(np.nan_to_num(before)), atol=tolerance)
    weighted = cu.cholesky_update(new, v, upper=upper, weights=-np.ones(3, dtype))
    assert np.array_equal(weighted, back)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_failure_leaves_all_bits(upper: bool, order: Any, overwrite: bool) -> None:
    given = triangle(np.linalg.cholesky(spd(50)), upper, order)
    before, v = given.copy(), np.zeros(50)
    v[30] = 9.0
    with pytest.raises(cu.NotPositiveDefiniteError) as caught:
        cu.cholesky_update(given, v, downdate=True, upper=upper, overwrite_l=overwrite)
    assert caught.value.column == 30
    with pytest.raises(ValueError, match="`v` is not finite"):
        cu.cholesky_update(given, v * NAN, upper=upper, overwrite_l=overwrite)
    assert given.tobytes() == before.tobytes()


def test_read_only_and_converted_arrays_are_not_written() -> None:
    l = np.linalg.cholesky(spd(4))
    frozen = np.array(l, order="F")
    frozen.flags.writeable = False
    for given in (frozen, np.array(l, dtype=">f8"), np.eye(4, dtype=int), l.tolist()):
        before = np.array(given)
        new = cu.cholesky_update(given, np.ones(4), overwrite_l=True)
        assert new is not given and np.array_equal(before, np.asarray(given))


def test_negative_diagonals_become_positive() -> None:
    l = np.linalg.cholesky(spd(6))
    flipped = l * np.array([1, -1, 1, 1, -1, -1])
    v = columns(6, 2)
    wanted = cu.cholesky_update(l, v)
    for order in ("C", "F"):
        given = np.array(flipped, order=order)
        np.testing.assert_allclose(cu.cholesky_update(given, v), wanted, atol=1e-15)
        assert cu.cholesky_update(given, v, overwrite_l=True) is given
        np.testing.assert_allclose(given, wanted, atol=1e-15)


def test_v_may_be_part_of_l() -> None:
    for upper in (False, True):
        for order in ("C", "F"):
            given = triangle(np.linalg.cholesky(spd(5)), upper, order, garbage=0.0)
            wanted = cu.cholesky_update(given, given[:, :2].copy(), upper=upper)
            v = given[:, :2]
            cu.cholesky_update(given, v, upper=upper, overwrite_l=True)
            np.testing.assert_allclose(given, wanted, atol=1e-15)


def test_parts_of_larger_arrays() -> None:
    whole = np.full((20, 30), 7.0)
    l, v = np.linalg.cholesky(spd(6)), columns(6, 2)
    wanted = cu.cholesky_update(l, v)
    for part in (whole[2:14:2, 3:21:3], whole[8:2:-1, 6:12], whole.T[3:9, 2:8]):
        part[...] = l
        assert cu.cholesky_update(part, v, overwrite_l=True) is part
        np.testing.assert_allclose(part, wanted, atol=1e-15)
        part[...] = 7.0
    assert np.all(whole == 7.0)


def test_unchecked_arrays() -> None:
    l = np.linalg.cholesky(spd(4))
    l[3, 1] = np.inf
    with pytest.raises(ValueError, match=re.escape("`l` is not finite at (3, 1)")):
        cu.cholesky_update(l, np.ones(4))
    with pytest.raises(ValueError, match=re.escape("`l` is not finite at (1, 3)")):
        cu.cholesky_update(l.T, np.ones(4), upper=True)
    cu.cholesky_update(l, np.zeros(4), check_finite=False)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("n", "k"), [(0, 2), (1, 1), (7, 1), (67, 3), (300, 1), (300, 2), (300, 4), (300, 20), (1400, 5)])
def test_the_result_is_that_of_the_class(dtype: Any, upper: bool, order: Any, n: int, k: int) -> None:
    """In one pass, with any layout; with leading zeros of V and negative columns of L."""
    l = np.tril(columns(n, n, dtype, seed=3, size=0.02))
    l[np.diag_indices(n)] = 1.0 + np.abs(l[np.diag_indices(n)])
    for start, flipped in ((0, False), (n // 3, False), (n // 3, True), (n, False)):
        v = columns(n, k, dtype, seed=4)
        v[:start] = 0.0
        f = cu.Cholesky.from_factor(l)
        f.update(v)
        wanted = f.factor(upper=upper)
        given = triangle(l * np.where(np.arange(n) % 3 == 1, -1, 1).astype(dtype) if flipped else l, upper, order)
        tolerance = 4 * np.finfo(dtype).eps
        for out in (None, np.full((n, n), NAN, dtype, "C"), np.full((n, n), NAN, dtype, "F")):
            new = cu.cholesky_update(given, v, upper=upper, out=out)
            assert out is None or new is out
            part = np.triu if upper else np.tril
            np.testing.assert_allclose(part(new), wanted, atol=tolerance)
            if out is not None:
                assert np.all(np.isnan(new[np.triu_indices(n, 1)[::-1] if upper else np.triu_indices(n, 1)]))
        back = cu.cholesky_update(wanted, v, upper=upper, downdate=True)
        f.downdate(v)
        np.testing.assert_allclose(back, f.factor(upper=upper), atol=tolerance)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("bad", [NAN, np.inf, -np.inf])
def test_every_entry_is_looked_at(order: Any, upper: bool, overwrite: bool, bad: float) -> None:
    n = 150
    l, v = np.linalg.cholesky(spd(n)), columns(n, 2)
    for row, column in ((0, 0), (149, 0), (149, 149), (148, 147), (70, 3), (97, 64), (96, 95), (3, 2)):
        for start in (0, 100, n):
            v[:start] = 0.0
            given = triangle(l, upper, order)
            given[(column, row) if upper else (row, column)] = bad
            before = given.copy()
            place = (column, row) if upper else (row, column)
            in_place = overwrite and order == ("C" if upper else "F")
            for downdate in (True, False):
                # An update in place has overwritten a part before the entry was detected.
                where = r"\(\d+, \d+\)" if in_place and not downdate else re.escape(str(place))
                with pytest.raises(ValueError, match=f"`l` is not finite at {where}"):
                    cu.cholesky_update(given, v, upper=upper, downdate=downdate, overwrite_l=overwrite)
                if downdate or not in_place or start == n:
                    assert given.tobytes() == before.tobytes()


def test_out_is_apart_from_l() -> None:
    whole = np.zeros((8, 4))
    whole[:4] = np.linalg.cholesky(spd(4))
    l, v = whole[:4], columns(4, 2)
    wanted = cu.cholesky_update(l, v)
    assert np.array_equal(np.tril(cu.cholesky_update(l, v, out=whole[4:])), wanted)
    refused: list[tuple[Any, type[Exception], str]] = [
        (whole[1:5], ValueError, "`out` has memory in common with `l`: use `overwrite_l`"),
        (l, ValueError, "`out` has memory in common with `l`"),
        (np.zeros((4, 5)), ValueError, "`out` has shape [4, 5], expected [4, 4]"),
        (np.zeros((4, 4), np.float32), TypeError, "`out` must be an aligned array of float64"),
        (np.broadcast_to(0.0, (4, 4)), ValueError, "`out` is read-only"),
        ([[0.0] * 4] * 4, TypeError, "`out` must be an ndarray, not list"),
    ]
    for out, kind, message in refused:
        with pytest.raises(kind, match=re.escape(message)):
            cu.cholesky_update(l, v, out=out)
    with pytest.raises(ValueError, match="`overwrite_l` and `out` cannot be given together"):
        cu.cholesky_update(l, v, out=whole[4:], overwrite_l=True)  # type: ignore[call-overload] # pyright: ignore
    # V may be a part of the written array.
    out = np.array(v[:, [0, 1, 0, 1]], order="F")
    assert np.array_equal(np.tril(cu.cholesky_update(l, out[:, :2], out=out)), wanted)


class Shares:
    """An array of another library, in host memory."""

    def __init__(self, array: Array, copies: bool = False) -> None:
        self.array, self.copies = array, copies

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return self.array.copy() if self.copies else self.array


class Exports(Shares):
    __array__ = None  # type: ignore[assignment]

    def __getattribute__(self, name: str) -> Any:
        if name == "__array__":
            raise AttributeError(name)
        return super().__getattribute__(name)

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [Shares, Exports])
def test_memory_of_other_libraries_is_written_or_refused(kind: type[Shares], order: Any) -> None:
    l, v = np.array(np.linalg.cholesky(spd(5)), order=order), columns(5, 2)
    wanted = cu.cholesky_update(l, v)
    given: Any = kind(l)
    assert cu.cholesky_update(given, v, overwrite_l=True) is given
    np.testing.assert_allclose(np.tril(l), wanted, atol=1e-15)
    frozen = l.copy()
    frozen.flags.writeable = False
    for refused in (kind(frozen) if kind is Shares else Shares(frozen), Shares(l, copies=True), Shares(np.eye(5, dtype=int))):
        with pytest.raises(TypeError, match="`l` cannot be overwritten: NumPy has no access to the memory of this Shares"):
            cu.cholesky_update(refused, v, overwrite_l=True)
    assert np.array_equal(np.tril(frozen), np.tril(l))


def test_wrong_arguments() -> None:
    l = np.eye(3)
    with pytest.raises(ValueError, match="cannot be given together"):
        cu.cholesky_update(l, np.ones(3), weights=[1.0], downdate=True)
    with pytest.raises(ValueError, match="`l` has 1 dimensions"):
        cu.cholesky_update(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="`l`: the number of columns is 2, expected 3"):
        cu.cholesky_update(np.ones((3, 2)), np.ones(3))
    with pytest.raises(ValueError, match="`v`: the number of rows is 2, expected 3"):
        cu.cholesky_update(l, np.ones(2))
    with pytest.raises(ValueError, match="`weights`: the number of entries"):
        cu.cholesky_update(l, np.ones(3), weights=[1.0, 1.0])
    with pytest.raises(TypeError, match="`v` has dtype float32, but the factor has float64"):
        cu.cholesky_update(l, np.ones(3, np.float32))
    with pytest.raises(cu.SingularError):
        cu.cholesky_update(np.zeros((3, 3)), np.ones(3), downdate=True)
    assert np.array_equal(l, np.eye(3))
