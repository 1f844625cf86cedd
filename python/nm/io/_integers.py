"""Integers of few bits with scales, as files have them."""

from __future__ import annotations

import numpy as np

from .. import _arrays
from .. import _library as lib

_BF16 = "bf16"


def dequantized(values: np.ndarray, element: str, scales: np.ndarray, group: int
                ) -> np.ndarray:
    """Integers ``[n, k]`` times the scales ``[n, groups]`` of their groups of k, rounded
    once to the scales' type; that of bf16 as unsigned integers.

    Args:
        element: MLIR's name of the scales' type.
        scales: as they are in a file.
    """
    return scaled(values, element, np.repeat(scales, group, 1)[:, :values.shape[1]])


def scaled(values: np.ndarray, element: str, factors: np.ndarray) -> np.ndarray:
    """The same with a factor for each integer."""
    return _narrowed(element, values.astype(np.float32) * _widened(element, factors))


def _widened(element: str, scales: np.ndarray) -> np.ndarray:
    if element == _BF16:
        return (scales.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return scales.astype(np.float32)


def _narrowed(element: str, values: np.ndarray) -> np.ndarray:
    if element == _BF16:
        bits = values.view(np.uint32)
        # To the nearest, of two equally near the even one.
        rounded = (bits + (0x7FFF + ((bits >> 16) & 1))) >> 16
        return rounded.astype(np.uint16).view(
            _arrays.raw_empty((), element).dtype if element in lib.EXTENSION_TYPES
            else np.uint16)
    return values.astype({"f16": np.float16, "f64": np.float64}.get(element, np.float32))
