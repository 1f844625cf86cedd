"""Layers without groups by a kernel for the image's shape, without patches: against float64 of
PyTorch's functional convolutions, in every order of channels, and which way is taken."""

import itertools
import os

import nm
import numpy as np
import pytest

torch = pytest.importorskip("torch")
import nm.torch  # noqa: E402
from nm import _convolve, _kernels  # noqa: E402
from nm.torch import NMConv1d, NMConv2d, NMConv3d, _convolution, _image_kernels, _image_ways  # noqa: E402
from nm.torch._weights import find_weight  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", np.random.SeedSequence().entropy % 2 ** 31))
KINDS = {1: (nn.Conv1d, NMConv1d, functional.conv1d), 2: (nn.Conv2d, NMConv2d, functional.conv2d),
         3: (nn.Conv3d, NMConv3d, functional.conv3d)}
LIMITS = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}
PATTERNS = ["2:4", "1:4", "8:32, block = 1x16", "unstructured"]


def error(y, expected):
    norm = float(expected.double().norm())
    return float((y.double() - expected.double()).norm()) / (norm or 1)


def make(dense, pattern):
    """The layer of a convolution that is pruned."""
    rank = len(dense.kernel_size)
    if pattern == "unstructured":
        with torch.no_grad():
            dense.weight[torch.rand(dense.weight.shape) < .8] = 0
            dense.weight[0] = 0
    return KINDS[rank][1].from_dense(dense, pattern, prune_weight=pattern != "unstructured").eval()


def exact(layer, image):
    """By PyTorch, in float64."""
    with torch.no_grad():
        bias = None if layer.bias is None else layer.bias.double()
        return KINDS[len(layer.kernel_size)][2](
            image.double(), layer.weight.double(), bias, layer.stride, layer.padding,
            layer.dilation, layer.groups)


def draw(*numbers, dtype=torch.float32):
    rng = np.random.default_rng([SEED, *numbers])
    torch.manual_seed(int(rng.integers(2 ** 31)))
    rank = int(rng.choice([1, 2, 2, 2, 3]))
    pattern = str(rng.choice(PATTERNS))
    channels, outputs = int(rng.choice([4, 8, 32])), int(rng.choice([1, 7, 16, 33]))
    if "32" in pattern:
        channels, outputs = 32, int(rng.choice([16, 48]))
    taps = [int(rng.integers(1, 4)) for _ in range(rank)]
    dilation = [int(rng.integers(1, 3)) for _ in range(rank)]
    same = rng.random() < .2
    stride = [1 if same else int(rng.integers(1, 4)) for _ in range(rank)]
    padding = "same" if same else [int(rng.integers(0, 3)) for _ in range(rank)]
    sizes = [(tap - 1) * step + 1 + int(rng.integers(0, 14)) for tap, step in zip(taps, dilation)]
    dense = KINDS[rank][0](channels, outputs, taps, stride, padding, dilation,
                           bias=bool(rng.random() < .5)).to(dtype)
    return make(dense, pattern), torch.randn(int(rng.integers(1, 4)), channels, *sizes).to(dtype)


def layouts(x):
    """The image in its own order, with channels last, as slices of larger ones of both, and with
    its last two dimensions the other way round."""
    yield x
    yield x.movedim(1, -1).contiguous().movedim(-1, 1)
    wide = x.new_full((*x.shape[:-1], x.shape[-1] + 3), float("nan"))
    wide[..., 2:-1] = x
    yield wide[..., 2:-1]
    last = wide.movedim(1, -1).contiguous().movedim(-1, 1)
    yield last[..., 2:-1]
    yield x.mT.contiguous().mT


@pytest.fixture
def any_size(monkeypatch):
    """Small images have kernels, too."""
    monkeypatch.setattr(_image_ways, "_FEW_ELEMENTS", 1)


@pytest.fixture
def ways(monkeypatch):
    """What calls do: the orders in which kernels read images, and patches."""
    taken = []
    find, patches = _image_kernels.convolve, _convolution.patches

    def convolve(image, what, *given):
        taken.append(what.of_image)
        return find(image, what, *given)

    monkeypatch.setattr(_image_kernels, "convolve", convolve)
    monkeypatch.setattr(_convolution, "patches",
                        lambda *given: taken.append("patches") or patches(*given))
    return taken


@pytest.mark.parametrize("dtype", list(LIMITS))
@pytest.mark.parametrize("number", range(10))
def test_layers(number, dtype, any_size):
    layer, x = draw(number, list(LIMITS).index(dtype), dtype=dtype)
    expected = exact(layer, x)
    note = f"NM_TEST_SEED={SEED}: {layer} {x.shape}"
    with torch.no_grad():
        for image in layouts(x):
            before = image.clone()
            y = layer(image)
            assert y.dtype == dtype and y.shape == expected.shape, note
            assert error(y, expected) < LIMITS[dtype], note
            assert torch.equal(image, before)
        assert error(layer(x[0]), expected[0]) < LIMITS[dtype], note
        assert layer(x[:0]).shape == (0, *expected.shape[1:])


