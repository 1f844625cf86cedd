"""NMLinear.weight, and the derivatives of the layer in every mode."""

import copy
import os

import pytest
from conftest import relative_error

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from nm.torch import NMLinear  # noqa: E402
from torch import nn  # noqa: E402
from torch.autograd import forward_ad  # noqa: E402
from torch.nn import functional as F  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", "0"))


def make_pair(k=40, n=12, pattern="2:4", **options):
    """A dense layer that obeys a pattern, and the sparse one."""
    torch.manual_seed(SEED)
    dense = nn.Linear(k, n)
    with torch.no_grad():
        dense.weight.copy_(nm.prune(dense.weight.detach(), pattern, axis=1).weight)
    return dense, NMLinear.from_dense(dense, pattern, **options)


def assert_close(got, expected, limit=1e-5):
    assert relative_error(got.detach().double().numpy(),
                          expected.detach().double().numpy()) < limit


MODES = {
    "jvp": lambda f, x, v: torch.func.jvp(f, (x,), (v,))[1],
    "jacfwd": lambda f, x, v: torch.func.jacfwd(f)(x),
    "jacrev": lambda f, x, v: torch.func.jacrev(f)(x),
    "grad": lambda f, x, v: torch.func.grad(lambda z: f(z).pow(3).sum())(x),
    "vjp": lambda f, x, v: torch.func.vjp(f, x)[1](f(v))[0],
    "hessian": lambda f, x, v: torch.func.hessian(lambda z: f(z).pow(3).sum())(x),
    "reverse over forward": lambda f, x, v: torch.func.jacrev(
        torch.func.jacfwd(lambda z: f(z).pow(3).sum()))(x),
    "forward over forward": lambda f, x, v: torch.func.jacfwd(
        torch.func.jacfwd(lambda z: f(z).pow(3).sum()))(x),
    "vmap of jvp": lambda f, x, v: torch.func.vmap(
        lambda a, b: torch.func.jvp(f, (a,), (b,))[1])(x, v),
    "vmap of grad": lambda f, x, v: torch.func.vmap(
        torch.func.grad(lambda z: f(z).pow(2).sum()))(x),
    "grad of vmap": lambda f, x, v: torch.func.grad(
        lambda z: torch.func.vmap(f)(z).pow(2).sum())(x),
    "linearize": lambda f, x, v: torch.func.linearize(f, x)[1](v),
    "hessian of torch.autograd": lambda f, x, v: torch.autograd.functional.hessian(
        lambda z: f(z).pow(3).sum(), x, vectorize=True,
        outer_jacobian_strategy="forward-mode"),
    "jvp without gradients": lambda f, x, v: _without_gradients(f, x, v),
    "dual numbers": lambda f, x, v: _with_duals(f, x, v),
}


def _without_gradients(f, x, v):
    with torch.no_grad():
        return torch.func.jvp(f, (x,), (v,))[1]


def _with_duals(f, x, v):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(x, v))).tangent


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("activation", [None, "gelu"])
def test_derivatives(mode, training, activation):
    dense, sparse = make_pair(activation=activation)
    expected = dense if activation is None else (lambda x: F.gelu(dense(x)))
    sparse.train(training)
    x, v = torch.randn(3, 40), torch.randn(3, 40)
    assert_close(MODES[mode](sparse, x, v), MODES[mode](expected, x, v))


def test_derivatives_of_the_operator_and_of_kept_values():
    dense, sparse = make_pair()
    w, x, v = sparse.sparse_weight(), torch.randn(3, 40), torch.randn(3, 40)
    for call in (lambda z: nm.torch.linear(z, w),
                 lambda z: torch.ops.nm.linear(z, sparse.values, sparse.indices,
                                               sparse._form, None, "")):
        assert_close(torch.func.jvp(call, (x,), (v,))[1], v @ dense.weight.T)
    tangent = torch.randn_like(sparse.values)
    moved = torch.ops.nm.decompress(tangent, sparse.indices, sparse._form)
    for training in (False, True):
        sparse.train(training)
        got = torch.func.jvp(lambda values: torch.func.functional_call(
            sparse, {"values": values}, (x,)), (sparse.values.detach(),), (tangent,))[1]
        assert_close(got, x @ moved.T)
    with forward_ad.dual_level():
        with pytest.raises(nm.Error, match="without a tangent"):
            nm.matmul(forward_ad.make_dual(x, v), w)


