"""What the call of a layer in C++ leaves to Python: all but a plain product."""

import threading

import pytest

torch = pytest.importorskip("torch")
import nm.torch  # noqa: E402
from nm.torch import NMLinear, _linear  # noqa: E402
from torch import nn  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

pytestmark = pytest.mark.skipif(_linear.call_layer is None,
                                reason="PyTorch has no tensors of Python in its stable ABI")


class Counted:
    """A layer, its dense twin, and how often C++ made its call."""

    def __init__(self, monkeypatch, gradients=False):
        dense = nn.Linear(64, 48)
        self.layer = NMLinear.from_dense(dense, "2:4", prune_weight=True).eval()
        self.layer.requires_grad_(gradients)
        self.dense = self.layer.to_dense()
        self.x, self.made, own = torch.randn(3, 64), 0, _linear.call_layer

        def call(layer, x):
            y = own(layer, x)
            self.made += y is not None
            return y

        monkeypatch.setattr(_linear, "call_layer", call)
        self.check(None)
        self.check(True)

    def check(self, is_made, x=None):
        """Compares a call, and whether C++ made it."""
        x, before = self.x if x is None else x, self.made
        y = self.layer(x)
        torch.testing.assert_close(y, self.dense(x), rtol=1e-4, atol=1e-4)
        assert is_made is None or (self.made > before) == is_made
        return y


@pytest.fixture(params=[False, True], ids=["plain", "gradients"])
def counted(request, monkeypatch):
    return Counted(monkeypatch, request.param)


def test_modes_are_shown_the_operators(counted):
    seen = []

    class Functions(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            seen.append(function)
            return function(*args, **(kwargs or {}))

    class Operators(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(function)
            return function(*args, **(kwargs or {}))

    for mode in (Functions(), Operators()):
        seen.clear()
        with mode:
            counted.check(False)
        assert any("nm" in str(function) for function in seen)
    counted.check(True)


def test_a_profiler_is_shown_the_product(counted):
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        counted.check(False)
    assert any(event.key.startswith("nm::") for event in profiled.key_averages())
    counted.check(True)


def test_a_tensor_that_is_negated_when_read(counted):
    x = torch.complex(torch.randn(3, 64), torch.randn(3, 64))
    view, plain = x.conj().imag, x.imag
    assert view.is_neg() and view.stride() == plain.stride()
    for _ in range(2):
        counted.check(None, plain)
        counted.check(True, plain)
        counted.check(False, view)


def test_a_bias_that_is_negated_when_read(counted):
    bias = torch.complex(torch.randn(48), torch.randn(48)).conj().imag
    assert bias.is_neg()
    for layer in (counted.layer, counted.dense):
        layer.bias = nn.Parameter(bias, requires_grad=False)
    for _ in range(2):
        counted.check(False)


def test_parts_of_other_kinds(counted):
    class Other(torch.Tensor):
        pass

    counted.check(False, counted.x.as_subclass(Other))
    counted.check(False, nn.Parameter(counted.x))
    bias = counted.layer.bias
    del counted.layer.bias
    counted.layer.bias = bias.detach()
    counted.check(False)
    counted.layer.bias = bias
    for _ in range(2):
        counted.check(None)
    counted.check(True)
    torch.nn.utils.parametrize.register_parametrization(counted.layer, "bias", nn.Identity())
    counted.check(False)


def test_replaced_parameters(counted):
    values = counted.layer.values.detach()
    tensors = {"values": values * 2, "bias": counted.layer.bias.detach()}
    y = torch.func.functional_call(counted.layer, tensors, counted.x)
    wanted = 2 * (counted.dense(counted.x) - counted.dense.bias) + counted.dense.bias
    torch.testing.assert_close(y, wanted, rtol=1e-4, atol=1e-4)
    counted.check(None)
    counted.check(True)


def test_transforms_and_forward_mode(counted):
    from torch.autograd import forward_ad
    torch.testing.assert_close(torch.func.vmap(counted.layer)(counted.x[:, None])[:, 0],
                               counted.dense(counted.x), rtol=1e-4, atol=1e-4)
    got = torch.func.jacrev(counted.layer)(counted.x[0])
    torch.testing.assert_close(got, counted.dense.weight, rtol=1e-4, atol=1e-4)
    tangent = torch.randn_like(counted.x)
    with forward_ad.dual_level():
        y = counted.layer(forward_ad.make_dual(counted.x, tangent))
        torch.testing.assert_close(
            forward_ad.unpack_dual(y).tangent, tangent @ counted.dense.weight.T,
            rtol=1e-4, atol=1e-4)
    with torch.autocast("cpu", torch.bfloat16):
        assert counted.layer(counted.x).dtype == torch.bfloat16
    counted.check(True)


def test_hooks_of_saved_tensors(monkeypatch):
    counted, packed = Counted(monkeypatch, gradients=True), []
    with torch.autograd.graph.saved_tensors_hooks(
            lambda tensor: packed.append(tensor) or tensor, lambda tensor: tensor):
        y = counted.check(True)
    y.sum().backward()
    assert packed and counted.layer.bias.grad is not None


def test_a_compiled_layer(counted):
    compiled = torch.compile(counted.layer, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(counted.x), counted.dense(counted.x),
                               rtol=1e-4, atol=1e-4)


def test_errors_are_the_layers_own(counted):
    for _ in range(2):
        with pytest.raises(nm.ShapeError, match="expected x of shape"):
            counted.layer(counted.x[:, 1:])
        with pytest.raises(TypeError):
            _linear.call_layer()
    with pytest.raises(AttributeError):
        counted.layer(None)
    counted.check(True)


def test_threads_and_references(monkeypatch):
    """Calls give back what they take, in many threads at once."""
    import sys
    counted = Counted(monkeypatch, gradients=True)
    x = counted.x.clone().requires_grad_()
    objects = [x, counted.layer, counted.layer.values, counted.layer.bias,
               counted.layer.indices, counted.layer._fast, None]
    wrong = []

    def work():
        for _ in range(200):
            y = counted.layer(x)
            if not torch.allclose(y, counted.dense(x), rtol=1e-4, atol=1e-4):
                wrong.append(y)

    work()
    before = [sys.getrefcount(each) for each in objects]
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    after = [sys.getrefcount(each) for each in objects]
    assert all(abs(a - b) < 50 for a, b in zip(after, before)), (before, after)
