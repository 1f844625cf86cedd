"""Whole checkpoints in another form: condensed, compressed-tensors', or dense."""

from __future__ import annotations

import fnmatch
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import _safetensors
from ._errors import Error, PatternError, reading
from ._files import read_text, written_whole
from ._find import find_pattern, pattern_along
from ._formats import compress
from ._pattern import Pattern, parse_pattern
from ._sparse import SparseTensor
from ._weightfile import metadata_of, parts_of, plain_metadata
from .io import open_weights
from .io._bitmask import to_bitmask
from .io._shards import shards_of
from .io._source import WeightSource, filter_of_matrix, require_checkpoint

# What a file is given of a tensor.
Tensor = tuple[str, np.ndarray] | _safetensors.StoredTensor
FORMATS = ("nm", "compressed-tensors", "dense")
# Weights in other forms, which a converted folder shall not have beside its own.
_OTHER_WEIGHTS = (".safetensors", ".index.json", ".bin", ".pt", ".pth", ".ckpt", ".h5",
                  ".msgpack", ".onnx", ".gguf", ".ot", ".tflite")
# The end of the name of the layer that has a convolution's weight.
_PRODUCT = ".product"
_REFUSED_FILTER = "it is a filter, and compressed-tensors has matrices"
_CONFIG, _INDEX = "config.json", "model.safetensors.index.json"
_INDICES = "*.safetensors.index.json"
# The number of weights whose reasons an error tells at most.
_TOLD_REASONS = 8


@dataclass(frozen=True)
class Converted:
    """A weight that was condensed.

    Attributes:
        pattern, shape, dtype: of the weight.
        bytes, dense_bytes: in the file, and of the dense weight.
        index_form: what says where its kept weights are, as SparseTensor.index_form;
            None in compressed-tensors' forms.
    """

    pattern: Pattern
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    dense_bytes: int
    index_form: str | None = None


