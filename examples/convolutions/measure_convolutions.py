"""Times the 3x3 convolutions of ResNets on one GPU, dense by cuDNN and pruned to 8:32.

usage: measure_convolutions.py [--zeros 90 --zeros 95...] [--pattern 1:10...] [--csv FILE]
       measure_convolutions.py --target cpu [--zeros 80...] [--pattern "8:32, block = 1x32"...]

With --zeros, per cent that are pruned anywhere, or --pattern one image in f32 is convolved with
filters of each, in SparseRT's setting.

Weights are random. cuDNN takes its best algorithm: in f32 of planes, with TF32 and in f16 of
images whose channels are last. nm's are what `nm.torch.export` makes of a pruned layer, in f32
as accurate as f32, in vectors of 32 outputs, and in f16 in vectors of 64. A time is the median
of replayed CUDA graphs, in microseconds.

With --target cpu one image in f32 is convolved by two --threads, in both layouts of images, dense
by PyTorch and pruned by nm, which copies an image whose channels are last to planes: pin them to
two cores, as `taskset -c 0,1` does. A time is the least of calls that take turns, in microseconds.
"""

import argparse
import csv
import os
import statistics
import tempfile
import time
from pathlib import Path

import nm.torch
import torch
from torch import nn

# Channels and the height and width of the image.
LAYERS = [(64, 56), (128, 28), (256, 14), (512, 7)]
PATTERNS = {torch.float32: "8:32, block = 1x32", torch.float16: "8:32, block = 1x64"}
LAYOUTS = torch.contiguous_format, torch.channels_last
COLUMNS = ["batch", "channels", "cuDNN f32", "cuDNN TF32", "nm f32", "nm f32, channels last",
           "cuDNN f16", "nm f16", "nm f16, channels last"]

ON_CPU = ["channels", "height and width", "PyTorch", "PyTorch, channels last"]
OF_PATTERNS = ["channels", "height and width", "pattern", "cuDNN f32", "cuDNN TF32", "nm f32",
               "cuDNN f32 / nm"]


