"""torch's semi-structured weights in the form of its CUTLASS backend.

`meta` holds a nibble per group of four, idx0 | idx1 << 2, the first group lowest,
in an order of CUTLASS: rows are dealt to groups of 32 (16 for int8), 2x2 blocks
are transposed, and pairs of columns are interleaved (host_reorder.h).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _arrays
from .._errors import DTypeError, Error, FileFormatError, ShapeError


def from_cutlass(packed: Any, meta: Any = None) -> np.ndarray:
    """The dense 2:4 weight (1:2 for f32) of packed values and their metadata.

    Args:
        packed: ``[m, k/2]`` kept values of f16, bf16, f32 or int8; or a
            ``SparseSemiStructuredTensorCUTLASS`` of torch, without `meta`.
        meta: ``[m, k/16]`` int16, for int8 ``[m, k/32]`` int32.

    Returns:
        ``[m, k]`` with zeros; raw bits of bf16 as ml_dtypes' bfloat16.

    Raises:
        Error: it is torch's cuSPARSELt form, which is not documented.
        DTypeError, ShapeError, FileFormatError: the parts are no such weight.
    """
    if meta is None:
        packed, meta = _torch_parts(packed)
    view, _ = _arrays.host_array(packed)
    values = np.ascontiguousarray(_arrays.as_numpy(view))
    codes = _host_meta(meta)
    group = _check_parts(view.dtype, values, codes)
    nibbles = _nibbles(codes)
    first, second = nibbles & 3, nibbles >> 2
    # An f32 is kept as the halves of its pair.
    bad = (first >= second if group == 4 else
           (first % 2 != 0) | (second != first + 1))
    if bad.any():
        row, at = np.argwhere(bad)[0]
        raise FileFormatError(
            f"expected ascending positions in every group"
            f"{'' if group == 4 else ', 0 and 1 or 2 and 3'}, but row {row}, "
            f"group {at} has {first[row, at]} and {second[row, at]}")
    rows, half = values.shape
    dense = np.zeros((rows, half * 2 // group, group), values.dtype)
    if group == 4:
        pairs = values.reshape(rows, -1, 2)
        np.put_along_axis(dense, np.stack((first, second), -1).astype(np.int64),
                          pairs, -1)
    else:
        np.put_along_axis(dense, (first // 2)[..., None].astype(np.int64),
                          values.reshape(rows, -1, 1), -1)
    dense = dense.reshape(rows, half * 2)
    if view.dtype == "bf16":
        return dense.view(_arrays.numpy_dtype("bf16"))
    return dense


def _torch_parts(tensor: Any) -> tuple[Any, Any]:
    name = type(tensor).__name__
    if name == "SparseSemiStructuredTensorCUSPARSELT":
        raise Error("expected a weight in torch's CUTLASS form, but got its "
                    "cuSPARSELt form, which is not documented; "
                    "tensor.to_dense() gives the dense weight")
    if name != "SparseSemiStructuredTensorCUTLASS":
        raise TypeError("expected packed and meta, or a "
                        f"SparseSemiStructuredTensorCUTLASS, but got {name}")
    return tensor.packed, tensor.meta


def _host_meta(meta: Any) -> np.ndarray:
    array = np.asarray(meta.cpu() if hasattr(meta, "cpu") else meta)
    if array.dtype not in (np.int16, np.int32):
        raise DTypeError(f"expected meta of int16 or int32, but got {array.dtype}")
    return np.ascontiguousarray(array)


def _check_parts(dtype: str, values: np.ndarray, meta: np.ndarray) -> int:
    """The elements of a group: 4, of which 2 are kept, or 2 of f32."""
    if dtype not in ("f16", "bf16", "f32", "i8"):
        raise DTypeError("expected packed values of f16, bf16, f32 or i8, but "
                         f"got {dtype}")
    group = 2 if dtype == "f32" else 4
    meta_type = np.int32 if dtype == "i8" else np.int16
    rows, half = values.shape if values.ndim == 2 else (0, 0)
    per_code = meta_type().itemsize * 2 * group
    multiple = 16 if dtype == "i8" else 32
    expected = (rows, half * 2 // per_code)
    if (meta.dtype != meta_type or meta.shape != expected or rows % multiple
            or half * 2 % per_code or values.size == 0):
        raise ShapeError(
            f"expected packed [m, k/2] with m a multiple of {multiple} and k of "
            f"{per_code}, and meta of {np.dtype(meta_type)} [m, k/{per_code}], "
            f"but got {list(values.shape)} and {meta.dtype} {list(meta.shape)}")
    return group


def _nibbles(meta: np.ndarray) -> np.ndarray:
    """The nibbles of the groups in order, [m, groups]."""
    rows, columns = meta.shape
    wide = meta.dtype.itemsize == 2
    group, interweave = (32, 4) if wide else (16, 2)
    row = np.arange(rows)[:, None].repeat(columns, 1)
    column = np.arange(columns)[None].repeat(rows, 0)
    row = row // group * group + row % 8 * interweave + row % group // 8
    top_right = ((row % 2 == 0) & (column % 2 == 1)).astype(np.int64)
    bottom_left = ((row % 2 == 1) & (column % 2 == 0)).astype(np.int64)
    row = row + top_right - bottom_left
    column = column - top_right + bottom_left
    offsets = column // 2 * rows * 2 + row * 2 + column % 2
    codes = meta.reshape(-1)[offsets].view(f"u{meta.dtype.itemsize}")
    shifts = np.arange(meta.dtype.itemsize * 2, dtype=codes.dtype) * 4
    return (codes[..., None] >> shifts & 15).reshape(rows, -1).astype(np.uint8)
