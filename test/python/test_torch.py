"""nm.torch: the layer, the operator, and nm.torch.sparsify."""

import copy
import gc
import io
import pickle
import time
import warnings
import weakref

import numpy as np
import pytest
from conftest import relative_error

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from nm.torch import NMLinear, sparsify  # noqa: E402
from torch import nn  # noqa: E402


def dense_layer(out=48, k=64, pattern="2:4", bias=True, seed=0):
    torch.manual_seed(seed)
    layer = nn.Linear(k, out, bias=bias)
    if pattern:
        with torch.no_grad():
            layer.weight.copy_(nm.prune(layer.weight.detach(), pattern,
                                        axis=1).weight)
    return layer


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", [None, "gelu", "relu"])
def test_from_dense(bias, activation):
    layer = dense_layer(bias=bias)
    sparse = NMLinear.from_dense(layer, "2:4", activation=activation)
    assert torch.equal(sparse.weight, layer.weight)
    assert "50 % sparse" in repr(sparse)
    for shape in ((64,), (5, 64), (2, 3, 64)):
        x = torch.randn(shape)
        with torch.no_grad():
            expected = layer(x)
            if activation:
                expected = getattr(nn.functional, activation)(expected)
            y = sparse(x)
        assert y.shape == expected.shape
        assert relative_error(y.numpy(), expected.double().numpy()) < 2e-6


def test_from_dense_refuses_and_prunes():
    layer = dense_layer(pattern=None)
    with pytest.raises(nm.PatternError, match="'fc'"):
        NMLinear.from_dense(layer, "2:4", name="fc")
    sparse = NMLinear.from_dense(layer, "2:4", prune_weight=True)
    assert torch.equal(sparse.weight,
                       nm.prune(layer.weight.detach(), "2:4", axis=1).weight)
    with pytest.raises(nm.ShapeError, match="axis=1"):
        NMLinear.from_sparse(nm.compress(np.zeros((8, 4), np.float32), "2:4", axis=0))


@pytest.mark.parametrize("activation", [None, "gelu", "gelu_tanh", "silu"])
def test_gradients(activation):
    layer = dense_layer()
    sparse = NMLinear.from_dense(layer, "2:4", activation=activation)
    function = {None: lambda v: v, "gelu": nn.functional.gelu,
                "gelu_tanh": lambda v: nn.functional.gelu(v, approximate="tanh"),
                "silu": nn.functional.silu}[activation]
    grads = []
    for call, module in ((lambda x: function(layer(x)), layer), (sparse, sparse)):
        torch.manual_seed(1)
        x = torch.randn(2, 3, 64, requires_grad=True)
        (call(x) * torch.randn(2, 3, 48)).sum().backward()
        grads.append((x.grad, module.bias.grad))
    for got, expected in zip(grads[1], grads[0]):
        assert relative_error(got.numpy(), expected.double().numpy()) < 1e-5


def test_operator_is_registered_properly():
    w = NMLinear.from_dense(dense_layer(), "2:4")
    x = torch.randn(5, 64, requires_grad=True)
    bias = torch.randn(48, requires_grad=True)
    weight = w.values.detach(), w.indices
    torch.library.opcheck(torch.ops.nm.linear.default,
                          (x, *weight, w._form, bias, ""))
    torch.library.opcheck(torch.ops.nm.linear.default,
                          (x.detach(), *weight, w._form, None, "gelu"))
    torch.library.opcheck(torch.ops.nm.linear.default,
                          (x, w.values, w.indices, w._form, bias, ""))
    torch.library.opcheck(torch.ops.nm.decompress.default,
                          (w.values, w.indices, w._form))


def test_linear_of_a_sparse_tensor():
    layer = dense_layer()
    w = nm.compress(layer.weight.detach(), "2:4", axis=1)
    x = torch.randn(5, 64)
    y = nm.torch.linear(x, w, layer.bias.detach())
    assert relative_error(y.numpy(), layer(x).detach().double().numpy()) < 2e-6


def test_compile_without_breaks():
    model = nn.Sequential(NMLinear.from_dense(dense_layer(), "2:4"), nn.GELU(),
                          NMLinear.from_dense(dense_layer(64, 48, seed=1), "2:4"))
    x = torch.randn(5, 64, requires_grad=True)
    expected = model(x)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    y = compiled(x)
    assert torch.allclose(y, expected, atol=1e-6)
    grads = [torch.autograd.grad(out.sum(), x)[0] for out in (y, expected)]
    assert torch.allclose(*grads, atol=1e-6)


