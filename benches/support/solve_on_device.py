"""Solves with a factor on the device by PyTorch: `cholesky_solve` (cuSOLVER) and `solve_triangular` (cuBLAS), both ways.

    python3 benches/support/solve_on_device.py 8192,16384 1,64 f64

Prints median milliseconds.
"""

import sys

import torch

from on_device import median


def main(orders="256,1024,4096,16384,32768", columns="1,4,16,64,256,1024", types="f64,f32"):
    torch.backends.cuda.preferred_linalg_library("cusolver")
    for name in types.split(","):
        dtype = {"f32": torch.float32, "f64": torch.float64}[name]
        for n in map(int, orders.split(",")):
            l = torch.tril(torch.rand((n, n), dtype=dtype, device="cuda") / n).add_(torch.eye(n, dtype=dtype, device="cuda"))
            # Column-major, as in LAPACK.
            l = l.T.contiguous().T
            for m in map(int, columns.split(",")):
                b = torch.rand((m, n), dtype=dtype, device="cuda").T
                solve = median(lambda: torch.cholesky_solve(b, l), torch.cuda.synchronize)
                both = median(
                    lambda: torch.linalg.solve_triangular(
                        l.T, torch.linalg.solve_triangular(l, b, upper=False), upper=True
                    ),
                    torch.cuda.synchronize,
                )
                print(f"{name} n {n} m {m} cholesky_solve {solve:.3f} ms, two solve_triangular {both:.3f} ms", flush=True)
            del l


main(*sys.argv[1:])
