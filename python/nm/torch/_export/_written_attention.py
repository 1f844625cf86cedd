"""Attention that a model writes out, two products with a softmax between, as one operator:
transformers' eager attention, attention with a bias of positions, and models' own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind

from ._context import name_of
from ._known import KnownValues

_ATEN = torch.ops.aten
_SOFTMAX = ("aten._softmax", "aten._safe_softmax", "aten.softmax")
_VIEWS = ("aten.view", "aten._unsafe_view", "aten.reshape", "aten.clone", "aten.alias")
_CHECK = "aten._assert_tensor_metadata"
_FLOATS = (torch.float32, torch.float16, torch.bfloat16)
#: What hides a key: beside it every score is 0, and scaled it is still no infinity.
_LEAST = -1e30
#: A number in place of a score below which exponentials are 0 beside any score.
_HIDES = -3e4


def raise_attention(program: ExportedProgram) -> None:
    """Rewrites the program's graph in place."""
    for node in list(program.graph.nodes):
        if name_of(node.target) == _CHECK:  # It would be one more reader.
            program.graph.erase_node(node)
    weights = {spec.arg.name for spec in program.graph_signature.input_specs
               if spec.kind is not InputKind.USER_INPUT}
    known = KnownValues(program)
    for node in list(program.graph.nodes):
        if name_of(node.target) in _SOFTMAX:
            found = _find(node, weights)
            if found is not None:
                found.replace(known)


def _shape(node: fx.Node) -> tuple:
    return tuple(node.meta["val"].shape)


def _is(node: Any, *names: str) -> bool:
    return isinstance(node, fx.Node) and node.op == "call_function" and (
        name_of(node.target) in names)


def _is_view(node: fx.Node) -> bool:
    return _is(node, *_VIEWS)


def _is_as_exact(node: fx.Node) -> bool:
    """Whether the node has the elements of its operand, which may have fewer bits."""
    return _is_view(node) or (
        _is(node, "aten._to_copy") and node.meta["val"].dtype == torch.float32
        and node.args[0].meta["val"].dtype in _FLOATS)


def _number(value: Any) -> float | None:
    """A number, or a tensor that is made of one."""
    if _is(value, "aten.scalar_tensor"):
        value = value.args[0]
    elif _is(value, "aten.full") and not value.args[0]:
        value = value.args[1]
    return float(value) if isinstance(value, (int, float)) else None


def _only_user(node: fx.Node) -> fx.Node | None:
    return next(iter(node.users)) if len(node.users) == 1 else None


@dataclass
class _Mask:
    """What is added to the scores, times a factor."""

    node: fx.Node
    factor: float

    def as_added(self, element: torch.dtype) -> fx.Node:
        """As nm.attention of the elements adds a mask. The least number of 16 bits, added
        in 16 bits, leaves a row that sees no key the mean of all; in f32 scores would
        still differ."""
        mask, own = self.node, self.node.meta["val"].dtype
        if element != torch.float32:
            hidden = _call(mask, _ATEN.le.Scalar, mask, torch.finfo(own).min)
            wide = _call(mask, _ATEN._to_copy.default, mask, dtype=torch.float32)
            mask = _call(mask, _ATEN.where.self, hidden, _scalar(mask, _LEAST), wide)
        elif own != torch.float32:
            mask = _call(mask, _ATEN._to_copy.default, mask, dtype=torch.float32)
        return mask if self.factor == 1 else _call(mask, _ATEN.mul.Tensor, mask,
                                                   self.factor)


@dataclass
class _Written:
    """The nodes of one attention, with keys that have a row each."""

    query: fx.Node
    key: fx.Node
    value: fx.Node
    result: fx.Node
    scale: float
    masks: list[_Mask]

    def replace(self, known: KnownValues) -> None:
        graph = self.result.graph
        element = self.value.meta["val"].dtype
        with graph.inserting_before(self.result):
            masks = [mask.as_added(element) for mask in self.masks
                     if not _is_zero(mask.node, known)]
            mask = masks[0] if masks else None
            for other in masks[1:]:
                mask = _call(self.result, _ATEN.add.Tensor, mask, other)
            whole = graph.call_function(
                _ATEN.scaled_dot_product_attention.default,
                (self.query, self.key, self.value, mask), {"scale": self.scale})
        whole.meta = dict(self.result.meta)
        self.result.replace_all_uses_with(whole)


