"""Modifications of Cholesky factors as operators of PyTorch: autograd, `torch.func`, `vmap`, `torch.compile`.

>>> import torch
>>> from cholupdate.torch import cholesky_update
>>> l = torch.linalg.cholesky(torch.tensor([[4.0, 2.0], [2.0, 5.0]]))
>>> v = torch.tensor([1.0, 2.0], requires_grad=True)
>>> new = cholesky_update(l, v)
>>> (new @ new.mT).detach().round(decimals=3).tolist()
[[5.0, 4.0], [4.0, 9.0]]
>>> new.sum().backward()
>>> v.grad.round(decimals=3)
tensor([0.5850, 0.9450])

The functions are pure. Nothing is raised for a factor that does not exist, as that would break `vmap` and compiled programs: a status
reports it. They run on the CPU, in float32, float64, complex64 and complex128, and on GPUs of NVIDIA, in float32 and float64. Complex
matrices have no derivatives.
"""

# The types of PyTorch's functions are known in part; mypy is strict here.
# pyright: basic

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Literal, overload

import torch
from torch import Tensor

from ._cholupdate import modify_at, modify_jvp_at, modify_on_gpu, modify_vjp_at, scratch_on_gpu

__all__ = ["append", "cholesky_update", "log_det_change", "solve"]


@overload
def cholesky_update(
    l: Tensor,
    v: Tensor,
    weights: Tensor | None = None,
    *,
    downdate: bool = False,
    upper: bool = False,
    with_status: Literal[False] = False,
    on_breakdown: Literal["keep", "nan"] = "keep",
) -> Tensor: ...


@overload
def cholesky_update(
    l: Tensor,
    v: Tensor,
    weights: Tensor | None = None,
    *,
    downdate: bool = False,
    upper: bool = False,
    with_status: Literal[True],
    on_breakdown: Literal["keep", "nan"] = "keep",
) -> tuple[Tensor, Tensor]: ...


def cholesky_update(
    l: Tensor,
    v: Tensor,
    weights: Tensor | None = None,
    *,
    downdate: bool = False,
    upper: bool = False,
    with_status: bool = False,
    on_breakdown: Literal["keep", "nan"] = "keep",
) -> Tensor | tuple[Tensor, Tensor]:
    """The factor of A + V diag(w) Vᴴ, computed from that of A.

    Arguments are broadcast over their leading dimensions: each matrix is modified as if it were alone.

    Parameters
    ----------
    l : shape (..., n, n)
        L, lower triangular, with A = L Lᴴ; or, with `upper`, R, upper triangular, with A = Rᴴ R. The other triangle is not read.
    v : shape (..., n, k) or (n,)
        V, or its only column, of the dtype of `l`. Two dimensions are always those of a matrix: a stack of columns is
        ``v[..., None]``.
    weights : shape (..., k), optional
        w, real, with any mix of signs. All 1 by default.
    downdate : bool, default False
        All weights are −1. Not allowed together with `weights`.
    upper : bool, default False
        Whether `l` is upper triangular.
    with_status : bool, default False
        Also return whether the factor exists.
    on_breakdown : "keep" or "nan"
        What is returned in place of a factor that does not exist: `l`, or NaN. An `l` with entries that are not finite becomes NaN.

    Returns
    -------
    l_new : shape (..., n, n)
        The new factor, in the same triangle as `l`, with zeros in the other one and a positive diagonal. It is contiguous, but on a GPU by
        columns unless `upper`.
    ok : bool, shape (...)
        With `with_status`: whether it exists.

    Notes
    -----
    Reverse and forward mode take O(k n²) operations. The gradient of the result is read in its triangle only, and that of `l` is zero
    in the other one. Where the factor does not exist, gradients are zero. Second derivatives, and all on a GPU, take O(n³). In compiled
    programs forward mode is not available.
    """
    name = "cholesky_update"
    if weights is not None and downdate:
        raise ValueError(f"{name}: weights and downdate cannot be given together")
    if on_breakdown not in ("keep", "nan"):
        raise ValueError(f"{name}: on_breakdown must be 'keep' or 'nan', got {on_breakdown!r}")
    checked(name, l=l, v=v)
    square(name, "l", l)
    if v.ndim == 1:
        v = v.unsqueeze(-1)
    if v.ndim < 2 or v.shape[-2] != l.shape[-1]:
        raise ValueError(f"{name}: v must have shape (..., {l.shape[-1]}, k), got {tuple(v.shape)}")
    part = l.real.dtype if l.is_complex() else l.dtype
    if weights is None:
        w = torch.full((v.shape[-1],), -1.0 if downdate else 1.0, dtype=part, device=l.device)
    else:
        w = weights
        if w.dtype != part or w.device != l.device:
            raise TypeError(f"{name}: weights must have dtype {part} on {l.device}, got {w.dtype} on {w.device}")
        if w.ndim < 1 or w.shape[-1] != v.shape[-1]:
            raise ValueError(f"{name}: weights must have shape (..., {v.shape[-1]}), got {tuple(w.shape)}")
    if upper and v.is_complex():
        v = v.conj()
    lead = common(l.shape[:-2], v.shape[:-2], w.shape[:-1])
    l, v, w = l.expand(lead + l.shape[-2:]), v.expand(lead + v.shape[-2:]), w.expand(lead + w.shape[-1:])
    sign = (-1 if downdate else 1) if weights is None else 0
    if torch.compiler.is_compiling() or l.is_complex():
        l_new, ok = modify(l, v, w, upper, on_breakdown == "nan", sign)
    else:
        l_new, ok = Modify.apply(l, v, w, upper, on_breakdown == "nan", sign)
    return (l_new, ok) if with_status else l_new


