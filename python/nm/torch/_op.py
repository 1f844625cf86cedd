"""torch.ops.nm.linear: the product, known to torch's dispatcher.

A condensed weight is no tensor of torch; the operator names it by a number, which
is a constant in a traced graph. Whoever registers a weight keeps it alive.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from weakref import WeakValueDictionary

import torch
from torch import Tensor

from .._errors import Error
from .._matmul import matmul
from .._sparse import SparseTensor

_weights: WeakValueDictionary[int, SparseTensor] = WeakValueDictionary()
_numbers = itertools.count(1)

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.nn.functional.relu,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "silu": torch.nn.functional.silu,
}


def register_weight(w: SparseTensor) -> int:
    """The number by which torch.ops.nm.linear knows `w`, while `w` lives."""
    number = next(_numbers)
    _weights[number] = w
    return number


def find_weight(number: int) -> SparseTensor:
    w = _weights.get(number)
    if w is None:
        raise Error(f"expected the number of a weight that lives, but got {number}")
    return w


def linear(x: Tensor, w: SparseTensor | int, bias: Tensor | None = None,
           activation: str | None = None) -> Tensor:
    """``activation(x · W + bias)`` with gradients for `x` and `bias`.

    Args:
        x: ``[..., k]``.
        w: the weight, or the number that register_weight gave; a weight that is
            given itself is registered for the call.
        bias: ``[n]`` or None.
        activation: as in nm.matmul. Where a gradient is needed it is an operator
            of its own.

    Returns:
        ``[..., n]``, of the type that nm.matmul gives.
    """
    number = w if isinstance(w, int) else _number_of(w)
    n = find_weight(number).n
    return linear_by_number(x, bias, number, n, activation)


def linear_by_number(x: Tensor, bias: Tensor | None, number: int, n: int,
                     activation: str | None) -> Tensor:
    """The same with what a module knows beforehand, so that it can be traced."""
    needs_gradient = torch.is_grad_enabled() and (
        x.requires_grad or (bias is not None and bias.requires_grad))
    if activation is None or not needs_gradient:
        return torch.ops.nm.linear(x, bias, number, n, activation or "")
    return _ACTIVATIONS[activation](torch.ops.nm.linear(x, bias, number, n, ""))


def _number_of(w: SparseTensor) -> int:
    number = getattr(w, "_torch_number", None)
    if number is None:
        number = register_weight(w)
        w._torch_number = number  # type: ignore[attr-defined]
    return number


_library = torch.library.Library("nm", "DEF")
_library.define("linear(Tensor x, Tensor? bias, int weight, int n, "
                "str activation) -> Tensor")
_library.define("dense_weight(Tensor like, int weight, int n, int k) -> Tensor")


def _linear(x: Tensor, bias: Tensor | None, weight: int, n: int, activation: str
            ) -> Tensor:
    with torch.no_grad():
        return matmul(x, find_weight(weight), bias, activation or None)


def _dense_weight(like: Tensor, weight: int, n: int, k: int) -> Tensor:
    """[n, k] on the device of `like`, kept there: a backward pass needs it every
    time."""
    w = find_weight(weight)
    kept = getattr(w, "_torch_dense", None)
    if kept is None or kept.device != like.device:
        kept = w.decompress(like=like)
        if w.pattern.axis == 0:
            kept = kept.T.contiguous()
        w._torch_dense = kept  # type: ignore[attr-defined]
    return kept.clone()


for _key in ("CPU", "CUDA"):
    _library.impl("linear", _linear, _key)
    _library.impl("dense_weight", _dense_weight, _key)


def _result_dtype(x: Tensor, activation: str) -> torch.dtype:
    if x.dtype == torch.int8:
        return torch.float32 if activation else torch.int32
    return torch.float32 if x.dtype == torch.float8_e4m3fn else x.dtype


@torch.library.register_fake("nm::linear", lib=_library)
def _fake_linear(x, bias, weight, n, activation):
    return x.new_empty((*x.shape[:-1], n), dtype=_result_dtype(x, activation))


@torch.library.register_fake("nm::dense_weight", lib=_library)
def _fake_dense_weight(like, weight, n, k):
    return like.new_empty((n, k))


def _setup(ctx, inputs, output):
    x, bias, ctx.weight, ctx.n, activation = inputs
    ctx.k = x.shape[-1]
    ctx.activation = activation
    ctx.has_bias = bias is not None


def _backward(ctx, grad):
    if ctx.activation:
        raise Error("expected no fused activation where a gradient is needed; "
                    "nm.torch.linear takes care of that")
    grad_x = grad_bias = None
    if ctx.needs_input_grad[0]:
        dense = torch.ops.nm.dense_weight(grad, ctx.weight, ctx.n, ctx.k)
        grad_x = grad @ dense
    if ctx.has_bias and ctx.needs_input_grad[1]:
        grad_bias = grad.reshape(-1, ctx.n).sum(0)
    return grad_x, grad_bias, None, None, None


torch.library.register_autograd("nm::linear", _backward, setup_context=_setup,
                                lib=_library)
