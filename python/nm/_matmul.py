"""Products with condensed weights: what the arrays must be, and the call for them,
which is kept with the weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arrays
from . import _library as lib
from ._call import Layout, PreparedCall
from ._compile import resolve_target
from ._errors import DeviceError, DTypeError, Error, ShapeError
from ._kernels import FEW_ROWS, compile_common, compile_product, find_kernel, keep_call
from ._matmul_text import ACTIVATIONS, ARITHMETICS, Product
from ._records import ProductRecord
from ._sparse import SparseTensor

_NUMBERS = (int, float, np.integer, np.floating)
_LARGEST_F32 = float(np.finfo(np.float32).max)


def matmul(x: Any, w: SparseTensor, bias: Any = None,
           activation: str | None = None, out: Any = None, *,
           scale: Any = None, arithmetic: str | None = None) -> Any:
    """``activation(scale · (x · W) + bias)``, summed over k.

    W is `w` as ``[k, n]``: for a weight that was compressed with ``axis=1``, a
    PyTorch-style ``[n, k]``, the result is ``x @ w.T``.

    Args:
        x: ``[..., k]`` activations of `w.dtype`, on a CPU or a CUDA device, maybe
            strided. Any array with ``__dlpack__`` or ``__array_interface__``.
        w: the weight, of f32, f16, bf16, f8E4M3FN, f8E5M2 or i8.
        bias: ``[n]``, of the result's type and where `x` is.
        activation: ``"relu"``, ``"gelu"``, ``"gelu_tanh"``, ``"silu"`` or None.
        out: ``[..., n]`` array that the result is written to.
        scale: ``[n]`` f32 factors of the columns, or one number for all.
        arithmetic: what products of f32 may be computed by: ``"f32"`` or None for
            anything as accurate as f32, ``"ieee"`` for multiply-adds in f32,
            ``"bf16x3"`` or ``"tf32"`` for less accurate ones where they are
            faster; and of 8-bit floats, ``"fast_accum"`` for sums as a Hopper's
            tensor cores make them, with some 13 bits of mantissa.

    Returns:
        ``[..., n]`` of the kind of `x`: of its type, of f32 for 8-bit floats, of i32
        for i8 (f32 with a scale). Sums are of f32 (i32 for i8), rounded once. On
        a CUDA device the work is queued on the caller's current stream.

    Raises:
        ShapeError, DTypeError, DeviceError: an array does not fit.
        CompilerNotFoundError: this machine has no compiler, and the kernel is
            not in the cache.
    """
    kind = _arrays.kind_of(x)
    key = (type(x), kind.signature(x), activation, arithmetic,
           None if bias is None else _signature(bias),
           None if scale is None else _signature(scale))
    try:
        call = w._prepared.get(key)
    except AttributeError:
        raise TypeError("expected w to be an nm.SparseTensor, as nm.compress "
                        f"makes, but got {type(w).__name__}") from None
    if call is None:
        call = _prepare(x, w, bias, activation, scale, arithmetic)
        keep_call(w, key, call)
    arrays = [x]
    if scale is not None:
        arrays.append(_scale_array(scale, w, x, call._on_cuda))
    if bias is not None:
        arrays.append(bias)
    return call.run(arrays, out)


def _signature(array: Any) -> tuple:
    if isinstance(array, _NUMBERS):
        return (float,)
    return type(array), _arrays.kind_of(array).signature(array)


class PreparedMatmul:
    """A product that nm.prepare made: call it on arrays like `x`."""

    def __init__(self, call: PreparedCall, constants: tuple,
                 record: ProductRecord):
        self._call, self._constants = call, constants
        self._type, self._signature = call._types[0], call._signatures[0]
        self._get, self._run = call._kinds[0].signature, call.run
        self.record, self.remark = record, record.remark

    def __call__(self, x: Any, out: Any = None) -> Any:
        """The product with `x`, which has the type, shape, strides and device of
        the array that it was prepared for; see nm.matmul.

        Raises:
            ShapeError: it has not.
        """
        if type(x) is not self._type or self._get(x) != self._signature:
            raise ShapeError(self._call._mismatch(x, self._signature))
        return self._run((x, *self._constants), out)


def prepare(x: Any, w: SparseTensor, bias: Any = None,
            activation: str | None = None, *, scale: Any = None,
            arithmetic: str | None = None) -> PreparedMatmul:
    """Compiles and packs for ``nm.matmul(x, w, bias, activation)`` and gives a
    callable for arrays like `x`, which has the least overhead.

    Its `remark` says which kernel was chosen, its estimate beside dense, and why;
    its `record` has the same in fields, as an nm.ProductRecord.
    `bias` and `scale` are kept, not copied.

    Raises:
        Error: as nm.matmul.
    """
    call = _prepare(x, w, bias, activation, scale, arithmetic)
    constants = []
    if scale is not None:
        constants.append(_scale_array(scale, w, x, call._on_cuda))
    if bias is not None:
        constants.append(bias)
    records = call._bound.function.ops
    return PreparedMatmul(call, tuple(constants),
                          records[0] if records else ProductRecord())


def _scale_array(scale: Any, w: SparseTensor, x: Any, on_cuda: bool) -> Any:
    """One factor for each column, where `x` is, and finite where that can be seen
    without waiting for the device."""
    if not isinstance(scale, _NUMBERS):
        if not on_cuda:
            _check_finite(scale)
        return scale
    # An int may be beyond every float.
    number = scale if isinstance(scale, int) else float(scale)
    if not abs(number) <= _LARGEST_F32:
        raise Error(f"expected a finite scale in f32, but got {scale}")
    array = np.full(w.n, scale, np.float32)
    return _arrays.kind_of(x).from_host(array, x, "f32") if on_cuda else array


def _check_finite(scale: Any) -> None:
    view, _ = _arrays.host_array(scale)
    values = _arrays.as_numpy(view).reshape(-1)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise Error(f"expected finite scales, but scale {bad[0]} is "
                    f"{values[bad[0]]}")


def _prepare(x: Any, w: SparseTensor, bias: Any, activation: str | None,
             scale: Any, arithmetic: str | None) -> PreparedCall:
    view = _arrays.kind_of(x).view(x)
    _check_operands(view, w, activation, arithmetic)
    layout, rows = _flatten(view)
    if scale is not None:
        scale = _scale_array(scale, w, x, view.device[0] == lib.CUDA)
        _check_finite(scale)
        _check_column(scale, "scale", "f32", w, view)
    product = Product(w, rows, activation, bias is not None, scale is not None,
                      arithmetic)
    if bias is not None:
        _check_column(bias, "bias", product.result_type, w, view)
    bound = find_kernel(product, view.device)
    arrays: list[Any] = [x]
    layouts: list[Layout | None] = [layout]
    for array in (scale, bias):
        if array is not None:
            arrays.append(array)
            layouts.append(None)
    return PreparedCall(bound, arrays, [(*view.shape[:-1], w.n)],
                        [product.result_type], layouts,
                        [(layout[0][0], w.n)])


def _check_operands(view: _arrays.View, w: SparseTensor,
                    activation: str | None, arithmetic: str | None) -> None:
    if not isinstance(w, SparseTensor):
        raise TypeError("expected w to be an nm.SparseTensor, as nm.compress "
                        f"makes, but got {type(w).__name__}")
    if not view.shape or view.shape[-1] != w.k:
        raise ShapeError(f"expected x of shape [..., {w.k}], as w {w.shape} has "
                         f"k = {w.k} on axis {w.pattern.axis}, but got "
                         f"{view.shape}")
    if view.dtype != w.dtype:
        raise DTypeError(f"expected x of {w.dtype}, as w is, but got "
                         f"{view.dtype}")
    if activation not in ACTIVATIONS:
        names = ", ".join(str(name) for name in ACTIVATIONS)
        raise Error(f"expected activation to be one of {names}, but got "
                    f"{activation!r}")
    _check_arithmetic(arithmetic, w)


def _check_arithmetic(arithmetic: str | None, w: SparseTensor) -> None:
    if arithmetic not in ARITHMETICS:
        names = ", ".join(str(name) for name in ARITHMETICS)
        raise Error(f"expected arithmetic to be one of {names}, but got "
                    f"{arithmetic!r}")
    expected = (("f8E4M3FN", "f8E5M2") if arithmetic == "fast_accum"
                else ("f32",))
    if arithmetic not in (None, "f32") and w.dtype not in expected:
        raise DTypeError(f"expected a weight of {' or '.join(expected)} for "
                         f"arithmetic {arithmetic}, but got {w.dtype}")


def _check_column(array: Any, name: str, dtype: str, w: SparseTensor,
                  x: _arrays.View) -> None:
    view = _arrays.kind_of(array).view(array)
    if view.shape != (w.n,):
        raise ShapeError(f"expected {name} of shape ({w.n},), but got "
                         f"{view.shape}")
    if view.dtype != dtype:
        raise DTypeError(f"expected {name} of {dtype}, but got {view.dtype}")
    if view.device != x.device:
        raise DeviceError(
            f"expected {name} on {_arrays.device_name(x.device)}, where x is, but "
            f"it is on {_arrays.device_name(view.device)}")


def _flatten(view: _arrays.View) -> tuple[Layout, int]:
    """x as [rows, k]: its layout, without strides where only a copy has that
    shape, and the rows."""
    *leading, k = view.shape
    rows = 1
    for size in leading:
        rows *= size
    strides = view.strides
    step = strides[-2] if leading else k
    expected = step
    for size, stride in zip(reversed(leading), reversed(strides[:-1])):
        if size > 1 and stride != expected:
            return ((rows, k), None), rows
        expected = stride * size if size > 1 else expected
    return ((rows, k), (step, strides[-1])), rows


def precompile(w: SparseTensor, rows: int | None | Sequence[int | None],
               target: str = "cpu", *, bias: bool = False,
               activation: str | None = None, scale: bool = False,
               arithmetic: str | None = None) -> list[str]:
    """Compiles the kernels of ``nm.matmul`` into the cache, for calls with these
    numbers of rows of x: so that the first one need not, or for a machine without
    a compiler, to which the cache folder is carried.

    Args:
        w: the weight, or any of its type, shape and pattern.
        rows: the product of x's leading sizes, None for any number of rows, or a
            list of either.
        target: ``"cpu"``, ``"cuda"`` or ``"cuda:sm_90a"``.
        bias, activation, scale: whether the calls have them.
        arithmetic: as for nm.matmul.

    Returns:
        how each kernel was compiled, with the estimate beside dense.

    Raises:
        CompileError: there is no kernel for it.
        CompilerNotFoundError: nor a compiler, nor the kernel in the cache.
    """
    _check_arithmetic(arithmetic, w)
    resolved = resolve_target(target)
    counts = [_row_count(count) for count in
              (rows if isinstance(rows, Sequence) else [rows])]
    remarks: list[str] = []
    for count in counts:
        product = Product(w, count or 0, activation, bias, scale, arithmetic)
        if target == "cpu" and count is not None and count > FEW_ROWS:
            count = None
        remarks += compile_product(product, count, resolved).remarks
        compile_common(product, count, resolved)
    return remarks


def _row_count(count: Any) -> int | None:
    if count is None or (isinstance(count, int) and not isinstance(count, bool)
                         and count >= 0):
        return count
    raise ShapeError("expected numbers of rows from 0 on, or None for any, but got "
                     f"{count!r}")
