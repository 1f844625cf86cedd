"""Operators that put elements to other places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import fx

from ..._mlir import Body, Dim, Scalar, Tensor
from ..._mlir._scalars import is_float
from ._context import Constant, Context, dim_index, lowers, name_of


@lowers("aten.view", "aten._unsafe_view", "aten.reshape", "aten.unsqueeze",
        "aten.squeeze", "aten.flatten", "aten.unflatten")
def _view(c: Context, x: Tensor | Constant, *_sizes) -> Tensor:
    return c.fn.reshape(c.tensor(x), c.shape)


@lowers("aten.permute")
def _permute(c: Context, x: Tensor | Constant, dims: Sequence[int]
             ) -> Tensor | Constant:
    if isinstance(x, Constant) and [dim % 2 for dim in dims] == [1, 0]:
        return c.transposed(x)
    x = c.tensor(x)
    return c.fn.transpose(x, [dim_index(c, dim, len(x.shape)) for dim in dims])


@lowers("aten.transpose", "aten.t")
def _transpose(c: Context, x: Tensor | Constant, first: int = 0, second: int = 1
               ) -> Tensor | Constant:
    if isinstance(x, Constant) and len(x.shape) == 2 and first % 2 != second % 2:
        return c.transposed(x)
    x = c.tensor(x)
    if len(x.shape) < 2:
        return x
    order = list(range(len(x.shape)))
    first, second = (dim_index(c, dim, len(order)) for dim in (first, second))
    order[first], order[second] = order[second], order[first]
    return c.fn.transpose(x, order)


@lowers("aten.expand")
def _expand(c: Context, x: Tensor | Constant, *_sizes, **_options) -> Tensor:
    x = c.tensor(x)
    if x.shape == c.shape:
        return x
    return c.fn.elementwise([x], c.shape, c.element, lambda body, x: x)


@lowers("aten.slice")
def _slice(c: Context, x: Tensor | Constant, dim: int = 0, begin: Any = None,
           end: Any = None, step: int = 1) -> Tensor:
    x = c.tensor(x)
    dim = dim_index(c, dim, len(x.shape))
    return c.fn.slice(x, dim, begin_of(c, begin or 0, x.shape[dim]), c.shape[dim], step)


def begin_of(c: Context, begin: Any, size: Dim) -> Dim | str:
    """Where a slice begins; below zero it counts from the end. A text names a value of
    the function."""
    begin = c.dim(begin)
    if not isinstance(begin, int):
        return begin
    if isinstance(size, int):
        return min(max(begin + size if begin < 0 else begin, 0), size)
    if begin < 0:
        # The graph's guards have a size for which nothing is cut off.
        return c.fn.begin(f"arith.addi {c.fn.size(size)}, {c.fn.index(begin)} : index")
    return begin


@lowers("aten.select")
def _select(c: Context, x: Tensor | Constant, dim: int, place: Any
            ) -> Tensor | Constant:
    if isinstance(x, Constant) and isinstance(place, int):
        # A weight of its own, whose zeros may obey a pattern.
        return Constant(f"{x.key}.{dim}:{place}", x.tensor.select(dim, place))
    x = c.tensor(x)
    dim = dim_index(c, dim, len(x.shape))
    return c.fn.reshape(c.fn.slice(x, dim, begin_of(c, place, x.shape[dim]), 1), c.shape)


@lowers("aten.split_with_sizes", "aten.split", "aten.chunk", "aten.unbind")
def _split(c: Context, x: Tensor | Constant, *args) -> tuple[Tensor, ...]:
    x, parts, begin = c.tensor(x), [], 0
    is_unbind = ".unbind" in str(c.node.target)
    dim = dim_index(c, (args if is_unbind else args[1:] or (0,) )[0] if args else 0,
                    len(x.shape))
    for value in c.node.meta["val"]:
        shape = [c.dim(size) for size in value.shape]
        size = 1 if is_unbind else shape[dim]
        if not isinstance(size, int):
            raise c.refuse("parts of a known size")
        parts.append(c.fn.reshape(c.fn.slice(x, dim, begin, size), shape))
        begin += size
    return tuple(parts)


def _half_of(node: fx.Node, dim: int, begin: int, half: int) -> fx.Node | None:
    """The node whose elements `begin` to `begin + half` of dimension `dim` this is, if
    that is all of its first or second half."""
    if name_of(node.target) != "aten.slice" or len(node.args) < 3:
        return None
    base, shape = node.args[0], node.meta["val"].shape
    whole = base.meta["val"].shape
    if node.args[1] % len(shape) != dim or node.args[4:] not in ((), (1,)):
        return None
    is_half = node.args[2] == begin and shape[dim] == half and whole[dim] == 2 * half
    return base if is_half else None


def _turn(c: Context, dim: int) -> Tensor | None:
    """[-x2, x1] of the halves of x, as rotary positions have it: one op, which fuses
    with those around it, in place of two copies."""
    nodes, half = c.node.args[0], c.shape[dim]
    if len(nodes) != 2 or not isinstance(half, int) or half % 2 or (
            name_of(nodes[0].target) != "aten.neg"):
        return None
    half //= 2
    base = _half_of(nodes[0].args[0], dim, half, half)
    if base is None or base is not _half_of(nodes[1], dim, 0, half):
        return None
    x = c.tensor(c.value_of(base))
    if not is_float(x.element):
        return None
    shape = [*c.shape[:dim], 2, half, *c.shape[dim + 1:]]
    halves = c.fn.reshape(x, shape)

    def code(body: Body) -> Scalar:
        loops = [body.loop(loop, "index") for loop in range(len(shape))]
        other = body.sub(body.constant(1, "index"), loops[dim])
        value = body.extract(halves, [*loops[:dim], other, *loops[dim + 1:]])
        is_first = body.compare("eq", loops[dim], body.constant(0, "index"))
        return body.select(is_first, body.op("arith.negf", value), value)

    return c.fn.reshape(c.fn.elementwise([], shape, c.element, code), c.shape)


@lowers("aten.cat")
def _cat(c: Context, tensors: Sequence[Tensor | Constant], dim: int = 0) -> Tensor:
    turned = _turn(c, dim_index(c, dim, len(c.shape)))
    if turned is not None:
        return turned
    # PyTorch leaves out empty vectors, whatever the rank of the others.
    given = [c.tensor(tensor) for tensor in tensors if tuple(tensor.shape) != (0,)]
    cast = [each if each.element == c.element else c.fn.elementwise(
        [each], each.shape, c.element, lambda body, x: body.cast(x, c.element))
        for each in given]
    return c.fn.concatenate(cast, dim_index(c, dim, len(c.shape)), c.shape)


@lowers("aten.as_strided")
def _as_strided(c: Context, x: Tensor | Constant, *_places) -> Tensor:
    """Nothing moves behind a mean of all places of an image, whose sizes of one PyTorch
    gives the strides of channels that are last. Windows that overlap read the elements in
    the order in which they are stored."""
    given, found = c.node.args[0].meta["val"], c.node.meta["val"]
    places = [[(str(size), str(stride)) for size, stride in zip(
        each.shape, each.stride()) if str(size) != "1"] for each in (given, found)]
    offset = found.storage_offset() - given.storage_offset()
    if str(given.shape) == str(found.shape) and places[0] == places[1] and offset == 0:
        return c.tensor(x)
    order = sorted(range(given.dim()), key=lambda dim: -given.stride(dim))
    last = offset + sum((size - 1) * stride for size, stride in zip(
        found.shape, found.stride()))
    numbers = (*given.shape, *given.stride(), *found.shape, *found.stride(), offset)
    if not all(isinstance(each, int) for each in numbers) or (
            not given.permute(order).is_contiguous()) or not 0 <= last < given.numel():
        raise c.refuse("known strides that stay in a tensor without gaps")
    stored = c.fn.reshape(c.fn.transpose(c.tensor(x), order), [given.numel()])

    def code(body: Body) -> Scalar:
        place = body.constant(offset, "index")
        for dim, stride in enumerate(found.stride()):
            step = body.mul(body.loop(dim, "index"), body.constant(stride, "index"))
            place = body.add(place, step)
        return body.extract(stored, [place])

    return c.fn.elementwise([], c.shape, c.element, code)


@lowers("aten.repeat")
def _repeat(c: Context, x: Tensor | Constant, repeats: Sequence[Dim]) -> Tensor:
    x = c.tensor(x)
    padded = [1] * (len(repeats) - len(x.shape)) + list(x.shape)
    # Of each dimension its copies first: [r0, s0, r1, s1, ...].
    ones = [size for dim in padded for size in (1, dim)]
    wide = [size for dim, times in zip(padded, repeats) for size in (times, dim)]
    copies = c.fn.elementwise([c.fn.reshape(x, ones)], wide, c.element,
                              lambda body, x: x)
    return c.fn.reshape(copies, c.shape)


@lowers("aten.flip")
def _flip(c: Context, x: Tensor | Constant, dims: Sequence[int]) -> Tensor:
    x = c.tensor(x)
    turned = {dim_index(c, dim, len(x.shape)) for dim in dims}
    sizes = {dim: c.fn.size(x.shape[dim]) for dim in turned}

    def code(body: Body) -> Scalar:
        places = []
        for dim in range(len(x.shape)):
            place = body.loop(dim, "index")
            if dim in turned:
                last = body.sub(Scalar(sizes[dim], "index"), body.constant(1, "index"))
                place = body.sub(last, place)
            places.append(place)
        return body.extract(x, places)

    return c.fn.elementwise([], c.shape, c.element, code)


@lowers("aten.constant_pad_nd")
def _pad(c: Context, x: Tensor | Constant, padding: Sequence[int], value: float = 0
         ) -> Tensor:
    x, rank = c.tensor(x), len(c.shape)
    if any(isinstance(pad, int) and pad < 0 for pad in padding):
        raise c.refuse(f"no padding below zero, but got {list(padding)}")
    low = [0] * rank
    for i in range(len(padding) // 2):
        low[rank - 1 - i] = padding[2 * i]
    filled = c.fn.fill(value, c.shape, c.element)
    return c.fn.insert(x, filled, low)


# Places that are data

@lowers("aten.embedding")
def _embedding(c: Context, table: Tensor | Constant, places: Tensor | Constant,
               *_options) -> Tensor:
    return gather(c, c.tensor(table), [c.tensor(places)], 0)


@lowers("aten.index_select")
def _index_select(c: Context, x: Tensor | Constant, dim: int,
                  places: Tensor | Constant) -> Tensor:
    x = c.tensor(x)
    return gather(c, x, [c.tensor(places)], dim_index(c, dim, len(x.shape)))


@lowers("aten.index")
def _index(c: Context, x: Tensor | Constant,
           places: Sequence[Tensor | Constant | None]) -> Tensor:
    given = [dim for dim, each in enumerate(places) if each is not None]
    if given != list(range(given[0], given[-1] + 1)):
        raise c.refuse("tensors as indices of neighbouring dimensions")
    tensors = [c.tensor(places[dim]) for dim in given]
    if any(tensor.element in ("i1", "u8") for tensor in tensors):
        raise c.refuse("numbers as indices, not a mask, whose result has a size that "
                       "depends on its elements")
    return gather(c, c.tensor(x), tensors, given[0], counts_back=True)


def gather(c: Context, x: Tensor, places: Sequence[Tensor], dim: int,
           counts_back: bool = False) -> Tensor:
    """x[..., places[0], places[1], ..., ...] from dimension `dim` on. A call with a
    place that x has not fails; one below 0 is x's if `counts_back`."""
    rank = max(len(place.shape) for place in places)
    offset = len(c.shape) - rank - (len(x.shape) - len(places) - dim)
    after = offset + rank
    wide = [c.fn.reshape(each, [1] * (rank - len(each.shape)) + list(each.shape))
            for each in places]
    # Ones for the dimensions of x that come after, so that places broadcast.
    wide = [c.fn.reshape(each, [*each.shape, *[1] * (len(c.shape) - after)])
            for each in wide]
    sizes = [c.fn.size(x.shape[dim + i]) for i in range(len(places))]

    def code(body: Body, *given: Scalar) -> Scalar:
        inner = [body.cast(place, "index") for place in given]
        if counts_back:
            inner = [counted_back(body, place, Scalar(size, "index"))
                     for place, size in zip(inner, sizes)]
        loops = [body.loop(loop, "index") for loop in range(len(c.shape))]
        return body.extract(x, [*loops[:dim], *inner, *loops[after:]])

    return c.fn.elementwise(wide, c.shape, c.element, code)


def counted_back(body: Body, place: Scalar, size: Scalar) -> Scalar:
    """A place that is counted from the end where it is below 0."""
    below = body.compare("lt", place, body.constant(0, "index"))
    return body.select(below, body.add(place, size), place)


@lowers("aten.gather")
def _gather(c: Context, x: Tensor | Constant, dim: int, places: Tensor | Constant,
            **_options) -> Tensor:
    x = c.tensor(x)
    dim = dim_index(c, dim, len(x.shape))

    def code(body: Body, place: Scalar) -> Scalar:
        loops = [body.loop(loop, "index") for loop in range(len(x.shape))]
        return body.extract(x, [*loops[:dim], body.cast(place, "index"),
                                *loops[dim + 1:]])

    return c.fn.elementwise([c.tensor(places)], c.shape, c.element, code)
