"""Operators that are exported as others, compared with PyTorch: norms of groups and
instances, interpolation, largest and least elements with their places."""

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from test_torch_export_ops import Function, check, draw, every, same  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

INF, NAN = float("inf"), float("nan")


class Norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.group, self.instance = nn.GroupNorm(4, 12), nn.InstanceNorm2d(12, affine=True)
        for each in (self.group, self.instance):
            nn.init.normal_(each.weight)
            nn.init.normal_(each.bias)
        self.batch = nn.BatchNorm2d(12, track_running_stats=False)
        self.plain = nn.GroupNorm(3, 12, affine=False)

    def forward(self, x):
        return (self.group(x), self.instance(x), self.batch(x), self.plain(x[..., 0]),
                F.instance_norm(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_norms(dtype):
    torch.manual_seed(0)
    check(Norms().to(dtype), draw(2, 12, 5, 3, dtype=dtype) + 3)


def test_norms_of_any_batch():
    torch.manual_seed(0)
    model = nn.Sequential(nn.GroupNorm(2, 6), nn.InstanceNorm1d(6))
    check(model, draw(3, 6, 7), dynamic=True)


def test_interpolation():
    check(every({
        "nearest": lambda x: F.interpolate(x, scale_factor=2),
        "nearest, smaller": lambda x: F.interpolate(x, size=(3, 2)),
        "exact": lambda x: F.interpolate(x, scale_factor=(1.5, 2)),
        "bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
        "corners": lambda x: F.interpolate(x, size=(9, 4), mode="bilinear",
                                           align_corners=True),
        "line": lambda x: F.interpolate(x[:, 0], size=11, mode="linear"),
        "nearest line": lambda x: F.interpolate(x[:, 0], scale_factor=3)}),
        draw(2, 3, 6, 5))


FUNCTIONS = {
    "atan": torch.atan, "asin": torch.asin, "acos": torch.acos, "tan": torch.tan,
    "sinh": torch.sinh, "cosh": torch.cosh, "asinh": torch.asinh, "acosh": torch.acosh,
    "atanh": torch.atanh, "erfc": torch.erfc, "log10": torch.log10, "signbit": torch.signbit,
    "atan2": lambda x: torch.atan2(x, x.flip(0)), "hypot": lambda x: torch.hypot(x, x.flip(0)),
    "copysign": lambda x: torch.copysign(x, x.flip(0)),
    "copysign of a number": lambda x: torch.copysign(x, -2.),
    "fmax": lambda x: torch.fmax(x, x.flip(0)), "fmin": lambda x: torch.fmin(x, x.flip(0)),
    "decimals": lambda x: torch.round(x, decimals=1),
    "tens": lambda x: torch.round(x * 100, decimals=-1)}
#: Where a function's own steps may be infinite, or cancel out.
PLACES = [0., -0., INF, -INF, NAN, 1., -1., 0.5, -0.5, 1.5, -1e-3, 1e-4, 0.999, 0.4999, 20.,
          -30., 1e4, -3e4, 1.0004, 2., -2., 0.999999, -88.9]


@pytest.mark.parametrize("dtype,target", [
    (torch.float64, "cpu"), (torch.float32, "cpu"), (torch.float16, "cpu"),
    (torch.float32, "sim:sm_80")], ids=str)
def test_functions(dtype, target):
    """Element by element, beside float64."""
    x = torch.tensor(PLACES + draw(41).tolist(), dtype=dtype)
    # The slope of a tangent has no bound.
    x[~x.isnan() & (x.cos().abs() < 0.05)] = 0.3
    functions = every(FUNCTIONS)
    found = nm.torch.export(Function(functions), x).compile(target=target, opt_level=1)(x)
    rtol = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 2e-3}[dtype]
    for name, expected in functions(x).items():
        got, want = found[name], FUNCTIONS[name](x.double())
        if name == "decimals":
            # 0.25 in f16 is between two neighbours, and may be rounded to either.
            want = torch.where((got - want).abs() < 0.11, got.double(), want)
        assert got.dtype == expected.dtype, name
        torch.testing.assert_close(got, want.to(got.dtype), rtol=rtol, atol=rtol * 1e-3,
                                   equal_nan=True, msg=lambda m, name=name: f"{name}: {m}")
        if name.startswith(("copysign", "a", "s")) and got.is_floating_point():
            signs = ~want.isnan()
            assert torch.equal(got.signbit()[signs], want.signbit()[signs]), name


def test_functions_of_whole_numbers():
    check(every({"atan": torch.atan, "sinh": torch.sinh, "copysign": lambda x: torch.copysign(
        x, -1.), "signbit": torch.signbit, "hypot": lambda x: torch.hypot(x.float(), x.float())}),
        torch.tensor([-3, 0, 2, 5], dtype=torch.int32))


PLACED = {
    "diagonal": lambda x: x.diagonal(dim1=1, dim2=2), "other": lambda x: x.diagonal(-2, 2, 0),
    "right": lambda x: x.diagonal(1, -2, -1), "trace": lambda x: x[0].trace(),
    "unfold": lambda x: x.unfold(2, 3, 2), "in the middle": lambda x: x.unfold(1, 4, 1),
    "from the end": lambda x: x.unfold(-2, 2, 3), "var_mean": lambda x: torch.var_mean(x, 1),
    "std_mean": lambda x: torch.std_mean(x, (0, 2), correction=0, keepdim=True),
    "cropped": lambda x: F.pad(x, (-2, 1, 3, -1), value=4.),
    "shifted": lambda x: nn.ZeroPad2d((0, 0, 1, -1))(x),
    "kthvalue": lambda x: tuple(x.kthvalue(2, 1)), "of all": lambda x: x.kthvalue(7, -1, True)[0],
    "searchsorted": lambda x: torch.searchsorted(torch.tensor([-1., 0., 0.5]).to(x.dtype), x),
    "in rows": lambda x: torch.searchsorted(x.sort(-1).values, x * 2, right=True),
    "masked_scatter": lambda x: x.masked_scatter(x > 0.3, x.flip(0) * 10),
    "of rows": lambda x: x.masked_scatter((x[..., :1] > 0).expand_as(x), x + 7),
    "grid_sample": lambda x: F.grid_sample(
        x[:, None], x[:, :4, :6].reshape(-1, 4, 3, 2).tanh(), align_corners=False)}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_placed(dtype):
    functions = dict(PLACED)
    if dtype == torch.float16:
        functions.pop("grid_sample")  # PyTorch has none of f16 on a CPU.
    x = draw(3, 6, 8, dtype=dtype)
    check(every(functions), x)


@pytest.mark.parametrize("size", [(1, 1), (2, 4), (4, 3), (3, 5)], ids=str)
def test_adaptive_maxima(size):
    x = draw(2, 3, 8, 12)
    x[0, 0, 3, 2], x[1, 2, 5, 5] = NAN, INF
    functions = every({
        "values": lambda x: F.adaptive_max_pool2d(x, size),
        "places": lambda x: F.adaptive_max_pool2d(x, size, return_indices=True),
        "line": lambda x: F.adaptive_max_pool1d(x[:, :, 0], size[1])})
    same(nm.torch.export(Function(functions), x).compile(opt_level=1)(x), functions(x), 1e-6)


def test_maxima_of_volumes():
    check(every({"halves": lambda x: F.max_pool3d(x, 2), "padded": lambda x: F.max_pool3d(
        x, 3, 2, 1), "of planes": lambda x: F.max_pool3d(x, (1, 3, 2), (1, 2, 1)),
        "dilated": lambda x: F.max_pool3d(x, 2, 1, 0, 2)}), draw(2, 3, 4, 6, 5) - 3)


def test_bilinear():
    torch.manual_seed(0)
    layer = nn.Bilinear(5, 7, 3)
    check(Function(layer), draw(4, 5), draw(4, 7, seed=1), dynamic=True)


@pytest.mark.parametrize("size", [256, 257, 1000, 4099])
def test_long_sums_so_far(size):
    """Beside float64, with an infinity behind which all sums are infinite."""
    x = torch.rand(2, size, 3)
    x[1, size // 2, 1] = INF
    compiled = nm.torch.export(Function(lambda x: (
        x.cumsum(1), (x > 0.5).cumsum(1), x.half().cumsum(1))), x).compile(opt_level=1)
    wide = x.double().cumsum(1)
    same(compiled(x), (wide.float(), (x > 0.5).cumsum(1), x.half().double().cumsum(1).half()),
         1e-3)
    torch.testing.assert_close(compiled(x)[0], wide.float(), rtol=1e-5, atol=0)


def test_long_sums_of_a_size_that_a_call_says():
    """By blocks of as many elements as suit the example, of any other size, too."""
    compiled = nm.torch.export(Function(lambda x: x.cumsum(1)), (torch.rand(2, 700),),
                               dynamic_shapes={"args": ({1: torch.export.Dim("size")},)})
    text, compiled = compiled.text, compiled.compile(opt_level=1)
    for size in (700, 2, 31, 32, 33, 2049):
        x = torch.rand(2, size)
        torch.testing.assert_close(compiled(x), x.double().cumsum(1).float(), rtol=1e-5, atol=0)
    # The sums of a block, of 32 elements.
    assert "tensor<2x?x32xf32>" in text


class Bags(nn.Module):
    def __init__(self, mode, padding=None, last=False):
        super().__init__()
        self.bags = nn.EmbeddingBag(20, 6, mode=mode, padding_idx=padding,
                                    include_last_offset=last)

    def forward(self, *args):
        return self.bags(*args)


@pytest.mark.parametrize("padding", [None, 3])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_rows(mode, padding):
    torch.manual_seed(0)
    places = torch.randint(0, 20, (4, 7))
    places[0], places[1, :2] = 3, 3
    check(Bags(mode, padding), places, dynamic=True)
    text = nm.torch.export(Bags(mode, padding), places).text
    # Bags that begin where others say read all rows for each bag: 4 x 28 x 6.
    assert "tensor<4x7x6x" in text and "4x28" not in text


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_that_begin_somewhere(mode, last):
    torch.manual_seed(0)
    offsets = torch.tensor([0, 4, 4, 9] + [11] * last)
    check(Bags(mode, 3, last), torch.randint(0, 20, (11,)), offsets)


def test_bags_of_weighted_rows():
    torch.manual_seed(0)
    bags = Bags("sum").eval()
    places, scales = torch.randint(0, 20, (4, 7)), draw(4, 7)
    check(Function(lambda places, scales: bags.bags(places, per_sample_weights=scales)), places,
          scales)


ENDS = {"max": lambda x: tuple(x.max(1)), "min": lambda x: tuple(x.min(1, True)),
        "argmin": lambda x: x.argmin(0), "argmin of all": lambda x: x.argmin(),
        "max of all": torch.max, "min of all": torch.min, "sign": torch.sign,
        "logsumexp": lambda x: x.logsumexp(1), "of all": lambda x: x.logsumexp((0, 1), True), "prod": lambda x: x.prod(1), "product of all": torch.prod}


def test_ends():
    x = draw(4, 5)
    x[0, 2], x[1, 1], x[2, 3], x[3, 4] = INF, -INF, NAN, 0
    x[1, 3] = x[1, 0]
    functions = every(ENDS)
    compiled = nm.torch.export(Function(functions), x).compile(opt_level=1)
    same(compiled(x), functions(x), 1e-5)
    check(functions, torch.tensor([[3, -2, 3], [0, -2, -2 ** 31]], dtype=torch.int32))


class ComplexRotation(nn.Module):
    """Rotary embedding as Llama's first code has it; the angles are a buffer."""

    def __init__(self):
        super().__init__()
        angles = torch.outer(torch.arange(32.), 10000 ** (-torch.arange(0, 16, 2) / 16))
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))
        self.layer = nn.Linear(64, 64)

    def forward(self, x):
        heads = self.layer(x).view(*x.shape[:2], 4, 16)
        pairs = torch.view_as_complex(heads.float().reshape(*heads.shape[:-1], -1, 2))
        turned = pairs * self.turns[:x.shape[1]].view(1, x.shape[1], 1, 8)
        return torch.view_as_real(turned).flatten(3).type_as(x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_complex_rotation(dtype):
    torch.manual_seed(0)
    model = ComplexRotation()
    model.layer.to(dtype)
    check(model, draw(2, 7, 64, dtype=dtype), dynamic=True)


def pairs_of(x):
    return torch.view_as_complex(x.unflatten(-1, (-1, 2)))


COMPLEX = {
    "turned": lambda z, x: z * torch.polar(torch.ones(5, 4), torch.outer(
        torch.arange(5.), torch.arange(4.).exp())),
    "times numbers": lambda z, x: z * 2. + z * x[..., :4], "less": lambda z, x: z - x[..., 4:],
    "square": lambda z, x: z * z.conj(), "quotient": lambda z, x: -z / 3,
    "transposed": lambda z, x: z.transpose(1, -1), "permuted": lambda z, x: z.permute(2, 0, 1),
    "joined": lambda z, x: torch.cat([z, z[:, 1:3]], -2), "stack": lambda z, x: torch.stack(
        [z, z * 2], -1), "expanded": lambda z, x: z.unsqueeze(-1).expand(-1, -1, -1, 3),
    "parts": lambda z, x: z.split([1, 3], -1)[1], "looked up": lambda z, x: z[
        :, torch.tensor([4, 0, 2])], "row": lambda z, x: z[:, -1], "flat": lambda z, x:
    z.flatten(1), "repeated": lambda z, x: z.repeat(1, 2, 1), "of parts": lambda z, x:
    torch.complex(x, x * 2), "double": lambda z, x: z.to(torch.complex128)}


def test_complex_numbers():
    functions = {name: lambda x, name=name: torch.view_as_real(
        COMPLEX[name](pairs_of(x), x).resolve_conj()) for name in COMPLEX}
    check(every({**functions, "abs": lambda x: pairs_of(x).abs(), "angle": lambda x: pairs_of(
        x).angle(), "imag": lambda x: pairs_of(x).imag, "real": lambda x: pairs_of(x).real}),
        draw(3, 5, 8))


@pytest.mark.parametrize("function,x,text", [
    (pairs_of, draw(3, 4), "expected results of real numbers"),
    (torch.view_as_real, pairs_of(draw(3, 4)).clone(), "argument .*: expected real numbers"),
    (lambda x: pairs_of(x).exp().real, draw(3, 4), "aten.exp.* expected of complex numbers sums")],
    ids=str)
def test_complex_numbers_that_are_refused(function, x, text):
    with pytest.raises(nm.Error, match=text):
        nm.torch.export(Function(function), x)
