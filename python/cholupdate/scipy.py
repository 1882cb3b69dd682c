"""`cholesky_update` with the arguments that were proposed for SciPy (scipy/scipy#16499)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._cholupdate import scipy_cholesky_update

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["cholesky_update"]


def cholesky_update(
    R: ArrayLike,
    z: ArrayLike,
    downdate: bool = False,
    lower: bool = False,
    overwrite_rz: bool = False,
    check_finite: bool = True,
) -> NDArray[Any]:
    """Computes the Cholesky factor of A + z zᵀ or A − z zᵀ from that of A.

    Both arguments may have leading dimensions, which are broadcast as in `cholupdate.cholesky_update`.

    Parameters
    ----------
    R : (N, N) array_like
        The triangular factor: A = Rᵀ R, or with `lower` A = R Rᵀ. The other triangle is not read. Real, float32 or float64.
    z : (N,) or (N, K) array_like
        The update: a vector, or K of them as columns.
    downdate : bool, optional
        Subtract z zᵀ instead of adding it.
    lower : bool, optional
        Whether `R` is lower triangular.
    overwrite_rz : bool, optional
        Whether `R` may be overwritten. If possible, the result is then stored in `R`, and `R` is returned. `z` is never
        overwritten.
    check_finite : bool, optional
        Whether to check `R` for infinities and NaNs. `z` is always checked.

    Returns
    -------
    R1 : (N, N) ndarray
        The new factor, with a positive diagonal. In a new array the other triangle is zero.

    Raises
    ------
    numpy.linalg.LinAlgError
        A − z zᵀ is not positive definite, or A is singular. `R` is as it was.
    ValueError
        Shapes do not match, or there is a NaN or an infinity.

    Examples
    --------
    >>> import numpy as np
    >>> from cholupdate.scipy import cholesky_update
    >>> R = np.array([[2.0, 1.0], [0.0, 2.0]])           # of [[4, 2], [2, 5]]
    >>> R1 = cholesky_update(R, [1.0, 2.0])
    >>> (R1.T @ R1).round(12)
    array([[5., 4.],
           [4., 9.]])
    >>> np.allclose(cholesky_update(R1, [1.0, 2.0], downdate=True), R)
    True
    """
    return scipy_cholesky_update(R, z, downdate, lower, overwrite_rz, check_finite)
