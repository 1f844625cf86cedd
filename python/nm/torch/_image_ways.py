"""How a layer without groups convolves an image: by which kernel, and of which order of channels.

The image is copied where its channels are in another order. What is written here was found by
examples/convolutions/measure_layers.py; docs/guide/convolutions.md has the times.

On a CPU a kernel makes patches in cache, tile by tile:

- Of few places of an output unstructured weights read channels first, whose pixels fill vectors,
  and N:M weights channels last.
- Of more, windows that share pixels are read with channels first, and others in the image's own
  order, but in f16 those of several pixels have PyTorch's patches.
- So have N:M weights of bf16.

On a GPU some kernels read the image, and others write patches to its memory, which is faster than
what PyTorch does where channels are last: then a row of patches is runs of the image's memory.

- N:M weights of 16 bits read an image in its own order where there is such a kernel, and
  single ones else have patches with channels last.
- Weights of f32 and unstructured ones read channels first, where the fastest kernel does.
- Windows that share no pixels read the image in its own order: it has more pixels than they take.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from .._convolve import KernelKind, Order, Windows
from .._pattern import Pattern

#: Types of images that have kernels.
TYPES = (torch.float32, torch.float16, torch.bfloat16)
#: Places of an image's output, and elements of all patches, fewer of which are few: these are
#: made in less time than a kernel is found.
_FEW_PLACES, _FEW_ELEMENTS = 64, 1 << 14
#: Columns that share their rows, of which a GPU's tensor cores multiply an image in 16 bits
#: (docs/strategies/mma_sync.md), and of which they do it as fast as they multiply patches.
_COLUMNS_OF_MMA, _FAST_COLUMNS = 8, 16

#: An order of channels, and what kernel of it.
Way = tuple[Order, KernelKind]
FIRST: Order = "channels first"
LAST: Order = "channels last"
_ANY = KernelKind()
_IN_PLACE = KernelKind(in_place=True)


def is_on_gpu(image: Tensor) -> bool:
    return image.is_cuda


def ways_of(image: Tensor, pattern: Pattern, windows: Windows) -> list[Way]:
    """The ways to convolve an image, each of which is tried where there is no kernel of those
    before it. Where there is none of any PyTorch makes patches."""
    if image.dtype not in TYPES:
        return []
    places = math.prod(windows.places(image.shape[2:]))
    if image.shape[0] * image.shape[1] * math.prod(windows.taps) * places < _FEW_ELEMENTS:
        return []
    is_last = image.stride(1) == 1 and not image.is_contiguous()
    if is_on_gpu(image):
        return ways_on_gpu(image.dtype, is_last, places, pattern, windows)
    order = _order_on_cpu(image.dtype, is_last, places, pattern, windows)
    return [] if order is None else [(order, _ANY)]


def ways_on_gpu(dtype: torch.dtype, is_last: bool, places: int, pattern: Pattern,
                windows: Windows) -> list[Way]:
    """The same of a GPU, for images whose patches are not few."""
    if windows.are_pixels():
        # With channels last, these are the rows of a product.
        return [] if is_last else [(FIRST, _ANY)]
    if pattern.is_unstructured:
        return _ways_of_unstructured(dtype, is_last, windows)
    columns = pattern.block[1]
    if dtype != torch.float32 and columns >= _COLUMNS_OF_MMA:
        return _ways_of_vectors(is_last, columns, windows)
    if not windows.overlap():
        return [(LAST if is_last else FIRST, _ANY)]
    # With channels last, to write patches of single weights is faster than to copy the image.
    reads_copy = columns >= _COLUMNS_OF_MMA and places >= _FEW_PLACES
    return [(LAST, _ANY)] if is_last and not reads_copy else [(FIRST, _IN_PLACE), (LAST, _ANY)]


def _ways_of_unstructured(dtype: torch.dtype, is_last: bool, windows: Windows) -> list[Way]:
    if not windows.overlap():
        return [] if is_last else [(FIRST, _ANY)]
    if dtype != torch.float32:
        # Strategy simt_columns reads patches with channels first, as which they would be
        # written once more.
        last = LAST, KernelKind(without="simt_columns")
        return [last] if is_last else [(FIRST, _IN_PLACE), last]
    return [(FIRST, _IN_PLACE if is_last else KernelKind(True, otherwise="simt_columns"))]


def _ways_of_vectors(is_last: bool, columns: int, windows: Windows) -> list[Way]:
    """Of 16 bits."""
    is_fast = columns >= _FAST_COLUMNS
    if not is_last:
        if windows.overlap():
            return [(FIRST, _IN_PLACE), (LAST, _ANY)]
        return [(FIRST, KernelKind(True, otherwise="mma_sync"))]
    if not windows.overlap():
        return [(LAST, _IN_PLACE)] if is_fast else []
    return [(LAST, _IN_PLACE), (FIRST, _IN_PLACE)] if is_fast else [(LAST, _ANY)]


def _order_on_cpu(dtype: torch.dtype, is_last: bool, places: int, pattern: Pattern,
                  windows: Windows) -> Order | None:
    if dtype == torch.bfloat16 and not pattern.is_unstructured:
        return None
    if places < _FEW_PLACES:
        return FIRST if pattern.is_unstructured else LAST
    if windows.overlap():
        return FIRST
    if dtype == torch.float16 and math.prod(windows.taps) > 1:
        return None
    return LAST if is_last else FIRST
