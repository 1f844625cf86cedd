"""safetensors files, mapped: 8 bytes of length, a JSON header, the elements.

https://github.com/huggingface/safetensors#format

Files that nm writes carry CRC-32 sums (zlib.crc32) in their metadata, which other
readers pass over:

    "nm.crc32"      of the header, with these eight digits as zeroes
    "nm.sums"       {"<name>": "<eight digits>", ...} as JSON, of each tensor's bytes

The header is checked when a file is opened, and a tensor when it is first read. A tool
that changes such a file has to take "nm.crc32" and "nm.sums" away.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ._errors import FileFormatError, reading
from ._files import written_whole

#: Types by the names of safetensors: ours, and bytes of an element.
_TYPES = {"F64": ("f64", 8), "F32": ("f32", 4), "F16": ("f16", 2),
          "BF16": ("bf16", 2), "F8_E4M3": ("f8E4M3FN", 1),
          "F8_E5M2": ("f8E5M2", 1), "I64": ("i64", 8), "I32": ("i32", 4),
          "I16": ("i16", 2), "I8": ("i8", 1), "U8": ("u8", 1), "BOOL": ("bool", 1)}
_NAMES = {element: name for name, (element, _) in _TYPES.items()}
_DTYPES = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "bf16": "<u2",
           "f8E4M3FN": "u1", "f8E5M2": "u1", "i64": "<i8", "i32": "<i4",
           "i16": "<i2", "i8": "i1", "u8": "u1", "bool": "?"}
# What the format allows; a damaged length would ask for all memory.
_MAX_HEADER = 100_000_000
# Of the metadata. JSON has no quote inside of a text, so that the first bytes of the
# header's own sum are not found elsewhere.
_SUM, _SUMS, _NO_SUM = "nm.crc32", "nm.sums", "00000000"
_BEFORE_SUM = f'"{_SUM}": "'.encode()


@dataclass(frozen=True)
class StoredTensor:
    """Bytes of a tensor, whose type only the format has to know.

    Attributes:
        kind: safetensors' name of the type.
    """

    kind: str
    shape: tuple[int, ...]
    data: np.ndarray


class SafetensorsFile(Mapping):
    """The tensors of a file by name, as raw arrays into its mapping.

    Raises:
        FileFormatError: the file is damaged.
        OSError: it cannot be read.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = os.fspath(path)
        size = os.stat(self.path).st_size
        if size < 8:
            raise self._damaged(f"expected at least 8 bytes, but got {size}")
        self._data = np.memmap(self.path, np.uint8, "r")
        length = int.from_bytes(self._data[:8].tobytes(), "little")
        if length > min(size - 8, _MAX_HEADER):
            raise self._damaged(f"expected a header of at most {size - 8} bytes, "
                                f"but it says {length}")
        text = self._data[8:8 + length].tobytes()
        with reading(self.path, "a JSON header of safetensors"):
            header = json.loads(text)
            self.metadata = dict(header.pop("__metadata__", {}) or {})
        self._begin = 8 + length
        self._header = {name: self._read_entry(name, entry)
                        for name, entry in header.items()}
        self._sums = self._read_sums(text)

    def _damaged(self, reason: str) -> FileFormatError:
        return FileFormatError(f"{self.path}: damaged safetensors file: {reason}")

    def _read_sums(self, text: bytes) -> dict[str, str]:
        """The sums of tensors that are yet to be checked, by name, after that of the
        header; they are no metadata for others."""
        found, sums = self.metadata.pop(_SUM, None), self.metadata.pop(_SUMS, None)
        #: Whether the file has sums.
        self.is_summed = found is not None
        if found is None and sums is None:
            return {}
        at = text.find(_BEFORE_SUM) + len(_BEFORE_SUM)
        expected = _sum_of(text[:at] + _NO_SUM.encode() + text[at + len(_NO_SUM):])
        if found != expected:
            raise self._damaged(f"expected the checksum {found} of its header, but got "
                                f"{expected}, as where another program wrote nm's "
                                "metadata to a file of its own")
        end = max((entry[3] for entry in self._header.values()), default=0)
        if len(self._data) - self._begin != end:
            raise self._damaged(f"expected {end} bytes of tensors, but got "
                                f"{len(self._data) - self._begin}")
        with reading(self.path, "checksums of its tensors"):
            sums = json.loads(sums)
            return {name: str(sums[name]) for name in self._header}

    def _part(self, name: str) -> np.ndarray:
        """The bytes of a tensor, which are as they were written."""
        _, _, begin, end = self._header[name]
        part = self._data[self._begin + begin:self._begin + end]
        if name in self._sums:
            found = _sum_of(part)
            if found != self._sums[name]:
                raise self._damaged(f"expected the checksum {self._sums[name]} of "
                                    f"{name}, but got {found}")
            # Another thread may have been as fast.
            self._sums.pop(name, None)
        return part

    def _read_entry(self, name: str, entry) -> tuple[str, tuple, int, int]:
        try:
            kind, shape = entry["dtype"], tuple(entry["shape"])
            begin, end = entry["data_offsets"]
            good = isinstance(kind, str) and all(
                isinstance(size, int) and size >= 0
                for size in (*shape, begin, end))
        except (KeyError, TypeError, ValueError):
            good = False
        if not good:
            raise self._damaged(f"expected dtype, shape and data_offsets of "
                                f"{name}")
        if kind not in _TYPES:
            return kind, shape, begin, end
        element, size = _TYPES[kind]
        expected = math.prod(shape) * size
        room = len(self._data) - self._begin
        if end - begin != expected or end > room:
            raise self._damaged(f"expected {expected} bytes of {name} in "
                                f"{room}, but its place is {begin} to {end}")
        return element, shape, begin, end

    def raw(self, name: str) -> tuple[str, np.ndarray]:
        """MLIR's name of the type (or u8, i16, bool), and the elements; those of
        bf16 and 8-bit floats as unsigned integers."""
        if name not in self._header:
            raise FileFormatError(f"{self.path}: expected a tensor '{name}', but "
                                  f"it has {', '.join(self._header) or 'none'}")
        element, shape, _, _ = self._header[name]
        if element not in _DTYPES:
            raise FileFormatError(f"{self.path}: expected {name} of a type among "
                                  f"{', '.join(_TYPES)}, but got {element}")
        part = self._part(name)
        # A writer may leave elements at odd places.
        if part.__array_interface__["data"][0] % np.dtype(
                _DTYPES[element]).itemsize:
            part = part.copy()
        with reading(f"{self.path}: {name}", "sizes of an array"):
            return element, part.view(_DTYPES[element]).reshape(shape)

    def stored(self, name: str) -> StoredTensor:
        """A tensor of any type as it lies in the file."""
        kind, shape, _, _ = self._header[name]
        return StoredTensor(_NAMES.get(kind, kind), shape, self._part(name))

    def info(self, name: str) -> tuple[str, tuple[int, ...]]:
        """Type and shape of a tensor."""
        return self._header[name][:2]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.raw(name)[1]

    def __contains__(self, name: object) -> bool:
        return name in self._header

    def __iter__(self) -> Iterator[str]:
        return iter(self._header)

    def __len__(self) -> int:
        return len(self._header)


