"""What models write out and one op has: turned halves, repeated heads, transpositions
that move nothing. Each beside what only looks alike."""

import re

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from export_models import Function  # noqa: E402
from torch import nn  # noqa: E402


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
    lambda q: added(places()[0] < places()[1], -2.0),
    lambda q: (places()[1] <= places()[0])[2:3],
    lambda q: causal(q) | (q[:, :1, :, :6] < 9)],
    ids=["later by one", "a number", "one row", "causal or an argument"])
def test_masks_that_stay(function):
    text = masked(function)
    assert "nm.attention" in text and " causal" not in text and "mask" in text


@pytest.mark.parametrize("function", [
    lambda q: (places()[1] <= places()[0]) & (places()[1] > places()[0] - 3),
    lambda q: causal(q) & (q[:, :1, :, :6] < 9),
    lambda q: (q[:, :1, :1, :6] < 9) & causal(q) & (q[:, :1, :, :6] > -9)],
    ids=["a window", "of an argument", "of two"])
def test_masks_beside_a_causal_one(function):
    text = masked(function)
    assert "nm.attention" in text and " causal" in text and "mask" in text


# Sizes that are known when the model is called


DYNAMIC = {"batch": {0: "batch"}, "length": {2: "length"}, "both": {0: "batch", 2: "length"}}


def of_any_sizes(function, sizes, *others):
    """The text of attention of 2 heads whose mask is what `function` gives of the queries
    and others, compared at two sizes."""
    def attend(query, key, value, *others):
        return nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=function(query, *others))

    def made(batch, length):
        return (*(torch.randn(batch, 2, length, 16) for _ in range(3)),
                *(make(batch, length) for make in others))

    dims = {name: torch.export.Dim(name, min=2, max=64) for name in ("batch", "length")}
    shape = {dim: dims[name] for dim, name in DYNAMIC[sizes].items()}
    padding = {0: shape[0]} if 0 in shape else {}
    padding |= {1: shape[2]} if 2 in shape else {}
    model = Function(attend)
    found = nm.torch.export(model, made(3, 6), dynamic_shapes=(
        (shape, shape, shape, *(padding for _ in others)),))
    compiled = found.compile(opt_level=1, cache=False)
    for batch in (3, 2 if 0 in shape else 3):
        args = made(batch, 9 if 2 in shape else 6)
        torch.testing.assert_close(compiled(*args), model(*args), rtol=1e-4, atol=1e-5)
    return found.text


def sizes_of(query):
    return query.shape[0], query.shape[2]


def causal_by_places(query):
    """As transformers has it."""
    batch, length = sizes_of(query)
    places = torch.arange(length)[None].expand(batch, -1)
    sequence, row, column = torch.arange(batch), torch.arange(length), torch.arange(length)
    sequence, row = sequence[:, None, None, None], row[None, None, :, None]
    starts = torch.diff(places, prepend=places[:, :1] - 1, dim=-1) != 1
    number = starts.cumsum(-1)
    seen = places[sequence, column[None, None, None]] <= places[sequence, row]
    same = number[sequence, row] == number[sequence, column[None, None, None]]
    return (seen & same).expand(batch, -1, length, length)


def rows_and_columns(query):
    length = query.shape[2]
    return torch.arange(length)[:, None], torch.arange(length)[None]


def causal_by_number(query):
    row, column = rows_and_columns(query)
    return torch.zeros(()).masked_fill(column > row, torch.finfo(torch.float32).min)


def causal_by_triangle(query):
    return torch.ones(query.shape[2], query.shape[2], dtype=torch.bool).tril()


@pytest.mark.parametrize("sizes", DYNAMIC)
@pytest.mark.parametrize("function", [causal_by_places, causal_by_number,
                                      causal_by_triangle],
                         ids=["places", "number", "triangle"])
def test_causal_masks_of_any_sizes(function, sizes):
    text = of_any_sizes(function, sizes)
    assert "nm.attention" in text and " causal" in text and "mask" not in text


def test_masks_of_any_sizes_that_hide_nothing():
    text = of_any_sizes(lambda q: rows_and_columns(q)[1] >= 0 * rows_and_columns(q)[0],
                        "length")
    assert "nm.attention" in text and " causal" not in text and "mask" not in text


@pytest.mark.parametrize("function", [
    lambda q: rows_and_columns(q)[1] < rows_and_columns(q)[0] + 2,
    lambda q: rows_and_columns(q)[1] * 2 <= rows_and_columns(q)[0] * 2,
    lambda q: torch.zeros(()).masked_fill(
        rows_and_columns(q)[1] > rows_and_columns(q)[0], -2.0),
    lambda q: rows_and_columns(q)[1] <= rows_and_columns(q)[0].flip(0)],
    ids=["later by one", "doubled", "a number", "backwards"])
def test_masks_of_any_sizes_that_stay(function):
    text = of_any_sizes(function, "both")
    assert "nm.attention" in text and " causal" not in text and "mask" in text


def test_a_known_causal_mask_beside_one_of_any_batch_that_hides_nothing():
    """One part is known by its elements, the other by a formula, the whole by neither."""
    def mask(query):
        places = torch.arange(6).flip(0).flip(0)
        return (places[None] <= places[:, None]) & torch.ones(
            query.shape[0], 1, 6, 6, dtype=torch.bool)

    text = of_any_sizes(mask, "batch")
    assert "nm.attention" in text and " causal" in text and "mask" not in text


def padded(query, shown):
    return causal_by_places(query) & shown[:, None, None]