def in_graph(call, calls):
    """The replay of a CUDA graph of so many calls."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    return graph.replay


def time_of(call, calls=20, replays=20):
    """Microseconds of `call` in a graph of several."""
    replay = in_graph(call, calls)
    times = []
    for _ in range(replays):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / calls)
    return statistics.median(times)


def make_layer(channels, dtype):
    layer = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
    return nn.Sequential(layer).cuda().to(dtype).eval()


def time_dense(layer, x, allow_tf32):
    torch.backends.cudnn.allow_tf32 = allow_tf32
    return time_of(lambda: layer(x))


def time_pruned(layer, x, path):
    exported = nm.torch.export(layer, x).compile(path, target="cuda")
    error = (exported(x).double() - layer(x).double()).norm() / layer(x).double().norm()
    assert error < (1e-5 if x.dtype == torch.float32 else 2e-3), error
    return time_of(lambda: exported(x))


def measure(batch, channels, size, path):
    times = [batch, channels]
    for dtype, pattern in PATTERNS.items():
        layer = make_layer(channels, dtype)
        x = torch.randn(batch, channels, size, size, device="cuda", dtype=dtype)
        last = x.to(memory_format=torch.channels_last)
        if dtype == torch.float32:
            times.append(time_dense(layer, x, allow_tf32=False))
        layer.to(memory_format=torch.channels_last)
        times.append(time_dense(layer, last, allow_tf32=True))
        torch.backends.cudnn.allow_tf32 = False
        pruned = make_layer(channels, dtype)
        nm.torch.sparsify(pruned, pattern, prune=True)
        times += [time_pruned(pruned, image, path) for image in (x, last)]
    return as_text(times)


def as_text(cells):
    return [f"{cell:.3g}" if isinstance(cell, float) else cell for cell in cells]


def measure_pattern(channels, size, pattern, path):
    """One image in f32: of the two layouts of images each side takes its better one."""
    planes = torch.randn(1, channels, size, size, device="cuda")
    images = planes, planes.to(memory_format=torch.channels_last)
    layer = make_layer(channels, torch.float32)
    dense, tf32 = (min(time_dense(layer.to(memory_format=layout), image, allow_tf32)
                       for layout, image in zip(LAYOUTS, images))
                   for allow_tf32 in (False, True))
    torch.backends.cudnn.allow_tf32 = False
    pruned = make_layer(channels, torch.float32)
    is_share = isinstance(pattern, float)
    sparsify(pruned, pattern)
    ours = min(time_pruned(pruned, image, path) for image in images)
    return as_text([channels, size, f"{pattern:g} % anywhere" if is_share else pattern, dense,
                    tf32, ours, dense / ours])


def sparsify(layer, pattern):
    """To a pattern, or by so many per cent that are pruned anywhere."""
    if isinstance(pattern, float):
        kept = round(layer[0].weight.numel() * (1 - pattern / 100))
        pattern = f"unstructured, kept = {kept}"
    nm.torch.sparsify(layer, pattern, prune=True)


def time_in_turns(calls, seconds=3, turn=.01, summary=min):
    """The `summary` of the microseconds of each of `calls`, which take turns of `turn` seconds:
    threads of OpenMP look for work for some time after a call, on the cores that the next one
    wants."""
    for call in calls * 3:
        call()
    times, end = [[] for _ in calls], time.perf_counter() + seconds
    while time.perf_counter() < end:
        for i, call in enumerate(calls):
            now = time.perf_counter()
            end_of_turn = now + turn
            while now < end_of_turn:
                begin, _ = now, call()
                now = time.perf_counter()
                times[i].append(1e6 * (now - begin))
    return [summary(taken) for taken in times]


def measure_on_cpu(channels, size, patterns, folder):
    planes = torch.randn(1, channels, size, size)
    images = [planes.to(memory_format=layout) for layout in LAYOUTS]
    calls = []
    for layout, x in zip(LAYOUTS, images):
        dense = nn.Conv2d(channels, channels, 3, padding=1, bias=False).to(memory_format=layout)
        calls.append(lambda dense=dense, x=x: dense(x))
    for i, pattern in enumerate(patterns):
        layer = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1, bias=False)).eval()
        sparsify(layer, pattern)
        expected = layer(planes).double()
        for layout, x in enumerate(images):
            exported = nm.torch.export(layer, x).compile(folder / f"{channels}-{i}-{layout}.so")
            error = (exported(x).double() - expected).norm() / expected.norm()
            assert error < 1e-5, error
            calls.append(lambda exported=exported, x=x: exported(x))
    return as_text([channels, size, *time_in_turns(calls)])


def lines_on_cpu(patterns, folder, threads):
    torch.set_num_threads(threads)
    names = [f"{each:g} % anywhere" if isinstance(each, float) else each for each in patterns]
    names = [name + layout for name in names for layout in ("", ", channels last")]
    return [ON_CPU + names], (measure_on_cpu(*layer, patterns, folder) for layer in LAYERS)


def lines_of(patterns, path):
    """The columns' names, and what gives the lines."""
    if patterns:
        return [OF_PATTERNS], (measure_pattern(channels, size, pattern, path)
                               for channels, size in LAYERS for pattern in patterns)
    return [COLUMNS], (measure(batch, channels, size, path)
                       for batch in (1, 32) for channels, size in LAYERS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zeros", action="append", type=float, default=[], metavar="PER_CENT",
                        help="pruned anywhere, for one image in f32")
    parser.add_argument("--pattern", action="append", default=[], help="of one image in f32")
    parser.add_argument("--target", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--threads", type=int, default=2, help="of a CPU")
    parser.add_argument("--csv", help="write the table to this file")
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    with (torch.no_grad(), tempfile.TemporaryDirectory() as folder,
          open(args.csv or os.devnull, "w", newline="", encoding="utf-8") as file):
        patterns = [*args.zeros, *args.pattern]
        header, lines = (lines_on_cpu(patterns, Path(folder), args.threads) if args.target == "cpu"
                         else lines_of(patterns, Path(folder) / "layer.so"))
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows(header)
        for line in lines:
            writer.writerow(line)
            file.flush()
            print(dict(zip(header[0], line)), flush=True)


if __name__ == "__main__":
    main()
