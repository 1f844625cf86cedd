"""Times layers without groups as they are called from PyTorch, beside dense ones.

usage: measure_layers.py [--type f32] [--batch 1 --batch 8] [--sparsity 90] [--pattern 2:4]
                         [--threads 2] [--seconds 0.5] [--layer "3x3, 64"...]
       measure_layers.py --device cuda [--eager] [--type f16] [--batch 1 --batch 32]...

Each layer is timed as it is, by patches that PyTorch makes and one product, and dense by PyTorch,
for images of both layouts. Times are medians of calls that take turns, in microseconds; in
parentheses, how many times as fast as patches, and as the dense layer, the layer is.

On a GPU calls are in CUDA graphs of 10, which take turns; with --eager they are called one by
one, 10 in a turn. The dense layer of f32 is timed with TensorFloat-32, too.
"""

import argparse
import copy
import statistics

import nm.torch
import torch
from measure_convolutions import in_graph, time_in_turns
from nm.torch import NMConv1d, NMConv2d, NMConv3d
from nm.torch._convolution import patches
from torch import nn

KINDS = {nn.Conv1d: NMConv1d, nn.Conv2d: NMConv2d, nn.Conv3d: NMConv3d}
#: First the 3x3 layers of ResNet-18.
LAYERS = {
    "3x3, 64, 56 x 56": (lambda: nn.Conv2d(64, 64, 3, padding=1), (56, 56)),
    "3x3, 128, 28 x 28": (lambda: nn.Conv2d(128, 128, 3, padding=1), (28, 28)),
    "3x3, 256, 14 x 14": (lambda: nn.Conv2d(256, 256, 3, padding=1), (14, 14)),
    "3x3, 512, 7 x 7": (lambda: nn.Conv2d(512, 512, 3, padding=1), (7, 7)),
    "1x1, 256 to 64, 56 x 56": (lambda: nn.Conv2d(256, 64, 1), (56, 56)),
    "3x3, 64 to 128, 56 x 56, stride 2": (lambda: nn.Conv2d(64, 128, 3, 2, 1), (56, 56)),
    "5, 256, 400": (lambda: nn.Conv1d(256, 256, 5, padding=2), (400,)),
    "3x3x3, 32, 16 x 16 x 16": (lambda: nn.Conv3d(32, 32, 3, padding=1), (16, 16, 16)),
}
TYPES = {"f32": (torch.float32, 1e-5), "f16": (torch.float16, 2e-3), "bf16": (torch.bfloat16, 1e-2)}


def channels_last(x):
    return x.movedim(1, -1).contiguous().movedim(-1, 1)


def prune(dense, pattern, sparsity):
    if pattern == "unstructured":
        with torch.no_grad():
            dense.weight[torch.rand(dense.weight.shape) < sparsity / 100] = 0
    return KINDS[type(dense)].from_dense(dense, pattern,
                                         prune_weight=pattern != "unstructured").eval()


def event():
    return torch.cuda.Event(enable_timing=True)


def one_by_one(call, calls):
    def run():
        for _ in range(calls):
            call()
    return run


def time_on_gpu(calls, eager, turns=15, each=10):
    """The medians of the microseconds of each of `calls`."""
    turns_of = [(one_by_one if eager else in_graph)(call, each) for call in calls]
    times = [[] for _ in calls]
    for turn in range(turns + 3):
        for i, run in enumerate(turns_of):
            begin, end = event(), event()
            begin.record()
            run()
            end.record()
            end.synchronize()
            if turn >= 3:
                times[i].append(begin.elapsed_time(end) * 1e3 / each)
    return [statistics.median(taken) for taken in times]


def with_tf32(call):
    def run():
        torch.backends.cudnn.allow_tf32 = True
        y = call()
        torch.backends.cudnn.allow_tf32 = False
        return y
    return run


def measure(name, layer, x, layout, limit, args):
    dense = layer.to_dense()
    exact = copy.deepcopy(dense).double()(x.double())
    if layout == "last":
        x = channels_last(x)
        if x.dim() == 4:
            dense = dense.to(memory_format=torch.channels_last)
    # Each has packed forms of its own, of which a GPU keeps few.
    layer, other = copy.deepcopy(layer), copy.deepcopy(layer)
    calls = [lambda: layer(x), lambda: other.product(patches(x, other)).movedim(-1, 1),
             lambda: dense(x)]
    for call in calls[:2]:
        error = ((call() - exact).norm() / exact.norm()).item()
        assert error < limit, error
    if args.device == "cuda" and x.dtype == torch.float32:
        calls.append(with_tf32(calls[-1]))
    own, *others = (time_on_gpu(calls, args.eager) if args.device == "cuda" else
                    time_in_turns(calls, args.seconds * len(calls), summary=statistics.median))
    digits = ".3g" if args.device == "cuda" else ".0f"
    cells = [f"{own:{digits}}", *(f"{other:{digits}} ({other / own:.2f})" for other in others)]
    print("|", " | ".join([name, str(len(x)), layout, *cells]), "|", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--type", default="f32", choices=TYPES)
    parser.add_argument("--batch", type=int, action="append")
    parser.add_argument("--pattern", default="2:4")
    parser.add_argument("--sparsity", type=float, default=90)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=.5)
    parser.add_argument("--layer", action="append", help="how names of layers begin to be timed")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--eager", action="store_true", help="without CUDA graphs")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    nm.set_num_threads(args.threads)
    torch.manual_seed(0)
    dtype, limit = TYPES[args.type]
    torch.backends.cudnn.benchmark, torch.backends.cudnn.allow_tf32 = True, False
    columns = ["layer", "batch", "channels", "nm", "patches", "PyTorch, dense"]
    if args.device == "cuda" and dtype == torch.float32:
        columns.append("with TF32")
    print("|", " | ".join(columns), "|\n" + "| --- " * len(columns) + "|")
    with torch.no_grad():
        for name, (maker, sizes) in LAYERS.items():
            if args.layer and not any(map(name.startswith, args.layer)):
                continue
            layer = prune(maker().to(dtype), args.pattern, args.sparsity).to(args.device)
            for batch in args.batch or ([1, 32] if args.device == "cuda" else [1, 8]):
                x = torch.randn(batch, layer.in_channels, *sizes).to(args.device, dtype)
                for layout in ("first", "last"):
                    measure(name, layer, x, layout, limit, args)


if __name__ == "__main__":
    main()
