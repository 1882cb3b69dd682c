"""Complex numbers where there are none: other engines and classes, weights, factors of real numbers."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import cholupdate as cu
from cholupdate.scipy import cholesky_update
from fake_cuda import Driver, put
from problems import spd

EYE = np.eye(3, dtype=np.complex128)
HALF = np.eye(3, dtype=np.complex64)
ONES = np.ones(3, np.complex128)

c128 = cu.Cholesky(EYE)
c64 = cu.Cholesky(HALF)
f64 = cu.Cholesky(np.eye(3))
f32 = cu.Cholesky(np.eye(3, dtype=np.float32))
batch = cu.CholeskyBatch([np.eye(3)])
batches = cu.CholeskyBatch([EYE])
ldlt = cu.Ldlt(np.eye(3))
hermitian = cu.Ldlt(EYE)

# The calls, and how the message of the TypeError begins.
REFUSED: list[tuple[Callable[[], object], str]] = [
    # What is real also of a factor of complex numbers.
    (lambda: c128.modify(ONES, [1j]), "`weights` has dtype complex128, expected real numbers"),
    (lambda: c128.modify(ONES, np.ones(1, complex)), "`weights` has dtype complex128, expected real numbers"),
    (lambda: c128.modify(ONES, np.ones(1, np.float32)), "`weights` has dtype float32, expected float64: the factor has complex128"),
    (lambda: c64.modify([1, 1, 1], np.ones(1)), "`weights` has dtype float64, expected float32: the factor has complex64"),
    (lambda: c128.modify_scaled(1.0, ONES, [1j]), "`weights` has dtype complex128"),
    (lambda: c128.submit(ONES, [1j]), "`weights` has dtype complex128"),
    (lambda: c128.modify_scaled(0.5j, ONES), "must be real number, not complex"),  # type: ignore[arg-type] # pyright: ignore
    (lambda: cu.Carried(c128, ONES, [1j]), "`sums` has dtype complex128, expected real numbers"),
    # Another precision, real or complex.
    (lambda: c128.update(np.ones(3, np.complex64)), "`v` has dtype complex64, but the factor has complex128"),
    (lambda: c128.update(np.ones(3, np.float32)), "`v` has dtype float32, but the factor has complex128"),
    (lambda: c64.update(ONES), "`v` has dtype complex128, but the factor has complex64"),
    (lambda: c64.update(np.ones(3)), "`v` has dtype float64, but the factor has complex64"),
    (lambda: c64.solve(ONES), "`b` has dtype complex128, but the factor has complex64"),
    (lambda: c128.update(np.ones(3, np.float16)), "`v` has dtype float16, which no factor can have: convert it to complex128"),
    (lambda: c128.update(["x", "y", "z"]), "`v` has dtype str"),
    (lambda: c128.update(["x", "y", "z"]), "expected real or complex numbers"),
    (lambda: c128.append(HALF[:, 0], 1.0), "`cross` has dtype complex64"),
    # Complex arguments of a factor of real numbers.
    (lambda: f64.update(ONES), "`v` has dtype complex128, expected real numbers"),
    (lambda: f32.update(HALF), "`v` has dtype complex64, expected real numbers"),
    (lambda: f64.solve([1j, 0, 0]), "`b` has dtype complex128, expected real numbers"),
    (lambda: f64.append(ONES, 9.0), "`cross` has dtype complex128, expected real numbers"),
    (lambda: f64.append([1, 0, 0], 9.0 + 0j), "`corner` has dtype complex128, expected real numbers"),
    (lambda: c128.modify_carrying(1.0, ONES, [1.0], cu.Carried.zeros(f64)), "`carried` is of a factor of another dtype than complex128"),
    (lambda: f64.modify_carrying(1.0, [1, 1, 1], [1], cu.Carried.zeros(c128)), "`carried` is of a factor of another dtype than float64"),
    # Engines with a device.
    (lambda: cu.Cholesky(EYE, engine="hybrid"), '`engine` is "hybrid", expected "cpu": no other engine has factors of complex128'),
    (lambda: cu.Cholesky(HALF, engine="cuda"), '`engine` is "cuda", expected "cpu": no other engine has factors of complex64'),
    (lambda: cu.Cholesky(EYE, engine="opencl"), '`engine` is "opencl", expected "cpu"'),
    (lambda: cu.Cholesky(EYE, engine="cuda:0-1"), '`engine` is "cuda:0-1", expected "cpu"'),
    (lambda: cu.Cholesky.from_factor(EYE, engine="cuda"), '`engine` is "cuda", expected "cpu"'),
    (lambda: cu.Cholesky.zeros(3, dtype=complex, engine="hybrid"), '`engine` is "hybrid", expected "cpu"'),
    (lambda: c128.to_engine("cuda"), '`engine` is "cuda", expected "cpu"'),
    # Batches, indefinite matrices, factors in arrays of the caller's.
    (lambda: batches.update(HALF[:1]), "`v` has dtype complex64, but the factor has complex128"),
    (lambda: batches.modify(ONES[None], [1j]), "`weights` has dtype complex128, expected real numbers"),
    (lambda: batches.solve(np.ones((1, 3), np.float32)), "`b` has dtype float32, but the factor has complex128"),
    (lambda: batches.solve_in_place(np.ones((1, 3))), "`b` must be an aligned array of complex128"),
    (lambda: batches.append(HALF[:1]), "`a` has dtype complex64"),
    (lambda: batches.replace(0, HALF), "`a` has dtype complex64"),
    (lambda: batch.update(ONES[None, :, None]), "`v` has dtype complex128, expected real numbers"),
    (lambda: hermitian.update(HALF), "`v` has dtype complex64, but the factor has complex128"),
    (lambda: hermitian.modify(ONES, [1j]), "`weights` has dtype complex128, expected real numbers"),
    (lambda: cu.Ldlt.from_factor(EYE, [1j, 1, 1]), "`d` has dtype complex128, expected real numbers"),
    (lambda: cu.Ldlt(np.eye(2, dtype=np.clongdouble)), "`a` has dtype complex256, expected complex64 or complex128"),
    (lambda: ldlt.update(ONES), "`v` has dtype complex128, expected real numbers"),
    (lambda: cu.cholesky_update(EYE, ONES), "`l` has dtype complex128, expected real numbers: only `Cholesky`, `Ldlt` and `CholeskyBatch` have complex ones"),
    (lambda: cu.cholesky_update(EYE, ONES, overwrite_l=True), "`l` has dtype complex128, expected real numbers: only"),
    (lambda: cu.cholesky_update(np.eye(3), ONES), "`v` has dtype complex128, expected real numbers"),
    (lambda: cholesky_update(EYE, ONES), "`R` has dtype complex128, expected real numbers: only `Cholesky`, `Ldlt` and `CholeskyBatch` have complex ones"),
    # Numbers that no factor has.
    (lambda: cu.Cholesky(np.eye(2, dtype=np.clongdouble)), "`a` has dtype complex256, expected complex64 or complex128"),
    (lambda: cu.Cholesky.zeros(2, dtype=np.clongdouble), "`dtype` is complex256, expected float32 or float64, complex64 or complex128"),
]  # fmt: skip


@pytest.mark.parametrize("call, message", REFUSED, ids=lambda of: of[:40] if isinstance(of, str) else "")
def test_is_a_type_error(call: Callable[[], object], message: str) -> None:
    if "complex256" in message and np.finfo(np.longdouble).bits == 64:
        pytest.skip("long double is double here")
    with pytest.raises(TypeError, match=re.escape(message)):
        call()


def test_and_changes_nothing() -> None:
    for f in (c128, c64, f64, f32):
        assert np.array_equal(f.factor(), np.eye(3))


def test_values_that_are_wrong() -> None:
    nan = EYE.copy()
    nan[2, 0] = complex(0.0, np.nan)
    with pytest.raises(ValueError, match=re.escape("`a` is not finite at (2, 0)")):
        cu.Cholesky(nan)
    with pytest.raises(ValueError, match=re.escape("`a` is not finite at (0, 2)")):
        cu.Cholesky(nan.T, upper=True)
    with pytest.raises(ValueError, match=re.escape("`l` is not finite at (0, 2)")):
        cu.Cholesky.from_factor(nan.T, upper=True)
    with pytest.raises(ValueError, match=re.escape("`v` is not finite at (1, 0)")):
        c128.update([0, np.inf * 1j, 0])
    with pytest.raises(ValueError, match="`b`: the number of rows is 4, expected 3"):
        c128.solve(np.ones(4, complex))
    for upper in (False, True):
        with pytest.raises(ValueError, match="`a`: the number of columns is"):
            cu.Cholesky(ONES, upper=upper)


def test_a_scalar_is_a_matrix_of_order_one() -> None:
    for upper in (False, True):
        assert np.array_equal(cu.Cholesky(np.array(4.0 + 1.0j), upper=upper).factor(), [[2.0]])


def test_arrays_on_a_gpu(driver: Driver) -> None:
    given = put(driver, np.eye(3, dtype=complex))
    with pytest.raises(TypeError, match="`a` has dtype complex128, expected float32 or float64: complex numbers can be in host memory"):
        cu.Cholesky(given)
    with pytest.raises(TypeError, match="`v` is in the memory of a GPU, expected host memory: the factor has complex128"):
        c128.update(given)
    with pytest.raises(TypeError, match="`b` is in the memory of a GPU, expected host memory: the factor has complex128"):
        c128.solve(put(driver, np.ones(3)))
    with pytest.raises(TypeError, match="`v` has dtype complex128, but the factor has float64"):
        cu.Cholesky(spd(3), engine="cuda").update(given)
