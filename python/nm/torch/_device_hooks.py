"""Hooks of accelerate's, which stand before the forward of each layer of a model that
``device_map`` splits over devices, and move inputs to the layer's device."""

from __future__ import annotations

import sys
from types import MethodType
from typing import Any

from torch import nn

#: The attributes that accelerate gives a module.
ATTRIBUTES = {"forward", "_old_forward", "_hf_hook"}


def is_forward_own(module: nn.Module) -> bool:
    """Whether a call of a module runs the forward of the module's class, maybe behind a
    hook that can be moved to another layer."""
    own = vars(module)
    forward = own.get("forward")
    # accelerate leaves the class's forward, bound, where it took a hook off.
    if forward is None or _is_own(module, forward):
        return True
    return _can_go_along(own.get("_hf_hook")) and _is_own(module, own.get("_old_forward"))


def why_forward_is_not_own(module: nn.Module) -> str:
    """The reason for a report, of a module that is_forward_own is False for."""
    hook = vars(module).get("_hf_hook")
    if any(getattr(each, "offload", False) for each in getattr(hook, "hooks", [hook])):
        return "accelerate has offloaded its weight"
    return "its forward was replaced"


def move_device_hook(former: nn.Module, layer: nn.Module) -> None:
    """Takes the hook off one layer and puts it before another."""
    hook = vars(former).get("_hf_hook")
    if hook is None:
        return
    from accelerate.hooks import add_hook_to_module, remove_hook_from_module
    remove_hook_from_module(former)
    add_hook_to_module(layer, hook)


def change_class(module: nn.Module, kind: type[nn.Module]) -> None:
    """Gives a module another class, whose forward it runs from then on."""
    module.__class__ = kind
    for name in ("forward", "_old_forward"):
        if getattr(vars(module).get(name), "__self__", None) is module:
            vars(module)[name] = MethodType(kind.forward, module)


def _is_own(module: nn.Module, forward: Any) -> bool:
    return (getattr(forward, "__self__", None) is module
            and getattr(forward, "__func__", None) is type(module).forward)


def _can_go_along(hook: Any) -> bool:
    """Whether a hook of accelerate's only moves inputs, and knows of no weights."""
    hooks = sys.modules.get("accelerate.hooks")
    if hooks is None:
        return False
    if isinstance(hook, hooks.SequentialHook):
        return all(map(_can_go_along, hook.hooks))
    return type(hook) is hooks.AlignDevicesHook and not hook.offload
