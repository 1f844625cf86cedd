"""Networks of sparse convolutions whose images have their channels last inside, exported for
a Hopper and simulated, against float64: drawn from layers that make, take and pass on images."""

import copy
import os
import random
import re
import tempfile
from pathlib import Path

import nm
import pytest

torch = pytest.importorskip("torch")
import nm.torch  # noqa: E402
from conftest import relative_error  # noqa: E402
from nm.torch._export._program import write_resources  # noqa: E402
from test_torch_windows import BOUNDS, CASES  # noqa: E402
from torch import nn  # noqa: E402

TARGET = "sim:sm_90a"
# A seed of its own for each run.
SEED = int(os.environ.get("NM_TEST_SEED", random.SystemRandom().randrange(10 ** 6)))
LIMITS = {torch.float16: 2e-3, torch.bfloat16: 1e-2}
#: Of images of four and five dimensions.
CHANNELS_LAST = {4: torch.channels_last, 5: torch.channels_last_3d}
# With two outputs for each channel, the output has another dimension than the image.
WINDOWS = {name: case for name, case in CASES.items()
           if len(case[1]) in CHANNELS_LAST and name != "two for each channel"} | {
    "the mean of all": (nn.AdaptiveAvgPool2d(1), (2, 24, 7, 9)),
    "the mean of a volume": (nn.AdaptiveAvgPool3d(1), (2, 3, 4, 5, 6)),
    "the mean of pixels alone": (nn.AvgPool2d(3, 2, 1, count_include_pad=False), (2, 8, 13, 8)),
}


class Residual(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return torch.relu(self.inner(x) + x)


class Gated(nn.Module):
    """Squeeze and excitation: a channel's mean makes its factor."""

    def __init__(self, channels):
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, 64, 1), nn.Conv2d(64, channels, 1)

    def forward(self, x):
        mean = x.mean((2, 3), keepdim=True)
        return x * torch.sigmoid(self.up(torch.relu(self.down(mean))))


class Beside(nn.Module):
    """Both outputs, one behind the other's channels."""

    def __init__(self, one, other):
        super().__init__()
        self.one, self.other = one, other

    def forward(self, x):
        return torch.cat([self.one(x), self.other(x)], 1)


class Cut(nn.Module):
    def forward(self, x):
        return x[:, :, 1:, :-1]


def convolution(channels, out, taps, **options):
    return nn.Sequential(nn.Conv2d(channels, out, taps, **options), nn.BatchNorm2d(out))


# What takes an image of so many channels to one of as many, or half of the other's.
LAYERS = {
    "convolution": lambda c: nn.Sequential(convolution(c, c, 3, padding=1), nn.ReLU()),
    "residual": lambda c: Residual(nn.Sequential(convolution(c, c, 3, padding=1), nn.ReLU(),
                                                 convolution(c, c, 3, padding=1))),
    "bottleneck": lambda c: Residual(nn.Sequential(
        convolution(c, 64, 1), nn.ReLU(), convolution(64, 64, 3, padding=2, dilation=2),
        nn.SiLU(), convolution(64, c, 1))),
    "strides": lambda c: nn.Sequential(convolution(c, c, (3, 2), stride=(2, 1), padding=1),
                                       nn.Hardswish()),
    "point": lambda c: nn.Sequential(convolution(c, c, 1), nn.ReLU6()),
    "gated": Gated,
    "beside": lambda c: Beside(convolution(c, c - 64 or 64, 3, padding=1),
                               convolution(c, 64, 1)) if c > 64
    else Residual(convolution(c, c, 3, padding=1)),
    "maximum": lambda c: nn.MaxPool2d(3, 1, 1),
    "mean": lambda c: nn.AvgPool2d(2, 1),
    "depthwise": lambda c: nn.Conv2d(c, c, 3, padding=1, groups=c),
    "cut": lambda c: Cut(),
}
HEADS = {
    "image": lambda c: nn.Identity(),
    "classes": lambda c: nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                       nn.Linear(c, 10)),
    "flat": lambda c: nn.Flatten(2),
    "convolution": lambda c: nn.Conv2d(c, 24, 3, padding=1),
}


def draw_names(count):
    """The layers and heads of so many networks: of each one at least."""
    choose = random.Random(SEED)

    def spread(names, count):
        drawn = [*names, *choose.choices(list(names), k=count - len(names))]
        choose.shuffle(drawn)
        return drawn

    layers, heads = spread(LAYERS, 3 * count), spread(HEADS, count)
    for i, head in enumerate(heads):
        # One at least whose image tensor copies read, behind one that makes it.
        names = [*layers[3 * i:3 * i + 3],
                 choose.choice(["convolution", "residual", "strides"])]
        choose.shuffle(names)
        yield names, head


def draw(names, head, number):
    """A network of these layers, and an image."""
    choose = random.Random(number)
    torch.manual_seed(number)
    channels = choose.choice([64, 128])
    stem = nn.Sequential(nn.Conv2d(3, channels, 3, stride=choose.choice([1, 2])), nn.ReLU())
    network = nn.Sequential(stem, *(LAYERS[name](channels) for name in names),
                            HEADS[head](channels)).eval()
    for layer in network.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.running_var.uniform_(.5, 1.5)
            layer.running_mean.normal_(0, .1)
    x = torch.randn(choose.choice([1, 1, 2, 3]), 3, choose.randrange(11, 17),
                    choose.randrange(11, 17))
    return network, x


