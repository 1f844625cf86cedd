"""Operators of core ATen that are exported as others, which have lowerings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch._decomp import get_decompositions

from . import _bags, _functions, _grouped, _rearranged

_ATEN = torch.ops.aten
# Those that PyTorch itself says in other operators.
_OF_PYTORCH = (_ATEN.upsample_nearest1d, _ATEN.upsample_nearest2d,
               _ATEN.upsample_nearest3d, _ATEN.upsample_linear1d,
               _ATEN.upsample_bilinear2d, _ATEN.upsample_trilinear3d,
               _ATEN.grid_sampler_2d, _ATEN.max_pool3d_with_indices)


def _max(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return torch.amax(x, dim, keepdim), torch.argmax(x, dim, keepdim)


def _min(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return torch.amin(x, dim, keepdim), torch.argmin(x, dim, keepdim)


def _var_mean(x: Tensor, dims: Sequence[int] | None = None, *,
              correction: float | None = None, keepdim: bool = False
              ) -> tuple[Tensor, Tensor]:
    return (torch.var(x, dims, correction=1 if correction is None else correction,
                      keepdim=keepdim), torch.mean(x, dims, keepdim))


def _trilinear(x: Tensor, weight: Tensor, y: Tensor, *dims: Sequence[int], unroll_dim: int = 1
               ) -> Tensor:
    """x W_o y of each row of x and of y, as nn.Bilinear has it."""
    if dims != ([1, 3], [0], [1, 2], [2, 3]):
        return NotImplemented
    return (torch.matmul(x, weight) * y).sum(-1).t()


def _sign(x: Tensor) -> Tensor:
    return (x > 0).to(x.dtype) - (x < 0).to(x.dtype)


def _isinf(x: Tensor) -> Tensor:
    return x.abs() == torch.inf


def _distance(x: Tensor, y: Tensor, power: float, _mode: int | None) -> Tensor:
    """[..., p, q]: between the rows of `x` and of `y`, by the `power`-norm."""
    return torch.linalg.vector_norm(x.unsqueeze(-2) - y.unsqueeze(-3), power, -1)


def _mean_of_windows(x: Tensor, dim: int, count: int) -> Tensor:
    """`count` means of windows along a dimension, which may share elements."""
    size = x.shape[dim]
    means = []
    for each in range(count):
        begin, end = each * size // count, -(-(each + 1) * size // count)
        means.append(x.narrow(dim, begin, end - begin).mean(dim, keepdim=True))
    return torch.cat(means, dim)


def _adaptive_pool(x: Tensor, sizes: Sequence[int]) -> Tensor:
    """To sizes that do not divide the image's; others have a lowering."""
    given = x.shape[-len(sizes):]
    if not all(isinstance(size, int) for size in given) or all(
            size % count == 0 for size, count in zip(given, sizes)):
        return NotImplemented
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    for dim, count in zip(range(-len(sizes), 0), sizes):
        wide = _mean_of_windows(wide, dim, count)
    return wide.to(x.dtype)


