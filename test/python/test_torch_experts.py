"""Experts of transformers' models, whose weights are stacked to three dimensions."""

import copy
import io
import os

import pytest
from conftest import relative_error

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from nm.io import open_weights  # noqa: E402
from nm.torch import NMLinear, _layer_timing, _search, densify, sparsify  # noqa: E402
from torch import nn  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", "0"))
pytestmark = pytest.mark.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
COMMON = dict(vocab_size=32, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
              num_key_value_heads=1, head_dim=8, max_position_embeddings=32,
              pad_token_id=0, bos_token_id=1, eos_token_id=2, intermediate_size=24,
              num_experts_per_tok=2)
MODELS = {"MixtralForCausalLM": dict(COMMON, num_local_experts=4),
          "Qwen3MoeForCausalLM": dict(COMMON, num_experts=4, moe_intermediate_size=24),
          "GptOssForCausalLM": dict(COMMON, num_local_experts=4,
                                    layer_types=["full_attention"])}
RULES = {"*experts*": "2:4"}


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(SEED)


def make_model(name):
    kind = getattr(transformers, name)
    model = kind(kind.config_class(**MODELS[name])).eval()
    for parameter in model.model.layers[0].mlp.experts.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model


def pruned(model):
    """A dense copy, whose experts obey the pattern."""
    model = copy.deepcopy(model)
    experts = model.model.layers[0].mlp.experts
    for name in ("gate_up_proj", "down_proj"):
        for weight in getattr(experts, name).data:
            weight.copy_(nm.prune(weight, "2:4", axis=0 if experts.is_transposed else 1)
                         .weight)
    return model


def run(model, tokens):
    with torch.no_grad():
        return model(tokens).logits


def assert_close(got, expected, limit=1e-5):
    assert got.shape == expected.shape
    assert relative_error(got.detach().double().numpy(),
                          expected.detach().double().numpy()) < limit


def assert_same(loaded, model, tokens):
    for name in ("gate_up_proj", "down_proj"):
        layers = getattr(loaded.model.layers[0].mlp.experts, name)
        assert all(type(layer) is NMLinear for layer in layers) and len(layers) == 4
    assert torch.equal(run(loaded, tokens), run(model, tokens))


@pytest.mark.parametrize("name", MODELS)
def test_there_and_back(name, tmp_path):
    model, tokens = make_model(name), torch.randint(3, 32, (2, 5))
    expected = pruned(model)
    assert sparsify(copy.deepcopy(model), RULES, prune=False).layers
    kind = type(model.model.layers[0].mlp.experts)
    report = sparsify(model, RULES, {"input_ids": tokens}, prune=True, force=True)
    lines = {layer.name.rpartition(".")[2]: layer for layer in report if layer.replaced}
    assert set(lines) == {"gate_up_proj", "down_proj"}
    for line in lines.values():
        assert line.shape in ((4, 48, 16), (4, 16, 24)) and "4 experts" in line.reason
        assert 5 <= line.rows <= 20
    assert isinstance(model.model.layers[0].mlp.experts, kind)
    assert_close(run(model, tokens), run(expected, tokens))
    load = transformers.AutoModelForCausalLM.from_pretrained
    model.save_pretrained(tmp_path / "sparse")
    assert_same(load(tmp_path / "sparse"), model, tokens)
    for into in (None, make_model(name)):
        assert_same(nm.torch.load(tmp_path / "sparse", into), model, tokens)
    if name != "GptOssForCausalLM":  # Whose published weights are stacked themselves.
        source = open_weights(tmp_path / "sparse")
        assert sum(source.condensed(each) is not None for each in source) == 12
        nm.convert(tmp_path / "sparse", tmp_path / "dense", format="dense")
        assert_close(run(load(tmp_path / "dense"), tokens), run(expected, tokens))
        nm.convert(tmp_path / "dense", tmp_path / "converted", names="*experts*")
        assert_same(load(tmp_path / "converted"), model, tokens)
        assert_same(nm.torch.load(tmp_path / "converted"), model, tokens)
    else:
        densify(copy.deepcopy(model)).copy()
        expected.save_pretrained(tmp_path / "dense")
    assert_same(nm.torch.load(tmp_path / "dense", rules=RULES), model, tokens)
    assert_same(load(tmp_path / "dense", quantization_config=nm.torch.Config(RULES)),
                model, tokens)
    buffer = io.BytesIO()
    torch.save(model, buffer)
    buffer.seek(0)
    for twin in (copy.deepcopy(model), torch.load(buffer, weights_only=False)):
        assert_same(twin, model, tokens)
    twin.load_state_dict(model.state_dict())
    assert len(densify(model)) == 8
    experts = model.model.layers[0].mlp.experts
    assert type(experts) is kind
    assert list(experts.state_dict()) == list(
        expected.model.layers[0].mlp.experts.state_dict())
    assert torch.equal(run(model, tokens), run(expected, tokens))


