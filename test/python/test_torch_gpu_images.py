"""Layers of convolutions called from PyTorch on a GPU: against float64, by kernels that read the
image in every order of channels, and which way is taken. Without a device kernels are simulated;
on one, what PyTorch has for devices is tested, too:

    cd test/python && python3 -m pytest -p on_device test_torch_gpu_images.py
"""

import copy
import itertools
import os

import nm
import numpy as np
import pytest

torch = pytest.importorskip("torch")
import nm.torch  # noqa: E402
from nm import _arrays, _convolve, _forms, _kernels  # noqa: E402
from nm._pattern import parse_pattern  # noqa: E402
from nm.torch import NMConv2d, _convolution, _image_kernels, _image_ways  # noqa: E402
from nm.torch._weights import find_weight  # noqa: E402
from test_torch_image_kernels import LIMITS, draw, error, exact, layouts, make  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", np.random.SeedSequence().entropy % 2 ** 31))
HAS_DEVICE = torch.cuda.is_available()
DEVICE = "cuda" if HAS_DEVICE else "cpu"
needs_device = pytest.mark.skipif(not HAS_DEVICE, reason="no CUDA device")
FIRST, LAST, PATCHES = "channels first", "channels last", "patches"
CHIPS = ["sm_90a"] if HAS_DEVICE else ["sm_90a", "sm_80"]


@pytest.fixture(params=CHIPS, autouse=True)
def on_gpu(request, monkeypatch):
    """Images are on a GPU, or taken to be; small ones have kernels, and results hold NaN before."""
    torch._dynamo.reset()
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    monkeypatch.setattr(_image_ways, "_FEW_ELEMENTS", 1)
    if not HAS_DEVICE:
        monkeypatch.setattr(_kernels, "_target_of", lambda device: f"sim:{request.param}")
        for module in (_image_ways, _convolution):
            monkeypatch.setattr(module, "is_on_gpu", lambda image: True)
    kind = type(_arrays.KINDS["torch"])
    empty = kind.empty

    def poisoned(self, shape, element, like):
        made = empty(self, shape, element, like)
        return made.fill_(float("nan")) if made.is_floating_point() else made

    monkeypatch.setattr(kind, "empty", poisoned)


@pytest.fixture
def ways(monkeypatch):
    """What calls do: the orders in which kernels read images, and patches."""
    taken = []
    find, windows = _image_kernels.convolve, _convolution._windows

    def convolve(image, what, *given):
        y = find(image, what, *given)
        if y is not None:
            taken.append(what.of_image)
        return y

    def make_windows(*given):
        taken.append(PATCHES)
        return windows(*given)

    monkeypatch.setattr(_image_kernels, "convolve", convolve)
    monkeypatch.setattr(_convolution, "_windows", make_windows)
    return taken


@pytest.fixture
def compiled(monkeypatch):
    """The options of all modules of convolutions that are compiled, or found in the cache."""
    seen = []
    compile_ = _kernels.compile

    def compile_one(text, *given, **options):
        if "linalg.conv" in text:
            seen.append(options)
        return compile_(text, *given, **options)

    monkeypatch.setattr(_kernels, "compile", compile_one)
    return seen


def on_device(dense, pattern, *shape):
    """A pruned layer and an image of `shape` on the device, and the exact result."""
    layer, x = make(dense, pattern), torch.randn(shape).to(dense.weight.dtype)
    expected = exact(layer, x)
    return layer.to(DEVICE), x.to(DEVICE), expected


@pytest.mark.parametrize("dtype", list(LIMITS))
@pytest.mark.parametrize("number", range(8))
def test_layers(number, dtype):
    layer, x = draw(1, number, list(LIMITS).index(dtype), dtype=dtype)
    expected = exact(layer, x)
    note = f"NM_TEST_SEED={SEED}: {layer} {x.shape}"
    layer = layer.to(DEVICE)
    with torch.no_grad():
        for image in layouts(x.to(DEVICE)):
            before = image.clone()
            y = layer(image)
            assert y.dtype == dtype and y.device == image.device, note
            assert y.shape == expected.shape, note
            assert error(y.cpu(), expected) < LIMITS[dtype], note
            assert torch.equal(image, before)
        alone = layer(x[0].to(DEVICE)).cpu()
        assert error(alone, expected[0]) < LIMITS[dtype], note
        assert layer(x[:0].to(DEVICE)).shape == (0, *expected.shape[1:])


