"""Derivatives of `cholesky_update`, against finite differences and against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cholupdate as cu
from problems import Array, columns, spd

MODES: list[dict[str, Any]] = [
    {},
    {"downdate": True},
    {"weights": [0.5, 2.0, 1.0]},
    {"weights": [0.5, -0.01, 1.0]},
    {"weights": [0.0, 1.0, -0.02]},
]


def given(n: int, k: int, dtype: Any, how: dict[str, Any]) -> tuple[Array, Array]:
    """L and V, so that A − V Vᵀ is positive definite."""
    l = np.linalg.cholesky(spd(n, dtype))
    v = columns(n, k, dtype)
    if how.get("downdate"):
        v *= dtype(0.2 / np.sqrt(np.linalg.norm(np.linalg.solve(l, v))))
    return l, v


def part(upper: bool, a: Array, other: float = 0.0) -> Array:
    """A triangle, with an entry in the other one."""
    rest = np.full_like(a, other)
    kept = np.triu(a) if upper else np.tril(a)
    return kept + (np.tril(rest, -1) if upper else np.triu(rest, 1))


@pytest.mark.parametrize("how", MODES)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", [1, 5, 40, 70])
def test_differences(how: dict[str, Any], upper: bool, order: Any, n: int) -> None:
    rng = np.random.default_rng(n)
    l, v = given(n, 3, np.float64, how)
    l = np.array(l.T if upper else l, order=order)
    new = cu.cholesky_update(l, v, upper=upper, **how)
    dl, dv, dw = part(upper, rng.standard_normal((n, n))), rng.standard_normal((n, 3)), rng.standard_normal(3)
    if "weights" not in how:
        dw[:] = 0.0
    bar = part(upper, rng.standard_normal((n, n)))

    def moved(t: float) -> Array:
        if "weights" in how:
            return cu.cholesky_update(l + t * dl, v + t * dv, weights=how["weights"] + t * dw, upper=upper)
        return cu.cholesky_update(l + t * dl, v + t * dv, upper=upper, **how)

    step = 1e-6
    difference = (moved(step) - moved(-step)) / (2 * step)
    nan = np.nan
    before = [x.copy() for x in (l, new, v)]
    hidden = [np.array(part(upper, x, nan), order=order) for x in (l, new, dl, bar)]
    tangent = cu.cholesky_update_jvp(hidden[0], hidden[1], v, hidden[2], dv, tangent_weights=dw, upper=upper, **how)
    scale = max(1.0, np.abs(difference).max())
    np.testing.assert_allclose(tangent / scale, difference / scale, atol=1e-6)
    of_l, of_v, of_w = cu.cholesky_update_vjp(hidden[0], hidden[1], v, hidden[3], upper=upper, **how)
    assert np.array_equal(of_l, part(upper, of_l)) and np.array_equal(tangent, part(upper, tangent))
    assert of_l.shape == l.shape and of_v.shape == v.shape and of_w.shape == (3,)
    along = (of_l * dl).sum() + (of_v * dv).sum() + of_w @ dw
    terms = np.abs(of_l * dl).sum() + np.abs(of_v * dv).sum() + np.abs(of_w * dw).sum()
    np.testing.assert_allclose(along, (bar * tangent).sum(), atol=1e-11 * terms)
    assert all(np.array_equal(x, y) for x, y in zip(before, (l, new, v)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtypes_and_shapes(dtype: Any) -> None:
    l, v = given(6, 1, dtype, {})
    new = cu.cholesky_update(l, v[:, 0])
    bar = np.tril(np.ones((6, 6), dtype))
    matrix = cu.cholesky_update_vjp(l, new, v, bar)
    vector = cu.cholesky_update_vjp(l, new, v[:, 0], bar)
    assert [x.dtype for x in vector] == [dtype] * 3
    assert [x.shape for x in vector] == [(6, 6), (6,), (1,)]
    assert matrix[1].shape == (6, 1) and np.array_equal(matrix[1][:, 0], vector[1])
    assert np.array_equal(matrix[0], vector[0]) and np.array_equal(matrix[2], vector[2])
    tangent = cu.cholesky_update_jvp(l, new, v[:, 0], bar, v[:, 0])
    assert tangent.dtype == dtype and tangent.shape == (6, 6)
    # Weights by position, as the documentation has them.
    assert np.array_equal(cu.cholesky_update_vjp(l, new, v, bar, [1.0])[0], matrix[0])
    assert np.array_equal(cu.cholesky_update_jvp(l, new, v, bar, v, [1.0], [0.0])[0], tangent[0])


def test_strides_lists_and_nothing() -> None:
    l, v = given(40, 3, np.float64, {})
    new = cu.cholesky_update(l, v)
    bar = np.tril(np.random.default_rng(1).standard_normal((40, 40)))
    wanted = cu.cholesky_update_vjp(l, new, v, bar)
    wide = [np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3] for x in (l, new, v, bar)]
    flipped = [np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1] for x in (l, new, v, bar)]
    for arguments in (wide, flipped, [x.tolist() for x in (l, new, v, bar)]):
        found = cu.cholesky_update_vjp(*arguments)
        assert all(np.array_equal(x, y) for x, y in zip(found, wanted))
    none = cu.cholesky_update_vjp(l, l, np.zeros((40, 0)), bar)
    assert np.array_equal(none[0], bar) and none[1].shape == (40, 0) and none[2].shape == (0,)
    empty = np.zeros((0, 0))
    assert cu.cholesky_update_vjp(empty, empty, empty, empty)[0].shape == (0, 0)
    assert np.array_equal(cu.cholesky_update_jvp(l, l, np.zeros((40, 0)), bar, np.zeros((40, 0))), bar)


def test_what_is_refused() -> None:
    l, v = given(4, 2, np.float64, {})
    new, bar = cu.cholesky_update(l, v), np.eye(4)
    pull, push = cu.cholesky_update_vjp, cu.cholesky_update_jvp
    wrong: list[tuple[str, Any]] = [
        ("`weights` and `downdate`", lambda: pull(l, new, v, bar, [1.0, 1.0], downdate=True)),
        ("`l` has 1 dimensions", lambda: pull(l[0], new, v, bar)),
        ("`l`", lambda: pull(l[:, :3], new, v, bar)),
        ("`l_new`", lambda: pull(l, new[:3, :3], v, bar)),
        ("`v`", lambda: pull(l, new, v[:3], bar)),
        ("`cotangent`", lambda: pull(l, new, v, np.eye(3))),
        ("`cotangent` has 3 dimensions", lambda: pull(l, new, v, bar[None])),
        ("`weights`", lambda: pull(l, new, v, bar, [1.0])),
        ("`weights` is not finite", lambda: pull(l, new, v, bar, [1.0, np.nan])),
        ("`l` is not finite", lambda: pull(np.full((4, 4), np.nan), new, v, bar)),
        ("`l`", lambda: pull(-l, new, v, bar)),
        ("`tangent_l`", lambda: push(l, new, v, np.eye(3), v)),
        ("`tangent_v`", lambda: push(l, new, v, l, v[:, :1])),
        ("`tangent_weights`", lambda: push(l, new, v, l, v, None, [1.0])),
        ("`tangent_weights` has 2 dimensions", lambda: push(l, new, v, l, v, None, [[1.0]])),
    ]
    for message, call in wrong:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(cu.NotPositiveDefiniteError) as caught:
        pull(l, new - np.diag([0.0, 0.0, new[2, 2], 0.0]), v, bar)
    assert caught.value.column == 2
    with pytest.raises(TypeError, match="`l_new` has dtype float32"):
        pull(l, new.astype(np.float32), v, bar)
    with pytest.raises(TypeError, match="`l` has dtype complex128"):
        pull(l.astype(complex), new, v, bar)
    with pytest.raises(TypeError, match="`upper`"):
        pull(l, new, v, bar, upper="yes")  # type: ignore[call-overload]
