"""Measures attention by PyTorch's kernels and by one shared object each, on one GPU.

usage: measure_attention.py [--csv FILE]

Operands are random and f16, and a time is the median of replayed CUDA graphs. nm's
attention is a call of cuDNN where that can be loaded, and else nm's own kernel, which a
second process measures. The error is that of nm's own kernel beside attention in f32.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import nm.torch
import torch
from measure_blocks import time_of, time_or_reason, write_csv
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

# Batches, heads, heads of keys, rows, keys, size, and whether causal.
CASES = [(8, 16, 16, 197, 197, 64, False), (24, 16, 16, 128, 128, 64, False),
         (8, 16, 16, 512, 512, 64, False), (4, 12, 12, 1024, 1024, 64, True),
         (2, 16, 16, 1000, 1000, 96, False), (1, 32, 8, 512, 512, 128, True),
         (1, 32, 8, 2048, 2048, 128, True), (1, 32, 8, 2048, 2048, 128, False),
         (1, 32, 8, 8192, 8192, 128, True), (16, 32, 8, 1, 2048, 128, False),
         (1, 32, 8, 1, 2048, 128, False), (1, 32, 8, 1, 32768, 128, False)]
# In f32 scores of more elements are too large.
MOST_SCORES = 2 ** 30


class Attention(nn.Module):
    def __init__(self, heads, key_heads, causal):
        super().__init__()
        self.shared = heads != key_heads
        self.causal = causal

    def forward(self, q, k, v):
        return scaled_dot_product_attention(q, k, v, is_causal=self.causal,
                                            enable_gqa=self.shared)


def call_by(backend, model, operands):
    with sdpa_kernel(backend):
        return model(*operands)


def time_exported(case):
    """Microseconds of a case by nm, and its error beside f32 or None."""
    model, operands = draw(case)
    batches, heads, _, rows, keys, *_ = case
    error = None
    with tempfile.TemporaryDirectory() as folder:
        exported = nm.torch.export(model, operands).compile(
            Path(folder) / "attention.so", target="cuda")
        if batches * heads * rows * keys <= MOST_SCORES:
            wide = [operand.float() for operand in operands]
            expected = call_by(SDPBackend.MATH, model, wide)
            error = ((exported(*operands).float() - expected).norm()
                     / expected.norm()).item()
        return time_of(lambda: exported(*operands)), error


def draw(case):
    batches, heads, key_heads, rows, keys, size, causal = case
    torch.manual_seed(1)
    make = {"device": "cuda", "dtype": torch.half}
    operands = (torch.randn(batches, heads, rows, size, **make),
                torch.randn(batches, key_heads, keys, size, **make),
                torch.randn(batches, key_heads, keys, size, **make))
    return Attention(heads, key_heads, causal).cuda(), operands


def describe(case):
    batches, heads, key_heads, rows, keys, size, causal = case
    heads = f"{heads}" if heads == key_heads else f"{heads} ({key_heads} of keys)"
    return (f"{batches} x {heads} x {rows} x {keys} x {size}"
            + (", causal" if causal else ""))


def time_own_kernel():
    """The cases' times and errors in a process that has no cuDNN."""
    # A name that no library has.
    process = subprocess.run([sys.executable, __file__, "--exported"], check=True,
                             env={**os.environ, "NM_CUDNN_LIBRARY": "/none"},
                             stdout=subprocess.PIPE, text=True)
    return json.loads(process.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", help="write the table to this file")
    parser.add_argument("--exported", action="store_true",
                        help="print nm's times and errors alone, as JSON")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("expected a CUDA GPU to measure on, but PyTorch finds none")
    with torch.no_grad():
        if options.exported:
            print(json.dumps([time_exported(case) for case in CASES]))
            return
        own = time_own_kernel()
        lines = []
        for case, (microseconds, error) in zip(CASES, own):
            model, operands = draw(case)
            times = {name: time_or_reason(partial(partial, call_by, backend, model),
                                          operands)
                     for name, backend in (
                         ("FlashAttention 2", SDPBackend.FLASH_ATTENTION),
                         ("cuDNN", SDPBackend.CUDNN_ATTENTION))}
            lines.append({"batches x heads x rows x keys x size": describe(case), **times,
                          "nm by cuDNN": f"{time_exported(case)[0]:.1f}",
                          "nm by its kernel": f"{microseconds:.1f}",
                          "error": "" if error is None else f"{error:.1e}"})
            print(" | ".join(lines[-1].values()), flush=True)
    if options.csv:
        write_csv(options.csv, lines)


if __name__ == "__main__":
    main()