@pytest.mark.parametrize("dtype", list(LIMITS))
@pytest.mark.parametrize("pattern", ["2:4", "unstructured"])
def test_layers_in_groups(pattern, dtype):
    layer = make(nn.Conv2d(24, 21, (3, 2), (1, 2), (2, 1), groups=3).to(dtype), pattern)
    x = torch.randn(3, 24, 9, 8).to(dtype)
    expected = exact(layer, x)
    layer = layer.to(DEVICE)
    with torch.no_grad():
        for image in layouts(x.to(DEVICE)):
            assert error(layer(image).cpu(), expected) < LIMITS[dtype]


#: The type, the pattern, the filter, its stride; the ways of both layouts.
WAYS = [
    (torch.float32, "2:4", 3, 1, FIRST, LAST),
    (torch.float32, "8:32, block = 1x16", 3, 2, FIRST, FIRST),
    (torch.float32, "8:32, block = 1x16", 1, 2, FIRST, LAST),
    (torch.float32, "unstructured", 3, 2, FIRST, FIRST),
    (torch.float32, "unstructured", 1, 2, FIRST, PATCHES),
    (torch.float32, "unstructured", 1, 1, FIRST, PATCHES),
    (torch.float16, "2:4", 3, 1, None, LAST),
    (torch.float16, "2:4", 1, 2, FIRST, LAST),
    (torch.float16, "2:4", 1, 1, FIRST, PATCHES),
    (torch.float16, "unstructured", 3, 1, FIRST, None),
    (torch.bfloat16, "8:32, block = 1x16", 3, 1, FIRST, LAST),
    (torch.float16, "8:32, block = 1x8", 3, 1, FIRST, LAST),
    (torch.float16, "8:32, block = 1x8", 1, 2, FIRST, PATCHES),
    (torch.bfloat16, "8:32, block = 1x16", 1, 1, FIRST, PATCHES),
    (torch.float64, "2:4", 3, 1, PATCHES, PATCHES),
]


@pytest.mark.parametrize("number", range(len(WAYS)))
def test_which_way(number, ways):
    dtype, pattern, taps, stride, *expected = WAYS[number]
    is_wide = dtype == torch.float64
    layer = make(nn.Conv2d(64, 48, taps, stride, taps // 2).to(
        torch.float32 if is_wide else dtype), pattern)
    layer = layer.double() if is_wide else layer
    x = torch.randn(2, 64, 16, 17).to(dtype)
    wanted = exact(layer, x)
    layer = layer.to(DEVICE)
    with torch.no_grad():
        for image, way in zip((x, x.to(memory_format=torch.channels_last)), expected):
            ways.clear()
            y = layer(image.to(DEVICE))
            # Some depend on the strategy that a kernel has.
            if way is not None:
                assert ways == [way] and y.is_contiguous() == (way == FIRST)
            assert error(y.cpu(), wanted) < LIMITS.get(dtype, 1e-12)


@pytest.mark.parametrize("places, expected", [(63, LAST), (64, FIRST)])
def test_images_of_few_places(places, expected):
    """Are not copied for vectors of f32."""
    windows = _convolve.Windows((3, 3), (1, 1), (1, 1), (1, 1))
    pattern = parse_pattern("8:32, block = 1x32, dim = 1")
    ways = _image_ways.ways_on_gpu(torch.float32, True, places, pattern, windows)
    assert ways[0][0] == expected


def compiler_of(layer, shape):
    """Compiles it for a GPU, whether or not there is one, for images of channels first."""
    part = layer.product
    what = _convolve.Convolution(find_weight(part.values, part.indices, part._form),
                                 layer._windows(list(layer.padding)), LAST)

    def compile_for(**options):
        try:
            module = nm.compile(_convolve._text(shape, what, True), "cuda:sm_90a", **options)
        except nm.CompileError:
            return None
        return module.only_function()

    return compile_for


