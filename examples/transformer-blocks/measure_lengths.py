"""Measures attention over keys of different lengths, by PyTorch with a mask and by one
shared object each: without a mask, with the mask as an argument, and with a mask that the
module computes from lengths, which loops end at.

usage: measure_lengths.py [--target cpu|cuda] [--csv FILE]

Operands are random, f32 on a CPU, where a time is the median of calls in turns, and f16 on a
GPU, where a time is the median of replayed CUDA graphs. The error is that of the lengths'
way beside PyTorch in f64.
"""

import argparse
import statistics
import time

import nm.torch
import torch
from measure_blocks import time_of, write_csv
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

# Batches, heads, heads of keys, rows, keys, size. Lengths rise from a step to `keys`
# divided by the last number.
CASES = {"cpu": [(8, 12, 12, 512, 512, 64, 1), (8, 12, 12, 1, 4096, 64, 2)],
         "cuda": [(24, 16, 16, 128, 128, 64, 1), (8, 16, 16, 512, 512, 64, 1),
                  (8, 32, 8, 2048, 2048, 128, 1), (16, 32, 8, 1, 4096, 128, 2),
                  (16, 32, 8, 1, 32768, 128, 8)]}
CALLS = 9


class WithMask(nn.Module):
    def forward(self, q, k, v, mask=None):
        return scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)


class WithLengths(nn.Module):
    def forward(self, q, k, v, lengths):
        columns = torch.arange(k.shape[2], device=k.device)
        mask = (columns < lengths[:, None])[:, None, None]
        return scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)


def times_of(calls, target):
    """Milliseconds of each."""
    if target == "cuda":
        return [time_of(call) / 1e3 for call in calls]
    times = [[] for _ in calls]
    for _ in range(CALLS):
        for call, own in zip(calls, times):
            start = time.perf_counter()
            call()
            own.append((time.perf_counter() - start) * 1e3)
    return [statistics.median(own) for own in times]


def measure(case, target):
    batches, heads, key_heads, rows, keys, size, divisor = case
    kind = {"dtype": torch.float16 if target == "cuda" else torch.float32,
            "device": target}
    q = torch.randn(batches, heads, rows, size, **kind)
    k, v = (torch.randn(batches, key_heads, keys, size, **kind) for _ in "kv")
    lengths = torch.arange(1, batches + 1, device=target) * keys // batches // divisor
    mask = (torch.arange(keys, device=target) < lengths[:, None])[:, None, None]
    exported = {"nm": (WithMask(), (q, k, v)), "nm, mask": (WithMask(), (q, k, v, mask)),
                "nm, lengths": (WithLengths(), (q, k, v, lengths))}
    compiled = {name: (nm.torch.export(model, args).compile(target=target), args)
                for name, (model, args) in exported.items()}
    want = WithMask()(q.double(), k.double(), v.double(), mask)
    got = compiled["nm, lengths"][0](q, k, v, lengths)
    calls = [lambda: WithMask()(q, k, v, mask)]
    calls += [lambda each=each, args=args: each(*args) for each, args in compiled.values()]
    found = dict(zip(["PyTorch, mask", *compiled], times_of(calls, target)))
    shape = f"{batches} x {heads} ({key_heads}) x {rows} x {keys} x {size}"
    return {"attention": shape, "keys seen": f"{lengths.sum() / (batches * keys):.3f}",
            **{name: f"{each:.4g}" for name, each in found.items()},
            "error": f"{(got - want).norm() / want.norm():.1e}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--target", choices=CASES, default="cpu")
    parser.add_argument("--csv")
    args = parser.parse_args()
    found = []
    with torch.no_grad():
        for case in CASES[args.target]:
            found.append(measure(case, args.target))
            print("  ".join(f"{name}: {each}" for name, each in found[-1].items()),
                  flush=True)
    if args.csv:
        write_csv(args.csv, found)


if __name__ == "__main__":
    main()
