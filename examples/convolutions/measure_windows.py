"""Times pools, means over places and depthwise convolutions by PyTorch and by one shared object each.

usage: measure_windows.py [--type f16|bf16|f32] [--batch 32]

Images are random, in planes and with channels last. PyTorch's call has the same layout. The rate is that of
reading the image once and writing the result once. A time is the median of replayed CUDA graphs, in
microseconds; the error is that of the shared object's result beside PyTorch's in f32.
"""

import argparse
import copy

import nm.torch
import torch
from measure_convolutions import time_of
from torch import nn

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}
LIMITS = {"f16": 2e-3, "bf16": 1e-2, "f32": 1e-5}
# Channels and sides of the image, and what reads it, as in ResNet-50 and MobileNet V2.
LAYERS = [
    ("max pool, 3x3, step 2", 64, 112, lambda c: nn.MaxPool2d(3, 2, padding=1)),
    ("mean pool, 2x2, step 2", 256, 56, lambda c: nn.AvgPool2d(2)),
    ("mean of all places", 512, 7, lambda c: nn.AdaptiveAvgPool2d(1)),
    ("mean of all places", 2048, 7, lambda c: nn.AdaptiveAvgPool2d(1)),
    ("depthwise, 3x3", 144, 56, lambda c: nn.Conv2d(c, c, 3, padding=1, groups=c)),
    ("depthwise, 3x3, step 2", 192, 28, lambda c: nn.Conv2d(c, c, 3, 2, padding=1, groups=c)),
    ("depthwise, 5x5", 240, 28, lambda c: nn.Conv2d(c, c, 5, padding=2, groups=c)),
]


def measure(name, channels, size, make, args):
    layer = nn.Sequential(make(channels)).to("cuda", TYPES[args.type]).eval()
    x = torch.randn(args.batch, channels, size, size, device="cuda").to(TYPES[args.type])
    expected = copy.deepcopy(layer).float()(x.float())
    cells = [name, f"{args.batch} x {channels} x {size} x {size}"]
    for layout in (torch.contiguous_format, torch.channels_last):
        image = x.to(memory_format=layout)
        last = layout == torch.channels_last
        exported = nm.torch.export(layer, image, channels_last=last).compile(target="cuda")
        got = exported(image)
        error = ((got.float() - expected).norm() / expected.norm()).item()
        assert error < LIMITS[args.type], error
        layer.to(memory_format=layout)
        torch_time = time_of(lambda: layer(image))
        time = time_of(lambda: exported(image))
        moved = (x.numel() + got.numel()) * x.element_size()
        cells += [f"{torch_time:.3g}", f"{time:.3g}", f"{moved / time / 1e6:.2f}", f"{error:.1e}"]
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--type", choices=TYPES, default="f16")
    parser.add_argument("--batch", type=int, default=32)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    columns = ["PyTorch", ".so", "TB/s", "error"]
    print("| op | image | " + " | ".join(columns + [f"{c}, channels last" for c in columns]) + " |")
    print("|" + " --- |" * 10)
    with torch.no_grad():
        for layer in LAYERS:
            measure(*layer, args)


if __name__ == "__main__":
    main()
