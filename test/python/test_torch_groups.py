"""Convolutions in groups in PyTorch: layers and exported ones of drawn sizes against float64,
training, pruning by the inputs of each group, and a network's whole way."""

import copy
import os

import nm
import numpy as np
import pytest

torch = pytest.importorskip("torch")
import nm.torch  # noqa: E402
from model_folders import write_folders  # noqa: E402
from nm._pattern import parse_pattern  # noqa: E402
from nm.torch import NMConv1d, NMConv2d, NMConv3d, NMLinear  # noqa: E402
from nm.torch._inputs import LayerInputs  # noqa: E402
from nm.torch._layer_pruner import LayerPruner  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", np.random.SeedSequence().entropy % 2 ** 31))
KINDS = {1: (nn.Conv1d, NMConv1d), 2: (nn.Conv2d, NMConv2d), 3: (nn.Conv3d, NMConv3d)}
LIMITS = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}
#: The last two keep vectors of output channels, of which a group of 64 and more may be products
#: of their own; blocks of 3 lie across groups.
PATTERNS = ["2:4", "1:4", "4:16", "unstructured", "2:4, block = 1x3", "2:4, block = 1x8",
            "1:4, block = 1x16"]


def error(y, expected):
    norm = float(expected.double().norm())
    return float((y.double() - expected.double()).norm()) / (norm or 1)


class Drawn:
    """A layer, the dense one with its weight in float64, and an image."""

    def __init__(self, *numbers, dtype=torch.float32, pattern=None):
        rng = self.rng = np.random.default_rng([SEED, *numbers])
        torch.manual_seed(int(rng.integers(2 ** 31)))
        rank = int(rng.choice([1, 2, 2, 2, 3]))
        self.pattern = pattern or str(rng.choice(PATTERNS))
        wide = "1x8" in self.pattern or "1x16" in self.pattern
        groups = int(rng.choice([2, 3, 4] if wide else [2, 3, 5, 8]))
        channels = int(rng.choice([4, 5, 8, 16]))
        outputs = int(rng.choice([64, 80] if wide else [1, 3, 4, 9, 16]))
        if "1x3" in self.pattern:
            outputs = max(outputs, 3)
        taps = [int(rng.integers(1, 4)) for _ in range(rank)]
        dilation = [int(rng.integers(1, 3)) for _ in range(rank)]
        same = rng.random() < .2
        stride = [1 if same else int(rng.integers(1, 4)) for _ in range(rank)]
        padding = "same" if same else [int(rng.integers(0, 3)) for _ in range(rank)]
        reach = [(tap - 1) * step + 1 for tap, step in zip(taps, dilation)]
        sizes = [each + int(rng.integers(0, 8)) for each in reach]
        dense_class, self.kind = KINDS[rank]
        self.dense = dense_class(
            groups * channels, groups * outputs, taps, stride, padding, dilation, groups,
            bias=bool(rng.random() < .5)).to(dtype)
        if self.pattern == "unstructured":
            with torch.no_grad():
                self.dense.weight[torch.rand(self.dense.weight.shape) < .7] = 0
                self.dense.weight[0] = 0
        self.layer = self.kind.from_dense(self.dense, self.pattern,
                                          prune_weight=self.pattern != "unstructured").eval()
        self.exact = copy.deepcopy(self.dense).double()
        with torch.no_grad():
            self.exact.weight.copy_(self.layer.weight)
        self.image = torch.randn(int(rng.integers(1, 4)), groups * channels, *sizes).to(dtype)

    def expected(self):
        with torch.no_grad():
            return self.exact(self.image.double())

    def __repr__(self):
        return f"NM_TEST_SEED={SEED}: {self.layer} {self.dense.weight.dtype} {self.image.shape}"


def layouts(x):
    """The image in its own order, with channels last, and as a slice of a larger one."""
    yield x
    yield x.movedim(1, -1).contiguous().movedim(-1, 1)
    wide = torch.full((*x.shape[:-1], x.shape[-1] + 3), float("nan"), dtype=x.dtype)
    wide[..., 2:-1] = x
    yield wide[..., 2:-1]


