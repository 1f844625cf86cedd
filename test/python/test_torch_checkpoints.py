"""nm.torch.load and nm.torch.save."""

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from nm.torch import NMLinear  # noqa: E402
from torch import nn  # noqa: E402


def make_network(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Embedding(20, 32), nn.Linear(32, 48), nn.GELU(),
                         nn.BatchNorm1d(48), nn.Linear(48, 8, bias=False)).eval()


def test_models_of_bf16(tmp_path):
    pytest.importorskip("ml_dtypes")
    model, tokens = make_network().bfloat16(), torch.randint(0, 20, (6,))
    nm.torch.sparsify(model, {"1": "2:4", "*": None}, prune=True)
    nm.torch.save(model, tmp_path)
    loaded = nm.torch.load(tmp_path, make_network(1))
    with torch.no_grad():
        assert loaded(tokens).dtype == torch.bfloat16
        assert torch.equal(loaded(tokens), model(tokens))


@pytest.mark.filterwarnings("error")
def test_models_are_saved_and_loaded(tmp_path):
    model, tokens = make_network(), torch.randint(0, 20, (6,))
    nm.torch.sparsify(model, {"1": "2:4", "*": "1:4"}, prune=True)
    with torch.no_grad():
        expected = model(tokens)
    nm.torch.save(model, tmp_path)
    assert set(nm.load_weights(tmp_path / "model.safetensors")) == {"1.weight",
                                                                    "4.weight"}
    loaded = nm.torch.load(tmp_path, make_network(1))
    assert isinstance(loaded[1], NMLinear) and not loaded.training
    assert loaded[1].pattern == nm.Pattern(2, 4, axis=1)
    with torch.no_grad():
        assert torch.equal(loaded(tokens), expected)
    dense = tmp_path / "dense.safetensors"
    nm.convert(tmp_path / "model.safetensors", dense, format="dense")
    plain = nm.torch.load(dense, make_network(1))
    assert type(plain[1]) is nn.Linear
    detected = nm.torch.load(dense, make_network(1), "detect")
    ruled = nm.torch.load(dense, make_network(1), {"1": "2:4", "*": None})
    assert detected[4].pattern == nm.Pattern(1, 4, axis=1)
    assert type(ruled[4]) is nn.Linear and isinstance(ruled[1], NMLinear)
    for each in (plain, detected, ruled):
        with torch.no_grad():
            assert torch.allclose(each(tokens), expected, atol=1e-5)


def test_models_that_do_not_fit(tmp_path):
    model = make_network()
    nm.torch.sparsify(model, {"1": "2:4", "*": None}, prune=True)
    nm.torch.save(model, tmp_path)
    other = make_network()
    other.add_module("5", nn.Linear(8, 8))
    with pytest.raises(nm.Error, match="it lacks 5.bias, 5.weight"):
        nm.torch.load(tmp_path, other)
    with pytest.raises(nm.Error, match="expected tensors of the model, but it has no 3."):
        nm.torch.load(tmp_path, make_network()[:3])
    with pytest.raises(nm.Error, match="the layer '1', whose weight is condensed"):
        nm.torch.load(tmp_path, make_network()[:1])
    with pytest.raises(nm.Error, match=r"expected a weight \(9, 32\) of '1'"):
        nm.torch.load(tmp_path, nn.Sequential(nn.Embedding(20, 32), nn.Linear(32, 9)))
    with pytest.raises(nm.PatternError, match="'1.weight'|4.weight"):
        nm.torch.load(tmp_path, make_network(), "1:4")
    fused = nn.Sequential(NMLinear(8, 8, "2:4", activation="gelu"))
    with pytest.raises(nm.Error, match="'0' without a fused activation"):
        nm.torch.save(fused, tmp_path)