#: The type, the pattern, the channels, the filter, its stride, the batch, the order of channels;
#: whether the fastest kernel writes patches.
KERNELS = [
    (torch.float32, "2:4", 256, 3, 1, 1, FIRST, False),
    (torch.float32, "unstructured", 256, 3, 1, 1, FIRST, False),
    (torch.float32, "2:4", 256, 3, 1, 1, LAST, True),
    (torch.float16, "2:4", 96, 3, 1, 1, FIRST, True),
    (torch.float16, "2:4", 96, 3, 1, 4, LAST, True),
    (torch.float16, "2:4, block = 1x4", 96, 3, 1, 1, FIRST, True),
    (torch.float16, "8:32, block = 1x64", 256, 3, 1, 1, FIRST, False),
    (torch.float16, "8:32, block = 1x64", 256, 3, 1, 1, LAST, False),
    (torch.bfloat16, "2:4", 256, 1, 1, 1, FIRST, False),
]


@pytest.mark.parametrize("number", range(len(KERNELS)))
def test_what_writes_patches(number):
    """Compiled for a GPU, whether or not there is one. One image of 256 channels has sums of
    parts of k, which are no patches."""
    dtype, pattern, channels, taps, stride, batch, order, expected = KERNELS[number]
    layer = make(nn.Conv2d(channels, channels, taps, stride, taps // 2).to(dtype), pattern)
    part = layer.product
    what = _convolve.Convolution(find_weight(part.values, part.indices, part._form),
                                 layer._windows(list(layer.padding)), LAST, order)
    shape = what.shape_of(batch, channels, (14, 14))
    function = nm.compile(_convolve._text(shape, what, True), "cuda:sm_90a").only_function()
    assert _convolve.writes_patches(function, what, shape) == expected, function.ops[0].remark


def test_what_has_no_kernel(ways, compiled, monkeypatch):
    """Shapes whose kernels would write patches have PyTorch's, and are not compiled again."""
    monkeypatch.setattr(_convolve, "writes_patches", lambda function, what, shape: shape[0] > 1)
    layer = make(nn.Conv2d(32, 24, 3, padding=1), "unstructured")
    images = [torch.randn(2 + i % 2, 32, 8 + i, 9) for i in range(12)]
    expected = [exact(layer, image) for image in images]
    layer = layer.to(DEVICE)
    with torch.no_grad():
        for _ in range(2):
            for image, wanted in zip(images, expected):
                assert error(layer(image.to(DEVICE)).cpu(), wanted) < 1e-5
        assert set(ways) == {PATCHES}
        # Each the fastest, and by the strategy that reads images.
        assert [each.get("schedule") for each in compiled] == (
            [None, "simt_columns"] * _convolve.MOST_IMAGES)
        nm.free_packed(find_weight(layer.product.values, layer.product.indices,
                                   layer.product._form))
        ways.clear()
        layer(images[0][:1].to(DEVICE))
        assert ways == [FIRST]


def test_nothing_is_copied_in_vain(ways, monkeypatch):
    """To the order of channels of a kernel that there is not."""
    monkeypatch.setattr(_convolve, "writes_patches", lambda *_: True)
    layer = make(nn.Conv2d(32, 24, 3, padding=1), "unstructured").to(DEVICE)
    x = torch.randn(2, 32, 8, 9, device=DEVICE).to(memory_format=torch.channels_last)
    with torch.no_grad():
        expected = layer(x)
        monkeypatch.setattr(_image_kernels, "convolve", None)
        assert torch.equal(layer(x), expected)
    assert ways == [PATCHES, PATCHES]


def test_patches_of_a_strategy(ways, monkeypatch):
    """simt_columns would write patches of channels that are last twice: it has PyTorch's."""
    strategies = []
    monkeypatch.setattr(_convolve, "writes_patches", lambda function, *_: (
        strategies.append(function.ops[0].strategy), True)[1])
    layer = make(nn.Conv2d(64, 48, 3, padding=1).half(), "unstructured")
    x = torch.randn(1, 64, 9, 8).half()
    expected = exact(layer, x)
    layer = layer.to(DEVICE)
    with torch.no_grad():
        for image in (x, x.to(memory_format=torch.channels_last)):
            ways.clear()
            assert error(layer(image.to(DEVICE)).cpu(), expected) < 2e-3
            assert ways == [PATCHES if strategies[-1] == "simt_columns" else LAST], strategies


def test_kernel_that_is_about_as_fast(monkeypatch):
    """The one that reads the image, in place of one that writes patches."""
    layer = make(nn.Conv2d(64, 64, 3, padding=1), "8:32, block = 1x16")
    compile_for = compiler_of(layer, (1, 64, 16, 16))
    own = compile_for()
    found = _forms.find_about_as_fast(own, "simt", lambda by: compile_for(schedule=by))
    assert found.ops[0].strategy == "simt"
    assert _forms.find_about_as_fast(own, None, None) is None
    assert _forms.find_about_as_fast(own, "simt", lambda by: None) is None
    monkeypatch.setattr(_forms, "_SHARED_SHARE", .5)
    assert _forms.find_about_as_fast(own, "simt", lambda by: compile_for(schedule=by)) is None


def test_batches_that_vary(ways, compiled):
    """The first images of so many shapes have kernels; others are patches."""
    layer = make(nn.Conv2d(32, 24, 3, padding=1), "unstructured")
    most = _convolve.MOST_IMAGES
    images = torch.randn(most + 3, 32, 8, 9)
    expected = exact(layer, images)
    layer = layer.to(DEVICE)
    with torch.no_grad():
        for _ in range(2):
            for batch in range(1, len(images) + 1):
                y = layer(images[:batch].to(DEVICE))
                assert error(y.cpu(), expected[:batch]) < 1e-5
    assert ways.count(FIRST) == 2 * most and ways.count(PATCHES) == 6
    part = layer.product
    w = find_weight(part.values, part.indices, part._form)
    assert _kernels._count_images(w._bound, (int(HAS_DEVICE), 0)) == most
    if HAS_DEVICE:
        forms = _kernels._count_forms(w, (1, 0))
        assert forms <= _forms.most_forms(), forms


@pytest.mark.parametrize("dtype, pattern, channels, size", [
    (torch.float32, "8:32, block = 1x16", 64, 56), (torch.float16, "8:32, block = 1x64", 128, 28)])
def test_form_of_another_kernel(dtype, pattern, channels, size, monkeypatch):
    """Where a weight may have one packed form, a kernel is one that reads it."""
    layer = make(nn.Conv2d(channels, channels, 3, padding=1).to(dtype), pattern)
    monkeypatch.setattr(_forms, "_most", 1)
    few, many = (compiler_of(layer, (batch, channels, size, size)) for batch in (1, 32))
    kept, own = few(), many()
    assert _forms.form_of(kept) != _forms.form_of(own)
    chosen = _forms.choose_with_form(own, [kept], lambda by: many(schedule=by))
    assert _forms.form_of(chosen) == _forms.form_of(kept)
    assert _forms.choose_with_form(own, [own], None) is own
    assert _forms.choose_with_form(own, [kept], lambda by: None) is None
    monkeypatch.setattr(_forms, "_most", 2)
    assert _forms.choose_with_form(own, [kept], None) is own


@pytest.mark.parametrize("groups", [1, 2])
def test_without_a_compiler(groups, ways, monkeypatch):
    def convolve(*_):
        raise nm.CompilerNotFoundError("none")

    monkeypatch.setattr(_image_kernels, "convolve", convolve)
    dense = nn.Conv2d(64, 24, 3, padding=1, groups=groups)
    layer, x, expected = on_device(dense, "2:4", 2, 64, 9, 11)
    with torch.no_grad():
        for _ in range(2):
            assert error(layer(x).cpu(), expected) < 1e-5
    assert ways == [PATCHES, PATCHES] * (groups == 1)


@pytest.mark.parametrize("training", [True, False])
def test_gradients(training, ways):
    layer = make(nn.Conv2d(64, 24, 3, 2, 1), "2:4").train(training)
    x = torch.randn(2, 64, 9, 8)
    weight, bias, other = (each.detach().double().clone().requires_grad_()
                           for each in (layer.weight, layer.bias, x))
    layer, image = layer.to(DEVICE), x.to(DEVICE).requires_grad_()
    with torch.no_grad():
        layer(image)
    assert ways == [FIRST]
    y, expected = layer(image), functional.conv2d(other, weight, bias, 2, 1)
    assert ways == [FIRST, PATCHES] and error(y.detach().cpu(), expected.detach()) < 1e-5
    factor = torch.randn(y.shape)
    (y * factor.to(DEVICE)).sum().backward()
    (expected * factor.double()).sum().backward()
    assert error(image.grad.cpu(), other.grad) < 1e-5
    assert error(layer.bias.grad.cpu(), bias.grad) < 1e-5
    kept = layer.weight.cpu() != 0
    dense = layer.product._dense_gradient().as_subclass(torch.Tensor).unflatten(
        1, (3, 3, -1)).movedim(-1, 1).cpu()
    assert error(dense[kept], weight.grad[kept]) < 1e-5
    # A weight without gradients has kernels where they are enabled.
    for parameter in layer.parameters():
        parameter.requires_grad_(False)
    assert error(layer(image.detach()).cpu(), expected.detach()) < 1e-5 and ways[-1] == FIRST


@pytest.mark.parametrize("pattern, batch, orders", [
    ("unstructured", 1, {FIRST}), ("8:32, block = 1x8", 2, {FIRST}), ("2:4", 2, {FIRST, LAST})])
def test_in_graphs_of_torch_compile(pattern, batch, orders, ways):
    layer, x, expected = on_device(nn.Conv2d(64, 24, 3, padding=1), pattern, batch, 64, 9, 8)
    run = torch.compile(nn.Sequential(layer, nn.ReLU()), backend="aot_eager", fullgraph=True)
    with torch.no_grad():
        for image in layouts(x):
            assert error(run(image).cpu(), expected.relu()) < 1e-5
        assert set(ways) == orders
        with torch.autocast(DEVICE, torch.bfloat16):
            y = run(x)
        assert y.dtype == torch.bfloat16 and error(y.cpu(), expected.relu()) < 1e-2
        assert PATCHES not in ways
    ways.clear()
    y = run(x)
    y.sum().backward()
    assert error(y.detach().cpu(), expected.relu()) < 1e-5
    assert not {FIRST, LAST} & set(ways)
    assert layer.bias.grad is not None


def test_patches_in_graphs_of_torch_compile(ways):
    """Where it is only known when a kernel is compiled whether it writes patches."""
    layer, x, expected = on_device(nn.Conv2d(64, 24, 3, padding=1), "unstructured", 2, 64, 9, 8)
    with torch.no_grad():
        y = torch.compile(layer, backend="aot_eager", fullgraph=True)(x)
    assert error(y.cpu(), expected) < 1e-5 and not {FIRST, LAST} & set(ways)


@pytest.mark.parametrize("is_last", [False, True])
def test_operator_in_both_orders(is_last):
    """As its fake says, whatever kernel there is."""
    x = torch.randn(2, 64, 9, 8).half()
    for pattern, taps in itertools.product(("2:4", "8:32, block = 1x16"), (1, 3)):
        layer = make(nn.Conv2d(64, 48, taps, bias=False).half(), pattern)
        expected = exact(layer, x)
        layer = layer.to(DEVICE)
        part = layer.product
        with torch.no_grad():
            y = torch.ops.nm.convolution(
                x.to(DEVICE), part.values, part.indices, part._form, None, [taps, taps],
                [1, 1], [0, 0], [1, 1], 1, is_last)
        assert error(y.cpu(), expected) < 2e-3
        assert (y.stride(1) == 1) == is_last and y.is_contiguous() != is_last


def test_other_ways_to_call(ways):
    """Under autocast, torch.func, with a hook, in inference mode, and as an exported program."""
    layer, x, expected = on_device(nn.Conv2d(64, 24, 3, padding=1), "unstructured", 2, 64, 9, 8)
    with torch.no_grad():
        for lower in (torch.bfloat16, torch.float16):
            with torch.autocast(DEVICE, lower):
                y = layer(x)
            assert y.dtype == lower and error(y.cpu(), expected) < LIMITS[lower]
        program = torch.export.export(nn.Sequential(layer), (x,))
        for image in layouts(x):
            y = program.module()(image)
            assert error(y.cpu(), expected) < 1e-5 and y.is_contiguous()
        with torch.inference_mode():
            assert error(layer(x).cpu(), expected) < 1e-5
        assert set(ways) == {FIRST}
        assert error(torch.func.vmap(layer)(x[:, None])[:, 0].cpu(), expected) < 1e-5
        seen = []
        handle = layer.product.register_forward_hook(lambda module, args, y: seen.append(args))
        assert error(layer(x).cpu(), expected) < 1e-5 and len(seen) == 1
        handle.remove()
    assert ways[-1] == PATCHES


def test_what_does_not_fit():
    layer = make(nn.Conv2d(64, 24, 3), "2:4").to(DEVICE)
    with torch.no_grad():
        with pytest.raises(nm.ShapeError, match="64 channels"):
            layer(torch.randn(1, 60, 9, 9, device=DEVICE))
        with pytest.raises(nm.DTypeError, match="expected x of f32"):
            layer(torch.randn(1, 64, 9, 9, device=DEVICE).half())
        with pytest.raises(nm.ShapeError, match=r"window \(3, 3\), but got \(2, 9\)"):
            layer(torch.randn(1, 64, 2, 9, device=DEVICE))


def layer_on_device(pattern="unstructured", dtype=torch.float32):
    dense = nn.Conv2d(64, 64, 3, padding=1).to(dtype)
    layer, x, expected = on_device(dense, pattern, 2, 64, 14, 14)
    return layer, x, expected.to(DEVICE)


@needs_device
@pytest.mark.parametrize("pattern, dtype", [
    ("unstructured", torch.float32), ("8:32, block = 1x32", torch.float32),
    ("8:32, block = 1x64", torch.float16), ("2:4", torch.float16)])
@torch.no_grad()
def test_cuda_graphs(pattern, dtype):
    """Captured after a first call, on a stream of PyTorch's, of an image that changes."""
    layer, x, expected = layer_on_device(pattern, dtype)
    for image in (x.clone(), x.to(memory_format=torch.channels_last, copy=True)):
        layer(image)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = layer(image)
        image.zero_()
        graph.replay()
        bias = layer.bias.detach()[:, None, None]
        assert error(y, bias.expand(y.shape)) < LIMITS[dtype]
        image.copy_(x)
        y.fill_(float("nan"))
        graph.replay()
        assert error(y, expected) < LIMITS[dtype]


@needs_device
@torch.no_grad()
def test_streams_and_memory():
    """Calls run on PyTorch's current stream and wait for nothing, and take no memory but the
    result's, which is PyTorch's."""
    layer, x, expected = layer_on_device()
    # Loads all kernels, for which a device may be waited for.
    layer(x * 2)
    torch.cuda.synchronize()
    held = torch.cuda.memory_allocated()
    torch.cuda.set_sync_debug_mode("error")
    try:
        stream, results = torch.cuda.Stream(), []
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            torch.cuda._sleep(1_000_000_000)
            changed = x * 2
            y = layer(changed)
            assert not stream.query(), "the call waited for the stream"
        results.append(y)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    torch.cuda.synchronize()
    bias = layer.bias.detach()[:, None, None]
    assert error(y - bias, 2 * (expected - bias)) < 1e-5
    del changed
    assert torch.cuda.memory_allocated() - held == y.nbytes
    for _ in range(20):
        layer(x)
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() - held == y.nbytes
    part = layer.product
    (bound,) = find_weight(part.values, part.indices, part._form)._bound.values()
    assert bound.function.temporary_bytes == 0


@needs_device
@torch.no_grad()
def test_weights_that_change():
    layer, x, _ = layer_on_device()
    other = copy.deepcopy(layer)
    layer(x)
    assert layer.product._is_mapped
    layer.product.values.mul_(2)
    bias = layer.bias.detach()[:, None, None]
    assert error(layer(x) - bias, 2 * (other(x) - bias)) < 1e-5


@pytest.mark.skipif(not HAS_DEVICE or torch.cuda.device_count() < 2, reason="needs two devices")
@torch.no_grad()
def test_device_that_is_not_the_current_one():
    layer, x, expected = layer_on_device()
    layer, x = layer.to("cuda:1"), x.to("cuda:1")
    assert torch.cuda.current_device() == 0
    y = layer(x)
    assert y.device == x.device and error(y, expected.to("cuda:1")) < 1e-5
    with pytest.raises(nm.DeviceError):
        layer(x.to("cuda:0"))


def test_from_dense_keeps_the_ways(ways):
    """A layer that is made, and one that is made of a dense one, take the same."""
    dense = nn.Conv2d(32, 16, 3)
    layer = NMConv2d.from_dense(dense, "2:4", prune_weight=True).eval()
    x = torch.randn(1, 32, 7, 7)
    expected = exact(layer, x)
    with torch.no_grad():
        assert error(layer.to(DEVICE)(x.to(DEVICE)).cpu(), expected) < 1e-5
    assert ways == [FIRST]
