"""Whole checkpoints in another form: condensed, compressed-tensors', or dense."""

from __future__ import annotations

import fnmatch
import json
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _safetensors
from ._errors import Error, PatternError, reading
from ._files import written_whole
from ._formats import compress, detect
from ._pattern import Pattern
from ._sparse import SparseTensor
from ._weightfile import metadata_of, parts_of, plain_metadata
from .io import open_weights
from .io._bitmask import to_bitmask
from .io._source import WeightSource, shards_of

FORMATS = ("nm", "compressed-tensors", "dense")
# Weights in other forms, which a converted folder shall not have beside its own.
_OTHER_WEIGHTS = (".safetensors", ".index.json", ".bin", ".pt", ".pth", ".ckpt", ".h5",
                  ".msgpack", ".onnx", ".gguf", ".ot", ".tflite")
_CONFIG, _INDEX = "config.json", "model.safetensors.index.json"


@dataclass(frozen=True)
class Converted:
    """A weight that was condensed.

    Attributes:
        pattern, shape, dtype: of the weight.
        bytes, dense_bytes: in the file, and of the dense weight.
    """

    pattern: Pattern
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    dense_bytes: int


@dataclass
class ConvertReport:
    """What convert did.

    Attributes:
        weights: those that are condensed, by name.
        left_dense: why others that could be stayed dense, by name.
        kept: all other tensors, as they were.
        files: the files that were written, or copied.
    """

    weights: dict[str, Converted] = field(default_factory=dict)
    left_dense: dict[str, str] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The bytes of the condensed weights over those of the dense ones."""
        dense = sum(weight.dense_bytes for weight in self.weights.values())
        return sum(weight.bytes for weight in self.weights.values()) / max(dense, 1)


def convert(path: str | os.PathLike, output: str | os.PathLike,
            pattern: Pattern | None = None, *, names: Iterable[str] = ("*",),
            axis: int = 1, skip: bool = False, format: str = "nm",
            progress: Callable[[str], None] | None = None) -> ConvertReport:
    """Writes a checkpoint with its N:M weights condensed, and all else as it is: other
    tensors, and of a folder its configuration, tokenizer and index of shards.

    Args:
        path: what nm.io.open_weights reads: a file, or the folder of a model.
        output: a .safetensors file, or a folder where `path` is one.
        pattern: of the weights; the sparsest that holds for each where it is None.
        names: globs of the weights that are meant; others stay dense.
        axis: where k is in them.
        skip: whether weights that break `pattern` stay dense, in place of an error.
        format: ``"nm"``, condensed weights as nm.save_weights writes them;
            ``"compressed-tensors"``, its ``sparse-24-bitmask`` where `pattern` is 2:4
            and else ``sparse-bitmask``, which holds any pattern; or ``"dense"``.
        progress: called with the name of each tensor before its turn.

    Returns:
        what became of each tensor.

    Raises:
        PatternError: a weight breaks `pattern`, or no weight has one.
        FileFormatError, OSError: the checkpoint cannot be read, or not written.
    """
    if format not in FORMATS:
        raise Error(f"expected format to be one of {', '.join(FORMATS)}, but got "
                    f"{format!r}")
    converter = _Converter(pattern, tuple(names), axis, skip, format, progress)
    source, target = os.fspath(path), os.fspath(output)
    if not os.path.isdir(source) and not target.endswith(".safetensors"):
        raise Error("expected an output whose name ends in .safetensors, but got "
                    f"'{target}'")
    if os.path.realpath(source) == os.path.realpath(target):
        raise Error(f"expected an output other than the checkpoint {source} itself")
    if os.path.isdir(source):
        converter.convert_folder(Path(source), Path(target))
    else:
        converter.convert_file(source, target)
    return converter.report


class _Converter:
    def __init__(self, pattern: Pattern | None, names: tuple[str, ...], axis: int,
                 skip: bool, format: str, progress: Callable[[str], None] | None):
        self.pattern, self.names, self.axis, self.skip = pattern, names, axis, skip
        self.format, self.progress = format, progress
        self.report = ConvertReport()
        is_24 = pattern is not None and (pattern.n, pattern.m, pattern.block) == (
            2, 4, (1, 1)) and pattern.axis == 1
        self.bitmask = "sparse-24-bitmask" if is_24 else "sparse-bitmask"

    def convert_folder(self, source: Path, target: Path) -> None:
        shards = shards_of(source)
        target.mkdir(parents=True, exist_ok=True)
        places: dict[str, str] = {}
        size = 0
        for shard in shards:
            tensors = self._convert(str(shard), str(target / shard.name),
                                    check_found=False)
            places.update(dict.fromkeys(tensors, shard.name))
            size += (target / shard.name).stat().st_size
        self._check_found(str(source))
        if (source / _INDEX).exists() or len(shards) > 1:
            index = {"metadata": {"total_size": size},
                     "weight_map": dict(sorted(places.items()))}
            self._write_json(target / _INDEX, index)
        self._copy_others(source, target)

    def convert_file(self, source: str, target: str) -> None:
        self._convert(source, target, check_found=True)

    def _convert(self, source: str, target: str, check_found: bool) -> list[str]:
        """Writes one file; gives the names of its tensors."""
        weights = open_weights(source)
        file = (_safetensors.SafetensorsFile(source)
                if source.endswith(".safetensors") else None)
        metadata = _plain_metadata(file)
        tensors: dict[str, Any] = {}
        condensed: dict[str, SparseTensor] = {}
        for name in weights:
            if self.progress:
                self.progress(name)
            w = self._condense(weights, name)
            if w is not None:
                condensed[name] = w
                parts = (to_bitmask(w, name, self.bitmask)
                         if self.format == "compressed-tensors" else parts_of(name, w))
                self._note(name, w, sum(array.nbytes for _, array in parts.values()))
                tensors.update(parts)
                continue
            tensors[name] = (file.stored(name) if file is not None and name in file
                             else weights.raw(name))
            self.report.kept.append(name)
        if check_found:
            self._check_found(source)
        if condensed and self.format == "nm":
            metadata = metadata_of(condensed, metadata)
        _safetensors.write(target, tensors, metadata)
        self.report.files.append(target)
        return list(tensors)

    def _condense(self, weights: WeightSource, name: str) -> SparseTensor | None:
        """The condensed weight; None for a tensor that stays as it is."""
        if self.format == "dense" or name not in weights.matrices() or not any(
                fnmatch.fnmatchcase(name, glob) for glob in self.names):
            return None
        w = weights.condensed(name)
        if w is not None and self.pattern in (None, w.pattern):
            return w
        dense = weights[name]
        pattern, reason = (self.pattern, "") if self.pattern else detect(
            dense, axis=self.axis)
        if pattern is None:
            self.report.left_dense[name] = reason
            return None
        try:
            return compress(dense, pattern, name=name)
        except PatternError as error:
            if not self.skip:
                raise
            self.report.left_dense[name] = str(error)
            return None

    def _note(self, name: str, w: SparseTensor, size: int) -> None:
        dense = w.shape[0] * w.shape[1] * w._values.itemsize
        self.report.weights[name] = Converted(w.pattern, w.shape, w.dtype, size, dense)

    def _check_found(self, source: str) -> None:
        if self.format != "dense" and not self.report.weights:
            raise PatternError(
                f"{source}: expected weights with an N:M pattern, but of "
                f"{len(self.report.left_dense)} none has one")

    def _copy_others(self, source: Path, target: Path) -> None:
        for path in sorted(source.rglob("*")):
            place = path.relative_to(source)
            if not path.is_file() or path.name.endswith(_OTHER_WEIGHTS) or any(
                    part.startswith(".") for part in place.parts):
                continue
            (target / place).parent.mkdir(parents=True, exist_ok=True)
            if str(place) == _CONFIG:
                self._write_json(target / _CONFIG, self._config(path))
            else:
                shutil.copyfile(path, target / place)
                self.report.files.append(str(target / place))

    def _write_json(self, path: Path, value: Any) -> None:
        with written_whole(path) as file:
            file.write(json.dumps(value, indent=2).encode() + b"\n")
        self.report.files.append(str(path))

    def _config(self, path: Path) -> dict:
        """The configuration of the model, which says how its weights are stored."""
        with reading(path, "a configuration in JSON"):
            config = json.loads(path.read_text(encoding="utf-8"))
            former = config.get("quantization_config", {})
            if former and "sparsity_config" not in former and (
                    former.get("format") not in (None, "dense")):
                return config
            config.pop("quantization_config", None)
        if self.format == "compressed-tensors":
            config["quantization_config"] = self._bitmask_config()
        return config

    def _bitmask_config(self) -> dict:
        """What compressed-tensors writes for weights that are not quantized."""
        return {
            "quant_method": "compressed-tensors", "format": "dense",
            "config_groups": {}, "quantization_status": "compressed",
            "sparsity_config": {
                "format": self.bitmask, "targets": ["Linear"],
                "ignore": sorted(name.removesuffix(".weight")
                                 for name in self.report.left_dense),
                "sparsity_structure": ("2:4" if self.bitmask == "sparse-24-bitmask"
                                       else "unstructured")}}


def _plain_metadata(file: _safetensors.SafetensorsFile | None) -> dict[str, str]:
    """What a file says beside its condensed weights."""
    if file is None:
        return {"format": "pt"}
    return plain_metadata(file.metadata)
