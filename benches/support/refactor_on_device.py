"""The alternatives to the resident engine, with all data on the device.

    python3 benches/support/refactor_on_device.py 8192,16384 16 f64

Refactorization by PyTorch (A + V V' is formed, and factored by cuSOLVER), and JAX's `cholesky_update`, rank 1, update
only, where JAX is installed. Prints median milliseconds.
"""

import sys

import torch

from on_device import median


def main(orders="1024,2048,4096,8192,16384,32768", ranks="16", types="f64,f32"):
    torch.backends.cuda.preferred_linalg_library("cusolver")
    for name in types.split(","):
        dtype = {"f32": torch.float32, "f64": torch.float64}[name]
        for n in map(int, orders.split(",")):
            a = torch.eye(n, dtype=dtype, device="cuda") * 4
            for k in map(int, ranks.split(",")):
                v = torch.rand((n, k), dtype=dtype, device="cuda") / n
                refactor = median(lambda: torch.linalg.cholesky(a.addmm_(v, v.T)), torch.cuda.synchronize)
                print(f"{name} n {n} k {k} refactor {refactor:.3f} ms", flush=True)
            del a
    try:
        import jax
    except ImportError:
        return
    jax.config.update("jax_enable_x64", True)
    from jax.lax.linalg import cholesky_update
    for name in types.split(","):
        for n in map(int, orders.split(",")):
            dtype = {"f32": "float32", "f64": "float64"}[name]
            r = jax.numpy.eye(n, dtype=dtype)
            v = jax.numpy.ones((n,), dtype=dtype) / n
            update = jax.jit(cholesky_update)
            time_ms = median(lambda: update(r, v).block_until_ready(), lambda: None)
            print(f"{name} n {n} k 1 JAX cholesky_update {time_ms:.3f} ms", flush=True)


main(*sys.argv[1:])
