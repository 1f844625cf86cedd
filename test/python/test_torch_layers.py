"""nm.torch.sparsify on layers of every kind: what is replaced, what is kept of it, and
what the report says of the others."""

import copy
import io
import os
import warnings

import pytest
from conftest import relative_error

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from nm.torch import NMLinear, densify, sparsify  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.utils import parametrizations, parametrize, prune  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", "0"))


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(SEED)


def assert_close(got, expected, limit=1e-5):
    assert relative_error(got.detach().double().numpy(),
                          expected.detach().double().numpy()) < limit


def lines(report):
    return {layer.name: layer for layer in report}


class Shared(nn.Module):
    """A layer under two names, one in a container under two names, and a tied pair."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(16, 16)
        self.b = self.a
        self.block = nn.Sequential(nn.Linear(16, 16), nn.ReLU())
        self.again = self.block
        self.tied, self.other = nn.Linear(16, 16), nn.Linear(16, 16)
        self.other.weight = self.tied.weight

    def forward(self, x):
        x = self.again(self.b(torch.relu(self.block(self.a(x)))))
        return self.other(torch.relu(self.tied(x)))


def test_layers_with_two_names(tmp_path):
    model, x = Shared().eval(), torch.randn(3, 16)
    expected = copy.deepcopy(model)
    for layer in (expected.a, expected.block[0], expected.tied):
        layer.weight.data = nm.prune(layer.weight.data, "2:4", axis=1).weight
    report = lines(sparsify(model, "2:4", prune=True))
    assert set(report) == {"a", "block.0", "tied", "other"}
    assert "also as b" in report["a"].reason
    assert "as tied, whose weight it has" in report["other"].reason
    assert model.a is model.b and isinstance(model.a, NMLinear)
    assert model.other.values is model.tied.values
    assert_close(model(x), expected(x))
    dense = Shared()
    keys = {name for name in model.state_dict() if name.startswith(("a.", "b."))}
    assert len(keys) == 8
    nm.torch.save(model, tmp_path)
    loaded = nm.torch.load(tmp_path, dense)
    assert loaded.a is loaded.b and isinstance(loaded.b, NMLinear)
    assert loaded.other.values is loaded.tied.values
    assert torch.equal(loaded(x), model(x))
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    buffer.seek(0)
    twin = copy.deepcopy(model)
    for parameter in twin.parameters():
        parameter.data.zero_()
    twin.load_state_dict(torch.load(buffer))
    assert torch.equal(twin(x), model(x))
    assert sorted(densify(model)) == ["a", "block.0", "other", "tied"]
    assert model.a is model.b and model.other.weight is model.tied.weight
    assert_close(model(x), expected(x))


def test_rules_of_layers_with_two_names():
    for rules in ({"b": "2:4"}, {"b": "2:4", "a": None}):
        model = Shared()
        names = lines(sparsify(model, rules, prune=True))
        assert names["a"].replaced == ("a" not in rules) or not names["a"].replaced
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
    model.append(model[0])
    sparsify(model, {"2": "1:4"}, prune=True)
    assert model[0] is model[2] and isinstance(model[0], NMLinear)
    masked = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
    masked.append(masked[0])
    schedule = nm.torch.mask_layers(masked, "2:4")
    assert masked[0] is masked[2]
    schedule.finish()
    assert masked[0] is masked[2] and isinstance(masked[2], NMLinear)


class Subclass(nn.Linear):
    pass


class Other(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


class Own(nn.MultiheadAttention):
    pass


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("qweight", torch.zeros(4, 8, dtype=torch.int32))
        self.register_buffer("positions", torch.zeros(4, 8))


class Double(nn.Module):
    def forward(self, weight):
        return 2 * weight


def test_the_report_has_a_line_for_every_module():
    model = nn.ModuleDict({
        "linear": nn.Linear(16, 8), "column": nn.Linear(16, 1), "subclass": Subclass(16, 8),
        "other": Other(16, 8), "own": Own(16, 2), "attention": nn.MultiheadAttention(16, 2),
        "embedding": nn.Embedding(8, 16), "conv": nn.Conv2d(4, 4, 3, groups=4),
        "groups": nn.Conv2d(4, 4, 3, groups=2),
        "lstm": nn.LSTM(16, 8), "bilinear": nn.Bilinear(4, 4, 4), "norm": nn.LayerNorm(8),
        "sparse": NMLinear(16, 8, "2:4"), "wide": nn.Linear(16, 8, dtype=torch.float64),
        "lazy": nn.LazyLinear(8), "meta": nn.Linear(8, 8, device="meta"),
        "masked": nm.torch.MaskedLinear(16, 8, "2:4"), "packed": Packed(),
        "few_bits": nm.torch.NMQuantizedLinear.from_linear(
            NMLinear(16, 8, "2:4", dtype=torch.float16))})
    model.experts = nn.ParameterDict({"up": nn.Parameter(torch.randn(2, 8, 16))})
    report = sparsify(model, "2:4", prune=True)
    reasons = {layer.name: layer.reason for layer in report}
    assert {layer.name for layer in report if layer.replaced} == {
        "linear", "column", "subclass", "attention.in_proj", "attention.out_proj",
        "groups.product"}
    for name, text in (
            ("subclass", "a Subclass before"), ("other", "Other has its own forward"),
            ("own", "nn.MultiheadAttention multiplies by its weights itself: Own is no"),
            ("own.out_proj", "nn.MultiheadAttention multiplies"),
            ("embedding", "looked up"), ("conv", "one channel"), ("lstm", "nn.LSTM"),
            ("bilinear", "Bilinear multiplies by slices of weight 4x4x4"),
            ("sparse", "sparse already"), ("wide", "f64"), ("lazy", "before its first"),
            ("packed", "Packed has buffers for a weight, qweight 4x8"),
            ("few_bits", "it is sparse and quantized already"),
            ("meta", "meta device"), ("masked", "MaskedLinear has its own"),
            ("experts", "ParameterDict multiplies by slices of up 2x8x16")):
        assert text in reasons[name], (name, reasons[name])
    assert "norm" not in reasons and set(reasons) >= {"linear", "column"}
    assert report.layers[0].shape == (8, 16) and "4x1x3x3" in str(report)


@pytest.mark.parametrize("kind", ["parametrized", "weight_norm", "spectral_norm",
                                  "pruned", "pruned twice", "old weight_norm"])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_folded_layers(kind):
    layer, x = nn.Linear(16, 8), torch.randn(3, 16)
    {"parametrized": lambda: parametrize.register_parametrization(
        layer, "weight", Double()),
     "weight_norm": lambda: parametrizations.weight_norm(layer),
     "spectral_norm": lambda: parametrizations.spectral_norm(layer),
     "old weight_norm": lambda: nn.utils.weight_norm(layer),
     "pruned": lambda: prune.l1_unstructured(layer, "weight", 0.3),
     "pruned twice": lambda: [prune.l1_unstructured(layer, name, 0.2) for name in (
         "weight", "weight", "bias")]}[kind]()
    model = nn.Sequential(layer).eval()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.mul_(1.5)
    model(x)
    expected = nn.functional.linear(
        x, nm.prune(layer.weight.detach(), "2:4", axis=1).weight, layer.bias.detach())
    report = sparsify(model, "2:4", prune=True)
    assert "folded" in report.layers[0].reason and len(report.layers) == 1
    assert report.layers[0].shape == (8, 16)
    assert set(model[0].state_dict()) == {"values", "indices", "bias", "_extra_state"}
    assert model[0].values.requires_grad
    assert_close(model(x), expected)
    assert not model[0]._forward_pre_hooks


def test_hooks_attributes_and_modes_are_kept():
    model, calls, x = nn.Sequential(nn.Linear(16, 8)), [], torch.randn(3, 16)
    layer = model[0].requires_grad_(False)
    layer.bias.requires_grad_(True)
    handles = [layer.register_forward_hook(lambda *_: calls.append("after")),
               layer.register_forward_pre_hook(lambda *_: calls.append("before"))]
    layer.mark, layer.pattern = "mine", "lost"
    layer.register_buffer("scale", torch.ones(3), persistent=False)
    bias = layer.bias
    layer.eval()
    report = sparsify(model, "2:4", prune=True)
    sparse = model[0]
    assert sparse.mark == "mine" and not sparse.training and model.training
    assert "attributes pattern are not kept" in report.layers[0].reason
    assert not sparse.values.requires_grad and sparse.bias is bias
    assert torch.equal(sparse.scale, torch.ones(3)) and "scale" not in sparse.state_dict()
    model(x)
    assert calls == ["before", "after"]
    handles[0].remove()
    model(x)
    assert calls == ["before", "after", "before"]
    densify(model)
    assert model[0].mark == "mine" and len(model[0]._forward_pre_hooks) == 1
    assert set(vars(model[0])) <= set(vars(nn.Linear(1, 1))) | {"mark"}


def test_an_optimizer_that_was_made_before_is_told():
    model, x = nn.Sequential(nn.Linear(16, 8), nn.LayerNorm(8)), torch.randn(3, 16)
    before = torch.optim.SGD(model.parameters(), 0.1)
    sparsify(model, "2:4", prune=True)
    after = torch.optim.SGD(model.parameters(), 0.1)
    model(x).sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        after.step()
    with pytest.warns(UserWarning, match="1 of its parameters belong to .* replaced"):
        before.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before.step()


def test_tied_embeddings_are_told():
    model = nn.ModuleDict({"tokens": nn.Embedding(8, 16), "head": nn.Linear(16, 8)})
    model["head"].weight = model["tokens"].weight
    report = lines(sparsify(model, "2:4", prune=True))
    assert "no longer tied to tokens" in report["head"].reason
    assert "looked up" in report["tokens"].reason


@pytest.mark.parametrize("by_hand", [False, True])
def test_transformer_encoders(by_hand, monkeypatch):
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(
        16, 2, 32, batch_first=True, dropout=0.0), 2).eval()
    expected, x = copy.deepcopy(encoder), torch.randn(2, 5, 16)
    mask = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    for layer in expected.layers:
        for each in (layer.linear1, layer.linear2):
            each.weight.data = nm.prune(each.weight.data, "2:4", axis=1).weight
    if by_hand:
        for layer in encoder.layers:
            layer.linear1, layer.linear2 = (NMLinear.from_dense(
                each, "2:4", prune_weight=True) for each in (layer.linear1, layer.linear2))
    else:
        sparsify(encoder, {"*linear*": "2:4"}, prune=True)
        monkeypatch.setattr(NMLinear, "dense_weight", lambda self: pytest.fail("made"))
    with torch.no_grad():
        assert_close(encoder(x), expected(x))
        got = encoder(x, src_key_padding_mask=mask)
        assert_close(got[1, :3], expected(x, src_key_padding_mask=mask)[1, :3])
        program = torch.export.export(encoder, (x,))
        assert "nm.linear" in str(program.graph)
        assert_close(program.module()(x), expected(x))
        compiled = nm.torch.export(encoder, (x,)).compile()
        assert_close(compiled(x), expected(x))
        assert_close(torch.jit.trace(encoder, (x,))(x), expected(x))
    if not by_hand:
        monkeypatch.undo()
        densify(encoder)
        assert encoder.layers[0].activation_relu_or_gelu == 1
        assert encoder.use_nested_tensor


class Adapted(nn.Module):
    def __init__(self):
        super().__init__()
        self.base_layer = nn.Linear(16, 16)
        self.lora_A = nn.ModuleDict({"default": nn.Linear(16, 4, bias=False)})
        self.lora_B = nn.ModuleDict({"default": nn.Linear(4, 16, bias=False)})


def test_adapters_stay_dense():
    for rules in ("2:4", {"*": "2:4"}, {"q*": "2:4"}):
        model = nn.ModuleDict({"q": Adapted()})
        report = lines(sparsify(model, rules, prune=True))
        assert [name for name in report if report[name].replaced] == ["q.base_layer"]
        assert "an adapter" in report["q.lora_A.default"].reason
    model = nn.ModuleDict({"q": Adapted()})
    report = lines(sparsify(model, {"*lora_A*": "2:4"}, prune=True))
    assert [name for name in report if report[name].replaced] == ["q.lora_A.default"]


class Int8Tensor(torch.Tensor):
    """As torchao's are: integers and scales, which make a dense weight when asked."""

    @staticmethod
    def __new__(cls, weight):
        made = torch.Tensor._make_wrapper_subclass(cls, weight.shape, dtype=weight.dtype)
        made.scale = weight.abs().amax(1, keepdim=True) / 127
        made.integers = (weight / made.scale).round().to(torch.int8)
        return made

    def dequantize(self, output_dtype=None):
        return self.integers.to(output_dtype or self.dtype) * self.scale

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is nn.functional.linear:
            return func(args[0], args[1].dequantize(), *args[2:], **(kwargs or {}))
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func is torch.ops.aten.detach.default:
            return args[0]
        raise NotImplementedError(str(func))


