"""Times convolutions in groups on a CPU beside PyTorch's own: ResNeXt's, and layers of few groups.

usage: measure_groups.py [--pattern 2:4] [--type f32] [--batch 1] [--threads 1] [--seconds 1]

Times are the least of calls that take turns, in microseconds; PyTorch's are those of both layouts
of images. In parentheses, how many times as fast as the faster one nm is.
"""

import argparse
import copy
import os

import nm.torch
import torch
from measure_convolutions import time_in_turns
from torch import nn

#: Channels, groups and sizes of images: first the 3x3 layers of ResNeXt-50 32x4d.
LAYERS = [(128, 32, 56), (256, 32, 28), (512, 32, 14), (1024, 32, 7), (256, 8, 28), (256, 4, 28),
          (512, 4, 14), (256, 2, 28), (512, 2, 14)]
TYPES = {"f32": (torch.float32, 1e-5), "f16": (torch.float16, 2e-3), "bf16": (torch.bfloat16, 1e-2)}


def measure(channels, groups, size, args):
    dtype, limit = TYPES[args.type]
    dense = nn.Conv2d(channels, channels, 3, padding=1, groups=groups, bias=False).to(dtype)
    layer = nm.torch.NMConv2d.from_dense(dense, args.pattern, prune_weight=True).eval()
    dense = layer.to_dense()
    x = torch.randn(args.batch, channels, size, size).to(dtype)
    compiled = nm.torch.export(nn.Sequential(layer), x).compile(threads=str(args.threads))
    exact = copy.deepcopy(dense).double()(x.double())
    for call in (layer, compiled):
        error = ((call(x) - exact).norm() / exact.norm()).item()
        assert error < limit, error
    last, of_last = (each.to(memory_format=torch.channels_last)
                     for each in (copy.deepcopy(dense), x))
    times = time_in_turns([lambda: layer(x), lambda: compiled(x), lambda: dense(x),
                           lambda: last(of_last)], args.seconds)
    own = " | ".join(f"{each:.0f} ({min(times[2:]) / each:.2f})" for each in times[:2])
    print(f"| {channels} | {groups} | {size} x {size} | {own} | {times[2]:.0f} | {times[3]:.0f} |",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--pattern", default="2:4")
    parser.add_argument("--type", default="f32", choices=TYPES)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    nm.set_num_threads(args.threads)
    torch.manual_seed(0)
    print("| channels | groups | image | NMConv2d | exported | PyTorch | channels last |")
    with torch.no_grad():
        for layer in LAYERS:
            measure(*layer, args)


if __name__ == "__main__":
    main()
