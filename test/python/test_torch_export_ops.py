"""nm.torch.export's lowering of each operator, compared with PyTorch."""

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

TOLERANCES = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 2e-3,
              torch.bfloat16: 1e-2}


class Function(nn.Module):
    def __init__(self, function, **tensors):
        super().__init__()
        self.function = function
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)

    def forward(self, *args):
        if list(self.buffers()):
            return self.function(self, *args)
        return self.function(*args)


def same(got, expected, tolerance):
    if isinstance(expected, dict):
        for name in expected:
            try:
                same(got[name], expected[name], tolerance)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from error
        return
    if isinstance(expected, (tuple, list)):
        assert type(got) is type(expected) and len(got) == len(expected)
        for each, other in zip(got, expected):
            same(each, other, tolerance)
        return
    assert got.dtype == expected.dtype and got.shape == expected.shape
    if not expected.is_floating_point():
        assert torch.equal(got, expected)
        return
    assert torch.equal(got.isnan(), expected.isnan())
    finite = expected.isfinite()
    assert torch.equal(got[~finite & ~got.isnan()], expected[~finite & ~got.isnan()])
    got, expected = got[finite].double(), expected[finite].double()
    error = (got - expected).norm() / expected.norm().clamp(min=1e-30)
    assert error < tolerance, error


def check(function, *args, dynamic=False, **tensors):
    """Compares the exported function with PyTorch's; a dynamic one also on another
    batch."""
    model = function if isinstance(function, nn.Module) else Function(function,
                                                                      **tensors)
    model = model.eval()
    floats = [a.dtype for a in args if a.is_floating_point()]
    tolerance = max((TOLERANCES[dtype] for dtype in floats), default=1e-5)
    compiled = nm.torch.export(model, args, dynamic_batch=dynamic).compile(
        opt_level=1)
    batches = [args]
    if dynamic:
        batches.append(tuple(torch.cat([a, a, a[:1]]) for a in args))
    with torch.no_grad():
        for given in batches:
            kept = [a.clone() for a in given]
            same(compiled(*given), model(*given), tolerance)
            assert all(torch.equal(a, b) for a, b in zip(given, kept))


def every(functions):
    """One function that gives what each of them gives, by its name."""
    return lambda *args: {name: function(*args)
                          for name, function in functions.items()}


def draw(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


UNARY = {
    "relu": torch.relu, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(
        x, approximate="tanh"), "silu": F.silu, "tanh": torch.tanh,
    "sigmoid": torch.sigmoid, "exp": torch.exp, "neg": torch.neg, "abs": torch.abs,
    "rsqrt": lambda x: torch.rsqrt(x.abs() + 0.5), "sqrt": lambda x: x.abs().sqrt(),
    "log": lambda x: x.abs().log(), "sin": torch.sin, "cos": torch.cos,
    "erf": torch.erf, "floor": torch.floor, "ceil": torch.ceil, "round": torch.round,
    "reciprocal": torch.reciprocal, "square": torch.square,
    "log1p": lambda x: x.abs().log1p(), "expm1": torch.expm1,
    "pow2": lambda x: x ** 2, "pow3": lambda x: x ** 3, "pow_half": lambda x:
    x.abs() ** 0.5, "pow": lambda x: x.abs() ** 1.7, "pow_of": lambda x: 2.5 ** x,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.1), "hardtanh": F.hardtanh,
    "clamp": lambda x: x.clamp(-0.5, 0.7), "clamp_min": lambda x: x.clamp(min=0.1),
    "clamp_max": lambda x: x.clamp(max=0.1), "softplus": F.softplus,
    "relu6": F.relu6, "hardswish": F.hardswish, "elu": F.elu, "mish": F.mish,
}


def test_unary():
    check(every(UNARY), draw(3, 7))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64],
                         ids=str)
def test_element_types(dtype):
    x, y = draw(3, 7, dtype=dtype), draw(3, 7, dtype=dtype, seed=1)
    check(lambda x, y: (x + y, x * y, x - 2 * y, x / (y.abs() + 1), F.gelu(x),
                        torch.softmax(x, -1), x.mean(0), F.rms_norm(y, (7,)),
                        F.layer_norm(x, (7,)), x > y, x.to(torch.float32)), x, y)


