"""Models of transformers: sparse ones are saved, loaded, converted and trained as dense
ones are, whatever names their checkpoints have."""

import copy
import json
import os
import shutil
import subprocess
import sys
import warnings

import pytest
from conftest import ROOT, relative_error

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from nm.torch import NMLinear  # noqa: E402
from torch import nn  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", "0"))
pytestmark = pytest.mark.filterwarnings("ignore")
transformers.logging.set_verbosity_error()

SMALL = dict(vocab_size=48, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
             intermediate_size=64, max_position_embeddings=64, pad_token_id=0,
             bos_token_id=1, eos_token_id=2)
GROUPED = dict(SMALL, num_key_value_heads=2)
EXPERTS = dict(GROUPED, num_experts=4, num_local_experts=4, num_experts_per_tok=2,
               moe_intermediate_size=32)
IMAGE = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
             intermediate_size=64, image_size=8, patch_size=4)
MODELS = {
    "LlamaForCausalLM": GROUPED,
    "MistralForCausalLM": GROUPED,
    "Qwen2ForCausalLM": GROUPED,
    "Qwen3ForCausalLM": dict(GROUPED, head_dim=8),
    "Gemma2ForCausalLM": dict(GROUPED, head_dim=8),
    "PhiForCausalLM": SMALL,
    "GPTNeoXForCausalLM": SMALL,
    "OPTForCausalLM": dict(SMALL, ffn_dim=64, word_embed_proj_dim=32),
    "BloomForCausalLM": dict(SMALL, n_layer=2, n_head=4),
    "FalconForCausalLM": SMALL,
    "GPT2LMHeadModel": dict(vocab_size=48, n_embd=32, n_layer=2, n_head=4,
                            n_positions=64, pad_token_id=0, bos_token_id=1,
                            eos_token_id=2),
    "MixtralForCausalLM": EXPERTS,
    "Qwen3MoeForCausalLM": dict(EXPERTS, head_dim=8),
    "GraniteMoeForCausalLM": EXPERTS,
    "T5ForConditionalGeneration": dict(
        vocab_size=48, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
        pad_token_id=0, eos_token_id=2, decoder_start_token_id=0),
    "BartForConditionalGeneration": dict(
        vocab_size=48, d_model=32, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
        decoder_ffn_dim=64, max_position_embeddings=64, pad_token_id=0, bos_token_id=1,
        eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=2),
    "BertForMaskedLM": SMALL,
    "DistilBertForSequenceClassification": dict(vocab_size=48, dim=32, n_layers=2,
                                                n_heads=4, hidden_dim=64),
    "ViTForImageClassification": IMAGE,
    "SegformerForSemanticSegmentation": dict(
        num_encoder_blocks=2, depths=[1, 1], hidden_sizes=[16, 32], sr_ratios=[1, 1],
        num_attention_heads=[1, 2], patch_sizes=[3, 3], strides=[2, 2], mlp_ratios=[2, 2],
        decoder_hidden_size=16),
    "CLIPModel": dict(text_config=dict(GROUPED), vision_config=dict(IMAGE),
                      projection_dim=16),
}


def make_model(name, **options):
    torch.manual_seed(SEED)
    kind = getattr(transformers, name)
    return kind(kind.config_class(**{**MODELS[name], **options})).eval()


def inputs_of(model):
    tokens = torch.randint(3, 48, (2, 7))
    given = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    if model.main_input_name == "pixel_values":
        return {"pixel_values": torch.randn(2, 3, 8, 8)}
    if type(model).__name__ == "CLIPModel":
        given["pixel_values"] = torch.randn(2, 3, 8, 8)
    if model.config.is_encoder_decoder:
        given["decoder_input_ids"] = tokens[:, :3]
    return given


def output_of(model, given):
    with torch.no_grad():
        return model(**given)[0]


def generated(model, given):
    if not model.can_generate():
        return None
    return model.generate(given["input_ids"], attention_mask=given["attention_mask"],
                          max_new_tokens=6, do_sample=False)


