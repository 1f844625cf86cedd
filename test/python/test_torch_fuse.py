"""Layers that one tensor is fed to, as one product."""

import copy
import pickle
import threading

import pytest

torch = pytest.importorskip("torch")
import nm.torch  # noqa: E402
from nm.torch import NMLinear, _fuse  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402


class Block(nn.Module):
    """Attention's projections, one of which has no bias, and a gated feed-forward."""

    def __init__(self, dtype=torch.float32, wide=48):
        super().__init__()
        self.q = nn.Linear(64, 96, dtype=dtype)
        self.k = nn.Linear(64, 32, bias=False, dtype=dtype)
        self.v = nn.Linear(64, 32, dtype=dtype)
        self.o = nn.Linear(96, 64, dtype=dtype)
        self.gate = nn.Linear(64, wide, dtype=dtype)
        self.up = nn.Linear(64, wide, dtype=dtype)
        self.down = nn.Linear(wide, 64, dtype=dtype)

    def forward(self, x):
        q = self.q(x).view(*x.shape[:-1], 3, 32)
        y = x + self.o((q * (self.k(x) + self.v(x))[..., None, :]).flatten(-2))
        return y + self.down(functional.silu(self.gate(y)) * self.up(y))


def sparse_block(pattern="2:4", **options):
    torch.manual_seed(torch.initial_seed() % 2 ** 31)
    model = nn.Sequential(Block(**options), Block(**options)).eval()
    nm.torch.sparsify(model, pattern, prune=True)
    return model


def count_products(model, x):
    """Calls of the operator in a graph of the model."""
    graphs = []

    def keep(graph, _):
        graphs.append(graph)
        return graph

    torch._dynamo.reset()
    result = torch.compile(model, fullgraph=True, backend=keep)(x)
    return sum("nm.linear" in str(node.target) for node in graphs[0].graph.nodes), result


@pytest.mark.parametrize("dtype, limit", [(torch.float32, 1e-5), (torch.bfloat16, 1e-2)])
@pytest.mark.parametrize("pattern", ["2:4", "8:32, block = 1x16"])
@torch.no_grad()
def test_products_are_merged(pattern, dtype, limit):
    model = sparse_block(pattern, dtype=dtype)
    inputs = [torch.randn(*shape, 64, dtype=dtype) for shape in ((1,), (3,), (2, 5), (0,))]
    wanted = [model(x) for x in inputs]
    assert count_products(model, inputs[2])[0] == 14
    report = nm.torch.fuse(model, inputs[2])
    assert [group.layers for group in report.groups] == [("q", "k", "v"), ("gate", "up")] * 2
    assert report.groups[0].shape == (160, 64) and "one product" in str(report)
    calls = []
    for name in ("q", "k", "v"):
        merged = model[0].get_submodule(name)._fused[0].layer
    forward = merged.forward
    merged.forward = lambda x: calls.append(x) or forward(x)
    for _ in range(3):
        for x, expected in zip(inputs, wanted):
            torch.testing.assert_close(model(x), expected, rtol=limit, atol=limit)
    assert len(calls) == 12 and merged._fused is None
    del merged.forward
    count, y = count_products(model, inputs[2])
    assert count == 8
    torch.testing.assert_close(y, wanted[2], rtol=limit, atol=limit)
    # What stands between the products is rounded less often.
    torch.testing.assert_close(torch.compile(model)(inputs[2]), wanted[2], rtol=5 * limit,
                               atol=5 * limit)


@torch.no_grad()
def test_states_and_files_are_as_before(tmp_path):
    model, x = sparse_block(), torch.randn(4, 64)
    before = copy.deepcopy(model.state_dict())
    wanted = model(x)
    nm.torch.fuse(model, x)
    state = model.state_dict()
    assert list(state) == list(before)
    storages = set()
    for name, tensor in state.items():
        assert torch.equal(tensor, before[name]) and tensor.is_contiguous(), name
        storages.add(tensor.untyped_storage().data_ptr())
    assert len(storages) == len(state)
    nm.torch.save(model, tmp_path / "saved")
    again = nm.torch.load(tmp_path / "saved", nn.Sequential(Block(), Block()))
    torch.testing.assert_close(again(x), wanted, rtol=1e-5, atol=1e-5)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other[0].q._fused is None
        torch.testing.assert_close(other(x), wanted, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(model(x), wanted, rtol=1e-5, atol=1e-5)


def _load(model):
    model.load_state_dict(sparse_block().state_dict())


def _optimize(model):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, fused=True)
    model(torch.randn(4, 64)).sum().backward()
    optimizer.step()


