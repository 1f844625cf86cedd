"""Times exported 3x3 convolutions, pruned to 2:4, of images in planes and with channels last.

usage: measure_exported_layers.py [--type f16|bf16] [--pattern 2:4]

Weights are random. A layer is what `nm.torch.export` makes of an `nn.Conv2d` with a bias, one shared
object that takes and gives planes, and with `channels_last=True` one that takes and gives channels last;
PyTorch's is dense, with channels last, by cuDNN's best algorithm. A time is the median of replayed CUDA
graphs, in microseconds.
"""

import argparse

import nm.torch
import torch
from measure_convolutions import LAYERS, time_of
from torch import nn

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16}
LIMITS = {"f16": 2e-3, "bf16": 1e-2}


def measure(images, channels, size, args):
    layer = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1)).cuda().eval()
    layer.to(TYPES[args.type])
    planes = torch.randn(images, channels, size, size, device="cuda", dtype=TYPES[args.type])
    last = planes.to(memory_format=torch.channels_last)
    layer.to(memory_format=torch.channels_last)
    dense = time_of(lambda: layer(last))
    layer.to(memory_format=torch.contiguous_format)
    nm.torch.sparsify(layer, args.pattern, prune=True)
    expected = layer(planes).double()
    cells = [images, channels, f"{size} x {size}", f"{dense:.3g}"]
    for x in (planes, last):
        exported = nm.torch.export(layer, x, channels_last=x is last).compile(target="cuda")
        error = ((exported(x).double() - expected).norm() / expected.norm()).item()
        assert error < LIMITS[args.type], error
        time = time_of(lambda: exported(x))
        cells.append(f"{time:.3g} ({dense / time:.2f})")
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--type", choices=TYPES, default="f16")
    parser.add_argument("--pattern", default="2:4")
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    with torch.no_grad():
        for images in (1, 32):
            for channels, size in LAYERS:
                measure(images, channels, size, args)


if __name__ == "__main__":
    main()
