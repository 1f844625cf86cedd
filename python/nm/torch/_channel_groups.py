"""Convolutions in groups, whose output channels sum over the input channels of their group
alone.

The weight is ``[out, taps and channels of a group]``. All groups are one product, of patches of
the whole image, whose weight ``[out, channels and taps]`` keeps in each row those of its group.
It has no pattern but that, so it is unstructured, and nothing is computed for its zeros. Channels
come first, so that those of a group lie together, in few tiles of k.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .._convolve import FLOATS, Convolution, Windows
from .._errors import DTypeError, ShapeError
from .._formats import compress
from .._pattern import Pattern
from .._sparse import SparseTensor
from ._decompress import decompress
from ._image_kernels import convolve_known
from ._op import check_types
from ._weights import convert_weight, find_weight

#: Groups that are products of their own at most, and the output channels that each then has at
#: least, in vectors of so many.
_MOST_APART, _LEAST_OUTPUTS, _LEAST_VECTOR = 4, 64, 8


def whole_matrix(matrix: Tensor, groups: int, channels: int) -> Tensor:
    """``[out, channels and taps]`` of ``[out, taps and channels of a group]``, with zeros for the
    channels of other groups.

    Args:
        channels: of one group.
    """
    parts = matrix.unflatten(1, (-1, channels)).unflatten(0, (groups, -1))
    _, outputs, taps, _ = parts.shape
    whole = matrix.new_zeros(groups, outputs, groups, channels, taps)
    whole.diagonal(dim1=0, dim2=2).copy_(parts.permute(1, 3, 2, 0))
    return whole.flatten(2).flatten(0, 1)


def group_inputs(x: Tensor, groups: int, taps: int) -> Tensor:
    """``[..., groups, taps and channels of a group]`` of ``[..., taps and channels]``."""
    return x.unflatten(-1, (taps, groups, -1)).movedim(-2, -3).flatten(-2)


def own_outputs(y: Tensor, groups: int) -> Tensor:
    """``[..., out]`` of what all outputs make of each group's inputs, ``[..., groups, out]``."""
    own = y.unflatten(-1, (groups, -1)).diagonal(dim1=-3, dim2=-2)
    return own.movedim(-1, -2).flatten(-2)


def are_apart(pattern: Pattern, outputs: int, groups: int) -> bool:
    """Whether each group of a condensed weight is a product of its own in an exported model:
    where there are few, and vectors of output channels are kept, which one product of
    unstructured weights does not have.

    Args:
        outputs: of one group.
    """
    return (not pattern.is_unstructured and groups <= _MOST_APART
            and outputs >= _LEAST_OUTPUTS and pattern.block[1] >= _LEAST_VECTOR
            and outputs % pattern.block[1] == 0)


def are_one_product(weight: Tensor, groups: int) -> bool:
    """Whether all groups of a dense weight are one product in an exported model: where there are
    many, each of which would have to be compiled, or where so many are zero that few would do."""
    if weight.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return False
    return groups > _MOST_APART or 2 * torch.count_nonzero(weight) <= weight.numel()


def whole_weight(values: Tensor, indices: Tensor, form: str, groups: int, channels: int
                 ) -> SparseTensor:
    """The weight of all groups, kept with that of the tensors."""
    w = find_weight(values, indices, form)
    kept, key = w._torch_converted, ("groups", groups, channels)
    if key not in kept:
        with torch.no_grad():
            dense = decompress(values.detach(), indices, form).cpu()
            kept[key] = compress(whole_matrix(dense, groups, channels), "unstructured", axis=1)
    return kept[key]


def convolve_groups(image: Tensor, values: Tensor, indices: Tensor, form: str,
                    bias: Tensor | None, windows: Windows, groups: int) -> Tensor:
    """The convolution, compiled for images of this shape; as PyTorch convolves where the weight
    has kernels for many others, or there is no compiler."""
    whole = whole_weight(values, indices, form, groups, image.shape[1] // groups)
    if image.dtype != values.dtype:
        whole = convert_weight(whole, image.dtype)
    y = convolve_known(image, Convolution(whole, windows), bias)
    if y is not None:
        return y
    dense = decompress(values, indices, form).to(image.dtype)
    filter_ = dense.unflatten(1, (*windows.taps, -1)).movedim(-1, 1)
    return torch.convolution(image, filter_, bias, windows.stride, windows.padding,
                             windows.dilation, False, [0] * len(windows.taps),
                             groups).contiguous()


def check_image(image: Tensor, values: Tensor, channels: int) -> torch.dtype | None:
    """The type of torch.autocast, as check_types gives it.

    Raises:
        DTypeError: `image` is of another type than the weight, or of none that is convolved.
        ShapeError: it has other than `channels` channels.
    """
    if values.dtype not in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        raise DTypeError(f"expected a weight of {', '.join(FLOATS)} in groups, but got "
                         f"{str(values.dtype).rpartition('.')[2]}")
    lower = check_types(image, values)
    if image.shape[1] != channels:
        raise ShapeError(f"expected an image of {channels} channels, but got "
                         f"{image.shape[1]} of {tuple(image.shape)}")
    return lower
