"""Arguments as arrays in the order of the library."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def real(array: ArrayLike, name: str, dtype: Any = None) -> NDArray[Any]:
    """The array in `dtype`, or in its own if that is float32 or float64. Integers are converted."""
    found = np.asarray(array)
    if found.dtype.kind in "iub":
        return found.astype(np.float64 if dtype is None else dtype)
    if found.dtype not in ((np.float32, np.float64) if dtype is None else (dtype,)):
        expected = "float32 or float64" if dtype is None else np.dtype(dtype).name
        raise TypeError(f"`{name}` has the dtype {found.dtype}, expected {expected}")
    return found


def matrix(array: ArrayLike, name: str, dtype: Any = None) -> NDArray[Any]:
    """A matrix in column-major order, copied only if it is in another one."""
    found = real(array, name, dtype)
    if found.ndim != 2:
        raise ValueError(f"`{name}` has {found.ndim} dimensions, expected 2")
    return np.asfortranarray(found)


def columns(array: ArrayLike, name: str, dtype: Any) -> NDArray[Any]:
    """The same for a matrix of which a vector is the only column."""
    found = real(array, name, dtype)
    return matrix(found[:, np.newaxis] if found.ndim == 1 else found, name, dtype)


def extent(found: int, expected: int, name: str, what: str = "rows") -> None:
    """Checks a number of rows, columns or entries."""
    if found != expected:
        raise ValueError(f"`{name}`: the number of {what} is {found}, expected {expected}")


def address(array: NDArray[Any]) -> Any:
    """The entries for C. Keeps the array as long as it is used."""
    return array.ctypes.data_as(ctypes.c_void_p)
