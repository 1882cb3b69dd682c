"""hyhound's rank-k update of a lower factor, on one thread.

    pip install hyhound numpy
    python3 benches/support/hyhound_update.py 4096,8192 1,16,64,256

Prints the median time of a call that works in place, and its residual in one row. Adds the same to the file that
CHOLUPDATE_BENCH_CSV names, behind what `cargo bench -p cholupdate-bench --bench modify` has written there.
"""

import os
import statistics
import sys
import time

import hyhound
import numpy as np


def main(orders="256,1024,4096", ranks="1,16,64", seconds="1"):
    csv = os.environ.get("CHOLUPDATE_BENCH_CSV")
    rng = np.random.default_rng(1)
    for n in map(int, orders.split(",")):
        factor = np.asfortranarray(np.tril(rng.uniform(-0.5, 0.5, (n, n)) / np.sqrt(n), -1) + np.eye(n))
        for k in map(int, ranks.split(",")):
            v = np.asfortranarray(rng.uniform(-1, 1, (n, k)) / np.sqrt(k))
            times = []
            end = time.perf_counter() + float(seconds)
            while len(times) < 8 or time.perf_counter() < end:
                new, w = factor.copy(order="F"), v.copy(order="F")
                start = time.perf_counter()
                hyhound.update_cholesky_inplace(new, w)
                times.append(time.perf_counter() - start)
            row = n - 1
            new = np.tril(new)
            wanted = factor @ factor[row] + v @ v[row]
            residual = np.abs(new @ new[row] - wanted).max() / np.abs(wanted).max()
            median = statistics.median(times[1:])
            print(f"f64 n {n} k {k} hyhound {1e3 * median:.3g} ms, residual {residual:.1e}", flush=True)
            if csv:
                with open(csv, "a") as file:
                    file.write(f"hyhound,1,f64,{n},{k},update,{median:.4e},,{residual:.4e}\n")


main(*sys.argv[1:])
