"""A search for the pattern of each layer of a model, under a budget."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor, nn

from .._errors import Error, PatternError
from .._pattern import Pattern, parse_pattern
from .._progress import with_progress
from .._table import format_table
from ._experts import ExpertLinears
from ._inputs import GroupedInput, gram_recorder, record_inputs, sample_rows
from ._layer_pruner import LayerPruner
from ._layer_timing import Timing, time_layer, timing_key
from ._linear import NMLinear
from ._rules import layers_and_experts, patterns_of
from ._unfold import unfolded
from ._wrappers import takes_wrapped

# Rows of an input that an error is measured on.
_ROWS = 512
# So many parts a budget is cut into; each choice is rounded up to whole ones.
_PARTS = 4000


@dataclass(frozen=True)
class LayerChoice:
    """One way to have one layer.

    Attributes:
        name, shape: of the layer, ``[out, in]``.
        pattern: None where it stays dense.
        error: that of its product on the calibration inputs, ‖XW - XW'‖ / ‖XW‖.
        seconds, dense_seconds: what it was measured to take, and the dense layer.
    """

    name: str
    shape: tuple[int, int]
    pattern: Pattern | None
    error: float
    seconds: float
    dense_seconds: float


@dataclass(frozen=True)
class SearchReport:
    """What nm.torch.search found; prints as a table.

    Attributes:
        layers: the choice for each layer.
        candidates: all choices that there were for each.
        left_out: layers that stay dense as none of their times repeated, or the
            example did not reach them.
        front: other choices for the whole model, from dense to the fastest, each as
            (speed-up, error): no other is both as fast and as accurate.
    """

    layers: tuple[LayerChoice, ...]
    candidates: tuple[tuple[LayerChoice, ...], ...]
    left_out: tuple[str, ...]
    front: tuple[tuple[float, float], ...]

    @property
    def rules(self) -> dict[str, Pattern | None]:
        """The patterns, as nm.torch.sparsify takes them."""
        return {layer.name: layer.pattern for layer in self.layers}

    @property
    def speedup(self) -> float:
        """Of all these layers together, over dense."""
        return speedup_of(self.layers)

    @property
    def error(self) -> float:
        """The root of the mean square of the layers' errors."""
        return error_of(self.layers)

    def __iter__(self) -> Iterator[LayerChoice]:
        return iter(self.layers)

    def __str__(self) -> str:
        rows = [[layer.name, "x".join(map(str, layer.shape)),
                 layer.pattern.describe() if layer.pattern else "dense",
                 f"{layer.error:.4f}",
                 f"{layer.dense_seconds / layer.seconds:.2f}x"] for layer in self.layers]
        rows.append(["all", "", "", f"{self.error:.4f}", f"{self.speedup:.2f}x"])
        text = format_table(["layer", "shape", "pattern", "error", "speed-up"], rows)
        if self.left_out:
            text += ("\nleft out, as they were not reached or their times did not "
                     f"repeat: {', '.join(self.left_out)}")
        return text

    def plot(self, path: str | os.PathLike) -> None:
        """Draws error against speed-up: what was chosen, the best of other budgets,
        and each pattern for all layers.

        Raises:
            Error: matplotlib is not installed.
        """
        from ._search_plot import draw_search
        draw_search(self, os.fspath(path))


@takes_wrapped
def search(model: nn.Module,
           patterns: Sequence[str | Pattern] | Mapping[str, Any], example: Any, *,
           speedup: float | None = None, error: float | None = None,
           prune: Any = "magnitude", calibration: Iterable[Any] | None = None,
           run: Callable[[nn.Module], Any] | None = None,
           progress: Callable[[str], None] | None = None) -> SearchReport:
    """Searches a pattern for each nn.Linear of a model, which it leaves as it is: the
    least error that is as fast as `speedup`, or the fastest that errs no more than
    `error`. Dense is always among the choices. The experts of a stacked weight have one
    pattern.

    A layer's time is measured for the shapes of `example`, its error on the same input;
    layers of one shape are timed once, and so is one of a number of experts. Errors of layers are taken to add up like
    independent ones.

    Args:
        model: any module.
        patterns: the candidates for all layers, or a dict of them by globs of layer
            names, of which the first that fits counts; None leaves layers dense.
        example: the model's input, as for nm.torch.sparsify.
        speedup: of the model's nn.Linear layers together, over dense.
        error: the root of the mean square of the layers' relative errors.
        prune, calibration, run, progress: as for nm.torch.sparsify.

    Returns:
        a report, whose `rules` go to nm.torch.sparsify with the same `prune`.

    Raises:
        Error: there is not one budget, or none that can be met, or the example
            reaches no layer.
        PatternError: a candidate is no pattern.
    """
    if (speedup is None) == (error is None):
        raise Error("expected either speedup or error, the budget")
    with unfolded(model):
        return _search(model, patterns, [] if example is None else [example], speedup,
                       error, prune, calibration, run, progress)