def _adaptive_max_pool(x: Tensor, sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Of each window the largest element, and its place in its image."""
    height, width = x.shape[-2:]
    if not isinstance(height, int) or not isinstance(width, int):
        return NotImplemented

    if height % sizes[0] == 0 and width % sizes[1] == 0:
        return _max_of_equal_windows(x, (height // sizes[0], width // sizes[1]))

    def windows(size: int, count: int) -> list[tuple[int, int]]:
        return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]

    found = []
    for top, bottom in windows(height, sizes[0]):
        for left, right in windows(width, sizes[1]):
            values, places = x[..., top:bottom, left:right].flatten(-2).max(-1)
            row = torch.div(places, right - left, rounding_mode="floor")
            places = places - row * (right - left) + left + (row + top) * width
            found.append((values, places))
    return tuple(torch.stack(each, -1).unflatten(-1, tuple(sizes)) for each in zip(*found))


def _max_of_equal_windows(x: Tensor, window: Sequence[int]) -> tuple[Tensor, Tensor]:
    height, width = x.shape[-2] // window[0], x.shape[-1] // window[1]
    parts = x.unflatten(-1, (width, window[1])).unflatten(-3, (height, window[0]))
    values, places = parts.transpose(-3, -2).flatten(-2).max(-1)
    row = torch.div(places, window[1], rounding_mode="floor")
    top = torch.arange(height, device=x.device).unsqueeze(1) * window[0]
    left = torch.arange(width, device=x.device) * window[1]
    return values, places - row * window[1] + left + (row + top) * x.shape[-1]


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
    """A group is a row for its mean and variance. What is made of its elements is one op
    on [batch, groups, channels of a group, pixels], of which rows and channels are parts
    that are read again, and no normalized rows are stored in f32."""
    in_group = channels // groups
    _, mean, scale = _normalize(x.reshape(batch, groups, in_group * pixels), [2], epsilon)
    y = x.reshape(batch, groups, in_group, pixels).to(mean.dtype)
    y = (y - mean.unsqueeze(3)) * scale.unsqueeze(3)
    if weight is not None:
        y = y * weight.to(y.dtype).reshape(1, groups, in_group, 1)
    if bias is not None:
        y = y + bias.to(y.dtype).reshape(1, groups, in_group, 1)
    return y.reshape(x.shape).to(x.dtype), mean.squeeze(2), scale.squeeze(2)


def _batch_norm(x: Tensor, weight: Tensor | None, bias: Tensor | None, _training: bool,
                _momentum: float, epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """By the mean and the variance of `x` itself, as instance norms are: instances are
    the channels of one image, each of which is a row."""
    batch = x.shape[0]
    if isinstance(batch, int) and batch == 1:
        rows = x.reshape(1, x.shape[1], math.prod(x.shape[2:]))
        y, mean, scale = _normalize(rows, [2], epsilon)
    else:
        y, mean, scale = _normalize(x, [0, *range(2, x.dim())], epsilon)
    y = _scale_channels(y, weight, bias).to(x.dtype).reshape(x.shape)
    return y, mean.flatten(), scale.flatten()


def decompositions() -> dict[torch._ops.OperatorBase, Callable]:
    return {**get_decompositions(_OF_PYTORCH), _ATEN.max.dim: _max,
            _ATEN.min.dim: _min, _ATEN.max.default: torch.amax,
            _ATEN.min.default: torch.amin, _ATEN.sign.default: _sign,
            _ATEN.native_group_norm.default: _group_norm,
            _ATEN._native_batch_norm_legit.no_stats: _batch_norm,
            _ATEN.isinf.default: _isinf, _ATEN._cdist_forward.default: _distance,
            _ATEN._adaptive_avg_pool2d.default: _adaptive_pool,
            _ATEN._adaptive_avg_pool3d.default: _adaptive_pool,
            _ATEN.adaptive_max_pool2d.default: _adaptive_max_pool,
            # A compiled function has no way to fail at what its arguments hold.
            _ATEN._assert_async.msg: lambda *_: None,
            _ATEN.sort.default: _rearranged.sort,
            _ATEN.sort.stable: _rearranged.stable_sort,
            _ATEN.median.dim: _rearranged.median,
            _ATEN.scatter.src: _rearranged.scatter_source,
            _ATEN.scatter.value: _rearranged.scatter_number,
            _ATEN.scatter_add.default: _rearranged.scatter_add,
            _ATEN.cumprod.default: _rearranged.cumprod,
            _ATEN.cumsum.default: _rearranged.cumsum,
            _ATEN.constant_pad_nd.default: _rearranged.pad,
            _ATEN._embedding_bag.default: _bags.embedding_bag,
            _ATEN._embedding_bag_forward_only.default: _bags.embedding_bag,
            _ATEN.histc.default: _grouped.histc,
            _ATEN.bucketize.Tensor: _grouped.bucketize,
            _ATEN.index_add.default: _grouped.index_add,
            _ATEN.index_put.default: _grouped.index_put,
            _ATEN.scatter_reduce.two: _grouped.scatter_reduce,
            torch.ops.nm.expert_linear.default: _grouped.expert_linear,
            _ATEN.var_mean.correction: _var_mean, _ATEN._trilinear.default: _trilinear,
            _ATEN.kthvalue.default: _rearranged.kthvalue,
            _ATEN.diagonal.default: _rearranged.diagonal,
            _ATEN.unfold.default: _rearranged.unfold,
            _ATEN.masked_scatter.default: _rearranged.masked_scatter,
            _ATEN.searchsorted.Tensor: _grouped.searchsorted,
            **_functions.decompositions(), **_products_of_groups()}


def _products_of_groups() -> dict[torch._ops.OperatorBase, Callable]:
    """PyTorch's, and what transformers has in its place for some types."""
    found = [getattr(_ATEN, "_grouped_mm", None),
             getattr(torch.ops.transformers, "grouped_mm_fallback", None)]
    return {each.default: _grouped.grouped_mm for each in found if each is not None}
