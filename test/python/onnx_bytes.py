"""ONNX models as bytes of protobuf, for tests that need no package for it."""

import numpy as np

_KINDS = {"float32": 1, "uint8": 2, "int8": 3, "int64": 7, "float16": 10}


def varint(value):
    text = b""
    while value > 127:
        text += bytes([value & 127 | 128])
        value >>= 7
    return text + bytes([value])


def field(number, contents):
    if isinstance(contents, int):
        return bytes(varint(number << 3)) + varint(contents & (1 << 64) - 1)
    if isinstance(contents, str):
        contents = contents.encode()
    return varint(number << 3 | 2) + varint(len(contents)) + contents


def tensor(name, array):
    array = np.asarray(array)
    return b"".join(field(1, size) for size in array.shape) + field(
        2, _KINDS[array.dtype.name]) + field(8, name) + field(9, array.tobytes())


def four_bits(name, array, is_signed, in_bytes):
    """A tensor of INT4 or UINT4, two to a byte, in raw_data or in int32_data."""
    fours = np.append(array, np.zeros(array.size % 2, int)).astype(np.uint8) & 15
    pairs = fours[::2] | fours[1::2] << 4
    data = field(9, pairs.tobytes()) if in_bytes else field(
        5, b"".join(varint(int(pair)) for pair in pairs))
    return b"".join(field(1, size) for size in array.shape) + field(
        2, 22 if is_signed else 21) + field(8, name) + data


def sparse(name, array, linear=True):
    """A sparse tensor, with places that count all elements or with one for each
    dimension."""
    places = np.flatnonzero(array) if linear else np.argwhere(array)
    values = np.asarray(array)[np.asarray(array) != 0]
    return (field(1, tensor(name, values))
            + field(2, tensor("", places.astype(np.int64)))
            + b"".join(field(3, size) for size in array.shape))


def node(op, inputs, outputs, **attributes):
    text = b"".join(field(1, name) for name in inputs)
    text += b"".join(field(2, name) for name in outputs) + field(4, op)
    for name, value in attributes.items():
        about = field(1, name)
        if isinstance(value, tuple):
            about += b"".join(field(8, number) for number in value)
        elif isinstance(value, bytes):
            about += field({"sparse_value": 22, "then_branch": 6}.get(name, 5), value)
        else:
            about += field(3, value)
        text += field(5, about)
    return text


def graph(*nodes, initializers=(), sparse_initializers=()):
    return (b"".join(field(1, each) for each in nodes) + field(2, "graph")
            + b"".join(field(5, each) for each in initializers)
            + b"".join(field(15, each) for each in sparse_initializers))


def model(*nodes, **parts):
    return field(1, 9) + field(7, graph(*nodes, **parts))
