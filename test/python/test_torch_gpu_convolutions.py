"""Dense convolutions of exported models by cuDNN on a device: against float64, with drawn sizes,
taps, strides, dilations and padding, in planes and with channels last, in f32, f16 and bf16.
Drawn afresh; NM_TEST_SEED repeats a run.

    cd test/python && python3 -m pytest test_torch_gpu_convolutions.py
"""

import copy
import os

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import nm.torch  # noqa: E402
from nm.torch import NMConv2d  # noqa: E402
from torch import nn  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", np.random.SeedSequence().entropy % 2 ** 31))
LIMITS = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


def error(y, expected):
    return float((y.double() - expected.double()).norm() / expected.double().norm())


def draw(rng, dims):
    """A layer and the shape of its image, which all of its taps fit into."""
    numbers = lambda low, high: [int(rng.integers(low, high)) for _ in range(dims)]  # noqa: E731
    taps, strides, dilations = numbers(1, 5), numbers(1, 4), numbers(1, 3)
    reach = [(tap - 1) * dilation + 1 for tap, dilation in zip(taps, dilations)]
    padding = [int(rng.integers(0, size)) for size in reach]
    sizes = [size + int(rng.integers(0, 12)) for size in reach]
    # No layer of one tap alone is a convolution.
    taps[0], strides[0] = max(taps[0], 2), max(strides[0], 1)
    sizes[0] += dilations[0]
    kind = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}[dims]
    channels, outputs = (int(rng.choice([1, 3, 5, 8, 16, 24, 40, 64])) for _ in range(2))
    layer = kind(channels, outputs, taps, strides, padding, dilations,
                 bias=bool(rng.integers(2)))
    return layer, (int(rng.integers(1, 5)), channels, *sizes)


def check(model, x, dtype, steps=None, **options):
    model, x = model.to(dtype).cuda().eval(), x.to(dtype).cuda()
    exact = copy.deepcopy(model)
    nm.torch.densify(exact)
    with torch.no_grad():
        expected = exact.double()(x.double())
        compiled = nm.torch.export(model, x).compile(target="cuda", profile=bool(steps),
                                                     **options)
        images = [x]
        if x.dim() == 4:
            images.append(x.to(memory_format=torch.channels_last))
        for image in images:
            before = image.clone()
            assert error(compiled(image), expected) < LIMITS[dtype]
            assert torch.equal(image, before)
        if steps:
            profile = str(compiled.profile(x))
            assert profile.count(" cudnn") == steps, profile
            # What takes its place has no kernel.
            assert all(float(line.split()[0]) < 3 for line in profile.splitlines()
                       if " cublas" in line), profile
    return compiled


@pytest.mark.parametrize("dtype", list(LIMITS))
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("number", range(8))
def test_drawn(number, dims, dtype):
    """Where cuDNN refuses one, it is what would be taken without it."""
    rng = np.random.default_rng([SEED, number, dims, list(LIMITS).index(dtype)])
    torch.manual_seed(int(rng.integers(2 ** 31)))
    layer, shape = draw(rng, dims)
    print(f"NM_TEST_SEED={SEED}: {layer} {shape}")
    model = nn.Sequential(layer, nn.ReLU()) if rng.integers(2) else nn.Sequential(layer)
    check(model, torch.randn(shape), dtype, schedule="cublas")


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.a = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.b = nn.Conv2d(channels, 2 * channels, 3, stride=2, padding=1)

    def forward(self, x):
        return torch.relu(self.b(torch.relu(self.norm(self.a(x)) + x)))


@pytest.mark.parametrize("dtype", list(LIMITS))
def test_network(dtype):
    """cuDNN has these, and takes them."""
    torch.manual_seed(1)
    check(Block(64), torch.randn(4, 64, 14, 14), dtype, steps=2, schedule="cublas")


def test_graph():
    """A graph holds what cuDNN does, with its memory."""
    torch.manual_seed(2)
    model, x = Block(64), torch.randn(32, 64, 28, 28)
    compiled = check(model, x, torch.float16)
    image = x.half().cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = compiled(image)
    for seed in range(2):
        torch.manual_seed(seed)
        image.copy_(torch.randn(x.shape))
        graph.replay()
        assert torch.equal(y, compiled(image))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_chosen(dtype):
    """Many images of dense weights, and of weights whose zeros gain nothing, are cuDNN's."""
    torch.manual_seed(3)
    layer = nn.Conv2d(128, 128, 3, padding=1)
    x = torch.randn(32, 128, 28, 28)
    compiled = check(nn.Sequential(layer, nn.ReLU()), x, dtype, steps=1)
    assert any("calls cuDNN" in remark for remark in map(str, compiled.module.remarks))
    pruned = NMConv2d.from_dense(layer.float().cpu(), "3:4", prune_weight=True)
    check(nn.Sequential(pruned), x, dtype)
