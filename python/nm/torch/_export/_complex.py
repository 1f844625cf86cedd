"""Complex numbers as pairs of real ones, [..., 2], before the graph is taken apart: rotary
embeddings multiply pairs of elements by complex numbers of magnitude 1."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, fx
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.utils import _pytree

from ..._errors import Error
from ._context import Constant, Context, lowers, name_of, where

_ATEN = torch.ops.aten


class _Pair:
    """A complex tensor, by its real one."""

    def __init__(self, parts: Tensor):
        self.parts = parts

    @property
    def both(self) -> tuple[Tensor, Tensor]:
        return self.parts[..., 0], self.parts[..., 1]


def _pair(real: Tensor, imaginary: Tensor) -> _Pair:
    return _Pair(torch.stack(torch.broadcast_tensors(real, imaginary), -1))


def _both(x: Any) -> tuple[Any, Any]:
    return x.both if isinstance(x, _Pair) else (x, torch.zeros_like(x))


def _multiplied(a: Any, b: Any) -> _Pair:
    if not isinstance(a, _Pair):
        a, b = b, a
    if not isinstance(b, _Pair):
        return _Pair(a.parts * (b.unsqueeze(-1) if isinstance(b, Tensor) else b))
    (a_real, a_imaginary), (b_real, b_imaginary) = a.both, b.both
    return _pair(a_real * b_real - a_imaginary * b_imaginary,
                 a_real * b_imaginary + a_imaginary * b_real)


def _added(a: Any, b: Any, sign: int = 1) -> _Pair:
    if not isinstance(a, Tensor | _Pair) or not isinstance(b, Tensor | _Pair):
        raise TypeError("a sum with a number")
    (a_real, a_imaginary), (b_real, b_imaginary) = _both(a), _both(b)
    return _pair(a_real + sign * b_real, a_imaginary + sign * b_imaginary)


def _divided(a: _Pair, b: Any) -> _Pair:
    if isinstance(b, _Pair):
        raise TypeError("a quotient by complex numbers")
    return _Pair(a.parts / (b.unsqueeze(-1) if isinstance(b, Tensor) else b))


def _conjugate(x: _Pair) -> _Pair:
    real, imaginary = x.both
    return _pair(real, -imaginary)


def _converted(x: Any, *given: Any, **options: Any) -> Any:
    """To a complex type; a copy, of which only that is known."""
    dtypes = [each for each in (*given, *options.values()) if isinstance(each, torch.dtype)]
    dtype = dtypes[0].to_real() if dtypes and dtypes[0].is_complex else None
    if dtypes and dtype is None:
        return x.both[0].to(dtypes[0])
    if isinstance(x, _Pair):
        return _Pair(x.parts if dtype is None else x.parts.to(dtype))
    return _pair(x.to(dtype), torch.zeros_like(x, dtype=dtype))


def _sized(op: Callable) -> Callable:
    """Of an operator that is given all sizes."""
    return lambda x, sizes, *more: _Pair(op(x.parts, [*sizes, 2], *more))


def _counted(dim: int) -> int:
    """A dimension that may count from the end, which is one further away."""
    return dim if dim >= 0 else dim - 1


def _along(op: Callable, count: int = 1, default: int = 0) -> Callable:
    """Of an operator whose `count` arguments behind the tensor, or one, are dimensions."""
    def moved(x: Any, *args: Any) -> Any:
        given = args if len(args) >= count else (*args, *[default] * (count - len(args)))
        dims = [_counted(each) for each in given[:count]]
        parts = [each.parts for each in x] if isinstance(x, (list, tuple)) else x.parts
        found = op(parts, *dims, *given[count:])
        return [_Pair(each) for each in found] if isinstance(found, (list, tuple)) else (
            _Pair(found))
    return moved


def _split(op: Callable) -> Callable:
    return lambda x, sizes, dim=0: [_Pair(each) for each in op(x.parts, sizes, _counted(dim))]


def _permuted(x: _Pair, dims: Sequence[int]) -> _Pair:
    rank = x.parts.dim() - 1
    return _Pair(x.parts.permute([*(dim % rank for dim in dims), rank]))


def _flattened(x: _Pair, first: int = 0, last: int = -1) -> _Pair:
    return _Pair(x.parts.flatten(_counted(first), _counted(last)))


_OPERATORS: dict[str, Callable] = {
    "view_as_complex": _Pair, "view_as_real": lambda x: x.parts,
    "polar": lambda size, angle: _pair(size * angle.cos(), size * angle.sin()),
    "complex": _pair, "real": lambda x: x.both[0], "imag": lambda x: x.both[1],
    "abs": lambda x: torch.hypot(*x.both),
    "angle": lambda x: torch.atan2(*reversed(x.both)), "mul": _multiplied, "mul_": _multiplied,
    "add": _added, "sub": lambda a, b: _added(a, b, -1), "div": _divided,
    "neg": lambda x: _Pair(-x.parts), "conj": _conjugate, "_conj": _conjugate,
    "conj_physical": _conjugate, "resolve_conj": lambda x: x, "to": _converted,
    "_to_copy": _converted, "clone": _converted, "contiguous": _converted,
    "alias": _converted, "detach": _converted, "detach_": _converted,
    **{name: _sized(getattr(_ATEN, name)) for name in
       ("view", "reshape", "_unsafe_view", "expand")},
    "repeat": lambda x, counts: _Pair(x.parts.repeat([*counts, 1])),
    **{name: _along(getattr(_ATEN, name)) for name in
       ("unsqueeze", "select", "slice", "index_select", "unbind", "cat", "stack")},
    "squeeze": _along(_ATEN.squeeze), "transpose": _along(_ATEN.transpose, 2),
    "split": _split(_ATEN.split), "split_with_sizes": _split(_ATEN.split_with_sizes),
    "chunk": _split(_ATEN.chunk), "permute": _permuted, "flatten": _flattened,
    "index": lambda x, places: _Pair(_ATEN.index(x.parts, places)),
}


def _is_complex(value: Any) -> bool:
    values = value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(each, Tensor) and each.dtype.is_complex for each in values)


def _real_result(name: str, args: Any, kwargs: Any, pairs: Sequence[bool]) -> Any:
    """The operator's result, of real tensors, of which `pairs` says which are pairs."""
    leaves, spec = _pytree.tree_flatten((args, kwargs))
    wrapped = [_Pair(each) if is_pair else each for each, is_pair in zip(leaves, pairs)]
    args, kwargs = _pytree.tree_unflatten(wrapped, spec)
    return _pytree.tree_map_only(_Pair, lambda pair: pair.parts, _OPERATORS[name](
        *args, **kwargs))