@pytest.mark.parametrize("dtype", list(LIMITS))
@pytest.mark.parametrize("number", range(8))
def test_layers(number, dtype):
    case = Drawn(1, number, dtype=dtype)
    expected = case.expected()
    with torch.no_grad():
        for image in layouts(case.image):
            y = case.layer(image)
            assert y.dtype == dtype and y.shape == expected.shape
            assert error(y, expected) < LIMITS[dtype], case
        assert error(case.layer(case.image[0]), expected[0]) < LIMITS[dtype], case
    again = case.layer.to_dense()
    assert type(again) is type(case.dense) and again.groups == case.dense.groups
    assert torch.equal(again.weight, case.layer.weight)


@pytest.mark.parametrize("target", ["cpu", "sim:sm_80", "sim:sm_90a"])
@pytest.mark.parametrize("dtype", list(LIMITS))
@pytest.mark.parametrize("number", range(5))
def test_exported(number, dtype, target):
    """To memory that holds NaN before. All groups are one product, or each is."""
    case = Drawn(2, number, list(LIMITS).index(dtype), dtype=dtype,
                 pattern=PATTERNS[-1 - number] if number < 2 else None)
    exported = nm.torch.export(nn.Sequential(case.layer), case.image)
    compiled = exported.compile(target=target)
    expected = case.expected()
    out = torch.full(expected.shape, float("nan"), dtype=dtype)
    compiled.module.only_function()(case.image, out=out)
    assert error(out, expected) < LIMITS[dtype], case
    for image in layouts(case.image):
        assert error(compiled(image), expected) < LIMITS[dtype], case


def test_padding_of_one_side():
    """Even taps of which padding is to keep the size."""
    dense = nn.Conv2d(16, 24, (2, 3), padding="same", dilation=(3, 1), groups=4)
    layer = NMConv2d.from_dense(dense, "2:4", prune_weight=True).eval()
    x = torch.randn(2, 16, 6, 7)
    compiled = nm.torch.export(nn.Sequential(layer), x).compile()
    with torch.no_grad():
        expected = layer.to_dense().double()(x.double())
        assert error(layer(x), expected) < 1e-5 and error(compiled(x), expected) < 1e-5


@pytest.mark.parametrize("pattern, groups, outputs, products", [
    ("2:4", 2, 64, 1), ("2:4, block = 1x8", 2, 64, 2), ("2:4, block = 1x8", 2, 56, 1),
    ("2:4, block = 1x8", 8, 64, 1), ("2:4, block = 1x24", 4, 64, 1), ("unstructured", 2, 64, 1)])
def test_how_many_products(pattern, groups, outputs, products):
    layer = NMConv2d.from_dense(nn.Conv2d(8 * groups, outputs * groups, 3, groups=groups), pattern,
                                prune_weight=pattern != "unstructured")
    x = torch.randn(1, 8 * groups, 5, 6)
    exported = nm.torch.export(nn.Sequential(layer.eval()), x)
    assert exported.text.count("nm.assemble") == products
    kind = "unstructured" if products == 1 else pattern
    assert f"#nm.encoding<{kind}" in exported.text
    with torch.no_grad():
        expected = layer.to_dense().double()(x.double())
    assert error(exported.compile()(x), expected) < 1e-5


@pytest.mark.parametrize("groups, share, products", [(2, 0, 0), (2, .6, 1), (8, 0, 1)])
def test_dense_groups(groups, share, products):
    """Which are one product where they are many, or half of the weights are zero."""
    layer = nn.Conv2d(8 * groups, 6 * groups, 3, groups=groups, padding=1).eval()
    with torch.no_grad():
        layer.weight[torch.rand(layer.weight.shape) < share] = 0
    x = torch.randn(2, 8 * groups, 5, 6)
    exported = nm.torch.export(nn.Sequential(layer), x)
    assert exported.text.count("nm.assemble") == products
    with torch.no_grad():
        assert error(exported.compile()(x), copy.deepcopy(layer).double()(x.double())) < 1e-5