def _write(model):
    with torch.no_grad():
        model[0].k.values.mul_(2)
        model[0].q.bias.add_(1)
        model[1].up.values[0].zero_()


def _assign(model):
    model[0].v.weight = torch.nn.Parameter(model[0].v.weight.detach() * -3)


def _replace_bias(model):
    model[0].q.bias = nn.Parameter(torch.randn(96))


def _train(model):
    model.train()
    _optimize(model)
    model.eval()


CHANGES = {"load": _load, "optimize": _optimize, "write": _write, "assign": _assign,
           "replace bias": _replace_bias, "train": _train, "double": lambda m: m.double(),
           "half and back": lambda m: m.bfloat16().float(), "unfuse": nm.torch.unfuse,
           "data": lambda m: setattr(m[0].k.values, "data", m[0].k.values.data * 2),
           "values": lambda m: setattr(m[0].q, "values", nn.Parameter(
               m[0].q.values.detach() * 2))}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("compiled", [False, True])
def test_changes_are_seen(change, compiled):
    """What is multiplied is what the layers hold, also where they left their product."""
    if compiled and change == "data":
        pytest.skip("compiled calls do not see a layer's data put elsewhere")
    model, x = sparse_block(), torch.randn(4, 64)
    nm.torch.fuse(model, x)
    torch._dynamo.reset()
    run = torch.compile(model) if compiled else model
    with torch.no_grad():
        run(x)
        run(x)
    CHANGES[change](model)
    dense = copy.deepcopy(model)
    nm.torch.densify(dense)
    x = x.to(model[0].q.values.dtype)
    with torch.no_grad():
        for _ in range(2):
            torch.testing.assert_close(run(x), dense(x), rtol=1e-4, atol=1e-4)
    if change != "double":
        nm.torch.fuse(model, x)
        with torch.no_grad():
            torch.testing.assert_close(run(x), dense(x), rtol=1e-4, atol=1e-4)


