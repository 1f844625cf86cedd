"""The order of a layer's inputs, folded into the layers before it."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, fx, nn
from torch.nn import functional

from .._pattern import Pattern
from .._permute import find_permutation
from .._prune import _ROUNDS, prune
from .._table import format_table
from ._rules import chosen_patterns
from ._wrappers import takes_wrapped

# What treats each element alike, wherever it stands among the features.
_MODULES = (nn.Identity, nn.Dropout, nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU,
            nn.Mish, nn.Sigmoid, nn.Tanh, nn.Softplus, nn.Hardswish, nn.Hardsigmoid, nn.Hardtanh)
_FUNCTIONS = {functional.relu, functional.relu6, functional.leaky_relu, functional.elu,
              functional.gelu, functional.silu, functional.mish, functional.sigmoid,
              functional.tanh, functional.softplus, functional.hardswish, functional.dropout,
              torch.relu, torch.sigmoid, torch.tanh, torch.neg, operator.neg}
_OF_TWO = {operator.mul, operator.add, operator.sub, torch.mul, torch.add, torch.sub}
_METHODS = {"relu", "sigmoid", "tanh", "contiguous", "neg"}
_METHODS_OF_TWO = {"mul", "add", "sub"}


@dataclass(frozen=True)
class PermutedLayer:
    """What became of a layer's inputs.

    Attributes:
        name: of the layer.
        before: the layers that give their outputs in its order; none where it stays.
        dropped, dropped_before: the share of the weight's squares that pruning by
            magnitude drops now, and dropped in the order that the inputs had.
        reason: why its inputs stay in their order.
    """

    name: str
    before: tuple[str, ...]
    dropped: float
    dropped_before: float
    reason: str = ""


@dataclass(frozen=True)
class PermuteReport:
    """What nm.torch.permute_inputs did; prints as a table."""

    layers: tuple[PermutedLayer, ...] = ()

    def __str__(self) -> str:
        rows = [[layer.name, ", ".join(layer.before) or "-", f"{layer.dropped_before:.4f}",
                 f"{layer.dropped:.4f}", layer.reason or "permuted"] for layer in self.layers]
        return format_table(["layer", "outputs permuted of", "dropped before", "dropped now",
                             "reason"], rows)


@takes_wrapped
def permute_inputs(model: nn.Module, patterns: str | Pattern | Mapping[str, Any], *,
                   seed: int = 0) -> PermuteReport:
    """Finds an order of the inputs of nn.Linear layers in which their patterns keep more of
    the weights' squares, as NVIDIA's ASP does, and has the layers before them give their
    outputs in it: the model computes the same, and costs nothing more. Prune it then, with
    nm.torch.sparsify. In place.

    Outputs in another order have other neighbours: a layer before whose own pattern has
    blocks of several outputs gets other blocks.

    A layer's inputs can be permuted where all of them come from nn.Linear layers by way of
    activations, dropout, sums and products, and nothing else reads them. That is found by
    torch.fx, in the model as a whole or, where it cannot be traced, in its parts.

    Args:
        model: its weights may be on any device.
        patterns: a pattern for all layers, or patterns by globs of layer names, of which
            the first that fits counts, as in nm.torch.sparsify.
        seed: of the search.

    Returns:
        what became of each layer that has a pattern.

    Raises:
        PatternError: a rule is no pattern.
        Error: the model has no nn.Linear layers.
    """
    chosen = {name: pattern for name, pattern in chosen_patterns(model, patterns).items()
              if pattern is not None}
    modules = dict(model.named_modules())
    names = {module: name for name, module in modules.items()}
    before = {name: _dropped(modules[name], pattern) for name, pattern in chosen.items()}
    generator = np.random.default_rng(seed)
    done: dict[str, tuple[tuple[str, ...], str]] = {}
    for readers, sources in _groups(model, _shared_parameters(model)):
        found = {chosen.get(names[each]) for each in readers}
        if found == {None}:
            continue
        pattern = next(iter(found))
        if len(found) > 1 or pattern is None or pattern.is_unstructured:
            result = (), "needs one N:M pattern for all layers that read the same inputs"
        else:
            _permute(readers, sources, pattern, generator)
            result = tuple(sorted(names[each] for each in sources)), ""
        done |= {names[each]: result for each in readers}
    nothing = (), "its inputs come from elsewhere, or are read by others"
    return PermuteReport(tuple(
        PermutedLayer(name, done.get(name, nothing)[0], _dropped(modules[name], pattern),
                      before[name], done.get(name, nothing)[1])
        for name, pattern in chosen.items()))


def _dropped(layer: nn.Linear, pattern: Pattern) -> float:
    return prune(layer.weight.detach(), pattern).report.dropped_energy


def _permute(readers: list[nn.Linear], before: list[nn.Linear], pattern: Pattern,
             generator: np.random.Generator) -> None:
    energies = np.concatenate([np.square(_host(each.weight)) for each in readers])
    found = find_permutation(energies, pattern, _ROUNDS, generator)
    with torch.no_grad():
        for layer in readers:
            layer.weight.copy_(layer.weight[:, torch.as_tensor(found, device=layer.weight.device)])
        for layer in before:
            order = torch.as_tensor(found, device=layer.weight.device)
            layer.weight.copy_(layer.weight[order])
            if layer.bias is not None:
                layer.bias.copy_(layer.bias[order])


def _host(weight: Tensor) -> np.ndarray:
    return weight.detach().cpu().double().numpy()


def _shared_parameters(model: nn.Module) -> set[int]:
    """Parameters that several modules, or several names, have: what permutes one permutes
    the other."""
    seen: dict[int, int] = {}
    for _, module in model.named_modules(remove_duplicate=False):
        for parameter in module.parameters(recurse=False):
            seen[id(parameter)] = seen.get(id(parameter), 0) + 1
    return {number for number, count in seen.items() if count > 1}


# ===-- Who feeds whom ----------------------------------------------------===


def _groups(model: nn.Module, shared: set[int]
            ) -> Iterator[tuple[list[nn.Linear], list[nn.Linear]]]:
    """Layers that read the same inputs, and the layers that these come from."""
    try:
        graph = fx.Tracer().trace(model)
    except Exception:  # Whatever a forward does that a trace cannot follow.
        for child in model.children():
            yield from _groups(child, shared)
        return
    calls: dict[nn.Module, int] = {}
    shared = set(shared)
    for node in graph.nodes:
        if node.op == "call_module":
            module = model.get_submodule(node.target)
            calls[module] = calls.get(module, 0) + 1
            if calls[module] == 1 and any(module.children()):
                yield from _groups(module, shared)
        elif node.op == "get_attr":
            parent, _, name = node.target.rpartition(".")
            shared.add(id(getattr(model.get_submodule(parent), name)))

    def is_own(layer: nn.Module) -> bool:
        """An nn.Linear that is called once, with a weight of its own."""
        return type(layer) is nn.Linear and calls[layer] == 1 and not any(
            id(each) in shared for each in layer.parameters())

    for node in graph.nodes:
        group = _group(model, node, is_own)
        if group:
            yield group


def _group(model: nn.Module, node: fx.Node, is_own: Any
           ) -> tuple[list[nn.Linear], list[nn.Linear]] | None:
    """The layers that alone read a node, and those that it comes from, if it is one whose
    elements may change places."""
    readers = [_linear(model, user) for user in node.users]
    if not readers or not all(readers) or not all(map(is_own, readers)):
        return None
    visited: set[fx.Node] = set()
    before: list[nn.Linear] = []
    if not _walk(model, node, visited, before, is_own):
        return None
    # Nothing else may read what is on the way, nor be a layer of both sides.
    within = visited | set(node.users)
    if not all(user in within for each in visited for user in each.users):
        return None
    sizes = {layer.out_features for layer in before}
    return (readers, before) if sizes == {readers[0].in_features} else None


def _walk(model: nn.Module, node: fx.Node, visited: set[fx.Node], before: list[nn.Linear],
          is_own: Any) -> bool:
    """Goes up to the layers that a node comes from; whether there is nothing else."""
    if node in visited:
        return True
    visited.add(node)
    layer = _linear(model, node)
    if layer is not None:
        before.append(layer)
        return is_own(layer)
    operands = _operands(model, node)
    return bool(operands) and all(_walk(model, each, visited, before, is_own)
                                  for each in operands)


def _linear(model: nn.Module, node: fx.Node) -> nn.Linear | None:
    if node.op != "call_module":
        return None
    module = model.get_submodule(node.target)
    return module if type(module) is nn.Linear else None


def _operands(model: nn.Module, node: fx.Node) -> list[fx.Node]:
    """Those of an operation on each element; none of another."""
    tensors = [each for each in node.args if isinstance(each, fx.Node)]
    if node.op == "call_module":
        return tensors if isinstance(model.get_submodule(node.target), _MODULES) else []
    if node.op not in ("call_function", "call_method"):
        return []
    is_method = node.op == "call_method"
    if node.target in (_METHODS if is_method else _FUNCTIONS):
        return tensors[:1]
    if node.target in (_METHODS_OF_TWO if is_method else _OF_TWO) and not node.kwargs:
        # A number, or another tensor of the same features: a layer's outputs.
        return tensors if all(isinstance(each, (fx.Node, int, float)) for each in node.args) else []
    return []
