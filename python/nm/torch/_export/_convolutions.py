"""Convolutions, with N:M filters and without, pools and batch normalization."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch.nn import functional

from ..._convolve import NAMES
from ..._mlir import Body, Dim, Scalar, Tensor
from ..._mlir._scalars import compute_type
from ._channel_groups import condensed_filters, whole_filter
from ._context import Constant, Context, lowers


@lowers("aten.convolution")
def _convolution(c: Context, x: Tensor | Constant, weight: Tensor | Constant,
                 bias: Tensor | Constant | None, stride: Sequence[int],
                 padding: Sequence[int], dilation: Sequence[int], transposed: bool,
                 output_padding: Sequence[int], groups: int) -> Tensor:
    x = c.tensor(x)
    if len(x.shape) - 2 not in NAMES:
        raise c.refuse(f"a convolution of a batch of images, but got {len(x.shape)} "
                       "dimensions")
    if transposed:
        weight = _turned(c, weight, groups)
        spread = _Spread.of(weight.shape[2:], stride, padding, dilation, output_padding)
        places, padded = spread.places(), spread.image(c, x)
    else:
        places = _Places.of(weight.shape[2:], stride, padding, dilation)
        padded = places.pad(c, x, 0)
    if groups == x.shape[1]:
        return add_bias(c, _depthwise(c, padded, weight, places), bias)
    if groups == 1:
        return add_bias(c, _dense(c, padded, c.tensor(weight), c.shape, places), bias)
    if not isinstance(weight, Constant):
        raise c.refuse("a weight in groups that is a parameter of the model, not one "
                       "that is computed")
    whole = whole_filter(c, weight, groups)
    filters = [whole] if whole is not None else [
        c.tensor(Constant(f"{weight.key}.group{i}", each))
        for i, each in enumerate(weight.tensor.chunk(groups))]
    return add_bias(c, _products(c, padded, filters, places), bias)


@lowers("nm.convolution")
def _nm_convolution(c: Context, x: Tensor | Constant, values: Constant,
                    indices: Constant, form: str, bias: Tensor | Constant | None,
                    taps: Sequence[int], stride: Sequence[int], padding: Sequence[int],
                    dilation: Sequence[int], groups: int = 1,
                    channels_last: bool = False) -> Tensor:
    places = _Places.of(taps, stride, padding, dilation)
    padded = places.pad(c, c.tensor(x), 0)
    if groups != 1:
        filters = condensed_filters(c, values, indices, form, groups,
                                    [*taps, padded.shape[1] // groups])
        return add_bias(c, _products(c, padded, filters, places), bias)
    filter_ = c.fn.filter(c.condensed(values, indices, form), [*taps, padded.shape[1]])
    return add_bias(c, _dense(c, padded, filter_, c.shape, places), bias)


def _products(c: Context, x: Tensor, filters: Sequence[Tensor], places: _Places) -> Tensor:
    """The product of each filter with its group's channels, concatenated."""
    channels = x.shape[1] // len(filters)
    parts = [_dense(c, c.fn.slice(x, 1, i * channels, channels), each,
                    (c.shape[0], each.shape[0], *c.shape[2:]), places)
             for i, each in enumerate(filters)]
    return c.fn.concatenate(parts, 1, c.shape)


