"""Convolutions by one kernel, which is compiled for the shape of the image: _image_ways.py says
where layers have one."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from torch import Tensor

from .._convolve import Convolution, KernelKind, Windows, convolve, has_no_kernel
from .._errors import CompilerNotFoundError
from .._sparse import SparseTensor
from ._image_ways import FIRST, ways_of
from ._weights import convert_weight, find_weight, parse_form

# Shapes for which no kernel was found where there is no compiler; of a weight so many.
_MOST_LACKING = 256
_lacking: WeakKeyDictionary[SparseTensor, set[tuple]] = WeakKeyDictionary()


def convolve_layer(image: Tensor, values: Tensor, indices: Tensor, form: str,
                   bias: Tensor | None, windows: Windows) -> Tensor | None:
    """The convolution of a layer without groups, in the order of channels that the kernel has;
    None where PyTorch is to make patches.

    Args:
        image: of the weight's type, or of a lower one to which that is rounded.
    """
    ways = ways_of(image, parse_form(form)[0], windows)
    if not ways:
        return None
    w = find_weight(values, indices, form)
    if image.dtype != values.dtype:
        w = convert_weight(w, image.dtype)
    for order, kind in ways:
        what = Convolution(w, windows, "channels last", order)
        if order == FIRST:
            y = convolve_known(image, what, bias, kind)
        else:
            y = convolve_known(image.movedim(1, -1), what, bias, kind)
            y = None if y is None else y.movedim(-1, 1)
        if y is not None:
            return y
    return None


def convolve_known(image: Tensor, what: Convolution, bias: Tensor | None,
                   kind: KernelKind = KernelKind()) -> Tensor | None:
    """The same of any weight; None where it has kernels for too many other shapes, there is
    no compiler, or no kernel of this kind."""
    lacking = _lacking.get(what.w)
    key = what.windows, what.of_image, image.shape, image.device
    if lacking is not None and key in lacking:
        return None
    # Nothing is copied in vain.
    if not image.is_contiguous() and has_no_kernel(image, what, bias is not None, kind):
        return None
    try:
        return convolve(image.contiguous(), what, bias, kind)
    except CompilerNotFoundError:
        keys = _lacking.setdefault(what.w, set())
        if len(keys) >= _MOST_LACKING:
            keys.clear()
        keys.add(key)
        return None
