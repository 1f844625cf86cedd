"""Sums, means, extremes, softmax and norms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from ..._mlir import Body, Scalar, Tensor
from ..._mlir._scalars import compute_type, is_float
from ..._mlir._sizes import product
from ._context import Constant, Context, dim_index, dim_indices, lowers
from ._elementwise import cast

_LOWEST = {"i64": -2 ** 63, "i32": -2 ** 31, "i8": -2 ** 7, "u8": 0}
_HIGHEST = {"i64": 2 ** 63 - 1, "i32": 2 ** 31 - 1, "i8": 2 ** 7 - 1, "u8": 255}


def total(c: Context, x: Tensor, dims: Sequence[int], element: str) -> Tensor:
    """The sums along `dims`, which they lose."""
    return c.fn.reduce([x], dims, 0, element, lambda body, x, before: body.sum(
        before, body.cast(x, element)))


def largest(c: Context, x: Tensor, dims: Sequence[int]) -> Tensor:
    """The largest along `dims`, which they lose."""
    start = _LOWEST.get(x.element, -math.inf)
    return c.fn.reduce([x], dims, start, x.element,
                       lambda body, x, before: body.maximum(x, before))


def least(c: Context, x: Tensor, dims: Sequence[int]) -> Tensor:
    """The least along `dims`, which they lose."""
    start = _HIGHEST.get(x.element, math.inf)
    return c.fn.reduce([x], dims, start, x.element,
                       lambda body, x, before: body.minimum(x, before))


def keep(c: Context, x: Tensor, like: Tensor, dims: Sequence[int]) -> Tensor:
    """A reduction's result with ones where it lost a dimension."""
    return c.fn.reshape(x, [1 if dim in dims else size
                            for dim, size in enumerate(like.shape)])


@lowers("aten.sum", "aten.mean")
def _sum(c: Context, x: Tensor | Constant, dims: Sequence[int] | None = None,
         keepdim: bool = False, *, dtype: torch.dtype | None = None) -> Tensor:
    x = c.tensor(x)
    along = dim_indices(dims, len(x.shape))
    sums = c.fn.reshape(total(c, x, along, compute_type(c.element)), c.shape)
    if ".mean" not in str(c.node.target):
        return cast(c, sums)
    divided = _divided_by(c, x, along)
    return c.fn.elementwise([sums], c.shape, c.element,
                            lambda body, s: body.cast(divided(body, s), c.element))


def _divided_by(c: Context, x: Tensor, along: Sequence[int]
                ) -> Callable[[Body, Scalar], Scalar]:
    """A sum along dimensions over how many elements it has."""
    size = product([x.shape[dim] for dim in along])
    known = None if isinstance(size, int) else Scalar(c.fn.size(size), "index")

    def code(body: Body, s: Scalar) -> Scalar:
        if size == 1:
            return s
        divisor = (body.constant(size, s.element) if known is None
                   else body.cast(known, s.element))
        return body.div(s, divisor)

    return code


@lowers("aten.linalg_vector_norm")
def _vector_norm(c: Context, x: Tensor | Constant, ord: float = 2,
                 dims: Sequence[int] | None = None, keepdim: bool = False, *,
                 dtype: torch.dtype | None = None) -> Tensor:
    if ord != 2:
        raise c.refuse(f"a vector norm of order 2, but got {ord}")
    x = c.tensor(x)
    element = compute_type(c.element)

    def square(body: Body, x: Scalar, before: Scalar) -> Scalar:
        x = body.cast(x, element)
        return body.sum(before, body.mul(x, x))

    squares = c.fn.reduce([x], dim_indices(dims, len(x.shape)), 0, element, square)
    return c.fn.elementwise(
        [c.fn.reshape(squares, c.shape)], c.shape, c.element,
        lambda body, s: body.cast(body.op("math.sqrt", s), c.element))


