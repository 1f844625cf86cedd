"""Exported experts of transformers' models, and operators that have products of groups of
rows, counts, and sums at computed places, compared with PyTorch."""

import copy
import os

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from test_torch_export_ops import TOLERANCES, check, draw, every, same  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16],
                                 ids=str)
COMMON = dict(vocab_size=32, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
              num_key_value_heads=1, head_dim=8, max_position_embeddings=32,
              pad_token_id=0, bos_token_id=1, eos_token_id=2, intermediate_size=24,
              num_experts_per_tok=2, use_cache=False)
MODELS = {"MixtralForCausalLM": dict(COMMON, num_local_experts=4),
          "Qwen3MoeForCausalLM": dict(COMMON, num_experts=4, moe_intermediate_size=24),
          "GptOssForCausalLM": dict(COMMON, num_local_experts=4,
                                    layer_types=["full_attention"])}


def make_model(name, **options):
    torch.manual_seed(int(os.environ.get("NM_TEST_SEED", 0)))
    kind = getattr(transformers, name)
    model = kind(kind.config_class(**dict(MODELS[name], **options))).eval()
    for parameter in model.model.layers[0].mlp.experts.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model


@pytest.mark.parametrize("pattern", [None, "2:4"])
@pytest.mark.parametrize("name", MODELS)
def test_models(name, pattern):
    """Of any batch, beside PyTorch in float64."""
    model = make_model(name)
    if pattern:
        nm.torch.sparsify(model, {"*experts*": pattern, "*": None}, prune=True, force=True)
    expected = copy.deepcopy(model)
    nm.torch.densify(expected)
    # Products of groups have no float64.
    expected.double().set_experts_implementation("eager")
    exported = nm.torch.export(model, torch.randint(3, 32, (2, 5)), dynamic_batch=True)
    assert any("experts for all tokens" in each for each in exported.remarks)
    assert exported.text.count("nm.assemble") == (8 if pattern else 0)
    compiled = exported.compile(opt_level=1)
    for batch in (1, 2):
        tokens = torch.randint(3, 32, (batch, 5))
        with torch.no_grad():
            same(compiled(tokens)[0].double(), expected(tokens).logits, 1e-5)
    assert "forward" not in vars(model.model.layers[0].mlp.experts)


def test_a_stacked_weight_that_obeys_a_pattern_is_sparse():
    model = make_model("MixtralForCausalLM")
    experts = model.model.layers[0].mlp.experts
    for weight in (*experts.gate_up_proj.data, *experts.down_proj.data):
        weight.copy_(nm.prune(weight, "2:4", axis=1).weight)
    compiled = nm.torch.export(model, torch.randint(3, 32, (2, 5))).compile(opt_level=1)
    # The first products of all experts have one input, and are one.
    shapes = [remark.partition(", f32")[0] for remark in compiled.remarks
              if "<2:4>" in remark]
    assert sorted(shapes) == [*["nm.spmm <2:4> (50.0 % sparse), m = 10, n = 16, k = 24"] * 4,
                              "nm.spmm <2:4> (50.0 % sparse), m = 10, n = 192, k = 16"]


@DTYPES
def test_an_expert_that_is_infinite_for_others_tokens(dtype):
    """What an expert makes of tokens that did not choose it does not count."""
    model = make_model("MixtralForCausalLM").model.layers[0].mlp.to(dtype)
    model.experts.down_proj.data[3] = float("inf")
    model.gate.weight.data[3] = -100 * model.gate.weight.data[:3].sum(0)
    x = draw(1, 6, 16, dtype=dtype)
    with torch.no_grad():
        want = model(x)
        is_seen = want.isfinite().all(-1)
        got = nm.torch.export(model, x).compile(opt_level=1)(x)
    assert is_seen.any() and torch.equal(got.isfinite().all(-1), is_seen)
    same(got[is_seen], want[is_seen], TOLERANCES[dtype])


