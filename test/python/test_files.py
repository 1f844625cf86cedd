"""Files of condensed weights."""

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import nm
import numpy as np
import pytest
from nm._files import written_whole
from nm._plots.data import read_measurements


@pytest.fixture
def saved(draw, tmp_path):
    w = nm.compress(draw.weight((24, 70), "8:32", axis=1, block=(1, 16)), "8:32",
                    (1, 16), 1)
    path = tmp_path / "w.safetensors"
    w.save(path)
    return w, path


def test_round_trip(saved):
    w, path = saved
    again = nm.SparseTensor.load(path)
    assert (again.shape, again.pattern, again.dtype) == (
        w.shape, w.pattern, w.dtype)
    np.testing.assert_array_equal(again.decompress(), w.decompress())
    # Mapped, not read.
    assert not again.values.flags.writeable and not again.values.flags.owndata


def test_several_weights(draw, tmp_path):
    weights = {f"layer.{i}": nm.compress(
        draw.weight((16, 8 + i), "2:4", dtype=dtype), "2:4", axis=0)
        for i, dtype in enumerate((np.float32, np.float16, np.int8))}
    nm.save_weights(tmp_path / "all.safetensors", weights)
    again = nm.load_weights(tmp_path / "all.safetensors")
    assert list(again) == list(weights)
    for name, w in weights.items():
        np.testing.assert_array_equal(again[name].decompress(), w.decompress())
    one = nm.SparseTensor.load(tmp_path / "all.safetensors", "layer.1")
    assert one.dtype == "f16"
    with pytest.raises(nm.FileFormatError, match="layer.0, layer.1, layer.2"):
        nm.SparseTensor.load(tmp_path / "all.safetensors")


def test_other_readers(saved):
    safetensors = pytest.importorskip("safetensors.numpy")
    w, path = saved
    parts = safetensors.load_file(path)
    np.testing.assert_array_equal(parts["weight.values"], w.values)
    # Five bits tell 32 units apart.
    bits = np.unpackbits(parts["weight.indices"], bitorder="little")
    found = bits[:5 * w.indices.size].reshape(-1, 5) @ (1 << np.arange(5))
    np.testing.assert_array_equal(found.reshape(w.indices.shape), w.indices)


