"""Layers whose kept weights are integers of few bits: N:M and W4A16 or W8A16."""

import copy
import io
import json
import os

import numpy as np
import pytest
from conftest import relative_error

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from nm import _safetensors  # noqa: E402
from nm.torch import NMLinear, NMQuantizedLinear, densify, quantize, sparsify  # noqa: E402
from torch import nn  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", "0"))


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(SEED)


def make_model(dtype=torch.bfloat16, pattern=None):
    model = nn.Sequential(nn.Linear(104, 48), nn.ReLU(), nn.Linear(48, 24, bias=False))
    model = model.to(dtype).eval()
    if pattern:
        sparsify(model, pattern, prune=True)
    return model


def assert_close(got, expected, limit):
    assert relative_error(got.detach().double().numpy(),
                          expected.detach().double().numpy()) < limit


@pytest.mark.parametrize("dtype, limit", [(torch.float16, 2e-3), (torch.bfloat16, 1e-2)])
@pytest.mark.parametrize("bits, group, pattern", [
    (4, 32, "2:4"), (8, 40, "2:4"), (4, 1000, "1:4, block = 1x8")])
def test_products(dtype, limit, bits, group, pattern):
    model = make_model(dtype, pattern)
    layer, x = copy.deepcopy(model[0]), torch.randn(3, 5, 104, dtype=dtype)
    report = quantize(model, {"0": bits}, group)
    assert [line.replaced for line in report] == [True, False]
    assert report.layers[1].reason == "no rule for it"
    made = model[0]
    assert type(made) is NMQuantizedLinear and type(model[2]) is NMLinear
    values, scales = nm.quantize(layer.dense_weight().detach(), bits, group, axis=1)
    dense = values.to(dtype) * scales.repeat_interleave(min(group, 104), 1)[:, :104]
    assert torch.equal(made.dense_weight(), dense)
    for given in (x, x[0], x[0, :1], x.transpose(0, 1)):
        with torch.no_grad():
            assert_close(made(given), nn.functional.linear(
                given.double(), dense.double(), layer.bias.double()), limit)
    with pytest.raises(nm.DTypeError):
        made(x.float())
    with pytest.raises(nm.ShapeError, match="expected x of shape"):
        made(x[..., :100])
    with pytest.raises(nm.DTypeError, match="float16 or bfloat16"):
        copy.deepcopy(made).float()


def test_gradients_graphs_and_copies():
    model = make_model(pattern="2:4")
    quantize(model, 4, 32)
    x = torch.randn(5, 104, dtype=torch.bfloat16, requires_grad=True)
    wanted = torch.randn(5, 24, dtype=torch.bfloat16)
    (model(x) * wanted).sum().backward()
    twin = x.detach().clone().requires_grad_()
    dense = [layer.dense_weight() for layer in (model[0], model[2])]
    bias = model[0].bias.detach().clone().requires_grad_()
    y = nn.functional.linear(torch.relu(nn.functional.linear(twin, dense[0], bias)),
                             dense[1])
    (y * wanted).sum().backward()
    assert_close(x.grad, twin.grad, 2e-2)
    assert_close(model[0].bias.grad, bias.grad, 2e-2)
    want = model(x)
    assert torch.equal(torch.compile(model, fullgraph=True, backend="eager")(x), want)
    assert torch.equal(torch.export.export(model, (x.detach(),)).module()(x), want)
    buffer = io.BytesIO()
    torch.save(model, buffer)
    buffer.seek(0)
    for each in (torch.load(buffer, weights_only=False), copy.deepcopy(model)):
        assert torch.equal(each(x), want)
    # Values that change are packed anew.
    with torch.no_grad():
        model[2].scales.mul_(2)
        assert_close(model(x), 2 * want, 1e-2)


