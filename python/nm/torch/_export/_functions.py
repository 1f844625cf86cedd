"""Functions of single elements, as others that have lowerings."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import torch
from torch import Tensor

_ATEN = torch.ops.aten
_LN2 = math.log(2)
#: From where on x² + 1 is x², and so are their roots in f64.
_LARGE = 2. ** 28


def _wide(function: Callable) -> Callable:
    """The function in f32 at least, with whole numbers as floats."""
    @functools.wraps(function)
    def of_wide(*args: Tensor | float) -> Tensor:
        given = torch.result_type(*args) if len(args) == 2 else args[0].dtype
        dtype = given if given.is_floating_point else torch.get_default_dtype()
        wide = torch.promote_types(dtype, torch.float32)
        return function(*(each.to(wide) if isinstance(each, Tensor) else
                          torch.full((), each, dtype=wide) for each in args)).to(dtype)
    return of_wide


def _with_sign(magnitude: Tensor, x: Tensor) -> Tensor:
    """Of a function of x that is -0 at -0."""
    return torch.where(x == 0, x, torch.where(x < 0, -magnitude, magnitude))


def _arctangent(x: Tensor) -> Tensor:
    """Of 0 <= x <= 1: its angle is four times that of x / (1 + sqrt(1 + x²)) taken twice,
    at most 0.2, of which a few powers are left."""
    for _ in range(2):
        x = x / (1 + torch.sqrt(1 + x * x))
    square, total = x * x, 0
    for power in range(23, 0, -2):
        total = total * square + (-1) ** (power // 2) / power
    return 4 * x * total


@_wide
def atan(x: Tensor) -> Tensor:
    size = x.abs()
    is_large = size > 1
    angle = _arctangent(torch.where(is_large, 1 / size, size))
    return _with_sign(torch.where(is_large, math.pi / 2 - angle, angle), x)


@_wide
def atan2(y: Tensor, x: Tensor) -> Tensor:
    a, b = y.abs(), x.abs()
    is_steep = a > b
    low, high = torch.where(is_steep, b, a), torch.where(is_steep, a, b)
    # Both are 0, or both infinite.
    ratio = torch.where(high == 0, 0, torch.where(low == torch.inf, 1, low / high))
    angle = _arctangent(ratio)
    angle = torch.where(is_steep, math.pi / 2 - angle, angle)
    angle = torch.where(signbit(x), math.pi - angle, angle)
    return torch.where(signbit(y), -angle, angle)


def _arcsine(x: Tensor) -> tuple[Tensor, Tensor]:
    """An angle of each |x| <= 1, and whether |x| > 1/2: there the angle is half of acos|x|,
    because the slope of asin is infinite at 1, and elsewhere it is asin|x|."""
    size = x.abs()
    near = size > 0.5
    root = torch.sqrt(torch.where(near, (1 - size) / 2, size * size))
    return _arctangent(root / torch.sqrt(1 - root * root)), near


@_wide
def asin(x: Tensor) -> Tensor:
    angle, near = _arcsine(x)
    return _with_sign(torch.where(near, math.pi / 2 - 2 * angle, angle), x)


@_wide
def acos(x: Tensor) -> Tensor:
    angle, near = _arcsine(x)
    of_size = torch.where(near, 2 * angle, math.pi / 2 - angle)
    return torch.where(x < 0, math.pi - of_size, of_size)


@_wide
def tan(x: Tensor) -> Tensor:
    return torch.sin(x) / torch.cos(x)


@_wide
def sinh(x: Tensor) -> Tensor:
    size = x.abs()
    small = torch.expm1(size.clamp(max=1))
    # Halves before the exponentials, which may be infinite where their halves are not.
    large = torch.exp(size - _LN2) - torch.exp(-size - _LN2)
    return _with_sign(torch.where(size > 1, large, (small + small / (small + 1)) / 2), x)


@_wide
def cosh(x: Tensor) -> Tensor:
    size = x.abs()
    return torch.exp(size - _LN2) + torch.exp(-size - _LN2)


@_wide
def asinh(x: Tensor) -> Tensor:
    size = x.abs()
    some = size.clamp(max=_LARGE)
    found = torch.log1p(some + some * some / (1 + torch.sqrt(some * some + 1)))
    return _with_sign(torch.where(size > _LARGE, torch.log(size) + _LN2, found), x)


@_wide
def acosh(x: Tensor) -> Tensor:
    above = x.clamp(max=_LARGE) - 1
    found = torch.log1p(above + torch.sqrt(above * (above + 2)))
    found = torch.where(x > _LARGE, torch.log(x) + _LN2, found)
    return torch.where(x < 1, torch.nan, found)


@_wide
def atanh(x: Tensor) -> Tensor:
    size = x.abs()
    return _with_sign(torch.log1p(2 * size / (1 - size)) / 2, x)


@_wide
def log10(x: Tensor) -> Tensor:
    return torch.log2(x) * math.log10(2)


@_wide
def hypot(x: Tensor, y: Tensor) -> Tensor:
    x, y = x.abs(), y.abs()
    high, low = torch.maximum(x, y), torch.minimum(x, y)
    ratio = low / high
    found = high * torch.sqrt(1 + ratio * ratio)
    found = torch.where(high == 0, high, found)
    return torch.where((x == torch.inf) | (y == torch.inf), torch.inf, found)


def signbit(x: Tensor) -> Tensor:
    """A NaN counts as positive."""
    if not x.is_floating_point():
        return x < 0
    return (x < 0) | ((x == 0) & (1 / x < 0))


def copysign(x: Tensor, y: Tensor | float) -> Tensor:
    if not isinstance(y, Tensor):
        y = torch.full((), y, dtype=torch.get_default_dtype())
    dtype = torch.result_type(x, y)
    size = x.to(dtype if dtype.is_floating_point else torch.get_default_dtype()).abs()
    return torch.where(signbit(y), -size, size)


def fmax(x: Tensor, y: Tensor) -> Tensor:
    return _number_of(torch.maximum, x, y)


def fmin(x: Tensor, y: Tensor) -> Tensor:
    return _number_of(torch.minimum, x, y)


def _number_of(choose: Callable, x: Tensor, y: Tensor) -> Tensor:
    """What is no NaN, of two numbers the one that `choose` takes."""
    return torch.where(torch.isnan(x), y, torch.where(torch.isnan(y), x, choose(x, y)))


def round_decimals(x: Tensor, *, decimals: int) -> Tensor:
    if decimals == 0 or not x.is_floating_point():
        return torch.round(x) if decimals == 0 else NotImplemented
    scale = 10. ** abs(decimals)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    found = (torch.round(wide * scale) / scale if decimals > 0
             else torch.round(wide / scale) * scale)
    return found.to(x.dtype)


def decompositions() -> dict[torch._ops.OperatorBase, Callable]:
    ours = (atan, atan2, asin, acos, tan, sinh, cosh, asinh, acosh, atanh, log10, hypot,
            signbit, fmax, fmin)
    return {**{getattr(_ATEN, each.__name__).default: each for each in ours},
            _ATEN.copysign.Tensor: copysign, _ATEN.copysign.Scalar: copysign,
            _ATEN.round.decimals: round_decimals}
