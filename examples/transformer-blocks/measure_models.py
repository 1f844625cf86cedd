"""Measures models of transformers in their true widths as one shared object each, on one GPU.

usage: measure_models.py [--csv FILE] [--model NAME] [--type f16] [--pattern 2:4] [--jobs N]
                         [--compiled] [--target cuda:sm_80] [--dynamic] [--others]

Weights are random. A process for each model and type exports and compiles side by side
with the others. When all have, one process after the other times its models, while no
other works on the GPU. A time is the median of replayed CUDA graphs, PyTorch's of the
model with dense weights, pruned as the shared object's are. The errors are those of the
last hidden state beside the same model in float64. An error over TOLERANCES ends the
program with status 1, after the other models.

With --compiled torch.compile of the dense model and of the model with nm's layers is timed,
too. With --others the models are those of other_models.py. With --target cuda:sm_80 a newer
GPU runs the shared object, too: the driver compiles its PTX. With --dynamic a model is
exported for any batch, and called with two.
"""

import argparse
import concurrent.futures
import contextlib
import copy
import fcntl
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path

import nm.torch
import torch
import transformers
from measure_blocks import (
    held,
    pruned,
    time_or_reason,
    write_csv,
)
from measure_compilation import TYPES, HiddenStates
from other_models import OTHERS
from transformers.pytorch_utils import Conv1D

COLUMNS = ["model", "shape", "batch", "type", "pattern", "target", "layers", "dense",
           "dense, compiled", "layers, compiled", ".so", "error of PyTorch", "error of .so",
           "compile, s"]
TOLERANCES = {"f32": 1e-5, "f16": 5e-3, "bf16": 3e-2}


def whisper_encoder(config):
    from transformers.models.whisper.modeling_whisper import WhisperEncoder
    return WhisperEncoder(config)


def decoder(config, **sizes):
    """A decoder's blocks with a small vocabulary, whose table is no product."""
    return config(vocab_size=1000, use_cache=False, eos_token_id=1, bos_token_id=1, **sizes)


def words(length):
    return lambda batch: torch.randint(1, 1000, (batch, length))


# What makes a model, what draws its argument for a batch, and the batch.
MODELS = {
    "MiniLM-L6": (lambda: transformers.BertModel(transformers.BertConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
        intermediate_size=1536)), words(128), 8),
    "BERT-large": (lambda: transformers.BertModel(transformers.BertConfig(
        hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
        intermediate_size=4096)), words(128), 8),
    "ViT-L, 4 blocks": (lambda: transformers.ViTModel(transformers.ViTConfig(
        hidden_size=1024, num_hidden_layers=4, num_attention_heads=16,
        intermediate_size=4096), add_pooling_layer=False),
        lambda batch: torch.randn(batch, 3, 224, 224), 8),
    "Llama-3-8B, 1 block": (lambda: transformers.LlamaModel(decoder(
        transformers.LlamaConfig, hidden_size=4096, num_hidden_layers=1,
        num_attention_heads=32, num_key_value_heads=8, intermediate_size=14336)),
        words(512), 1),
    "Qwen3-8B, 1 block": (lambda: transformers.Qwen3Model(decoder(
        transformers.Qwen3Config, hidden_size=4096, num_hidden_layers=1,
        num_attention_heads=32, num_key_value_heads=8, head_dim=128,
        intermediate_size=12288)), words(512), 1),
    "GPT-2": (lambda: transformers.GPT2Model(transformers.GPT2Config(use_cache=False)),
              words(256), 4),
    "Whisper-large, 4 encoder blocks": (lambda: whisper_encoder(transformers.WhisperConfig(
        d_model=1280, encoder_layers=4, encoder_attention_heads=20, encoder_ffn_dim=5120,
        num_mel_bins=128)), lambda batch: torch.randn(batch, 128, 3000), 1),
}


ALL = {**MODELS, **OTHERS}


def relative(got, wanted):
    return ((got.double() - wanted).norm() / wanted.norm()).item()


def all_pruned(model, pattern):
    """The model with GPT-2's Conv1D pruned, too, whose weights are [in, out]."""
    model = pruned(model, pattern)
    for layer in model.modules():
        if isinstance(layer, Conv1D):
            layer.weight.data = nm.prune(layer.weight.data, pattern, axis=0).weight
    return model


def arguments(name, dtype, dynamic):
    """An example for export, and what the shared object is called with."""
    _, draw, batch = ALL[name]
    drawn = [draw(size).cuda() for size in
             ([max(batch, 2), batch, batch + 1] if dynamic else [batch])]
    if drawn[0].is_floating_point():
        drawn = [x.to(TYPES[dtype]) for x in drawn]
    return drawn[0], drawn[1:] or drawn


