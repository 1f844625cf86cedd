"""Checkpoints in several files: what fits together, what is refused, and what is written."""

import json
import sys

import nm
import numpy as np
import pytest
from conftest import write_tensors as write
from nm.cli import main


@pytest.fixture
def shards(draw, tmp_path):
    """A model in two shards."""
    folder = tmp_path / "model"
    folder.mkdir()
    a, b = (draw.weight((16, 32), "2:4", axis=1) for _ in range(2))
    write(folder / "model-1.safetensors", a__weight=a)
    write(folder / "model-2.safetensors", b__weight=b)
    write_index(folder, {"a.weight": "model-1.safetensors",
                         "b.weight": "model-2.safetensors"})
    return folder, a, b


def write_index(folder, places):
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": places}))


@pytest.mark.parametrize("name", ["consolidated.safetensors", "consolidated.00.safetensors",
                                  "adapter_model.safetensors", "model.fp16.safetensors"])
def test_an_index_beats_a_file_that_is_no_shard(shards, tmp_path, name):
    folder, a, _ = shards
    write(folder / name, a__weight=np.ones((16, 32), np.float32))
    with pytest.warns(nm.FileWarning, match=f"{name}: passed over, as model"):
        source = nm.io.open_weights(folder)
    np.testing.assert_array_equal(source["a.weight"], a)
    with pytest.warns(nm.FileWarning, match="passed over"):
        nm.convert(folder, tmp_path / "out")
    assert not (tmp_path / "out" / name).exists()
    np.testing.assert_array_equal(nm.io.open_weights(tmp_path / "out")["a.weight"], a)


@pytest.mark.parametrize("others", [
    ["consolidated.safetensors"], ["adapter_model.safetensors"], ["model.fp16.safetensors"],
    ["model.fp32-00001-of-00002.safetensors", "model.fp32-00002-of-00002.safetensors"]])
def test_other_forms_beside_a_whole_model(draw, tmp_path, others):
    folder = tmp_path / "model"
    folder.mkdir()
    a = draw.weight((16, 32), "2:4", axis=1)
    for name in others:
        write(folder / name, a__weight=np.ones((16, 32), np.float32))
    if len(others) == 1:
        # Alone it is the model.
        np.testing.assert_array_equal(nm.io.open_weights(folder)["a.weight"], 1)
    write(folder / "model.safetensors", a__weight=a)
    with pytest.warns(nm.FileWarning, match=f"{others[-1]}: passed over, as another form"):
        np.testing.assert_array_equal(nm.io.open_weights(folder)["a.weight"], a)
    with pytest.warns(nm.FileWarning, match="passed over"):
        nm.convert(folder, tmp_path / "out")
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["model.safetensors"]


def test_an_index_in_place_of_its_folder_leaves_others_out(shards):
    folder, a, _ = shards
    add_stray(folder)
    source = nm.io.open_weights(folder / "model.safetensors.index.json")
    assert sorted(source) == ["a.weight", "b.weight"]
    np.testing.assert_array_equal(source["a.weight"], a)


def test_a_file_beside_the_index_that_stands_for_it(shards, tmp_path):
    """Which transformers reads in place of the index."""
    folder, _, _ = shards
    write(folder / "model.safetensors", a__weight=np.ones((16, 32), np.float32))
    for read in (nm.io.open_weights, lambda path: nm.convert(path, tmp_path / "out")):
        with pytest.raises(nm.FileFormatError, match=r"model.safetensors or model.safe.*both"):
            read(folder)
    assert not (tmp_path / "out").exists()


def lose_shard(folder):
    (folder / "model-2.safetensors").unlink()


def lose_shard_without_index(folder):
    (folder / "model.safetensors.index.json").unlink()
    (folder / "model-1.safetensors").rename(folder / "model-00001-of-00003.safetensors")
    (folder / "model-2.safetensors").rename(folder / "model-00003-of-00003.safetensors")


def add_stray(folder):
    write(folder / "model-3.safetensors", c__weight=np.ones((16, 32), np.float32))


def lose_tensor(folder):
    write_index(folder, {"a.weight": "model-1.safetensors",
                         "b.weight": "model-2.safetensors",
                         "c.weight": "model-2.safetensors"})


def place_elsewhere(folder):
    write_index(folder, {"a.weight": "model-1.safetensors",
                         "b.weight": "model-1.safetensors"})


def give_twice(folder):
    write(folder / "model-2.safetensors", a__weight=np.ones((16, 32), np.float32),
          b__weight=np.ones((16, 32), np.float32))


def give_twice_without_index(folder):
    give_twice(folder)
    (folder / "model.safetensors.index.json").unlink()


def add_index(folder):
    (folder / "other.safetensors.index.json").write_text('{"weight_map": {}}')