FIRST, LAST, PATCHES = "channels first", "channels last", "patches"
#: The type, the pattern, the filter, its stride, the image's size; the ways of both layouts.
WAYS = [
    (torch.float32, "2:4", 3, 1, 9, FIRST, FIRST),
    (torch.float32, "2:4", 3, 1, 7, LAST, LAST),
    (torch.float32, "unstructured", 3, 2, 13, FIRST, FIRST),
    (torch.float32, "unstructured", 1, 1, 14, FIRST, LAST),
    (torch.float32, "1:4", 4, 4, 36, FIRST, LAST),
    (torch.float16, "2:4", 3, 1, 9, FIRST, FIRST),
    (torch.float16, "2:4", 1, 2, 20, FIRST, LAST),
    (torch.float16, "unstructured", 4, 4, 36, PATCHES, PATCHES),
    (torch.bfloat16, "2:4", 3, 1, 9, PATCHES, PATCHES),
    (torch.bfloat16, "unstructured", 1, 1, 10, FIRST, LAST),
    (torch.float32, "2:4", 1, 1, 4, PATCHES, PATCHES),
    (torch.float64, "2:4", 3, 1, 14, PATCHES, PATCHES),
]


@pytest.mark.parametrize("number", range(len(WAYS)))
def test_which_way(number, ways):
    dtype, pattern, taps, stride, size, *expected = WAYS[number]
    is_wide = dtype == torch.float64
    layer = make(nn.Conv2d(96, 40, taps, stride, taps // 2).to(
        torch.float32 if is_wide else dtype), pattern)
    layer = layer.double() if is_wide else layer
    x = torch.randn(2, 96, size, size).to(dtype)
    last = x.to(memory_format=torch.channels_last)
    with torch.no_grad():
        for image, way in zip((x, last), expected):
            ways.clear()
            y = layer(image)
            assert ways == [way]
            assert y.is_contiguous() == (way == FIRST)
            assert error(y, exact(layer, image)) < LIMITS.get(dtype, 1e-12)


def test_number_of_kernels(ways, monkeypatch):
    """The first images of so many shapes have kernels; others are patches, by one more."""
    compiled = []
    compile_ = _kernels.compile
    monkeypatch.setattr(_kernels, "compile", lambda *given, **options: (
        compiled.append(given), compile_(*given, **options))[1])
    layer = make(nn.Conv2d(32, 24, 3, padding=1), "2:4")
    most = _convolve.MOST_IMAGES
    images = [torch.randn(1 + i % 2, 32, 8 + i, 19) for i in range(3 * most)]
    with torch.no_grad():
        seen = []
        for turn in range(2):
            for image in images:
                assert error(layer(image), exact(layer, image)) < 1e-5
            w = layer.product.sparse_weight()
            seen.append((len(compiled), len(w._bound), nm.packed_bytes(w)))
    assert ways.count(FIRST) == 2 * len(images)
    assert ways.count(PATCHES) == 2 * (len(images) - most)
    # One more for patches, of any number of rows.
    assert seen[0] == seen[1] and seen[0][:2] == (most + 1, most + 1)
    assert len(w._prepared) <= 128
    with torch.no_grad():
        layer(images[0])
        one = nm.packed_bytes(w)
        nm.free_packed(w)
        layer(images[0])
    # Forms are shared.
    assert one <= 3 * nm.packed_bytes(w)


def test_number_of_kernels_in_groups():
    """Beyond it PyTorch convolves with the dense weight."""
    layer = make(nn.Conv2d(12, 18, 3, padding=1, groups=3), "2:4")
    with torch.no_grad():
        for size in range(5, 5 + _convolve.MOST_IMAGES + 3):
            image = torch.randn(2, 12, size, 7)
            assert error(layer(image), exact(layer, image)) < 1e-5
    converted = layer.product._weight()._torch_converted
    (whole,) = (each for key, each in converted.items() if key[0] == "groups")
    assert len(whole._bound) == _convolve.MOST_IMAGES


@pytest.mark.parametrize("groups", [1, 2])
def test_without_a_compiler(groups, ways, monkeypatch):
    looked_for = []

    def convolve(image, *_):
        looked_for.append(image.shape)
        raise nm.CompilerNotFoundError("none")

    monkeypatch.setattr(_image_kernels, "convolve", convolve)
    layer = make(nn.Conv2d(64, 24, 3, padding=1, groups=groups), "2:4")
    x = torch.randn(2, 64, 9, 11)
    with torch.no_grad():
        for _ in range(2):
            assert error(layer(x), exact(layer, x)) < 1e-5
    assert ways == ([PATCHES, PATCHES] if groups == 1 else []) and len(looked_for) == 1


