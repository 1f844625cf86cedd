"""Elements of a tensor as formulas of where they stand, for masks whose sizes are known
when the model is called. What no rule here covers is unknown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
import torch
from sympy.core.function import AppliedUndef
from torch import fx

from ._context import name_of


class Unknown(Exception):
    """No formula is known."""


@dataclass(frozen=True)
class Condition:
    """Holds where each of the formulas is at most 0."""

    formulas: frozenset[sympy.Expr]

    def __and__(self, other: Condition) -> Condition:
        return _condition(*self.formulas, *other.formulas)

    def __invert__(self) -> Condition:
        if len(self.formulas) > 1:
            raise Unknown
        return _condition(*(1 - each for each in self.formulas)) if self.formulas else NEVER


NEVER = Condition(frozenset([sympy.Integer(1)]))
ALWAYS = Condition(frozenset())


@dataclass(frozen=True)
class Choice:
    """A number where a condition holds, and another one elsewhere."""

    condition: Condition
    first: float
    second: float


Value = Any  # A formula, a Condition or a Choice.
Places = tuple[sympy.Expr, ...]


def _condition(*formulas: sympy.Expr) -> Condition:
    expanded = [sympy.expand(each) for each in formulas]
    if any(each.is_positive for each in expanded):
        return NEVER
    return Condition(frozenset(each for each in expanded if not each.is_nonpositive))


def place(name: str) -> sympy.Symbol:
    """Where an element stands along an axis."""
    return sympy.Symbol(name, integer=True, nonnegative=True)


def _any_place() -> sympy.Dummy:
    return sympy.Dummy(integer=True, nonnegative=True)


def condition_of(mask: fx.Node, constant_of: Callable[[fx.Node], torch.Tensor | None],
                 row: sympy.Symbol, column: sympy.Symbol) -> Condition | None:
    """Which keys the mask of attention shows, whatever the batch and the head."""
    rank = mask.meta["val"].dim()
    leading = [place(f"batch{dim}") for dim in range(rank - 2)]
    try:
        value = _Elements(constant_of).of(mask, (*leading, row, column))
        return _shown(value)
    except (Unknown, RecursionError):
        return None


def exact_condition_of(mask: fx.Node,
                       constant_of: Callable[[fx.Node], torch.Tensor | None],
                       at: Places, unnamed: Unnamed) -> Condition | None:
    """Which keys a mask shows that hides others wholly, as false and -inf do, with the
    elements of tensors that no formula is known for."""
    try:
        value = _Elements(constant_of, unnamed).of(mask, at)
    except (Unknown, RecursionError):
        return None
    if isinstance(value, Choice):
        if (value.first, value.second) == (0, -math.inf):
            return value.condition
        is_shown_last = (value.first, value.second) == (-math.inf, 0)
        return ~value.condition if is_shown_last and len(
            value.condition.formulas) == 1 else None
    return value if isinstance(value, Condition) else None


def _shown(value: Value) -> Condition:
    if isinstance(value, Choice):
        # transformers adds the least number, and others -inf.
        least = float(torch.finfo(torch.float16).min) / 2
        if value.first == 0 and value.second <= least:
            return value.condition
        if value.second == 0 and value.first <= least:
            return ~value.condition
    if not isinstance(value, Condition):
        raise Unknown
    return value


class Unnamed:
    """Tensors of whole numbers for whose elements no rule has a formula, by the functions
    of places that stand for them."""

    def __init__(self) -> None:
        self._nodes: dict[str, fx.Node] = {}

    def element(self, node: fx.Node, at: Places) -> sympy.Expr:
        name = f"element_of_{node.name}"
        self._nodes[name] = node
        return sympy.Function(name, integer=True)(*at)

    def node_of(self, element: sympy.Expr) -> fx.Node:
        return self._nodes[element.func.__name__]


def elements_in(formula: sympy.Expr) -> list[sympy.Expr]:
    """The elements of Unnamed tensors in a formula."""
    return list(formula.atoms(AppliedUndef))


_WHOLE = (torch.int32, torch.int64)


class _Elements:
    def __init__(self, constant_of: Callable[[fx.Node], torch.Tensor | None],
                 unnamed: Unnamed | None = None):
        self._constant_of, self._unnamed = constant_of, unnamed

    def of(self, node: Any, at: Places) -> Value:
        """The element at these places of the node's tensor, or a number."""
        if not isinstance(node, fx.Node):
            return _number(node)
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor):
            return _number(value)
        if self._unnamed is None or value.dtype not in _WHOLE:
            return self._by_rule(node, at)
        try:
            return self._by_rule(node, at)
        except Unknown:
            return self._unnamed.element(node, at)

    def condition(self, node: Any, at: Places) -> Condition:
        """Of an operand that is true or false; with Unnamed tensors one without a formula
        has a name."""
        try:
            return _conditions(self, at, node)[0]
        except Unknown:
            if self._unnamed is None:
                raise
            return _condition(sympy.Dummy("unknown", integer=True))

    def _by_rule(self, node: fx.Node, at: Places) -> Value:
        if node.op != "call_function":
            return self._of_constant(node, at)
        rule = _RULES.get(name_of(node.target))
        if rule is None:
            raise Unknown
        return rule(self, node, at, *node.args, **{
            key: each for key, each in node.kwargs.items() if key in ("alpha", "step")})

    def broadcast(self, node: Any, at: Places) -> Value:
        """The element of an operand whose shape ends as that of the result does."""
        if not isinstance(node, fx.Node) or not isinstance(
                node.meta.get("val"), torch.Tensor):
            return self.of(node, at)
        return self.of(node, _narrowed(_shape(node), at))

    def _of_constant(self, node: fx.Node, at: Places) -> Value:
        tensor = self._constant_of(node)
        if tensor is None:
            raise Unknown
        if tensor.dtype == torch.bool and tensor.dim() >= 2:
            if tensor.all():
                return ALWAYS
            if (tensor == torch.ones_like(tensor).tril()).all():
                return _condition(at[-1] - at[-2])
        if tensor.numel() == 1:
            return _number(tensor.item())
        raise Unknown


