"""The modification and its derivatives as primitives of JAX, computed by custom calls of XLA.

| primitive | operands | results |
|---|---|---|
| `modify` | L, V, w | L', ok |
| `modify_jvp` | L, L', V, w, ok; the tangents of L, V, w | the tangent of L' |
| `modify_vjp` | L, L', V, w, ok; the cotangent of L' | the cotangents of L, V, w |

The second and the third are linear in what comes after the semicolon, and each other's transposes. All operands have the same number
of leading dimensions: the same ones, or 1 everywhere for what all matrices have in common.
"""

# The types of JAX's functions are known in part; mypy is strict here.
# pyright: basic

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.sharding import PartitionSpec

from . import _dense as dense
from ._lowering import lowering, lowering_on_gpu

# The dimensions of an operand that are not leading ones.
MATRIX, VECTOR, FLAG = 2, 1, 0

modify_p = Primitive("cholupdate_modify")
modify_jvp_p = Primitive("cholupdate_modify_jvp")
modify_vjp_p = Primitive("cholupdate_modify_vjp")

OPERANDS = {
    modify_p: (MATRIX, MATRIX, VECTOR),
    modify_jvp_p: (MATRIX, MATRIX, MATRIX, VECTOR, FLAG, MATRIX, MATRIX, VECTOR),
    modify_vjp_p: (MATRIX, MATRIX, MATRIX, VECTOR, FLAG, MATRIX),
}
# The operands and the results that are triangular.
TRIANGULAR = {modify_p: ((0,), (0,)), modify_jvp_p: ((0, 1, 5), (0,)), modify_vjp_p: ((0, 1, 5), (0,))}


def leading(x: Any, own: int) -> tuple[int, ...]:
    shape: tuple[int, ...] = tuple(x.shape)
    return shape[: len(shape) - own]


def aligned(operands: Sequence[Array], owns: Sequence[int]) -> list[Array]:
    """Operands with the leading dimensions that NumPy would give them; one that all have in common is not copied."""
    lead = jnp.broadcast_shapes(*(leading(x, own) for x, own in zip(operands, owns, strict=True)))

    def one(x: Array, own: int) -> Array:
        shape = x.shape[x.ndim - own :]
        if prod(leading(x, own)) == 1 and prod(lead) != 0:
            return x.reshape((1,) * len(lead) + shape)
        return jnp.broadcast_to(x, lead + shape)

    return [one(x, own) for x, own in zip(operands, owns, strict=True)]


def summed(x: Array, shape: tuple[int, ...]) -> Array:
    """The sum over the dimensions that an operand has in common."""
    axes = tuple(axis for axis, (found, wanted) in enumerate(zip(x.shape, shape, strict=True)) if found != wanted)
    return x.sum(axes, keepdims=True) if axes else x


# Shapes.


def varying(x: Any) -> frozenset[Any]:
    """The manual axes of a mesh over which a type varies, inside of `shard_map`."""
    kind = getattr(x, "mat", None)
    found: frozenset[Any] = getattr(x, "vma", frozenset()) if kind is None else kind.varying
    return found


def bind(primitive: Any, *operands: Any, **parameters: Any) -> Any:
    """Binds a primitive to operands that vary alike, as `shard_map` demands."""
    axes = [varying(jax.typeof(x)) for x in operands]
    every: frozenset[Any] = frozenset().union(*axes)
    if every:
        each = zip(operands, axes, strict=True)
        operands = tuple(jax.lax.pcast(x, tuple(every - own), to="varying") if every - own else x for x, own in each)
    return primitive.bind(*operands, **parameters)


def like(x: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """A result that varies as the operands do."""
    if not varying(x):
        return type(x)(shape, dtype)
    whole: Any = PartitionSpec
    return x.update(shape=shape, dtype=dtype, sharding=x.sharding.update(spec=whole(*[None] * len(shape))))


def abstract(primitive: Any, *operands: Any, **_: Any) -> list[Any]:
    lead = jnp.broadcast_shapes(*(leading(x, own) for x, own in zip(operands, OPERANDS[primitive], strict=True)))

    def result(x: Any, own: int) -> Any:
        return like(x, lead + tuple(x.shape[len(x.shape) - own :]), x.dtype)

    l = operands[0]
    if primitive is modify_p:
        return [result(l, MATRIX), like(l, lead, jnp.dtype(bool))]
    if primitive is modify_jvp_p:
        return [result(l, MATRIX)]
    return [result(l, MATRIX), result(operands[2], MATRIX), result(operands[3], VECTOR)]


# Batches.


def batched(primitive: Any, operands: Sequence[Any], dims: Sequence[Any], **parameters: Any) -> tuple[Any, Any]:
    def front(x: Any, dim: Any) -> Any:
        return jnp.expand_dims(x, 0) if dim is None else jnp.moveaxis(x, dim, 0)

    moved = [front(x, dim) for x, dim in zip(operands, dims, strict=True)]
    results = bind(primitive, *aligned(moved, OPERANDS[primitive]), **parameters)
    return results, [0] * len(results)


# Derivatives.


# JAX's own functions have no types.
is_linear: Any = ad.is_undefined_primal


def is_zero(x: Any) -> bool:
    return isinstance(x, ad.Zero)


def zero_tangent(x: Any) -> Any:
    return ad.Zero(jax.typeof(x).to_tangent_aval())


def modify_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, upper: bool, nan: bool, sign: int) -> Any:
    l, v, w = primals
    l_new, ok = bind(modify_p, l, v, w, upper=upper, nan=nan, sign=sign)
    of_ok = zero_tangent(ok)
    if all(map(is_zero, tangents)):
        return [l_new, ok], [zero_tangent(l_new), of_ok]
    dl, dv, dw = map(ad.instantiate_zeros, tangents)
    if jnp.issubdtype(l.dtype, jnp.complexfloating):
        # What is upper is the conjugate transpose of what is lower; V has been conjugated where it is.
        of = dense.transposed if upper else (lambda x: x)
        of_v = jnp.conj if upper else (lambda x: x)
        dl_new = of(dense.tangent((of(l), of(l_new), of_v(v), w, ok), (of(dl), of_v(dv), dw)))
    else:
        (dl_new,) = bind(modify_jvp_p, l, l_new, v, w, ok, dl, dv, dw, upper=upper, sign=sign)
    return [l_new, ok], [dl_new, of_ok]


