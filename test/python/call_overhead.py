"""Measures what a call of a small product costs: python3 call_overhead.py

The product is as small as it can be, 1 x 64 by 64 x 48, so that the time is the
call's own. Each figure is the least of many short batches: on a busy machine the
others hold what other programs took.
"""

import json
import sys
import time

import numpy as np


def least_microseconds(call, batches=300, calls=50):
    times = []
    for _ in range(batches):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append(time.perf_counter() - start)
    return min(times) / calls * 1e6


def measure():
    """Microseconds of a call, by how it is made."""
    import nm
    rng = np.random.default_rng(0)
    weight = nm.prune(rng.standard_normal((64, 48), np.float32), "2:4").weight
    w = nm.compress(weight, "2:4")
    x = rng.standard_normal((1, 64), np.float32)
    out = np.empty((1, 48), np.float32)
    prepared = nm.prepare(x, w)
    return {
        "nm.matmul(x, w)": least_microseconds(lambda: nm.matmul(x, w)),
        "nm.matmul(x, w, out=out)": least_microseconds(
            lambda: nm.matmul(x, w, out=out)),
        "prepared(x)": least_microseconds(lambda: prepared(x)),
        "prepared(x, out)": least_microseconds(lambda: prepared(x, out)),
        "x @ weight, NumPy": least_microseconds(lambda: x @ weight),
    }


if __name__ == "__main__":
    measured = measure()
    if "--json" in sys.argv:
        print(json.dumps(measured))
    else:
        for name, microseconds in measured.items():
            print(f"{name:<26} {microseconds:6.2f} us")
