"""Times transformers' generate for a model of Llama-3-8B's shape with random weights, dense
and N:M, as it is and with a static cache, which transformers compiles. It needs one GPU and
the package transformers:

    python3 measure_generate.py --layers=16

Tokens a second are of the answer, with the time of the prompt in it; the second figure is
without.
"""

from __future__ import annotations

import argparse
import copy
import gc
import time

import nm
import nm.torch
import torch
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

PATTERNS = ["2:4", "8:32, block = 1x64"]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--prompt", type=int, default=512, help="tokens of the prompt")
    parser.add_argument("--answer", type=int, default=128, help="tokens of the answer")
    parser.add_argument("--pattern", action="append", help=f"default: {PATTERNS}")
    parser.add_argument("--type", choices=("bf16", "f16"), default="bf16")
    parser.add_argument("--no-fuse", action="store_true",
                        help="leave query, key and value, gate and up apart")
    return parser.parse_args()


def make_model(layers: int, dtype: torch.dtype) -> nn.Module:
    config = LlamaConfig(hidden_size=4096, intermediate_size=14336, num_hidden_layers=layers,
                         num_attention_heads=32, num_key_value_heads=8, vocab_size=128256,
                         max_position_embeddings=4096, rope_theta=5e5,
                         tie_word_embeddings=False)
    torch.set_default_dtype(dtype)
    with torch.device("cuda"):
        model = LlamaForCausalLM(config).eval()
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0
    return model


def generate(model: nn.Module, prompt: torch.Tensor, tokens: int, is_static: bool
             ) -> tuple[float, torch.Tensor]:
    """Seconds, and what came of it."""
    options = {"cache_implementation": "static"} if is_static else {}
    torch.cuda.synchronize()
    start = time.perf_counter()
    result = model.generate(prompt, max_new_tokens=tokens, min_new_tokens=tokens,
                            do_sample=False, **options)
    torch.cuda.synchronize()
    return time.perf_counter() - start, result


def measure(name: str, model: nn.Module, prompt: torch.Tensor, tokens: int) -> None:
    for is_static in (False, True):
        for _ in range(2 if is_static else 1):
            generate(model, prompt, tokens, is_static)  # Compiles, or packs.
        whole = min(generate(model, prompt, tokens, is_static)[0] for _ in range(3))
        # Without a cache of another size, for which all would be compiled anew.
        first = min(generate(model, prompt, 1, False)[0] for _ in range(3))
        print(f"{name}, {'static cache, compiled' if is_static else 'eager'}: "
              f"{tokens / whole:.1f} tokens/s, {(tokens - 1) / (whole - first):.1f} after "
              f"the prompt, which takes {first * 1e3:.1f} ms", flush=True)


@torch.no_grad()
def main() -> None:
    arguments = parse_arguments()
    torch.manual_seed(0)
    model = make_model(arguments.layers, {"bf16": torch.bfloat16, "f16": torch.float16}[
        arguments.type])
    prompt = torch.randint(0, 128000, (1, arguments.prompt), device="cuda")
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}, {arguments.layers} "
          f"layers of {arguments.type}, {arguments.prompt} tokens in, {arguments.answer} out",
          flush=True)
    measure("dense", model, prompt, arguments.answer)
    for pattern in arguments.pattern or PATTERNS:
        torch._dynamo.reset()
        sparse = copy.deepcopy(model)
        nm.torch.sparsify(sparse, {"lm_head": None, "*": pattern}, prune=True, force=True)
        if not arguments.no_fuse:
            nm.torch.fuse(sparse, prompt)
        measure(pattern, sparse, prompt, arguments.answer)
        print(f"{pattern}: {nm.torch.memory(sparse)}", flush=True)
        del sparse
        gc.collect()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
