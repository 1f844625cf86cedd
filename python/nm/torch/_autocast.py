"""Calls of layers under torch.autocast, which rounds what it multiplies to a lower type.

The weight is rounded once and packed in that type. What was prepared for it is known by the
tensors of the layer, so that a call after the first costs the two casts and the product.
From PyTorch 2.14 on `call_layer`, in C++, makes such calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, get_autocast_dtype, is_autocast_enabled, is_grad_enabled

from ._fast import is_plain_but_for_autocast, learn, make_layer_call, product
from ._op import Product, _linear
from ._weights import LOWER_TYPES, convert_weight, find_weight, keep_weight

if TYPE_CHECKING:
    from ._linear import NMLinear

_FLOATS = (*LOWER_TYPES, torch.float32)
_DEVICES = ("cpu", "cuda")


def call_in_autocast(layer: NMLinear, x: Tensor) -> Tensor | None:
    """The layer's product in autocast's type, and perhaps its gradient, where nothing else
    is asked for; None elsewhere."""
    if product is None or not is_plain_but_for_autocast(x):
        return None
    device, parameters = x.device.type, layer._parameters
    if (device not in _DEVICES or not is_autocast_enabled(device)
            or x.dtype not in _FLOATS or "values" not in parameters):
        return None
    # Attributes of modules take longer.
    values = parameters["values"]
    bias = parameters["bias"] if "bias" in parameters else layer.bias
    needs_gradient = is_grad_enabled() and (
        x.requires_grad or values.requires_grad
        or (bias is not None and bias.requires_grad))
    if values.dtype not in _FLOATS or values.is_meta or needs_gradient and (
            layer.activation is not None or layer._lies_on_host
            or layer.training and values.requires_grad):
        return None
    lower = get_autocast_dtype(device)
    if not needs_gradient:
        return _multiply(_cast(x, lower), values, bias, layer)
    if x.requires_grad and values.requires_grad:
        # Second derivatives go through what a node saves: the cast is part of the graph.
        x = _cast(x, lower)
    return _product_with_gradient(x, values, bias, layer)


def _cast(x: Tensor, lower: torch.dtype) -> Tensor:
    """As C++ casts, so that it finds the calls that Python has learnt."""
    return x if x.dtype is lower else x.to(lower, memory_format=torch.contiguous_format)


def _multiply(x: Tensor, values: Tensor, bias: Tensor | None, layer: NMLinear) -> Tensor:
    """The product of an input in the lower type."""
    bias = bias if bias is None else _cast(bias, x.dtype)
    fast, indices = layer._fast_lower, layer._buffers["indices"]
    if fast is not None and fast.writes == (values._version, indices._version):
        y = product(x, values, indices, values if bias is None else bias, fast.number)
        if y is not None:
            return y
    if layer._shared is not None:
        keep_weight(values, indices, layer._form, layer._shared)
    y = _linear(x, values, indices, layer._form, bias, layer.activation or "")
    w = find_weight(values, indices, layer._form)
    if x.dtype != values.dtype:
        w = convert_weight(w, x.dtype)
    layer._fast_lower = learn(fast, w, (values, indices), x, bias, layer.activation)
    return y


class _LowerProduct(Product):
    """The product with the operator's gradient. The engine of autograd casts gradients to
    the types of x, of the values and of the bias."""

    @staticmethod
    def forward(ctx, x, values, bias, layer):
        x, needed = _cast(x, get_autocast_dtype(x.device.type)), ctx.needs_input_grad
        ctx.save_for_backward(x if needed[1] else None, values if needed[0] else None,
                              layer._buffers["indices"])
        ctx.layer = layer
        return _multiply(x, values, bias, layer)


_product_with_gradient = super(torch.autograd.Function, _LowerProduct).apply
#: ``call_layer(layer, x)``, a known call of a layer in C++, or None.
call_layer = make_layer_call(Product, _LowerProduct)
