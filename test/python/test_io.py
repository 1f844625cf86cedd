"""Weights from files and forms of others."""

import json
import re

import nm
import numpy as np
import pytest
from nm import _safetensors


def write_safetensors(path, tensors, metadata=None):
    names = {"f4": "f32", "f2": "f16", "i1": "i8", "u1": "u8", "i8": "i64",
             "i4": "i32", "i2": "i16", "u2": "bf16"}
    _safetensors.write(path, {name: (names[array.dtype.str[1:]], array)
                              for name, array in tensors.items()}, metadata or {})


def test_dense_safetensors(draw, tmp_path):
    pytest.importorskip("ml_dtypes")
    w, bits = draw.array(8, 16), draw.array(4, 8).view(np.uint16)
    path = tmp_path / "model.safetensors"
    write_safetensors(path, {"a.weight": w, "a.bias": draw.array(8),
                             "b.weight": bits, "step": np.ones((), np.int64)})
    source = nm.io.open_weights(path)
    assert sorted(source) == ["a.bias", "a.weight", "b.weight", "step"]
    assert source.matrices() == ["a.weight", "b.weight"]
    np.testing.assert_array_equal(source["a.weight"], w)
    assert source["b.weight"].dtype.name == "bfloat16"
    assert source["b.weight"].tobytes() == bits.tobytes()
    with pytest.raises(KeyError, match="a.weight.*but got c"):
        source["c"]
    with pytest.raises(nm.Error, match="a.weight, b.weight"):
        nm.io.load_dense(path)
    np.testing.assert_array_equal(nm.io.load_dense(path, "a.weight"), w)


def test_shards_and_folders(draw, tmp_path):
    first, second = draw.array(4, 8), draw.array(4, 8)
    write_safetensors(tmp_path / "m-1.safetensors", {"a": first})
    write_safetensors(tmp_path / "m-2.safetensors", {"b": second})
    index = tmp_path / "m.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "m-1.safetensors",
                                                "b": "m-2.safetensors"}}))
    for path in (index, tmp_path):
        source = nm.io.open_weights(path)
        np.testing.assert_array_equal(source["a"], first)
        np.testing.assert_array_equal(source["b"], second)
    index.write_text(json.dumps({"weight_map": {"a": "../m-1.safetensors"}}))
    with pytest.raises(nm.FileFormatError, match="shards beside"):
        nm.io.open_weights(index)
    index.write_text("[]")
    with pytest.raises(nm.FileFormatError, match="an index of safetensors"):
        nm.io.open_weights(index)


def test_numpy_files(draw, tmp_path):
    w = draw.array(8, 16)
    np.save(tmp_path / "w.npy", w)
    np.savez(tmp_path / "w.npz", a=w, b=w[0])
    np.testing.assert_array_equal(nm.io.load_dense(tmp_path / "w.npy"), w)
    np.testing.assert_array_equal(nm.io.load_dense(tmp_path / "w.npz"), w)
    np.save(tmp_path / "o.npy", np.array([{}]), allow_pickle=True)
    for name, text in (("o.npy", "of NumPy"), ("bad.npy", "is damaged")):
        (tmp_path / "bad.npy").write_text("no array")
        with pytest.raises(nm.FileFormatError, match=text):
            nm.io.open_weights(tmp_path / name)


def test_condensed_files_are_read_too(draw, tmp_path):
    w = draw.weight((16, 8), "2:4")
    nm.compress(w, "2:4", axis=0).save(tmp_path / "w.safetensors")
    np.testing.assert_array_equal(
        nm.io.load_dense(tmp_path / "w.safetensors"), w)


def bitmask_parts(dense):
    mask = dense != 0
    return {"w.shape": np.array(dense.shape, np.int64).reshape(2, 1),
            "w.compressed": dense[mask],
            "w.bitmask": np.packbits(mask, axis=1, bitorder="little")}


