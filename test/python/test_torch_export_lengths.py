"""Masks of attention that hide what is behind lengths become lengths of nm.attention, and
what they cannot say stays a mask."""

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from conftest import relative_error  # noqa: E402
from export_models import Function  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.functional import scaled_dot_product_attention as attention  # noqa: E402

INF = float("inf")


def keys_of(k):
    return torch.arange(k.shape[-2])


def below(q, k, v, lengths):
    return attention(q, k, v, (keys_of(k) < lengths[:, None])[:, None, None, :])


def not_from(q, k, v, lengths):
    return attention(q, k, v, ~(lengths.view(-1, 1, 1, 1) <= keys_of(k)))


def added(q, k, v, lengths):
    hidden = keys_of(k)[None] >= lengths[:, None]
    bias = torch.zeros(hidden.shape, dtype=q.dtype).masked_fill(hidden, -INF)
    return attention(q, k, v, bias[:, None, None])


def up_to(q, k, v, last):
    return attention(q, k, v, (keys_of(k) <= last[:, None])[:, None, None])


def causal(q, k, v, lengths):
    ones = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool)
    return attention(q, k, v, (keys_of(k) < lengths[:, None])[:, None, None] & ones.tril())


def twice(q, k, v, lengths):
    columns = keys_of(k)
    return attention(q, k, v, (columns < lengths[:, None, None, None]) & (columns < 4))


def computed(q, k, v, lengths):
    """Lengths that a mask with holes counts."""
    count = (lengths[:, None] > torch.arange(7)).sum(-1)
    return attention(q, k, v, (keys_of(k) < count[:, None] + 1)[:, None, None])


def of_sequences(q, k, v, lengths):
    """Without heads."""
    q, k, v = (each[:, 0] for each in (q, k, v))
    return attention(q, k, v, keys_of(k) < lengths[:, None, None])


def written_out(q, k, v, lengths):
    scores = q @ k.transpose(-1, -2) / 4
    hidden = keys_of(k) >= lengths[:, None]
    scores = scores.masked_fill(hidden[:, None, None], -INF)
    return torch.softmax(scores, -1) @ v


def rising(q, k, v, lengths):
    """Rows that begin at a length: keys behind the last row's are hidden from all."""
    ends = lengths[:, None] + torch.arange(q.shape[2])
    return attention(q, k, v, (keys_of(k) < ends[..., None])[:, None])


def of_positions(q, k, v, positions):
    return attention(q, k, v, keys_of(k) <= positions.repeat(2)[:, None])


def with_holes(q, k, v, lengths):
    seen = (keys_of(k) < lengths[:, None]) & (torch.sin(v[:, 0, :, 0]) > -.5)
    return attention(q, k, v, seen[:, None, None])


#: What each has: lengths, a mask, and the causal flag.
WHOLE = {below: "l", not_from: "l", added: "l", up_to: "l", causal: "lc", twice: "lm",
         computed: "l", of_sequences: "l", written_out: "l", rising: "lm",
         of_positions: "lm", with_holes: "lm"}


def parts(text):
    return "".join(letter for letter, word in (("l", "lengths("), ("m", "mask("),
                                                ("c", " causal ")) if word in text)


def draw(kind, queries=6, dtype=torch.float32):
    q, k, v = (torch.randn(3, heads, length, 16).to(dtype)
               for heads, length in ((4, queries), (4, 6), (4, 6)))
    return q, k, v, torch.randint(1, 8, (3,)).to(kind)


@pytest.mark.parametrize("kind", [torch.int64, torch.int32])
@pytest.mark.parametrize("function", WHOLE, ids=lambda function: function.__name__)
def test_ways_to_write_lengths(function, kind):
    model = Function(function)
    exported = nm.torch.export(model, draw(kind))
    assert parts(exported.text) == WHOLE[function], exported.text
    compiled = exported.compile(opt_level=1)
    for lengths in (torch.tensor([1, 6, 4]), torch.tensor([9, 5, 2])):
        args = (*draw(kind)[:3], lengths.to(kind))
        got, want = compiled(*args), model(*(each.double() if each.is_floating_point()
                                             else each for each in args))
        assert relative_error(got.double().numpy(), want.numpy()) < 1e-5


