"""The timer of the scripts that measure PyTorch and JAX on a device."""

import statistics
import time


def median(call, wait, repetitions=5):
    """Median milliseconds of a call and the wait for its work."""
    times = []
    for _ in range(repetitions + 1):
        wait()
        start = time.perf_counter()
        call()
        wait()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times[1:])
