"""Convolutions whose product is a layer of its own.

A convolution is a product of patches of its image with its filter. Here the filter is the
weight ``[out, taps and channels]`` of an nn.Linear, which an NMLinear can replace. In an
exported model it is one operator, whose patches are made tile by tile. Called from PyTorch it is a
kernel for the image's shape, as _image_ways.py says, or a product of patches. Of a
convolution in groups the channels are those of one group.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .._convolve import Convolution, Windows, record_of
from .._errors import Error, ShapeError
from .._pattern import Block, Pattern
from .._records import ProductRecord
from ._channel_groups import (check_image, convolve_groups, group_inputs, own_outputs,
                              whole_weight)
from ._decompress import decompress
from ._device_hooks import (ATTRIBUTES, change_class, is_forward_own,
                            why_forward_is_not_own)
from ._fast import is_plain_but_for_autocast
from ._image_kernels import convolve_layer
from ._image_ways import LAST, is_on_gpu, ways_of
from ._linear import NMLinear, _is_exporting
from ._op import check_types
from ._weights import LOWER_TYPES, parse_form

_PART = "product"
# The attribute with the weight that the module had before its product was a layer.
_FORMER = "_nm_former_weight"


class _Convolution(nn.Module):
    """The base of NMConv1d, NMConv2d and NMConv3d."""

    product: nn.Linear
    _dense_class: type[nn.Module]

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any,
                 pattern: str | Pattern, block: Block = None, *, bias: bool = True,
                 device: Any = None, dtype: torch.dtype = torch.float32,
                 **options: Any):
        nn.Module.__init__(self)
        dense = self._dense_class(in_channels, out_channels, kernel_size, bias=False,
                                  device="meta", **options)
        why = why_no_convolution(dense)
        if why is not None:
            raise Error(f"expected a convolution of nm's, but {why}")
        product = NMLinear(math.prod(dense.weight.shape[1:]), out_channels, pattern, block,
                           bias=bias, device=device, dtype=dtype)
        self._take(dense, product)

    def _take(self, dense: nn.Module, product: nn.Module) -> None:
        # Dicts, as those of hooks, are copied, so that a hook that is added to one of the
        # two modules is not added to both. A hook of accelerate's stays with the dense
        # module, whose forward it calls.
        self.__dict__.update({
            name: value.copy() if isinstance(value, dict) else value
            for name, value in vars(dense).items()
            if name not in {"_parameters", "_modules", *ATTRIBUTES}})
        self._modules[_PART] = product.train(self.training)

    @classmethod
    def from_dense(cls, convolution: nn.Module, pattern: str | Pattern,
                   block: Block = None, *, prune_weight: bool = False) -> _Convolution:
        """The layer of a dense one; arguments and errors as of NMLinear.from_dense.

        Raises:
            Error: it is no convolution that nm has, as a depthwise one.
        """
        why = why_no_convolution(convolution)
        if why is not None:
            raise Error(f"expected a convolution of nm's, but {why}")
        layer = cls.__new__(cls)
        nn.Module.__init__(layer)
        layer._take(convolution, NMLinear.from_dense(
            _as_linear(convolution), pattern, block, prune_weight=prune_weight))
        return layer

    @property
    def weight(self) -> Tensor:
        """The dense weight ``[out, in / groups, taps...]``, a new tensor with gradients for
        the kept ones."""
        part = self._modules[_PART]
        dense = part.dense_weight() if isinstance(part, NMLinear) else part.weight
        return as_filter(dense, self)

    @property
    def bias(self) -> Tensor | None:
        return self._modules[_PART].bias

    @property
    def pattern(self) -> Pattern | None:
        """Along the input channels of each tap, and the taps."""
        return getattr(self._modules[_PART], "pattern", None)

    def to_dense(self) -> nn.Module:
        """The dense convolution with the same weight, zeros included; it shares nothing
        with the layer."""
        with torch.no_grad():
            dense = self._dense_class(
                self.in_channels, self.out_channels, self.kernel_size, self.stride,
                self.padding, self.dilation, self.groups, bias=False, device="meta")
            dense.weight = nn.Parameter(self.weight.detach().clone())
            dense.bias = (None if self.bias is None else
                          nn.Parameter(self.bias.detach().clone()))
        return dense.train(self.training)

    def forward(self, image: Tensor) -> Tensor:
        rank = len(self.kernel_size)
        if image.dim() == rank + 1:
            return self.forward(image[None])[0]
        if _is_exporting() and self._is_plain():
            return self._as_operator(*self._padded_alike(image), self.bias)
        if self.groups != 1:
            return self._in_groups(image)
        if torch.compiler.is_compiling():
            y = self._traced(image)
        else:
            y = self._by_kernel(image)
        if y is not None:
            return y
        return self._modules[_PART](patches(image, self)).movedim(-1, 1)

    def _by_kernel(self, image: Tensor) -> Tensor | None:
        """Without groups, by nm's kernel for the image; None where patches are multiplied."""
        part = self._modules[_PART]
        if not self._may_have_kernel(image):
            return None
        values, indices, bias = part.values, part.indices, part.bias
        lower = check_types(image, values)
        image, padding = self._padded_alike(image)
        if lower is not None:
            image, bias = image.to(lower), None if bias is None else bias.to(lower)
        y = convolve_layer(image, values, indices, part._form, bias, self._windows(padding))
        if y is not None and lower is None and not part._is_mapped and not (
                values.is_cuda and torch.is_grad_enabled()):
            part._move_out(values, indices)
        return y

    def _traced(self, image: Tensor) -> Tensor | None:
        """In a graph of torch.compile, the operator of nm's kernel; None where patches are
        traced: on a CPU, and where it is not known before that a GPU has a kernel."""
        if not is_on_gpu(image) or not self._may_have_kernel(image):
            return None
        part = self._modules[_PART]
        lower = check_types(image, part.values)
        image, padding = self._padded_alike(image)
        bias = part.bias
        if lower is not None:
            image, bias = image.to(lower), None if bias is None else bias.to(lower)
        ways = ways_of(image, part.pattern, self._windows(padding))
        if not ways or part.pattern.is_unstructured and image.shape[0] > 1:
            return None
        return self._as_operator(image, padding, bias, is_last=ways[0][0] == LAST)

    def _may_have_kernel(self, image: Tensor) -> bool:
        """Whether nothing but the convolution is asked for, in a type of nm's."""
        part = self._modules[_PART]
        return ((image.is_cpu or image.is_cuda) and self._is_plain() and part._fused is None
                and self._has_plain_part() and not self._is_of_pytorch(image)
                and image.dim() == len(self.kernel_size) + 2)

    def _windows(self, padding: list[int]) -> Windows:
        return Windows(tuple(self.kernel_size), tuple(self.stride), tuple(padding),
                       tuple(self.dilation))

    def _in_groups(self, image: Tensor) -> Tensor:
        """nm's kernel for all groups; where a gradient is needed or the product is dense, as
        PyTorch convolves with the weight; where it is neither, by its own forward."""
        part = self._modules[_PART]
        if isinstance(part, NMLinear):
            part.check_whole("the product of a convolution in groups")
        if not self._has_plain_part():
            return self._by_part(image)
        if not isinstance(part, NMLinear):
            weight = part.masked_weight() if hasattr(part, "masked_weight") else part.weight
            return self._conv_forward(image, as_filter(weight, self), part.bias)
        values, indices, bias = part.values, part.indices, part.bias
        lower = check_image(image, values, self.in_channels)
        if self._is_of_pytorch(image):
            dense = as_filter(decompress(values, indices, part._form), self)
            return self._conv_forward(image, dense, bias)
        if lower is not None:
            image, bias = image.to(lower), None if bias is None else bias.to(lower)
        return self._as_operator(*self._padded_alike(image), bias)

    def _padded_alike(self, image: Tensor) -> tuple[Tensor, list[int]]:
        """The image and its padding, which is the same on both sides of a dimension: where it
        is not, the image has it already."""
        sides = self._reversed_padding_repeated_twice
        if sides[::2] == sides[1::2]:
            return image, sides[::-2]
        return functional.pad(image, sides), [0] * len(self.kernel_size)

    def _has_plain_part(self) -> bool:
        """Whether the product is a linear layer and nothing else."""
        part = self._modules[_PART]
        is_linear = (type(part) is nn.Linear or hasattr(part, "masked_weight")
                     or isinstance(part, NMLinear) and part.activation is None)
        return is_linear and is_forward_own(part) and not (
            part._forward_hooks or part._forward_pre_hooks)

    def _is_of_pytorch(self, image: Tensor) -> bool:
        """Whether only PyTorch's own convolution has what is asked for, as gradients."""
        part = self._modules[_PART]
        if part.values.dtype == torch.float64 or part.values.is_meta:
            return True
        if torch.is_grad_enabled() and (image.requires_grad or any(
                each.requires_grad for each in part.parameters())):
            return True
        return not (torch.compiler.is_compiling() or is_plain_but_for_autocast(image))

    def _by_part(self, image: Tensor) -> Tensor:
        """All outputs of the product for the patches of each group, of which those of the
        group are taken."""
        y = self._modules[_PART](self.inputs_of_groups(image))
        return own_outputs(y, self.groups).movedim(-1, 1)

    def inputs_of_groups(self, image: Tensor) -> Tensor:
        """What the weights of each group are multiplied with: ``[batch, places..., groups, taps
        and channels of a group]``."""
        batch = image if image.dim() == len(self.kernel_size) + 2 else image[None]
        return group_inputs(patches(batch, self), self.groups, math.prod(self.kernel_size))

    def with_product(self, part: nn.Module) -> _Convolution:
        """The same convolution with another product, without hooks of its own."""
        other = copy.copy(self)
        other._modules = {**self._modules, _PART: part}
        other._forward_hooks, other._forward_pre_hooks = {}, {}
        return other

    def record_of_groups(self, image: Tensor) -> ProductRecord:
        """How the product of all groups is compiled for an image."""
        part = self._modules[_PART]
        padded, padding = self._padded_alike(image)
        whole = whole_weight(part.values, part.indices, part._form, self.groups,
                             self.in_channels // self.groups)
        return record_of(padded, Convolution(whole, self._windows(padding)), part.bias)

    def _is_plain(self) -> bool:
        part = self._modules[_PART]
        return type(part) is NMLinear and not (
            part._forward_hooks or part._forward_pre_hooks or part.activation
            or part._shards is not None)

    def _as_operator(self, image: Tensor, padding: list[int], bias: Tensor | None,
                     is_last: bool = False) -> Tensor:
        part = self._modules[_PART]
        return _operator(image, part.values, part.indices, part._form, bias,
                         list(self.kernel_size), list(self.stride), padding,
                         list(self.dilation), self.groups, *([True] if is_last else []))

    def state_dict(self, *args: Any, **options: Any) -> Any:
        """A dense product has the names and the shape of the convolution's weight."""
        result = super().state_dict(*args, **options)
        prefix = options.get("prefix", args[1] if len(args) > 1 else "")
        if f"{prefix}{_PART}.weight" in result:
            weight = result.pop(f"{prefix}{_PART}.weight")
            result[f"{prefix}weight"] = as_filter(weight, self)
            if f"{prefix}{_PART}.bias" in result:
                result[f"{prefix}bias"] = result.pop(f"{prefix}{_PART}.bias")
        return result

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        if f"{prefix}weight" in state_dict:
            weight = state_dict.pop(f"{prefix}weight")
            state_dict[f"{prefix}{_PART}.weight"] = _as_matrix(weight)
        if f"{prefix}bias" in state_dict:
            state_dict[f"{prefix}{_PART}.bias"] = state_dict.pop(f"{prefix}bias")
        super()._load_from_state_dict(state_dict, prefix, *args)


class NMConv1d(_Convolution, nn.Conv1d):
    """An ``nn.Conv1d`` with an N:M weight; see NMConv2d."""

    _dense_class = nn.Conv1d


class NMConv2d(_Convolution, nn.Conv2d):
    """An ``nn.Conv2d`` with an N:M weight: the layer `product`, an NMLinear, multiplies
    patches of the image, and trains, is pruned and saved as such.

    The pattern is along taps and input channels, ``[out, taps, in]``: where M times
    the block's inputs divide the channels, along the channels of each tap. In groups the
    weight is ``[out, taps, in / groups]``, and so is the pattern.

    nm.torch.sparsify makes it of an nn.Conv2d, and nm.torch.densify makes that again.
    Without gradients a layer mostly makes no patches by PyTorch: for the first images of eight
    shapes a kernel is compiled, of f32, f16 or bf16, most of which read the image. Other images,
    and images that need a gradient, have patches, which are a tensor of PyTorch's. Groups have
    kernels for all such images; others, and gradients, have PyTorch's own convolution with the
    dense weight.

    Args:
        in_channels, out_channels, kernel_size: as of nn.Conv2d, as are `stride`,
            `padding`, `dilation` and `groups`.
        pattern, block, bias, device, dtype: as of NMLinear.

    Raises:
        Error: the groups have one channel each, as those of a depthwise convolution, or it
            pads with something else than zeros.
        PatternError: as of NMLinear.
    """

    _dense_class = nn.Conv2d


class NMConv3d(_Convolution, nn.Conv3d):
    """An ``nn.Conv3d`` with an N:M weight; see NMConv2d."""

    _dense_class = nn.Conv3d


_SPARSE = {nn.Conv1d: NMConv1d, nn.Conv2d: NMConv2d, nn.Conv3d: NMConv3d}


def why_no_convolution(module: nn.Module) -> str | None:
    """Why no layer can be made of its weight; None where one can."""
    if type(module) not in _SPARSE:
        return f"{type(module).__name__} is none of nn.Conv1d, nn.Conv2d and nn.Conv3d"
    if module.groups != 1 and module.groups == module.in_channels:
        return f"it has {module.groups} groups, each of one channel, which are not summed"
    if module.padding_mode != "zeros":
        return f"it pads by {module.padding_mode}"
    if not is_forward_own(module):
        return why_forward_is_not_own(module)
    weight = module._parameters.get("weight")
    if weight is None:
        return "its weight is computed before each call"
    return (None if type(weight) is nn.Parameter else
            f"its weight is a {type(weight).__name__}")


def _as_matrix(weight: Tensor) -> Tensor:
    """``[out, taps and channels]`` of ``[out, in, taps...]``."""
    return weight.movedim(1, -1).flatten(1)


def as_filter(matrix: Tensor, module: Any) -> Tensor:
    """The filter ``[out, in, taps...]`` of ``matrix`` ``[out, taps and channels]``."""
    return matrix.unflatten(1, (*module.kernel_size, -1)).movedim(-1, 1)


def _as_linear(module: nn.Module) -> nn.Linear:
    """An nn.Linear with the convolution's weight as a matrix, and its bias."""
    weight = module.weight
    dense = nn.Linear(math.prod(weight.shape[1:]), weight.shape[0], bias=False,
                      device="meta")
    dense.weight = nn.Parameter(_as_matrix(weight.detach()).contiguous(),
                                requires_grad=weight.requires_grad)
    dense.bias = module.bias
    return dense.train(module.training)


def patches(image: Tensor, module: Any) -> Tensor:
    """The patch of the image that each place of the output takes: ``[batch, places..., taps and
    channels]``."""
    image = _padded(image, module._reversed_padding_repeated_twice)
    return _windows(image, module.kernel_size, module.stride, module.dilation)


def _padded(image: Tensor, sides: list[int]) -> Tensor:
    """The image with zeros around it; itself where there are none."""
    return functional.pad(image, sides) if any(sides) else image


def _windows(image: Tensor, taps: Any, strides: Any, dilations: Any) -> Tensor:
    # Channels last, whose runs are copied.
    image = image.movedim(1, -1).contiguous()
    places = [(size - (tap - 1) * apart - 1) // step + 1 for size, tap, step, apart in
              zip(image.shape[1:], taps, strides, dilations)]
    if any(each < 1 for each in places):
        raise ShapeError(f"expected a padded image that has a window {tuple(taps)}, but got "
                         f"{tuple(image.shape[1:-1])}")
    steps = image.stride()
    windows = image.as_strided(
        (image.shape[0], *places, *taps, image.shape[-1]),
        (steps[0], *(step * by for step, by in zip(steps[1:], strides)),
         *(step * by for step, by in zip(steps[1:], dilations)), steps[-1]))
    return windows.flatten(len(places) + 1)


def unfold_convolution(module: nn.Module) -> None:
    """Makes a layer of the weight of a convolution, which stays the same object."""
    product = _as_linear(module)
    change_class(module, _SPARSE[type(module)])
    module.__dict__[_FORMER] = module._parameters.pop("weight")
    module._parameters.pop("bias", None)
    module._modules[_PART] = product


def fold_convolution(module: _Convolution) -> bool:
    """The inverse, where the layer is dense and without hooks."""
    former = module.__dict__.pop(_FORMER, None)
    part = module._modules[_PART]
    if type(part) is not nn.Linear or part._forward_hooks or part._forward_pre_hooks or (
            part._parameters.get("weight") is None):
        return False
    with torch.no_grad():
        weight = as_filter(part.weight, module).contiguous()
        if former is None or former.is_meta or former.dtype != weight.dtype:
            former = nn.Parameter(weight, requires_grad=part.weight.requires_grad)
        elif not torch.equal(former, weight):
            former.copy_(weight)
    change_class(module, module._dense_class)
    module._modules.pop(_PART)
    module._parameters.update(weight=former, bias=part.bias)
    return True


def convolution_of(model: nn.Module, layer: str) -> str | None:
    """The convolution whose product `layer` is, where it is one's."""
    parent, _, last = layer.rpartition(".")
    if last != _PART or not parent:
        return None
    return parent if isinstance(model.get_submodule(parent), _Convolution) else None


def groups_around(model: nn.Module, layer: str) -> _Convolution | None:
    """The convolution in groups whose product `layer` is; None where it is of none."""
    around = convolution_of(model, layer)
    module = None if around is None else model.get_submodule(around)
    return None if module is None or module.groups == 1 else module


def unfold_stored(model: nn.Module, name: str) -> str | None:
    """Makes a layer of the convolution whose condensed weight a checkpoint calls `name`:
    by the layer, as nm.torch.save does, or by the convolution, as nm.convert. Gives what
    the model calls the weight then; None where it is no convolution's."""
    around = convolution_of_stored(model, name)
    if around is None:
        return None
    module = model.get_submodule(around)
    if why_no_convolution(module) is None:
        unfold_convolution(module)
        # Its weight will be the file's, not the former one.
        module.__dict__.pop(_FORMER)
    return f"{around}.{_PART}.weight"


def convolution_of_stored(model: nn.Module, name: str) -> str | None:
    """The convolution whose condensed weight a checkpoint calls `name`, that nm has layers
    for; None where it is no such convolution's."""
    around = name.removesuffix(".weight").removesuffix(f".{_PART}")
    try:
        module = model.get_submodule(around)
    except AttributeError:
        return None
    is_one = isinstance(module, _Convolution) or why_no_convolution(module) is None
    return around if is_one else None


# The operator of exported models

_library = torch.library.Library("nm", "FRAGMENT")
_library.define("convolution(Tensor image, Tensor values, Tensor indices, str form, "
                "Tensor? bias, int[] taps, int[] stride, int[] padding, int[] dilation, "
                "int groups=1, bool channels_last=False) -> Tensor")


def _convolve(image: Tensor, values: Tensor, indices: Tensor, form: str,
              bias: Tensor | None, taps: list[int], stride: list[int],
              padding: list[int], dilation: list[int], groups: int = 1,
              channels_last: bool = False) -> Tensor:
    windows = Windows(*map(tuple, (taps, stride, padding, dilation)))
    if groups != 1:
        return convolve_groups(image, values, indices, form, bias, windows, groups)
    # A graph has the casts of torch.autocast, which is not in force where the graph runs.
    lower = check_types(image, values) if image.dtype not in LOWER_TYPES else None
    if lower is not None:
        image, bias = image.to(lower), None if bias is None else bias.to(lower)
    y = convolve_layer(image, values, indices, form, bias, windows)
    if y is None:
        padded = _padded(image, [side for pad in reversed(padding) for side in (pad, pad)])
        y = _multiply(_windows(padded, taps, stride, dilation), values, indices, form, bias,
                      "").movedim(-1, 1)
    return y.movedim(1, -1).contiguous().movedim(-1, 1) if channels_last else y.contiguous()


_multiply = torch.ops.nm.linear.default
for _key in ("CPU", "CUDA"):
    _library.impl("convolution", _convolve, _key)
_operator = torch.ops.nm.convolution.default


@torch.library.register_fake("nm::convolution", lib=_library)
def _fake_convolution(image, values, indices, form, bias, taps, stride, padding,
                      dilation, groups=1, channels_last=False):
    _, (out, _) = parse_form(form)
    places = Windows(taps, stride, padding, dilation).places(image.shape[2:])
    if channels_last:
        return image.new_empty((image.shape[0], *places, out)).movedim(-1, 1)
    return image.new_empty((image.shape[0], out, *places))
