"""Rank-k updates and downdates of Cholesky factors.

Given A = L Lᵀ and V (n × k), `Cholesky` replaces L by the factor of A + V Vᵀ, A − V Vᵀ or A + V diag(w) Vᵀ in O(k n²)
operations; factoring again takes O(n³). Insertion, removal and moves of rows and columns of A have a similar cost. An impossible
change raises `NotPositiveDefiniteError`, and leaves the factor as it was.

>>> import numpy as np
>>> import cholupdate as cu
>>> f = cu.Cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
>>> report = f.update(np.array([1.0, 2.0]))
>>> f.solve(np.array([9.0, 13.0])).round(12)
array([1., 1.])

`Ldlt` does so with the factor of a symmetric or Hermitian indefinite matrix, A = L S Lᵀ with S = diag(±1), and keeps its inertia.
`CholeskyBatch` modifies many small factors side by side. `cholesky_update` does the same for arrays, also for stacks of matrices; the
one in `cholupdate.scipy` has SciPy's arguments.
"""

import os as _os

from . import scipy
from ._cholupdate import (
    BatchOutcome,
    BatchStatus,
    Carried,
    Cholesky,
    CholeskyBatch,
    DeviceArray,
    Extension,
    Ldlt,
    LdltExtension,
    LdltModification,
    Modification,
    Pending,
    __version__,
    cholesky_update,
    cholesky_update_jvp,
    cholesky_update_vjp,
    keep_awake,
)
from ._cholupdate import forked as _forked
from ._errors import (
    DeviceError,
    InertiaError,
    NotPositiveDefiniteError,
    PoisonedError,
    SignError,
    SingularError,
    UnstableError,
)

__all__ = [
    "BatchOutcome",
    "BatchStatus",
    "Carried",
    "Cholesky",
    "CholeskyBatch",
    "DeviceArray",
    "DeviceError",
    "Extension",
    "InertiaError",
    "Ldlt",
    "LdltExtension",
    "LdltModification",
    "Modification",
    "NotPositiveDefiniteError",
    "Pending",
    "PoisonedError",
    "SignError",
    "SingularError",
    "UnstableError",
    "__version__",
    "cholesky_update",
    "cholesky_update_jvp",
    "cholesky_update_vjp",
    "keep_awake",
    "scipy",
]

if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_forked)
