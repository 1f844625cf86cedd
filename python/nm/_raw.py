"""Arrays from files, of any type: NumPy has some only where ml_dtypes is installed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import _arrays
from . import _library as lib


@dataclass(frozen=True)
class RawArray:
    """An array of NumPy with MLIR's name of its elements: bits of a type that NumPy has
    only where ml_dtypes is installed."""

    raw: np.ndarray
    element: str

    @property
    def shape(self) -> tuple[int, ...]:
        return self.raw.shape


class RawKind(_arrays.Kind):
    """Arrays from files, whose elements need no type of NumPy's."""

    name = "raw"

    def view(self, array):
        raw = array.raw
        size = raw.itemsize
        if any(stride % size for stride in raw.strides):
            raw = np.ascontiguousarray(raw)
        return _arrays.View(raw.__array_interface__["data"][0], array.element, raw.shape,
                    tuple(stride // size for stride in raw.strides), (lib.CPU, 0), raw)

    def to_host(self, array):
        return self.view(array)

    def from_host(self, array, like, element):
        return RawArray(array, element)


_arrays.KINDS["raw"] = RawKind()
