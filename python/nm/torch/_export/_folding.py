"""Constants in place of what the graph computes from constants and numbers alone, as
sines and cosines of positions, and weights that are normalized: each would be a kernel of
each call."""

from __future__ import annotations

import hashlib

import torch
from torch import fx
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec, TensorArgument

from ._context import name_of
from ._known import KnownValues, ancestors

#: The most elements of a constant that is made here.
_MOST = 2 ** 20
#: What only says where elements stand, and costs no kernel.
_VIEWS = ("aten.expand", "aten.view", "aten._unsafe_view", "aten.reshape", "aten.unsqueeze",
          "aten.squeeze", "aten.permute", "aten.transpose", "aten.alias")
#: What leaves a parameter what it is: a weight of its name, which may obey a pattern.
_OF_WEIGHTS = (*_VIEWS, "aten.t", "aten.select", "aten.slice", "aten.split_with_sizes",
               "aten.split", "aten.unbind", "aten.chunk", "aten.clone", "aten._to_copy",
               "aten.detach", "getitem")


def fold_constants(program: ExportedProgram) -> None:
    """Rewrites the program's graph in place."""
    values = KnownValues(program, parameters=True)
    last = [node for node in program.graph.nodes
            if values.is_known(node) and _is_computed(node) and any(
                not values.is_known(user) for user in node.users)]
    sources = dict.fromkeys(map(_behind_views, last))
    weights = {spec.arg.name for spec in program.graph_signature.input_specs
               if spec.kind == InputKind.PARAMETER}
    found = [(node, values.value_of(node)) for node in sources
             if _is_worth_it(node, weights)]
    for node, value in found:
        _replace(program, node, value)


def _is_computed(node: fx.Node) -> bool:
    return node.op == "call_function"


def _behind_views(node: fx.Node) -> fx.Node:
    while _is_computed(node) and name_of(node.target) in _VIEWS:
        node = node.args[0]
    return node


def _is_worth_it(node: fx.Node, weights: set[str]) -> bool:
    """Not numbers that are counted or one for all, which loops have without memory, and
    not a weight that stands elsewhere."""
    if not _is_computed(node) or not node.all_input_nodes:
        return False
    given = node
    while _is_computed(given) and name_of(given.target) in _OF_WEIGHTS:
        given = given.args[0]
    if given.name in weights:
        return False
    # As many as of one constant that the value is made of take no more memory.
    most = max((each.meta["val"].numel() for each in ancestors([node])
                if not _is_computed(each)), default=0)
    return node.meta["val"].numel() <= max(_MOST, most)


def _replace(program: ExportedProgram, node: fx.Node, value: torch.Tensor) -> None:
    """Has the tensor as a constant in place of the node."""
    value = value.contiguous()
    content = hashlib.sha256(repr((value.dtype, tuple(value.shape))).encode())
    content.update(value.reshape(-1).view(torch.uint8).numpy().tobytes())
    # By content: functions that are joined share constants of one name.
    name = f"known_{content.hexdigest()[:16]}"
    graph = program.graph
    first = next(iter(graph.nodes))
    with graph.inserting_before(first):
        constant = graph.placeholder(name)
    constant.meta["val"] = node.meta["val"]
    program.graph_signature.input_specs.insert(0, InputSpec(
        InputKind.CONSTANT_TENSOR, TensorArgument(constant.name), name))
    program.constants[name] = value
    node.replace_all_uses_with(constant)