def test_gradients_are_each_layer_s_own():
    model, x = sparse_block(), torch.randn(4, 64)
    dense = copy.deepcopy(model)
    nm.torch.densify(dense)
    nm.torch.fuse(model, x)
    model(x).sum().backward()
    dense(x).sum().backward()
    for name in ("q", "k", "v", "up"):
        got, wanted = model[0].get_submodule(name), dense[0].get_submodule(name)
        kept = got.weight.detach() != 0
        torch.testing.assert_close(got.weight.grad, wanted.weight.grad * kept, rtol=1e-4,
                                   atol=1e-4)
    model.requires_grad_(False)
    x = x.requires_grad_()
    model(x).sum().backward()
    assert x.grad is not None
    with torch.no_grad():
        torch.testing.assert_close(torch.func.vmap(model)(x), dense(x), rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_what_is_not_merged():
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(64, 32), nn.Linear(64, 32)
            self.c, self.d = nn.Linear(64, 32), nn.Linear(64, 32)
            self.twice, self.wide = nn.Linear(64, 64), nn.Linear(64, 24)

        def forward(self, x):
            y = self.twice(self.twice(x))
            a = self.a(y)
            y.add_(1)
            return a + self.b(y) + self.c(y) + self.d(y) + self.wide(y).sum()

    model, x = Odd().eval(), torch.randn(4, 64)
    nm.torch.sparsify(model, {"c": "1:4", "wide": "2:4, block = 1x16", "*": "2:4"}, prune=True)
    wanted = model(x)
    with pytest.raises(nm.Error, match="expected an example"):
        nm.torch.fuse(model)
    report = nm.torch.fuse(model, x)
    reasons = {group.layers: group.reason for group in report.groups}
    assert reasons.pop(("b", "d")) == ""
    assert "another pattern" in reasons.pop(("c",))
    assert "no whole blocks" in reasons.pop(("wide",)) and not reasons
    torch.testing.assert_close(model(x), wanted, rtol=1e-5, atol=1e-5)
    again = {group.layers: group.reason for group in nm.torch.fuse(model, x).groups}
    assert again["b",] == again["d",] == "it is fused already"
    # A layer that is called alone, or in another order, has its own part.
    y = torch.randn(4, 64)
    for layer in (model.d, model.b, model.b, model.d):
        torch.testing.assert_close(layer(y), layer.to_dense()(y), rtol=1e-5, atol=1e-5)
        y.add_(1)


@torch.no_grad()
def test_threads():
    model, found = sparse_block(), []
    nm.torch.fuse(model, torch.randn(4, 64))
    dense = copy.deepcopy(model)
    nm.torch.densify(dense)

    def work():
        with torch.no_grad():
            for _ in range(200):
                x = torch.randn(3, 64)
                found.append(torch.allclose(model(x), dense(x), rtol=1e-4, atol=1e-4))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 800 and all(found)


@torch.no_grad()
def test_memory(monkeypatch):
    monkeypatch.setenv("NM_MAP_DIR", "")
    model, x = sparse_block(wide=512), torch.randn(4, 64)
    before = nm.torch.memory(model)
    nm.torch.fuse(model, x)
    for rows in (1, 2, 4, 40):
        model(torch.randn(rows, 64))
    after = nm.torch.memory(model)
    assert after.dense == before.dense and after.condensed == before.condensed
    assert after.packed < 0.6 * after.dense
    report = nm.torch.sparsify(nn.Sequential(Block()).eval(), "2:4", x, prune=True,
                               force=True, fuse=True)
    assert report.fused.groups and "one product" in str(report)


@torch.no_grad()
def test_weights_are_packed_once_they_are_one():
    model, x = sparse_block(), torch.randn(3, 64)
    wanted = copy.deepcopy(model)(x)
    nm.torch.fuse(model, x)
    assert nm.torch.memory(model).packed == 0
    assert not any("forward" in vars(layer) for layer in model.modules())
    error = (model(x) - wanted).norm() / wanted.norm()
    assert error < 1e-5
    assert nm.torch.memory(model).packed > 0


def test_guards_pass_over_layers(monkeypatch):
    """In a graph, all that is compared of a layer before a call is its own, so that
    PyTorch passes over modules in which nothing has been assigned."""
    guards = pytest.importorskip("torch._dynamo.guards")
    if not hasattr(torch._dynamo.config, "use_recursive_dict_tags_for_guards"):
        pytest.skip("this PyTorch compares everything")
    managers, init = [], guards.CheckFunctionManager.__init__

    def keep(self, *args, **options):
        init(self, *args, **options)
        managers.append(str(self.guard_manager))

    monkeypatch.setattr(guards.CheckFunctionManager, "__init__", keep)
    model, x = sparse_block(), torch.randn(3, 64)
    nm.torch.fuse(model, x)
    torch._dynamo.reset()
    with torch._dynamo.config.patch(use_recursive_dict_tags_for_guards=True), torch.no_grad():
        torch.compile(model, backend="eager", fullgraph=True)(x)
    # The first layer of a product alone reads of it, and none of its tensors is compared
    # with the others.
    read = {line.split("source=")[1].split("._traced")[0] for line in managers[0].splitlines()
            if "source=" in line and "._traced" in line}
    assert len(read) == len({layer._fused[0] for layer in model.modules()
                             if getattr(layer, "_fused", None)})
    compared = [line.split("  #")[0] for line in managers[0].splitlines()
                if "check_no_aliasing" in line]
    assert not any("._traced" in line for line in compared), compared
    lines = [line for line in managers[0].splitlines() if "_linear.NMLinear'>, tag" in line
             or "Block'>, tag" in line or "TracedProduct'>, tag" in line]
    assert len(managers) == 1 and len(lines) >= 18
    assert all("tag_safe=(True" in line for line in lines), lines


class Breaking(nn.Module):
    """Two layers of one tensor, in two graphs, the second of which may not be called."""

    def __init__(self):
        super().__init__()
        self.q, self.k = nn.Linear(64, 96), nn.Linear(64, 96)
        self.is_short = False

    def forward(self, x):
        q = self.q(x)
        torch._dynamo.graph_break()
        return q if self.is_short else q * self.k(x)


@torch.no_grad()
def test_graphs_that_break_between_layers():
    """A product is made once, and what no graph takes of it goes with the fusion."""
    model, x = Breaking().eval(), torch.randn(3, 64)
    nm.torch.sparsify(model, "2:4", x, prune=True, force=True, fuse=True)
    torch._dynamo.reset()
    compiled = torch.compile(model, backend="eager")
    known = set(_fuse.PRODUCTS)
    for _ in range(3):
        x = torch.randn(3, 64)
        torch.testing.assert_close(compiled(x), model(x))
        assert set(_fuse.PRODUCTS) == known
    for leave in (nm.torch.unfuse, lambda model: nm.torch.fuse(model.train().eval(), x)):
        model.is_short = True
        torch.testing.assert_close(compiled(x), model(x))
        assert len(set(_fuse.PRODUCTS) - known) == 1
        leave(model)
        assert set(_fuse.PRODUCTS) == known
        model.is_short = False
        nm.torch.fuse(model, x)
        torch._dynamo.reset()
        compiled = torch.compile(model, backend="eager")