@lowers("aten.amax", "aten.amin")
def _extreme(c: Context, x: Tensor | Constant, dims: Sequence[int] = (),
             keepdim: bool = False) -> Tensor:
    x = c.tensor(x)
    along = dim_indices(dims, len(x.shape))
    extreme = largest if ".amax" in str(c.node.target) else least
    return c.fn.reshape(extreme(c, x, along), c.shape)


@lowers("aten.prod")
def _prod(c: Context, x: Tensor | Constant, dim: int | None = None,
          keepdim: bool = False, *, dtype: torch.dtype | None = None) -> Tensor:
    x = c.tensor(x)
    along = dim_indices([] if dim is None else [dim], len(x.shape))
    element = compute_type(c.element)
    products = c.fn.reduce([x], along, 1, element, lambda body, x, before: body.mul(
        before, body.cast(x, element)))
    return cast(c, c.fn.reshape(products, c.shape))


@lowers("aten.argmax", "aten.argmin")
def _place_of_extreme(c: Context, x: Tensor | Constant, dim: int | None = None,
                      keepdim: bool = False) -> Tensor:
    """The first place of the largest or least element, or of the first NaN."""
    x = c.tensor(x)
    if dim is None:
        x, dim = c.fn.reshape(x, [product(x.shape)]), 0
    along = dim_index(c, dim, len(x.shape))
    extreme = largest if ".argmax" in str(c.node.target) else least
    most = extreme(c, x, [along])
    # The lesser of two numbers takes a GPU one instruction in 32 bits, and four in 64.
    element = "i32" if isinstance(x.shape[along], int) and x.shape[along] < 2 ** 31 else "i64"
    end = 2 ** (31 if element == "i32" else 63) - 1

    def code(body: Body, x: Scalar, most: Scalar, before: Scalar) -> Scalar:
        found = body.compare("eq", x, most)
        if is_float(x.element):
            found = body.op("arith.ori", found, body.compare("ne", x, x))
        place = body.select(found, body.loop(along, element), body.constant(end, element))
        return body.minimum(place, before)

    places = c.fn.reduce([x, most], [along], end, element, code)
    return cast(c, c.fn.reshape(places, c.shape))


@lowers("aten.any", "aten.all")
def _any(c: Context, x: Tensor | Constant, dims: Sequence[int] | int | None = None,
         keepdim: bool = False) -> Tensor:
    x = c.tensor(x)
    is_any = ".any" in str(c.node.target)
    result = c.fn.reduce(
        [x], dim_indices(dims, len(x.shape)), not is_any, "i1",
        lambda body, x, before: body.op(
            "arith.ori" if is_any else "arith.andi", body.cast(x, "i1"), before))
    return c.fn.reshape(result, c.shape)


@lowers("aten.var", "aten.std")
def _variance(c: Context, x: Tensor | Constant, dims: Sequence[int] | None = None, *,
              correction: float | None = None, keepdim: bool = False) -> Tensor:
    x = c.tensor(x)
    element, along = compute_type(x.element), dim_indices(dims, len(x.shape))
    size = product([x.shape[dim] for dim in along])
    _, squares = squares_around_mean(c, x, along, element)
    less = 1 if correction is None else correction
    known = None if isinstance(size, int) else Scalar(c.fn.size(size), "index")

    def code(body: Body, s: Scalar) -> Scalar:
        if known is None:
            left = body.constant(max(size - less, 0), element)
        else:
            left = body.sub(body.cast(known, element), body.constant(less, element))
            left = body.maximum(left, body.constant(0, element))
        variance = body.div(s, left)
        if ".std" in str(c.node.target):
            variance = body.op("math.sqrt", variance)
        return body.cast(variance, c.element)

    return c.fn.elementwise([c.fn.reshape(squares, c.shape)], c.shape, c.element, code)


def squares_around_mean(c: Context, x: Tensor, along: Sequence[int], element: str
                        ) -> tuple[Tensor, Tensor]:
    """The mean along dimensions, and the sum of the squares of what x differs by."""
    sums = total(c, x, along, element)
    mean = c.fn.elementwise([sums], sums.shape, element, _divided_by(c, x, along))

    def square(body: Body, x: Scalar, m: Scalar, before: Scalar) -> Scalar:
        centered = body.sub(body.cast(x, element), m)
        return body.sum(before, body.mul(centered, centered))

    return mean, c.fn.reduce([x, mean], along, 0, element, square)


