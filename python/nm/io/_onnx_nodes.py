"""What an ONNX graph does with its weights: along which axis they are summed, and
what quantized ones are multiplied with."""

from __future__ import annotations

from dataclasses import dataclass, field

#: In place of an axis: rows are looked up.
LOOKED_UP = "looked up"
# Of products, the inputs that are A and B, and the attributes that transpose them.
_PRODUCTS = {"MatMul": (0, 1), "FusedMatMul": (0, 1), "Gemm": (0, 1),
             "MatMulInteger": (0, 1), "MatMulIntegerToFloat": (0, 1),
             "DynamicQuantizeMatMul": (0, 1), "QLinearMatMul": (0, 3), "QGemm": (0, 3)}
# Zero points of a quantized B, by the product's inputs.
_ZERO_POINTS = {"MatMulInteger": 3, "MatMulIntegerToFloat": 5,
                "DynamicQuantizeMatMul": 3, "QLinearMatMul": 5, "QGemm": 5}
_SCALES = {"MatMulIntegerToFloat": 3, "DynamicQuantizeMatMul": 2, "QLinearMatMul": 4,
           "QGemm": 4}
# The input of a convolution that is its filter.
_FILTERS = {"Conv": 1, "ConvInteger": 1, "QLinearConv": 3}
_SAME = ("DequantizeLinear", "QuantizeLinear", "Cast", "Identity")


@dataclass
class Node:
    """A node of a graph; attributes are lists of integers."""

    op: str = ""
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    attributes: dict[str, list[int]] = field(default_factory=dict)

    def number(self, name: str, default: int = 0) -> int:
        return (self.attributes.get(name) or [default])[0]

    def input(self, place: int) -> str | None:
        """The name of an input, or None where it is left out."""
        return self.inputs[place] if place < len(self.inputs) and self.inputs[
            place] else None


@dataclass(frozen=True)
class Quantization:
    """The names of a weight's scales and zero points, and along which axis they are,
    each for `block` elements."""

    scale: str | None
    zero_point: str | None
    axis: int
    block: int


class Nodes:
    """The nodes of a model."""

    def __init__(self, nodes: list[Node]):
        self._uses: dict[str, list[tuple[Node, int]]] = {}
        for node in nodes:
            for place, name in enumerate(node.inputs):
                self._uses.setdefault(name, []).append((node, place))

    def axes(self, name: str) -> set:
        """The axes of the matrix `name` that products sum over; LOOKED_UP where rows of
        it are taken."""
        found: set = set()
        pending = [(name, False)]
        seen = set(pending)
        # Of a file from anywhere the chains of nodes may be as long as it likes.
        while pending:
            each, transposed = pending.pop()
            for node, place in self._uses.get(each, ()):
                following = _passed_on(node, place, transposed)
                if following is not None and following not in seen:
                    seen.add(following)
                    pending.append(following)
                elif node.op == "Gather" and place == 0:
                    found.add(LOOKED_UP)
                elif place in _PRODUCTS.get(node.op, ()):
                    axis = _axis_in(node, place)
                    found.add(1 - axis if transposed else axis)
        return found

    def filter_groups(self, name: str) -> int | None:
        """The groups of the convolutions whose filter `name` is; None where it is none's,
        or where they differ."""
        found: set[int] = set()
        pending, seen = [name], {name}
        while pending:
            for node, place in self._uses.get(pending.pop(), ()):
                if place == 0 and node.op in _SAME and node.outputs[0] not in seen:
                    seen.add(node.outputs[0])
                    pending.append(node.outputs[0])
                elif place == _FILTERS.get(node.op):
                    found.add(node.number("group", 1))
        return found.pop() if len(found) == 1 else None

    def quantization(self, name: str) -> Quantization | None:
        """How the quantized weight `name` is scaled, by the first node that says it."""
        for node, place in self._uses.get(name, ()):
            if node.op == "DequantizeLinear" and place == 0:
                return Quantization(node.input(1), node.input(2),
                                    node.number("axis", 1), node.number("block_size"))
            if place == _PRODUCTS.get(node.op, (0, -1))[1] and node.op in _ZERO_POINTS:
                return Quantization(node.input(_SCALES.get(node.op, 99)),
                                    node.input(_ZERO_POINTS[node.op]), 1, 0)
        return None


def _passed_on(node: Node, place: int, transposed: bool) -> tuple[str, bool] | None:
    """The output that is the matrix at an input, and whether it is transposed; None
    where the node makes another of it."""
    if place != 0 or not node.outputs:
        return None
    if node.op in _SAME:
        return node.outputs[0], transposed
    if node.op == "Transpose":
        swaps = node.attributes.get("perm") in (None, [], [1, 0])
        return node.outputs[0], transposed != swaps
    return None


def _axis_in(node: Node, place: int) -> int:
    """The axis of a product's matrix at `place` that it sums over."""
    is_left = place == _PRODUCTS[node.op][0]
    transposed = node.number("transA" if is_left else "transB")
    return (1 if is_left else 0) ^ (1 if transposed else 0)
