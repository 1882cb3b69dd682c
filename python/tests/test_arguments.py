"""Accepted matrices and indices, and the messages of refused ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cholupdate as cu
from problems import Array, columns, spd

FLOATS = (np.float32, np.float64)


def laid_out(values: Array, layout: str) -> Array:
    """The same entries in another memory layout."""
    rows, cols = values.shape
    if layout == "C":
        return np.ascontiguousarray(values)
    if layout == "F":
        return np.asfortranarray(values)
    if layout == "reversed":
        return np.ascontiguousarray(values[::-1, ::-1])[::-1, ::-1]
    if layout == "sliced":
        wide = np.full((3 * rows, 2 * cols), np.nan, values.dtype)
        wide[1::3, ::2] = values
        return wide[1::3, ::2]
    if layout == "swapped":
        return values.astype(values.dtype.newbyteorder())
    if layout == "read-only":
        frozen = values.copy()
        frozen.flags.writeable = False
        return frozen
    if layout == "unaligned":
        raw = np.empty(values.nbytes + 1, np.uint8)[1:].view(values.dtype).reshape(values.shape)
        raw[...] = values
        return raw
    if layout == "field":
        record = np.zeros(values.shape, [("tag", np.int16), ("x", values.dtype)])
        record["x"] = values
        field: Array = record["x"]
        return field
    raise ValueError(layout)


LAYOUTS = ("C", "F", "reversed", "sliced", "swapped", "read-only", "unaligned", "field")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_bits(dtype: Any, layout: str) -> None:
    a, v, w = spd(12, dtype), columns(12, 3, dtype), np.array([1.0, -0.5, 2.0], dtype)
    plain, other = cu.Cholesky(a), cu.Cholesky(laid_out(a, layout))
    assert np.array_equal(plain.factor(), other.factor())
    laid = laid_out(v, layout)
    plain.modify(v, w)
    other.modify(laid, laid_out(w.reshape(-1, 1), layout)[:, 0])
    assert np.array_equal(plain.factor(), other.factor())
    assert np.array_equal(laid, v)
    plain.update(v[:, 0])
    other.update(laid[:, 0])
    assert np.array_equal(plain.factor(), other.factor())
    assert np.array_equal(plain.solve(v), other.solve(laid))
    again = cu.Cholesky.from_factor(laid_out(plain.factor(), layout))
    assert np.array_equal(again.factor(), plain.factor())


def test_broadcast_columns() -> None:
    f, g = cu.Cholesky(spd(5)), cu.Cholesky(spd(5))
    f.update(np.broadcast_to(np.float64(0.5), (5, 2)))
    g.update(np.full((5, 2), 0.5))
    assert np.array_equal(f.factor(), g.factor())


@pytest.mark.parametrize("dtype", FLOATS)
def test_lists_numbers_and_integers_are_converted(dtype: Any) -> None:
    a = (4 * np.eye(2)).astype(dtype)
    wanted = cu.Cholesky(a)
    wanted.update(np.array([1, 0], dtype))
    for v in ([1, 0], (1.0, 0.0), np.array([1, 0]), np.array([True, False]), np.array([1, 0], np.uint8), [[1], [0]]):
        f = cu.Cholesky(a)
        f.update(v)
        assert np.array_equal(f.factor(), wanted.factor())
        assert f.dtype == dtype
    f = cu.Cholesky(np.array([[4]], dtype))
    f.append(0, 4)
    f.update([1, 0])
    assert np.array_equal(f.factor(), wanted.factor())


def test_the_dtype_of_a_factor() -> None:
    assert cu.Cholesky([[4, 0], [0, 4]]).dtype == np.float64
    assert cu.Cholesky(np.eye(2, dtype=np.int8)).dtype == np.float64
    assert cu.Cholesky(np.eye(2, dtype=np.float32)).dtype == np.float32
    assert cu.Cholesky(np.eye(2, dtype=">f4")).dtype == np.float32


class Elsewhere:
    """An array of another library, in host memory."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class OnAnotherDevice(Elsewhere):
    def __dlpack_device__(self) -> tuple[int, int]:
        return (10, 0)


def test_arrays_of_other_libraries_in_host_memory() -> None:
    f, g = cu.Cholesky(Elsewhere(spd(3))), cu.Cholesky(spd(3))
    f.update(Elsewhere(columns(3, 2)))
    g.update(columns(3, 2))
    assert np.array_equal(f.factor(), g.factor())
    with pytest.raises(TypeError, match="`v` is on a device of DLPack's type 10"):
        f.update(OnAnotherDevice(columns(3, 2)))
    with pytest.raises(TypeError, match=re.escape("`v` has dtype float32, but the factor has float64")):
        f.update(Elsewhere(columns(3, 2, np.float32)))


class Sparse:
    """A matrix of a type of SciPy's."""

    nnz = 3

    def toarray(self) -> Array:
        return np.eye(3)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        raise AssertionError("it is not to be asked for an array")


def half() -> Any:
    """An array with a dtype of an extension."""
    return np.zeros((3, 3), pytest.importorskip("ml_dtypes").bfloat16)


