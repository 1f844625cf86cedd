"""Operators that make each element of one element of each operand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..._mlir import Body, Scalar, Size, Tensor
from ..._mlir._scalars import BITS, compute_type, is_float
from ._context import Constant, Context, Operand, lowers

#: Makes an element of elements, all of one type.
Code = Callable[..., Scalar]


def pointwise(c: Context, operands: Sequence[Operand], code: Code,
              element: str | None = None) -> Tensor:
    """`code` of the operands as elements of `element`, by default the type that the
    result's is computed in; numbers are constants of the code."""
    compute = compute_type(element or c.element)
    tensors = [c.tensor(operand) for operand in operands if _is_tensor(operand)]

    def body(body: Body, *elements: Scalar) -> Scalar:
        left = iter(elements)
        values = [body.cast(next(left), compute) if _is_tensor(operand)
                  else _number(c, body, operand, compute) for operand in operands]
        return body.cast(code(body, *values), c.element)

    return c.fn.elementwise(tensors, c.shape, c.element, body)


def _is_tensor(operand: Operand) -> bool:
    # A constant with one element is a number of the code, which fuses.
    if isinstance(operand, Constant):
        return bool(operand.shape)
    return isinstance(operand, Tensor)


def _number(c: Context, body: Body, operand: Operand, element: str) -> Scalar:
    if isinstance(operand, Constant):
        operand = operand.tensor.item()
    if isinstance(operand, Size):
        return body.cast(Scalar(c.fn.size(operand), "index"), element)
    return body.constant(operand, element)


# One operand

def _math(name: str) -> Code:
    return lambda body, x: body.op(f"math.{name}", x)


def sigmoid(body: Body, x: Scalar) -> Scalar:
    one = body.constant(1, x.element)
    exp = body.op("math.exp", body.op("arith.negf", x))
    return body.div(one, body.add(one, exp))


def silu(body: Body, x: Scalar) -> Scalar:
    one = body.constant(1, x.element)
    exp = body.op("math.exp", body.op("arith.negf", x))
    return body.div(x, body.add(one, exp))


def gelu(body: Body, x: Scalar) -> Scalar:
    erf = body.op("math.erf", body.mul(x, body.constant(math.sqrt(0.5), x.element)))
    half = body.mul(x, body.constant(0.5, x.element))
    return body.mul(half, body.add(body.constant(1, x.element), erf))


def gelu_tanh(body: Body, x: Scalar) -> Scalar:
    cube = body.mul(body.mul(x, x), x)
    inner = body.add(x, body.mul(cube, body.constant(0.044715, x.element)))
    scaled = body.mul(inner, body.constant(math.sqrt(2 / math.pi), x.element))
    half = body.mul(x, body.constant(0.5, x.element))
    return body.mul(half, body.add(body.constant(1, x.element),
                                   body.op("math.tanh", scaled)))


def relu(body: Body, x: Scalar) -> Scalar:
    return body.maximum(x, body.constant(0, x.element))


def _negate(body: Body, x: Scalar) -> Scalar:
    if is_float(x.element):
        return body.op("arith.negf", x)
    return body.sub(body.constant(0, x.element), x)


def _absolute(body: Body, x: Scalar) -> Scalar:
    if x.element == "u8":
        return x
    return body.op("math.absf" if is_float(x.element) else "math.absi", x)


def _reciprocal(body: Body, x: Scalar) -> Scalar:
    return body.div(body.constant(1, x.element), x)


_UNARY: dict[str, Code] = {
    **{f"aten.{name}": _math(name) for name in
       ("exp", "log", "sqrt", "rsqrt", "tanh", "sin", "cos", "erf", "floor", "ceil",
        "log1p", "expm1", "trunc", "log2", "exp2", "erfc")},
    "aten.round": _math("roundeven"), "aten.relu": relu, "aten.silu": silu,
    "aten.sigmoid": sigmoid, "aten.neg": _negate, "aten.abs": _absolute,
    "aten.reciprocal": _reciprocal, "aten.square": lambda body, x: body.mul(x, x),
}

for _name, _code in _UNARY.items():
    def _unary(c: Context, x: Operand, _code: Code = _code) -> Tensor:
        return pointwise(c, [x], _code)
    lowers(_name)(_unary)


