"""What the lowering of an operator is given, and the table of lowerings."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Union

import torch
from torch import fx
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind

from ..._errors import Error
from ..._mlir import Dim, FunctionText, Tensor
from ..._mlir._function import EncodedTensor
from .._weights import bitmap_of, parse_form

ELEMENTS = {torch.float64: "f64", torch.float32: "f32", torch.float16: "f16",
            torch.bfloat16: "bf16", torch.int64: "i64", torch.int32: "i32",
            torch.int8: "i8", torch.uint8: "u8", torch.bool: "i1"}
#: Where PyTorch's own code is.
_PYTORCH = os.path.join(os.path.dirname(torch.__file__), "")
#: Results of a program that the model writes to an argument or a buffer.
UPDATES = (OutputKind.USER_INPUT_MUTATION, OutputKind.BUFFER_MUTATION)


@dataclass(frozen=True)
class Constant:
    """A parameter, a buffer or another tensor that the graph has."""

    key: str
    tensor: torch.Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @property
    def element(self) -> str:
        return element_of(self.tensor.dtype, self.key)


def written_targets(program: ExportedProgram) -> set[str]:
    """The names of the arguments and the buffers that the model writes."""
    return {spec.target for spec in program.graph_signature.output_specs
            if spec.kind in UPDATES}


def constant_of(program: ExportedProgram, target: str) -> torch.Tensor:
    """The parameter, buffer or other tensor of the program with that name."""
    found = program.state_dict.get(target)
    return (program.constants[target] if found is None else found).detach()


Operand = Union[Tensor, Constant, float, int, bool]


class Context:
    """One node of the graph, and the function that it is written to.

    Attributes:
        fn: the function.
        node: the node.
        shape, element: of its result, where that is one tensor.
    """

    def __init__(self, fn: FunctionText, node: fx.Node,
                 resources: dict[str, torch.Tensor],
                 dim_of: Callable[[Any], Dim],
                 value_of: Callable[[fx.Node], Any] | None = None):
        self.fn, self.node, self._value_of = fn, node, value_of
        self._resources, self._dim_of = resources, dim_of
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor):
            self.shape: tuple[Dim, ...] = tuple(map(dim_of, value.shape))
            self.element = element_of(value.dtype, where(node))

    def value_of(self, node: fx.Node) -> Any:
        """What an earlier node was lowered to."""
        return self._value_of(node)

    def dim(self, size: Any) -> Dim:
        """A size of the graph, which may have no number yet."""
        return size if isinstance(size, int) else self._dim_of(size)

    def tensor(self, value: Tensor | Constant) -> Tensor:
        """The value; a constant becomes a resource of the function."""
        if isinstance(value, Tensor):
            return value
        if value.element != "i1":
            return self.resource(value, value.element)
        # The compiler has no constants of booleans in files.
        given = self.resource(Constant(value.key, value.tensor.to(torch.int8)), "i8")
        return self.fn.elementwise([given], given.shape, "i1",
                                   lambda body, x: body.cast(x, "i1"))

    def resource(self, value: Constant, element: str) -> Tensor:
        """The constant in the function, with elements that are called `element`."""
        if 0 in value.shape:
            return self.fn.empty(value.shape, element)
        self._resources[value.key] = value.tensor
        return self.fn.resource(value.key, value.shape, element)

    def condensed(self, values: Any, indices: Any, form: str) -> EncodedTensor:
        """The weight of condensed parts in the function, which takes a bitmap where they
        have offsets."""
        if not isinstance(values, Constant) or not isinstance(indices, Constant):
            raise self.refuse("a weight that is a parameter of the model, not one that is "
                              "computed")
        pattern, shape = parse_form(form)
        places = bitmap_of(indices.tensor, form)
        if places is not indices.tensor:
            indices = Constant(f"{indices.key}.bitmap", places)
        return self.fn.assemble(self.tensor(values), self.resource(indices, "i8"), shape,
                                str(pattern))

    def transposed(self, value: Constant) -> Constant:
        """A constant matrix with rows and columns swapped, once for the function."""
        end = ".transposed"
        key = value.key.removesuffix(end) if value.key.endswith(end) else value.key + end
        return Constant(key, value.tensor.t())

    def result_element(self, *values: Any) -> str:
        """The type that PyTorch computes in for these operands of the node."""
        metas = [value.meta["val"] if isinstance(value, fx.Node) else value
                 for value in values]
        dtype = metas[0].dtype if len(metas) == 1 else torch.result_type(*metas)
        return element_of(dtype, where(self.node))

    def refuse(self, expected: str) -> Error:
        """What to raise for a node that is not lowered."""
        return Error(f"{where(self.node)}: {self.node.target}: expected {expected}")


def element_of(dtype: torch.dtype, place: str) -> str:
    if dtype not in ELEMENTS:
        raise Error(f"{place}: expected a tensor of a type among "
                    f"{', '.join(str(known)[6:] for known in ELEMENTS)}, but got "
                    f"{str(dtype)[6:]}")
    return ELEMENTS[dtype]


def where(node: fx.Node) -> str:
    """The layer that a node is in, and the line of the model's code."""
    stack = node.meta.get("nn_module_stack") or {}
    paths = [path for path, _ in stack.values() if path]
    place = paths[-1].removeprefix("L['self'].") if paths else "the model"
    lines = [line.strip() for line in (node.meta.get("stack_trace") or "").splitlines()
             if line.strip().startswith("File ")]
    # The model's own code says more than that of nn.LSTM.
    own = [line for line in lines if f'File "{_PYTORCH}' not in line] or lines
    return f"{place} ({own[-1]})" if own else place


def dim_index(c: Context, dim: int, rank: int) -> int:
    """A dimension that may count from the end."""
    return dim + rank if dim < 0 else dim


def dim_indices(dims: Sequence[int] | int | None, rank: int) -> list[int]:
    """Dimensions in order; all where there are none."""
    if dims is None or (not isinstance(dims, int) and not len(dims)):
        return list(range(rank))
    given = [dims] if isinstance(dims, int) else dims
    return sorted(dim + rank if dim < 0 else dim for dim in given)


#: By the name of an operator without its overload, as "aten.add".
LOWERINGS: dict[str, Callable[..., Any]] = {}


def lowers(*names: str):
    """Registers a function as the lowering of operators: it is given a Context and
    the operator's arguments, with the tensors of this module for those of PyTorch."""
    def register(function):
        for name in names:
            LOWERINGS[name] = function
        return function
    return register


def name_of(target: Any) -> str:
    """An operator without its overload."""
    if isinstance(target, torch._ops.OpOverload):
        return str(target.overloadpacket)
    return getattr(target, "__name__", str(target))
