"""Times generate of a model of Llama-3-8B's shape with random weights: by transformers with a
static cache, which it compiles, and by the shared object of nm.torch.export_decoder. It needs
one GPU and the package transformers:

    python3 measure_decoders.py --layers=4 --csv=decoders.csv

Weights are f16; the vocabulary has 8192 words. Tokens a second are of the answer, with the time
of the prompt in it, the best of four calls; `alike` is how many tokens of the answer both give
before the first that differs, as where two logits are close.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import measure_generate
import nm
import nm.torch
import torch
from torch import nn

WEIGHTS = {"dense": None, "2:4": "2:4", "VW64": "8:32, block = 1x64"}
WORDS = 8192


def best_of(call) -> float:
    """Seconds."""
    times = []
    for _ in range(4):
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return min(times)


def by_transformers(model: nn.Module, prompt: torch.Tensor, count: int):
    options = dict(max_new_tokens=count, min_new_tokens=count, do_sample=False,
                   cache_implementation="static")
    for _ in range(2):
        model.generate(prompt, **options)
    seconds = best_of(lambda: model.generate(prompt, **options))
    return model.generate(prompt, **options), {"transformers": f"{count / seconds:.0f}"}


def by_shared_object(model: nn.Module, prompt: torch.Tensor, count: int, folder: Path):
    start = time.perf_counter()
    exported = nm.torch.export_decoder(model.cpu(), max_length=prompt.shape[1] + count)
    decoder = exported.compile(folder / "model.so", target="cuda")
    made = time.perf_counter() - start
    decoder.generate(prompt, 16)
    seconds = best_of(lambda: decoder.generate(prompt, count))
    return decoder.generate(prompt, count), {
        ".so": f"{count / seconds:.0f}", "export and compile, s": f"{made:.0f}"}


def measure(weights: str, arguments: argparse.Namespace, folder: Path) -> dict:
    torch.manual_seed(0)
    model = measure_generate.make_model(arguments.layers, torch.float16, WORDS)
    prompt = torch.randint(0, WORDS, (1, arguments.prompt), device="cuda")
    if WEIGHTS[weights]:
        nm.torch.sparsify(model, {"lm_head": None, "*": WEIGHTS[weights]}, prune=True,
                          force=True)
        nm.torch.fuse(model, prompt)
        measure_generate.pack(model, arguments.prompt)
    torch._dynamo.reset()
    expected, first = by_transformers(model, prompt, arguments.answer)
    if WEIGHTS[weights]:
        nm.torch.unfuse(model)
    got, second = by_shared_object(model, prompt, arguments.answer, folder)
    same = (got == expected)[0, arguments.prompt:].long().cumprod(0).sum().item()
    return {"weights": weights, **first, **second, "alike": f"{same} of {arguments.answer}"}


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--prompt", type=int, default=512, help="tokens of the prompt")
    parser.add_argument("--answer", type=int, default=128, help="tokens of the answer")
    parser.add_argument("--weights", action="append", choices=WEIGHTS)
    parser.add_argument("--csv", help="write the table to this file, a line at a time")
    arguments = parser.parse_args()
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}", flush=True)
    lines = []
    for weights in arguments.weights or WEIGHTS:
        with tempfile.TemporaryDirectory() as folder:
            lines.append(measure(weights, arguments, Path(folder)))
        measure_generate.write(arguments.csv, lines)


if __name__ == "__main__":
    main()
