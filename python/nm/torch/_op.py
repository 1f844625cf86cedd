"""torch.ops.nm.linear: the product, known to torch's dispatcher.

A condensed weight is no tensor of torch; the operator names it by a number, which
is a constant in a traced graph. Whoever registers a weight keeps it alive.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Protocol
from weakref import WeakValueDictionary

import torch
from torch import Tensor

from .._errors import DeviceError, Error, ShapeError
from .._matmul import matmul
from .._sparse import SparseTensor


class Owner(Protocol):
    """What has a weight that may be replaced."""

    def current_weight(self) -> SparseTensor | None:
        """The weight that it has now; None where it has no elements."""


_weights: WeakValueDictionary[int, SparseTensor] = WeakValueDictionary()
_owners: WeakValueDictionary[int, Owner] = WeakValueDictionary()
_numbers = itertools.count(1)

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.nn.functional.relu,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "silu": torch.nn.functional.silu,
}


def register_weight(w: SparseTensor, owner: Owner | None = None) -> int:
    """The number by which torch.ops.nm.linear knows `w`, while `w` lives. Its
    negative stands for the weight that `owner` has when the operator runs."""
    number = next(_numbers)
    _weights[number] = w
    if owner is not None:
        _owners[number] = owner
    return number


def find_weight(number: int) -> SparseTensor:
    if number < 0:
        owner = _owners.get(-number)
        w = owner.current_weight() if owner is not None else None
    else:
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

    Raises:
        Error: as nm.matmul, where the operator runs.
    """
    check_activation(activation)
    number = w if isinstance(w, int) else _number_of(w)
    n = find_weight(number).n
    return linear_by_number(x, bias, number, n, activation)


def check_activation(activation: str | None) -> None:
    if activation is not None and activation not in _ACTIVATIONS:
        raise Error(f"expected activation to be one of None, "
                    f"{', '.join(_ACTIVATIONS)}, but got {activation!r}")


def linear_by_number(x: Tensor, bias: Tensor | None, number: int, n: int,
                     activation: str | None) -> Tensor:
    """The same with what a module knows beforehand, so that it can be traced."""
    if not isinstance(x, Tensor):
        raise TypeError(f"expected x to be a tensor, but got {type(x).__name__}")
    needs_gradient = torch.is_grad_enabled() and (
        x.requires_grad or (bias is not None and bias.requires_grad))
    if activation is None or not needs_gradient:
        return torch.ops.nm.linear(x, bias, number, n, activation or "")
    return _ACTIVATIONS[activation](torch.ops.nm.linear(x, bias, number, n, ""))


def _number_of(w: SparseTensor) -> int:
    if not isinstance(w, SparseTensor):
        raise TypeError("expected w to be an nm.SparseTensor, as nm.compress "
                        f"makes, but got {type(w).__name__}")
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
    w = find_weight(weight)
    if w.n != n:
        raise ShapeError(f"expected n = {w.n}, as {w} has, but got {n}")
    with torch.no_grad():
        return matmul(x, w, bias, activation or None)


def _dense_weight(like: Tensor, weight: int, n: int, k: int) -> Tensor:
    """[n, k] on the device of `like`, kept there: a backward pass needs it every
    time, and of the weight that the operator had."""
    w = find_weight(abs(weight))
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
    if bias is not None and bias.device != x.device:
        raise DeviceError(f"expected bias on {x.device}, where x is, but it is on "
                          f"{bias.device}")
    return x.new_empty((*x.shape[:-1], n), dtype=_result_dtype(x, activation))


@torch.library.register_fake("nm::dense_weight", lib=_library)
def _fake_dense_weight(like, weight, n, k):
    return like.new_empty((n, k))


@torch.library.register_vmap("nm::linear", lib=_library)
def _vmap_linear(_info, in_dims, x, bias, weight, n, activation):
    """A batch is one more leading size, unless each of it has a bias."""
    x_dim, bias_dim = in_dims[:2]
    if x_dim is not None:
        x = x.movedim(x_dim, 0)
    if bias_dim is None:
        return torch.ops.nm.linear(x, bias, weight, n, activation), 0
    biases = bias.unbind(bias_dim)
    rows = [x] * len(biases) if x_dim is None else x.unbind()
    return torch.stack([torch.ops.nm.linear(*pair, weight, n, activation)
                        for pair in zip(rows, biases)]), 0


@torch.library.register_vmap("nm::dense_weight", lib=_library)
def _vmap_dense_weight(_info, in_dims, like, weight, n, k):
    return torch.ops.nm.dense_weight(like.select(in_dims[0], 0), weight, n, k), None


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
        with torch.no_grad():
            dense = torch.ops.nm.dense_weight(grad, ctx.weight, ctx.n, ctx.k)
        grad_x = grad @ dense
    if ctx.has_bias and ctx.needs_input_grad[1]:
        grad_bias = grad.reshape(-1, ctx.n).sum(0)
    return grad_x, grad_bias, None, None, None


torch.library.register_autograd("nm::linear", _backward, setup_context=_setup,
                                lib=_library)
