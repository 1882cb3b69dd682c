"""hyhound's rank-k update and downdate of a lower factor in place, on one thread.

    pip install hyhound numpy

A time is that of a call from Python, less that of a call at order 1, which is the interpreter's. With `CHOLUPDATE_ISA=avx2` it is that of
hyhound's module for AVX2.
"""

import importlib
import os
from importlib.metadata import version

import numpy as np

from peer import Method, sampled, serve

hyhound = importlib.import_module("hyhound._hyhound_avx2" if os.environ.get("CHOLUPDATE_ISA") == "avx2" else "hyhound")


class Hyhound(Method):
    def __init__(self, scalar, n, k):
        dtype = {"f32": np.float32, "f64": np.float64}[scalar]
        rng = np.random.default_rng(n)
        factor = np.tril(rng.uniform(-0.5, 0.5, (n, n)) / np.sqrt(n), -1) + np.eye(n)
        self.l = np.asfortranarray(factor, dtype)
        self.v = np.asfortranarray(rng.uniform(-1, 1, (n, k)) / np.sqrt(k), dtype)
        self.w = self.v.copy(order="F")
        self.rows = sampled(n)
        old = self.rows_of(self.l)
        v = self.v.astype(float)
        self.wanted = [old + v[self.rows] @ v.T, old]
        self.smallest = Hyhound(scalar, 1, 1) if n > 1 else None

    def rows_of(self, l):
        # Without a copy of a large factor: what is above the diagonal is zero, here and after a call.
        return l[self.rows].astype(float) @ l.T

    def prepare(self, turn):
        np.copyto(self.w, self.v)

    def run(self, turn):
        (hyhound.update_cholesky_inplace, hyhound.downdate_cholesky_inplace)[turn](self.l, self.w)

    def time(self, turn):
        """Less the time of a call at order 1, immediately before: that of the interpreter."""
        interpreter = self.smallest.time(turn) if self.smallest else 0.0
        return super().time(turn) - interpreter

    def residual(self, turn):
        return np.abs(self.rows_of(self.l) - self.wanted[turn]).max() / np.abs(self.wanted[turn]).max()


serve(f"hyhound {version('hyhound')}, NumPy {np.__version__}", {"update": Hyhound})