def test_compiled_code_follows_the_buffers():
    """Written to, replaced, and loaded; without compiling again."""
    layer, x = NMLinear.from_dense(dense_layer(), "2:4"), torch.randn(5, 64)
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    with torch.no_grad():
        bias, once = layer.bias, layer(x) - layer.bias
        for change, factor in (
                (lambda: None, 1),
                (lambda: layer.values.mul_(2), 2),
                (lambda: setattr(layer, "values", nn.Parameter(layer.values * 2)), 4),
                (lambda: layer.load_state_dict({
                    **layer.state_dict(), "values": layer.values * 2}), 8)):
            change()
            assert torch.allclose(compiled(x), factor * once + bias, atol=1e-4)


def test_gradients_are_of_the_weight_that_was_used():
    layer, x = NMLinear.from_dense(dense_layer(), "2:4").eval(), torch.randn(5, 64)
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    x.requires_grad_()
    y = compiled(x)
    with torch.no_grad():
        layer.values.mul_(2)
    layer.refresh()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    compiled(x).sum().backward()
    assert torch.allclose(x.grad, layer.weight.sum(0).expand(5, 64), atol=1e-4)


def test_state_dict_round_trip():
    layer = NMLinear.from_dense(dense_layer(), "2:4")
    other = NMLinear(64, 48, "2:4")
    x = torch.randn(5, 64)
    assert not torch.allclose(other(x), layer(x))
    buffer = io.BytesIO()
    torch.save(layer.state_dict(), buffer)
    buffer.seek(0)
    other.load_state_dict(torch.load(buffer, weights_only=True))
    assert torch.equal(other(x), layer(x))
    # As files of safetensors want it.
    assert all(isinstance(part, torch.Tensor) for part in layer.state_dict().values())
    with pytest.raises(Exception, match='expected a state of .*"1:4, dim = 1"'):
        NMLinear(64, 48, "1:4").load_state_dict(layer.state_dict(), strict=False)
    for odd in ({"pattern": "2:4"}, torch.tensor([300])):
        with pytest.raises(Exception, match="expected a state of"):
            other.load_state_dict({**layer.state_dict(), "_extra_state": odd})
    damaged = layer.state_dict()
    damaged["indices"] = torch.full_like(damaged["indices"], 9)
    with pytest.raises(Exception, match="expected a position"):
        other.load_state_dict(damaged)


def test_copies_and_conversions():
    layer = NMLinear.from_dense(dense_layer(), "2:4")
    x = torch.randn(5, 64)
    expected = layer(x)
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert torch.equal(twin(x), expected)
    half = copy.deepcopy(layer).to(torch.bfloat16)
    y = half(x.bfloat16())
    assert y.dtype == torch.bfloat16
    assert relative_error(y.detach().double().numpy(),
                          expected.detach().double().numpy()) < 2e-2
    with torch.no_grad():
        layer.values.mul_(2)
        layer.bias.zero_()
    assert torch.allclose(layer(x), 2 * (expected - dense_layer().bias),
                          atol=1e-5)
    with pytest.raises(nm.DTypeError, match="x of f32"):
        layer(x.double())


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = dense_layer(256, 128)
        self.second = dense_layer(128, 256, pattern=None, seed=1)
        self.blocks = nn.ModuleList([dense_layer(128, 128, seed=2)])
        self.unused = dense_layer(8, 8, seed=3)

    def forward(self, x):
        return self.blocks[0](self.second(torch.relu(self.first(x))))


def time_calls(calls):
    """As other programs may keep times from repeating."""
    times = []
    for call in calls:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times