def train(model, folder, resume=None, **options):
    data = [{"input_ids": torch.arange(3, 11), "labels": torch.arange(3, 11)}] * 4
    epochs = []
    trainer = transformers.Trainer(model, transformers.TrainingArguments(
        str(folder), num_train_epochs=2, use_cpu=True, report_to=[], learning_rate=3e-2,
        disable_tqdm=True, save_strategy="epoch", per_device_train_batch_size=2,
        eval_strategy="epoch", metric_for_best_model="epochs", greater_is_better=False,
        **options), train_dataset=data, eval_dataset=data,
        compute_metrics=lambda _: epochs.append(0) or {"epochs": float(len(epochs))})
    told = []
    trainer._issue_warnings_after_load = told.append
    trainer.train(resume_from_checkpoint=resume)
    assert all(not each.missing_keys and not each.unexpected_keys for each in told)
    return model.eval()


@pytest.mark.parametrize("rules", ["2:4", {"*gate_up_proj": "4:8, block = 1x4", "*": None},
                                   {"*experts*": None, "*": "2:4"}])
@pytest.mark.parametrize("name", MODELS)
def test_training_goes_on(name, rules, tmp_path):
    """Trainer's own loading: of the best checkpoint, of one to go on from, and of shards,
    which have an expert's gate and up apart."""
    model, tokens = make_model(name), torch.randint(3, 32, (2, 5))
    sparsify(model, rules, prune=True, force=True)
    resumed, sharded = copy.deepcopy(model), copy.deepcopy(model)
    first, last = (str(tmp_path / f"checkpoint-{steps}") for steps in (2, 4))
    load = type(model).from_pretrained
    train(model, tmp_path, load_best_model_at_end=True)
    assert torch.equal(run(load(first), tokens), run(model, tokens))
    assert not torch.equal(run(load(last), tokens), run(model, tokens))
    train(resumed, tmp_path, last)
    assert torch.equal(run(load(last), tokens), run(resumed, tokens))
    model.save_pretrained(tmp_path / "shards", max_shard_size=3000)
    transformers.trainer_utils.load_sharded_checkpoint(
        sharded, tmp_path / "shards", strict=False)
    assert torch.equal(run(sharded, tokens), run(model, tokens))


@pytest.mark.parametrize("form", ["folder", "shards", "file", "without configuration"])
@pytest.mark.parametrize("into", ["dense", "sparse"])
def test_a_model_takes_published_names(form, into, tmp_path):
    """Whose experts are called `block_sparse_moe.experts.0.w1`, gate and up apart."""
    model, tokens = make_model("MixtralForCausalLM"), torch.randint(3, 32, (2, 5))
    sparsify(model, RULES, prune=True, force=True)
    nm.torch.save(model, tmp_path, max_shard_size=3000 if form == "shards" else None)
    assert (len(list(tmp_path.glob("*.safetensors"))) > 1) == (form == "shards")
    if form == "without configuration":
        (tmp_path / "config.json").unlink()
    path = tmp_path / "model.safetensors" if form == "file" else tmp_path
    other, calls = make_model("MixtralForCausalLM"), []
    other.model.layers[0].mlp.gate.register_forward_hook(lambda *_: calls.append(0))
    if into == "sparse":
        sparsify(other, RULES, prune=True, force=True)
        kept = other.model.layers[0].mlp.experts.down_proj[0].values
    assert nm.torch.load(path, other) is other
    assert_same(other, model, tokens)
    assert len(calls) == 1
    if into == "sparse":
        assert other.model.layers[0].mlp.experts.down_proj[0].values is kept


def test_a_dense_weight_of_an_expert_obeys_its_pattern(tmp_path):
    model = make_model("Qwen3MoeForCausalLM")
    dense = {f"model.layers.0.mlp.experts.0.{part}_proj.weight": torch.ones(24, 16)
             for part in ("gate", "up")}
    sparsify(model, RULES, prune=True, force=True)
    with pytest.raises(nm.PatternError, match=r"experts.0.gate_proj.weight"):
        model.load_state_dict(dense, strict=False)


