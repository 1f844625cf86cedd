"""The files of a checkpoint in several: shards with an index, or a folder."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterable
from pathlib import Path

from .._errors import FileFormatError, FileWarning, reading
from .._files import read_text
from .._safetensors import SafetensorsFile

_INDEX_NAMES = "*.safetensors.index.json"


def shards_of(path: Path) -> list[Path]:
    """The files of an index of shards, or of a folder of safetensors; where that has an
    index, those of the index alone, and other forms of the model and adapters beside them
    are told of.

    Raises:
        FileFormatError: it is no index, or there are none; a shard is missing, or lacks
            a tensor that the index names; a tensor is in two files; a folder has a file
            that its index does not name, or both an index of shards and the whole file.
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
        _check_others(indices[0], [each for each in files if each not in shards])
        return shards
    if not files:
        raise FileFormatError(f"{path}: expected a folder with .safetensors files, but "
                              f"found {_other_forms(path)}")
    own = _without_others(path, files)
    _check_numbers(path, own)
    _check_once({each: SafetensorsFile(each) for each in own}, {})
    return own


def _other_forms(folder: Path) -> str:
    """What a folder without safetensors has, and what makes them of it."""
    for glob, way in (
            ("*.bin", "transformers makes them: AutoModel.from_pretrained(folder)"
             ".save_pretrained(other)"),
            ("*.pt", "in torch, safetensors.torch.save_file(state_dict, "
             "'model.safetensors') makes one"),
            ("*.onnx", "give the file in place of the folder")):
        names = sorted(each.name for each in folder.glob(glob))
        if names:
            return f"{', '.join(names[:4])}{', …' if names[4:] else ''} alone; {way}"
    return "none"


def check_shards(files: Iterable[str | os.PathLike]) -> None:
    """Refuses the folders of files that an index there names, as shards_of does."""
    paths = {Path(os.path.abspath(file)) for file in files}
    for folder in {path.parent for path in paths}:
        for index in sorted(folder.glob(_INDEX_NAMES)):
            if not paths.isdisjoint(folder / name for name in _places(index).values()):
                shards = _read_index(index)
                _check_others(index, [each for each in sorted(folder.glob("*.safetensors"))
                                      if each not in shards])


def _check_others(index: Path, others: list[Path]) -> None:
    """Refuses files beside the shards of an index, but for those that are no shards."""
    whole = index.name.removesuffix(".index.json")
    names = [each.name for each in others]
    if whole in names:
        # transformers takes it, and not the index.
        raise FileFormatError(f"{index.parent}: expected {whole} or {index.name}, but found "
                              "both, and readers take one or the other; move the one "
                              "away that is not meant")
    stem = whole.removesuffix(".safetensors")
    strays = [name for name in names if not _is_other(name, {stem})]
    if strays:
        raise FileFormatError(
            f"{index.parent}: expected the files that {index.name} names alone, but found "
            f"{', '.join(strays[:4])}{', …' if strays[4:] else ''}, too; move them away, or "
            f"give {index.name} in place of the folder")
    if names:
        warnings.warn(f"{index.parent}: {', '.join(names)}: passed over, as {index.name} "
                      "does not name it", FileWarning, stacklevel=4)


def _is_other(name: str, stems: set[str]) -> bool:
    """Whether a file is no part of the models whose files begin so: Mistral's own form of
    one, an adapter of PEFT, or a variant of transformers, as model.fp16.safetensors."""
    name = name.removesuffix(".safetensors")
    stem, dot, variant = name.partition(".")
    return bool(re.fullmatch("consolidated.*|adapter_model", name)
                or (dot and stem in stems and "." not in variant))


def _without_others(folder: Path, files: list[Path]) -> list[Path]:
    """The files of a folder without an index that are the model's; others are told of."""
    stems = {re.sub(r"-\d+-of-\d+$", "", each.stem) for each in files if "." not in each.stem}
    others = [each for each in files if _is_other(each.name, stems)]
    if not others or len(others) == len(files):
        return files
    warnings.warn(f"{folder}: {', '.join(each.name for each in others)}: passed over, as "
                  "another form of the model, or an adapter", FileWarning, stacklevel=4)
    return [each for each in files if each not in others]


def _places(path: Path) -> dict[str, str]:
    """The file of each tensor."""
    with reading(path, "an index of safetensors"):
        places = dict(json.loads(read_text(path))["weight_map"])
        for name in places.values():
            if not isinstance(name, str) or os.path.basename(name) != name or (
                    not name.endswith(".safetensors") or "\0" in name):
                raise FileFormatError(f"{path}: expected shards beside it, each a "
                                      f".safetensors file, but got {name!r}")
    return places


def _read_index(path: Path) -> list[Path]:
    places = _places(path)
    names = sorted(set(places.values()))
    for name in names:
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


def _check_numbers(folder: Path, files: list[Path]) -> None:
    """Refuses a folder that lacks a shard, by the names of those that it has."""
    names = {each.name for each in files}
    for name in sorted(names):
        found = re.fullmatch(r"(.+-)(\d+)(-of-(\d+)\.safetensors)", name)
        if not found:
            continue
        begin, digits, end, count = found.groups()
        for number in range(1, int(count) + 1):
            other = f"{begin}{number:0{len(digits)}}{end}"
            if other not in names:
                raise FileFormatError(f"{folder}: expected the shard {other} beside {name}, "
                                      "but there is none")


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
