"""Layers under torch.autocast: known calls of the weight that was rounded."""

import pytest

torch = pytest.importorskip("torch")
import nm.torch  # noqa: E402
from conftest import relative_error  # noqa: E402
from nm.torch import NMLinear, _autocast, _op  # noqa: E402
from nm.torch._decompress import kept_values  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = pytest.mark.skipif(_autocast.product is None,
                                reason="PyTorch takes no kernel in C++")
LIMITS = {torch.bfloat16: 1e-2, torch.float16: 2e-3}


@pytest.fixture
def products(monkeypatch):
    """The products that Python has made."""
    made, own = [], _op.matmul
    monkeypatch.setattr(_op, "matmul", lambda *args: made.append(args) or own(*args))
    return made


def check(layer, x, lower):
    """Compares a call with float64."""
    with torch.no_grad(), torch.autocast("cpu", lower):
        y = layer(x)
    assert y.dtype == lower
    expected = x.double() @ layer.dense_weight().double().T
    if layer.bias is not None:
        expected = expected + layer.bias.double()
    if layer.activation is not None:
        expected = nn.functional.gelu(expected)
    assert relative_error(y.double().numpy(), expected.detach().numpy()) < LIMITS[lower]


@pytest.mark.parametrize("lower", LIMITS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("bias,activation", [(True, None), (False, "gelu")])
def test_a_call_is_known(lower, dtype, bias, activation, products):
    layer = NMLinear.from_dense(nn.Linear(64, 48, bias=bias, dtype=dtype), "2:4",
                                prune_weight=True, activation=activation).eval()
    limit = max(LIMITS, key=LIMITS.get)
    for rows in (1, 5):
        x = torch.randn(rows, 64)
        check(layer, x, lower)
        count = len(products)
        check(layer, x, lower)
        assert len(products) == count, "Python made a product that was known"
        check(layer, x.to(limit), lower)
    other, = set(LIMITS) - {lower}
    for each in (other, lower, other):
        check(layer, x, each)


def write(layer):
    with torch.no_grad():
        layer.values.mul_(-3)


def write_uncounted(layer):
    layer.values.data.mul_(-3)
    layer.refresh()


def optimize(layer):
    layer.values.grad = torch.ones_like(layer.values)
    torch.optim.SGD([layer.values], lr=5.0, fused=True).step()


def load(layer):
    layer.load_state_dict(NMLinear.from_dense(nn.Linear(64, 48), "2:4",
                                              prune_weight=True).state_dict())


def write_bias(layer):
    with torch.no_grad():
        layer.bias.add_(7)


@pytest.mark.parametrize("change", [write, write_uncounted, optimize, load, write_bias,
                                    lambda layer: nm.free_packed(),
                                    lambda layer: layer.train().eval()])
def test_what_is_known_is_forgotten(change, products):
    layer = NMLinear.from_dense(nn.Linear(64, 48), "2:4", prune_weight=True).eval()
    x = torch.randn(3, 64)
    for _ in range(3):
        for _ in range(2):
            check(layer, x, torch.bfloat16)
        change(layer)
    count = len(products)
    check(layer, x, torch.bfloat16)
    check(layer, x, torch.bfloat16)
    assert len(products) <= count + 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("needed", ["all", "x", "bias", "values"])
@pytest.mark.parametrize("training", [False, True])
def test_gradients(dtype, needed, training, products):
    layer = NMLinear.from_dense(nn.Linear(64, 48, dtype=dtype), "2:4", prune_weight=True)
    layer.train(training)
    dense = layer.to_dense().double()
    for name, parameter in layer.named_parameters():
        parameter.requires_grad_(needed in ("all", name))
    x = torch.randn(3, 64, dtype=dtype, requires_grad=needed in ("all", "x"))
    far = x.detach().double().requires_grad_()
    seed = torch.randn(3, 48)
    dense(far).backward(seed.double())
    wanted = {"x": far.grad, "bias": dense.bias.grad, "values": kept_values(
        dense.weight.grad, layer.indices, layer._form)}
    for _ in range(2):
        count = len(products)
        layer.zero_grad()
        x.grad = None
        with torch.autocast("cpu", torch.bfloat16):
            y = layer(x)
        assert y.dtype == torch.bfloat16
        y.backward(seed.to(y.dtype))
        got = {"x": x.grad, **{name: parameter.grad
                               for name, parameter in layer.named_parameters()}}
        for name, gradient in got.items():
            assert (gradient is not None) == (needed in ("all", name))
            if gradient is not None:
                assert gradient.dtype == dtype
                assert relative_error(gradient.double().numpy(),
                                      wanted[name].numpy()) < 1e-2
    assert len(products) == count, "Python made a product that was known"
