"""Prunes the networks of a package that reads text in images, and runs them as one shared object.

usage: text_in_images.py [--pattern 2:4] [--target cpu]

rapidocr-onnxruntime ships networks as ONNX files: one finds text, one says which way up it is, and
one, which ends with layers of attention, reads it. Each becomes a PyTorch module, whose convolutions are pruned to the
pattern, and then one shared object, beside ONNX Runtime (dense) and the pruned module in float64.

    pip install rapidocr-onnxruntime onnx
"""

import argparse
import importlib.util
import statistics
import tempfile
import time
from pathlib import Path

import nm.torch
import numpy as np
import onnx
import onnxruntime
import torch
from onnx import numpy_helper
from torch import Tensor, nn
from torch.nn import functional

# Where text is, which way up it is, and what it says: a file each, and a size of its image.
NETWORKS = {"ch_PP-OCRv4_det_infer.onnx": (1, 3, 320, 320),
            "ch_ppocr_mobile_v2.0_cls_infer.onnx": (1, 3, 48, 192),
            "ch_PP-OCRv4_rec_infer.onnx": (1, 3, 48, 320)}

# Of f32: a sigmoid of large negative numbers makes their errors shares of its results.
LIMIT = 1e-3


def upsample(x: Tensor, scale: int) -> Tensor:
    """Each pixel as `scale` x `scale` of them."""
    n, c, h, w = x.shape
    return (x.reshape(n, c, h, 1, w, 1).expand(n, c, h, scale, w, scale)
            .reshape(n, c, h * scale, w * scale))


class Upscale(nn.Module):
    """A transposed convolution whose taps are as many as its stride: a 1x1 one with outputs
    for each pixel of a tap."""

    def __init__(self, weight: Tensor, bias: Tensor | None):
        super().__init__()
        inputs, self.outputs, self.scale, _ = weight.shape
        self.conv = nn.Conv2d(inputs, self.outputs * self.scale ** 2, 1, bias=bias is not None)
        self.conv.weight.data = weight.permute(1, 2, 3, 0).reshape(-1, inputs, 1, 1).clone()
        if bias is not None:
            self.conv.bias.data = bias.repeat_interleave(self.scale ** 2)

    def forward(self, x: Tensor) -> Tensor:
        n, _, h, w = x.shape
        s = self.scale
        y = self.conv(x).reshape(n, self.outputs, s, s, h, w)
        return y.permute(0, 1, 4, 2, 5, 3).reshape(n, self.outputs, h * s, w * s)


def same_pads(given: dict) -> tuple[int, int]:
    top, left, bottom, right = given.get("pads", [0, 0, 0, 0])
    assert (top, left) == (bottom, right), given
    return top, left


def make_conv(given: dict, weight: Tensor, bias: Tensor | None = None) -> nn.Module:
    groups = given.get("group", 1)
    conv = nn.Conv2d(weight.shape[1] * groups, weight.shape[0], tuple(weight.shape[2:]),
                     given.get("strides", 1), same_pads(given), given.get("dilations", 1),
                     groups, bias is not None)
    conv.weight.data = weight
    if bias is not None:
        conv.bias.data = bias
    return conv


def make_upscale(given: dict, weight: Tensor, bias: Tensor | None = None) -> nn.Module:
    assert list(weight.shape[2:]) == given["strides"] and same_pads(given) == (0, 0), given
    return Upscale(weight, bias)


def make_norm(given: dict, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor) -> nn.Module:
    norm = nn.BatchNorm2d(len(scale), given.get("epsilon", 1e-5))
    norm.weight.data, norm.bias.data = scale, bias
    norm.running_mean, norm.running_var = mean, var
    return norm


