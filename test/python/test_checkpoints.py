"""Whole checkpoints: converted, and back."""

import json

import numpy as np
import pytest

import nm
from nm import _bits, _safetensors
from nm.cli import main


@pytest.mark.parametrize("bits", range(9))
def test_bits(bits, monkeypatch):
    monkeypatch.setattr(_bits, "_PART", 16)
    numbers = np.random.default_rng(0).integers(0, 1 << bits, 77).astype(np.uint8)
    packed = _bits.pack_bits(numbers, bits)
    assert packed.size == _bits.packed_bytes(77, bits)
    whole = sum(int(number) << (i * bits) for i, number in enumerate(numbers))
    assert int.from_bytes(packed.tobytes(), "little") == whole
    np.testing.assert_array_equal(_bits.unpack_bits(packed, 77, bits), numbers)


def test_size_on_disk(draw, tmp_path):
    dense = draw.weight((256, 512), "2:4", axis=1, dtype=np.float16)
    w = nm.compress(dense, "2:4", axis=1)
    w.save(tmp_path / "w.safetensors")
    assert (tmp_path / "w.safetensors").stat().st_size <= 0.57 * dense.nbytes


def test_files_of_version_1(draw, tmp_path):
    w = nm.compress(draw.weight((8, 16), "2:4", axis=1), "2:4", axis=1)
    _safetensors.write(tmp_path / "w.safetensors", {
        "fc.values": ("f32", w.values), "fc.indices": ("u8", w.indices)}, {
        "format": "nm.sparse", "version": "1", "weights": json.dumps(
            {"fc": {"pattern": str(w.pattern), "shape": [8, 16], "dtype": "f32"}})})
    again = nm.SparseTensor.load(tmp_path / "w.safetensors")
    np.testing.assert_array_equal(again.decompress(), w.decompress())


@pytest.fixture
def folder(draw, tmp_path):
    """A model in two shards, with tensors that are no N:M weights, one of a type that
    nm does not know."""
    path = tmp_path / "model"
    (path / "1_Pooling").mkdir(parents=True)
    half = {name: draw.weight(shape, "2:4", axis=1, dtype=np.float16) for name, shape in
            (("a.weight", (16, 32)), ("b.weight", (32, 16)))}
    shards = {
        "model-00001-of-00002.safetensors": {
            "a.weight": ("f16", half["a.weight"]),
            "a.bias": ("f32", draw.array(16)),
            "embed.weight": ("f32", draw.array(50, 16)),
            "flags": ("bool", np.array([True, False]))},
        "model-00002-of-00002.safetensors": {
            "b.weight": ("f16", half["b.weight"]),
            "odd": _safetensors.StoredTensor("F8_E5M2", (3,), np.arange(3, dtype="u1")),
            "norm.weight": ("f32", draw.array(16))}}
    for name, tensors in shards.items():
        _safetensors.write(path / name, tensors, {"format": "pt", "note": "kept"})
    (path / "model.safetensors.index.json").write_text(json.dumps({
        "metadata": {"total_size": 1}, "weight_map": {
            tensor: name for name, tensors in shards.items() for tensor in tensors}}))
    (path / "config.json").write_text('{"architectures": ["Model"], "size": 16}')
    (path / "tokenizer.json").write_text("{}")
    (path / "1_Pooling" / "config.json").write_text('{"mean": true}')
    (path / "pytorch_model.bin").write_bytes(b"dense")
    return path


def stored_tensors(folder):
    found = {}
    for path in sorted(folder.glob("*.safetensors")):
        file = _safetensors.SafetensorsFile(path)
        for name in file:
            tensor = file.stored(name)
            found[name] = tensor.kind, tensor.shape, tensor.data.tobytes()
    return found