def run_python(*arguments):
    """What a new process prints, which has imported nothing."""
    run = subprocess.run([sys.executable, *arguments], capture_output=True, text=True,
                         env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def results_of(model, given):
    return output_of(model, given), generated(model, given)


def assert_same(loaded, model, given, results=None):
    """`results` are the model's, where they are known."""
    assert type(loaded) is type(model) and not loaded.training
    assert sparse_names(loaded) == sparse_names(model)
    assert all(type(loaded.get_submodule(name)) is NMLinear
               for name in sparse_names(model))
    y, tokens = results_of(model, given) if results is None else results
    assert torch.equal(output_of(loaded, given), y)
    assert tokens is None or torch.equal(generated(loaded, given), tokens)


def sparse_names(model):
    return {name for name, layer in model.named_modules() if isinstance(layer, NMLinear)}


def prune_all(model):
    """Has all weights that could be sparse obey 2:4, still dense."""
    with nm.torch._unfold.unfolded(model):
        for layer in nm.torch._layers.find_layers(model):
            if layer.why_not is None:
                experts = isinstance(layer.module, nn.ModuleList)
                axis = 0 if nm.torch._layers.is_conv1d(layer.module) else 1
                for module in layer.module if experts else [layer.module]:
                    module.weight.data.copy_(nm.prune(module.weight.data, "2:4",
                                                      axis=axis).weight)


@pytest.mark.parametrize("name", MODELS)
def test_architectures(name, tmp_path):
    model = make_model(name)
    given = inputs_of(model)
    prune_all(model)
    dense, tokens = results_of(model, given)
    model.save_pretrained(tmp_path / "dense")
    report = nm.torch.sparsify(model, "2:4")
    weights = {key for key, value in make_model(name).named_parameters()
               if value.dim() > 1}
    assert sparse_names(model)
    told = {layer.name.removesuffix(".product") for layer in report}
    assert all(key.rpartition(".")[0] in told or key in told for key in weights)
    results = results_of(model, given)
    assert relative_error(results[0].double().numpy(), dense.double().numpy()) < 1e-5
    assert tokens is None or torch.equal(results[1], tokens)
    getattr(model, "tie_weights", lambda: None)()
    # Each of the ways out, and each of the ways back.
    model.save_pretrained(tmp_path / "sparse")
    nm.torch.save(model, tmp_path / "shards", max_shard_size=20000)
    assert len(list((tmp_path / "shards").glob("*.safetensors"))) > 1
    for folder in ("sparse", "shards"):
        assert_same(type(model).from_pretrained(tmp_path / folder), model, given, results)
        assert_same(nm.torch.load(tmp_path / folder), model, given, results)
        assert_same(nm.torch.load(tmp_path / folder, make_model(name)), model, given, results)
    nm.convert(tmp_path / "sparse", tmp_path / "back", format="dense")
    back = type(model).from_pretrained(tmp_path / "back")
    assert not sparse_names(back)
    assert relative_error(output_of(back, given).double().numpy(),
                          dense.double().numpy()) < 1e-5
    nm.convert(tmp_path / "dense", tmp_path / "converted", "2:4", skip=True)
    for converted in (type(model).from_pretrained(tmp_path / "converted"),
                      nm.torch.load(tmp_path / "converted"),
                      nm.torch.load(tmp_path / "converted", make_model(name))):
        assert type(converted) is type(model)
        assert relative_error(output_of(converted, given).double().numpy(),
                              dense.double().numpy()) < 1e-5
        assert sparse_names(converted)


def add_stray(folder, _):
    shutil.copy(min(folder.glob("model-*")), folder / "model-00009-of-00009.safetensors")


def name_lost_tensor(folder, index):
    found = json.loads(index.read_text())
    found["weight_map"]["lost.weight"] = min(folder.glob("model-*")).name
    index.write_text(json.dumps(found))


@pytest.mark.parametrize("damage,text", [
    (add_stray, "index.json names alone, but found model-00009-of-00009.safetensors, too"),
    (name_lost_tensor, "expected lost.weight in model-00001-of-.*, but it is not there")])
def test_shards_that_do_not_fit_are_refused(tmp_path, damage, text):
    """Of a sparse folder and of a dense one, where transformers would take what it finds."""
    model = make_model("LlamaForCausalLM")
    model.save_pretrained(tmp_path / "dense", max_shard_size="20KB")
    nm.torch.sparsify(model, "2:4", prune=True)
    model.save_pretrained(tmp_path / "sparse", max_shard_size="20KB")
    load = transformers.AutoModelForCausalLM.from_pretrained
    for name, options in (("dense", {"quantization_config": nm.torch.Config("2:4", prune=True)}),
                          ("sparse", {})):
        assert load(tmp_path / name, **options) is not None
        damage(tmp_path / name, tmp_path / name / "model.safetensors.index.json")
        with pytest.raises(nm.FileFormatError, match=text):
            load(tmp_path / name, **options)
    with pytest.raises(nm.FileFormatError, match=text):
        nm.torch.load(tmp_path / "sparse")


def names_of(model):
    """The modules, parameters and buffers of a model, with what says whether they changed."""
    found = {name: (id(module), type(module)) for name, module in model.named_modules()}
    tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    return {**found, **{f"{name} ": (id(each), each.sum().item())
                        for name, each in tensors.items()}}


@pytest.mark.parametrize("name", ["LlamaForCausalLM", "MixtralForCausalLM",
                                  "ViTForImageClassification", "GPT2LMHeadModel"])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("into", ["dense", "sparse"])
def test_what_is_refused_is_not_written(name, tied, into, tmp_path):
    """Into a model that is there: all of a folder, or nothing of it and the name of what it
    lacks. An optimizer made before is told of parameters that were replaced."""
    options = {} if name.startswith("ViT") else {"tie_word_embeddings": tied}
    model = make_model(name, **options)
    rules = {"lm_head": None, "*": "2:4"}
    nm.torch.sparsify(model, rules, prune=True, force=True)
    other = make_model(name, **options)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter += 1
    if into == "sparse":
        nm.torch.sparsify(other, rules, prune=True, force=True)
    optimizer = torch.optim.SGD(other.parameters(), 0.1)
    state = model.state_dict()
    norm = min(key for key in state if "norm" in key or ".ln_" in key)
    for text, damaged in (
            (rf"lacks (\w+\.)*{norm}", {key: each for key, each in state.items() if key != norm}),
            ("has no .*stray", {**state, "stray": torch.ones(2)}),
            (norm, {**state, norm: torch.ones(7)})):
        nm.torch.save(model, tmp_path, max_shard_size=20000, state_dict=damaged)
        assert len(list(tmp_path.glob("*.safetensors"))) > 1
        before = names_of(other)
        with pytest.raises(nm.Error, match=text):
            nm.torch.load(tmp_path, other)
        assert names_of(other) == before
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            optimizer.step()
    nm.torch.save(model, tmp_path, max_shard_size=20000)
    given = inputs_of(model)
    assert_same(nm.torch.load(tmp_path, other), model, given)
    assert name.startswith("ViT") or name.startswith("GPT") or tied == (
        other.get_output_embeddings().weight is other.get_input_embeddings().weight)
    with pytest.warns(UserWarning, match="layers that were replaced"):
        optimizer.step()


def test_on_the_fly(tmp_path):
    make_model("LlamaForCausalLM").save_pretrained(tmp_path)
    load = transformers.AutoModelForCausalLM.from_pretrained
    with pytest.warns(UserWarning, match="weights broke their pattern and were pruned"):
        model = load(tmp_path, quantization_config=nm.torch.Config("2:4"))
    assert len(sparse_names(model)) == 14 and type(model.lm_head) is nn.Linear
    assert model.hf_quantizer.report.layers[0].name == "model.embed_tokens"
    model = load(tmp_path, dtype=torch.bfloat16, quantization_config=nm.torch.Config(
        {"*": "1:4"}, modules_to_not_convert=["self_attn"], prune=True))
    assert len(sparse_names(model)) == 7 and model.dtype == torch.bfloat16
    model = load(tmp_path, quantization_config=nm.torch.Config("2:4", prune=False))
    assert not sparse_names(model)
    model.save_pretrained(tmp_path / "dense")
    assert not sparse_names(load(tmp_path / "dense"))


@pytest.mark.parametrize("name", ["LlamaForCausalLM", "MixtralForCausalLM"])
def test_layers_of_a_condensed_folder_that_are_to_be_dense(name, tmp_path):
    model = make_model(name)
    given = inputs_of(model)
    nm.torch.sparsify(model, "2:4", prune=True)
    model.save_pretrained(tmp_path / "sparse")
    parts = ["o_proj", "experts", "mlp"]
    kept = {each for each in sparse_names(model)
            if not any(f".{part}." in f"{each}." for part in parts)}
    config = nm.torch.Config(modules_to_not_convert=parts)
    for each in (config, config.to_dict()):
        loaded = type(model).from_pretrained(tmp_path / "sparse", quantization_config=each)
        assert kept and sparse_names(loaded) == kept
        assert torch.allclose(output_of(loaded, given), output_of(model, given), atol=1e-5)
    loaded.save_pretrained(tmp_path / "less")
    assert_same(type(model).from_pretrained(tmp_path / "less"), loaded, given)
    with pytest.warns(UserWarning, match="the rules '1:4' are for dense checkpoints"):
        loaded = type(model).from_pretrained(
            tmp_path / "sparse", quantization_config=nm.torch.Config("1:4"))
    assert_same(loaded, model, given)


@pytest.mark.parametrize("name", ["LlamaForCausalLM", "GPT2LMHeadModel", "MixtralForCausalLM"])
def test_another_type(name, tmp_path):
    """All layers have the type that from_pretrained is asked for."""
    model = make_model(name)
    nm.torch.sparsify(model, "2:4", prune=True, force=True)
    model.save_pretrained(tmp_path)
    loaded = transformers.AutoModelForCausalLM.from_pretrained(
        tmp_path, dtype=torch.bfloat16).eval()
    assert sparse_names(loaded) == sparse_names(model)
    assert {layer.values.dtype for layer in loaded.modules() if isinstance(layer, NMLinear)} \
        == {torch.bfloat16}
    given, model = inputs_of(model), model.to(torch.bfloat16).eval()
    with torch.no_grad():
        got, want = loaded(**given).logits, model(**given).logits
    assert got.dtype == torch.bfloat16
    assert relative_error(got.double().numpy(), want.double().numpy()) < 1e-2


def test_files_that_lost_their_metadata(tmp_path):
    """As what another program wrote anew, which knows of no patterns."""
    from safetensors.torch import load_file, save_file
    model = make_model("LlamaForCausalLM")
    nm.torch.sparsify(model, "2:4", prune=True, force=True)
    model.save_pretrained(tmp_path)
    path = tmp_path / "model.safetensors"
    save_file(load_file(path), path, {"format": "pt"})
    for read in (transformers.AutoModelForCausalLM.from_pretrained, nm.torch.load, nm.io.open_weights,
                 lambda folder: nm.torch.load(folder, make_model("LlamaForCausalLM")),
                 lambda folder: nm.convert(folder, folder / "dense", format="dense")):
        with pytest.raises(nm.FileFormatError, match=(
                r"the pattern of lm_head.weight and of 14 more, .* wrote the tensors anew")):
            read(tmp_path)


@pytest.mark.parametrize("tied", [False, True])
def test_heads(tied, tmp_path):
    model = make_model("LlamaForCausalLM", tie_word_embeddings=tied)
    model.generation_config.max_new_tokens = 3
    given = inputs_of(model)
    report = {layer.name: layer for layer in nm.torch.sparsify(model, "2:4", prune=True)}
    assert ("no longer tied" in report["lm_head"].reason) == tied
    model.tie_weights()
    assert isinstance(model.lm_head, NMLinear)
    for folder, write in (("a", model.save_pretrained),
                          ("b", lambda path: nm.torch.save(model, path))):
        write(tmp_path / folder)
        for loaded in (nm.torch.load(tmp_path / folder),
                       transformers.AutoModelForCausalLM.from_pretrained(
                           tmp_path / folder)):
            assert_same(loaded, model, given)
            loaded.tie_weights()
            assert_same(loaded, model, given)
            assert loaded.generation_config.max_new_tokens == 3
    config = json.loads((tmp_path / "b" / "config.json").read_text())
    assert config["architectures"] == ["LlamaForCausalLM"]
    assert config["quantization_config"]["quant_method"] == "nm"
    by_hand = make_model("LlamaForCausalLM", tie_word_embeddings=tied)
    by_hand.lm_head = NMLinear.from_dense(by_hand.lm_head, "2:4", prune_weight=True)
    by_hand.save_pretrained(tmp_path / "c")
    assert_same(nm.torch.load(tmp_path / "c"), by_hand, given)


def test_dense_again(tmp_path):
    model = make_model("Qwen2ForCausalLM")
    given = inputs_of(model)
    nm.torch.sparsify(model, "2:4", prune=True)
    model.save_pretrained(tmp_path / "sparse")
    loaded = type(model).from_pretrained(tmp_path / "sparse")
    nm.torch.densify(loaded)
    loaded.save_pretrained(tmp_path / "dense")
    again = type(model).from_pretrained(tmp_path / "dense")
    assert not sparse_names(again)
    assert relative_error(output_of(again, given).double().numpy(),
                          output_of(model, given).double().numpy()) < 1e-5
    loaded = type(model).from_pretrained(tmp_path / "sparse")
    assert not sparse_names(loaded.dequantize())


def test_what_cannot_be_loaded_or_saved(tmp_path):
    model = make_model("LlamaForCausalLM")
    model.save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "quantization_config": {"quant_method": "nm"}}))
    with pytest.raises(nm.FileFormatError, match="expected condensed weights"):
        type(model).from_pretrained(tmp_path)
    with pytest.raises(nm.PatternError, match="q_proj.weight|o_proj|proj"):
        path.write_text(json.dumps(config))
        nm.torch.load(tmp_path, rules="2:4")
    nm.torch.sparsify(model, "2:4", prune=True)
    with pytest.raises(nm.Error, match="expected no push_to_hub"):
        model.save_pretrained(tmp_path, push_to_hub=True)
    del config["architectures"]
    path.write_text(json.dumps(config))
    with pytest.warns(UserWarning, match="names no class of a model"):
        with pytest.raises(nm.Error):
            nm.torch.load(tmp_path)


