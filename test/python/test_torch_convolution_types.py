"""Convolutions of PyTorch in f16 and bf16: layers, exported ones on a CPU and on a GPU,
models that are sparsified, saved and loaded, and small networks, against float64."""

import copy

import nm
import pytest

torch = pytest.importorskip("torch")
import nm.torch  # noqa: E402
from nm.torch import NMConv1d, NMConv2d, NMConv3d  # noqa: E402
from torch import nn  # noqa: E402

KINDS = {nn.Conv1d: NMConv1d, nn.Conv2d: NMConv2d, nn.Conv3d: NMConv3d}
LIMITS = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}
NARROW = [torch.float16, torch.bfloat16]
TARGETS = ["cpu", "sim:sm_80", "sim:sm_90a"]
CASES = [
    (lambda: nn.Conv2d(16, 24, 3, padding=1), (2, 16, 9, 11)),
    (lambda: nn.Conv2d(16, 24, 3, stride=2, dilation=2, bias=False), (2, 16, 13, 11)),
    (lambda: nn.Conv2d(32, 33, 1), (1, 32, 5, 7)),
    (lambda: nn.Conv2d(32, 24, (3, 2), stride=(1, 2), padding=(2, 1)), (3, 32, 8, 8)),
    (lambda: nn.Conv2d(32, 40, 3, padding="same", dilation=(1, 2)), (1, 32, 6, 7)),
    (lambda: nn.Conv1d(16, 24, 3, stride=2), (2, 16, 20)),
    (lambda: nn.Conv1d(32, 17, 5, padding=4, dilation=2), (2, 32, 31)),
    (lambda: nn.Conv3d(16, 16, 2, padding=1), (1, 16, 4, 5, 6)),
]
PATTERNS = ["2:4", "4:16, block = 1x8", "unstructured"]


def error(y, expected):
    return float((y.double() - expected.double()).norm() / expected.double().norm())


def make(number, pattern, dtype):
    """The layer, the dense one with its weight in float64, and an image."""
    torch.manual_seed(number)
    maker, shape = CASES[number]
    dense = maker().to(dtype)
    if pattern == "unstructured":
        with torch.no_grad():
            dense.weight[torch.rand(dense.weight.shape) < 0.8] = 0
            dense.weight[1] = 0
    layer = KINDS[type(dense)].from_dense(dense, pattern,
                                          prune_weight=pattern != "unstructured").eval()
    assert layer.product.values.dtype == dtype
    exact = copy.deepcopy(dense).double()
    with torch.no_grad():
        exact.weight.copy_(layer.weight)
    return layer, exact, torch.randn(shape).to(dtype)


def layouts(x):
    """The image in its own order, with channels last, and as a slice of a larger one."""
    yield x
    if x.dim() == 4:
        yield x.to(memory_format=torch.channels_last)
    wide = torch.full((*x.shape[:-1], x.shape[-1] + 3), float("nan"), dtype=x.dtype)
    wide[..., 2:-1] = x
    yield wide[..., 2:-1]


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("number", range(len(CASES)))
def test_layers(number, pattern, dtype):
    layer, exact, x = make(number, pattern, dtype)
    with torch.no_grad():
        expected = exact(x.double())
        for image in layouts(x):
            y = layer(image)
            assert y.dtype == dtype and error(y, expected) < LIMITS[dtype]
        assert error(layer(x[0]), expected[0]) < LIMITS[dtype]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("number", range(len(CASES)))
def test_exported_layers(number, dtype, target):
    """One pattern each, so that each kind of weights meets each target and type."""
    pattern = PATTERNS[(number + TARGETS.index(target)) % len(PATTERNS)]
    layer, exact, x = make(number, pattern, dtype)
    exported = nm.torch.export(nn.Sequential(layer), x)
    assert exported.text.count("#nm.encoding") >= 1
    compiled = exported.compile(target=target)
    with torch.no_grad():
        expected = exact(x.double())
        for image in layouts(x):
            y = compiled(image)
            assert y.dtype == dtype and error(y, expected) < LIMITS[dtype], pattern


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", NARROW)
def test_exported_groups(dtype, target):
    """Which stay dense, as depthwise ones and transposed ones do."""
    torch.manual_seed(5)
    model = nn.Sequential(nn.Conv2d(16, 24, 3, groups=4, stride=2, padding=1), nn.ReLU(),
                          nn.Conv2d(24, 24, 3, groups=24, dilation=2, padding=2),
                          nn.ConvTranspose2d(24, 10, 2, stride=2)).to(dtype).eval()
    x = torch.randn(2, 16, 9, 7).to(dtype)
    with torch.no_grad():
        expected = copy.deepcopy(model).double()(x.double())
        y = nm.torch.export(model, x).compile(target=target)(x)
    # Each of three layers rounds.
    assert error(y, expected) < 2 * LIMITS[dtype]


