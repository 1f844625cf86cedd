"""Training: gradients of kept weights, masks that are chosen anew, and what else of
PyTorch comes with it."""

import copy

import numpy as np
import pytest
from conftest import ROOT, relative_error

torch = pytest.importorskip("torch")
import nm  # noqa: E402
from nm.torch import (MaskedLinear, NMLinear, _weights, mask_layers,  # noqa: E402
                      sparsify)
from nm._on_device import choose_mask  # noqa: E402
from nm.torch._decompress import decompress, kept_values  # noqa: E402
from torch import nn  # noqa: E402

# Ragged along k, along n, and both; and a window larger than k.
PATTERNS = [("2:4", 48, 64), ("2:4", 5, 7), ("8:32, block = 1x32", 40, 70),
            ("1:2, block = 4x4", 10, 27), ("3:8", 3, 5)]


def pruned_layer(pattern="2:4", out=48, k=64, seed=0, **options):
    torch.manual_seed(seed)
    layer = nn.Linear(k, out, **options)
    with torch.no_grad():
        layer.weight.copy_(nm.prune(layer.weight.detach(), pattern, axis=1).weight)
    return layer


def masked_gradients(layer, x, upstream):
    """Those of x, the weight where it is kept, and the bias, in float64."""
    dense = copy.deepcopy(layer).double()
    x = x.detach().double().requires_grad_()
    dense(x).backward(upstream.double())
    return x.grad, dense.weight.grad, dense.bias.grad


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("pattern,out,k", PATTERNS)
def test_gradients_of_the_kept_weights(pattern, out, k, training):
    layer = pruned_layer(pattern, out, k)
    sparse = NMLinear.from_dense(layer, pattern).train(training)
    x = torch.randn(2, 3, k, requires_grad=True)
    y = sparse(x)
    upstream = torch.randn_like(y)
    y.backward(upstream)
    grad_x, grad_weight, grad_bias = masked_gradients(layer, x, upstream)
    expected = kept_values(grad_weight, sparse.indices, sparse._form)
    for got, want in ((x.grad, grad_x), (sparse.values.grad, expected),
                      (sparse.bias.grad, grad_bias)):
        assert relative_error(got.numpy(), want.numpy()) < 1e-5
    # What is not kept has none: as many gradients as there are kept places.
    mask = decompress(torch.ones_like(sparse.values), sparse.indices, sparse._form)
    found = decompress(sparse.values.grad, sparse.indices, sparse._form)
    assert relative_error(found.numpy(), (grad_weight * mask).numpy()) < 1e-5


@pytest.mark.parametrize("pattern,out,k", PATTERNS)
def test_decompress_gives_what_the_library_gives(pattern, out, k):
    w = nm.compress(pruned_layer(pattern, out, k).weight.detach(), pattern, axis=1)
    values, indices, form = _weights.tensors_of(w, torch.device("cpu"))
    dense = decompress(values, indices, form)
    assert np.array_equal(dense.numpy(), w.decompress())
    assert torch.equal(kept_values(dense, indices, form), values)


@pytest.mark.parametrize("make", [
    lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
    lambda p: torch.optim.AdamW(p, 0.01),
    lambda p: torch.optim.Adam(p, 0.01, fused=True)])