def _number(value: Any) -> Value:
    if isinstance(value, bool):
        return ALWAYS if value else NEVER
    if isinstance(value, torch.SymInt):
        return value.node.expr
    if isinstance(value, (int, float)):
        return sympy.sympify(value)
    raise Unknown


def _shape(node: fx.Node) -> list[Any]:
    return [size if isinstance(size, int) else size.node.expr
            for size in node.meta["val"].shape]


def _narrowed(shape: Sequence[Any], at: Places) -> Places:
    """Places in a tensor that is broadcast."""
    last = at[len(at) - len(shape):]
    return tuple(sympy.Integer(0) if size == 1 else each for size, each in zip(shape, last))


_RULES: dict[str, Callable[..., Value]] = {}


def _rule(*names: str) -> Callable:
    def add(function: Callable) -> Callable:
        _RULES.update((f"aten.{name}", function) for name in names)
        return function
    return add


# Numbers


@_rule("arange")
def _arange(elements, _node, at, start, _end, step=1):
    return elements.of(start, ()) + elements.of(step, ()) * at[0]


@_rule("full", "full_like")
def _full(elements, node, _at, _shape, value):
    is_bool = node.meta["val"].dtype == torch.bool
    return elements.of(bool(value) if is_bool else value, ())


@_rule("scalar_tensor")
def _scalar(elements, node, at, value):
    return _full(elements, node, at, None, value)


@_rule("ones", "ones_like")
def _ones(elements, node, at, *_):
    return _full(elements, node, at, None, 1)


@_rule("zeros", "zeros_like")
def _zeros(elements, node, at, *_):
    return _full(elements, node, at, None, 0)


def _formulas(elements: _Elements, at: Places, *nodes: Any) -> list[sympy.Expr]:
    values = [elements.broadcast(node, at) for node in nodes]
    if not all(isinstance(value, sympy.Expr) for value in values):
        raise Unknown
    return values


