"""Files of NumPy: .npy, mapped, and .npz, whose arrays are read one at a time."""

from __future__ import annotations

import math
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import IO

import numpy as np

from .. import _arrays
from .._errors import FileFormatError, reading

# Types that NumPy has not are saved as raw bytes.
_RAW = {"V2": "bf16", "V1": "f8E4M3FN"}
# ml_dtypes saves its float8_e5m2 under a name that NumPy does not read, and nm under
# one that it reads where ml_dtypes is imported.
_E5M2_HEADER = re.compile(rb"\{'descr': '(?:[<|]f1|float8_e5m2)', "
                          rb"'fortran_order': (True|False), "
                          rb"'shape': \(([0-9, ]*)\), \}\s*")
_MOST_HEADER = 1 << 16
_NAMES = {name: element for element, name in _arrays.NUMPY_NAMES.items()}
# No stream of deflate grows by more.
_MOST_DEFLATED = 1032


def map_npy(path: str | os.PathLike) -> np.ndarray:
    """The array of a .npy file.

    Raises:
        FileFormatError: it is damaged, or holds objects.
    """
    with reading(path, "an array of NumPy"):
        try:
            return np.lib.format.open_memmap(path, "r")
        except ValueError:
            with open(path, "rb") as file:
                header = _read_e5m2_header(file)
                if header is None:
                    raise
                shape, fortran, dtype = header
                return np.memmap(file, dtype, "r", file.tell(), shape,
                                 "F" if fortran else "C")


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
            shape, _, dtype = _read_header(file)
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
                if element != "f8E5M2":
                    return element, np.lib.format.read_array(file,
                                                             allow_pickle=False)
                shape, fortran, dtype = _read_header(file)
                flat = np.frombuffer(file.read(), dtype)
                return element, flat.reshape(shape, order="F" if fortran else "C")

    def __getitem__(self, name: str) -> np.ndarray:
        return self.read(name)[1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


def _read_e5m2_header(file: IO[bytes]
                      ) -> tuple[tuple[int, ...], bool, np.dtype] | None:
    """The shape, whether columns are contiguous, and the type, if the file from
    its start on is of a float8_e5m2 that ml_dtypes has saved."""
    file.seek(0)
    version = np.lib.format.read_magic(file)
    length = int.from_bytes(file.read(2 if version == (1, 0) else 4), "little")
    if length > _MOST_HEADER:
        return None
    match = _E5M2_HEADER.fullmatch(file.read(length))
    if match is None:
        return None
    shape = tuple(int(size) for size in match[2].split(b",") if size.strip())
    return shape, match[1] == b"True", _arrays.numpy_dtype("f8E5M2")


def _read_header(file: IO[bytes]
                 ) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(file)
    # Version 3 is for the names of fields in Unicode.
    read = {(1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"version {version} of the format is not one of numbers")
    try:
        return read(file)
    except ValueError:
        header = _read_e5m2_header(file)
        if header is None:
            raise
        return header
