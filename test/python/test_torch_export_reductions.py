"""Reductions of several dimensions, of all of them, and of others than the last, in
exported models on a CPU and on simulated GPUs, beside float64."""

import os
import random

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", random.SystemRandom().randrange(2 ** 31)))
TARGETS = ["cpu", "sim:sm_80", "sim:sm_90a"]


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def compile_for(function, inputs, target, **options):
    exported = nm.torch.export(Function(function).eval(), inputs, **options)
    return exported.compile(target=target, opt_level=1)


def check(got, want, dtype):
    """Places and numbers are exact, floats near float64."""
    if not want.dtype.is_floating_point:
        assert torch.equal(got, want), f"NM_TEST_SEED={SEED}"
        return
    limit = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}[dtype]
    error = (got.double() - want).norm().item()
    assert error <= limit * want.norm().item(), f"{error:.2e}, NM_TEST_SEED={SEED}"


def check_all(got, want, dtype):
    for each, expected in zip(got, want) if isinstance(got, tuple) else [(got, want)]:
        check(each, expected, dtype)


def says(compiled, text):
    return any(text in str(line) for line in compiled.module.diagnostics)


FUNCTIONS = {
    "sum": lambda x: x.sum(), "mean": lambda x: x.mean(), "amax": lambda x: x.abs().amax(),
    "norm": lambda x: x / x.norm(), "min and max": lambda x: (x - x.min()) / (x.max() - x.min()),
    "count": lambda x: (x > 0.5).sum(), "any": lambda x: (x > 3).any(), "std": lambda x: x.std(),
    "sum of last two": lambda x: x.sum((-2, -1)), "sum of first two": lambda x: x.sum((0, 1)),
    "sum around": lambda x: x.sum((0, -1)), "var of last two": lambda x: x.var((-2, -1)),
    "layer norm of two": lambda x: F.layer_norm(x, x.shape[-2:]),
    "product with less": lambda x: (x * x[..., 0, :1].unsqueeze(-2)).abs().mean(),
    "max along 1": lambda x: torch.max(x, 1), "min along 0": lambda x: torch.min(x, 0),
    "argmax along -2": lambda x: x.argmax(-2), "argmin along 0": lambda x: x.argmin(0),
    "argmax of all": lambda x: x.argmax(),
    "top 3 along 1": lambda x: x.topk(3, 1), "softmax along 1": lambda x: x.softmax(1)}


#: Where places are found, and along which dimension.
PLACES = {"max along 1": 1, "min along 0": 0, "argmax along -2": -2, "argmin along 0": 0,
          "top 3 along 1": 1}


def draw(name, generator):
    """Elements of 3 or 4 dimensions, of which no two of a row are equal where places are
    found."""
    rank = generator.choice([3, 4]) if "two" in name or "less" in name else 3
    shape = [generator.randrange(3, 7) for _ in range(rank - 2)]
    shape += [generator.choice([5, 24, 33, 70]), generator.choice([8, 37, 96, 200])]
    torch.manual_seed(generator.randrange(2 ** 31))
    dtype = generator.choice([torch.float32, torch.float16, torch.bfloat16])
    if name in PLACES:
        return torch.rand(shape).argsort(PLACES[name]).to(dtype)
    if name == "argmax of all":
        return torch.randperm(torch.Size(shape).numel()).view(shape).float()
    return torch.randn(shape).add(0.5).to(dtype)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_reductions(name, target):
    generator = random.Random(f"{SEED} {name} {target}")
    x = draw(name, generator)
    compiled = compile_for(FUNCTIONS[name], (x,), target)
    check_all(compiled(x), FUNCTIONS[name](x.double()), x.dtype)
    assert not says(compiled, "kernel of one thread")
    # Windows of fewer elements are one thread's.
    if target != "cpu" and name in PLACES and x.shape[PLACES[name]] >= 8:
        assert not says(compiled, "walks the reductions")


