"""The result types of the stubs, for type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import cholupdate as cu

if TYPE_CHECKING:
    from typing_extensions import assert_type


class Tensor:
    """An array of another library, which NumPy can have as well."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return self.array

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any:
        return self.array.__dlpack__(stream=stream, max_version=max_version)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return Tensor

    @staticmethod
    def from_dlpack(x: Any) -> Tensor:
        return Tensor(np.from_dlpack(x))


def test_solutions_are_of_the_library_of_what_was_given() -> None:
    f = cu.Cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    b = np.array([[8.0], [12.0]])
    for solve in (f.solve, f.solve_l, f.solve_lt, f.submit([0.0, 0.0]).solve, f.multiply, f.multiply_l, f.multiply_lt):
        x = solve(Tensor(b))
        if TYPE_CHECKING:
            assert_type(x, Tensor)
            assert_type(solve(b), NDArray[Any])
            assert_type(solve([8.0, 12.0]), NDArray[Any])
        assert type(x) is Tensor and type(solve(b)) is np.ndarray and type(solve([8.0, 12.0])) is np.ndarray
        assert np.array_equal(x.array, solve(b)) and np.array_equal(b, [[8.0], [12.0]])
    extension = f.extension([0.0, 0.0], 1.0)
    y = extension.solve(Tensor(np.ones(3)))
    assert type(y) is Tensor and np.array_equal(y.array, extension.solve(np.ones(3)))


def test_so_are_factors_made_from_them() -> None:
    l = np.array([[2.0, 0.0], [1.0, 2.0]])
    new = cu.cholesky_update(Tensor(l), [1.0, 2.0])
    if TYPE_CHECKING:
        assert_type(new, Tensor)
        assert_type(cu.cholesky_update(l, [1.0, 2.0]), NDArray[Any])
        assert_type(cu.cholesky_update([[2.0]], [1.0]), NDArray[Any])
    assert type(new) is Tensor and np.array_equal(new.array, cu.cholesky_update(l, [1.0, 2.0]))


def test_a_tensor_in_host_memory_is_overwritten() -> None:
    l = np.array([[2.0, 0.0], [1.0, 2.0]], order="F")
    wanted = cu.cholesky_update(l, [1.0, 2.0])
    tensor = Tensor(l)
    assert cu.cholesky_update(tensor, [1.0, 2.0], overwrite_l=True) is tensor
    assert np.array_equal(np.tril(l), wanted)
