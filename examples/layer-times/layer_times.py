"""Times N:M layers on a CPU beside PyTorch's dense layer of the same type, on the same
threads, in turns, as nm.torch.sparsify does:

    taskset -c 0,1 python3 layer_times.py --type=bf16 --type=f16

The best times of each side count; `-` where they did not repeat, as other programs ran.
The last column has the layer's time right after a small operator of PyTorch's, whose
threads still spin then, over its time after itself: medians.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import time
from collections.abc import Callable

import nm
import nm.torch
import torch
from torch import nn

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
PATTERNS = ["2:4", "1:4", "8:32, block = 1x32", "4:32, block = 1x32"]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--type", action="append", choices=TYPES, help="default: all")
    parser.add_argument("--pattern", action="append", help=f"default: {PATTERNS}")
    parser.add_argument("--rows", action="append", type=int,
                        help="rows of the input; default: 16, 128, 1024")
    parser.add_argument("--shape", default="4096x4096", help="of the weight, OUTxIN")
    parser.add_argument("--csv", help="write the table to this file, too")
    return parser.parse_args()


def measure(type_: str, rows: int, pattern: str, out: int, k: int) -> list[str]:
    """A row of the table."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(k, out)).to(TYPES[type_]).eval()
    x = torch.randn(rows, k).to(TYPES[type_])
    layer = nm.torch.sparsify(model, pattern, x, prune=True, force=True).layers[0]
    measured = "-" if layer.measured is None else f"{layer.measured:.2f}"
    return [type_, str(rows), pattern, layer.kernel, measured,
            f"{time_after_operator(model, x):.2f}"]


@torch.inference_mode()
def time_after_operator(model: nn.Module, x: torch.Tensor) -> float:
    """The layer's time right after an operator, over that after itself."""
    # Just so large that PyTorch uses several threads for it.
    small = torch.randn(70_000)
    turns = [(median_time(model, x, before=lambda: None),
              median_time(model, x, before=lambda: torch.relu(small)))
             for _ in range(4)]
    return statistics.median(after / alone for alone, after in turns)


def median_time(model: nn.Module, x: torch.Tensor, before: Callable[[], object]) -> float:
    """The seconds of a call, each begun as soon as `before` has returned."""
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begin < 0.1:
        before()
        called = time.perf_counter()
        model(x)
        times.append(time.perf_counter() - called)
    return statistics.median(times)


def main() -> None:
    args = parse_arguments()
    out, k = map(int, args.shape.split("x"))
    threads = len(os.sched_getaffinity(0))
    torch.set_num_threads(threads)
    nm.set_num_threads(threads)
    print(f"# weight {args.shape}, {threads} threads, PyTorch {torch.__version__}")
    header = ["type", "rows", "pattern", "kernel", "dense/time", "after/alone"]
    table = []
    print("".join(f"{name:<20}" for name in header))
    for type_ in args.type or TYPES:
        for rows in args.rows or (16, 128, 1024):
            for pattern in args.pattern or PATTERNS:
                table.append(measure(type_, rows, pattern, out, k))
                print("".join(f"{field:<20}" for field in table[-1]), flush=True)
    if args.csv:
        with open(args.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *table])


if __name__ == "__main__":
    main()