def test_optimizers(make):
    torch.manual_seed(0)
    sparse = NMLinear.from_dense(pruned_layer(), "2:4")
    places = sparse.indices.clone()
    x, y = torch.randn(64, 64), torch.randn(64, 48)
    optimizer = make(sparse.parameters())
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = (sparse(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        with torch.no_grad():  # Kernels follow, though they were packed before.
            weight = decompress(sparse.values, sparse.indices, sparse._form)
            dense = nn.functional.linear(x, weight, sparse.bias)
            assert relative_error(sparse(x).numpy(), dense.double().numpy()) < 1e-5
    assert losses[-1] < 0.7 * losses[0]
    assert torch.equal(sparse.indices, places)
    assert nm.check(sparse.weight.detach(), "2:4", axis=1)


def test_frozen_weights_use_kernels_in_training(monkeypatch):
    layer = pruned_layer()
    layer.weight.requires_grad_(False)
    sparse = NMLinear.from_dense(layer, "2:4")
    calls = []
    monkeypatch.setattr("nm.torch._linear.decompress",
                        lambda *args: calls.append(args))
    sparse(torch.randn(3, 64)).sum().backward()
    assert not calls and sparse.values.grad is None
    assert sparse.bias.grad is not None


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("activation", [None, "gelu"])
def test_autocast(training, activation, monkeypatch):
    layer = pruned_layer()
    sparse = NMLinear.from_dense(layer, "2:4", activation=activation).train(training)
    made = []
    monkeypatch.setattr(_weights, "SparseTensor", lambda *args: made.append(args)
                        or nm.SparseTensor(*args))
    x = torch.randn(5, 64, requires_grad=True)
    for _ in range(2):
        sparse.zero_grad()
        x.grad = None
        with torch.autocast("cpu", torch.bfloat16):
            y = sparse(nn.functional.relu(x))
            assert y.dtype == torch.bfloat16
        y.float().sum().backward()
    rounded = [args for args in made if args[-1] == "bf16"]
    assert len(rounded) == (0 if training else 1), "rounded and packed once"
    assert sparse.values.grad.dtype == x.grad.dtype == torch.float32
    dense = nn.functional.linear(nn.functional.relu(x), layer.weight, layer.bias)
    expected = nn.functional.gelu(dense) if activation else dense
    gradient, = torch.autograd.grad(expected.sum(), x)
    assert relative_error(y.detach().double().numpy(),
                          expected.detach().double().numpy()) < 1e-2
    assert relative_error(x.grad.numpy(), gradient.double().numpy()) < 1e-2
    with pytest.raises(nm.DTypeError, match="expected x of f32, .* but got bf16"):
        sparse(x.bfloat16())


def test_activation_checkpointing():
    from torch.utils.checkpoint import checkpoint
    sparse = NMLinear.from_dense(pruned_layer(), "2:4", activation="gelu")
    gradients = []
    for call in (sparse, lambda x: checkpoint(sparse, x, use_reentrant=False)):
        torch.manual_seed(1)
        sparse.zero_grad()
        call(torch.randn(5, 64, requires_grad=True)).square().sum().backward()
        gradients.append(sparse.values.grad.clone())
    assert torch.equal(*gradients)


def test_compiled_training():
    model = nn.Sequential(NMLinear.from_dense(pruned_layer(), "2:4"), nn.GELU(),
                          MaskedLinear.from_dense(nn.Linear(48, 16), "1:4"))
    x = torch.randn(5, 64)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    gradients = []
    for call in (model, compiled):
        model.zero_grad()
        call(x).square().sum().backward()
        gradients.append([p.grad.clone() for p in model.parameters()])
    for got, expected in zip(*gradients):
        assert relative_error(got.numpy(), expected.double().numpy()) < 1e-5


def test_compiled_evaluation_packs_once(monkeypatch):
    """Also where autograd's graph calls the operator with aliases of the weight."""
    sparse = NMLinear.from_dense(pruned_layer(), "2:4").eval()
    made = []
    make = _weights._make_weight
    monkeypatch.setattr(_weights, "_make_weight",
                        lambda *args: made.append(args) or make(*args))
    compiled = torch.compile(sparse, backend="aot_eager", fullgraph=True)
    for _ in range(3):
        compiled(torch.randn(5, 64, requires_grad=True)).sum().backward()
    assert len(made) == 1, "packed again at each call"
    with torch.no_grad():
        sparse.values.mul_(2)
    for _ in range(3):
        y = compiled(torch.ones(5, 64, requires_grad=True))
    assert len(made) == 2, "packed again at each call"
    assert torch.allclose(y[0], sparse.weight.sum(1) + sparse.bias, atol=1e-4)


def test_aliases_of_memory_that_is_another_tensors_now():
    sparse = NMLinear.from_dense(pruned_layer(bias=False), "2:4").eval()
    x = torch.randn(3, 64)
    with torch.no_grad():
        y = sparse(x)
        former = sparse.values.detach()
        sparse.values.data = torch.zeros_like(former)
        former.mul_(0).add_(1)
        assert torch.equal(sparse(x), torch.zeros(3, 48))
        got = torch.ops.nm.linear(x, former, sparse.indices, sparse._form, None, "")
    assert not torch.equal(got, y)
    assert relative_error(got.numpy(), nn.functional.linear(
        x, decompress(former, sparse.indices, sparse._form)).double().numpy()) < 1e-5


@pytest.mark.parametrize("activation", [None, "gelu_tanh", "relu", "silu"])
def test_to_dense(activation):
    layer = pruned_layer()
    sparse = NMLinear.from_dense(layer, "2:4", activation=activation).eval()
    dense = sparse.to_dense()
    linear = dense if activation is None else dense[0]
    assert type(linear) is nn.Linear and torch.equal(linear.bias, sparse.bias)
    assert linear.bias is not sparse.bias
    assert torch.equal(linear.weight, layer.weight) and linear.weight.requires_grad
    assert not dense.training
    x = torch.randn(3, 64)
    assert torch.allclose(dense(x), sparse(x), atol=1e-5)


def test_whole_numbers_have_no_gradient():
    sparse = NMLinear(64, 48, "2:4", bias=False, dtype=torch.int8)
    assert not sparse.values.requires_grad
    assert sparse(torch.ones(2, 64, dtype=torch.int8)).dtype == torch.int32


@pytest.mark.parametrize("pattern,out,k", [*PATTERNS, ("2:4", 4, 0), ("1:64", 9, 200)])
def test_chosen_masks_are_those_of_prune(pattern, out, k):
    torch.manual_seed(3)
    # Few different values, so that there are ties.
    weight = torch.randint(-3, 4, (out, k)).float()
    found = nm.Pattern(*[int(part) for part in pattern.split(",")[0].split(":")],
                       tuple(map(int, pattern.split("= ")[1].split("x")))
                       if "=" in pattern else (1, 1), axis=1)
    mask = choose_mask(weight, found)
    assert torch.equal(weight * mask, nm.prune(weight, found).weight)
    assert mask.any(-1).all() or k == 0
    if k:
        weight[0, 0] = torch.nan
        assert choose_mask(weight, found)[0, 0]


def train(model, schedule=None, steps=30, lr=0.05):
    torch.manual_seed(5)
    optimizer = torch.optim.SGD(model.parameters(), lr)
    changes = []
    for _ in range(steps):
        optimizer.zero_grad()
        x = torch.randn(32, 64)
        loss = (model(x) - x[:, :8].sin()).square().mean()
        loss.backward()
        optimizer.step()
        if schedule is not None:
            changes.append(schedule.step())
    return changes


def small_model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 8))