def test_rules_of_a_dense_folder(tmp_path):
    model = make_model("GPT2LMHeadModel")
    given = inputs_of(model)
    prune_all(model)
    model.save_pretrained(tmp_path)
    for rules in ("detect", {"*c_fc": "2:4"}):
        loaded = nm.torch.load(tmp_path, rules=rules)
        assert len(sparse_names(loaded)) == (9 if rules == "detect" else 2)
        assert relative_error(output_of(loaded, given).double().numpy(),
                              output_of(model, given).double().numpy()) < 1e-5


@pytest.mark.parametrize("rules", [None, "detect"])
def test_a_folder_of_compressed_tensors(rules, tmp_path):
    """Whose config.json would have transformers look for that package."""
    model = make_model("LlamaForCausalLM")
    given = inputs_of(model)
    nm.torch.sparsify(model, {"lm_head": None, "*": "2:4"}, prune=True)
    model.generation_config.max_new_tokens = 3
    model.save_pretrained(tmp_path / "sparse")
    nm.convert(tmp_path / "sparse", tmp_path / "other", format="compressed-tensors")
    loaded = nm.torch.load(tmp_path / "other", rules=rules)
    assert sparse_names(loaded) == (sparse_names(model) if rules else set())
    assert torch.allclose(output_of(loaded, given), output_of(model, given), atol=1e-5)
    assert loaded.generation_config.max_new_tokens == 3


