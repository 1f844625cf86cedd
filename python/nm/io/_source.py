"""Weights by name, whatever file they are in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from .. import _arrays
from .. import _library as lib
from .._errors import Error, FileFormatError, reading
from .._safetensors import SafetensorsFile
from .._sparse import WEIGHT_TYPES, SparseTensor
from .._weightfile import is_weight_file, load_weights, part_names
from ._bitmask import from_bitmask
from ._numpy import NpzFile, map_npy, number_type
from ._onnx import OnnxFile

_BITMASK_PARTS = (".shape", ".compressed", ".bitmask")
# Of sparse-bitmask alone; the bitmask says the same.
_ROW_OFFSETS = ".row_offsets"
# What cannot be read, and the call that gives what can.
_REFUSED = {
    ".pt": "torch.save files run code when they are read; in torch, "
           "safetensors.torch.save_file(model.state_dict(), 'model.safetensors') "
           "writes one that is data alone",
    ".gguf": "GGUF weights are quantized in blocks; convert from the "
             "safetensors file that it was made of",
    ".h5": "in Keras, numpy.savez('weights.npz', *model.get_weights()) writes "
           "them",
    ".tflite": "export the model to ONNX, whose initializers are read",
}
_REFUSED.update({".pth": _REFUSED[".pt"], ".bin": _REFUSED[".pt"],
                 ".ckpt": _REFUSED[".pt"], ".pkl": _REFUSED[".pt"],
                 ".keras": _REFUSED[".h5"], ".hdf5": _REFUSED[".h5"]})
_MARLIN_PARTS = (".B_24", ".meta")


class WeightSource(Mapping):
    """Dense weights by name; each is read (mapped where it can be) when it is
    asked for.

    Attributes:
        path: of the file or folder.
    """

    def __init__(self, path: str):
        self.path = path
        self._entries: dict[str, tuple[str, tuple[int, ...], Callable]] = {}
        self._condensed: dict[str, SparseTensor] = {}

    def _add(self, name: str, element: str, shape: tuple[int, ...],
             read: Callable[[], np.ndarray]) -> None:
        self._entries[name] = element, tuple(shape), read

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._entries:
            raise KeyError(f"{self.path}: expected the name of a tensor in it, "
                           f"such as {', '.join(list(self)[:8])}, but got {name}")
        element, _, read = self._entries[name]
        return _typed(read(), element)

    def raw(self, name: str) -> tuple[str, np.ndarray]:
        """MLIR's name of a tensor's type (or u8, i16, bool), and its elements; those
        of bf16 and 8-bit floats as unsigned integers."""
        element, array = self.info(name)[0], self[name]
        if element in lib.EXTENSION_TYPES:
            return element, array.view(_arrays.raw_empty((), element).dtype)
        return {"uint8": "u8", "int16": "i16"}.get(element, element), array

    def info(self, name: str) -> tuple[str, tuple[int, ...]]:
        """MLIR's name of a tensor's type, and its shape."""
        return self._entries[name][:2]

    def matrices(self) -> list[str]:
        """The names of the tensors that could be weights: of two dimensions, and
        not the scales or indices of others."""
        return [name for name, (element, shape, _) in self._entries.items()
                if len(shape) == 2 and min(shape) > 1
                and element in WEIGHT_TYPES]

    def condensed(self, name: str) -> SparseTensor | None:
        """A weight that the file has in condensed form, or None."""
        return self._condensed.get(name)

    def scale(self, name: str) -> np.ndarray | None:
        """The scales that a quantized weight is multiplied with, float32, or None.

        Raises:
            FileFormatError: a scale is not finite.
        """
        found = self._entries.get(f"{name}_scale")
        if found is None:
            return None
        scale = np.asarray(self[f"{name}_scale"], np.float32).reshape(-1)
        if not np.isfinite(scale).all():
            raise FileFormatError(
                f"{self.path}: {name}_scale: expected finite scales, but scale "
                f"{np.flatnonzero(~np.isfinite(scale))[0]} is not")
        return scale

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def open_weights(path: str | os.PathLike) -> WeightSource:
    """Opens a file of weights, or a folder of safetensors.

    Raises:
        FileFormatError: it is damaged, or of a format that is not read; the
            message names the call that gives one that is.
        OSError: it cannot be read.
    """
    text = os.fspath(path)
    source = WeightSource(text)
    if os.path.isdir(text) or text.endswith(".index.json"):
        for shard in shards_of(Path(text)):
            _add_safetensors(source, str(shard))
        return source
    suffix = Path(text).suffix.lower()
    if suffix in _REFUSED:
        raise FileFormatError(f"{text}: expected .safetensors, .npy, .npz or "
                              f".onnx, but got {suffix}: {_REFUSED[suffix]}")
    readers = {".safetensors": _add_safetensors, ".npy": _add_npy,
               ".npz": _add_npz, ".onnx": _add_onnx}
    if suffix not in readers:
        raise FileFormatError(f"{text}: expected .safetensors, .npy, .npz or "
                              f".onnx, but got {suffix or 'no suffix'}")
    readers[suffix](source, text)
    return source


def load_dense(path: str | os.PathLike, name: str | None = None) -> np.ndarray:
    """One dense weight of a file; `name` may be left out where it has one.

    Raises:
        Error: the name is missing, or of none.
        FileFormatError, OSError: as open_weights.
    """
    source = open_weights(path)
    names = source.matrices()
    if name is None and len(names) == 1:
        name = names[0]
    if name is None:
        raise Error(f"{source.path}: expected the name of one of its weights, "
                    f"{', '.join(names) or 'of which it has none'}")
    return source[name]


def _typed(raw: np.ndarray, element: str) -> np.ndarray:
    return _arrays.typed(raw, element) if raw.dtype.kind in "uV" else raw


def _add_safetensors(source: WeightSource, path: str) -> None:
    file = SafetensorsFile(path)
    if is_weight_file(file.metadata):
        for name, weight in load_weights(path).items():
            source._add(name, weight.dtype, weight.shape, weight.decompress)
            source._condensed[name] = weight
    _refuse_marlin(file)
    parts = part_names(file.metadata)
    for name in file:
        if name in parts:
            continue
        base = next((name[:-len(part)] for part in (*_BITMASK_PARTS, _ROW_OFFSETS)
                     if name.endswith(part)), None)
        if base and all(base + part in file for part in _BITMASK_PARTS):
            if name.endswith(".compressed"):
                _add_bitmask(source, file, base)
            continue
        source._add(name, *file.info(name),
                    _reader(file.raw, name))


def _reader(read: Callable, name: str) -> Callable[[], np.ndarray]:
    """Reads tensor `name` when it is called; `read` gives its type, too."""
    return lambda: read(name)[1]


def _refuse_marlin(file: SafetensorsFile) -> None:
    for name in file:
        if name.endswith(_MARLIN_PARTS[0]) or (
                name.endswith(".weight_packed")
                and f"{name[:-len('weight_packed')]}meta" in file):
            raise FileFormatError(
                f"{file.path}: {name}: expected dense or bitmask weights, but "
                "these are of marlin-24, which is laid out for one kernel; save "
                "the model with save_compressed=False, or with quantization "
                "format 'pack-quantized' in place of 'marlin-24'")


def _add_bitmask(source: WeightSource, file: SafetensorsFile, base: str) -> None:
    shape = file[f"{base}.shape"].reshape(-1)
    element, _ = file.info(f"{base}.compressed")
    # The parts have the name of the layer, of older files that of its weight.
    name = base if base.endswith(".weight") else f"{base}.weight"
    source._add(name, element, tuple(shape.tolist()), lambda: from_bitmask(
        file[f"{base}.compressed"], file[f"{base}.bitmask"], shape,
        f"{file.path}: {base}"))


def shards_of(path: Path) -> list[Path]:
    """The files of an index of shards, or of a folder of safetensors.

    Raises:
        FileFormatError: it is no index, or there are none.
    """
    if path.is_dir():
        files = sorted(path.glob("*.safetensors"))
        if not files:
            raise FileFormatError(f"{path}: expected a folder with .safetensors "
                                  "files, but found none")
        return files
    with reading(path, "an index of safetensors"):
        shards = sorted(set(json.loads(path.read_text(encoding="utf-8"))
                            ["weight_map"].values()))
    for shard in shards:
        if not isinstance(shard, str) or os.path.basename(shard) != shard or (
                not shard.endswith(".safetensors") or "\0" in shard):
            raise FileFormatError(f"{path}: expected shards beside it, each a "
                                  f".safetensors file, but got {shard!r}")
    return [path.parent / shard for shard in shards]


def _add_npy(source: WeightSource, path: str) -> None:
    array = map_npy(path)
    source._add(Path(path).stem, *number_type(path, array.dtype, array.shape),
                lambda: array)


def _add_npz(source: WeightSource, path: str) -> None:
    archive = NpzFile(path)
    for name in archive:
        source._add(name, *archive.info(name),
                    _reader(archive.read, name))


def _add_onnx(source: WeightSource, path: str) -> None:
    file = OnnxFile(path)
    for name in file:
        source._add(name, *file.info(name), _reader(file.__getitem__, name))
