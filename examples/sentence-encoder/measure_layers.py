"""Measures the layers of a BERT in N:M beside dense ones, in one process and, sharded
by torch's tensor parallelism, in several.

usage: measure_layers.py [--pattern "8:32, block = 1x64"... | --by-granularity] [--type f16]
                         [--device cuda] [--processes 2 | --fused]
                         [--layers 24 [--distinct 2]] [--compile] [--csv FILE]
                         [--kernels-for CHIP]

With --by-granularity the patterns are those of nmSPARSE: 50, 75 and 90.6 % of zeros of
single weights, of vectors of 4, 32 and 64 outputs, and of blocks of 4 x 4, and 50, 75 and
87.5 % of squares of 64; 24 layers are all of BERT-large's. With --distinct that many layers
are drawn, and run again and again: what a layer writes leaves no weights of an earlier one in
a cache where there are as many tokens as here. With --compile a dense model of torch.compile takes part.

On a GPU a time is that of a CUDA graph. All variants take turns, so that a change of
the clock falls on each.
"""

import argparse
import copy
import csv
import os
import statistics
import sys
import tempfile
import time
import traceback

import nm
import nm.torch
import torch
import torch.distributed as dist
from encoder import Layer
from nm.torch.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch import multiprocessing, nn
from torch.distributed.device_mesh import init_device_mesh

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
REPLAYS = 10
GRANULARITIES = [f"{kept}:32, block = {block}" for block in ("1x1", "1x4", "1x32", "1x64", "4x4")
                 for kept in (16, 8, 3)] + [f"1:{m}, block = 64x64" for m in (2, 4, 8)]
COLUMNS, ROWS = ("query", "key", "value", "fc1"), ("mixed", "fc2")


class FusedLayer(Layer):
    """A layer whose query, key and value are one product."""

    def __init__(self, width, heads, inner):
        super().__init__(width, heads, inner)
        del self.query, self.key, self.value
        self.together = nn.Linear(width, 3 * width)

    def project(self, x):
        return self.together(x).chunk(3, -1)


def linear_names(layer):
    return [name for name, part in layer.named_children()
            if isinstance(part, (nn.Linear, nm.torch.NMLinear))]


def make_layers(args):
    torch.manual_seed(0)
    with torch.device(args.device):
        kind = FusedLayer if args.fused else Layer
        drawn = [kind(args.width, args.heads, args.inner)
                 for _ in range(min(args.distinct or args.layers, args.layers))]
        x = torch.randn(args.sentences, args.length, args.width)
    drawn = [layer.to(TYPES[args.type]).eval() for layer in drawn]
    return drawn, x.to(TYPES[args.type])


def stack(drawn, count):
    """A model of `count` layers, the drawn ones again and again."""
    return nn.Sequential(*(drawn[i % len(drawn)] for i in range(count)))


def make_sparse(drawn, pattern):
    """Twins with pruned weights, and GELU fused to the product before it."""
    sparse = copy.deepcopy(drawn)
    for layer in sparse:
        for name in linear_names(layer):
            setattr(layer, name, nm.torch.NMLinear.from_dense(
                getattr(layer, name), pattern, prune_weight=True,
                activation="gelu" if name == "fc1" else None))
        layer.gelu = nn.Identity()
    return sparse


def make_dense(sparse):
    """Dense twins of sparse layers, in f32."""
    dense = copy.deepcopy(sparse)
    for layer in dense:
        for name in linear_names(layer):
            setattr(layer, name, getattr(layer, name).to_dense())
    return [layer.float() for layer in dense]


def make_parallel(model, mesh):
    """A twin of which each process has some heads and some of the inner columns."""
    parallel = copy.deepcopy(model)
    for layer in parallel:
        parallelize_module(layer, mesh, {
            **{name: ColwiseParallel() for name in COLUMNS},
            **{name: RowwiseParallel() for name in ROWS}})
        layer.heads //= mesh.size()
    return parallel


