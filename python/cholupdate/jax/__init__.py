"""Modifications of Cholesky factors within the programs of JAX: `jit`, `vmap`, `grad`, `scan`.

>>> import jax, jax.numpy as jnp
>>> from cholupdate.jax import cholesky_update
>>> l = jnp.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]]))
>>> new = jax.jit(cholesky_update)(l, jnp.array([1.0, 2.0]))
>>> (new @ new.T).round(3).tolist()
[[5.0, 4.0], [4.0, 9.0]]
>>> gradient = jax.grad(lambda v: cholesky_update(l, v).sum())(jnp.array([1.0, 2.0]))
>>> [round(float(x), 3) for x in gradient]
[0.585, 0.945]

The functions are pure. Nothing can be raised in a compiled program: a factor that does not exist is reported by a status.
They run on the CPU, in float32, float64, complex64 and complex128, and on GPUs of NVIDIA, in float32 and float64.
"""

# The types of JAX's functions are known in part; mypy is strict here.
# pyright: basic

from __future__ import annotations

from functools import partial
from typing import Literal, overload

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from . import _primitives as primitives
from ._dense import product, solve_left, transposed

__all__ = ["append", "cholesky_update", "log_det_change", "solve"]


@overload
def cholesky_update(
    l: ArrayLike,
    v: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    downdate: bool = False,
    upper: bool = False,
    with_status: Literal[False] = False,
    on_breakdown: Literal["keep", "nan"] = "keep",
) -> Array: ...


@overload
def cholesky_update(
    l: ArrayLike,
    v: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    downdate: bool = False,
    upper: bool = False,
    with_status: Literal[True],
    on_breakdown: Literal["keep", "nan"] = "keep",
) -> tuple[Array, Array]: ...


def cholesky_update(
    l: ArrayLike,
    v: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    downdate: bool = False,
    upper: bool = False,
    with_status: bool = False,
    on_breakdown: Literal["keep", "nan"] = "keep",
) -> Array | tuple[Array, Array]:
    """The factor of A + V diag(w) Vᴴ, computed from that of A.

    Arguments are broadcast over their leading dimensions, and `vmap` adds one: each matrix is modified as if it were alone.

    Parameters
    ----------
    l : shape (..., n, n)
        L, lower triangular, with A = L Lᴴ; or, with `upper`, R, upper triangular, with A = Rᴴ R. The other triangle is not read.
    v : shape (..., n, k) or (n,)
        V, or its only column. Two dimensions are always those of a matrix: a stack of columns is ``v[..., None]``.
    weights : shape (..., k), optional
        w, real, with any mix of signs. All 1 by default.
    downdate : bool, default False
        All weights are −1. Not allowed together with `weights`.
    upper : bool, default False
        Whether `l` is upper triangular.
    with_status : bool, default False
        Also return whether the factor exists.
    on_breakdown : "keep" or "nan"
        What is returned in place of a factor that does not exist, as the matrix is not positive definite or has a NaN: `l`, or NaN.

    Returns
    -------
    l_new : shape (..., n, n)
        The new factor, in the same triangle as `l`, with zeros in the other one and a positive diagonal.
    ok : bool, shape (...)
        With `with_status`: whether it exists.

    Notes
    -----
    Forward and reverse mode take O(k n²) operations. The cotangent of the result is read in its triangle only, and that of `l` is zero
    in the other one. Where the factor does not exist, tangents and cotangents are zero. Second derivatives, those of
    complex matrices, and on a GPU those that are faster so, are computed by dense formulas in O(n³).
    """
    name = "cholesky_update"
    if weights is not None and downdate:
        raise ValueError(f"{name}: weights and downdate cannot be given together")
    if on_breakdown not in ("keep", "nan"):
        raise ValueError(f"{name}: on_breakdown must be 'keep' or 'nan', got {on_breakdown!r}")
    factor, columns = floating(name, l, v)
    square(name, "l", factor)
    n = factor.shape[-1]
    if columns.ndim == 1:
        columns = columns[:, None]
    if columns.ndim < 2 or columns.shape[-2] != n:
        raise ValueError(f"{name}: v must have shape (..., {n}, k), got {columns.shape}")
    k = columns.shape[-1]
    part = jnp.zeros((), factor.dtype).real.dtype
    if weights is None:
        w = jnp.full((k,), -1 if downdate else 1, part)
    else:
        w = jnp.asarray(weights)
        if jnp.issubdtype(w.dtype, jnp.complexfloating):
            raise TypeError(f"{name} requires real weights, got {w.dtype}")
        if w.ndim < 1 or w.shape[-1] != k:
            raise ValueError(f"{name}: weights must have shape (..., {k}), got {w.shape}")
        w = w.astype(part)
    constant(name, factor, columns, w)
    same_leads(name, factor.shape[:-2], columns.shape[:-2], w.shape[:-1])
    sign = (-1 if downdate else 1) if weights is None else 0
    l_new, ok = _modified(factor, columns, w, upper=bool(upper), nan=on_breakdown == "nan", sign=sign)
    return (l_new, ok) if with_status else l_new


