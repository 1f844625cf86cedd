"""Files of a model's weights, and the index that transformers reads."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import _safetensors
from .._errors import Error
from .._files import written_whole
from .._sparse import SparseTensor
from .._weightfile import metadata_of, parts_of

_FILE, _INDEX = "model.safetensors", "model.safetensors.index.json"
_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10,
          "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


def write_shards(folder: Path, tensors: Mapping[str, _safetensors.StoredTensor],
                 weights: Mapping[str, SparseTensor], limit: int | str | None) -> None:
    """Writes tensors and condensed weights to one file, or to several with an index,
    none of which is larger than `limit` unless one weight is."""
    parts: dict[str, dict[str, Any]] = {name: {name: tensor}
                                        for name, tensor in tensors.items()}
    parts.update({name: parts_of(name, w) for name, w in weights.items()})
    shards = _split({name: sum(_size(each) for each in own.values())
                     for name, own in parts.items()}, _bytes(limit))
    _remove_former(folder)
    places = {}
    for number, names in enumerate(shards, 1):
        file = (_FILE if len(shards) == 1
                else f"model-{number:05d}-of-{len(shards):05d}.safetensors")
        stored = {key: part for name in names for key, part in parts[name].items()}
        condensed = {name: weights[name] for name in names if name in weights}
        metadata = {"format": "pt"}
        _safetensors.write(folder / file, stored,
                           metadata_of(condensed, metadata) if condensed else metadata)
        places.update(dict.fromkeys(stored, file))
    if len(shards) > 1:
        size = sum(_size(part) for own in parts.values() for part in own.values())
        index = {"metadata": {"total_size": size}, "weight_map": dict(sorted(places.items()))}
        with written_whole(folder / _INDEX) as file:
            file.write(json.dumps(index, indent=2).encode() + b"\n")


def _size(part: Any) -> int:
    """Of a stored tensor, or of an array beside its type."""
    return (part.data if isinstance(part, _safetensors.StoredTensor) else part[1]).nbytes


def _split(sizes: Mapping[str, int], limit: int | None) -> list[list[str]]:
    shards: list[list[str]] = [[]]
    taken = 0
    for name, size in sizes.items():
        if limit is not None and shards[-1] and taken + size > limit:
            shards.append([])
            taken = 0
        shards[-1].append(name)
        taken += size
    return shards


def _bytes(limit: int | str | None) -> int | None:
    if limit is None or isinstance(limit, int):
        return limit
    found = re.fullmatch(r"\s*([\d.]+)\s*([A-Za-z]*)\s*", limit)
    unit = _UNITS.get(found[2].upper()) if found else None
    if found is None or unit is None:
        raise Error(f"expected a size of a file, as '5GB', but got {limit!r}")
    return int(float(found[1]) * unit)


def _remove_former(folder: Path) -> None:
    """Files of a model that was in the folder before, which readers would take too."""
    for path in folder.iterdir():
        if path.name in (_FILE, _INDEX) or re.fullmatch(
                r"model-\d{5}-of-\d{5}\.safetensors", path.name):
            path.unlink()
