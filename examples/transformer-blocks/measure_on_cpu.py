"""Measures models of transformers as one shared object each, on this machine's CPU.

usage: measure_on_cpu.py [--model NAME] [--type f32] [--pattern 2:4] [--compiled]
                         [--profile]

Weights are random and pruned. Dense PyTorch, the model with nm's layers and the same model
by nm.torch.export take turns; a time is the median of all turns, in ms, and in parentheses
the least, which other work on the machine slows least. The error is that of the shared
object's result beside dense PyTorch's with the same pruned weights.
"""

import argparse
import copy
import statistics
import time

import nm.torch
import torch
import transformers
from measure_compilation import TYPES, HiddenStates, make_bert


def llama_like(tokens):
    config = transformers.LlamaConfig(
        num_hidden_layers=1, hidden_size=2048, intermediate_size=5632, vocab_size=1000,
        num_attention_heads=16, num_key_value_heads=16, use_cache=False)
    return transformers.LlamaModel(config), torch.randint(0, 1000, (1, tokens))


def gpt2():
    config = transformers.GPT2Config(use_cache=False, n_layer=4)
    return transformers.GPT2Model(config), torch.randint(0, 50000, (1, 128))


def vit():
    config = transformers.ViTConfig(num_hidden_layers=4)
    return (transformers.ViTModel(config, add_pooling_layer=False),
            torch.randn(1, 3, 224, 224))


MODELS = {"6 layers of 384, 128 tokens": lambda: make_bert(6, 384, 12),
          "4 layers of GPT-2, 128 tokens": gpt2,
          "4 layers of ViT-B, 197 tokens": vit,
          "block of Llama's kind, 2048 wide, 128 tokens": lambda: llama_like(128),
          "block of Llama's kind, 2048 wide, 1 token": lambda: llama_like(1)}


def times_of(calls, x, seconds=6.0):
    """The median and the least time of each call in ms; they take turns."""
    found = [[] for _ in calls]
    for call in calls:
        call(x), call(x)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(found[0]) < 9:
        for call, times in zip(calls, found):
            begin = time.perf_counter()
            call(x)
            times.append((time.perf_counter() - begin) * 1e3)
    return [(statistics.median(times), min(times)) for times in found]


@torch.no_grad()
def measure(name, type_name, pattern, options):
    torch.manual_seed(0)
    model, x = MODELS[name]()
    model = HiddenStates(model).eval().to(TYPES[type_name])
    x = x.to(TYPES[type_name]) if x.is_floating_point() else x
    layers = copy.deepcopy(model)
    nm.torch.sparsify(layers, pattern, prune=True, force=True)
    dense = copy.deepcopy(layers)
    nm.torch.densify(dense)
    exported = nm.torch.export(layers, x).compile(profile=options.profile)
    calls = {"dense": dense, "NMLinear": layers, ".so": exported}
    if options.compiled:
        calls["dense, compiled"] = torch.compile(dense)
        calls["NMLinear, compiled"] = torch.compile(layers)
    wanted = dense(x)
    error = ((exported(x) - wanted).norm() / wanted.norm()).item()
    times = times_of(list(calls.values()), x)
    print(f"{name}, {type_name}, {pattern}: "
          + ", ".join(f"{what} {median:.2f} ({least:.2f})"
                      for what, (median, least) in zip(calls, times))
          + f"; error {error:.1e}", flush=True)
    if options.profile:
        print(exported.profile(x), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", action="append", choices=MODELS)
    parser.add_argument("--type", action="append", choices=TYPES)
    parser.add_argument("--pattern", action="append")
    parser.add_argument("--compiled", action="store_true", help="torch.compile, too")
    parser.add_argument("--profile", action="store_true", help="time by step, too")
    options = parser.parse_args()
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads", flush=True)
    for name in options.model or MODELS:
        for type_name in options.type or ["f32", "bf16"]:
            for pattern in options.pattern or ["2:4", "8:32, block = 1x32"]:
                measure(name, type_name, pattern, options)


if __name__ == "__main__":
    main()
