"""Products with weights that are condensed and quantized."""

from __future__ import annotations

from typing import Any

from . import _arrays
from ._call import PreparedCall
from ._errors import DTypeError, ShapeError
from ._kernels import find_kernel, keep_call
from ._matmul import _check_column, _flatten
from ._matmul_text import Product
from ._sparse import SparseTensor

#: What integers become before they are multiplied with.
FLOATS = ("f16", "bf16")


class QuantizedProduct(Product):
    """A product whose weight is integers times the scales of their groups of k.

    Args:
        w: of i8, ``[n, k]``.
        dtype: of the activations, the scales and the result.
        bits, group: as of nm.quantize; with a group of all of k a column has one scale.
    """

    def __init__(self, w: SparseTensor, rows: int, bias: bool, dtype: str, bits: int,
                 group: int):
        super().__init__(w, rows, None, bias, False)
        self.dtype, self.bits, self.group = dtype, bits, min(group, w.k)
        # Sums are rounded once, behind the bias.
        self.result_type, self.sum_type, self.has_epilogue = dtype, "f32", True

    @property
    def epilogue(self) -> tuple:
        return "quantized", self.dtype, self.bits, self.group, self.bias

    @property
    def scale_shape(self) -> tuple[int, ...]:
        groups = -(-self.w.k // self.group)
        return (self.w.n,) if groups == 1 else (self.w.n, groups)

    def text(self, rows: int | None) -> str:
        w, dtype = self.w, self.dtype
        self._m = "?" if rows is None else rows
        x = f"tensor<{self._m}x{w.k}x{dtype}>"
        dense = f"tensor<{w.n}x{w.k}x{dtype}>"
        values = f"tensor<{w.n}x{w.k}xi8, #nm.encoding<{w.pattern}>>"
        scales = f"tensor<{'x'.join(map(str, self.scale_shape))}x{dtype}>"
        columns = [f"%bias: tensor<{w.n}x{dtype}>"] * self.bias
        args = ", ".join([f"%x: {x}", f"%q: {values}", f"%scales: {scales}", *columns])
        groups = ("(n, k) -> (n)" if len(self.scale_shape) == 1 else
                  f"(n, k) -> (n, k floordiv {self.group})")
        narrow = ("    %bits = arith.trunci %value : i8 to i4\n"
                  "    %exact = arith.sitofp %bits : i4" if self.bits == 4 else
                  "    %exact = arith.sitofp %value : i8")
        result = self._type(dtype)
        return (f"func.func @matmul({args}) -> {result} {{\n"
                f"  %dense = tensor.empty() : {dense}\n"
                "  %w = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, "
                f"affine_map<{groups}>, affine_map<(n, k) -> (n, k)>], "
                'iterator_types = ["parallel", "parallel"]}\n'
                f"    ins(%q, %scales : {values}, {scales}) outs(%dense : {dense}) {{\n"
                f"  ^bb0(%value: i8, %scale: {dtype}, %unused: {dtype}):\n"
                f"{narrow} to {dtype}\n"
                f"    %weight = arith.mulf %exact, %scale : {dtype}\n"
                f"    linalg.yield %weight : {dtype}\n  }} -> {dense}\n"
                + self._start(rows, x) + self._product(x, dense) + self._epilogue(rows)
                + f"  return %result : {result}\n}}\n")

    def _scalar_code(self) -> str:
        if self.bias:
            return super()._scalar_code()
        return f"\n    %y = arith.truncf %s_in : f32 to {self.dtype}"


def quantized_matmul(x: Any, w: SparseTensor, scales: Any, bits: int, group: int,
                     bias: Any = None) -> Any:
    """``x · W + bias`` with W the integers of `w` times their scales, which are rounded
    once to the type of `x`.

    Args:
        x: ``[..., k]`` of f16 or bf16.
        w: of i8, compressed with axis=1.
        scales: ``[n, ⌈k/group⌉]``, of x's type and where it is.
        bits, group: as of nm.quantize.

    Returns:
        ``[..., n]`` of x's type.

    Raises:
        ShapeError, DTypeError, DeviceError: an array does not fit.
    """
    kind = _arrays.kind_of(x)
    key = ("quantized", bits, group, type(x), kind.signature(x), kind.signature(scales),
           None if bias is None else kind.signature(bias))
    call = w._prepared.get(key)
    if call is None:
        call = _prepare(x, w, scales, bits, group, bias)
        keep_call(w, key, call)
    if scales.shape[1] == 1:
        scales = scales.reshape(-1)
    return call.run([x, scales] if bias is None else [x, scales, bias], None)


def _prepare(x: Any, w: SparseTensor, scales: Any, bits: int, group: int, bias: Any
             ) -> PreparedCall:
    view, given = _arrays.kind_of(x).view(x), _arrays.kind_of(scales).view(scales)
    if not view.shape or view.shape[-1] != w.k:
        raise ShapeError(f"expected x of shape [..., {w.k}], as the weight has k = "
                         f"{w.k}, but got {view.shape}")
    if view.dtype not in FLOATS or given.dtype != view.dtype:
        raise DTypeError(f"expected x of {' or '.join(FLOATS)}, and scales of its type, "
                         f"but got {view.dtype} and {given.dtype}")
    layout, rows = _flatten(view)
    product = QuantizedProduct(w, rows, bias is not None, view.dtype, bits, group)
    groups = -(-w.k // product.group)
    if given.shape != (w.n, groups):
        raise ShapeError(f"expected scales of shape ({w.n}, {groups}), as k = {w.k} has "
                         f"{groups} groups, but got {given.shape}")
    arrays, layouts = [x, scales.reshape(product.scale_shape)], [layout, None]
    if bias is not None:
        _check_column(bias, "bias", view.dtype, w, view)
        arrays, layouts = [*arrays, bias], [*layouts, None]
    return PreparedCall(find_kernel(product, view.device), arrays,
                        [(*view.shape[:-1], w.n)], [view.dtype], layouts,
                        [(layout[0][0], w.n)])
