"""Convolutions whose filter is one condensed weight, each compiled for the sizes of its image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import _arrays
from ._call import PreparedCall
from ._errors import DTypeError, ShapeError
from ._kernels import bind_text, keep_call
from ._matmul import _check_column
from ._mlir import Body, FunctionText, Scalar
from ._mlir._scalars import compute_type
from ._records import ProductRecord
from ._sparse import SparseTensor

#: linalg's convolutions of so many dimensions, channels first.
NAMES = {1: "conv_1d_ncw_fcw", 2: "conv_2d_nchw_fchw", 3: "conv_3d_ncdhw_fcdhw"}
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


def convolve(image: Any, w: SparseTensor, windows: Windows, bias: Any = None) -> Any:
    """The convolution of an image with the filter that `w` is the matrix of.

    Args:
        image: ``[batch, channels, sizes...]`` of f32, f16 or bf16.
        w: ``[out, channels and taps]`` of its type, compressed with axis=1.
        windows: the taps, and where they are.
        bias: ``[out]`` of its type, or None.

    Returns:
        ``[batch, out, places...]`` of the type and the kind of `image`. Sums are of f32.

    Raises:
        ShapeError, DTypeError, DeviceError: an array does not fit.
        CompilerNotFoundError: there is no compiler, and no such kernel in the cache.
    """
    call = _find_call(image, w, windows, bias)
    return call.run([image] if bias is None else [image, bias], None)


def record_of(image: Any, w: SparseTensor, windows: Windows, bias: Any = None
              ) -> ProductRecord:
    """How the same convolution is compiled, and its estimate beside dense weights."""
    records = _find_call(image, w, windows, bias)._bound.function.ops
    return records[0] if records else ProductRecord()


def _find_call(image: Any, w: SparseTensor, windows: Windows, bias: Any) -> PreparedCall:
    kind = _arrays.kind_of(image)
    key = ("convolution", windows, type(image), kind.signature(image),
           None if bias is None else kind.signature(bias))
    call = w._prepared.get(key)
    if call is None:
        call = _prepare(image, w, windows, bias)
        keep_call(w, key, call)
    return call


def _prepare(image: Any, w: SparseTensor, windows: Windows, bias: Any) -> PreparedCall:
    view = _arrays.kind_of(image).view(image)
    _check(view, w, windows)
    arrays = [image]
    if bias is not None:
        _check_column(bias, "bias", view.dtype, w, view)
        arrays.append(bias)
    text = _text(view.shape, w, windows, bias is not None)
    result = (view.shape[0], w.n, *windows.places(view.shape[2:]))
    return PreparedCall(bind_text(w, view.device, text), arrays, [result], [view.dtype])


def _check(view: _arrays.View, w: SparseTensor, windows: Windows) -> None:
    rank, taps = len(windows.taps), 1
    for tap in windows.taps:
        taps *= tap
    if len(view.shape) != rank + 2 or view.shape[1] * taps != w.k:
        raise ShapeError(f"expected an image of {rank + 2} dimensions, the second of "
                         f"{w.k // taps} channels, but got {view.shape}")
    if view.dtype not in FLOATS or view.dtype != w.dtype:
        raise DTypeError(f"expected an image of {', '.join(FLOATS)}, and of {w.dtype} as the "
                         f"weight is, but got {view.dtype}")
    if min(windows.places(view.shape[2:])) < 1:
        raise ShapeError(f"expected an image that has a window {windows.taps}, but got "
                         f"{view.shape}")


def _text(shape: Sequence[int], w: SparseTensor, windows: Windows, has_bias: bool) -> str:
    fn = FunctionText("convolve")
    image = fn.argument(shape, w.dtype)
    weight = fn.weight_argument(w.shape, w.dtype, str(w.pattern))
    result = (shape[0], w.n, *windows.places(shape[2:]))
    bias = fn.argument([w.n], w.dtype) if has_bias else None
    if any(windows.padding):
        around = fn.fill(0, (*shape[:2], *windows.padded(shape[2:])), w.dtype)
        image = fn.insert(image, around, [0, 0, *windows.padding])
    sums = fn.convolve(NAMES[len(windows.taps)], image,
                       fn.filter_of_channels(weight, [shape[1], *windows.taps]),
                       fn.fill(0, result, w.dtype), windows.stride, windows.dilation)
    if bias is None:
        return fn.text([sums])
    wide = compute_type(w.dtype)

    def add(body: Body, value: Scalar, each: Scalar) -> Scalar:
        return body.cast(body.add(body.cast(value, wide), body.cast(each, wide)), w.dtype)

    of_channels = fn.reshape(bias, [w.n, *([1] * len(windows.taps))])
    return fn.text([fn.elementwise([sums, of_channels], result, w.dtype, add)])