def make_kernels(args):
    """Fills the cache for a machine that has a GPU and no compiler."""
    for pattern in args.pattern:
        for count in sorted({1, args.processes}):
            width, inner = args.width // count, args.inner // count
            for k, n, bias, activation in {
                    (args.width, width, True, None),
                    (width, args.width, count == 1, None),
                    (args.width, inner, True, "gelu"),
                    (inner, args.width, count == 1, None),
                    *([(args.width, 3 * args.width, True, None)] * args.fused)}:
                layer = nm.torch.NMLinear(k, n, pattern, dtype=TYPES[args.type])
                remarks = nm.precompile(
                    layer.sparse_weight(), args.sentences * args.length,
                    f"cuda:{args.kernels_for}", bias=bias, activation=activation)
                print(*remarks, sep="\n", flush=True)


class Variant:
    """A model and its times, in ms.

    Attributes:
        takes_part: whether this process runs it.
        error: beside the dense model with the same weights in f32.
    """

    def __init__(self, name, model, x, takes_part=True, tf32=False):
        self.name, self.model, self.x = name, model, x
        self.takes_part, self.times, self.error = takes_part, [], None
        if takes_part:
            self.run = self._captured(tf32) if x.is_cuda else self._called

    def _called(self):
        start = time.perf_counter()
        self.output = self.model(self.x)
        return (time.perf_counter() - start) * 1e3

    def _captured(self, tf32):
        before = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = tf32
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):  # Packs the weights, and sets up NCCL.
                self.model(self.x)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            self.output = self.model(self.x)
        torch.backends.cuda.matmul.allow_tf32 = before

        def run():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(REPLAYS):
                graph.replay()
            end.record()
            end.synchronize()
            return begin.elapsed_time(end) / REPLAYS
        return run

    def compare(self, expected):
        difference = (self.output.double() - expected.double()).norm()
        self.error = (difference / expected.double().norm()).item()


def make_variants(args, rank, mesh):
    drawn, x = make_layers(args)
    variants, expected = [], {}

    started = time.perf_counter()

    def add(name, model, reference, takes_part=True, **options):
        variants.append(Variant(name, model, x, takes_part, **options))
        expected[name] = reference
        if rank == 0:
            print(f"{time.perf_counter() - started:6.1f} s: prepared {name}",
                  file=sys.stderr, flush=True)

    def add_parallel(name, model, reference):
        if mesh is not None:
            add(f"{name}, {mesh.size()} processes", make_parallel(model, mesh), reference)

    def reference_of(layers):
        return stack(layers, args.layers)(x.float())

    alone = rank == 0
    model = stack(drawn, args.layers)
    reference = reference_of([copy.deepcopy(layer).float() for layer in drawn])
    add(f"dense {args.type}", model, reference, alone)
    if args.type == "f32" and x.is_cuda:
        add("dense tf32", model, reference, alone, tf32=True)
    if args.compile:
        add(f"dense {args.type}, torch.compile", make_compiled(model), reference, alone)
    add_parallel(f"dense {args.type}", model, reference)
    for pattern in args.pattern:
        pruned = make_sparse(drawn, pattern)
        sparse, reference = stack(pruned, args.layers), reference_of(make_dense(pruned))
        add(pattern, sparse, reference, alone)
        add_parallel(pattern, sparse, reference)
    return variants, expected


def make_compiled(model):
    """Layer by layer: what is compiled for the first serves the others."""
    compiled = {layer: torch.compile(layer) for layer in model}
    return nn.Sequential(*(compiled[layer] for layer in model))


def measure(args, rank, mesh):
    variants, expected = make_variants(args, rank, mesh)
    for round_ in range(args.rounds + 1):
        for variant in variants:
            if mesh is not None:
                dist.barrier()
            if variant.takes_part:
                taken = variant.run()
                variant.times += [taken] if round_ else []  # The first warms up.
    for variant in variants:
        if variant.takes_part:
            variant.compare(expected[variant.name])
    return variants


