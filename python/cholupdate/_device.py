"""Arrays in the memory of a GPU, in the words of the libraries that have them."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def by_rows(array: Any, transpose: bool) -> Any:
    """The array, or its transpose, packed row after row on its device.

    PyTorch and CuPy copy on their current stream. JAX has all arrays packed.
    """
    if transpose and array.ndim == 2:
        array = array.T
    if hasattr(array, "contiguous"):
        return array.contiguous()
    if _library(array) == "cupy":
        return sys.modules["cupy"].ascontiguousarray(array)
    return array


def returned(made: Any, like: Any) -> Any:
    """What was made, without a copy, as an array of the library that `like` is from."""
    library = _library(like)
    if library in ("torch", "cupy"):
        return sys.modules[library].from_dlpack(made)
    if library in ("jax", "jaxlib"):
        return import_module("jax.dlpack").from_dlpack(made)
    namespace = getattr(like, "__array_namespace__", None)
    return made if namespace is None else namespace().from_dlpack(made)


def _library(array: Any) -> str:
    return type(array).__module__.partition(".")[0]