@lowers("aten.cumsum")
def _cumsum(c: Context, x: Tensor | Constant, dim: int, **_options) -> Tensor:
    x, rank = c.tensor(x), len(c.shape)
    along = dim_indices(dim, rank)[0]
    element = compute_type(c.element)
    loops = [rank if each == along else each for each in range(rank)]

    def code(body: Body, x: Scalar, before: Scalar) -> Scalar:
        # Each sum is made anew: there are few of them where models count tokens.
        is_before = body.compare("le", body.loop(rank), body.loop(along))
        zero = body.constant(0, element)
        return body.add(before, body.select(is_before, body.cast(x, element), zero))

    sums = c.fn.generic([(x, loops)], c.fn.fill(0, c.shape, element), range(rank),
                        "p" * rank + "r", code)
    return c.fn.elementwise([sums], c.shape, c.element, lambda body, s: body.cast(
        s, c.element)) if c.element != element else sums


# Softmax

@lowers("aten._softmax", "aten.softmax", "aten._safe_softmax")
def _softmax(c: Context, x: Tensor | Constant, dim: int, *_options) -> Tensor:
    x, along = c.tensor(x), dim_indices(dim, len(c.shape))
    exps, sums = exponentials(c, x, along)
    return c.fn.elementwise(
        [exps, keep(c, sums, x, along)], c.shape, c.element,
        lambda body, e, s: body.cast(body.div(e, s), c.element))


@lowers("aten._log_softmax", "aten.log_softmax")
def _log_softmax(c: Context, x: Tensor | Constant, dim: int, *_options) -> Tensor:
    x, along = c.tensor(x), dim_indices(dim, len(c.shape))
    most = keep(c, largest(c, x, along), x, along)
    _, sums = exponentials(c, x, along)

    def code(body: Body, x: Scalar, m: Scalar, s: Scalar) -> Scalar:
        shifted = body.sub(*(body.cast(value, s.element) for value in (x, m)))
        return body.cast(body.sub(shifted, body.op("math.log", s)), c.element)

    return c.fn.elementwise([x, most, keep(c, sums, x, along)], c.shape, c.element,
                            code)


@lowers("aten.logsumexp")
def _logsumexp(c: Context, x: Tensor | Constant, dims: Sequence[int] | int,
               keepdim: bool = False) -> Tensor:
    """By the largest element, or 0 where that is infinite."""
    x = c.tensor(x)
    along, element = dim_indices(dims, len(x.shape)), compute_type(c.element)

    def finite(body: Body, m: Scalar) -> Scalar:
        m = body.cast(m, element)
        is_infinite = body.compare("eq", body.op("math.absf", m),
                                   body.constant(math.inf, element))
        return body.select(is_infinite, body.constant(0, element), m)

    most = largest(c, x, along)
    most = c.fn.elementwise([most], most.shape, element, finite)
    exps = c.fn.elementwise(
        [x, keep(c, most, x, along)], x.shape, element,
        lambda body, x, m: body.op("math.exp", body.sub(body.cast(x, element), m)))
    logs = c.fn.elementwise(
        [total(c, exps, along, element), most], most.shape, c.element,
        lambda body, s, m: body.cast(body.add(body.op("math.log", s), m), c.element))
    return c.fn.reshape(logs, c.shape)