BINARY = {
    "add": lambda x, y: x + y, "add_alpha": lambda x, y: torch.add(x, y, alpha=2),
    "sub": lambda x, y: x - y, "rsub": lambda x, y: 1 - x, "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y, "floor_div": lambda x, y: torch.div(
        x, y, rounding_mode="floor"), "trunc_div": lambda x, y: torch.div(
        x, y, rounding_mode="trunc"), "pow": lambda x, y: x.abs() ** y,
    "maximum": torch.maximum, "minimum": torch.minimum, "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y, "ge": lambda x, y: x >= 0.5,
    "where": lambda x, y: torch.where(x > y, x, y), "where_number": lambda x, y:
    torch.where(x > y, x, 0.0), "masked_fill": lambda x, y: x.masked_fill(
        y > 0, float("-inf")), "logic": lambda x, y: ((x > 0) & (y > 0)) | ~(x < y),
    "xor": lambda x, y: torch.logical_xor(x > 0, y > 0),
}


def test_binary():
    check(every(BINARY), draw(3, 7), draw(3, 7, seed=1))


@pytest.mark.parametrize("shapes", [
    ((3, 7), (7,)), ((3, 1), (1, 7)), ((2, 1, 5), (3, 1)), ((4,), ()), ((2, 3), (1, 1)),
], ids=str)
def test_broadcast(shapes):
    a, b = (draw(*shape, seed=i) for i, shape in enumerate(shapes))
    check(lambda x, y: (x + y, y * x), a, b)


def test_whole_numbers():
    x = torch.tensor([[-7, 3, 0], [5, 9, -2]])
    y = torch.tensor([[2, -2, 5], [3, 4, 3]])
    check(lambda x, y: (x + y, x * y - 1, x // y, x / y, x > y, x == 0, x.sum(),
                        x.amax(1), torch.maximum(x, y), x.to(torch.int32), x.float(),
                        x.bool(), x.clamp(0, 5), -x, x.abs(), x.sum(0)), x, y)


def test_booleans():
    x, y = torch.tensor([True, False, True, False]), torch.tensor([True, True, False,
                                                                   False])
    check(lambda x, y: (x & y, x | y, ~x, x ^ y, x.float(), x.long().sum(), x == y,
                        x.any(), x.all(), torch.where(x, 1.0, 2.0)), x, y)


REDUCTIONS = {
    "sum": lambda x: x.sum(1), "sum_all": lambda x: x.sum(), "sum_first": lambda x:
    x.sum((0, 2)), "mean": lambda x: x.mean(-1), "mean_keep": lambda x: x.mean(
        1, keepdim=True), "amax": lambda x: x.amax(1), "amin": lambda x: x.amin((0, 1)),
    "softmax": lambda x: x.softmax(-1), "softmax_middle": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(-1), "var": lambda x: x.var(-1),
    "normalize": lambda x: F.normalize(x, dim=-1), "norm": lambda x: x.norm(dim=1),
    "layer_norm": lambda x: F.layer_norm(x, (5, 7)), "rms_norm": lambda x: F.rms_norm(
        x, (7,)), "std": lambda x: x.std(0), "cumsum": lambda x: x.cumsum(1),
}


def test_reductions():
    check(every(REDUCTIONS), draw(3, 5, 7))


def test_norms_with_weights():
    w, b = draw(7, seed=1), draw(7, seed=2)
    check(lambda m, x: (F.layer_norm(x, (7,), m.w, m.b), F.layer_norm(x, (7,), m.w),
                        F.rms_norm(x, (7,), m.w, 1e-6)), draw(2, 3, 7), w=w, b=b)