def test_rules_without_effect():
    with pytest.warns(UserWarning, match="'frist' has no effect: it fits none of first"):
        sparsify(Model(), {"frist": "2:4", "*": None})
    with pytest.warns(UserWarning, match="rules before it take all that it fits, first"):
        sparsify(Model(), {"*": None, "first": "2:4"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sparsify(Model(), {"first": "2:4", "*": None})
        sparsify(nn.Sequential(dense_layer()), {"0": "2:4", "*": None})


def test_sparsify(monkeypatch):
    from nm.torch import _layer_timing
    monkeypatch.setattr(_layer_timing, "host_times", time_calls)
    model, x = Model().eval(), torch.randn(33, 128)
    names = []
    report = sparsify(model, {"blocks.*": None, "*": "2:4"}, x, force=True,
                      progress=names.append)
    layers = {layer.name: layer for layer in report}
    assert names == list(layers) == ["first", "second", "blocks.0", "unused"]
    first = layers["first"]
    assert first.replaced and isinstance(model.first, NMLinear)
    assert first.kernel == "vector" and first.rows == 33
    assert first.estimated > 0 and first.measured > 0
    assert not layers["second"].replaced
    assert "breaks its pattern" in layers["second"].reason
    assert layers["blocks.0"].reason == "no rule for it"
    assert layers["unused"].measured is None
    text = str(report)
    assert "50 % sparse" in text and "measured" in text and "33" in text
    with torch.no_grad():
        expected = Model().eval()(x)
        assert relative_error(model(x).numpy(),
                              expected.double().numpy()) < 1e-5


def test_estimates_of_records():
    from nm.torch._layer_timing import _estimate
    record = nm.ProductRecord(estimate_us=10.0, dense_us=15.0)
    assert _estimate(record.speedup, record, 9.0) == 1.5
    ours = nm.ProductRecord(estimate_us=2.5)
    assert _estimate(ours.speedup, ours, 5e-6) == pytest.approx(2)
    loops = nm.ProductRecord(strategy="loops")
    assert _estimate(loops.speedup, loops, 1.0) is None
    # Of groups the dense time of the record is that of all zeros between them.
    assert _estimate(None, record, 5e-5) == pytest.approx(5)
    assert _estimate(ours.speedup, ours, None) is None


def test_sparsify_prunes_and_keeps_what_is_faster(monkeypatch):
    from nm.torch import _layer_timing
    model, x = Model().train(), torch.randn(4, 128)
    monkeypatch.setattr(_layer_timing, "host_times", lambda calls: [1.0, 2.0])
    report = sparsify(model, "1:4", x, prune=True)
    assert [layer.reason for layer in report][:3] == ["dense is faster"] * 3
    assert type(model.first) is nn.Linear and model.training
    # Other programs ran: the estimate decides.
    monkeypatch.setattr(_layer_timing, "host_times", lambda calls: None)
    for estimate in (0.5, None):
        monkeypatch.setattr(_layer_timing, "_estimate", lambda *_, e=estimate: e)
        report = sparsify(model, "1:4", x, prune=True)
        assert ["did not repeat" in layer.reason for layer in report][:3] == [True] * 3
        assert [layer.kernel for layer in report][:3] == ["dense"] * 3
        assert type(model.first) is nn.Linear
    monkeypatch.setattr(_layer_timing, "_estimate", lambda *_: 6.0)
    report = sparsify(Model(), "1:4", x, prune=True)
    assert [layer.replaced for layer in report][:3] == [True] * 3
    assert "faster by the estimate" in report.layers[0].reason
    assert "packed" in str(report)
    monkeypatch.setattr(_layer_timing, "host_times", lambda calls: [3.0, 2.0])
    report = sparsify(model, "1:4", x, prune=True)
    assert [layer.measured for layer in report][:3] == [1.5] * 3
    assert model.second.pattern == nm.Pattern(1, 4, axis=1)
    assert model.second.training
    assert 0.7 < report.layers[1].dropped < 0.8
    with pytest.raises(nm.Error, match="it has none"):
        sparsify(nn.ReLU(), "2:4")


def test_changed_buffers_are_packed_anew():
    sparse = NMLinear.from_dense(dense_layer(bias=False), "2:4").eval()
    x = torch.randn(3, 64)
    sparse(x)
    packed = sparse.sparse_weight()
    assert sparse.sparse_weight() is packed
    sparse.refresh()
    assert sparse.sparse_weight() is packed, "nothing has changed"
    with torch.no_grad():
        y = sparse(x)
    with torch.no_grad():
        sparse.values.mul_(2)
        assert torch.equal(sparse(x), 2 * y)
        other = {"values": torch.zeros_like(sparse.values)}
        assert torch.equal(torch.func.functional_call(sparse, other, (x,)),
                           torch.zeros(3, 48))
        assert torch.equal(sparse(x), 2 * y)
        # PyTorch does not count this write.
        sparse.values.data.mul_(2)
        sparse.refresh()
        assert torch.equal(sparse(x), 4 * y)
        sparse.values.data = sparse.values / 4
        assert torch.equal(sparse(x), y)
    sparse.indices.fill_(9)
    with pytest.raises(nm.PatternError, match="expected a position"):
        sparse(x)


def test_writes_in_inference_mode_count():
    with torch.inference_mode():
        sparse = NMLinear.from_dense(dense_layer(bias=False), "2:4")
        x = torch.randn(3, 64)
        y = sparse(x)
        sparse.values.mul_(2)
        assert torch.equal(sparse(x), 2 * y)


def test_replicas_share_what_is_packed(monkeypatch):
    sparse, x = NMLinear.from_dense(dense_layer(), "2:4").eval(), torch.randn(3, 64)
    packed = sparse.sparse_weight()
    replica = sparse._replicate_for_data_parallel()
    replica.values, replica.indices = sparse.values.clone(), sparse.indices.clone()
    replica.bias = sparse.bias
    assert torch.equal(replica(x), sparse(x))
    assert replica.sparse_weight() is packed


def test_packed_weights_go_with_their_tensors():
    from nm.torch._weights import _kept
    before = len(_kept)
    layer = NMLinear.from_dense(dense_layer(), "2:4").eval()
    w = nm.compress(layer.weight, "2:4", axis=1)
    nm.torch.linear(layer(torch.randn(3, 64))[:, :0].new_zeros(1, 64), w)
    gone = [weakref.ref(layer.sparse_weight()), weakref.ref(w)]
    assert len(_kept) == before + 2
    del layer, w
    gc.collect()
    assert len(_kept) == before and not any(weight() for weight in gone)


def test_layers_without_memory():
    sparse, x = NMLinear.from_dense(dense_layer(), "2:4"), torch.randn(3, 64)
    with torch.device("meta"):
        empty = NMLinear(64, 48, "2:4")
    assert empty(x.to("meta")).shape == (3, 48)
    for layer in (empty, copy.deepcopy(empty), copy.deepcopy(sparse).to("meta")):
        with pytest.raises(nm.Error, match="meta device"):
            layer(x)
        assert layer.weight.is_meta and (layer.weight * 2).is_meta
        assert layer.weight.shape == (48, 64)
    loaded = copy.deepcopy(empty)
    loaded.load_state_dict(sparse.state_dict(), assign=True)
    empty.to_empty(device="cpu").load_state_dict(sparse.state_dict())
    for layer in (loaded, empty):
        assert torch.equal(layer(x), sparse(x))
    with pytest.raises(nm.DeviceError, match="expected bias on"):
        nm.torch.linear(x, sparse.sparse_weight(), torch.zeros(48, device="meta"))


def test_vmap():
    sparse = NMLinear.from_dense(dense_layer(), "2:4", activation="gelu")
    w = sparse.sparse_weight()
    x, biases = torch.randn(5, 3, 64), torch.randn(5, 48)
    with torch.no_grad():
        assert torch.equal(torch.vmap(sparse)(x), sparse(x))
        assert torch.equal(torch.vmap(sparse, 1, 1)(x), sparse(x))
        for each in (x, x[0]):
            y = torch.vmap(lambda v, b: nm.torch.linear(v, w, b, "relu"),
                           (0 if each.dim() == 3 else None, 0))(each, biases)
            for i, bias in enumerate(biases):
                expected = nm.torch.linear(
                    each[i] if each.dim() == 3 else each, w, bias, "relu")
                assert torch.equal(y[i], expected)
    rows = torch.randn(64, requires_grad=True)
    y = nm.torch.linear(rows, w)
    jacobian, = torch.autograd.grad(y, rows, torch.eye(48), is_grads_batched=True)
    assert torch.equal(jacobian, sparse.weight)


@pytest.mark.filterwarnings("error")
def test_second_derivatives():
    sparse = NMLinear.from_dense(dense_layer(), "2:4")
    x = torch.randn(3, 64, requires_grad=True)
    gradients = []
    for layer in (sparse, dense_layer()):
        gradient, = torch.autograd.grad(layer(x).pow(3).sum(), x,
                                        create_graph=True)
        gradients.append(torch.autograd.grad(gradient.pow(2).sum(), x)[0])
    assert relative_error(gradients[0].numpy(),
                          gradients[1].double().numpy()) < 1e-5


def test_what_is_no_layer_or_weight():
    w = nm.compress(dense_layer().weight, "2:4", axis=1)
    x = torch.randn(3, 64)
    for call in (lambda: NMLinear(64, 48, "2:4", activation="foo"),
                 lambda: nm.torch.linear(x.requires_grad_(), w, None, "foo")):
        with pytest.raises(nm.Error, match="expected activation to be one of"):
            call()
    for weight in (torch.zeros(48, 64), None):
        with pytest.raises(TypeError, match="expected w to be"):
            nm.torch.linear(x, weight)
    with pytest.raises(TypeError, match="expected x to be a tensor"):
        nm.torch.linear(x.detach().numpy(), w)
    values, indices, _ = nm.torch._weights.tensors_of(w, x.device)
    for form, text in (("47x64, 2:4, dim = 1", "47"), ("2:4", "expected a weight's")):
        with pytest.raises(nm.PatternError, match=text):
            torch.ops.nm.linear(x.detach(), values, indices, form, None, "")
    imaginary = torch.complex(x.detach(), x.detach()).conj().imag
    with pytest.raises(nm.Error, match="resolve_neg"):
        nm.matmul(imaginary, w)
    with torch.no_grad():
        assert torch.equal(nm.torch.linear(imaginary, w),
                           nm.torch.linear(imaginary.resolve_neg(), w))
