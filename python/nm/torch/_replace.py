"""Puts a layer in the place of another, with all that belongs to it."""

from __future__ import annotations

from typing import Any

from torch import nn

from .._errors import Error
from ._device_hooks import ATTRIBUTES, is_forward_own, move_device_hook
from ._layers import FOLDED_HOOKS, is_folded
from ._linear import NMLinear
from ._optimizers import tell_of_replaced

_MODULE = {"training", "_parameters", "_buffers", "_non_persistent_buffers_set",
           "_modules"}
_HOOKS = set(vars(nn.Module())) - _MODULE
# What the layer that takes the place has as well, or has no use for.
_OWN = {"in_features", "out_features", "weight", "bias", "parametrizations", "extra_repr"}
_OWN_OF_SPARSE = {"values", "indices", "pattern", "activation", "_form", "_shared",
                  "_fast", "_fast_lower", "_fused", "_is_mapped", "_lies_in_file",
                  "_lies_on_host", "_shards", "_part", "_traced", "_transposed_class", "bits",
                  "group", "scales"}
_FOLDED_ENDS = ("_orig", "_mask", "_g", "_v", "_u")
_FAST_PATH = "_nm_fast_path"


def replace_module(model: nn.Module, name: str, layer: nn.Module) -> list[str]:
    """Puts a layer in the place of the one called `name`, under all names that it has;
    gives those."""
    _check_name(name)
    former = model.get_submodule(name)
    names = [each for each, module in model.named_modules(remove_duplicate=False)
             if module is former]
    for each in names:
        parent, _, last = each.rpartition(".")
        setattr(model.get_submodule(parent), last, layer)
        _set_fast_path(model, each, _is_sparse(layer))
    return names


def _check_name(name: str) -> None:
    if not name:
        raise Error("expected a model that has its nn.Linear as a part, but it is "
                    "one; nm.torch.NMLinear.from_dense makes the layer")


def replace_layer(model: nn.Module, name: str, sparse: NMLinear) -> str:
    """Puts a sparse layer in the place of a dense one, with its hooks, attributes and
    mode. Gives what it could not keep."""
    _check_name(name)
    former = model.get_submodule(name)
    lost = keep_belongings(former, sparse)
    for parameter in former.parameters():
        if parameter is not sparse.bias:
            tell_of_replaced(parameter, name)
    replace_module(model, name, sparse)
    return lost


def keep_belongings(former: nn.Module, layer: nn.Module) -> str:
    """Gives `layer` the hooks, attributes and mode of another. Gives what it could not
    keep, as a text."""
    layer.train(former.training)
    folded = is_folded(former)
    if folded:
        for hooks in ("_forward_pre_hooks", "_load_state_dict_pre_hooks",
                      "_state_dict_hooks"):
            _drop_folded(vars(former)[hooks])
    keep_hooks(former, layer)
    hooked = ATTRIBUTES if is_forward_own(former) else set()
    is_sparse = isinstance(former, NMLinear) or "scales" in former._buffers
    own = _OWN | _OWN_OF_SPARSE if is_sparse else _OWN
    lost = [name for name, value in vars(former).items()
            if name not in _MODULE | _HOOKS | own | hooked
            and not _keep_attribute(layer, name, value)]
    _keep_parts(former, layer, own, folded)
    if hooked:
        move_device_hook(former, layer)
    return f"its attributes {', '.join(lost)} are not kept" if lost else ""


def keep_hooks(former: nn.Module, layer: nn.Module) -> None:
    for hooks in _HOOKS & set(vars(former)):
        # The very dicts, so that handles of hooks still remove them.
        vars(layer)[hooks] = vars(former)[hooks]


def _drop_folded(hooks: Any) -> None:
    for number, hook in list(hooks.items()):
        kind = type(getattr(hook, "hook", hook)).__name__
        if isinstance(hook, FOLDED_HOOKS) or kind.startswith("SpectralNorm"):
            del hooks[number]


def _keep_attribute(layer: nn.Module, name: str, value: Any) -> bool:
    """False where the layer has another attribute of the name."""
    if name in vars(layer) or hasattr(type(layer), name):
        return False
    vars(layer)[name] = value
    return True


def _keep_parts(former: nn.Module, layer: nn.Module, own: set[str], folded: bool
                ) -> None:
    def is_own(name: str) -> bool:
        return name in own or folded and name.startswith(
            ("weight", "bias")) and name.endswith(_FOLDED_ENDS)

    for name, part in former._parameters.items():
        if not is_own(name):
            layer.register_parameter(name, part)
    for name, buffer in former._buffers.items():
        if not is_own(name):
            layer.register_buffer(name, buffer,
                                  name not in former._non_persistent_buffers_set)
    for name, module in former._modules.items():
        if not is_own(name):
            layer.add_module(name, module)


def _is_sparse(layer: nn.Module) -> bool:
    """Whether it is an NMLinear, or one that is quantized."""
    return isinstance(layer, NMLinear) or hasattr(layer, "stored_weight")


def _set_fast_path(model: nn.Module, name: str, sparse: bool) -> None:
    """Has the encoder layers around a layer call it. In evaluation mode nn's own give
    dense weights to one operator, which would be made for each call."""
    parent = name
    while parent:
        parent = parent.rpartition(".")[0]
        module = model.get_submodule(parent)
        for kind, flag, off in (
                (nn.TransformerEncoderLayer, "activation_relu_or_gelu", 0),
                (nn.TransformerEncoder, "use_nested_tensor", False)):
            if isinstance(module, kind) and hasattr(module, flag):
                if sparse:
                    module.__dict__.setdefault(_FAST_PATH, getattr(module, flag))
                    setattr(module, flag, off)
                elif _FAST_PATH in vars(module) and not any(
                        map(_is_sparse, module.modules())):
                    setattr(module, flag, vars(module).pop(_FAST_PATH))


def owners_of(model: nn.Module) -> dict[int, list[str]]:
    """The modules that each parameter, by its id, is part of."""
    owners: dict[int, list[str]] = {}
    for name, module in model.named_modules():
        for parameter in module._parameters.values():
            if parameter is not None:
                owners.setdefault(id(parameter), []).append(name)
    return owners