#: Nodes whose other inputs are parameters of a module.
MODULES = {"Conv": make_conv, "ConvTranspose": make_upscale, "BatchNormalization": make_norm}
#: Nodes whose constants are sizes and the like.
OF_SIZES = {"Clip", "ReduceMean", "Reshape", "Resize", "Slice", "Squeeze"}
#: Nodes that are functions: of the attributes and the inputs.
FUNCTIONS = {
    "Add": lambda given, a, b: a + b,
    "Sub": lambda given, a, b: a - b,
    "Mul": lambda given, a, b: a * b,
    "Div": lambda given, a, b: a / b,
    "Pow": lambda given, a, b: a ** b,
    "Sqrt": lambda given, a: a.sqrt(),
    "MatMul": lambda given, a, b: a @ b,
    "Gemm": lambda given, a, b, c: a @ (b.mT if given.get("transB") else b) + c,
    "Identity": lambda given, a: a,
    "Relu": lambda given, a: a.relu(),
    "Sigmoid": lambda given, a: a.sigmoid(),
    "HardSigmoid": lambda given, a: (
        a * given.get("alpha", .2) + given.get("beta", .5)).clamp(0, 1),
    "Clip": lambda given, a, low, high: a.clamp(float(low), float(high)),
    "Softmax": lambda given, a: a.softmax(given.get("axis", -1)),
    "GlobalAveragePool": lambda given, a: a.mean((2, 3), keepdim=True),
    "AveragePool": lambda given, a: functional.avg_pool2d(
        a, given["kernel_shape"], given["strides"], same_pads(given)),
    "MaxPool": lambda given, a: functional.max_pool2d(
        a, given["kernel_shape"], given["strides"], same_pads(given)),
    "ReduceMean": lambda given, a, axes=None: a.mean(
        given.get("axes", axes and axes.tolist()), bool(given.get("keepdims", 1))),
    "Concat": lambda given, *parts: torch.cat(parts, given["axis"]),
    "Transpose": lambda given, a: a.permute(given["perm"]),
    "Reshape": lambda given, a, shape: a.reshape(
        [a.shape[i] if size == 0 else size for i, size in enumerate(shape.tolist())]),
    "Squeeze": lambda given, a, axes=None: a.squeeze(
        tuple(given.get("axes", axes is not None and axes.tolist()))),
    "Slice": lambda given, a, begin, end, axes, steps=None: slice_of(a, begin, end, axes),
    "Resize": lambda given, a, roi=None, scales=None, sizes=None: upsample(
        a, int(scales[2] if scales is not None and len(scales) else sizes[2] // a.shape[2])),
}


def slice_of(a: Tensor, begin: np.ndarray, end: np.ndarray, axes: np.ndarray) -> Tensor:
    for axis, first, last in zip(axes.tolist(), begin.tolist(), end.tolist()):
        a = a.narrow(axis, first, min(last, a.shape[axis]) - first)
    return a


class Network(nn.Module):
    """An ONNX graph of known sizes, node by node."""

    def __init__(self, graph: onnx.GraphProto):
        super().__init__()
        constants = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
        self.nodes, self.layers = [], nn.ModuleDict()
        sizes = {name for node in graph.node if node.op_type in OF_SIZES for name in node.input}
        for node in graph.node:
            given = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
            if node.op_type in MODULES:
                parameters = [torch.tensor(constants[name]) for name in node.input[1:]]
                call = f"{node.op_type}_{len(self.layers)}"
                self.layers[call] = MODULES[node.op_type](given, *parameters)
                inputs = [node.input[0]]
            else:
                call, inputs = FUNCTIONS[node.op_type], list(node.input)
            self.nodes.append((call, given, inputs, node.output[0]))
        self.arrays = {name: constants[name] for _, _, inputs, _ in self.nodes
                       for name in inputs if name in constants}
        for name, array in self.arrays.items():
            if array.ndim and name not in sizes:
                self.register_buffer(name.replace(".", "_"), torch.tensor(array))
        self.inputs, self.outputs = graph.input[0].name, graph.output[0].name

    def constant(self, name: str):
        """A tensor of numbers that are computed with, a number, or an array of sizes."""
        array = self.arrays[name]
        return getattr(self, name.replace(".", "_"), array if array.ndim else array.item())

    def forward(self, x: Tensor) -> Tensor:
        values = {self.inputs: x, "": None}
        for call, given, inputs, output in self.nodes:
            operands = [values[name] if name in values else self.constant(name)
                        for name in inputs]
            values[output] = (self.layers[call](*operands) if isinstance(call, str)
                              else call(given, *operands))
        return values[self.outputs]


def load(path: Path, shape: tuple[int, ...]) -> tuple[Network, onnxruntime.InferenceSession]:
    """The network for images of `shape`, for which ONNX Runtime folds all that depends on sizes."""
    model = onnx.load(path)
    for dim, size in zip(model.graph.input[0].type.tensor_type.shape.dim, shape):
        dim.dim_value = size
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(Path(folder) / "folded.onnx")
        options.intra_op_num_threads = torch.get_num_threads()
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        return Network(onnx.load(options.optimized_model_filepath).graph).eval(), session


def error_of(got: Tensor, expected: Tensor) -> float:
    return float((got.double() - expected.double()).norm() / expected.double().norm())


def milliseconds(call, calls: int = 20) -> float:
    times = []
    for _ in range(calls):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times)


def measure(path: Path, shape: tuple[int, ...], pattern: str, target: str) -> None:
    network, session = load(path, shape)
    x = torch.randn(shape)
    dense = torch.from_numpy(session.run(None, {network.inputs: x.numpy()})[0])
    assert error_of(network(x), dense) < LIMIT, "the module is not the file's network"
    rules = {name: pattern for name, layer in network.named_modules()
             if isinstance(layer, nn.Conv2d) and layer.groups == 1 and layer.in_channels > 3}
    nm.torch.sparsify(network, rules, prune=True)
    with tempfile.TemporaryDirectory() as folder:
        compiled = nm.torch.export(network, x).compile(Path(folder) / "network.so", target=target)
        y = compiled(x)
        ours = milliseconds(lambda: compiled(x))
    onnx_time = milliseconds(lambda: session.run(None, {network.inputs: x.numpy()}))
    nm.torch.densify(network)
    error = error_of(y, network.double()(x.double()))
    print(f"{path.name}: {len(rules)} convolutions of {pattern}, error {error:.1e}, "
          f"{ours:.2f} ms, ONNX Runtime, dense {onnx_time:.2f} ms", flush=True)
    assert error < LIMIT, "the shared object is not the pruned network"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pattern", default="2:4", help="what convolutions are pruned to")
    parser.add_argument("--target", default="cpu")
    args = parser.parse_args()
    torch.manual_seed(0)
    package = importlib.util.find_spec("rapidocr_onnxruntime")
    folder = Path(package.origin).parent / "models"
    with torch.no_grad():
        for name, shape in NETWORKS.items():
            measure(folder / name, shape, args.pattern, args.target)


if __name__ == "__main__":
    main()