@pytest.mark.parametrize("block", ["1x8", "1x16"])
def test_blocks(block, tmp_path):
    """Published weights are some rows of stacked ones, of whole blocks or not."""
    model, tokens = make_model("MixtralForCausalLM"), torch.randint(3, 32, (2, 5))
    sparsify(model, {"*experts*": f"2:4, block = {block}"}, prune=True)
    model.save_pretrained(tmp_path)
    source = open_weights(tmp_path)
    condensed = [name for name in source if source.condensed(name) is not None]
    # 24 of 48 rows are 1.5 blocks of 16.
    assert len(condensed) == (12 if block == "1x8" else 4)
    loaded = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    assert_same(loaded, model, tokens)


def test_gradients_and_steps():
    model, tokens = make_model("MixtralForCausalLM").train(), torch.randint(3, 32, (2, 5))
    expected = pruned(model)
    before = torch.optim.SGD(model.parameters(), 0.1)
    sparsify(model, RULES, prune=True)
    wanted = torch.randn(2, 5, 32)
    for train in (True, False):
        for each in (model.train(train), expected.train(train)):
            each.zero_grad()
            (each(tokens).logits * wanted).sum().backward()
        for name in ("gate_up_proj", "down_proj"):
            stacked = getattr(expected.model.layers[0].mlp.experts, name)
            for i, layer in enumerate(getattr(model.model.layers[0].mlp.experts, name)):
                assert_close(layer.weight.grad, stacked.grad[i] * (stacked[i] != 0), 1e-4)
        assert_close(model.model.embed_tokens.weight.grad,
                     expected.model.embed_tokens.weight.grad, 1e-4)
    with pytest.warns(UserWarning, match="experts.down_proj"):
        before.step()
    torch.optim.SGD(model.parameters(), 0.1).step()
    layer = model.model.layers[0].mlp.experts.down_proj[0]
    assert nm.check(layer.weight.detach().clone(), "2:4", axis=1)


def test_experts_are_not_quantized():
    model, tokens = make_model("MixtralForCausalLM").to(torch.bfloat16), torch.tensor([[3, 4]])
    sparsify(model, "2:4", prune=True)
    report = nm.torch.quantize(model, 8, 16)
    lines = {line.name.rpartition(".")[2]: line for line in report}
    assert not lines["down_proj"].replaced and lines["q_proj"].replaced
    assert "experts keep their floats" in lines["gate_up_proj"].reason
    assert run(model, tokens).isfinite().all()


def test_experts_without_tokens():
    model = make_model("MixtralForCausalLM")
    experts, dense = model.model.layers[0].mlp.experts, pruned(model)
    dense = dense.model.layers[0].mlp.experts
    sparsify(model, RULES, prune=True)
    for rows in (0, 1, 3):
        x, ids = torch.randn(rows, 16), torch.full((rows, 2), 2)
        ids[:, 1:] = 3
        weights = torch.rand(rows, 2, requires_grad=True)
        for train in (False, True):
            experts.train(train)
            assert_close(experts(x, ids, weights), dense(x, ids, weights)) if rows else None
            assert experts(x, ids, weights).shape == (rows, 16)
    # An expert that another process has.
    ids = torch.tensor([[0, 4], [4, 4]])
    x, weights = torch.randn(2, 16), torch.ones(2, 2)
    got = experts.eval()(x, ids, weights)
    only = dense(x[:1], ids[:1, :1], weights[:1, :1])
    assert_close(got[:1], only) and not got[1].any()


def test_wanda_looks_at_each_expert():
    model, tokens = make_model("Qwen3MoeForCausalLM"), torch.randint(3, 32, (2, 30))
    dense = copy.deepcopy(model)
    report = sparsify(model, RULES, prune="wanda", calibration=[{"input_ids": tokens}])
    assert sum(layer.replaced for layer in report) == 2
    seen = {}
    experts = dense.model.layers[0].mlp.experts
    with nm.torch._unfold.unfolded(dense):
        for i, layer in enumerate(experts.gate_up_proj):
            layer.register_forward_pre_hook(
                lambda _, args, i=i: seen.setdefault(i, args[0].detach()))
        run(dense, tokens)
        for i, layer in enumerate(experts.gate_up_proj):
            scores = nm.wanda_scores(layer.weight.detach(), seen[i].norm(dim=0))
            want = nm.prune(layer.weight.detach(), "2:4", axis=1, scores=scores).weight
            got = model.model.layers[0].mlp.experts.gate_up_proj[i].weight
            assert torch.equal(got, want)
            layer._forward_pre_hooks.clear()