def write_real(program: ExportedProgram) -> None:
    """Has the graph of real numbers compute what its complex ones do."""
    if not any(_is_complex(node.meta.get("val")) for node in program.graph.nodes):
        return
    inputs = {spec.arg.name: spec.kind for spec in program.graph_signature.input_specs}
    last = [node for node in program.graph.nodes if node.name in inputs][-1:]
    parts: dict[fx.Node, fx.Node] = {}
    for node in list(program.graph.nodes):
        is_complex = _is_complex(node.meta.get("val"))
        if node.name in inputs and is_complex:
            if inputs[node.name] == InputKind.USER_INPUT:
                raise Error(f"argument {node.name}: expected real numbers, but got complex "
                            "ones; torch.view_as_real makes them pairs")
            with program.graph.inserting_after(last[0]):
                parts[node] = program.graph.call_function(_ATEN.view_as_real.default, (node,))
        elif name_of(node.target) == "aten._assert_tensor_metadata":
            program.graph.erase_node(node)
        elif node.op == "call_function" and (is_complex or any(
                given in parts for given in node.all_input_nodes)):
            new = _rewritten(program.graph, node, parts)
            if is_complex:
                parts[node] = new
            else:
                node.replace_all_uses_with(new)
        elif node.op == "output":
            for given in node.all_input_nodes:
                if given in parts:
                    raise Error(f"{where(given)}: expected results of real numbers, but got "
                                "complex ones; torch.view_as_real makes them pairs")
    program.graph.eliminate_dead_code()


def _rewritten(graph: fx.Graph, node: fx.Node, parts: dict[fx.Node, fx.Node]) -> fx.Node:
    name = name_of(node.target).removeprefix("aten.")
    if node.target is operator.getitem:
        with graph.inserting_before(node):
            return graph.call_function(node.target, (parts[node.args[0]], node.args[1]))
    leaves, spec = _pytree.tree_flatten((tuple(node.args), dict(node.kwargs)))
    if name not in _OPERATORS or any(isinstance(each, complex) for each in leaves):
        raise Error(f"{where(node)}: {node.target}: expected of complex numbers sums, "
                    "products, conjugates, parts and what moves elements")
    pairs = [isinstance(each, fx.Node) and each in parts for each in leaves]
    real = [parts[each] if is_pair else each for each, is_pair in zip(leaves, pairs)]
    args, kwargs = _pytree.tree_unflatten(real, spec)
    with graph.inserting_before(node):
        new = graph.call_function(_real_result, (name, args, kwargs, pairs))
    new.meta = {key: node.meta[key] for key in ("stack_trace", "nn_module_stack")
                if key in node.meta}
    return new


@lowers("aten.view_as_real")
def _view_as_real(c: Context, x: Constant) -> Any:
    """Of a constant of the model."""
    return c.tensor(Constant(f"{x.key}.parts", torch.view_as_real(x.tensor.resolve_conj())))
