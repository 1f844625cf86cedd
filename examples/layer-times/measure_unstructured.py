"""Times nm.torch.NMLinear of unstructured weights on a GPU beside torch.nn.Linear:

    python3 measure_unstructured.py --type=f16 --type=bf16 --shape=4096x4096

A time is that of a call in a CUDA graph of calls of several layers in turns, whose weights are
more than the L2 cache holds twice: they come from memory. A graph of nm's and one of the dense
layers take turns. `kernel` is what nm chose, and `error` is beside the product in float64.
"""

from __future__ import annotations

import argparse
import copy
import csv
import itertools
import math
import os
import re
import statistics
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import nm
import nm.torch
import torch
from torch import nn

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
LIMITS = {"f32": 1e-5, "f16": 2e-3, "bf16": 1e-2}
HEADER = ["k x n", "type", "rows", "zeros", "nm, us", "dense, us", "dense/nm", "error",
          "kernel"]
# Replays of a graph, and calls in it at least.
REPLAYS, LEAST_CALLS = 20, 24


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--type", action="append", choices=TYPES, help="default: f16")
    parser.add_argument("--shape", action="append",
                        help="k x n; default: 4096x4096 and 4096x11008")
    parser.add_argument("--rows", action="append", type=int, help="default: 1, 4, 8, 16")
    parser.add_argument("--zeros", action="append", type=int,
                        help="of a hundred weights; default: 50, 70, 90")
    parser.add_argument("--csv", help="write the table to this file, too, line by line")
    return parser.parse_args()


def count_copies(bytes_read: float) -> int:
    """Layers whose weights are more than twice what the cache holds."""
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    return max(2, math.ceil(2.5 * cache / bytes_read))


def kernel_of(layer: nm.torch.NMLinear, rows: int) -> str:
    """Compiles the kernel for so many rows, and gives its strategy."""
    remarks = nm.precompile(layer.sparse_weight(), rows, "cuda", bias=False)
    return re.search(r"strategy (\w+)", "\n".join(remarks))[1]


def make_graph(layers: list[nn.Module], x: torch.Tensor) -> Callable[[], float]:
    """What replays a graph of calls of all layers, and gives microseconds of a call."""
    turns = math.ceil(LEAST_CALLS / len(layers))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for layer in layers:
            layer(x)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _, layer in itertools.product(range(turns), layers):
                layer(x)

    def replay() -> float:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3 / (turns * len(layers))
    replay()
    return replay


class Weights:
    """Layers of one weight: dense ones, and condensed ones of some share of zeros."""

    def __init__(self, k: int, n: int, type_: str, zeros: int):
        self.k, self.n, self.type, self.zeros = k, n, type_, zeros
        weight = torch.randn(n, k, device="cuda")
        weight[torch.rand_like(weight) < zeros / 100] = 0
        self.dense = nn.Linear(k, n, bias=False, device="meta")
        self.dense.weight = nn.Parameter(weight.to(TYPES[type_]), requires_grad=False)
        on_host = nn.Linear(k, n, bias=False, device="meta")
        on_host.weight = nn.Parameter(self.dense.weight.cpu(), requires_grad=False)
        self.on_host = nm.torch.NMLinear.from_dense(on_host, "unstructured").eval()
        self.copies: list[nm.torch.NMLinear] = []

    def sparse(self, count: int, x: torch.Tensor) -> list[nm.torch.NMLinear]:
        """So many layers, whose weights are packed for `x`."""
        while len(self.copies) < count:
            self.copies.append(copy.deepcopy(self.on_host).cuda())

        @torch.no_grad()
        def pack(layer: nm.torch.NMLinear) -> None:
            layer(x)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(pack, self.copies[:count]))
        torch.cuda.synchronize()
        return self.copies[:count]

    def measure(self, rows: int, kernel: str) -> list[str]:
        """A row of the table."""
        x = torch.randn(rows, self.k, device="cuda").to(TYPES[self.type])
        size = x.element_size() * self.k * self.n
        # What a kernel that skips zeros reads, without the places of weights.
        read = size if kernel == "cublas" else size * (1 - self.zeros / 100)
        sparse = self.sparse(count_copies(read), x)
        dense = [copy.deepcopy(self.dense) for _ in range(count_copies(size))]
        graphs = [make_graph(layers, x) for layers in (sparse, dense)]
        times = [statistics.median(taken) for taken in zip(
            *([graph() for graph in graphs] for _ in range(REPLAYS)))]
        expected = x.double() @ self.dense.weight.double().T
        error = float((sparse[-1](x).double() - expected).norm() / expected.norm())
        assert error < LIMITS[self.type], (self.k, self.n, self.type, rows, error)
        return [f"{self.k} x {self.n}", self.type, str(rows), f"{self.zeros} %",
                f"{times[0]:.2f}", f"{times[1]:.2f}", f"{times[1] / times[0]:.2f}",
                f"{error:.1e}", kernel]


@torch.no_grad()
def main() -> None:
    args = parse_arguments()
    shapes = [tuple(map(int, shape.split("x")))
              for shape in args.shape or ["4096x4096", "4096x11008"]]
    print(f"# {torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print("".join(f"{name:<14}" for name in HEADER), flush=True)
    writer = None
    if args.csv:
        writer = csv.writer(open(args.csv, "w", newline="", encoding="utf-8", buffering=1))
        writer.writerow(HEADER)
    torch.manual_seed(0)
    drawn = [Weights(k, n, type_, zeros) for type_, (k, n), zeros in itertools.product(
        args.type or ["f16"], shapes, args.zeros or [50, 70, 90])]
    cases = list(itertools.product(drawn, args.rows or [1, 4, 8, 16]))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        kernels = list(pool.map(lambda case: kernel_of(case[0].on_host, case[1]), cases))
    for (weights, rows), kernel in zip(cases, kernels):
        line = weights.measure(rows, kernel)
        print("".join(f"{field:<14}" for field in line), flush=True)
        if writer:
            writer.writerow(line)


if __name__ == "__main__":
    main()