def print_table(variants):
    base = statistics.median(variants[0].times)
    print(f"{'':36}  {'ms (least, most)':>24}  dense/time  error")
    for variant in variants:
        middle = statistics.median(variant.times)
        print(f"{variant.name:36}  {middle:8.3f} ({min(variant.times):6.3f}, "
              f"{max(variant.times):6.3f})  {base / middle:9.2f}x  {variant.error:.1e}",
              flush=True)


def write_csv(path, variants):
    base = statistics.median(variants[0].times)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["weights", "ms", "least", "most", "dense / time", "error"])
        for variant in variants:
            middle = statistics.median(variant.times)
            writer.writerow([variant.name, f"{middle:.3f}", f"{min(variant.times):.3f}",
                             f"{max(variant.times):.3f}", f"{base / middle:.2f}",
                             f"{variant.error:.1e}"])


def measure_and_print(args, rank, mesh):
    with torch.no_grad():
        variants = measure(args, rank, mesh)
    if rank == 0:
        print_table(variants)
        if args.csv:
            write_csv(args.csv, variants)
    assert all(variant.error < args.tolerance for variant in variants
               if variant.takes_part), "expected all variants to agree"


def end_process(status):
    """Ends it at once. After an error NCCL would wait for the other process. And a
    thread of gloo may let the last collective's tensors go while the interpreter ends,
    which aborts the process."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def work(rank, args, store):
    """One of the processes."""
    if args.device == "cpu":
        torch.set_num_threads(max(nm.get_num_threads() // args.processes, 1))
        nm.set_num_threads(torch.get_num_threads())
    else:
        torch.cuda.set_device(rank)
    if args.processes == 1:
        measure_and_print(args, rank, mesh=None)
        return
    dist.init_process_group("nccl" if args.device == "cuda" else "gloo",
                            init_method=f"file://{store}", rank=rank,
                            world_size=args.processes)
    mesh = init_device_mesh(args.device, (args.processes,))
    try:
        measure_and_print(args, rank, mesh)
        # The graphs are gone by now: NCCL waits for those that captured its calls.
        dist.destroy_process_group()
    except Exception:
        traceback.print_exc()
        end_process(1)
    end_process(0)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pattern", action="append")
    parser.add_argument("--type", default="f32", choices=TYPES)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--fused", action="store_true",
                        help="query, key and value as one product, in one process")
    for name, default in (("layers", 4), ("width", 1024), ("inner", 4096),
                          ("heads", 16), ("sentences", 24), ("length", 128),
                          ("rounds", 15)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--distinct", type=int, metavar="LAYERS",
                        help="how many layers are drawn (default all)")
    parser.add_argument("--compile", action="store_true",
                        help="a dense model of torch.compile beside")
    parser.add_argument("--by-granularity", action="store_true")
    parser.add_argument("--csv", metavar="FILE")
    parser.add_argument("--kernels-for", metavar="CHIP")
    args = parser.parse_args()
    if args.by_granularity:
        args.pattern = (args.pattern or []) + GRANULARITIES
    if args.fused and args.processes > 1:
        parser.error("expected one process with --fused, whose columns are of three")
    if args.distinct and args.processes > 1:
        parser.error("expected one process with --distinct, whose layers stand for others")
    args.pattern = args.pattern or ["8:32, block = 1x64", "8:32, block = 1x128"]
    # Of all layers together.
    args.tolerance = {"f32": 1e-2, "f16": 1e-2, "bf16": 5e-2}[args.type]
    if args.kernels_for:
        make_kernels(args)
        return
    device = torch.cuda.get_device_name() if args.device == "cuda" else "the CPU"
    print(f"{args.layers} layers of {args.width}, {args.inner} inside, "
          f"{args.sentences} x {args.length} tokens, {args.type}, on {device}\n",
          flush=True)
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        if args.processes == 1:
            work(0, args, store)
        else:
            multiprocessing.spawn(work, (args, store), args.processes)


if __name__ == "__main__":
    main()