def test_any_batch():
    layer = NMConv2d.from_dense(nn.Conv2d(16, 24, 3, padding=1, groups=4), "2:4",
                                prune_weight=True).eval()
    batch = torch.export.Dim("batch", min=2, max=64)
    x = torch.randn(3, 16, 7, 9)
    compiled = nm.torch.export(nn.Sequential(layer), (x,),
                               dynamic_shapes=({0: batch},)).compile()
    for images in (x, torch.randn(5, 16, 7, 9)):
        with torch.no_grad():
            assert error(compiled(images), layer(images)) < 1e-5


def test_pattern_is_along_channels_of_a_group():
    layer = NMConv2d.from_dense(nn.Conv2d(64, 12, 3, groups=2), "8:32", prune_weight=True)
    assert tuple(layer.weight.shape) == (12, 32, 3, 3)
    assert ((layer.weight != 0).sum(1) == 8).all()
    assert (layer.product.in_features, layer.product.out_features) == (288, 12)


def test_what_is_refused():
    for make in (lambda: NMConv2d(8, 8, 3, "2:4", groups=8),
                 lambda: NMConv2d.from_dense(nn.Conv2d(8, 16, 3, groups=8), "2:4"),
                 lambda: NMConv1d(8, 8, 3, "2:4", groups=8)):
        with pytest.raises(nm.Error, match="8 groups, each of one channel, which are not summed"):
            make()
    with pytest.raises(ValueError, match="divisible by groups"):
        NMConv2d(8, 9, 3, "2:4", groups=2)
    layer = NMConv2d(8, 8, 3, "2:4", groups=2).eval()
    with pytest.raises(nm.DTypeError, match="expected x of f32, as the weight is, but got f16"):
        layer(torch.randn(1, 8, 5, 5).half())
    with pytest.raises(nm.ShapeError, match="expected an image of 8 channels, but got 4"):
        layer(torch.randn(1, 4, 5, 5))
    with torch.no_grad(), pytest.raises(nm.ShapeError, match=r"has a window \(3, 3\)"):
        layer(torch.randn(1, 8, 2, 5))
    integers = NMConv2d(8, 8, 3, "2:4", groups=2, bias=False, dtype=torch.int8)
    with pytest.raises(nm.DTypeError, match="weight of f32, f16, bf16 in groups, but got int8"):
        integers(torch.ones(1, 8, 5, 5, dtype=torch.int8))


@pytest.mark.parametrize("training", [True, False])
def test_gradients(training):
    case = Drawn(3, training, pattern="2:4")
    layer, exact = case.layer.train(training), case.exact
    x = case.image.requires_grad_()
    other = case.image.detach().double().requires_grad_()
    y = layer(x)
    weight = torch.randn(y.shape)
    (y * weight).sum().backward()
    (exact(other) * weight.double()).sum().backward()
    assert error(x.grad, other.grad) < 1e-5, case
    kept = layer.weight != 0
    dense = layer.product._dense_gradient().as_subclass(torch.Tensor).unflatten(
        1, (*layer.kernel_size, -1)).movedim(-1, 1)
    assert error(dense[kept], exact.weight.grad[kept]) < 1e-5, case
    if layer.bias is not None:
        assert error(layer.bias.grad, exact.bias.grad) < 1e-5


def test_training_changes_what_is_computed():
    case = Drawn(4, pattern="2:4")
    layer, x = case.layer, case.image
    for _ in range(2):
        layer.train()
        optimizer = torch.optim.SGD(layer.parameters(), 1e-2)
        layer(x).square().mean().backward()
        optimizer.step()
        layer.eval()
        with torch.no_grad():
            assert error(layer(x), layer.to_dense().double()(x.double())) < 1e-5, case