@pytest.mark.parametrize("damage,text", [
    (lose_shard, "expected the shard model-2.safetensors beside it, with b.weight, but"),
    (lose_shard_without_index, "expected the shard model-00002-of-00003.safetensors beside"),
    (add_stray, "model.safetensors.index.json names alone, but found model-3.safetensors, too"),
    (lose_tensor, "expected c.weight in model-2.safetensors, but it is not there"),
    (place_elsewhere, "expected b.weight in model-1.safetensors, but it is not there"),
    (give_twice, "but a.weight is in model-1.safetensors, too; the index says model-1"),
    (give_twice_without_index, "but a.weight is in model-1.safetensors, too"),
    (add_index, "expected one index of shards, but got model.safetensors.index.json, ot")])
def test_shards_that_do_not_fit_are_refused(shards, tmp_path, capsys, damage, text):
    folder = shards[0]
    damage(folder)
    with pytest.raises(nm.FileFormatError, match=text):
        nm.io.open_weights(folder)
    out = tmp_path / "out"
    for command in (["check", str(folder)], ["convert", str(folder), "-o", str(out)],
                    ["convert", str(folder), "-o", str(out), "--format=dense"]):
        assert main(command) == 1
        assert text.replace("\\", "") in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]


def test_folders_appear_whole(shards, tmp_path):
    folder = shards[0]
    write(folder / "model-2.safetensors", b__weight=np.ones((16, 32), np.float32))
    out = tmp_path / "out"
    with pytest.raises(nm.PatternError, match="b.weight"):
        nm.convert(folder, out, "2:4")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]
    out.mkdir()
    write(out / "old.safetensors", a=np.ones((2, 2), np.float32))
    with pytest.raises(nm.Error, match="without other weights, but .* has old.safet"):
        nm.convert(folder, out, "2:4", skip=True)
    assert sorted(path.name for path in out.iterdir()) == ["old.safetensors"]


# Configurations.

PACKED = {"quant_method": "compressed-tensors", "format": "pack-quantized",
          "config_groups": {"group_0": {"weights": {"num_bits": 4}}}}
BITMASK = {"format": "sparse-24-bitmask", "sparsity_structure": "2:4"}


@pytest.mark.parametrize("given,kept", [
    ({**PACKED, "sparsity_config": {"format": "dense"}},
     {**PACKED, "sparsity_config": {"format": "dense"}}),
    (PACKED, PACKED),
    ({**PACKED, "sparsity_config": BITMASK}, PACKED),
    ({"quant_method": "gptq", "bits": 4}, {"quant_method": "gptq", "bits": 4}),
    ({"quant_method": "fp8", "activation_scheme": "dynamic"},
     {"quant_method": "fp8", "activation_scheme": "dynamic"}),
    ({"quant_method": "compressed-tensors", "format": "dense",
      "sparsity_config": BITMASK}, None),
    (None, None)])
def test_quantization_config_is_kept(shards, tmp_path, given, kept):
    folder = shards[0]
    config = {"size": 16} if given is None else {"quantization_config": given}
    (folder / "config.json").write_text(json.dumps(config))
    nm.convert(folder, tmp_path / "out")
    after = json.loads((tmp_path / "out" / "config.json").read_text())
    if kept:
        assert after["quantization_config"] == kept
    else:
        assert after["quantization_config"]["quant_method"] == "nm"
    if given and given["quant_method"] not in ("compressed-tensors",):
        with pytest.raises(nm.Error, match="expected no quantization_config of"):
            nm.convert(folder, tmp_path / "ct", "2:4", format="compressed-tensors")
        assert not (tmp_path / "ct").exists()
        return
    nm.convert(folder, tmp_path / "ct", "2:4", format="compressed-tensors")
    after = json.loads((tmp_path / "ct" / "config.json").read_text())
    assert after["quantization_config"]["sparsity_config"]["format"] == (
        "sparse-24-bitmask")
    assert after["quantization_config"]["format"] == (
        "pack-quantized" if kept else "dense")


@pytest.mark.parametrize("name,text", [
    ("pytorch_model.bin", "pytorch_model.bin alone; transformers makes them"),
    ("model.pt", "model.pt alone; in torch, safetensors.torch.save_file"),
    ("model.onnx", "model.onnx alone; give the file in place of the folder"),
    ("config.json", "found none$")])
def test_folders_of_other_forms(tmp_path, name, text):
    (tmp_path / name).write_bytes(b"{}")
    with pytest.raises(nm.FileFormatError, match=text):
        nm.io.open_weights(tmp_path)


