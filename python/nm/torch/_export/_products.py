"""Products of matrices, with N:M weights and without, and attention."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from ..._mlir import Body, Scalar, Tensor
from ..._mlir._function import EncodedTensor
from ..._mlir._scalars import is_float
from .._decompress import decompress
from ._context import Constant, Context, lowers
from ._elementwise import gelu, gelu_tanh, relu, silu
from ._reductions import exponentials, keep

_ACTIVATIONS: dict[str, Callable[[Body, Scalar], Scalar]] = {
    "relu": relu, "gelu": gelu, "gelu_tanh": gelu_tanh, "silu": silu}
# Letters of the dimensions before the last two.
_LEADING = "abcdefgh"


@lowers("aten.linear")
def _linear(c: Context, x: Tensor | Constant, weight: Tensor | Constant,
            bias: Tensor | Constant | None = None) -> Tensor:
    return linear(c, c.tensor(x), weight, bias)


@lowers("nm.linear")
def _nm_linear(c: Context, x: Tensor | Constant, values: Constant, indices: Constant,
               form: str, bias: Tensor | Constant | None, activation: str) -> Tensor:
    return linear(c, c.tensor(x), c.condensed(values, indices, form), bias, activation)


@lowers("nm.decompress")
def _decompress(c: Context, values: Constant, indices: Constant, form: str) -> Constant:
    """The dense weight, as where a model reads NMLinear.weight."""
    if not isinstance(values, Constant) or not isinstance(indices, Constant):
        raise c.refuse("a weight that is a parameter of the model, not one that is "
                       "computed")
    with torch.no_grad():
        return Constant(f"{values.key}.dense",
                        decompress(values.tensor, indices.tensor, form))


def linear(c: Context, x: Tensor, weight: Tensor | Constant | EncodedTensor,
           bias: Tensor | Constant | None, activation: str = "") -> Tensor:
    """activation(x · weightᵀ + bias) of a weight [n, k]."""
    leading = _LEADING[:len(x.shape) - 1]
    if len(weight.shape) == 1:
        # A vector for a weight is a product without n.
        weight = c.tensor(weight)
        sums = c.fn.contract(x, leading + "k", weight, "k", leading, leading + "k")
        return _epilogue(c, sums, bias, activation)
    of_weight = "nk"
    if isinstance(weight, Constant):
        weight, of_weight = c.transposed(weight), "kn"
    if not isinstance(weight, EncodedTensor):
        weight = c.tensor(weight)
    sums = c.fn.contract(x, leading + "k", weight, of_weight, leading + "n",
                         leading + "nk")
    return _epilogue(c, sums, bias, activation)


def _epilogue(c: Context, sums: Tensor, bias: Tensor | Constant | None,
              activation: str = "", scale: float = 1, bias_scale: float = 1) -> Tensor:
    """activation(scale · sums + bias_scale · bias), of the result's type."""
    parts = [] if bias is None else [c.tensor(bias)]

    def code(body: Body, value: Scalar, *rest: Scalar) -> Scalar:
        if scale != 1:
            value = body.mul(value, body.constant(scale, value.element))
        for each in rest:
            term = body.cast(each, value.element)
            if bias_scale != 1:
                term = body.mul(term, body.constant(bias_scale, value.element))
            value = body.add(value, term)
        if activation:
            value = _ACTIVATIONS[activation](body, value)
        return body.cast(value, c.element)

    if not parts and not activation and scale == 1 and sums.element == c.element:
        return sums
    return c.fn.elementwise([sums, *parts], c.shape, c.element, code)


# Products of two activations, or of a weight [k, n]

@lowers("aten.mm", "aten.bmm", "aten.mv", "aten.dot")
def _matmul(c: Context, a: Tensor | Constant, b: Tensor | Constant) -> Tensor:
    return _epilogue(c, _product(c, a, b), None)


