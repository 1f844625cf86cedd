"""Times products with pruned weights on a CPU beside PyTorch's dense ones, which are oneDNN's.

usage: measure_products.py [--type i8...] [--pattern "8:32, block = 1x32"...] [--zeros 90...]
                           [--rows 16,128] [--size 2048] [--threads 1] [--seconds 3]

--zeros prunes weights anywhere, to that percentage of zeros. PyTorch's product is the fastest of:
i8, torch._int_mm of either layout of the weight; others, torch.nn.functional.linear and, of bf16,
that with the weight reordered before. Of f32, a product of PyTorch's CSR weights, which is MKL's,
is timed too, by activations that are stored as [k x m] before. Times are the least of calls that
take turns, in microseconds; the last numbers are how many times as fast nm is.
"""

import argparse
import os
import sys
from pathlib import Path

import nm
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "convolutions"))
from measure_convolutions import time_in_turns  # noqa: E402

TYPES = {"i8": torch.int8, "bf16": torch.bfloat16, "f32": torch.float32}


def module_text(element, pattern, rows, size):
    result = "i32" if element == "i8" else element
    a = f"tensor<{rows}x{size}x{element}>"
    w = f"tensor<{size}x{size}x{element}, #nm.encoding<{pattern}>>"
    c = f"tensor<{rows}x{size}x{result}>"
    return f"""func.func @product(%x: {a}, %w: {w}) -> {c} {{
  %zero = arith.constant {"0" if element == "i8" else "0.0"} : {result}
  %e = tensor.empty() : {c}
  %y = linalg.fill ins(%zero : {result}) outs(%e : {c}) -> {c}
  %r = linalg.matmul ins(%x, %w : {a}, {w}) outs(%y : {c}) -> {c}
  return %r : {c}
}}"""


def draw(element, *shape):
    if element == "i8":
        return torch.randint(-128, 128, shape, dtype=torch.int8)
    return torch.randn(shape).to(TYPES[element])


def dense_calls(element, x, weight):
    transposed = weight.t().contiguous()
    if element == "i8":
        return [lambda: torch._int_mm(x, weight), lambda: torch._int_mm(x, transposed.t())]
    calls = [lambda: torch.nn.functional.linear(x, transposed)]
    if element == "bf16":
        packed = torch.ops.mkldnn._reorder_linear_weight(transposed, x.shape[0])
        calls.append(lambda: torch.ops.mkldnn._linear_pointwise(x, packed, None, "none", [],
                                                                None))
    return calls


def csr_calls(element, x, weight):
    if element != "f32" or not torch.backends.mkl.is_available():
        return []
    csr, columns = weight.t().contiguous().to_sparse_csr(), x.t().contiguous()
    return [lambda: torch.sparse.mm(csr, columns)]


def measure(element, pattern, rows, args):
    dense = draw(element, args.size, args.size)
    pruned, _ = nm.prune(dense.float().numpy(), pattern, axis=0)
    weight = torch.from_numpy(pruned).to(TYPES[element])
    x = draw(element, rows, args.size)
    module = nm.compile(module_text(element, pattern, rows, args.size),
                        threads=str(args.threads), mattr=args.mattr)
    product = module.only_function().bind(weight)
    out = torch.empty(rows, args.size, dtype=torch.int32 if element == "i8" else x.dtype)
    product(x, out=out)
    expected = x.double() @ weight.double()
    assert (out - expected).norm() <= 4e-3 * expected.norm()
    assert element != "i8" or torch.equal(out.double(), expected)
    by_dense, by_csr = dense_calls(element, x, weight), csr_calls(element, x, weight)
    mine, *theirs = time_in_turns([lambda: product(x, out=out), *by_dense, *by_csr], args.seconds)
    best = min(theirs[:len(by_dense)])
    print(f"{element}, {pattern}, {rows} rows: nm {mine:.0f}, PyTorch {best:.0f}, {best / mine:.2f}"
          + "".join(f", MKL's CSR {each:.0f}, {each / mine:.2f}" for each in theirs[len(by_dense):]),
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--type", action="append", choices=list(TYPES))
    parser.add_argument("--pattern", action="append")
    parser.add_argument("--zeros", action="append", type=int, default=[])
    parser.add_argument("--rows", default="16,128")
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--mattr", default="", help="processor features to compile for, or without")
    parser.add_argument("--seconds", type=float, default=3)
    args = parser.parse_args()
    os.environ["NM_NUM_THREADS"] = str(args.threads)
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    patterns = (args.pattern or []) + [
        f"unstructured, kept = {args.size * args.size * (100 - zeros) // 100}"
        for zeros in args.zeros]
    patterns = patterns or ["2:4", "1:4", "8:32, block = 1x32"]
    for element in args.type or TYPES:
        for pattern in patterns:
            for rows in map(int, args.rows.split(",")):
                measure(element, pattern, rows, args)


if __name__ == "__main__":
    main()