def test_what_stays_dense_and_why():
    model, tokens = make_model("MixtralForCausalLM"), torch.randint(3, 32, (2, 5))
    half = pruned(model)
    half.model.layers[0].mlp.experts.down_proj.data[2, 0] = 1
    report = sparsify(half, RULES)
    lines = {layer.name.rpartition(".")[2]: layer for layer in report}
    assert lines["gate_up_proj"].replaced and not lines["down_proj"].replaced
    assert "expert 2: breaks its pattern" in lines["down_proj"].reason
    assert isinstance(half.model.layers[0].mlp.experts.down_proj, nn.Parameter)
    assert run(half, tokens).isfinite().all()
    state = half.state_dict()
    assert "model.layers.0.mlp.experts.down_proj" in state
    half.load_state_dict(state)

    class Slices(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate_up_proj = nn.Parameter(torch.randn(2, 8, 16))
            self.other = nn.Linear(16, 8)

    report = sparsify(nn.ModuleDict({"own": Slices()}), "2:4", prune=True)
    assert "Slices multiplies by slices of gate_up_proj 2x8x16" in report.layers[0].reason


@pytest.mark.parametrize("name", ["MixtralForCausalLM", "GptOssForCausalLM"])
def test_graphs(name):
    """Inference is one graph, whatever experts are chosen; training is several."""
    model, tokens = make_model(name), torch.randint(3, 32, (2, 5))
    sparsify(model, RULES, prune=True)
    experts = model.model.layers[0].mlp.experts
    want = run(model, tokens)
    compiled = torch.compile(experts, backend="eager", fullgraph=True)
    x, ids, weights = torch.randn(6, 16), torch.randint(0, 4, (6, 2)), torch.rand(6, 2)
    with torch.no_grad():
        for chosen in (ids, torch.full((6, 2), 1), ids.flip(0)):
            assert_close(compiled(x, chosen, weights), experts(x, chosen, weights))
        program = torch.export.export(experts, (x, ids, weights))
        assert str(program.graph).count("nm.expert_linear") == 2
        assert_close(program.module()(x, ids.flip(0), weights),
                     experts(x, ids.flip(0), weights))
    if name == "MixtralForCausalLM":
        whole = torch.compile(model, backend="eager")
        assert_close(run(whole, tokens), want)
        whole.train()(tokens).logits.sum().backward()
        assert experts.down_proj[0].values.grad is not None


def test_search_reaches_experts(monkeypatch):
    """All experts of a stacked weight have one pattern and count as so many products."""
    def taken(dense, sparse, x):
        return _layer_timing.Timing("vector", None, 2.0, 1.0 if sparse.pattern.n == 2 else 0.5)

    monkeypatch.setattr(_search, "time_layer", taken)
    model = make_model("MixtralForCausalLM")
    before, kinds = copy.deepcopy(model.state_dict()), [type(m) for m in model.modules()]
    report = nm.torch.search(model, ["2:4", "1:4"], torch.randint(0, 32, (2, 24)), speedup=3)
    assert [type(m) for m in model.modules()] == kinds
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name])
    found = {layer.name: layer for layer in report}
    stacks = [name for name in found if name.endswith("gate_up_proj")]
    assert stacks and len(found[stacks[0]].shape) == 3
    experts = found[stacks[0]].shape[0]
    assert found[stacks[0]].dense_seconds == 2.0 * experts
    assert any(layer.pattern is not None and layer.error > 0 for name, layer in found.items()
               if name in stacks)
    made = sparsify(model, report.rules, prune=True)
    replaced = {layer.name: layer.pattern for layer in made if layer.replaced}
    assert all(replaced.get(name) == layer.pattern for name, layer in found.items())


def test_masks_of_experts():
    model, tokens = make_model("MixtralForCausalLM"), torch.randint(0, 32, (2, 24))
    schedule = nm.torch.mask_layers(model, {"*gate_up_proj": "2:4", "*down_proj": "1:4",
                                            "*": None}, rule="sr-ste", every=1)
    assert schedule.layers and all(name[-2] == "." for name in schedule.layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        model(tokens, labels=tokens).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        assert 0 <= schedule.step() <= 1
    model.eval()
    with torch.no_grad():
        wanted = model(tokens).logits
        names = schedule.finish()
        assert all(isinstance(model.get_submodule(name), NMLinear) for name in names)
        assert_close(model(tokens).logits, wanted)
        nm.torch.densify(model)
        assert_close(model(tokens).logits, wanted)
    assert not any("mask" in name for name, _ in model.named_buffers())
