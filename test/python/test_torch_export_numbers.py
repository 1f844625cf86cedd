"""Exported arithmetic at its ends, compared with PyTorch: large angles, subnormal
numbers, quotients of whole numbers and of floats, sizes as results."""

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from test_torch_export_ops import Function, check, draw, every, same  # noqa: E402
from torch.nn import functional as F  # noqa: E402

TARGETS = ["cpu", "sim:sm_90a"]
INF, NAN = float("inf"), float("nan")


def compiled_of(function, *args, target="cpu", **options):
    return nm.torch.export(Function(function), args, **options).compile(target=target,
                                                                        opt_level=1)


@pytest.mark.parametrize("target", TARGETS)
def test_angles(target):
    """Of f32 each is a number of its own: a sine of 1e38 is none of noise."""
    large = torch.logspace(0, 38.5, 400) * torch.tensor([1.0, -1.0]).repeat(200)
    x = torch.cat([large, torch.linspace(-1e6, 1e6, 401), torch.logspace(-40, 0, 100),
                   torch.tensor([0.0, -0.0])])
    compiled = compiled_of(every({"sin": torch.sin, "cos": torch.cos}), x,
                           target=target)
    given = compiled(x)
    for name, function in (("sin", torch.sin), ("cos", torch.cos)):
        expected = function(x.double())
        error = (given[name].double() - expected).abs()
        assert (error <= 2e-7 * expected.abs().clamp(min=1e-30)).all() or (
            error.max() < 1e-7), error.max()
    ends = torch.tensor([INF, -INF, NAN])
    assert compiled_of(torch.sin, ends, target=target)(ends).isnan().all()


@pytest.mark.parametrize("target", TARGETS)
def test_logarithms_of_subnormal_numbers(target):
    x = torch.tensor([1e-45, 1e-40, 1.1e-38, 1.2e-38, 0.0, 1.0, -1e-40, NAN, INF])
    functions = every({"log": torch.log, "log2": torch.log2})
    same(compiled_of(functions, x, target=target)(x), functions(x), 1e-6)


def test_floors_of_quotients():
    x, y = torch.arange(-20, 20) * 0.3, draw(40)
    ends = torch.tensor([0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 3.5])
    functions = every({
        "floats": lambda x, y, ends: x // y,
        "a tenth": lambda x, y, ends: x // 0.1,
        "minus": lambda x, y, ends: x // -0.1,
        "doubles": lambda x, y, ends: x.double() // 0.1,
        "halves": lambda x, y, ends: x.half() // 0.1,
        "ends": lambda x, y, ends: ends[:, None] // ends,
        "truncated": lambda x, y, ends: torch.div(x, y, rounding_mode="trunc")})
    same(compiled_of(functions, x, y, ends)(x, y, ends), functions(x, y, ends), 1e-6)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8])
def test_whole_numbers_by_0_and_by_minus_1(dtype, target):
    """A processor would end the program. PyTorch raises for 0."""
    least = torch.iinfo(dtype).min
    a = torch.tensor([7, -7, least, 0, 7, -7, least, 7, -8], dtype=dtype)
    b = torch.tensor([0, 0, 0, 0, -1, -1, -1, 2, 3], dtype=dtype)
    functions = every({
        "floor": lambda a, b: a // b, "remainder": lambda a, b: a % b,
        "fmod": torch.fmod,
        "trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc")})
    given = compiled_of(functions, a, torch.ones_like(b), target=target)(a, b)
    expected = {"floor": [0, 0, 0, 0, -7, 7, least, 3, -3],
                "remainder": [0, 0, 0, 0, 0, 0, 0, 1, 1],
                "fmod": [0, 0, 0, 0, 0, 0, 0, 1, -2],
                "trunc": [0, 0, 0, 0, -7, 7, least, 3, -2]}
    assert {name: each.tolist() for name, each in given.items()} == expected


def test_the_least_epsilon_of_a_norm():
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        check(lambda x: F.rms_norm(x, (30,)), (draw(4, 30) * 1e-3).to(dtype))


def test_sizes_as_results():
    def function(x, y):
        return x.shape[0], x + 1, (x.shape[0] * 2 + y.shape[1]) // 3, y.shape[1]

    compiled = compiled_of(function, draw(4, 6), draw(4, 5), dynamic_batch=True)
    for rows in (1, 4, 7):
        args = draw(rows, 6), draw(rows, 5)
        given, expected = compiled(*args), function(*args)
        assert (given[0], *given[2:]) == (expected[0], *expected[2:])
        same(given[1], expected[1], 1e-6)


def test_places_of_a_pool():
    with pytest.raises(nm.Error, match="a pool's largest elements, not their places"):
        nm.torch.export(torch.nn.MaxPool2d(2, return_indices=True), (draw(1, 2, 4, 4),))


def test_layers_without_elements():
    """LLVM has no constants of none."""
    for layer in (torch.nn.Linear(5, 0), torch.nn.Linear(0, 5)):
        check(layer, draw(3, layer.in_features))


def test_means_along_any_size():
    check(every({"rows": lambda x: x.mean(0), "all": lambda x: x.mean(),
                 "kept": lambda x: x.mean((0, 1), keepdim=True),
                 "columns": lambda x: x.mean(1)}), draw(4, 6), dynamic=True)
    check(lambda x: x.mean(0), draw(4, 6).half(), dynamic=True)


