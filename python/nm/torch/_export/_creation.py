"""Tensors of numbers that the graph says, and triangles."""

from __future__ import annotations

from typing import Any

from ..._mlir import Body, Scalar, Size, Tensor
from ._context import Constant, Context, lowers


@lowers("aten.full", "aten.full_like", "aten.new_full", "aten.scalar_tensor")
def _full(c: Context, *args, **_options) -> Tensor:
    value = args[-1]
    if not isinstance(value, (int, float, bool)):
        raise c.refuse(f"a number to fill a tensor with, but got {value}")
    return c.fn.fill(value, c.shape, c.element)


@lowers("aten.zeros", "aten.zeros_like", "aten.new_zeros", "aten.empty",
        "aten.empty_like", "aten.new_empty", "aten.empty_permuted")
def _zeros(c: Context, *_args, **_options) -> Tensor:
    return c.fn.fill(0, c.shape, c.element)


@lowers("aten.ones", "aten.ones_like", "aten.new_ones")
def _ones(c: Context, *_args, **_options) -> Tensor:
    return c.fn.fill(1, c.shape, c.element)


@lowers("aten.arange")
def _arange(c: Context, *bounds: Any, **_options) -> Tensor:
    start, step = (0, 1) if len(bounds) == 1 else (*bounds, 1)[0:3:2]

    def code(body: Body) -> Scalar:
        place = body.cast(body.loop(0), c.element)
        if step != 1:
            place = body.mul(place, body.constant(step, c.element))
        if isinstance(start, Size):
            first = body.cast(Scalar(c.fn.size(start), "index"), c.element)
        else:
            first = body.constant(start, c.element)
        return body.add(place, first)

    return c.fn.elementwise([], c.shape, c.element, code)


@lowers("aten.tril", "aten.triu")
def _triangle(c: Context, x: Tensor | Constant, diagonal: int = 0) -> Tensor:
    relation = "le" if ".tril" in str(c.node.target) else "ge"

    def code(body: Body, x: Scalar) -> Scalar:
        row, column = (body.loop(len(c.shape) - 2 + i) for i in range(2))
        shifted = body.sub(column, row)
        kept = body.compare(relation, shifted, body.constant(diagonal, "i64"))
        return body.select(kept, x, body.constant(0, x.element))

    return c.fn.elementwise([c.tensor(x)], c.shape, c.element, code)
