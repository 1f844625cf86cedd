"""What layers take of memory, and of time beside the product."""

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from nm.torch import NMLinear  # noqa: E402
from nm.torch import _fast as fast  # noqa: E402
from nm.torch import _linear, _op  # noqa: E402
from test_memory import resident  # noqa: E402
from torch import nn  # noqa: E402

SCRIPT = Path(__file__).parent / "call_overhead.py"
# What one of many layers takes of its dense weight, packed and condensed.
LIMITS = {torch.float32: 0.65, torch.float16: 0.7, torch.bfloat16: 0.7}

pytestmark = pytest.mark.skipif("clang_rt.asan" in os.environ.get("LD_PRELOAD", ""),
                                reason="AddressSanitizer keeps freed memory")


def layer_of(dtype, size=1024, **options):
    dense = nn.Linear(size, size, dtype=dtype, **options)
    return NMLinear.from_dense(dense, "2:4", prune_weight=True).eval()


@pytest.fixture
def disk(monkeypatch, tmp_path):
    """A folder on a disk, where condensed weights go."""
    from nm.torch import _mapped
    for folder in (tmp_path, Path.cwd()):
        if not _mapped._is_in_memory(str(folder)):
            monkeypatch.setenv("NM_MAP_DIR", str(folder))
            return folder
    pytest.skip("no folder is on a disk")


@pytest.mark.parametrize("dtype", LIMITS)
@torch.no_grad()
def test_layers_take_less_than_dense_ones(disk, dtype):
    """After products of many numbers of rows, which must be right."""
    layer_of(dtype)(torch.randn(1, 1024, dtype=dtype))  # Loads the compiler.
    before = resident()
    model = nn.Sequential(*(layer_of(dtype, bias=False) for _ in range(16)))
    for rows in (1, 2, 3, 4, 5, 6, 16, 17, 100):
        model(torch.randn(rows, 1024, dtype=dtype))
    dense = 16 * 1024 * 1024 * model[0].values.element_size()
    taken = resident() - before
    report = nm.torch.memory(model)
    assert report.condensed == 0 and report.dense == dense
    assert report.share < LIMITS[dtype] and "mapped" in str(report)
    assert report.peak >= report.resident > report.packed
    assert taken < LIMITS[dtype] * dense + (4 << 20), taken / dense
    assert list(disk.glob("nm-*")) == []


@torch.no_grad()
def test_condensed_weights_come_back(disk):
    """What a layer is asked for is there, in and out of memory."""
    layer, x = layer_of(torch.float32), torch.randn(3, 1024)
    values, indices = layer.values.clone(), layer.indices.clone()
    y, before = layer(x), layer.values
    assert layer._is_mapped
    assert layer.values is before
    assert torch.equal(layer.values, values)
    assert torch.equal(layer.indices, indices)
    assert torch.equal(copy.deepcopy(layer)(x), y)
    assert torch.equal(pickle.loads(pickle.dumps(layer))(x), y)
    other = layer_of(torch.float32)
    other(x)
    other.load_state_dict(layer.state_dict())
    assert torch.equal(other(x), y)
    layer.values.mul_(2)
    torch.testing.assert_close(layer(x) - layer.bias, 2 * (y - layer.bias))
    assert torch.equal(other(x), y)
    torch.testing.assert_close(layer.double()(x.double()).float(), layer.float()(x),
                               rtol=1e-4, atol=1e-4)


