"""Attention that models write out, as two products with a softmax between: one op, and
the same results as PyTorch's, beside what only looks alike."""

import math
import os
import re

import pytest
from conftest import relative_error

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from export_models import Function  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", "0"))
LIMITS = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}
LEAST = {dtype: torch.finfo(dtype).min for dtype in LIMITS}


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(SEED)


def exported(function, *args, target="cpu", **options):
    """The text, after its result was compared with PyTorch's."""
    found = nm.torch.export(Function(function), args, **options)
    got = found.compile(target=target, opt_level=1, cache=False)(*args)
    want = function(*args)
    assert got.dtype == want.dtype
    assert relative_error(got.double().numpy(), want.double().numpy()) < LIMITS[want.dtype]
    return found.text


def drawn(dtype=torch.float32, batch=(2, 3), rows=5, keys=7, size=16):
    return [torch.randn(*batch, n, size).to(dtype) for n in (rows, keys, keys)]


def shown(keys=7, rows=5):
    """Which keys a row of two sequences sees: of one row none."""
    kept = torch.rand(2, 1, rows, keys) < 0.6
    kept[..., 0] = True
    kept[1, 0, 2] = False
    return kept


#: From queries, keys, values and what is shown.
WRITTEN = {
    "divided": lambda q, k, v, kept: (
        (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).softmax(-1) @ v),
    "bias": lambda q, k, v, kept: (
        (q @ k.mT * 0.3 + 2 * kept.to(q.dtype)).softmax(-1) @ v),
    "bias before the scale": lambda q, k, v, kept: (
        (0.5 * (q @ k.mT + kept.to(q.dtype))).softmax(-1) @ v),
    "least": lambda q, k, v, kept: (
        (q @ k.mT * 0.3 + torch.where(kept, 0, LEAST[q.dtype]).to(q.dtype)).softmax(-1) @ v),
    "filled": lambda q, k, v, kept: (
        (q @ k.mT * 0.3).masked_fill(~kept, LEAST[q.dtype]).softmax(-1) @ v),
    "chosen": lambda q, k, v, kept: (
        torch.where(kept, q @ k.mT, torch.full((), LEAST[q.dtype], dtype=q.dtype)
                    ).softmax(-1) @ v),
    "wide softmax": lambda q, k, v, kept: (
        (q @ k.mT * 0.3 + kept.to(q.dtype)).softmax(-1, dtype=torch.float32).to(q.dtype) @ v),
    "wide products": lambda q, k, v, kept: (
        (q.float() @ k.float().mT * 0.3).softmax(-1).to(v.dtype) @ v),
    "keys turned at once": lambda q, k, v, kept: (
        (q @ k.transpose(1, 2).permute(0, 2, 3, 1) * 0.3).softmax(-1) @ v),
    "batches in one": lambda q, k, v, kept: torch.bmm(
        torch.baddbmm(kept.expand(-1, 3, -1, -1).flatten(0, 1).to(q.dtype),
                      q.flatten(0, 1), k.flatten(0, 1).mT, beta=1, alpha=0.3)
        .view(2, 3, 5, 7).softmax(-1).view(6, 5, 7), v.flatten(0, 1)).view(2, 3, 5, 16),
    "flat softmax": lambda q, k, v, kept: torch.bmm(
        (torch.bmm(q.flatten(0, 1), k.flatten(0, 1).mT).view(2, 3, 5, 7)
         + torch.where(kept, 0, LEAST[q.dtype]).to(q.dtype)).view(6, 5, 7).softmax(-1),
        v.flatten(0, 1)).view(2, 3, 5, 16),
    "keys of all heads": lambda q, k, v, kept: (
        (q @ k[:, :1].mT * 0.3).softmax(-1) @ v[:, :1]),
    "one batch": lambda q, k, v, kept: (q[0] @ k[0].mT).softmax(-1) @ v[0],
    "two masks": lambda q, k, v, kept: (
        (q @ k.mT + kept.to(q.dtype)).masked_fill(~kept[:1], LEAST[q.dtype]).softmax(-1) @ v),
}


@pytest.mark.parametrize("name,dtype", [
    (name, dtype) for number, name in enumerate(WRITTEN)
    for dtype in (torch.float32, (torch.float16, torch.bfloat16)[number % 2])], ids=str)
def test_one_op(name, dtype):
    """In f16 and bf16, too, a row that sees nothing is the mean of all values."""
    text = exported(WRITTEN[name], *drawn(dtype), shown())
    assert text.count("nm.attention") == 1
    assert "math.exp" not in text


@pytest.mark.parametrize("name", ["least", "filled", "wide softmax"])
def test_on_simulated_gpus(name):
    text = exported(WRITTEN[name], *drawn(torch.float16), shown(), target="sim:sm_80")
    assert text.count("nm.attention") == 1