@pytest.mark.parametrize("rule", ["magnitude", "sr-ste"])
def test_masks_are_chosen_every_n_steps(rule):
    model = small_model()
    parameters = list(model.parameters())
    schedule = mask_layers(model, {"0": "2:4", "*": None}, rule=rule, every=10)
    assert all(a is b for a, b in zip(model.parameters(), parameters))
    before = model[0].weight.detach().clone()
    first = model[0].mask.clone()
    changes = train(model, schedule, steps=9)
    moved = not torch.equal(model[0].weight[~first], before[~first])
    assert moved == (rule == "sr-ste"), "what becomes of masked weights"
    changes += train(model, schedule, steps=21)
    assert [change is not None for change in changes] == ([False] * 9 + [True]) * 3
    assert not torch.equal(model[0].mask, first), "no mask has changed"
    assert nm.check(model[0].mask.float(), "2:4", axis=1)
    x = torch.randn(3, 64)
    expected = model.eval()(x)
    assert schedule.finish() == ["0"] and isinstance(model[0], NMLinear)
    assert type(model[2]) is nn.Linear and not model[0].training
    with torch.no_grad():
        assert torch.allclose(model(x), expected, atol=1e-5)


def test_straight_through_gradient():
    layer = MaskedLinear.from_dense(nn.Linear(64, 8), "2:4", decay=0.5)
    x = torch.randn(5, 64)
    layer(x).sum().backward()
    expected = x.sum(0).expand(8, 64) + 0.5 * layer.weight * ~layer.mask
    assert torch.allclose(layer.weight.grad, expected, atol=1e-5)


def test_masks_in_a_state_dict():
    model = small_model()
    schedule = mask_layers(model, "2:4", every=7)
    train(model, schedule, steps=10)
    other = small_model()
    resumed = mask_layers(other, "2:4", every=7)
    other.load_state_dict(model.state_dict())
    resumed.load_state_dict(schedule.state_dict())
    assert resumed.steps == 10
    x = torch.randn(3, 64)
    assert torch.equal(other(x), model(x))


def test_masks_that_are_refused():
    with pytest.raises(nm.Error, match="expected every to be .* but got -1"):
        mask_layers(small_model(), "2:4", every=-1)
    with pytest.raises(nm.Error, match="expected rule to be one of magnitude, sr-ste"):
        mask_layers(small_model(), "2:4", rule="ste")
    with pytest.raises(nm.Error, match="give a layer a pattern"):
        mask_layers(small_model(), {"*": None})
    model = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 8))
    with pytest.raises(nm.PatternError, match="'1': expected a block 1x32 to fit"):
        mask_layers(model, "8:32, block = 1x32")
    assert type(model[0]) is nn.Linear
    with pytest.raises(nm.PatternError, match="expected a block 1x32 to fit"):
        nm.torch.MaskedLinear(64, 8, "8:32, block = 1x32")


def test_the_example_recovers_the_loss(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "fine-tune"))
    import fine_tune
    losses = fine_tune.run(steps=100)
    lost = losses["pruned"] - losses["dense"]
    assert lost > losses["dense"]
    for name in ("fine-tuned, mask frozen", "fine-tuned, SR-STE"):
        assert losses[name] - losses["dense"] < lost / 3, losses


def test_sparsified_layers_train():
    model = small_model()
    assert all(layer.replaced for layer in sparsify(model, "2:4", prune=True))
    x = torch.randn(256, 64)
    losses = []
    for steps in (200, 0):
        losses.append((model(x) - x[:, :8].sin()).square().mean().item())
        train(model, steps=steps)
    assert losses[1] < 0.8 * losses[0]
