"""Measures blocks of Llama-3-8B, ViT-L and BERT-large as one shared object each, on one GPU.

usage: measure_exported.py [--csv FILE] [--model NAME] [--alone]

As measure_blocks.py does: weights are random and f16, and a time is the median of
replayed CUDA graphs. Beside dense PyTorch stand the model with nm's layers, both by
torch.compile, and the same model by nm.torch.export. The error is that of the shared
object's output beside the dense model's with the same pruned weights.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import nm.torch
import torch
from measure_blocks import (
    PATTERNS,
    BERTBlock,
    LlamaBlock,
    ViTBlock,
    compiled,
    pruned,
    time_of,
    time_or_reason,
    write_csv,
)
from torch import nn

# A model's blocks, how many, and its (sequences, tokens).
CASES = [("ViT-L", ViTBlock, 4, (8, 197)), ("BERT-large", BERTBlock, 4, (24, 128)),
         ("Llama-3-8B", LlamaBlock, 1, (1, 512)),
         ("Llama-3-8B", LlamaBlock, 1, (16, 1)), ("Llama-3-8B", LlamaBlock, 2, (1, 1))]


def measure(name, model, x, folder, alone):
    """A line of the table, where `alone` of the shared objects alone."""
    line = {"model": f"{name}, {len(model)} block{'s' * (len(model) > 1)}",
            "sequences x tokens": f"{x.shape[0]} x {x.shape[1]}"}
    if not alone:
        line["dense, compiled"] = time_or_reason(lambda: compiled(model), x)
    errors, seconds = [], []
    for short, pattern in PATTERNS.items():
        layers = pruned(model, pattern)
        expected = layers(x).float()
        nm.torch.sparsify(layers, pattern, x)
        if not alone:
            line[f"layers {short}, compiled"] = time_or_reason(lambda: compiled(layers), x)
        begin = time.perf_counter()
        exported = nm.torch.export(layers, x).compile(folder / "model.so",
                                                      target="cuda")
        seconds.append(time.perf_counter() - begin)
        errors.append(((exported(x).float() - expected).norm()
                       / expected.norm()).item())
        line[f".so {short}"] = f"{time_of(lambda: exported(x)):.1f}"
    line["error of .so"] = f"{max(errors):.1e}"
    line["export and compile, s"] = f"{max(seconds):.1f}"
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", help="write the table to this file, line by line")
    parser.add_argument("--model", action="append", choices={case[0] for case in CASES})
    parser.add_argument("--alone", action="store_true",
                        help="time the shared objects alone")
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.cuda.get_device_name()
    print(f"{device}, PyTorch {torch.__version__}", file=sys.stderr)
    lines = []
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        for name, make, count, shape in CASES:
            if args.model and name not in args.model:
                continue
            model = nn.Sequential(*(make() for _ in range(count))).cuda().half().eval()
            x = torch.randn(*shape, make.width, device="cuda").half() / 2
            lines.append(measure(name, model, x, Path(folder), args.alone))
            print(lines[-1], flush=True)
            if args.csv:
                write_csv(args.csv, lines)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
