"""Files of NumPy: .npy, mapped, and .npz, whose arrays are read one at a time."""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Iterator, Mapping
from typing import IO

import numpy as np

from .. import _arrays
from .._errors import FileFormatError, reading

# Types that NumPy has not are saved as raw bytes.
_RAW = {"V2": "bf16", "V1": "f8E4M3FN"}
_NAMES = {name: element for element, name in _arrays.NUMPY_NAMES.items()}
# No stream of deflate grows by more.
_MOST_DEFLATED = 1032


def map_npy(path: str | os.PathLike) -> np.ndarray:
    """The array of a .npy file.

    Raises:
        FileFormatError: it is damaged, or holds objects.
    """
    with reading(path, "an array of NumPy"):
        return np.lib.format.open_memmap(path, "r")


def number_type(place: str, dtype: np.dtype, shape: tuple[int, ...]
                ) -> tuple[str, tuple[int, ...]]:
    """Our name of a type, and the shape; FileFormatError for no numbers."""
    if dtype.str[1:] in _RAW and dtype.fields is None:
        return _RAW[dtype.str[1:]], shape
    if dtype.kind not in "fiub" or not dtype.isnative:
        raise FileFormatError(f"{place}: expected numbers in this machine's byte "
                              f"order, but got {dtype}")
    return _NAMES.get(dtype.name, dtype.name), shape


class NpzFile(Mapping):
    """Types and shapes of an archive's arrays by name."""

    def __init__(self, path: str):
        self.path = path
        self._members: dict[str, tuple[zipfile.ZipInfo, tuple]] = {}
        with reading(path, "an archive of NumPy"), zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if member.filename.endswith(".npy"):
                    name = member.filename.removesuffix(".npy")
                    self._members[name] = member, self._inspect(archive, member)

    def _inspect(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo
                 ) -> tuple[str, tuple[int, ...]]:
        place = f"{self.path}: {member.filename}"
        with archive.open(member) as file:
            shape, dtype = _read_header(file)
            found = number_type(place, dtype, shape)
            # Before anyone allocates what a damaged header asks for.
            expected = file.tell() + math.prod(shape) * dtype.itemsize
        most = min(member.file_size,
                   os.path.getsize(self.path) * _MOST_DEFLATED)
        if expected > most:
            raise FileFormatError(f"{place}: expected {expected} bytes, as its "
                                  f"shape {shape} needs, but got {most}")
        return found

    def info(self, name: str) -> tuple[str, tuple[int, ...]]:
        return self._members[name][1]

    def read(self, name: str) -> tuple[str, np.ndarray]:
        """The type and the array."""
        member, (element, _) = self._members[name]
        with reading(f"{self.path}: {name}", "an array of NumPy"):
            with zipfile.ZipFile(self.path) as archive, archive.open(member) as file:
                return element, np.lib.format.read_array(file, allow_pickle=False)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.read(name)[1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype]:
    version = np.lib.format.read_magic(file)
    # Version 3 is for the names of fields in Unicode.
    read = {(1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"version {version} of the format is not one of numbers")
    shape, _, dtype = read(file)
    return shape, dtype
