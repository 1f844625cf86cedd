"""Measures how long a sentence encoder takes to be exported and compiled, on this machine.

usage: measure_compilation.py [--model bert-large|minilm] [--type f16] [--pattern 2:4]
                              [--target cuda:sm_90a] [--runs N]

Weights are random and pruned. Export has torch.export in it; compilation has nm's passes,
LLVM's, ptxas and the linker, and loads what it wrote. Neither needs a GPU.
"""

import argparse
import tempfile
import time
from pathlib import Path

import nm.torch
import torch
import transformers

SIZES = {"minilm": (6, 384, 12), "bert-large": (24, 1024, 16)}
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


class Encoder(torch.nn.Module):
    """Token numbers [batch, tokens] to hidden states [batch, tokens, width]."""

    def __init__(self, layers, width, heads):
        super().__init__()
        self.model = transformers.BertModel(transformers.BertConfig(
            num_hidden_layers=layers, hidden_size=width, intermediate_size=4 * width,
            num_attention_heads=heads, use_cache=False), add_pooling_layer=False)

    def forward(self, tokens):
        return self.model(tokens).last_hidden_state


def seconds_of(work, *arguments, **options):
    start = time.perf_counter()
    result = work(*arguments, **options)
    return result, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--model", choices=SIZES, default="bert-large")
    parser.add_argument("--type", choices=TYPES, default="f16")
    parser.add_argument("--pattern", default="2:4")
    parser.add_argument("--target", default="cuda:sm_90a")
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    encoder = Encoder(*SIZES[options.model]).eval().to(TYPES[options.type])
    nm.torch.sparsify(encoder, options.pattern, prune=True, force=True)
    tokens = torch.randint(0, 30000, (1, 128))
    for _ in range(options.runs):
        exported, before = seconds_of(nm.torch.export, encoder, tokens)
        with tempfile.TemporaryDirectory() as folder:
            _, after = seconds_of(exported.compile, Path(folder) / "encoder.so",
                                  target=options.target)
        print(f"{options.model} {options.type} {options.pattern} for {options.target}: "
              f"export {before:.1f} s, compilation {after:.1f} s", flush=True)


if __name__ == "__main__":
    main()
