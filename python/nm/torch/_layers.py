"""The layers of a model, and which of them an NMLinear can take the place of."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedTensorMixin
from torch.nn.utils import parametrize, prune
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm
from torch.sparse import SparseSemiStructuredTensor

from ._attention import NMMultiheadAttention, why_no_attention
from ._convolution import why_no_convolution
from ._device_hooks import is_forward_own, why_forward_is_not_own
from ._experts import ExpertLinears, is_experts, why_no_experts
from ._linear import NMLinear

# What a subclass of nn.Linear may have without computing anything else.
_HARMLESS = {"__init__", "reset_parameters", "extra_repr", "__module__", "__doc__",
             "__annotations__", "__constants__", "__qualname__", "__dict__",
             "__weakref__", "__parameters__", "__orig_bases__", "__firstlineno__",
             "__static_attributes__", "__deepcopy__"}
# What sets `weight` anew before each call.
FOLDED_HOOKS = (prune.BasePruningMethod, WeightNorm, SpectralNorm)
# Subclasses with a forward that computes what nn.Linear's does.
_SAME = {"transformers.models.falcon.modeling_falcon.FalconLinear"}
_PRODUCTS_OF_ITS_OWN = "multiplies by its weights itself"


@dataclass
class Layer:
    """A module with a weight of two dimensions or more.

    Attributes:
        names: all that it has in the model.
        shape: of its weight, ``[out, in]`` of those that can be replaced, of experts
            ``[experts, out, in]``.
        why_not: why no NMLinear can take its place; None where one can.
        note: what becomes of it beside that.
    """

    names: tuple[str, ...]
    module: nn.Module
    shape: tuple[int, ...]
    why_not: str | None = None
    note: str = ""

    @property
    def name(self) -> str:
        return self.names[0]

    def as_linear(self) -> nn.Linear:
        """The layer as an nn.Linear with a weight ``[out, in]``."""
        module = self.module
        if type(module) is nn.Linear and not is_folded(module):
            return module
        weight, bias = current_weight(module), module.bias
        if is_conv1d(module):
            weight = weight.T
        dense = nn.Linear(*reversed(weight.shape), bias=False, device="meta")
        dense.weight = nn.Parameter(weight.detach().contiguous(),
                                    requires_grad=_trains(module))
        if bias is not None and not isinstance(bias, nn.Parameter):
            bias = nn.Parameter(bias.detach().clone())
        dense.bias = bias
        return dense.train(module.training)


def find_layers(model: nn.Module) -> list[Layer]:
    """All modules with a weight of two dimensions or more, in their order."""
    names: dict[nn.Module, list[str]] = {}
    for name, module in model.named_modules(remove_duplicate=False):
        names.setdefault(module, []).append(name)
    readers = {id(module.out_proj) for module in names
               if isinstance(module, nn.MultiheadAttention)
             and not isinstance(module, NMMultiheadAttention)}
    parts = {id(part) for module in names if parametrize.is_parametrized(module)
             for part in module.parametrizations.modules()}
    # Experts are one layer together.
    parts |= {id(layer) for module in names if isinstance(module, ExpertLinears)
              for layer in module}
    found = []
    for module, own in names.items():
        shapes = dict(_weights(module))
        if not shapes or id(module) in parts:
            continue
        why_not = _why_not(module, shapes)
        if why_not is None and id(module) in readers:
            why_not = f"nn.MultiheadAttention {_PRODUCTS_OF_ITS_OWN}"
        shape = next(iter(shapes.values()))
        if is_conv1d(module):
            shape = tuple(reversed(shape))
        found.append(Layer(tuple(own), module, shape, why_not,
                           "" if why_not else _note(module)))
    return found


def is_conv1d(module: nn.Module) -> bool:
    """Whether it is GPT-2's layer, an nn.Linear whose weight is ``[in, out]``."""
    package = sys.modules.get("transformers.pytorch_utils")
    return package is not None and type(module) is package.Conv1D


def is_linear(module: nn.Module) -> bool:
    """Whether it computes what nn.Linear does, with a dense weight ``[out, in]``."""
    return (isinstance(module, nn.Linear) and not isinstance(module, NMLinear)
            and not _members(module) - _HARMLESS)


def is_folded(module: nn.Module) -> bool:
    """Whether something computes its weight or its bias before each call, or in it, as
    torchao's quantized tensors do."""
    return is_converted(module) or parametrize.is_parametrized(module) or any(
        isinstance(hook, FOLDED_HOOKS) for hook in module._forward_pre_hooks.values())


def is_converted(module: nn.Module) -> bool:
    """Whether its weight is a tensor of another class that a plain one can be made of."""
    weight = module._parameters.get("weight")
    return weight is not None and type(weight) not in (Tensor, nn.Parameter) and (
        _plain_maker(weight) is not None)


def _plain_maker(weight: Tensor) -> Callable[[], Tensor] | None:
    """What makes a plain tensor of a subclass, of torchao's quantized ones and PyTorch's
    semi-structured ones; None where nothing is known to."""
    if isinstance(weight, SparseSemiStructuredTensor):
        return weight.to_dense
    own = getattr(type(weight), "dequantize", None)
    return None if own is None or own is Tensor.dequantize else weight.dequantize


def current_weight(module: nn.Module) -> Tensor:
    """The weight that the next call in evaluation mode takes."""
    if is_converted(module):
        with torch.no_grad():
            return _plain_maker(module.weight)().detach()
    weight = module.weight
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, prune.BasePruningMethod) and hook._tensor_name == "weight":
            weight = hook.apply_mask(module)
        elif isinstance(hook, SpectralNorm) and hook.name == "weight":
            weight = hook.compute_weight(module, do_power_iteration=False)
        elif isinstance(hook, WeightNorm) and hook.name == "weight":
            weight = hook.compute_weight(module)
    return weight.detach()


