"""Operators that put elements in other places, as others that have lowerings: sorting,
writes to computed places, and products of all elements so far."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

#: The most elements of a row of a known size that are sorted: each is compared with all
#: others.
MOST_SORTED = 4096
#: The most elements of which each sum so far is made anew.
_MOST_ADDED_ANEW = 256


def _is_before(x: Tensor, other: Tensor, descending: bool) -> Tensor:
    """Whether `x` stands before `other` in a sorted row; NaN is the largest of all."""
    if descending:
        x, other = other, x
    before = x < other
    if x.is_floating_point():
        before = before | (torch.isnan(other) & ~torch.isnan(x))
    return before


def _is_same(x: Tensor, other: Tensor) -> Tensor:
    same = x == other
    if x.is_floating_point():
        same = same | (torch.isnan(x) & torch.isnan(other))
    return same


def sort(x: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """Values and places of a stable sort: an element's place in the sorted row is the
    number of elements that stand before the element, of equal ones the earlier."""
    if x.dim() == 0:
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    size = x.shape[dim]
    if isinstance(size, int) and size > MOST_SORTED:
        return NotImplemented
    row = x.transpose(dim, -1)
    place = torch.arange(size, device=x.device)
    mine, other = row.unsqueeze(-1), row.unsqueeze(-2)
    before = _is_before(other, mine, descending) | (
        _is_same(other, mine) & (place < place.unsqueeze(-1)))
    rank = before.to(torch.int64).sum(-1)
    is_here = rank.unsqueeze(-2) == place.unsqueeze(-1)
    places = torch.where(is_here, place, 0).sum(-1)
    return (torch.gather(row, -1, places).transpose(dim, -1),
            places.transpose(dim, -1))


def stable_sort(x: Tensor, *, stable: bool | None = None, dim: int = -1,
                descending: bool = False) -> tuple[Tensor, Tensor]:
    return sort(x, dim, descending)


def median(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The lower of two middle elements and its place; NaN where a row has one."""
    ordered = sort(x, dim)
    if ordered is NotImplemented:
        return NotImplemented
    values, places = (each.select(dim, (x.shape[dim] - 1) // 2) if x.dim() else each
                      for each in ordered)
    if x.is_floating_point() and x.dim():
        is_nan = torch.isnan(x)
        has_nan = is_nan.any(dim)
        values = torch.where(has_nan, torch.nan, values).to(x.dtype)
        places = torch.where(has_nan, is_nan.to(torch.int32).argmax(dim), places)
    if keepdim and x.dim():
        values, places = values.unsqueeze(dim), places.unsqueeze(dim)
    return values, places


def kthvalue(x: Tensor, k: int, dim: int = -1, keepdim: bool = False
             ) -> tuple[Tensor, Tensor]:
    ordered = sort(x, dim)
    if ordered is NotImplemented or x.dim() == 0:
        return ordered
    values, places = (each.narrow(dim, k - 1, 1) for each in ordered)
    return (values, places) if keepdim else (values.squeeze(dim), places.squeeze(dim))


def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    last = x.movedim((dim1, dim2), (-2, -1))
    down, right = max(-offset, 0), max(offset, 0)
    count = torch.sym_min(last.shape[-2] - down, last.shape[-1] - right)
    place = torch.arange(count, device=x.device)
    return last[..., place + down, place + right]


def unfold(x: Tensor, dim: int, size: int, step: int) -> Tensor:
    """Windows of `size` elements, each `step` behind the one before, as a last dimension."""
    count = (x.shape[dim] - size) // step + 1
    begin = torch.arange(count, device=x.device) * step
    places = begin.unsqueeze(-1) + torch.arange(size, device=x.device)
    return x.movedim(dim, -1)[..., places].movedim(-2, dim if dim >= 0 else dim - 1)


def masked_scatter(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The elements of `source`, in order, where the mask holds."""
    if source.numel() == 0:
        return x.clone()
    shape = torch.broadcast_shapes(x.shape, mask.shape)
    x, mask = x.expand(shape), mask.expand(shape)
    number = (mask.reshape(-1).to(torch.int64).cumsum(0) - 1).clamp(min=0)
    return torch.where(mask, source.reshape(-1)[number].reshape(shape), x)


def _is_written(index: Tensor, dim: int, size: int) -> Tensor:
    """[..., size, sources]: whether a source is written to a place, with the dimension
    `dim` of `index` moved to the end."""
    row = index.transpose(dim, -1).unsqueeze(-2)
    return row == torch.arange(size, device=index.device).unsqueeze(-1)


def _written_part(x: Tensor, dim: int, index: Tensor) -> tuple[Tensor, list[int]]:
    """The part of `x` whose rows along `dim` have an index, and the other dimensions in
    which `x` is larger than `index`."""
    larger = [each for each in range(x.dim())
              if each != dim and x.shape[each] != index.shape[each]]
    part = x
    for each in larger:
        part = part.narrow(each, 0, index.shape[each])
    return part, larger


def _put_back(part: Tensor, x: Tensor, larger: list[int]) -> Tensor:
    """`x` with `part` at the beginning of the dimensions `larger`."""
    wholes = [x]
    for each in larger:
        wholes.append(wholes[-1].narrow(each, 0, part.shape[each]))
    for each in reversed(larger):
        wholes.pop()
        part = torch.slice_scatter(wholes[-1], part, each, 0, part.shape[each])
    return part


def _source_at(source: Tensor, index: Tensor) -> Tensor:
    """The elements of `source` that have an index."""
    for each in range(index.dim()):
        source = source.narrow(each, 0, index.shape[each])
    return source


def _each_place(x: Tensor, dim: int, index: Tensor, write) -> Tensor:
    """`x` with `write(part, is_written)` for the rows along `dim` that have an index."""
    if x.dim() == 0 or index.dim() == 0 or index.numel() == 0:
        return NotImplemented
    dim = dim % x.dim()
    part, larger = _written_part(x, dim, index)
    is_written = _is_written(index, dim, x.shape[dim])
    found = write(part.transpose(dim, -1), is_written).transpose(dim, -1)
    return _put_back(found.to(x.dtype), x, larger)


def scatter_source(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """The last of the sources that are written to a place."""
    def write(part: Tensor, is_written: Tensor) -> Tensor:
        number = torch.arange(1, index.shape[dim] + 1, device=x.device)
        last = torch.where(is_written, number, 0).amax(-1)
        row = _source_at(source, index).transpose(dim, -1)
        written = torch.gather(row, -1, (last - 1).clamp(min=0))
        return torch.where(last > 0, written, part)

    return _each_place(x, dim, index, write)


def scatter_number(x: Tensor, dim: int, index: Tensor, value: float) -> Tensor:
    return _each_place(x, dim, index, lambda part, is_written: torch.where(
        is_written.any(-1), value, part))


def scatter_add(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """In f32 at least, so that sums of many f16 or bf16 elements round once."""
    wide = (torch.promote_types(x.dtype, torch.float32) if x.is_floating_point()
            else x.dtype)

    def write(part: Tensor, is_written: Tensor) -> Tensor:
        row = _source_at(source, index).transpose(dim, -1).unsqueeze(-2).to(wide)
        return part.to(wide) + torch.where(is_written, row, 0).sum(-1)

    return _each_place(x, dim, index, write)


def each_written_place(x: Tensor, dim: int, index: Tensor, source: Tensor, write
                       ) -> Tensor:
    """`x` with `write(part, is_written, row)` for the rows along `dim` that have an index,
    with the sources of a row along the last dimension."""
    row = _source_at(source, index).transpose(dim, -1).unsqueeze(-2)
    return _each_place(x, dim, index, lambda part, is_written: write(
        part, is_written, row))


def cumsum(x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    """By blocks: the sums of blocks, and in each block sums of at most as many elements
    as there are blocks. The lowering makes each sum anew, of n elements n² / 2 additions."""
    size = x.shape[dim] if x.dim() else 1
    # The size of the example, of one that a call says.
    usual = size if isinstance(size, int) else size.node.hint
    if usual is None or usual <= _MOST_ADDED_ANEW:
        return NotImplemented
    dtype = dtype or (x.dtype if x.is_floating_point() else torch.int64)
    wide = torch.promote_types(dtype, torch.float32) if dtype.is_floating_point else dtype
    row = x.to(wide).transpose(dim, -1)
    block = 2 ** math.ceil(math.log2(usual) / 2)
    count = -(-size // block)
    parts = F.pad(row, (0, count * block - size)).unflatten(-1, (count, block))
    inner = parts.cumsum(-1)
    before = F.pad(inner[..., :-1, -1].cumsum(-1), (1, 0))
    sums = (inner + before.unsqueeze(-1)).flatten(-2)[..., :size]
    return sums.to(dtype).transpose(dim, -1)


def pad(x: Tensor, padding: Sequence[int], value: float = 0) -> Tensor:
    """Without what padding below zero takes off, and with the rest of the padding."""
    if not any(isinstance(each, int) and each < 0 for each in padding):
        return NotImplemented
    for number, (low, high) in enumerate(zip(padding[::2], padding[1::2])):
        dim, low, high = x.dim() - 1 - number, max(-low, 0), max(-high, 0)
        if low or high:
            x = x.narrow(dim, low, x.shape[dim] - low - high)
    return F.pad(x, [max(each, 0) for each in padding], value=value)


def cumprod(x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    """Each the product of the elements up to its own."""
    x = x if dtype is None else x.to(dtype)
    if x.dim() == 0:
        return x.clone()
    size = x.shape[dim]
    if not isinstance(size, int) or size > MOST_SORTED:
        return NotImplemented
    row = x.transpose(dim, -1).unsqueeze(-2)
    place = torch.arange(size, device=x.device)
    factors = torch.where(place <= place.unsqueeze(-1), row, 1)
    return factors.prod(-1).to(x.dtype).transpose(dim, -1)
