"""Times transformers' generate for a model of Llama-3-8B's shape with random weights, dense
and N:M, as it is and with a static cache, which transformers compiles. It needs one GPU and
the package transformers:

    python3 measure_generate.py --layers=16 --csv=generate.csv

With --processes each model has a process of its own, as a user's has: they compile side by
side, and are timed one after the other, once all have compiled.

Tokens a second are of the answer, with the time of the prompt in it. Models take turns
while they are not compiled, before any of them is: what the host does beside, and what a
compilation leaves in a process, slow all calls down. Then each is compiled and timed.
`forward alone` are tokens by the same compiled forward, each call fed by the one before,
without what generate does on the host for each token. `memory` are the weights' forms on the
device over dense weights; `resident` is all of the device's memory once all models are made,
`peak` the most that PyTorch had while the model was made and called, and packed forms.
"""

from __future__ import annotations

import argparse
import copy
import contextlib
import csv
import fcntl
import gc
import pathlib
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import nm
import nm.torch
import torch
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

PATTERNS = ["2:4", "8:32, block = 1x64"]
ROUNDS = 4
# Calls of the compiled forward alone, in the room that the cache has.
CALLS = 64


class Enough(Exception):
    """Ends generate, once its compiled forward has been timed."""


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--prompt", type=int, default=512, help="tokens of the prompt")
    parser.add_argument("--answer", type=int, default=128, help="tokens of the answer")
    parser.add_argument("--pattern", action="append", help=f"default: {PATTERNS}")
    parser.add_argument("--type", choices=("bf16", "f16"), default="bf16")
    parser.add_argument("--no-fuse", action="store_true",
                        help="leave query, key and value, gate and up apart")
    parser.add_argument("--compiled", action="store_true",
                        help="leave out models as they are")
    parser.add_argument("--processes", action="store_true",
                        help="time compiled models, each in a process of its own")
    parser.add_argument("--only", metavar="WEIGHTS", help="dense, or one pattern")
    parser.add_argument("--turns", metavar="FOLDER",
                        help="wait there for other processes, as --processes does")
    parser.add_argument("--csv", help="write the table to this file, a line at a time")
    return parser.parse_args()


def make_model(layers: int, dtype: torch.dtype, words: int = 128256) -> nn.Module:
    config = LlamaConfig(hidden_size=4096, intermediate_size=14336, num_hidden_layers=layers,
                         num_attention_heads=32, num_key_value_heads=8, vocab_size=words,
                         max_position_embeddings=4096, rope_theta=5e5,
                         tie_word_embeddings=False)
    torch.set_default_dtype(dtype)
    with torch.device("cuda"):
        model = LlamaForCausalLM(config).eval()
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0
    return model


def generate(model: nn.Module, prompt: torch.Tensor, tokens: int, is_static: bool) -> float:
    """Seconds."""
    options = {"cache_implementation": "static"} if is_static else {}
    torch.cuda.synchronize()
    start = time.perf_counter()
    model.generate(prompt, max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False,
                   **options)
    torch.cuda.synchronize()
    return time.perf_counter() - start


def sparsified(model: nn.Module, pattern: str, fuse: bool, prompt: torch.Tensor) -> nn.Module:
    sparse = copy.deepcopy(model)
    nm.torch.sparsify(sparse, {"lm_head": None, "*": pattern}, prune=True, force=True)
    if fuse:
        nm.torch.fuse(sparse, prompt)
    return sparse


def pack(model: nn.Module, rows: int) -> None:
    """Packs weights by threads, for as many rows as the prompt has and for one."""
    layers = {id(layer): layer for layer in (
        each._fused[0].layer if each._fused else each for each in model.modules()
        if isinstance(each, nm.torch.NMLinear))}.values()
    # Those of one shape share what the first of them compiles.
    first = {(layer.out_features, layer.in_features): layer for layer in layers}.values()

    def call(layer: nn.Module) -> None:
        with torch.no_grad():
            for count in (rows, 1):
                layer(torch.zeros(count, layer.in_features, device="cuda",
                                  dtype=layer.values.dtype))

    with ThreadPoolExecutor() as pool:
        list(pool.map(call, first))
        list(pool.map(call, layers))


def describe_memory(model: nn.Module, peak: int) -> dict:
    gc.collect()
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info()
    report = nm.torch.memory(model)
    return {"memory": "1" if report.share is None else f"{report.share:.2f}",
            "resident, GB": f"{(total - free) / 1e9:.1f}",
            "peak, GB": f"{(peak + report.packed) / 1e9:.1f}"}


def time_by_turns(models: dict[str, nn.Module], prompt: torch.Tensor, tokens: int
                  ) -> dict[str, float]:
    """Tokens a second, as they are."""
    best = dict.fromkeys(models, float("inf"))
    for model in models.values():
        generate(model, prompt, tokens, False)  # Packs.
    for _ in range(ROUNDS):
        for name, model in models.items():
            best[name] = min(best[name], generate(model, prompt, tokens, False))
    return {name: tokens / seconds for name, seconds in best.items()}


