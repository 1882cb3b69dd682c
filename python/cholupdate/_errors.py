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

    For an `Ldlt`, a leading minor of A is zero to working precision.

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


class UnstableError(LinAlgError):
    """A is so close to a matrix without a factor L S Lᵀ that the factor would have lost its digits.

    Attributes
    ----------
    column : int
        The column of L with the largest entry in the row that has grown most.
    growth : float
        max (|L| |D| |Lᵀ|)_ii / max |A_ii|, which is more than `Ldlt.growth_limit`.
    """

    column: int
    growth: float

    def __init__(self, message: str, column: int, growth: float) -> None:
        super().__init__(message)
        self.column = column
        self.growth = growth

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.column, self.growth)


class InertiaError(LinAlgError):
    """The inertia of A would not be the one that `Ldlt.expect_inertia` has set.

    Attributes
    ----------
    expected : tuple of int
        The expected numbers of positive and of negative eigenvalues.
    found : tuple of int
        Those that A would have.
    """

    expected: tuple[int, int]
    found: tuple[int, int]

    def __init__(self, message: str, expected: tuple[int, int], found: tuple[int, int]) -> None:
        super().__init__(message)
        self.expected = expected
        self.found = found

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.expected, self.found)


class SignError(LinAlgError):
    """A pivot would not have the sign that `Ldlt.expect_signs` has set.

    Attributes
    ----------
    column : int
        The first such column.
    """

    column: int

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.column)


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


for _class in (
    NotPositiveDefiniteError,
    SingularError,
    UnstableError,
    InertiaError,
    SignError,
    DeviceError,
    PoisonedError,
):
    _class.__module__ = "cholupdate"