class _Places:
    """Where the taps of a window are in an image."""

    def __init__(self, taps: Sequence[int], stride: Sequence[int],
                 padding: Sequence[int], dilation: Sequence[int]):
        self.taps, self.stride = tuple(taps), tuple(stride)
        self.padding, self.dilation = tuple(padding), tuple(dilation)

    @classmethod
    def of(cls, taps: Sequence[int], *each: Sequence[int]) -> _Places:
        """With one number for all dimensions, too."""
        return cls(taps, *(tuple(one) * len(taps) if len(one) == 1 else one
                           for one in each))

    def pad(self, c: Context, x: Tensor, value: float) -> Tensor:
        if not any(self.padding):
            return x
        if not all(isinstance(size, int) for size in x.shape[2:]):
            raise c.refuse("images of a known size where they are padded")
        shape = (*x.shape[:2], *(size + 2 * pad for size, pad in
                                 zip(x.shape[2:], self.padding)))
        return c.fn.insert(x, c.fn.fill(value, shape, x.element),
                           [0, 0, *self.padding])

    def maps(self) -> str:
        """The places of the image that output and tap have, as affine expressions of
        loops y0, y1, ... and t0, t1, ..."""
        return ", ".join(f"y{i} * {stride} + t{i} * {dilation}" for i, (stride, dilation)
                         in enumerate(zip(self.stride, self.dilation)))

    def loops(self) -> tuple[list[str], list[str]]:
        return ([f"y{i}" for i in range(len(self.taps))],
                [f"t{i}" for i in range(len(self.taps))])


def _turned(c: Context, weight: Tensor | Constant, groups: int) -> Constant:
    """The filter of the convolution that a transposed one is of a spread image: its
    taps the other way round, and output channels first."""
    if not isinstance(weight, Constant):
        raise c.refuse("a weight of a transposed convolution that is a parameter of the "
                       "model, not one that is computed")
    taps = range(2, weight.tensor.dim())
    parts = [part.transpose(0, 1) for part in weight.tensor.chunk(groups)]
    turned = torch.cat(parts).flip(*taps).contiguous()
    return Constant(f"{weight.key}.turned", turned)


class _Spread:
    """The image of a transposed convolution: zeros between its pixels, which are the
    stride apart, and around them, so that each place takes neighbours."""

    def __init__(self, taps: Sequence[int], stride: Sequence[int],
                 padding: Sequence[int], dilation: Sequence[int], more: Sequence[int]):
        self.taps, self.stride, self.dilation = taps, stride, dilation
        self.low = [step * (tap - 1) - pad
                    for tap, pad, step in zip(taps, padding, dilation)]
        self.high = [low + each for low, each in zip(self.low, more)]

    @classmethod
    def of(cls, taps: Sequence[int], *each: Sequence[int]) -> _Spread:
        """With one number for all dimensions, too."""
        return cls(taps, *(tuple(one) * len(taps) if len(one) == 1 else tuple(one)
                           for one in each))

    def places(self) -> _Places:
        ones = [1] * len(self.taps)
        return _Places(self.taps, ones, [0] * len(ones), self.dilation)

    def image(self, c: Context, x: Tensor) -> Tensor:
        sizes = x.shape[2:]
        if not all(isinstance(size, int) for size in sizes):
            raise c.refuse("images of a known size where a convolution is transposed")
        # Padding may be larger than what the taps reach, and cuts the image then.
        before, behind = ([max(each, 0) for each in side]
                          for side in (self.low, self.high))
        spread = [(size - 1) * step + 1 + low + high for size, step, low, high
                  in zip(sizes, self.stride, before, behind)]
        image = c.fn.insert(x, c.fn.fill(0, (*x.shape[:2], *spread), x.element),
                            [0, 0, *before], [1, 1, *self.stride])
        for dim, (low, high) in enumerate(zip(self.low, self.high), 2):
            cut = [max(-low, 0), max(-high, 0)]
            image = c.fn.slice(image, dim, cut[0], image.shape[dim] - sum(cut))
        return image


def _dense(c: Context, x: Tensor, weight: Tensor, shape: Sequence[Dim],
           places: _Places) -> Tensor:
    """Sums in f32 at least, rounded once."""
    name = NAMES[len(places.taps)]
    zeros = c.fn.fill(0, shape, x.element)
    return c.fn.convolve(name, x, weight, zeros, places.stride, places.dilation)


