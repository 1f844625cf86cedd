"""Exported models that write in place, compared with PyTorch: what is read before an
update is what was there before, whatever order the compiled code has."""

import pytest

torch = pytest.importorskip("torch")
import nm.torch  # noqa: E402
from test_torch_export_ops import Function, draw, same  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402


def old_and_new(x, y):
    """Old elements as they are, as a view, as others' operands, and as bools."""
    old = x.clone()
    row, flat, positive = x[1:].clone(), x.view(-1).clone(), x > 0
    product, rows = x @ y.t(), x.softmax(1)
    x.add_(y)
    return old, row, flat, positive, product, rows, x


def several_times(x, y):
    first = x.clone()
    x.mul_(2)
    second = x.clone()
    x.mul_(3)
    return first, second, x


def swapped(x, y):
    old = x.clone()
    x.copy_(y)
    y.copy_(old)
    return x + 1


def written_then_written(x, y):
    x.copy_(y)
    y.add_(1)
    return x


def swapped_rows(x, y):
    x[0], x[1] = x[1].clone(), x[0].clone()
    return y + 1


def turned(x, y):
    x.copy_(x.flip(0))
    y.copy_(x.roll(1, 0))
    return x * 2


def by_itself(x, y):
    y.copy_(y @ (x.t() @ x))
    x.copy_(x.cumsum(0))
    return x.sum()


def slices(x, y):
    x[:, 1:] += y[:, :-1]
    x[-1:] = y[:1].double()
    x[..., 0:2] = y[..., :1]
    x[:, 1::2] = y[:, ::2]
    x[2] = 7
    return x[0]


def places(x, y):
    x[:, torch.tensor([-1, 0])] = y[:, :2]
    x[y > 0] = 0.5
    y[torch.tensor([True, False, True, False])] = 2
    return x + 1


def choices(x, y):
    x.copy_(torch.where(y > 0, x, 0.0))
    x.masked_fill_(y > 1, 2)
    return x + 1


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a"])
@pytest.mark.parametrize("function", [
    old_and_new, several_times, swapped, written_then_written, swapped_rows, turned,
    by_itself, slices, places, choices], ids=lambda function: function.__name__)
def test_arguments(function, target):
    x, y = draw(4, 6), draw(4, 6, seed=1)
    compiled = nm.torch.export(Function(function), (x.clone(), y.clone())).compile(
        target=target)
    given, expected = [x.clone(), y.clone()], [x.clone(), y.clone()]
    with torch.no_grad():
        for _ in range(2):
            same(compiled(*given), function(*expected), 1e-5)
            same(given, expected, 1e-5)


class Cache(nn.Module):
    """The last places of a buffer, which move on, and a count of calls."""

    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(2, 8, 4))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x, place):
        before = self.kept.sum(1)
        self.kept.copy_(torch.cat([self.kept[:, 1:], x], 1))
        self.kept[:, place] = x
        self.calls += 1
        attended = F.scaled_dot_product_attention(x, self.kept, self.kept)
        return before, attended, self.kept[:, :3], self.calls * 2


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a"])
def test_buffers(target):
    x, place = draw(2, 1, 4), torch.tensor([3])
    compiled = nm.torch.export(Cache().eval(), (x, place)).compile(target=target)
    model = Cache().eval()
    with torch.no_grad():
        for _ in range(3):
            same(compiled(x, place), model(x, place), 1e-5)
            same(compiled.states, dict(model.named_buffers()), 1e-5)


def test_a_dynamic_batch():
    def function(x, y):
        old = x.clone()
        x[:, 1:] += y[:, 1:]
        return old, x * 2

    compiled = nm.torch.export(Function(function), (draw(4, 6), draw(4, 6)),
                               dynamic_batch=True).compile()
    for rows in (1, 4, 9):
        given = [draw(rows, 6), draw(rows, 6, seed=1)]
        expected = [each.clone() for each in given]
        same(compiled(*given), function(*expected), 1e-5)
        same(given, expected, 1e-5)


def test_places_of_a_dynamic_batch():
    """A result of which only some places are written has the argument's sizes."""
    def function(x, y):
        copied = x.index_copy(1, torch.tensor([1, 3]), y[:, :2])
        return x.index_fill(1, torch.tensor([0, 2]), -1.), copied, copied.flatten(1) + 1

    x, y = draw(3, 4, 5), draw(3, 6, 5, seed=1)
    compiled = nm.torch.export(Function(function), (x, y), dynamic_batch=True).compile(
        opt_level=1)
    for rows in (3, 1):
        same(compiled(x[:rows], y[:rows]), function(x[:rows], y[:rows]), 1e-6)