@pytest.mark.parametrize("first", ["transformers", "nm.torch"])
def test_either_may_be_imported_first(first, tmp_path):
    model = make_model("LlamaForCausalLM")
    nm.torch.sparsify(model, "2:4", prune=True)
    model.save_pretrained(tmp_path)
    second = {"transformers": "nm.torch", "nm.torch": "transformers"}[first]
    code = (f"import {first}, sys\n"
            f"assert {first!r} == 'transformers' or 'transformers' not in sys.modules\n"
            f"import {second}\nfrom transformers import AutoModelForCausalLM\n"
            f"model = AutoModelForCausalLM.from_pretrained({str(tmp_path)!r})\n"
            "print(type(model.lm_head).__name__)")
    assert run_python("-W", "ignore", "-c", code) == "NMLinear"


@pytest.mark.parametrize("lines", [
    "import nm.torch; from transformers import AutoModelForCausalLM",
    "import nm.torch; config = nm.torch.Config('2:4')\n"
    "from transformers import AutoModelForCausalLM",
    "from transformers import AutoModelForCausalLM; import nm.torch",
])
def test_pruning_while_loading_in_a_new_process(lines, tmp_path):
    """Before anything else has imported transformers' models."""
    make_model("LlamaForCausalLM").save_pretrained(tmp_path / "dense")
    code = (f"{lines}\nmodel = AutoModelForCausalLM.from_pretrained("
            f"{str(tmp_path / 'dense')!r}, quantization_config=nm.torch.Config('2:4', "
            f"prune=True))\nmodel.save_pretrained({str(tmp_path / 'sparse')!r})\n"
            f"model = AutoModelForCausalLM.from_pretrained({str(tmp_path / 'sparse')!r})\n"
            "print(type(model.model.layers[0].mlp.up_proj).__name__)")
    assert run_python("-W", "error::UserWarning", "-c", code) == "NMLinear"


