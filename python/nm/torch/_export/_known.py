"""Values of a graph that are known before any call."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import fx
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind

from ._context import constant_of, written_targets

#: The most elements of a tensor that is computed here.
_MOST = 2 ** 28


class KnownValues:
    """Values of nodes that no argument of a call and no written buffer reaches, and
    without `parameters` none of the model's."""

    def __init__(self, program: ExportedProgram, parameters: bool = False):
        written = written_targets(program)
        kinds = {InputKind.BUFFER, InputKind.CONSTANT_TENSOR}
        kinds |= {InputKind.PARAMETER} if parameters else set()
        self._given = {
            spec.arg.name: spec.target for spec in program.graph_signature.input_specs
            if spec.kind in kinds and spec.target not in written}
        self._program = program
        self._known: dict[fx.Node, Any] = {}
        self._is_known: dict[fx.Node, bool] = {}

    def is_known(self, node: fx.Node) -> bool:
        if node not in self._is_known:
            # A loop, for graphs are deeper than Python's stack.
            for each in self._program.graph.nodes:
                self._is_known[each] = self._can_be_known(each) and all(
                    self._is_known[given] for given in each.all_input_nodes)
        return self._is_known[node]

    def value_of(self, node: fx.Node) -> torch.Tensor | None:
        """The tensor that the node gives; None where an argument of a call changes it."""
        if not self.is_known(node):
            return None
        needed = ancestors([node])
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
        if getattr(node.target, "namespace", None) != "aten":  # Weights stay condensed.
            return False
        is_drawn = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
        return not is_drawn and all(isinstance(size, int) for size in value.shape) and (
            math.prod(value.shape) <= _MOST)

    def constant_of(self, node: fx.Node) -> torch.Tensor | None:
        """The tensor of an input of the graph that is a constant of the model."""
        name = self._given.get(node.name)
        return None if name is None else constant_of(self._program, name).cpu()

    def _computed(self, node: fx.Node) -> Any:
        if node.name in self._given:
            return self.constant_of(node)
        args, kwargs = fx.node.map_arg((node.args, node.kwargs), self._known.__getitem__)
        if "device" in kwargs:
            kwargs = {**kwargs, "device": torch.device("cpu")}
        return node.target(*args, **kwargs)


def ancestors(nodes: Iterable[fx.Node]) -> set[fx.Node]:
    """The nodes, and all that their values are computed from."""
    found: set[fx.Node] = set()
    left = list(nodes)
    while left:
        node = left.pop()
        if node not in found:
            found.add(node)
            left.extend(node.all_input_nodes)
    return found