def _search(model: nn.Module, patterns: Any, examples: list, speedup: float | None,
            error: float | None, prune: Any, calibration: Any, run: Any, progress: Any
            ) -> SearchReport:
    candidates = _candidate_patterns(model, patterns)
    with_squares = LayerPruner.needs_norms(prune)
    inputs = record_inputs(model, examples, run,
                           with_squares=with_squares and calibration is None)
    if calibration is not None and with_squares:
        inputs.squares = record_inputs(model, calibration, with_squares=True).squares
    if LayerPruner.needs_grams(prune):
        inputs.record_grams = gram_recorder(
            model, examples if calibration is None else calibration,
            run if calibration is None else None)
    measurer = _Measurer(LayerPruner(prune, inputs))
    choices = []
    reached = [name for name in candidates if name in inputs.first]
    for name in (with_progress(reached, len(reached), "layer") if progress is None
                 else reached):
        if progress:
            progress(name)
        found = measurer.choices(name, model.get_submodule(name), candidates[name],
                                 inputs.first[name])
        if found:
            choices.append(found)
    if not choices:
        raise Error("expected an example that reaches an nn.Linear whose times repeat, "
                    "but there is none: run it on a machine that is idle otherwise")
    chosen = (_fastest(choices, error) if error is not None
              else _most_accurate(choices, speedup))
    timed = {each[0].name for each in choices}
    left_out = tuple(name for name, found in candidates.items()
                     if found and name not in timed)
    return SearchReport(tuple(chosen), tuple(map(tuple, choices)), left_out,
                        _front(choices))


def _candidate_patterns(model: nn.Module, patterns: Any) -> dict[str, list[Pattern]]:
    """The candidates of each layer; none for one that stays dense."""
    if isinstance(patterns, str) or not patterns:
        raise PatternError(f"expected a list of patterns, but got {patterns!r}")
    if not isinstance(patterns, Mapping):
        found = [parse_pattern(pattern, None, 1) for pattern in patterns]
        return {layer.name: found for layer in layers_and_experts(model)}
    # The globs are matched as sparsify's are; a number stands for each list.
    lists = [[] if each is None else [parse_pattern(one, None, 1) for one in each]
             for each in patterns.values()]
    marks = {glob: Pattern(i + 1, len(lists), axis=1) for i, glob in enumerate(patterns)}
    return {name: [] if mark is None else lists[mark.n - 1] for name, (mark, _)
            in patterns_of(model, layers_and_experts(model), marks).items()}


class _Measurer:
    def __init__(self, pruner: LayerPruner):
        self.pruner = pruner
        self.timings: dict[tuple, Timing] = {}

    def choices(self, name: str, module: nn.Module, patterns: list[Pattern],
                x: Tensor | GroupedInput) -> list[LayerChoice]:
        """The candidates for a layer that could be timed, dense the first; none where
        no pattern could. Of experts, all of which are given the same input, the first
        is timed for all."""
        layers = {name: module}
        shape = tuple(module.weight.shape) if isinstance(module, nn.Linear) else None
        if isinstance(module, ExpertLinears):
            layers = {f"{name}.{i}": expert for i, expert in enumerate(module)}
            shape = module.shape
        layer, count = next(iter(layers.values())), len(layers)
        sample = sample_rows(x, _ROWS)
        found: list[LayerChoice] = []
        for pattern in patterns:
            pruned = [self.pruner.prune(each, own, pattern, sample)
                      for each, own in layers.items()]
            weight = pruned[0][0]
            error = math.sqrt(sum(report.relative_error ** 2 for _, report in pruned)
                              / count)
            timing = self._timing(layer, pattern, weight, x)
            if timing is None or timing.measured is None:
                continue
            if not found:
                found.append(LayerChoice(name, shape, None, 0.0, count * timing.dense,
                                         count * timing.dense))
            # Of the dense layer's times one counts, so that sums compare.
            dense = found[0].seconds
            found.append(LayerChoice(name, found[0].shape, pattern,
                                     error, dense / timing.measured,
                                     dense))
        return found

    def _timing(self, layer: nn.Linear, pattern: Pattern, weight: Tensor,
                x: Tensor | GroupedInput) -> Timing | None:
        key = timing_key(layer, pattern, x)
        if key not in self.timings:
            try:
                sparse = NMLinear.from_pruned(layer, weight, pattern)
                self.timings[key] = time_layer(layer, sparse.eval(), x)
            except Error:
                self.timings[key] = Timing("none", None, None, None)
        return self.timings[key]