def test_attention_of_torch(tmp_path):
    """A model whose checkpoint has weights of nn.MultiheadAttention."""
    torch.manual_seed(SEED)
    model = transformers.SiglipVisionModel(transformers.SiglipVisionConfig(**IMAGE)).eval()
    given = {"pixel_values": torch.randn(2, 3, 8, 8)}
    name, = [name for name, module in model.named_modules()
             if isinstance(module, nn.MultiheadAttention)]
    nm.torch.sparsify(model, "2:4", prune=True)
    assert {f"{name}.in_proj", f"{name}.out_proj"} < sparse_names(model)
    with torch.no_grad():
        want = model(**given).pooler_output
    model.save_pretrained(tmp_path / "sparse")
    for loaded in (type(model).from_pretrained(tmp_path / "sparse"),
                   nm.torch.load(tmp_path / "sparse")):
        assert_same(loaded, model, given)
        with torch.no_grad():
            assert torch.equal(loaded(**given).pooler_output, want)
    nm.convert(tmp_path / "sparse", tmp_path / "dense", format="dense")
    back = type(model).from_pretrained(tmp_path / "dense")
    assert type(back.get_submodule(name)) is nn.MultiheadAttention
    with torch.no_grad():
        assert torch.allclose(back(**given).pooler_output, want, atol=1e-5)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_resized_embeddings(tied, sparse, tmp_path):
    model = make_model("LlamaForCausalLM", tie_word_embeddings=tied)
    given = inputs_of(model)
    nm.torch.sparsify(model, {"lm_head": "2:4" if sparse else None, "*": "2:4"}, prune=True)
    before = output_of(model, given)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.resize_token_embeddings(60)
    assert sparse == any("the head, which was 2:4, is a dense nn.Linear" in str(each.message)
                         for each in told)
    after = output_of(model, given)
    assert after.shape[-1] == 60 and type(model.lm_head) is nn.Linear
    assert torch.allclose(after[..., :48], before, atol=1e-5)
    assert len(sparse_names(model)) == 14
    model.save_pretrained(tmp_path)
    loaded = type(model).from_pretrained(tmp_path)
    assert torch.equal(output_of(loaded, given), after)
    assert loaded.config.vocab_size == 60


