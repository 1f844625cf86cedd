"""Rewrites of the graph before it is lowered, of what models write out that one op has."""

from __future__ import annotations

from torch import fx
from torch.export import ExportedProgram

from ._attention_masks import simplify_masks
from ._context import name_of
from ._folding import fold_constants
from ._written_attention import raise_attention

_VIEWS = ("aten.view", "aten._unsafe_view", "aten.reshape")
_COPIES = ("aten.clone", "aten.contiguous", "aten.alias")


def simplify(program: ExportedProgram) -> list[str]:
    """Rewrites the program's graph in place, and says what a user can have better."""
    raise_attention(program)
    program.graph.eliminate_dead_code()
    remarks = simplify_masks(program)
    for node in program.graph.nodes:
        if node.op == "call_function" and (
                name_of(node.target) == "aten.scaled_dot_product_attention"):
            _share_heads(node)
    program.graph.eliminate_dead_code()
    fold_constants(program)
    program.graph.eliminate_dead_code()
    return remarks


def _share_heads(attention: fx.Node) -> None:
    """Keys and values that are repeated for each head of the queries are taken as they
    are (`enable_gqa`), so that they are read once and not copied: k.expand(b, 2, 4, s, d)
    that is viewed as [b, 8, s, d]."""
    query, key, value, *others = attention.args
    found = _before_repetition(key), _before_repetition(value)
    if None in found or attention.kwargs.get("enable_gqa"):
        return
    if found[0].meta["val"].shape[1] != found[1].meta["val"].shape[1]:
        return
    attention.args = (query, *found, *others)
    attention.kwargs = {**attention.kwargs, "enable_gqa": True}


def _before_repetition(node: fx.Node) -> fx.Node | None:
    """[b, h, s, d] of which `node`, [b, h · g, s, d], has each head g times."""
    if name_of(node.target) not in _VIEWS:
        return None
    wide = node.args[0]
    while name_of(wide.target) in _COPIES:
        wide = wide.args[0]
    if name_of(wide.target) != "aten.expand":
        return None
    narrow = wide.args[0]
    if name_of(narrow.target) != "aten.unsqueeze" or narrow.args[1] not in (2, -3):
        return None
    base = narrow.args[0]
    before, repeated, after = (tuple(each.meta["val"].shape)
                               for each in (base, wide, node))
    if len(before) != 4 or len(repeated) != 5 or len(after) != 4:
        return None
    batch, heads, length, size = before
    same = (repeated[0], repeated[1], repeated[3], repeated[4]) == before
    whole = after == (batch, heads * repeated[2], length, size)
    return base if same and whole else None
