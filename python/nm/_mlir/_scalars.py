"""Arithmetic on elements: the body of a linalg.generic."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, NamedTuple, Sequence

if TYPE_CHECKING:
    from ._function import FunctionText, Tensor

#: Of each type.
BITS = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16,
        "i64": 64, "i32": 32, "i8": 8, "u8": 8, "i1": 1}
#: Types whose numbers are not negative.
_UNSIGNED = ("u8", "i1")
_PREDICATES = {"eq": ("oeq", "eq"), "ne": ("une", "ne"), "lt": ("olt", "slt"),
               "le": ("ole", "sle"), "gt": ("ogt", "sgt"), "ge": ("oge", "sge")}


class Scalar(NamedTuple):
    """An element: its name and its type."""

    name: str
    element: str


def is_float(element: str) -> bool:
    return element.startswith(("f", "bf"))


def mlir_type(element: str) -> str:
    """MLIR's name, of which whole numbers with a sign and without have the same."""
    return "i8" if element == "u8" else element


def compute_type(element: str) -> str:
    """The type that arithmetic on `element` is done in."""
    return "f32" if element in ("f16", "bf16") else element


class Body:
    """Adds operations on elements to a function's text."""

    def __init__(self, function: FunctionText, indent: str):
        self._function, self._indent = function, indent

    def op(self, name: str, *operands: Scalar, flags: str = "",
           element: str | None = None) -> Scalar:
        """``%r = name %a, %b flags : type``, of the type of the operands."""
        result = self._function.fresh()
        names = ", ".join(operand.name for operand in operands)
        self.line(f"{result} = {name} {names}{flags and ' ' + flags} : "
                  f"{mlir_type(operands[-1].element)}")
        return Scalar(result, element or operands[-1].element)

    def line(self, text: str) -> None:
        self._function.line(self._indent + text)

    def constant(self, value: float | int | bool, element: str) -> Scalar:
        result = self._function.fresh()
        self.line(f"{result} = arith.constant {literal(value, element)}")
        return Scalar(result, element)

    def loop(self, number: int, element: str = "i64") -> Scalar:
        """The number of the iteration along a loop."""
        place, result = self._function.fresh(), self._function.fresh()
        self.line(f"{place} = linalg.index {number} : index")
        if element == "index":
            return Scalar(place, element)
        self.line(f"{result} = arith.index_cast {place} : index to {mlir_type(element)}")
        return Scalar(result, element)

    def extract(self, tensor: Tensor, places: Sequence[Scalar]) -> Scalar:
        result = self._function.fresh()
        names = ", ".join(self.cast(place, "index").name for place in places)
        self.line(f"{result} = tensor.extract {tensor.name}[{names}] : {tensor.type}")
        return Scalar(result, tensor.element)

    def cast(self, value: Scalar, element: str) -> Scalar:
        """`value` as an element of another type, as C casts: floats to whole
        numbers towards zero, and to booleans by whether they are zero."""
        old = value.element
        if old == element:
            return value
        if element == "i1":
            return self.compare("ne", value, self.constant(0, old))
        if old == "index" and element not in ("i64", "i32"):
            return self.cast(self.cast(value, "i64"), element)
        if "index" in (old, element):
            return self._convert("arith.index_cast", value, element)
        if is_float(old) and is_float(element):
            return self._cast_float(value, element)
        if is_float(element):
            name = "arith.uitofp" if old in _UNSIGNED else "arith.sitofp"
            return self._convert(name, value, element)
        if is_float(old):
            if element == "u8":
                # As PyTorch has it, of numbers below 0 and above 255, too.
                return self.cast(self._convert("arith.fptosi", value, "i64"), element)
            return self._convert("arith.fptosi", value, element)
        if BITS[old] == BITS[element]:
            return Scalar(value.name, element)
        if BITS[old] > BITS[element]:
            return self._convert("arith.trunci", value, element)
        return self._convert("arith.extui" if old in _UNSIGNED else "arith.extsi",
                             value, element)

    def _cast_float(self, value: Scalar, element: str) -> Scalar:
        old = value.element
        if BITS[old] == BITS[element]:
            value, old = self._convert("arith.extf", value, "f32"), "f32"
        name = "arith.extf" if BITS[old] < BITS[element] else "arith.truncf"
        return self._convert(name, value, element)

    def bits(self, value: Scalar, element: str) -> Scalar:
        """The same bits as an element of another type."""
        return self._convert("arith.bitcast", value, element)

    def _convert(self, name: str, value: Scalar, element: str) -> Scalar:
        result = self._function.fresh()
        self.line(f"{result} = {name} {value.name} : {mlir_type(value.element)} to "
                  f"{mlir_type(element)}")
        return Scalar(result, element)

    def _pick(self, floating: str, whole: str, a: Scalar, b: Scalar,
              unsigned: str | None = None) -> Scalar:
        if is_float(a.element):
            return self.op(f"arith.{floating}", a, b)
        is_unsigned = unsigned and a.element in _UNSIGNED
        return self.op(f"arith.{unsigned if is_unsigned else whole}", a, b)

    def add(self, a: Scalar, b: Scalar) -> Scalar:
        return self._pick("addf", "addi", a, b)

    def sum(self, a: Scalar, b: Scalar) -> Scalar:
        """An addition of a sum, whose terms may be added in any order."""
        if not is_float(a.element):
            return self.add(a, b)
        return self.op("arith.addf", a, b, flags="fastmath<reassoc>")

    def sub(self, a: Scalar, b: Scalar) -> Scalar:
        return self._pick("subf", "subi", a, b)

    def mul(self, a: Scalar, b: Scalar) -> Scalar:
        return self._pick("mulf", "muli", a, b)

    def div(self, a: Scalar, b: Scalar) -> Scalar:
        return self._pick("divf", "divsi", a, b, "divui")

    def maximum(self, a: Scalar, b: Scalar) -> Scalar:
        return self._pick("maximumf", "maxsi", a, b, "maxui")

    def minimum(self, a: Scalar, b: Scalar) -> Scalar:
        return self._pick("minimumf", "minsi", a, b, "minui")

    def compare(self, relation: str, a: Scalar, b: Scalar) -> Scalar:
        """Of ``"eq"``, ``"ne"``, ``"lt"``, ``"le"``, ``"gt"``, ``"ge"``."""
        floating = is_float(a.element)
        result, predicate = self._function.fresh(), _PREDICATES[relation][not floating]
        if a.element in _UNSIGNED:
            predicate = predicate.replace("s", "u")
        self.line(f"{result} = arith.cmp{'f' if floating else 'i'} {predicate}, "
                  f"{a.name}, {b.name} : {mlir_type(a.element)}")
        return Scalar(result, "i1")

    def select(self, condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
        result = self._function.fresh()
        self.line(f"{result} = arith.select {condition.name}, {a.name}, {b.name} : "
                  f"{mlir_type(a.element)}")
        return Scalar(result, a.element)


def literal(value: float | int | bool, element: str) -> str:
    """A number as MLIR has it, with its type."""
    if element == "i1":
        return "true" if value else "false"
    if not is_float(element):
        return f"{int(value)} : {mlir_type(element)}"
    value = float(value)
    if not math.isfinite(value):
        return f"0x{_bits_of(value, element):0{BITS[element] // 4}X} : {element}"
    text = repr(value)
    return f"{text if '.' in text else text.replace('e', '.0e')} : {element}"


def _bits_of(value: float, element: str) -> int:
    formats = {"f64": ("<d", "<Q"), "f32": ("<f", "<I"), "f16": ("<e", "<H")}
    if element == "bf16":
        return _bits_of(value, "f32") >> 16
    float_format, int_format = formats[element]
    return struct.unpack(int_format, struct.pack(float_format, value))[0]