@lowers("aten.addmm", "aten.baddbmm", "aten.addmv", "aten.addbmm")
def _addmm(c: Context, bias: Tensor | Constant, a: Tensor | Constant,
           b: Tensor | Constant, *, beta: float = 1, alpha: float = 1) -> Tensor:
    if "addbmm" in str(c.node.target) and "baddbmm" not in str(c.node.target):
        raise c.refuse("baddbmm in its place")
    return _epilogue(c, _product(c, a, b), bias if beta else None, "", alpha, beta)


def _product(c: Context, a: Tensor | Constant, b: Tensor | Constant) -> Tensor:
    a, b = c.tensor(a), c.tensor(b)
    batch = _LEADING[:len(b.shape) - 2] if len(b.shape) > 1 else ""
    of_a = batch + ("mk" if len(a.shape) > 1 else "k")
    of_b = batch + ("kn" if len(b.shape) > 1 else "k")
    out = (of_a + of_b[len(batch):]).replace("k", "")
    # The last dimension of the result runs innermost, where elements are neighbours.
    order = batch + of_a[len(batch):].replace("k", "") + "k" + (
        "n" if "n" in of_b else "")
    is_product_of_weight = not batch and "m" in out and "n" in out
    if is_product_of_weight:
        order = "mnk"
    return c.fn.contract(a, of_a, b, of_b, out, order)


# Attention

@lowers("aten.scaled_dot_product_attention")
def _attention(c: Context, query: Tensor, key: Tensor, value: Tensor,
               mask: Tensor | Constant | None = None, dropout: float = 0,
               is_causal: bool = False, *, scale: float | None = None,
               enable_gqa: bool = False, lengths: Tensor | None = None) -> Tensor:
    query, key, value = map(c.tensor, (query, key, value))
    if dropout:
        raise c.refuse(f"no dropout, as in evaluation mode, but got {dropout}")
    groups = _query_groups(c, query, key) if enable_gqa else 1
    out_shape = list(c.shape)
    if groups != 1:
        # Heads of queries that share a key are a dimension of their own.
        query = _split_heads(c, query, groups)
        key, value = (c.fn.reshape(each, [*each.shape[:-2], 1, *each.shape[-2:]])
                      for each in (key, value))
        out_shape = [*query.shape[:-1], value.shape[-1]]
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    if mask is not None:
        mask = c.tensor(mask)
        if groups != 1 and len(mask.shape) > 2:
            mask = _split_heads(c, mask, groups if mask.shape[-3] != 1 else 1)
    if lengths is not None:
        lengths = c.tensor(lengths)
        if groups != 1 and lengths.shape:
            lengths = c.fn.reshape(lengths, [*lengths.shape, 1])
    whole = _whole(c, query, key, value, mask, lengths, out_shape, scale, is_causal)
    if whole is not None:
        return c.fn.reshape(whole, c.shape)
    if lengths is not None:
        raise c.refuse("queries, keys and values of one element type with lengths")
    scores = _scores(c, query, key, mask, is_causal, scale)
    mixed = _mix(c, scores, value, out_shape)
    return c.fn.reshape(mixed, c.shape)


def _whole(c: Context, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None,
           lengths: Tensor | None, shape: list, scale: float, is_causal: bool
           ) -> Tensor | None:
    """The attention as one op, where keys and values have the same heads."""
    rank = len(query.shape) - 2
    elements = {each.element for each in (query, key, value)}
    kept = [dim for dim in range(rank) if key.shape[dim] == query.shape[dim]]
    if (len(elements) != 1 or not elements <= {"f32", "f16", "bf16"}
            or key.shape[:-2] != value.shape[:-2]
            or (mask is not None and mask.element not in ("i1", *elements, "f32"))):
        return None
    letters = _LEADING[:rank]
    of_keys = "".join(letters[dim] for dim in kept)

    def narrow(each: Tensor) -> Tensor:
        return c.fn.reshape(each, [*(each.shape[dim] for dim in kept), *each.shape[-2:]])

    def broadcast(each: Tensor | None, full: list, loops: str, kept: str
                  ) -> tuple[Tensor, str] | None:
        """The tensor, whose shape ends as `full` does, along the loops that it has."""
        if each is None:
            return None
        places = range(len(full) - len(each.shape), len(full))
        dims = [(size, loops[place]) for size, place in zip(each.shape, places)
                if size == full[place] and loops[place] in kept]
        return (c.fn.reshape(each, [size for size, _ in dims]),
                "".join(loop for _, loop in dims))

    masked = broadcast(mask, [*query.shape[:-1], key.shape[-2]], letters + "mn",
                       letters + "mn")
    ends = broadcast(lengths, query.shape[:-2], letters, of_keys)
    return c.fn.attention((query, letters + "mk"), (narrow(key), of_keys + "nk"),
                          (narrow(value), of_keys + "nw"), masked, ends,
                          (shape, letters + "mw"), scale, is_causal)


