"""Refactorizing and solves by PyTorch (cuSOLVER) on a GPU, and the copies to it and back.

`device`: A is on the device; A ± V V' is formed and factored there. `link`: L and V are in page-locked host memory; they are
copied to the device, L L' ± V V' is formed and factored, and the new L is copied back. `solve`: `cholesky_solve` with K
right-hand sides, all on the device.
"""

import torch

from peer import Method, sampled, serve

DTYPES = {"f32": torch.float32, "f64": torch.float64}


def difference(rows, wanted):
    return float((rows - wanted).abs().max() / wanted.abs().max())


def rows_of(l, rows):
    """Rows of L L', in double precision, without a copy of L in that. Above the diagonal are zeros."""
    part = l[rows].double()
    return torch.cat([part @ block.double().T for block in l.split(4096)], 1)


warm = {}


def warm_up(method, n):
    """Two calls at a new order, so that the memory of the order before is free and that of this one is at hand."""
    if warm.get(type(method)) != n:
        warm[type(method)] = n
        torch.cuda.empty_cache()
        for turn in range(2):
            method.time(turn)
        method.release()


class OnDevice(Method):
    """A has 4 on its diagonal, as the benchmarks' own."""

    releases = True

    def __init__(self, scalar, n, k):
        torch.manual_seed(n)
        dtype = DTYPES[scalar]
        self.rows = sampled(n)
        self.v = (2 * torch.rand((n, k), dtype=dtype, device="cuda") - 1) / (n * k) ** 0.5
        self.a = torch.eye(n, dtype=dtype, device="cuda") * 4
        v = self.v.double()
        old = self.a[self.rows].double()
        self.wanted = [old + v[self.rows] @ v.T, old]
        self.l = None
        warm_up(self, n)

    def release(self):
        self.l = None

    def prepare(self, turn):
        self.release()
        torch.cuda.synchronize()

    def run(self, turn):
        self.l = torch.linalg.cholesky(self.a.addmm_(self.v, self.v.T, alpha=(1, -1)[turn]))
        torch.cuda.synchronize()

    def residual(self, turn):
        return difference(rows_of(self.l, self.rows), self.wanted[turn])


class OverLink(OnDevice):
    releases = False

    def __init__(self, scalar, n, k):
        torch.manual_seed(n)
        dtype = DTYPES[scalar]
        self.rows = sampled(n)
        self.v = ((2 * torch.rand((n, k), dtype=dtype) - 1) / (n * k) ** 0.5).pin_memory()
        self.l = host(n, dtype).zero_().fill_diagonal_(2)
        old = self.l[self.rows].double() * 2
        v = self.v.double()
        self.wanted = [old + v[self.rows] @ v.T, old]
        warm_up(self, n)

    def release(self):
        pass

    def prepare(self, turn):
        torch.cuda.synchronize()

    def run(self, turn):
        l = self.l.to("cuda", non_blocking=True)
        v = self.v.to("cuda", non_blocking=True)
        a = l @ l.T
        del l
        a.addmm_(v, v.T, alpha=(1, -1)[turn])
        self.l.copy_(torch.linalg.cholesky(a), non_blocking=True)
        torch.cuda.synchronize()


pinned = {}


def host(n, dtype):
    """Page-locked memory, which takes long to get: that of the last order is kept."""
    if (n, dtype) not in pinned:
        pinned.clear()
        pinned[n, dtype] = torch.empty((n, n), dtype=dtype, pin_memory=True)
    return pinned[n, dtype]


class Solve(Method):
    turns = 1

    def __init__(self, scalar, n, k):
        torch.manual_seed(n)
        dtype = DTYPES[scalar]
        l = torch.tril(torch.rand((n, n), dtype=dtype, device="cuda") / n)
        # By columns, as in LAPACK.
        self.l = l.add_(torch.eye(n, dtype=dtype, device="cuda")).T.contiguous().T
        self.b = torch.rand((k, n), dtype=dtype, device="cuda").T

    def prepare(self, turn):
        self.x = None
        torch.cuda.synchronize()

    def run(self, turn):
        self.x = torch.cholesky_solve(self.b, self.l)
        torch.cuda.synchronize()

    def residual(self, turn):
        b = self.b[:, :1]
        return difference(self.l @ (self.l.T @ self.x[:, :1]), b)


def main():
    if not torch.cuda.is_available():
        raise SystemExit("PyTorch finds no device")
    torch.backends.cuda.preferred_linalg_library("cusolver")
    torch.backends.cuda.matmul.allow_tf32 = False
    # Handles and kernels are loaded before the first timed call.
    for scalar in DTYPES:
        for method in (OnDevice, OverLink, Solve):
            method(scalar, 64, 2).time(0)
    versions = f"PyTorch {torch.__version__} with CUDA {torch.version.cuda}"
    serve(versions, {"device": OnDevice, "link": OverLink, "solve": Solve})


main()
