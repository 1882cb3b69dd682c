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

from typing import Literal, overload

import torch
from torch import Tensor

from ._arguments import checked, common, expanded, square, triangular
from ._derivatives import Modify, apart, by_operators, has_forward_mode
from ._operators import modify

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
    in the other one. Where the factor does not exist, gradients are zero. Second derivatives, and on a GPU
    those that are faster so, are computed by dense formulas in O(n³). In compiled programs forward mode is not available.
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
        w = l.new_full((v.shape[-1],), -1.0 if downdate else 1.0, dtype=part)
    else:
        w = weights
        if not isinstance(w, Tensor):
            raise TypeError(f"{name}: weights must be a Tensor, not {type(w).__name__}")
        if w.dtype != part or w.device != l.device:
            raise TypeError(f"{name}: weights must have dtype {part} on {l.device}, got {w.dtype} on {w.device}")
        if w.ndim < 1 or w.shape[-1] != v.shape[-1]:
            raise ValueError(f"{name}: weights must have shape (..., {v.shape[-1]}), got {tuple(w.shape)}")
    if upper and v.is_complex():
        v = v.conj()
    lead = common(name, l.shape[:-2], v.shape[:-2], w.shape[:-1])
    l, v, w = expanded(l, lead, 2), expanded(v, lead, 2), expanded(w, lead, 1)
    sign = (-1 if downdate else 1) if weights is None else 0
    arguments = (l, v, w, upper, on_breakdown == "nan", sign)
    if has_forward_mode() and l.is_complex():
        raise NotImplementedError(f"{name} has no derivatives for complex tensors in PyTorch")
    if torch.compiler.is_compiling():
        l_new, ok = apart(*arguments) if has_forward_mode() else modify(*arguments)
    elif l.is_complex() or by_operators():
        # In half the time of small tensors.
        l_new, ok = modify(*arguments)
    else:
        l_new, ok = Modify.apply(*arguments)
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
def append(l: Tensor, cross: Tensor, corner: Tensor, *, upper: bool = False, with_status: Literal[False] = False) -> Tensor: ...


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
    lead = common(name, l.shape[:-2], cross.shape[:-2], corner.shape[:-2])
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
