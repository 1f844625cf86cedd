"""Measures norms and softmax by torch.compile and by one shared object each, on one GPU.

usage: measure_rows.py [--csv FILE]

Operands are random and f16, and a time is a call's in replayed CUDA graphs, the median
of seven. Calls read other memory in turn, 50 MiB in all or 64 operands, so that rows come
from memory and not from L2. The rate is that of reading the rows once and writing them
once. The error is that of the shared object's result beside the same computation in f32.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import nm.torch
import torch
from measure_blocks import RMSNorm, compiled, time_of, write_csv
from torch import nn

# Rows and elements of each.
SHAPES = [(32768, 64), (16384, 128), (1576, 1024), (512, 4096), (2048, 4096),
          (16384, 4096), (16, 4096), (1, 128256), (16, 151936), (256, 151936)]
CALLS = 10
L2_BYTES, MOST_COPIES = 50 * 2 ** 20, 64


class AddedNorm(RMSNorm):
    """The norm of a sum that is a result, too, as between a transformer's halves."""

    def forward(self, x, y):
        total = x + y
        return total, super().forward(total)


class Softmax(nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        return torch.softmax(x, -1)


# What reads and writes rows, and how many times a row is read or written.
KINDS = {"RMS norm": (RMSNorm, 1, 2), "layer norm": (nn.LayerNorm, 1, 2),
         "add and RMS norm": (AddedNorm, 2, 4), "softmax": (Softmax, 1, 2)}


def time_in_turn(calls):
    """Microseconds of a call, of those of `calls` in turn."""
    count = max(CALLS, len(calls))

    def call_all():
        for i in range(count):
            calls[i % len(calls)]()
    return time_of(call_all) / count


def error_of(got, expected):
    got, expected = (values if isinstance(values, tuple) else (values,)
                     for values in (got, expected))
    return max(((a.float() - b).norm() / b.norm()).item()
               for a, b in zip(got, expected))


def measure(kind, rows, width, folder):
    """A line of the table."""
    make, inputs, passes = KINDS[kind]
    model = make(width).cuda().half().eval()
    copies = min(MOST_COPIES, -(-L2_BYTES // (2 * rows * width)))
    operands = [[torch.randn(rows, width, device="cuda").half() for _ in range(inputs)]
                for _ in range(copies)]
    exported = nm.torch.export(model, tuple(operands[0])).compile(
        folder / f"{kind}-{rows}.so", target="cuda")
    expected = make(width).cuda().eval()(*(x.float() for x in operands[0]))
    error = error_of(exported(*operands[0]), expected)
    by_torch = compiled(model)
    times = [time_in_turn([lambda x=x: call(*x) for x in operands])
             for call in (by_torch, exported)]
    rate = passes * 2 * rows * width / times[1] / 1e6
    return {"op": kind, "rows x elements": f"{rows} x {width}",
            "torch.compile": f"{times[0]:.2f}", ".so": f"{times[1]:.2f}",
            "TB/s": f"{rate:.2f}", "error": f"{error:.1e}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", help="write the table to this file")
    options = parser.parse_args()
    device = torch.cuda.get_device_name()
    print(f"{device}, PyTorch {torch.__version__}", file=sys.stderr)
    torch.manual_seed(0)
    lines = []
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            for rows, width in SHAPES:
                lines.append(measure(kind, rows, width, Path(folder)))
                print(" | ".join(lines[-1].values()), flush=True)
    if options.csv:
        write_csv(options.csv, lines)


if __name__ == "__main__":
    main()
