"""Measures what a call of a small product costs:

    python3 call_overhead.py [numpy|torch|jax|layers] [--json]

`layers` are NMLinear, and nn.Linear and functional.linear of PyTorch, in f32 and bf16,
without gradients and with those of the weight and the bias, and so under autocast to bf16.

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


def array_of(library, array):
    if library == "torch":
        import torch
        return torch.from_numpy(array)
    if library == "jax":
        import jax
        return jax.numpy.asarray(array)
    return array


def measure_layers():
    """Microseconds of a call of a layer, by its type, of PyTorch and of nm."""
    import nm.torch
    import torch
    from torch.nn import functional
    measured = {}
    for dtype in (torch.float32, torch.bfloat16):
        dense = torch.nn.Linear(64, 48, dtype=dtype).eval()
        sparse = nm.torch.NMLinear.from_dense(dense, "2:4", prune_weight=True).eval()
        x = torch.randn(1, 64, dtype=dtype)
        name = str(dtype).rpartition(".")[2]
        for way in ("", ", gradients", ", autocast", ", autocast, gradients"):
            with torch.set_grad_enabled("gradients" in way), torch.autocast(
                    "cpu", torch.bfloat16, enabled="autocast" in way):
                calls = {"F.linear": lambda x, of=dense: functional.linear(
                             x, of.weight, of.bias), "nn.Linear": dense, "NMLinear": sparse}
                for kind, microseconds in least_in_turns(calls, x).items():
                    measured[f"{kind}, {name}{way}"] = microseconds
    return measured


def least_in_turns(calls, x):
    """Microseconds of calls that take turns, as a machine's speed changes."""
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(30):
        for name, call in calls.items():
            least[name] = min(least[name], least_microseconds(lambda: call(x), 5))
    return least


def measure(library="numpy"):
    """Microseconds of a call, by how it is made."""
    if library == "layers":
        return measure_layers()
    import nm
    rng = np.random.default_rng(0)
    dense = nm.prune(rng.standard_normal((64, 48), np.float32), "2:4", axis=0).weight
    w, weight = nm.compress(dense, "2:4", axis=0), array_of(library, dense)
    x = array_of(library, rng.standard_normal((1, 64), np.float32))
    prepared = nm.prepare(x, w)
    calls = {"nm.matmul(x, w)": lambda: nm.matmul(x, w),
             "prepared(x)": lambda: prepared(x)}
    if library != "jax":  # whose arrays are immutable
        out = array_of(library, np.empty((1, 48), np.float32))
        calls["nm.matmul(x, w, out=out)"] = lambda: nm.matmul(x, w, out=out)
        calls["prepared(x, out)"] = lambda: prepared(x, out)
    calls[f"x @ weight, {library}"] = lambda: x @ weight
    return {name: least_microseconds(call) for name, call in calls.items()}


def main():
    libraries = [arg for arg in sys.argv[1:] if arg != "--json"]
    measured = measure(*libraries[:1])
    if "--json" in sys.argv:
        print(json.dumps(measured))
        return
    for name, microseconds in measured.items():
        print(f"{name:<26} {microseconds:6.2f} us")


if __name__ == "__main__":
    main()
