"""Measures how long a model takes to be exported and compiled, on this machine.

usage: measure_compilation.py [--model NAME] [--type f16] [--pattern 2:4]
                              [--target cuda:sm_90a] [--runs N]

Models are MiniLM, BERT-large and GPT-2 of 128 tokens, ViT-L, and a block of Llama-3-8B.
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

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def make_bert(layers, width, heads):
    model = transformers.BertModel(transformers.BertConfig(
        num_hidden_layers=layers, hidden_size=width, intermediate_size=4 * width,
        num_attention_heads=heads, use_cache=False), add_pooling_layer=False)
    return model, torch.randint(0, 30000, (1, 128))


def make_gpt2():
    model = transformers.GPT2Model(transformers.GPT2Config(use_cache=False))
    return model, torch.randint(0, 50000, (1, 128))


def make_vit():
    model = transformers.ViTModel(transformers.ViTConfig(
        num_hidden_layers=24, hidden_size=1024, intermediate_size=4096,
        num_attention_heads=16), add_pooling_layer=False)
    return model, torch.randn(1, 3, 224, 224)


def make_llama():
    model = transformers.LlamaModel(transformers.LlamaConfig(
        num_hidden_layers=1, hidden_size=4096, intermediate_size=14336, vocab_size=1000,
        num_attention_heads=32, num_key_value_heads=8, use_cache=False))
    return model, torch.randint(0, 1000, (1, 128))


MODELS = {"minilm": lambda: make_bert(6, 384, 12),
          "bert-large": lambda: make_bert(24, 1024, 16),
          "gpt2": make_gpt2, "vit-l": make_vit, "llama-3-8b-block": make_llama}


class HiddenStates(torch.nn.Module):
    """A model of transformers, whose last hidden states are the result."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x).last_hidden_state


def seconds_of(work, *arguments, **options):
    start = time.perf_counter()
    result = work(*arguments, **options)
    return result, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--model", choices=MODELS, default="bert-large")
    parser.add_argument("--type", choices=TYPES, default="f16")
    parser.add_argument("--pattern", default="2:4")
    parser.add_argument("--target", default="cuda:sm_90a")
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    model, x = MODELS[options.model]()
    model = HiddenStates(model).eval().to(TYPES[options.type])
    x = x.to(TYPES[options.type]) if x.is_floating_point() else x
    nm.torch.sparsify(model, options.pattern, prune=True, force=True)
    for _ in range(options.runs):
        exported, before = seconds_of(nm.torch.export, model, x)
        with tempfile.TemporaryDirectory() as folder:
            _, after = seconds_of(exported.compile, Path(folder) / "model.so",
                                  target=options.target)
        print(f"{options.model} {options.type} {options.pattern} for {options.target}: "
              f"export {before:.1f} s, compilation {after:.1f} s", flush=True)


if __name__ == "__main__":
    main()
