"""The weights of an ONNX model, by a reader of just these protobuf fields.

    ModelProto 7: graph   GraphProto 1: node  5: initializer  15: sparse_initializer
    NodeProto 1: input  2: output  4: op_type  5: attribute
    AttributeProto 1: name  3: i  5: t  6: g  8: ints  22: sparse_tensor
    TensorProto 1: dims  2: data_type  4: float_data  5: int32_data
                7: int64_data  8: name  9: raw_data  10: double_data
                13: external_data (1: key, 2: value)  14: data_location
    SparseTensorProto 1: values  2: indices  3: dims

Weights are initializers, dense and sparse, and the values of Constant nodes of two
dimensions and more, which are called as their outputs are.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping

import numpy as np

from .._errors import FileFormatError, reading
from ._onnx_nodes import Node, Nodes

# TensorProto.DataType: ours, and the raw type. Integers of 4 bits are read as of 8.
_TYPES = {1: ("f32", "<f4"), 2: ("u8", "u1"), 3: ("i8", "i1"), 6: ("i32", "<i4"),
          7: ("i64", "<i8"), 9: ("bool", "?"), 10: ("f16", "<f2"),
          11: ("f64", "<f8"), 16: ("bf16", "<u2"), 17: ("f8E4M3FN", "u1"),
          19: ("f8E5M2", "u1"), 21: ("u8", "u1"), 22: ("i8", "u1")}
_FOUR_BITS, _SIGNED_FOUR_BITS = (21, 22), 22
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
# The fields that hold elements, and of which types; raw_data holds any.
_DATA_FIELDS = {4: (1,), 5: (2, 3, 6, 9, 10, 16, 17, 19, 21, 22), 7: (7,), 9: (), 10: (11,)}
_EXTERNAL = 13
# Of graphs in graphs, and dense elements for each byte of a file with sparse tensors.
_MOST_DEPTH, _MOST_SPARSE = 32, 1 << 10


def _narrow(values: list[int], dtype: np.dtype) -> np.ndarray:
    """The elements that are stored as numbers of 64 bits; floats as their bits."""
    wide = np.array(values, np.uint64).view(np.int64)
    stored = dtype if dtype.kind == "i" else np.dtype(f"u{dtype.itemsize}")
    limits = np.iinfo(stored)
    outside = (wide < limits.min) | (wide > limits.max)
    if outside.any():
        raise ValueError(f"{wide[outside][0]} is beyond its type")
    return wide.astype(stored).view(dtype)


def _unpacked(pairs: np.ndarray, is_signed: bool) -> np.ndarray:
    """The integers of 4 bits that are two to a byte, the first in the low bits."""
    fours = np.stack([pairs & 15, pairs >> 4], -1).reshape(-1)
    return (fours ^ 8).astype(np.int8) - np.int8(8) if is_signed else fours


class OnnxFile(Mapping):
    """Weights by name, as pairs of our type's name and a raw array.

    Attributes:
        nodes: what the graph does with them.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = os.fspath(path)
        self._data = np.memmap(self.path, np.uint8, "r") if os.path.getsize(
            self.path) else np.empty(0, np.uint8)
        self._tensors: dict[str, tuple] = {}
        self._sparse: dict[str, tuple[tuple, tuple[int, ...]]] = {}
        nodes: list[Node] = []
        with reading(self.path, "an ONNX model"):
            for graph in self._messages((0, len(self._data)), 7):
                self._read_graph(graph, nodes, 0)
        self.nodes = Nodes(nodes)
        if not self._tensors:
            raise FileFormatError(f"{self.path}: expected an ONNX model with "
                                  "initializers, but found none")

    def __getitem__(self, name: str) -> tuple[str, np.ndarray]:
        if name in self._sparse:
            return self._read_sparse(name)
        return self._dense(name, self._tensors[name])

    def _dense(self, name: str, tensor: tuple) -> tuple[str, np.ndarray]:
        kind, shape, place = tensor
        if kind not in _TYPES:
            raise FileFormatError(f"{self.path}: {name}: expected floats or "
                                  f"integers, but got ONNX data type {kind}")
        element, dtype = _TYPES[kind]
        with reading(f"{self.path}: {name}", "a tensor"):
            raw = self._elements(name, kind, place, np.dtype(dtype))
            count = math.prod(shape)
            if kind in _FOUR_BITS and raw.size == -(-count // 2):
                raw = _unpacked(raw, kind == _SIGNED_FOUR_BITS)[:count]
            if raw.size != count:
                raise FileFormatError(f"{self.path}: {name}: expected {count} "
                                      f"elements, but got {raw.size}")
            return element, raw.reshape(shape)

    def info(self, name: str) -> tuple[str, tuple[int, ...]]:
        kind, shape, _ = self._tensors[name]
        if name in self._sparse:
            shape = self._sparse[name][1]
        return _TYPES.get(kind, (f"ONNX data type {kind}", ""))[0], shape

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def _read_sparse(self, name: str) -> tuple[str, np.ndarray]:
        """A sparse initializer with its zeros."""
        indices, shape = self._sparse[name]
        element, values = self._dense(name, self._tensors[name])
        _, places = self._dense(name, indices)
        with reading(f"{self.path}: {name}", "a sparse tensor"):
            # A damaged shape would ask for any memory.
            if len(values) != len(places) or math.prod(shape) > _MOST_SPARSE * max(
                    len(self._data), 1):
                raise ValueError(f"{len(values)} values at {len(places)} places of "
                                 f"{shape}")
            if places.ndim == 2:
                if places.size and (places.min() < 0 or (places >= shape).any()):
                    raise ValueError("a place outside of it")
                places = np.ravel_multi_index(tuple(places.T), shape)
            dense = np.zeros(math.prod(shape), values.dtype)
            if places.size and (places.min() < 0 or places.max() >= dense.size):
                raise ValueError("a place outside of it")
            taken = np.zeros(dense.size, bool)
            taken[places] = True
            if np.count_nonzero(taken) != places.size:
                raise ValueError("two values at one place")
            dense[places] = values
            return element, dense.reshape(shape)

    # The graph.

    def _read_graph(self, span: tuple[int, int], nodes: list[Node], depth: int) -> None:
        """Reads a graph, and those inside of its nodes, whose names are unique."""
        if depth > _MOST_DEPTH:
            raise ValueError("graphs nested too deep")
        for number, wire, value in self._fields(span):
            if wire != _BYTES:
                continue
            if number == 5:
                self._read_tensor(value)
            elif number == 15:
                self._read_sparse_tensor(value, None)
            elif number == 1:
                nodes.append(self._read_node(value, nodes, depth))

    def _read_node(self, span: tuple[int, int], nodes: list[Node], depth: int) -> Node:
        node = Node()
        attributes = []
        for number, wire, value in self._fields(span):
            if wire != _BYTES:
                continue
            if number == 1:
                node.inputs.append(self._text(value))
            elif number == 2:
                node.outputs.append(self._text(value))
            elif number == 4:
                node.op = self._text(value)
            elif number == 5:
                attributes.append(value)
        for attribute in attributes:
            self._read_attribute(attribute, node, nodes, depth)
        return node

    def _read_attribute(self, span: tuple[int, int], node: Node, nodes: list[Node],
                        depth: int) -> None:
        name, numbers = "", []
        for number, wire, value in self._fields(span):
            if number == 1 and wire == _BYTES:
                name = self._text(value)
            elif number in (3, 8):
                numbers += self._varints(value) if wire == _BYTES else [value]
            elif number == 5 and wire == _BYTES and node.op == "Constant":
                self._read_tensor(value, node.outputs[0], least_rank=2)
            elif number == 22 and wire == _BYTES and node.op == "Constant":
                self._read_sparse_tensor(value, node.outputs[0])
            elif number in (6, 11) and wire == _BYTES:
                self._read_graph(value, nodes, depth + 1)
        # Varints of negative numbers are those of 64 bits.
        node.attributes[name] = [n - (1 << 64) if n >> 63 else n for n in numbers]

    def _read_sparse_tensor(self, span: tuple[int, int], name: str | None) -> None:
        shape: list[int] = []
        parts: dict[int, tuple] = {}
        for number, wire, value in self._fields(span):
            if number == 3:
                shape += [value] if wire == _VARINT else self._varints(value)
            elif number in (1, 2) and wire == _BYTES:
                parts[number] = self._tensor_of(value)
        (given, values), (_, indices) = parts[1], parts[2]
        self._tensors[name or given] = values
        self._sparse[name or given] = indices, tuple(shape)

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

    def _read_tensor(self, span: tuple[int, int], name: str | None = None,
                     least_rank: int = 0) -> None:
        given, tensor = self._tensor_of(span)
        if len(tensor[1]) >= least_rank:
            self._tensors[given if name is None else name] = tensor

    def _tensor_of(self, span: tuple[int, int]) -> tuple[str, tuple]:
        """The name of a tensor, and its type, shape and place."""
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
        return name, (kind, tuple(shape), place)

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
        path = self._external_path(name, where["location"])
        data = np.memmap(path, np.uint8, "r") if os.path.getsize(
            path) else np.empty(0, np.uint8)
        begin = int(where.get("offset") or 0)
        end = begin + int(where["length"]) if where.get("length") else len(data)
        if not 0 <= begin <= end <= len(data):
            raise FileFormatError(f"{path}: expected bytes {begin} to {end} of "
                                  f"{name}, but it has {len(data)}")
        return data[begin:end]

    def _external_path(self, name: str, location: str) -> str:
        """A file in the model's folder, or one to which a link there leads that stays
        in the folder's own cache, as Hugging Face lays out models:

            snapshots/<revision>/model.onnx_data -> ../../blobs/<sum>
        """
        folder = os.path.abspath(os.path.dirname(self.path))
        path = os.path.normpath(os.path.join(folder, location))
        found = os.path.realpath(path)
        cache = os.path.dirname(os.path.dirname(folder))
        allowed = [os.path.realpath(folder), os.path.dirname(os.path.realpath(self.path))]
        if os.path.basename(os.path.dirname(folder)) == "snapshots":
            allowed.append(os.path.realpath(os.path.join(cache, "blobs")))
        # A model must not make its reader open files anywhere.
        if os.path.commonpath((folder, path)) != folder or not any(
                os.path.commonpath((place, found)) == place for place in allowed):
            raise FileFormatError(f"{self.path}: {name}: expected its data in the "
                                  f"model's folder, but got {location}")
        # Of a pipe or a device there is no end.
        if os.path.exists(found) and not os.path.isfile(found):
            raise FileFormatError(f"{found}: expected a file with the data of {name}")
        return found