def _weights(module: nn.Module) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The names and shapes of its weights of two dimensions or more."""
    if isinstance(module, NMLinear):
        yield "weight", (module.out_features, module.in_features)
        return
    if isinstance(module, ExpertLinears):
        yield "weight", module.shape
        return
    if _is_quantized(module):
        yield "weight", (module.out_features, module.in_features)
        return
    if parametrize.is_parametrized(module):
        for name in module.parametrizations:
            if getattr(module, name).dim() > 1:
                yield name, tuple(getattr(module, name).shape)
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, WeightNorm):
            # Before its parts, of which one is as small as the norms.
            yield hook.name, tuple(getattr(module, f"{hook.name}_v").shape)
    for name, parameter in module._parameters.items():
        if isinstance(parameter, UninitializedTensorMixin):
            yield name, ()
        elif parameter is not None and parameter.dim() > 1 and not _is_bias(name):
            yield name, tuple(parameter.shape)
    if not any(True for _ in module.parameters(recurse=False)):
        for name, buffer in module._buffers.items():
            if buffer is not None and buffer.dim() > 1 and "weight" in name:
                yield name, tuple(buffer.shape)


def _is_quantized(module: nn.Module) -> bool:
    """Whether it is an NMQuantizedLinear, which is defined after this."""
    return hasattr(module, "stored_weight")


def _is_bias(name: str) -> bool:
    """Of attention and of experts, whose biases may have more dimensions than one."""
    return name.startswith("bias") or name.endswith("_bias")


def _why_not(module: nn.Module, shapes: dict[str, tuple[int, ...]]) -> str | None:
    kind = type(module)
    if isinstance(module, NMLinear):
        return "it is sparse already"
    if _is_quantized(module):
        return "it is sparse and quantized already"
    if isinstance(module, nn.Linear) or is_conv1d(module):
        return _why_no_linear(module)
    if isinstance(module, ExpertLinears):
        return next((why for layer in module
                     if (why := _why_not(layer, shapes)) is not None), None)
    if isinstance(module, nn.MultiheadAttention):
        why = why_no_attention(module)
        return f"nn.MultiheadAttention {_PRODUCTS_OF_ITS_OWN}{f': {why}' if why else ''}"
    if isinstance(module, (nn.RNNBase, nn.RNNCellBase)):
        return f"nn.{kind.__name__} {_PRODUCTS_OF_ITS_OWN}"
    if isinstance(module, (nn.Embedding, nn.EmbeddingBag)):
        return "its weight is looked up, not multiplied"
    if isinstance(module, nn.modules.conv._ConvNd):
        why = why_no_convolution(module)
        return f"it is a convolution{f': {why}' if why else ''}"
    sizes = ", ".join(f"{name} {'x'.join(map(str, shape))}"
                      for name, shape in shapes.items())
    if not set(shapes) - set(module._buffers):
        return f"{kind.__name__} has buffers for a weight, {sizes}, as quantized layers do"
    if is_experts(module):
        return f"{kind.__name__} multiplies by slices of {sizes}: {why_no_experts(module)}"
    if any(len(shape) == 3 for shape in shapes.values()):
        return f"{kind.__name__} multiplies by slices of {sizes}"
    return f"{kind.__name__} is no nn.Linear, of {sizes}"


def _why_no_linear(module: nn.Module) -> str | None:
    kind = type(module)
    if any(isinstance(each, UninitializedTensorMixin) for each in module.parameters()):
        return "it has no weight before its first call"
    if not is_forward_own(module):
        return why_forward_is_not_own(module)
    own = _members(module) - _HARMLESS
    if own:
        return f"{kind.__name__} has its own {', '.join(sorted(own))}"
    weight: Any = module.weight
    if type(weight) not in (Tensor, nn.Parameter) and not is_converted(module):
        return f"its weight is a {type(weight).__name__}"
    if weight.is_meta:
        return "its weight has no elements, on the meta device"
    return None if weight.numel() else "its weight has no elements"


def _members(module: nn.Module) -> set[str]:
    """What a class has that nn.Linear, or Conv1D, has not."""
    if is_conv1d(module):
        return set()
    found: set[str] = set()
    kinds = type(module).__mro__
    # torch.nn.utils.parametrize makes a class of its own for each layer.
    first = 1 if parametrize.is_parametrized(module) else 0
    for base in kinds[first:kinds.index(nn.Linear)]:
        if f"{base.__module__}.{base.__qualname__}" in _SAME:
            continue
        found |= set(vars(base))
    return found


def _note(module: nn.Module) -> str:
    if is_converted(module):
        return f"its weight was a {type(module.weight).__name__}"
    if is_folded(module):
        return "what computed its weight is folded into it"
    if isinstance(module, ExpertLinears):
        return f"{len(module)} experts"
    if type(module) is not nn.Linear:
        return f"a {type(module).__name__} before"
    return ""


def _trains(module: nn.Module) -> bool:
    if is_folded(module):
        return any(each.requires_grad for each in module.parameters())
    return module.weight.requires_grad


def plain_layers(model: nn.Module) -> dict[str, nn.Linear]:
    """The layers of class nn.Linear itself, whose weight is a parameter."""
    return {layer.name: layer.module for layer in find_layers(model)
            if layer.why_not is None and type(layer.module) is nn.Linear
            and not is_folded(layer.module)}

