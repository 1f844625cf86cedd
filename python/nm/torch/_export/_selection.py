"""The largest elements of a row, and their places."""

from __future__ import annotations

from ..._mlir import Body, Scalar, Tensor
from ..._mlir._scalars import is_float
from ._context import Constant, Context, dim_index, lowers

#: The most elements of a row that are looked for, one after the other.
_MOST = 64
_LOW = 2 ** 32 - 1


def _order(body: Body, x: Scalar) -> Scalar:
    """An i32 that is larger where `x` is; NaN is larger than all numbers."""
    if not is_float(x.element):
        return body.cast(x, "i32")
    bits = body.bits(body.cast(x, "f32"), "i32")
    is_nan = body.compare("ne", x, x)
    return body.select(is_nan, body.constant(2 ** 31 - 1, "i32"), _turned(body, bits))


def _turned(body: Body, bits: Scalar) -> Scalar:
    """Bits of a float in the order of integers, and back: those below the sign of a
    negative number are turned around."""
    sign = body.op("arith.shrsi", bits, body.constant(31, "i32"))
    below = body.op("arith.andi", sign, body.constant(2 ** 31 - 1, "i32"))
    return body.op("arith.xori", bits, below)


def _unordered(body: Body, order: Scalar, element: str) -> Scalar:
    if not is_float(element):
        return body.cast(order, element)
    return body.cast(body.bits(_turned(body, order), "f32"), element)


@lowers("aten.topk")
def _topk(c: Context, x: Tensor | Constant, k: int, dim: int = -1, largest: bool = True,
          sorted: bool = True) -> tuple[Tensor, Tensor]:
    """An element, in the upper half, and its place make one i64, so that the largest i64 is
    the largest element, and of equal ones the first. One reduction finds the largest i64,
    and each later reduction the largest below what the reduction before it found."""
    x = c.tensor(x)
    if x.element not in ("f32", "f16", "bf16", "i32", "i8"):
        raise c.refuse(f"topk of floats or integers of at most 32 bits, but got {x.element}")
    if not x.shape or not isinstance(k, int) or not 1 <= k <= _MOST:
        raise c.refuse(f"topk of at least one dimension and between 1 and {_MOST} "
                       f"elements, but got {len(x.shape)} dimensions and {k} elements")
    along = dim_index(c, dim, len(x.shape))

    def code(body: Body, x: Scalar, *more: Scalar) -> Scalar:
        *found, before = more
        order = _order(body, x)
        if not largest:
            order = body.op("arith.xori", order, body.constant(-1, "i32"))
        high = body.op("arith.shli", body.cast(order, "i64"), body.constant(32, "i64"))
        place = body.op("arith.xori", body.loop(along), body.constant(_LOW, "i64"))
        both = body.op("arith.ori", high, place)
        if found:
            both = body.select(body.compare("lt", both, found[0]), both,
                               body.constant(-2 ** 63, "i64"))
        return body.maximum(both, before)

    found: list[Tensor] = []
    for _ in range(k):
        found.append(c.fn.reduce([x, *found[-1:]], [along], -2 ** 63, "i64", code))
    return _decoded(c, x, found, along, largest)


def _decoded(c: Context, x: Tensor, found: list[Tensor], along: int, largest: bool
             ) -> tuple[Tensor, Tensor]:
    """The elements and the places, of the pairs that were found in each row."""
    row = list(x.shape)
    row[along] = 1
    shape = [*row[:along], len(found), *row[along + 1:]]

    def pick(body: Body, found: tuple[Scalar, ...]) -> Scalar:
        picked = found[0]
        for number, each in enumerate(found[1:], start=1):
            is_it = body.compare("eq", body.loop(along), body.constant(number, "i64"))
            picked = body.select(is_it, each, picked)
        return picked

    def value(body: Body, *found: Scalar) -> Scalar:
        high = body.op("arith.shrsi", pick(body, found), body.constant(32, "i64"))
        order = body.cast(high, "i32")
        if not largest:
            order = body.op("arith.xori", order, body.constant(-1, "i32"))
        return _unordered(body, order, x.element)

    def place(body: Body, *found: Scalar) -> Scalar:
        low = body.op("arith.andi", pick(body, found), body.constant(_LOW, "i64"))
        return body.op("arith.xori", low, body.constant(_LOW, "i64"))

    kept = [c.fn.reshape(each, row) for each in found]
    return (c.fn.elementwise(kept, shape, x.element, value),
            c.fn.elementwise(kept, shape, "i64", place))