@pytest.mark.parametrize("form", ["sparse-24-bitmask", "sparse-bitmask"])
def test_compressed_tensors(draw, tmp_path, form):
    dense = draw.weight((6, 28), "2:4", axis=1)
    parts = bitmask_parts(dense)
    if form == "sparse-24-bitmask":
        parts["w.compressed"] = parts["w.compressed"].reshape(6, 14)
    else:
        dense[2, :4] = 0
        parts = bitmask_parts(dense)
        parts["w.row_offsets"] = np.arange(6)
    path = tmp_path / "model.safetensors"
    write_safetensors(path, {**parts, "w.weight_scale": np.ones(6, np.float32)})
    source = nm.io.open_weights(path)
    assert source.info("w.weight") == ("f32", (6, 28)) and list(source) == ["w.weight", "w.weight_scale"]
    np.testing.assert_array_equal(source["w.weight"], dense)
    np.testing.assert_array_equal(source.scale("w.weight"), np.ones(6))
    assert source.scale("w.weight_scale") is None


@pytest.mark.parametrize("change,text", [
    (lambda p: p | {"w.compressed": p["w.compressed"][:-1]}, "expected 84 values"),
    (lambda p: p | {"w.bitmask": p["w.bitmask"][:, :-1]}, r"uint8 \[6, 4\]"),
    (lambda p: p | {"w.bitmask": p["w.bitmask"] | np.uint8(
        [[0, 0, 0, 128]])}, "beyond column 28"),
    (lambda p: p | {"w.shape": np.ones((3, 1), np.int64)}, "two integers"),
])
def test_damaged_bitmask(draw, tmp_path, change, text):
    parts = change(bitmask_parts(draw.weight((6, 28), "2:4", axis=1)))
    write_safetensors(tmp_path / "m.safetensors", parts)
    with pytest.raises(nm.FileFormatError, match=text):
        nm.io.open_weights(tmp_path / "m.safetensors")["w.weight"]


def test_scales_must_be_finite(draw, tmp_path):
    write_safetensors(tmp_path / "m.safetensors", {
        "w": draw.array(4, 8), "w_scale": np.array([1, np.nan], np.float32)})
    with pytest.raises(nm.FileFormatError, match="scale 1 is not"):
        nm.io.open_weights(tmp_path / "m.safetensors").scale("w")


def test_masks(draw):
    w = draw.array(8, 16)
    mask = np.abs(w) > 0.5
    np.testing.assert_array_equal(nm.io.apply_mask(w, mask), w * mask)
    with pytest.raises(nm.ShapeError, match=r"\(8, 16\), but got \(16, 8\)"):
        nm.io.apply_mask(w, mask.T)
    np.testing.assert_array_equal(nm.io.apply_mask(w, mask.astype(float)), w * mask)
    for other in (mask * 0.5, mask * np.nan, mask * -1):
        with pytest.raises(nm.DTypeError, match="booleans"):
            nm.io.apply_mask(w, other)


def test_bitmask_of_torch():
    torch = pytest.importorskip("torch")
    values = torch.tensor([1.0, -2.0, 3.0], dtype=torch.bfloat16)
    bits = torch.tensor([[0b10000101]], dtype=torch.uint8)
    dense = nm.io.from_bitmask(values, bits, torch.tensor([1, 8]))
    assert dense.dtype.name == "bfloat16"
    assert dense.astype(np.float32).tolist() == [[1, 0, -2, 0, 0, 0, 0, 3]]


@pytest.mark.parametrize("name,text", [
    ("m.pt", "safetensors.torch.save_file"), ("m.bin", "runs? code"),
    ("m.gguf", "quantized in blocks"), ("m.h5", "numpy.savez"),
    ("m.xyz", "but got .xyz"), ("m", "no suffix"),
])
def test_refused(tmp_path, name, text):
    (tmp_path / name).write_text("")
    with pytest.raises(nm.FileFormatError, match=text):
        nm.io.open_weights(tmp_path / name)