class OpaqueTensor(Int8Tensor):
    dequantize = torch.Tensor.dequantize


@torch.no_grad()
def test_weights_of_other_classes():
    """Those that a dense weight can be made of are taken, others are named."""
    model = nn.Sequential(nn.Linear(64, 32), nn.Linear(32, 16), nn.Linear(16, 16)).eval()
    for layer, kind in zip(model, (Int8Tensor, OpaqueTensor, Int8Tensor)):
        pruned = nm.prune(layer.weight.detach(), "2:4", axis=1).weight
        layer.weight = nn.Parameter(kind(pruned), requires_grad=False)
        layer.extra_repr = lambda: "as torchao sets it"
    x = torch.randn(5, 64)
    wanted = model[0](x)
    report = nm.torch.sparsify(model, {"2": "1:4", "*": "2:4"}, force=True)
    reasons = {layer.name: (layer.replaced, layer.reason) for layer in report}
    assert reasons["0"] == (True, "not timed: no example reached it; its weight was a "
                                  "Int8Tensor")
    assert reasons["1"] == (False, "its weight is a OpaqueTensor")
    assert not reasons["2"][0] and "breaks its pattern" in reasons["2"][1]
    torch.testing.assert_close(model[0](x), wanted, rtol=1e-4, atol=1e-4)
    assert isinstance(model[2].weight, Int8Tensor)
    schedule = nm.torch.mask_layers(nn.Sequential(nn.Linear(8, 8), model[2]), "2:4")
    assert list(schedule.layers) == ["0"]


@pytest.mark.filterwarnings("ignore:Initializing zero-element")
@pytest.mark.parametrize("k,n", [(64, 0), (0, 64), (0, 0)])
def test_layers_of_no_weights(k, n):
    """They stay dense beside others, and the report says why."""
    model = nn.ModuleList([nn.Linear(k, n), nn.Linear(64, 8)]).eval()
    report = nm.torch.sparsify(model, "2:4", prune=True, force=True)
    assert [type(layer) for layer in model] == [nn.Linear, NMLinear]
    assert report.layers[0].reason == "its weight has no elements"
    layer = NMLinear(k, n, "2:4", bias=False)
    assert layer.weight.shape == (n, k)
