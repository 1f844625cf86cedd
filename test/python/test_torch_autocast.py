"""Layers under torch.autocast: known calls of the weight that was rounded."""

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from conftest import relative_error  # noqa: E402
from nm.torch import NMLinear, _autocast, _linear, _op  # noqa: E402
from nm.torch._decompress import kept_values  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = pytest.mark.skipif(_autocast.product is None,
                                reason="PyTorch takes no kernel in C++")
LIMITS = {torch.bfloat16: 1e-2, torch.float16: 2e-3}


class Calls:
    """Calls of layers, and those whose product Python made."""

    def __init__(self, monkeypatch):
        self.all = self.python = 0
        for owner, name, counter in ((_linear, "call_layer", "all"),
                                     (_autocast, "_multiply", "python"),
                                     (NMLinear, "_multiply", "python")):
            monkeypatch.setattr(owner, name, self._counted(getattr(owner, name), counter))

    def _counted(self, function, counter):
        def call(*args):
            setattr(self, counter, getattr(self, counter) + 1)
            return function(*args)

        return call


@pytest.fixture
def calls(monkeypatch):
    if _linear.call_layer is None:
        pytest.skip("PyTorch has no tensors of Python in its stable ABI")
    return Calls(monkeypatch)


@pytest.fixture(params=["C", "Python"])
def way(request, monkeypatch):
    """What makes known calls: C++, or Python for PyTorch before 2.14."""
    if request.param == "Python":
        monkeypatch.setattr(_linear, "call_layer", None)
    elif _linear.call_layer is None:
        pytest.skip("PyTorch has no tensors of Python in its stable ABI")


def draw_layer(dtype=torch.float32, **options):
    return NMLinear.from_dense(nn.Linear(64, 48, dtype=dtype, **options), "2:4",
                               prune_weight=True).eval()


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
def test_a_call_is_known(lower, dtype, bias, activation, way, products):
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


def write_bias_uncounted(layer):
    layer.bias.detach().numpy()[::7] += 5


def replace_bias(layer):
    layer.bias = nn.Parameter(torch.randn(96)[::2])


def half_the_bias(layer):
    layer.bias = nn.Parameter(layer.bias.detach().to(torch.float16))


@pytest.mark.parametrize("change", [write, write_uncounted, optimize, load, write_bias,
                                    write_bias_uncounted, replace_bias, half_the_bias,
                                    lambda layer: nm.free_packed(),
                                    lambda layer: layer.train().eval()])
def test_what_is_known_is_forgotten(change, way, products):
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
def test_gradients(dtype, needed, training, way, products):
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


def test_c_makes_all_but_the_first_calls(calls):
    """Every kind of call under autocast is C++'s from the second one on."""
    taken = set()
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        for needed in ((), ("bias",), ("values",), ("x",), ("values", "x"),
                       ("values", "bias", "x")):
            layer = draw_layer(dtype)
            for name, parameter in layer.named_parameters():
                parameter.requires_grad_(name in needed)
            for lower, limit in LIMITS.items():
                x = torch.randn(3, 64, dtype=dtype, requires_grad="x" in needed)
                expected = layer.to_dense().double()(x.double()).detach().numpy()
                for turn in range(3):
                    before = calls.python
                    with torch.autocast("cpu", lower):
                        y = layer(x)
                    taken.add((dtype, needed, lower, calls.python > before))
                    assert (calls.python > before) == (turn == 0)
                    assert y.dtype == lower and y.requires_grad == bool(needed)
                    assert relative_error(y.detach().double().numpy(), expected) < limit
    assert len(taken) == 3 * 6 * 2 * 2, "a kind of call was made in one way alone"
    assert calls.all == 3 * 6 * 2 * 3


def test_inputs_of_any_layout_are_known(calls):
    layer = draw_layer()
    for x in (torch.randn(64, 5).T, torch.randn(5, 128)[:, ::2], torch.randn(2, 0, 64),
              torch.randn(3, 4, 64).transpose(0, 1), torch.randn(64),
              torch.randn(1, 64).expand(4, 64)):
        check(layer, x, torch.bfloat16)
        before = calls.python
        check(layer, x, torch.bfloat16)
        assert calls.python == before


