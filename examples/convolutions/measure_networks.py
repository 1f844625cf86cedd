"""Times networks of images from end to end, pruned, beside PyTorch.

usage: measure_networks.py [--target cuda|cpu] [--network resnet50...] [--sparsity 0.9]
                           [--pattern 8:32] [--type f16 --batch 32]

Weights are random; convolutions are pruned anywhere, but for the first and depthwise ones, or to
--pattern, and so are the linear layers of ViT-B's blocks; with --pattern dense they are not pruned.
nm's network is what `nm.torch.export` makes of it, one shared object, which must be equal to
PyTorch's of the same weights: 1e-4 in f32, 2e-3 in f16. The timed network of PyTorch is dense, in
f32 and on a GPU with TF32, with images in planes and with channels last; in f16, by `torch.compile`
with channels last, too. A time is the median of replayed CUDA graphs, in microseconds, or on a CPU
the least of calls by two threads that take turns: pin these to two cores, as `taskset -c 0,1` does.
There, PyTorch's network is timed as it is and as `torch.jit.optimize_for_inference` makes it, with
batch normalization in the filters.
"""

import argparse
import copy
import tempfile
import time
from pathlib import Path

import nm.torch
import torch
import transformers
from measure_convolutions import time_in_turns, time_of
from torch import nn

# Of PyTorch's times, without and with TF32.
NAMES = {allow_tf32: [f"PyTorch {kind}", f"PyTorch {kind}, channels last"]
         for allow_tf32, kind in ((False, "f32"), (True, "TF32"))}
TYPES = {"f32": torch.float32, "f16": torch.float16}
NETWORKS = {
    "resnet18": lambda: transformers.ResNetForImageClassification(transformers.ResNetConfig(
        layer_type="basic", depths=[2, 2, 2, 2], hidden_sizes=[64, 128, 256, 512],
        num_labels=1000)),
    "resnet50": lambda: transformers.ResNetForImageClassification(
        transformers.ResNetConfig(num_labels=1000)),
    "mobilenet_v1": lambda: transformers.MobileNetV1ForImageClassification(
        transformers.MobileNetV1Config(num_labels=1000)),
    "mobilenet_v2": lambda: transformers.MobileNetV2ForImageClassification(
        transformers.MobileNetV2Config(num_labels=1000)),
    "vit_base": lambda: transformers.ViTForImageClassification(
        transformers.ViTConfig(num_labels=1000)),
}


class Logits(nn.Module):
    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x).logits


def make_network(name):
    network = Logits(NETWORKS[name]()).eval()
    for layer in network.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.running_var.uniform_(.5, 1.5)
            layer.running_mean.normal_(0, .1)
    return network


def is_pruned(name, layer):
    """Convolutions of images inside a network, and linear layers of a transformer's blocks."""
    if isinstance(layer, nn.Conv2d):
        return layer.groups == 1 and layer.in_channels > 3
    return isinstance(layer, nn.Linear) and "classifier" not in name


def rules_of(network, pattern):
    return {name: pattern for name, layer in network.named_modules() if is_pruned(name, layer)}


def time_on_gpu(call):
    return time_of(call, calls=1, replays=30)


def time_compiled(network, x):
    """By torch.compile, with channels last."""
    network.to(memory_format=torch.channels_last)
    compiled, image = torch.compile(network), x.to(memory_format=torch.channels_last)
    time = time_on_gpu(lambda: compiled(image))
    network.to(memory_format=torch.contiguous_format)
    return time


def time_dense(network, x, allow_tf32):
    """With images in planes and with channels last."""
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = allow_tf32
    times = []
    for layout in (torch.contiguous_format, torch.channels_last):
        network.to(memory_format=layout)
        image = x.to(memory_format=layout)
        times.append(time_on_gpu(lambda: network(image)))
    network.to(memory_format=torch.contiguous_format)
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    return times


def calls_of_dense(network, x):
    """Calls on a CPU, with images in planes and with channels last, and of what PyTorch optimizes."""
    calls = {}
    for layout, name in zip((torch.contiguous_format, torch.channels_last), NAMES[False]):
        dense, image = copy.deepcopy(network).to(memory_format=layout), x.to(memory_format=layout)
        optimized = torch.jit.optimize_for_inference(torch.jit.trace(dense, image))
        calls[name] = lambda dense=dense, image=image: dense(image)
        calls[f"{name}, optimized"] = lambda dense=optimized, image=image: dense(image)
    return calls


def time_network(exported, x, dense_calls):
    """Of nm and, on a CPU, of the dense calls, too."""
    if x.device.type == "cuda":
        return {"nm": time_on_gpu(lambda: exported(x))}
    times = time_in_turns([lambda: exported(x), *dense_calls.values()], seconds=6)
    return dict(zip(["nm", *dense_calls], times))


def measure(name, args):
    dtype = TYPES[args.type]
    network = make_network(name).to(args.target, dtype)
    x = torch.randn(args.batch, 3, 224, 224, device=args.target, dtype=dtype)
    line, dense_calls = {"network": name}, {}
    if args.target == "cpu":
        dense_calls = calls_of_dense(network, x)
    elif args.type == "f16":
        names = "PyTorch f16", "PyTorch f16, channels last"
        line |= dict(zip(names, time_dense(network, x, allow_tf32=False)))
        line["torch.compile"] = time_compiled(network, x)
    else:
        for allow_tf32, names in NAMES.items():
            line |= dict(zip(names, time_dense(network, x, allow_tf32)))
    if args.pattern != "dense":
        options = {"sparsity": args.sparsity} if args.pattern == "unstructured" else {}
        nm.torch.sparsify(network, rules_of(network, args.pattern), prune=True, **options)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        exported = nm.torch.export(network, x).compile(Path(folder) / "network.so",
                                                       target=args.target)
        line["export and compile, s"] = time.perf_counter() - begin
        expected, got = network(x).double(), exported(x).double()
        line["error"] = ((got - expected).norm() / expected.norm()).item()
        assert line["error"] < (1e-4 if args.type == "f32" else 2e-3), line
        line |= time_network(exported, x, dense_calls)
    print({key: f"{cell:.3g}" if key == "error" else f"{cell:.1f}" if key != "network" else cell
           for key, cell in line.items()}, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--network", action="append", choices=list(NETWORKS))
    parser.add_argument("--pattern", default="unstructured")
    parser.add_argument("--sparsity", type=float, default=0.9, help="of unstructured weights")
    parser.add_argument("--type", choices=TYPES, default="f32")
    parser.add_argument("--batch", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    if args.target == "cpu":
        torch.set_num_threads(2)
    with torch.no_grad():
        for name in args.network or NETWORKS:
            measure(name, args)


if __name__ == "__main__":
    main()
