"""Measures the layers of a BERT in N:M beside dense ones, in one process and, sharded
by torch's tensor parallelism, in several.

usage: measure_layers.py [--pattern "8:32, block = 1x64"... | --by-granularity] [--type f16]
                         [--device cuda] [--processes 2 | --fused]
                         [--layers 24 [--distinct 2]] [--compile] [--tensorrt]
                         [--csv FILE] [--kernels-for CHIP]

With --by-granularity the patterns are those of nmSPARSE: 50, 75 and 90.6 % of zeros of
single weights, of vectors of 4, 32 and 64 outputs, and of blocks of 4 x 4, and 50, 75 and
87.5 % of squares of 64; 24 layers are all of BERT-large's. With --distinct that many layers
are drawn, and run again and again: what a layer writes leaves no weights of an earlier one in
a cache where there are as many tokens as here. With --compile a dense model of torch.compile
takes part, and with --tensorrt one of torch_tensorrt, where it can be loaded.

On a GPU a time is that of a CUDA graph. What has a pattern takes turns with the dense model, so
that a change of the clock falls on both, and its row is printed and written before the next is
prepared: a run that is cut off leaves what it has measured.
"""

import argparse
import copy
import csv
import itertools
import math
import os
import statistics
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

import nm
import nm.torch
import torch
import torch.distributed as dist
from encoder import Layer
from nm.torch.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch import multiprocessing, nn
from torch.distributed.device_mesh import init_device_mesh

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
# Of the replays of a graph that one time is of.
TURN_MS = 40
# From the coarsest on, which gain most.
GRANULARITIES = [f"1:{m}, block = 64x64" for m in (2, 4, 8)] + [
    f"{kept}:32, block = {block}" for block in ("1x64", "1x32", "4x4", "1x4", "1x1")
    for kept in (16, 8, 3)]
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


def linears_of(layers):
    return [(layer, name) for layer in layers for name in linear_names(layer)]


def in_threads(do, items, count=None):
    """`do` of each, by default on all processors: nm's library and PyTorch's operators let
    go of Python's lock."""
    def without_gradients(item):
        with torch.no_grad():
            return do(item)

    with ThreadPoolExecutor(count or os.cpu_count()) as pool:
        return list(pool.map(without_gradients, items))


def on_device(do, places):
    """`do` of each linear layer; one after the other on a CPU, where each takes all
    processors."""
    threads = None if next(iter(places))[0].norm1.weight.is_cuda else 1
    return in_threads(do, places, threads)


def make_pruned(drawn, pattern):
    """Dense twins with pruned weights."""
    pruned = copy.deepcopy(drawn)

    def prune(place):
        weight = getattr(*place).weight
        weight.copy_(nm.prune(weight, pattern, axis=1).weight)
    on_device(prune, linears_of(pruned))
    return pruned


def make_sparse(pruned, pattern):
    """Sparse twins of dense layers, and GELU fused to the product before it."""
    sparse = copy.deepcopy(pruned)
    places = linears_of(sparse)

    def convert(place):
        return nm.torch.NMLinear.from_dense(
            getattr(*place), pattern, activation="gelu" if place[1] == "fc1" else None)
    for (layer, name), converted in zip(places, on_device(convert, places)):
        setattr(layer, name, converted)
        layer.gelu = nn.Identity()
    return sparse


def pack(sparse, x):
    """Has all products pack their weights: a first call does."""
    def call(place):
        linear = getattr(*place)
        linear(x.new_zeros(*x.shape[:-1], linear.in_features))
    on_device(call, linears_of(sparse))


def make_parallel(model, mesh):
    """A twin of which each process has some heads and some of the inner columns."""
    parallel = copy.deepcopy(model)
    for layer in parallel:
        parallelize_module(layer, mesh, {
            **{name: ColwiseParallel() for name in COLUMNS},
            **{name: RowwiseParallel() for name in ROWS}})
        layer.heads //= mesh.size()
    return parallel


def kernel_cases(args):
    """Pattern, k, n, bias and activation of all products."""
    for pattern in args.pattern:
        for count in sorted({1, args.processes}):
            width, inner = args.width // count, args.inner // count
            for sizes in {
                    (args.width, width, True, None),
                    (width, args.width, count == 1, None),
                    (args.width, inner, True, "gelu"),
                    (inner, args.width, count == 1, None),
                    *([(args.width, 3 * args.width, True, None)] * args.fused)}:
                yield pattern, *sizes


def make_kernels(args, target):
    """Fills the cache, on all processors, and gives what the compiler said. The cache
    serves a machine that has a GPU and no compiler, too."""
    def compile_one(case):
        pattern, k, n, bias, activation = case
        layer = nm.torch.NMLinear(k, n, pattern, dtype=TYPES[args.type])
        return nm.precompile(layer.sparse_weight(), args.sentences * args.length,
                             target, bias=bias, activation=activation)
    return [remark for remarks in in_threads(compile_one, kernel_cases(args))
            for remark in remarks]


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
            for _ in range(3):  # Packs what is not packed, and sets up NCCL.
                self.model(self.x)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            self.output = self.model(self.x)
        torch.backends.cuda.matmul.allow_tf32 = before

        def replay(count):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(count):
                graph.replay()
            end.record()
            end.synchronize()
            return begin.elapsed_time(end) / count
        # The first replay uploads the graph.
        replay(1)
        count = max(math.ceil(TURN_MS / replay(1)), 1)
        return lambda: replay(count)

    def compare(self, expected):
        difference = (self.output.double() - expected.double()).norm()
        self.error = (difference / expected.double().norm()).item()


