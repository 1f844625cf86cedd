"""Layers whose kept weights are integers of 4 or 8 bits with scales."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .._errors import DeviceError, DTypeError, Error, ShapeError
from .._pattern import Pattern
from .._quantize import BITS, quantize as quantize_weight
from .._quantized_matmul import quantized_matmul
from .._sparse import SparseTensor
from ._convolution import groups_around
from ._decompress import decompress, kept_values
from ._dense_weight import ReadOnlyTensor
from ._fuse import unfuse
from ._experts import ExpertLinears, stack_name
from ._linear import NMLinear
from ._optimizers import tell_of_replaced
from ._replace import keep_belongings, replace_module
from ._sparsify import LayerReport, SparsifyReport
from ._weights import LOWER_TYPES, copy_tensors, find_weight, parse_form, write_form
from ._wrappers import takes_wrapped


class NMQuantizedLinear(nn.Module):
    """``x · Wᵀ + bias``, where W ``[out, in]`` is N:M and its kept weights are integers
    times the scales of their groups: W4A16 and W8A16.

    The buffers `values` of int8 (of 4 bits, -8 to 7), `indices` and `scales`
    ``[out, ⌈in/group⌉]`` are in the module's state_dict. `scales` has the type of the
    activations, f16 or bf16. Inputs and the bias have gradients, the weight has none.

    Args:
        in_features, out_features, pattern: as NMLinear has them.
        bits: 4 or 8.
        group: inputs that share a scale.
        bias, device, dtype: as of NMLinear, `dtype` f16 or bf16.
    """

    values: Tensor
    indices: Tensor
    scales: Tensor

    def __init__(self, in_features: int, out_features: int, pattern: Pattern, bits: int,
                 group: int, bias: bool = True, device: Any = None,
                 dtype: torch.dtype = torch.float16):
        super().__init__()
        if bits not in BITS:
            raise Error(f"expected 4 or 8 bits, but got {bits!r}")
        if dtype not in LOWER_TYPES:
            raise _wrong_type(dtype)
        self.in_features, self.out_features = in_features, out_features
        self.pattern, self.bits, self.group = pattern, bits, min(group, in_features)
        self._form = write_form(pattern, (out_features, in_features))
        values, indices = pattern.condensed_shapes(in_features, out_features)
        groups = -(-in_features // self.group)
        kept = torch.arange(indices[0], device=device) % pattern.n
        for name, buffer in (
                ("values", torch.zeros(values, dtype=torch.int8, device=device)),
                ("indices", kept.to(torch.uint8)[:, None].repeat(1, indices[1])),
                ("scales", torch.ones(out_features, groups, dtype=dtype,
                                      device=device))):
            self.register_buffer(name, buffer)
        self.bias = nn.Parameter(torch.zeros(out_features, dtype=dtype, device=device)
                                 ) if bias else None

    @classmethod
    def from_sparse(cls, w: SparseTensor, scales: Tensor, bits: int, group: int,
                    bias: nn.Parameter | None = None) -> NMQuantizedLinear:
        """The layer of condensed integers and their scales ``[out, groups]``."""
        layer = cls(w.k, w.n, w.pattern, bits, group, False, "meta", scales.dtype)
        values, indices = copy_tensors(w)
        layer.values, layer.indices = (each.to(scales.device)
                                       for each in (values, indices))
        if tuple(scales.shape) != tuple(layer.scales.shape):
            raise ShapeError(f"expected scales {tuple(layer.scales.shape)}, but got "
                             f"{tuple(scales.shape)}")
        layer.scales, layer.bias = scales, bias
        return layer

    @classmethod
    def from_linear(cls, linear: NMLinear, bits: int = 4, group: int = 128
                    ) -> NMQuantizedLinear:
        """The layer of a sparse one, whose kept weights are rounded.

        Raises:
            DTypeError: it is not of f16 or bf16.
            Error: it is sharded, or has an activation fused.
        """
        linear.check_whole()
        if linear.activation is not None:
            raise Error(f"expected a layer without a fused activation, but it has "
                        f"{linear.activation}")
        if linear.values.dtype not in LOWER_TYPES:
            raise _wrong_type(linear.values.dtype)
        with torch.no_grad():
            found = quantize_weight(linear.dense_weight(), bits, group, axis=1)
            # Integers that became zero are kept where the weight was.
            values = _at(found.values, linear)
        layer = cls(linear.in_features, linear.out_features, linear.pattern, bits, group,
                    False, "meta", linear.values.dtype)
        layer.values, layer.indices = values, linear.indices.clone()
        layer.scales, layer.bias = found.scales, linear.bias
        return layer.train(linear.training)

    @property
    def weight(self) -> Tensor:
        """The dense weight that the layer multiplies with, made anew and read-only."""
        return self.dense_weight().as_subclass(ReadOnlyTensor)

    def dense_weight(self) -> Tensor:
        """The same, which may be written to."""
        return _dense(self.values, self.indices, self.scales, self._form, self.group)

    def sparse_weight(self) -> SparseTensor:
        """The integers, condensed."""
        return find_weight(self.values, self.indices, self._form)

    def stored_weight(self) -> SparseTensor:
        """The same, which knows in a file how it is quantized."""
        w = self.sparse_weight()
        made = SparseTensor(w._values, w._indices, w.shape, w.pattern, w.dtype)
        made._quantization = self.bits, self.group
        return made

    def forward(self, x: Tensor) -> Tensor:
        """``[..., in]`` to ``[..., out]``."""
        bias = self.bias
        if torch.is_autocast_enabled(x.device.type) and x.is_floating_point():
            x = x.to(self.scales.dtype)
        return _operator(x, self.values, self.indices, self.scales, self._form, self.bits,
                         self.group, bias)

    def extra_repr(self) -> str:
        return (f"in_features={self.in_features}, out_features={self.out_features}, "
                f"pattern='{self.pattern.describe()}', bits={self.bits}, "
                f"group={self.group}, bias={self.bias is not None}")

    def _apply(self, fn: Any, *args: Any, **options: Any) -> nn.Module:
        result = super()._apply(fn, *args, **options)
        if self.scales.dtype not in LOWER_TYPES:
            raise _wrong_type(self.scales.dtype)
        return result


def _wrong_type(dtype: torch.dtype) -> DTypeError:
    return DTypeError("expected a layer of float16 or bfloat16, which quantized weights "
                      f"are multiplied in, but got {str(dtype).rpartition('.')[2]}")


def _at(dense: Tensor, layer: NMLinear) -> Tensor:
    """The elements of a dense matrix at a layer's kept places."""
    return kept_values(dense, layer.indices, layer._form).contiguous()


