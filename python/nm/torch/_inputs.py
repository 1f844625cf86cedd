"""What the layers of a model are given when it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from ._convolution import groups_around
from ._experts import ExpertLinears
from ._layers import Layer, find_layers


@dataclass(frozen=True)
class GroupedInput:
    """What a convolution in groups was given, which calls no product that could be."""

    convolution: Any
    image: Tensor

    def by_groups(self) -> Tensor:
        """What the weights of each group are multiplied with, ``[rows, groups, in]``."""
        return self.convolution.inputs_of_groups(self.image).flatten(0, -3)


@dataclass
class LayerInputs:
    """Of every layer that can be sparse and was reached, by its first name.

    Attributes:
        first: its first input; of experts the rows that one of them gets on average.
        squares: ``[in]``, the sum of the squares of each of its inputs, in f32; of
            experts for each, whose name has its number behind; of a convolution in groups
            ``[groups, in]``.
        grams: ``[in, in]``, the sums of the products of two inputs, of the layers that
            were recorded last; of a convolution in groups ``[groups, in, in]``.
        record_grams: records `grams` of the layers that are left, from one on.
    """

    first: dict[str, Tensor | GroupedInput] = field(default_factory=dict)
    squares: dict[str, Tensor] = field(default_factory=dict)
    grams: dict[str, Tensor] = field(default_factory=dict)
    record_grams: Callable[[str], dict[str, Tensor]] | None = None

    def norms(self, name: str) -> Tensor | None:
        """The L2 norm of each input over all rows that were seen."""
        found = self.squares.get(name)
        return None if found is None else found.sqrt()

    def gram(self, name: str) -> Tensor | None:
        """``XᵀX`` of a layer's inputs. Where it was not among those recorded last, the
        model runs again: what was replaced since then makes the inputs."""
        if name not in self.grams and self.record_grams is not None:
            self.grams = self.record_grams(name)
        return self.grams.get(name)


def record_inputs(model: nn.Module, examples: Iterable[Any] = (),
                  run: Callable[[nn.Module], Any] | None = None, *,
                  with_squares: bool = False) -> LayerInputs:
    """Runs the model, in evaluation mode, and looks at what its layers are given.

    Args:
        examples: inputs of the model, each a tensor, a tuple of arguments or a dict of
            them by name.
        run: runs the model in place of ``model(*example)``.
        with_squares: whether squares are summed, which looks at every input.
    """
    found = LayerInputs()

    def add_squares(name: str, x: Tensor | GroupedInput) -> None:
        squares = _rows(x).float().square().sum(0)
        found.squares[name] = found.squares.get(name, 0) + squares

    def hook_for(name: str):
        def hook(module, args):
            x = args[0]
            if isinstance(module, ExpertLinears):
                x = x.detach()
                reached = [rows for rows in args[1] if rows]
                if reached:
                    found.first.setdefault(name, x[:-(-sum(reached) // len(reached))])
                if with_squares:
                    for i, rows in enumerate(x.split(args[1])):
                        if len(rows):
                            add_squares(f"{name}.{i}", rows)
                return
            x = x if isinstance(x, GroupedInput) else x.detach()
            found.first.setdefault(name, x)
            if with_squares:
                add_squares(name, x)
        return hook

    handles = [_watch(model, layer, hook_for(layer.name))
               for layer in find_layers(model) if layer.why_not is None]
    try:
        run_examples(model, examples, run)
    finally:
        for handle in handles:
            handle.remove()
    return found


def _watch(model: nn.Module, layer: Layer, hook: Callable[[nn.Module, tuple], None]) -> Any:
    """Has a hook see what a layer multiplies; of a convolution in groups, a GroupedInput."""
    around = groups_around(model, layer.name)
    if around is None:
        return layer.module.register_forward_pre_hook(hook)
    return around.register_forward_pre_hook(lambda module, args: hook(
        layer.module, (GroupedInput(module, args[0].detach()),)))


def _rows(x: Tensor | GroupedInput) -> Tensor:
    """``[rows, in]``, or ``[rows, groups, in]``."""
    if isinstance(x, GroupedInput):
        return x.by_groups()
    return x.detach().reshape(-1, x.shape[-1])


def count_rows(x: Tensor | GroupedInput) -> int:
    """The rows of the product."""
    return len(x.by_groups()) if isinstance(x, GroupedInput) else (
        x.numel() // max(x.shape[-1], 1))


def sample_rows(x: Tensor | GroupedInput, most: int) -> Tensor:
    """Some of the rows, as evenly as can be."""
    rows = _rows(x)
    return rows[::max(1, len(rows) // most)][:most]


#: Bytes that the grams of layers recorded together may have.
_GRAM_BYTES = 1 << 31


def gram_recorder(model: nn.Module, examples: Iterable[Any],
                  run: Callable[[nn.Module], Any] | None = None,
                  most_bytes: int = _GRAM_BYTES) -> Callable[[str], dict[str, Tensor]]:
    """A function that records as LayerInputs.record_grams does: the layer named and layers
    behind it that are still dense, as many as fit in `most_bytes`, and one at least."""
    kept = list(examples)

    def record(name: str) -> dict[str, Tensor]:
        grams: dict[str, Tensor] = {}

        def add(key: str, x: Tensor | GroupedInput) -> None:
            rows = _rows(x).float()
            if rows.dim() == 3:
                rows = rows.movedim(0, 1)
            grams[key] = grams.get(key, 0) + rows.mT @ rows

        def hook_for(key: str):
            def hook(module, args):
                x = args[0]
                if not isinstance(module, ExpertLinears):
                    add(key, x)
                    return
                x = x.detach()
                for i, rows in enumerate(x.split(args[1])):
                    if len(rows):
                        add(f"{key}.{i}", rows)
            return hook

        left, handles = most_bytes, []
        layers = [layer for layer in find_layers(model) if layer.why_not is None]
        names = [layer.name for layer in layers]
        # An expert's name has its number behind.
        first = name if name in names else name.rpartition(".")[0]
        try:
            for layer in layers[names.index(first):] if first in names else ():
                groups = groups_around(model, layer.name)
                count = (len(layer.module) if isinstance(layer.module, ExpertLinears) else
                         1 if groups is None else groups.groups)
                left -= 4 * count * layer.shape[-1] ** 2
                if handles and left < 0:
                    break
                handles.append(_watch(model, layer, hook_for(layer.name)))
            run_examples(model, kept, run)
        finally:
            for handle in handles:
                handle.remove()
        return grams

    return record


def run_examples(model: nn.Module, examples: Iterable[Any],
                 run: Callable[[nn.Module], Any] | None) -> None:
    """Runs the model as record_inputs does."""
    with torch.no_grad(), _evaluating(model):
        if run is not None:
            run(model)
        for example in examples:
            _call(model, example)


def _call(model: nn.Module, example: Any) -> None:
    if isinstance(example, Mapping):
        model(**example)
    else:
        model(*(example if isinstance(example, tuple) else (example,)))


@contextmanager
def _evaluating(model: nn.Module):
    training = [module for module in model.modules() if module.training]
    model.eval()
    # PyTorch's operator for whole encoder layers calls none of their parts.
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for module in training:
            module.training = True
