"""The operators, and their batches. All operands have the same leading dimensions."""

# The types of PyTorch's functions are known in part; mypy is strict here.
# pyright: basic

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import torch
from torch import Tensor

from .. import _on_gpu
from .._cholupdate import (
    gradient_scratch_on_gpu,
    modify_at,
    modify_jvp_at,
    modify_jvp_on_gpu,
    modify_on_gpu,
    modify_vjp_at,
    modify_vjp_on_gpu,
    scratch_on_gpu,
)
from ._dense import dense_cotangents, dense_tangent


def matrices(x: Tensor) -> tuple[Tensor, tuple[int, int, int, int]]:
    """A stack of matrices, and where it is. The tensor lives as long as the call needs its memory."""
    x = x.resolve_conj().reshape(prod(x.shape[:-2]), *x.shape[-2:])
    return x, (x.data_ptr(), x.stride(0) if x.shape[0] > 1 else 0, x.stride(1), x.stride(2))


def triangles(x: Tensor) -> tuple[Tensor, tuple[int, int, int, int]]:
    """A stack of lower triangles as a modification on a GPU takes them: by columns without gaps, beginning at multiples of 16 bytes if
    columns do; small ones as they are."""
    count, n, unit = prod(x.shape[:-2]), x.shape[-1], 16 // x.element_size()
    x, (at, each, *strides) = matrices(x)
    is_small = _on_gpu.takes_rows(count, n)
    is_aligned = is_small or n % unit != 0 or (at % 16 == 0 and each % unit == 0)
    if n > 1 and not (is_aligned and strides == [1, n]) and not (is_small and strides == [n, 1]):
        x = x.mT.clone(memory_format=torch.contiguous_format).mT
    # Strides of a single entry may be anything.
    each, row, column = x.stride() if n > 1 else (x.stride(0), 1, 1)
    return x, (x.data_ptr(), each if count > 1 else 0, row, column)


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


def square(x: Tensor, upper: bool) -> tuple[Tensor, tuple[int, int, int, int]]:
    """As `matrices`; on a GPU lower triangles by columns, and upper ones by rows, as its kernels read them fastest."""
    if x.device.type == "cuda" and x.stride(-1 if upper else -2) != 1:
        x = x.contiguous() if upper else x.mT.contiguous().mT
    return matrices(x)


def empty_square(l: Tensor, upper: bool) -> Tensor:
    """A triangle to be written. On a GPU a lower one is by columns, as those of `torch.linalg.cholesky`."""
    *lead, row, column = range(l.ndim)
    # No view: a view's tangents must have its layout.
    order = [*lead, column, row] if l.device.type == "cuda" and not upper else [*lead, row, column]
    return torch.empty_permuted(l.shape, order, dtype=l.dtype, device=l.device)


def queue(l: Tensor, sign: int, scratch: Tensor) -> tuple[int, int, int, int]:
    """Where work on a GPU is enqueued."""
    return l.get_device(), torch.cuda.current_stream(l.device).cuda_stream, sign, scratch.data_ptr()


def enqueue(
    of: tuple[str, tuple[int, int, int]],
    given: tuple[Tensor, Tensor, Tensor],
    results: tuple[Tensor, Tensor],
    nan: bool,
    sign: int,
) -> None:
    """Puts the modification of lower triangles on the current stream of a GPU."""
    l, v, w = given
    if l.is_complex():
        raise NotImplementedError("cholesky_update of complex tensors runs on the CPU, not on GPUs")
    device, stream = l.get_device(), torch.cuda.current_stream(l.device).cuda_stream
    (l, of_l), (v, of_v), (w, of_w) = triangles(l), matrices(v), vectors(w)
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
        enqueue((dtype, shape), (l.mT if upper else l, v, w), (to, ok), nan, sign)
        return to, ok
    (l, of_l), (v, of_v), (w, of_w) = matrices(l), matrices(v), vectors(w)
    modify_at(dtype, shape, of_l, of_v, of_w, to.data_ptr(), ok.data_ptr(), upper, nan)
    return to, ok


@modify.register_fake
def fake_modify(l: Tensor, v: Tensor, w: Tensor, upper: bool, nan: bool, sign: int) -> tuple[Tensor, Tensor]:
    return empty_square(l, upper), l.new_empty(l.shape[:-2], dtype=torch.bool)


@torch.library.custom_op("cholupdate::modify_vjp", mutates_args=())
def modify_vjp(
    l: Tensor, l_new: Tensor, v: Tensor, w: Tensor, ok: Tensor, cotangent: Tensor, upper: bool, sign: int
) -> tuple[Tensor, Tensor, Tensor]:
    gpu, (dtype, shape) = on_gpu(l), extents(l, v)
    to: tuple[Tensor, Tensor, Tensor] = fake_vjp(l, l_new, v, w, ok, cotangent, upper, sign)
    if gpu and not _on_gpu.by_call(*shape):
        for result, x in zip(to, dense_cotangents((l, l_new, v, w, ok), cotangent, upper), strict=True):
            result.copy_(x)
        return to
    held = [square(l, upper), square(l_new, upper), matrices(v), vectors(w), flags(ok)]
    of_cotangent, *results = square(cotangent, upper), matrices(to[0]), matrices(to[1]), vectors(to[2])
    given: Any = tuple(at for _, at in held)
    found: Any = tuple(at for _, at in results)
    if gpu:
        # It belongs to the stream, so that work in flight may use it after the call.
        scratch = l.new_empty(gradient_scratch_on_gpu(dtype, shape, sign, False), dtype=torch.uint8)
        modify_vjp_on_gpu(dtype, shape, queue(l, sign, scratch), given, of_cotangent[1], found, upper)
    else:
        modify_vjp_at(dtype, shape, given, of_cotangent[1], found, upper)
    return to


@modify_vjp.register_fake
def fake_vjp(
    l: Tensor, l_new: Tensor, v: Tensor, w: Tensor, ok: Tensor, cotangent: Tensor, upper: bool, sign: int
) -> tuple[Tensor, Tensor, Tensor]:
    return empty_square(l, upper), v.new_empty(v.shape), w.new_empty(w.shape)


@torch.library.custom_op("cholupdate::modify_jvp", mutates_args=())
def modify_jvp(
    l: Tensor, l_new: Tensor, v: Tensor, w: Tensor, ok: Tensor, dl: Tensor, dv: Tensor, dw: Tensor, upper: bool, sign: int
) -> Tensor:
    gpu, (dtype, shape) = on_gpu(l), extents(l, v)
    to = empty_square(l, upper)
    if gpu and not _on_gpu.by_call(*shape):
        return to.copy_(dense_tangent((l, l_new, v, w, ok), dl, dv, dw, upper))
    held = [square(l, upper), square(l_new, upper), matrices(v), vectors(w), flags(ok)]
    along = [square(dl, upper), matrices(dv), vectors(dw)]
    given: Any = tuple(at for _, at in held)
    tangents: Any = tuple(at for _, at in along)
    if gpu:
        scratch = l.new_empty(gradient_scratch_on_gpu(dtype, shape, sign, True), dtype=torch.uint8)
        modify_jvp_on_gpu(dtype, shape, queue(l, sign, scratch), given, tangents, matrices(to)[1], upper)
    else:
        modify_jvp_at(dtype, shape, given, tangents, matrices(to)[1], upper)
    return to


@modify_jvp.register_fake
def fake_jvp(
    l: Tensor, l_new: Tensor, v: Tensor, w: Tensor, ok: Tensor, dl: Tensor, dv: Tensor, dw: Tensor, upper: bool, sign: int
) -> Tensor:
    return empty_square(l, upper)


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