def shown(batch, length):
    """The first key always: a row that sees none has no softmax."""
    return torch.rand(batch, length).gt(0.5) | (torch.arange(length) == 0)


@pytest.mark.parametrize("sizes", DYNAMIC)
def test_causal_masks_with_padding(sizes):
    """Of an argument that hides keys the mask stays, without rows."""
    text = of_any_sizes(padded, sizes, shown)
    assert "nm.attention" in text and " causal" in text and "mask" in text


def shown_to_all(query, shown):
    """As transformers has it, of encoders."""
    batch, length = sizes_of(query)
    row, column = torch.arange(length), torch.arange(length)
    sequence = torch.arange(batch)[:, None, None, None]
    every = row[None, None, :, None] >= 0
    return (every & shown[sequence, column[None, None, None]]).expand(
        batch, -1, length, length)


def hidden_by_a_number(query, shown):
    """Repeated for rows first, then computed."""
    batch, length = sizes_of(query)
    hidden = 1.0 - shown[:, None, None].expand(batch, 1, length, length).float()
    return hidden.masked_fill(hidden.bool(), torch.finfo(torch.float32).min)


def repeated_for_rows(query, shown):
    batch, length = sizes_of(query)
    return shown[:, None, None].expand(batch, 2, length, length).clone()


@pytest.mark.parametrize("sizes", DYNAMIC)
@pytest.mark.parametrize("function", [shown_to_all, hidden_by_a_number, repeated_for_rows])
def test_masks_that_all_rows_share(function, sizes):
    text = of_any_sizes(function, sizes, shown)
    [mask] = re.findall(r"mask\(\S+ : tensor<(\S+)x(?:i1|f32)>", text)
    assert mask == "x".join("?" if sizes in (name, "both") else str(size)
                            for name, size in (("batch", 3), ("length", 6)))


@pytest.mark.parametrize("function", [
    lambda q, shown: shown[:, None, :, None].expand(-1, 1, -1, q.shape[2]),
    lambda q, shown: shown[:, None, None] | (rows_and_columns(q)[0] > 2),
    lambda q, shown: shown[:, None, None] & (
        rows_and_columns(q)[1] > rows_and_columns(q)[0] - 3)],
    ids=["of rows", "or a row", "and a window"])
def test_masks_of_padding_that_rows_do_not_share(function):
    text = of_any_sizes(function, "batch", shown)
    [mask] = re.findall(r"mask\(\S+ : tensor<(\S+)xi1>", text)
    assert mask == "?x6x6"


class Padded(nn.Module):
    """Causal attention that takes its mask of padding as transformers do."""

    def forward(self, x, attention_mask=None):
        mask = causal_by_places(x)
        if attention_mask is not None:
            mask = mask & attention_mask.bool()[:, None, None]
        return nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)


def test_remarks_on_masks_of_arguments():
    """Ones are an argument like any other: export says what to leave out."""
    two = nn.Sequential(Padded(), Padded()).eval()
    two.forward = lambda x, attention_mask=None: two[1](
        two[0](x, attention_mask), attention_mask)
    x, ones = torch.randn(2, 2, 6, 16), torch.ones(2, 6, dtype=torch.int64)
    given = nm.torch.export(two, x, {"attention_mask": ones})
    [remark] = given.remarks
    assert "mask" in given.text and remark.startswith("0 (File")
    assert " and 1 more: keeps a mask as a tensor" in remark
    assert "the values of 'attention_mask'; " in remark
    without = nm.torch.export(two, x)
    assert " causal" in without.text and "mask" not in without.text
    assert without.remarks == ()


# Constants


def test_what_no_argument_changes_is_computed_once():
    def turned(x):
        angles = torch.arange(6)[:, None] * 5e5 ** -(torch.arange(0, 8, 2) / 8)
        return x * angles.cos() + x * angles.sin()

    text = exported(turned, torch.randn(3, 6, 4))
    assert "math.cos" not in text and "math.sin" not in text and "known_" in text


def test_places_of_any_number_are_computed_in_the_call():
    model = Function(lambda x: x * torch.arange(x.shape[0]).cos()[:, None])
    found = nm.torch.export(model, torch.randn(3, 4), dynamic_batch=True)
    compiled = found.compile(opt_level=1, cache=False)
    for batch in (3, 5):
        x = torch.randn(batch, 4)
        torch.testing.assert_close(compiled(x), model(x))
    assert "math.cos" in found.text


def test_constants_that_loops_have_without_memory():
    text = exported(lambda x: x + torch.arange(6) + torch.full((6,), 2.5),
                    torch.randn(3, 6))
    assert "known_" not in text


def test_drawn_numbers_and_written_buffers_are_no_constants():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.ones(4))

        def forward(self, x):
            found = x * self.count.cos()
            self.count.add_(1)
            return found

    model, x = Counter(), torch.randn(2, 4)
    compiled = nm.torch.export(model, x).compile(opt_level=1, cache=False)
    for _ in range(3):
        torch.testing.assert_close(compiled(x), model(x))


def test_functions_share_constants_that_are_computed_at_export():
    def function(x):
        return x + torch.arange(4).cos()

    x = torch.randn(2, 4)
    both = nm.torch.join(nm.torch.export(Function(function), x, name="first"),
                         nm.torch.export(Function(function), x[:1], name="second"))
    assert len(both.resources) == 1
    compiled = both.compile(opt_level=1, cache=False)
    torch.testing.assert_close(compiled["first"](x), function(x))
    torch.testing.assert_close(compiled["second"](x[:1]), function(x[:1]))
