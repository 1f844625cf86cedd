"""Times products with pruned weights on a CPU beside PyTorch's dense ones, which are oneDNN's.

usage: measure_products.py [--type i8...] [--pattern "8:32, block = 1x32"...] [--zeros 90...]
                           [--rows 16,128] [--size 2048] [--size 4096x11008...] [--threads 1]
                           [--seconds 3] [--copies 1]

--zeros prunes weights anywhere, to that percentage of zeros. --size is k x n, or both in one.
With --copies of more bytes than caches, calls take weights of their own in turn, which come from
memory. PyTorch's product is the fastest of:
i8, torch._int_mm of either layout of the weight; others, torch.nn.functional.linear and, of bf16,
that with the weight reordered before. Of f32, a product of PyTorch's CSR weights, which is MKL's,
is timed too, by activations that are stored as [k x m] before; and, where OPENBLAS_NUM_THREADS
says as many as --threads, NumPy's dense product, which is OpenBLAS's. Times are the least of calls
that take turns, in microseconds; the last numbers are how many times as fast nm is.
"""

import argparse
import functools
import itertools
import os
import sys
from pathlib import Path

import nm
import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "convolutions"))
from measure_convolutions import time_in_turns  # noqa: E402

TYPES = {"i8": torch.int8, "bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}


def module_text(element, pattern, rows, size):
    result = "i32" if element == "i8" else element
    k, n = size
    a = f"tensor<{rows}x{k}x{element}>"
    w = f"tensor<{k}x{n}x{element}, #nm.encoding<{pattern}>>"
    c = f"tensor<{rows}x{n}x{result}>"
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


def openblas_calls(element, x, weight, threads):
    if element != "f32" or os.environ.get("OPENBLAS_NUM_THREADS") != str(threads):
        return []
    x, weight = x.numpy(), weight.numpy()
    out = np.empty((x.shape[0], weight.shape[1]), x.dtype)
    return [lambda: np.matmul(x, weight, out=out)]


def in_rotation(calls):
    turns = itertools.cycle(calls)
    return lambda: next(turns)()


def rotate_each(call_lists):
    return [in_rotation(calls) for calls in zip(*call_lists)]


def measure(element, pattern, rows, size, args):
    k, n = size
    dense = draw(element, k, n)
    pruned, _ = nm.prune(dense.float().numpy(), pattern, axis=0)
    weight = torch.from_numpy(pruned).to(TYPES[element])
    x = draw(element, rows, k)
    module = nm.compile(module_text(element, pattern, rows, size),
                        threads=str(args.threads), mattr=args.mattr)
    copies = [weight.clone() for _ in range(args.copies)]
    products = [module.only_function().bind(copy) for copy in copies]
    out = torch.empty(rows, n, dtype=torch.int32 if element == "i8" else x.dtype)
    products[-1](x, out=out)
    expected = x.double() @ weight.double()
    assert (out - expected).norm() <= 4e-3 * expected.norm()
    assert element != "i8" or torch.equal(out.double(), expected)
    on_threads = functools.partial(openblas_calls, threads=args.threads)
    by_dense, by_csr, by_openblas = (rotate_each([make(element, x, copy) for copy in copies])
                                     for make in (dense_calls, csr_calls, on_threads))
    call = in_rotation([functools.partial(product, x, out=out) for product in products])
    mine, *theirs = time_in_turns([call, *by_dense, *by_csr, *by_openblas], args.seconds)
    best, others = min(theirs[:len(by_dense)]), theirs[len(by_dense):]
    names = ["MKL's CSR"] * len(by_csr) + ["OpenBLAS"] * len(by_openblas)
    print(f"{element}, {k}x{n}, {pattern}, {rows} rows: nm {mine:.0f}, PyTorch {best:.0f}, {best / mine:.2f}"
          + "".join(f", {name} {each:.0f}, {each / mine:.2f}"
                    for name, each in zip(names, others, strict=True)), flush=True)


def list_patterns(args, k, n):
    anywhere = [f"unstructured, kept = {k * n * (100 - zeros) // 100}" for zeros in args.zeros]
    return (args.pattern or []) + anywhere or ["2:4", "1:4", "8:32, block = 1x32"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--type", action="append", choices=list(TYPES))
    parser.add_argument("--pattern", action="append")
    parser.add_argument("--zeros", action="append", type=int, default=[])
    parser.add_argument("--rows", default="16,128")
    parser.add_argument("--size", action="append")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--copies", type=int, default=1, help="weights that calls take in turn")
    parser.add_argument("--mattr", default="", help="processor features to compile for, or without")
    parser.add_argument("--seconds", type=float, default=3)
    args = parser.parse_args()
    os.environ["NM_NUM_THREADS"] = str(args.threads)
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    for element in args.type or TYPES:
        for text in args.size or ["2048"]:
            size = [int(each) for each in text.split("x")] * (1 if "x" in text else 2)
            for pattern in list_patterns(args, *size):
                for rows in map(int, args.rows.split(",")):
                    measure(element, pattern, rows, size, args)


if __name__ == "__main__":
    main()