def transpose_of_jvp(cotangents: Any, *operands: Any, upper: bool, sign: int) -> Any:
    (cotangent,) = cotangents
    given, tangents = operands[:5], operands[5:]
    if is_zero(cotangent):
        return [None] * 5 + [ad.Zero(x.aval) if is_linear(x) else None for x in tangents]
    found = bind(modify_vjp_p, *given, cotangent, upper=upper, sign=sign)
    both = zip(found, tangents, strict=True)
    return [None] * 5 + [summed(x, tuple(of.aval.shape)) if is_linear(of) else None for x, of in both]


def transpose_of_vjp(cotangents: Any, *operands: Any, upper: bool, sign: int) -> Any:
    *given, cotangent = operands
    if all(map(is_zero, cotangents)):
        return [None] * 5 + [ad.Zero(cotangent.aval)]
    (found,) = bind(modify_jvp_p, *given, *map(ad.instantiate_zeros, cotangents), upper=upper, sign=sign)
    return [None] * 5 + [summed(found, tuple(cotangent.aval.shape))]


def second_order(
    primitive: Any,
    formula: Callable[..., tuple[Array, ...]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    upper: bool,
    sign: int,
) -> Any:
    """The tangents of a primitive that is linear in its last operands: itself, and the dense formula for the others."""
    results = bind(primitive, *primals, upper=upper, sign=sign)
    found: list[Any] = [zero_tangent(x) for x in results]
    given, linear = primals[:5], primals[5:]
    if not all(map(is_zero, tangents[5:])):
        found = list(bind(primitive, *given, *map(ad.instantiate_zeros, tangents[5:]), upper=upper, sign=sign))
    if not all(map(is_zero, tangents[:4])):
        l, l_new, v, w, ok = given

        def of_given(l: Array, l_new: Array, v: Array, w: Array) -> tuple[Array, ...]:
            return formula((l, l_new, v, w, ok), *linear, upper=upper)

        _, more = jax.jvp(of_given, (l, l_new, v, w), tuple(map(ad.instantiate_zeros, tangents[:4])))
        found = [y if is_zero(x) else x + y for x, y in zip(found, more, strict=True)]
    return results, found


def dense_jvp(given: Any, dl: Array, dv: Array, dw: Array, *, upper: bool) -> tuple[Array, ...]:
    l, l_new, v, w, ok = given
    of = partial(dense.of_upper, upper)
    return (of(dense.tangent((of(l), of(l_new), v, w, ok), (of(dl), dv, dw))),)


def dense_vjp(given: Any, cotangent: Array, *, upper: bool) -> tuple[Array, ...]:
    l, l_new, v, w, ok = given
    of = partial(dense.of_upper, upper)
    of_l, of_v, of_w = dense.cotangents((of(l), of(l_new), v, w, ok), of(cotangent))
    return of(of_l), of_v, of_w


# What computes a derivative of which there is no call on a GPU.
DENSE = {modify_jvp_p: dense_jvp, modify_vjp_p: dense_vjp}

COMPILED: dict[Any, Callable[..., Any]] = {}


def evaluated(primitive: Any, *operands: Any, **parameters: Any) -> Any:
    """A primitive outside of a compiled program."""
    key = (primitive, *sorted(parameters.items()))
    if key not in COMPILED:
        COMPILED[key] = jax.jit(partial(primitive.bind, **parameters))
    if not getattr(jax.config, "jax_disable_jit", False):
        return COMPILED[key](*operands)
    # A call is always a compiled one.
    with jax.disable_jit(False):
        return COMPILED[key](*operands)


p: Any
for p in OPERANDS:
    p.multiple_results = True
    p.def_impl(partial(evaluated, p))
    p.def_abstract_eval(partial(abstract, p))
    batching.primitive_batchers[p] = partial(batched, p)
    mlir.register_lowering(p, lowering(p, OPERANDS[p], TRIANGULAR[p], in_place=p is modify_p), platform="cpu")
    mlir.register_lowering(p, lowering_on_gpu(p, OPERANDS[p], TRIANGULAR[p], DENSE.get(p)), platform="cuda")

ad.primitive_jvps[modify_p] = modify_jvp
ad.primitive_jvps[modify_jvp_p] = partial(second_order, modify_jvp_p, dense_jvp)
ad.primitive_jvps[modify_vjp_p] = partial(second_order, modify_vjp_p, dense_vjp)
ad.primitive_transposes[modify_jvp_p] = transpose_of_jvp
ad.primitive_transposes[modify_vjp_p] = transpose_of_vjp
