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


class Loop(Hyhound):
    """As many factors as fill a second-level cache, one after the other, as in `benches/batch.rs`. Less the same at order 1."""

    def __init__(self, scalar, n, k, count=None):
        super().__init__(scalar, n, k)
        count = count or max((384 << 10) // (n * (n + 1) // 2 * self.l.itemsize), 1)
        self.factors = [self.l.copy(order="F") for _ in range(count)]
        self.columns = [self.v.copy(order="F") for _ in range(count)]
        self.smallest = Loop(scalar, 1, 1, count) if n > 1 else None

    def prepare(self, turn):
        for w in self.columns:
            np.copyto(w, self.v)

    def run(self, turn):
        modify = (hyhound.update_cholesky_inplace, hyhound.downdate_cholesky_inplace)[turn]
        for l, w in zip(self.factors, self.columns):
            modify(l, w)

    def residual(self, turn):
        self.l = self.factors[-1]
        return super().residual(turn)


serve(f"hyhound {version('hyhound')}, NumPy {np.__version__}", {"update": Hyhound, "loop": Loop})