@partial(jax.jit, static_argnames=("upper", "nan", "sign"), inline=True)
def _modified(l: Array, v: Array, w: Array, *, upper: bool, nan: bool, sign: int) -> tuple[Array, Array]:
    if upper and jnp.issubdtype(v.dtype, jnp.complexfloating):
        v = jnp.conj(v)
    operands = primitives.aligned((l, v, w), primitives.OPERANDS[primitives.modify_p])
    l_new, ok = primitives.bind(primitives.modify_p, *operands, upper=upper, nan=nan, sign=sign)
    return l_new, ok


def solve(l: ArrayLike, b: ArrayLike, *, upper: bool = False) -> Array:
    """X with A X = B, by the factor of A.

    Parameters
    ----------
    l : shape (..., n, n)
        L, or with `upper` R. The other triangle is not read.
    b : shape (..., n, m) or (n,)

    Returns
    -------
    x : the shape of `b`, with the leading dimensions of both
    """
    factor, columns = floating("solve", l, b)
    square("solve", "l", factor)
    is_vector = columns.ndim == 1
    columns = columns[:, None] if is_vector else columns
    if columns.ndim < 2 or columns.shape[-2] != factor.shape[-1]:
        raise ValueError(f"solve: b must have shape (..., {factor.shape[-1]}, m), got {columns.shape}")
    factor = transposed(factor) if upper else factor
    x = solve_left(factor, solve_left(factor, columns), adjoint=True)
    return x[..., 0] if is_vector else x


@overload
def append(
    l: ArrayLike, cross: ArrayLike, corner: ArrayLike, *, upper: bool = False, with_status: Literal[False] = False
) -> Array: ...


@overload
def append(
    l: ArrayLike, cross: ArrayLike, corner: ArrayLike, *, upper: bool = False, with_status: Literal[True]
) -> tuple[Array, Array]: ...


def append(
    l: ArrayLike, cross: ArrayLike, corner: ArrayLike, *, upper: bool = False, with_status: bool = False
) -> Array | tuple[Array, Array]:
    """The factor of A bordered by r rows and columns: [[A, B], [Bᴴ, C]].

    Parameters
    ----------
    l : shape (..., n, n)
        L, or with `upper` R. The other triangle is not read.
    cross : shape (..., n, r) or (n,)
        B, the new columns beside A.
    corner : shape (..., r, r) or ()
        C. Its lower triangle is read.
    upper : bool, default False
        Whether `l` is upper triangular.
    with_status : bool, default False
        Also return whether the factor exists.

    Returns
    -------
    l_new : shape (..., n + r, n + r)
        The new factor. If the bordered matrix is not positive definite, its new rows are NaN, and have zero gradients.
    ok : bool, shape (...)
        With `with_status`: whether it exists.
    """
    name = "append"
    factor, beside, block = floating(name, l, cross, corner)
    square(name, "l", factor)
    if beside.ndim == 1:
        beside = beside[:, None]
    if block.ndim < 2:
        block = block.reshape(1, 1)
    square(name, "corner", block)
    wanted = (factor.shape[-1], block.shape[-1])
    if beside.ndim < 2 or beside.shape[-2:] != wanted:
        raise ValueError(f"{name}: cross must have shape (..., {wanted[0]}, {wanted[1]}), got {beside.shape}")
    same_leads(name, factor.shape[:-2], beside.shape[:-2], block.shape[:-2])
    l_new, ok = _appended(factor, beside, block, upper=bool(upper))
    return (l_new, ok) if with_status else l_new


