"""The initializers of an ONNX model, by a reader of just these protobuf fields.

    ModelProto 7: graph        GraphProto 5: initializer
    TensorProto 1: dims  2: data_type  4: float_data  5: int32_data
                7: int64_data  8: name  9: raw_data  10: double_data
                13: external_data (1: key, 2: value)  14: data_location
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping

import numpy as np

from .._errors import FileFormatError, reading

# TensorProto.DataType: ours, and the raw type.
_TYPES = {1: ("f32", "<f4"), 2: ("u8", "u1"), 3: ("i8", "i1"), 6: ("i32", "<i4"),
          7: ("i64", "<i8"), 9: ("bool", "?"), 10: ("f16", "<f2"),
          11: ("f64", "<f8"), 16: ("bf16", "<u2"), 17: ("f8E4M3FN", "u1"),
          19: ("f8E5M2", "u1")}
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
# The fields that hold elements, and of which types; raw_data holds any.
_DATA_FIELDS = {4: (1,), 5: (2, 3, 6, 9, 10, 16, 17, 19), 7: (7,), 9: (), 10: (11,)}
_EXTERNAL = 13


def _narrow(values: list[int], dtype: np.dtype) -> np.ndarray:
    """The elements that are stored as numbers of 64 bits; floats as their bits."""
    wide = np.array(values, np.uint64).view(np.int64)
    stored = dtype if dtype.kind == "i" else np.dtype(f"u{dtype.itemsize}")
    limits = np.iinfo(stored)
    outside = (wide < limits.min) | (wide > limits.max)
    if outside.any():
        raise ValueError(f"{wide[outside][0]} is beyond its type")
    return wide.astype(stored).view(dtype)


class OnnxFile(Mapping):
    """Initializers by name, as pairs of our type's name and a raw array."""

    def __init__(self, path: str | os.PathLike):
        self.path = os.fspath(path)
        self._data = np.memmap(self.path, np.uint8, "r") if os.path.getsize(
            self.path) else np.empty(0, np.uint8)
        self._tensors: dict[str, tuple] = {}
        with reading(self.path, "an ONNX model"):
            for graph in self._messages((0, len(self._data)), 7):
                for tensor in self._messages(graph, 5):
                    self._read_tensor(tensor)
        if not self._tensors:
            raise FileFormatError(f"{self.path}: expected an ONNX model with "
                                  "initializers, but found none")

    def __getitem__(self, name: str) -> tuple[str, np.ndarray]:
        kind, shape, place = self._tensors[name]
        if kind not in _TYPES:
            raise FileFormatError(f"{self.path}: {name}: expected floats or "
                                  f"integers, but got ONNX data type {kind}")
        element, dtype = _TYPES[kind]
        with reading(f"{self.path}: {name}", "a tensor"):
            raw = self._elements(name, kind, place, np.dtype(dtype))
            count = math.prod(shape)
            if raw.size != count:
                raise FileFormatError(f"{self.path}: {name}: expected {count} "
                                      f"elements, but got {raw.size}")
            return element, raw.reshape(shape)

    def info(self, name: str) -> tuple[str, tuple[int, ...]]:
        kind, shape, _ = self._tensors[name]
        return _TYPES.get(kind, (f"ONNX data type {kind}", ""))[0], shape

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    # Protobuf.

    def _varint(self, at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = int(self._data[at])
            value |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return value, at
            if shift > 63:
                raise ValueError(f"a number at byte {at} does not end")

    def _fields(self, span: tuple[int, int]) -> Iterator[tuple]:
        """(number, wire type, value or span) of each field of a message."""
        at, end = span
        while at < end:
            tag, at = self._varint(at)
            number, wire = tag >> 3, tag & 7
            if wire == _VARINT:
                value, at = self._varint(at)
                yield number, wire, value
                continue
            if wire == _BYTES:
                size, at = self._varint(at)
            elif wire in (_FIXED64, _FIXED32):
                size = 8 if wire == _FIXED64 else 4
            else:
                raise ValueError(f"wire type {wire} at byte {at}")
            if at + size > end:
                raise ValueError(f"a field at byte {at} ends beyond its message")
            yield number, wire, (at, at + size)
            at += size

    def _messages(self, span: tuple[int, int], wanted: int) -> Iterator[tuple]:
        for number, wire, value in self._fields(span):
            if number == wanted and wire == _BYTES:
                yield value

    def _text(self, span: tuple[int, int]) -> str:
        return self._data[slice(*span)].tobytes().decode()

    def _varints(self, span: tuple[int, int]) -> list[int]:
        values, (at, end) = [], span
        while at < end:
            value, at = self._varint(at)
            values.append(value)
        return values

    def _read_tensor(self, span: tuple[int, int]) -> None:
        shape: list[int] = []
        kind, name = 0, ""
        place: tuple = (None, None)
        external: dict = {}
        for number, wire, value in self._fields(span):
            if number == 1:
                shape += [value] if wire == _VARINT else self._varints(value)
            elif number == 2 and wire == _VARINT:
                kind = value
            elif number == 8 and wire == _BYTES:
                name = self._text(value)
            elif number in _DATA_FIELDS and wire == _BYTES:
                place = (number, value)
            elif number == 13 and wire == _BYTES:
                pair = {n: self._text(v) for n, w, v in self._fields(value)
                        if w == _BYTES}
                external[pair.get(1)] = pair.get(2, "")
        if "location" in external:
            place = (_EXTERNAL, external)
        self._tensors[name] = (kind, tuple(shape), place)

    def _elements(self, name: str, kind: int, place: tuple, dtype: np.dtype
                  ) -> np.ndarray:
        field, where = place
        if field is None:
            return np.empty(0, dtype)
        if field == _EXTERNAL:
            return self._aligned(self._external(name, where), name, dtype)
        kinds = _DATA_FIELDS[field]
        if kinds and kind not in kinds:
            raise FileFormatError(f"{self.path}: {name}: expected no elements of "
                                  f"ONNX data type {kind} in field {field}")
        if field in (5, 7):
            return _narrow(self._varints(where), dtype)
        return self._aligned(self._data[slice(*where)], name, dtype)

    def _aligned(self, part: np.ndarray, name: str, dtype: np.dtype
                 ) -> np.ndarray:
        if len(part) % dtype.itemsize:
            raise FileFormatError(f"{self.path}: {name}: expected elements of "
                                  f"{dtype.itemsize} bytes, but got {len(part)} "
                                  "bytes")
        if part.__array_interface__["data"][0] % dtype.itemsize:
            part = part.copy()
        return part.view(dtype)

    def _external(self, name: str, where: dict) -> np.ndarray:
        folder = os.path.realpath(os.path.dirname(self.path) or ".")
        path = os.path.realpath(os.path.join(folder, where["location"]))
        # A model must not make its reader open files anywhere.
        if os.path.commonpath((folder, path)) != folder:
            raise FileFormatError(f"{self.path}: {name}: expected its data in the "
                                  f"model's folder, but got {where['location']}")
        data = np.memmap(path, np.uint8, "r") if os.path.getsize(
            path) else np.empty(0, np.uint8)
        begin = int(where.get("offset") or 0)
        end = begin + int(where["length"]) if where.get("length") else len(data)
        if not 0 <= begin <= end <= len(data):
            raise FileFormatError(f"{path}: expected bytes {begin} to {end} of "
                                  f"{name}, but it has {len(data)}")
        return data[begin:end]
