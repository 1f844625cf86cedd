"""Checking, pruning and compressing weights."""

from __future__ import annotations

import ctypes
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from . import _arrays
from . import _library as lib
from ._errors import PatternError, ShapeError
from ._pattern import (Block, Pattern, announce_axis, announces_axis,
                       leaves_axis_open, parse_axis, parse_pattern)
from ._sparse import SparseTensor, check_weight_type, weight_view


@dataclass(frozen=True)
class CheckReport:
    """What nm.check found in every window.

    Attributes:
        pattern: the pattern that was checked.
        shape: of the weight.
        holds: whether every window has at most N non-zero units. Also what the
            report is in an ``if``.
        windows, violations: windows, and those with more than N.
        first_violation: the first bad window by column, then k, or None.
        elements, non_zeros, negative_zeros: counts. A NaN is no zero; -0.0 is.
        message: one line for people.
    """

    pattern: Pattern
    shape: tuple[int, ...]
    holds: bool
    windows: int
    violations: int
    first_violation: Window | None
    elements: int
    non_zeros: int
    negative_zeros: int
    message: str

    @property
    def sparsity(self) -> float:
        """The share of elements that are zero, 0 to 1."""
        return 1 - self.non_zeros / self.elements if self.elements else 0.0

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return (f"{self.message}\n{self.non_zeros} of {self.elements} elements "
                f"are not zero ({100 * self.sparsity:.4g} % sparse, the pattern "
                f"{100 * self.pattern.sparsity:.4g} %), {self.negative_zeros} "
                "are -0.0, which count as zeros")

    def to_dict(self) -> dict:
        """The report in JSON's types."""
        fields = asdict(self)
        fields["pattern"] = str(self.pattern)
        fields["sparsity"] = self.sparsity
        return fields


@dataclass(frozen=True)
class Window:
    """A window: columns ``[columns[0], columns[1])`` and rows
    ``[k[0], k[1])`` of k, with `count` units that are not zero."""

    columns: tuple[int, int]
    k: tuple[int, int]
    count: int


@dataclass(frozen=True)
class PruneReport:
    """What nm.prune dropped.

    Attributes:
        pattern, shape: of the weight.
        non_zeros: elements that were not zero before.
        dropped: how many of them are zero now.
        dropped_energy: dropped squares over all squares, 0 to 1.
        relative_error: that of the product, ‖X·W - X·W'‖ / ‖X·W‖ in the
            Frobenius norm: measured on the activations that were given, else
            expected for activations without correlation, √dropped_energy.
        measured: whether activations were given.
    """

    pattern: Pattern
    shape: tuple[int, ...]
    non_zeros: int
    dropped: int
    dropped_energy: float
    relative_error: float
    measured: bool

    def __str__(self) -> str:
        how = "on the activations given" if self.measured else "expected"
        return (f"pruned to {self.pattern.describe()}: {self.dropped} of "
                f"{self.non_zeros} non-zeros dropped, "
                f"{100 * self.dropped_energy:.4g} % of their energy; relative "
                f"error of the product {self.relative_error:.3g} ({how})")

    def to_dict(self) -> dict:
        """The report in JSON's types."""
        fields = asdict(self)
        fields["pattern"] = str(self.pattern)
        return fields


@dataclass(frozen=True)
class Pruned:
    """A pruned weight, of the kind that came in, and what it cost. Unpacks as
    ``weight, report = nm.prune(...)``, and is indexed as that pair is."""

    weight: Any
    report: PruneReport

    def __iter__(self):
        return iter((self.weight, self.report))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index):
        return (self.weight, self.report)[index]


def check(w: Any, pattern: str | Pattern, block: Block = None,
          axis: int | None = None, name: str = "weight") -> CheckReport:
    """Checks a dense weight against an N:M pattern.

    Args:
        w: a 2-d array of any library and element type, maybe strided.
        pattern: ``"2:4"``: 2 **kept** of every 4 along k.
        block: ``(bk, bn)`` of the pruning unit, ``(1, 1)`` by default.
        axis: where k is in `w`: 1 of ``[out, in]``, as PyTorch has weights (the
            default), 0 of ``[k, n]``.
        name: what messages call it.

    Returns:
        a report; that the pattern does not hold is no error.

    Raises:
        PatternError: `pattern` is none.
        ShapeError, DTypeError: `w` is no matrix of numbers.
    """
    found = parse_pattern(pattern, block, axis)
    view, _ = weight_view(w)
    report = _check_view(view, found, name)
    if leaves_axis_open(pattern, axis) and announces_axis() and (
            _check_view(view, _along_other(found), name).violations
            != report.violations):
        announce_axis(f"the weight {view.shape}")
    return report


def _along_other(pattern: Pattern) -> Pattern:
    return Pattern(pattern.n, pattern.m, pattern.block, 1 - pattern.axis)


def _check_view(view: _arrays.View, pattern: Pattern, name: str) -> CheckReport:
    native = lib.NmPatternReport()
    lib.check(lib.runtime.nmCheckPattern(view.tensor(), pattern._native(),
                                         native))
    text = ctypes.c_void_p()
    lib.check(lib.runtime.nmPatternReportDescribe(native, lib.text(name), text))
    holds = bool(native.holds)
    first = None if holds else Window(
        (native.columnBegin, native.columnEnd), (native.kBegin, native.kEnd),
        native.count)
    return CheckReport(pattern, view.shape, holds, native.windows,
                       native.violations, first, native.elements,
                       native.nonZeros, native.negativeZeros,
                       lib.take_text(text.value))