def test_training_goes_on(disk):
    layer, x = layer_of(torch.float32), torch.randn(3, 1024)
    with torch.no_grad():
        layer(x)
    layer.train()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer(x).square().sum().backward()
    optimizer.step()
    layer.eval()
    expected = nn.functional.linear(x, layer.dense_weight(), layer.bias)
    with torch.no_grad():
        torch.testing.assert_close(layer(x), expected, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(layer(x), expected, rtol=1e-4, atol=1e-4)


def test_a_child_writes_to_its_own(disk):
    layer, x = layer_of(torch.float32), torch.randn(3, 1024)
    with torch.no_grad():
        layer(x)
    before = layer.values.detach().clone()
    child = os.fork()
    if child == 0:
        # Not of many elements: OpenMP's threads are not in the child.
        layer.values.data[0, :3] = 7
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert torch.equal(layer.values, before)


@pytest.mark.skipif(fast.product is None, reason="PyTorch does not take the kernel")
def test_layers_cost_what_dense_ones_cost():
    """A machine that others use is measured again."""
    paths = [path for path in sys.path if path]
    least = {}
    for _ in range(8):
        measured = json.loads(subprocess.run(
            [sys.executable, str(SCRIPT), "layers", "--json"], check=True, text=True,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths),
                 "NM_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}).stdout)
        for name, microseconds in measured.items():
            least[name] = min(least.get(name, float("inf")), microseconds)
        # F.linear is the stricter measure, and nn.Linear the fair one where autograd makes a
        # node, or where Python makes the call: the times of F.linear and of NMLinear are then
        # within 5 to 10 % of each other, which is what a busy machine's times differ by.
        is_python = _linear.call_layer is None
        ratios = {}
        kinds = ["float32", "bfloat16", "float32, gradients", "bfloat16, gradients"]
        if not is_python:
            kinds += ["float32, autocast", "bfloat16, autocast"]
        for kind in kinds:
            needs_node = "gradients" in kind
            dense = "nn.Linear" if is_python or needs_node else "F.linear"
            # A node that Python makes costs a microsecond more.
            dense_time = least[f"{dense}, {kind}"] + (is_python and needs_node)
            ratios[kind] = least[f"NMLinear, {kind}"] / dense_time
        if max(ratios.values()) <= 1.1:
            return
    pytest.fail(f"expected at most 1.1 of the dense layer's time, but got {ratios}, of "
                + json.dumps(least))


@pytest.fixture(params=["C", "Python"])
def way(request, monkeypatch):
    """What looks at whether a call is known: C++, or Python for PyTorch before 2.14."""
    if request.param == "Python":
        monkeypatch.setattr(_linear, "call_layer", None)
    elif _linear.call_layer is None:
        pytest.skip("PyTorch has no tensors of Python in its stable ABI")
    return request.param


@pytest.mark.skipif(fast.product is None, reason="PyTorch does not take the kernel")
@torch.no_grad()
def test_calls_in_c_see_what_changes(way):
    """Every call after the first of its kind is made without Python."""
    layer, x = layer_of(torch.float32, 96), torch.randn(5, 96)
    dense = layer.to_dense()

    def check(x):
        for _ in range(3):
            torch.testing.assert_close(layer(x), dense(x), rtol=1e-4, atol=1e-4)

    for each in (x, x[0], x[None], x[:2], x[1:], torch.randn(96, 5).T,
                 torch.randn(5, 192)[:, ::2], torch.randn(2, 0, 96), x[:, None]):
        check(each)
    layer.bias.add_(1)
    dense.bias.add_(1)
    check(x)
    layer.bias = nn.Parameter(torch.randn(192)[::2])
    dense.bias = layer.bias
    check(x)
    layer.bias = dense.bias = None
    check(x)
    layer.values.data = layer.values.data * 3
    dense.weight.data = dense.weight.data * 3
    check(x)
    assert layer(x).grad_fn is None
    with torch.inference_mode():
        assert layer(x).is_inference()
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(x).dtype == torch.bfloat16
    nm.free_packed()
    check(x)
    for _ in range(3):
        with pytest.raises(nm.ShapeError, match="expected x of shape"):
            layer(x[:, 1:])
        with pytest.raises(nm.DTypeError, match="expected x of f32"):
            layer(x.double())
    torch.testing.assert_close(torch.vmap(layer)(x), dense(x), rtol=1e-4, atol=1e-4)
    with torch.enable_grad():
        layer(x.requires_grad_()).sum().backward()
    assert x.grad is not None


@pytest.mark.skipif(fast.product is None, reason="PyTorch does not take the kernel")
@pytest.mark.parametrize("frozen", [(), ("values",), ("bias",), ("values", "bias"), None])
@pytest.mark.parametrize("training", [False, True])
def test_gradients_of_calls_in_c(frozen, training, way, monkeypatch):
    """They are the dense layer's at the kept places, whatever needs one, of inputs of
    every shape, and also where the layer changes in between."""
    layer = layer_of(torch.float32, 96).train(training)
    dense = layer.to_dense().train(training)
    for name in ("values", "bias") if frozen is None else frozen:
        layer.get_parameter(name).requires_grad_(False)
    dense.weight.requires_grad_(layer.values.requires_grad)
    dense.bias.requires_grad_(layer.bias.requires_grad)
    kept = torch.ones_like(dense.weight).where(layer.weight.detach() != 0, 0)
    slow = []
    for function in ("_operator", "_linear"):
        own = getattr(_op, function)
        monkeypatch.setattr(_op, function,
                            lambda *args, own=own: slow.append(args) or own(*args))
    for shape in ((5, 96), (96,), (2, 3, 96), (0, 96)):
        for _ in range(3):
            x = torch.randn(*shape, requires_grad=frozen is not None)
            other = x.detach().clone().requires_grad_(x.requires_grad)
            y, wanted = layer(x), dense(other)
            torch.testing.assert_close(y, wanted, rtol=1e-4, atol=1e-4)
            assert y.requires_grad == wanted.requires_grad
            if not y.requires_grad:
                continue
            grad = torch.randn_like(y)
            for each in (layer, dense):
                each.zero_grad()
            y.backward(grad)
            wanted.backward(grad)
            pairs = [(x.grad, other.grad), (layer.bias.grad, dense.bias.grad)]
            if layer.values.requires_grad:
                pairs.append((layer.weight.grad, dense.weight.grad * kept))
            for got, expected in pairs:
                assert (got is None) == (expected is None)
                if got is not None:
                    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)
        with torch.no_grad():
            layer.bias.add_(1)
            dense.bias.add_(1)
    assert len(slow) <= 4  # The first of each shape.
    if frozen is not None:
        x = torch.randn(3, 96, requires_grad=True)
        once, = torch.autograd.grad(layer(x).square().sum(), x, create_graph=True)
        twice, = torch.autograd.grad(once.sum(), x)
        once, = torch.autograd.grad(dense(x).square().sum(), x, create_graph=True)
        torch.testing.assert_close(twice, torch.autograd.grad(once.sum(), x)[0],
                                   rtol=1e-4, atol=1e-4)
        y = layer(x)
        with torch.no_grad():
            layer.values.mul_(2)
        if not (training and layer.values.requires_grad):
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                y.sum().backward()


@pytest.mark.skipif(fast.product is None, reason="PyTorch does not take the kernel")
@torch.no_grad()
def test_a_fused_optimizer_is_seen():
    layer, x = layer_of(torch.float32, 64), torch.randn(2, 64)
    layer(x)
    before = layer(x)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1, fused=True)
    for parameter in layer.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    after = layer(x)
    assert not torch.allclose(after, before)
    torch.testing.assert_close(after, layer.to_dense()(x), rtol=1e-4, atol=1e-4)


def test_a_view_of_what_lies_on_the_host_is_no_whole(monkeypatch):
    from types import SimpleNamespace

    from nm.torch import _mapped
    host = torch.zeros(4, 6)
    monkeypatch.setitem(_mapped._hosts, 64, host)

    def on_device(tensor):
        return SimpleNamespace(is_cuda=True, data_ptr=lambda: 64, shape=tensor.shape,
                               dtype=tensor.dtype, stride=tensor.stride)

    assert _mapped.host_of(on_device(host)) is host
    assert _mapped.host_of(on_device(host[:, :4])) is None
    assert _mapped.host_of(on_device(host.int())) is None
    assert _mapped.host_of(host) is None
