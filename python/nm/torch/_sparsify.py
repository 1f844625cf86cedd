"""Sparse layers in place of a model's dense ones, where they are faster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor, nn

from .._errors import DTypeError, Error, PatternError
from .._formats import compress
from .._pattern import Pattern, check_fits, keep_share
from .._progress import with_progress
from .._table import format_table
from ._experts import ExpertLinears
from ._fuse import FuseReport, check_example, fuse as fuse_layers
from ._inputs import GroupedInput, count_rows, gram_recorder, record_inputs
from ._layer_pruner import LayerPruner
from ._layer_timing import Timing, time_layer, timing_key
from ._layers import Layer, find_layers, is_conv1d
from ._linear import NMLinear
from ._memory import MemoryReport, memory
from ._replace import owners_of, replace_layer
from ._rules import patterns_of
from ._ties import untie_heads
from ._unfold import unfolded
from ._wrappers import takes_wrapped


@dataclass(frozen=True)
class LayerReport:
    """What became of one layer.

    Attributes:
        name, shape: of the layer, ``[out, in]``; of what is no such layer, of its
            first weight.
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
    shape: tuple[int, ...]
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
    #: What the model's layers take of memory, as nm.torch.memory says it.
    memory: MemoryReport | None = None
    #: The layers whose products are one, where that was asked for.
    fused: FuseReport | None = None

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
        parts = [format_table(header, rows), self.fused, self.memory]
        return "\n".join(str(part) for part in parts if part is not None)


