"""How the weights of a model's layers are pruned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from .._errors import Error
from .._pattern import Pattern
from .._prune import SCORES, Pruned, prune, wanda_scores
from ._inputs import LayerInputs

#: What says how to prune: see nm.torch.sparsify.
Pruning = "bool | str | Mapping[str, Any] | Callable[[str, nn.Linear], Any]"


class LayerPruner:
    """Prunes layers as `pruning` says.

    Args:
        pruning: as nm.torch.sparsify's `prune`.
        inputs: what the layers are given, with squares where Wanda needs them.

    Raises:
        Error: `pruning` is a name that is not known.
    """

    def __init__(self, pruning: Any, inputs: LayerInputs):
        if pruning is True:
            pruning = "magnitude"
        if isinstance(pruning, str) and pruning not in SCORES:
            raise Error(f"expected prune to be a truth value, {', '.join(SCORES)}, "
                        "scores by layer or a function that gives them, but got "
                        f"'{pruning}'")
        self.pruning, self.inputs = pruning, inputs

    @staticmethod
    def needs_norms(pruning: Any) -> bool:
        return pruning == "wanda" if isinstance(pruning, str) else False

    def prunes(self, name: str) -> bool:
        """Whether it says anything about a layer."""
        if isinstance(self.pruning, Mapping):
            return name in self.pruning
        return bool(self.pruning)

    def prune(self, name: str, layer: nn.Linear, pattern: Pattern,
              x: Tensor | None = None) -> Pruned:
        """The pruned weight of a layer, with its error on `x` where that is given."""
        weight = layer.weight.detach()
        given = self._scores(name, layer)
        if given is None:
            return prune(weight, pattern, activations=x)
        if isinstance(given, Tensor):
            given = given.to(weight.device)
        if str(given.dtype).rpartition(".")[2] == "bool":
            return prune(weight, pattern, activations=x, mask=given)
        return prune(weight, pattern, activations=x, scores=given)

    def _scores(self, name: str, layer: nn.Linear) -> Any:
        """Scores, a mask, or None for magnitudes."""
        if isinstance(self.pruning, Mapping):
            return self.pruning[name]
        if callable(self.pruning):
            return self.pruning(name, layer)
        if self.pruning != "wanda":
            return None
        norms = self.inputs.norms(name)
        if norms is None:
            raise Error(f"expected calibration inputs that reach '{name}', as "
                        "prune='wanda' needs their norms")
        if not bool(torch.isfinite(norms).all()):
            raise Error(f"expected finite calibration inputs of '{name}', but some are "
                        "not")
        return wanda_scores(layer.weight, norms)
