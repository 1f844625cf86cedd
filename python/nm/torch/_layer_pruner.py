"""How the weights of a model's layers are pruned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from .._errors import Error, PatternError
from .._formats import compress
from .._pattern import Pattern
from .._prune import (SCORES, SPARSEGPT, Pruned, product_error, prune,
                      prune_to_sparse, prune_with_gram, wanda_scores, with_report)
from .._sparse import SparseTensor
from ._inputs import LayerInputs

#: What says how to prune: see nm.torch.sparsify.
Pruning = "bool | str | Mapping[str, Any] | Callable[[str, nn.Linear], Any]"


class LayerPruner:
    """Prunes layers as `pruning` says.

    Args:
        pruning: as nm.torch.sparsify's `prune`.
        inputs: what the layers are given, with squares where Wanda needs them, and with
            grams where SparseGPT does.

    Raises:
        Error: `pruning` is a name that is not known.
    """

    def __init__(self, pruning: Any, inputs: LayerInputs):
        if pruning is True:
            pruning = "magnitude"
        if isinstance(pruning, str) and pruning not in (*SCORES, SPARSEGPT):
            raise Error("expected prune to be a truth value, "
                        f"{', '.join((*SCORES, SPARSEGPT))}, "
                        "scores by layer or a function that gives them, but got "
                        f"'{pruning}'")
        self.pruning, self.inputs = pruning, inputs

    @staticmethod
    def needs_norms(pruning: Any) -> bool:
        return pruning == "wanda" if isinstance(pruning, str) else False

    @staticmethod
    def needs_grams(pruning: Any) -> bool:
        return isinstance(pruning, str) and pruning == SPARSEGPT

    def prunes(self, name: str) -> bool:
        """Whether it says anything about a layer."""
        if isinstance(self.pruning, Mapping):
            return name in self.pruning
        return bool(self.pruning)

    def prune(self, name: str, layer: nn.Linear, pattern: Pattern,
              x: Tensor | None = None) -> Pruned:
        """The pruned weight of a layer, with its error on `x` where that is given."""
        if self.needs_grams(self.pruning):
            return _with_error(self._prune_by_gram(name, layer, pattern),
                               layer.weight.detach(), x)
        return _prune_by(self._scores(name, layer), layer.weight.detach(), pattern, x)

    def condense(self, name: str, layer: nn.Linear, pattern: Pattern
                 ) -> tuple[SparseTensor, float]:
        """The pruned weight of a layer, condensed, and the share of its non-zeros that
        pruning took."""
        if self.needs_grams(self.pruning):
            found = self._prune_by_gram(name, layer, pattern)
            return compress(found.weight, pattern, name=name), _share(found)
        weight, given = layer.weight.detach(), self._scores(name, layer)
        if weight.device.type == "cpu" and not _is_mask(given):
            return prune_to_sparse(weight, pattern, given)
        found = _prune_by(given, weight, pattern)
        return compress(found.weight, pattern, name=name), _share(found)

    def _prune_by_gram(self, name: str, layer: nn.Linear, pattern: Pattern) -> Pruned:
        gram = self.inputs.gram(name)
        if gram is None:
            raise Error(f"expected calibration inputs that reach '{name}', as "
                        "prune='sparsegpt' needs them")
        weight, gram = layer.weight.detach(), gram.double().cpu().numpy()
        if gram.ndim == 2:
            return prune_with_gram(weight, gram, pattern)
        outputs = len(weight) // len(gram)
        if outputs % pattern.block[1]:
            raise PatternError(f"expected groups of a multiple of {pattern.block[1]} outputs "
                               f"for prune='sparsegpt' to {pattern}, but those of '{name}' "
                               f"have {outputs}")
        parts = [prune_with_gram(part, each, pattern).weight
                 for part, each in zip(weight.chunk(len(gram)), gram)]
        return with_report(weight, torch.cat(parts), pattern)

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
        if norms.dim() == 1:
            return wanda_scores(layer.weight, norms)
        return torch.cat([wanda_scores(part, each) for part, each in
                          zip(layer.weight.chunk(len(norms)), norms)])


def _prune_by(given: Any, weight: Tensor, pattern: Pattern, x: Tensor | None = None
              ) -> Pruned:
    """By scores, a mask, or, where there is neither, magnitudes."""
    if x is not None and x.dim() == 3:
        return _with_error(_prune_by(given, weight, pattern), weight, x)
    if given is None:
        return prune(weight, pattern, activations=x)
    if isinstance(given, Tensor):
        given = given.to(weight.device)
    if _is_mask(given):
        return prune(weight, pattern, activations=x, mask=given)
    return prune(weight, pattern, activations=x, scores=given)


def _share(found: Pruned) -> float:
    """The share of a weight's non-zeros that was dropped."""
    report = found.report
    return report.dropped / report.non_zeros if report.non_zeros else 0.0


def _with_error(found: Pruned, weight: Tensor, x: Tensor | None) -> Pruned:
    if x is None:
        return found
    weights = weight, found.weight
    if x.dim() == 3:
        # Of groups, whose weights are blocks of one that multiplies the inputs of all.
        weights = tuple(torch.block_diag(*each.chunk(x.shape[1])) for each in weights)
        x = x.flatten(1)
    error = product_error(*weights, x, found.report.pattern.axis)
    return replace(found, report=replace(found.report, relative_error=error,
                                         measured=True))


def _is_mask(given: Any) -> bool:
    return given is not None and str(given.dtype).rpartition(".")[2] == "bool"