def _depthwise(c: Context, x: Tensor, weight: Tensor | Constant, places: _Places) -> Tensor:
    """Each channel by itself. The last place runs innermost, where pixels are
    neighbours."""
    element = compute_type(x.element)
    channels = x.shape[1]
    many = c.shape[1] // channels
    y, t = places.loops()
    # A channel with one output has its dimension alone, as a pool's channels have.
    outputs, loops = ([many], ["m"]) if many > 1 else ([], [])
    if isinstance(weight, Constant) and many == 1:
        # Neighbouring channels of a tap are one access where channels are last.
        taps = weight.tensor.reshape(channels, *places.taps).movedim(0, -1).contiguous()
        grouped, of_weight = c.tensor(Constant(f"{weight.key}.taps", taps)), [*t, "c"]
    else:
        grouped = c.fn.reshape(c.tensor(weight), [channels, *outputs, *places.taps])
        of_weight = ["c", *loops, *t]
    zeros = c.fn.fill(0, [c.shape[0], channels, *outputs, *c.shape[2:]], element)

    def code(body: Body, x: Scalar, w: Scalar, total: Scalar) -> Scalar:
        return body.add(total, body.mul(body.cast(x, element), body.cast(w, element)))

    sums = c.fn.mapped(
        ["n", "c", *loops, *y[:-1], *t, y[-1]], t,
        [(x, f"n, c, {places.maps()}"), (grouped, ", ".join(of_weight))],
        zeros, ", ".join(["n", "c", *loops, *y]), code)
    return c.fn.reshape(sums, c.shape)


def add_bias(c: Context, sums: Tensor, bias: Tensor | Constant | None) -> Tensor:
    """With a number for each channel, in the type of the result."""
    if bias is None and sums.element == c.element:
        return sums
    parts = [] if bias is None else [
        _of_channels(c, c.tensor(bias), len(sums.shape) - 2)]

    def code(body: Body, value: Scalar, *rest: Scalar) -> Scalar:
        wide = compute_type(value.element)
        value = body.cast(value, wide)
        for each in rest:
            value = body.add(value, body.cast(each, wide))
        return body.cast(value, c.element)

    return c.fn.elementwise([sums, *parts], c.shape, c.element, code)


def _of_channels(c: Context, each: Tensor, places: int) -> Tensor:
    return c.fn.reshape(each, [*each.shape, *([1] * places)])


# Batch normalization

@lowers("aten._native_batch_norm_legit_no_training")
def _batch_norm(c: Context, x: Tensor, weight: Constant | None, bias: Constant | None,
                mean: Constant, variance: Constant, _momentum: float,
                epsilon: float) -> tuple[Tensor, None, None]:
    """A scale and a shift of each channel, which a product before takes as its
    epilogue."""
    constants = [each for each in (weight, bias, mean, variance) if each is not None]
    if not all(isinstance(each, Constant) for each in constants):
        raise c.refuse("statistics that are buffers of the model")
    scale = torch.rsqrt(variance.tensor.double() + epsilon)
    if weight is not None:
        scale = scale * weight.tensor.double()
    shift = -mean.tensor.double() * scale
    if bias is not None:
        shift = shift + bias.tensor.double()
    given = c.tensor(x)
    rank = len(given.shape) - 2
    parts = [_of_channels(c, c.tensor(Constant(f"{mean.key}.{name}", each.float())), rank)
             for name, each in (("scale", scale), ("shift", shift))]

    def code(body: Body, x: Scalar, scale: Scalar, shift: Scalar) -> Scalar:
        return body.cast(body.add(body.mul(body.cast(x, "f32"), scale), shift),
                         given.element)

    result = c.fn.elementwise([given, *parts], given.shape, given.element, code)
    return result, None, None


# Pools

@lowers("aten.max_pool2d_with_indices", "aten.max_pool2d")
def _max_pool(c: Context, x: Tensor, taps: Sequence[int], stride: Sequence[int] = (),
              padding: Sequence[int] = (0,), dilation: Sequence[int] = (1,),
              ceil_mode: bool = False) -> tuple[Tensor, None] | Tensor:
    value = c.node.meta["val"]
    pooled = value[0] if isinstance(value, (tuple, list)) else value
    if any(user.args[1:] == (1,) and user.users for user in c.node.users):
        raise c.refuse("a pool's largest elements, not their places")
    result = _pool(c, x, [c.dim(size) for size in pooled.shape], taps, stride, padding,
                   dilation, ceil_mode, -math.inf, x.element,
                   lambda body, x, most: body.maximum(x, most))
    return (result, None) if isinstance(value, (tuple, list)) else result


