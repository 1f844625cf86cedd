"""Measures blocks of Llama-3-8B, ViT-L and BERT-large as one shared object each, on one GPU.

usage: measure_exported.py [--csv FILE] [--model NAME] [--pattern 2:4] [--alone] [--profile]

As measure_blocks.py does: weights are random and f16, and a time is the median of
replayed CUDA graphs. Beside dense PyTorch stand the model with nm's layers, both by
torch.compile, and the same model by nm.torch.export. The error is that of the shared
object's output beside the dense model's with the same pruned weights.

A process for each model and pattern compiles all three side by side with the others.
When all have compiled, one process after the other times its three, which take turns.
"""

import argparse
import concurrent.futures
import fcntl
import multiprocessing
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
    captured,
    compiled,
    held,
    pruned,
    times_of,
    write_csv,
)
from torch import nn

# A model's blocks, how many, and its (sequences, tokens).
CASES = [("Llama-3-8B", LlamaBlock, 1, (1, 512)), ("Llama-3-8B", LlamaBlock, 2, (1, 1)),
         ("Llama-3-8B", LlamaBlock, 1, (16, 1)), ("ViT-L", ViTBlock, 4, (8, 197)),
         ("BERT-large", BERTBlock, 4, (24, 128))]


@torch.no_grad()
def measure(case, short, options, folder):
    """The times of one model and pattern by column, the error, and compilation's seconds."""
    compiling = folder / "compiling"
    with held(compiling, fcntl.LOCK_SH):
        replays, profiled, found = prepared(case, short, options, folder)
    with held(compiling, fcntl.LOCK_EX):  # when no process compiles or times
        times = times_of(list(replays.values()))
        found["times"] = {column: f"{each:.1f}" for column, each in zip(replays, times)}
        found["profile"] = str(profiled()) if options.profile else ""
    return found


def prepared(case, short, options, folder):
    """What replays each call by column, what profiles the shared object's, and what is
    known before calls are timed."""
    name, make, count, shape = case
    torch.manual_seed(0)
    model = nn.Sequential(*(make() for _ in range(count))).cuda().half().eval()
    x = torch.randn(*shape, make.width, device="cuda").half() / 2
    with held(folder / "pruning", fcntl.LOCK_EX):  # layers are timed beside dense ones
        layers = pruned(model, PATTERNS[short])
        expected = layers(x).float()
        nm.torch.sparsify(layers, PATTERNS[short], x)
    replays = {}
    if not options.alone:
        for column, each in (("dense, compiled", model),
                             (f"layers {short}, compiled", layers)):
            call = compiled(each)
            replays[column] = captured(lambda call=call: call(x))
    begin = time.perf_counter()
    exported = nm.torch.export(layers, x)
    path = folder / f"{name}-{shape}-{short}.so"
    compiled_model = exported.compile(path, target="cuda")
    found = {"seconds": time.perf_counter() - begin}
    found["error"] = ((compiled_model(x).float() - expected).norm() / expected.norm()).item()
    replays[f".so {short}"] = captured(lambda: compiled_model(x))
    profiled = (exported.compile(target="cuda", profile=True) if options.profile else None)
    return replays, lambda: profiled.profile(x), found


def line_of(case, found):
    """A line of the table, of what was measured for each pattern."""
    name, _, count, shape = case
    line = {"model": f"{name}, {count} block{'s' * (count > 1)}",
            "sequences x tokens": f"{shape[0]} x {shape[1]}"}
    for each in found:
        for column, taken in each["times"].items():
            line.setdefault(column, taken)
    line["error of .so"] = f"{max(each['error'] for each in found):.1e}"
    line["export and compile, s"] = f"{max(each['seconds'] for each in found):.1f}"
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", help="write the table to this file, line by line")
    parser.add_argument("--model", action="append", choices={case[0] for case in CASES})
    parser.add_argument("--pattern", action="append", choices=PATTERNS)
    parser.add_argument("--alone", action="store_true",
                        help="time the shared objects alone")
    parser.add_argument("--profile", action="store_true",
                        help="print the shared objects' times by step, too")
    args = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}", file=sys.stderr)
    cases = [case for case in CASES if not args.model or case[0] in args.model]
    patterns = args.pattern or list(PATTERNS)
    lines, failed = [], []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(
            len(cases) * len(patterns), multiprocessing.get_context("spawn")) as pool:
        jobs = [[pool.submit(measure, case, short, args, Path(folder)) for short in patterns]
                for case in cases]
        for case, of_case in zip(cases, jobs):
            found = []
            for short, job in zip(patterns, of_case):
                label = f"{case[0]}, {case[3]}, {short}"
                try:
                    found.append(job.result())
                except Exception as error:  # the others go on
                    failed.append(label)
                    print(f"{label}: {error!r}", file=sys.stderr)
                    continue
                print(f"{label}: {found[-1]['times']}\n{found[-1]['profile']}", flush=True)
            if len(found) == len(patterns):
                lines.append(line_of(case, found))
            if args.csv and lines:
                write_csv(args.csv, lines)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