def test_marlin_is_refused(tmp_path):
    write_safetensors(tmp_path / "m.safetensors", {
        "q.B_24": np.zeros((4, 4), np.int32)})
    with pytest.raises(nm.FileFormatError, match="q.B_24.*pack-quantized"):
        nm.io.open_weights(tmp_path / "m.safetensors")


@pytest.mark.parametrize("parts, text", [
    (("l.weight_packed", "l.meta"), "marlin-24"),
    (("l._weight_packed", "l._weight_meta"), "SparseSemiStructuredTensor.*from_cutlass"),
    (("l.weight.packed", "l.weight.meta"), "SparseSemiStructuredTensor.*from_cutlass"),
])
def test_parts_of_semi_structured_tensors_are_refused(draw, tmp_path, parts, text):
    write_safetensors(tmp_path / "m.safetensors", {
        parts[0]: draw.array(64, 32).astype(np.float16), parts[1]: np.zeros((64, 4), np.int16)})
    with pytest.raises(nm.FileFormatError, match=f"{re.escape(parts[0])}.*{text}"):
        nm.io.open_weights(tmp_path / "m.safetensors")


@pytest.mark.parametrize("kind", ["Int8Tensor", "Float8Tensor", "Int4TilePackedTo4dTensor"])
def test_classes_of_torchao_are_refused(tmp_path, kind):
    # As its save_file writes them: parts, and metadata for each of the tensors.
    tensors = {"l._weight_qdata": np.ones((32, 64), np.int8),
               "l._weight_scale": np.ones((32, 1), np.float32),
               "l.bias": np.zeros(32, np.float32)}
    about = {"tensor_names": json.dumps(["l.weight", "l.bias"]),
             "l.bias": json.dumps({"_type": "Tensor"}),
             "l.weight": json.dumps({"_type": kind, "_data": {"block_size": [1, 64]}})}
    write_safetensors(tmp_path / "model.safetensors", tensors, about)
    for path in (tmp_path / "model.safetensors", tmp_path):
        with pytest.raises(nm.FileFormatError, match=f"l.weight: .*{kind}.*sparsify"):
            nm.io.open_weights(path)
    write_safetensors(tmp_path / "plain.safetensors", {"l.weight": np.eye(4, dtype=np.float32)}, {
        "l.weight": json.dumps({"_type": "Tensor"}), "note": '{"_type": ['})
    assert list(nm.io.open_weights(tmp_path / "plain.safetensors")) == ["l.weight"]


# One ONNX file byte by byte, so that the reader is tested without the package.
def field(number, contents):
    if isinstance(contents, int):
        return bytes([number << 3]) + varint(contents)
    return bytes([number << 3 | 2]) + varint(len(contents)) + contents


def varint(value):
    text = b""
    while value > 127:
        text += bytes([value & 127 | 128])
        value >>= 7
    return text + bytes([value])


def onnx_tensor(name, shape, kind, *rest):
    return field(5, b"".join([field(1, size) for size in shape] + [
        field(2, kind), field(8, name.encode()), *rest]))


def onnx_model(*tensors):
    return field(1, 9) + field(7, field(2, b"graph") + b"".join(tensors))


def test_onnx(draw, tmp_path):
    pytest.importorskip("ml_dtypes")
    w, other = draw.array(8, 300), draw.array(3, 5)
    (tmp_path / "w.data").write_bytes(b"pad!" + other.tobytes())
    entries = [field(1, key) + field(2, value) for key, value in (
        (b"location", b"w.data"), (b"offset", b"4"), (b"length", b"60"))]
    (tmp_path / "m.onnx").write_bytes(onnx_model(
        onnx_tensor("raw", w.shape, 1, field(9, w.tobytes())),
        onnx_tensor("floats", other.shape, 1, field(4, other.tobytes())),
        onnx_tensor("half", (2, 2), 10, field(5, b"".join(
            varint(int(v)) for v in np.float16([[1, 2], [3, -4]]).view(
                np.uint16).ravel()))),
        onnx_tensor("b", (1, 2), 16, field(9, b"\x80\x3f\x00\x40")),
        onnx_tensor("outside", other.shape, 1,
                    *[field(13, entry) for entry in entries])))
    source = nm.io.open_weights(tmp_path / "m.onnx")
    np.testing.assert_array_equal(source["raw"], w)
    np.testing.assert_array_equal(source["floats"], other)
    np.testing.assert_array_equal(source["outside"], other)
    np.testing.assert_array_equal(source["half"], [[1, 2], [3, -4]])
    assert source["b"].astype(np.float32).tolist() == [[1, 2]]


