"""Weights of few bits, with a scale for each group of k."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._errors import DTypeError, Error, ShapeError

#: Bits that a value can have.
BITS = (4, 8)
_DTYPES = ("float16", "bfloat16", "float32", "float64")


@dataclass(frozen=True)
class Quantized:
    """A quantized weight. Unpacks as ``values, scales = nm.quantize(...)``.

    Attributes:
        values: int8, of the weight's shape; of 4 bits they are -8 to 7.
        scales: of its dtype, with the groups of k in place of k.
        bits, group, axis: as nm.quantize had them.
    """

    values: Any
    scales: Any
    bits: int
    group: int
    axis: int

    def __iter__(self):
        return iter((self.values, self.scales))

    def __len__(self) -> int:
        return 2


def _is_torch(w: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(w, torch.Tensor)


def _check(w: Any, bits: int, group: int, axis: int) -> None:
    if bits not in BITS:
        raise Error(f"expected 4 or 8 bits, but got {bits!r}")
    if not isinstance(group, int) or group < 1:
        raise Error(f"expected a group of at least one row of k, but got {group!r}")
    if axis not in (0, 1):
        raise Error(f"expected axis 0 or 1, the one that k is, but got {axis!r}")
    dtype = str(w.dtype).split(".")[-1]
    if dtype not in _DTYPES:
        raise DTypeError(f"expected a weight of {', '.join(_DTYPES)}, but got {dtype}")
    if len(w.shape) != 2:
        raise ShapeError(f"expected a weight of two dimensions, but got {tuple(w.shape)}")


def quantize(w: Any, bits: int = 4, group: int = 128, axis: int = 0) -> Quantized:
    """Rounds a weight to integers with a scale for each group of k: that which takes
    the largest magnitude of the group to the largest integer.

    Zeros stay zeros, so that a weight that nm.prune pruned keeps its pattern.

    Args:
        w: a NumPy array or PyTorch tensor, ``[k, n]``, of floats.
        bits: 4 or 8.
        group: rows of k that share a scale; the last group may have fewer.
        axis: the one that k is: 1 for a PyTorch-style ``[n, k]``.

    Returns:
        ``(values, scales)``: int8 of `w`'s shape, and scales of its dtype,
        ``[⌈k/group⌉, n]`` or with axis 1 ``[n, ⌈k/group⌉]``, where `w` is.

    Raises:
        Error, DTypeError, ShapeError: an argument is none of these.
    """
    array = w if _is_torch(w) else np.asarray(w)
    _check(array, bits, group, axis)
    columns = array if axis == 1 else array.T
    n, k = columns.shape
    groups = -(-k // group)
    most = 2 ** (bits - 1) - 1
    if _is_torch(w):
        torch = sys.modules["torch"]
        wide = torch.zeros(n, groups * group, dtype=torch.float32, device=w.device)
        wide[:, :k] = columns.detach()
        wide = wide.reshape(n, groups, group)
        scales = (wide.abs().amax(-1) / most).to(w.dtype)
        divisor = torch.where(scales == 0, torch.ones_like(scales), scales).float()
        values = torch.clamp(torch.round(wide / divisor[..., None]), -most - 1, most)
        values = values.to(torch.int8).reshape(n, -1)[:, :k]
        if axis == 0:
            values, scales = values.T, scales.T
        values, scales = values.contiguous(), scales.contiguous()
    else:
        wide = np.zeros((n, groups * group), np.float32)
        wide[:, :k] = columns
        wide = wide.reshape(n, groups, group)
        scales = (np.abs(wide).max(-1, initial=0) / most).astype(array.dtype)
        divisor = np.where(scales == 0, 1, scales).astype(np.float32)
        values = np.clip(np.rint(wide / divisor[..., None]), -most - 1, most)
        values = values.astype(np.int8).reshape(n, -1)[:, :k]
        if axis == 0:
            values, scales = values.T, scales.T
        values, scales = np.ascontiguousarray(values), np.ascontiguousarray(scales)
    return Quantized(values, scales, bits, group, axis)