class Measurement:
    """Variants that are measured group by group, beside the first one.

    Attributes:
        x, layers: the input, and the layers that were drawn.
        dense: what all others are compared with.
    """

    def __init__(self, args, rank, mesh):
        self.args, self.rank, self.mesh = args, rank, mesh
        self.layers, self.x = make_layers(args)
        self.started = time.perf_counter()
        self.dense, self.is_accurate = None, True

    def say(self, text):
        if self.rank == 0:
            print(f"{time.perf_counter() - self.started:6.1f} s: {text}", file=sys.stderr,
                  flush=True)

    def variant(self, name, model, **options):
        found = Variant(name, model, self.x, takes_part=self.rank == 0, **options)
        self.say(f"prepared {name}")
        return found

    def parallel(self, name, model):
        """The same in all processes, where there are several."""
        if self.mesh is None:
            return []
        name = f"{name}, {self.mesh.size()} processes"
        found = Variant(name, make_parallel(model, self.mesh), self.x)
        self.say(f"prepared {name}")
        return [found]

    def reference_of(self, layers):
        """The output of dense layers in f32."""
        exact = [copy.deepcopy(layer).float() for layer in layers]
        return stack(exact, self.args.layers)(self.x.float())

    def dense_group(self):
        args, model = self.args, stack(self.layers, self.args.layers)
        name = f"dense {args.type}"
        self.dense = self.variant(name, model)
        group = [self.dense]
        if args.type == "f32" and self.x.is_cuda:
            group.append(self.variant("dense tf32", model, tf32=True))
        if args.compile:
            group.append(self.variant(f"{name}, torch.compile", make_compiled(model)))
        if args.tensorrt:
            group += self.tensorrt(name, model)
        return group + self.parallel(name, model), self.reference_of(self.layers)

    def tensorrt(self, name, model):
        try:
            import torch_tensorrt
        except (ImportError, OSError, RuntimeError) as error:
            self.say(f"no TensorRT beside, as it cannot be loaded: {error}")
            return []
        compiled = torch_tensorrt.compile(model, ir="dynamo", inputs=[self.x],
                                          enabled_precisions={self.x.dtype})
        return [self.variant(f"{name}, TensorRT", compiled)]

    def sparse_group(self, pattern):
        pruned = make_pruned(self.layers, pattern)
        sparse = make_sparse(pruned, pattern)
        if self.rank == 0:
            pack(sparse, self.x)
        model = stack(sparse, self.args.layers)
        return ([self.variant(pattern, model), *self.parallel(pattern, model)],
                self.reference_of(pruned))

    def measure(self, group, reference):
        """Rows of a group, whose variants take turns with the dense one."""
        turns = group if self.dense in group else [self.dense, *group]
        self.dense.times = []
        for round_ in range(self.args.rounds + 1):
            for variant in turns:
                if self.mesh is not None:
                    dist.barrier()
                if variant.takes_part:
                    taken = variant.run()
                    variant.times += [taken] if round_ else []  # The first warms up.
        for variant in group:
            if variant.takes_part:
                variant.compare(reference)
                self.is_accurate &= variant.error < self.args.tolerance
        return [row_of(variant, self.dense) for variant in group if self.rank == 0]

    def rows(self):
        """Those of one group after the other; no group is kept."""
        yield from self.measure(*self.dense_group())
        for pattern in self.args.pattern:
            yield from self.measure(*self.sparse_group(pattern))


def make_compiled(model):
    """Layer by layer: what is compiled for the first serves the others."""
    compiled = {layer: torch.compile(layer) for layer in model}
    return nn.Sequential(*(compiled[layer] for layer in model))


HEADER = ["weights", "ms", "least", "most", "dense / time", "error"]


def row_of(variant, dense):
    middle = statistics.median(variant.times)
    return [variant.name, f"{middle:.3f}", f"{min(variant.times):.3f}",
            f"{max(variant.times):.3f}", f"{statistics.median(dense.times) / middle:.2f}",
            f"{variant.error:.1e}"]


def write_rows(path, rows):
    """Prints and writes each row when it comes; without a path prints them alone."""
    with open(path or os.devnull, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        for name, *numbers in rows:
            writer.writerow([name, *numbers])
            file.flush()
            print(f"{name:36}" + "".join(f"{number:>14}" for number in numbers), flush=True)


def measure_and_print(args, rank, mesh):
    with torch.no_grad():
        measurement = Measurement(args, rank, mesh)
        if rank == 0:
            write_rows(args.csv, itertools.chain([HEADER], measurement.rows()))
        else:
            assert not list(measurement.rows()), "expected rows of the first process alone"
    assert measurement.is_accurate, "expected all variants to agree"


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
    parser.add_argument("--tensorrt", action="store_true",
                        help="a dense model of torch_tensorrt beside, where it can be loaded")
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
        print(*make_kernels(args, f"cuda:{args.kernels_for}"), sep="\n")
        return
    device = torch.cuda.get_device_name() if args.device == "cuda" else "the CPU"
    print(f"{args.layers} layers of {args.width}, {args.inner} inside, "
          f"{args.sentences} x {args.length} tokens, {args.type}, on {device}\n",
          flush=True)
    if args.device == "cuda":
        make_kernels(args, "cuda")
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        if args.processes == 1:
            work(0, args, store)
        else:
            multiprocessing.spawn(work, (args, store), args.processes)


if __name__ == "__main__":
    main()
