"""Operators of core ATen that are exported as others, which have lowerings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch._decomp import get_decompositions

_ATEN = torch.ops.aten
# Those that PyTorch itself says in other operators.
_OF_PYTORCH = (_ATEN.upsample_nearest1d, _ATEN.upsample_nearest2d,
               _ATEN.upsample_nearest3d, _ATEN.upsample_linear1d,
               _ATEN.upsample_bilinear2d, _ATEN.upsample_trilinear3d)


def _max(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return torch.amax(x, dim, keepdim), torch.argmax(x, dim, keepdim)


def _min(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return torch.amin(x, dim, keepdim), torch.argmin(x, dim, keepdim)


def _argmin(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    # -1 - x of the least whole number is the largest, where -x is itself.
    turned = -x if x.is_floating_point() else -1 - x
    return torch.argmax(turned, dim, keepdim)


def _sign(x: Tensor) -> Tensor:
    return (x > 0).to(x.dtype) - (x < 0).to(x.dtype)


def _normalize(x: Tensor, dims: Sequence[int], epsilon: float
               ) -> tuple[Tensor, Tensor, Tensor]:
    """`x` less its mean over its standard deviation, both along `dims`, the mean, and
    one over the deviation; in f32 at least, as PyTorch computes them."""
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    mean = wide.mean(dims, keepdim=True)
    centered = wide - mean
    scale = torch.rsqrt((centered * centered).mean(dims, keepdim=True) + epsilon)
    return centered * scale, mean, scale


def _scale_channels(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """x * weight + bias, of the channels, dimension 1."""
    shape = [1, -1, *[1] * (x.dim() - 2)]
    if weight is not None:
        x = x * weight.to(x.dtype).reshape(shape)
    return x if bias is None else x + bias.to(x.dtype).reshape(shape)


def _group_norm(x: Tensor, weight: Tensor | None, bias: Tensor | None, batch: int,
                channels: int, pixels: int, groups: int, epsilon: float
                ) -> tuple[Tensor, Tensor, Tensor]:
    grouped = x.reshape(batch, groups, channels // groups * pixels)
    y, mean, scale = _normalize(grouped, [2], epsilon)
    y = _scale_channels(y.reshape(x.shape), weight, bias)
    return y.to(x.dtype), mean.squeeze(2), scale.squeeze(2)


def _batch_norm(x: Tensor, weight: Tensor | None, bias: Tensor | None, _training: bool,
                _momentum: float, epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """By the mean and the variance of `x` itself, as instance norms are."""
    dims = [dim for dim in range(x.dim()) if dim != 1]
    y, mean, scale = _normalize(x, dims, epsilon)
    return (_scale_channels(y, weight, bias).to(x.dtype), mean.flatten(),
            scale.flatten())


def decompositions() -> dict[torch._ops.OperatorBase, Callable]:
    return {**get_decompositions(_OF_PYTORCH), _ATEN.max.dim: _max,
            _ATEN.min.dim: _min, _ATEN.argmin.default: _argmin,
            _ATEN.sign.default: _sign, _ATEN.native_group_norm.default: _group_norm,
            _ATEN._native_batch_norm_legit.no_stats: _batch_norm}