@torch.no_grad()
def measure(name, dtype, pattern, options, locks):
    """A line of the table for each batch."""
    preparing = locks / "preparing"
    with tempfile.TemporaryDirectory() as folder:
        with held(preparing, fcntl.LOCK_SH):
            calls, inputs, replaced, seconds = prepared(
                name, dtype, pattern, options, locks, Path(folder))
        dense, exported = calls["dense"], calls[".so"]
        with held(preparing, fcntl.LOCK_EX):  # when no process prepares or times
            found = [({key: time_or_reason(lambda call=call: call, x)
                       for key, call in calls.items()}, dense(x), exported(x))
                     for x in inputs]
            wanted = [in_float64(dense, x) for x in inputs]
    return [{**dict.fromkeys(COLUMNS, "-"), "model": name,
             "shape": " x ".join(map(str, x.shape)),
             "batch": "any" if options.dynamic else "known", "type": dtype,
             "pattern": pattern, "target": options.target, "layers": replaced, **times,
             "error of PyTorch": f"{relative(eager, want):.1e}",
             "error of .so": f"{relative(got, want):.1e}", "compile, s": f"{seconds:.1f}"}
            for x, want, (times, eager, got) in zip(inputs, wanted, found)]


def in_float64(model, x):
    """What the model gives in float64, or in its own type where PyTorch has no float64 of
    an operator, as of grouped products."""
    wide = copy.deepcopy(model).double()
    try:
        return wide(x.double() if x.is_floating_point() else x)
    except (RuntimeError, NotImplementedError):
        return model(x).double()


def prepared(name, dtype, pattern, options, locks, folder):
    """What is timed, by its column, the inputs, how many layers are sparse, and the seconds
    of export and compilation."""
    torch.manual_seed(0)
    model = HiddenStates(ALL[name][0]()).cuda().to(TYPES[dtype]).eval()
    example, inputs = arguments(name, dtype, options.dynamic)
    layers = all_pruned(model, pattern)
    with held(locks / "choosing", fcntl.LOCK_EX):  # layers are timed beside dense ones
        nm.torch.sparsify(layers, pattern, example)
    replaced = sum(isinstance(each, nm.torch.NMLinear) for each in layers.modules())
    begin = time.perf_counter()
    exported = nm.torch.export(layers, example, dynamic_batch=options.dynamic).compile(
        folder / "model.so", target=options.target)
    seconds = time.perf_counter() - begin
    calls = {"dense": all_pruned(model, pattern)}
    if options.compiled:
        calls["dense, compiled"] = torch.compile(calls["dense"])
        calls["layers, compiled"] = torch.compile(layers)
        for call in list(calls.values())[1:]:  # side by side with other models
            with contextlib.suppress(RuntimeError):
                call(inputs[0])
    return {**calls, ".so": exported}, inputs, replaced, seconds


def is_right(line):
    """Whether the shared object's error is below that of its type."""
    return float(line["error of .so"]) < TOLERANCES[line["type"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", help="write the table to this file, line by line")
    parser.add_argument("--model", action="append", choices=ALL)
    parser.add_argument("--type", action="append", choices=TYPES)
    parser.add_argument("--pattern", action="append")
    parser.add_argument("--jobs", type=int, default=8, help="processes at once")
    parser.add_argument("--compiled", action="store_true", help="beside torch.compile, too")
    parser.add_argument("--target", default="cuda", help="as nm.compile has it")
    parser.add_argument("--dynamic", action="store_true", help="export for any batch")
    parser.add_argument("--others", action="store_true", help="models of other_models.py")
    args = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, transformers "
          f"{transformers.__version__}", file=sys.stderr)
    cases = [(name, dtype, pattern) for dtype in args.type or ["f16"]
             for pattern in args.pattern or ["2:4"]
             for name in args.model or (OTHERS if args.others else MODELS)]
    lines = {}
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as locks, concurrent.futures.ProcessPoolExecutor(
            args.jobs, context, max_tasks_per_child=1) as pool:
        jobs = {pool.submit(measure, *case, args, Path(locks)): case
                for case in cases}
        for job in concurrent.futures.as_completed(jobs):
            case = jobs[job]
            try:
                lines[case] = job.result()
            except Exception as error:  # the others go on
                print(f"{case}: {error!r}", file=sys.stderr)
                continue
            print(*lines[case], sep="\n", flush=True)
            if args.csv:
                write_csv(args.csv, [line for each in cases for line in lines.get(each, [])])
    wrong = [line for found in lines.values() for line in found if not is_right(line)]
    print(*(f"too large an error: {line}" for line in wrong), sep="\n", file=sys.stderr)
    return 1 if wrong or len(lines) < len(cases) else 0


if __name__ == "__main__":
    sys.exit(main())
