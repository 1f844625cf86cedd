"""Convolutions by one kernel, which is compiled for the shape of the image and makes no patches.

On a CPU layers without groups have one where examples/convolutions/measure_layers.py found it to
be as fast as patches of PyTorch's and one product. It reads the image with its channels first or
last, which is copied where it has the other order:

- Of few places of an output unstructured weights read channels first, whose pixels fill vectors,
  and N:M weights channels last.
- Of more, windows that share pixels are read with channels first, and others in the image's own
  order, but in f16 those of several pixels are patches.
- So are N:M weights of bf16, and images of few patches, which are made in less time than a
  kernel is found.
"""

from __future__ import annotations

import math
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from .._convolve import Convolution, Order, Windows, convolve
from .._errors import CompilerNotFoundError
from .._pattern import Pattern
from .._sparse import SparseTensor
from ._weights import convert_weight, find_weight, parse_form

#: Places of an image's output, and elements of all patches, fewer of which are few.
_FEW_PLACES, _FEW_ELEMENTS = 64, 1 << 14

# Shapes for which no kernel was found where there is no compiler; of a weight so many.
_MOST_LACKING = 256
_lacking: WeakKeyDictionary[SparseTensor, set[tuple]] = WeakKeyDictionary()


def convolve_layer(image: Tensor, values: Tensor, indices: Tensor, form: str,
                   bias: Tensor | None, windows: Windows) -> Tensor | None:
    """The convolution of a layer without groups, in the order of channels that the kernel has;
    None where patches are to be made.

    Args:
        image: of the weight's type, or of a lower one to which that is rounded.
    """
    order = _order_for(image, parse_form(form)[0], windows)
    if order is None:
        return None
    w = find_weight(values, indices, form)
    if image.dtype != values.dtype:
        w = convert_weight(w, image.dtype)
    what = Convolution(w, windows, "channels last", order)
    if order == "channels first":
        return convolve_known(image.contiguous(), what, bias)
    y = convolve_known(image.movedim(1, -1).contiguous(), what, bias)
    return None if y is None else y.movedim(-1, 1)


def convolve_known(image: Tensor, what: Convolution, bias: Tensor | None) -> Tensor | None:
    """The same of any weight; None where it has kernels for too many other shapes, or there is
    no compiler."""
    lacking = _lacking.get(what.w)
    key = what.windows, what.of_image, image.shape
    if lacking is not None and key in lacking:
        return None
    try:
        return convolve(image, what, bias)
    except CompilerNotFoundError:
        keys = _lacking.setdefault(what.w, set())
        if len(keys) >= _MOST_LACKING:
            keys.clear()
        keys.add(key)
        return None


def _order_for(image: Tensor, pattern: Pattern, windows: Windows) -> Order | None:
    if not image.is_cpu or image.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return None
    places = math.prod(windows.places(image.shape[2:]))
    if image.shape[0] * image.shape[1] * math.prod(windows.taps) * places < _FEW_ELEMENTS:
        return None
    if image.dtype == torch.bfloat16 and not pattern.is_unstructured:
        return None
    if places < _FEW_PLACES:
        return "channels first" if pattern.is_unstructured else "channels last"
    if windows.overlap():
        return "channels first"
    if image.dtype == torch.float16 and math.prod(windows.taps) > 1:
        return None
    is_last = image.stride(1) == 1 and not image.is_contiguous()
    return "channels last" if is_last else "channels first"
