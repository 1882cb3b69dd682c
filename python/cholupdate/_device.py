"""Arrays in the memory of a GPU, by the functions of their libraries."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any, cast

# CUDA's legacy default stream in DLPack's numbers.
_LEGACY_STREAM = 1


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


def broadcast(array: Any, shape: tuple[int, ...]) -> Any:
    """The array with this shape by NumPy's rules, packed in row-major order on its device."""
    library = _library(array)
    if library in ("torch", "cupy"):
        made = sys.modules[library].broadcast_to(array, shape)
    elif library in ("jax", "jaxlib"):
        made = import_module("jax.numpy").broadcast_to(array, shape)
    else:
        made = array.__array_namespace__().broadcast_to(array, shape)
    return by_rows(made, False)


def capsule(array: Any, **arguments: Any) -> Any:
    """The array's DLPack capsule, as its `__dlpack__` makes it with these arguments.

    PyTorch and CuPy order the stream of the consumer after the current one of the current device, which must be that of the array.
    """
    with _on_its_device(array):
        return array.__dlpack__(**arguments)


def _on_its_device(array: Any) -> AbstractContextManager[Any]:
    library = _library(array)
    if library == "torch":
        return cast(AbstractContextManager[Any], sys.modules["torch"].cuda.device(array.device))
    if library == "cupy":
        return cast(AbstractContextManager[Any], array.device)
    return nullcontext()


def current_stream(array: Any) -> int | None:
    """The stream on which the library of the array works at present, as DLPack numbers it.

    None if the library has no such stream, or it is not known. Where it has one, it frees and reuses memory in the order of the stream.
    """
    library = _library(array)
    if library == "torch":
        return int(sys.modules["torch"].cuda.current_stream(array.device).cuda_stream) or _LEGACY_STREAM
    if library == "cupy":
        with array.device:
            return int(sys.modules["cupy"].cuda.get_current_stream().ptr) or _LEGACY_STREAM
    return None


def is_immutable(array: Any) -> bool:
    """Whether the library of the array relies on it that nothing is written to it."""
    return _library(array) in ("jax", "jaxlib")


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
