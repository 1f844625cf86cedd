"""Masks of attention that are known before any call, as transformers computes a causal one
from the lengths alone. Attention itself says `is_causal`, and needs no mask of ones."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import fx
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind

from ._context import constant_of, name_of, written_targets

_ATTENTION = "aten.scaled_dot_product_attention"
#: The most elements of a tensor that is computed here.
_MOST = 2 ** 28


def simplify_masks(program: ExportedProgram) -> None:
    """Rewrites attention of the program's graph in place where the mask is known."""
    values = _Values(program)
    found: dict[fx.Node, str | None] = {}
    for node in list(program.graph.nodes):
        if node.op != "call_function" or name_of(node.target) != _ATTENTION:
            continue
        mask, dropout, is_causal = _options(node)
        if not isinstance(mask, fx.Node) or is_causal:
            continue
        if mask not in found:
            found[mask] = _kind_of(values.value_of(mask))
        if found[mask] is not None:
            node.args = (*node.args[:3], None, dropout, found[mask] == "causal")
            node.kwargs = {name: each for name, each in node.kwargs.items()
                           if name not in ("attn_mask", "dropout_p", "is_causal")}


def _options(node: fx.Node) -> tuple[Any, float, bool]:
    given = dict(zip(("attn_mask", "dropout_p", "is_causal"), node.args[3:]))
    given |= node.kwargs
    return (given.get("attn_mask"), given.get("dropout_p", 0.0),
            given.get("is_causal", False))


def _kind_of(mask: torch.Tensor | None) -> str | None:
    """"causal" where the mask hides what is behind the diagonal, "whole" where it hides
    nothing, and None for other masks and for one that is not known."""
    if mask is None or mask.dim() < 2:
        return None
    if mask.dtype != torch.bool:
        # transformers adds the least number, and others -inf.
        if not ((mask == 0) | (mask <= torch.finfo(mask.dtype).min / 2)).all():
            return None
        mask = mask == 0
    if mask.all():
        return "whole"
    rows, columns = mask.shape[-2:]
    is_causal = rows == columns and bool(
        (mask == torch.ones(rows, columns, dtype=torch.bool).tril()).all())
    return "causal" if is_causal else None


class _Values:
    """Values of nodes that no argument of a call and no written buffer reaches."""

    def __init__(self, program: ExportedProgram):
        written = written_targets(program)
        self._given = {
            spec.arg.name: spec.target for spec in program.graph_signature.input_specs
            if spec.kind in (InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
            and spec.target not in written}
        self._program = program
        self._known: dict[fx.Node, Any] = {}

    def value_of(self, node: fx.Node) -> torch.Tensor | None:
        """The tensor that the node gives; None where an argument of a call changes it."""
        needed = _ancestors([node])
        if not all(map(self._can_be_known, needed)):
            return None
        with torch.no_grad():
            for each in self._program.graph.nodes:
                if each in needed and each not in self._known:
                    self._known[each] = self._computed(each)
        return self._known[node]

    def _can_be_known(self, node: fx.Node) -> bool:
        if node.name in self._given:
            return True
        value = node.meta.get("val")
        if node.op != "call_function" or not isinstance(value, torch.Tensor):
            return False
        is_drawn = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
        return not is_drawn and all(isinstance(size, int) for size in value.shape) and (
            math.prod(value.shape) <= _MOST)

    def _computed(self, node: fx.Node) -> Any:
        if node.name in self._given:
            return constant_of(self._program, self._given[node.name]).cpu()
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), self._known.__getitem__)
        if "device" in kwargs:
            kwargs = {**kwargs, "device": torch.device("cpu")}
        return node.target(*args, **kwargs)


def _ancestors(nodes: Iterable[fx.Node]) -> set[fx.Node]:
    """The nodes, and all that their values are computed from."""
    found: set[fx.Node] = set()
    left = list(nodes)
    while left:
        node = left.pop()
        if node not in found:
            found.add(node)
            left.extend(node.all_input_nodes)
    return found
