"""PEFT's adapters beside sparse layers."""

import os

import pytest
from conftest import relative_error

torch = pytest.importorskip("torch")
peft = pytest.importorskip("peft")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from nm.torch import NMLinear  # noqa: E402
from torch import nn  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", "0"))
pytestmark = pytest.mark.filterwarnings("ignore")


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(32, 48), nn.Linear(48, 32)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


def adapted(order, kind="lora"):
    """A sparse model with an adapter whose product is not zero."""
    torch.manual_seed(SEED)
    model = Model()
    config = {"lora": lambda: peft.LoraConfig(target_modules=["up", "down"], r=4),
              "dora": lambda: peft.LoraConfig(target_modules=["up", "down"], r=4,
                                              use_dora=True),
              "all": lambda: peft.LoraConfig(target_modules="all-linear", r=4),
              "ia3": lambda: peft.IA3Config(target_modules=["up", "down"],
                                            feedforward_modules=[])}[kind]()
    if order == "sparse first":
        nm.torch.sparsify(model, "2:4", prune=True)
    model = peft.get_peft_model(model, config)
    if order == "adapter first":
        report = nm.torch.sparsify(model, "2:4", prune=True)
        assert {layer.name.rpartition(".")[2] for layer in report if layer.replaced} == {
            "base_layer"}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name or "ia3" in name:
                parameter.normal_()
    return model


def bases(model):
    return [layer for layer in model.modules() if isinstance(layer, NMLinear)]


def reference(model, x):
    """The same model with dense layers."""
    import copy
    dense = copy.deepcopy(model)
    nm.torch.densify(dense)
    return dense(x)


@pytest.mark.parametrize("order", ["sparse first", "adapter first"])
@pytest.mark.parametrize("kind", ["lora", "dora", "all", "ia3"])
def test_adapters_are_trained_beside(order, kind):
    model, x = adapted(order, kind), torch.randn(5, 32)
    assert len(bases(model)) == 2
    for training in (True, False):
        model.train(training)
        assert relative_error(model(x).detach().double().numpy(),
                              reference(model, x).detach().double().numpy()) < 1e-5
    values = [layer.values.clone() for layer in bases(model)]
    trained = [each for each in model.parameters() if each.requires_grad]
    assert trained and not any(layer.values.requires_grad for layer in bases(model))
    optimizer = torch.optim.SGD(trained, 0.1)
    before, goal = model.train()(x).detach(), torch.randn(5, 32)
    nn.functional.mse_loss(model(x), goal).backward()
    optimizer.step()
    assert not torch.equal(model(x), before)
    assert all(torch.equal(layer.values, was)
               for layer, was in zip(bases(model), values))


@pytest.mark.parametrize("order", ["sparse first", "adapter first"])
@pytest.mark.parametrize("merge", [
    lambda model: model.merge_and_unload(),
    lambda model: model.merge_and_unload(safe_merge=True),
    lambda model: model.merge_adapter()])
def test_merging_is_refused_and_right_when_dense(order, merge):
    model, x = adapted(order).eval(), torch.randn(5, 32)
    with torch.no_grad():
        expected = model(x)
        with pytest.raises(nm.Error, match="nm.torch.densify"):
            merge(model)
        assert torch.equal(model(x), expected)
        nm.torch.densify(model)
        merged = merge(model) or model
        assert relative_error(merged(x).double().numpy(),
                              expected.double().numpy()) < 1e-5
    report = nm.torch.sparsify(merged.unload() if merged is model else merged, "2:4",
                               prune=True)
    assert sum(layer.replaced for layer in report) == 2


@pytest.mark.parametrize("way", ["pissa", "olora"])
def test_adapters_that_write_to_the_weight_are_refused(way):
    model = Model()
    nm.torch.sparsify(model, "2:4", prune=True)
    with pytest.raises(nm.Error, match="expected no write to what NMLinear.weight gave"):
        peft.get_peft_model(model, peft.LoraConfig(target_modules=["up"], r=4,
                                                   init_lora_weights=way))


def test_adapters_are_taken_off():
    model, x = adapted("adapter first").eval(), torch.randn(5, 32)
    with model.disable_adapter():
        expected = model(x)
    plain = model.unload()
    assert isinstance(plain.up, NMLinear) and torch.equal(plain(x), expected)
