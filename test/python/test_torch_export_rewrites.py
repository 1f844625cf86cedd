"""What models write out and one op has: turned halves, repeated heads, transpositions
that move nothing. Each beside what only looks alike."""

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from torch import nn  # noqa: E402


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def exported(function, *args):
    """The text, after its results were compared with PyTorch's."""
    model = Function(function)
    found = nm.torch.export(model, args)
    torch.testing.assert_close(found.compile(opt_level=1, cache=False)(*args),
                               model(*args), rtol=1e-4, atol=1e-5)
    return found.text


def halves(x, dim, cut, negated):
    first = torch.ops.aten.slice(x, dim, cut, x.shape[dim])
    second = torch.ops.aten.slice(x, dim, 0, cut)
    return torch.cat([-first if negated[0] else first,
                      -second if negated[1] else second], dim)


@pytest.mark.parametrize("dim", [-1, 1])
def test_turned_halves(dim):
    x = torch.randn(3, 6, 8)
    half = x.shape[dim] // 2
    assert "insert_slice" not in exported(
        lambda x: halves(x, dim, half, (True, False)) * 2, x)
    for cut, negated in ((half - 1, (True, False)), (half, (False, False)),
                         (half, (True, True)), (half, (False, True))):
        assert "insert_slice" in exported(
            lambda x, cut=cut, negated=negated: halves(x, dim, cut, negated), x)


def test_halves_of_two_tensors():
    x, y = torch.randn(2, 8), torch.randn(2, 8)
    assert "insert_slice" in exported(
        lambda x, y: torch.cat([-x[:, 4:], y[:, :4]], -1), x, y)


def attention(query, key, value, groups, order):
    def repeated(x):
        batch, heads, length, size = x.shape
        if order == "inside":
            wide = x[:, :, None].expand(batch, heads, groups, length, size)
        else:
            wide = x[:, None].expand(batch, groups, heads, length, size)
        return wide.reshape(batch, heads * groups, length, size)

    return nn.functional.scaled_dot_product_attention(query, repeated(key),
                                                      repeated(value))


@pytest.mark.parametrize("order", ["inside", "outside"])
def test_repeated_heads(order):
    query, key, value = torch.randn(2, 6, 3, 8), torch.randn(2, 3, 5, 8), torch.randn(
        2, 3, 5, 8)
    text = exported(lambda q, k, v: attention(q, k, v, 2, order), query, key, value)
    # What repeats heads in another order is no group of neighbours.
    copies = {"inside": "tensor<2x3x2x5x8xf32>", "outside": "tensor<2x2x3x5x8xf32>"}
    assert (copies[order] in text) == (order == "outside")


def test_transpositions_that_move_nothing():
    x = torch.randn(1, 4, 1, 6)
    assert "linalg.transpose" not in exported(
        lambda x: x.transpose(1, 2).relu() + x.permute(2, 0, 1, 3), x)
    assert "linalg.transpose" in exported(lambda x: x.transpose(1, 3).relu(), x)


def masked(function):
    """Attention of 2 heads of 6 places whose mask is what `function` gives of a tensor."""
    query, key, value = (torch.randn(2, 2, 6, 16) for _ in range(3))
    return exported(lambda q, k, v: nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=function(q)), query, key, value)


def places():
    return torch.arange(6)[:, None], torch.arange(6)[None]


def causal(_query):
    row, column = places()
    return (column <= row).expand(2, 1, 6, 6)


def added(hidden, number):
    return torch.zeros(6, 6).masked_fill(hidden, number)


@pytest.mark.parametrize("function", [
    causal, lambda _: torch.ones(6, 6, dtype=torch.bool).tril(),
    lambda _: added(places()[0] < places()[1], float("-inf")),
    lambda _: added(places()[0] < places()[1], torch.finfo(torch.float32).min)],
    ids=["of places", "of ones", "added", "added least"])
def test_causal_masks(function):
    text = masked(function)
    assert "nm.attention" in text and " causal" in text and "mask" not in text


def test_masks_that_hide_nothing():
    text = masked(lambda q: torch.ones(6, 6, dtype=torch.bool))
    assert "nm.attention" in text and " causal" not in text and "mask" not in text


@pytest.mark.parametrize("function", [
    lambda q: places()[1] < places()[0] + 2,
    lambda q: (places()[1] <= places()[0]) & (places()[1] > places()[0] - 3),
    lambda q: causal(q) & (q[:, :1, :, :6] < 9),
    lambda q: added(places()[0] < places()[1], -2.0),
    lambda q: (places()[1] <= places()[0])[2:3]],
    ids=["later by one", "a window", "of an argument", "a number", "one row"])
def test_masks_that_stay(function):
    text = masked(function)
    assert "nm.attention" in text and " causal" not in text and "mask" in text
