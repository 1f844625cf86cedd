"""Convolutions whose product is a layer of its own.

A convolution is a product of patches of its image with its filter. Here the filter is the
weight ``[out, taps and channels]`` of an nn.Linear, which an NMLinear can replace. In an
exported model it is one operator, whose patches are made tile by tile.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .._errors import Error
from .._pattern import Block, Pattern
from ._device_hooks import (ATTRIBUTES, change_class, is_forward_own,
                            why_forward_is_not_own)
from ._linear import NMLinear, _is_exporting
from ._op import linear_of_tensors
from ._weights import parse_form

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
            Error: it is no convolution that nm has, as one in groups.
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
        """The dense weight ``[out, in, taps...]``, a new tensor with gradients for the
        kept ones."""
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
                self.padding, self.dilation, bias=False, device="meta")
            dense.weight = nn.Parameter(self.weight.detach().clone())
            dense.bias = (None if self.bias is None else
                          nn.Parameter(self.bias.detach().clone()))
        return dense.train(self.training)

    def forward(self, image: Tensor) -> Tensor:
        rank = len(self.kernel_size)
        if image.dim() == rank + 1:
            return self.forward(image[None])[0]
        if _is_exporting() and self._is_plain():
            # The operator pads both sides of a dimension alike.
            sides = self._reversed_padding_repeated_twice
            if sides[::2] == sides[1::2]:
                return self._as_operator(image, sides[::-2])
            return self._as_operator(functional.pad(image, sides), [0] * rank)
        return self._modules[_PART](patches(image, self)).movedim(-1, 1)

    def _is_plain(self) -> bool:
        part = self._modules[_PART]
        return type(part) is NMLinear and not (
            part._forward_hooks or part._forward_pre_hooks or part.activation
            or part._shards is not None)

    def _as_operator(self, image: Tensor, padding: list[int]) -> Tensor:
        part = self._modules[_PART]
        return _operator(image, part.values, part.indices, part._form, part.bias,
                         list(self.kernel_size), list(self.stride), padding,
                         list(self.dilation))

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
    the block's inputs divide the channels, along the channels of each tap.

    nm.torch.sparsify makes it of an nn.Conv2d, and nm.torch.densify makes that again.
    Outside an exported model patches are a tensor of PyTorch's.

    Args:
        in_channels, out_channels, kernel_size: as of nn.Conv2d, as are `stride`,
            `padding` and `dilation`.
        pattern, block, bias, device, dtype: as of NMLinear.

    Raises:
        Error: the convolution has groups, or pads with something else than zeros.
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
    if module.groups != 1:
        return (f"it has {module.groups} groups"
                f"{', each of one channel' if module.groups == module.in_channels else ''}")
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
    return matrix.unflatten(1, (*module.kernel_size, module.in_channels)).movedim(-1, 1)


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
                "Tensor? bias, int[] taps, int[] stride, int[] padding, int[] dilation) "
                "-> Tensor")


def _convolve(image: Tensor, values: Tensor, indices: Tensor, form: str,
              bias: Tensor | None, taps: list[int], stride: list[int],
              padding: list[int], dilation: list[int]) -> Tensor:
    padded = _padded(image, [side for pad in reversed(padding) for side in (pad, pad)])
    windows = _windows(padded, taps, stride, dilation)
    return linear_of_tensors(windows, values, indices, form, bias, None).movedim(
        -1, 1).contiguous()


for _key in ("CPU", "CUDA"):
    _library.impl("convolution", _convolve, _key)
_operator = torch.ops.nm.convolution.default


@torch.library.register_fake("nm::convolution", lib=_library)
def _fake_convolution(image, values, indices, form, bias, taps, stride, padding,
                      dilation):
    _, (out, _) = parse_form(form)
    places = [(size + 2 * pad - (tap - 1) * apart - 1) // step + 1
              for size, tap, step, pad, apart in
              zip(image.shape[2:], taps, stride, padding, dilation)]
    return image.new_empty((image.shape[0], out, *places))
