"""Refactorization by cuSOLVER, copies included: L is copied up, A' = L L' + V V' is formed and factored, L' is copied back.

    python3 benches/support/refactor.py 8192,16384 1,16 f64

Needs PyTorch with CUDA. Prints median milliseconds of the whole and of its parts.
"""

import statistics
import sys
import time

import torch


def main(orders="4096,8192,16384,32768", ranks="16", types="f64"):
    torch.backends.cuda.preferred_linalg_library("cusolver")
    for name in types.split(","):
        dtype = {"f32": torch.float32, "f64": torch.float64}[name]
        for n in map(int, orders.split(",")):
            host = torch.empty((n, n), dtype=dtype, pin_memory=True)
            home = torch.empty((n, n), dtype=dtype, pin_memory=True)
            host.copy_(torch.eye(n, dtype=dtype))
            for k in map(int, ranks.split(",")):
                v = torch.rand((n, k), dtype=dtype).pin_memory()
                times = []
                for _ in range(4):
                    torch.cuda.synchronize()
                    marks = [time.perf_counter()]

                    def mark():
                        torch.cuda.synchronize()
                        marks.append(time.perf_counter())

                    l = host.cuda(non_blocking=True)
                    w = v.cuda(non_blocking=True)
                    mark()
                    a = l @ l.T
                    a.addmm_(w, w.T)
                    mark()
                    l = torch.linalg.cholesky(a)
                    mark()
                    home.copy_(l, non_blocking=True)
                    mark()
                    times.append([b - a for a, b in zip(marks, marks[1:])])
                    del l, w, a
                parts = [1e3 * statistics.median(part) for part in zip(*times[1:])]
                print(f"{name} n {n} k {k} refactor {sum(parts):.2f} ms: up {parts[0]:.2f}, form {parts[1]:.2f}, "
                      f"potrf {parts[2]:.2f}, down {parts[3]:.2f}", flush=True)


main(*sys.argv[1:])