@pytest.mark.parametrize("training", [True, False])
def test_gradients(training, ways):
    layer = make(nn.Conv2d(64, 24, 3, 2, 1), "2:4").train(training)
    x = torch.randn(2, 64, 17, 15, requires_grad=True)
    weight, bias, other = (each.detach().double().clone().requires_grad_()
                           for each in (layer.weight, layer.bias, x))
    y, expected = layer(x), functional.conv2d(other, weight, bias, 2, 1)
    assert ways == [PATCHES]
    factor = torch.randn(y.shape)
    (y * factor).sum().backward()
    (expected * factor.double()).sum().backward()
    assert error(x.grad, other.grad) < 1e-5 and error(layer.bias.grad, bias.grad) < 1e-5
    kept = layer.weight != 0
    dense = layer.product._dense_gradient().as_subclass(torch.Tensor).unflatten(
        1, (3, 3, -1)).movedim(-1, 1)
    assert error(dense[kept], weight.grad[kept]) < 1e-5
    with torch.no_grad():
        layer(x)
    assert ways[-1] == FIRST


def test_sees_what_changes(ways):
    """Steps of an optimizer, and a state that is loaded."""
    layer = make(nn.Conv2d(64, 24, 3, padding=1), "2:4")
    other = make(nn.Conv2d(64, 24, 3, padding=1), "2:4")
    x = torch.randn(2, 64, 9, 9)
    optimizer = torch.optim.SGD(layer.parameters(), .1)
    for _ in range(3):
        layer.train()
        layer(x).square().mean().backward()
        optimizer.step()
        layer.eval()
        with torch.no_grad():
            assert error(layer(x), exact(layer, x)) < 1e-5 and ways[-1] == FIRST
    layer.load_state_dict(other.state_dict())
    with torch.no_grad():
        assert torch.equal(layer(x), other(x))
    assert ways[-2:] == [FIRST, FIRST]


def test_other_ways_to_call(ways):
    """Under autocast, torch.compile and torch.func, with a hook, and as an exported program."""
    layer = make(nn.Conv2d(64, 24, 3, padding=1), "unstructured")
    x = torch.randn(2, 64, 9, 9)
    expected = exact(layer, x)
    with torch.no_grad():
        for lower, image in itertools.product((torch.bfloat16, torch.float16), layouts(x)):
            with torch.autocast("cpu", lower):
                y = layer(image)
            assert y.dtype == lower and error(y, expected) < LIMITS[lower]
        assert set(ways) == {FIRST}
        program = torch.export.export(nn.Sequential(layer), (x,))
        for image in layouts(x):
            y = program.module()(image)
            assert error(y, expected) < 1e-5 and y.is_contiguous()
        ways.clear()
        assert error(torch.compile(layer, backend="eager", fullgraph=True)(x), expected) < 1e-5
        assert error(torch.func.vmap(layer)(x[:, None])[:, 0], expected) < 1e-5
        seen = []
        handle = layer.product.register_forward_hook(lambda module, args, y: seen.append(args))
        assert error(layer(x), expected) < 1e-5 and len(seen) == 1
        handle.remove()
        assert FIRST not in ways and LAST not in ways
        with torch.inference_mode():
            assert error(layer(x), expected) < 1e-5 and ways[-1] == FIRST


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("order", [FIRST, LAST])
def test_bias_is_added_where_sums_are_stored(order, batch):
    """Also of one image, whose batch is no dimension of the bias: a kernel of a GPU has no
    result in between."""
    part = make(nn.Conv2d(64, 64, 3, padding=1).half(), "8:32, block = 1x16").product
    what = _convolve.Convolution(find_weight(part.values, part.indices, part._form),
                                 _convolve.Windows((3, 3), (1, 1), (1, 1), (1, 1)), LAST, order)
    text = _convolve._text(what.shape_of(batch, 64, (28, 28)), what, True)
    assert nm.compile(text, "cuda:sm_90a").only_function().temporary_bytes == 0


def test_what_does_not_fit():
    layer = make(nn.Conv2d(64, 24, 3), "2:4")
    with torch.no_grad():
        with pytest.raises(nm.ShapeError, match="64 channels|k = 576"):
            layer(torch.randn(1, 60, 20, 20))
        with pytest.raises(nm.DTypeError):
            layer(torch.randn(1, 64, 20, 20).half())
        for sizes in ((2, 20), (20, 1)):
            with pytest.raises(nm.ShapeError, match=r"window \(3, 3\), but got \("):
                layer(torch.randn(1, 64, *sizes))
