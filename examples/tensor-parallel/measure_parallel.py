"""Measures feed-forward blocks as wide as those of a model of 70 billion parameters, on
one GPU and split over several.

usage: torchrun --nproc-per-node=GPUS measure_parallel.py [--csv FILE]

Weights are random and f16. The first layer of a block is split by its outputs, the
second by its inputs, so that a block ends with one all-reduce of its output. A time is
the median of replayed CUDA graphs; "products" is the time of one process's layers
without the all-reduces. The error is that of the split model beside the whole one.
"""

import argparse
import copy
import csv
import os
import statistics
import sys

import nm.torch
import torch
import torch.distributed as dist
from nm.torch.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch import nn
from torch.distributed.device_mesh import init_device_mesh

REPLAYS, ROUNDS = 10, 7
PATTERNS = {"dense": None, "2:4": "2:4", "VW64": "8:32, block = 1x64"}
HEADER = ["weights", "rows", "us_of_one", "us_of_all", "us_of_products", "processes",
          "error"]


def make_blocks(width, inner, count):
    return nn.Sequential(*(
        nn.Sequential(nn.Linear(width, inner, bias=False), nn.SiLU(),
                      nn.Linear(inner, width, bias=False)) for _ in range(count)))


def split(model, mesh):
    plan = {f"{block}.{layer}": style() for block in range(len(model))
            for layer, style in ((0, ColwiseParallel), (2, RowwiseParallel))}
    return parallelize_module(copy.deepcopy(model), mesh, plan)


def measure(run):
    """Microseconds of a call, all processes at once."""
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    times = []
    for _ in range(ROUNDS):
        dist.barrier()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(REPLAYS):
            graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e3 / REPLAYS)
    return statistics.median(times)


def measure_weights(name, options, mesh, example):
    """Yields the lines of the table for one kind of weights."""
    torch.manual_seed(0)
    model = make_blocks(options.width, options.inner, options.blocks).half().eval()
    part = make_blocks(options.width, options.inner // mesh.size(), options.blocks)
    part = part.half().eval()
    if PATTERNS[name]:
        for each in (model, part):
            nm.torch.sparsify(each, PATTERNS[name], example, prune=True, force=True)
    parallel = split(model, mesh)
    for rows in options.rows:
        x = torch.randn(rows, options.width, dtype=torch.float16)
        dist.broadcast(x, 0)
        whole, parts = model(x).float(), parallel(x).float()
        yield [name, rows, *(f"{measure(lambda: each(x)):.1f}"
                             for each in (model, parallel, part)),
               mesh.size(), f"{((parts - whole).norm() / whole.norm()).item():.1e}"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, default=8192)
    parser.add_argument("--inner", type=int, default=28672)
    parser.add_argument("--blocks", type=int, default=2)
    parser.add_argument("--rows", type=int, action="append", help="default: 16, 2048")
    parser.add_argument("--csv", help="write the table to this file")
    options = parser.parse_args()
    options.rows = options.rows or [16, 2048]
    return options


def main():
    options = parse_arguments()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    mesh = init_device_mesh("cuda", (dist.get_world_size(),))
    lines = []
    with torch.no_grad(), device:
        example = torch.randn(max(options.rows), options.width, dtype=torch.float16)
        for name in PATTERNS:
            for line in measure_weights(name, options, mesh, example):
                lines.append(line)
                if dist.get_rank() == 0:
                    print(*line, flush=True)
    if options.csv and dist.get_rank() == 0:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([HEADER, *lines])
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
