"""A Cholesky factor whose rows are distributed over the processes of an MPI program.

Given A = L Lᵀ and V (n × k), `Distributed` replaces L by the factor of A + V Vᵀ, A − V Vᵀ or A + V diag(w) Vᵀ in O(k n²)
operations, of which each process does its part. An impossible change raises `NotPositiveDefiniteError` on all processes, and leaves
the factor as it was.

The methods are called by all processes together, in the same order, but for those that say otherwise. An error of one process is an
error of all: it raises its own exception, and the others one that names it.

The package calls the shared library libcholupdate_mpi, built for the MPI of mpi4py. It looks for it by the environment variable
``CHOLUPDATE_MPI_LIBRARY``, then next to its own files, then where the system has libraries.

>>> import numpy as np
>>> import cholupdate_mpi as cu
>>> n = 1000
>>> rows = cu.rows_of(n)                                # the rows of A of this process
>>> a = np.zeros((len(rows), n))
>>> a[np.arange(len(rows)), rows] = 2.0
>>> f = cu.Distributed(a)
>>> report = f.update(np.ones((n, 1)))                  # the same V on every process
>>> x = f.solve(np.ones(len(rows)))                     # rows of b, rows of x
"""

from ._errors import DifferentArgumentsError, NotPositiveDefiniteError, PoisonedError, SingularError
from ._factor import Distributed
from ._settings import Modification, rows_of

__all__ = [
    "DifferentArgumentsError",
    "Distributed",
    "Modification",
    "NotPositiveDefiniteError",
    "PoisonedError",
    "SingularError",
    "rows_of",
]
