"""Orders of inputs that are folded into the layers before."""

import os

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", "0"))


class Gated(nn.Module):
    """As Llama's MLP is."""

    def __init__(self, width=24, inner=64):
        super().__init__()
        self.gate, self.up = (nn.Linear(width, inner) for _ in range(2))
        self.down = nn.Linear(inner, width, bias=False)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        return self.down(self.dropout(functional.silu(self.gate(x)) * self.up(x)))


class Model(nn.Module):
    """With an order of calls that no trace follows."""

    def __init__(self):
        super().__init__()
        self.mlp = Gated()
        self.chain = nn.Sequential(nn.Linear(24, 40), nn.GELU(), nn.Linear(40, 56), nn.ReLU(),
                                   nn.Linear(56, 24))
        self.norm = nn.LayerNorm(24)
        self.last = nn.Linear(24, 8)

    def forward(self, x):
        if float(x.detach().sum()) > 1e30:
            return x
        return self.last(self.norm(x + self.mlp(x)) + self.chain(x))


def drawn(model):
    """With weights of which some inputs matter more, so that orders differ."""
    generator = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator)
                            * torch.exp(torch.randn(parameter.shape[-1:], generator=generator)))
    return model.double().eval()


def permuted(model, rules, x):
    """The report, after a check that the model computes what it did."""
    before = model(x).detach()
    report = nm.torch.permute_inputs(model, rules, seed=SEED)
    torch.testing.assert_close(model(x), before, rtol=1e-10, atol=1e-10 * float(before.abs().max()))
    return {layer.name: layer for layer in report.layers}, str(report)


@pytest.mark.parametrize("pattern", ["2:4", "1:8", "2:4, block = 2x4"])
def test_what_can_be_is_folded(pattern):
    model = drawn(Model())
    found, text = permuted(model, pattern, torch.randn(5, 24).double())
    assert {name: layer.before for name, layer in found.items()} == {
        "mlp.gate": (), "mlp.up": (), "mlp.down": ("mlp.gate", "mlp.up"), "chain.0": (),
        "chain.2": ("chain.0",), "chain.4": ("chain.2",), "last": ()}
    for layer in found.values():
        pruned = nm.prune(model.get_submodule(layer.name).weight.detach(), pattern, axis=1)
        assert layer.dropped == pytest.approx(pruned.report.dropped_energy)
        assert bool(layer.reason) == (not layer.before)
        # Outputs in another order are other blocks.
        has_blocks = "block" in pattern and layer.name not in ("mlp.down", "chain.4")
        if layer.before and not has_blocks:
            assert layer.dropped < layer.dropped_before
        elif not has_blocks:
            assert layer.dropped == pytest.approx(layer.dropped_before)
            assert "elsewhere" in layer.reason
    assert "mlp.gate, mlp.up" in text


def test_rules_choose_layers():
    model = drawn(Model())
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    found, _ = permuted(model, {"chain.4": "2:4"}, torch.randn(3, 24).double())
    assert set(found) == {"chain.4"}
    changed = {name for name, value in model.state_dict().items()
               if not torch.equal(value, weights[name])}
    assert changed == {"chain.2.weight", "chain.2.bias", "chain.4.weight"}


class Several(nn.Module):
    """Layers that read the same inputs."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.left, self.right = (nn.Linear(32, 8) for _ in range(2))

    def forward(self, x):
        x = torch.relu(self.first(x)) * 0.5 + 1
        return self.left(x) + self.right(x)


def test_layers_that_read_the_same_inputs_share_an_order():
    model, x = drawn(Several()), torch.randn(3, 16).double()
    found, _ = permuted(model, {"left": "2:4", "right": "2:4"}, x)
    assert found["left"].before == found["right"].before == ("first",)
    found, _ = permuted(model, {"left": "2:4", "right": "1:4"}, x)
    assert all("one N:M pattern" in layer.reason for layer in found.values())


class Unfoldable(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.first, self.second, self.other = (nn.Linear(16, 16) for _ in range(3))
        if kind == "tied":
            self.other.weight = self.first.weight
        if kind == "alias":
            self.other = self.first

    def forward(self, x):
        y = self.first(x)
        kinds = {"residual": lambda: self.second(y + x), "read twice": lambda: self.second(y) + y,
                 "read before": lambda: self.second(torch.relu(y)) + y,
                 "called twice": lambda: self.second(self.first(y)),
                 "softmax": lambda: self.second(torch.softmax(y, -1) * y.mean(-1, True)),
                 "rolled": lambda: self.second(torch.roll(y, 1, -1)),
                 "weight": lambda: self.second(y) + self.first.weight.sum(1),
                 "tensor": lambda: self.second(y * torch.arange(16.0).double())}
        return kinds.get(self.kind, lambda: self.second(y) + self.other(x))()


@pytest.mark.parametrize("kind", ["residual", "read twice", "read before", "called twice", "softmax", "rolled",
                                  "weight", "tensor", "tied", "alias"])
def test_others_stay(kind):
    model = drawn(Unfoldable(kind))
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    found, _ = permuted(model, {"second": "2:4"}, torch.randn(3, 16).double())
    assert not found["second"].before and "elsewhere" in found["second"].reason
    for name, value in model.state_dict().items():
        assert torch.equal(value, weights[name])


def test_a_model_is_sparsified_then():
    torch.manual_seed(SEED)
    model = drawn(Gated(32, 128)).float()
    x = torch.randn(64, 32)
    expected = model(x).detach()
    plain = nm.prune(model.down.weight.detach(), "2:4", axis=1).weight
    nm.torch.permute_inputs(model, {"down": "2:4"}, seed=SEED)
    torch.testing.assert_close(model(x), expected, rtol=1e-4, atol=1e-4 * float(expected.abs().max()))
    report = nm.torch.sparsify(model, {"down": "2:4"}, prune=True)
    assert report.layers[-1].replaced
    kept = model.down.to_dense().weight.square().sum()
    assert kept > plain.square().sum()


def test_what_is_wrong_is_refused():
    with pytest.raises(nm.PatternError):
        nm.torch.permute_inputs(Gated(), "5:4")
    with pytest.raises(nm.Error, match="nn.Linear"):
        nm.torch.permute_inputs(nn.ReLU(), "2:4")
