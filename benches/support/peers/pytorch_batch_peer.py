"""PyTorch's batched Cholesky factorization and solve on a GPU.

`again`: A ± V V' is formed and factored (`baddbmm`, `cholesky_ex`), and a system is solved (`cholesky_solve`). `ready`: A is factored
alone. The number of matrices is the benchmark's: as many as have lower triangles of 512 MiB, or that of the method's name.
"""

import torch

from peer import Method, serve

DTYPES = {"f32": torch.float32, "f64": torch.float64}
BYTES = 512 << 20
COUNTS = (8192, 4096, 1024, 256, 64, 16)


class Again(Method):
    turns = 3
    releases = True
    matrices = None

    def __init__(self, scalar, n, k):
        torch.manual_seed(n)
        dtype = DTYPES[scalar]
        size = torch.tensor([], dtype=dtype).element_size()
        count = self.matrices or max(BYTES // (n * (n + 1) // 2 * size), 1)
        self.a = torch.eye(n, dtype=dtype, device="cuda").mul_(4).expand(count, n, n).contiguous()
        self.v = (2 * torch.rand((count, n, k), dtype=dtype, device="cuda") - 1) / (n * k) ** 0.5
        self.b = torch.rand((count, n, 1), dtype=dtype, device="cuda")
        self.l = self.x = None

    def prepare(self, turn):
        if turn == 2 and self.l is None:
            self.l = torch.linalg.cholesky_ex(self.a)[0]
        torch.cuda.synchronize()

    def run(self, turn):
        if turn == 2:
            self.x = torch.cholesky_solve(self.b, self.l)
        else:
            # The downdate of the sum would be as long.
            sign = 1 if turn == 0 else -1
            self.l = torch.linalg.cholesky_ex(torch.baddbmm(self.a, self.v, self.v.mT, alpha=sign))[0]
        torch.cuda.synchronize()

    def residual(self, turn):
        if turn == 2:
            wanted, found = self.b[:8], self.l[:8] @ (self.l[:8].mT @ self.x[:8])
        else:
            v = self.v[:8].double()
            wanted = self.a[:8].double() + (1 if turn == 0 else -1) * v @ v.mT
            found = self.l[:8].double() @ self.l[:8].double().mT
        return float((found - wanted).abs().max() / wanted.abs().max())

    def release(self):
        self.l = self.x = None
        torch.cuda.empty_cache()


class Ready(Again):
    turns = 1

    def run(self, turn):
        self.l = torch.linalg.cholesky_ex(self.a)[0]
        torch.cuda.synchronize()

    def residual(self, turn):
        found = self.l[:8].double() @ self.l[:8].double().mT
        return float((found - self.a[:8]).abs().max() / 4)


def of(kind, count):
    """The same with this number of matrices."""
    return type(f"{kind.__name__}{count}", (kind,), {"matrices": count})


def main():
    if not torch.cuda.is_available():
        raise SystemExit("PyTorch finds no device")
    torch.backends.cuda.matmul.allow_tf32 = False
    # Handles and kernels are loaded before the first timed call.
    for scalar in DTYPES:
        method = of(Again, 8192)(scalar, 8, 1)
        for turn in range(3):
            method.time(turn)
    versions = f"PyTorch {torch.__version__} with CUDA {torch.version.cuda}"
    methods = {"again": Again, "ready": Ready}
    counted = {f"{name}_{count}": of(kind, count) for name, kind in methods.items() for count in COUNTS}
    serve(versions, methods | counted)


main()