@pytest.mark.parametrize("into", [{"*": None}, "2:4", {"1": "2:4", "*": None}])
def test_nothing_is_written_of_what_does_not_fit(tmp_path, into):
    model, tokens = make_network(), torch.randint(0, 20, (6,))
    nm.torch.sparsify(model, {"1": "2:4", "*": "1:4"}, prune=True)
    nm.torch.save(model, tmp_path)
    larger = make_network(1)
    nm.torch.sparsify(larger, into, prune=True)
    larger.add_module("5", nn.Linear(8, 8))
    for other in (larger, larger[:4], nn.Sequential(larger[0], larger[1], nn.Linear(48, 9))):
        modules = list(other.modules())
        tensors = {name: (tensor, tensor.clone()) for name, tensor in
                   other.state_dict(keep_vars=True).items() if "extra" not in name}
        with pytest.raises(nm.Error):
            nm.torch.load(tmp_path, other)
        assert all(a is b for a, b in zip(modules, other.modules(), strict=True))
        state = other.state_dict(keep_vars=True)
        for name, (tensor, former) in tensors.items():
            assert state[name] is tensor and torch.equal(tensor, former)


def make_transformer(kind):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    if kind == "bert":
        return transformers.BertModel(transformers.BertConfig(
            vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=64, max_position_embeddings=16)).eval()
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=16, num_key_value_heads=2,
        tie_word_embeddings=True)).eval()


@pytest.mark.parametrize("kind", ["bert", "llama"])
@pytest.mark.filterwarnings("ignore")
def test_folders_of_transformers(tmp_path, kind):
    """A dense folder is pruned, converted and loaded; the sparse model is what the
    dense one is with pruned weights. Also where a language model's head is tied."""
    model, tokens = make_transformer(kind), torch.randint(1, 50, (2, 7))
    for name, layer in model.named_modules():
        if isinstance(layer, nn.Linear) and "lm_head" not in name:
            layer.weight.data = nm.prune(layer.weight.data, "2:4", axis=1).weight
    with torch.no_grad():
        expected = model(tokens)[0]
    model.save_pretrained(tmp_path / "dense", max_shard_size="20KB")
    assert len(list((tmp_path / "dense").glob("*.safetensors"))) > 1
    report = nm.convert(tmp_path / "dense", tmp_path / "sparse",
                        nm.Pattern(2, 4, axis=1), skip=True)
    assert len(report.weights) == (13 if kind == "bert" else 14)
    loaded = nm.torch.load(tmp_path / "sparse")
    assert type(loaded) is type(model) and not loaded.training
    sparse = [name for name, layer in loaded.named_modules()
              if isinstance(layer, NMLinear)]
    assert len(sparse) == len(report.weights)
    if kind == "llama":
        assert loaded.lm_head.weight is loaded.model.embed_tokens.weight
    with torch.no_grad():
        assert torch.allclose(loaded(tokens)[0], expected, atol=1e-5)
    nm.torch.save(loaded, tmp_path / "again")
    with torch.no_grad():
        again = nm.torch.load(tmp_path / "again")(tokens)[0]
    assert torch.equal(again, loaded(tokens)[0])


@pytest.mark.parametrize("axis", [None, 0])
def test_what_convert_writes_is_loaded(tmp_path, axis):
    """Also weights of layers that multiply with none, which a file does not tell, and
    along an axis that the layer does not sum over."""
    model, tokens = make_network(), torch.randint(0, 20, (6,))
    for layer in (model[0], model[1], model[4]):
        pruned = nm.prune(layer.weight.detach(), "2:4", axis=1 if axis is None else axis)
        layer.weight = nn.Parameter(pruned.weight)
    nm.torch.save(model, tmp_path / "dense")
    report = nm.convert(tmp_path / "dense", tmp_path / "condensed", "2:4", axis=axis)
    assert set(report.weights) == {"0.weight", "1.weight", "4.weight"}
    loaded = nm.torch.load(tmp_path / "condensed", make_network(1))
    assert type(loaded[0]) is nn.Embedding
    assert isinstance(loaded[1], NMLinear) == (axis is None)
    with torch.no_grad():
        assert torch.equal(loaded[0].weight, model[0].weight)
        assert torch.allclose(loaded(tokens), model(tokens), atol=1e-5)