BYTES = {
    "float": lambda x, y: x.permute(0, 2, 1).float() / 255, "sum": lambda x, y: x + y,
    "difference": lambda x, y: x - y, "product": lambda x, y: x * 3, "neg": lambda x, y: -x,
    "quotient": lambda x, y: x // y.clamp(min=1), "rest": lambda x, y: x % 7,
    "true quotient": lambda x, y: x / y.clamp(min=1), "less": lambda x, y: x < y,
    "max": lambda x, y: torch.max(x, -1), "min": lambda x, y: torch.min(x, 1),
    "larger": lambda x, y: torch.maximum(x, y), "clamp": lambda x, y: x.clamp(7, 200),
    "total": lambda x, y: x.sum(-1), "so far": lambda x, y: x.cumsum(1), "abs": lambda x, y: x.abs(),
    "nibbles": lambda x, y: torch.stack([x & 15, x >> 4], -1).flatten(-2), "or": lambda x, y: x | y,
    "not": lambda x, y: ~x, "left": lambda x, y: x << 3, "i32": lambda x, y: x.int() << 4,
    "sorted": lambda x, y: x.sort(-1).values, "where": lambda x, y: torch.where(x > y, x, y),
    "joined": lambda x, y: torch.cat([x, y], 1), "from i32": lambda x, y: (x.int() * 5).to(torch.uint8),
    "from floats": lambda x, y: (x.float() * 0.7).to(torch.uint8), "bool": lambda x, y: x.bool(),
    "to i8": lambda x, y: x.to(torch.int8), "itself": lambda x, y: x,
    "looked up": lambda x, y: torch.arange(256)[x.long()], "constant": lambda x, y: x + torch.tensor(
        [200, 100, 255, 0], dtype=torch.uint8), "full": lambda x, y: torch.full_like(x, 250)}


@pytest.mark.parametrize("target", TARGETS)
def test_bytes_without_a_sign(target):
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randint(0, 256, (2, 3, 5, 4), generator=generator, dtype=torch.uint8)
    x[0, 0] = torch.tensor([0, 255, 128, 127])
    functions = every(BYTES)
    same(compiled_of(functions, x, y, target=target)(x, y), functions(x, y), 1e-6)


def test_shifts():
    """By all bits of the type, and by more."""
    x = torch.tensor([5, -5, 2 ** 30, -2 ** 31, 127], dtype=torch.int32)
    counts = torch.tensor([1, 31, 32, 40, 2], dtype=torch.int32)
    for given in (x, x.long(), x.to(torch.int8)):
        functions = every({
            "left": lambda x, n: x << 3, "right": lambda x, n: x >> 1, "not": lambda x, n: ~x,
            "each left": lambda x, n: x << n.to(x.dtype), "each right": lambda x, n: torch.
            bitwise_right_shift(x, n.to(x.dtype)), "far": lambda x, n: x >> 63, "out": lambda x, n: x << 64})
        same(compiled_of(functions, given, counts)(given, counts), functions(given, counts), 0)


def test_bytes_that_are_updated():
    def update(x):
        return x.add_(1)
    with pytest.raises(nm.Error, match="expected numbers where .*, but got uint8"):
        compiled_of(update, torch.zeros(3, dtype=torch.uint8))


def sizes_of(batch, tokens):
    return torch.arange(batch * tokens * 6.).reshape(batch, tokens, 6)


JOINED = {
    "all rows": lambda x: x.view(-1, 6), "columns": lambda x: x.flatten(1), "twice": lambda x:
    torch.cat([x, x], 1), "repeated": lambda x: x.repeat(2, 1, 3), "one": lambda x: x.flatten(),
    "pairs": lambda x: (x.unsqueeze(1) - x.unsqueeze(2)).flatten(1, 2), "bool": lambda x:
    (x > 3).flatten(0, 1), "byte": lambda x: x.view(-1, 6).to(torch.uint8), "itself": lambda x: x,
    "variance": lambda x: (x.var(1), x.std(0), *torch.var_mean(x, (1, 2), correction=0))}


def test_products_of_sizes():
    """Results whose sizes are products of the arguments' are those of the model."""
    x = sizes_of(3, 4)
    dim = torch.export.Dim
    compiled = compiled_of(every(JOINED), x, dynamic_shapes={
        "args": ({0: dim("batch"), 1: dim("tokens")},)})
    for sizes in ((3, 4), (1, 7), (5, 1), (2, 9)):
        x = sizes_of(*sizes)
        if 1 not in sizes:
            same(compiled(x), every(JOINED)(x), 1e-5)
        for name in ("all rows", "pairs", "bool"):
            assert torch.equal(compiled(x)[name], JOINED[name](x))


def test_quotients_of_sizes_below_zero():
    """Of which Python's are rounded down, as in -(-size // 2)."""
    def function(x):
        return x * -(-x.shape[1] // 2), x + (1 - x.shape[1]) % 4

    dim = torch.export.Dim
    compiled = compiled_of(function, sizes_of(2, 4), dynamic_shapes={
        "args": ({1: dim("tokens", min=3)},)})
    for tokens in (4, 5, 6, 7):
        same(compiled(sizes_of(2, tokens)), function(sizes_of(2, tokens)), 1e-6)


def test_sums_of_sizes():
    dim = torch.export.Dim
    with pytest.raises(nm.Error, match=r"expected a result whose sizes are "
                                       r"numbers, .* but got \[3, .* \+ 1, 6\]"):
        compiled_of(lambda x: F.pad(x, (0, 0, 1, 0)), sizes_of(3, 4),
                    dynamic_shapes={"args": ({1: dim("tokens")},)})


class Pooled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = torch.nn.MaxPool2d(2, return_indices=True)

    def forward(self, x):
        return self.pool(x)


def test_places_of_refusals():
    """A refusal has the line of the model, not one of PyTorch."""
    with pytest.raises(nm.Error, match=r'^pool \(File "\S*test_torch_export_numbers.py'):
        nm.torch.export(Pooled(), draw(1, 2, 4, 4))