def detect(w: Any, axis: int | None = None, min_sparsity: float = 0.0
           ) -> tuple[Pattern | None, str]:
    """Searches for the sparsest N:M pattern that a dense weight obeys.

    Args:
        w: a 2-d array.
        axis: where k is in it, as in nm.check.
        min_sparsity: patterns that are less sparse are not taken.

    Returns:
        the pattern, or None, and the reason.

    Raises:
        ShapeError, DTypeError: `w` is no matrix of numbers.
    """
    view, _ = weight_view(w)
    least = float(min_sparsity)
    if math.isnan(least):
        raise PatternError("expected min_sparsity to be a number, but got nan")
    found = _detect_along(view, 1 if axis is None else parse_axis(axis), least)
    if axis is None and announces_axis() and (
            str(_detect_along(view, 0, least)[0]) != str(found[0])):
        announce_axis(f"the weight {view.shape}")
    return found


def _detect_along(view: _arrays.View, axis: int, least: float
                  ) -> tuple[Pattern | None, str]:
    found, reason = lib.NmPattern(), ctypes.c_void_p()
    lib.check(lib.runtime.nmDetectPattern(view.tensor(), axis, least, found, reason))
    text = lib.take_text(reason.value)
    if found.n == 0:
        return None, text
    return Pattern(found.n, found.m, (found.bk, found.bn), found.dim), text


def prune(w: Any, pattern: str | Pattern, block: Block = None,
          axis: int | None = None, activations: Any = None) -> Pruned:
    """Prunes a dense weight by magnitude: of every window the N units of largest
    L2 norm stay.

    Args:
        w, pattern, block, axis: as in nm.check.
        activations: ``[..., k]`` inputs of the product, on which its error is
            then measured.

    Returns:
        ``(weight, report)``: a new weight of the kind and on the device of `w`,
        and what was dropped.

    Raises:
        PatternError: `pattern` is none.
        ShapeError, DTypeError: `w` is no such matrix, or `activations` do not
            fit it.
    """
    found = parse_pattern(pattern, block, axis)
    view, kind = weight_view(w)
    pruned, native = _prune_view(view, found)
    if leaves_axis_open(pattern, axis) and announces_axis():
        before, _ = _prune_view(view, _along_other(found))
        if before.tobytes() != pruned.tobytes():
            announce_axis(f"the weight {view.shape}")
    result = kind.from_host(pruned, w, view.dtype)
    error = (math.sqrt(native.droppedEnergy)
             if native.droppedEnergy >= 0 else math.nan)
    if activations is not None:
        error = _product_error(w, result, activations, found.axis)
    return Pruned(result, PruneReport(found, view.shape, native.nonZeros,
                                      native.dropped, native.droppedEnergy,
                                      error, activations is not None))


def _prune_view(view: _arrays.View, pattern: Pattern
                ) -> tuple[np.ndarray, lib.NmPruneReport]:
    pruned, native = _arrays.raw_empty(view.shape, view.dtype), lib.NmPruneReport()
    lib.check(lib.runtime.nmPrune(view.tensor(), None, pattern._native(),
                                  _arrays.raw_tensor(pruned, view.dtype), native))
    return pruned, native


def _float64(array: Any) -> np.ndarray:
    """Any array as float64 on the host."""
    view, _ = _arrays.host_array(array)
    raw = _arrays.as_numpy(view)
    if view.dtype in ("bf16", "f8E4M3FN"):
        raw = raw.view(_arrays.numpy_dtype(view.dtype))
    return raw.astype(np.float64)


def _product_error(w: Any, pruned: Any, activations: Any, axis: int) -> float:
    x, before, after = (_float64(a) for a in (activations, w, pruned))
    if axis == 1:
        before, after = before.T, after.T
    if not x.shape or x.shape[-1] != before.shape[0]:
        raise ShapeError(f"expected activations [..., {before.shape[0]}], but "
                           f"got shape {x.shape}")
    exact = x @ before
    norm = np.linalg.norm(exact)
    return float(np.linalg.norm(exact - x @ after) / norm) if norm else 0.0


def compress(w: Any, pattern: str | Pattern, block: Block = None,
             axis: int | None = None, name: str = "weight") -> SparseTensor:
    """The condensed form of a dense weight that obeys an N:M pattern.

    Args:
        w, pattern, block, axis, name: as in nm.check. Elements are f32, f16,
            bf16, f8E4M3FN or i8.

    Returns:
        a SparseTensor; `w` is not needed after the call.

    Raises:
        PatternError: a window has more than N non-zero units. Nothing is ever
            dropped here; nm.prune does that.
        ShapeError, DTypeError: `w` is no such matrix.
    """
    found = parse_pattern(pattern, block, axis)
    view, _ = weight_view(w)
    check_weight_type(view.dtype)
    k, n = found.sizes(view.shape)
    values_shape, indices_shape = found.condensed_shapes(k, n)
    values = _arrays.raw_empty(values_shape, view.dtype)
    indices = np.empty(indices_shape, np.uint8)
    message = lib.runtime.nmCompress(
        view.tensor(), found._native(), lib.text(name),
        _arrays.raw_tensor(values, view.dtype),
        _arrays.raw_tensor(indices, "i8"))
    if message:
        raise PatternError(lib.take_text(message) + _hint(view, found, name))
    if leaves_axis_open(pattern, axis) and announces_axis() and (
            _check_view(view, _along_other(found), name).holds):
        announce_axis(f"the weight {view.shape}")
    return SparseTensor(values, indices, view.shape, found, dtype=view.dtype)


def _hint(view: _arrays.View, pattern: Pattern, name: str) -> str:
    """What a caller who was refused may have meant."""
    other = _along_other(pattern)
    if _check_view(view, other, name).holds:
        return (f"; it holds along the other axis: axis={other.axis} takes the "
                f"weight as {'[n, k]' if other.axis else '[k, n]'}")
    return "; nm.prune makes a weight that obeys it"
