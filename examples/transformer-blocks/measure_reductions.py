"""Measures reductions of other dimensions than the last, of several, and of few long rows, by
torch.compile and by one shared object each, on one GPU.

usage: measure_reductions.py [--csv FILE] [--op NAME]

Operands are random and f16, and calls read other memory in turn, as measure_rows.py has it.
The rate is that of reading the operand once and writing each result once. The error is that
of the shared object's result beside PyTorch's in f32; of places, the share that differ.
"""

import argparse
import math
import sys
import tempfile
from pathlib import Path

import nm.torch
import torch
from measure_blocks import compiled, write_csv
from measure_rows import L2_BYTES, MOST_COPIES, time_in_turn
from torch import nn


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def batch_norm(x):
    """As in training: by the mean and variance of each channel."""
    return nn.functional.batch_norm(x, None, None, training=True)


# A function, the operand's shape, and whether the result has that shape, too.
OPS = {
    "sum": (torch.sum, (16384, 4096), False),
    "sum of few": (torch.sum, (8, 197, 768), False),
    "norm": (torch.norm, (16384, 4096), False),
    "mean of images": (lambda x: x.mean((2, 3)), (32, 256, 56, 56), False),
    "layer norm of two dimensions": (
        lambda x: nn.functional.layer_norm(x, x.shape[1:]), (64, 197, 768), True),
    "group norm, 8 images": (
        lambda x: nn.functional.group_norm(x, 32), (8, 512, 64, 64), True),
    "group norm, 1 image": (
        lambda x: nn.functional.group_norm(x, 32), (1, 512, 64, 64), True),
    "group norm and SiLU, 1 image": (
        lambda x: nn.functional.silu(nn.functional.group_norm(x, 32)), (1, 320, 64, 64),
        True),
    "instance norm": (nn.functional.instance_norm, (8, 64, 256, 256), True),
    "batch norm": (batch_norm, (32, 256, 56, 56), True),
    "sum along 0": (lambda x: x.sum(0), (65536, 1024), False),
    "sum along 1": (lambda x: x.sum(1), (16, 4096, 1024), False),
    "max along 1": (lambda x: x.amax(1), (64, 4096, 128), False),
    "argmax along 1": (lambda x: x.argmax(1), (4, 21, 512, 512), False),
    "softmax along 1": (lambda x: x.softmax(1), (8, 1000, 64, 64), True),
    "logsumexp along 1": (lambda x: x.logsumexp(1), (8, 19, 512, 512), False),
    "cumsum": (lambda x: x.cumsum(1), (4096, 4096), True)}


def error_of(got, function, x):
    if not got.is_floating_point():
        return (got != function(x)).float().mean().item()
    wanted = function(x.float())
    return ((got.float() - wanted).norm() / wanted.norm()).item()


def measure(op, folder):
    """A line of the table."""
    function, shape, has_shape = OPS[op]
    elements = math.prod(shape)
    copies = min(MOST_COPIES, -(-L2_BYTES // (2 * elements)))
    operands = [torch.randn(shape, device="cuda").half() for _ in range(copies)]
    model = Function(function)
    exported = nm.torch.export(model, operands[0]).compile(folder / f"{op}.so", target="cuda")
    error = error_of(exported(operands[0]), function, operands[0])
    times = [time_in_turn([lambda x=x: call(x) for x in operands])
             for call in (compiled(model), exported)]
    rate = (4 if has_shape else 2) * elements / times[1] / 1e6
    return {"op": op, "operand": " x ".join(map(str, shape)),
            "torch.compile": f"{times[0]:.2f}", ".so": f"{times[1]:.2f}",
            "TB/s": f"{rate:.2f}", "error": f"{error:.1e}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--csv", help="write the table to this file, line by line")
    parser.add_argument("--op", action="append", choices=OPS)
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}", file=sys.stderr)
    torch.manual_seed(0)
    lines = []
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        for op in options.op or OPS:
            lines.append(measure(op, Path(folder)))
            print(" | ".join(lines[-1].values()), flush=True)
            if options.csv:
                write_csv(options.csv, lines)


if __name__ == "__main__":
    main()
