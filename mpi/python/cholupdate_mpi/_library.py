"""The shared library: where it is, and the types of its functions."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

from mpi4py import MPI

from ._errors import exception

# MPI's handles are pointers in Open MPI, and numbers in MPICH.
_COMM: Any = c_int if MPI._sizeof(MPI.Comm) == ctypes.sizeof(c_int) else c_void_p

_NAME = "libcholupdate_mpi.so"


class Options(ctypes.Structure):
    """cholupdate_mpi_options."""

    _fields_ = [("size", c_size_t), ("threads", c_int64), ("safeguard", c_int32), ("block", c_int64)]


class Report(ctypes.Structure):
    """cholupdate_mpi_report."""

    _fields_ = [("min_pivot_ratio", c_double), ("log_det_change", c_double)]


_OPTIONS, _REPORT, _RESULT = POINTER(Options), POINTER(Report), POINTER(c_void_p)

# The arguments of the functions on a factor, but for the factor itself, which is the first where there is one already.
_BEGINNINGS: dict[str, list[Any]] = {
    "new": [_COMM, c_int64, c_void_p, c_int64, _OPTIONS, _RESULT],
    "from_factor": [_COMM, c_int64, c_void_p, c_int64, _OPTIONS, _RESULT],
    "scatter": [_COMM, c_int64, c_int64, c_void_p, c_int64, _OPTIONS, _RESULT],
    "scatter_factor": [_COMM, c_int64, c_int64, c_void_p, c_int64, _OPTIONS, _RESULT],
}
_VERBS: dict[str, list[Any]] = {
    "refuse": [c_char_p],
    "order": [POINTER(c_int64)],
    "local_rows": [POINTER(c_int64)],
    "log_det": [c_void_p],
    "pivots": [c_void_p],
    "update": [c_int64, c_void_p, c_int64, c_int32, _REPORT],
    "downdate": [c_int64, c_void_p, c_int64, c_int32, _REPORT],
    "modify": [c_int64, c_void_p, c_int64, c_int32, c_void_p, _REPORT],
    "can_downdate": [c_int64, c_void_p, c_int64, c_int32, POINTER(c_int32)],
    "append": [c_int64, c_void_p, c_int64, c_int32, c_void_p, c_int64, _REPORT],
    "remove_last": [c_int64, _REPORT],
    "solve": [c_int64, c_void_p, c_int64],
    "solve_l": [c_int64, c_void_p, c_int64],
    "solve_lt": [c_int64, c_void_p, c_int64],
    "gather": [c_int64, c_void_p, c_int64],
    "to_rows": [c_void_p, c_int64],
}


@cache
def library() -> ctypes.CDLL:
    """The library, opened when it is first needed."""
    named = os.environ.get("CHOLUPDATE_MPI_LIBRARY")
    beside = Path(__file__).with_name(_NAME)
    try:
        found = ctypes.CDLL(named or (str(beside) if beside.exists() else _NAME))
    except OSError as error:
        raise OSError(f"{error}; the environment variable CHOLUPDATE_MPI_LIBRARY can name it") from None
    _declare(found)
    return found


def _declare(found: ctypes.CDLL) -> None:
    found.cholupdate_mpi_last_error.argtypes = [c_char_p, c_size_t]
    found.cholupdate_mpi_last_error.restype = None
    found.cholupdate_mpi_last_error_column.restype = c_int64
    found.cholupdate_mpi_rows_of.argtypes = [_COMM, c_int64, _OPTIONS, POINTER(c_int64)]
    found.cholupdate_mpi_refuse.argtypes = [_COMM, c_char_p]
    for precision in "ds":
        for name, arguments in _BEGINNINGS.items():
            getattr(found, f"cholupdate_mpi_{precision}_{name}").argtypes = arguments
        for name, arguments in _VERBS.items():
            getattr(found, f"cholupdate_mpi_{precision}_{name}").argtypes = [c_void_p, *arguments]
        free = getattr(found, f"cholupdate_mpi_{precision}_free")
        free.argtypes, free.restype = [c_void_p], None


def handle(comm: MPI.Comm) -> Any:
    """The handle of a communicator, as C has it."""
    return _COMM.from_address(MPI._addressof(comm))


def check(status: int) -> None:
    """Raises the exception for a status, unless that is success."""
    if status == 0:
        return
    found, message = library(), ctypes.create_string_buffer(1024)
    found.cholupdate_mpi_last_error(message, len(message))
    raise exception(status, message.value.decode(), found.cholupdate_mpi_last_error_column())


def refusal(error: Exception) -> bytes:
    """The message about an argument that this package has refused, for the other processes."""
    return (str(error) or type(error).__name__).replace("\0", "").encode()
