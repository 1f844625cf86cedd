"""Products of groups of rows, counts, and sums at computed places, as others that have
lowerings. How many rows a group has is data, so that each group's product is one of all
rows, of which those of the group are kept."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from . import _rearranged


def _is_of_group(ends: Tensor, group: int, size: int) -> Tensor:
    """Which of `size` places a group has, behind those of the group before it."""
    place = torch.arange(size, device=ends.device)
    is_here = place < ends[group]
    return is_here & (place >= ends[group - 1]) if group else is_here


def grouped_mm(a: Tensor, b: Tensor, ends: Tensor | None = None, bias: Tensor | None = None,
               out_dtype: torch.dtype | None = None) -> Tensor:
    """Rows or columns behind the last group, which PyTorch leaves as they are, are 0."""
    if bias is not None or out_dtype not in (None, a.dtype):
        return NotImplemented
    if a.dim() == 3 and b.dim() == 3:
        return torch.bmm(a, b)
    if ends is None or not isinstance(ends.shape[0], int):
        return NotImplemented
    groups = range(ends.shape[0])
    if a.dim() == 2 and b.dim() == 2:
        return torch.stack([torch.where(_is_of_group(ends, each, a.shape[1]), a, 0) @ b
                            for each in groups])
    total = 0
    for each in groups:
        if a.dim() == 2:
            is_here = _is_of_group(ends, each, a.shape[0]).unsqueeze(1)
            product = a @ b[each]
        else:
            is_here = _is_of_group(ends, each, b.shape[1])
            product = a[each] @ b
        total = torch.where(is_here, product, total)
    return total


def expert_linear(x: Tensor, values: Sequence[Tensor], indices: Sequence[Tensor],
                  counts: Tensor, form: str) -> Tensor:
    """nm's own, of weights that stay condensed."""
    ends, total = counts.cumsum(0), 0
    for each, (value, index) in enumerate(zip(values, indices)):
        product = torch.ops.nm.linear(x, value, index, form, None, "")
        is_here = _is_of_group(ends, each, x.shape[0]).unsqueeze(1)
        total = torch.where(is_here, product, total)
    return total


def histc(x: Tensor, bins: int = 100, low: float = 0, high: float = 0) -> Tensor:
    """The counts of elements in `bins` ranges of one width."""
    flat = x.reshape(-1)
    if low == high or flat.shape[0] == 0:
        return NotImplemented
    number = ((flat - low) * bins / (high - low)).to(torch.int64)
    number = torch.where(flat == high, bins - 1, number)
    number = torch.where((flat >= low) & (flat <= high), number, -1)
    is_in = number == torch.arange(bins, device=x.device).unsqueeze(1)
    return is_in.to(torch.int64).sum(1).to(x.dtype)


def bucketize(x: Tensor, bounds: Tensor, *, out_int32: bool = False, right: bool = False
              ) -> Tensor:
    wide = x.unsqueeze(-1)
    before = bounds <= wide if right else bounds < wide
    return before.to(torch.int64).sum(-1).to(torch.int32 if out_int32 else torch.int64)


def searchsorted(bounds: Tensor, x: Tensor, *, out_int32: bool = False, right: bool = False,
                 side: str | None = None, sorter: Tensor | None = None) -> Tensor:
    if sorter is not None:
        bounds = bounds.gather(-1, sorter)
    bounds = bounds if bounds.dim() == 1 else bounds.unsqueeze(-2)
    return bucketize(x, bounds, out_int32=out_int32, right=right or side == "right")


def _counted_back(index: Tensor, size: int) -> Tensor:
    return torch.where(index < 0, index + size, index)


def index_put(x: Tensor, indices: Sequence[Tensor | None], source: Tensor,
              accumulate: bool = False) -> Tensor:
    """Several indices of neighbouring dimensions as one, and sums at places."""
    dims = [dim for dim, each in enumerate(indices) if each is not None]
    given = [indices[dim] for dim in dims]
    if dims != list(range(dims[0], dims[-1] + 1)) or any(
            each.dtype not in (torch.int64, torch.int32) for each in given):
        return NotImplemented
    if len(given) == 1 and given[0].dim() == 1 and not accumulate:
        return NotImplemented  # There is a lowering.
    first, behind = dims[0], x.shape[dims[-1] + 1:]
    sizes = [x.shape[dim] for dim in dims]
    place = 0
    for each, size in zip(given, sizes):
        place = place * size + _counted_back(each, size)
    count = math.prod(place.shape)
    source = source.expand(*x.shape[:first], *place.shape, *behind).reshape(
        *x.shape[:first], count, *behind)
    flat = x.reshape(*x.shape[:first], math.prod(sizes), *behind)
    place = place.reshape(count)
    if accumulate:
        shape = [1] * flat.dim()
        shape[first] = count
        found = _rearranged.scatter_add(
            flat, first, place.reshape(shape).expand(source.shape), source)
        if found is NotImplemented:
            return NotImplemented
    else:
        found = torch.index_put(flat, [*[None] * first, place], source)
    return found.reshape(x.shape)


def index_add(x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1
              ) -> Tensor:
    if x.dim() == 0:
        return NotImplemented
    source = source if alpha == 1 else source * alpha
    return index_put(x, [*[None] * (dim % x.dim()), index.reshape(-1)], source, True)


def scatter_reduce(x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *,
                   include_self: bool = True) -> Tensor:
    if reduce == "sum" and include_self:
        return _rearranged.scatter_add(x, dim, index, source)
    if reduce not in ("amax", "amin", "prod"):
        return NotImplemented

    def write(part: Tensor, is_written: Tensor, row: Tensor) -> Tensor:
        if reduce == "prod":
            found = torch.where(is_written, row, 1).prod(-1).to(part.dtype)
            both = part * found
        else:
            info = (torch.finfo if row.is_floating_point() else torch.iinfo)(row.dtype)
            is_float = row.is_floating_point()
            start = (-torch.inf if is_float else info.min) if reduce == "amax" else (
                torch.inf if is_float else info.max)
            found = getattr(torch.where(is_written, row, start), reduce)(-1)
            both = (torch.maximum if reduce == "amax" else torch.minimum)(part, found)
        return both if include_self else torch.where(is_written.any(-1), found, part)

    return _rearranged.each_written_place(x, dim, index, source, write)
