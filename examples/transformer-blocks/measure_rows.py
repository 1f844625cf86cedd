"""Measures ops on rows by torch.compile and by one shared object each, on one GPU: norms,
softmax, largest elements and elementwise ops.

usage: measure_rows.py [--csv FILE] [--op NAME] [--size 512x4096]

Operands are random and f16, and a time is a call's in replayed CUDA graphs, the median
of seven. Calls read other memory in turn, 50 MiB in all or 64 operands, so that rows come
from memory and not from L2. The rate is that of reading each operand once and writing each
result once. The error is that of the shared object's result beside the same computation in
f32; of places of largest elements, that of the elements there.
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
SIZES = [(32768, 64), (16384, 128), (1576, 1024), (512, 4096), (2048, 4096),
         (16384, 4096), (16, 4096), (1, 128256), (16, 151936), (256, 151936)]
CALLS = 10
L2_BYTES, MOST_COPIES = 50 * 2 ** 20, 64


class AddedNorm(RMSNorm):
    """The norm of a sum that is a result, too, as between a transformer's halves."""

    def forward(self, x, y):
        total = x + y
        return total, super().forward(total)


class Weightless(nn.Module):
    def __init__(self, width):
        super().__init__()


class Softmax(Weightless):
    def forward(self, x):
        return torch.softmax(x, -1)


class NormOfBytes(RMSNorm):
    """The norm, quantized to i8."""

    def forward(self, x):
        return (super().forward(x) * 32).round().clamp(-127, 127).to(torch.int8)


class Argmax(Weightless):
    def forward(self, x):
        return x.argmax(-1, keepdim=True)

    def elements(self, places, x):
        """What is compared: of equal elements either place is right."""
        return x.gather(-1, places)


class Max(Weightless):
    def forward(self, x):
        return torch.max(x, -1, keepdim=True)

    def elements(self, found, x):
        values, places = found
        return values, x.gather(-1, places)


class Top(Weightless):
    def forward(self, x):
        return torch.topk(x, 8)

    def elements(self, found, x):
        values, places = found
        return values, x.gather(-1, places)


class Gelu(Weightless):
    def forward(self, x):
        return nn.functional.gelu(x)


class Add(Weightless):
    def forward(self, x, y):
        return x + y


# What makes an op, how many operands it has, and the bytes that are read and written for
# an element of a row.
OPS = {"RMS norm": (RMSNorm, 1, 4), "layer norm": (nn.LayerNorm, 1, 4),
       "add and RMS norm": (AddedNorm, 2, 8), "softmax": (Softmax, 1, 4),
       "RMS norm to i8": (NormOfBytes, 1, 3), "argmax": (Argmax, 1, 2),
       "max": (Max, 1, 2), "top 8": (Top, 1, 2), "GELU": (Gelu, 1, 4), "add": (Add, 2, 6)}


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
    return max(((a.float() - b.float()).norm() / b.float().norm()).item()
               for a, b in zip(got, expected))


def compared(model, result, x):
    """What of a result is compared."""
    return model.elements(result, x) if hasattr(model, "elements") else result


def measure(op, rows, width, folder):
    """A line of the table."""
    make, inputs, row_bytes = OPS[op]
    model = make(width).cuda().half().eval()
    copies = min(MOST_COPIES, -(-L2_BYTES // (2 * rows * width)))
    operands = [[torch.randn(rows, width, device="cuda").half() for _ in range(inputs)]
                for _ in range(copies)]
    exported = nm.torch.export(model, tuple(operands[0])).compile(
        folder / f"{op}-{rows}-{width}.so", target="cuda")
    wide = [x.float() for x in operands[0]]
    expected = make(width).cuda().eval()(*wide)
    error = error_of(compared(model, exported(*operands[0]), wide[0]),
                     compared(model, expected, wide[0]))
    by_torch = compiled(model)
    times = [time_in_turn([lambda x=x: call(*x) for x in operands])
             for call in (by_torch, exported)]
    rate = row_bytes * rows * width / times[1] / 1e6
    return {"op": op, "rows x elements": f"{rows} x {width}",
            "torch.compile": f"{times[0]:.2f}", ".so": f"{times[1]:.2f}",
            "TB/s": f"{rate:.2f}", "error": f"{error:.1e}"}


def size(text):
    rows, width = text.split("x")
    return int(rows), int(width)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--csv", help="write the table to this file, line by line")
    parser.add_argument("--op", action="append", choices=OPS)
    parser.add_argument("--size", action="append", type=size, help="rows and elements")
    options = parser.parse_args()
    device = torch.cuda.get_device_name()
    print(f"{device}, PyTorch {torch.__version__}", file=sys.stderr)
    torch.manual_seed(0)
    lines = []
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        for op in options.op or OPS:
            for rows, width in options.size or SIZES:
                lines.append(measure(op, rows, width, Path(folder)))
                print(" | ".join(lines[-1].values()), flush=True)
                if options.csv:
                    write_csv(options.csv, lines)


if __name__ == "__main__":
    main()
