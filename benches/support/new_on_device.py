"""A factor of a tensor on the device, against PyTorch's own factorization there.

    python3 benches/support/new_on_device.py 512,2048,8192,16384 f64

Prints median milliseconds of `torch.linalg.cholesky` (cuSOLVER's potrf, with a copy of A and zeros above the diagonal), of
`cholupdate.Cholesky` of the same tensor, of its `factor()`, and the residual of that, in units of rounding.
"""

import sys

import torch

import cholupdate as cu
from on_device import median


def main(orders="512,2048,8192,16384", types="f64,f32"):
    torch.backends.cuda.preferred_linalg_library("cusolver")
    for name in types.split(","):
        dtype = {"f32": torch.float32, "f64": torch.float64}[name]
        for n in map(int, orders.split(",")):
            a = torch.rand((n, n), dtype=dtype, device="cuda") / n
            a = a + a.T + 4 * torch.eye(n, dtype=dtype, device="cuda")
            wait = torch.cuda.synchronize
            potrf = median(lambda: torch.linalg.cholesky_ex(a), wait)
            new = median(lambda: cu.Cholesky(a, engine="cuda"), wait)
            by_columns = a.T.contiguous().T
            there = median(lambda: cu.Cholesky(by_columns, engine="cuda"), wait)
            f = cu.Cholesky(a, engine="cuda")
            copied = median(f.factor, wait)
            l = f.factor()
            assert l.device == a.device and type(l) is type(a)
            residual = float((l @ l.T - a).abs().max()) / 4 / torch.finfo(dtype).eps * 2
            print(
                f"{name} n {n} torch {potrf:.3f} ms new {new:.3f} ms, of columns {there:.3f} ms "
                f"= {new / potrf:.2f}, {there / potrf:.2f} x, factor {copied:.3f} ms, residual {residual:.1f} u",
                flush=True,
            )


main(*sys.argv[1:])
