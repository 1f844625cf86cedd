"""Calls of layers under torch.autocast, which rounds what it multiplies to a lower type.

The weight is rounded once and packed in that type. What was prepared for it is known by the
tensors of the layer, so that a call after the first costs the two casts and the product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, get_autocast_dtype, is_autocast_enabled, is_grad_enabled

from ._fast import is_plain_but_for_autocast, learn, product
from ._weights import LOWER_TYPES, convert_weight, find_weight

if TYPE_CHECKING:
    from ._linear import NMLinear

_FLOATS = (*LOWER_TYPES, torch.float32)
_DEVICES = ("cpu", "cuda")


def call_in_autocast(layer: NMLinear, x: Tensor) -> Tensor | None:
    """The layer's product in autocast's type, where nothing else is asked for and no
    gradient is needed; None elsewhere."""
    if product is None or not is_plain_but_for_autocast(x):
        return None
    device, parameters = x.device.type, layer._parameters
    if (device not in _DEVICES or not is_autocast_enabled(device)
            or x.dtype not in _FLOATS or "values" not in parameters):
        return None
    # Attributes of modules take longer.
    values, indices = parameters["values"], layer._buffers["indices"]
    bias = parameters["bias"] if "bias" in parameters else layer.bias
    if values.dtype not in _FLOATS or values.is_meta or is_grad_enabled() and (
            x.requires_grad or values.requires_grad
            or (bias is not None and bias.requires_grad)):
        return None
    lower, fast = get_autocast_dtype(device), layer._fast_lower
    low_x = x if x.dtype is lower else x.to(lower)
    low_bias = bias if bias is None or bias.dtype is lower else bias.to(lower)
    if fast is not None and fast.writes == (values._version, indices._version):
        y = product(low_x, values, indices, values if low_bias is None else low_bias,
                    fast.number)
        if y is not None:
            return y
    y = layer._multiply(x, values, indices, bias, layer.activation)
    w = find_weight(values, indices, layer._form)
    if lower != values.dtype:
        w = convert_weight(w, lower)
    layer._fast_lower = learn(fast, w, (values, indices), low_x, low_bias,
                              layer.activation)
    return y
