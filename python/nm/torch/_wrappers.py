"""Models that torch.compile has wrapped, as a whole or in parts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from torch import nn

_Function = TypeVar("_Function", bound=Callable[..., Any])


def without_wrapper(module: nn.Module) -> nn.Module:
    """The module that torch.compile, DataParallel or DistributedDataParallel has wrapped,
    or the module itself."""
    names = list(module._modules)
    # The class of compiled modules is not asked for: to import its file takes a second.
    if names == ["_orig_mod"] or (names == ["module"] and isinstance(
            module, (nn.DataParallel, nn.parallel.DistributedDataParallel))):
        inner = module._modules[names[0]]
        return module if inner is None else without_wrapper(inner)
    return module


def name_without_wrappers(name: str) -> str:
    """The name of a tensor of a compiled model's state, as the model itself has it."""
    return name.replace("_orig_mod.", "")


@contextmanager
def unwrapped(model: nn.Module) -> Iterator[nn.Module]:
    """The model without its wrappers, so that its layers have the names that rules, reports
    and files have. Parts that are compiled are so again afterwards, unless another module
    has been put in place of one."""
    model = without_wrapper(model)
    found = [(parent, name, child) for parent in list(model.modules())
             for name, child in parent._modules.items()
             if child is not None and without_wrapper(child) is not child]
    for parent, name, child in found:
        parent._modules[name] = without_wrapper(child)
    try:
        yield model
    finally:
        for parent, name, child in found:
            if parent._modules.get(name) is without_wrapper(child):
                parent._modules[name] = child


def takes_wrapped(function: _Function) -> _Function:
    """Has a function of a model take one with wrappers, too."""
    @functools.wraps(function)
    def call(model: nn.Module, *args: Any, **options: Any) -> Any:
        with unwrapped(model) as inner:
            return function(inner, *args, **options)

    return call  # type: ignore[return-value]
