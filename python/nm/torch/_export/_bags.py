"""Bags of embeddings, whose rows are added, averaged or compared."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx
from torch.export import ExportedProgram

_ATEN = torch.ops.aten
_SUM, _MEAN, _MAX = range(3)


def _combined(rows: Tensor, is_in: Tensor, mode: int, scales: Tensor | None) -> Tensor:
    """[bags, width] of rows [bags, rows, width], or [rows, width] for all bags, of which
    `is_in` [bags, rows] says which a bag has; an empty bag has zeros."""
    if scales is not None:
        rows = rows * scales.unsqueeze(-1)
    mask = is_in.unsqueeze(-1)
    if mode == _MAX:
        found = torch.where(mask, rows, -torch.inf).amax(-2)
        return torch.where(mask.any(-2), found, 0)
    sums = torch.where(mask, rows, 0).sum(-2)
    return sums / is_in.sum(-1, keepdim=True).clamp(min=1) if mode == _MEAN else sums


def embedding_bag(table: Tensor, places: Tensor, offsets: Tensor, _scale: bool = False,
                  mode: int = _SUM, _sparse: bool = False, scales: Tensor | None = None,
                  has_last: bool = False, padding: int = -1
                  ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Bag i from place offsets[i] on, up to where the next one begins. Of the results
    but the first there are only shapes."""
    begins = offsets[:-1] if has_last else offsets
    ends = offsets[1:] if has_last else torch.cat([offsets[1:], torch.full_like(
        offsets[:1], places.shape[0])])
    place = torch.arange(places.shape[0], device=places.device)
    is_in = (place >= begins.unsqueeze(1)) & (place < ends.unsqueeze(1))
    if padding >= 0:
        is_in = is_in & (places != padding)
    found = _combined(torch.embedding(table, places), is_in, mode, scales)
    return (found, *(torch.zeros(0, dtype=torch.int64) for _ in range(3)))


def _of_rows(table: Tensor, places: Tensor, mode: int, scales: Tensor | None, padding: int
             ) -> Tensor:
    """Of bags that are the rows of `places`, [bags, rows]."""
    is_in = places != padding if padding >= 0 else torch.ones_like(places, dtype=torch.bool)
    return _combined(torch.embedding(table, places), is_in, mode, scales)


def write_bags_of_rows(program: ExportedProgram) -> None:
    """Has bags that are the rows of a matrix read it: nn.EmbeddingBag flattens the matrix
    and counts where each row begins, which says no longer that all are of one length."""
    for node in list(program.graph.nodes):
        if node.op != "call_function" or node.target != _ATEN.embedding_bag.padding_idx:
            continue
        table, flat, offsets, _, mode, _, scales, has_last, padding = _arguments(node)
        places = _before_flattening(flat)
        results = list(node.users)
        if (places is None or has_last or not _begins_rows(offsets, places)
                or any(each.args[1] != 0 for each in results if each.users)):
            continue
        scales = _before_flattening(scales) if scales is not None else None
        if scales is None and node.args[6] is not None:
            continue
        for result in results:
            if result.users:
                with program.graph.inserting_before(node):
                    new = program.graph.call_function(_of_rows, (
                        table, places, mode, scales, -1 if padding is None else padding))
                new.meta = dict(result.meta)
                for key in ("stack_trace", "nn_module_stack"):
                    new.meta.setdefault(key, node.meta.get(key))
                result.replace_all_uses_with(new)
    program.graph.eliminate_dead_code()


def _arguments(node: fx.Node) -> list[Any]:
    defaults = [None, None, None, False, _SUM, False, None, False, None]
    return [*node.args, *defaults[len(node.args):]]


def _before_flattening(node: fx.Node) -> fx.Node | None:
    """The matrix of which `node` has all elements in a row."""
    if node.target not in (_ATEN.reshape.default, _ATEN.view.default):
        return None
    matrix = node.args[0]
    is_flat = node.meta["val"].dim() == 1 and matrix.meta["val"].dim() == 2
    return matrix if is_flat else None


def _begins_rows(offsets: fx.Node, matrix: fx.Node) -> bool:
    if offsets.target != _ATEN.arange.start_step or offsets.args[0] != 0:
        return False
    step, columns = offsets.args[2], matrix.meta["val"].shape[1]
    step = step.meta["val"] if isinstance(step, fx.Node) else step
    bags = offsets.meta["val"].shape[0]
    return bool(step == columns) and bool(bags == matrix.meta["val"].shape[0])