def _times(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x"


@takes_wrapped
def sparsify(model: nn.Module, rules: str | Pattern | Mapping[str, Any],
             example: Any = None, *, prune: Any = False, force: bool = False,
             calibration: Iterable[Any] | None = None,
             run: Callable[[nn.Module], Any] | None = None,
             fuse: bool = False, sparsity: float | None = None,
             progress: Callable[[str], None] | None = None) -> SparsifyReport:
    """Puts NMLinear in place of the nn.Linear layers of a model, of the Conv1D of GPT-2,
    of the projections of nn.MultiheadAttention, of the experts that transformers stacks
    and of the products of convolutions, in the model itself, where it is faster.

    A layer that the model has under several names, and layers that share a weight, do
    so afterwards; hooks, attributes, the mode and requires_grad are kept. An optimizer
    that was made before is to be made anew, of which its next step warns.

    Args:
        model: any module.
        rules: a pattern for all layers, or patterns by globs of layer names, of
            which the first that fits counts; None leaves a layer dense. A warning
            tells of a glob that decides about no layer. Layers of PEFT's adapters
            stay dense, unless a glob has their name, as ``"*lora_A*"``.
        example: the model's input, a tuple of them, or a dict by name: its shapes
            are those that kernels are chosen and timed for. Without it nothing is
            timed. Layers of one shape and pattern are timed once.
        prune: how weights are pruned: True or ``"magnitude"``; ``"wanda"``, by
            magnitudes times the norms of the inputs in `calibration`; ``"sparsegpt"``,
            by SparseGPT on them, which changes the weights that stay and takes each
            layer's inputs from the layers that were replaced before it; a dict of
            scores, or of masks of booleans, by layer names; or a function of a name
            and a layer that gives either. Without it, and for layers that a dict has
            not, a layer whose weight breaks its pattern stays dense.
        force: whether layers that are not faster are replaced, too.
        calibration: inputs of the model for Wanda's norms and SparseGPT's update, each
            like `example`, which is taken where there are none.
        run: runs the model in place of ``model(*example)``.
        fuse: whether layers that are fed one tensor multiply it at once afterwards, as
            nm.torch.fuse has them do.
        sparsity: of layers with the rule ``"unstructured"``, the share of each weight
            that is pruned.
        progress: called with the name of each layer before its turn, in place of a bar
            on a terminal.

    Returns:
        a report of each module that has a weight of two dimensions or more: pattern,
        kernel, estimated and measured speed-up, and why it was replaced or was not.

    Raises:
        Error: the model has no layer that can be replaced, or Wanda or SparseGPT lack
            inputs.
        PatternError: a rule is no pattern.
    """
    if fuse:
        check_example(example, run)
    with unfolded(model):
        report = _sparsify(model, rules, [] if example is None else [example], prune,
                           force, calibration, run, progress, sparsity)
    if not fuse:
        return report
    return replace(report, fused=fuse_layers(model, example, run=run),
                   memory=memory(model))


def _sparsify(model: nn.Module, rules: Any, examples: list, prune: Any, force: bool,
              calibration: Any, run: Any, progress: Any, sparsity: float | None
              ) -> SparsifyReport:
    layers = find_layers(model)
    fitting = [layer for layer in layers if layer.why_not is None]
    if not fitting:
        raise Error("expected a model with nn.Linear layers that can be replaced, but "
                    "it has none" + "".join(f"; {layer.name or 'it'}: {layer.why_not}"
                                            for layer in layers[:4]))
    patterns = {name: (_resolve(pattern, name, fitting, prune, sparsity), why)
                for name, (pattern, why) in patterns_of(model, fitting, rules).items()}
    inputs = record_inputs(model, examples, run,
                           with_squares=LayerPruner.needs_norms(prune)
                           and calibration is None)
    if LayerPruner.needs_grams(prune):
        inputs.record_grams = gram_recorder(
            model, examples if calibration is None else calibration,
            run if calibration is None else None)
    elif calibration is not None:
        inputs.squares = record_inputs(model, calibration, with_squares=True).squares
    sparsifier = _Sparsifier(model, LayerPruner(prune, inputs), force)
    reports = {layer.name: LayerReport(layer.name, layer.shape, reason=layer.why_not)
               for layer in layers if layer.why_not is not None}
    for layer in (with_progress(fitting, len(fitting), "layer") if progress is None
                  else fitting):
        if progress:
            progress(layer.name)
        pattern, why = patterns[layer.name]
        reports[layer.name] = sparsifier.replace(layer, pattern, why,
                                                 inputs.first.get(layer.name))
    untie_heads(model)
    for module in model.modules():
        # What transformers compiled for generate. A copy has that of the model that it is a
        # copy of, and would give its results.
        vars(module).pop("_compiled_call", None)
    return SparsifyReport(tuple(reports[layer.name] for layer in layers), memory(model))


def _resolve(pattern: Pattern | None, name: str, layers: list[Layer], prune: Any,
             sparsity: float | None) -> Pattern | None:
    """The pattern of a layer, which says how many weights are kept where it is pruned."""
    if pattern is None or not pattern.is_unstructured or pattern.n or not prune:
        return pattern
    if sparsity is None:
        raise PatternError("expected sparsity, or the weights that are kept, to prune "
                           f"{name or 'the layer'} to {pattern}")
    shape = next(layer.shape for layer in layers if layer.name == name)
    return keep_share(pattern, tuple(shape[-2:]), sparsity)


class _Sparsifier:
    """Decides layer by layer; what was measured for one counts for others of its
    shape."""

    def __init__(self, model: nn.Module, pruner: LayerPruner, force: bool):
        self.model, self.pruner, self.force = model, pruner, force
        self.timings: dict[tuple, Timing] = {}
        self.owners = owners_of(model)
        # What became of weights that several layers share.
        self.shared: dict[int, tuple[LayerReport, NMLinear | None]] = {}

    def replace(self, found: Layer, pattern: Pattern | None, why: str,
                x: Tensor | GroupedInput | None) -> LayerReport:
        """Puts what takes the layer's place there, if anything does."""
        facts: dict[str, Any] = {"name": found.name, "shape": found.shape}
        if x is not None:
            facts["rows"] = count_rows(x)
        if pattern is None:
            return LayerReport(**facts, reason=why)
        facts["pattern"] = pattern
        if pattern.is_unstructured and isinstance(found.module, ExpertLinears):
            return LayerReport(**facts, reason="experts of one stack keep as many weights "
                               "each, which unstructured ones do not")
        if isinstance(found.module, ExpertLinears):
            return self._replace_experts(found, pattern, x, facts)
        weight = found.module._parameters.get("weight")
        others = [name for name in self.owners.get(id(weight), ())
                  if name != found.name]
        former, sibling = self.shared.get(id(weight), (None, None))
        if former is not None and former.pattern == pattern:
            report, sparse = self._share(found, former, sibling, facts)
        else:
            report, sparse = self.look_at(found.name, found.as_linear(), pattern, x,
                                          facts)
            if others:
                self.shared[id(weight)] = report, sparse
        notes = [report.reason, found.note]
        if sparse is not None:
            untied = [name for name in others if not isinstance(
                self.model.get_submodule(name), nn.Linear)]
            if untied:
                notes.append(f"no longer tied to {', '.join(untied)}, which stays dense")
            if is_conv1d(found.module):
                sparse._transposed_class = type(found.module)
            notes.append(replace_layer(self.model, found.name, sparse))
        if len(found.names) > 1:
            notes.append(f"also as {', '.join(found.names[1:])}")
        return replace(report, reason="; ".join(note for note in notes if note))

    def _replace_experts(self, found: Layer, pattern: Pattern, x: Tensor | None,
                         facts: dict[str, Any]) -> LayerReport:
        """Replaces all experts of a stacked weight or none. One of them is timed."""
        experts, made, dropped = found.module, [], 0.0
        for i, layer in enumerate(experts):
            report, sparse = self.look_at(f"{found.name}.{i}", layer, pattern,
                                          x if i == 0 else None, dict(facts))
            if sparse is None:
                return replace(report, name=found.name, shape=found.shape,
                               reason=f"expert {i}: {report.reason}; {found.note}")
            dropped += report.dropped / len(experts)
            first = report if i == 0 else first
            made.append(sparse)
        experts.replace(found.name, made)
        return replace(first, name=found.name, shape=found.shape, dropped=dropped,
                       reason=f"{first.reason}; {found.note}")

    def _share(self, found: Layer, former: LayerReport, sibling: NMLinear | None,
               facts: dict[str, Any]) -> tuple[LayerReport, NMLinear | None]:
        """As what another layer has become that has the same weight."""
        reason = f"as {former.name}, whose weight it has"
        if sibling is None:
            return LayerReport(**facts, reason=f"{reason}: {former.reason}"), None
        return (LayerReport(**facts, kernel=former.kernel, dropped=former.dropped,
                            replaced=True, reason=reason),
                sibling.sibling(found.module.bias))

    def look_at(self, name: str, layer: nn.Linear, pattern: Pattern,
                x: Tensor | GroupedInput | None, facts: dict[str, Any]
                ) -> tuple[LayerReport, NMLinear | None]:
        """The report, and what takes the layer's place, if anything does."""
        try:
            check_fits(pattern, tuple(layer.weight.shape), name)
            sparse, facts["dropped"] = self._sparse_layer(name, layer, pattern)
        except PatternError as error:
            reason = f"breaks its pattern: {str(error).splitlines()[0]}"
            return LayerReport(**facts, reason=reason), None
        except DTypeError as error:
            return LayerReport(**facts, reason=str(error)), None
        try:
            timing = None if x is None else self._timing(layer, sparse, x)
        except Error as error:
            reason = f"no kernel: {str(error).splitlines()[0]}"
            return LayerReport(**facts, reason=reason), None
        if timing is not None:
            facts.update(kernel=timing.kernel, estimated=timing.estimated,
                         measured=timing.measured)
        replaced, reason = _decide(timing, x is not None, self.force)
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
            w, dropped = compress(layer.weight.detach(), pattern, name=name), 0.0
        else:
            w, dropped = self.pruner.condense(name, layer, pattern)
        return NMLinear._from_own(layer, w, None, layer.bias), dropped

    def _timing(self, layer: nn.Linear, sparse: NMLinear, x: Tensor | GroupedInput
                ) -> Timing:
        key = timing_key(layer, sparse.pattern, x)
        if key not in self.timings:
            self.timings[key] = time_layer(layer, sparse, x)
        return self.timings[key]


def _decide(timing: Timing | None, has_input: bool, force: bool) -> tuple[bool, str]:
    """Whether a layer is replaced, and why, or why not."""
    if timing is None or not has_input:
        return True, "not timed: no example reached it"
    faster = timing.measured if timing.measured is not None else timing.estimated
    why = "" if timing.measured is not None else (
        " by the estimate, as its times did not repeat while other programs ran")
    if faster is None:
        reason = "its times did not repeat, as other programs ran"
        return (True, f"forced: {reason}") if force else (False, f"dense: {reason}")
    if faster >= 1:
        return True, f"faster{why}"
    return force, f"slower{why}, but forced" if force else f"dense is faster{why}"
