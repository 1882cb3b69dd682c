"""Checks of arguments."""

# The types of PyTorch's functions are known in part; mypy is strict here.
# pyright: basic

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

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
            raise TypeError(
                f"{function}: all tensors must have the same dtype and device, expected {expected}, got {found} for {name}"
            )


def square(function: str, argument: str, x: Tensor) -> None:
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{function}: {argument} must be a (batched) square matrix, got shape {tuple(x.shape)}")


def common(function: str, *shapes: torch.Size) -> torch.Size:
    """The leading dimensions that arguments have in common."""
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0]
    broadcast: Any = torch.broadcast_shapes
    try:
        found: torch.Size = broadcast(*shapes)
    except RuntimeError as error:
        leading = ", ".join(str(tuple(shape)) for shape in shapes)
        raise ValueError(f"{function}: leading dimensions must broadcast, got {leading}") from error
    return found


def expanded(x: Tensor, lead: torch.Size, own: int) -> Tensor:
    """With these leading dimensions, and `own` dimensions of its own."""
    return x if x.shape[:-own] == lead else x.expand(lead + x.shape[-own:])


def triangular(l: Tensor, b: Tensor, *, upper: bool = False) -> Tensor:
    found: Tensor = torch.linalg.solve_triangular(l, b, upper=upper)
    return found