def test_a_layer_of_experts_of_nm_in_a_graph():
    """nm.expert_linear, as torch.compile has experts."""
    model = make_model("MixtralForCausalLM").model.layers[0].mlp.experts
    nm.torch.sparsify(model, "2:4", prune=True, force=True)
    layers = model.down_proj

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = layers

        def forward(self, x, counts):
            return self.layers(x, counts)

    args = draw(7, 24), torch.tensor([2, 0, 4, 1])
    compiled = nm.torch.export(Layer(), args).compile(opt_level=1)
    for counts in (args[1], torch.tensor([0, 3, 0, 2])):
        with torch.no_grad():
            same(compiled(args[0], counts), layers(args[0], counts), 1e-5)


GROUPED = {"rows": ((9, 16), (3, 16, 24)), "both": ((3, 9, 16), (3, 16, 24)),
           "inner": ((9, 16), (16, 24)), "columns": ((3, 9, 16), (16, 24))}


@pytest.mark.skipif(not hasattr(F, "grouped_mm"), reason="a newer PyTorch")
@pytest.mark.parametrize("kind", GROUPED)
def test_products_of_groups(kind):
    a, b = (draw(*shape, seed=seed, dtype=torch.bfloat16)
            for seed, shape in enumerate(GROUPED[kind]))
    size = {"rows": 9, "inner": 16, "columns": 24}.get(kind)
    if size is None:
        return check(F.grouped_mm, a, b)
    for ends in ([2, 2, size], [0, 8, size]):
        ends = torch.tensor(ends, dtype=torch.int32)
        check(lambda a, b, ends: F.grouped_mm(a, b, offs=ends), a, b, ends)


def test_counts():
    x = torch.tensor([[0., 3., 2.5, -1., 4., 7.], [1., 1., 4., 3.9, 0.1, float("inf")]])
    check(every({"counts": lambda x: torch.histc(x, 4, 0, 4),
                 "fewer": lambda x: torch.histc(x, 3, 1, 3),
                 "buckets": lambda x: torch.bucketize(x, torch.tensor([0., 1., 2.5])),
                 "right": lambda x: torch.bucketize(x, torch.tensor([0., 1.]), right=True)
                 }), x)


@DTYPES
def test_sums_at_places(dtype):
    places = torch.tensor([3, 0, 3, 1, 3])
    check(every({
        "rows": lambda x, y, at: x.index_add(0, at, y[:, :6]),
        "columns": lambda x, y, at: x.index_add(1, at, y[:4, :5], alpha=2),
        "put": lambda x, y, at: x.index_put((at,), y[:, :6], accumulate=True),
        "elements": lambda x, y, at: x.index_put((at, at - 2), y[:, 0], accumulate=True),
        "written": lambda x, y, at: x.index_put(
            (torch.arange(4), at[:4] + torch.arange(4) - 3), y[0, :4]),
        "largest": lambda x, y, at: x.scatter_reduce(
            1, at.expand(4, 5), y[:4, :5], "amax"),
        "least": lambda x, y, at: x.scatter_reduce(
            0, at.unsqueeze(1).expand(5, 2), y, "amin", include_self=False)}),
        draw(4, 6, dtype=dtype), draw(5, 6, dtype=dtype, seed=1), places)


def test_sorts_of_any_size():
    check(lambda x: x.reshape(-1).argsort(stable=True).reshape(x.shape),
          draw(3, 5), dynamic=True)


@DTYPES
def test_computed_weights_are_constants(dtype):
    """As those of nn.utils.parametrizations.weight_norm."""
    weight_norm = nn.utils.parametrizations.weight_norm
    convolution = weight_norm(nn.Conv1d(8, 8, 3, padding=1, groups=4), dim=2)
    model = nn.Sequential(convolution, nn.GELU(), weight_norm(nn.Conv1d(8, 4, 3))).to(dtype)
    check(model, draw(2, 8, 9, dtype=dtype), dynamic=True)
    exported = nm.torch.export(model.eval(), draw(2, 8, 9, dtype=dtype))
    assert not any("original" in key for key in exported.resources)
