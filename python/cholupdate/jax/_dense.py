"""Derivatives of the modification by dense formulas, O(n³), as functions of JAX, which it differentiates as often as it is asked.

A' = L Lᴴ + V diag(w) Vᴴ = L' L'ᴴ, and φ(X) is the lower triangle of X with half of its diagonal.
"""

# The types of JAX's functions are known in part; mypy is strict here.
# pyright: basic

from __future__ import annotations

import jax.numpy as jnp
from jax import Array, lax


def transposed(x: Array) -> Array:
    """The conjugate transpose."""
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def product(a: Array, b: Array) -> Array:
    """A B, without the shorter numbers that a GPU multiplies by default."""
    return jnp.matmul(a, b, precision=lax.Precision.HIGHEST)


def half_triangle(x: Array) -> Array:
    n = x.shape[-1]
    return jnp.tril(x) * (1 - 0.5 * jnp.eye(n, dtype=x.real.dtype))


def solve_left(l: Array, x: Array, *, adjoint: bool = False) -> Array:
    """L⁻¹ X, or L⁻ᴴ X."""
    l, x = (jnp.broadcast_to(a, lead(l, x) + a.shape[-2:]) for a in (l, x))
    return lax.linalg.triangular_solve(l, x, left_side=True, lower=True, transpose_a=adjoint, conjugate_a=adjoint)


def lead(*arrays: Array) -> tuple[int, ...]:
    """The leading dimensions that matrices have in common."""
    return jnp.broadcast_shapes(*(a.shape[:-2] for a in arrays))


def apart(ok: Array, l_new: Array, *others: Array) -> tuple[Array, ...]:
    """L' and other matrices, with an identity and zeros for elements that have none, so that nothing becomes NaN."""
    there = ok[..., None, None]
    eye = jnp.eye(l_new.shape[-1], dtype=l_new.dtype)
    return (jnp.where(there, l_new, eye), *(jnp.where(there, a, 0) for a in others))


def tangent(
    primals: tuple[Array, Array, Array, Array, Array],
    tangents: tuple[Array, Array, Array],
) -> Array:
    """L̇' = L' φ(L'⁻¹ Ȧ' L'⁻ᴴ). Zero for elements that have no L'."""
    l, l_new, v, w, ok = primals
    dl, dv, dw = tangents
    l_new, l, v, dl, dv = apart(ok, l_new, jnp.tril(l), v, jnp.tril(dl), dv)
    w, dw = (jnp.where(ok[..., None], a, 0)[..., None, :] for a in (w, dw))
    half = product(dl, transposed(l)) + product(dv * w + 0.5 * v * dw, transposed(v))
    middle = solve_left(l_new, half)
    middle = transposed(solve_left(l_new, transposed(middle)))
    return jnp.tril(product(l_new, half_triangle(middle + transposed(middle))))


def cotangents(
    primals: tuple[Array, Array, Array, Array, Array],
    cotangent: Array,
) -> tuple[Array, Array, Array]:
    """With 2S = L'⁻ᵀ (φ(L'ᵀ L̄') + φ(L'ᵀ L̄')ᵀ) L'⁻¹: L̄ = tril(2S L), V̄ = 2S V diag(w), w̄ = ½ diag(Vᵀ 2S V). Real."""
    l, l_new, v, w, ok = primals
    l_new, l, v, cotangent = apart(ok, l_new, jnp.tril(l), v, jnp.tril(cotangent))
    w = jnp.where(ok[..., None], w, 0)[..., None, :]
    phi = half_triangle(product(transposed(l_new), cotangent))
    twice = solve_left(l_new, phi + transposed(phi), adjoint=True)
    twice = transposed(solve_left(l_new, transposed(twice), adjoint=True))
    q = product(twice, v)
    return jnp.tril(product(twice, l)), q * w, 0.5 * jnp.sum(v * q, axis=-2)


def of_upper(upper: bool, x: Array) -> Array:
    """The lower triangular matrix that a real upper one stands for, and back."""
    return jnp.swapaxes(x, -1, -2) if upper else x


