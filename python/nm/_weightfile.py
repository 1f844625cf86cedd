"""Files of condensed weights: safetensors whose metadata tell the rest.

    metadata  format = "nm.sparse"    version = "1"
              weights = {"<name>": {"pattern": "2:4, dim = 1", "shape": [n, k],
                                    "dtype": "f32"}, ...} as JSON
    tensors   "<name>.values" [w, np]    "<name>.indices" [w/bk, np/bn] U8

Other readers of safetensors read the parts; nm maps them and checks every index.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from . import _safetensors
from ._errors import Error, FileFormatError, reading
from ._pattern import read_pattern
from ._sparse import SparseTensor

FORMAT, VERSION = "nm.sparse", 1


def save_weights(path: str | os.PathLike,
                 weights: Mapping[str, SparseTensor]) -> None:
    """Writes weights by name to one file, whole or not at all."""
    tensors, records = {}, {}
    for name, weight in dict(weights).items():
        if not isinstance(weight, SparseTensor):
            raise TypeError(f"expected {name} to be an nm.SparseTensor, as "
                            f"nm.compress makes, but got {type(weight).__name__}")
        records[name] = {"pattern": str(weight.pattern),
                         "shape": list(weight.shape), "dtype": weight.dtype}
        tensors[f"{name}.values"] = (weight.dtype, weight._values)
        tensors[f"{name}.indices"] = ("u8", weight._indices)
    _safetensors.write(path, tensors, {
        "format": FORMAT, "version": str(VERSION),
        "weights": json.dumps(records)})


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
    if version != str(VERSION):
        raise FileFormatError(f"{file.path}: expected version {VERSION} of the "
                              f"format, but got {version}")
    with reading(file.path, "a description of its weights"):
        records = json.loads(metadata["weights"])
        for record in records.values():
            _ = record["pattern"], record["dtype"], tuple(record["shape"])
        return records


def _weight(file: _safetensors.SafetensorsFile, name: str, record: dict
            ) -> SparseTensor:
    parts = []
    for part, dtype in (("values", record["dtype"]), ("indices", "u8")):
        element, array = file.raw(f"{name}.{part}")
        if element != dtype:
            raise FileFormatError(f"{file.path}: expected {name}.{part} of "
                                  f"{dtype}, but got {element}")
        parts.append(array)
    try:
        return SparseTensor(parts[0], parts[1], record["shape"],
                            read_pattern(record["pattern"]), record["dtype"])
    except Error as error:
        raise FileFormatError(f"{file.path}: {name}: {error}") from None