@contextlib.contextmanager
def own_turn(folder: str | None):
    """Waits until all processes that share the folder are here, and for its turn among them.
    The folder has a file for each that is to come."""
    if not folder:
        yield
        return
    waiting = pathlib.Path(folder)
    next(waiting.glob("*.coming")).unlink()
    while list(waiting.glob("*.coming")):
        time.sleep(0.1)
    with open(waiting / "turn", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def time_compiled(model: nn.Module, prompt: torch.Tensor, tokens: int,
                  turns: str | None = None) -> dict:
    torch._dynamo.reset()
    start = time.perf_counter()
    for _ in range(2):
        generate(model, prompt, tokens, True)
    compiling = time.perf_counter() - start
    # Python's collector would go through what compilations left in each token's host time.
    gc.collect()
    gc.freeze()
    with own_turn(turns):
        seconds = min(generate(model, prompt, tokens, True) for _ in range(ROUNDS))
        alone = min(time_forward(model, prompt, tokens) for _ in range(ROUNDS))
    return {"compiled": f"{tokens / seconds:.1f}", "forward alone": f"{CALLS / alone:.1f}",
            "compiling, s": f"{compiling:.0f}"}


def time_forward(model: nn.Module, prompt: torch.Tensor, tokens: int) -> float:
    """Seconds of calls of the forward that generate has compiled, from its third on."""
    plain, seconds, count = type(model).get_compiled_call, [], 0

    def get(self, config):
        call = plain(self, config)

        def timed(*arguments, **options):
            nonlocal count
            result = call(*arguments, **options)
            count += 1
            if count == 3:
                seconds.append(time_calls(call, result, arguments, options))
                raise Enough
            return result

        return timed

    type(model).get_compiled_call = get
    try:
        generate(model, prompt, tokens, True)
    except Enough:
        pass
    finally:
        type(model).get_compiled_call = plain
    return seconds[0]


def time_calls(call, result, arguments, options) -> float:
    options = dict(options)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(CALLS):
        options["input_ids"] = result.logits[:, -1].argmax(-1, keepdim=True)
        for name in ("cache_position", "position_ids"):
            if isinstance(options.get(name), torch.Tensor):
                options[name] = options[name] + 1
        result = call(*arguments, **options)
    torch.cuda.synchronize()
    return time.perf_counter() - start


def write(path: str | None, lines: list[dict]) -> None:
    print(lines[-1], flush=True)
    if path:
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)


def run_processes(arguments: argparse.Namespace) -> int:
    """The exit code: that of a process that failed."""
    weights = ["dense", *(arguments.pattern or PATTERNS)]
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, f"{number}.csv") for number in range(len(weights))]
        for path in paths:
            path.with_suffix(".coming").touch()
        processes = [subprocess.Popen([
            sys.executable, __file__, f"--layers={arguments.layers}",
            f"--prompt={arguments.prompt}", f"--answer={arguments.answer}",
            f"--type={arguments.type}", "--compiled", f"--only={each}", f"--turns={folder}",
            f"--csv={path}", *["--no-fuse"] * arguments.no_fuse])
            for each, path in zip(weights, paths)]
        while any(each.poll() is None for each in processes):
            if any(each.poll() for each in processes):
                for each in processes:
                    each.kill()
            time.sleep(0.1)
        codes = [each.returncode for each in processes]
        if not any(codes):
            lines = [line for path in paths for line in csv.DictReader(path.open())]
            write(arguments.csv, lines)
    return next((code for code in codes if code), 0)


@torch.no_grad()
def main() -> None:
    arguments = parse_arguments()
    if arguments.processes:
        sys.exit(run_processes(arguments))
    torch.manual_seed(0)
    model = make_model(arguments.layers, {"bf16": torch.bfloat16, "f16": torch.float16}[
        arguments.type])
    prompt = torch.randint(0, 128000, (1, arguments.prompt), device="cuda")
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}, {arguments.layers} "
          f"layers of {arguments.type}, {arguments.prompt} tokens in, {arguments.answer} out",
          flush=True)
    models, memory, peaks = {"dense": model}, {}, {}
    patterns = arguments.pattern or PATTERNS
    if arguments.only:
        patterns = [each for each in [arguments.only] if each != "dense"]
    for pattern in patterns:
        torch.cuda.reset_peak_memory_stats()
        start, before = time.perf_counter(), torch.cuda.memory_allocated()
        models[pattern] = sparsified(model, pattern, not arguments.no_fuse, prompt)
        pack(models[pattern], arguments.prompt)
        generate(models[pattern], prompt, 2, False)
        print(f"{pattern}: made and packed in {time.perf_counter() - start:.0f} s",
              flush=True)
        memory[pattern] = describe_memory(
            models[pattern], torch.cuda.max_memory_allocated() - before)
    if arguments.only and arguments.only != "dense":
        del models["dense"], model
    eager = {} if arguments.compiled else time_by_turns(models, prompt, arguments.answer)
    print(eager, flush=True)
    lines = []
    for name, each in models.items():
        lines.append({
            "weights": name, "as it is": f"{eager[name]:.1f}" if eager else "-",
            **time_compiled(each, prompt, arguments.answer, arguments.turns),
            **(memory.get(name) or describe_memory(each, 0))})
        write(arguments.csv, lines)


if __name__ == "__main__":
    main()