def name_of(element: str) -> str:
    """The format's name of a type that MLIR calls `element`, or u8, i16, bool."""
    return _NAMES[element]


def write(path: str | os.PathLike,
          tensors: Mapping[str, tuple[str, np.ndarray] | StoredTensor],
          metadata: Mapping[str, str], *, sums: bool = True) -> None:
    """Writes tensors, raw arrays with their types or as they lay in a file, whole or
    not at all; without sums where the file is read at once and taken away."""
    at = 0
    stored = {name: _stored(tensor) for name, tensor in tensors.items()}
    # Widest elements first, so that every tensor is aligned to its own.
    ordered = sorted(stored.items(), key=lambda item: -_width(item[1]))
    about = dict(metadata)
    if sums:
        found = {name: _sum_of(np.ascontiguousarray(tensor.data))
                 for name, tensor in ordered}
        about |= {_SUM: _NO_SUM, _SUMS: json.dumps(found)}
    header: dict = {"__metadata__": about}
    for name, tensor in ordered:
        header[name] = {"dtype": tensor.kind, "shape": list(tensor.shape),
                        "data_offsets": [at, at + tensor.data.nbytes]}
        at += tensor.data.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    if sums:
        before, after = text.split(_BEFORE_SUM + _NO_SUM.encode(), 1)
        text = before + _BEFORE_SUM + _sum_of(text).encode() + after
    with written_whole(path) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, tensor in ordered:
            file.write(np.ascontiguousarray(tensor.data).data)


def _sum_of(data: bytes | np.ndarray) -> str:
    return f"{zlib.crc32(data):08x}"


def _stored(tensor: tuple[str, np.ndarray] | StoredTensor) -> StoredTensor:
    if isinstance(tensor, StoredTensor):
        return tensor
    element, array = tensor
    return StoredTensor(_NAMES[element], array.shape, array)


def _width(tensor: StoredTensor) -> int:
    """The bytes of an element, from those of all where the type is not known."""
    return tensor.data.nbytes // max(math.prod(tensor.shape), 1)