def solve(l: Tensor, b: Tensor, *, upper: bool = False) -> Tensor:
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
    checked("solve", l=l, b=b)
    square("solve", "l", l)
    columns = b.unsqueeze(-1) if b.ndim == 1 else b
    if columns.ndim < 2 or columns.shape[-2] != l.shape[-1]:
        raise ValueError(f"solve: b must have shape (..., {l.shape[-1]}, m), got {tuple(b.shape)}")
    l = l.mH if upper else l
    x = triangular(l.mH, triangular(l, columns), upper=True)
    return x.squeeze(-1) if b.ndim == 1 else x


@overload
def append(
    l: Tensor, cross: Tensor, corner: Tensor, *, upper: bool = False, with_status: Literal[False] = False
) -> Tensor: ...


@overload
def append(
    l: Tensor, cross: Tensor, corner: Tensor, *, upper: bool = False, with_status: Literal[True]
) -> tuple[Tensor, Tensor]: ...


def append(
    l: Tensor, cross: Tensor, corner: Tensor, *, upper: bool = False, with_status: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
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
        The new factor. If the bordered matrix is not positive definite, its new rows are NaN, and the gradients zero.
    ok : bool, shape (...)
        With `with_status`: whether it exists.
    """
    name = "append"
    checked(name, l=l, cross=cross, corner=corner)
    square(name, "l", l)
    if cross.ndim == 1:
        cross = cross.unsqueeze(-1)
    if corner.ndim < 2:
        corner = corner.reshape(1, 1)
    square(name, "corner", corner)
    n, r = l.shape[-1], corner.shape[-1]
    if cross.ndim < 2 or tuple(cross.shape[-2:]) != (n, r):
        raise ValueError(f"{name}: cross must have shape (..., {n}, {r}), got {tuple(cross.shape)}")
    lead = common(l.shape[:-2], cross.shape[:-2], corner.shape[:-2])
    l = (l.mH if upper else l).tril().expand(*lead, n, n)
    cross, corner = cross.expand(*lead, n, r), corner.expand(*lead, r, r)
    finite = l.detach().isfinite().all(-1).all(-1) & cross.detach().isfinite().all(-1).all(-1)
    eye, of_r = torch.eye(n, dtype=l.dtype, device=l.device), torch.eye(r, dtype=l.dtype, device=l.device)

    def rows_and_schur(there: Tensor) -> tuple[Tensor, Tensor]:
        there = there[..., None, None]
        safe = torch.where(there, l, eye)
        rows = triangular(safe, torch.where(there, cross, 0)).mH
        below = torch.where(there, corner, of_r).tril(-1)
        pivots = torch.where(there, corner, of_r).diagonal(dim1=-2, dim2=-1).real
        return rows, below + below.mH + torch.diag_embed(pivots).to(l.dtype) - rows @ rows.mH

    with torch.no_grad():
        _, info = torch.linalg.cholesky_ex(rows_and_schur(finite)[1])
        ok = finite & (info == 0) & corner.isfinite().all(-1).all(-1)
    rows, schur = rows_and_schur(ok)
    there = ok[..., None, None]
    block, _ = torch.linalg.cholesky_ex(torch.where(there, schur, of_r))
    above = torch.cat([torch.where(there, l, l.detach()), l.new_zeros(*lead, n, r)], -1)
    new = torch.cat([above, torch.where(there, torch.cat([rows, block], -1), torch.nan)], -2)
    new = new.mH if upper else new
    return (new, ok) if with_status else new


def log_det_change(l: Tensor, l_new: Tensor) -> Tensor:
    """log det A' − log det A, by the factors of both, lower or upper.

    Parameters
    ----------
    l, l_new : shape (..., n, n), (..., m, m)

    Returns
    -------
    change : real, shape (...)
    """
    checked("log_det_change", l=l, l_new=l_new)
    square("log_det_change", "l", l)
    square("log_det_change", "l_new", l_new)

    def half(x: Tensor) -> Tensor:
        return x.diagonal(dim1=-2, dim2=-1).abs().log().sum(-1)

    return 2 * (half(l_new) - half(l))


# Arguments.

ACCEPTED = (torch.float32, torch.float64, torch.complex64, torch.complex128)


def checked(function: str, **arguments: Tensor) -> None:
    first = next(iter(arguments.values()))
    for name, x in arguments.items():
        if not isinstance(x, Tensor):
            raise TypeError(f"{function}: {name} must be a Tensor, not {type(x).__name__}")
        if x.dtype not in ACCEPTED:
            raise TypeError(f"{function}: {name} must be float32, float64, complex64 or complex128, got {x.dtype}")
        if x.dtype != first.dtype or x.device != first.device:
            expected, found = f"{first.dtype} on {first.device}", f"{x.dtype} on {x.device}"
            raise TypeError(f"{function}: all tensors must have the same dtype and device, expected {expected}, got {found} for {name}")


def square(function: str, argument: str, x: Tensor) -> None:
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{function}: {argument} must be a (batched) square matrix, got shape {tuple(x.shape)}")


def common(*shapes: torch.Size) -> torch.Size:
    """The leading dimensions that arguments have in common."""
    broadcast: Any = torch.broadcast_shapes
    found: torch.Size = broadcast(*shapes)
    return found


def triangular(l: Tensor, b: Tensor, *, upper: bool = False) -> Tensor:
    found: Tensor = torch.linalg.solve_triangular(l, b, upper=upper)
    return found


# Operators. All operands have the same leading dimensions.


def matrices(x: Tensor) -> tuple[Tensor, tuple[int, int, int, int]]:
    """A stack of matrices, and where it is. The tensor lives as long as the call needs its memory."""
    x = x.resolve_conj().reshape(prod(x.shape[:-2]), *x.shape[-2:])
    return x, (x.data_ptr(), x.stride(0) if x.shape[0] > 1 else 0, x.stride(1), x.stride(2))


def by_columns(x: Tensor) -> tuple[Tensor, tuple[int, int]]:
    """A stack of the transposes of matrices that are by columns, without gaps, and if columns begin at multiples of 16 bytes, all do."""
    x, (at, each, *strides) = matrices(x)
    n, unit = x.shape[-1], 16 // x.element_size()
    is_packed = n <= 1 or strides == [n, 1]
    is_aligned = n % unit != 0 or (at % 16 == 0 and each % unit == 0)
    x = x if is_packed and is_aligned else x.clone(memory_format=torch.contiguous_format)
    return x, (x.data_ptr(), x.stride(0) if x.shape[0] > 1 else 0)


def vectors(x: Tensor) -> tuple[Tensor, tuple[int, int]]:
    x = x.reshape(prod(x.shape[:-1]), x.shape[-1])
    x = x if x.stride(1) == 1 or x.shape[1] <= 1 else x.contiguous()
    return x, (x.data_ptr(), x.stride(0) if x.shape[0] > 1 else 0)


def flags(x: Tensor) -> tuple[Tensor, tuple[int, int]]:
    x = x.reshape(-1).contiguous()
    return x, (x.data_ptr(), 1)


def extents(l: Tensor, v: Tensor) -> tuple[str, tuple[int, int, int]]:
    return str(l.dtype).removeprefix("torch."), (prod(l.shape[:-2]), v.shape[-2], v.shape[-1])


def on_gpu(x: Tensor) -> bool:
    if x.device.type not in ("cpu", "cuda"):
        raise NotImplementedError(f"cholupdate.torch works on the CPU and on CUDA, and a tensor is on {x.device}")
    return x.device.type == "cuda"


def enqueue(
    of: tuple[str, tuple[int, int, int]],
    given: tuple[Tensor, Tensor, Tensor],
    results: tuple[Tensor, Tensor],
    nan: bool,
    sign: int,
) -> None:
    """Puts the modification on the current stream of a GPU. L is given as its transpose by rows."""
    l, v, w = given
    if l.is_complex():
        raise NotImplementedError("cholesky_update of complex tensors runs on the CPU, not on GPUs")
    device, stream = l.get_device(), torch.cuda.current_stream(l.device).cuda_stream
    (l, of_l), (v, of_v), (w, of_w) = by_columns(l), matrices(v), vectors(w)
    # It belongs to the stream, so that work in flight may use it after the call.
    scratch = l.new_empty(scratch_on_gpu(*of, device, sign), dtype=torch.uint8)
    to, ok = (x.data_ptr() for x in results)
    modify_on_gpu(*of, device, stream, sign, of_l, of_v, of_w, to, ok, scratch.data_ptr(), nan)


# `sign` is 1 or −1 if all weights are known to be that, otherwise 0.
@torch.library.custom_op("cholupdate::modify", mutates_args=())
def modify(l: Tensor, v: Tensor, w: Tensor, upper: bool, nan: bool, sign: int) -> tuple[Tensor, Tensor]:
    to, ok = fake_modify(l, v, w, upper, nan, sign)
    dtype, shape = extents(l, v)
    if on_gpu(l):
        enqueue((dtype, shape), (l if upper else l.mT, v, w), (to, ok), nan, sign)
        return to, ok
    (l, of_l), (v, of_v), (w, of_w) = matrices(l), matrices(v), vectors(w)
    modify_at(dtype, shape, of_l, of_v, of_w, to.data_ptr(), ok.data_ptr(), upper, nan)
    return to, ok


@modify.register_fake
def fake_modify(l: Tensor, v: Tensor, w: Tensor, upper: bool, nan: bool, sign: int) -> tuple[Tensor, Tensor]:
    *lead, row, column = range(l.ndim)
    # On a GPU a lower triangle is by columns, as those of `torch.linalg.cholesky`. It is no view: a view's tangents must have its layout.
    order = [*lead, column, row] if l.device.type == "cuda" and not upper else [*lead, row, column]
    to = torch.empty_permuted(l.shape, order, dtype=l.dtype, device=l.device)
    return to, l.new_empty(l.shape[:-2], dtype=torch.bool)


@torch.library.custom_op("cholupdate::modify_vjp", mutates_args=())
def modify_vjp(
    l: Tensor, l_new: Tensor, v: Tensor, w: Tensor, ok: Tensor, cotangent: Tensor, upper: bool
) -> tuple[Tensor, Tensor, Tensor]:
    if on_gpu(l):
        of_l, of_v, of_w = dense_cotangents((l, l_new, v, w, ok), cotangent, upper)
        return of_l.contiguous(), of_v.contiguous(), of_w.contiguous()
    to: tuple[Tensor, Tensor, Tensor] = fake_vjp(l, l_new, v, w, ok, cotangent, upper)
    dtype, shape = extents(l, v)
    held = [matrices(l), matrices(l_new), matrices(v), vectors(w), flags(ok)]
    of_cotangent, *results = matrices(cotangent), matrices(to[0]), matrices(to[1]), vectors(to[2])
    given: Any = tuple(at for _, at in held)
    found: Any = tuple(at for _, at in results)
    modify_vjp_at(dtype, shape, given, of_cotangent[1], found, upper)
    return to


@modify_vjp.register_fake
def fake_vjp(
    l: Tensor, l_new: Tensor, v: Tensor, w: Tensor, ok: Tensor, cotangent: Tensor, upper: bool
) -> tuple[Tensor, Tensor, Tensor]:
    return l.new_empty(l.shape), v.new_empty(v.shape), w.new_empty(w.shape)


@torch.library.custom_op("cholupdate::modify_jvp", mutates_args=())
def modify_jvp(
    l: Tensor, l_new: Tensor, v: Tensor, w: Tensor, ok: Tensor, dl: Tensor, dv: Tensor, dw: Tensor, upper: bool
) -> Tensor:
    if on_gpu(l):
        return dense_tangent((l, l_new, v, w, ok), dl, dv, dw, upper).contiguous()
    to = l.new_empty(l.shape)
    dtype, shape = extents(l, v)
    held = [matrices(l), matrices(l_new), matrices(v), vectors(w), flags(ok)]
    along = [matrices(dl), matrices(dv), vectors(dw)]
    given: Any = tuple(at for _, at in held)
    tangents: Any = tuple(at for _, at in along)
    modify_jvp_at(dtype, shape, given, tangents, matrices(to)[1], upper)
    return to


@modify_jvp.register_fake
def fake_jvp(
    l: Tensor, l_new: Tensor, v: Tensor, w: Tensor, ok: Tensor, dl: Tensor, dv: Tensor, dw: Tensor, upper: bool
) -> Tensor:
    return l.new_empty(l.shape)


# Batches.


def batched(op: Any, owns: Sequence[int]) -> Any:
    """The rule of `vmap`: one further leading dimension. `owns` are the dimensions of each operand that are not leading ones."""

    def rule(info: Any, in_dims: Sequence[int | None], *arguments: Any) -> Any:
        def front(x: Tensor, dim: int | None) -> Tensor:
            return x.expand(info.batch_size, *x.shape) if dim is None else x.movedim(dim, 0)

        tensors = [front(x, dim) for x, dim in zip(arguments[: len(owns)], in_dims, strict=False)]
        results = op(*tensors, *arguments[len(owns) :])
        return results, tuple(0 for _ in results) if isinstance(results, tuple) else 0

    return rule


modify.register_vmap(batched(modify, (2, 2, 1)))
modify_vjp.register_vmap(batched(modify_vjp, (2, 2, 2, 1, 0, 2)))
modify_jvp.register_vmap(batched(modify_jvp, (2, 2, 2, 1, 0, 2, 2, 1)))


# Derivatives.


def save(ctx: Any, inputs: Any, output: Any) -> None:
    l, v, w, upper, *_ = inputs
    l_new, ok = output
    ctx.mark_non_differentiable(ok)
    ctx.save_for_backward(l, l_new, v, w, ok)
    ctx.save_for_forward(l, l_new, v, w, ok)
    ctx.upper = upper
    if l.is_complex() and any(x.requires_grad for x in (l, v, w)):
        raise NotImplementedError("cholesky_update has no derivatives for complex tensors in PyTorch")


def backward(ctx: Any, cotangent: Tensor, _: Any) -> Any:
    return *modify_vjp(*ctx.saved_tensors, cotangent, ctx.upper), None, None, None


modify.register_autograd(backward, setup_context=save)


# Second derivatives, by dense formulas in O(n³). A' = L Lᵀ + V diag(w) Vᵀ = L' L'ᵀ, and φ(X) is the lower triangle of X with half of its
# diagonal.


def half_triangle(x: Tensor) -> Tensor:
    return x.tril(-1) + 0.5 * torch.diag_embed(x.diagonal(dim1=-2, dim2=-1))


def safe(ok: Tensor, l_new: Tensor, *others: Tensor) -> list[Tensor]:
    """L' and other matrices, with an identity and zeros for elements that have none, so that nothing becomes NaN."""
    there = ok[..., None, None]
    eye = torch.eye(l_new.shape[-1], dtype=l_new.dtype, device=l_new.device)
    return [torch.where(there, l_new, eye), *(torch.where(there, x, 0) for x in others)]


def dense_tangent(given: Sequence[Tensor], dl: Tensor, dv: Tensor, dw: Tensor, upper: bool) -> Tensor:
    """L' φ(L'⁻¹ Ȧ' L'⁻ᵀ)."""
    l, l_new, v, w, ok = given
    if upper:
        l, l_new, dl = l.mT, l_new.mT, dl.mT
    l_new, l, v, dl, dv = safe(ok, l_new, l.tril(), v, dl.tril(), dv)
    w, dw = (torch.where(ok[..., None], x, 0)[..., None, :] for x in (w, dw))
    half = dl @ l.mT + (dv * w) @ v.mT + (0.5 * v * dw) @ v.mT
    middle = triangular(l_new, triangular(l_new, half).mT).mT
    found = (l_new @ half_triangle(middle + middle.mT)).tril()
    return found.mT if upper else found


def dense_cotangents(given: Sequence[Tensor], cotangent: Tensor, upper: bool) -> tuple[Tensor, Tensor, Tensor]:
    """With 2S = L'⁻ᵀ (φ(L'ᵀ L̄') + φ(L'ᵀ L̄')ᵀ) L'⁻¹: tril(2S L), 2S V diag(w), ½ diag(Vᵀ 2S V)."""
    l, l_new, v, w, ok = given
    if upper:
        l, l_new, cotangent = l.mT, l_new.mT, cotangent.mT
    l_new, l, v, cotangent = safe(ok, l_new, l.tril(), v, cotangent.tril())
    w = torch.where(ok[..., None], w, 0)[..., None, :]
    phi = half_triangle(l_new.mT @ cotangent)
    middle = triangular(l_new.mT, phi + phi.mT, upper=True).mT
    twice = triangular(l_new.mT, middle, upper=True)
    of_l, q = (twice @ l).tril(), twice @ v
    return of_l.mT if upper else of_l, q * w, 0.5 * (v * q).sum(-2)


def save_all(ctx: Any, inputs: Any, output: Any) -> None:
    *tensors, ctx.upper = inputs
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
    of_cotangent = modify_jvp(*given, *cotangents, ctx.upper) if ctx.needs_input_grad[5] else None
    return *found, None, of_cotangent, None


def backward_of_jvp(ctx: Any, cotangent: Tensor) -> Any:
    given, tangents = ctx.saved_tensors[:5], ctx.saved_tensors[5:]
    dl, dv, dw = tangents
    found = of_given(ctx, lambda each: dense_tangent(each, dl, dv, dw, ctx.upper), given, cotangent)
    return *found, None, *modify_vjp(*given, cotangent, ctx.upper), None


modify_vjp.register_autograd(backward_of_vjp, setup_context=save_all)
modify_jvp.register_autograd(backward_of_jvp, setup_context=save_all)


# The same with forward mode, which an operator of Python cannot have, for programs that are not compiled.


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
        return *ModifyVjp.apply(*ctx.saved_tensors, cotangent, ctx.upper), None, None, None

    @staticmethod
    def jvp(ctx: Any, dl: Any, dv: Any, dw: Any, *_: Any) -> Any:
        l, l_new, v, w, ok = ctx.saved_tensors
        dl, dv, dw = (torch.zeros_like(x) if d is None else d for x, d in ((l, dl), (v, dv), (w, dw)))
        return modify_jvp(l, l_new, v, w, ok, dl, dv, dw, ctx.upper), None


class ModifyVjp(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        save_all(ctx, inputs, output)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        return backward_of_vjp(ctx, *cotangents)

    @staticmethod
    def forward(
        l: Tensor, l_new: Tensor, v: Tensor, w: Tensor, ok: Tensor, cotangent: Tensor, upper: bool
    ) -> Any:
        return modify_vjp(l, l_new, v, w, ok, cotangent, upper)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        *differentiated, ok, cotangent = ctx.saved_tensors
        *of_given, _, of_cotangent = (
            torch.zeros_like(x) if d is None else d for x, d in zip(ctx.saved_tensors, tangents, strict=False)
        )
        jvp: Any = torch.func.jvp

        def formula(*each: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            return dense_cotangents((*each, ok), cotangent, ctx.upper)

        _, found = jvp(formula, tuple(differentiated), tuple(of_given))
        linear = modify_vjp(*differentiated, ok, of_cotangent, ctx.upper)
        return tuple(x + y for x, y in zip(found, linear, strict=True))
