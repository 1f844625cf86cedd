"""torch.ops.nm.linear: the product, known to torch's dispatcher.

A weight is two tensors, its condensed form, and a text with its shape and pattern: a
that is exported, traced or compiled ahead of time carries all of it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from .._errors import DeviceError, Error, ShapeError
from .._index_form import indices_fit
from .._matmul import matmul
from .._sparse import SparseTensor
from ._decompress import decompress, kept_values
from ._derivatives import register_derivatives
from ._fast import product
from ._weights import (FLOAT8_TYPES, LOWER_TYPES, convert_weight, find_weight, parse_form,
                       tensors_of, without_elements, wrong_type)

#: Each activation as a layer of its own.
ACTIVATION_MODULES: dict[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "gelu_tanh": lambda: nn.GELU("tanh"),
    "silu": nn.SiLU,
}
_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "silu": functional.silu,
}


def linear(x: Tensor, w: SparseTensor, bias: Tensor | None = None,
           activation: str | None = None) -> Tensor:
    """``activation(x · W + bias)`` with gradients for `x` and `bias`. NMLinear has
    them for its weight, too.

    Args:
        x: ``[..., k]``.
        w: the weight.
        bias: ``[n]`` or None.
        activation: as in nm.matmul. Where a gradient is needed it is an operator
            of its own.

    Returns:
        ``[..., n]``, of the type that nm.matmul gives.

    Raises:
        Error: as nm.matmul, where the operator runs.
    """
    check_activation(activation)
    if not isinstance(x, Tensor):
        raise TypeError(f"expected x to be a tensor, but got {type(x).__name__}")
    values, indices, form = tensors_of(w, x.device)
    return linear_of_tensors(x, values, indices, form, bias, activation)


def check_activation(activation: str | None) -> None:
    if activation is not None and activation not in _ACTIVATIONS:
        raise Error(f"expected activation to be one of None, "
                    f"{', '.join(_ACTIVATIONS)}, but got {activation!r}")


def linear_of_tensors(x: Tensor, values: Tensor, indices: Tensor, form: str,
                      bias: Tensor | None, activation: str | None) -> Tensor:
    """The same with a weight that is tensors. Under autocast, `x` and `bias` are cast,
    and the weight is packed in that type, too."""
    lower = check_types(x, values)
    if lower is not None:
        x, bias = x.to(lower), None if bias is None else bias.to(lower)
    return _operator(x, values, indices, form, bias, activation or "")


def multiply_tensors(x: Tensor, tensors: tuple[Tensor, Tensor, Tensor | None], form: str,
                     activation: str | None, is_trained: bool) -> Tensor:
    """A layer's product by its values, indices and bias."""
    values, indices, bias = tensors
    if is_trained or values.dtype == torch.float64:
        check_types(x, values)
        weight = decompress(values, indices, form)
        return apply_activation(functional.linear(x, weight, bias), activation)
    return linear_of_tensors(x, values, indices, form, bias, activation)


def apply_activation(x: Tensor, activation: str | None) -> Tensor:
    """An activation as an operator of its own."""
    return x if activation is None else _ACTIVATIONS[activation](x)


def check_types(x: Tensor, values: Tensor) -> torch.dtype | None:
    """The type that a product is computed in under torch.autocast, where it is in
    force.

    Raises:
        DTypeError: it is not, and `x` is of another type than the weight.
    """
    device, floats = x.device.type, (*LOWER_TYPES, torch.float32)
    if (device in ("cpu", "cuda") and torch.is_autocast_enabled(device)
            and x.dtype in floats and values.dtype in floats):
        return torch.get_autocast_dtype(device)
    if x.dtype != values.dtype:
        raise wrong_type(x.dtype, values.dtype)
    return None


_library = torch.library.Library("nm", "FRAGMENT")
# Few arguments: PyTorch takes a microsecond for each where a gradient is needed.
_library.define("linear(Tensor x, Tensor values, Tensor indices, str form, "
                "Tensor? bias, str activation) -> Tensor")


def _linear(x: Tensor, values: Tensor, indices: Tensor, form: str,
            bias: Tensor | None, activation: str) -> Tensor:
    w = find_weight(values, indices, form)
    if x.dtype != values.dtype:
        w = convert_weight(w, x.dtype)
    if not torch.is_grad_enabled():  # Which costs less than to enter no_grad.
        return matmul(x, w, bias, activation or None)
    with torch.no_grad():
        return matmul(x, w, bias, activation or None)


for _key in ("CPU", "CUDA"):
    _library.impl("linear", _linear, _key)
_operator = torch.ops.nm.linear.default


def _result_dtype(x: Tensor, activation: str) -> torch.dtype:
    if x.dtype == torch.int8:
        return torch.float32 if activation else torch.int32
    return torch.float32 if x.dtype in FLOAT8_TYPES else x.dtype


@torch.library.register_fake("nm::linear", lib=_library)
def _fake_linear(x, values, indices, form, bias, activation):
    n = _check_weight(x, values, indices, form)
    check_activation(activation or None)
    if bias is not None and bias.device != x.device:
        raise DeviceError(f"expected bias on {x.device}, where x is, but it is on "
                          f"{bias.device}")
    if bias is not None and tuple(bias.shape) != (n,):
        raise ShapeError(f"expected bias of shape ({n},), but got "
                         f"{tuple(bias.shape)}")
    return x.new_empty((*x.shape[:-1], n), dtype=_result_dtype(x, activation))