@lowers("aten.gelu")
def _gelu(c: Context, x: Tensor, approximate: str = "none") -> Tensor:
    return pointwise(c, [x], gelu_tanh if approximate == "tanh" else gelu)


@lowers("aten.leaky_relu")
def _leaky_relu(c: Context, x: Tensor, slope: float = 0.01) -> Tensor:
    def code(body: Body, x: Scalar) -> Scalar:
        zero = body.constant(0, x.element)
        low = body.mul(x, body.constant(slope, x.element))
        return body.select(body.compare("gt", x, zero), x, low)
    return pointwise(c, [x], code)


@lowers("aten.elu")
def _elu(c: Context, x: Tensor, alpha: float = 1, scale: float = 1,
         input_scale: float = 1) -> Tensor:
    def code(body: Body, x: Scalar) -> Scalar:
        exp = body.op("math.expm1", body.mul(x, body.constant(input_scale, x.element)))
        low = body.mul(exp, body.constant(alpha, x.element))
        above = body.compare("gt", x, body.constant(0, x.element))
        return body.mul(body.select(above, x, low), body.constant(scale, x.element))
    return pointwise(c, [x], code)


@lowers("aten.clamp", "aten.hardtanh", "aten.clamp_min", "aten.clamp_max")
def _clamp(c: Context, x: Operand, low: Operand | None = None,
           high: Operand | None = None) -> Tensor:
    if str(c.node.target).startswith("aten.clamp_max"):
        low, high = None, low
    if str(c.node.target).startswith("aten.hardtanh"):
        low, high = -1 if low is None else low, 1 if high is None else high
    result = x
    for bound, name in ((low, "maximum"), (high, "minimum")):
        if bound is not None:
            result = pointwise(c, [result, bound], lambda body, a, b, name=name:
                               getattr(body, name)(a, b))
    return c.tensor(result)


@lowers("aten.logical_not", "aten.bitwise_not")
def _not(c: Context, x: Operand) -> Tensor:
    ones = True if c.element == "i1" else -1
    element = "i1" if ".logical_" in str(c.node.target) else c.element
    return pointwise(c, [x], lambda body, x: body.op(
        "arith.xori", x, body.constant(ones, element)), element)


@lowers("aten.__lshift__", "aten.bitwise_left_shift", "aten.__rshift__",
        "aten.bitwise_right_shift")
def _shift(c: Context, x: Operand, count: Operand) -> Tensor:
    """By as many bits as the type has, or more, all are shifted out, as on a CPU."""
    if not isinstance(c.element, str) or is_float(c.element):
        raise c.refuse(f"whole numbers to shift, but got {c.element}")
    is_left = "l" in str(c.node.target).split(".")[1].removeprefix("bitwise_")[:3]
    bits = BITS[c.element]

    def code(body: Body, x: Scalar, count: Scalar) -> Scalar:
        zero, last = (body.constant(value, c.element) for value in (0, bits - 1))
        is_beyond = body.op("arith.ori", body.compare("gt", count, last),
                            body.compare("lt", count, zero))
        count = body.select(is_beyond, last, count)
        if is_left:
            return body.select(is_beyond, zero, body.op("arith.shli", x, count))
        if c.element == "u8":
            return body.select(is_beyond, zero, body.op("arith.shrui", x, count))
        return body.op("arith.shrsi", x, count)

    return pointwise(c, [x, count], code)


@lowers("aten.isnan")
def _isnan(c: Context, x: Operand) -> Tensor:
    return pointwise(c, [x], lambda body, x: body.compare("ne", x, x),
                     c.result_element(c.node.args[0]))


# Types

@lowers("aten._to_copy", "aten.clone", "aten.alias", "aten.detach", "aten.contiguous",
        "aten.lift_fresh_copy", "aten.lift_fresh", "aten.to", "aten.dropout",
        "prims.convert_element_type")
def cast(c: Context, x: Tensor | Constant, *_args, **_options) -> Tensor:
    x = c.tensor(x)
    if x.element == c.element:
        return x
    return c.fn.elementwise([x], c.shape, c.element,
                            lambda body, x: body.cast(x, c.element))


# Two operands