def least(q, k, v, lengths):
    """A row that sees nothing is a mean of all keys then."""
    hidden = keys_of(k) >= lengths[:, None]
    bias = torch.zeros(hidden.shape).masked_fill(hidden, torch.finfo(torch.float32).min)
    return attention(q, k, v, bias[:, None, None])


def given(q, k, v, lengths):
    seen = v[:, 0, :, 0] > lengths[:, None] - 4
    return attention(q, k, v, seen[:, None, None])


def from_the_left(q, k, v, lengths):
    return attention(q, k, v, (keys_of(k) >= 6 - lengths[:, None])[:, None, None])


def of_heads(q, k, v, lengths):
    return attention(q, k, v, keys_of(k) < lengths.repeat(2)[:4].view(4, 1, 1))


def of_repeated_keys(q, k, v, lengths):
    """Keys of one sequence, of which each has its own length."""
    return attention(q, k[:1].expand(3, -1, -1, -1), v[:1].expand(3, -1, -1, -1),
                     (keys_of(k) < lengths[:, None])[:, None, None])


@pytest.mark.parametrize("function", [least, given, from_the_left, of_heads],
                         ids=lambda function: function.__name__)
def test_what_stays_a_mask(function):
    model, args = Function(function), draw(torch.int64)
    exported = nm.torch.export(model, args)
    assert parts(exported.text) == "m", exported.text
    for lengths in (args[3], torch.tensor([1, 0, 4])):
        got, want = exported.compile(opt_level=1)(*args[:3], lengths), model(
            *args[:3], lengths)
        torch.testing.assert_close(got, want, equal_nan=True)


def test_keys_of_one_sequence():
    model, args = Function(of_repeated_keys), draw(torch.int64)
    got = nm.torch.export(model, args).compile(opt_level=1)(*args)
    torch.testing.assert_close(got, model(*args))


@pytest.mark.parametrize("target", ["cpu", "sim:sm_80", "sim:sm_90a"])
@pytest.mark.parametrize("queries", [1, 6, 70])
def test_lengths_of_groups_in_f16(target, queries):
    """Of a batch that is not known, with heads that share keys, and lengths of 0."""
    def grouped(q, k, v, lengths):
        return attention(q, k, v, (keys_of(k) < lengths[:, None])[:, None, None],
                         enable_gqa=True)

    model, (q, k, v, lengths) = Function(grouped), draw(torch.int64, queries, torch.half)
    k, v = k[:, :2], v[:, :2]
    exported = nm.torch.export(model, (q, k, v, lengths), dynamic_batch=True)
    assert parts(exported.text) == "l"
    got = exported.compile(target=target)(*(torch.cat([each] * 2) for each in (q, k, v)),
                                          torch.tensor([0, 1, 6, 4, 3, 8]))
    want = model(*(torch.cat([each.double()] * 2) for each in (q, k, v)),
                 torch.tensor([1, 1, 6, 4, 3, 8]))
    assert not got[0].any()
    assert relative_error(got[1:].double().numpy(), want[1:].numpy()) < 2e-3


def test_a_model_of_transformers():
    transformers = pytest.importorskip("transformers")

    class Padded(nn.Module):
        """Right padding, as of texts of different lengths."""

        def __init__(self):
            super().__init__()
            self.bert = transformers.BertModel(transformers.BertConfig(
                vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                intermediate_size=48))

        def forward(self, tokens, lengths):
            mask = torch.arange(tokens.shape[1]) < lengths[:, None]
            return self.bert(tokens, attention_mask=mask.long()).last_hidden_state

    torch.manual_seed(0)
    model = Padded().eval()
    tokens, lengths = torch.randint(0, 50, (3, 9)), torch.tensor([9, 1, 5])
    exported = nm.torch.export(model, (tokens, lengths), dynamic_batch=True)
    assert parts(exported.text) == "l", exported.text
    compiled = exported.compile(opt_level=1)
    with torch.no_grad():
        got, want = compiled(tokens, lengths), model(tokens, lengths)
        alone = model(tokens[2:, :5], lengths[2:])
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(got[2:, :5], alone, rtol=1e-4, atol=1e-5)