@pytest.mark.parametrize("dtype", NARROW)
def test_gradients(dtype):
    layer, exact, x = make(0, "2:4", dtype)
    layer.train()
    x.requires_grad_()
    other = x.detach().double().requires_grad_()
    weight = torch.randn(2, 24, 9, 11)
    (layer(x) * weight.to(dtype)).sum().backward()
    (exact(other) * weight.to(dtype).double()).sum().backward()
    assert error(x.grad, other.grad) < LIMITS[dtype]
    assert error(layer.bias.grad, exact.bias.grad) < LIMITS[dtype]
    kept = layer.weight != 0
    dense = layer.product._dense_gradient().as_subclass(torch.Tensor).unflatten(
        1, (3, 3, 16)).movedim(-1, 1)
    assert error(dense[kept], exact.weight.grad[kept]) < LIMITS[dtype]


class BasicBlock(nn.Module):
    """ResNet's, with a residual of another size where it strides."""

    def __init__(self, channels, out, stride):
        super().__init__()
        self.a = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.norm_a = nn.BatchNorm2d(out)
        self.b = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.norm_b = nn.BatchNorm2d(out)
        self.past = nn.Identity() if stride == 1 else nn.Sequential(
            nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = torch.relu(self.norm_a(self.a(x)))
        return torch.relu(self.norm_b(self.b(y)) + self.past(x))


class InvertedResidual(nn.Module):
    """MobileNet V2's: wider, depthwise, narrower, and the residual."""

    def __init__(self, channels, inner):
        super().__init__()
        self.wide = nn.Conv2d(channels, inner, 1, bias=False)
        self.norm_a = nn.BatchNorm2d(inner)
        self.deep = nn.Conv2d(inner, inner, 3, padding=1, groups=inner, bias=False)
        self.norm_b = nn.BatchNorm2d(inner)
        self.narrow = nn.Conv2d(inner, channels, 1, bias=False)
        self.norm_c = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = nn.functional.relu6(self.norm_a(self.wide(x)))
        y = nn.functional.relu6(self.norm_b(self.deep(y)))
        return self.norm_c(self.narrow(y)) + x


def resnet():
    return nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
                         BasicBlock(16, 16, 1), BasicBlock(16, 32, 2),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))


def mobilenet():
    return nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.SiLU(),
                         InvertedResidual(16, 48), InvertedResidual(16, 64),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))


def network(name, pattern, dtype):
    """A network whose layers are pruned, and its image."""
    torch.manual_seed(11)
    model = {"resnet": resnet, "mobilenet": mobilenet}[name]().eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(0, .1)
            module.running_var.uniform_(.5, 1.5)
    model = model.to(dtype)
    options = {"sparsity": 0.8} if pattern == "unstructured" else {}
    report = nm.torch.sparsify(model, pattern, prune=True, force=True, **options)
    assert sum(line.replaced for line in report) >= 4
    return model, torch.randn(2, 3, 32, 32).to(dtype)


def exact_of(model, x):
    """The network with its pruned weights in float64."""
    dense = copy.deepcopy(model)
    nm.torch.densify(dense)
    with torch.no_grad():
        return dense.double()(x.double())


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("pattern", ["2:4", "unstructured"])
@pytest.mark.parametrize("name", ["resnet", "mobilenet"])
def test_networks(name, pattern, target):
    """Exported whole, they are equal to PyTorch's."""
    model, x = network(name, pattern, torch.float32)
    compiled = nm.torch.export(model, x).compile(target=target)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-5)
    assert error(compiled(x), exact_of(model, x)) < LIMITS[torch.float32]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("name", ["resnet", "mobilenet"])
def test_networks_in_16_bits(name, dtype, target):
    """Eight to ten layers round, in PyTorch and here: neither is much nearer to float64."""
    model, x = network(name, "2:4", dtype)
    exact = exact_of(model, x)
    with torch.no_grad():
        of_torch = error(model(x), exact)
    compiled = nm.torch.export(model, x).compile(target=target)
    assert error(compiled(x), exact) < max(LIMITS[dtype], 1.5 * of_torch)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("pattern", ["2:4", "unstructured"])
def test_save_and_load(pattern, dtype, tmp_path):
    model, x = network("resnet", pattern, dtype)
    nm.torch.save(model, tmp_path)
    other = nm.torch.load(tmp_path, resnet().to(dtype).eval()).eval()
    assert type(other[3].a) is NMConv2d and other[3].a.product.values.dtype == dtype
    with torch.no_grad():
        assert torch.equal(model(x), other(x))
    exact = exact_of(model, x)
    for target in ("cpu", "sim:sm_90a"):
        y = nm.torch.export(other, x).compile(target=target)(x)
        assert error(y, exact) < 2 * LIMITS[dtype]
