"""Arrays in the memory of a GPU, by the functions of their libraries."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, cast


def by_rows(array: Any, transpose: bool) -> Any:
    """The array, or its transpose, packed in row-major order on its device.

    PyTorch and CuPy copy on their current stream. JAX's arrays are always packed.
    """
    if transpose and array.ndim == 2:
        array = array.T
    if hasattr(array, "contiguous"):
        return array.contiguous()
    if _library(array) == "cupy":
        return sys.modules["cupy"].ascontiguousarray(array)
    return array


def returned(made: Any, like: Any) -> Any:
    """Converts `made`, without a copy, to an array of the library of `like`."""
    return taker(like)(made)


def taker(like: Any) -> Callable[[Any], Any]:
    """Returns a function that converts to an array of the library of `like`, without a copy. It does not keep `like`."""
    library = _library(like)
    if library in ("torch", "cupy"):
        return cast(Callable[[Any], Any], sys.modules[library].from_dlpack)
    if library in ("jax", "jaxlib"):
        return cast(Callable[[Any], Any], import_module("jax.dlpack").from_dlpack)
    namespace = getattr(like, "__array_namespace__", None)
    return _as_it_is if namespace is None else namespace().from_dlpack


def _as_it_is(made: Any) -> Any:
    return made


def _library(array: Any) -> str:
    return type(array).__module__.partition(".")[0]
