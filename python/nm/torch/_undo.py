"""A model that is as it was before where its loading fails."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

from ._fuse import unfuse
from ._optimizers import forget_replaced, tell_of_replaced


@contextmanager
def written_whole(model: nn.Module) -> Iterator[None]:
    """Has a model that is written to have all of it, or, where an error comes, its former
    modules, tensors and attributes. Optimizers of parameters that it has no more are told.
    Elements of tensors that are written in place stay written."""
    # Layers leave a fusion, which is not undone, once they are written to.
    unfuse(model)
    saved = [(module, type(module), _copied(module)) for module in model.modules()]
    former = {name: each for name, each in model.named_parameters()}
    try:
        yield
    except BaseException:
        for module, kind, attributes in saved:
            _restore(module, kind, attributes)
        for parameter in former.values():
            forget_replaced(parameter)
        raise
    kept = {id(each) for each in model.parameters()}
    for name, parameter in former.items():
        if id(parameter) not in kept:
            tell_of_replaced(parameter, name.rpartition(".")[0])


def _copied(module: nn.Module) -> dict[str, tuple[Any, dict | None]]:
    """The attributes of a module; of those that are dicts, as of its hooks, what they had,
    too."""
    return {name: (value, copy.copy(value) if isinstance(value, dict) else None)
            for name, value in vars(module).items()}


def _restore(module: nn.Module, kind: type, attributes: dict[str, tuple[Any, dict | None]]
             ) -> None:
    module.__class__ = kind
    vars(module).clear()
    for name, (value, items) in attributes.items():
        vars(module)[name] = value
        if items is not None:
            value.clear()
            value.update(items)
