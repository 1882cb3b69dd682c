"""The class `Distributed`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import byref
from typing import Any, SupportsIndex

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike, NDArray

from ._arrays import address, columns, extent, matrix, real
from ._library import Report
from ._part import Part
from ._settings import Modification, Safeguard, number


class Distributed(Part):
    """The Cholesky factor L of a symmetric positive definite A = L Lᵀ, whose rows are distributed over the processes.

    Parameters
    ----------
    a : array_like, shape (local rows, n)
        The rows of A of this process, as `rows_of` lists them. Only the lower triangle is read. The factor has its dtype, float32
        or float64, which is the same on all processes. Integers become float64.
    comm : mpi4py.MPI.Comm, optional
        The processes, by default those of ``MPI.COMM_WORLD``. The factor uses a copy of it.
    threads : int, optional
        The maximum number of threads of this process. By default, and with -1, the number of processors.
    safeguard : {"shadow_buffer", "dry_run", "none"}, default "shadow_buffer"
        How a downdate that breaks down leaves the factor unchanged: by a shadow buffer, by a dry run that doubles the time, or
        not at all. The same on all processes.
    block : int, default 256
        Rows of a block, a multiple of 16. The same on all processes.

    Raises
    ------
    NotPositiveDefiniteError
        A is not positive definite. The attribute `column` of the error is the first column that breaks down.
    DifferentArgumentsError
        An argument differs between the processes.
    ValueError, TypeError
        An argument is invalid. The message names it. For an error of one process the others raise `ValueError`.

    Notes
    -----
    After an exception the factor is unchanged, bit for bit, unless a downdate breaks down without a safeguard; all later calls then
    raise `PoisonedError`. The GIL is released during a call. Threads that use one factor wait for each other.
    """

    def __init__(
        self,
        a: ArrayLike,
        comm: MPI.Comm | None = None,
        *,
        threads: SupportsIndex | None = None,
        safeguard: Safeguard = "shadow_buffer",
        block: SupportsIndex = 256,
    ) -> None:
        self._begin("new", (a, "a"), comm, (threads, safeguard, block))

    @classmethod
    def from_factor(
        cls,
        l: ArrayLike,
        comm: MPI.Comm | None = None,
        *,
        threads: SupportsIndex | None = None,
        safeguard: Safeguard = "shadow_buffer",
        block: SupportsIndex = 256,
    ) -> Distributed:
        """The factor with a known L, of which each process gives its rows."""
        new = cls.__new__(cls)
        new._begin("from_factor", (l, "l"), comm, (threads, safeguard, block))
        return new

    @classmethod
    def scatter(
        cls,
        a: ArrayLike | None,
        root: SupportsIndex = 0,
        comm: MPI.Comm | None = None,
        *,
        threads: SupportsIndex | None = None,
        safeguard: Safeguard = "shadow_buffer",
        block: SupportsIndex = 256,
    ) -> Distributed:
        """The factor of an A (n × n) that process `root` has whole. What the others give is not read, and can be None."""
        new = cls.__new__(cls)
        new._begin_from_root("scatter", (a, "a", root), comm, (threads, safeguard, block))
        return new

    @classmethod
    def scatter_factor(
        cls,
        l: ArrayLike | None,
        root: SupportsIndex = 0,
        comm: MPI.Comm | None = None,
        *,
        threads: SupportsIndex | None = None,
        safeguard: Safeguard = "shadow_buffer",
        block: SupportsIndex = 256,
    ) -> Distributed:
        """The same for an L."""
        new = cls.__new__(cls)
        new._begin_from_root("scatter_factor", (l, "l", root), comm, (threads, safeguard, block))
        return new

    def _rows(self, array: ArrayLike, name: str) -> tuple[NDArray[Any], tuple[Any, ...]]:
        """A matrix with a row for each row of L, and how the library gets it."""
        found = columns(array, name, self._dtype)
        rows, local, order = len(found), self._local_rows(), self._order()
        if rows not in (local, order):
            raise ValueError(f"`{name}`: the number of rows is {rows}, expected {local} (of this process) or {order} (all)")
        return found, (found.shape[1], address(found), max(rows, 1), 0 if rows == local else 1)

    def update(self, v: ArrayLike) -> Modification:
        """A ← A + V Vᵀ.

        Parameters
        ----------
        v : array_like, shape (local rows, k), (n, k), (local rows,) or (n,)
            The rows of V of this process, or all rows, which are then the same on all processes; a vector is the only column.
            Arrays have the dtype of the factor; integers are converted.
        """
        return self._modified("update", lambda: self._rows(v, "v")[1])

    def downdate(self, v: ArrayLike) -> Modification:
        """A ← A − V Vᵀ, with V as for `update`.

        Raises
        ------
        NotPositiveDefiniteError
            A − V Vᵀ is not positive definite. The factor is unchanged.
        """
        return self._modified("downdate", lambda: self._rows(v, "v")[1])

    def modify(self, v: ArrayLike, weights: ArrayLike) -> Modification:
        """A ← A + V diag(w) Vᵀ, with any mix of signs. V is as for `update`; `weights` (k) are the same on all processes."""

        def given() -> tuple[Any, ...]:
            (found, arguments), w = self._rows(v, "v"), real(weights, "weights", self._dtype)
            if w.ndim != 1:
                raise ValueError(f"`weights` has {w.ndim} dimensions, expected 1")
            extent(len(w), found.shape[1], "weights", "entries")
            return (*arguments, address(np.ascontiguousarray(w)))

        return self._modified("modify", given)

    def _modified(self, verb: str, given: Callable[[], tuple[Any, ...]]) -> Modification:
        report = Report()
        self._together(verb, lambda: (*given(), byref(report)))
        return Modification.of(report)

    def can_downdate(self, v: ArrayLike) -> bool:
        """Whether `downdate` with the same V would succeed, computed by the same arithmetic."""
        can = ctypes.c_int32()
        self._together("can_downdate", lambda: (*self._rows(v, "v")[1], byref(can)))
        return can.value != 0

    def append(self, cross: ArrayLike, corner: ArrayLike) -> Modification:
        """A ← (A B; Bᵀ K): r further rows and columns at the end.

        Parameters
        ----------
        cross : array_like, shape (local rows, r), (n, r), (local rows,) or (n,)
            B, given as V for `update`.
        corner : array_like, shape (r, r), or a number
            K, the same on all processes. Only the lower triangle is read.
        """

        def given() -> tuple[Any, ...]:
            found, (count, *arguments) = self._rows(cross, "cross")
            k = matrix(np.atleast_2d(real(corner, "corner", self._dtype)), "corner", self._dtype)
            extent(k.shape[0], found.shape[1], "corner")
            extent(k.shape[1], found.shape[1], "corner", "columns")
            return (count, *arguments, address(k), max(len(k), 1))

        return self._modified("append", given)

    def remove_last(self, count: SupportsIndex = 1) -> Modification:
        """Removes the last `count` rows and columns of A."""
        return self._modified("remove_last", lambda: (number(count, "count"),))

    def _solved(self, verb: str, b: ArrayLike) -> NDArray[Any]:
        kept: list[NDArray[Any]] = []

        def given() -> tuple[Any, ...]:
            x = columns(b, "b", self._dtype).copy(order="F")
            extent(len(x), self._local_rows(), "b")
            kept.append(x)
            return x.shape[1], address(x), max(len(x), 1)

        self._together(verb, given)
        return kept[0][:, 0] if np.ndim(b) == 1 else kept[0]

    def solve(self, b: ArrayLike) -> NDArray[Any]:
        """Solves A X = B. Each process gives its rows of B, of shape (local rows, m) or (local rows,), and gets those of X."""
        return self._solved("solve", b)

    def solve_l(self, b: ArrayLike) -> NDArray[Any]:
        """Solves L Y = B, as `solve`."""
        return self._solved("solve_l", b)

    def solve_lt(self, b: ArrayLike) -> NDArray[Any]:
        """Solves Lᵀ X = B, as `solve`."""
        return self._solved("solve_lt", b)

    def gather(self, root: SupportsIndex = 0) -> NDArray[Any] | None:
        """L at process `root`, zero above the diagonal, and None at the others."""
        kept: list[NDArray[Any]] = []

        def given() -> tuple[Any, ...]:
            at = number(root, "root")
            order = self._order() if at == self._rank else 0
            kept.append(np.zeros((order, order), self._dtype, order="F"))
            return at, address(kept[0]), max(order, 1)

        self._together("gather", given)
        return kept[0] if number(root, "root") == self._rank else None

    def to_rows(self) -> NDArray[Any]:
        """The rows of L of this process, zero above the diagonal. The other processes need not call it."""
        kept: list[NDArray[Any]] = []

        def given() -> tuple[Any, ...]:
            rows = np.empty((self._local_rows(), self._order()), self._dtype, order="F")
            kept.append(rows)
            return address(rows), max(len(rows), 1)

        self._alone("to_rows", given)
        return kept[0]

    def pivots(self) -> NDArray[Any]:
        """The diagonal of L. The other processes need not call it."""
        kept: list[NDArray[Any]] = []

        def given() -> tuple[Any, ...]:
            kept.append(np.empty(self._order(), self._dtype))
            return (address(kept[0]),)

        self._alone("pivots", given)
        return kept[0]

    def log_det(self) -> float:
        """log det A. The other processes need not call it."""
        found = np.empty(1, self._dtype)
        self._alone("log_det", lambda: (address(found),))
        return float(found[0])

    @property
    def order(self) -> int:
        """n."""
        with self._lock:
            return self._order()

    @property
    def local_rows(self) -> int:
        """The number of rows of this process."""
        with self._lock:
            return self._local_rows()

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return self._dtype

    def __len__(self) -> int:
        return self.order

    def __repr__(self) -> str:
        if not self._handle:
            return "<Distributed: freed>"
        return f"<Distributed: order {self.order}, {self.local_rows} rows here, {self._dtype.name}>"
