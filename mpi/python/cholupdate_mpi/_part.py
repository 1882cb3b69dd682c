"""A process's part of a factor in the library: how it begins and ends, and how it is called."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import byref
from threading import Lock
from typing import Any, SupportsIndex

import numpy as np
from mpi4py import MPI

from ._arrays import address, extent, matrix
from ._errors import DifferentArgumentsError
from ._library import check, handle, library, refusal
from ._settings import number, options


class Part:
    """The part, without its verbs."""

    # Until it has begun.
    _handle: ctypes.c_void_p | None = None

    def _begin(self, verb: str, given: tuple[Any, str], comm: MPI.Comm | None, settings: tuple[Any, ...]) -> None:
        comm = MPI.COMM_WORLD if comm is None else comm
        try:
            rows, chosen = matrix(*given), options(*settings)
            # The library knows how many rows this process must have, and reads no more than that.
            local = ctypes.c_int64()
            check(library().cholupdate_mpi_rows_of(handle(comm), rows.shape[1], byref(chosen), byref(local)))
            extent(rows.shape[0], local.value, given[1])
        except Exception as error:
            library().cholupdate_mpi_refuse(handle(comm), refusal(error))
            raise
        arguments = (rows.shape[1], address(rows), len(rows), byref(chosen))
        self._make(verb, comm, rows.dtype, arguments)

    def _begin_from_root(
        self, verb: str, given: tuple[Any, str, SupportsIndex], comm: MPI.Comm | None, settings: tuple[Any, ...]
    ) -> None:
        comm = MPI.COMM_WORLD if comm is None else comm
        array, name, root = given
        whole = np.empty((0, 0))
        # The others do not know the order and the dtype, which are those of the process that has the matrix.
        try:
            at, chosen = number(root, "root"), options(*settings)
            if not 0 <= at < comm.size:
                raise ValueError(f"`root` is {at}, but must be a process")
            if at == comm.rank:
                whole = matrix(array, name)
                extent(whole.shape[1], whole.shape[0], name, "columns")
        except Exception as error:
            comm.allgather((0, 0, "", refusal(error).decode()))
            raise
        known = comm.allgather((at, len(whole), whole.dtype.name, ""))
        refused = [f"{message} (process {rank})" for rank, (_, _, _, message) in enumerate(known) if message]
        if refused:
            raise ValueError(refused[0])
        if any(other != at for other, *_ in known):
            raise DifferentArgumentsError("root differs between the processes")
        _, order, dtype, _ = known[at]
        self._make(verb, comm, np.dtype(dtype), (at, order, address(whole), max(len(whole), 1), byref(chosen)))

    def _make(self, verb: str, comm: MPI.Comm, dtype: Any, arguments: tuple[Any, ...]) -> None:
        self._dtype: np.dtype[Any] = np.dtype(dtype)
        self._rank, self._lock = comm.rank, Lock()
        made = ctypes.c_void_p()
        check(self._function(verb)(handle(comm), *arguments, byref(made)))
        self._handle = made

    def free(self) -> None:
        """Frees the memory of the factor and its communicator, as the end of its last reference does. All processes call it."""
        with self._lock:
            made, self._handle = self._handle, None
        if made:
            self._function("free")(made)

    def __del__(self) -> None:
        if self._handle:
            self.free()

    def _function(self, verb: str) -> Any:
        return getattr(library(), f"cholupdate_mpi_{'d' if self._dtype == np.float64 else 's'}_{verb}")

    def _alone(self, verb: str, given: Callable[[], tuple[Any, ...]]) -> None:
        """A call that the other processes need not make, with the arguments that `given` returns.

        An array is made in `given`: another thread may change the order until this one has the lock.
        """
        with self._lock:
            factor = self._there()
            check(self._function(verb)(factor, *given()))

    def _together(self, verb: str, given: Callable[[], tuple[Any, ...]]) -> None:
        """A call of all processes, with the arguments that `given` returns. If it raises an exception the others learn of it."""
        with self._lock:
            factor = self._there()
            try:
                arguments = given()
            except Exception as error:
                self._function("refuse")(factor, refusal(error))
                raise
            check(self._function(verb)(factor, *arguments))

    def _there(self) -> ctypes.c_void_p:
        if not self._handle:
            raise ValueError("the factor has been freed")
        return self._handle

    def _order(self) -> int:
        n = ctypes.c_int64()
        check(self._function("order")(self._there(), byref(n)))
        return n.value

    def _local_rows(self) -> int:
        rows = ctypes.c_int64()
        check(self._function("local_rows")(self._there(), byref(rows)))
        return rows.value
