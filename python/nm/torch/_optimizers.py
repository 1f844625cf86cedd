"""Optimizers that were made before layers were replaced."""

from __future__ import annotations

import warnings
import weakref
from typing import Any

from torch import nn, optim
from torch.optim.optimizer import register_optimizer_step_pre_hook

_REPLACED = "_nm_replaced"
_told: weakref.WeakSet = weakref.WeakSet()
_state = {"any": False}


def tell_of_replaced(parameter: nn.Parameter, layer: str) -> None:
    """Has an optimizer that trains a parameter say at its next step that the model does
    not have it any more."""
    setattr(parameter, _REPLACED, layer)
    _state["any"] = True


def forget_replaced(parameter: nn.Parameter) -> None:
    """The inverse, where the model has it again."""
    vars(parameter).pop(_REPLACED, None)


def _check_parameters(optimizer: optim.Optimizer, *_: Any) -> None:
    if not _state["any"] or optimizer in _told:
        return
    layers = [getattr(parameter, _REPLACED) for group in optimizer.param_groups
              for parameter in group["params"] if hasattr(parameter, _REPLACED)]
    if layers:
        _told.add(optimizer)
        warnings.warn(
            "expected an optimizer of the parameters that the model has, but "
            f"{len(layers)} of its parameters belong to layers that were replaced "
            f"since, {', '.join(sorted(set(layers))[:8])}: nothing trains what took "
            "their place; make the optimizer anew", stacklevel=4)


register_optimizer_step_pre_hook(_check_parameters)