@pytest.mark.parametrize("format", ["nm", "compressed-tensors"])
def test_a_folder_there_and_back(folder, tmp_path, format):
    out, back = tmp_path / "out", tmp_path / "back"
    pattern = nm.Pattern(2, 4, axis=1)
    report = nm.convert(folder, out, pattern, names=["?.weight"], format=format)
    assert set(report.weights) == {"a.weight", "b.weight"} and not report.left_dense
    assert report.share == pytest.approx(0.5625, abs=0.04)
    assert set(report.kept) == {"a.bias", "embed.weight", "flags", "odd", "norm.weight"}
    before, after = stored_tensors(folder), stored_tensors(out)
    for name in report.kept:
        assert after[name] == before[name]
    assert "a.weight" not in after and "b.weight" not in after
    index = json.loads((out / "model.safetensors.index.json").read_text())
    assert set(index["weight_map"]) == set(after)
    assert index["weight_map"]["odd"] == "model-00002-of-00002.safetensors"
    assert (out / "tokenizer.json").exists() and (out / "1_Pooling/config.json").exists()
    assert not (out / "pytorch_model.bin").exists()
    config = json.loads((out / "config.json").read_text())
    assert config["size"] == 16
    assert config["quantization_config"]["quant_method"] == format
    file = _safetensors.SafetensorsFile(out / "model-00001-of-00002.safetensors")
    assert file.metadata["note"] == "kept"
    nm.convert(out, back, format="dense")
    assert stored_tensors(back) == before
    assert json.loads((back / "config.json").read_text()) == json.loads(
        (folder / "config.json").read_text())
    assert _safetensors.SafetensorsFile(
        back / "model-00001-of-00002.safetensors").metadata == {
            "format": "pt", "note": "kept"}


def test_compressed_tensors_by_its_definition(folder, tmp_path):
    """Two of each four are stored, also where they are zero; other patterns by their
    non-zeros, with the places where rows begin."""
    dense = nm.io.open_weights(folder)["a.weight"].copy()
    dense[3, 8:12] = 0
    w = nm.compress(dense, "2:4", axis=1)
    parts = nm.io.to_bitmask(w, "layers.0.fc.weight", "sparse-24-bitmask")
    assert {name: (kind, array.shape) for name, (kind, array) in parts.items()} == {
        "layers.0.fc.shape": ("i64", (2, 1)), "layers.0.fc.compressed": ("f16", (16, 16)),
        "layers.0.fc.bitmask": ("u8", (16, 4))}
    mask = np.unpackbits(parts["layers.0.fc.bitmask"][1], axis=1, bitorder="little")
    assert (mask.reshape(16, 8, 4).sum(-1) == 2).all()
    again = np.zeros_like(dense)
    again[mask.astype(bool)] = parts["layers.0.fc.compressed"][1].reshape(-1)
    np.testing.assert_array_equal(again, dense)
    plain = nm.io.to_bitmask(w, "fc.weight")
    counts = np.count_nonzero(dense, axis=1)
    np.testing.assert_array_equal(plain["fc.row_offsets"][1],
                                  np.cumsum(counts) - counts)
    assert plain["fc.compressed"][1].shape == (counts.sum(),)
    with pytest.raises(nm.PatternError, match="fc.*expected 2:4 of .*sparse-bitmask has"):
        nm.io.to_bitmask(nm.compress(dense[:, :30], "2:4", axis=1), "fc",
                         "sparse-24-bitmask")


def test_from_compressed_tensors_to_condensed(folder, tmp_path):
    nm.convert(folder, tmp_path / "a", nm.Pattern(2, 4, axis=1), skip=True,
               format="compressed-tensors")
    nm.convert(tmp_path / "a", tmp_path / "b")
    source = nm.io.open_weights(tmp_path / "b")
    for name in ("a.weight", "b.weight"):
        assert source.condensed(name).pattern == nm.Pattern(2, 4, axis=1)
        np.testing.assert_array_equal(source[name], nm.io.open_weights(folder)[name])
    config = json.loads((tmp_path / "b" / "config.json").read_text())
    assert config["quantization_config"] == {
        "quant_method": "nm", "version": 1,
        "layers": {"a": "2:4, dim = 1", "b": "2:4, dim = 1"}}


def test_conversions_that_are_refused(folder, tmp_path, capsys):
    out = tmp_path / "out"
    with pytest.raises(nm.PatternError, match="'embed.weight' to have at most 2"):
        nm.convert(folder, out, nm.Pattern(2, 4, axis=1), names=["*.weight"])
    assert not out.exists()
    with pytest.raises(nm.PatternError, match=r"of 1 none has one\nembed.weight: "):
        nm.convert(folder, out, names=["embed.*"])
    with pytest.raises(nm.Error, match="other than the checkpoint"):
        nm.convert(folder, folder)
    with pytest.raises(nm.Error, match="format to be one of nm, compressed-tensors"):
        nm.convert(folder, out, format="gguf")
    for call in (lambda: nm.convert(folder / "no", out),
                 lambda: nm.io.open_weights(folder / "no.safetensors")):
        with pytest.raises(FileNotFoundError, match="no.*: expected a file of weights"):
            call()
    assert main(["convert", str(folder), "-o", str(out), "--skip",
                 "--pattern=2:4"]) == 0
    printed = capsys.readouterr().out
    assert "left dense embed.weight" in printed and "with 5 other tensors" in printed
