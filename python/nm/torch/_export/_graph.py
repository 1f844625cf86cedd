"""From torch.export's graph to the text of a function."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy
import torch
from torch import fx
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind, TensorArgument

from ..._errors import Error
from ..._mlir import Dim, FunctionText, Size, Tensor
from ..._mlir._sizes import describe, product, symbol
from . import (_convolutions, _creation, _division, _elementwise,  # noqa: F401
               _products, _reductions, _selection, _shapes, _updates)
from ._bags import write_bags_of_rows
from ._complex import write_real
from ._context import (LOWERINGS, UPDATES, Constant, Context, constant_of, element_of,
                       name_of, where, written_targets)
from ._decompositions import decompositions
from ._updates import views_of

# Decompositions that would take apart what is lowered as a whole.
_WHOLE = ("linear", "scaled_dot_product_attention", "silu", "rms_norm", "layer_norm",
          "index_copy", "argmax", "logsumexp")
# What dropout and batch normalization are in training mode.
_OF_TRAINING = ("aten.native_dropout", "aten.dropout", "aten.bernoulli",
                "aten._native_batch_norm_legit_functional", "aten.rrelu_with_noise")
# Checks of sizes and types, which the compiled function has no way to fail at.
_CHECKS = {"aten._assert_tensor_metadata", "aten._assert_scalar",
           "aten.sym_constrain_range_for_size", "aten.sym_constrain_range"}


@dataclass
class Lowered:
    """A function's text and what belongs to it.

    Attributes:
        name: the function's.
        resources: the constants of the text by key.
        inputs: the places of the function's arguments among the model's flat ones.
        results: for each flat result of the model its place among the function's, or
            the value itself where it is no tensor: an expression of sizes, too.
        dtypes: the types of the function's results, of which booleans and numbers of 8
            bits without a sign are i8 in the function.
        states: the buffers that the model writes, as they are before the first call.
            They are the last arguments, which the function updates in place.
        sizes: for each symbol of a size an argument and its dimension.
        joined: of each result of the function how many of its dimensions, in turn, are
            one of the model's: of x.view(-1, 8), [batch, tokens, 8], it is [2, 1].
        last_inputs, last_results: the places of the function's arguments and results
            whose channels, dimension 1 of the model's, are their last dimension.
    """

    name: str
    text: str
    resources: dict[str, torch.Tensor]
    inputs: list[int]
    results: list[tuple[bool, Any]]
    dtypes: list[torch.dtype]
    states: dict[str, torch.Tensor] = field(default_factory=dict)
    sizes: dict[sympy.Symbol, tuple[int, int]] = field(default_factory=dict)
    joined: list[list[int]] = field(default_factory=list)
    last_inputs: set[int] = field(default_factory=set)
    last_results: set[int] = field(default_factory=set)


def core_aten(program: ExportedProgram) -> ExportedProgram:
    """The program in core ATen operators, and those that are lowered whole."""
    write_bags_of_rows(program)
    write_real(program)
    table = torch.export.default_decompositions()
    table.update(decompositions())
    for name in _WHOLE:
        packet = getattr(torch.ops.aten, name)
        for overload in packet.overloads():
            table.pop(getattr(packet, overload), None)
    return program.run_decompositions(table)


def lower(program: ExportedProgram, name: str, channels_last: bool = False) -> Lowered:
    return _Lowering(program, name, channels_last).run()


class _Lowering:
    def __init__(self, program: ExportedProgram, name: str, channels_last: bool):
        self._program, self._fn = program, FunctionText(name)
        self._channels_last = channels_last
        self._last_inputs: set[int] = set()
        self._values: dict[fx.Node, Any] = {}
        self._resources: dict[str, torch.Tensor] = {}
        self._inputs: list[int] = []
        self._states: dict[str, torch.Tensor] = {}
        # By the name of an argument or a buffer that the model writes.
        self._updated: dict[str, Tensor] = {}
        self._updated_nodes: list[fx.Node] = []
        self._sizes: dict[sympy.Symbol, tuple[int, int]] = {}
        # The nodes that stand for arguments and constants.
        self._given: set[fx.Node] = set()

    def run(self) -> Lowered:
        self._check_operators()
        self._read_inputs()
        for node in self._program.graph.nodes:
            if node.op == "call_function":
                self._values[node] = self._lower(node)
        return self._finish()

    def _check_operators(self) -> None:
        """Refuses all that has no lowering at once."""
        unknown: dict[str, list[str]] = {}
        for node in self._program.graph.nodes:
            if node.op == "call_function" and not self._is_known(node):
                unknown.setdefault(str(node.target), []).append(where(node))
        if unknown:
            listed = "; ".join(f"{name} in {_first(places)}"
                               for name, places in unknown.items())
            trains = any(name.startswith(_OF_TRAINING) for name in unknown)
            advice = ("; the model is in training mode: call its eval() before"
                      if trains else "; a number that item() reads of a tensor is to stay "
                      "a tensor" if "aten._local_scalar_dense.default" in unknown else "")
            raise Error("expected operators that nm.torch.export knows, but the model "
                        f"has {listed}{advice}")

    def _is_known(self, node: fx.Node) -> bool:
        value = node.meta.get("val")
        return (isinstance(value, (int, torch.SymInt, torch.SymBool, bool))
                or node.target is operator.getitem or name_of(node.target) in _CHECKS
                or name_of(node.target) in LOWERINGS)

    def _read_inputs(self) -> None:
        program = self._program
        user_inputs = 0
        nodes = {node.name: node for node in program.graph.nodes}
        written = written_targets(program)
        states = []
        for spec in program.graph_signature.input_specs:
            node = nodes[spec.arg.name]
            self._given.add(node)
            if spec.kind == InputKind.USER_INPUT:
                if isinstance(spec.arg, TensorArgument):
                    if node.name not in written and self._is_last(node):
                        self._last_inputs.add(len(self._inputs))
                    self._note_sizes(node, len(self._inputs))
                    self._inputs.append(user_inputs)
                    self._values[node] = (
                        self._updated_argument(node, node.name)
                        if node.name in written else self._argument(node))
                user_inputs += 1
            elif spec.kind == InputKind.BUFFER and spec.target in written:
                states.append((spec, node))
            elif spec.kind in (InputKind.PARAMETER, InputKind.BUFFER,
                               InputKind.CONSTANT_TENSOR):
                self._values[node] = self._constant(spec)
            else:
                raise Error(f"{spec.target}: expected parameters, buffers and tensors "
                            f"as constants of the model, but got a {spec.kind.name}")
        for spec, node in states:
            self._states[spec.target] = self._constant(spec).tensor
            self._values[node] = self._updated_argument(node, spec.target)

    def _is_last(self, node: fx.Node) -> bool:
        """Whether the function has this argument or result with its channels last."""
        value = node.meta["val"]
        return (self._channels_last and value.dim() in (4, 5)
                and value.dtype != torch.bool and node not in self._updated_nodes)

    def _note_sizes(self, node: fx.Node, argument: int) -> None:
        sizes = node.meta["val"].shape
        if argument in self._last_inputs:
            sizes = [sizes[dim] for dim in channels_last_order(len(sizes))]
        for dim, size in enumerate(sizes):
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                self._sizes.setdefault(size.node.expr, (argument, dim))

    def _argument(self, node: fx.Node) -> Tensor:
        value = node.meta["val"]
        element = element_of(value.dtype, f"argument {node.name}")
        shape = [self._dim(size) for size in value.shape]
        if self._is_last(node):
            order = channels_last_order(len(shape))
            given = self._fn.argument([shape[dim] for dim in order], element)
            return self._fn.transpose(given, [order.index(dim) for dim in sorted(order)])
        if element != "i1":
            return self._fn.argument(shape, element)
        # Callers have a byte for a boolean.
        given = self._fn.argument(shape, "i8")
        return self._fn.elementwise([given], shape, "i1",
                                    lambda body, x: body.cast(x, "i1"))

    def _updated_argument(self, node: fx.Node, name: str) -> Tensor:
        value = node.meta["val"]
        element = element_of(value.dtype, f"argument {name}")
        if element in ("i1", "u8"):
            raise Error(f"argument {name}: expected numbers where the model writes to "
                        "its arguments or buffers, but got "
                        f"{'booleans' if element == 'i1' else 'uint8'}")
        shape = [self._dim(size) for size in value.shape]
        self._updated[name] = self._fn.updated_argument(shape, element)
        self._updated_nodes.append(node)
        return self._updated[name]

    def _constant(self, spec) -> Constant:
        return Constant(spec.target, constant_of(self._program, spec.target))

    # Sizes

    def _dim(self, size: int | torch.SymInt) -> Dim:
        return size if isinstance(size, int) else self._dim_of(size.node.expr)

    def _dim_of(self, expr: sympy.Expr) -> Dim:
        if expr.is_Integer:
            return int(expr)
        if expr.is_Symbol:
            return symbol(str(expr))
        if expr.is_Mul:
            parts = [self._dim_of(arg) for arg in expr.args]
            return product(parts)
        if expr.is_Pow and expr.exp.is_Integer and expr.exp > 0:
            return product([self._dim_of(expr.base)] * int(expr.exp))
        name = str(expr)
        if name not in self._fn.sizes:
            self._fn.sizes[name] = self._computed(expr)
        return symbol(name)

    def _computed(self, expr: sympy.Expr) -> str:
        """The name of a size that is no product."""
        if expr.is_Add:
            names = [self._fn.size(self._dim_of(arg)) for arg in expr.args]
            result = names[0]
            for other in names[1:]:
                result = self._fn.begin(f"arith.addi {result}, {other} : index")
            return result
        if type(expr).__name__ in ("Min", "Max"):
            result, *others = (self._fn.size(self._dim_of(arg)) for arg in expr.args)
            name = f"{type(expr).__name__.lower()}si"
            for other in others:
                result = self._fn.begin(f"arith.{name} {result}, {other} : index")
            return result
        if type(expr).__name__ in ("FloorDiv", "Mod", "PythonMod"):
            a, b = (self._fn.size(self._dim_of(arg)) for arg in expr.args)
            # Of numbers below 0, too, as in -(-size // 2).
            quotient = self._fn.begin(f"arith.floordivsi {a}, {b} : index")
            if type(expr).__name__ == "FloorDiv":
                return quotient
            whole = self._fn.begin(f"arith.muli {quotient}, {b} : index")
            return self._fn.begin(f"arith.subi {a}, {whole} : index")
        raise Error("expected sizes that are sums, products, quotients and extremes of "
                    f"those of the inputs, but got {expr}")

    # Nodes

    def _lower(self, node: fx.Node) -> Any:
        value = node.meta.get("val")
        if name_of(node.target) in _CHECKS or isinstance(value, (torch.SymBool, bool)):
            return None
        if isinstance(value, (int, torch.SymInt)):
            return self._dim(value)
        args = fx.map_arg(node.args, self._value)
        if node.target is operator.getitem:
            return args[0][args[1]]
        options = fx.map_arg(node.kwargs, self._value)
        context = Context(self._fn, node, self._resources, self._dim, self._value)
        try:
            return LOWERINGS[name_of(node.target)](context, *args, **options)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            if isinstance(error, Error):
                raise
            raise Error(f"{where(node)}: {node.target}: expected arguments that "
                        f"nm.torch.export knows, but got {node.args} {node.kwargs} "
                        f"({type(error).__name__}: {error})") from error

    def _value(self, node: fx.Node) -> Any:
        return self._values[node]

    # Results

    def _finish(self) -> Lowered:
        output = next(node for node in self._program.graph.nodes if node.op == "output")
        tensors: list[Tensor] = []
        results: list[tuple[bool, Any]] = []
        dtypes: list[torch.dtype] = []
        last: set[int] = set()
        joined: list[list[int]] = []
        updates: list[tuple[Tensor, Tensor]] = []
        views = views_of(self._updated_nodes)
        for spec, node in zip(self._program.graph_signature.output_specs,
                              output.args[0]):
            if spec.kind in UPDATES:
                updates.append((self._updated[spec.target], self._value_of(node, views)))
                continue
            if spec.kind != OutputKind.USER_OUTPUT:
                raise Error(f"{spec.target}: expected results of the model and what it "
                            f"writes, but got a {spec.kind.name}")
            if not isinstance(spec.arg, TensorArgument):
                results.append((False, self._number(node)))
                continue
            results.append((True, len(tensors)))
            tensor = self._result(node, views)
            tensor, counts = self._split(node, tensor)
            joined.append(counts)
            if self._is_last(node):
                last.add(len(tensors))
                tensor = self._fn.transpose(tensor, channels_last_order(len(tensor.shape)))
            dtypes.append(node.meta["val"].dtype)
            tensors.append(tensor)
        # After all that reads what was there before.
        for argument, value in updates:
            self._fn.update(argument, value)
        if not tensors:
            raise Error("expected a model with a tensor as its result")
        return Lowered(self._fn.name, self._fn.text(tensors), self._resources,
                       self._inputs, results, dtypes, self._states, self._sizes,
                       joined, self._last_inputs, last)

    def _value_of(self, node: fx.Node, views: set[fx.Node]) -> Tensor:
        """The node's tensor, which stays when arguments are updated."""
        value = Context(self._fn, node, self._resources, self._dim).tensor(
            self._values[node])
        return self._fn.kept(value) if node in views else value

    def _number(self, node: Any) -> Any:
        """A result that is no tensor: itself, or the expression of a size."""
        if not isinstance(node, fx.Node):
            return node
        value = node.meta.get("val")
        if isinstance(value, torch.SymInt):
            return value.node.expr
        if isinstance(value, (int, float, bool)):
            return value
        raise Error(f"{where(node)}: expected results that are tensors, sizes and what "
                    f"does not depend on the arguments, but got a {type(value).__name__}")

    def _split(self, node: fx.Node, value: Tensor) -> tuple[Tensor, list[int]]:
        """The result with sizes of arguments, or numbers, where a size is a product of
        them, and how many dimensions each became."""
        known = {str(size) for size in self._sizes}
        parts: list[list[Dim]] = []
        for size in value.shape:
            factors = ([*map(symbol, size.symbols), size.factor]
                       if isinstance(size, Size) else [size])
            parts.append([each for each in factors if each != 1] or [1])
        is_known = all(isinstance(each, int) or set(each.symbols) <= known
                       for part in parts for each in part)
        if not is_known or (self._is_last(node) and any(len(part) > 1 for part in parts)):
            raise Error(f"{where(node)}: expected a result whose sizes are numbers, sizes "
                        "of the arguments, or products of these, which the caller makes it "
                        f"by, but got {describe(value.shape)}")
        split = self._fn.reshape(value, [each for part in parts for each in part])
        return split, [len(part) for part in parts]

    def _result(self, node: fx.Node, views: set[fx.Node]) -> Tensor:
        """A result of the function, which is memory of its own."""
        value = self._value_of(node, views)
        if value.element == "i1":
            return self._fn.elementwise([value], value.shape, "i8",
                                        lambda body, x: body.cast(x, "i8"))
        is_constant = isinstance(self._values[node], Constant)
        if (node in self._given or is_constant) and node not in views:
            return self._fn.elementwise([value], value.shape, value.element,
                                        lambda body, x: x)
        return value


def channels_last_order(rank: int) -> list[int]:
    """The dimensions of images [batch, channels, places] with channels last."""
    return [0, *range(2, rank), 1]


def _first(places: Sequence[str]) -> str:
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return places[0] + more
