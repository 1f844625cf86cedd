"""Measures models of transformers in their true widths as one shared object each, on one GPU.

usage: measure_models.py [--csv FILE] [--model NAME] [--type f16] [--pattern 2:4] [--jobs N]
                         [--compiled]

Weights are random. A process for each model and type exports and compiles side by side
with the others; then they take turns on the GPU. A time is the median of replayed CUDA
graphs, PyTorch's of the model with dense weights, pruned as the shared object's are. The
errors are those of the last hidden state beside the same model in float64.
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
import transformers
from measure_blocks import compiled, pruned, time_of, time_or_reason, write_csv
from measure_compilation import TYPES, HiddenStates
from transformers.pytorch_utils import Conv1D

COLUMNS = ["model", "shape", "type", "pattern", "layers", "dense", "dense, compiled", ".so",
           "error of PyTorch", "error of .so", "compile, s"]


def whisper_encoder(config):
    from transformers.models.whisper.modeling_whisper import WhisperEncoder
    return WhisperEncoder(config)


def decoder(config, **sizes):
    """A decoder's blocks with a small vocabulary, whose table is no product."""
    return config(vocab_size=1000, use_cache=False, eos_token_id=1, bos_token_id=1, **sizes)


def words(*shape):
    return lambda: torch.randint(1, 1000, shape)


# What makes a model, what draws its argument, and the shape of that.
MODELS = {
    "MiniLM-L6": (lambda: transformers.BertModel(transformers.BertConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
        intermediate_size=1536)), words(8, 128)),
    "BERT-large": (lambda: transformers.BertModel(transformers.BertConfig(
        hidden_size=1024, num_hidden_layers=24, num_attention_heads=16,
        intermediate_size=4096)), words(8, 128)),
    "ViT-L, 4 blocks": (lambda: transformers.ViTModel(transformers.ViTConfig(
        hidden_size=1024, num_hidden_layers=4, num_attention_heads=16,
        intermediate_size=4096), add_pooling_layer=False),
        lambda: torch.randn(8, 3, 224, 224)),
    "Llama-3-8B, 1 block": (lambda: transformers.LlamaModel(decoder(
        transformers.LlamaConfig, hidden_size=4096, num_hidden_layers=1,
        num_attention_heads=32, num_key_value_heads=8, intermediate_size=14336)),
        words(1, 512)),
    "Qwen3-8B, 1 block": (lambda: transformers.Qwen3Model(decoder(
        transformers.Qwen3Config, hidden_size=4096, num_hidden_layers=1,
        num_attention_heads=32, num_key_value_heads=8, head_dim=128,
        intermediate_size=12288)), words(1, 512)),
    "GPT-2": (lambda: transformers.GPT2Model(transformers.GPT2Config(use_cache=False)),
              words(4, 256)),
    "Whisper-large, 4 encoder blocks": (lambda: whisper_encoder(transformers.WhisperConfig(
        d_model=1280, encoder_layers=4, encoder_attention_heads=20, encoder_ffn_dim=5120,
        num_mel_bins=128)), lambda: torch.randn(1, 128, 3000)),
}


def relative(got, wanted):
    return ((got.double() - wanted).norm() / wanted.norm()).item()


def all_pruned(model, pattern):
    """The model with GPT-2's Conv1D pruned, too, whose weights are [in, out]."""
    model = pruned(model, pattern)
    for layer in model.modules():
        if isinstance(layer, Conv1D):
            layer.weight.data = nm.prune(layer.weight.data, pattern, axis=0).weight
    return model


@torch.no_grad()
def measure(name, dtype, pattern, with_compiler, lock):
    """A line of the table."""
    torch.manual_seed(0)
    make, draw = MODELS[name]
    model = HiddenStates(make()).cuda().to(TYPES[dtype]).eval()
    x = draw().cuda()
    x = x.to(TYPES[dtype]) if x.is_floating_point() else x
    dense = all_pruned(model, pattern)
    layers = all_pruned(model, pattern)
    nm.torch.sparsify(layers, pattern, x)
    replaced = sum(isinstance(each, nm.torch.NMLinear) for each in layers.modules())
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        exported = nm.torch.export(layers, x).compile(Path(folder) / "model.so",
                                                      target="cuda")
        seconds = time.perf_counter() - begin
        with open(lock, "w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            ours = time_of(lambda: exported(x))
            theirs = time_of(lambda: dense(x))
            inductor = (time_or_reason(lambda: compiled(dense), x) if with_compiler
                        else "-")
            got, eager = exported(x), dense(x)
            wanted = dense.double()(x.double() if x.is_floating_point() else x)
    values = [name, " x ".join(map(str, x.shape)), dtype, pattern, replaced,
              f"{theirs:.1f}", inductor, f"{ours:.1f}", f"{relative(eager, wanted):.1e}",
              f"{relative(got, wanted):.1e}", f"{seconds:.1f}"]
    return dict(zip(COLUMNS, values))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", help="write the table to this file, line by line")
    parser.add_argument("--model", action="append", choices=MODELS)
    parser.add_argument("--type", action="append", choices=TYPES)
    parser.add_argument("--pattern", action="append")
    parser.add_argument("--jobs", type=int, default=8, help="processes at once")
    parser.add_argument("--compiled", action="store_true", help="beside torch.compile, too")
    args = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, transformers "
          f"{transformers.__version__}", file=sys.stderr)
    cases = [(name, dtype, pattern) for dtype in args.type or ["f16"]
             for pattern in args.pattern or ["2:4"] for name in args.model or MODELS]
    lines = {}
    context = multiprocessing.get_context("spawn")
    with tempfile.NamedTemporaryFile() as lock, concurrent.futures.ProcessPoolExecutor(
            args.jobs, context, max_tasks_per_child=1) as pool:
        jobs = {pool.submit(measure, *case, args.compiled, lock.name): case
                for case in cases}
        for job in concurrent.futures.as_completed(jobs):
            case = jobs[job]
            try:
                lines[case] = job.result()
            except Exception as error:  # the others go on
                print(f"{case}: {error!r}", file=sys.stderr)
                continue
            print(lines[case], flush=True)
            if args.csv:
                write_csv(args.csv, [lines[each] for each in cases if each in lines])
    return 0 if len(lines) == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
