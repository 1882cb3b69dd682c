"""`cholupdate.scipy.cholesky_update`, by the cases of SciPy's proposal 16499 and against `scipy.linalg.cholesky`."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import cholesky, hilbert

from cholupdate.scipy import cholesky_update
from problems import Array, spd

A = np.array([[8.0, 2.0, 3.0], [2.0, 9.0, 3.0], [3.0, 3.0, 6.0]])
Z1 = np.array([1.0, 2.0, 0.5])
Z2 = np.array([[1.0, 0.3], [2.0, -1.0], [0.5, 0.7]])


def of(a: Array, lower: bool) -> Array:
    return np.asarray(cholesky(a, lower=lower))


def product(z: Array) -> Array:
    z = z.reshape(z.shape[0], -1)
    return np.asarray(z @ z.T)


def test_the_signature_of_the_proposal() -> None:
    assert str(inspect.signature(cholesky_update)).split(" ->")[0] == (
        "(R: 'ArrayLike', z: 'ArrayLike', downdate: 'bool' = False, lower: 'bool' = False, "
        "overwrite_rz: 'bool' = False, check_finite: 'bool' = True)"
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("z", [Z1, Z1[:, None], Z2], ids=["vector", "column", "columns"])
class TestSmall:
    def test_update(self, dtype: Any, lower: bool, z: Array) -> None:
        new = cholesky_update(of(A, lower).astype(dtype), z.astype(dtype), lower=lower)
        assert new.dtype == dtype
        assert_allclose(new, of(A + product(z), lower), rtol=20 * np.finfo(dtype).eps, atol=1e-6 if dtype == np.float32 else 1e-15)

    def test_downdate(self, dtype: Any, lower: bool, z: Array) -> None:
        r = of(A + product(z), lower).astype(dtype)
        new = cholesky_update(r, z.astype(dtype), downdate=True, lower=lower)
        assert_allclose(new, of(A, lower), rtol=100 * np.finfo(dtype).eps, atol=1e-6 if dtype == np.float32 else 1e-14)

    def test_list_input(self, dtype: Any, lower: bool, z: Array) -> None:
        r = of(A, lower)
        assert_array_equal(cholesky_update(r.tolist(), z.tolist(), lower=lower), cholesky_update(r, z, lower=lower))

    def test_not_contiguous(self, dtype: Any, lower: bool, z: Array) -> None:
        r = of(A, lower).astype(dtype)
        z = z.astype(dtype)
        wide_r, wide_z = np.zeros((6, 9), dtype), np.zeros((9, *z.shape[1:]), dtype)
        wide_r[::2, ::3], wide_z[::3] = r, z
        wanted = cholesky_update(r, z, lower=lower)
        assert_array_equal(cholesky_update(wide_r[::2, ::3], wide_z[::3], lower=lower), wanted)
        assert_array_equal(cholesky_update(np.asfortranarray(r), np.asfortranarray(z), lower=lower), wanted)
        assert_array_equal(cholesky_update(r[::-1][::-1], z[::-1][::-1], lower=lower), wanted)

    def test_overwrite(self, dtype: Any, lower: bool, z: Array) -> None:
        for order in ("C", "F"):
            r, z0 = np.array(of(A, lower).astype(dtype), order=order), z.astype(dtype)
            kept_r, kept_z = r.copy(), z0.copy()
            wanted = cholesky_update(r, z0, lower=lower)
            assert_array_equal(r, kept_r)
            new = cholesky_update(r, z0, lower=lower, overwrite_rz=True)
            assert new is r
            assert_allclose(r, wanted, rtol=4 * np.finfo(dtype).eps)
            assert_array_equal(z0, kept_z)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("n", [1, 2, 33, 150])
@pytest.mark.parametrize("k", [1, 4, 40])
def test_there_and_back_at_random(lower: bool, n: int, k: int) -> None:
    random = np.random.default_rng(1234)
    a, z = spd(n, seed=n), random.standard_normal((n, k))
    r = of(a, lower)
    up = cholesky_update(r, z, lower=lower)
    assert_allclose(up, of(a + z @ z.T, lower), rtol=1e-9, atol=1e-11)
    assert_allclose(cholesky_update(up, z, downdate=True, lower=lower), r, rtol=1e-7, atol=1e-9)


def test_the_other_triangle_is_not_read() -> None:
    r = of(A, lower=False)
    garbage = r + np.tril(np.full((3, 3), np.nan), -1)
    assert_array_equal(cholesky_update(garbage, Z1), cholesky_update(r, Z1))


def test_the_diagonal_becomes_positive() -> None:
    r = of(A, lower=False) * np.array([[1.0], [-1.0], [-1.0]])
    assert_allclose(cholesky_update(r, Z1), of(A + np.outer(Z1, Z1), lower=False), rtol=1e-14)


def test_finiteness() -> None:
    r = of(A, lower=False)
    for bad in (np.nan, np.inf):
        broken = r.copy()
        broken[0, 1] = bad
        with pytest.raises(ValueError, match="`R` is not finite"):
            cholesky_update(broken, Z1)
        with pytest.raises(ValueError, match="`z` is not finite"):
            cholesky_update(r, Z1 * bad)
        # Without the check the result is undefined, and not tested.
        cholesky_update(broken, np.array([0.0, 0.0, 0.0]), check_finite=False)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_downdate_to_something_indefinite_raises(lower: bool, overwrite: bool) -> None:
    r = of(A, lower)
    before = r.copy()
    for z in (10 * Z1, 10 * Z2, of(A, True)[:, 0]):
        with pytest.raises(np.linalg.LinAlgError):
            cholesky_update(r, z, downdate=True, lower=lower, overwrite_rz=overwrite)
        assert_array_equal(r, before)


def test_nothing_is_subtracted_from_a_singular_matrix() -> None:
    r = np.diag([1.0, 0.0, 1.0])
    for overwrite in (False, True):
        with pytest.raises(np.linalg.LinAlgError, match="singular"):
            cholesky_update(r, 0.1 * Z1, downdate=True, overwrite_rz=overwrite)
    assert_array_equal(r, np.diag([1.0, 0.0, 1.0]))
    new = cholesky_update(r, Z1)
    assert_allclose(new.T @ new, r + np.outer(Z1, Z1), atol=1e-15)


def test_shapes_that_do_not_go_together_raise() -> None:
    r = of(A, lower=False)
    for z in (np.ones(2), np.ones(4), np.ones((2, 3)), np.ones((1, 2, 1))):
        with pytest.raises(ValueError, match="`z`"):
            cholesky_update(r, z)
    for bad in (np.ones((3, 2)), np.ones(3), np.ones((3, 3, 1))):
        with pytest.raises(ValueError, match="`R`"):
            cholesky_update(bad, Z1)


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(TypeError, match="`R` has dtype complex128"):
        cholesky_update(A.astype(complex), Z1)
    with pytest.raises(TypeError, match="`z` has dtype complex128"):
        cholesky_update(of(A, False), Z1.astype(complex))


def test_an_ill_conditioned_factor() -> None:
    r = of(hilbert(9) + 1e-9 * np.eye(9), lower=False)
    z = r.T @ np.full(9, 0.3)
    new = cholesky_update(r, z, downdate=True)
    back = cholesky_update(new, z)
    assert_allclose(back.T @ back, r.T @ r, atol=1e-14)


def test_an_empty_factor() -> None:
    assert cholesky_update(np.zeros((0, 0)), np.zeros(0)).shape == (0, 0)