def rewrite(path, change):
    """Changes a file as a tool does that knows of its checksums, and drops them."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    del header["__metadata__"]["nm.crc32"], header["__metadata__"]["nm.sums"]
    header["__metadata__"]["version"] = "2"
    change(header)
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length:])


def set_metadata(**fields):
    return lambda header: header["__metadata__"].update(fields)


@pytest.mark.parametrize("change,text", [
    (set_metadata(version="7"), "expected version 1 to 6 of the format, but got 7"),
    (set_metadata(version="1"), "indices"),
    (set_metadata(format="pt"), "format is pt; nm.io.load_dense"),
    (set_metadata(weights="{"), "it is damaged"),
    (set_metadata(weights='{"weight": {}}'), "it is damaged"),
    (lambda h: h["__metadata__"].pop("weights"), "it is damaged"),
    (lambda h: h.pop("weight.values"), "expected a tensor 'weight.values'"),
    (lambda h: h["weight.values"].update(dtype="F16"), "bytes of weight.values"),
    (lambda h: h["weight.values"].update(dtype="I32"), "but got i32"),
    (lambda h: h["weight.values"].update(shape=[1, 2, 3]), "bytes of"),
    (lambda h: h["weight.values"].update(data_offsets=[0, 10 ** 9]), "bytes of"),
    (lambda h: h["weight.values"].pop("shape"), "expected dtype, shape"),
    (lambda h: h["weight.indices"].update(
        data_offsets=h["weight.values"]["data_offsets"][:1] + [
            h["weight.values"]["data_offsets"][0]
            + h["weight.indices"]["data_offsets"][1]
            - h["weight.indices"]["data_offsets"][0]]), "expected a position"),
])
def test_damaged(saved, change, text):
    _, path = saved
    rewrite(path, change)
    with pytest.raises(nm.FileFormatError, match=text):
        nm.SparseTensor.load(path)


def test_damaged_bytes(saved, tmp_path):
    _, path = saved
    data = path.read_bytes()
    for bad, text in ((b"", "at least 8 bytes"), (data[:50], "a header of at most"),
                      (b"\x08" + bytes(7) + b"not json", "a JSON header"),
                      (data[:-100], "bytes of")):
        (tmp_path / "bad").write_bytes(bad)
        with pytest.raises(nm.FileFormatError, match=text):
            nm.SparseTensor.load(tmp_path / "bad")


def test_failed_write_leaves_the_old_file(saved, tmp_path, monkeypatch):
    w, path = saved
    before = path.read_bytes()
    with pytest.raises(OSError):
        w.save(tmp_path / "no-such-folder" / "w.safetensors")
    shutil.copy(path, tmp_path / "old")
    monkeypatch.setattr("os.replace", lambda *paths: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        w.save(tmp_path / "old")
    assert (tmp_path / "old").read_bytes() == before
    assert not list(tmp_path.glob("*.tmp.*"))


def test_files_are_written_whole(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), written_whole(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert path.read_bytes() == b"old"
    with written_whole(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    (tmp_path / "folder").mkdir()
    for odd in (tmp_path / "none" / "a.bin", tmp_path / "folder"):
        with pytest.raises(OSError) as raised, written_whole(odd):
            pass
        assert raised.value.filename == str(odd)
    assert sorted(os.listdir(tmp_path)) == ["a.bin", "folder"]


def test_links_pipes_and_devices_stay(saved, tmp_path):
    w, path = saved
    (tmp_path / "link").symlink_to(path)
    path.write_bytes(b"")
    w.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and path.stat().st_size > 0
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_bytes)
        w.save(pipe)
        assert read.result() == path.read_bytes() and pipe.is_fifo()
    w.save("/dev/null")
    assert os.path.exists("/dev/null") and not os.path.isfile("/dev/null")
    with pytest.raises(OSError, match="No space left"):
        w.save("/dev/full")


def test_devices_are_no_texts(tmp_path):
    for call in (nm.compile, nm.lower):
        with pytest.raises(nm.FileFormatError, match="but got a device"):
            call("/dev/zero")
    (tmp_path / "model.safetensors.index.json").symlink_to("/dev/zero")
    (tmp_path / "config.json").symlink_to("/dev/zero")
    for path in (tmp_path, tmp_path / "model.safetensors.index.json"):
        with pytest.raises(nm.FileFormatError, match="but got a device"):
            nm.io.open_weights(path)
    for suffix in ("safetensors", "npy", "npz", "onnx"):
        (tmp_path / f"w.{suffix}").symlink_to("/dev/zero")
        with pytest.raises(nm.FileFormatError):
            nm.io.open_weights(tmp_path / f"w.{suffix}")
    with pytest.raises(nm.Error, match="expected a file, but got a device or a pipe"):
        nm.load("/dev/zero")
    text = "func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }"
    with pytest.raises(nm.FileFormatError, match="but got a device"):
        nm.compile(text, resources="/dev/zero")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").symlink_to("/dev/zero")
    nm.save_weights(folder / "model.safetensors", {})
    with pytest.raises(nm.FileFormatError, match="but got a device"):
        nm.io.open_weights(folder)
    with pytest.raises(nm.FileFormatError, match="but got a device"):
        read_measurements("/dev/zero")


def test_texts_come_from_pipes(tmp_path):
    os.mkfifo(tmp_path / "f.mlir")
    text = "func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }"
    with ThreadPoolExecutor() as pool:
        written = pool.submit((tmp_path / "f.mlir").write_text, text)
        assert "@f" in nm.lower(tmp_path / "f.mlir")
        written.result()


def test_nested_json_is_refused(draw, tmp_path):
    nested = "[" * 50000
    header = nested.encode()
    (tmp_path / "w.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(nm.FileFormatError):
        nm.io.open_weights(tmp_path / "w.safetensors")
    (tmp_path / "model.safetensors.index.json").write_text(nested)
    with pytest.raises(nm.FileFormatError):
        nm.io.open_weights(tmp_path / "model.safetensors.index.json")
    folder = tmp_path / "model"
    folder.mkdir()
    nm.save_weights(folder / "model.safetensors", {
        "a": nm.compress(draw.weight((8, 8), "2:4", axis=1), "2:4", axis=1)})
    (folder / "config.json").write_text(nested)
    assert set(nm.io.open_weights(folder)) == {"a"}
    with pytest.raises(nm.FileFormatError, match="config.json: expected a configuration"):
        nm.convert(folder, tmp_path / "out")