@partial(jax.jit, static_argnames=("upper",), inline=True)
def _appended(l: Array, cross: Array, corner: Array, *, upper: bool) -> tuple[Array, Array]:
    l = jnp.tril(transposed(l) if upper else l)
    n, r = cross.shape[-2:]
    lead = jnp.broadcast_shapes(l.shape[:-2], cross.shape[:-2], corner.shape[:-2])
    # The lower triangle alone; the imaginary part of the diagonal is not read.
    below, pivots = jnp.tril(corner, -1), jnp.real(jnp.diagonal(corner, axis1=-2, axis2=-1))
    of_n, of_r = jnp.eye(n, dtype=l.dtype), jnp.eye(r, dtype=l.dtype)
    corner = below + transposed(below) + of_r * pivots[..., None, :]

    def rows_and_schur(there: Array) -> tuple[Array, Array]:
        """With an identity and zeros where there is no factor, so that no NaN enters a gradient."""
        rows = transposed(solve_left(jnp.where(there, l, of_n), jnp.where(there, cross, 0)))
        return rows, jnp.where(there, corner, of_r) - product(rows, transposed(rows))

    finite = (jnp.isfinite(l).all((-2, -1)) & jnp.isfinite(cross).all((-2, -1)))[..., None, None]
    _, schur = rows_and_schur(finite)
    found = jnp.linalg.cholesky(jax.lax.stop_gradient(schur), symmetrize_input=False)
    there = finite & jnp.isfinite(found).all((-2, -1))[..., None, None]
    rows, schur = rows_and_schur(there)
    block = jnp.tril(jnp.linalg.cholesky(jnp.where(there, schur, of_r), symmetrize_input=False))
    right = jnp.concatenate([jnp.broadcast_to(rows, (*lead, r, n)), jnp.broadcast_to(block, (*lead, r, r))], axis=-1)
    above = jnp.concatenate([l, jnp.zeros((*l.shape[:-1], r), l.dtype)], axis=-1)
    above = jnp.where(there, above, jax.lax.stop_gradient(above))
    new = jnp.concatenate([jnp.broadcast_to(above, (*lead, n, n + r)), jnp.where(there, right, jnp.nan)], axis=-2)
    return (transposed(new) if upper else new), there[..., 0, 0]


def log_det_change(l: ArrayLike, l_new: ArrayLike) -> Array:
    """log det A' − log det A, by the factors of both, lower or upper.

    Parameters
    ----------
    l, l_new : shape (..., n, n), (..., m, m)

    Returns
    -------
    change : real, shape (...)
    """
    before, after = floating("log_det_change", l, l_new)
    square("log_det_change", "l", before)
    square("log_det_change", "l_new", after)

    def half(x: Array) -> Array:
        return jnp.log(jnp.abs(jnp.diagonal(x, axis1=-2, axis2=-1))).sum(-1)

    return 2 * (half(after) - half(before))


def floating(name: str, *arguments: ArrayLike) -> list[Array]:
    """Arrays of the dtype that JAX promotes them to."""
    arrays = [jnp.asarray(x) for x in arguments]
    dtype = jnp.result_type(*arrays)
    if not jnp.issubdtype(dtype, jnp.inexact):
        dtype = jnp.result_type(dtype, float)
    if dtype not in (jnp.float32, jnp.float64, jnp.complex64, jnp.complex128):
        raise TypeError(f"{name} does not accept dtype {dtype}. Accepted dtypes are float32, float64, complex64 and complex128.")
    return [x.astype(dtype) for x in arrays]


def square(name: str, argument: str, x: Array) -> None:
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{name}: {argument} must be a (batched) square matrix, got shape {x.shape}")


def constant(name: str, *arrays: Array) -> None:
    if not all(isinstance(extent, int) for x in arrays for extent in x.shape):
        shapes = ", ".join(str(x.shape) for x in arrays)
        raise NotImplementedError(f"{name} does not support shape polymorphism: got shapes {shapes}")


def same_leads(name: str, *leads: tuple[int, ...]) -> None:
    try:
        jnp.broadcast_shapes(*leads)
    except ValueError:
        shapes = ", ".join(map(str, leads))
        raise ValueError(f"{name}: leading dimensions cannot be broadcast: {shapes}") from None
