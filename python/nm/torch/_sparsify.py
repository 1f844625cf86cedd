"""Sparse layers in place of a model's dense ones, where they are faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from .._errors import Error
from .._formats import check
from .._matmul import prepare
from .._pattern import Pattern
from .._records import ProductRecord
from ._linear import NMLinear
from ._rules import chosen_patterns, replace_module
from ._timing import cuda_times, host_times


@dataclass(frozen=True)
class LayerReport:
    """What became of one layer.

    Attributes:
        name, shape: of the layer, ``[out, in]``.
        rows: of its input in the example.
        pattern: that a rule gave, or None.
        kernel: the strategy that was chosen, or "dense".
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
        widths = [max(len(row[i]) for row in [header, *rows])
                  for i in range(len(header))]
        return "\n".join("  ".join(
            cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
            for row in [header, *rows])


def _times(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x"


def sparsify(model: nn.Module, rules: str | Pattern | Mapping[str, Any],
             example: Any = None, *, prune: bool = False, force: bool = False,
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
            timed.
        prune: whether weights are pruned by magnitude. Otherwise a layer whose
            weight breaks its pattern stays dense.
        force: whether layers that are not faster are replaced, too.
        run: runs the model in place of ``model(*example)``.
        progress: called with the name of each layer before its turn.

    Returns:
        a report of each layer: pattern, kernel, estimated and measured speed-up,
        and the reason where it stays dense.

    Raises:
        Error: the model has no nn.Linear.
        PatternError: a rule is no pattern.
    """
    patterns = chosen_patterns(model, rules)
    inputs = _record_inputs(model, example, run)
    reports = []
    for name, pattern in patterns.items():
        if progress:
            progress(name)
        reports.append(_sparsify_layer(model, name, pattern, inputs.get(name), prune,
                                       force))
    return SparsifyReport(tuple(reports))


def _sparsify_layer(model: nn.Module, name: str, pattern: Pattern | None,
                    x: Tensor | None, prune: bool, force: bool) -> LayerReport:
    layer = model.get_submodule(name)
    facts: dict[str, Any] = {"name": name, "shape": tuple(layer.weight.shape)}
    if x is not None:
        facts["rows"] = x.numel() // max(x.shape[-1], 1)
    if pattern is None:
        return LayerReport(**facts, reason="no rule for it")
    facts["pattern"] = pattern
    non_zeros = int(torch.count_nonzero(layer.weight))
    report = check(layer.weight.detach(), pattern, name=name)
    if not report and not prune:
        return LayerReport(**facts, reason=f"breaks its pattern: {report.message}")
    try:
        sparse = NMLinear.from_dense(layer, pattern, prune_weight=prune, name=name)
        if non_zeros:
            facts["dropped"] = 1 - int(
                torch.count_nonzero(sparse.values.detach())) / non_zeros
        if x is not None:
            _measure(facts, layer, sparse, x)
    except Error as error:
        return LayerReport(**facts, reason=f"no kernel: {str(error).splitlines()[0]}")
    replaced, reason = _decide(facts.get("measured"), x is not None, force)
    if replaced:
        sparse.train(layer.training)
        replace_module(model, name, sparse)
    else:
        facts["kernel"] = "dense"
    return LayerReport(**facts, replaced=replaced, reason=reason)


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


def _record_inputs(model: nn.Module, example: Any,
                   run: Callable[[nn.Module], Any] | None) -> dict[str, Tensor]:
    """The input of every nn.Linear when the model runs."""
    found: dict[str, Tensor] = {}
    if example is None and run is None:
        return found

    def hook_for(name: str):
        def hook(_module, args):
            found.setdefault(name, args[0].detach())
        return hook

    handles = [layer.register_forward_pre_hook(hook_for(name))
               for name, layer in model.named_modules()
               if type(layer) is nn.Linear]
    try:
        with torch.no_grad(), _evaluating(model):
            if run is not None:
                run(model)
            elif isinstance(example, Mapping):
                model(**example)
            else:
                model(*(example if isinstance(example, tuple) else (example,)))
    finally:
        for handle in handles:
            handle.remove()
    return found


@contextmanager
def _evaluating(model: nn.Module):
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


def _measure(facts: dict[str, Any], dense: nn.Linear, sparse: NMLinear, x: Tensor
             ) -> None:
    """Estimate and measurement for the very input."""
    with torch.no_grad():
        bias = None if sparse.bias is None else sparse.bias.detach()
        prepared = prepare(x, sparse.sparse_weight(), bias)
        record = prepared.record
        facts["kernel"] = record.strategy or "?"
        timed: list[Any] = [lambda: dense(x), lambda: sparse(x)]
        times = cuda_times(timed) if x.is_cuda else host_times(timed)
        if times is not None:
            facts["measured"] = times[0] / times[1]
        facts["estimated"] = _estimate(record, times and times[0])


def _estimate(record: ProductRecord, dense: float | None) -> float | None:
    """The speed-up that is estimated; where our time alone is, that beside the
    measured dense one, in seconds."""
    if record.speedup is not None or dense is None or not record.estimate_us:
        return record.speedup
    return dense / (record.estimate_us * 1e-6)