def test_training_goes_on_from_a_checkpoint(tmp_path):
    model = make_model("LlamaForCausalLM")
    nm.torch.sparsify(model, "2:4", prune=True)
    data = [{"input_ids": torch.arange(3, 11), "labels": torch.arange(3, 11)}] * 8
    options = dict(use_cpu=True, report_to=[], learning_rate=1e-2, disable_tqdm=True,
                   save_steps=2, per_device_train_batch_size=2)
    for steps, resume in ((2, None), (4, str(tmp_path / "checkpoint-2"))):
        trainer = transformers.Trainer(model, transformers.TrainingArguments(
            str(tmp_path), max_steps=steps, **options), train_dataset=data)
        trainer.train(resume_from_checkpoint=resume)
    assert trainer.state.global_step == 4
    for name in sparse_names(model):
        assert nm.check(model.get_submodule(name).dense_weight().detach(), "2:4", axis=1)
    loaded = type(model).from_pretrained(tmp_path / "checkpoint-4")
    assert_same(loaded, model.eval(), inputs_of(model))


@pytest.mark.parametrize("name", MODELS)
def test_a_state_of_published_names_is_loaded(name, tmp_path):
    """As Trainer's loading gives it to load_state_dict."""
    from safetensors.torch import load_file
    model = make_model(name)
    nm.torch.sparsify(model, "2:4", prune=True)
    other = copy.deepcopy(model)
    for parameter in other.parameters():
        parameter.data = parameter.data + 1 if parameter.is_floating_point() else parameter.data
    for layer in other.modules():
        if isinstance(layer, NMLinear):
            layer.refresh()
    model.save_pretrained(tmp_path)
    found = other.load_state_dict(load_file(tmp_path / "model.safetensors"), strict=False)
    assert not found.unexpected_keys
    given = inputs_of(model)
    other.tie_weights()
    assert_same(other, model, given)


