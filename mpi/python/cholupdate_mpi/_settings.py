"""Settings and reports, and which rows a process has."""

from __future__ import annotations

import ctypes
from ctypes import byref
from operator import index
from typing import Literal, NamedTuple, SupportsIndex

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ._library import Options, Report, check, handle, library

Safeguard = Literal["shadow_buffer", "dry_run", "none"]

_SAFEGUARDS = ("shadow_buffer", "dry_run", "none")


class Modification(NamedTuple):
    """The report of a successful modification, the same on all processes."""

    min_pivot_ratio: float
    """The smallest ratio of a new squared pivot to the old one. The worst column has lost about ``-log10`` of it decimal digits."""
    log_det_change: float
    """The change of the logarithm of det A."""

    @classmethod
    def of(cls, report: Report) -> Modification:
        return cls(report.min_pivot_ratio, report.log_det_change)


def number(value: SupportsIndex, name: str) -> int:
    """An integer argument, within the range of C's."""
    try:
        found = index(value)
    except TypeError:
        raise TypeError(f"`{name}` must be an integer, not {type(value).__name__}") from None
    if not -(2**63) <= found < 2**63:
        raise ValueError(f"`{name}` is {found}, but must fit 64 bits")
    return found


def options(threads: SupportsIndex | None, safeguard: str, block: SupportsIndex) -> Options:
    """The settings of the library."""
    if safeguard not in _SAFEGUARDS:
        raise ValueError(f"`safeguard` is {safeguard!r}, but must be one of {', '.join(map(repr, _SAFEGUARDS))}")
    most = 0 if threads is None else number(threads, "threads")
    if threads is not None and most == 0 or most < -1:
        raise ValueError(f"`threads` is {most}, but must be positive, or -1 for all")
    return Options(ctypes.sizeof(Options), max(most, 0), _SAFEGUARDS.index(safeguard), number(block, "block"))


def rows_of(n: SupportsIndex, comm: MPI.Comm | None = None, *, block: SupportsIndex = 256) -> NDArray[np.int64]:
    """The rows of a matrix of order `n` that this process has, in order. The other processes need not call it.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> import cholupdate_mpi as cu
    >>> cu.rows_of(3, MPI.COMM_SELF)
    array([0, 1, 2])
    """
    comm = MPI.COMM_WORLD if comm is None else comm
    order, settings, rows = number(n, "n"), options(None, "shadow_buffer", block), ctypes.c_int64()
    check(library().cholupdate_mpi_rows_of(handle(comm), order, byref(settings), byref(rows)))
    place = np.arange(rows.value, dtype=np.int64)
    own: NDArray[np.int64] = (place // settings.block * comm.size + comm.rank) * settings.block + place % settings.block
    return own
