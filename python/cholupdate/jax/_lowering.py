"""Custom calls for the primitives, and how they are divided among devices."""

# The types of JAX's functions are known in part; mypy is strict here.
# pyright: basic

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import jax
import jax.ffi
import jax.numpy as jnp
from jax.interpreters import mlir

from .. import _on_gpu
from .._cholupdate import xla_handlers, xla_handlers_on_cuda


def register() -> None:
    """Names the handlers of the extension module to XLA, as calls whose leading dimensions may be divided among devices."""
    divisible = getattr(jax.ffi, "register_ffi_target_as_batch_partitionable", None)
    for name, handler in xla_handlers().items():
        jax.ffi.register_ffi_target(name, handler, platform="cpu", api_version=1)
        if divisible is not None:
            divisible(name)
    for name, handler in xla_handlers_on_cuda().items():
        jax.ffi.register_ffi_target(name, handler, platform="CUDA", api_version=1)


register()


def sharding_rule(shapes: tuple[Sequence[Sequence[int]], Sequence[Sequence[int]]], owns: Sequence[int]) -> Any:
    """Shardy's rule: leading dimensions are divided alike, all others are not divided.

    `shapes` are those of operands and results, `owns` the numbers of their last dimensions that are not leading ones.
    """
    operands, results = shapes
    leads = [tuple(shape[: len(shape) - own]) for shape, own in zip(operands, owns, strict=False)]
    lead = jnp.broadcast_shapes(*leads)
    sizes = list(lead)

    def name(factor: int) -> str:
        # Shardy's names: i to z, then z_1, z_2, …
        letters = "ijklmnopqrstuvwxyz"
        return letters[factor] if factor < len(letters) else f"z_{factor - len(letters) + 1}"

    def of(shape: Sequence[int], own: int) -> str:
        names = []
        for at, extent in enumerate(shape):
            if at < len(shape) - own and extent == lead[at]:
                names.append(name(at))
            else:
                sizes.append(extent)
                names.append(name(len(sizes) - 1))
        return "[" + ", ".join(names) + "]"

    mapped = [of(shape, own) for shape, own in zip([*operands, *results], owns)]
    left, right = ", ".join(mapped[: len(operands)]), ", ".join(mapped[len(operands) :])
    factors = ", ".join(f"{name(at)}={size}" for at, size in enumerate(sizes))
    return mlir.ir.Attribute.parse(f"#sdy.op_sharding_rule<({left})->({right}) {{{factors}}}>")


def is_divided(context: Any) -> bool:
    """Whether XLA divides a program among devices, and not the program itself (`shard_map`)."""
    mesh = context.module_context.axis_context
    return isinstance(mesh, mlir.ShardingContext) and mesh.num_devices > 1


# The largest order of matrices of a batch that are processed side by side on the CPU, in any layout at the same speed.
MOST_SIDE_BY_SIDE = 96


def lowering(
    primitive: Any,
    owns: Sequence[int],
    squares: tuple[Sequence[int], Sequence[int]],
    *,
    in_place: bool,
    on_gpu: bool = False,
    most_side_by_side: int = MOST_SIDE_BY_SIDE,
) -> Any:
    """The lowering rule of a primitive, of which these operands and results are triangular.

    With `in_place` the first result is written over the first operand. XLA copies an operand that is used elsewhere; one that is
    donated, or carried through a loop, is modified where it is. On a GPU, L and L' are different memory.
    """

    def lower(context: Any, *operands: Any, **parameters: Any) -> Any:
        shapes = ([tuple(x.shape) for x in context.avals_in], [x.shape for x in context.avals_out])
        if on_gpu and jnp.issubdtype(context.avals_in[0].dtype, jnp.complexfloating):
            raise NotImplementedError("cholesky_update of complex matrices runs on the CPU, not on GPUs")
        of_results = [len(shape) - (len(shapes[0][0]) - owns[0]) for shape in shapes[1]]
        lead = len(shapes[0][0]) - owns[0]
        full = jnp.broadcast_shapes(*(shape[:lead] for shape in shapes[0]))
        if is_divided(context) and any(shape[:lead] != full for shape in shapes[0]):
            # The partitioner before Shardy divides all operands alike, also one that all matrices have in common.
            def of_each(*given: Any) -> Any:
                wanted = [full + shape[lead:] for shape in shapes[0]]
                return primitive.bind(*map(jnp.broadcast_to, given, wanted), **parameters)

            return mlir.lower_fun(of_each, multiple_results=True)(context, *operands)
        attributes = {}
        if lead:
            attributes["mhlo.frontend_attributes"] = mlir.ir.DictAttr.get({"num_batch_dims": mlir.ir.StringAttr.get(str(lead))})
            if getattr(jax.config, "jax_use_shardy_partitioner", False):
                attributes["sdy.sharding_rule"] = sharding_rule(shapes, [*owns, *of_results])
        more: dict[str, Any] = {"operand_output_aliases": {0: 0}} if in_place and shapes[0][0] == shapes[1][0] else {}
        count, order = prod(full), shapes[1][0][-1]
        sign = parameters.pop("sign", 0)
        if on_gpu:
            parameters |= {"plus": sign > 0, "minus": sign < 0}
        # XLA cannot transpose what has no entries.
        if not parameters["upper"] and count * order > 0 and (count == 1 or order > most_side_by_side):
            # By columns, as the library works on it and as JAX's own factorizations and solves have it: between these, and in a loop,
            # XLA then transposes nothing. To the call a lower triangle by columns is an upper one by rows.
            by_columns = (lead, lead + 1, *reversed(range(lead)))
            layouts = [[by_columns if at in of else None for at in range(len(x))] for x, of in zip(shapes, squares)]
            more["operand_layouts"], more["result_layouts"] = layouts
            parameters = parameters | {"upper": True}
        rule = jax.ffi.ffi_lowering(primitive.name, extra_attributes=attributes or None, **more)
        return rule(context, *operands, **parameters)

    return lower


def lowering_on_gpu(primitive: Any, owns: Sequence[int], squares: tuple[Sequence[int], Sequence[int]], formula: Any) -> Any:
    """The same on CUDA, for a derivative by its dense formula where that is faster than a call."""
    most = 0 if formula else _on_gpu.MOST_SIDE_BY_SIDE
    call = lowering(primitive, owns, squares, in_place=False, on_gpu=True, most_side_by_side=most)

    def lower(context: Any, *operands: Any, **parameters: Any) -> Any:
        lead = len(context.avals_in[0].shape) - 2
        count = int(prod(jnp.broadcast_shapes(*(x.shape[:lead] for x in context.avals_in))))
        if formula is None or _on_gpu.by_call(count, *context.avals_in[2].shape[-2:]):
            return call(context, *operands, **parameters)
        shapes = [x.shape for x in context.avals_out]

        def computed(*given: Any) -> list[Any]:
            found = formula(given[:5], *given[5:], upper=parameters["upper"])
            # They have the leading dimensions of all operands.
            return [jnp.broadcast_to(x, shape) for x, shape in zip(found, shapes, strict=True)]

        return mlir.lower_fun(computed, multiple_results=True)(context, *operands)

    return lower