def _check_weight(x, values, indices, form) -> int:
    """Refuses what would fail when the graph runs while it is being made; gives n."""
    pattern, shape = parse_form(form)
    k, n = pattern.sizes(shape)
    if values.device.type == "meta" and x.device.type != "meta":
        raise without_elements()
    if x.dim() == 0 or x.shape[-1] != k:
        raise ShapeError(f"expected x of shape [..., {k}], as the weight has k = {k}, "
                         f"but got {tuple(x.shape)}")
    if x.dtype != values.dtype and not (
            x.dtype in LOWER_TYPES and values.dtype in (*LOWER_TYPES, torch.float32)):
        raise wrong_type(x.dtype, values.dtype)
    shapes = pattern.condensed_shapes(k, n)
    got = tuple(values.shape), tuple(indices.shape)
    if got[0] != shapes[0] or not indices_fit(pattern, k, n, got[1]):
        raise ShapeError(f"expected values {shapes[0]} and indices {shapes[1]} of a "
                         f"weight {form}, but got {got[0]} and {got[1]}")
    return n


@torch.library.register_vmap("nm::linear", lib=_library)
def _vmap_linear(_info, in_dims, x, values, indices, form, bias, activation):
    """A batch is one more leading size, unless each of it has a bias."""
    x_dim, bias_dim = in_dims[0], in_dims[4]
    _check_one_weight(*in_dims[1:3])
    if x_dim is not None:
        x = x.movedim(x_dim, 0)
    if bias_dim is None:
        return _operator(x, values, indices, form, bias, activation), 0
    biases = bias.unbind(bias_dim)
    rows = [x] * len(biases) if x_dim is None else x.unbind()
    return torch.stack([_operator(each, values, indices, form, one, activation)
                        for each, one in zip(rows, biases)]), 0


def _check_one_weight(*dims: int | None) -> None:
    if any(dim is not None for dim in dims):
        raise Error("expected one weight for all of a vmap, but got a batch of them")


def _setup(ctx, inputs, output):
    x, values, indices, ctx.form, bias, _ = inputs
    # An error tells where they were written to since.
    ctx.save_for_backward(*(tensor if needed else None for tensor, needed in (
        (x, ctx.needs_input_grad[1]), (values, ctx.needs_input_grad[0]),
        (indices, any(ctx.needs_input_grad[:2])))))
    ctx.values_type = values.dtype
    ctx.has_bias = bias is not None


def _backward(ctx, grad):
    *gradients, grad_bias = _gradients(
        grad, *ctx.saved_tensors, ctx.form, ctx.values_type, ctx.needs_input_grad[:2],
        ctx.has_bias and ctx.needs_input_grad[4])
    return *gradients, None, grad_bias, None


def _gradients(grad: Tensor, x: Tensor | None, values: Tensor | None, indices: Tensor,
               form: str, values_type: torch.dtype, needed: tuple[bool, bool],
               has_bias: bool) -> tuple[Tensor | None, ...]:
    """Those of x, values, indices and the bias."""
    grad_x = grad_values = None
    rows = grad.reshape(-1, grad.shape[-1])
    if needed[0]:
        grad_x = grad @ decompress(values.to(grad.dtype), indices, form)
    if needed[1]:
        dense = rows.mT @ x.reshape(-1, x.shape[-1])
        grad_values = kept_values(dense, indices, form).to(values_type)
    return grad_x, grad_values, None, rows.sum(0) if has_bias else None


def _in_plain_operators(x, values, indices, form, bias, activation):
    """The same in PyTorch's own operators, which have all derivatives."""
    weight = decompress(values.to(x.dtype), indices, form)
    return apply_activation(functional.linear(x, weight, bias), activation or None)


def _without_activation(x, values, indices, form, bias, activation):
    """The product, whose gradient is known, and its activation behind it."""
    y = _operator(x, values, indices, form, bias, "")
    return apply_activation(y, activation)


def _has_activation(x, values, indices, form, bias, activation) -> bool:
    return bool(activation)


class Product(torch.autograd.Function):
    """The product by a call that is known, with the operator's own gradient."""

    @staticmethod
    def forward(ctx, x, values, bias, layer):
        # Tensors that are given take time, whether or not they need a gradient.
        needed, indices = ctx.needs_input_grad, layer._buffers["indices"]
        ctx.save_for_backward(x if needed[1] else None, values if needed[0] else None,
                              indices)
        ctx.layer = layer
        y = product(x, values, indices, values if bias is None else bias,
                    layer._fast.number)
        if y is None:
            y = _linear(x, values, indices, layer._form, bias, "")
            layer._learn(x, values, indices, bias, None)
        return y

    @staticmethod
    def backward(ctx, grad):
        grad_x, grad_values, _, grad_bias = _gradients(
            grad, *ctx.saved_tensors, ctx.layer._form, grad.dtype, ctx.needs_input_grad[:2],
            ctx.needs_input_grad[2])
        return grad_x, grad_values, grad_bias, None


#: ``product_with_gradient(x, values, bias, layer)``. Function.apply looks for
#: transforms of torch.func first, of which there are none where a call is known.
product_with_gradient = super(torch.autograd.Function, Product).apply


register_derivatives(_library, _operator, _backward, _setup, _in_plain_operators,
                     (_has_activation, _without_activation))
