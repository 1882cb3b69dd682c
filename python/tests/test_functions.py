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
    with pytest.raises(cu.NotPositiveDefiniteError):
        cu.cholesky_update(np.zeros((3, 3)), np.ones(3))
    assert np.array_equal(l, np.eye(3))
