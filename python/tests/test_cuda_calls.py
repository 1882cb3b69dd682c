"""The calls behind `cholupdate.jax` and `cholupdate.torch` on CUDA, as XLA and PyTorch make them, on the fake driver."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any, ClassVar, Literal

import numpy as np
import pytest

import cholupdate as cu
from cholupdate import _cholupdate as extension  # pyright: ignore[reportPrivateUsage]
from fake_cuda import DeviceArray, Driver, Stream, put
from frameworks import factor, modification
from problems import Array

BUFFER, SCALAR, BOOL, F32, F64 = 1, 3, 1, 11, 12
EXECUTE = 3


class Version(Structure):
    _fields_: ClassVar = [("size", c_size_t), ("extension", c_void_p), ("major", c_int), ("minor", c_int)]


class Api(Structure):
    _fields_: ClassVar = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("version", Version),
        ("internal", c_void_p),
        ("error_create", c_void_p),
        ("others", c_void_p * 3),
        ("stream_get", c_void_p),
        ("state", c_void_p * 4),
        ("memory_allocate", c_void_p),
        ("memory_free", c_void_p),
    ]


class ErrorCreate(Structure):
    _fields_: ClassVar = [("size", c_size_t), ("extension", c_void_p), ("message", c_char_p), ("code", c_int)]


class StreamGet(Structure):
    _fields_: ClassVar = [("size", c_size_t), ("extension", c_void_p), ("context", c_void_p), ("stream", c_void_p)]


class Allocate(Structure):
    _fields_: ClassVar = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("context", c_void_p),
        ("bytes", c_size_t),
        ("alignment", c_size_t),
        ("data", c_void_p),
    ]


class Free(Structure):
    _fields_: ClassVar = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("context", c_void_p),
        ("bytes", c_size_t),
        ("data", c_void_p),
    ]


class Buffer(Structure):
    _fields_: ClassVar = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("dtype", c_int),
        ("data", c_void_p),
        ("rank", c_int64),
        ("dims", POINTER(c_int64)),
    ]


class Items(Structure):
    _fields_: ClassVar = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("count", c_int64),
        ("kinds", POINTER(c_int)),
        ("items", POINTER(c_void_p)),
    ]


class Attributes(Structure):
    _fields_: ClassVar = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("count", c_int64),
        ("kinds", POINTER(c_int)),
        ("names", POINTER(c_void_p)),
        ("items", POINTER(c_void_p)),
    ]


class Span(Structure):
    _fields_: ClassVar = [("at", c_char_p), ("length", c_size_t)]


class Scalar(Structure):
    _fields_: ClassVar = [("dtype", c_int), ("value", c_void_p)]


class Frame(Structure):
    _fields_: ClassVar = [
        ("size", c_size_t),
        ("extension", c_void_p),
        ("api", POINTER(Api)),
        ("context", c_void_p),
        ("stage", c_int),
        ("arguments", Items),
        ("results", Items),
        ("attributes", Attributes),
    ]


class Xla:
    """As much of XLA as a call needs."""

    def __init__(self, driver: Driver, stream: Stream, *, lacks_memory: bool = False) -> None:
        self.messages: list[str] = []
        self.live: dict[int, int] = {}

        def error_create(a: Any) -> int:
            self.messages.append(a.contents.message.decode())
            return 77

        def stream_get(a: Any) -> int:
            a.contents.stream = stream.ptr
            return 0

        def allocate(a: Any) -> int:
            assert a.contents.alignment == 16 and a.contents.bytes > 0
            if lacks_memory:
                return 99
            at = c_uint64()
            driver.bind()
            driver.call("cuMemAlloc_v2", byref(at), c_size_t(a.contents.bytes))
            driver.unbind()
            a.contents.data = at.value
            self.live[at.value] = a.contents.bytes
            return 0

        def free(a: Any) -> int:
            # The memory is kept for work on the stream.
            assert self.live.pop(a.contents.data) == a.contents.bytes
            return 0

        self.functions = [
            CFUNCTYPE(c_void_p, POINTER(kind))(function)
            for kind, function in [(ErrorCreate, error_create), (StreamGet, stream_get), (Allocate, allocate), (Free, free)]
        ]
        create, get, alloc, release = (ctypes.cast(x, c_void_p).value for x in self.functions)
        self.api = Api(ctypes.sizeof(Api), None, Version(24, None, 0, 3), None, create)
        self.api.stream_get, self.api.memory_allocate, self.api.memory_free = get, alloc, release

    def call(self, handler: Any, arguments: list[Buffer], results: list[Buffer], **flags: bool) -> int:
        def items(buffers: list[Buffer]) -> Items:
            n = len(buffers)
            at = (c_void_p * n)(*(ctypes.addressof(x) for x in buffers))
            kinds = (c_int * n)(*[BUFFER] * n)
            kept.append((at, kinds))
            return Items(ctypes.sizeof(Items), None, n, kinds, at)

        kept: list[Any] = []
        names = [Span(name.encode(), len(name)) for name in flags]
        values = [ctypes.c_uint8(value) for value in flags.values()]
        scalars = [Scalar(BOOL, ctypes.addressof(value)) for value in values]
        n = len(flags)
        kinds = (c_int * n)(*[SCALAR] * n)
        attributes = Attributes(
            ctypes.sizeof(Attributes),
            None,
            n,
            kinds,
            (c_void_p * n)(*(ctypes.addressof(x) for x in names)),
            (c_void_p * n)(*(ctypes.addressof(x) for x in scalars)),
        )
        frame = Frame(
            ctypes.sizeof(Frame), None, ctypes.pointer(self.api), None, EXECUTE, items(arguments), items(results), attributes
        )
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        address = pointer(handler, b"xla._CUSTOM_CALL_TARGET")
        error = CFUNCTYPE(c_void_p, POINTER(Frame))(address)(byref(frame))
        return error or 0


def buffer(array: DeviceArray, shape: tuple[int, ...], dtype: int) -> Buffer:
    dims = (c_int64 * len(shape))(*shape)
    made = Buffer(ctypes.sizeof(Buffer), None, dtype, array.memory.address, len(shape), dims)
    made.kept = (array, dims)
    return made


def by_the_class(l: Array, v: Array, *, down: bool) -> Array:
    f = cu.Cholesky.from_factor(l, engine="cuda")
    f.downdate(v) if down else f.update(v)
    return np.asarray(f.factor())


def problem(n: int, k: int, count: int, dtype: Any) -> tuple[Array, Array]:
    l = factor(n, dtype)
    v = np.stack([0.3 * modification(n, k, dtype, seed=seed)[0] for seed in range(count)])
    return l, v.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("n", "k", "count", "upper"),
    [(1, 1, 1, True), (1, 1, 1, False), (64, 3, 1, True), (65, 17, 2, True), (65, 17, 2, False), (7, 2, 3, False), (130, 2, 3, True)],
)
def test_the_call_of_xla(driver: Driver, n: int, k: int, count: int, upper: bool, dtype: Any) -> None:
    number = F64 if dtype == np.float64 else F32
    handler = extension.xla_handlers_on_cuda()["cholupdate_modify"]
    l, v = problem(n, k, count, dtype)
    v[-1] *= 1e4 if count > 1 else 1
    stream = Stream(driver)
    xla = Xla(driver, stream)
    order: Literal["C", "F"] = "F" if upper else "C"
    given = [put(driver, l, order=order), put(driver, v, order="C"), put(driver, np.ones(k, dtype))]
    to, ok = put(driver, np.full((count, n, n), 7, dtype), order="C"), put(driver, np.full(count, 9, np.int8))
    lead = () if count == 1 else (count,)
    one = () if count == 1 else (1,)
    shapes = [(*one, n, n), (*lead, n, k), (*one, k)]
    arguments = [buffer(x, shape, number) for x, shape in zip(given, shapes, strict=True)]
    results = [buffer(to, (*lead, n, n), number), buffer(ok, lead, BOOL)]
    driver.unbind()
    before = driver.current()
    assert xla.call(handler, arguments, results, nan=False, plus=False, minus=True, upper=upper) == 0, xla.messages
    assert driver.current() == before and not xla.live
    driver.bind()
    stream.synchronize()
    expected_ok = [1] * (count - 1) + [1 if count == 1 else 0]
    assert ok.numpy().tolist() == expected_ok
    found = np.swapaxes(to.numpy(), -1, -2) if upper else to.numpy()
    for b in range(count):
        expected = by_the_class(l, v[b], down=True) if expected_ok[b] else l
        if count == 1 or not expected_ok[b]:
            np.testing.assert_array_equal(found[b], expected)
        else:
            np.testing.assert_allclose(found[b], expected, atol=30 * np.finfo(dtype).eps)


def test_what_xla_refuses_is_returned_to_it(driver: Driver) -> None:
    handler = extension.xla_handlers_on_cuda()["cholupdate_modify"]
    l, v = problem(8, 2, 1, np.float64)
    stream = Stream(driver)
    given = [put(driver, x) for x in (l, v[0], np.ones(2), l, np.zeros(1, np.int8))]
    arguments = [buffer(x, shape, F64) for x, shape in zip(given, [(8, 8), (8, 2), (2,)], strict=False)]
    results = [buffer(given[3], (8, 8), F64), buffer(given[4], (), BOOL)]
    flags = {"nan": False, "plus": True, "minus": False, "upper": True}
    assert Xla(driver, stream, lacks_memory=True).call(handler, arguments, results, **flags) == 99
    xla = Xla(driver, stream)
    assert xla.call(handler, arguments, results, nan=False) == 77
    assert xla.messages == ["cholupdate: an attribute is missing"]
    by_rows = Xla(driver, stream)
    assert by_rows.call(handler, arguments, results, **flags | {"upper": False}) == 77
    assert by_rows.messages == ["cholupdate: matrices of this order and number have to be by columns"] and not by_rows.live
    driver.bind()
    xla.api.size = 64
    assert xla.call(handler, arguments, results, **flags) == 77
    assert xla.messages[1:] == ["cholupdate: XLA has no functions for memory of a device"]


@pytest.mark.parametrize("sign", [1, -1, 0])
def test_the_call_of_pytorch(driver: Driver, sign: int) -> None:
    n, k = 96, 5
    l, (v,) = problem(n, k, 1, np.float64)
    shape = (1, n, k)
    bytes_needed = extension.scratch_on_gpu("float64", shape, 0, sign)
    given, columns, weights = put(driver, l, order="F"), put(driver, v, order="C"), put(driver, np.ones(k))
    to, ok, scratch = (
        put(driver, np.zeros((n, n))),
        put(driver, np.zeros(1, np.int8)),
        put(driver, np.zeros(bytes_needed, np.int8)),
    )
    stream = Stream(driver)
    extension.modify_on_gpu(
        "float64",
        shape,
        0,
        stream.ptr,
        sign,
        (given.memory.address, 0, 1, n),
        (columns.memory.address, 0, k, 1),
        (weights.memory.address, 0),
        to.memory.address,
        ok.memory.address,
        scratch.memory.address,
        False,
    )
    stream.synchronize()
    assert ok.numpy().tolist() == [1]
    expected = by_the_class(l, v, down=sign < 0)
    if sign:
        np.testing.assert_array_equal(to.numpy(), expected)
    else:
        np.testing.assert_allclose(to.numpy(), expected, atol=1e-13)


def by_the_cpu(l: Array, v: Array, w: Array, along: tuple[Array, Array, Array], bar: Array) -> tuple[Array, ...]:
    """L', the cotangents and the tangent of L'."""
    new = np.linalg.cholesky(l @ l.T + (v * w) @ v.T)
    dl, dv, dw = along
    pulled = cu.cholesky_update_vjp(l, new, v, bar, w)
    return new, *pulled, cu.cholesky_update_jvp(l, new, v, dl, dv, w, dw)


def near(found: Array, expected: Array) -> None:
    np.testing.assert_allclose(found, expected, atol=1e-12 * max(1.0, np.abs(expected).max(initial=0)))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize(("n", "k", "count"), [(5, 2, 3), (66, 3, 2)])
def test_derivatives_by_the_calls_of_xla(driver: Driver, n: int, k: int, count: int, upper: bool) -> None:
    """With L and w that all matrices have in common, and one matrix without L'."""
    rng = np.random.default_rng(3)
    l, vs = problem(n, k, count, np.float64)
    w = np.where(np.arange(k) % 2, -0.3, 1.0)
    bar, dl = (np.tril(rng.standard_normal((n, n))) for _ in range(2))
    dv, dw = rng.standard_normal((n, k)), rng.standard_normal(k)
    expected = [by_the_cpu(l, v, w, (dl, dv, dw), bar) for v in vs]
    new = np.stack([x[0] for x in expected])
    new[-1] = np.nan

    def triangle(x: Array) -> Array:
        return np.ascontiguousarray(np.swapaxes(x, -1, -2) if upper else x)

    ok = np.array([1] * (count - 1) + [0], np.int8)
    given = [(triangle(l)[None], F64), (triangle(new), F64), (vs, F64), (w[None], F64), (ok, BOOL)]
    stream = Stream(driver)
    handlers = extension.xla_handlers_on_cuda()

    def called(name: str, more: list[Array], shapes: list[tuple[int, ...]]) -> list[Array]:
        results = [put(driver, np.full(shape, 7.0), order="C") for shape in shapes]
        arguments = [buffer(put(driver, x, order="C"), x.shape, kind) for x, kind in [*given, *((x, F64) for x in more)]]
        made = [buffer(x, shape, F64) for x, shape in zip(results, shapes, strict=True)]
        xla = Xla(driver, stream)
        flags = {"plus": False, "minus": False, "upper": upper}
        assert xla.call(handlers[name], arguments, made, **flags) == 0, xla.messages
        assert not xla.live
        stream.synchronize()
        return [x.numpy() for x in results]

    of_l, of_v, of_w = called("cholupdate_modify_vjp", [triangle(bar)[None]], [(count, n, n), (count, n, k), (count, k)])
    (tangent,) = called("cholupdate_modify_jvp", [triangle(dl)[None], dv[None], dw[None]], [(count, n, n)])
    for b, (_, *pulled, pushed) in enumerate(expected[:-1]):
        for found, x in zip((triangle(of_l[b]), of_v[b], of_w[b], triangle(tangent[b])), (*pulled, pushed), strict=True):
            near(found, x)
    assert all((x[-1] == 0).all() for x in (of_l, of_v, of_w, tangent))


