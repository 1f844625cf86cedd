"""Convolutions with N:M weights in PyTorch: layers beside the dense ones, training,
sparsify, save and load, and whole networks exported."""

import copy
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import nm
import numpy as np
import pytest

torch = pytest.importorskip("torch")
import nm.torch  # noqa: E402
from model_folders import write_folders  # noqa: E402
from nm.torch import NMConv1d, NMConv2d, NMConv3d, NMLinear  # noqa: E402
from torch import nn  # noqa: E402


def _pruned(dense, pattern, block=None):
    """The dense convolution of a pruned weight."""
    kinds = {nn.Conv1d: NMConv1d, nn.Conv2d: NMConv2d, nn.Conv3d: NMConv3d}
    layer = kinds[type(dense)].from_dense(dense, pattern, block, prune_weight=True)
    pruned = copy.deepcopy(dense)
    with torch.no_grad():
        pruned.weight.copy_(layer.weight)
    return layer.eval(), pruned.eval()


def _error(y, expected):
    return float((y.double() - expected.double()).norm() / expected.double().norm())


CASES = [
    (nn.Conv2d(16, 24, 3, padding=1), (2, 16, 9, 11)),
    (nn.Conv2d(16, 24, 3, stride=2, dilation=2, bias=False), (2, 16, 13, 11)),
    (nn.Conv2d(16, 24, 1), (1, 16, 5, 7)),
    (nn.Conv2d(12, 24, (3, 2), stride=(1, 2), padding=(0, 1)), (3, 12, 8, 8)),
    (nn.Conv2d(16, 24, 3, padding="same"), (2, 16, 6, 7)),
    (nn.Conv2d(8, 16, (2, 3), padding="same", dilation=(3, 1)), (2, 8, 6, 7)),
    (nn.Conv1d(8, 16, 3, padding="valid"), (2, 8, 9)),
    (nn.Conv1d(8, 16, 5, padding=2), (2, 8, 31)),
    (nn.Conv3d(8, 16, 2), (2, 8, 4, 5, 6)),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_as_the_dense_one(number):
    dense, shape = CASES[number]
    layer, pruned = _pruned(dense, "2:4")
    x = torch.randn(shape)
    with torch.no_grad():
        expected = pruned.double()(x.double())
        assert _error(layer(x), expected) < 1e-5
        assert _error(layer(x[0]), expected[0]) < 1e-5
    again = layer.to_dense()
    assert type(again) is type(dense) and torch.equal(again.weight, layer.weight)


def test_pattern_is_along_channels_of_a_tap():
    layer, _ = _pruned(nn.Conv2d(32, 8, 3), "8:32")
    assert ((layer.weight != 0).sum(1) == 8).all()
    assert layer.pattern.describe() == nm.torch.NMLinear(32, 8, "8:32").pattern.describe()


def test_gradients():
    layer, pruned = _pruned(nn.Conv2d(8, 12, 3, padding=1), "2:4")
    layer.train()
    x = torch.randn(2, 8, 6, 6, requires_grad=True)
    other = x.detach().clone().requires_grad_()
    weight = torch.randn(2, 12, 6, 6)
    (layer(x) * weight).sum().backward()
    (pruned(other) * weight).sum().backward()
    assert _error(x.grad, other.grad) < 1e-5
    kept = layer.weight != 0
    dense = layer.product._dense_gradient().as_subclass(torch.Tensor).unflatten(
        1, (3, 3, 8)).movedim(-1, 1)
    assert _error(dense[kept], pruned.weight.grad[kept]) < 1e-5
    assert _error(layer.bias.grad, pruned.bias.grad) < 1e-5


def test_what_is_refused():
    with pytest.raises(nm.Error, match="it has 8 groups, each of one channel"):
        NMConv2d.from_dense(nn.Conv2d(8, 8, 3, groups=8), "2:4")
    with pytest.raises(nm.Error, match="pads by reflect"):
        NMConv2d.from_dense(nn.Conv2d(8, 8, 3, padding_mode="reflect"), "2:4")
    with pytest.raises(nm.Error, match="ConvTranspose2d is none of"):
        NMConv2d.from_dense(nn.ConvTranspose2d(8, 8, 3), "2:4")


class Net(nn.Module):
    """Blocks with a residual, batch normalization, strides and a depthwise layer."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, 2, 1, bias=False)
        self.norm = nn.BatchNorm2d(16)
        self.a = nn.Conv2d(16, 16, 3, padding=1, bias=False)
        self.norm_a = nn.BatchNorm2d(16)
        self.deep = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.groups = nn.Conv2d(16, 32, 3, padding=1, groups=2)
        self.b = nn.Conv2d(32, 32, 1)
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.stem(x)))
        x = nn.functional.max_pool2d(x, 3, 2, 1)
        x = torch.relu(self.norm_a(self.a(x)) + x)
        x = nn.functional.relu6(self.deep(x))
        x = nn.functional.silu(self.b(self.groups(x)))
        return self.head(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


def _net():
    net = Net().eval()
    for norm in (net.norm, net.norm_a):
        norm.running_mean.normal_(0, .2)
        norm.running_var.uniform_(.5, 2)
    return net


def test_sparsify_and_back():
    net = _net()
    dense = {name: parameter for name, parameter in net.named_parameters()}
    report = nm.torch.sparsify(net, {"a": "2:4", "b": "1:4", "head": "2:4"}, prune=True)
    kinds = {line.name: line.replaced for line in report}
    assert kinds["a.product"] and kinds["b.product"] and kinds["head"]
    assert type(net.a) is NMConv2d and type(net.b) is NMConv2d
    # What stays dense is as it was.
    assert type(net.stem) is nn.Conv2d and net.stem.weight is dense["stem.weight"]
    assert "it has 16 groups, each of one channel" in str(report)
    assert "groups.product" in kinds and not kinds["groups.product"]
    x = torch.randn(2, 3, 32, 32)
    with torch.no_grad():
        y = net(x)
    names = nm.torch.densify(net)
    assert {"a.product", "b.product"} <= set(names)
    assert type(net.a) is nn.Conv2d and type(net.b) is nn.Conv2d
    with torch.no_grad():
        assert _error(y, net(x)) < 1e-5


def test_wanda_and_timing():
    net = _net()
    x = torch.randn(1, 3, 32, 32)
    report = nm.torch.sparsify(net, {"a": "2:4"}, x, prune="wanda", force=True)
    line = next(line for line in report if line.name == "a.product")
    assert line.replaced and line.rows == 64


def test_save_and_load(tmp_path):
    net = _net()
    nm.torch.sparsify(net, {"a": "2:4", "b": "4:16"}, prune=True)
    nm.torch.save(net, tmp_path)
    other = nm.torch.load(tmp_path, Net())
    assert type(other.a) is NMConv2d and type(other.stem) is nn.Conv2d
    assert isinstance(other.a.product, NMLinear)
    x = torch.randn(2, 3, 32, 32)
    with torch.no_grad():
        assert torch.equal(net(x), other(x))
    state = net.state_dict()
    third = _net()
    nm.torch.sparsify(third, {"a": "2:4", "b": "4:16"}, prune=True)
    third.load_state_dict(state)
    with torch.no_grad():
        assert torch.equal(net(x), third(x))


@pytest.mark.parametrize("way", ["saved", "converted"])
def test_back_to_a_dense_folder(way, tmp_path):
    net = _net()
    net.line = nn.Conv1d(8, 8, 4)
    dense = copy.deepcopy(net)
    nm.torch.sparsify(net, {"a": "2:4", "b": "4:16", "line": "2:4", "head": "2:4"},
                      prune=True)
    pruned = copy.deepcopy(net)
    nm.torch.densify(pruned)
    if way == "saved":
        nm.torch.save(net, tmp_path / "sparse", max_shard_size=4000)
    else:
        pytest.importorskip("safetensors")
        from safetensors.torch import save_file
        (tmp_path / "source").mkdir()
        save_file(pruned.state_dict(), tmp_path / "source" / "model.safetensors")
        nm.convert(tmp_path / "source", tmp_path / "sparse")
    report = nm.convert(tmp_path / "sparse", tmp_path / "dense", format="dense")
    assert {"a.weight", "line.bias"} <= set(report.kept)
    source = nm.io.open_weights(tmp_path / "dense")
    expected = pruned.state_dict()
    assert set(source) == set(expected) == set(dense.state_dict())
    for name, tensor in expected.items():
        assert np.array_equal(source[name], tensor.numpy()), name
    if way == "saved":
        report = nm.convert(tmp_path / "sparse", tmp_path / "bitmask",
                            format="compressed-tensors")
        assert "filter" in report.left_dense["a.weight"]
        assert list(report.weights) == ["head.weight"]


def test_filters_of_older_files(tmp_path):
    """They have no taps, which are the model's to say."""
    net = _net()
    nm.torch.sparsify(net, {"a": "2:4"}, prune=True)
    w = net.a.product.sparse_weight()
    nm.save_weights(tmp_path / "old.safetensors", {"a.product.weight": w})
    with pytest.raises(nm.Error, match="the taps of the filter"):
        nm.convert(tmp_path / "old.safetensors", tmp_path / "dense.safetensors",
                   format="dense")
    w._taps = (5, 3)
    nm.save_weights(tmp_path / "wrong.safetensors", {"a.product.weight": w})
    with pytest.raises(nm.FileFormatError, match="taps whose product divides 144"):
        nm.load_weights(tmp_path / "wrong.safetensors")


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a"])
def test_export(target):
    net = _net()
    nm.torch.sparsify(net, {"a": "2:4", "b": "1:4"}, prune=True)
    x = torch.randn(2, 3, 32, 32)
    with torch.no_grad():
        expected = net(x)
    exported = nm.torch.export(net, x)
    assert exported.text.count("#nm.encoding") >= 2
    compiled = exported.compile(target=target)
    assert _error(compiled(x), expected) < 1e-5


@pytest.mark.parametrize("number", range(len(CASES)))
def test_export_of_each_kind(number):
    dense, shape = CASES[number]
    layer, pruned = _pruned(dense, "2:4")
    x = torch.randn(shape)
    exported = nm.torch.export(nn.Sequential(layer), x)
    assert exported.text.count("#nm.encoding") >= 1
    with torch.no_grad():
        assert _error(exported.compile()(x), pruned.double()(x.double())) < 1e-5


@pytest.mark.parametrize("kernel", ["columns", "panels"])
def test_export_of_equal_layers_by_one_thread(kernel):
    """Which read their images whole, and are one function where nothing else is."""
    pattern = {"columns": "unstructured, kept = 400", "panels": "2:4"}[kernel]
    layers = [_pruned(nn.Conv2d(16, 16, 3, padding=1), pattern) for _ in "ab"]
    x = torch.randn(1, 16, 9, 11)
    layer, pruned = (nn.Sequential(*each) for each in zip(*layers))
    compiled = nm.torch.export(layer, x).compile(target="cpu", threads="1")
    with torch.no_grad():
        assert _error(compiled(x), pruned.double()(x.double())) < 1e-5
    last = x.to(memory_format=torch.channels_last)
    assert torch.equal(compiled(last), compiled(x))


TRANSPOSED = [
    (nn.ConvTranspose2d(16, 24, 3, stride=2, padding=1, output_padding=1), (2, 16, 7, 9)),
    (nn.ConvTranspose2d(16, 24, (2, 3), stride=(2, 1), dilation=(1, 2), bias=False),
     (1, 16, 6, 5)),
    # Padding that cuts the image.
    (nn.ConvTranspose2d(8, 12, 1, stride=3, padding=2, groups=4), (3, 8, 6, 7)),
    (nn.ConvTranspose2d(12, 12, 4, stride=2, padding=1, groups=12), (1, 12, 5, 8)),
    (nn.ConvTranspose2d(6, 12, 3, padding=3, groups=6), (1, 6, 9, 8)),
    (nn.ConvTranspose1d(16, 8, 5, stride=3, padding=1, output_padding=2), (2, 16, 11)),
    (nn.ConvTranspose3d(4, 6, 2, stride=2), (1, 4, 3, 4, 5)),
]


@pytest.mark.parametrize("number", range(len(TRANSPOSED)))
def test_export_of_transposed(number):
    layer, shape = TRANSPOSED[number]
    x = torch.randn(shape)
    compiled = nm.torch.export(nn.Sequential(layer).eval(), x).compile()
    with torch.no_grad():
        assert _error(compiled(x), copy.deepcopy(layer).double()(x.double())) < 1e-5


def test_export_of_any_batch():
    net = _net()
    nm.torch.sparsify(net, {"a": "2:4", "b": "1:4"}, prune=True)
    x = torch.randn(3, 3, 32, 32)
    batch = torch.export.Dim("batch", min=2, max=64)
    compiled = nm.torch.export(net, (x,), dynamic_shapes=({0: batch},)).compile()
    for images in (x, torch.randn(5, 3, 32, 32)):
        with torch.no_grad():
            assert _error(compiled(images), net(images)) < 1e-5


@pytest.mark.parametrize("name", ["resnet", "bottleneck", "mobilenet_v1", "mobilenet_v2",
                                  "vit"])
def test_networks_of_transformers(name):
    """Whole networks, small, with their layers pruned."""
    transformers = pytest.importorskip("transformers")
    makers = {
        "resnet": lambda: transformers.ResNetForImageClassification(
            transformers.ResNetConfig(layer_type="basic", depths=[1, 1],
                                      hidden_sizes=[16, 32], embedding_size=16,
                                      num_labels=10)),
        "bottleneck": lambda: transformers.ResNetForImageClassification(
            transformers.ResNetConfig(depths=[1, 1], hidden_sizes=[32, 64],
                                      embedding_size=16, num_labels=10)),
        "mobilenet_v1": lambda: transformers.MobileNetV1ForImageClassification(
            transformers.MobileNetV1Config(depth_multiplier=.25, num_labels=10)),
        "mobilenet_v2": lambda: transformers.MobileNetV2ForImageClassification(
            transformers.MobileNetV2Config(depth_multiplier=.35, num_labels=10)),
        "vit": lambda: transformers.ViTForImageClassification(transformers.ViTConfig(
            hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
            intermediate_size=64, num_labels=10, image_size=32)),
    }
    torch.manual_seed(0)
    model = _Logits(makers[name]()).eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(0, .1)
            module.running_var.uniform_(.5, 1.5)
    nm.torch.sparsify(model, "2:4", prune=True)
    x = torch.randn(2, 3, 32, 32)
    with torch.no_grad():
        expected = model(x)
    assert _error(nm.torch.export(model, x).compile()(x), expected) < 1e-5


def test_folders_of_transformers(tmp_path):
    """A model whose filters are condensed, as nm.torch.save and as nm.convert write it."""
    transformers = pytest.importorskip("transformers")
    config = transformers.ViTConfig(hidden_size=32, num_hidden_layers=1, image_size=32,
                                    num_attention_heads=2, intermediate_size=64,
                                    patch_size=8, num_labels=10)
    model = transformers.ViTForImageClassification(config).eval()
    x = torch.randn(1, 3, 32, 32)
    nm.torch.sparsify(model, "2:4", prune=True)
    with torch.no_grad():
        expected = model(x).logits
    for folder in write_folders(model, tmp_path):
        other = transformers.ViTForImageClassification.from_pretrained(folder)
        assert type(other.vit.embeddings.patch_embeddings.projection) is NMConv2d
        with torch.no_grad():
            assert _error(other.eval()(x).logits, expected) < 1e-5, folder
    base = transformers.ViTModel.from_pretrained(tmp_path / "saved")
    assert type(base.embeddings.patch_embeddings.projection) is NMConv2d


class _Logits(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(pixel_values=x).logits


def test_filters_of_a_package():
    """The filters of the ONNX models that rapidocr-onnxruntime ships, pruned."""
    package = importlib.util.find_spec("rapidocr_onnxruntime")
    if package is None:
        pytest.skip("rapidocr-onnxruntime is not installed")
    models = sorted(Path(package.origin).parent.glob("models/*.onnx"))
    assert models
    for path in models:
        source = nm.io.open_weights(path)
        filters = [name for name in source.matrices() if source.is_filter(name)
                   and source.info(name)[1][0] >= 4]
        assert any("groups" in (source.why_no_matrix(name) or "") for name in source)
        for name in filters[1:20:6]:
            weight = torch.from_numpy(np.array(source[name], np.float32))
            taps = weight.shape[2:]
            dense = nn.Conv2d(*reversed(weight.shape[:2]), tuple(taps), bias=False,
                              padding=tuple(size // 2 for size in taps))
            dense.weight.data = weight
            layer, pruned = _pruned(dense, "2:4")
            x = torch.randn(1, weight.shape[1], 9, 11)
            with torch.no_grad():
                expected = pruned.double()(x.double())
            compiled = nm.torch.export(nn.Sequential(layer).eval(), x).compile()
            assert _error(compiled(x), expected) < 1e-5, f"{path.name}: {name}"


def test_networks_of_a_package():
    """The whole networks of its ONNX files, pruned: examples/text-in-images."""
    if any(importlib.util.find_spec(each) is None
           for each in ("rapidocr_onnxruntime", "onnxruntime", "onnx")):
        pytest.skip("rapidocr-onnxruntime or onnx is not installed")
    path = Path(__file__).parents[2] / "examples" / "text-in-images" / "text_in_images.py"
    printed = subprocess.run([sys.executable, str(path), "--pattern=2:4"], check=True,
                             capture_output=True, text=True).stdout
    assert len(re.findall(r"convolutions of 2:4, error \S+e-\d\d", printed)) == 3
