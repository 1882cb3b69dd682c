"""The exceptions of the package."""

from typing import Any

from numpy.linalg import LinAlgError


class NotPositiveDefiniteError(LinAlgError):
    """The requested matrix is not positive definite to working precision.

    Attributes
    ----------
    column : int
        The first column whose squared pivot is not positive.
    matrix : int or None
        The number of the matrix, in a batch.
    """

    column: int
    matrix: int | None

    def __init__(self, message: str, column: int, matrix: int | None = None) -> None:
        super().__init__(message)
        self.column = column
        self.matrix = matrix

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.column, self.matrix)


class SingularError(LinAlgError):
    """A is singular, and the call needs a regular A. Updates by enough observations make A regular.

    Attributes
    ----------
    column : int
        The first column of L whose pivot is zero.
    matrix : int or None
        The number of the matrix, in a batch.
    """

    column: int
    matrix: int | None

    def __init__(self, message: str, column: int, matrix: int | None = None) -> None:
        super().__init__(message)
        self.column = column
        self.matrix = matrix

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.column, self.matrix)


class DeviceError(RuntimeError):
    """A GPU or its driver is missing, does not support the call, is out of memory or has failed.

    Attributes
    ----------
    kind : {"unavailable", "out_of_memory", "lost", "other"}
    """

    kind: str

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.kind)


class PoisonedError(RuntimeError):
    """The factor was lost in an earlier call that failed while it worked in place."""


for _class in (NotPositiveDefiniteError, SingularError, DeviceError, PoisonedError):
    _class.__module__ = "cholupdate"
