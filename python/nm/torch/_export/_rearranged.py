"""Operators that put elements in other places, as others that have lowerings: sorting,
writes to computed places, and products of all elements so far."""

from __future__ import annotations

import torch
from torch import Tensor

#: The most elements of a row of a known size that are sorted: each is compared with all
#: others.
MOST_SORTED = 4096


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