def speedup_of(layers: Iterable[LayerChoice]) -> float:
    layers = list(layers)
    return sum(layer.dense_seconds for layer in layers) / sum(
        layer.seconds for layer in layers)


def error_of(layers: Iterable[LayerChoice]) -> float:
    squares = [layer.error ** 2 for layer in layers]
    return math.sqrt(sum(squares) / len(squares))


def _fastest(choices: list[list[LayerChoice]], error: float) -> list[LayerChoice]:
    """The least time whose errors' squares sum up to no more than the budget."""
    if not error >= 0:
        raise Error(f"expected error to be a number from 0 on, but got {error}")
    return _choose(choices, lambda choice: choice.error ** 2,
                   lambda choice: choice.seconds, len(choices) * error ** 2)


def _most_accurate(choices: list[list[LayerChoice]], speedup: float
                   ) -> list[LayerChoice]:
    if not speedup > 0:
        raise Error(f"expected speedup to be a number above 0, but got {speedup}")
    dense = sum(each[0].dense_seconds for each in choices)
    fastest = [min(each, key=lambda choice: choice.seconds) for each in choices]
    best = speedup_of(fastest)
    if best < speedup:
        raise Error(f"expected a speedup that these patterns reach, at most "
                    f"{best:.2f}, but got {speedup}")
    chosen = _choose(choices, lambda choice: choice.seconds,
                     lambda choice: choice.error ** 2, dense / speedup)
    return chosen or fastest  # Rounded up, the only choice may cost too much.


def _choose(choices: list[list[LayerChoice]], cost: Callable[[LayerChoice], float],
            loss: Callable[[LayerChoice], float], budget: float) -> list[LayerChoice]:
    """The choices of least total loss whose total cost is within the budget: dynamic
    programming over the layers. Empty where there are none."""
    least = np.zeros(_PARTS + 1)
    taken = []
    for each in choices:
        # Rounded up, so that the sum is not beyond the budget.
        parts = [math.ceil(cost(choice) / budget * _PARTS - 1e-9) if cost(choice) else 0
                 for choice in each] if budget else [
                     _PARTS + 1 if cost(choice) else 0 for choice in each]
        sums = np.full((len(each), _PARTS + 1), np.inf)
        for row, choice, part in zip(sums, each, parts):
            if part <= _PARTS:
                row[part:] = least[:_PARTS + 1 - part] + loss(choice)
        taken.append((sums.argmin(0), parts))
        least = sums.min(0)
    at = _PARTS
    if not np.isfinite(least[at]):
        return []
    chosen = []
    for each, (best, parts) in zip(reversed(choices), reversed(taken)):
        choice = int(best[at])
        chosen.append(each[choice])
        at -= parts[choice]
    return chosen[::-1]


def _front(choices: list[list[LayerChoice]], points: int = 24
           ) -> tuple[tuple[float, float], ...]:
    dense = [each[0] for each in choices]
    fastest = [min(each, key=lambda choice: choice.seconds) for each in choices]
    best = speedup_of(fastest)
    found = {(1.0, 0.0), (best, error_of(fastest))}
    for i in range(1, points):
        chosen = _most_accurate(choices, 1 + (best - 1) * i / points) if best > 1 else dense
        found.add((speedup_of(chosen), error_of(chosen)))
    front: list[tuple[float, float]] = []
    for point in sorted(found, key=lambda point: (point[1], -point[0])):
        if not front or point[0] > front[-1][0]:
            front.append(point)
    return tuple(front)
