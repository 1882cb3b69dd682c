"""`cholesky_update` with leading dimensions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cholupdate as cu
from problems import Array, assert_within_bound, columns, spd

FLOATS = (np.float32, np.float64)


def lower(lead: tuple[int, ...], n: int, dtype: Any = np.float64) -> Array:
    count = int(np.prod(lead))
    return np.array([np.linalg.cholesky(spd(n, dtype, b)) for b in range(count)], dtype).reshape(*lead, n, n)


def vectors(lead: tuple[int, ...], n: int, k: int, dtype: Any = np.float64) -> Array:
    count = int(np.prod(lead))
    return np.array([columns(n, k, dtype, 50 + b) for b in range(count)], dtype).reshape(*lead, n, k)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize(
    ("lead_l", "lead_v", "lead_w"),
    [((4,), (4,), ()), ((), (5,), ()), ((5,), (), (5,)), ((2, 1), (3,), (2, 3)), ((1,), (1,), (1,)), ((2, 3, 2), (3, 1), ()), ((0,), (1,), ())],
)
def test_leading_dimensions_are_broadcast(
    dtype: Any, upper: bool, lead_l: tuple[int, ...], lead_v: tuple[int, ...], lead_w: tuple[int, ...]
) -> None:
    n, k = 5, 2
    l, v = lower(lead_l, n, dtype), vectors(lead_v, n, k, dtype)
    w = np.random.default_rng(3).uniform(-0.5, 1.0, (*lead_w, k)).astype(dtype)
    lead = np.broadcast_shapes(lead_l, lead_v, lead_w)
    given = np.swapaxes(l, -1, -2) if upper else l
    for weights, downdate in ((w, False), (None, False), (None, True)):
        led = lead if weights is not None else np.broadcast_shapes(lead_l, lead_v)
        new = cu.cholesky_update(given, v, weights=weights, downdate=downdate, upper=upper)
        assert new.shape == (*led, n, n) and new.dtype == dtype
        assert np.array_equal(np.tril(new, -1) if upper else np.triu(new, 1), np.zeros_like(new))
        of_each = np.broadcast_to(l, (*led, n, n)), np.broadcast_to(v, (*led, n, k))
        signs = np.full(k, -1.0 if downdate else 1.0, dtype) if weights is None else weights
        each = np.broadcast_to(signs, (*led, k))
        for at in np.ndindex(*led):
            made = new[at].T if upper else new[at]
            assert_within_bound(made, of_each[0][at], of_each[1][at], each[at])


def test_a_vector_is_one_column_for_all() -> None:
    l, v = lower((6,), 4), columns(4, 1)[:, 0]
    wanted = cu.cholesky_update(l, np.tile(v[:, None], (6, 1, 1)))
    assert np.array_equal(cu.cholesky_update(l, v), wanted)
    assert np.array_equal(cu.cholesky_update(l, v[:, None]), wanted)
    assert np.array_equal(cu.cholesky_update(l.tolist(), v.tolist()), wanted)
    assert np.array_equal(cu.cholesky_update(l[0], [v[:, None].tolist()] * 2)[1], wanted[0])
    assert np.array_equal(cu.scipy.cholesky_update(l, v, lower=True), wanted)


def test_the_first_matrix_that_fails_is_named() -> None:
    l, v = lower((2, 3), 4), vectors((2, 3), 4, 1)
    v[1, 0, 2] = 100.0
    v[1, 2, 1] = np.nan
    for overwrite in (False, True):
        given, out = l.copy(), np.full_like(l, 7.0)
        with pytest.raises(cu.NotPositiveDefiniteError, match="matrix 3: not positive definite: the squared pivot of column") as caught:
            cu.cholesky_update(given, v, downdate=True, overwrite_l=overwrite, out=None if overwrite else out)  # type: ignore # pyright: ignore
        assert caught.value.matrix == 3
        assert given.tobytes() == l.tobytes() and np.all(out == 7.0)
    with pytest.raises(ValueError, match=re.escape("matrix 5: `v` is not finite at (1, 0)")):
        cu.cholesky_update(l, v)
    v = vectors((2, 3), 4, 1)
    l[0, 1, 3, 2] = np.nan
    with pytest.raises(ValueError, match=re.escape("matrix 1: `l` is not finite at (3, 2)")):
        cu.cholesky_update(l, v)
    with pytest.raises(ValueError, match=re.escape("matrix 1: `R` is not finite at (2, 3)")):
        cu.scipy.cholesky_update(np.swapaxes(l, -1, -2), v)
    with pytest.raises(cu.SingularError) as singular:
        cu.cholesky_update(np.zeros((2, 3, 3)), np.ones(3), downdate=True)
    assert singular.value.matrix == 0


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_destinations(upper: bool, order: Any) -> None:
    l, v = lower((3, 2), 4), vectors((3, 2), 4, 2)
    l = np.array(np.swapaxes(l, -1, -2) if upper else l, order=order)
    triangle = np.tri(4, dtype=bool).T if upper else np.tri(4, dtype=bool)
    wanted = cu.cholesky_update(l, v, upper=upper)
    out = np.full_like(l, 7.0)
    assert cu.cholesky_update(l, v, upper=upper, out=out) is out
    assert np.array_equal(out[..., triangle], wanted[..., triangle]) and np.all(out[..., ~triangle] == 7.0)
    garbage = np.where(triangle, l, np.nan)
    place = np.asfortranarray(garbage) if order == "F" else garbage
    assert cu.cholesky_update(place, v, upper=upper, overwrite_l=True) is place
    assert np.array_equal(place[..., triangle], wanted[..., triangle]) and np.isnan(place[..., ~triangle]).all()
    # V may lie in what is overwritten.
    place = l.copy(order="K")
    expected = cu.cholesky_update(l, l[..., :2].copy(), upper=upper)
    cu.cholesky_update(place, place[..., :2], upper=upper, overwrite_l=True)
    assert np.array_equal(place[..., triangle], expected[..., triangle])


L, V = lower((3,), 4), vectors((3,), 4, 2)

REFUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: cu.cholesky_update(L, V[:2]), ValueError, "leading dimensions do not match: [3] of `l`, [2] of `v`"),
    (
        lambda: cu.cholesky_update(L, V, weights=np.ones((2, 2))),
        ValueError,
        "leading dimensions do not match: [3] of `l`, [3] of `v`, [2] of `weights`",
    ),
    (lambda: cu.cholesky_update(L, V, weights=np.ones(3)), ValueError, "`weights`: the number of entries is 3, expected 2"),
    (lambda: cu.cholesky_update(L, V, weights=[1.0, np.nan]), ValueError, "`weights` is not finite"),
    (lambda: cu.cholesky_update(L, V, weights=[1.0, 1.0], downdate=True), ValueError, "cannot be given together"),
    (lambda: cu.cholesky_update(L, np.ones(3)), ValueError, "`v`: the number of rows is 3, expected 4"),
    (lambda: cu.cholesky_update(L, V[:, :3]), ValueError, "`v`: the number of rows is 3, expected 4"),
    (lambda: cu.cholesky_update(L[:, :3], V), ValueError, "`l`: the number of columns is 4, expected 3"),
    (lambda: cu.cholesky_update(L, V.astype(np.float32)), TypeError, "`v` has dtype float32, but the factor has float64"),
    (lambda: cu.cholesky_update(L, V, out=np.zeros((4, 4))), ValueError, "`out` has shape [4, 4], expected [3, 4, 4]"),
    (lambda: cu.cholesky_update(L[0], V, out=L[0]), ValueError, "`out` has shape [4, 4], expected [3, 4, 4]"),
    (lambda: cu.cholesky_update(L, V, out=L), ValueError, "`out` has memory in common with `l`"),
    (
        lambda: cu.cholesky_update(L[0], V, overwrite_l=True),
        ValueError,
        "`l` cannot be overwritten: it has shape [4, 4], and the result [3, 4, 4]",
    ),
    (lambda: cu.scipy.cholesky_update(L, V[:2]), ValueError, "leading dimensions do not match: [3] of `R`, [2] of `z`"),
    (lambda: cu.cholesky_update(L[0], V[0], weights=np.ones((1, 2))), ValueError, "`weights` has 2 dimensions, expected 1"),
]


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED, ids=[message for _, _, message in REFUSED])
def test_arguments_are_refused_by_name(call: Callable[[], object], kind: type[Exception], message: str) -> None:
    before = L.copy()
    with pytest.raises(kind, match=re.escape(message)):
        call()
    assert np.array_equal(L, before)


def test_single_factors_are_modified_as_before() -> None:
    l, v = lower((), 40), columns(40, 3)
    alone = cu.Cholesky.from_factor(l)
    alone.update(v)
    assert np.array_equal(cu.cholesky_update(l, v), alone.factor())
