"""hyhound's rank-k update and downdate of a lower factor, on one thread.

    pip install hyhound numpy
    python3 benches/support/hyhound_update.py 4096,8192 1,16,64,256

Prints the median time of a call that works in place, less the interpreter's overhead of a call (the time at order 1), and its
residual in one row. Appends the same to the file that CHOLUPDATE_BENCH_CSV names, after the lines of
`cargo bench -p cholupdate-bench --bench modify`.
"""

import os
import statistics
import sys
import time

import hyhound
import numpy as np

VERBS = {"update": hyhound.update_cholesky_inplace, "downdate": hyhound.downdate_cholesky_inplace}


def measure(name, factor, v, seconds):
    """Median seconds of a call, and the new factor after the last call."""
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 8 or time.perf_counter() < end:
        new, w = factor.copy(order="F"), v.copy(order="F")
        start = time.perf_counter()
        VERBS[name](new, w)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:]), np.tril(new)


def main(orders="256,1024,4096", ranks="1,16,64", seconds="1", types="f64"):
    csv = os.environ.get("CHOLUPDATE_BENCH_CSV")
    rng = np.random.default_rng(1)
    for scalar in types.split(","):
        dtype = {"f32": np.float32, "f64": np.float64}[scalar]
        one = np.ones((1, 1), dtype, order="F")
        interpreter, _ = measure("update", one, one, float(seconds))
        for n in map(int, orders.split(",")):
            factor = np.tril(rng.uniform(-0.5, 0.5, (n, n)) / np.sqrt(n), -1) + np.eye(n)
            factor = np.asfortranarray(factor, dtype)
            for k in map(int, ranks.split(",")):
                v = np.asfortranarray(rng.uniform(-1, 1, (n, k)) / np.sqrt(k), dtype)
                for name, sign in (("update", 1), ("downdate", -1)):
                    # A downdate takes an update back.
                    old = factor if sign > 0 else measure("update", factor, v, 0)[1]
                    median, new = measure(name, np.asfortranarray(old), v, float(seconds))
                    median -= interpreter
                    row = n - 1
                    wanted = old @ old[row] + sign * (v @ v[row])
                    residual = np.abs(new @ new[row] - wanted).max() / np.abs(wanted).max()
                    print(f"{scalar} n {n} k {k} {name} hyhound {1e6 * median:.4g} us, residual {residual:.1e}", flush=True)
                    if csv:
                        with open(csv, "a") as file:
                            file.write(f"hyhound,1,{scalar},{n},{k},{name},{median:.4e},,{residual:.4e}\n")


main(*sys.argv[1:])