def test_what_is_not_quantized():
    model = make_model(torch.float32, "2:4")
    report = quantize(model)
    assert "expected a layer of float16 or bfloat16" in report.layers[0].reason
    assert not any(line.replaced for line in report)
    with pytest.raises(nm.Error, match="expected a model with NMLinear layers"):
        quantize(make_model())
    with pytest.raises(nm.Error, match="expected 4 or 8 bits, but got 3"):
        quantize(model, 3)
    with pytest.raises(nm.Error, match="expected a group"):
        quantize(model, 4, 0)
    alone = NMLinear.from_dense(nn.Linear(8, 8).half(), "2:4", prune_weight=True)
    assert "from_linear makes the layer" in quantize(alone).layers[0].reason
    fused = nn.Sequential(NMLinear.from_dense(nn.Linear(8, 8).half(), "2:4",
                                              prune_weight=True, activation="relu"))
    assert "fused activation" in quantize(fused).layers[0].reason


@pytest.mark.parametrize("bits", [4, 8])
def test_files(tmp_path, bits):
    model, x = make_model(pattern="2:4"), torch.randn(3, 104, dtype=torch.bfloat16)
    quantize(model, bits, 32)
    want = model(x)
    nm.torch.save(model, tmp_path / "saved")
    path = tmp_path / "saved" / "model.safetensors"
    file = _safetensors.SafetensorsFile(str(path))
    kept = 104 * 48 // 2
    assert file.info("0.weight.values")[1] == (
        (kept // 2,) if bits == 4 else (52, 48))
    assert file.info("0.weight_scale") == ("bf16", (48, 4))
    assert torch.equal(nm.torch.load(tmp_path / "saved", make_model())(x), want)
    nm.convert(tmp_path / "saved", tmp_path / "again")
    loaded = nm.torch.load(tmp_path / "again", make_model())
    assert torch.equal(loaded(x), want) and loaded[0].bits == bits
    for format in ("dense", "compressed-tensors"):
        nm.convert(tmp_path / "saved", tmp_path / format, format=format)
        dense = nm.torch.load(tmp_path / format, make_model())
        assert torch.equal(dense[0].weight, model[0].dense_weight())
        assert type(dense[0]) is nn.Linear
    assert densify(model) == ["0", "2"]
    assert type(model[0]) is nn.Linear
    assert torch.equal(model[0].weight, dense[0].weight)


def test_attention_and_encoders(tmp_path, monkeypatch):
    """Files have the names of the dense module, and no call makes a dense weight."""
    def make():
        return nn.TransformerEncoder(nn.TransformerEncoderLayer(
            32, 4, 64, batch_first=True, dropout=0.0), 1).to(torch.bfloat16).eval()

    model, x = make(), torch.randn(2, 5, 32, dtype=torch.bfloat16)
    sparsify(model, "2:4", prune=True)
    assert len([line for line in quantize(model, 8, 32) if line.replaced]) == 4
    with monkeypatch.context() as patch, torch.no_grad():
        patch.setattr(NMQuantizedLinear, "dense_weight", lambda self: pytest.fail("made"))
        want = model(x)
    nm.torch.save(model, tmp_path / "saved")
    with torch.no_grad():
        assert torch.equal(nm.torch.load(tmp_path / "saved", make())(x), want)
    nm.convert(tmp_path / "saved", tmp_path / "dense", format="dense")
    file = _safetensors.SafetensorsFile(str(tmp_path / "dense" / "model.safetensors"))
    assert set(file) == set(make().state_dict())
    densify(model)
    assert type(model.layers[0].self_attn) is nn.MultiheadAttention
    assert model.use_nested_tensor
    with torch.no_grad():
        assert_close(model(x), want, 2e-2)


@pytest.mark.parametrize("change, text", [
    ({"bits": 5}, "expected i8 of 4 or 8 bits"), ({"group": 0}, "and a group"),
    ({"group": 7}, r"expected 0.weight_scale \[48, 15\]")])
def test_damaged_files(tmp_path, change, text):
    model = make_model(pattern="2:4")
    quantize(model, 4, 32)
    nm.torch.save(model, tmp_path)
    path = str(tmp_path / "model.safetensors")
    file = _safetensors.SafetensorsFile(path)
    records = json.loads(file.metadata["weights"])
    records["0.weight"].update(change)
    tensors = {name: file.stored(name) for name in file}
    _safetensors.write(path, tensors, {**file.metadata, "weights": json.dumps(records)})
    with pytest.raises(nm.FileFormatError, match=text):
        nm.io.open_weights(path)


def pack(values, bits):
    """As compressed-tensors packs int8 [rows, columns] to words of 32 bits."""
    count = 32 // bits
    padded = np.zeros((len(values), -(-values.shape[1] // count) * count), np.uint64)
    padded[:, :values.shape[1]] = values.astype(np.int64) + (1 << (bits - 1))
    words = padded.reshape(len(values), -1, count) << np.arange(0, 32, bits,
                                                                dtype=np.uint64)
    return words.sum(-1).astype(np.uint32).view(np.int32)


def pack_model(folder, bits, group, points=False, order=False):
    """A folder of compressed-tensors' pack-quantized, and its dense weights."""
    rng = np.random.default_rng(SEED)
    tensors, dense = {"0.bias": ("f32", np.zeros(48, np.float32))}, {}
    for name, (n, k) in (("0", (48, 104)), ("2", (24, 48))):
        weight = nm.prune(rng.standard_normal((n, k)).astype(np.float32), "2:4",
                          axis=1).weight
        values, scales = nm.quantize(weight, bits, group, axis=1)
        of_column = np.arange(k) // group
        if order:
            of_column = rng.permutation(of_column)
            tensors[f"{name}.weight_g_idx"] = "i32", of_column.astype(np.int32)
        stored, zeros = values, 0
        if points:
            zeros = rng.integers(-2, 3, scales.shape).astype(np.int8)
            stored = np.clip(values // 2 + zeros[:, of_column], -8, 7).astype(np.int8)
            tensors[f"{name}.weight_zero_point"] = "i32", np.ascontiguousarray(
                pack(zeros.T, bits).T)
            zeros = zeros[:, of_column]
        tensors[f"{name}.weight_packed"] = "i32", pack(stored, bits)
        tensors[f"{name}.weight_scale"] = "f32", scales
        tensors[f"{name}.weight_shape"] = "i64", np.array([n, k])
        dense[f"{name}.weight"] = (stored - zeros) * scales[:, of_column]
    folder.mkdir()
    _safetensors.write(str(folder / "model.safetensors"), tensors, {"format": "pt"})
    (folder / "config.json").write_text(json.dumps({"quantization_config": {
        "quant_method": "compressed-tensors", "format": "pack-quantized",
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {
            "num_bits": bits, "group_size": group}}}}}))
    return dense


@pytest.mark.parametrize("bits, group", [(4, 32), (8, 24), (4, 104)])
def test_pack_quantized(tmp_path, bits, group):
    dense = pack_model(tmp_path / "packed", bits, group)
    source = nm.io.open_weights(tmp_path / "packed")
    assert set(source) == {"0.bias", "0.weight", "2.weight"}
    for name, weight in dense.items():
        assert np.array_equal(source[name], weight.astype(np.float32))
    model = nm.torch.load(tmp_path / "packed", make_model(torch.float32))
    assert torch.equal(model[0].weight, torch.from_numpy(dense["0.weight"]).float())
    nm.convert(tmp_path / "packed", tmp_path / "dense", format="dense")
    config = json.loads((tmp_path / "dense" / "config.json").read_text())
    assert "quantization_config" not in config
    report = nm.convert(tmp_path / "packed", tmp_path / "nm", "2:4")
    assert report.joined["0.weight"] == (
        f"0.weight_packed of {bits} bits times 0.weight_scale, groups of "
        f"{group}")
    again = nm.io.open_weights(tmp_path / "nm")
    assert again.condensed("0.weight")._quantization[0] == bits
    assert np.array_equal(again["0.weight"], dense["0.weight"].astype(np.float32))
    assert json.loads((tmp_path / "nm" / "config.json").read_text())[
        "quantization_config"]["quant_method"] == "nm"
    (tmp_path / "packed" / "config.json").unlink()
    if 104 % -(-104 // group):
        with pytest.raises(nm.FileFormatError, match="or their group_size in config.json"):
            nm.io.open_weights(tmp_path / "packed")


@pytest.mark.parametrize("points, order", [(True, False), (False, True), (True, True)])
def test_pack_quantized_with_zero_points(tmp_path, points, order):
    dense = pack_model(tmp_path / "packed", 4, 24, points, order)
    source = nm.io.open_weights(tmp_path / "packed")
    for name, weight in dense.items():
        assert np.allclose(source[name], weight, rtol=1e-6, atol=0)
        assert source.integers(name) is None
    nm.convert(tmp_path / "packed", tmp_path / "nm")
    again = nm.io.open_weights(tmp_path / "nm")
    for name, weight in dense.items():
        assert np.allclose(again[name], weight, rtol=1e-6, atol=0)


@pytest.mark.parametrize("change, text", [
    (lambda t: t.pop("0.weight_scale"), "expected 0.weight_scale beside"),
    (lambda t: t.update({"0.weight_shape": ("i64", np.array([48, 90]))}),
     "expected i32 words with integers of 4 or 8 bits"),
    (lambda t: t.update({"0.weight_scale": ("f32", np.ones((3, 2), np.float32))}),
     r"expected scales \[48, groups\]"),
    (lambda t: t.update({"0.weight_g_idx": ("i32", np.full(104, 9, np.int32))}),
     "expected a group below 4")])
def test_damaged_pack_quantized(tmp_path, change, text):
    pack_model(tmp_path / "packed", 4, 26)
    (tmp_path / "packed" / "config.json").unlink()
    path = str(tmp_path / "packed" / "model.safetensors")
    file = _safetensors.SafetensorsFile(path)
    tensors = {name: (file.info(name)[0], np.array(file[name])) for name in file}
    change(tensors)
    _safetensors.write(path, tensors, {})
    with pytest.raises(nm.FileFormatError, match=text):
        nm.io.open_weights(path)


def test_folders_of_transformers(tmp_path):
    transformers = pytest.importorskip("transformers")
    transformers.logging.set_verbosity_error()
    config = transformers.LlamaConfig(
        vocab_size=32, hidden_size=32, intermediate_size=64, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1)
    transformers.LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(
        tmp_path / "dense")
    load = transformers.AutoModelForCausalLM.from_pretrained
    model, tokens = load(tmp_path / "dense"), torch.randint(0, 32, (1, 5))
    sparsify(model, {"lm_head": None, "*": "2:4"}, prune=True)
    quantize(model, {"*down_proj": 8, "*": 4}, 16)
    want = model(tokens).logits
    model.save_pretrained(tmp_path / "saved")
    told = json.loads((tmp_path / "saved" / "config.json").read_text())
    told = told["quantization_config"]
    assert told["quantized"]["model.layers.0.mlp.down_proj"] == {"bits": 8, "group": 16}
    for loaded in (load(tmp_path / "saved"), nm.torch.load(tmp_path / "saved")):
        assert torch.equal(loaded(tokens).logits, want)
        assert loaded.model.layers[0].mlp.up_proj.bits == 4
    nm.convert(tmp_path / "saved", tmp_path / "back", format="dense")
    assert_close(load(tmp_path / "back")(tokens).logits, want, 1e-2)
    with pytest.raises(nm.Error, match="expected dtype=torch.float16 or"):
        load(tmp_path / "saved", dtype=torch.float32)