@pytest.fixture
def model_folder(draw, tmp_path):
    """A model in two shards, with what else a model's folder has."""
    folder = tmp_path / "model"
    folder.mkdir()
    write(folder / "model-1.safetensors", a__weight=draw.array(16, 32), a__bias=draw.array(16),
          conv__weight=draw.array(8, 4, 3, 3))
    write(folder / "model-2.safetensors", b__weight=draw.array(32, 16),
          embed_tokens__weight=draw.array(50, 32))
    write_index(folder, {name: f"model-{i}.safetensors" for i, names in (
        (1, ("a.weight", "a.bias", "conv.weight")), (2, ("b.weight", "embed_tokens.weight")))
        for name in names})
    for name in ("config.json", "tokenizer.json", "generation_config.json"):
        (folder / name).write_text(json.dumps({"name": name}))
    (folder / "pytorch_model.bin").write_bytes(b"left")
    return folder


def test_a_folder_is_pruned_to_a_folder(model_folder, tmp_path, capsys):
    before = {file.name: file.read_bytes() for file in model_folder.iterdir()}
    out = tmp_path / "out"
    assert main(["prune", str(model_folder), "--pattern=2:4", "-o", str(out)]) == 0
    told = capsys.readouterr().out
    assert "passed over embed_tokens.weight" in told and f"written to {out}" in told
    assert sorted(file.name for file in out.iterdir()) == sorted(
        set(before) - {"pytorch_model.bin"})
    for name in ("config.json", "tokenizer.json", "generation_config.json"):
        assert json.loads((out / name).read_text()) == {"name": name}
    dense, pruned = map(nm.io.open_weights, (model_folder, out))
    assert sorted(dense) == sorted(pruned)
    for name in ("a.weight", "b.weight"):
        np.testing.assert_array_equal(pruned[name], nm.prune(dense[name], "2:4", axis=1).weight)
    matrix = pruned["conv.weight"].transpose(0, 2, 3, 1).reshape(8, -1)
    assert nm.check(matrix, "2:4", axis=1)
    for name in ("a.bias", "embed_tokens.weight"):
        np.testing.assert_array_equal(pruned[name], dense[name])
    index = json.loads((out / "model.safetensors.index.json").read_text())
    assert index["weight_map"]["conv.weight"] == "model-1.safetensors"
    assert index["weight_map"]["b.weight"] == "model-2.safetensors"
    # One file is what another name asks for.
    assert main(["prune", str(model_folder), "--pattern=2:4", "--name=a.*",
                 "-o", str(tmp_path / "one.safetensors")]) == 0
    assert sorted(nm.io.open_weights(tmp_path / "one.safetensors")) == sorted(dense)
    assert {file.name: file.read_bytes() for file in model_folder.iterdir()} == before


def test_a_folder_is_not_pruned_in_its_place(model_folder, tmp_path, capsys):
    before = {file.name: file.read_bytes() for file in model_folder.iterdir()}
    for options in ([], ["--overwrite"]):
        assert main(["prune", str(model_folder), "--pattern=2:4", "-o", str(model_folder),
                     *options]) == 1
        assert "expected an output other than the checkpoint" in capsys.readouterr().err
    assert {file.name: file.read_bytes() for file in model_folder.iterdir()} == before
    write(tmp_path / "file.safetensors", a__weight=np.ones((16, 32), np.float32))
    assert main(["prune", str(tmp_path / "file.safetensors"), "--pattern=2:4", "-o",
                 str(tmp_path / "out")]) == 1
    assert "ends in .safetensors" in capsys.readouterr().err


def test_a_condensed_folder_is_pruned_further(shards, tmp_path):
    folder, a, _ = shards
    (folder / "config.json").write_text(json.dumps({"model_type": "llama"}))
    nm.convert(folder, tmp_path / "nm")
    assert main(["prune", str(tmp_path / "nm"), "--pattern=1:4", "-o",
                 str(tmp_path / "out")]) == 0
    pruned = nm.io.open_weights(tmp_path / "out")
    assert pruned.condensed("a.weight") is None
    np.testing.assert_array_equal(pruned["a.weight"], nm.prune(a, "1:4", axis=1).weight)
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config == {"model_type": "llama"}


def test_a_mask_in_another_shard_is_refused(draw, tmp_path, capsys):
    folder = tmp_path / "model"
    folder.mkdir()
    write(folder / "model-1.safetensors", a__weight_orig=draw.array(16, 32))
    write(folder / "model-2.safetensors", a__weight_mask=np.ones((16, 32), np.float32))
    write_index(folder, {"a.weight_orig": "model-1.safetensors",
                         "a.weight_mask": "model-2.safetensors"})
    assert main(["prune", str(folder), "--pattern=2:4", "-o", str(tmp_path / "out")]) == 1
    assert "a.weight is in parts" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
