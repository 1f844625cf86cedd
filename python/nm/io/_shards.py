"""The files of a checkpoint in several: shards with an index, or a folder."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

from .._errors import FileFormatError, FileWarning, reading
from .._files import read_text
from .._safetensors import SafetensorsFile

_INDEX_NAMES = "*.safetensors.index.json"


def shards_of(path: Path) -> list[Path]:
    """The files of an index of shards, or of a folder of safetensors; where that has an
    index, those of the index alone, and others are told of.

    Raises:
        FileFormatError: it is no index, or there are none; a shard is missing, or lacks
            a tensor that the index names; a tensor is in two files; a folder has both an
            index of shards and the whole file.
    """
    if not path.is_dir():
        return _read_index(path)
    indices = sorted(path.glob(_INDEX_NAMES))
    files = sorted(path.glob("*.safetensors"))
    if len(indices) > 1:
        raise FileFormatError(f"{path}: expected one index of shards, but got "
                              f"{', '.join(each.name for each in indices)}; give the one "
                              "that is meant in place of the folder")
    if indices:
        shards = _read_index(indices[0])
        strays = [each.name for each in files if each not in shards]
        whole = indices[0].name.removesuffix(".index.json")
        if whole in strays:
            # transformers takes it, and not the index.
            raise FileFormatError(f"{path}: expected {whole} or {indices[0].name}, but found "
                                  "both, and readers take one or the other; move the one "
                                  "away that is not meant")
        if strays:
            warnings.warn(f"{path}: {', '.join(strays)}: passed over, as "
                          f"{indices[0].name} does not name it", FileWarning,
                          stacklevel=3)
        return shards
    if not files:
        raise FileFormatError(f"{path}: expected a folder with .safetensors "
                              "files, but found none")
    _check_once({each: SafetensorsFile(each) for each in files}, {})
    return files


def _read_index(path: Path) -> list[Path]:
    with reading(path, "an index of safetensors"):
        places = dict(json.loads(read_text(path))["weight_map"])
        names = sorted(set(places.values()))
    for name in names:
        if not isinstance(name, str) or os.path.basename(name) != name or (
                not name.endswith(".safetensors") or "\0" in name):
            raise FileFormatError(f"{path}: expected shards beside it, each a "
                                  f".safetensors file, but got {name!r}")
        if not (path.parent / name).exists():
            lost = [tensor for tensor, place in places.items() if place == name]
            raise FileFormatError(
                f"{path}: expected the shard {name} beside it, with "
                f"{', '.join(lost[:4])}{', …' if lost[4:] else ''}, but there is none")
    files = {path.parent / name: SafetensorsFile(path.parent / name) for name in names}
    for tensor, place in places.items():
        if tensor not in files[path.parent / place]:
            raise FileFormatError(f"{path}: expected {tensor} in {place}, but it is not "
                                  "there")
    _check_once(files, places)
    return list(files)


def _check_once(files: dict[Path, SafetensorsFile], places: dict[str, str]) -> None:
    """Refuses a tensor that is in two files: which is meant is not known."""
    seen: dict[str, Path] = {}
    for path, file in files.items():
        for tensor in file:
            other = seen.setdefault(tensor, path)
            if other is not path:
                raise FileFormatError(
                    f"{path}: expected each tensor in one file, but {tensor} is in "
                    f"{other.name}, too"
                    + (f"; the index says {places[tensor]}" if tensor in places else ""))