MASKED: Any = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])  # pyright: ignore
NAN_ABOVE = np.eye(3)
NAN_ABOVE[0, 2] = np.nan

f64 = cu.Cholesky(np.eye(3))
f32 = cu.Cholesky(np.eye(3, dtype=np.float32))

REFUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: f64.update(np.ones(3, np.float32)), TypeError, "`v` has dtype float32, but the factor has float64"),
    (lambda: f32.update(np.ones(3)), TypeError, "`v` has dtype float64, but the factor has float32"),
    (
        lambda: f64.update(np.ones(3, np.float16)),
        TypeError,
        "`v` has dtype float16, which no factor can have: convert it to float64, which this one has",
    ),
    (lambda: f32.update(half()), TypeError, "`v` has dtype bfloat16, which no factor can have: convert it to float32"),
    (lambda: cu.Cholesky(half()), TypeError, "`a` has dtype bfloat16, expected float32 or float64"),
    (lambda: cu.Cholesky(np.ma.masked_array(np.eye(2))), TypeError, "`a` is a masked array, whose mask would be lost"),
    (lambda: f64.update(MASKED), TypeError, "`v` is a masked array"),
    (lambda: f64.solve(np.ma.ones(3)), TypeError, "`b` is a masked array"),
    (lambda: f64.modify(np.ones(3), np.ma.ones(1)), TypeError, "`weights` is a masked array"),
    (lambda: cu.cholesky_update(np.ma.masked_array(np.eye(3)), np.ones(3), overwrite_l=True), TypeError, "`l` is a masked array"),
    (lambda: cu.Cholesky(Sparse()), TypeError, "`a` is a sparse matrix (Sparse), expected a dense one: give `toarray()`"),
    (lambda: f64.update(Sparse()), TypeError, "`v` is a sparse matrix (Sparse)"),
    (lambda: cu.Cholesky(NAN_ABOVE, upper=True), ValueError, "`a` is not finite at (0, 2)"),
    (lambda: cu.Cholesky.from_factor(NAN_ABOVE, upper=True), ValueError, "`l` is not finite at (0, 2)"),
    (lambda: cu.Cholesky(NAN_ABOVE.T), ValueError, "`a` is not finite at (2, 0)"),
    (lambda: f64.modify(np.ones(3), np.ones(1, np.float32)), TypeError, "`weights` has dtype float32"),
    (lambda: f64.update(np.ones(3, complex)), TypeError, "`v` has dtype complex128, expected real numbers"),
    (lambda: f64.update(["x", "y", "z"]), TypeError, "`v` has dtype str"),
    (lambda: f64.update(np.array([None] * 3)), TypeError, "`v` has dtype object"),
    (lambda: f64.update([1j, 0, 0]), TypeError, "`v` has dtype complex128"),
    (lambda: f64.update([[1.0], [2.0, 3.0]]), ValueError, "`v` cannot be an array"),
    (lambda: f64.update(None), TypeError, "`v` has dtype object"),  # type: ignore[arg-type] # pyright: ignore
    (lambda: cu.Cholesky(np.eye(2, dtype=np.float16)), TypeError, "`a` has dtype float16, expected float32"),
    (lambda: cu.Cholesky(np.eye(2, dtype=object)), TypeError, "`a` has dtype object"),
    (lambda: cu.Cholesky(np.ones((2, 3))), ValueError, "`a`: the number of columns is 3, expected 2"),
    (lambda: cu.Cholesky.from_factor(np.ones((2, 3))), ValueError, "`l`: the number of columns is 3"),
    (lambda: f64.update(np.ones(4)), ValueError, "`v`: the number of rows is 4, expected 3"),
    (lambda: f64.update(np.ones((1, 1, 3))), ValueError, "`v` has 3 dimensions, expected 1 or 2"),
    (lambda: f64.update([np.nan, 0, 0]), ValueError, "`v` is not finite at (0, 0)"),
    (lambda: f64.update([np.inf, 0, 0]), ValueError, "`v` is not finite"),
    (lambda: f64.update([1e300, 0, 0]), ValueError, "`v` is too large"),
    (lambda: f64.modify(np.ones((3, 2)), [1.0]), ValueError, "`weights`: the number of entries is 1, expected 2"),
    (lambda: f64.modify(np.ones((3, 1)), [[1.0]]), ValueError, "`weights` has 2 dimensions, expected 1"),
    (lambda: f64.modify(np.ones((3, 1)), [np.nan]), ValueError, "`weights` is not finite"),
    (lambda: f64.solve(np.ones(4)), ValueError, "`b`: the number of rows is 4, expected 3"),
    (lambda: f64.solve([np.nan, 0, 0]), ValueError, "`b` is not finite"),
    (lambda: f64.solve(np.ones(3, np.float32)), TypeError, "`b` has dtype float32"),
    (lambda: f64.append(np.ones(4), 1.0), ValueError, "`cross`: the number of rows is 4"),
    (lambda: f64.append(np.ones(3), np.ones((2, 2))), ValueError, "`corner`: the number of rows is 2"),
    (lambda: f64.insert(0, np.ones(3)), ValueError, "`columns`: the number of rows is 3, expected 4"),
    (lambda: f64.insert(4, np.ones(4)), IndexError, "`at` is 4, but must be less than 4"),
    (lambda: f64.insert(-1, np.ones(4)), IndexError, "`at` is -1"),
    (lambda: f64.insert(1.5, np.ones(4)), TypeError, "`at` must be an integer, not float"),  # type: ignore[arg-type] # pyright: ignore
    (lambda: f64.insert(True, np.ones(4)), TypeError, "`at` must be an integer, not bool"),
    (lambda: f64.replace(3, np.ones(3)), IndexError, "`at` is 3"),
    (lambda: f64.remove(3), IndexError, "`indices`[0] is 3, but must be less than 3"),
    (lambda: f64.remove([0, -4]), IndexError, "`indices` is -4, but there are 3 rows"),
    (lambda: f64.remove([0, -3]), ValueError, "`indices` has 0 twice"),
    (lambda: f64.remove(10**30), IndexError, "`indices` is 1000"),
    (lambda: f64.remove([True, False]), ValueError, "`indices`: the number of truth values is 2, expected 3"),
    (lambda: f64.remove(np.zeros(4, bool)), ValueError, "`indices`: the number of truth values is 4, expected 3"),
    (lambda: f64.remove(True), TypeError, "`indices` must be an integer, not bool"),
    (lambda: f64.remove([0, True]), TypeError, "`indices` must be an integer, not bool"),
    (lambda: f64.remove("0"), TypeError, "`indices` must be an integer, not str"),  # type: ignore[arg-type] # pyright: ignore
    (lambda: f64.remove([0, 1, 0]), ValueError, "`indices` has 0 twice"),
    (lambda: f64.remove([0.5]), TypeError, "`indices` must be an integer, not float"),  # type: ignore[list-item] # pyright: ignore
    (lambda: f64.shift(3, 0), IndexError, "`at` is 3, but must be less than 3"),
    (lambda: f64.shift(0, 3), IndexError, "`to` is 3, but must be less than 3"),
    (lambda: f64.permute([0, 1]), ValueError, "`order`: the number of entries is 2, expected 3"),
    (lambda: f64.permute([0, 1, 1]), ValueError, "`order` has 1 twice"),
    (lambda: f64.reserve(-1), ValueError, "`additional` is -1, expected at least 0"),
    (lambda: f64.reserve(-(10**30)), ValueError, "`additional` is -1000"),
    (lambda: f64.reserve(10**30), ValueError, "`additional` must be few enough"),
    (lambda: cu.Cholesky(np.eye(2), upper=1), TypeError, "`upper` must be a bool, not int"),  # type: ignore[arg-type] # pyright: ignore
    (lambda: f64.factor(upper="U"), TypeError, "`upper` must be a bool, not str"),  # type: ignore[arg-type] # pyright: ignore
    (lambda: cu.cholesky_update(np.eye(2), [1, 1], downdate=0), TypeError, "`downdate` must be a bool"),  # type: ignore # pyright: ignore
    (lambda: cu.scipy.cholesky_update(np.eye(2), [1, 1], lower=None), TypeError, "`lower` must be a bool"),  # type: ignore # pyright: ignore
    (lambda: cu.Cholesky(np.eye(2), engine=3), TypeError, "`engine` must be a str, not int"),  # type: ignore[arg-type] # pyright: ignore
    (lambda: cu.Cholesky(np.eye(2), threads=-2), ValueError, "`threads` is -2, expected at least 1, or -1 for all"),
    (lambda: cu.Cholesky(np.eye(2), threads=-(10**30)), ValueError, "`threads` is -1000"),
    (lambda: cu.Cholesky(np.eye(2), threads=1.5), TypeError, "`threads` must be an integer, not float"),  # type: ignore # pyright: ignore
    (lambda: np.asarray(f64), TypeError, "a Cholesky is not an array: L is `factor()`, A is `reconstruct()`"),  # pyright: ignore
    (lambda: cu.Cholesky(f64), TypeError, "a Cholesky is not an array"),
    (lambda: f64.reserve(2**62), ValueError, "`additional` must be few enough"),
    (lambda: cu.Cholesky.from_factor([[np.nan]]), ValueError, "`l` is not finite"),
]


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED, ids=[message for _, _, message in REFUSED])
def test_arguments_are_refused_by_name(call: Callable[[], object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=re.escape(message)):
        call()
    for f in (f64, f32):
        assert np.array_equal(f.factor(), np.eye(3))


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 40),
    k=st.integers(0, 20),
    dtype=st.sampled_from(FLOATS),
    layout=st.sampled_from(LAYOUTS),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_matrix_in_any_layout(n: int, k: int, dtype: Any, layout: str, seed: int) -> None:
    l = np.linalg.cholesky(spd(n, dtype, seed))
    v = columns(n, k, dtype, seed + 1, size=0.05)
    plain, other = cu.Cholesky.from_factor(l), cu.Cholesky.from_factor(laid_out(l, layout))
    assert plain.update(v) == other.update(laid_out(v, layout))
    assert plain.downdate(v) == other.downdate(laid_out(v, layout))
    assert np.array_equal(plain.factor(), other.factor())
