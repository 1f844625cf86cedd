"""Which pattern each layer of a model gets."""

from __future__ import annotations

import fnmatch
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from torch import nn

from .._errors import Error
from .._pattern import Pattern, parse_pattern
from ._convolution import convolution_of
from ._experts import ExpertLinears
from ._layers import Layer, find_layers, plain_layers

_NOTHING = object()


def linear_layers(model: nn.Module) -> dict[str, nn.Linear]:
    """The nn.Linear layers of a model by name; layers of classes made of it are not.

    Raises:
        Error: it has none.
    """
    layers = plain_layers(model)
    if not layers:
        raise Error("expected a model with nn.Linear layers, but it has none")
    return layers


def layers_and_experts(model: nn.Module) -> list[Layer]:
    """The nn.Linear layers of a model, and the experts of its stacked weights, which are
    unfolded.

    Raises:
        Error: it has none.
    """
    found = find_layers(model)
    experts = {layer.name for layer in found if layer.why_not is None
               and isinstance(layer.module, ExpertLinears)}
    plain = plain_layers(model) if experts else linear_layers(model)
    return [layer for layer in found if layer.name in plain or layer.name in experts]


def chosen_patterns(model: nn.Module, rules: str | Pattern | Mapping[str, Any]
                    ) -> dict[str, Pattern | None]:
    """The pattern of each nn.Linear by its first name, None for one that stays dense. A
    warning tells of globs that decide about no layer.

    Args:
        rules: a pattern for all layers, or patterns by globs of layer names, of
            which the first that fits counts.

    Raises:
        PatternError: a rule is no pattern.
    """
    plain = linear_layers(model)
    layers = [layer for layer in find_layers(model) if layer.name in plain]
    return {name: pattern for name, (pattern, _) in
            patterns_of(model, layers, rules).items()}


def patterns_of(model: nn.Module, layers: Iterable[Layer],
                rules: str | Pattern | Mapping[str, Any]
                ) -> dict[str, tuple[Pattern | None, str]]:
    """The pattern of each layer by its first name, and why there is none. Of a layer
    with several names the first that a rule fits counts."""
    layers = list(layers)
    adapters = _adapter_names(model)
    named = {layer.name: _names_for_rules(model, layer) for layer in layers}
    _warn_of_idle_rules(rules, [name for names in named.values() for name in names])
    found: dict[str, tuple[Pattern | None, str]] = {}
    for layer in layers:
        pattern: Any = _NOTHING
        why = "no rule for it"
        for name in named[layer.name]:
            part = _adapter_part(name, adapters)
            if part is not None:
                why = f"an adapter, which only a rule with '{part}' in it fits"
            pattern = _find_pattern(name, rules, part)
            if pattern is not _NOTHING:
                break
        found[layer.name] = (None, why) if pattern is _NOTHING else (pattern, why)
    return found


def _names_for_rules(model: nn.Module, layer: Layer) -> list[str]:
    """Its names; of a convolution's product the convolution's, too."""
    names = []
    for name in layer.names:
        around = convolution_of(model, name)
        names += [name] if around is None else [around, name]
    return names


def _adapter_names(model: nn.Module) -> set[str]:
    """What PEFT calls the layers that adapt others."""
    found = {"lora_A", "lora_B"}
    for module in model.modules():
        found |= set(getattr(module, "adapter_layer_names", ()))
    return {name.partition(".")[0] for name in found}


def _adapter_part(name: str, adapters: set[str]) -> str | None:
    return next((part for part in name.split(".") if part in adapters), None)


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
            warnings.warn(f"the rule for '{glob}' has no effect: {why}", stacklevel=6)
        taken |= fitting


def _find_pattern(name: str, rules: Any, adapter: str | None = None) -> Any:
    """None for a layer that a rule leaves dense; _NOTHING where there is no rule.

    Args:
        adapter: the part of the name of an adapter's layer. Rules that do not have it
            are meant for the model's own layers.
    """
    if not isinstance(rules, Mapping):
        return _NOTHING if adapter is not None else parse_pattern(rules)
    for glob, pattern in rules.items():
        if fnmatch.fnmatchcase(name, glob) and (adapter is None or adapter in glob):
            return None if pattern is None else _find_pattern(name, pattern)
    return _NOTHING
