"""Convolutions whose filter is one condensed weight, each compiled for the sizes of its image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from . import _arrays
from . import _library as lib
from ._call import PreparedCall
from ._errors import DTypeError, ShapeError
from ._kernels import bind_convolution, is_refused, keep_call
from ._matmul import _check_column
from ._mlir import Body, FunctionText, Scalar, Tensor
from ._mlir._function import EncodedTensor
from ._mlir._scalars import compute_type
from ._module import Function
from ._records import ProductRecord
from ._sparse import SparseTensor

#: linalg's convolutions of so many dimensions, channels first.
NAMES = {1: "conv_1d_ncw_fcw", 2: "conv_2d_nchw_fchw", 3: "conv_3d_ncdhw_fcdhw"}
#: The same of images whose channels are last.
_NAMES_LAST = {1: "conv_1d_nwc_wcf", 2: "conv_2d_nhwc_fhwc", 3: "conv_3d_ndhwc_dhwcf"}
#: Where the channels are: in an image behind the batch or last, in the k of a weight before
#: the taps or behind them. Images whose channels are last have weights whose channels are.
Order = Literal["channels first", "channels last"]
#: Sizes of images that a weight has kernels for at most: each is compiled.
MOST_IMAGES = 8
#: What the image, the weight and the result may be.
FLOATS = ("f32", "f16", "bf16")


@dataclass(frozen=True)
class Windows:
    """The windows of a convolution: a number for each dimension of the image but batch and
    channels. Both sides of a dimension have the same padding."""

    taps: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]

    def padded(self, sizes: Sequence[int]) -> list[int]:
        return [size + 2 * pad for size, pad in zip(sizes, self.padding)]

    def places(self, sizes: Sequence[int]) -> list[int]:
        """How many windows an image of these sizes has along each dimension."""
        return [(size - (tap - 1) * apart - 1) // step + 1 for size, tap, step, apart in
                zip(self.padded(sizes), self.taps, self.stride, self.dilation)]

    def overlap(self) -> bool:
        """Whether windows beside each other may have a pixel in common."""
        return any((tap - 1) * apart >= step for tap, step, apart in
                   zip(self.taps, self.stride, self.dilation))

    def are_pixels(self) -> bool:
        """Whether each window is one pixel, of which none is left out."""
        return all(each == 1 for each in (*self.taps, *self.stride)) and not any(self.padding)


@dataclass(frozen=True)
class Convolution:
    """A convolution whose filter `w` is the matrix of.

    Attributes:
        w: ``[out, k]``, compressed with axis=1.
        windows: the taps, and where they are.
        of_weight: the order of channels and taps in k.
        of_image: where an image has its channels.
    """

    w: SparseTensor
    windows: Windows
    of_weight: Order = "channels first"
    of_image: Order = "channels first"

    def sizes(self, shape: Sequence[int]) -> tuple[int, ...]:
        """An image's sizes without batch and channels."""
        return tuple(shape[2:] if self.of_image == "channels first" else shape[1:-1])

    def channels(self, shape: Sequence[int]) -> int:
        return shape[1 if self.of_image == "channels first" else -1]

    def shape_of(self, batch: int, channels: int, sizes: Sequence[int]) -> tuple[int, ...]:
        return ((batch, channels, *sizes) if self.of_image == "channels first"
                else (batch, *sizes, channels))

    def result(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of what an image becomes."""
        return self.shape_of(shape[0], self.w.n, self.windows.places(self.sizes(shape)))


@dataclass(frozen=True)
class KernelKind:
    """Which kernels of a GPU will do; all that a CPU has will.

    Attributes:
        in_place: only one that reads the image itself.
        otherwise: the strategy of such a kernel, which is taken where the fastest one writes
            patches to memory and is not estimated to be much faster.
        without: the strategy that is not to multiply patches from memory.
    """

    in_place: bool = False
    otherwise: str | None = None
    without: str | None = None


def convolve(image: Any, what: Convolution, bias: Any = None, kind: KernelKind = KernelKind()
             ) -> Any | None:
    """The convolution of an image, by a kernel that is compiled for its shape.

    Args:
        image: ``[batch, channels, sizes...]``, or ``[batch, sizes..., channels]``, of f32, f16
            or bf16.
        what: with a weight of its type.
        bias: ``[out]`` of its type, or None.
        kind: which kernels will do.

    Returns:
        of the order, the type and the kind of `image`; None where the weight has kernels for
        `MOST_IMAGES` other images, or where no kernel will do. Sums are of f32.

    Raises:
        ShapeError, DTypeError, DeviceError: an array does not fit.
        CompilerNotFoundError: there is no compiler, and no such kernel in the cache.
    """
    call = _find_call(image, what, bias, kind)
    return None if call is None else call.run([image] if bias is None else [image, bias], None)


def has_no_kernel(image: Any, what: Convolution, has_bias: bool, kind: KernelKind) -> bool:
    """Whether it is known that `convolve` gives None for an image of this shape, as it lies."""
    view = _arrays.kind_of(image).view(image)
    return is_refused(what.w, view.device, _key(view.shape, what, has_bias, kind), MOST_IMAGES)


def record_of(image: Any, what: Convolution, bias: Any = None) -> ProductRecord:
    """How the same convolution is compiled, and its estimate beside dense weights."""
    call = _find_call(image, what, bias, KernelKind())
    records = [] if call is None else call._bound.function.ops
    return records[0] if records else ProductRecord()


def writes_patches(function: Function, what: Convolution, shape: Sequence[int]) -> bool:
    """Whether a kernel of a GPU for images of `shape` writes their patches to its memory."""
    windows = what.windows
    if windows.are_pixels():
        return False
    places = shape[0] * math.prod(windows.places(what.sizes(shape)))
    # Parts of k have sums of f32 of their own, which are temporary, too.
    splits = max((record.parameters.get("split_k", 1) for record in function.ops), default=1)
    sums = 4 * splits * places * what.w.n if splits > 1 else 0
    patches = lib.ELEMENT_SIZES[what.w.dtype] * places * what.w.k
    return function.temporary_bytes - sums >= patches


def _find_call(image: Any, what: Convolution, bias: Any, of_kernel: KernelKind
               ) -> PreparedCall | None:
    kind, w = _arrays.kind_of(image), what.w
    key = ("convolution", of_kernel, what.windows, what.of_weight, what.of_image, type(image),
           kind.signature(image), None if bias is None else kind.signature(bias))
    call = w._prepared.get(key)
    if call is None:
        call = _prepare(image, what, bias, of_kernel)
        if call is not None:
            keep_call(w, key, call)
    return call


def _prepare(image: Any, what: Convolution, bias: Any, kind: KernelKind
             ) -> PreparedCall | None:
    view, w = _arrays.kind_of(image).view(image), what.w
    _check(view, what)
    arrays = [image]
    if bias is not None:
        _check_column(bias, "bias", view.dtype, w, view)
        arrays.append(bias)
    key = _key(view.shape, what, bias is not None, kind)

    def accept(function: Function) -> bool:
        if not (kind.in_place or kind.without) or not writes_patches(function, what, view.shape):
            return True
        return not kind.in_place and function.ops[0].strategy != kind.without

    bound = bind_convolution(
        w, view.device, key, MOST_IMAGES, lambda: _text(view.shape, what, bias is not None),
        accept, kind.otherwise)
    return bound and PreparedCall(bound, arrays, [what.result(view.shape)], [view.dtype])


def _key(shape: Sequence[int], what: Convolution, has_bias: bool, kind: KernelKind) -> tuple:
    """What tells a convolution from others with the weight."""
    return what.windows, what.of_weight, what.of_image, tuple(shape), has_bias, kind


def _check(view: _arrays.View, what: Convolution) -> None:
    w, taps = what.w, math.prod(what.windows.taps)
    rank = len(what.windows.taps)
    if len(view.shape) != rank + 2 or what.channels(view.shape) * taps != w.k:
        raise ShapeError(f"expected an image of {rank + 2} dimensions, one of {w.k // taps} "
                         f"channels, but got {view.shape}")
    if view.dtype not in FLOATS or view.dtype != w.dtype:
        raise DTypeError(f"expected an image of {', '.join(FLOATS)}, and of {w.dtype} as the "
                         f"weight is, but got {view.dtype}")
    if min(what.windows.places(what.sizes(view.shape))) < 1:
        raise ShapeError(f"expected an image that has a window {what.windows.taps}, but got "
                         f"{view.shape}")


def _text(shape: Sequence[int], what: Convolution, has_bias: bool) -> str:
    fn, w, windows = FunctionText("convolve"), what.w, what.windows
    image = fn.argument(shape, w.dtype)
    weight = fn.weight_argument(w.shape, w.dtype, str(w.pattern))
    result = what.result(shape)
    bias = fn.argument([w.n], w.dtype) if has_bias else None
    if any(windows.padding):
        around = fn.fill(0, what.shape_of(shape[0], what.channels(shape),
                                          windows.padded(what.sizes(shape))), w.dtype)
        image = fn.insert(image, around, what.shape_of(0, 0, windows.padding))
    names = NAMES if what.of_image == "channels first" else _NAMES_LAST
    sums = fn.convolve(names[len(windows.taps)], image,
                       _filter(fn, weight, what, what.channels(shape)),
                       fn.fill(0, result, w.dtype), windows.stride, windows.dilation)
    if bias is None:
        return fn.text([sums])
    wide = compute_type(w.dtype)

    def add(body: Body, value: Scalar, each: Scalar) -> Scalar:
        return body.cast(body.add(body.cast(value, wide), body.cast(each, wide)), w.dtype)

    # Without a batch of one, which would be one of the result's dimensions.
    of_channels = fn.reshape(bias, what.shape_of(1, w.n, [1] * len(windows.taps))[1:])
    return fn.text([fn.elementwise([sums, of_channels], result, w.dtype, add)])


def _filter(fn: FunctionText, weight: EncodedTensor, what: Convolution, channels: int
            ) -> Tensor:
    """The filter as the convolution of linalg's takes it."""
    reduced = [*what.windows.taps, channels]
    if what.of_weight == "channels first":
        return fn.filter_of_channels(weight, [channels, *what.windows.taps])
    if what.of_image == "channels first":
        return fn.filter(weight, reduced)
    # Of two dimensions linalg has one whose outputs are first, as those of the matrix.
    return (fn.filter_of_channels(weight, reduced) if len(reduced) == 3
            else fn.filter_of_outputs_last(weight, reduced))