def test_other_ways_to_call():
    """Under autocast, torch.compile, torch.func, in float64, and with a hook on the product."""
    layer = NMConv2d.from_dense(nn.Conv2d(12, 18, 3, padding=1, groups=3), "2:4",
                                prune_weight=True).eval()
    x = torch.randn(2, 12, 7, 5)
    with torch.no_grad():
        expected = layer.to_dense().double()(x.double())
        with torch.autocast("cpu", torch.bfloat16):
            y = layer(x)
        assert y.dtype == torch.bfloat16 and error(y, expected) < 1e-2
        assert error(torch.compile(layer, backend="eager", fullgraph=True)(x), expected) < 1e-5
        batched = torch.func.vmap(layer)(x[:, None])
        assert error(batched[:, 0], expected) < 1e-5
        _, tangent = torch.func.jvp(layer, (x,), (x,))
        assert error(tangent, expected - (layer.bias.double()[:, None, None])) < 1e-5
        exact = copy.deepcopy(layer).double()
        assert error(exact(x.double()), expected) < 1e-12
        seen = []
        handle = layer.product.register_forward_hook(lambda module, args, y: seen.append(args[0]))
        assert error(layer(x), expected) < 1e-5
        handle.remove()
        assert [tuple(each.shape) for each in seen] == [(2, 7, 5, 3, 36)]
    assert error(torch.compile(layer, backend="eager")(x.requires_grad_()).detach(),
                 expected) < 1e-5


def rows_of(layer, x):
    """What each group multiplies, by PyTorch's unfold: ``[rows, groups, taps and channels]``."""
    columns = functional.unfold(x, layer.kernel_size, layer.dilation, layer.padding, layer.stride)
    taps = int(np.prod(layer.kernel_size))
    each = columns.unflatten(1, (layer.groups, -1, taps)).transpose(2, 3)
    return each.permute(0, 4, 1, 2, 3).flatten(0, 1).flatten(2)