def test_training_ends_with_the_best_checkpoint(tmp_path):
    """And a new model goes on from where another was, by Trainer's own loading."""
    model = make_model("LlamaForCausalLM")
    nm.torch.sparsify(model, "2:4", prune=True)
    other = copy.deepcopy(model)
    data = [{"input_ids": torch.arange(3, 11), "labels": torch.arange(3, 11)}] * 4
    options = dict(use_cpu=True, report_to=[], learning_rate=1e-2, disable_tqdm=True,
                   save_strategy="epoch", per_device_train_batch_size=2)
    epochs = []
    trainer = transformers.Trainer(model, transformers.TrainingArguments(
        str(tmp_path), num_train_epochs=2, eval_strategy="epoch", greater_is_better=False,
        load_best_model_at_end=True, metric_for_best_model="epochs", **options),
        train_dataset=data, eval_dataset=data,
        compute_metrics=lambda _: epochs.append(0) or {"epochs": float(len(epochs))})
    trainer.train()
    first, last = (tmp_path / f"checkpoint-{steps}" for steps in (2, 4))
    given = inputs_of(model)
    assert_same(type(model).from_pretrained(first), model.eval(), given)
    transformers.Trainer(other, transformers.TrainingArguments(
        str(tmp_path), num_train_epochs=2, **options), train_dataset=data).train(
            resume_from_checkpoint=str(last))
    assert_same(type(model).from_pretrained(last), other.eval(), given)


def test_training_keeps_zeros(tmp_path):
    model = make_model("LlamaForCausalLM").train()
    nm.torch.sparsify(model, "2:4", prune=True)
    before = {name: model.get_submodule(name).weight == 0 for name in sparse_names(model)}
    data = [{"input_ids": torch.arange(3, 11), "labels": torch.arange(3, 11)}] * 4
    trainer = transformers.Trainer(model, transformers.TrainingArguments(
        str(tmp_path), max_steps=2, use_cpu=True, report_to=[], learning_rate=1e-2,
        disable_tqdm=True), train_dataset=data)
    trainer.train()
    for name, zeros in before.items():
        assert bool((model.get_submodule(name).weight[zeros] == 0).all())
    trainer.save_model(tmp_path / "trained")
    assert_same(type(model).from_pretrained(tmp_path / "trained"), model.eval(),
                inputs_of(model))


@torch.no_grad()
def test_a_sparse_copy_does_not_call_the_dense_model():
    """transformers keeps what it compiled for generate in the model, and copies have it."""
    dense = transformers.LlamaForCausalLM(transformers.LlamaConfig(**GROUPED)).eval()
    tokens = torch.randint(0, 48, (1, 4))
    options = transformers.generation.CompileConfig(backend="eager", mode="default")
    dense.get_compiled_call(options)(tokens)
    sparse = copy.deepcopy(dense)
    nm.torch.sparsify(sparse, {"lm_head": None, "*": "1:4"}, prune=True)
    wanted = sparse(tokens).logits
    assert not torch.allclose(wanted, dense(tokens).logits, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(sparse.get_compiled_call(options)(tokens).logits, wanted,
                               rtol=1e-4, atol=1e-4)
