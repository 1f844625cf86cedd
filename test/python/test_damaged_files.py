"""Damaged files: each is a FileFormatError, and none asks for much memory.

The mutated ones are more, and others, in a long run:

    NM_FUZZ_EXECUTIONS=10000 NM_FUZZ_SEED=7 pytest test/python/test_damaged_files.py
"""

import importlib.util
import io
import json
import os
import random
import struct
import zipfile

import nm
import numpy as np
import pytest


def safetensors(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def condensed(**record):
    record = {"pattern": "2:4", "shape": [8, 4], "dtype": "f32", **record}
    return safetensors({
        "__metadata__": {"format": "nm.sparse", "version": "1",
                         "weights": json.dumps({"a": record})},
        "a.values": tensor("F32", [4, 4], 0, 64),
        "a.indices": tensor("U8", [4, 4], 64, 80)},
        bytes(64) + bytes([0, 0, 0, 0, 1, 1, 1, 1] * 2))


def packed(**record):
    """As version 2 and 3 have it: an index in two bits. Without checksums, which
    would find the damage before the reader does."""
    record = {"pattern": "2:4", "shape": [8, 4], "dtype": "f32", **record}
    return safetensors({
        "__metadata__": {"format": "nm.sparse", "version": "2",
                         "weights": json.dumps({"a": record})},
        "a.values": tensor("F32", [4, 4], 0, 64),
        "a.indices": tensor("U8", [4], 64, 68)}, bytes(64) + b"\0\x55" * 2)


def bitmask(shape, dtype="I64"):
    return safetensors({
        "w.compressed": tensor("F32", [1], 0, 4),
        "w.bitmask": tensor("U8", [1, 1], 4, 5),
        "w.shape": tensor(dtype, [2, 1], 5, 21)}, bytes(4) + b"\1" + shape)


def npy(header):
    return (b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode()
            + bytes(64))


def npz(contents):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", contents)
    return file.getvalue()


def array(shape, descr="'<f4'"):
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}"


def varint(value):
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def onnx(*dims, kind=1, fields=b""):
    body = b"".join(field(1, size) for size in dims)
    body += field(2, kind) + field(8, b"w") + fields
    return field(7, field(5, body))


def external(**pairs):
    return b"".join(field(13, field(1, key.encode()) + field(2, value.encode()))
                    for key, value in pairs.items())


# Alone, NumPy has no bf16.
HALF = "BF16" if importlib.util.find_spec("ml_dtypes") else "F16"
GOOD = {
    ".safetensors": condensed(),
    "packed.safetensors": packed(),
    "dense.safetensors": safetensors({"x": tensor("F32", [2, 8], 0, 64),
                                      "y": tensor(HALF, [2, 2], 64, 72)},
                                     bytes(72)),
    "bitmask.safetensors": bitmask(struct.pack("<qq", 1, 8)),
    ".npy": npy(array((4, 4))),
    ".npz": npz(npy(array((4, 4)))),
    ".onnx": onnx(2, 2, fields=field(9, bytes(16))) + onnx(
        2, kind=3, fields=field(5, varint(3) + varint(2 ** 64 - 5))),
    ".index.json": b'{"weight_map": {"x": "x.safetensors"}}',
}
BAD = [
    (".safetensors", condensed(shape=[2 ** 64 + 8, 4])),
    (".safetensors", condensed(shape=[8.0, 4])),
    (".safetensors", condensed(shape=None)),
    (".safetensors", condensed(pattern=5)),
    (".safetensors", condensed(pattern="2:4\0, dim = 1")),
    (".safetensors", condensed(pattern="2:4, block = 9223372036854775807x1")),
    (".safetensors", condensed(dtype=["f32"])),
    (".safetensors", safetensors(b"[" * 100000)),
    (".safetensors", safetensors({"x": tensor(["F32"], [1], 0, 4)}, bytes(4))),
    (".safetensors", safetensors({"x": tensor("F32", [0, 2 ** 65], 0, 0)})),
    (".safetensors", safetensors({"x": tensor("F32", [1] * 100, 0, 4)}, bytes(4))),
    (".safetensors", bitmask(struct.pack("<qq", 1, 2 ** 62))),
    (".safetensors", bitmask(struct.pack("<qq", -1, 8))),
    (".safetensors", bitmask(struct.pack("<dd", float("nan"), 8), "F64")),
    (".npy", npy(array((0, 10 ** 22)))),
    (".npy", npy(array((-1, 4)))),
    (".npy", npy(array((1,), "'|O'"))),
    (".npy", npy(array((1,), "[('a', '<f4')]"))),
    (".npy", npy("{'descr': 'unfinished")),
    (".npy", npz(b"")),
    (".npz", npz(npy(array((10 ** 10,))))),
    (".npz", npz(npy(array((10 ** 9,))) + bytes(10 ** 6))),
    (".npz", npz(b"\x93NUMPY\7\0" + bytes(80))),
    (".npz", b"PK\3\4" + bytes(50)),
    (".npz", npy(array((4, 4)))),
    (".onnx", onnx(2 ** 32, 2 ** 32)),
    (".onnx", onnx(0, 2 ** 62)),
    (".onnx", onnx(2, kind=3, fields=field(5, varint(300) + varint(1)))),
    (".onnx", onnx(2, fields=field(5, varint(1) + varint(1)))),
    (".onnx", onnx(2, fields=field(7, varint(1) + varint(1)))),
    (".onnx", onnx(1, fields=varint(8 << 3) + varint(5) + field(13, 5))),
    (".onnx", onnx(1, fields=external(location="x.onnx", length="junk"))),
    (".onnx", onnx(1, fields=external(location="a\0b"))),
    (".onnx", onnx(1, fields=external(location="../x.onnx"))),
    (".index.json", b'{"weight_map": {"x": 5}}'),
    (".index.json", b'{"weight_map": {"x": "", "y": 5}}'),
    (".index.json", b'{"weight_map": {"x": "x\\u0000.safetensors"}}'),
    (".index.json", b'{"weight_map": {"x": ".."}}'),
    (".index.json", b"[" * 100000),
]