@pytest.mark.parametrize("name", ["sum", "amax", "norm", "count", "argmax of all",
                                  "layer norm of two", "var of last two", "max along 1",
                                  "product with less"])
def test_reductions_of_unknown_sizes(name):
    generator = random.Random(f"{SEED} {name} unknown")
    auto = torch.export.Dim.AUTO
    x = torch.randn(3, 7, 64) + 0.5
    compiled = compile_for(FUNCTIONS[name], (x,), "sim:sm_90a",
                           dynamic_shapes=((({0: auto, 1: auto},)),))
    for rows in ((2, 5), (4, generator.randrange(3, 40))):
        x = torch.randn(*rows, 64) + 0.5
        check_all(compiled(x), FUNCTIONS[name](x.double()), torch.float32)


LONG = {
    "mean": (lambda x: x.mean(), (8, 150, 768)),
    "amax of squares": (lambda x: (x * x).amax(), (2, 300, 1024)),
    "norm of few rows": (lambda x: F.layer_norm(x, x.shape[1:]), (2, 280, 1024)),
    "group norm": (lambda x: F.group_norm(x, 1), (1, 5, 256, 256)),
    "logical": (lambda x: (x > 4).any(), (700, 1024))}


@pytest.mark.parametrize("name", LONG)
def test_long_rows_are_parts(name):
    """Rows that few multiprocessors would read are cut into parts."""
    function, shape = LONG[name]
    torch.manual_seed(SEED)
    x = torch.randn(shape).add(0.5).half()
    compiled = compile_for(function, (x,), "sim:sm_90a")
    check(compiled(x), function(x.double()), torch.float16)
    assert says(compiled, " in parts of ")


COLUMNS = {
    "sum along 0": (lambda x: x.sum(0), (4096, 64), " in parts of "),
    "mean along 1": (lambda x: x.mean(1), (2, 2048, 40), " in parts of "),
    "amax of squares": (lambda x: (x * x).amax(0), (3072, 5, 24), " in parts of "),
    "variance": (lambda x: x.var(0), (4096, 72), " in parts of "),
    "softmax": (lambda x: x.softmax(1), (3, 200, 48), None),
    "sum of rows and of images": (lambda x: x.sum((0, 2)), (16, 3, 1024), "one kernel"),
    "variance of one channel": (lambda x: x.var((0, 2, 3)), (128, 1, 12, 12), "one kernel"),
    "batch norm": (lambda x: F.batch_norm(x, None, None, training=True), (8, 3, 32, 40),
                   "one kernel")}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns(name):
    """Columns that few blocks would read are cut into parts, and what they are of is
    computed where they are read. Reductions before and behind the channels are two."""
    function, shape, remark = COLUMNS[name]
    torch.manual_seed(SEED)
    x = torch.randn(shape).add(0.5).half()
    compiled = compile_for(function, (x,), "sim:sm_90a")
    check(compiled(x), function(x.double()), torch.float16)
    assert remark is None or says(compiled, remark)
    assert not says(compiled, "walks the reductions")


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a"])
@pytest.mark.parametrize("shape", [(2, 6, 5, 7), (2, 6), (1, 12, 3, 16)])
def test_group_norm(target, shape):
    torch.manual_seed(SEED)
    model = nn.GroupNorm(3, shape[1]).eval()
    nn.init.normal_(model.weight)
    nn.init.normal_(model.bias)
    x = torch.randn(shape)
    compiled = nm.torch.export(model, (x,)).compile(target=target, opt_level=1)
    check(compiled(x), model.double()(x.double()), torch.float32)


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a"])
def test_instance_norm_is_one_kernel(target):
    torch.manual_seed(SEED)
    model = nn.InstanceNorm2d(6, affine=True).eval()
    nn.init.normal_(model.weight)
    x = torch.randn(3, 6, 12, 20)
    compiled = nm.torch.export(model, (x,)).compile(target=target, opt_level=1)
    check(compiled(x), model.double()(x.double()), torch.float32)
    assert target == "cpu" or says(compiled, "5 ops around it are one kernel")
