"""Times products by weights that are pruned anywhere beside sparse products of other libraries.

usage: measure_sparse_libraries.py [--zeros 80...] [--product 128x2048x2048...] [--threads 2]
                                   [--seconds 1]

A product of m x n x k in f32 is a 1x1 convolution of one image, and written as one: planes of k
channels of m pixels, [k x m], give planes of n channels, [n x m]. nm, and XNNPACK, oneDNN and MKL,
each where sparse_libraries.py finds it, multiply by the sparse weights; PyTorch by the dense ones,
the fastest of a convolution of planes, one of an image with channels last, and a matrix product.
Without --product: 128 rows, and 1x1 layers of MobileNet V1 and ResNet-50. Times are the least of
calls that take turns, in microseconds; in parentheses, how many times as fast nm is.
"""

import argparse
import math
import os
import sys
from pathlib import Path

PRODUCTS = ["128x2048x2048", "128x4096x2048", "128x4096x4096",
            "12544x64x32", "3136x128x64", "784x256x128", "196x512x512", "49x1024x1024",
            "3136x256x64", "3136x64x256", "784x128x512", "196x1024x256", "49x512x2048"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zeros", action="append", type=float, help="per cent")
    parser.add_argument("--product", action="append", help="m x n x k")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1, help="of each product")
    return parser.parse_args()


def find_libraries(threads):
    found = {}
    for name, make in (("XNNPACK", lambda: sparse_libraries.XNNPACK(threads)),
                       ("oneDNN's CSR", sparse_libraries.OneDNN),
                       ("MKL's CSR", sparse_libraries.MKL)):
        try:
            found[name] = make()
        except OSError as error:
            print(f"without {name}: {error}")
    return found


def module_text(m, n, k, kept):
    x, w, y = (f"tensor<{k}x{m}xf32>", f"tensor<{k}x{n}xf32, #nm.encoding<unstructured, "
               f"kept = {kept}>>", f"tensor<{n}x{m}xf32>")
    maps = ", ".join(f"affine_map<(n, m, k) -> ({each})>" for each in ("k, n", "k, m", "n, m"))
    return f"""func.func @product(%x: {x}, %w: {w}) -> {y} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {y}
  %init = linalg.fill ins(%zero : f32) outs(%e : {y}) -> {y}
  %y = linalg.matmul indexing_maps = [{maps}]
    ins(%w, %x : {w}, {x}) outs(%init : {y}) -> {y}
  return %y : {y}
}}"""


def dense_calls(weight, x, height):
    (n, k), out = weight.shape, torch.empty(weight.shape[0], x.shape[1])
    calls = [lambda: torch.mm(weight, x, out=out)]
    for layout in (torch.contiguous_format, torch.channels_last):
        image = x.reshape(1, k, height, -1).to(memory_format=layout)
        filters = weight.reshape(n, k, 1, 1).to(memory_format=layout)
        calls.append(lambda image=image, filters=filters:
                     torch.nn.functional.conv2d(image, filters))
    return calls


def measure(m, n, k, zeros, found, args):
    kept = round(n * k * (1 - zeros / 100))
    pruned, _ = nm.prune(torch.randn(k, n).numpy(), f"unstructured, kept = {kept}", axis=0)
    weight = torch.from_numpy(pruned).t().contiguous()
    x = torch.randn(k, m)
    module = nm.compile(module_text(m, n, k, kept), threads=str(args.threads))
    product, out = module.only_function().bind(torch.from_numpy(pruned)), torch.empty(n, m)
    calls, outs = {"nm": lambda: product(x, out=out)}, {"nm": out}
    for name, library in found.items():
        outs[name] = torch.empty(n, m)
        calls[name] = library(weight, x, outs[name])
    expected = weight.double() @ x.double()
    for name, call in calls.items():
        call()
        assert (outs[name] - expected).norm() < 1e-5 * expected.norm(), name
    height = next(each for each in range(math.isqrt(m), 0, -1) if m % each == 0)
    times = time_in_turns([*calls.values(), *dense_calls(weight, x, height)], args.seconds)
    return dict(zip(calls, times)) | {"PyTorch": min(times[len(calls):])}


def main():
    found = find_libraries(args.threads)
    for zeros in args.zeros or [80, 90, 95]:
        ratios = {}
        for text in args.product or PRODUCTS:
            times = measure(*map(int, text.split("x")), zeros, found, args)
            mine = times.pop("nm")
            for name, each in times.items():
                ratios.setdefault(name, []).append(each / mine)
            print(f"{text}, {zeros:g} %: nm {mine:.0f}, " + ", ".join(
                f"{name} {each:.0f} ({each / mine:.2f})" for name, each in times.items()),
                flush=True)
        print(f"{zeros:g} %, geometric mean and least: " + ", ".join(
            f"{name} {math.exp(sum(map(math.log, each)) / len(each)):.2f}, {min(each):.2f}"
            for name, each in ratios.items()))


if __name__ == "__main__":
    args = parse()
    # Before PyTorch and oneDNN read how many threads they have.
    os.environ["OMP_NUM_THREADS"] = os.environ["NM_NUM_THREADS"] = str(args.threads)
    import nm
    import sparse_libraries
    import torch
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "convolutions"))
    from measure_convolutions import time_in_turns
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    main()