def read_all(path):
    source = nm.io.open_weights(path)
    for name in source:
        assert source[name].shape == source.info(name)[1]
    if path.suffix == ".safetensors" and b"nm.sparse" in path.read_bytes():
        for weight in nm.load_weights(path).values():
            weight.decompress()
    return source


@pytest.mark.parametrize("suffix", GOOD)
def test_files_that_are_damaged_below(suffix, tmp_path):
    (tmp_path / "x.safetensors").write_bytes(GOOD["dense.safetensors"])
    path = tmp_path / f"a{suffix}"
    path.write_bytes(GOOD[suffix])
    assert len(read_all(path)) >= 1


@pytest.mark.parametrize("suffix,contents", BAD)
def test_damaged(suffix, contents, tmp_path):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(contents)
    with pytest.raises(nm.FileFormatError, match="expected"):
        read_all(path)


def mutate(contents, draw):
    data = bytearray(contents)
    for _ in range(draw.choice((1, 1, 2, 4))):
        at = draw.randrange(max(1, min(len(data), draw.choice((64, len(data))))))
        how = draw.randrange(5)
        if how == 0:
            data[at:at + 1] = bytes([draw.randrange(256)])
        elif how == 1:
            del data[draw.randrange(len(data) + 1):]
        elif how == 2:
            del data[at:at + draw.randrange(1, 16)]
        elif how == 3:
            data[at:at] = draw.choice((b"-1", b"9" * 20, b"[", b'"', b"\xff" * 10))
        else:
            data[at:at + 8] = draw.choice((b"\xff" * 8, bytes(8),
                                           b"\xff" * 7 + b"\x7f"))
    return bytes(data)


EXECUTIONS = int(os.environ.get("NM_FUZZ_EXECUTIONS", "200"))
SEED = os.environ.get("NM_FUZZ_SEED", "")


@pytest.mark.parametrize("suffix", GOOD)
def test_mutated(suffix, tmp_path):
    (tmp_path / "x.safetensors").write_bytes(GOOD["dense.safetensors"])
    path, draw, refused = tmp_path / f"a{suffix}", random.Random(suffix + SEED), 0
    for _ in range(EXECUTIONS):
        path.write_bytes(mutate(GOOD[suffix], draw))
        try:
            read_all(path)
        except (nm.FileFormatError, FileNotFoundError):
            refused += 1
    assert refused > EXECUTIONS // 10


def test_mutated_cutlass_parts():
    """The metadata of torch's CUTLASS form, and shapes and types that do not fit."""
    draw = random.Random("cutlass" + SEED)
    # Each group keeps its first two: 0 | 1 << 2.
    good = np.full((32, 4), 0x4444, np.uint16).view(np.int16).tobytes()
    refused = 0
    for _ in range(EXECUTIONS):
        data = mutate(good, draw) if draw.randrange(4) else good
        kind = draw.choice((np.int16, np.int16, np.int16, np.int32, np.int8, np.float32))
        meta = np.frombuffer(data[:len(data) // np.dtype(kind).itemsize
                                  * np.dtype(kind).itemsize], kind)
        columns = draw.choice((4, 4, 4, 2, 1, 3))
        meta = meta[:len(meta) // columns * columns].reshape(-1, columns)
        values = np.ones((draw.choice((32, 32, 32, 16, 31, 0)),
                          draw.choice((32, 32, 32, 8, 0))),
                         draw.choice((np.float16, np.float16, np.float32, np.int8)))
        try:
            dense = nm.io.from_cutlass(values, meta)
        except nm.Error:
            refused += 1
            continue
        assert dense.size == 2 * values.size and np.count_nonzero(dense) == values.size
    assert EXECUTIONS // 10 < refused < EXECUTIONS