def _is_zero(mask: fx.Node, known: KnownValues) -> bool:
    value = known.value_of(mask)
    return value is not None and bool((value == 0).all())


def _call(like: fx.Node, target: Any, *args: Any, **kwargs: Any) -> fx.Node:
    """A new node, at the graph's place for these, that belongs to what `like` does."""
    node = like.graph.call_function(target, args, kwargs)
    given = fx.node.map_arg((args, kwargs), lambda each: each.meta["val"])
    with torch.no_grad():
        node.meta = {**like.meta, "val": target(*given[0], **given[1])}
    return node


def _transposed(node: fx.Node) -> fx.Node:
    """[..., b, a] of [..., a, b]."""
    order = list(range(len(_shape(node))))
    if _is(node, "aten.permute"):
        order = [dim % len(order) for dim in node.args[1]]
        node = node.args[0]
    order[-2:] = order[-1], order[-2]
    if order == sorted(order):
        return node
    return _call(node, _ATEN.permute.default, node, order)


def _scalar(like: fx.Node, number: float) -> fx.Node:
    return _call(like, _ATEN.scalar_tensor.default, number, dtype=torch.float32)


# Finding

def _find(softmax: fx.Node, weights: set[str]) -> _Written | None:
    rank = len(_shape(softmax))
    last = _product_behind(softmax)
    if rank < 3 or softmax.args[1] not in (-1, rank - 1) or last is None:
        return None
    found = (_find_with(leading, softmax.args[0], last, weights)
             for leading in _leadings(softmax))
    return next((each for each in found if each is not None), None)


def _leadings(softmax: fx.Node) -> Iterator[tuple]:
    """The batches of the scores, and as they were before they were flattened."""
    yield _shape(softmax)[:-2]
    node = softmax.args[0]
    while _is_view(node) and _shape(node.args[0])[-2:] == _shape(node)[-2:]:
        node = node.args[0]
        if len(_shape(node)) != len(_shape(softmax)):
            yield _shape(node)[:-2]


def _find_with(leading: tuple, scores: fx.Node, last: fx.Node, weights: set[str]
               ) -> _Written | None:
    result, value = _result(last, leading), _source(last.args[1], leading)
    found = _scores(scores, leading)
    if result is None or value is None or found is None:
        return None
    query, key, scale, masks = found
    element = value.meta["val"].dtype
    if _shape(query)[:-2] != leading or element not in _FLOATS or any(
            each.meta["val"].dtype != element for each in (query, key, result)):
        return None
    # A weight's product is one of its own.
    if {each.name for each in map(_origin, (key, value))} & weights:
        return None
    return _Written(query, key, value, result, scale, masks)


def _product_behind(softmax: fx.Node) -> fx.Node | None:
    """The product of which the softmax is the first operand, and nothing else."""
    node = softmax
    while True:
        user = _only_user(node)
        if user is None:
            return None
        if _is(user, "aten.bmm"):
            return user if user.args[0] is node and user.args[1] is not node else None
        is_same = _is(user, "aten.expand") and _shape(user) == _shape(node)
        if not is_same and not _is(user, *_VIEWS, "aten._to_copy"):
            return None
        if _shape(user)[-2:] != _shape(softmax)[-2:]:
            return None
        node = user


def _result(product: fx.Node, leading: Sequence) -> fx.Node | None:
    """The product with the leading dimensions of the scores."""
    wanted = (*leading, *_shape(product)[-2:])
    if _shape(product) == wanted:
        return product
    user = _only_user(product)
    return user if _is(user, *_VIEWS) and _shape(user) == wanted else None


def _source(node: fx.Node, leading: Sequence, is_passed: Callable = _is_view
            ) -> fx.Node | None:
    """What a batch of matrices was before its leading dimensions were flattened and
    those of size 1 repeated."""
    matrix = _shape(node)[-2:]

    def fits(node: fx.Node) -> bool:
        shape = _shape(node)
        return len(shape) == len(leading) + 2 and shape[-2:] == matrix and all(
            size == whole or (isinstance(size, int) and size == 1)
            for size, whole in zip(shape, leading))

    found = None
    while True:
        found = node if fits(node) else found
        is_repeated = _is(node, "aten.expand") and fits(node) and fits(node.args[0])
        if not is_repeated and not is_passed(node):
            return found
        node = node.args[0]