class Net(nn.Module):
    """A block as ResNeXt has it."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 24, 3, 2, 1, bias=False)
        self.a = nn.Conv2d(24, 24, 3, padding=1, groups=3, bias=False)
        self.norm = nn.BatchNorm2d(24)
        self.b = nn.Conv2d(24, 36, 3, stride=2, groups=2)
        self.deep = nn.Conv2d(36, 36, 3, groups=36)
        self.head = nn.Linear(36, 10)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = torch.relu(self.norm(self.a(x)) + x)
        x = torch.relu(self.deep(torch.relu(self.b(x))))
        return self.head(functional.adaptive_avg_pool2d(x, 1).flatten(1))


RULES = {"a": "2:4", "b": "1:4", "head": "2:4"}


def make_net():
    net = Net().eval()
    net.norm.running_mean.normal_(0, .2)
    net.norm.running_var.uniform_(.5, 2)
    return net


@pytest.mark.parametrize("how", ["wanda", "sparsegpt"])
def test_pruning_by_inputs_of_each_group(how):
    torch.manual_seed(2)
    net, x = make_net(), torch.randn(2, 3, 20, 22)
    dense = copy.deepcopy(net.a)
    with torch.no_grad():
        given = rows_of(dense, torch.relu(net.stem(x)))
    report = nm.torch.sparsify(net, {"a": "2:4"}, x, prune=how, force=True)
    line = next(line for line in report if line.name == "a.product")
    assert line.replaced and line.rows == len(given)
    weight = dense.weight.detach().movedim(1, -1).flatten(1)
    expected = torch.cat([
        nm.prune(part, "2:4", axis=1, activations=given[:, i].contiguous(), scores=how).weight
        for i, part in enumerate(weight.chunk(3))])
    assert error(net.a.product.dense_weight().detach(), expected) < 1e-5


def test_errors_on_inputs_of_each_group():
    """As a search measures them."""
    net, x = make_net(), torch.randn(1, 3, 20, 22)
    with torch.no_grad():
        given = rows_of(net.a, torch.relu(net.stem(x)))
    weight = net.a.weight.detach().movedim(1, -1).flatten(1)
    linear = nn.Linear(72, 24)
    linear.weight.data = weight
    pruner = LayerPruner(True, LayerInputs())
    found = pruner.prune("a", linear, parse_pattern("2:4", None, 1), given)
    of_groups = [torch.einsum("rgk,gok->rgo", given.double(), each.unflatten(0, (3, -1)).double())
                 for each in (found.weight, weight)]
    assert found.report.measured
    assert abs(found.report.relative_error / error(*of_groups) - 1) < 1e-5


def test_search():
    net, x = make_net(), torch.randn(1, 3, 20, 22)
    try:
        report = nm.torch.search(net, {"a": ["2:4"], "*": None}, x, error=1.)
    except nm.Error as why:
        assert "whose times repeat" in str(why)
        pytest.skip(f"this machine is busy: {why}")
    assert type(net.a) is nn.Conv2d
    assert {each.name for each in report.candidates[0]} == {"a.product"}
    assert all(each.shape == (24, 72) for each in report.candidates[0])


def test_masks():
    net, x = make_net(), torch.randn(2, 3, 20, 22)
    schedule = nm.torch.mask_layers(net, {"a": "2:4", "b": "2:4"})
    net.train()
    optimizer = torch.optim.SGD(net.parameters(), 1e-2)
    net(x).square().sum().backward()
    assert net.a.product.weight.grad.abs().sum() > 0
    optimizer.step()
    schedule.step()
    net.eval()
    with torch.no_grad():
        expected = net(x)
        schedule.finish()
        assert isinstance(net.a.product, NMLinear) and error(net(x), expected) < 1e-5


def test_quantize_leaves_groups():
    net = make_net().half()
    nm.torch.sparsify(net, RULES, prune=True)
    lines = {line.name: line for line in nm.torch.quantize(net)}
    assert "in groups keep their floats" in lines["a.product"].reason
    assert lines["head"].replaced and isinstance(net.a.product, NMLinear)


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a"])
def test_whole_way(target, tmp_path):
    """Sparsified, saved, loaded, written dense again, exported and run."""
    net, x = make_net(), torch.randn(2, 3, 21, 19)
    report = nm.torch.sparsify(net, RULES, prune=True)
    assert {line.name for line in report if line.replaced} == {"a.product", "b.product", "head"}
    assert "it has 36 groups, each of one channel, which are not summed" in str(report)
    with torch.no_grad():
        y = net(x)
    nm.torch.save(net, tmp_path / "sparse")
    loaded = nm.torch.load(tmp_path / "sparse", Net()).eval()
    assert type(loaded.a) is NMConv2d and loaded.a.groups == 3 and type(loaded.deep) is nn.Conv2d
    third = make_net()
    nm.torch.sparsify(third, RULES, prune=True)
    third.load_state_dict(net.state_dict())
    with torch.no_grad():
        assert torch.equal(loaded(x), y) and torch.equal(third(x), y)
    dense = copy.deepcopy(net)
    assert set(nm.torch.densify(dense)) == {"a.product", "b.product", "head"}
    assert type(dense.a) is nn.Conv2d and dense.a.groups == 3
    with torch.no_grad():
        expected = copy.deepcopy(dense).double()(x.double())
    assert error(y, expected) < 1e-5
    nm.convert(tmp_path / "sparse", tmp_path / "dense", format="dense")
    source = nm.io.open_weights(tmp_path / "dense")
    for name, tensor in dense.state_dict().items():
        assert np.array_equal(source[name], tensor.numpy()), name
    path = tmp_path / "net.so"
    compiled = nm.torch.export(loaded, x).compile(path, target=target)
    assert error(compiled(x), expected) < 1e-5
    out = np.full((2, 10), np.nan, np.float32)
    nm.load(path).only_function()(x.numpy(), out=out)
    assert error(torch.from_numpy(out), expected) < 1e-5


def test_a_network_of_transformers(tmp_path):
    """RegNet X, a file of whose filters does not say that they are in groups."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.RegNetConfig(embedding_size=16, hidden_sizes=[32, 64], depths=[1, 2],
                                       groups_width=8, layer_type="x", num_labels=10)
    model = transformers.RegNetForImageClassification(config).eval()
    x = torch.randn(1, 3, 32, 32)
    report = nm.torch.sparsify(model, "2:4", prune=True)
    grouped = [name for name, module in model.named_modules()
               if isinstance(module, NMConv2d) and module.groups > 1]
    assert len(grouped) == 3 and {f"{name}.product" for name in grouped} <= {
        line.name for line in report if line.replaced}
    with torch.no_grad():
        expected = model(x).logits
    for folder in write_folders(model, tmp_path):
        other = transformers.RegNetForImageClassification.from_pretrained(folder)
        assert all(type(other.get_submodule(name)) is NMConv2d for name in grouped), folder
        with torch.no_grad():
            assert error(other.eval()(x).logits, expected) < 1e-5, folder