@_rule("add")
def _add(elements, _node, at, first, second, alpha=1):
    a, b = _formulas(elements, at, first, second)
    return a + alpha * b


@_rule("sub")
def _subtract(elements, node, at, first, second, alpha=1):
    return _add(elements, node, at, first, second, -alpha)


@_rule("mul")
def _multiply(elements, _node, at, first, second):
    a, b = _formulas(elements, at, first, second)
    return a * b


@_rule("_to_copy", "clone", "alias", "contiguous", "detach")
def _copy(elements, node, at, source):
    value = elements.of(source, at)
    before, after = (each.meta["val"].dtype for each in (source, node))
    if torch.bool in (before, after) and before != after:
        return _as_number(value) if before == torch.bool else _as_truth(value)
    if before.is_floating_point and not after.is_floating_point:
        raise Unknown
    return value


def _as_number(value: Value) -> Value:
    if value in (ALWAYS, NEVER):
        return sympy.Integer(value == ALWAYS)
    if isinstance(value, Condition):
        return Choice(value, 1.0, 0.0)
    raise Unknown


def _as_truth(value: Value) -> Value:
    if isinstance(value, Choice) and not (value.first and value.second):
        if value.first:
            return value.condition
        return ~value.condition if value.second else NEVER
    if isinstance(value, sympy.Expr) and value.is_number:
        return ALWAYS if value else NEVER
    raise Unknown


@_rule("cumsum")
def _cumsum(elements, node, at, source, dim):
    dim %= len(at)
    value = elements.of(source, (*at[:dim], _any_place(), *at[dim + 1:]))
    if value == NEVER:
        return sympy.Integer(0)
    if value == ALWAYS:
        return at[dim] + 1
    if isinstance(value, sympy.Expr) and value.is_number:
        return value * (at[dim] + 1)
    raise Unknown


# Conditions


def _compares(name: str, formula: Callable[[sympy.Expr], sympy.Expr]) -> None:
    """Of whole numbers, a - b, of which the formula is to be at most 0."""
    @_rule(name)
    def _compare(elements, _node, at, first, second):
        for each in (first, second):
            value = each.meta["val"] if isinstance(each, fx.Node) else each
            dtype = getattr(value, "dtype", None)
            if isinstance(value, float) or (dtype and dtype.is_floating_point):
                raise Unknown
        a, b = _formulas(elements, at, first, second)
        return _condition(formula(a - b))


_compares("le", lambda difference: difference)
_compares("lt", lambda difference: difference + 1)
_compares("ge", lambda difference: -difference)
_compares("gt", lambda difference: 1 - difference)


@_rule("eq")
def _equal(elements, _node, at, first, second):
    a, b = _formulas(elements, at, first, second)
    difference = sympy.expand(a - b)
    if difference.is_zero is None:
        raise Unknown
    return ALWAYS if difference.is_zero else NEVER


@_rule("ne")
def _differ(elements, node, at, first, second):
    return ~_equal(elements, node, at, first, second)


def _conditions(elements: _Elements, at: Places, *nodes: Any) -> list[Condition]:
    values = [elements.broadcast(node, at) for node in nodes]
    if not all(isinstance(value, Condition) for value in values):
        raise Unknown
    return values


@_rule("bitwise_and", "logical_and")
def _and(elements, _node, at, first, second):
    a, b = (elements.condition(node, at) for node in (first, second))
    return a & b


@_rule("bitwise_not", "logical_not")
def _not(elements, _node, at, source):
    return ~_conditions(elements, at, source)[0]


@_rule("tril")
def _lower(elements, _node, at, source, diagonal=0):
    return _kept(elements.of(source, at), _condition(at[-1] - at[-2] - diagonal))


@_rule("triu")
def _upper(elements, _node, at, source, diagonal=0):
    return _kept(elements.of(source, at), _condition(at[-2] - at[-1] + diagonal))


