"""Weights of compressed-tensors' format pack-quantized: integers of 4 or 8 bits in words.

    "<layer>.weight_packed" I32 [n, words]   "<layer>.weight_scale" [n, groups] or [1]
    "<layer>.weight_shape" [2]               "<layer>.weight_zero_point" I32 [words, groups]
    "<layer>.weight_g_idx" [k]

An integer is 2^(bits - 1) less than its bits, the lowest of a word the first; zero points
are packed along n. Both of the last line may be absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from .._errors import FileFormatError

PARTS = ("_packed", "_scale", "_shape", "_zero_point", "_g_idx")


@dataclass(frozen=True)
class Packed:
    """Where a weight is, and how.

    Attributes:
        name: of the weight, which the parts' names begin with.
        shape: ``[n, k]``.
        bits, group: as of nm.quantize.
        has_points, has_order: whether it has zero points, and groups of columns that are
            no neighbours.
    """

    name: str
    shape: tuple[int, int]
    bits: int
    group: int
    has_points: bool
    has_order: bool

    @property
    def is_plain(self) -> bool:
        """Whether it is integers times the scales of neighbours."""
        return not (self.has_points or self.has_order)

    def integers(self, file: Mapping) -> np.ndarray:
        """int8 ``[n, k]``, less the zero points."""
        values = _unpack(file[f"{self.name}_packed"], self.bits)[:, :self.shape[1]]
        if not self.has_points:
            return values.astype(np.int8)
        points = _unpack(file[f"{self.name}_zero_point"].T, self.bits).T[:self.shape[0]]
        return (values - self.spread(file, points)).astype(np.int8)

    def spread(self, file: Mapping, values: np.ndarray) -> np.ndarray:
        """Values ``[n, groups]`` for each element."""
        n, k = self.shape
        values = np.broadcast_to(values.reshape(-1, 1) if values.size in (1, n)
                                 else values, (n, -(-k // self.group)))
        if self.has_order:
            return values[:, file[f"{self.name}_g_idx"]]
        return np.repeat(values, self.group, 1)[:, :k]


def _unpack(words: np.ndarray, bits: int) -> np.ndarray:
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    parts = (np.ascontiguousarray(words).view(np.uint32)[..., None] >> shifts) & (
        (1 << bits) - 1)
    return parts.reshape(len(words), -1).astype(np.int16) - (1 << (bits - 1))


def group_sizes(config: Mapping | None) -> list[int]:
    """The groups that a model's configuration tells of."""
    quantized = (config or {}).get("quantization_config")
    groups = quantized.get("config_groups") if isinstance(quantized, Mapping) else None
    sizes = [(each.get("weights") or {}).get("group_size")
             for each in (groups.values() if isinstance(groups, Mapping) else ())
             if isinstance(each, Mapping) and isinstance(each.get("weights") or {}, Mapping)]
    return [size for size in sizes if isinstance(size, int) and size > 0]


def packed_weights(file: Mapping, path: str, info, sizes: Iterable[int]
                   ) -> dict[str, Packed]:
    """The weights of a file that are packed, by their names.

    Args:
        file: arrays by name.
        info: gives the type and the shape of one.
        sizes: of groups, as the configuration has them.

    Raises:
        FileFormatError: parts are missing, or do not fit.
    """
    found = {}
    for part in file:
        name = part.removesuffix("_packed")
        if name != part and name.endswith(".weight"):
            found[name] = _packed(file, path, info, name, sizes)
    return found


def _packed(file: Mapping, path: str, info, name: str, sizes: Iterable[int]) -> Packed:
    for part in ("_scale", "_shape"):
        if f"{name}{part}" not in file:
            raise FileFormatError(f"{path}: expected {name}{part} beside {name}_packed, "
                                  "but it has none")
    element, words = info(f"{name}_packed")
    shape = tuple(file[f"{name}_shape"].reshape(-1).tolist())
    bits = [each for each in (4, 8) if len(shape) == 2 and element == "i32"
            and words == (shape[0], -(-shape[1] * each // 32))]
    if not bits:
        raise FileFormatError(
            f"{path}: {name}_packed: expected i32 words with integers of 4 or 8 bits for "
            f"a weight {list(shape)}, but got {element} {list(words)}")
    _, scales = info(f"{name}_scale")
    groups = scales[1] if len(scales) == 2 else 1
    if len(scales) == 2 and scales[0] not in (1, shape[0]) or not (
            1 <= groups <= max(shape[1], 1)):
        raise FileFormatError(f"{path}: {name}_scale: expected scales [{shape[0]}, groups], "
                              f"but got {list(scales)}")
    fitting = [size for size in sizes if -(-shape[1] // size) == groups]
    if shape[1] % groups and not fitting:
        raise FileFormatError(
            f"{path}: {name}_scale: expected {shape[1]} columns in whole groups, or their "
            f"group_size in config.json beside the file, but got {groups} groups")
    group = fitting[0] if fitting and groups > 1 else shape[1] // groups
    has_order = False
    if f"{name}_g_idx" in file:
        order = file[f"{name}_g_idx"].reshape(-1)
        if order.shape != (shape[1],) or order.size and not (
                0 <= order.min() and order.max() < groups):
            raise FileFormatError(f"{path}: {name}_g_idx: expected a group below {groups} "
                                  f"for each of {shape[1]} columns")
        has_order = not np.array_equal(order, np.arange(shape[1]) // group)
    return Packed(name, shape, bits[0], group, f"{name}_zero_point" in file, has_order)