def test_a_causal_mask_is_a_flag():
    def causal(q, k, v):
        hidden = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
        return (q @ k.mT).masked_fill(hidden, -torch.inf).softmax(-1) @ v

    line = re.search("nm.attention .*", exported(causal, *drawn(rows=6, keys=6)))[0]
    assert " causal " in line and "mask(" not in line


def test_a_mask_of_keys_stays_narrow():
    """As transformers' eager attention adds one of padding, repeated for all rows."""
    def padded(q, k, v, kept):
        mask = torch.ones(5, 7, dtype=torch.bool)[None, None] & kept[:, None, None]
        mask = torch.where(mask.expand(2, 1, 5, 7), 0.0, LEAST[q.dtype])
        return (q @ k.mT * 0.25 + mask).softmax(-1) @ v

    kept = torch.arange(7) < torch.tensor([[7], [4]])
    assert re.search(r"mask\(%\d+ : tensor<2x7xf32>\)", exported(padded, *drawn(), kept))


def test_unknown_sizes():
    dims = [{0: torch.export.Dim("b"), 2: torch.export.Dim("n")}] * 3
    model = Function(lambda q, k, v: (q @ k.mT / 4).softmax(-1) @ v)
    given = drawn(rows=6, keys=6)
    found = nm.torch.export(model, tuple(given), dynamic_shapes=(tuple(dims),))
    assert found.text.count("nm.attention") == 1
    compiled = found.compile(opt_level=1)
    for batch, rows in (((2, 3), 6), ((1, 3), 9), ((4, 3), 1)):
        args = drawn(batch=batch, rows=rows, keys=rows)
        assert relative_error(compiled(*args).numpy(), model(*args).double().numpy()) < 1e-5


def two_results(q, k, v):
    weights = (q @ k.mT).softmax(-1)
    return weights @ v + weights.sum()


KEYS = torch.randn(2, 3, 16, 7)


@pytest.mark.parametrize("function", [
    two_results,
    lambda q, k, v: (q @ k.mT).softmax(-2) @ v,
    lambda q, k, v: (q @ k.mT).masked_fill(k.mT[:, :, :1] > 0, -5).softmax(-1) @ v,
    lambda q, k, v: (q @ k.mT * k.mT[:, :, :1]).softmax(-1) @ v,
    lambda q, k, v: v.mT @ (k @ q.mT).softmax(-1),
    lambda q, k, v: (q @ k.mT).log_softmax(-1) @ v,
    lambda q, k, v: (q @ KEYS).softmax(-1) @ v,
    lambda q, k, v: (q @ k.mT).view(2, 3, 7, 5).softmax(-1).view(2, 3, 5, 7) @ v,
    lambda q, k, v: torch.add((q @ k.mT), k.mT[:, :, :1], alpha=2).softmax(-1) @ v,
])
def test_what_looks_alike(function):
    assert "nm.attention" not in exported(function, *drawn())


@pytest.mark.parametrize("name", ["BertModel", "LlamaModel", "GPTJModel", "T5EncoderModel",
                                  "BloomModel", "SwinModel"])
def test_models_with_eager_attention(name):
    transformers = pytest.importorskip("transformers")
    sizes = {
        "BertModel": dict(hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                          intermediate_size=64),
        "LlamaModel": dict(hidden_size=32, num_hidden_layers=1, num_attention_heads=4,
                           num_key_value_heads=2, intermediate_size=64, use_cache=False),
        "GPTJModel": dict(n_embd=32, n_layer=1, n_head=2, n_positions=32, rotary_dim=8,
                          use_cache=False, bos_token_id=1, eos_token_id=1),
        "T5EncoderModel": dict(d_model=32, d_kv=16, d_ff=64, num_layers=1, num_heads=2,
                               use_cache=False),
        "BloomModel": dict(hidden_size=32, n_layer=1, n_head=2, use_cache=False),
        "SwinModel": dict(image_size=32, patch_size=4, embed_dim=16, depths=[1],
                          num_heads=[2], window_size=4),
    }[name]
    made = getattr(transformers, name)
    words = {} if name == "SwinModel" else {"vocab_size": 100}
    model = made(made.config_class(**sizes, **words)).eval()
    model.set_attn_implementation("eager")
    x = torch.randint(1, 100, (2, 9))
    args = {"input_ids": x, "attention_mask": (
        torch.arange(9) < torch.tensor([[9], [6]])).long()}
    if name == "SwinModel":
        args = {"pixel_values": torch.randn(2, 3, 32, 32)}
    found = nm.torch.export(model, (), args)
    assert found.text.count("nm.attention") == 1
    with torch.no_grad():
        got, want = found.compile(opt_level=1)(**args)[0], model(**args)[0]
    assert relative_error(got.numpy(), want.double().numpy()) < 1e-5
