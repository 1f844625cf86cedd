"""Which pattern each layer of a model gets."""

from __future__ import annotations

import fnmatch
import warnings
from collections.abc import Mapping
from typing import Any

from torch import nn

from .._errors import Error
from .._pattern import Pattern, parse_pattern


def linear_layers(model: nn.Module) -> dict[str, nn.Linear]:
    """The nn.Linear layers of a model by name; layers of classes made of it are not.

    Raises:
        Error: it has none.
    """
    layers = {name: layer for name, layer in model.named_modules()
              if type(layer) is nn.Linear}
    if not layers:
        raise Error("expected a model with nn.Linear layers, but it has none")
    return layers


def chosen_patterns(model: nn.Module, rules: str | Pattern | Mapping[str, Any]
                    ) -> dict[str, Pattern | None]:
    """The pattern of each nn.Linear by its name, None for one that stays dense. A
    warning tells of globs that decide about no layer.

    Args:
        rules: a pattern for all layers, or patterns by globs of layer names, of
            which the first that fits counts.

    Raises:
        PatternError: a rule is no pattern.
    """
    names = list(linear_layers(model))
    _warn_of_idle_rules(rules, names)
    return {name: _find_pattern(name, rules) for name in names}


def _warn_of_idle_rules(rules: Any, names: list[str]) -> None:
    """Tells of globs that decide about no layer, as a misspelt one does, but not of a
    `*` for the rest where nothing is left."""
    if not isinstance(rules, Mapping):
        return
    taken: set[str] = set()
    for glob in rules:
        fitting = set(fnmatch.filter(names, glob))
        if not fitting - taken and glob != "*":
            why = (f"rules before it take all that it fits, {', '.join(sorted(fitting))}"
                   if fitting else f"it fits none of {', '.join(names)}")
            warnings.warn(f"the rule for '{glob}' has no effect: {why}", stacklevel=4)
        taken |= fitting


def _find_pattern(name: str, rules: Any) -> Pattern | None:
    if not isinstance(rules, Mapping):
        return parse_pattern(rules)
    for glob, pattern in rules.items():
        if fnmatch.fnmatchcase(name, glob):
            return None if pattern is None else _find_pattern(name, pattern)
    return None


def replace_module(model: nn.Module, name: str, layer: nn.Module) -> None:
    """Puts a layer in the place `name` of a model."""
    parent, _, last = name.rpartition(".")
    if not name:
        raise Error("expected a model that has its nn.Linear as a part, but it is "
                    "one; nm.torch.NMLinear.from_dense makes the layer")
    setattr(model.get_submodule(parent), last, layer)
