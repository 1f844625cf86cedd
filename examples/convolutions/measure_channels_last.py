"""Times convolutions of images whose channels are last, pruned to 2:4, on one GPU beside cuDNN.

usage: measure_channels_last.py [--type f16|bf16|i8] [--pattern 2:4|1:4] [--schedule SCHEDULE]

Weights and images are random. nm compiles `linalg.conv_2d_nhwc_hwcf` with its filter as a constant,
of which it detects the pattern, or takes --schedule, as "wgmma_sp<producers = 0>", which has patches.
cuDNN takes its best algorithm for the dense filter in the same type, of which it has none in i8. A
time is the median of replayed CUDA graphs, in microseconds; errors are against PyTorch in float64.
"""

import argparse

import nm
import torch
from measure_convolutions import time_of
from torch.nn import functional

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8}
SUMS = {"f16": "f16", "bf16": "bf16", "i8": "i32"}
LIMITS = {"f16": 2e-3, "bf16": 1e-2, "i8": 0}
# Images, height and width, channels, outputs, taps along a side, and steps.
LAYERS = [*((images, *layer) for images in (1, 32) for layer in (
    (56, 64, 64, 3, 1), (28, 128, 128, 3, 1), (14, 256, 256, 3, 1), (7, 512, 512, 3, 1),
    (56, 128, 256, 3, 2), (28, 512, 1024, 1, 2)))]


def draw(shape, kind):
    if kind == "i8":
        return torch.randint(-9, 9, shape, dtype=torch.int8)
    return torch.randn(shape).to(TYPES[kind])


def make_filter(taps, channels, outputs, kind, pattern):
    """[taps x taps x channels x outputs], of each M channels the N largest kept."""
    kept, window = map(int, pattern.split(":"))
    weight = draw((taps * taps * channels // window, window, outputs), kind)
    dropped = weight.abs().float().argsort(1)[:, :window - kept]
    return weight.scatter(1, dropped, 0).reshape(taps, taps, channels, outputs)


def make_text(images, size, weight, steps, kind):
    taps, _, channels, outputs = weight.shape
    padding, padded = taps // 2, size + taps // 2 * 2
    places = (padded - taps) // steps + 1
    bits = weight.view(torch.int8).numpy().tobytes().hex()
    sums = SUMS[kind]
    zeros = ["0" if each.startswith("i") else "0.0" for each in (kind, sums)]
    x, p, w, y = (f"tensor<{'x'.join(map(str, shape))}x{of}>" for shape, of in (
        ((images, size, size, channels), kind), ((images, padded, padded, channels), kind),
        (weight.shape, kind), ((images, places, places, outputs), sums)))
    return f"""func.func @convolve(%x: {x}) -> {y} {{
  %w = arith.constant dense<"0x{bits}"> : {w}
  %zero = arith.constant {zeros[0]} : {kind}
  %start = arith.constant {zeros[1]} : {sums}
  %p = tensor.pad %x low[0, {padding}, {padding}, 0] high[0, {padding}, {padding}, 0] {{
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : {kind}
  }} : {x} to {p}
  %empty = tensor.empty() : {y}
  %sums = linalg.fill ins(%start : {sums}) outs(%empty : {y}) -> {y}
  %y = linalg.conv_2d_nhwc_hwcf {{strides = dense<{steps}> : tensor<2xi64>,
                                  dilations = dense<1> : tensor<2xi64>}}
    ins(%p, %w : {p}, {w}) outs(%sums : {y}) -> {y}
  return %y : {y}
}}
"""


def measure(images, size, channels, outputs, taps, steps, args):
    weight = make_filter(taps, channels, outputs, args.type, args.pattern)
    x = draw((images, size, size, channels), args.type).cuda()
    options = {"schedule": args.schedule} if args.schedule else {}
    module = nm.compile(make_text(images, size, weight, steps, args.type), target="cuda", **options)
    planes = x.permute(0, 3, 1, 2)
    kernel = weight.permute(3, 2, 0, 1).cuda()
    where = {"padding": taps // 2, "stride": steps}
    expected = functional.conv2d(planes.double(), kernel.double(), **where)
    got = torch.as_tensor(module(x)).permute(0, 3, 1, 2).double()
    error = ((got - expected).norm() / expected.norm()).item()
    assert error <= LIMITS[args.type], error
    cells = [images, f"{taps}x{taps}, {channels} to {outputs}", f"{size} x {size}", steps]
    time = time_of(lambda: module(x))
    cells.append(f"{time:.3g}")
    if args.type != "i8":
        kernel = kernel.to(memory_format=torch.channels_last)
        dense = time_of(lambda: functional.conv2d(planes, kernel, **where))
        cells += [f"{dense:.3g}", f"{dense / time:.2f}"]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--type", choices=TYPES, default="f16")
    parser.add_argument("--pattern", choices=["2:4", "1:4"], default="2:4")
    parser.add_argument("--schedule")
    args = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    titles = ["images", "layer", "image", "steps", "nm", "cuDNN", "cuDNN / nm"]
    titles = titles[:5] if args.type == "i8" else titles
    print("| " + " | ".join(titles) + " |\n|" + " --- |" * len(titles))
    for layer in LAYERS:
        measure(*layer, args)


if __name__ == "__main__":
    main()