def sparsify(network):
    names = {name: "2:4" for name, layer in network.named_modules()
             if isinstance(layer, nn.Conv2d) and layer.groups == 1 and
             layer.in_channels > 3 and layer.out_channels % 64 == 0}
    nm.torch.sparsify(network, names, prune=True)


def error(y, exact, x):
    expected = exact.double()(x.double())
    return float((y.double() - expected).norm() / expected.norm())


def lowered(exported):
    """The module before schedules are chosen."""
    with tempfile.TemporaryDirectory() as folder:
        weights = Path(folder) / "weights"
        write_resources(weights, exported.resources, sums=False)
        return nm.lower(exported.text, "nm", TARGET, resources=str(weights))


def count_last(exported):
    """How many ops make images whose channels are last."""
    return len(re.findall(r"(?:into|->) tensor<[1-3]x\d{1,2}x\d{1,2}x(?:64|128)xb?f16>",
                          lowered(exported)))


@pytest.mark.parametrize("dtype", LIMITS)
@torch.no_grad()
def test_networks(dtype):
    last, networks = 0, 6
    for i, (names, head) in enumerate(draw_names(networks)):
        network, x = draw(names, head, SEED + i)
        network, x = network.to(dtype), x.to(dtype)
        sparsify(network)
        exact = copy.deepcopy(network)
        nm.torch.densify(exact)
        limit = max(LIMITS[dtype], 1.5 * error(network(x), exact, x))
        exported = nm.torch.export(network, x)
        last += count_last(exported) > 0
        for form in (exported, nm.torch.export(network, x, channels_last=True)):
            y = form.compile(target=TARGET)(x)
            assert error(y, exact, x) < limit, (SEED, i, names, head)
    print(f"seed {SEED}: {last} of {networks} networks have images with channels last")
    assert last >= 4


@pytest.mark.parametrize("target", ["cpu", "sim:sm_80", TARGET])
@pytest.mark.parametrize("images", [1, 2])
@torch.no_grad()
def test_images_with_channels_last(images, target):
    """A module takes and gives such images as they lie, and images in planes."""
    torch.manual_seed(SEED)
    layer = nn.Sequential(nn.Conv2d(64, 64, 3, padding=1), nn.ReLU()).half().eval()
    sparsify(layer)
    x = torch.randn(images, 64, 7, 9).half()
    exact = copy.deepcopy(layer)
    nm.torch.densify(exact)
    exported = nm.torch.export(layer, x, channels_last=True)
    assert f"%arg0: tensor<{images}x7x9x64xf16>" in exported.text
    compiled = exported.compile(target=target)
    wide = torch.full((images, 64, 7, 12), float("nan")).half()
    wide[..., 2:-1] = x
    for given in (x, x.to(memory_format=torch.channels_last), wide[..., 2:-1]):
        y = compiled(given)
        assert y.shape == x.shape and y.is_contiguous(memory_format=torch.channels_last)
        assert error(y, exact, x) < LIMITS[torch.float16]
    if target == TARGET:
        text = lowered(exported)
        # Of the filter, which stands before the function's first product.
        assert text.count("linalg.transpose") == 0, text


@pytest.mark.parametrize("case", WINDOWS)
@torch.no_grad()
def test_windows_alone(case):
    """Pools, means and depthwise convolutions without another one transpose no image."""
    torch.manual_seed(SEED)
    dtype = list(BOUNDS)[(SEED + list(WINDOWS).index(case)) % len(BOUNDS)]
    layer, shape = WINDOWS[case]
    layer = nn.Sequential(nn.ReLU6(), copy.deepcopy(layer), nn.ReLU6()).to(dtype).eval()
    x = 3 * torch.randn(shape).to(dtype)
    exported = nm.torch.export(layer, x, channels_last=True)
    compiled = exported.compile(target=TARGET)
    y = compiled(x.to(memory_format=CHANNELS_LAST[x.dim()]))
    expected = layer.double()(x.double())
    assert relative_error(y.double().numpy(), expected.numpy()) < 2 * BOUNDS[dtype], SEED
    assert "linalg.transpose" not in lowered(exported)


@torch.no_grad()
def test_images_and_others():
    """Of a dynamic batch, in one and three dimensions, and beside what is no image."""
    torch.manual_seed(SEED)

    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.plain, self.deep = nn.Conv2d(4, 6, 3), nn.Conv3d(2, 3, 2)

        def forward(self, x, volume, row, flags):
            return (self.plain(x) + row[:, None, None, None], self.deep(volume),
                    flags | True, x.shape[0])

    model = Mixed().eval()
    args = (torch.randn(3, 4, 5, 6), torch.randn(3, 2, 4, 5, 6), torch.randn(3),
            torch.rand(3, 1, 1, 2) < .5)
    compiled = nm.torch.export(model, args, channels_last=True,
                               dynamic_batch=True).compile()
    for size in (3, 2):
        given = tuple(each[:size] for each in args)
        for got, expected in zip(compiled(*given), model(*given)):
            torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)
