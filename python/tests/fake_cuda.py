"""The fake CUDA driver of the Rust tests, and arrays in its device memory that support DLPack as those of other libraries do."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

CUDA = 2
_INT = 0
_FLOAT = 2
_LEGACY_STREAM = 1


def find() -> Driver | None:
    """The driver, loaded under the names that the library uses."""
    directory = os.environ.get("CHOLUPDATE_FAKE_CUDA")
    if not directory:
        return None
    if not Path(directory, "libcuda.so.1").is_file():
        raise FileNotFoundError(f"CHOLUPDATE_FAKE_CUDA must name the directory of the driver, and is {directory!r}")
    return Driver(Path(directory))


class Driver:
    def __init__(self, directory: Path) -> None:
        names = ("libcuda.so.1", "libcuda.so", "libcusolver.so")
        self._libraries = [ctypes.CDLL(str(directory / name), mode=ctypes.RTLD_GLOBAL) for name in names]
        self._library = self._libraries[0]

    def reset(self) -> None:
        self._library.fake_cuda_reset()

    def fail_at(self, operation: int) -> None:
        """The n-th launch or copy from now fails, and its context with it."""
        self._library.fake_cuda_fail_at(ctypes.c_uint64(operation))

    def memory_cap(self, size: int) -> None:
        self._library.fake_cuda_memory_cap(ctypes.c_size_t(size))

    def seed(self, seed: int) -> None:
        """Chooses in which order streams work that need not wait for each other."""
        self._library.fake_cuda_seed(ctypes.c_uint(seed))

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name}: error {status}")

    def bind(self) -> None:
        """Makes the primary context of the device current on this thread."""
        context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def unbind(self) -> None:
        """Makes no context current on this thread."""
        self.call("cuCtxSetCurrent", None)

    def current(self) -> int:
        """The address of the context that is current on this thread, or 0."""
        context = ctypes.c_void_p()
        self.call("cuCtxGetCurrent", ctypes.byref(context))
        return context.value or 0


class _DType(ctypes.Structure):
    _fields_: ClassVar = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_: ClassVar = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", _DType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_: ClassVar = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _ManagedVersioned(ctypes.Structure):
    _fields_: ClassVar = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_READ_ONLY = 1
_python = ctypes.pythonapi
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]


# The arrays that capsules keep, by the capsule.
_exported: dict[int, DeviceArray] = {}


def _forget(capsule: int) -> None:
    del _exported[capsule]


_destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_forget)
_release = ctypes.cast(_destructor, ctypes.c_void_p)


def exported() -> int:
    """The number of live capsules."""
    return len(_exported)


class DeviceArray:
    """An array in device memory, of a library of its own."""

    def __init__(
        self,
        driver: Driver,
        memory: _Memory,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        dtype: np.dtype[Any],
        offset: int = 0,
        *,
        versioned: bool = True,
        device_type: int = CUDA,
        device_id: int = 0,
        read_only: bool = True,
    ) -> None:
        self.driver, self.memory = driver, memory
        self.shape, self.strides, self.dtype, self.offset = shape, strides, dtype, offset
        self.versioned, self.device_type, self.device_id = versioned, device_type, device_id
        self.read_only = read_only
        self.streams: list[object] = []

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def T(self) -> DeviceArray:
        return DeviceArray(
            self.driver, self.memory, self.shape[::-1], self.strides[::-1], self.dtype, self.offset
        )

    def contiguous(self) -> DeviceArray:
        return put(self.driver, np.ascontiguousarray(self.numpy()), order="C")

    def __array_namespace__(self) -> Namespace:
        return Namespace(self.driver)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.device_type, self.device_id)

    def __dlpack__(self, *, stream: object = None, max_version: tuple[int, int] | None = None) -> Any:
        if max_version is not None and not self.versioned:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.streams.append(stream)
        axes = ctypes.c_int64 * self.ndim
        self._axes = (axes(*self.shape), axes(*self.strides))
        tensor = _Tensor(
            self.memory.address,
            self.device_type,
            self.device_id,
            self.ndim,
            _DType({"f": _FLOAT, "i": 0, "c": 5}[self.dtype.kind], 8 * self.dtype.itemsize, 1),
            ctypes.cast(self._axes[0], ctypes.POINTER(ctypes.c_int64)),
            ctypes.cast(self._axes[1], ctypes.POINTER(ctypes.c_int64)),
            self.offset,
        )
        self._managed: Any = (
            _ManagedVersioned(1, 1, None, None, _READ_ONLY if self.read_only else 0, tensor)
            if self.versioned
            else _Managed(tensor, None, None)
        )
        name = b"dltensor_versioned" if self.versioned else b"dltensor"
        capsule = _python.PyCapsule_New(ctypes.addressof(self._managed), name, _release)
        _exported[id(capsule)] = self
        return capsule

    def numpy(self) -> NDArray[Any]:
        """A copy in host memory."""
        self.driver.bind()
        raw = np.empty(self.memory.size, dtype=np.uint8)
        to = raw.ctypes.data_as(ctypes.c_void_p)
        at, size = ctypes.c_uint64(self.memory.address), ctypes.c_size_t(self.memory.size)
        self.driver.call("cuMemcpyDtoH_v2", to, at, size)
        strides = tuple(self.dtype.itemsize * stride for stride in self.strides)
        view = np.ndarray(self.shape, self.dtype, raw.data, self.offset, strides)
        return view.copy()


class Stream:
    """A stream that waits for no other one."""

    def __init__(self, driver: Driver) -> None:
        driver.bind()
        self.driver, handle = driver, ctypes.c_void_p()
        driver.call("cuStreamCreate", ctypes.byref(handle), 1)
        self.ptr = handle.value or 0

    def fill(self, array: DeviceArray, byte: int) -> None:
        """Sets all bytes of the memory of an array, after what is on the stream."""
        at, size = ctypes.c_uint64(array.memory.address), ctypes.c_size_t(array.memory.size)
        self.driver.call("cuMemsetD8Async", at, ctypes.c_ubyte(byte), size, ctypes.c_void_p(self.ptr))

    def copy(self, source: DeviceArray, to: DeviceArray) -> None:
        """Copies the memory of an array, after what is on the stream."""
        size = ctypes.c_size_t(source.memory.size)
        at, there = ctypes.c_uint64(to.memory.address), ctypes.c_uint64(source.memory.address)
        self.driver.call("cuMemcpyDtoDAsync_v2", at, there, size, ctypes.c_void_p(self.ptr))

    def synchronize(self) -> None:
        self.driver.call("cuStreamSynchronize", ctypes.c_void_p(self.ptr))


class _Memory:
    """Device memory with the lifetime of this object."""

    def __init__(self, address: int, size: int, release: Callable[[], None]) -> None:
        self.address, self.size, self._release = address, size, release

    def __del__(self) -> None:
        self._release()


def put(
    driver: Driver, array: NDArray[Any], *, order: Literal["C", "F"] = "F", offset: int = 0, **options: Any
) -> DeviceArray:
    """A copy in device memory, at this byte offset in an allocation."""
    driver.bind()
    packed = np.array(array, order=order, copy=True)
    address = ctypes.c_uint64()
    size = offset + packed.nbytes
    driver.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
    at = address.value
    if packed.nbytes:
        driver.call(
            "cuMemcpyHtoD_v2",
            ctypes.c_uint64(at + offset),
            packed.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_size_t(packed.nbytes),
        )
    memory = _Memory(at, size, lambda: driver.call("cuMemFree_v2", ctypes.c_uint64(at)))
    strides = tuple(stride // packed.itemsize for stride in packed.strides)
    return DeviceArray(driver, memory, packed.shape, strides, packed.dtype, offset, **options)


class Namespace:
    """The array namespace of that library."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver

    def broadcast_to(self, array: DeviceArray, shape: tuple[int, ...]) -> DeviceArray:
        added = len(shape) - array.ndim
        own = (1,) * added + array.shape, (0,) * added + array.strides
        strides = tuple(0 if extent == 1 else stride for extent, stride in zip(*own, strict=True))
        return DeviceArray(self.driver, array.memory, shape, strides, array.dtype, array.offset)

    def from_dlpack(self, made: Any, *, max_version: tuple[int, int] | None = (1, 0)) -> DeviceArray:
        assert made.__dlpack_device__() == (CUDA, 0)
        capsule = made.__dlpack__(stream=_LEGACY_STREAM, max_version=max_version)
        versioned = max_version is not None
        name = b"dltensor_versioned" if versioned else b"dltensor"
        address = _python.PyCapsule_GetPointer(capsule, name)
        _python.PyCapsule_SetName(capsule, b"used_" + name)
        kind: Any = _ManagedVersioned if versioned else _Managed
        managed = kind.from_address(address)
        tensor = managed.tensor
        shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
        strides = tuple(tensor.strides[axis] for axis in range(tensor.ndim))
        kind_of_number = {_FLOAT: "f", _INT: "i"}[tensor.dtype.code]
        dtype = np.dtype(f"{kind_of_number}{tensor.dtype.bits // 8}")
        size = dtype.itemsize * int(np.prod(shape))

        def release() -> None:
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(address)

        return DeviceArray(self.driver, _Memory(tensor.data, size, release), shape, strides, dtype)