@dataclass
class ConvertReport:
    """What convert did.

    Attributes:
        weights: those that are condensed, by name.
        left_dense: why others of two dimensions and more stayed dense, by name, but
            for those that were not asked for.
        joined: of weights that were made of others, which those were.
        kept: all other tensors, as they were.
        files: the files that were written, or copied.
    """

    weights: dict[str, Converted] = field(default_factory=dict)
    left_dense: dict[str, str] = field(default_factory=dict)
    joined: dict[str, str] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The bytes of the condensed weights over those of the dense ones."""
        dense = sum(weight.dense_bytes for weight in self.weights.values())
        return sum(weight.bytes for weight in self.weights.values()) / max(dense, 1)


def convert(path: str | os.PathLike, output: str | os.PathLike,
            pattern: str | Pattern | None = None, *,
            names: str | Iterable[str] = ("*",), axis: int | None = None,
            skip: bool = False, format: str = "nm",
            progress: Callable[[str], None] | None = None) -> ConvertReport:
    """Writes a checkpoint with its N:M weights condensed, and all else as it is: other
    tensors, and of a folder its configuration, tokenizer and index of shards.

    Args:
        path: what nm.io.open_weights reads: a file, or the folder of a model.
        output: a .safetensors file, or a folder where `path` is one.
        pattern: of the weights, as in nm.check; the sparsest that holds for each where
            it is None, if it makes the weight smaller.
        names: globs of the weights that are meant; others stay dense. Without them all
            are but embeddings, whose rows are looked up.
        axis: where k is in them: 1 of ``[out, in]``. Where it is not given, it is what
            the file says, as an ONNX model does and the configuration of a model with
            layers of ``[in, out]`` (GPT-2's), and else 1.
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
    globs = (names,) if isinstance(names, str) else tuple(names)
    if isinstance(pattern, str):
        # Before any file is read.
        parse_pattern(pattern, None, axis)
    converter = _Converter(pattern, globs, axis, skip, format, progress)
    source, target = os.fspath(path), os.fspath(output)
    require_checkpoint(source)
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
    def __init__(self, pattern: str | Pattern | None, names: tuple[str, ...],
                 axis: int | None, skip: bool, format: str,
                 progress: Callable[[str], None] | None):
        self.pattern, self.names, self.axis, self.skip = pattern, names, axis, skip
        self.format, self.progress = format, progress
        self.report = ConvertReport()
        # Whether the weights are written as what was packed.
        self.unpacked = False
        # The layers that are products of convolutions whose filters become dense.
        self.products: set[str] = set()
        told = parse_pattern(pattern, None, axis) if pattern else None
        is_24 = told is not None and (told.n, told.m, told.block) == (
            2, 4, (1, 1)) and told.axis == 1
        self.bitmask = "sparse-24-bitmask" if is_24 else "sparse-bitmask"

    def convert_folder(self, source: Path, target: Path) -> None:
        shards = shards_of(source)
        _check_target(target, {shard.name for shard in shards})
        config = self._read_config(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        # Beside the folder, so that a rename moves what is whole.
        with tempfile.TemporaryDirectory(prefix=f"{target.name}.tmp.",
                                         dir=target.parent) as made:
            self._write_folder(source, Path(made), shards, config)
            target.mkdir(exist_ok=True)
            for place in self.report.files:
                (target / place).parent.mkdir(parents=True, exist_ok=True)
                os.replace(Path(made) / place, target / place)
        self.report.files = [str(target / place) for place in self.report.files]

    def _write_folder(self, source: Path, target: Path, shards: list[Path],
                      config: dict | None) -> None:
        places: dict[str, str] = {}
        size = 0
        self._find_products(map(open_weights, shards))
        for shard in shards:
            weights = open_weights(shard)
            weights.read_layout(config)
            tensors = self._convert(weights, str(shard), str(target / shard.name),
                                    check_found=False)
            self.report.files.append(shard.name)
            places.update(dict.fromkeys(tensors, shard.name))
            size += (target / shard.name).stat().st_size
        self._check_found(str(source))
        if any(source.glob(_INDICES)) or len(shards) > 1:
            index = {"metadata": {"total_size": size},
                     "weight_map": dict(sorted(places.items()))}
            name = next((each.name for each in source.glob(_INDICES)), _INDEX)
            self._write_json(target, name, index)
        self._copy_others(source, target, config)

    def convert_file(self, source: str, target: str) -> None:
        weights = open_weights(source)
        self._find_products([weights])
        self._convert(weights, source, target, check_found=True)
        self.report.files.append(target)

    def _convert(self, weights: WeightSource, source: str, target: str,
                 check_found: bool) -> list[str]:
        """Writes one file; gives the names of its tensors."""
        file = (_safetensors.SafetensorsFile(source)
                if source.endswith(".safetensors") else None)
        metadata = self._metadata(file)
        tensors: dict[str, Any] = {}
        condensed: dict[str, SparseTensor] = {}
        for name in weights:
            if self.progress:
                self.progress(name)
            if weights.is_part(name):
                continue
            stored = self._name(name)
            tensors.update(weights.quantization(name))
            w = self._condense(weights, name)
            if w is not None:
                condensed[name] = w
                parts = (to_bitmask(w, name, self.bitmask)
                         if self.format == "compressed-tensors" else parts_of(name, w))
                self._note(name, w, sum(array.nbytes for _, array in parts.values()))
                tensors.update(parts)
                if w._quantization is not None:
                    tensors[f"{name}_scale"] = weights.raw(f"{name}_scale")
                continue
            tensors[stored] = self._kept(weights, name, file)
            self.report.kept.append(stored)
        if check_found:
            self._check_found(source)
        if condensed and self.format == "nm":
            metadata = metadata_of(condensed, metadata)
        _safetensors.write(target, tensors, metadata)
        return list(tensors)

    def _metadata(self, file: _safetensors.SafetensorsFile | None) -> dict[str, str]:
        """What a file says beside its condensed weights."""
        return {"format": "pt"} if file is None else plain_metadata(file.metadata)

    def _kept(self, weights: WeightSource, name: str,
              file: _safetensors.SafetensorsFile | None) -> Tensor:
        """What is written of a tensor that is not condensed."""
        return (file.stored(name) if file is not None and name in file
                else _dense_of(weights, name))

    def _find_products(self, sources: Iterable[WeightSource]) -> None:
        """Finds the convolutions whose filters become dense, and whose tensors then have
        the names of the dense model again."""
        if self.format == "nm":
            return
        for weights in sources:
            for name in weights:
                layer = name.removesuffix(".weight")
                w = weights.condensed(name)
                if w is None or not layer.endswith(_PRODUCT):
                    continue
                if w._taps is None:
                    raise Error(f"{weights.path}: {name}: expected the taps of the filter of "
                                "a convolution, which files of older versions have not; "
                                "nm.torch.load and nm.torch.densify make the model dense")
                self.products.add(layer)

    def _name(self, name: str) -> str:
        """The name of a tensor in a file that has it dense."""
        layer, dot, last = name.rpartition(".")
        return (layer.removesuffix(_PRODUCT) + dot + last if layer in self.products
                else name)

    def _condense(self, weights: WeightSource, name: str) -> SparseTensor | None:
        """The condensed weight; None for a tensor that stays as it is."""
        self.unpacked = self.unpacked or weights.is_packed(name)
        made_of = weights.parts(name)
        if made_of:
            self.report.joined[name] = made_of
        asked = [glob for glob in self.names if fnmatch.fnmatchcase(name, glob)]
        if self.format == "dense" or not asked:
            return None
        reason = weights.why_no_matrix(name)
        if reason is None:
            return self._condense_matrix(weights, name, asked)
        if reason:
            self.report.left_dense[name] = reason
        return None

    def _condense_matrix(self, weights: WeightSource, name: str, asked: list[str]
                         ) -> SparseTensor | None:
        w = weights.condensed(name)
        if w is not None and w._taps and self.format == "compressed-tensors":
            self.report.left_dense[self._name(name)] = _REFUSED_FILTER
            return None
        pattern = self.pattern and pattern_along(weights, name, self.pattern, self.axis)
        if w is not None and pattern in (None, w.pattern):
            if self.format == "nm" or w._quantization is None:
                return w.with_index_form()
            pattern = w.pattern
        points = weights.zero_points(name)
        reason = ""
        if points is not None and points.any():
            reason = "its zero points are not 0, and condensed weights have none"
        elif weights.info(name)[0] in ("u8", "uint8"):
            reason = "it is of u8, and condensed weights are signed"
        elif self.format == "compressed-tensors" and weights.axis(name) == 0:
            reason = "its k is at axis 0, and compressed-tensors has [out, in]"
        elif self.format == "compressed-tensors" and weights.is_filter(name):
            reason = _REFUSED_FILTER
        elif asked == ["*"] and weights.is_looked_up(name):
            reason = ("it is an embedding, whose rows are looked up and not multiplied; "
                      f"names=['{name}'] (--name) takes it, too")
        elif pattern is None:
            return self._condense_found(weights, name)
        if reason:
            self.report.left_dense[name] = reason
            return None
        try:
            return self._compress(weights, name, pattern)
        except PatternError as error:
            if not self.skip:
                raise
            self.report.left_dense[name] = str(error)
            return None

    def _compress(self, weights: WeightSource, name: str, pattern: Pattern
                  ) -> SparseTensor:
        """A weight that stays quantized where its integers are told and can be."""
        found = weights.integers(name) if self.format == "nm" else None
        if found is None or pattern.axis != 1:
            w = compress(weights.weight(name), pattern, name=name)
            w._taps = weights.taps(name)
            return w
        w = compress(found[0], pattern, name=name)
        w._quantization = found[1:]
        return w

    def _condense_found(self, weights: WeightSource, name: str) -> SparseTensor | None:
        """The weight in the sparsest pattern that it obeys, where that is smaller."""
        found = find_pattern(weights, name, self.axis)
        reason = found.reason
        if found.pattern is not None:
            w = self._compress(weights, name, found.pattern)
            size = sum(array.nbytes for _, array in parts_of(name, w).values())
            dense = _dense_bytes(w)
            if size < dense and not found.hint:
                return w
            reason = (f"condensed to {found.pattern.n}:{found.pattern.m} it would take "
                      f"{100 * size / dense:.1f} % of dense")
        self.report.left_dense[name] = "; ".join(
            text for text in (reason, found.hint) if text)
        return None

    def _note(self, name: str, w: SparseTensor, size: int) -> None:
        self.report.weights[name] = Converted(
            w.pattern, w.shape, w.dtype, size, _dense_bytes(w),
            w.index_form if self.format == "nm" else None)

    def _check_found(self, source: str) -> None:
        if self.format != "dense" and not self.report.weights:
            reasons = [f"{name}: {reason}" for name, reason in
                       list(self.report.left_dense.items())[:_TOLD_REASONS]]
            more = len(self.report.left_dense) - len(reasons)
            raise PatternError("\n".join([
                f"{source}: expected weights with an N:M pattern, but of "
                f"{len(self.report.left_dense)} none has one", *reasons,
                *([f"and {more} more"] if more else [])]))

    def _copy_others(self, source: Path, target: Path, config: dict | None) -> None:
        for path in sorted(source.rglob("*")):
            place = path.relative_to(source)
            if not path.is_file() or path.name.endswith(_OTHER_WEIGHTS) or any(
                    part.startswith(".") for part in place.parts):
                continue
            if str(place) == _CONFIG and config is not None:
                self._write_json(target, _CONFIG, self._config(config))
                continue
            (target / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / place)
            self.report.files.append(str(place))

    def _write_json(self, folder: Path, name: str, value: Any) -> None:
        with written_whole(folder / name) as file:
            file.write(json.dumps(value, indent=2).encode() + b"\n")
        self.report.files.append(name)

    def _read_config(self, source: Path) -> dict | None:
        """The configuration of the model, checked before anything is written."""
        path = source / _CONFIG
        if not path.is_file():
            return None
        with reading(path, "a configuration in JSON"):
            config = json.loads(read_text(path))
            former = dict(config.get("quantization_config") or {})
        method = former.get("quant_method")
        if self.format == "compressed-tensors" and method not in (
                None, "compressed-tensors", "nm"):
            raise Error(f"{path}: expected no quantization_config of {method} for "
                        "format compressed-tensors, which has a quantization_config of "
                        "its own")
        return config

    def _config(self, config: dict) -> dict:
        """The configuration of the model, which says how its weights are stored: what
        it says of quantization stays."""
        config = dict(config)
        former = dict(config.pop("quantization_config", None) or {})
        if self.unpacked:
            former = {}
        sparsity = former.get("sparsity_config") or {}
        if sparsity.get("format") not in (None, "dense"):
            # Of bitmasks, which the weights no longer have.
            former.pop("sparsity_config")
        is_theirs = former.get("quant_method", "compressed-tensors") in (
            "compressed-tensors", "nm")
        if is_theirs and former.get("format") in (None, "dense") and not (
                former.get("config_groups") or former.get("kv_cache_scheme")):
            former = {}
        if self.format == "compressed-tensors":
            own = self._bitmask_config()
            former = {**own, **former, "sparsity_config": own["sparsity_config"]}
        elif self.format == "nm" and not former:
            former = self._own_config()
        if former:
            config["quantization_config"] = former
        return config

    def _own_config(self) -> dict:
        """What has transformers' from_pretrained call nm.torch."""
        return {"quant_method": "nm", "version": 1,
                "layers": {name.removesuffix(".weight"): str(weight.pattern)
                           for name, weight in self.report.weights.items()}}

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


class _Changer(_Converter):
    """Writes a folder with some of its weights changed, and all dense."""

    def __init__(self, change: Callable[[WeightSource, str], tuple[str, np.ndarray]],
                 names: Iterable[str], metadata: Mapping[str, str],
                 progress: Callable[[str], None] | None):
        super().__init__(None, (), None, False, "dense", progress)
        self.change, self.left, self.metadata = change, set(names), metadata

    def _kept(self, weights: WeightSource, name: str,
              file: _safetensors.SafetensorsFile | None) -> Tensor:
        if name not in self.left:
            return super()._kept(weights, name, file)
        self.left.remove(name)
        return self.change(weights, name)

    def _metadata(self, file: _safetensors.SafetensorsFile | None) -> dict[str, str]:
        return {**super()._metadata(file), **self.metadata}

    def _check_found(self, source: str) -> None:
        if self.left:
            raise Error(f"{source}: expected each weight in one shard, but "
                        f"{', '.join(sorted(self.left)[:_TOLD_REASONS])} is in parts, as a "
                        "mask apart from what it masks")


def change_folder(source: Path, target: Path, names: Iterable[str],
                  change: Callable[[WeightSource, str], tuple[str, np.ndarray]],
                  metadata: Mapping[str, str],
                  progress: Callable[[str], None] | None = None) -> None:
    """Writes the folder of a model with weights changed, each by `change(shard, name)`, and
    all else as it is: its shards and their index, its configuration and tokenizer."""
    if os.path.realpath(source) == os.path.realpath(target):
        raise Error(f"expected an output other than the checkpoint {source} itself")
    _Changer(change, names, metadata, progress).convert_folder(source, target)


def _dense_of(weights: WeightSource, name: str) -> tuple[str, np.ndarray]:
    """A tensor as it is in dense files."""
    element, array = weights.raw(name)
    w = weights.condensed(name)
    if w is None or w._taps is None:
        return element, array
    return element, filter_of_matrix(array, w._taps)


def _dense_bytes(w: SparseTensor) -> int:
    return w.shape[0] * w.shape[1] * w._values.itemsize


def _check_target(target: Path, shards: set[str]) -> None:
    """Refuses a folder with weights that a reader would take beside those that are
    written to it."""
    if not target.is_dir():
        return
    others = sorted(path.name for path in target.iterdir()
                    if path.name.endswith((".safetensors", ".index.json"))
                    and path.name not in shards | {_INDEX})
    if others:
        raise Error(f"expected an output folder without other weights, but {target} has "
                    f"{', '.join(others[:4])}")