@lowers("aten.avg_pool2d", "aten.avg_pool1d", "aten.avg_pool3d")
def _avg_pool(c: Context, x: Tensor, taps: Sequence[int], stride: Sequence[int] = (),
              padding: Sequence[int] = (0,), ceil_mode: bool = False,
              count_include_pad: bool = True, divisor: int | None = None) -> Tensor:
    wide = compute_type(x.element)
    sums = _pool(c, x, c.shape, taps, stride, padding, (1,), ceil_mode, 0, wide,
                 lambda body, x, total: body.add(total, body.cast(x, wide)))
    taps = tuple(taps) * (len(x.shape) - 2 if len(taps) == 1 else 1)
    if any(padding) and not count_include_pad and divisor is None:
        counts = c.tensor(Constant(f"{c.node.name}.counts", _counts(
            x.shape[2:], taps, stride or taps, padding)))
        return c.fn.elementwise([sums, counts], c.shape, c.element, lambda body, s, n:
                                body.cast(body.div(s, body.cast(n, wide)), c.element))
    count = divisor or math.prod(taps)
    return c.fn.elementwise([sums], c.shape, c.element, lambda body, s: body.cast(
        body.div(s, body.constant(count, wide)), c.element))


def _counts(sizes: Sequence[int], taps: Sequence[int], stride: Sequence[int],
            padding: Sequence[int]) -> torch.Tensor:
    """How many pixels of the image each window has."""
    pool = (functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d)
    ones = torch.ones(1, 1, *sizes)
    shares = pool[len(taps) - 1](ones, tuple(taps), tuple(stride), tuple(padding))
    return (shares[0, 0] * math.prod(taps)).round()


@lowers("aten._adaptive_avg_pool2d", "aten._adaptive_avg_pool3d")
def _adaptive_avg_pool(c: Context, x: Tensor, sizes: Sequence[int]) -> Tensor:
    inner = x.shape[2:]
    if any(not isinstance(size, int) or size % wanted for size, wanted in
           zip(inner, sizes)):
        raise c.refuse(f"an adaptive pool to sizes that divide the image's, but got "
                       f"{list(sizes)} of {list(inner)}")
    taps = [size // wanted for size, wanted in zip(inner, sizes)]
    return _avg_pool(c, x, taps, taps)


def _pool(c: Context, x: Tensor, shape: Sequence[Dim], taps: Sequence[int],
          stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int],
          ceil_mode: bool, start: float, element: str, code) -> Tensor:
    rank = len(x.shape) - 2
    taps = tuple(taps) * (rank if len(taps) == 1 else 1)
    places = _Places.of(taps, stride or taps, padding, dilation)
    padded = places.pad(c, x, start)
    needed = [(out - 1) * step + (tap - 1) * apart + 1 if isinstance(out, int) else 0
              for out, tap, step, apart in
              zip(shape[2:], taps, places.stride, places.dilation)]
    if ceil_mode and any(need > size for need, size in zip(needed, padded.shape[2:])):
        raise c.refuse("a pool whose windows are in the image, not one with ceil_mode")
    y, t = places.loops()
    # A tensor of the windows' size, whose elements are not read.
    windows = c.fn.empty(taps, element)
    return c.fn.mapped(
        ["n", "c", *y[:-1], *t, y[-1]], t,
        [(padded, f"n, c, {places.maps()}"), (windows, ", ".join(t))],
        c.fn.fill(start, shape, element), ", ".join(["n", "c", *y]),
        lambda body, x, _, before: code(body, x, before))
