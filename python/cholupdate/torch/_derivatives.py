"""Derivatives of the operators: of the modification by them, their own by dense formulas in O(n³)."""

# The types of PyTorch's functions are known in part; mypy is strict here.
# pyright: basic

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from ._dense import dense_cotangents, dense_tangent
from ._operators import modify, modify_jvp, modify_vjp


def has_forward_mode() -> bool:
    """Whether tensors may have tangents. PyTorch has no public name for this."""
    level: Any = getattr(forward_ad, "_current_level", 0)
    return bool(level >= 0)


def by_operators() -> bool:
    """Whether the operators alone serve: without forward mode and transforms of `torch.func`.

    A graph that they have recorded may be differentiated later, in any way, so this is asked again at each step back.
    """
    transforms: Any = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)
    return not (has_forward_mode() or transforms())


def pulled(*arguments: Any) -> Any:
    """The cotangents of L, V and w."""
    return modify_vjp(*arguments) if by_operators() else ModifyVjp.apply(*arguments)


def pushed(*arguments: Any) -> Any:
    """The tangent of L'."""
    return modify_jvp(*arguments) if by_operators() else ModifyJvp.apply(*arguments)


def save(ctx: Any, inputs: Any, output: Any) -> None:
    l, v, w, upper, _, sign = inputs
    l_new, ok = output
    ctx.mark_non_differentiable(ok)
    ctx.save_for_backward(l, l_new, v, w, ok)
    ctx.save_for_forward(l, l_new, v, w, ok)
    ctx.upper, ctx.sign = upper, sign
    if l.is_complex() and any(x.requires_grad for x in (l, v, w)):
        raise NotImplementedError("cholesky_update has no derivatives for complex tensors in PyTorch")


def backward(ctx: Any, cotangent: Tensor, _: Any) -> Any:
    return *pulled(*ctx.saved_tensors, cotangent, ctx.upper, ctx.sign), None, None, None


modify.register_autograd(backward, setup_context=save)


def save_all(ctx: Any, inputs: Any, output: Any) -> None:
    *tensors, ctx.upper, ctx.sign = inputs
    ctx.save_for_backward(*tensors)
    ctx.save_for_forward(*tensors)


def of_given(ctx: Any, formula: Any, given: Sequence[Tensor], cotangents: Any) -> Sequence[Tensor | None]:
    """The cotangents of L, L', V and w in a linear map that depends on them."""
    if not any(ctx.needs_input_grad[:4]):
        return [None] * 4
    *differentiated, ok = given
    vjp: Any = torch.func.vjp
    _, pull = vjp(lambda *each: formula((*each, ok)), *differentiated)
    found: Sequence[Tensor] = pull(cotangents)
    return found


def backward_of_vjp(ctx: Any, *cotangents: Tensor) -> Any:
    *given, cotangent = ctx.saved_tensors
    found = of_given(ctx, lambda each: dense_cotangents(each, cotangent, ctx.upper), given, cotangents)
    of_cotangent = pushed(*given, *cotangents, ctx.upper, ctx.sign) if ctx.needs_input_grad[5] else None
    return *found, None, of_cotangent, None, None


def backward_of_jvp(ctx: Any, cotangent: Tensor) -> Any:
    given, tangents = ctx.saved_tensors[:5], ctx.saved_tensors[5:]
    dl, dv, dw = tangents
    found = of_given(ctx, lambda each: dense_tangent(each, dl, dv, dw, ctx.upper), given, cotangent)
    return *found, None, *pulled(*given, cotangent, ctx.upper, ctx.sign), None, None


modify_vjp.register_autograd(backward_of_vjp, setup_context=save_all)
modify_jvp.register_autograd(backward_of_jvp, setup_context=save_all)


# The same with forward mode and for `torch.func`, which an operator of Python cannot have, for programs that are not compiled.


class Modify(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        save(ctx, inputs, output)

    @staticmethod
    def forward(l: Tensor, v: Tensor, w: Tensor, upper: bool, nan: bool, sign: int) -> Any:
        return modify(l, v, w, upper, nan, sign)

    @staticmethod
    def backward(ctx: Any, cotangent: Tensor, _: Any) -> Any:
        return backward(ctx, cotangent, _)

    @staticmethod
    def jvp(ctx: Any, dl: Any, dv: Any, dw: Any, *_: Any) -> Any:
        l, l_new, v, w, ok = ctx.saved_tensors
        dl, dv, dw = (torch.zeros_like(x) if d is None else d for x, d in ((l, dl), (v, dv), (w, dw)))
        return pushed(l, l_new, v, w, ok, dl, dv, dw, ctx.upper, ctx.sign), None


# The same outside of a program that is compiled, which is in parts then.
disable: Any = torch.compiler.disable
apart: Any = disable(lambda *arguments: Modify.apply(*arguments))


class ModifyVjp(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        save_all(ctx, inputs, output)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        return backward_of_vjp(ctx, *cotangents)

    @staticmethod
    def forward(l: Tensor, l_new: Tensor, v: Tensor, w: Tensor, ok: Tensor, cotangent: Tensor, upper: bool, sign: int) -> Any:
        return modify_vjp(l, l_new, v, w, ok, cotangent, upper, sign)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        *differentiated, ok, cotangent = ctx.saved_tensors
        *of_given, _, of_cotangent = known(ctx, tangents)

        def formula(*each: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            return dense_cotangents((*each, ok), cotangent, ctx.upper)

        found = along(formula, differentiated, of_given)
        linear = pulled(*differentiated, ok, of_cotangent, ctx.upper, ctx.sign)
        return tuple(x + y for x, y in zip(found, linear, strict=True))


class ModifyJvp(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        save_all(ctx, inputs, output)

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        return backward_of_jvp(ctx, cotangent)

    @staticmethod
    def forward(
        l: Tensor, l_new: Tensor, v: Tensor, w: Tensor, ok: Tensor, dl: Tensor, dv: Tensor, dw: Tensor, upper: bool, sign: int
    ) -> Any:
        return modify_jvp(l, l_new, v, w, ok, dl, dv, dw, upper, sign)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        *differentiated, ok, dl, dv, dw = ctx.saved_tensors
        *of_given, _, of_dl, of_dv, of_dw = known(ctx, tangents)

        def formula(*each: Tensor) -> Tensor:
            return dense_tangent((*each, ok), dl, dv, dw, ctx.upper)

        linear = pushed(*differentiated, ok, of_dl, of_dv, of_dw, ctx.upper, ctx.sign)
        return along(formula, differentiated, of_given) + linear


def known(ctx: Any, tangents: Sequence[Any]) -> Any:
    """The tangents of the tensors that have been saved, with zeros in place of those that are not there."""
    return (torch.zeros_like(x) if d is None else d for x, d in zip(ctx.saved_tensors, tangents, strict=False))


def along(formula: Any, at: Sequence[Tensor], tangents: Sequence[Tensor]) -> Any:
    """The tangent of a formula."""
    # A rule of forward mode runs without it: a `jvp` around that one would find no tangents of what is computed here.
    functorch: Any = getattr(torch._C, "_functorch", None)
    levels = getattr(functorch, "get_interpreter_stack", lambda: None)() or ()
    if sum(level.key() == functorch.TransformType.Jvp for level in levels) > 1:
        raise NotImplementedError("cholesky_update: third derivatives by forward mode twice are not available in PyTorch")
    jvp: Any = torch.func.jvp
    return jvp(formula, tuple(at), tuple(tangents))[1]