@torch.no_grad()
def test_where_autocast_is_off(calls):
    """Within a context, for another device, and for float64."""
    layer, x = draw_layer(), torch.randn(3, 64)
    expected = layer(x)
    check(layer, x, torch.bfloat16)

    def check_plain():
        before, y = calls.python, layer(x)
        assert y.dtype == torch.float32 and torch.equal(y, expected)
        assert calls.python == before

    with torch.autocast("cpu", torch.bfloat16):
        with torch.autocast("cpu", enabled=False):
            check_plain()
        check(layer, x, torch.bfloat16)
    before = torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda")
    try:
        torch.set_autocast_enabled("cuda", True)
        torch.set_autocast_dtype("cuda", torch.float16)
        check_plain()
        with torch.autocast("cpu", torch.bfloat16):
            assert layer(x).dtype == torch.bfloat16
    finally:
        torch.set_autocast_enabled("cuda", before[0])
        torch.set_autocast_dtype("cuda", before[1])
    far = draw_layer().double()
    with torch.autocast("cpu", torch.bfloat16):
        assert far(x.double()).dtype == torch.float64
        for _ in range(2):
            with pytest.raises(nm.DTypeError, match="f64"):
                layer(x.double())


def test_in_inference_mode(calls):
    """What is kept of a bias there serves calls with gradients, too."""
    layer, x = draw_layer(), torch.randn(3, 64)
    check(layer, x, torch.bfloat16)
    with torch.inference_mode():
        for _ in range(2):
            check(layer, x.clone(), torch.bfloat16)
        layer.bias.add_(3)
        check(layer, x.clone(), torch.bfloat16)
    before = calls.python
    with torch.autocast("cpu", torch.bfloat16, cache_enabled=False):
        layer(x).sum().backward()
    assert calls.python == before and torch.all(layer.bias.grad == 3)
    check(layer, x, torch.bfloat16)


@pytest.mark.parametrize("needed", ["x", "all"])
def test_second_derivatives(needed, way):
    """Those of PyTorch's own product under autocast, within what its steps round."""
    layer = draw_layer()
    layer.requires_grad_(needed == "all")
    dense = layer.to_dense()
    x, gradients = torch.randn(3, 64, requires_grad=True), []
    for each in (layer, layer, dense):
        with torch.autocast("cpu", torch.bfloat16):
            y = each(x)
        wanted = [x, *(each.parameters() if needed == "all" else [])]
        first = [kept_values(gradient, layer.indices, layer._form)
                 if gradient.shape == (48, 64) else gradient for gradient in
                 torch.autograd.grad(y.float().square().sum(), wanted, create_graph=True)]
        gradients.append(torch.autograd.grad(sum(g.square().sum() for g in first), x)[0])
        assert gradients[-1].dtype == torch.float32
    for each in gradients[:2]:
        assert relative_error(each.numpy(), gradients[2].double().numpy()) < 3e-2


def test_threads_and_references(calls):
    """Calls in many threads give back what they take, and none sees a bias half cast."""
    import sys
    import threading
    layer, x, wrong = draw_layer(), torch.randn(3, 64, requires_grad=True), []
    dense = layer.to_dense().double()
    objects = [x, layer, layer.values, layer.bias, layer.indices, torch.bfloat16, None]

    def work(lower):
        expected = dense(x.double()).detach().numpy()
        for turn in range(200):
            with torch.autocast("cpu", lower), torch.set_grad_enabled(turn % 2 == 0):
                y = layer(x)
            if relative_error(y.detach().double().numpy(), expected) > LIMITS[lower]:
                wrong.append(y)

    work(torch.bfloat16)
    before = [sys.getrefcount(each) for each in objects]
    threads = [threading.Thread(target=work, args=(lower,)) for lower in 2 * list(LIMITS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and calls.python < calls.all / 2
    after = [sys.getrefcount(each) for each in objects]
    assert all(abs(a - b) < 80 for a, b in zip(after, before)), (before, after)