@pytest.mark.parametrize("sign", [1, 0])
def test_derivatives_by_the_calls_of_pytorch(driver: Driver, sign: int) -> None:
    n, k = 70, 3
    rng = np.random.default_rng(4)
    l, (v,) = problem(n, k, 1, np.float64)
    bar, dl = (np.tril(rng.standard_normal((n, n))) for _ in range(2))
    dv, dw, w = rng.standard_normal((n, k)), rng.standard_normal(k), np.ones(k)
    new, *pulled, pushed = by_the_cpu(l, v, w, (dl, dv, dw), bar)
    shape, stream = (1, n, k), Stream(driver)

    def square(x: Array) -> tuple[DeviceArray, tuple[int, int, int, int]]:
        there = put(driver, x, order="F")
        return there, (there.memory.address, 0, 1, n)

    def tall(x: Array) -> tuple[DeviceArray, tuple[int, int, int, int]]:
        there = put(driver, x, order="C")
        return there, (there.memory.address, 0, k, 1)

    def vector(x: Array) -> tuple[DeviceArray, tuple[int, int]]:
        there = put(driver, x)
        return there, (there.memory.address, 0)

    held = [square(l), square(new), tall(v), vector(w), vector(np.ones(1, np.int8))]
    given: Any = tuple(at for _, at in held)
    empty: list[Any] = [square(np.zeros((n, n))), tall(np.zeros((n, k))), vector(np.zeros(k)), square(np.zeros((n, n)))]
    of_l, of_v, of_w, tangent = empty
    along = [square(dl), tall(dv), vector(dw)]
    of_bar = square(bar)
    for forward in (False, True):
        bytes_needed = extension.gradient_scratch_on_gpu("float64", shape, sign, forward)
        scratch = put(driver, np.zeros(bytes_needed, np.int8))
        queue = (0, stream.ptr, sign, scratch.memory.address)
        if forward:
            tangents: Any = tuple(at for _, at in along)
            extension.modify_jvp_on_gpu("float64", shape, queue, given, tangents, tangent[1], False)
        else:
            to = (of_l[1], of_v[1], of_w[1])
            extension.modify_vjp_on_gpu("float64", shape, queue, given, of_bar[1], to, False)
        stream.synchronize()
    near(of_l[0].numpy(), pulled[0])
    near(of_v[0].numpy(), pulled[1])
    near(of_w[0].numpy(), pulled[2])
    near(tangent[0].numpy(), pushed)
    with pytest.raises(ValueError, match="64 columns"):
        extension.modify_vjp_on_gpu("float64", (1, n, 65), queue, given, of_bar[1], (of_l[1], of_v[1], of_w[1]), False)


def test_other_numbers_are_refused(driver: Driver) -> None:
    with pytest.raises(TypeError, match="complex64"):
        extension.scratch_on_gpu("complex64", (1, 2, 1), 0, 0)
    with pytest.raises(cu.DeviceError, match="there is no device 7"):
        extension.scratch_on_gpu("float64", (1, 2, 1), 7, 0)
