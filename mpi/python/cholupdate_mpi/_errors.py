"""The exceptions of the package, and which one a status of the library is."""

from __future__ import annotations

from typing import Any

from numpy.linalg import LinAlgError


class NotPositiveDefiniteError(LinAlgError):
    """The requested matrix is not positive definite to working precision.

    Attributes
    ----------
    column : int
        The first column whose squared pivot is not positive.
    """

    column: int

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.column)


class SingularError(LinAlgError):
    """A is singular, and the call needs a regular A. Updates by enough observations make A regular.

    Attributes
    ----------
    column : int
        The first column of L whose pivot is zero.
    """

    column: int

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.column)


class PoisonedError(RuntimeError):
    """The factor was lost in an earlier call that failed while it worked in place."""


class DifferentArgumentsError(ValueError):
    """The processes have made different calls, or an argument differs between them that must be the same."""


for _class in (NotPositiveDefiniteError, SingularError, PoisonedError, DifferentArgumentsError):
    _class.__module__ = "cholupdate_mpi"


def exception(status: int, message: str, column: int) -> Exception:
    """The exception for a status of the library other than success."""
    if status == 5:
        return NotPositiveDefiniteError(message, column)
    if status == 12:
        return SingularError(message, column)
    if status == 6:
        return PoisonedError(message)
    if status == 13:
        return DifferentArgumentsError(message)
    # A NULL pointer, an invalid argument, one that is not finite, or too large.
    return ValueError(message) if status in (1, 2, 3, 4) else RuntimeError(message)
