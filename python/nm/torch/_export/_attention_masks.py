"""Masks of attention that are causal, hide nothing or what is behind lengths, as transformers
computes a causal one from the sizes alone. Attention itself says `is_causal` and `lengths`, and
needs no mask of ones."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import sympy
import torch
from torch import fx
from torch.export import ExportedProgram

from ._attention_lengths import Hidden, emit_lengths, find_hidden
from ._context import name_of, where
from ._known import KnownValues
from ._symbolic import ALWAYS, Condition, condition_of, place

_ATTENTION = "aten.scaled_dot_product_attention"
_AND = ("aten.bitwise_and", "aten.logical_and")
#: Operators that repeat or copy a mask of one batch and head for all.
_WIDENS = ("aten.expand", "aten.alias", "aten.clone")
#: Operators whose result has an element for each of their broadcast operands'.
_OF_ELEMENTS = tuple(f"aten.{name}" for name in (
    "_to_copy", "add", "sub", "rsub", "mul", "neg", "where", "masked_fill", "eq", "ne", "lt",
    "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_not", "logical_and",
    "logical_or", "logical_not"))
#: What operators begin with that take only sizes of their arguments.
_OF_SIZES = ("aten.sym_size", "aten.new_", "aten.ones_like", "aten.zeros_like",
             "aten.full_like")


def simplify_masks(program: ExportedProgram) -> list[str]:
    """Rewrites attention of the program's graph in place, and says of which arguments
    masks stay."""
    masks = _Masks(program)
    kept: dict[tuple[str, ...], list[fx.Node]] = {}
    for node in list(program.graph.nodes):
        if node.op != "call_function" or name_of(node.target) != _ATTENTION:
            continue
        mask, dropout, is_causal = _options(node)
        if not isinstance(mask, fx.Node) or is_causal:
            continue
        rest, is_causal, lengths = masks.split(mask, _heads_of(node, mask))
        if rest is not mask or lengths is not None:
            # nm.attention takes all of them, unlike PyTorch's.
            node.args = (*node.args[:3], rest, dropout, is_causal)
            node.kwargs = {name: each for name, each in node.kwargs.items()
                           if name not in ("attn_mask", "dropout_p", "is_causal")}
        if lengths is not None:
            node.kwargs = {**node.kwargs, "lengths": lengths}
        arguments = _arguments_of(program, rest)
        if arguments:
            kept.setdefault(arguments, []).append(node)
    return [_remark(arguments, attentions) for arguments, attentions in kept.items()]


def _arguments_of(program: ExportedProgram, mask: fx.Node | None) -> tuple[str, ...]:
    """The arguments of the model whose elements the mask depends on."""
    if mask is None:
        return ()
    given = program.graph_signature.user_inputs
    found: dict[fx.Node, None] = {}
    left = [mask]
    while left:
        node = left.pop()
        if node not in found and not name_of(node.target).startswith(_OF_SIZES):
            found[node] = None
            left.extend(node.all_input_nodes)
    return tuple(sorted(node.name for node in found if node.name in given))


def _remark(arguments: tuple[str, ...], attentions: list[fx.Node]) -> str:
    names = " and ".join(repr(name) for name in arguments)
    others = len(attentions) - 1
    return (f"{where(attentions[0])}{f' and {others} more' if others else ''}: keeps a "
            f"mask as a tensor, for export cannot know the values of {names}; where the "
            "mask would hide nothing but what causal attention hides, export without "
            "this argument gives attention without a mask")


def _heads_of(attention: fx.Node, mask: fx.Node) -> int | None:
    """How many dimensions of heads scores have, which lengths do not run along: none or
    one. None where attention cannot have lengths."""
    query, key, value = (each.meta["val"] for each in attention.args[:3])
    kinds = {query.dtype, key.dtype, value.dtype}
    if (len(kinds) != 1 or not kinds <= {torch.float32, torch.float16, torch.bfloat16}
            or mask.meta["val"].dtype not in (torch.bool, torch.float32, *kinds)
            or key.shape[:-2] != value.shape[:-2] or key.dim() != query.dim()):
        return None
    heads = 1 if query.dim() > 3 else 0
    batches = query.dim() - 2 - heads
    return heads if query.shape[:batches] == key.shape[:batches] else None


def _options(node: fx.Node) -> tuple[Any, float, bool]:
    given = dict(zip(("attn_mask", "dropout_p", "is_causal"), node.args[3:]))
    given |= node.kwargs
    return (given.get("attn_mask"), given.get("dropout_p", 0.0),
            given.get("is_causal", False))


class _Split(NamedTuple):
    """The part of a mask that stays a mask, None where nothing does; whether the mask
    hides what causal attention hides; and lengths, with leading dimensions of scores."""

    rest: fx.Node | None
    is_causal: bool
    lengths: fx.Node | None


class _Masks:
    def __init__(self, program: ExportedProgram):
        self._values = KnownValues(program)
        self._graph = program.graph
        self._split: dict[tuple[fx.Node, int | None], _Split] = {}

    def split(self, mask: fx.Node, heads: int | None) -> _Split:
        """What the mask hides, of attention with `heads` dimensions of heads, along which
        lengths do not run; with None it has no lengths."""
        if (mask, heads) not in self._split:
            self._split[mask, heads] = self._split_of(mask, heads)
        return self._split[mask, heads]

    def _split_of(self, mask: fx.Node, heads: int | None) -> _Split:
        kind = self._kind_of(mask)
        if kind:
            return _Split(None, kind == "causal", None)
        whole_shape = tuple(mask.meta["val"].shape[-2:])
        rest, is_causal, ends = [], False, []
        for part in _parts(mask):
            kind = self._kind_of(part)
            is_whole = tuple(part.meta["val"].shape[-2:]) == whole_shape
            if kind == "causal" and is_whole:
                is_causal = True
            elif kind != "whole":
                hidden = self._hidden_of(part, whole_shape, heads)
                is_causal |= hidden.is_causal and hidden.is_whole and is_whole
                ends.append((hidden, part))
                if not hidden.is_whole or (hidden.is_causal and not is_whole):
                    rest.append(self._narrowed(part))
        lengths = self._lengths_of(ends)
        if not rest:
            return _Split(None, is_causal, lengths)
        kept = functools.reduce(self._both, rest)
        # A mask that hides rows alone keeps its columns, which attention runs along.
        is_narrow = kept.meta["val"].dim() and kept.meta["val"].shape[-1] == whole_shape[-1]
        return _Split(kept if is_narrow or is_causal else mask, is_causal, lengths)

    def _hidden_of(self, part: fx.Node, whole_shape: tuple, heads: int | None) -> Hidden:
        shape = part.meta["val"].shape
        if heads is None or len(shape) < 2 or shape[-1] != whole_shape[1]:
            return Hidden()
        hidden = find_hidden(part, self._values.constant_of)
        batches = len(shape) - 2 - heads
        is_of_head = any(isinstance(dim, int) and dim >= batches
                         for end in hidden.ends for dim in end.along)
        return Hidden() if is_of_head else hidden

    def _lengths_of(self, ends: list[tuple[Hidden, fx.Node]]) -> fx.Node | None:
        def compute(after: fx.Node, target: Any, args: tuple) -> fx.Node:
            return self._computed(after, target, args, {})

        return emit_lengths(ends, compute)

    def _both(self, first: fx.Node, second: fx.Node) -> fx.Node:
        return self._computed(max(first, second), torch.ops.aten.bitwise_and.Tensor,
                              (first, second), {})

    def _narrowed(self, mask: fx.Node) -> fx.Node:
        """The mask before it was repeated for rows, heads or batches that share it, also
        where elements were computed since."""
        if mask.op != "call_function":
            return mask
        if name_of(mask.target) in _WIDENS:
            return self._narrowed(mask.args[0])
        if len(parts := _parts(mask)) > 1:
            kept = [part for part in parts if self._kind_of(part) != "whole"] or parts
            return functools.reduce(self._both, map(self._narrowed, kept))
        if name_of(mask.target) not in _OF_ELEMENTS:
            return mask
        args = tuple(self._narrowed(each) if isinstance(each, fx.Node) else each
                     for each in mask.args)
        if args == mask.args:
            return mask
        return self._computed(mask, mask.target, args, mask.kwargs)

    def _computed(self, after: fx.Node, target: Any, args: tuple, kwargs: dict) -> fx.Node:
        with self._graph.inserting_after(after):
            node = self._graph.call_function(target, args, kwargs)
        values = fx.node.map_arg((args, kwargs), lambda each: each.meta["val"])
        node.meta = {**after.meta, "val": target(*values[0], **values[1])}
        return node

    def _kind_of(self, mask: fx.Node) -> str | None:
        """"causal" where the mask hides what is behind the diagonal, "whole" where it
        hides nothing, and None for other masks and for one that is not known."""
        value = self._values.value_of(mask)
        if mask.meta["val"].dim() < 2:
            return "whole" if value is not None and _hides_nothing(value) else None
        return self._kind_by_formula(mask) if value is None else _kind_of_value(value)

    def _kind_by_formula(self, mask: fx.Node) -> str | None:
        row, column = place("row"), place("column")
        found = condition_of(mask, self._values.constant_of, row, column)
        if found == ALWAYS:
            return "whole"
        rows, columns = mask.meta["val"].shape[-2:]
        is_square = sympy.sympify(_expr(rows) - _expr(columns)) == 0
        causal = Condition(frozenset([column - row]))
        return "causal" if found == causal and is_square else None


def _expr(size: Any) -> Any:
    return size if isinstance(size, int) else size.node.expr


def _parts(mask: fx.Node) -> list[fx.Node]:
    """Masks that all have to show a key."""
    while mask.op == "call_function" and name_of(mask.target) in _WIDENS:
        mask = mask.args[0]
    is_and = mask.op == "call_function" and name_of(mask.target) in _AND
    if not is_and or not all(isinstance(each, fx.Node) and (
            each.meta["val"].dtype == torch.bool) for each in mask.args):
        return [mask]
    return [part for each in mask.args for part in _parts(each)]


def _hides_nothing(mask: torch.Tensor) -> bool:
    return bool((mask if mask.dtype == torch.bool else mask == 0).all())


def _kind_of_value(mask: torch.Tensor) -> str | None:
    if mask.dtype != torch.bool:
        # transformers adds the least number, and others -inf.
        least = max(torch.finfo(mask.dtype).min / 2, -1e29)
        if not ((mask == 0) | (mask <= least)).all():
            return None
        mask = mask == 0
    if _hides_nothing(mask):
        return "whole"
    rows, columns = mask.shape[-2:]
    is_causal = rows == columns and bool(
        (mask == torch.ones(rows, columns, dtype=torch.bool).tril()).all())
    return "causal" if is_causal else None
