"""Quotients and remainders."""

from __future__ import annotations

from ..._mlir import Body, Scalar, Tensor
from ..._mlir._scalars import is_float
from ._context import Context, Operand, lowers
from ._elementwise import pointwise


@lowers("aten.div")
def _div(c: Context, a: Operand, b: Operand, *, rounding_mode: str | None = None
         ) -> Tensor:
    def code(body: Body, a: Scalar, b: Scalar) -> Scalar:
        if not is_float(a.element):
            name = "floordivsi" if rounding_mode == "floor" else "divsi"
            return _whole(body, a, b, f"arith.{name}")
        if rounding_mode == "floor":
            return _floored(body, a, b)
        result = body.div(a, b)
        return body.op("math.trunc", result) if rounding_mode else result
    return pointwise(c, [a, b], code)


@lowers("aten.fmod", "aten.remainder")
def _remainder(c: Context, a: Operand, b: Operand) -> Tensor:
    def code(body: Body, a: Scalar, b: Scalar) -> Scalar:
        rest = (body.op("arith.remf", a, b) if is_float(a.element)
                else _whole(body, a, b, "arith.remsi"))
        if ".fmod" in str(c.node.target):
            return rest
        # PyTorch's remainder has the divisor's sign.
        return body.select(_signs_differ(body, rest, b), body.add(rest, b), rest)
    return pointwise(c, [a, b], code)


def _signs_differ(body: Body, rest: Scalar, b: Scalar) -> Scalar:
    """Whether a remainder has not the divisor's sign."""
    zero = body.constant(0, b.element)
    signs = (body.compare("lt", each, zero) for each in (rest, b))
    return body.op("arith.andi", body.op("arith.xori", *signs),
                   body.compare("ne", rest, zero))


def _whole(body: Body, a: Scalar, b: Scalar, name: str) -> Scalar:
    """`name` of whole numbers. By 0 the result is 0, where PyTorch raises and a
    processor ends the program, as it does for the least number by -1."""
    if a.element == "u8":
        wide = (body.cast(each, "i32") for each in (a, b))
        return body.cast(_whole(body, *wide, name), "u8")
    zero, one = (body.constant(value, a.element) for value in (0, 1))
    is_zero = body.compare("eq", b, zero)
    is_minus = body.compare("eq", b, body.constant(-1, a.element))
    other = body.op(name, a, body.select(body.op("arith.ori", is_zero, is_minus),
                                         one, b))
    by_minus = zero if name == "arith.remsi" else body.sub(zero, a)
    return body.select(is_zero, zero, body.select(is_minus, by_minus, other))


def _floored(body: Body, a: Scalar, b: Scalar) -> Scalar:
    """a // b of floats by the remainder, as Python and PyTorch have it: a / b rounds
    1 / 0.1 up to 10, where 1 // 0.1 is 9."""
    rest = body.op("arith.remf", a, b)
    quotient = body.div(body.sub(a, rest), b)
    lower = body.sub(quotient, body.constant(1, a.element))
    quotient = body.select(_signs_differ(body, rest, b), lower, quotient)
    # A whole number but for the rounding of the subtraction and the division.
    floor = body.op("math.floor", quotient)
    is_short = body.compare("gt", body.sub(quotient, floor),
                            body.constant(0.5, a.element))
    higher = body.add(floor, body.constant(1, a.element))
    result = body.select(is_short, higher, floor)
    by_zero = body.compare("eq", b, body.constant(0, a.element))
    return body.select(by_zero, body.div(a, b), result)
