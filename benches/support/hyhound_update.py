"""hyhound's rank-k update of a lower factor, on one thread.

    pip install hyhound numpy
    python3 benches/support/hyhound_update.py 4096,8192 1,16,64,256

Prints the median milliseconds of a call that works in place, and its residual in one row.
"""

import statistics
import sys
import time

import hyhound
import numpy as np


def main(orders="256,1024,4096", ranks="1,16,64", samples="7"):
    rng = np.random.default_rng(1)
    for n in map(int, orders.split(",")):
        factor = np.asfortranarray(np.tril(rng.uniform(-0.5, 0.5, (n, n)) / np.sqrt(n), -1) + np.eye(n))
        for k in map(int, ranks.split(",")):
            v = np.asfortranarray(rng.uniform(-1, 1, (n, k)) / np.sqrt(k))
            times = []
            for _ in range(int(samples) + 1):
                new, w = factor.copy(order="F"), v.copy(order="F")
                start = time.perf_counter()
                hyhound.update_cholesky_inplace(new, w)
                times.append(time.perf_counter() - start)
            row = n - 1
            new = np.tril(new)
            wanted = factor @ factor[row] + v @ v[row]
            residual = np.abs(new @ new[row] - wanted).max() / np.abs(wanted).max()
            print(f"f64 n {n} k {k} hyhound {1e3 * statistics.median(times[1:]):.3f} ms, residual {residual:.1e}", flush=True)


main(*sys.argv[1:])
