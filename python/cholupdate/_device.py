"""Arrays in the memory of a GPU, in the words of the libraries that have them."""

from __future__ import annotations

import sys
from typing import Any


def transposed(array: Any) -> Any:
    """The transpose, packed row after row: the columns of the array one behind the other, on its device.

    PyTorch and CuPy copy on their current stream. JAX has all arrays packed.
    """
    transpose = array.T if array.ndim == 2 else array
    if hasattr(transpose, "contiguous"):
        return transpose.contiguous()
    if _library(array) == "cupy":
        return sys.modules["cupy"].ascontiguousarray(transpose)
    return transpose


def returned(made: Any, like: Any) -> Any:
    """What was made, without a copy, as an array of the library that `like` is from."""
    library = _library(like)
    if library in ("torch", "cupy"):
        return sys.modules[library].from_dlpack(made)
    if library in ("jax", "jaxlib"):
        import jax.dlpack  # pyright: ignore[reportMissingImports]

        return jax.dlpack.from_dlpack(made)
    namespace = getattr(like, "__array_namespace__", None)
    return made if namespace is None else namespace().from_dlpack(made)


def _library(array: Any) -> str:
    return type(array).__module__.partition(".")[0]
