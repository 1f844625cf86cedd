"""Times layers without groups on a CPU, as they are called from PyTorch, beside dense ones.

usage: measure_layers.py [--type f32] [--batch 1 --batch 8] [--sparsity 90] [--pattern 2:4]
                         [--threads 2] [--seconds 0.5]

Each layer is timed as it is, by patches that PyTorch makes and one product, and dense by PyTorch,
for images of both layouts. Times are medians of calls that take turns, in microseconds; in
parentheses, how many times as fast as patches, and as the dense layer, the layer is.
"""

import argparse
import copy
import statistics

import nm.torch
import torch
from measure_convolutions import time_in_turns
from nm.torch import NMConv1d, NMConv2d, NMConv3d
from nm.torch._convolution import patches
from torch import nn

KINDS = {nn.Conv1d: NMConv1d, nn.Conv2d: NMConv2d, nn.Conv3d: NMConv3d}
#: First the 3x3 layers of ResNet-18.
LAYERS = {
    "3x3, 64, 56 x 56": (lambda: nn.Conv2d(64, 64, 3, padding=1), (56, 56)),
    "3x3, 128, 28 x 28": (lambda: nn.Conv2d(128, 128, 3, padding=1), (28, 28)),
    "3x3, 256, 14 x 14": (lambda: nn.Conv2d(256, 256, 3, padding=1), (14, 14)),
    "3x3, 512, 7 x 7": (lambda: nn.Conv2d(512, 512, 3, padding=1), (7, 7)),
    "1x1, 256 to 64, 56 x 56": (lambda: nn.Conv2d(256, 64, 1), (56, 56)),
    "3x3, 64 to 128, 56 x 56, stride 2": (lambda: nn.Conv2d(64, 128, 3, 2, 1), (56, 56)),
    "5, 256, 400": (lambda: nn.Conv1d(256, 256, 5, padding=2), (400,)),
    "3x3x3, 32, 16 x 16 x 16": (lambda: nn.Conv3d(32, 32, 3, padding=1), (16, 16, 16)),
}
TYPES = {"f32": (torch.float32, 1e-5), "f16": (torch.float16, 2e-3), "bf16": (torch.bfloat16, 1e-2)}


def channels_last(x):
    return x.movedim(1, -1).contiguous().movedim(-1, 1)


def prune(dense, pattern, sparsity):
    if pattern == "unstructured":
        with torch.no_grad():
            dense.weight[torch.rand(dense.weight.shape) < sparsity / 100] = 0
    return KINDS[type(dense)].from_dense(dense, pattern,
                                         prune_weight=pattern != "unstructured").eval()


def measure(name, layer, x, layout, limit, seconds):
    dense = layer.to_dense()
    exact = copy.deepcopy(dense).double()(x.double())
    if layout == "last":
        x = channels_last(x)
        if x.dim() == 4:
            dense = dense.to(memory_format=torch.channels_last)
    calls = [lambda: layer(x), lambda: layer.product(patches(x, layer)).movedim(-1, 1),
             lambda: dense(x)]
    for call in calls[:2]:
        error = ((call() - exact).norm() / exact.norm()).item()
        assert error < limit, error
    own, by_patches, of_torch = time_in_turns(calls, seconds * len(calls),
                                              summary=statistics.median)
    print(f"| {name} | {len(x)} | {layout} | {own:.0f} | {by_patches:.0f} "
          f"({by_patches / own:.2f}) | {of_torch:.0f} ({of_torch / own:.2f}) |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--type", default="f32", choices=TYPES)
    parser.add_argument("--batch", type=int, action="append")
    parser.add_argument("--pattern", default="2:4")
    parser.add_argument("--sparsity", type=float, default=90)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=.5)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    nm.set_num_threads(args.threads)
    torch.manual_seed(0)
    dtype, limit = TYPES[args.type]
    print("| layer | batch | channels | nm | patches | PyTorch, dense |\n" + "| --- " * 6 + "|")
    with torch.no_grad():
        for name, (maker, sizes) in LAYERS.items():
            layer = prune(maker().to(dtype), args.pattern, args.sparsity)
            for batch in args.batch or [1, 8]:
                x = torch.randn(batch, layer.in_channels, *sizes).to(dtype)
                for layout in ("first", "last"):
                    measure(name, layer, x, layout, limit, args.seconds)


if __name__ == "__main__":
    main()