def test_onnx_of_the_package(draw, tmp_path):
    onnx = pytest.importorskip("onnx")
    w = draw.array(8, 16)
    graph = onnx.helper.make_graph([], "g", [], [], [
        onnx.numpy_helper.from_array(w, "w"),
        onnx.helper.make_tensor("f", onnx.TensorProto.FLOAT, (2, 2), [1, 2, 3, 4])
    ])
    onnx.save(onnx.helper.make_model(graph), tmp_path / "m.onnx")
    source = nm.io.open_weights(tmp_path / "m.onnx")
    np.testing.assert_array_equal(source["w"], w)
    np.testing.assert_array_equal(source["f"], [[1, 2], [3, 4]])


@pytest.mark.parametrize("data,text", [
    (b"", "found none"), (b"\xff" * 40, "damaged"), (b"text" * 9, "damaged"),
    (onnx_model(onnx_tensor("w", (2, 2), 1, field(9, b"1234"))), "expected 4 elements"),
    (onnx_model(onnx_tensor("w", (1, 1), 1, field(9, b"123"))), "3 bytes"),
    (onnx_model(onnx_tensor("w", (1, 1), 8, field(9, b"123"))), "data type 8"),
    (onnx_model(onnx_tensor("w", (1, 1), 1, field(13, field(
        1, b"location") + field(2, b"../../etc/passwd")))), "model's folder"),
])
def test_damaged_onnx(tmp_path, data, text):
    (tmp_path / "m.onnx").write_bytes(data)
    with pytest.raises(nm.FileFormatError, match=text):
        nm.io.open_weights(tmp_path / "m.onnx")["w"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "float32"])
def test_cutlass(draw, dtype):
    torch = pytest.importorskip("torch")
    from torch.sparse import _semi_structured_conversions as conversions
    kind = getattr(torch, dtype)
    pattern = "1:2" if dtype == "float32" else "2:4"
    dense, _ = nm.prune((torch.from_numpy(draw.array(64, 128)) * 20).to(kind),
                        pattern, axis=1)
    packed, meta = conversions.sparse_semi_structured_from_dense_cutlass(dense)
    back = nm.io.from_cutlass(packed, meta)
    assert back.tobytes() == dense.contiguous().view(torch.uint8).numpy(
        ).tobytes()
    with pytest.raises(nm.ShapeError, match="meta"):
        nm.io.from_cutlass(packed, meta[:, :-1])
    with pytest.raises(nm.ShapeError, match="packed"):
        nm.io.from_cutlass(packed[:0], meta[:0])
    bad = meta.clone()
    bad[0, 0] = 0
    if dtype == "float32":
        # First and third, which no f32 is.
        bad[0, 0] = -0x7778
    with pytest.raises(nm.FileFormatError, match="ascending positions"):
        nm.io.from_cutlass(packed, bad)


def test_torch_forms_that_are_refused():
    class SparseSemiStructuredTensorCUSPARSELT:
        pass

    with pytest.raises(nm.Error, match="to_dense"):
        nm.io.from_cutlass(SparseSemiStructuredTensorCUSPARSELT())
    with pytest.raises(TypeError, match="packed and meta"):
        nm.io.from_cutlass(np.zeros((32, 32)))
