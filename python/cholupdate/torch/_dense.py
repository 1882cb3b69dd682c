"""Derivatives of the modification by dense formulas, O(n³), as functions of PyTorch, which it differentiates as often as it is asked.

A' = L Lᵀ + V diag(w) Vᵀ = L' L'ᵀ, and φ(X) is the lower triangle of X with half of its diagonal.
"""

# The types of PyTorch's functions are known in part; mypy is strict here.
# pyright: basic

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ._arguments import triangular


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