SHAPES = {
    "view": lambda x: x.view(6, 20), "flatten": lambda x: x.flatten(1),
    "unflatten": lambda x: x.unflatten(2, (2, 10)), "regroup": lambda x: x.view(
        2, 4, 15), "unsqueeze": lambda x: x[:, None, :, None], "squeeze": lambda x:
    x[:, None].squeeze(1), "permute": lambda x: x.permute(2, 0, 1), "transpose":
    lambda x: x.transpose(1, 2) + 1, "slice": lambda x: x[:, 1:, 2:17:3], "last":
    lambda x: x[..., -5:], "select": lambda x: x[:, 1], "select_last": lambda x:
    x[:, :, -1], "split": lambda x: x.split(7, dim=2), "chunk": lambda x:
    x.chunk(2, -1), "unbind": lambda x: x.unbind(1), "cat": lambda x: torch.cat(
        [x, 2 * x[:, :1]], 1), "stack": lambda x: torch.stack([x, -x], 1), "expand":
    lambda x: x[:, :1].expand(2, 3, 20) * 2, "repeat": lambda x: x.repeat(2, 1, 3),
    "repeat_interleave": lambda x: x.repeat_interleave(2, dim=1), "flip": lambda x:
    x.flip(1, 2), "pad": lambda x: F.pad(x, (1, 2, 0, 3), value=0.5), "tril":
    lambda x: x.tril(-1), "triu": lambda x: x.triu(1), "roll": lambda x: x.roll(2, 1),
    "identity": lambda x: x, "rotate": lambda x: torch.cat(
        [-x[..., 10:], x[..., :10]], -1), "two": lambda x: (x, x + 1, x.sum()),
}


def test_places():
    check(every(SHAPES), draw(2, 3, 20))


CREATED = {
    "full": lambda x: x + torch.full((3,), 2.5), "zeros": lambda x: x + torch.zeros(3),
    "ones_like": lambda x: torch.ones_like(x), "arange": lambda x: x + torch.arange(3),
    "arange_step": lambda x: x + torch.arange(1, 7, 2), "arange_float": lambda x:
    x + torch.arange(0, 1.5, 0.5), "causal": lambda x: x.masked_fill(
        torch.ones(3, 3).tril() == 0, float("-inf")), "lifted": lambda x: x * torch
    .tensor([1.0, 2.0, 3.0]), "new_full": lambda x: x.new_full((2,), 7.0) + x[0, 0],
}


def test_created():
    check(every(CREATED), draw(3, 3))


def test_gathered():
    table, places = draw(11, 5), torch.tensor([[0, 10, 3], [7, 7, 1]])
    check(lambda m, i: (F.embedding(i, m.table), m.table[i], m.table.index_select(
        1, i[1] % 5), m.table.t()[:, i], m.table.gather(0, i), m.table[
            i[0], i[1] % 5]), places, table=table)


LOOKED_UP = {
    "embedding": lambda m, i: F.embedding(i, m.table), "index": lambda m, i: m.table[i],
    "index_select": lambda m, i: m.table.index_select(0, i),
    "gather": lambda m, i: m.table.gather(0, i[:, None].expand(3, 3)),
}


@pytest.mark.parametrize("target", ["cpu", "sim:sm_80"])
@pytest.mark.parametrize("name", LOOKED_UP)
def test_a_place_that_is_not_there(name, target):
    model = Function(LOOKED_UP[name], table=draw(4, 3))
    compiled = nm.torch.export(model, torch.tensor([0, 1, 2])).compile(
        target=target, opt_level=1)
    places = [[3, 0, 3], [0, 1, -1], [0, -5, 1], [4, 0, 0]]
    for place in map(torch.tensor, places):
        try:
            expected = model(place)
        except (IndexError, RuntimeError):
            with pytest.raises(nm.Error, match="expected an index from 0 to below 4 in "
                                               "dimension 0, but got"):
                compiled(place)
        else:
            assert torch.equal(compiled(place), expected)


PRODUCTS = {
    "linear": lambda x, y: F.linear(x, y), "mm": lambda x, y: x @ y.t(),
    "addmm": lambda x, y: torch.addmm(x[:, :6], x, y.t(), beta=0.5, alpha=2),
    "mv": lambda x, y: x @ y[0], "dot": lambda x, y: x[0] @ y[0],
    "vecmat": lambda x, y: x[0] @ y.t(), "outer": lambda x, y: torch.outer(x[0], y[0]),
    "einsum": lambda x, y: torch.einsum("ik,jk->ij", x, y),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16],
                         ids=str)
def test_products(dtype):
    check(every(PRODUCTS), draw(5, 37, dtype=dtype), draw(6, 37, dtype=dtype, seed=1))


