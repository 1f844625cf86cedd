"""Heads of transformers' models that are sparse are tied to no embedding any more."""

from __future__ import annotations

import copy
from typing import Any

from torch import nn

from ._linear import NMLinear


def untie_heads(model: nn.Module) -> None:
    """Has the models of transformers in `model` know that an NMLinear is tied to
    nothing: tie_weights() would put the embedding's dense weight in its place."""
    for part in model.modules():
        if not hasattr(part, "all_tied_weights_keys"):
            continue
        gone = {target for target in part.all_tied_weights_keys
                if _is_sparse(part, target)}
        if not gone:
            continue
        part.all_tied_weights_keys = {
            target: source for target, source in part.all_tied_weights_keys.items()
            if target not in gone}
        # The class has the rules that tie_weights() makes the keys of again.
        own = part._tied_weights_keys
        if own:
            part._tied_weights_keys = {target: source for target, source in own.items()
                                       if target not in gone}
        if not part.all_tied_weights_keys:
            _say_untied(part)


def _say_untied(part: Any) -> None:
    config = getattr(part, "config", None)
    if getattr(config, "tie_word_embeddings", False):
        # Another model may have been made of the same configuration.
        part.config = copy.deepcopy(config)
        part.config.tie_word_embeddings = False


def _is_sparse(model: nn.Module, name: str) -> bool:
    layer, _, last = name.rpartition(".")
    try:
        found = model.get_submodule(layer)
        # Or one that is quantized.
        return last == "weight" and (isinstance(found, NMLinear)
                                     or hasattr(found, "stored_weight"))
    except AttributeError:
        return False
