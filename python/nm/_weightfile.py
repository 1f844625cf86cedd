"""Files of condensed weights: safetensors whose metadata tell the rest.

    metadata  format = "nm.sparse"    version = "3"
              weights = {"<name>": {"pattern": "2:4, dim = 1", "shape": [n, k],
                                    "dtype": "f32"}, ...} as JSON
    tensors   "<name>.values" [w, np]    "<name>.indices" U8, the positions
              [w/bk, np/bn] in ceil(log2 M) bits each, from the lowest bit on;
              of unstructured weights a bitmap [bytes], or offsets [s, 1]

A quantized weight has the bits of its integers and the group of k that shares a scale in
its record, and "<name>_scale" [n, groups] beside it; integers of 4 bits are packed, two to
a byte, from the lower half on, with 8 added. The matrix ``[out, taps and channels]`` of a
convolution's filter has the sizes of its taps in its record, ``"taps": [3, 3]``.

Other tensors in such a file are those that stayed dense. In version 1 an index is a
byte, and "<name>.indices" has its shape; from version 3 on a file has the checksums that
_safetensors tells of. Other readers of safetensors read the parts; nm maps the values
and checks every index.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _safetensors
from ._bits import bits_for, pack_bits, packed_bytes, unpack_bits
from ._errors import Error, FileFormatError, ShapeError, reading
from ._pattern import Pattern, read_pattern
from ._sparse import SparseTensor, weight_shape

FORMAT, VERSION = "nm.sparse", 3
# The version of files with unstructured weights, which readers of versions 1 to 3 do not know.
_UNSTRUCTURED = 4
# And with those that are kept in whole blocks, which version 4 has not.
_BLOCKS = 5
# And with those whose indices are offsets, of any block.
_OFFSETS = 6
# What metadata call the format that a file had, or would have, of dense weights.
_FORMER = "nm.format"


def save_weights(path: str | os.PathLike,
                 weights: Mapping[str, SparseTensor]) -> None:
    """Writes weights by name to one file, whole or not at all."""
    tensors: dict = {}
    for name, weight in dict(weights).items():
        if not isinstance(weight, SparseTensor):
            raise TypeError(f"expected {name} to be an nm.SparseTensor, as "
                            f"nm.compress makes, but got {type(weight).__name__}")
        tensors.update(parts_of(name, weight))
    _safetensors.write(path, tensors, metadata_of(weights, {}))


def parts_of(name: str, weight: SparseTensor) -> dict[str, tuple[str, np.ndarray]]:
    """The tensors of a weight in a file, raw arrays with their types."""
    # Offsets keep their shape, which tells them from a bitmap.
    indices = (weight._indices if weight.index_form == "offsets" else
               pack_bits(weight._indices, _index_bits(weight.pattern)))
    values = weight.dtype, weight._values
    if weight._quantization is not None and weight._quantization[0] == 4:
        values = "u8", pack_bits((weight._values + 8).astype(np.uint8), 4)
    return {f"{name}.values": values, f"{name}.indices": ("u8", indices)}


def _index_bits(pattern: Pattern) -> int:
    """The bits of a byte of the indices that a file has: bitmaps have all."""
    return 8 if pattern.is_unstructured else bits_for(pattern.m)


def metadata_of(weights: Mapping[str, SparseTensor], plain: Mapping[str, str]
                ) -> dict[str, str]:
    """The metadata of a file with these weights, beside those that it had without."""
    records = {name: {"pattern": str(weight.pattern), "shape": list(weight.shape),
                      "dtype": weight.dtype} for name, weight in weights.items()}
    for name, weight in weights.items():
        if weight._quantization is not None:
            records[name].update(zip(("bits", "group"), weight._quantization))
        if weight._taps is not None:
            records[name]["taps"] = list(weight._taps)
    version = max((_version_of(weight) for weight in weights.values()),
                  default=VERSION)
    own = {"format": FORMAT, "version": str(version), "weights": json.dumps(records)}
    if "format" in plain:
        own[_FORMER] = plain["format"]
    return {**plain, **own}


def _version_of(weight: SparseTensor) -> int:
    if not weight.pattern.is_unstructured:
        return VERSION
    if weight.index_form == "offsets":
        return _OFFSETS
    return _UNSTRUCTURED if weight.pattern.block == (1, 1) else _BLOCKS


def plain_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """The inverse: what a file says beside its condensed weights."""
    if not is_weight_file(metadata):
        return dict(metadata)
    own = ("format", "version", "weights", _FORMER)
    plain = {key: value for key, value in metadata.items() if key not in own}
    return {**plain, "format": metadata.get(_FORMER, "pt")}


def part_names(metadata: Mapping[str, str]) -> set[str]:
    """The tensors of a file that are parts of condensed weights."""
    names = json.loads(metadata["weights"]) if is_weight_file(metadata) else ()
    return {f"{name}.{part}" for name in names for part in ("values", "indices")}


def load_weights(path: str | os.PathLike) -> dict[str, SparseTensor]:
    """Maps the weights of a file that save_weights wrote, by name.

    Raises:
        FileFormatError: it is no such file, of a newer version, or damaged.
    """
    file = _safetensors.SafetensorsFile(path)
    return {name: _weight(file, name, record)
            for name, record in _records(file).items()}


def load_weight(path: str | os.PathLike, name: str | None) -> SparseTensor:
    """One weight of a file; `name` may be None where it has one."""
    file = _safetensors.SafetensorsFile(path)
    records = _records(file)
    if name is None and len(records) == 1:
        name = next(iter(records))
    if name is None or name not in records:
        raise FileFormatError(f"{path}: expected the name of a weight in it, one "
                              f"of {', '.join(records)}, but got {name}")
    return _weight(file, name, records[name])


def is_weight_file(metadata: Mapping[str, str]) -> bool:
    return metadata.get("format") == FORMAT


def _records(file: _safetensors.SafetensorsFile) -> dict:
    metadata = file.metadata
    if not is_weight_file(metadata):
        raise FileFormatError(
            f"{file.path}: expected a file of nm's condensed weights, but its "
            f"format is {metadata.get('format', 'not given')}; nm.io.load_dense "
            "reads dense weights")
    version = metadata.get("version")
    summed = [str(each) for each in (VERSION, _UNSTRUCTURED, _BLOCKS, _OFFSETS)]
    if version not in ("1", "2", *summed):
        raise FileFormatError(f"{file.path}: expected version 1 to {_OFFSETS} of "
                              f"the format, but got {version}")
    if version in summed and not file.is_summed:
        raise FileFormatError(f"{file.path}: expected checksums in a file of version "
                              f"{version}, but it has none: it is damaged, or was "
                              "changed by a tool, which has to make it version 2")
    with reading(file.path, "a description of its weights"):
        records = json.loads(metadata["weights"])
        for record in records.values():
            _ = record["pattern"], record["dtype"], tuple(record["shape"])
        return records


def _weight(file: _safetensors.SafetensorsFile, name: str, record: dict
            ) -> SparseTensor:
    parts, bits, taps = [], record.get("bits"), record.get("taps")
    if bits not in (None, 4, 8) or bits is not None and (
            not isinstance(record.get("group"), int) or record["group"] < 1
            or record["dtype"] != "i8"):
        raise FileFormatError(f"{file.path}: {name}: expected i8 of 4 or 8 bits and a "
                              f"group, but got {record}")
    for part, dtype in (("values", "u8" if bits == 4 else record["dtype"]),
                        ("indices", "u8")):
        element, array = file.raw(f"{name}.{part}")
        if element != dtype:
            raise FileFormatError(f"{file.path}: expected {name}.{part} of "
                                  f"{dtype}, but got {element}")
        parts.append(array)
    try:
        pattern, shape = read_pattern(record["pattern"]), record["shape"]
        if file.metadata["version"] != "1":
            parts[1] = unpack_indices(parts[1], pattern, shape, f"{name}.indices")
        if bits == 4:
            parts[0] = _unpack_values(parts[0], pattern, shape, f"{name}.values")
        made = SparseTensor(parts[0], parts[1], shape, pattern, record["dtype"])
        if taps is not None:
            made._taps = _check_taps(taps, made)
        if bits is not None:
            made._quantization = bits, record["group"]
        return made
    except Error as error:
        raise FileFormatError(f"{file.path}: {name}: {error}") from None


def _check_taps(taps: Any, weight: SparseTensor) -> tuple[int, ...]:
    if not isinstance(taps, list) or not all(type(size) is int and size > 0
                                             for size in taps) or (
            weight.k % math.prod(taps)):
        raise ShapeError(f"expected taps whose product divides {weight.k}, but got {taps}")
    return tuple(taps)


def _unpack_values(packed: np.ndarray, pattern: Pattern, shape: Any, name: str
                   ) -> np.ndarray:
    sizes, _ = pattern.condensed_shapes(*pattern.sizes(weight_shape(shape)))
    count = sizes[0] * sizes[1]
    if packed.shape != (packed_bytes(count, 4),):
        raise ShapeError(f"expected {name} of {packed_bytes(count, 4)} bytes, {count} "
                         f"integers of 4 bits, but got shape {packed.shape}")
    return unpack_bits(packed, count, 4).astype(np.int8).reshape(sizes) - np.int8(8)


def unpack_indices(packed: np.ndarray, pattern: Pattern, shape: Any, name: str
                   ) -> np.ndarray:
    """The indices of a weight of the shape, of the bytes that a file has them as."""
    if pattern.is_unstructured and packed.ndim == 2:
        return packed  # Offsets, which are verified with their values.
    _, sizes = pattern.condensed_shapes(*pattern.sizes(weight_shape(shape)))
    count, bits = sizes[0] * sizes[1], _index_bits(pattern)
    if packed.shape != (packed_bytes(count, bits),):
        raise ShapeError(f"expected {name} of {packed_bytes(count, bits)} bytes, {count} "
                         f"positions of {bits} bits, but got shape {packed.shape}")
    return unpack_bits(packed, count, bits).reshape(sizes)
