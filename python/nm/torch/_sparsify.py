"""Sparse layers in place of a model's dense ones, where they are faster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from .._errors import Error, PatternError
from .._pattern import Pattern
from .._progress import with_progress
from .._table import format_table
from ._inputs import record_inputs
from ._layer_pruner import LayerPruner
from ._layer_timing import Timing, time_layer, timing_key
from ._linear import NMLinear
from ._rules import chosen_patterns, replace_module


@dataclass(frozen=True)
class LayerReport:
    """What became of one layer.

    Attributes:
        name, shape: of the layer, ``[out, in]``.
        rows: of its input in the example.
        pattern: that a rule gave, or None.
        kernel: the strategy that was chosen, "-" where none was yet, or "dense".
        estimated, measured: speed-up over the dense layer of the same type; None
            where it was not estimated, or not measured, or no two measurements
            agreed. On a GPU the estimate is of our time, beside the measured one
            of the dense layer.
        dropped: the share of non-zeros that pruning took.
        replaced: whether the layer is an NMLinear now.
        reason: why, or why not.
    """

    name: str
    shape: tuple[int, int]
    rows: int | None = None
    pattern: Pattern | None = None
    kernel: str = "dense"
    estimated: float | None = None
    measured: float | None = None
    dropped: float = 0.0
    replaced: bool = False
    reason: str = ""


@dataclass(frozen=True)
class SparsifyReport:
    """What nm.torch.sparsify did, layer by layer; prints as a table."""

    layers: tuple[LayerReport, ...] = field(default_factory=tuple)

    def __iter__(self) -> Iterator[LayerReport]:
        return iter(self.layers)

    def __str__(self) -> str:
        header = ["layer", "shape", "rows", "pattern", "kernel", "estimated",
                  "measured", "reason"]
        rows = [[layer.name, "x".join(map(str, layer.shape)),
                 str(layer.rows or "-"),
                 layer.pattern.describe() if layer.pattern else "-", layer.kernel,
                 _times(layer.estimated), _times(layer.measured), layer.reason]
                for layer in self.layers]
        return format_table(header, rows)


def _times(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x"


def sparsify(model: nn.Module, rules: str | Pattern | Mapping[str, Any],
             example: Any = None, *, prune: Any = False, force: bool = False,
             calibration: Iterable[Any] | None = None,
             run: Callable[[nn.Module], Any] | None = None,
             progress: Callable[[str], None] | None = None) -> SparsifyReport:
    """Puts NMLinear in place of the nn.Linear layers of a model, in the model
    itself, where it is faster.

    Args:
        model: any module.
        rules: a pattern for all layers, or patterns by globs of layer names, of
            which the first that fits counts; None leaves a layer dense. A warning
            tells of a glob that decides about no layer.
        example: the model's input, a tuple of them, or a dict by name: its shapes
            are those that kernels are chosen and timed for. Without it nothing is
            timed. Layers of one shape and pattern are timed once.
        prune: how weights are pruned: True or ``"magnitude"``; ``"wanda"``, by
            magnitudes times the norms of the inputs in `calibration`; a dict of
            scores, or of masks of booleans, by layer names; or a function of a name
            and a layer that gives either. Without it, and for layers that a dict has
            not, a layer whose weight breaks its pattern stays dense.
        force: whether layers that are not faster are replaced, too.
        calibration: inputs of the model for Wanda's norms, each like `example`, which
            is taken where there are none.
        run: runs the model in place of ``model(*example)``.
        progress: called with the name of each layer before its turn, in place of a bar
            on a terminal.

    Returns:
        a report of each layer: pattern, kernel, estimated and measured speed-up,
        and the reason where it stays dense.

    Raises:
        Error: the model has no nn.Linear, or Wanda lacks inputs.
        PatternError: a rule is no pattern.
    """
    patterns = chosen_patterns(model, rules)
    examples = [] if example is None else [example]
    inputs = record_inputs(model, examples, run,
                           with_squares=LayerPruner.needs_norms(prune)
                           and calibration is None)
    if calibration is not None:
        inputs.squares = record_inputs(model, calibration, with_squares=True).squares
    sparsifier = _Sparsifier(LayerPruner(prune, inputs), force)
    reports = []
    names = list(patterns)
    for name in with_progress(names, len(names), "layer") if progress is None else names:
        if progress:
            progress(name)
        layer = model.get_submodule(name)
        report, sparse = sparsifier.look_at(name, layer, patterns[name],
                                            inputs.first.get(name))
        if sparse is not None:
            replace_module(model, name, sparse.train(layer.training))
        reports.append(report)
    return SparsifyReport(tuple(reports))


class _Sparsifier:
    """Decides layer by layer; what was measured for one counts for others of its
    shape."""

    def __init__(self, pruner: LayerPruner, force: bool):
        self.pruner, self.force = pruner, force
        self.timings: dict[tuple, Timing] = {}

    def look_at(self, name: str, layer: nn.Linear, pattern: Pattern | None,
                x: Tensor | None) -> tuple[LayerReport, NMLinear | None]:
        """The report, and what takes the layer's place, if anything does."""
        facts: dict[str, Any] = {"name": name, "shape": tuple(layer.weight.shape)}
        if x is not None:
            facts["rows"] = x.numel() // max(x.shape[-1], 1)
        if pattern is None:
            return LayerReport(**facts, reason="no rule for it"), None
        facts["pattern"] = pattern
        try:
            sparse, facts["dropped"] = self._sparse_layer(name, layer, pattern)
        except PatternError as error:
            reason = f"breaks its pattern: {str(error).splitlines()[0]}"
            return LayerReport(**facts, reason=reason), None
        try:
            timing = None if x is None else self._timing(layer, sparse, x)
        except Error as error:
            reason = f"no kernel: {str(error).splitlines()[0]}"
            return LayerReport(**facts, reason=reason), None
        if timing is not None:
            facts.update(kernel=timing.kernel, estimated=timing.estimated,
                         measured=timing.measured)
        replaced, reason = _decide(facts.get("measured"), x is not None, self.force)
        if not replaced:
            facts["kernel"] = "dense"
        elif timing is None:
            facts["kernel"] = "-"
        return (LayerReport(**facts, replaced=replaced, reason=reason),
                sparse if replaced else None)

    def _sparse_layer(self, name: str, layer: nn.Linear, pattern: Pattern
                      ) -> tuple[NMLinear, float]:
        """And the share of its non-zeros that pruning took.

        Raises:
            PatternError: the weight, or a mask for it, breaks the pattern.
        """
        if not self.pruner.prunes(name):
            return NMLinear.from_dense(layer, pattern, name=name), 0.0
        w, dropped = self.pruner.condense(name, layer, pattern)
        return NMLinear._from_own(layer, w), dropped

    def _timing(self, layer: nn.Linear, sparse: NMLinear, x: Tensor) -> Timing:
        key = timing_key(layer, sparse.pattern, x)
        if key not in self.timings:
            self.timings[key] = time_layer(layer, sparse, x)
        return self.timings[key]


def _decide(measured: float | None, has_input: bool, force: bool) -> tuple[bool, str]:
    """Whether a layer is replaced, and why, or why not."""
    if not has_input:
        return True, "not timed: no example reached it"
    if measured is None:
        reason = "its times did not repeat, as other programs ran"
        return (True, f"forced: {reason}") if force else (False, f"dense: {reason}")
    if measured >= 1:
        return True, "faster"
    return force, "slower, but forced" if force else "dense is faster"
