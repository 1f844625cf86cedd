"""Operators that give a tensor with some of its elements overwritten: what writes in
place becomes, as `x[:, 1:] += y` and `index_copy_`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from torch import fx

from ..._mlir import Body, Dim, Scalar, Tensor
from ._context import Constant, Context, Operand, dim_index, lowers, name_of
from ._elementwise import choose
from ._shapes import begin_of, counted_back


def _as_written(c: Context, source: Operand, shape: Sequence[Dim]) -> Tensor:
    """The source as elements of what it is written to, of that shape."""
    if not isinstance(source, (Tensor, Constant)):
        return c.fn.fill(source, shape, c.element)
    source = c.tensor(source)
    if source.element == c.element and tuple(source.shape) == tuple(shape):
        return source
    return c.fn.elementwise([source], shape, c.element,
                            lambda body, x: body.cast(x, c.element))


# What gives memory of its argument, or does for some numbers.
_VIEWS = {"aten." + name for name in (
    "view", "_unsafe_view", "reshape", "unsqueeze", "squeeze", "flatten", "unflatten",
    "permute", "transpose", "t", "expand", "slice", "select", "split_with_sizes",
    "split", "chunk", "unbind", "_to_copy", "clone", "alias", "detach", "contiguous",
    "lift_fresh_copy", "lift_fresh", "to", "dropout", "copy", "repeat", "cat",
    "constant_pad_nd")} | {"prims.convert_element_type", "getitem"}
_ARITHMETIC = {"aten.add", "aten.sub", "aten.mul", "aten.div", "aten.pow"}


def views_of(arguments: Iterable[fx.Node]) -> set[fx.Node]:
    """These nodes, and those whose elements may become elements of their memory."""
    found = set(arguments)
    left = list(found)
    while left:
        for user in left.pop().users:
            name = name_of(user.target)
            # Compiled code does not add 0 and does not multiply by 1.
            is_same = name in _ARITHMETIC and not any(
                isinstance(each, fx.Node)
                and getattr(each.meta.get("val"), "ndim", 0)
                for each in user.args[1:])
            if user not in found and (name in _VIEWS or is_same):
                found.add(user)
                left.append(user)
    return found


@lowers("aten.copy")
def _copy(c: Context, _overwritten: Operand, source: Operand, *_options) -> Tensor:
    return _as_written(c, source, c.shape)


@lowers("aten.slice_scatter")
def _slice_scatter(c: Context, x: Tensor | Constant, source: Tensor | Constant,
                   dim: int = 0, begin: Any = None, end: Any = None, step: int = 1
                   ) -> Tensor:
    dim = dim_index(c, dim, len(c.shape))
    first = begin_of(c, begin or 0, c.shape[dim])
    source = _as_written(c, source, source.shape)
    if source.shape == c.shape:
        return source
    return c.fn.insert_at(source, c.tensor(x), dim, first, step)


@lowers("aten.select_scatter")
def _select_scatter(c: Context, x: Tensor | Constant, source: Tensor | Constant,
                    dim: int, place: Any) -> Tensor:
    dim = dim_index(c, dim, len(c.shape))
    shape = [*c.shape[:dim], 1, *c.shape[dim + 1:]]
    row = c.fn.reshape(_as_written(c, source, source.shape), shape)
    return c.fn.insert_at(row, c.tensor(x), dim, begin_of(c, place, c.shape[dim]), 1)


@lowers("aten.index_copy")
def _index_copy(c: Context, x: Tensor | Constant, dim: int, places: Tensor | Constant,
                source: Tensor | Constant) -> Tensor:
    return c.fn.scatter(c.tensor(source), c.tensor(x), c.tensor(places),
                        dim_index(c, dim, len(c.shape)))


@lowers("aten.index_put")
def _index_put(c: Context, x: Tensor | Constant, places: Sequence[Any],
               source: Tensor | Constant, accumulate: bool = False) -> Tensor:
    given = [dim for dim, each in enumerate(places) if each is not None]
    at = c.tensor(places[given[0]]) if len(given) == 1 else None
    is_mask = at is not None and at.element == "i1"
    if is_mask and given == [0] and not accumulate and all(
            size == 1 for size in source.shape):
        ones = [1] * (len(c.shape) - len(at.shape))
        mask = c.fn.reshape(at, [*at.shape, *ones])
        return choose(c, mask, c.fn.reshape(c.tensor(source), []), x)
    if at is None or is_mask or accumulate or len(at.shape) != 1:
        raise c.refuse("one vector of numbers as an index, or a mask and one number, "
                       "to write to, without accumulate")
    dim = given[0]
    size = Scalar(c.fn.size(c.shape[dim]), "index")

    def code(body: Body, place: Scalar) -> Scalar:
        return body.cast(counted_back(body, body.cast(place, "index"), size), "i64")

    shape = [*c.shape[:dim], at.shape[0], *c.shape[dim + 1:]]
    return c.fn.scatter(_as_written(c, source, shape), c.tensor(x),
                        c.fn.elementwise([at], at.shape, "i64", code), dim)