def _scaled(code: Code, alpha: float) -> Code:
    if alpha == 1:
        return code
    return lambda body, a, b: code(body, a, body.mul(b, body.constant(alpha,
                                                                     b.element)))


@lowers("aten.add")
def _add(c: Context, a: Operand, b: Operand, *, alpha: float = 1) -> Tensor:
    if c.element == "i1":
        return pointwise(c, [a, b], lambda body, a, b: body.op("arith.ori", a, b))
    return pointwise(c, [a, b], _scaled(lambda body, a, b: body.add(a, b), alpha))


@lowers("aten.sub")
def _sub(c: Context, a: Operand, b: Operand, *, alpha: float = 1) -> Tensor:
    return pointwise(c, [a, b], _scaled(lambda body, a, b: body.sub(a, b), alpha))


@lowers("aten.rsub")
def _rsub(c: Context, a: Operand, b: Operand, alpha: float = 1) -> Tensor:
    return pointwise(c, [b, a], _scaled(lambda body, b, a: body.sub(b, a), alpha))


@lowers("aten.mul")
def _mul(c: Context, a: Operand, b: Operand) -> Tensor:
    if c.element == "i1":
        return pointwise(c, [a, b], lambda body, a, b: body.op("arith.andi", a, b))
    return pointwise(c, [a, b], lambda body, a, b: body.mul(a, b))


@lowers("aten.maximum", "aten.minimum")
def _extreme(c: Context, a: Operand, b: Operand) -> Tensor:
    name = str(c.node.target).split(".")[1]
    return pointwise(c, [a, b], lambda body, a, b: getattr(body, name)(a, b))


@lowers("aten.pow")
def _pow(c: Context, a: Operand, b: Operand) -> Tensor:
    if isinstance(b, (int, float)) and b in _POWERS:
        return pointwise(c, [a], _POWERS[b])
    if not is_float(c.element):
        raise c.refuse(f"a power of floats, or one to 2 or 3, but got {c.element}")
    return pointwise(c, [a, b], lambda body, a, b: body.op("math.powf", a, b))


_POWERS: dict[float, Code] = {
    1: lambda body, x: x,
    2: lambda body, x: body.mul(x, x),
    3: lambda body, x: body.mul(body.mul(x, x), x),
    0.5: _math("sqrt"), -0.5: _math("rsqrt"), -1: _reciprocal,
}


def _comparison(relation: str):
    def lowering(c: Context, a: Operand, b: Operand) -> Tensor:
        element = c.result_element(*c.node.args[:2])
        return pointwise(c, [a, b], lambda body, a, b: body.compare(relation, a, b),
                         element)
    return lowering


for _relation in ("eq", "ne", "lt", "le", "gt", "ge"):
    lowers(f"aten.{_relation}")(_comparison(_relation))


def _logic(op: str, logical: bool):
    def lowering(c: Context, a: Operand, b: Operand) -> Tensor:
        element = "i1" if logical else c.element
        return pointwise(c, [a, b], lambda body, a, b: body.op(op, a, b), element)
    return lowering


for _op in ("and", "or", "xor"):
    lowers(f"aten.logical_{_op}")(_logic(f"arith.{_op}i", logical=True))
    lowers(f"aten.bitwise_{_op}")(_logic(f"arith.{_op}i", logical=False))


# Choices

@lowers("aten.where")
def _where(c: Context, condition: Tensor, a: Operand, b: Operand) -> Tensor:
    return choose(c, condition, a, b)


@lowers("aten.masked_fill")
def _masked_fill(c: Context, x: Operand, mask: Tensor, value: Operand) -> Tensor:
    return choose(c, mask, value, x)


def choose(c: Context, condition: Operand, a: Operand, b: Operand) -> Tensor:
    """`a` where the condition holds, else `b`."""
    operands = [operand for operand in (a, b) if _is_tensor(operand)]
    tensors = [c.tensor(each) for each in (condition, *operands)]

    def code(body: Body, chosen: Scalar, *elements: Scalar) -> Scalar:
        left = iter(elements)
        values = [body.cast(next(left), c.element) if _is_tensor(operand)
                  else _number(c, body, operand, c.element) for operand in (a, b)]
        return body.select(body.cast(chosen, "i1"), *values)

    return c.fn.elementwise(tensors, c.shape, c.element, code)