def _dense(values: Tensor, indices: Tensor, scales: Tensor, form: str, group: int
           ) -> Tensor:
    dense = decompress(values, indices, form).to(scales.dtype)
    return dense * scales.repeat_interleave(group, 1)[:, :dense.shape[1]]


_library = torch.library.Library("nm", "FRAGMENT")
_library.define("quantized_linear(Tensor x, Tensor values, Tensor indices, Tensor scales, "
                "str form, int bits, int group, Tensor? bias) -> Tensor")


def _quantized_linear(x: Tensor, values: Tensor, indices: Tensor, scales: Tensor,
                      form: str, bits: int, group: int, bias: Tensor | None) -> Tensor:
    with torch.no_grad():
        return quantized_matmul(x, find_weight(values, indices, form), scales.detach(),
                                bits, group, None if bias is None else bias.detach())


for _key in ("CPU", "CUDA"):
    _library.impl("quantized_linear", _quantized_linear, _key)
_operator = torch.ops.nm.quantized_linear.default


@torch.library.register_fake("nm::quantized_linear", lib=_library)
def _fake(x, values, indices, scales, form, bits, group, bias):
    n, k = parse_form(form)[1]
    if x.dim() == 0 or x.shape[-1] != k:
        raise ShapeError(f"expected x of shape [..., {k}], as the weight has k = {k}, "
                         f"but got {tuple(x.shape)}")
    if x.dtype != scales.dtype:
        raise DTypeError(f"expected x of {scales.dtype}, as the scales are, but got "
                         f"{x.dtype}")
    if values.device != x.device:
        raise DeviceError(f"expected values on {x.device}, where x is, but they are on "
                          f"{values.device}")
    return x.new_empty((*x.shape[:-1], n))


