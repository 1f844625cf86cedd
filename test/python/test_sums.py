"""Files with a bit flipped, or without their end: each is refused by its checksum."""

import random

import nm
import numpy as np
import pytest
from nm import _safetensors
from test_damaged_files import EXECUTIONS, SEED, mutate, safetensors, tensor
from test_modules import TEXT


def damaged(contents, step=1):
    """Copies with one bit flipped, or shorter: at every place of the first and the last
    kilobyte, and at every `step`th between."""
    places = [i for i in range(len(contents))
              if i < 1024 or i >= len(contents) - 1024 or i % step == 0]
    for i in places:
        yield contents[:i] + bytes([contents[i] ^ 1 << i % 8]) + contents[i + 1:]
        yield contents[:i]


@pytest.fixture
def weights(draw):
    return {name: nm.compress(draw.weight((16, 8), "2:4"), "2:4", axis=0)
            for name in ("a", "b")}


def test_weight_files(tmp_path, weights):
    path = tmp_path / "w.safetensors"
    nm.save_weights(path, weights)
    contents = path.read_bytes()
    for copy in damaged(contents):
        path.write_bytes(copy)
        with pytest.raises(nm.FileFormatError):
            nm.load_weights(path)
    path.write_bytes(contents)
    assert set(nm.load_weights(path)) == {"a", "b"}


def test_one_weight_is_read_without_the_others(tmp_path, weights):
    path = tmp_path / "w.safetensors"
    nm.save_weights(path, weights)
    contents = bytearray(path.read_bytes())
    other = _safetensors.SafetensorsFile(path)
    begin = other._begin + other._header["b.values"][2]
    contents[begin] ^= 1
    path.write_bytes(contents)
    assert nm.SparseTensor.load(path, "a").shape == (16, 8)
    with pytest.raises(nm.FileFormatError, match=r"expected the checksum \w{8} of b.values"):
        nm.SparseTensor.load(path, "b")


def test_weight_files_say_what_is_wrong(tmp_path, weights):
    path = tmp_path / "w.safetensors"
    nm.save_weights(path, weights)
    contents = path.read_bytes()
    for old, new, message in (
            (b"2:4", b"1:4", "expected the checksum .* of its header"),
            (b"nm.crc32", b"nm.crc33", "expected the checksum None of its header"),
            (b"[", b"[ ", "header")):
        path.write_bytes(contents.replace(old, new, 1))
        with pytest.raises(nm.FileFormatError, match=message):
            nm.load_weights(path)
    path.write_bytes(contents + b"\0")
    with pytest.raises(nm.FileFormatError, match="bytes of tensors, but got"):
        nm.load_weights(path)


def test_weights_without_sums_are_of_another_version(tmp_path, weights):
    """What another tool writes that keeps the metadata it knows of."""
    path = tmp_path / "w.safetensors"
    nm.save_weights(path, weights)
    file = _safetensors.SafetensorsFile(path)
    assert not {"nm.crc32", "nm.sums"} & set(file.metadata)
    text = path.read_bytes().replace(b"nm.crc32", b"aa.crc32").replace(b"nm.sums", b"aa.sums")
    path.write_bytes(text)
    with pytest.raises(nm.FileFormatError, match="expected checksums in a file of version 3"):
        nm.load_weights(path)
    path.write_bytes(text.replace(b'"version": "3"', b'"version": "2"'))
    loaded = nm.load_weights(path)
    assert np.array_equal(loaded["a"].decompress(), weights["a"].decompress())


def test_dense_files_that_nm_wrote(tmp_path, draw):
    path = tmp_path / "w.safetensors"
    _safetensors.write(path, {"x": ("f32", draw.array(3, 4))}, {"format": "pt"})
    contents = path.read_bytes()
    begin = _safetensors.SafetensorsFile(path)._begin
    for i in range(begin, len(contents)):
        path.write_bytes(contents[:i] + bytes([contents[i] ^ 1]) + contents[i + 1:])
        with pytest.raises(nm.FileFormatError, match="of x, but got"):
            nm.io.open_weights(path)["x"]


WITH_RESOURCE = """
  func.func @f() -> tensor<2x3xf32> {
    %w = arith.constant dense_resource<w> : tensor<2x3xf32>
    return %w : tensor<2x3xf32>
  }
  {-# dialect_resources: {builtin: {}} #-}"""


def test_resources(tmp_path, draw):
    """The compiler's own reader of such files."""
    path = tmp_path / "w.safetensors"
    _safetensors.write(path, {"w": ("f32", draw.array(2, 3))}, {"format": "pt"})
    contents = path.read_bytes()
    nm.lower(WITH_RESOURCE, "nm", resources=str(path))
    for copy in damaged(contents):
        path.write_bytes(copy)
        with pytest.raises(nm.CompileError):
            nm.lower(WITH_RESOURCE, "nm", resources=str(path))


def test_mutated_resources(tmp_path):
    """Without checksums, which would find the damage first."""
    path, draw, refused = tmp_path / "w.safetensors", random.Random("w" + SEED), 0
    good = safetensors({"w": tensor("F32", [2, 3], 0, 24),
                        "__metadata__": {"format": "pt"}}, bytes(24))
    for _ in range(EXECUTIONS):
        path.write_bytes(mutate(good, draw))
        try:
            nm.lower(WITH_RESOURCE, "nm", resources=str(path))
        except nm.CompileError as error:
            assert "internal error" not in str(error)
            refused += 1
    assert EXECUTIONS // 10 < refused < EXECUTIONS


def test_modules(tmp_path):
    """Nothing of a damaged module runs: it is refused by its checksum, and not by what
    the loader or the manifest's reader would find."""
    path = tmp_path / "model.so"
    nm.compile(TEXT).save(path)
    contents = path.read_bytes()
    for copy in damaged(contents, step=31):
        path.write_bytes(copy)
        with pytest.raises(nm.Error, match="model.so: cannot load: (expected|file too)"):
            nm.load(path)
    path.write_bytes(contents)
    assert nm.load(path).only_function().name