def exponentials(c: Context, x: Tensor, along: Sequence[int], masked: bool = False,
                 rounded_to: str | None = None) -> tuple[Tensor, Tensor]:
    """exp(x - the largest x along a dimension), and the sums of it without that
    dimension. With `masked`, a row that is all -inf has zeros. What is added up is
    rounded to the element type `rounded_to` where that is given."""
    element = compute_type(x.element)
    most = keep(c, largest(c, x, along), x, along)

    def code(body: Body, x: Scalar, m: Scalar) -> Scalar:
        x, m = body.cast(x, element), body.cast(m, element)
        if masked:
            lowest = body.constant(-math.inf, element)
            m = body.select(body.compare("eq", m, lowest), body.constant(0, element), m)
        return body.cast(body.op("math.exp", body.sub(x, m)), rounded_to or element)

    exps = c.fn.elementwise([x, most], x.shape, rounded_to or element, code)
    return exps, total(c, exps, along, element)


# Norms

@lowers("aten.native_layer_norm", "aten.layer_norm")
def _layer_norm(c: Context, x: Tensor | Constant, sizes: Sequence[int],
                weight: Tensor | Constant | None = None,
                bias: Tensor | Constant | None = None, eps: float = 1e-5, *_options):
    x = c.tensor(x)
    element = compute_type(x.element)
    along = list(range(len(x.shape) - len(sizes), len(x.shape)))
    mean, squares = squares_around_mean(c, x, along, element)
    scale = _root_of_mean(c, squares, _divided_by(c, x, along), eps)

    def code(body: Body, x: Scalar, m: Scalar, s: Scalar, *affine: Scalar) -> Scalar:
        centered = body.sub(body.cast(x, element), m)
        return _affine(body, body.mul(centered, s), affine, bias is not None, x.element)

    parts = [c.tensor(part) for part in (weight, bias) if part is not None]
    out = c.fn.elementwise([x, *(keep(c, each, x, along) for each in (mean, scale)),
                            *parts], x.shape, x.element, code)
    if ".native_" not in str(c.node.target):
        return out
    return out, keep(c, mean, x, along), keep(c, scale, x, along)


@lowers("aten.rms_norm", "aten._fused_rms_norm")
def _rms_norm(c: Context, x: Tensor | Constant, sizes: Sequence[int],
              weight: Tensor | Constant | None = None, eps: float | None = None):
    x = c.tensor(x)
    element = compute_type(x.element)
    along = list(range(len(x.shape) - len(sizes), len(x.shape)))
    if eps is None:
        # PyTorch takes that of the type that it computes in.
        dtype = c.node.args[0].meta["val"].dtype
        eps = torch.finfo(torch.promote_types(dtype, torch.float32)).eps

    def square(body: Body, x: Scalar, before: Scalar) -> Scalar:
        wide = body.cast(x, element)
        return body.sum(before, body.mul(wide, wide))

    squares = c.fn.reduce([x], along, 0, element, square)
    scale = _root_of_mean(c, squares, _divided_by(c, x, along), eps)

    def code(body: Body, x: Scalar, s: Scalar, *affine: Scalar) -> Scalar:
        return _affine(body, body.mul(body.cast(x, element), s), affine, False,
                       x.element)

    parts = [] if weight is None else [c.tensor(weight)]
    out = c.fn.elementwise([x, keep(c, scale, x, along), *parts], x.shape, x.element,
                           code)
    return (out, keep(c, scale, x, along)) if "_fused" in str(c.node.target) else out


def _root_of_mean(c: Context, squares: Tensor, divided: Callable[[Body, Scalar], Scalar],
                  eps: float) -> Tensor:
    """1 / sqrt(mean + eps), with the mean that `divided` makes of a sum."""
    def code(body: Body, s: Scalar) -> Scalar:
        epsilon = body.constant(eps, s.element)
        return body.op("math.rsqrt", body.add(divided(body, s), epsilon))
    return c.fn.elementwise([squares], squares.shape, squares.element, code)


def _affine(body: Body, value: Scalar, affine: Sequence[Scalar], has_bias: bool,
            element: str) -> Scalar:
    """value · weight + bias, of those that there are."""
    parts = [body.cast(part, value.element) for part in affine]
    bias = parts.pop() if has_bias else None
    for weight in parts:
        value = body.mul(value, weight)
    if bias is not None:
        value = body.add(value, bias)
    return body.cast(value, element)