def test_float64():
    dense, sparse = make_pair()
    dense, sparse = dense.double(), sparse.double().eval()
    x = torch.randn(3, 40, dtype=torch.float64, requires_grad=True)
    assert torch.equal(sparse(x), dense(x))
    assert torch.autograd.gradcheck(sparse, x, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(sparse, x)
    assert torch.equal(sparse.float().weight, dense.float().weight)
    sparse.indices.fill_(9)
    with pytest.raises(nm.PatternError, match="expected a position"):
        sparse.double()


def test_the_weight_is_read():
    dense, sparse = make_pair(k=41)
    weight = sparse.weight
    assert torch.equal(weight, dense.weight) and torch.equal(weight.data, dense.weight)
    assert (weight.shape, weight.dtype, weight.device, weight.requires_grad) == (
        dense.weight.shape, dense.weight.dtype, dense.weight.device, True)
    assert torch.equal(weight[3:5].T, dense.weight[3:5].T)
    assert torch.equal(copy.deepcopy(weight), dense.weight)
    assert (weight.detach().numpy() == dense.weight.detach().numpy()).all()
    assert nm.compress(weight, "2:4", axis=1).k == 41
    assert type(weight.clone()) is torch.Tensor and type(weight * 2) is torch.Tensor
    with torch.inference_mode():
        assert torch.equal(sparse.weight, dense.weight)
    eight = NMLinear.from_sparse(nm.compress(torch.eye(8, dtype=torch.int8), "1:8",
                                             axis=1))
    assert torch.equal(eight.weight, torch.eye(8, dtype=torch.int8))
    small = NMLinear(8, 8, "2:4", dtype=torch.float8_e4m3fn)
    assert not small.weight.float().any() and small.weight.dtype == torch.float8_e4m3fn
    other = nn.Linear(41, 12)
    with torch.no_grad():
        other.weight.copy_(weight)
    assert torch.equal(other.weight, dense.weight)


def test_the_weight_is_made_only_where_it_is_read(monkeypatch):
    sparse = make_pair()[1]
    monkeypatch.setattr(NMLinear, "dense_weight", lambda self: pytest.fail("made"))
    weight = sparse.weight
    assert weight.dtype == torch.float32 and weight.size(0) == 12 and len(weight) == 12
    assert not weight.is_cuda and weight.numel() == 480 and weight.dim() == 2


WRITES = {
    "zeros_": lambda w: nn.init.zeros_(w),
    "kaiming_uniform_": lambda w: nn.init.kaiming_uniform_(w),
    "normal_ of data": lambda w: w.data.normal_(),
    "iadd of data": lambda w: w.data.__iadd__(1),
    "data": lambda w: setattr(w, "data", torch.zeros(12, 40)),
    "data of data": lambda w: setattr(w.data, "data", torch.zeros(12, 40)),
    "copy_ of detach": lambda w: w.detach().copy_(torch.zeros(12, 40)),
    "a row": lambda w: w[0].zero_(),
    "setitem": lambda w: w.__setitem__((0, 0), 1.0),
    "a view": lambda w: w.view(-1)[3:].t().fill_(1),
    "out": lambda w: torch.add(torch.ones(12, 40), 1, out=w),
    "foreach": lambda w: torch._foreach_add_([w], 1.0),
    "relu": lambda w: F.relu(w, inplace=True),
    "numpy": lambda w: w.detach().numpy().fill(0),
    "numpy of a view": lambda w: w.detach()[2:].numpy().fill(0),
    "resize_": lambda w: w.detach().resize_(3),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("inference", [False, True])
def test_the_weight_is_not_written_to(write, inference):
    sparse = make_pair()[1].requires_grad_(False)
    before = sparse.values.clone()
    with torch.inference_mode(inference):
        with pytest.raises((nm.Error, ValueError), match="no write to what|read-only"):
            WRITES[write](sparse.weight)
    assert torch.equal(sparse.values, before)


def test_the_weight_is_assigned():
    dense, sparse = make_pair()
    values, x = sparse.values, torch.randn(3, 40)
    sparse.eval()(x)
    other = nm.prune(torch.randn(12, 40), "2:4", axis=1).weight
    for given in (other, nn.Parameter(2 * other)):
        sparse.weight = given
        assert sparse.values is values and torch.equal(sparse.weight, given)
        assert_close(sparse(x), F.linear(x, given, dense.bias))
    for wrong, error in ((torch.ones(12, 40), nm.PatternError),
                         (nn.Parameter(torch.ones(12, 40)), nm.PatternError),
                         (torch.zeros(12, 44), nm.ShapeError), (None, nm.ShapeError)):
        with pytest.raises(error):
            sparse.weight = wrong
    assert torch.equal(sparse.weight, 2 * other)


@pytest.mark.parametrize("training", [False, True])
def test_gradients_through_the_weight(training):
    dense, sparse = make_pair()
    sparse.train(training)
    x, tokens = torch.randn(3, 40), torch.tensor([1, 4, 4, 11])
    for layer in (dense, sparse):
        (layer(x).pow(2).sum() + F.embedding(tokens, layer.weight).pow(3).sum()
         + layer.weight.square().sum()).backward()
    mask = sparse.dense_weight() != 0
    assert_close(sparse.weight.grad, dense.weight.grad * mask)
    assert_close(sparse.bias.grad, dense.bias.grad)
    with pytest.raises(nm.Error, match="no write"):
        sparse.weight.grad.zero_()
    sparse.weight.requires_grad_(False)
    assert not sparse.values.requires_grad
    sparse.weight.requires_grad = True
    assert sparse.values.requires_grad


def test_nothing_is_shared():
    dense, sparse = make_pair()
    back = sparse.to_dense()
    again = NMLinear.from_sparse(sparse.sparse_weight(), sparse.bias)
    for layer in (sparse, back, again):
        before = {name: value.clone() for name, value in dense.state_dict().items()}
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.fill_(7)
        assert all(torch.equal(before[name], value)
                   for name, value in dense.state_dict().items())
    masked = nm.torch.MaskedLinear.from_dense(make_pair()[0], "2:4")
    assert masked.to_sparse().bias is not masked.bias


def test_it_is_reset_and_is_a_linear_layer():
    sparse = make_pair()[1]
    assert isinstance(sparse, nn.Linear)
    sparse.reset_parameters()
    assert 0 < sparse.values.detach().abs().max() <= 40 ** -0.5
    assert "weight" not in dict(sparse.named_parameters())


def test_blocks_that_are_too_large():
    for call in (lambda: NMLinear(256, 8, "8:32", (1, 32)),
                 lambda: NMLinear(8, 64, "1:2", (16, 1)),
                 lambda: nm.prune(torch.ones(8, 256), "8:32", (1, 32)),
                 lambda: nm.compress(torch.zeros(8, 256), "8:32", (1, 32), name="fc"),
                 lambda: NMLinear.from_dense(nn.Linear(256, 8), "8:32", (1, 32),
                                             prune_weight=True, name="fc")):
        with pytest.raises(nm.PatternError, match="expected a block .* to fit in k x n"):
            call()
    model = nn.Sequential(nn.Linear(256, 64), nn.Linear(64, 8))
    report = nm.torch.sparsify(model, "8:32, block = 1x32", prune=True)
    assert isinstance(model[0], NMLinear) and type(model[1]) is nn.Linear
    assert "'1': expected a block 1x32" in report.layers[1].reason


class Tied(nn.Module):
    """A model that looks its tokens up in its head's weight."""

    def __init__(self):
        super().__init__()
        self.head = make_pair()[1]

    def forward(self, tokens):
        return self.head(F.embedding(tokens, self.head.weight))


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_graphs_that_read_the_weight():
    model, tokens = Tied().eval(), torch.tensor([1, 2, 11])
    expected = model(tokens)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    assert torch.allclose(compiled(tokens), expected, atol=1e-6)
    compiled(tokens).sum().backward()
    got, model.head.values.grad = model.head.values.grad, None
    model(tokens).sum().backward()
    assert_close(got, model.head.values.grad)
    for strict in (False, True):
        program = torch.export.export(model, (tokens,), strict=strict)
        assert torch.allclose(program.module()(tokens), expected, atol=1e-6)
    with torch.no_grad():
        assert_close(nm.torch.export(model, (tokens,)).compile()(tokens), expected)
        assert_close(torch.jit.trace(model, (tokens,))(tokens), expected)
    with pytest.raises(nm.Error, match="expected a copy of NMLinear.weight"):
        nn.Parameter(model.head.weight)
