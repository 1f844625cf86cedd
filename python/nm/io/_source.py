"""Weights by name, whatever file they are in."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from .. import _arrays
from .. import _library as lib
from .._errors import Error, FileFormatError
from .._files import read_text
from .._raw import RawArray
from .._safetensors import SafetensorsFile
from .._sparse import WEIGHT_TYPES, SparseTensor
from .._weightfile import is_weight_file, load_weights, part_names
from ._bitmask import from_bitmask
from ._integers import dequantized, scaled
from ._pack_quantized import PARTS, Packed, group_sizes, packed_weights
from ._numpy import NpzFile, map_npy, number_type
from ._onnx import OnnxFile
from ._onnx_nodes import LOOKED_UP, Quantization
from ._refused import refuse_laid_out, refuse_parts
from ._shards import shards_of

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


# Of transformers, models with its Conv1D, whose weights are [in, out], and how they call
# such layers.
_IN_OUT_MODELS = ("gpt2", "openai-gpt", "imagegpt", "decision_transformer", "clvp")
_IN_OUT_LAYERS = ("c_attn", "q_attn", "c_fc", "c_proj")
# Of torch.nn.utils.prune: the weight is the first times the second.
_ORIGINAL, _MASK = "_orig", "_mask"


class WeightSource(Mapping):
    """Dense weights by name; each is read (mapped where it can be) when it is
    asked for. Of torch.nn.utils.prune's ``weight_orig`` and ``weight_mask`` it has the
    ``weight`` that they make.

    Attributes:
        path: of the file or folder.
    """

    def __init__(self, path: str):
        self.path = path
        self._entries: dict[str, tuple[str, tuple[int, ...], Callable]] = {}
        # What is asked for by its name alone.
        self._hidden: dict[str, tuple[str, tuple[int, ...], Callable]] = {}
        self._condensed: dict[str, SparseTensor] = {}
        self._axes: dict[str, set] = {}
        # The groups of filters, which are [out, channels of a group, taps...].
        self._filters: dict[str, int] = {}
        self._quantized: dict[str, Quantization] = {}
        self._packed: dict[str, tuple[Packed, Mapping]] = {}
        # What tensors are of others.
        self._roles: dict[str, str] = {}

    def _add(self, name: str, element: str, shape: tuple[int, ...],
             read: Callable[[], np.ndarray]) -> None:
        self._entries[name] = element, tuple(shape), read

    def _entry(self, name: str) -> tuple[str, tuple[int, ...], Callable]:
        entry = self._entries.get(name) or self._hidden.get(name)
        if entry is None:
            raise KeyError(f"{self.path}: expected the name of a tensor in it, "
                           f"such as {', '.join(list(self)[:8])}, but got {name}")
        return entry

    def __getitem__(self, name: str) -> np.ndarray:
        element, _, read = self._entry(name)
        return _typed(read(), element)

    def raw(self, name: str) -> tuple[str, np.ndarray]:
        """MLIR's name of a tensor's type (or u8, i16, bool), and its elements; those
        of bf16 and 8-bit floats as unsigned integers."""
        element, _, read = self._entry(name)
        array = read()
        if element in lib.EXTENSION_TYPES:
            return element, array.view(_arrays.raw_empty((), element).dtype)
        return {"uint8": "u8", "int16": "i16"}.get(element, element), array

    def weight(self, name: str) -> np.ndarray | RawArray:
        """A tensor for nm's functions, which need no type of NumPy's for bf16 and 8-bit
        floats, less its zero points: zeros are what it multiplies with zero. A filter is
        its matrix, ``[out, taps and channels]``."""
        element, array = self.raw(name)
        if self.is_filter(name):
            array = np.ascontiguousarray(np.moveaxis(array, 1, -1)).reshape(
                len(array), -1)
        if element in lib.EXTENSION_TYPES:
            return RawArray(array, element)
        points = self.zero_points(name)
        if points is not None and self.is_filter(name):
            points = np.moveaxis(points, 1, -1).reshape(array.shape)
        if element != "u8" and (points is None or not points.any()):
            return array
        differences = array.astype(np.int32) - (0 if points is None else points)
        narrow = differences.astype(np.int8)
        return narrow if np.array_equal(narrow, differences) else differences

    def info(self, name: str) -> tuple[str, tuple[int, ...]]:
        """MLIR's name of a tensor's type, and its shape."""
        return self._entry(name)[:2]

    def matrices(self) -> list[str]:
        """The names of the tensors that could be weights: of two dimensions, and
        not the scales, masks or indices of others."""
        return [name for name in self._entries if self.why_no_matrix(name) is None]

    def why_no_matrix(self, name: str) -> str | None:
        """Why a tensor of two dimensions and more is no weight that a pattern could be
        of; None where it is one, and "" for a tensor of fewer dimensions."""
        element, shape, _ = self._entry(name)
        if len(shape) < 2:
            return ""
        if name in self._roles:
            return f"it is {self._roles[name]}"
        for ending, what in (("_scale", "scales"), ("_zero_point", "zero points"),
                             (_MASK, "mask")):
            base = name.removesuffix(ending)
            if base != name and (base in self._entries or base + _ORIGINAL in
                                 self._entries or f"{base}_packed" in self._entries):
                return f"it is the {what} of {base}"
        if len(shape) > 2:
            why = self._why_no_filter(name, shape)
            if why is not None:
                return why
        if min(shape) == 0:
            return "it has no elements"
        if max(shape) == 1:
            return "it has one element"
        if element not in WEIGHT_TYPES and not (
                element in ("u8", "uint8") and (
                    name in self._quantized or self.quantized_parts(name)[1])):
            return (f"it is of {element}, and weights are of "
                    f"{', '.join(WEIGHT_TYPES)}")
        return None

    def is_filter(self, name: str) -> bool:
        """Whether a tensor is the filter of a convolution, ``[out, in / groups, taps...]``."""
        return name in self._filters and len(self._entry(name)[1]) > 2

    def taps(self, name: str) -> tuple[int, ...] | None:
        """The sizes of the taps of a filter."""
        return self._entry(name)[1][2:] if self.is_filter(name) else None

    def of_filter(self, name: str, matrix: np.ndarray) -> np.ndarray:
        """A matrix as `weight` gives it in the shape that the file has."""
        taps = self.taps(name)
        return matrix if taps is None else filter_of_matrix(matrix, taps)

    def _why_no_filter(self, name: str, shape: tuple[int, ...]) -> str | None:
        if name not in self._filters:
            return f"it has {len(shape)} dimensions, and a pattern is of two"
        if shape[1] == 1 and self._filters[name] != 1:
            return (f"it is the filter of {self._filters[name]} groups, each of one channel, "
                    "which are not summed")
        if shape[1] == 1:
            return "it is a filter whose channels are not summed, as a depthwise one"
        return None

    def _find_filters(self) -> None:
        """By their names and dimensions, as PyTorch has them."""
        for name, (_, shape, _) in self._entries.items():
            if name.endswith("weight") and len(shape) in (4, 5):
                self._filters[name] = 1

    def read_layout(self, config: Mapping | None) -> None:
        """Takes from a model's configuration which layers are ``[in, out]``."""
        if config and config.get("model_type") in _IN_OUT_MODELS:
            for name in self._entries:
                layer = name.removesuffix(".weight").rpartition(".")[2]
                if layer in _IN_OUT_LAYERS:
                    self._axes[name] = {0}

    def axis(self, name: str) -> int | None:
        """The axis of k, where the file says it, as an ONNX model does, and by the
        patterns of condensed weights."""
        if name in self._condensed:
            return self._condensed[name].pattern.axis
        if self.is_filter(name):
            return 1
        found = self._axes.get(name, set()) & {0, 1}
        return next(iter(found)) if len(found) == 1 else None

    def is_looked_up(self, name: str) -> bool:
        """Whether rows of a matrix are taken and none are multiplied with, as of an
        embedding: where the file says it, and else by the name of its layer."""
        axes = self._axes.get(name)
        return axes == {LOOKED_UP} if axes else is_embedding(name)

    def condensed(self, name: str) -> SparseTensor | None:
        """A weight that the file has in condensed form, or None."""
        return self._condensed.get(name)

    def scale(self, name: str) -> np.ndarray | None:
        """The scales that a quantized weight is multiplied with, float32, or None.

        Raises:
            FileFormatError: a scale is not finite.
        """
        place = self.quantized_parts(name)[0]
        if place is None:
            return None
        scale = np.asarray(self[place], np.float32).reshape(-1)
        if not np.isfinite(scale).all():
            raise FileFormatError(
                f"{self.path}: {place}: expected finite scales, but scale "
                f"{np.flatnonzero(~np.isfinite(scale))[0]} is not")
        return scale

    def quantized_parts(self, name: str) -> tuple[str | None, str | None]:
        """The tensors that are the scales and the zero points of a weight: those that an
        ONNX model says, or of others ``<name>_scale`` and ``<name>_zero_point``."""
        quantized = self._quantized.get(name)
        scale, point = ((quantized.scale, quantized.zero_point) if quantized else
                        (f"{name}_scale", f"{name}_zero_point"))
        return (scale if scale in self._entries else None,
                point if point in self._entries else None)

    def zero_points(self, name: str) -> np.ndarray | None:
        """What a quantized weight has in place of zeros, int32 and of its own shape, or
        None where the file says nothing of them.

        Raises:
            FileFormatError: they do not fit the weight.
        """
        place = self.quantized_parts(name)[1]
        if place is None or self.info(name)[0] not in ("i8", "u8", "uint8"):
            return None
        return self._spread(name, place, np.asarray(self[place], np.int32))

    def _spread(self, name: str, place: str, values: np.ndarray) -> np.ndarray:
        """Values for rows, columns or groups of a weight, in its shape."""
        shape = self.info(name)[1]
        quantized = self._quantized.get(name)
        axis = (quantized.axis if quantized else 0) % len(shape)
        if values.ndim == 1 and len(values) == shape[axis]:
            values = np.expand_dims(values, [d for d in range(len(shape)) if d != axis])
        elif values.ndim == len(shape):
            for d, (size, groups) in enumerate(zip(shape, values.shape)):
                if 1 < groups < size:
                    block = quantized.block if quantized and d == axis else 0
                    values = np.repeat(values, block or -(-size // groups), d)
            values = values[tuple(slice(size) for size in shape)]
        try:
            return np.broadcast_to(values.reshape(()) if values.size == 1 else values,
                                   shape)
        except ValueError:
            raise FileFormatError(
                f"{self.path}: {place}: expected values for {name} {list(shape)}, but "
                f"got {list(values.shape)}") from None

    def quantization(self, name: str) -> dict[str, tuple[str, np.ndarray]]:
        """The scales and zero points of a weight as `scale` and `zero_points` read them
        again from a file, with their types, by the names that they have there then."""
        found = {}
        for place, ending in zip(self.quantized_parts(name), ("_scale", "_zero_point")):
            if place is not None and f"{name}{ending}" != place:
                element, values = self.raw(place)
                quantized, shape = self._quantized[name], self.info(name)[1]
                axis = quantized.axis % len(shape)
                if values.ndim == 1 and values.size > 1:
                    values = np.expand_dims(values, [
                        d for d in range(len(shape)) if d != axis])
                elif quantized.block and shape[axis] % quantized.block:
                    # Whose sizes do not say how large its blocks are.
                    values = np.ascontiguousarray(self._spread(name, place, values))
                found[f"{name}{ending}"] = element, values
        return found

    def is_part(self, name: str) -> bool:
        """Whether a tensor is the scales or zero points of others under a name of its
        own, as in an ONNX model."""
        return name in self._roles

    def integers(self, name: str) -> tuple[np.ndarray, int, int] | None:
        """Of a weight that is packed integers times the scales ``<name>_scale`` of groups
        of k: the integers, int8 ``[n, k]``, their bits and the group. None for others."""
        packed, file = self._packed.get(name, (None, None))
        if packed is None or not packed.is_plain:
            return None
        return packed.integers(file), packed.bits, packed.group

    def is_packed(self, name: str) -> bool:
        """Whether it is made of integers that the file has packed to words."""
        return name in self._packed

    def parts(self, name: str) -> str | None:
        """What a weight was made of, for people; None for one that is in the file."""
        if name in self._packed:
            packed = self._packed[name][0]
            return (f"{name}_packed of {packed.bits} bits times {name}_scale, groups of "
                    f"{packed.group}")
        if f"{name}{_ORIGINAL}" in self._hidden:
            return f"{name}{_ORIGINAL} times {name}{_MASK}"
        return None

    def describe(self, name: str) -> str | None:
        """What a weight was made of, or how it is quantized, for people."""
        scale, point = self.quantized_parts(name)
        if scale is None and point is None:
            return self.parts(name)
        points = self.zero_points(name)
        zeros = ("without zero points" if points is None else
                 f"zero points {point}, {'not all' if points.any() else 'all'} of them 0")
        return f"quantized: {f'scales {scale}' if scale else 'without scales'}, {zeros}"

    def _join_masks(self) -> None:
        """Takes weights and their masks together."""
        for mask in [name for name in self._entries if name.endswith(_MASK)]:
            name = mask.removesuffix(_MASK)
            original = self._entries.get(f"{name}{_ORIGINAL}")
            if original is None or name in self._entries:
                continue
            if original[1] != self._entries[mask][1]:
                raise FileFormatError(
                    f"{self.path}: expected {mask} {list(original[1])}, as {name}{_ORIGINAL} "
                    f"has it, but got {list(self._entries[mask][1])}")
            for part in (f"{name}{_ORIGINAL}", mask):
                self._hidden[part] = self._entries.pop(part)
            self._add(name, *original[:2], self._masked_reader(name))

    def _masked_reader(self, name: str) -> Callable[[], np.ndarray]:
        def read() -> np.ndarray:
            element, dense = self.raw(f"{name}{_ORIGINAL}")
            _, mask = self.raw(f"{name}{_MASK}")
            # Bits of a float are zero where it is, but for -0.0.
            kept = (mask << 1 if mask.dtype.kind == "u" and mask.itemsize > 1
                    else mask) != 0
            return np.where(kept, dense, dense.dtype.type(0))
        return read

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def filter_of_matrix(matrix: np.ndarray, taps: tuple[int, ...]) -> np.ndarray:
    """A convolution's filter ``[out, in, taps...]`` of its matrix ``[out, taps and
    channels]``."""
    filters = matrix.reshape(len(matrix), *taps, -1)
    return np.ascontiguousarray(np.moveaxis(filters, -1, 1))


# The last part of a layer's name: `wte`, `embed_tokens`, `word_embeddings`, `tok_emb`.
_EMBEDDING = re.compile(
    "(?:wte|wpe|shared|token_embd|relative_attention_bias|(?:.*_)?emb"
    "|(?:.*_)?embed(?:ding)?s?(?:_tokens|_positions|_in)?)")


def is_embedding(name: str) -> bool:
    """Whether a tensor is the weight of an embedding, by the name of its layer."""
    layer = name.removesuffix(".weight").rpartition(".")[2]
    return _EMBEDDING.fullmatch(layer.lower()) is not None


def require_checkpoint(path: str) -> None:
    """Raises FileNotFoundError where no file and no folder has that path."""
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: expected a file of weights or the folder of a "
                                "model, but there is none")


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
        source._join_masks()
        source._find_filters()
        source.read_layout(read_config(Path(text)))
        return source
    require_checkpoint(text)
    suffix = Path(text).suffix.lower()
    if suffix in _REFUSED:
        raise FileFormatError(f"{text}: expected .safetensors, .npy, .npz or "
                              f".onnx, but got {suffix}: {_REFUSED[suffix]}")
    readers = {".safetensors": _add_safetensors, ".npy": _add_npy,
               ".npz": _add_npz, ".onnx": _add_onnx}
    if suffix not in readers:
        raise FileFormatError(f"{text}: expected .safetensors, .npy, .npz or "
                              f".onnx, but got {suffix or 'no suffix'}")
    # Weights are mapped, and a device may have no end.
    if os.path.exists(text) and not os.path.isfile(text):
        raise FileFormatError(f"{text}: expected a file, but got a device or a pipe")
    readers[suffix](source, text)
    source._join_masks()
    if suffix != ".onnx":
        source._find_filters()
    return source


def read_config(path: Path) -> dict | None:
    """What a model's folder says of it, where that can be read: weights can be without."""
    folder = path if path.is_dir() else path.parent
    try:
        found = json.loads(read_text(folder / "config.json"))
    except FileFormatError:
        raise
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def load_dense(path: str | os.PathLike, name: str | None = None) -> np.ndarray:
    """One dense weight of a file; `name` may be left out where it has one.

    Raises:
        Error: the name is missing, or of none.
        FileFormatError, OSError: as open_weights.
    """
    source = open_weights(path)
    names = source.matrices()
    if name is None and len(names) > 1:
        # Rather than a row of biases.
        names = [each for each in names if min(source.info(each)[1]) > 1]
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
            source._add(name, weight.dtype, weight.shape, _decompressed(weight))
            source._condensed[name] = weight
            if weight._quantization is not None:
                _add_dequantized(source, file, name, weight)
    refuse_laid_out(file)
    if any(name.endswith(".weight_packed") for name in file):
        sizes = group_sizes(read_config(Path(path)))
        for name, packed in packed_weights(file, path, file.info, sizes).items():
            _add_packed(source, file, name, packed)
    parts = part_names(file.metadata)
    refuse_parts(file, parts)
    for name in file:
        if name in parts or name in source._hidden:
            continue
        base = next((name[:-len(part)] for part in (*_BITMASK_PARTS, _ROW_OFFSETS)
                     if name.endswith(part)), None)
        if base and all(base + part in file for part in _BITMASK_PARTS):
            if name.endswith(".compressed"):
                _add_bitmask(source, file, base)
            continue
        source._add(name, *file.info(name),
                    _reader(file.raw, name))


def _decompressed(weight: SparseTensor) -> Callable[[], np.ndarray]:
    like = RawArray(np.empty(0), weight.dtype)
    return lambda: weight.decompress(like).raw


def _add_packed(source: WeightSource, file: SafetensorsFile, name: str, packed: Packed
                ) -> None:
    """The weight that packed integers and scales make, in place of them."""
    for part in PARTS:
        if f"{name}{part}" in file:
            source._hidden[f"{name}{part}"] = (*file.info(f"{name}{part}"),
                                               _reader(file.raw, f"{name}{part}"))
    element, scales = file.raw(f"{name}_scale")
    if packed.is_plain and scales.shape != (packed.shape[0],
                                            -(-packed.shape[1] // packed.group)):
        spread = np.ascontiguousarray(np.broadcast_to(
            scales.reshape(-1, 1), (packed.shape[0], 1)))
        source._hidden[f"{name}_scale"] = element, spread.shape, lambda: spread
    source._packed[name] = packed, file
    source._add(name, element, packed.shape, lambda: scaled(
        packed.integers(file), element, packed.spread(file, scales)))


def _add_dequantized(source: WeightSource, file: SafetensorsFile, name: str,
                     weight: SparseTensor) -> None:
    """The weight that integers and scales make, in place of them."""
    place, (n, k), (_, group) = f"{name}_scale", weight.shape, weight._quantization
    if place not in file or file.info(place)[1] != (n, -(-k // group)):
        raise FileFormatError(f"{file.path}: expected {place} [{n}, {-(-k // group)}], "
                              f"the scales of {name}, but it has "
                              f"{list(file.info(place)[1]) if place in file else 'none'}")
    element = file.info(place)[0]
    source._hidden[place] = element, (n, -(-k // group)), _reader(file.raw, place)
    source._add(name, element, weight.shape, lambda: dequantized(
        _decompressed(weight)(), *file.raw(place), group))


def _reader(read: Callable, name: str) -> Callable[[], np.ndarray]:
    """Reads tensor `name` when it is called; `read` gives its type, too."""
    return lambda: read(name)[1]


def _add_bitmask(source: WeightSource, file: SafetensorsFile, base: str) -> None:
    shape = file[f"{base}.shape"].reshape(-1)
    element, _ = file.info(f"{base}.compressed")
    # The parts have the name of the layer, of older files that of its weight.
    name = base if base.endswith(".weight") else f"{base}.weight"
    source._add(name, element, tuple(shape.tolist()), lambda: from_bitmask(
        file[f"{base}.compressed"], file[f"{base}.bitmask"], shape,
        f"{file.path}: {base}"))


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
        source._axes[name] = file.nodes.axes(name)
        groups = file.nodes.filter_groups(name)
        if groups is not None:
            source._filters[name] = groups
        quantization = file.nodes.quantization(name)
        if quantization:
            source._quantized[name] = quantization
            for part, what in ((quantization.scale, "scales"),
                               (quantization.zero_point, "zero points")):
                if part:
                    source._roles[part] = f"the {what} of {name}"