@pytest.mark.parametrize("shapes", [((2, 3, 5, 7), (2, 3, 7, 4)), ((3, 5, 7), (7, 4)),
                                    ((5, 7), (3, 7, 4)), ((2, 1, 5, 7), (3, 7, 4))],
                         ids=str)
def test_batched_products(shapes):
    check(lambda x, y: x @ y, *(draw(*shape, seed=i) for i, shape in enumerate(shapes)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16],
                         ids=str)
@pytest.mark.parametrize("rows", [(), (5,), (2, 3)], ids=str)
def test_dense_layers(rows, dtype):
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Linear(37, 48), nn.GELU(), nn.Linear(48, 6, bias=False))
    check(layers.to(dtype), draw(*rows, 37, dtype=dtype))


@pytest.mark.parametrize("pattern,block,dtype,dynamic", [
    ("2:4", None, torch.float32, False), ("2:4", None, torch.float16, True),
    ("8:32", (1, 32), torch.float32, True), ("8:32", (1, 32), torch.bfloat16, False),
    ("1:4", (4, 4), torch.float32, True), ("1:4", (4, 4), torch.float16, False),
], ids=str)
def test_sparse_layers(pattern, block, dtype, dynamic):
    torch.manual_seed(0)
    layers = nn.Sequential(*(nm.torch.NMLinear.from_dense(
        nn.Linear(k, n, bias=bias).to(dtype), pattern, block, prune_weight=True,
        activation=activation)
        for k, n, bias, activation in ((70, 64, True, "gelu"), (64, 35, False, None))))
    exported = nm.torch.export(layers.eval(), draw(3, 70, dtype=dtype),
                               dynamic_batch=dynamic)
    assert exported.text.count("#nm.encoding<") == 4
    assert not any(tensor.numel() == 70 * 64 for tensor in exported.resources.values())
    check(layers, draw(3, 70, dtype=dtype), dynamic=dynamic)


ATTENTION = {
    "plain": {}, "causal": {"is_causal": True}, "scale": {"scale": 0.3},
    "mask": {"attn_mask": (torch.arange(9) < 6)[None]},
    "bias": {"attn_mask": draw(5, 9)},
    "nothing_seen": {"attn_mask": (torch.arange(5) > 1)[:, None].expand(5, 9)},
}


@pytest.mark.parametrize("name", ATTENTION)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_attention(name, dtype):
    options = ATTENTION[name]
    q, k, v = (draw(2, 3, t, 8, dtype=dtype, seed=i) for i, t in enumerate((5, 9, 9)))
    if name == "bias":
        options = {"attn_mask": options["attn_mask"].to(dtype)}
    check(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **options), q, k, v)


@pytest.mark.parametrize("kept", [1, 2, 6])
def test_attention_of_groups(kept):
    q, k, v = (draw(2, heads, 5, 8, seed=i) for i, heads in enumerate((6, kept, kept)))
    mask = draw(2, 1, 5, 5) > 0
    check(lambda q, k, v, m: F.scaled_dot_product_attention(
        q, k, v, m, enable_gqa=True), q, k, v, mask)


DYNAMIC = {
    "view": lambda x: x.view(-1, 5).view(x.shape[0], 20), "flatten": lambda x:
    x.flatten(0, 1).sum(0), "softmax": lambda x: x.softmax(-1), "cat":
    lambda x: torch.cat([x, x]).sum(0), "size": lambda x: x / x.shape[0],
    "mean": lambda x: x.mean(1),
    "arange": lambda x: x + torch.arange(x.shape[0])[:, None, None], "expand":
    lambda x: x[:1].expand(x.shape[0], 4, 5) + 1, "product": lambda x: x @ x.mT,
    "slice": lambda x: x[:, 1:3], "layer_norm": lambda x:
    F.layer_norm(x, (5,)), "select": lambda x: x[:, -1], "permute": lambda x:
    x.permute(1, 0, 2).reshape(4, -1).sum(1), "sum_of_batch": lambda x: x.sum(0),
}


def test_dynamic_batch():
    check(every(DYNAMIC), draw(3, 4, 5), dynamic=True)