def _setup(ctx, inputs, output):
    _, values, indices, scales, ctx.form, _, ctx.group, bias = inputs
    ctx.save_for_backward(values, indices, scales)
    ctx.has_bias = bias is not None


def _backward(ctx, grad):
    grad_x = grad_bias = None
    if ctx.needs_input_grad[0]:
        grad_x = grad @ _dense(*ctx.saved_tensors, ctx.form, ctx.group)
    if ctx.has_bias and ctx.needs_input_grad[7]:
        grad_bias = grad.reshape(-1, grad.shape[-1]).sum(0)
    return grad_x, None, None, None, None, None, None, grad_bias


torch.library.register_autograd("nm::quantized_linear", _backward, setup_context=_setup,
                                lib=_library)


@takes_wrapped
def quantize(model: nn.Module, bits: int | Mapping[str, int | None] = 4,
             group: int = 128) -> SparsifyReport:
    """Rounds the kept weights of a model's NMLinear layers to integers of 4 or 8 bits
    with a scale for each group of inputs, in the model itself: W4A16 and W8A16.

    Args:
        model: of f16 or bf16, such as nm.torch.sparsify has made sparse.
        bits: 4, 8, or either by globs of layer names, of which the first that fits
            counts; None leaves a layer as it is.
        group: inputs that share a scale; as many as a layer has, where it has fewer.

    Returns:
        a report with a line for each NMLinear, and each stacked weight of experts, which
        stays as it is.

    Raises:
        Error: the model has no NMLinear, or `bits` or `group` is none.
    """
    unfuse(model)
    experts = {name: layers for name, layers in model.named_modules()
               if isinstance(layers, ExpertLinears)}
    found = {name: layer for name, layer in model.named_modules()
             if isinstance(layer, NMLinear) and stack_name(name) not in experts}
    rules = bits if isinstance(bits, Mapping) else {"*": bits}
    wrong = [each for each in rules.values() if each is not None and each not in BITS]
    if wrong:
        raise Error(f"expected 4 or 8 bits, but got {wrong[0]!r}")
    if not isinstance(group, int) or group < 1:
        raise Error(f"expected a group of at least one row of k, but got {group!r}")
    if not found and not experts:
        raise Error("expected a model with NMLinear layers, as nm.torch.sparsify makes "
                    "them, but it has none")
    lines = [LayerReport(name, layers.shape, pattern=layers.pattern, kernel="-",
                         reason="experts keep their floats: their layers are not quantized")
             for name, layers in experts.items()]
    for name, layer in found.items():
        chosen = next((each for glob, each in rules.items()
                       if fnmatch.fnmatchcase(name, glob)), None)
        line = LayerReport(name, (layer.out_features, layer.in_features),
                           pattern=layer.pattern, kernel="-")
        if chosen is None:
            lines.append(_with(line, "no rule for it"))
            continue
        try:
            made = NMQuantizedLinear.from_linear(layer, chosen, group)
            if not name:
                raise Error("expected a model that has its NMLinear as a part, but it is "
                            "one; nm.torch.NMQuantizedLinear.from_linear makes the layer")
            if groups_around(model, name) is not None:
                raise Error("convolutions in groups keep their floats: they are not quantized")
            if layer._transposed_class is not None:
                raise Error("its weight is [in, out] in files, as of "
                            f"{layer._transposed_class.__name__}")
        except Error as error:
            lines.append(_with(line, str(error)))
            continue
        keep_belongings(layer, made)
        tell_of_replaced(layer.values, name)
        replace_module(model, name, made)
        lines.append(_with(line, f"{chosen} bits, groups of {made.group}", True))
    return SparsifyReport(tuple(lines))


def _with(line: LayerReport, reason: str, replaced: bool = False) -> LayerReport:
    return replace(line, reason=reason, replaced=replaced)