def _scores(node: fx.Node, leading: Sequence
            ) -> tuple[fx.Node, fx.Node, float, list[_Mask]] | None:
    """Query and key of the product behind, what it is scaled by, and masks."""
    scale: float = 1
    masks = []
    while not _is(node, "aten.bmm"):
        step = _step(node, leading)
        if step is None or _only_user(step[0]) is None:
            return None
        before, factor, mask = step
        if mask is not None:
            masks.append(_Mask(mask, scale))
        node, scale = before, scale * factor
    query, key = _source(node.args[0], leading, _is_as_exact), _keys(node, leading)
    return None if query is None or key is None else (query, key, scale, masks)


def _keys(product: fx.Node, leading: Sequence) -> fx.Node | None:
    turned = product.args[1]
    while _is(turned, "aten._to_copy") and _is_as_exact(turned):
        turned = turned.args[0]
    if _is(turned, "aten.permute") and list(turned.args[1]) == [0, 2, 1]:
        return _source(turned.args[0], leading, _is_as_exact)
    turned = _source(turned, leading, _is_as_exact)
    if turned is None:
        return None
    with product.graph.inserting_before(product):
        return _source(_transposed(turned), leading, _is_as_exact)


def _step(node: fx.Node, leading: Sequence) -> tuple[fx.Node, float, Any] | None:
    """The scores that the node reads, a factor of them, and a mask that is added."""
    if _is(node, *_VIEWS) and _shape(node.args[0])[-2:] == _shape(node)[-2:]:
        return node.args[0], 1, None
    if _is(node, "aten._to_copy") and node.args[0].meta["val"].dtype in _FLOATS:
        return node.args[0], 1, None
    if _is(node, "aten.mul", "aten.div"):
        by = _number(node.args[1])
        if by is None or by == 0 or not math.isfinite(by) or len(node.args) > 2 or (
                node.kwargs):
            return None
        return node.args[0], by if _is(node, "aten.mul") else 1 / by, None
    if _is(node, "aten.add") and len(node.args) == 2 and not node.kwargs:
        for scores, mask in (node.args, node.args[::-1]):
            if _leads_to_product(scores, node, leading):
                mask = _mask_source(mask, node, leading)
                return None if mask is None else (scores, 1, mask)
    return _hidden(node, leading) if _is(node, "aten.where") else None


def _leads_to_product(scores: Any, reader: fx.Node, leading: Sequence) -> bool:
    while isinstance(scores, fx.Node) and _shape(scores) and (
            _shape(scores)[-2:] == _shape(reader)[-2:]):
        if _is(scores, "aten.bmm"):
            return True
        step = _step(scores, leading)
        if step is None:
            return False
        scores = step[0]
    return False


def _mask_source(mask: Any, reader: fx.Node, leading: Sequence) -> fx.Node | None:
    """A mask of floats that is broadcast to scores with these dimensions, where the
    reader's may be flattened."""
    if not isinstance(mask, fx.Node) or mask.meta["val"].dtype not in _FLOATS:
        return None
    shape = _shape(mask)
    if len(shape) > len(leading) + 2:
        return None
    if len(_shape(reader)) == len(leading) + 2 or len(shape) < 3 or shape[0] == 1:
        return mask
    source = _source(mask, leading)
    if source is None and shape[0] == math.prod(leading) and all(
            isinstance(size, int) for size in (*leading, *shape[1:])):
        with reader.graph.inserting_before(reader):
            source = _call(mask, _ATEN.view.default, mask, [*leading, *shape[1:]])
    return source


def _hidden(node: fx.Node, leading: Sequence) -> tuple[fx.Node, float, fx.Node] | None:
    """Scores of which a condition hides some, for which a number stands."""
    condition, shown, other = node.args
    is_turned = _number(shown) is not None
    scores, number = (other, _number(shown)) if is_turned else (shown, _number(other))
    if number is None or number > _HIDES or _shape(scores) != _shape(node):
        return None
    with node.graph.inserting_before(node):
        parts = _scalar(node, 0.0), _scalar(node, min(number, _LEAST))
        mask = _call(node, _ATEN.where.self, condition,
                     *(parts[::-1] if is_turned else parts))
    mask = _mask_source(mask, node, leading)
    return None if mask is None else (scores, 1, mask)


def _origin(node: fx.Node) -> fx.Node:
    while _is(node, *_VIEWS, "aten.permute", "aten.expand", "aten.unsqueeze"):
        node = node.args[0]
    return node