def _kept(value: Value, where: Condition) -> Value:
    if isinstance(value, Condition):
        return value & where
    if isinstance(value, sympy.Expr) and value.is_number:
        return Choice(where, float(value), 0.0)
    raise Unknown


@_rule("where")
def _where(elements, _node, at, condition, first, second):
    holds, = _conditions(elements, at, condition)
    values = [elements.broadcast(each, at) for each in (first, second)]
    if holds in (ALWAYS, NEVER):
        return values[holds == NEVER]
    if not all(isinstance(each, sympy.Expr) and each.is_number for each in values):
        raise Unknown
    return Choice(holds, *map(float, values))


@_rule("masked_fill")
def _masked_fill(elements, node, at, source, condition, number):
    return _where(elements, node, at, condition, number, source)


# Places


@_rule("unsqueeze")
def _unsqueeze(elements, _node, at, source, dim):
    dim %= len(at)
    return elements.of(source, at[:dim] + at[dim + 1:])


@_rule("expand")
def _expand(elements, _node, at, source, _sizes):
    return elements.broadcast(source, at)


@_rule("squeeze", "view", "reshape", "_unsafe_view")
def _view(elements, node, at, source, _sizes=None):
    """Axes of one place that come or go."""
    wide = [each for size, each in zip(_shape(node), at) if size != 1]
    before = _shape(source)
    if [size for size in before if size != 1] != [
            size for size in _shape(node) if size != 1]:
        raise Unknown
    given = iter(wide)
    return elements.of(source, tuple(
        sympy.Integer(0) if size == 1 else next(given) for size in before))


@_rule("permute")
def _permute(elements, _node, at, source, order):
    before = dict(zip((dim % len(at) for dim in order), at))
    return elements.of(source, tuple(before[dim] for dim in range(len(at))))


@_rule("transpose")
def _transpose(elements, node, at, source, first, second):
    order = list(range(len(at)))
    order[first], order[second] = order[second], order[first]
    return _permute(elements, node, at, source, order)


@_rule("slice")
def _slice(elements, _node, at, source, dim=0, start=None, _end=None, step=1):
    dim %= len(at)
    begin = elements.of(0 if start is None else start, ())
    if begin.is_negative:
        begin += _shape(source)[dim]
    if not begin.is_nonnegative:
        raise Unknown
    return elements.of(source, (*at[:dim], begin + step * at[dim], *at[dim + 1:]))


@_rule("select")
def _select(elements, _node, at, source, dim, index):
    dim %= len(at) + 1
    where = elements.of(index, ())
    if where.is_negative:
        where += _shape(source)[dim]
    if not where.is_nonnegative:
        raise Unknown
    return elements.of(source, (*at[:dim], where, *at[dim:]))


@_rule("cat")
def _cat(elements, _node, at, sources, dim=0):
    """Of two, where the first has one place: it continues the second backwards."""
    dim %= len(at)
    if len(sources) != 2 or _shape(sources[0])[dim] != 1:
        raise Unknown

    def value_at(part: int, where: sympy.Expr) -> sympy.Expr:
        value = elements.of(sources[part], (*at[:dim], where, *at[dim + 1:]))
        if not isinstance(value, sympy.Expr):
            raise Unknown
        return value

    # A formula of any place, not of `at`, which may be a sum itself.
    free = _any_place()
    formula = value_at(1, free)
    if sympy.expand(value_at(0, sympy.Integer(0)) - formula.subs(free, -1)) != 0:
        raise Unknown
    return formula.subs(free, at[dim] - 1)


@_rule("index")
def _index(elements, node, at, source, indices):
    """Of tensors along the first axes."""
    if any(each is None for each in indices):
        raise Unknown
    rest = len(_shape(source)) - len(indices)
    gathered = at[:len(at) - rest]
    places = [elements.broadcast(each, gathered) for each in indices]
    if not all(isinstance(each, sympy.Expr) and each.is_nonnegative for each in places):
        raise Unknown
    return elements.of(source, (*places, *at[len(at) - rest:]))
