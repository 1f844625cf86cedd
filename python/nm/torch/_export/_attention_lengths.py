"""Lengths of attention: keys behind them are hidden from all rows of a batch, and attention
that knows lengths does not go over these keys.

A mask that shows key `column` to `row` where ``column < lengths[batch]`` becomes lengths. One
that shows it where ``column <= positions[row]`` stays beside the lengths
``max(positions) + 1``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import sympy
import torch
from torch import fx

from ._symbolic import Unnamed, elements_in, exact_condition_of, place

_ATEN = torch.ops.aten
_COLUMN, _ROW = place("column"), place("row")


@dataclass(frozen=True)
class _End:
    """The first key that is hidden: an element of `node`, whose dimension i is along
    `along[i]`, a leading dimension of the mask, "row", or None where it is the first
    element's; plus `more`, and the row where `rises`."""

    node: fx.Node
    along: tuple[int | str | None, ...]
    more: int
    rises: bool

    @property
    def is_of_rows(self) -> bool:
        return self.rises or "row" in self.along


@dataclass(frozen=True)
class Hidden:
    """What is known of a mask: it hides keys behind `ends`, those later than their row
    where `is_causal`, and more where not `is_whole`."""

    ends: tuple[_End, ...] = field(default=())
    is_causal: bool = False
    is_whole: bool = False


def find_hidden(mask: fx.Node, constant_of: Callable[[fx.Node], torch.Tensor | None],
               ) -> Hidden:
    shape = mask.meta["val"].shape
    if len(shape) < 2:
        return Hidden()
    leading = [place(f"batch{dim}") if size != 1 else sympy.Integer(0)
               for dim, size in enumerate(shape[:-2])]
    row = _ROW if shape[-2] != 1 else sympy.Integer(0)
    unnamed = Unnamed()
    condition = exact_condition_of(mask, constant_of, (*leading, row, _COLUMN), unnamed)
    if condition is None:
        return Hidden()
    ends, is_causal, is_whole = [], False, True
    for formula in condition.formulas:
        if formula == _COLUMN - _ROW:
            is_causal = True
            continue
        end = _end_of(formula, leading, unnamed)
        if end is None or (end.rises and not isinstance(shape[-2], int)):
            is_whole = False
            continue
        ends.append(end)
        is_whole &= not end.is_of_rows
    return Hidden(tuple(ends), is_causal, is_whole)


def _end_of(formula: sympy.Expr, leading: list[Any], unnamed: Unnamed) -> _End | None:
    """`formula` is at most 0 where a key is shown: column + 1 - end."""
    end = sympy.expand(_COLUMN + 1 - formula)
    elements = elements_in(end)
    if len(elements) != 1:
        return None
    rest = sympy.expand(end - elements[0])
    rises = bool(rest.has(_ROW))
    more = sympy.expand(rest - _ROW) if rises else rest
    if not more.is_Integer:
        return None
    along: list[int | str | None] = []
    for at in elements[0].args:
        if at == 0:
            along.append(None)
        elif at == _ROW:
            along.append("row")
        elif at in leading:
            along.append(leading.index(at))
        else:
            return None
    known = [each for each in along if each is not None]
    if len(set(known)) != len(known):
        return None
    return _End(unnamed.node_of(elements[0]), tuple(along), int(more), rises)


Compute = Callable[[fx.Node, Any, tuple], fx.Node]


def emit_lengths(masks: Iterable[tuple[Hidden, fx.Node]], compute: Compute
                 ) -> fx.Node | None:
    """The number of keys before all ends of masks, with the masks' leading dimensions, of
    which some are 1. `compute` makes a node of a target and arguments behind another."""
    found = None
    for hidden, mask in masks:
        shape = mask.meta["val"].shape
        for end in hidden.ends:
            lengths = _emit_end(end, len(shape) - 2, shape[-2], compute)
            if found is None:
                found = lengths
                continue
            found = compute(max(found, lengths), _ATEN.minimum.default, (found, lengths))
    return found


def _emit_end(end: _End, rank: int, rows: Any, compute: Compute) -> fx.Node:
    node = end.node
    for dim in reversed(range(len(end.along))):
        if end.along[dim] is None:
            node = compute(node, _ATEN.select.int, (node, dim, 0))
    along = [each for each in end.along if each is not None]
    if "row" in along:
        node = compute(node, _ATEN.amax.default, (node, [along.index("row")]))
        along.remove("row")
    more = end.more + (rows - 1 if end.rises else 0)
    if more:
        node = compute(node, _ATEN.add.Tensor, (node, more))
    order = sorted(range(len(along)), key=lambda i: along[i])
    if order != list(range(len(along))):
        node = compute(node, _ATEN.permute.default, (node, order))
    for dim in range(rank):
        if dim not in along:
            node = compute(node, _ATEN.unsqueeze.default, (node, dim))
    return node
