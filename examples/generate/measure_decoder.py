"""Measures a step of decoding of Llama-3-8B's layers on one GPU.

usage: measure_decoder.py [--layers N] [--width N] [--length N] [--csv FILE] [--target T]
                          [--weights 2:4] [--alone]

Weights are random and f16. A step is one token of one sequence with a cache of LENGTH
places: PyTorch's model and the model with nm's layers, both by torch.compile, and
decode of nm.torch.export_decoder. A time is the median of replayed CUDA graphs; on a
CPU, of calls. The error is that of the shared object's logits beside those of the model
with nm's layers. With --alone the shared object is timed, and PyTorch's model is not
compiled.
"""

import argparse
import copy
import statistics
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "transformer-blocks"))
import nm  # noqa: E402
import nm.torch  # noqa: E402
from measure_blocks import RMSNorm, pruned, time_of, write_csv  # noqa: E402

PATTERNS = {"2:4": "2:4", "VW64": "8:32, block = 1x64"}


def turned(x, angles):
    half = x.shape[-1] // 2
    other = torch.cat([-x[..., half:], x[..., :half]], dim=-1)
    return x * angles.cos().to(x.dtype) + other * angles.sin().to(x.dtype)


class Layer(nn.Module):
    def __init__(self, number, width, inner, heads, groups):
        super().__init__()
        self.number, self.head = number, width // heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, groups * self.head, bias=False)
        self.value = nn.Linear(width, groups * self.head, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, inner, bias=False)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)

    def forward(self, x, mask, angles, cache):
        y = self.norm1(x)
        query, key, value = (
            layer(y).unflatten(-1, (-1, self.head)).transpose(1, 2)
            for layer in (self.query, self.key, self.value))
        key, value = cache.update(turned(key, angles), value, self.number)
        mixed = F.scaled_dot_product_attention(turned(query, angles), key, value, mask,
                                               enable_gqa=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Model(nn.Module):
    """Takes what export_decoder gives to a causal language model of transformers."""

    def __init__(self, layers, width, words=1024):
        super().__init__()
        self.head = 128
        self.table = nn.Embedding(words, width)
        heads = width // self.head
        self.layers = nn.ModuleList(
            Layer(i, width, width * 7 // 2, heads, max(heads // 4, 1))
            for i in range(layers))
        self.norm, self.words = RMSNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, input_ids, attention_mask, position_ids, past_key_values,
                use_cache, logits_to_keep):
        rates = 5e5 ** -(torch.arange(0, self.head, 2, device=input_ids.device)
                         / self.head)
        angles = (position_ids[:, None, :, None] * rates).repeat(1, 1, 1, 2)
        x = self.table(input_ids)
        for layer in self.layers:
            x = layer(x, attention_mask, angles, past_key_values)
        return SimpleNamespace(logits=self.words(self.norm(x[:, -logits_to_keep:])))


class Cache:
    """Keys and values of layer i are tensors 2 i and 2 i + 1."""

    def __init__(self, tensors, positions):
        self.tensors, self.positions = tensors, positions

    def update(self, key, value, layer):
        keys, values = self.tensors[2 * layer], self.tensors[2 * layer + 1]
        keys.index_copy_(2, self.positions, key)
        values.index_copy_(2, self.positions, value)
        return keys, values


class Step(nn.Module):
    """One token by PyTorch, on a cache that is a tuple of tensors."""

    def __init__(self, model, length):
        super().__init__()
        self.model, self.length = model, length

    def forward(self, tokens, positions, cache):
        seen = torch.arange(self.length, device=tokens.device) <= positions[:, None]
        return self.model(tokens, seen[None, None], positions[None],
                          Cache(cache, positions), True, 1).logits[:, -1]


def median_of(call, is_cuda):
    """Microseconds."""
    if is_cuda:
        return time_of(call)
    times = []
    for _ in range(9):
        begin = time.perf_counter()
        call()
        times.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(times)


def measure(pattern, model, args, folder, device):
    """Times of the layers and of the shared object, bytes of a step, and the error."""
    layers = pruned(model, pattern) if pattern else copy.deepcopy(model)
    if pattern:
        nm.torch.sparsify(layers, {"words": None, "*": pattern}, force=True)
    tokens = torch.ones((1, 1), dtype=torch.int64, device=device)
    positions = torch.full((1,), args.length - 1, device=device)
    exported = nm.torch.export_decoder(layers.cpu(), max_length=args.length)
    cache = tuple(torch.randn(shape.shape, device=device).half() / 8
                  for shape in exported.new_cache())
    layers.to(device)
    step, line = Step(layers, args.length), {}
    if not args.alone:
        torch._dynamo.reset()
        step = torch.compile(step)
        line["layers, compiled"] = median_of(lambda: step(tokens, positions, cache),
                                             device == "cuda")
    expected = step(tokens, positions, cache).float()
    begin = time.perf_counter()
    decoder = exported.compile(folder / "model.so", target=args.target)
    line["compiling, s"] = time.perf_counter() - begin
    decode = decoder.functions["decode"]
    got = decode(tokens, positions, cache)[1].float()
    line["error"] = ((got - expected).norm() / expected.norm()).item()
    line[".so"] = median_of(lambda: decode(tokens, positions, cache), device == "cuda")
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--csv", help="write the table to this file")
    parser.add_argument("--weights", action="append", choices=["dense", *PATTERNS])
    parser.add_argument("--alone", action="store_true", help="time the shared object alone")
    args = parser.parse_args()
    torch.manual_seed(0)
    device = "cuda" if args.target.startswith("cuda") else "cpu"
    lines = []
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        model = Model(args.layers, args.width).half().eval()
        for name in args.weights or ["dense", *PATTERNS]:
            line = {"weights": name,
                    **measure(PATTERNS.get(name), model, args, Path(folder), device)}
            lines.append({key: f"{value:.4g}" if isinstance(value, float) else value
                          for key, value in line.items()})
            print(lines[-1], flush=True)
    if args.csv:
        write_csv(args.csv, lines)


if __name__ == "__main__":
    main()
