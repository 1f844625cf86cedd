"""Weights beside a mask: compressed-tensors' two bitmask forms, and boolean masks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _arrays
from .._errors import DTypeError, FileFormatError, PatternError, ShapeError
from .._raw import RawArray
from .._sparse import SparseTensor, weight_view


def _on_host(array: Any) -> np.ndarray:
    """An array of any library as one of NumPy; one of NumPy may be of any type."""
    if isinstance(array, np.ndarray):
        return array
    view, _ = _arrays.host_array(array)
    return _arrays.typed(_arrays.as_numpy(view), view.dtype)


def from_bitmask(compressed: Any, bitmask: Any, shape: Any,
                 name: str = "weight") -> np.ndarray:
    """The dense weight of compressed-tensors' ``sparse-bitmask`` and
    ``sparse-24-bitmask``.

    Args:
        compressed: the kept values in row-major order, of any shape.
        bitmask: ``[R, ceil(C/8)]`` uint8, bits of a row from the lowest on.
        shape: ``(R, C)``.

    Raises:
        FileFormatError: the parts do not fit together.
    """
    sizes = np.asarray(shape).reshape(-1)
    if sizes.size != 2 or sizes.dtype.kind not in "iu":
        raise FileFormatError(f"{name}: expected a shape of two integers, but got "
                              f"{sizes.dtype} {sizes.tolist()}")
    rows, columns = sizes.tolist()
    values = np.ascontiguousarray(_on_host(compressed)).reshape(-1)
    bits = np.ascontiguousarray(bitmask)
    if bits.dtype != np.uint8 or bits.shape != (rows, -(-columns // 8)):
        raise FileFormatError(
            f"{name}: expected a bitmask of uint8 [{rows}, {-(-columns // 8)}], "
            f"but got {bits.dtype} {list(bits.shape)}")
    mask = np.unpackbits(bits, axis=1, bitorder="little")
    if mask[:, columns:].any():
        raise FileFormatError(f"{name}: expected zeros in the bitmask beyond "
                              f"column {columns}")
    mask = mask[:, :columns].astype(bool)
    kept = int(np.count_nonzero(mask))
    if kept != values.size:
        raise FileFormatError(f"{name}: expected {kept} values, as its bitmask "
                              f"has, but got {values.size}")
    dense = np.zeros((rows, columns), values.dtype)
    dense[mask] = values
    return dense


def to_bitmask(w: SparseTensor, name: str, form: str = "sparse-bitmask"
               ) -> dict[str, tuple[str, np.ndarray]]:
    """The parts that compressed-tensors stores of a weight.

    Args:
        w: a weight; of ``sparse-24-bitmask`` one of 2:4, ``[out, in]`` and with whole
            windows.
        name: of the layer's weight; the parts have the layer's name.
        form: ``"sparse-24-bitmask"`` or ``"sparse-bitmask"``.

    Returns:
        raw arrays with their types, by name.

    Raises:
        PatternError: the form does not have the pattern.
    """
    pattern = w.pattern
    is_24 = form == "sparse-24-bitmask"
    if is_24 and ((pattern.n, pattern.m, pattern.block, pattern.axis)
                  != (2, 4, (1, 1), 1) or w.k % 4):
        raise PatternError(f"{name}: expected 2:4 of [out, in] with inputs in whole "
                           f"windows for {form}, but got {w}; sparse-bitmask has any")
    dense = w.decompress(RawArray(np.empty(0), w.dtype)).raw
    mask = _kept_mask(w) if is_24 else dense != 0
    values = dense[mask]
    layer = name.removesuffix(".weight")
    parts = {"shape": ("i64", np.array(w.shape, np.int64)),
             "compressed": (w.dtype, values),
             "bitmask": ("u8", np.packbits(mask, axis=1, bitorder="little"))}
    if is_24:
        parts["shape"] = ("i64", parts["shape"][1].reshape(-1, 1))
        parts["compressed"] = (w.dtype, values.reshape(len(dense), -1))
    else:
        counts = mask.sum(1)
        parts["row_offsets"] = ("i64", np.cumsum(counts) - counts)
    return {f"{layer}.{part}": tensor for part, tensor in parts.items()}


def _kept_mask(w: SparseTensor) -> np.ndarray:
    """Where the kept units are, also those that are zero."""
    ones = SparseTensor(np.ones(w._values.shape, np.int8), w._indices, w.shape,
                        w.pattern)
    return ones.decompress() != 0


def apply_mask(weight: Any, mask: Any) -> Any:
    """A dense weight with zeros where a boolean mask of its shape is false (as of
    apex ASP, ModelOpt and torch.nn.utils.prune), of the kind of `weight`.

    Raises:
        ShapeError: the mask is of another shape.
    """
    view, kind = weight_view(weight)
    given = np.asarray(mask.cpu() if hasattr(mask, "cpu") else mask)
    if given.shape != view.shape:
        raise ShapeError(f"expected a mask of shape {view.shape}, but got "
                         f"{given.shape}")
    kept = given.astype(bool)
    if given.dtype != bool and not np.array_equal(given, kept):
        raise DTypeError("expected a mask of booleans, or of numbers that are 0 or "
                         f"1, but got {given.dtype} with others")
    dense = _arrays.raw_empty(view.shape, view.dtype)
    dense[...] = 0
    np.copyto(dense, _arrays.as_numpy(view), where=kept)
    return kind.from_host(dense, weight, view.dtype)
