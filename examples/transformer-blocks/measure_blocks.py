"""Measures whole blocks of Llama-3-8B and of ViT-L, dense and N:M, on one GPU.

usage: measure_blocks.py [--csv FILE] [--model NAME]

Weights are random and f16. A time is the median of replayed CUDA graphs. Dense is
PyTorch's, as it is and by torch.compile; PyTorch's own 2:4 is cuSPARSELt's. The error
is that of nm's output beside PyTorch's with the same pruned weights.
"""

import argparse
import contextlib
import copy
import csv
import fcntl
import statistics
import sys

import nm
import nm.torch
import torch
import torch.nn.functional as F
from torch import nn
from torch.sparse import to_sparse_semi_structured

REPLAYS, ROUNDS = 20, 7
PATTERNS = {"2:4": "2:4", "VW64": "8:32, block = 1x64", "VW128": "8:32, block = 1x128"}


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return F.rms_norm(x, x.shape[-1:], self.weight)


class LlamaBlock(nn.Module):
    """A block of Llama-3-8B: 32 heads, which share 8 of keys and values."""

    width = 4096

    def __init__(self, inner=14336, heads=32, groups=8):
        super().__init__()
        self.head = self.width // heads
        self.query = nn.Linear(self.width, self.width, bias=False)
        self.key = nn.Linear(self.width, groups * self.head, bias=False)
        self.value = nn.Linear(self.width, groups * self.head, bias=False)
        self.out = nn.Linear(self.width, self.width, bias=False)
        self.gate = nn.Linear(self.width, inner, bias=False)
        self.up = nn.Linear(self.width, inner, bias=False)
        self.down = nn.Linear(inner, self.width, bias=False)
        self.norm1, self.norm2 = RMSNorm(self.width), RMSNorm(self.width)

    def forward(self, x):
        y = self.norm1(x)
        query, key, value = (
            layer(y).unflatten(-1, (-1, self.head)).transpose(1, 2)
            for layer in (self.query, self.key, self.value))
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True,
                                               enable_gqa=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class ViTBlock(nn.Module):
    """A block of ViT-L."""

    width = 1024

    def __init__(self, inner=4096, heads=16):
        super().__init__()
        self.head = self.width // heads
        self.qkv = nn.Linear(self.width, 3 * self.width)
        self.out = nn.Linear(self.width, self.width)
        self.fc1 = nn.Linear(self.width, inner)
        self.fc2 = nn.Linear(inner, self.width)
        self.norm1, self.norm2 = nn.LayerNorm(self.width), nn.LayerNorm(self.width)

    def attend(self, x):
        query, key, value = (
            part.unflatten(-1, (-1, self.head)).transpose(1, 2)
            for part in self.qkv(x).chunk(3, dim=-1))
        mixed = F.scaled_dot_product_attention(query, key, value)
        return self.out(mixed.transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class BERTBlock(ViTBlock):
    """A block of BERT-large, which has ViT-L's sizes and norms behind its sums."""

    def forward(self, x):
        x = self.norm1(x + self.attend(x))
        return self.norm2(x + self.fc2(F.gelu(self.fc1(x))))


# A model's blocks, how many, and its (sequences, tokens).
MODELS = {
    "Llama-3-8B": (LlamaBlock, 2, [(1, 2048), (1, 512), (64, 1), (16, 1), (1, 1)]),
    "ViT-L": (ViTBlock, 4, [(32, 197), (1, 197)])}


@contextlib.contextmanager
def held(path, kind):
    """A lock on a file, which a process that ends lets go."""
    with open(path, "w", encoding="utf-8") as file:
        fcntl.flock(file, kind)
        yield


def captured(function):
    """What replays a call, in a CUDA graph."""
    for _ in range(3):
        function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    return lambda function=function: graph.replay()  # keeps the call's tensors alive


def times_of(replays):
    """Microseconds of each, which take turns."""
    times = [[] for _ in replays]
    for _ in range(ROUNDS):
        for replay, taken in zip(replays, times):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(REPLAYS):
                replay()
            end.record()
            end.synchronize()
            taken.append(begin.elapsed_time(end) / REPLAYS * 1e3)
    return [statistics.median(taken) for taken in times]


def time_of(function):
    """Microseconds of a call, in a CUDA graph."""
    return times_of([captured(function)])[0]


def compiled(model):
    torch._dynamo.reset()
    return torch.compile(model)


def linear_layers(model):
    return [layer for layer in model.modules() if isinstance(layer, nn.Linear)]


def pruned(model, pattern):
    model = copy.deepcopy(model)
    for layer in linear_layers(model):
        layer.weight.data = nm.prune(layer.weight.data, pattern, axis=1).weight
    return model


def semi_structured(model):
    """The model with PyTorch's own 2:4 weights."""
    model = copy.deepcopy(model)
    for layer in linear_layers(model):
        layer.weight = nn.Parameter(to_sparse_semi_structured(layer.weight),
                                    requires_grad=False)
    return model


def time_or_reason(make, x):
    """The time of the model that `make` makes, or `refused` and why on stderr."""
    try:
        model = make()
        return f"{time_of(lambda: model(x)):.1f}"
    except (RuntimeError, NotImplementedError) as error:
        print(f"refused: {str(error).splitlines()[0]}", file=sys.stderr)
        return "refused"


def measure(name, model, x):
    """A line of the table."""
    line = {"model": f"{name}, {len(model)} blocks",
            "sequences x tokens": f"{x.shape[0]} x {x.shape[1]}",
            "dense": f"{time_of(lambda: model(x)):.1f}",
            "dense, compiled": time_or_reason(lambda: compiled(model), x)}
    errors = []
    for short, pattern in PATTERNS.items():
        reference = pruned(model, pattern)
        if short == "2:4":
            line["torch 2:4"] = time_or_reason(lambda: semi_structured(reference), x)
        expected = reference(x).float()
        nm.torch.sparsify(reference, pattern, x)
        errors.append(((reference(x).float() - expected).norm()
                       / expected.norm()).item())
        line[f"nm {short}"] = f"{time_of(lambda: reference(x)):.1f}"
        line[f"nm {short}, compiled"] = time_or_reason(lambda: compiled(reference), x)
    line["error of nm"] = f"{max(errors):.1e}"
    return line


def write_csv(path, lines):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", help="write the table to this file")
    parser.add_argument("--model", action="append", choices=MODELS)
    args = parser.parse_args()
    torch.manual_seed(0)
    device = torch.cuda.get_device_name()
    print(f"{device}, PyTorch {torch.__version__}", file=sys.stderr)
    lines = []
    with torch.no_grad():
        for name in args.model or MODELS:
            make, count, shapes = MODELS[name]
            model = nn.Sequential(*(make() for _ in range(count))).cuda().half().eval()
            for shape in shapes:
                x = torch.randn(*shape, make.width, device="cuda").half() / 2
                lines.append(measure(name, model, x))
                print(lines[-1], flush=True)
                torch.cuda.empty_cache()
    if args.csv:
        write_csv(args.csv, lines)


if __name__ == "__main__":
    main()
