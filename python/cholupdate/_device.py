"""Arrays in the memory of a GPU, in the words of the libraries that have them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, cast


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
    return taker(like)(made)


def taker(like: Any) -> Callable[[Any], Any]:
    """What makes an array of the library that `like` is from, without a copy. It does not keep `like`."""
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