def _query_groups(c: Context, query: Tensor, key: Tensor) -> int:
    heads, kept = query.shape[-3], key.shape[-3]
    if not isinstance(heads, int) or not isinstance(kept, int) or heads % kept:
        raise c.refuse("a multiple of the key's heads for the query's, but got "
                       f"{heads} and {kept}")
    return heads // kept


def _split_heads(c: Context, x: Tensor, groups: int) -> Tensor:
    heads = x.shape[-3]
    return c.fn.reshape(x, [*x.shape[:-3], heads // groups, groups, *x.shape[-2:]])


def _batched(c: Context, a: Tensor, b: Tensor, of_a: str, of_b: str, of_out: str,
             order: str) -> Tensor:
    """A product with leading dimensions, of which b may have ones where a has more."""
    rank = len(a.shape) - 2
    letters = _LEADING[:rank]
    kept = [dim for dim in range(rank) if b.shape[dim] == a.shape[dim]]
    narrow = c.fn.reshape(b, [*(b.shape[dim] for dim in kept), *b.shape[-2:]])
    return c.fn.contract(a, letters + of_a, narrow,
                         "".join(letters[dim] for dim in kept) + of_b,
                         letters + of_out, letters + order)


def _scores(c: Context, query: Tensor, key: Tensor, mask: Tensor | None,
            is_causal: bool, scale: float) -> Tensor:
    """scale · query · keyᵀ in f32, with -inf where nothing is to be seen."""
    rank = len(key.shape)
    turned = c.fn.transpose(key, [*range(rank - 2), rank - 1, rank - 2])
    sums = _batched(c, query, turned, "mk", "kn", "mn", "mkn")

    def code(body: Body, score: Scalar, *masks: Scalar) -> Scalar:
        score = body.mul(score, body.constant(scale, score.element))
        lowest = body.constant(-math.inf, score.element)
        for each in masks:
            score = (body.add(score, body.cast(each, score.element))
                     if is_float(each.element)
                     else body.select(body.cast(each, "i1"), score, lowest))
        if is_causal:
            row, column = body.loop(len(sums.shape) - 2), body.loop(len(sums.shape) - 1)
            score = body.select(body.compare("ge", row, column), score, lowest)
        return score

    masks = [] if mask is None else [mask]
    return c.fn.elementwise([sums, *masks], sums.shape, sums.element, code)


def _mix(c: Context, scores: Tensor, value: Tensor, shape: list) -> Tensor:
    """softmax(scores) · value. A row in which nothing is seen is zero."""
    last = len(scores.shape) - 1
    # Of the value's type, which tensor cores multiply; they are at most 1.
    exps, sums = exponentials(c, scores, [last], masked=True, rounded_to=value.element)
    mixed = _batched(c, exps, value, "mk", "kn", "mn", "mkn")

    def code(body: Body, value: Scalar, weight: Scalar) -> Scalar:
        zero = body.constant(0, value.element)
        none = body.compare("eq", weight, zero)
        return body.cast(body.select(none, zero, body.div(value, weight)), c.element)

    return c.fn.elementwise([mixed, keep(c, sums, scores, [last])], shape, c.element,
                            code)
