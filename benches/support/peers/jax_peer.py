"""JAX's `cholesky_update` on a GPU: of an upper factor, rank 1, update only."""

import os

# The device's memory is shared with the benchmark.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.3")

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np
from jax.lax.linalg import cholesky_update

from peer import Method, sampled, serve

update = jax.jit(cholesky_update)


class Update(Method):
    releases = True

    def __init__(self, scalar, n, k):
        if k != 1:
            raise ValueError("only rank 1")
        dtype = {"f32": "float32", "f64": "float64"}[scalar]
        self.rows = np.array(sampled(n))
        self.r = jnp.eye(n, dtype=dtype)
        self.v = jnp.asarray(np.random.default_rng(n).uniform(-1, 1, n) / n**0.5, dtype)
        v = np.asarray(self.v, float)
        self.wanted = np.outer(v[self.rows], v)
        self.wanted[np.arange(len(self.rows)), self.rows] += 1
        # Compiles it.
        update(self.r, self.v).block_until_ready()
        self.new = None

    def has(self, turn):
        return turn == 0

    def release(self):
        self.new = None

    def prepare(self, turn):
        self.release()

    def run(self, turn):
        self.new = update(self.r, self.v).block_until_ready()

    def residual(self, turn):
        rows = self.new[:, self.rows].T.astype("float64") @ self.new.astype("float64")
        return float(np.abs(np.asarray(rows) - self.wanted).max() / np.abs(self.wanted).max())


serve(f"JAX {jax.__version__} on {jax.devices()[0].device_kind}", {"update": Update})