def test_gpt2_of_convert_is_loaded(tmp_path):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
        n_layer=2, n_head=2, n_embd=32, vocab_size=64, n_positions=16)).eval()
    for name, layer in model.named_modules():
        if type(layer).__name__ == "Conv1D":
            layer.weight = nn.Parameter(nm.prune(layer.weight.detach(), "2:4",
                                                 axis=0).weight)
    model.save_pretrained(tmp_path / "dense")
    report = nm.convert(tmp_path / "dense", tmp_path / "condensed")
    assert len(report.weights) == 8
    assert {w.pattern for w in report.weights.values()} == {nm.Pattern(2, 4, axis=0)}
    loaded = nm.torch.load(tmp_path / "condensed")
    tokens = torch.randint(0, 64, (2, 8))
    with torch.no_grad():
        assert torch.allclose(loaded(tokens).logits, model(tokens).logits, atol=1e-4)
    assert sum(isinstance(layer, NMLinear) for layer in loaded.modules()) == 8


def small(seed, dtype=torch.float32):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 8)).to(dtype).eval()


def test_a_file_is_loaded_into_a_sparse_model(tmp_path):
    """Its weights are written to the layers that are there, or refused by name."""
    models = [small(seed) for seed in range(3)]
    for model, pattern in zip(models, ("2:4", "2:4", "1:4")):
        nm.torch.sparsify(model, pattern, prune=True, force=True)
    nm.torch.save(models[0], tmp_path / "a")
    x = torch.randn(3, 32)
    with torch.no_grad():
        models[1](x)  # Packed.
        kept = models[1][0].values
        loaded = nm.torch.load(tmp_path / "a", models[1])
        assert torch.equal(loaded(x), models[0](x))
    assert loaded[0].values is kept
    with pytest.raises(nm.Error, match="expected '0' to have 1:4.*the file has 2:4"):
        nm.torch.load(tmp_path / "a", models[2])
    integers = models[0].to(torch.bfloat16)
    nm.torch.quantize(integers, 4, 16)
    nm.torch.save(integers, tmp_path / "b")
    with pytest.raises(nm.Error, match="the file has 2:4, dim = 1 of integers"):
        nm.torch.load(tmp_path / "b", models[1].to(torch.bfloat16))
    with pytest.raises(nm.Error, match="it has no 0.weight"):
        nm.torch.load(tmp_path / "a", integers)


@pytest.mark.parametrize("form", ["file", "dense"])
@pytest.mark.parametrize("strict", [False, True])
def test_states_as_files_have_them(tmp_path, form, strict):
    """transformers' Trainer loads a file as it is into the model that it trains, and says
    of what it lacks a word in its log."""
    from safetensors.torch import load_file
    model, other = small(0), small(1)
    for each in (model, other):
        nm.torch.sparsify(each, "2:4", prune=True, force=True)
    nm.torch.save(model, tmp_path)
    state = load_file(tmp_path / "model.safetensors")
    if form == "dense":
        state = nm.torch.load(tmp_path, small(2))
        nm.torch.densify(state)
        state = state.state_dict()
    result = other.load_state_dict(state, strict)
    assert not result.missing_keys and not result.unexpected_keys
    x = torch.randn(3, 32)
    with torch.no_grad():
        assert torch.equal(other(x), model(x))
    if form == "dense":
        with pytest.raises(RuntimeError, match="expected '0.weight' to have at most 2"):
            other.load_state_dict(small(3).state_dict(), strict)
        wrong = {**state, "0.weight": state["0.weight"].T}
        with pytest.raises(RuntimeError, match="expected '0.weight' of shape"):
            other.load_state_dict(wrong, strict)
