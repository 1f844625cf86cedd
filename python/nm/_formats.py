"""Checking and compressing weights."""

from __future__ import annotations

import ctypes
import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from . import _arrays
from . import _library as lib
from ._errors import DTypeError, PatternError
from ._index_form import check_index_form, convert_indices
from ._pattern import (Block, Pattern, along_other_axis, announce_axis,
                       announces_axis, check_fits, leaves_axis_open, parse_axis,
                       parse_pattern)
from ._sparse import (SparseTensor, check_weight_shape, check_weight_type,
                      weight_view)


# The share of non-zeros that stand in the way of a pattern that nearly holds.
_NEAR = 0.02
# Blocks that unstructured weights may be kept in, and how many more weights than the non-zeros
# whole units of them may have.
_UNITS = ((64, 64), (32, 32), (16, 16), (1, 128), (8, 8), (1, 64), (1, 32), (4, 4), (1, 16),
          (1, 8), (8, 1))
_MOST_KEPT = 1.02


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
        near, near_excess: where the pattern does not hold, or is unstructured, the
            sparsest N:M pattern that at most 2 % of the non-zeros stand in the way
            of, and how many do; None and 0 where there is none.
        index_form, condensed_bytes: of an unstructured pattern that holds, the form that
            the indices of nm.compress would have, and the bytes of values and indices;
            None and 0 else, and of element types that weights do not have.
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
    near: Pattern | None = None
    near_excess: int = 0
    index_form: str | None = None
    condensed_bytes: int = 0

    @property
    def sparsity(self) -> float:
        """The share of elements that are zero, 0 to 1."""
        return 1 - self.non_zeros / self.elements if self.elements else 0.0

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        ask = ("" if self.pattern.is_unstructured else
               f", the pattern {100 * self.pattern.sparsity:.4g} %")
        return (f"{self.message}\n{self.non_zeros} of {self.elements} elements "
                f"are not zero ({100 * self.sparsity:.4g} % sparse{ask}), "
                f"{self.negative_zeros} are -0.0, which count as zeros{self.hint()}"
                f"{self.size()}")

    def hint(self) -> str:
        """The pattern that nearly holds, for people, or nothing."""
        if self.near is None:
            return ""
        if not self.near_excess:
            return f"\npattern {self.near.describe()} holds"
        return (f"\npattern {self.near.describe()} nearly holds: {self.near_excess} of "
                f"{self.non_zeros} non-zeros stand in the way")

    def size(self) -> str:
        """What unstructured weights would take, for people, or nothing."""
        if self.index_form is None:
            return ""
        return f"\ncondensed, with {self.index_form}, it takes {self.condensed_bytes} bytes"

    def to_dict(self) -> dict:
        """The report in JSON's types."""
        fields = asdict(self)
        fields["pattern"] = str(self.pattern)
        fields["near"] = self.near and str(self.near)
        fields["sparsity"] = self.sparsity
        return fields


@dataclass(frozen=True)
class Window:
    """A window: columns ``[columns[0], columns[1])`` and rows
    ``[k[0], k[1])`` of k, with `count` units that are not zero."""

    columns: tuple[int, int]
    k: tuple[int, int]
    count: int


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
    report = _check(w, found, name)
    if leaves_axis_open(pattern, axis) and announces_axis() and (
            _check(w, along_other_axis(found), name).violations
            != report.violations):
        announce_axis(f"the weight {report.shape}")
    return _with_near(_with_size(report, w), w)


def _check(w: Any, pattern: Pattern, name: str) -> CheckReport:
    if _arrays.is_on_device(w) and pattern.is_unstructured:
        w = w.detach().cpu()
    if _arrays.is_on_device(w):
        check_weight_shape(tuple(w.shape))
        return _read_report(_check_on_device(w, pattern), pattern, tuple(w.shape), name)
    view, _ = weight_view(w)
    native = lib.NmPatternReport()
    lib.check(lib.runtime.nmCheckPattern(view.tensor(), pattern._native(), native))
    return _read_report(native, pattern, view.shape, name)


def _with_size(report: CheckReport, w: Any) -> CheckReport:
    """`report` of the array `w`, with the size of unstructured weights."""
    if not report.holds or not report.pattern.is_unstructured:
        return report
    try:
        made = compress(w, report.pattern)
    except (DTypeError, PatternError):  # Types, and blocks, that weights do not have.
        return report
    return replace(report, index_form=made.index_form, condensed_bytes=made.nbytes)


def _with_near(report: CheckReport, w: Any) -> CheckReport:
    """`report` of the array `w`, with the pattern that nearly holds."""
    pattern = report.pattern
    if report.holds and not pattern.is_unstructured:
        return report
    view, _ = weight_view(w.detach().cpu() if _arrays.is_on_device(w) else w)
    near, excess = lib.NmPattern(), ctypes.c_int64()
    lib.check(lib.runtime.nmFindNearPattern(view.tensor(), pattern.axis, _NEAR, near,
                                            excess))
    if near.n == 0:
        return report
    return replace(report, near=Pattern(near.n, near.m, (1, 1), pattern.axis),
                   near_excess=excess.value)


def _check_on_device(w: Any, pattern: Pattern) -> lib.NmPatternReport:
    from . import _on_device
    counts = _on_device.count_units(w, pattern).numpy()
    bad = counts > pattern.n
    non_zeros, negative_zeros = _on_device.count_zeros(w, pattern)
    native = lib.NmPatternReport(
        pattern._native(), not bad.any(), bad.sum(), counts.size,
        elements=w.numel(), nonZeros=non_zeros, negativeZeros=negative_zeros)
    if bad.any():
        block, window = np.unravel_index(bad.argmax(), bad.shape)
        (k, n), (bk, bn) = pattern.sizes(w.shape), pattern.block
        native.columnBegin, native.columnEnd = block * bn, min(n, (block + 1) * bn)
        native.kBegin = window * pattern.m * bk
        native.kEnd = min(k, native.kBegin + pattern.m * bk)
        native.count = counts[block, window]
    return native


def _read_report(native: lib.NmPatternReport, pattern: Pattern,
                 shape: tuple[int, ...], name: str) -> CheckReport:
    text = ctypes.c_void_p()
    lib.check(lib.runtime.nmPatternReportDescribe(native, lib.text(name), text))
    holds = bool(native.holds)
    first = None if holds else Window(
        (native.columnBegin, native.columnEnd), (native.kBegin, native.kEnd),
        native.count)
    return CheckReport(pattern, shape, holds, native.windows,
                       native.violations, first, native.elements,
                       native.nonZeros, native.negativeZeros,
                       lib.take_text(text.value))


def detect(w: Any, axis: int | None = None, min_sparsity: float = 0.0, *,
           unstructured: bool = False) -> tuple[Pattern | None, str]:
    """Searches for the sparsest N:M pattern that a dense weight obeys.

    Args:
        w: a 2-d array.
        axis: where k is in it, as in nm.check.
        min_sparsity: patterns that are less sparse are not taken.
        unstructured: whether a weight of which half or more is zero gets an unstructured
            pattern, where the N:M pattern keeps more than one and a half times as many:
            with the largest block of which few units are zero in part.

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
    return _prefer_unstructured(w, found, least) if unstructured else found


def _prefer_unstructured(w: Any, found: tuple[Pattern | None, str], least: float
                         ) -> tuple[Pattern | None, str]:
    axis = found[0].axis if found[0] else 1
    report = _check(w, parse_pattern("unstructured", None, axis), "weight")
    share = report.sparsity
    if share < max(0.5, least) or not report.non_zeros or (
            found[0] and 1 - found[0].sparsity <= 1.5 * (1 - share)):
        return found
    pattern = Pattern(report.non_zeros, 0, (1, 1), axis)
    for block in _UNITS:
        units = Pattern(1, 0, block, axis)
        if any(size > most for size, most in zip(block, units.sizes(report.shape))):
            continue
        kept = _count_kept(w, units)
        if kept <= _MOST_KEPT * report.non_zeros:
            pattern = Pattern(kept, 0, block, axis)
            break
    form = _with_size(replace(report, pattern=pattern), w).index_form
    how = {"bitmap": "; a bitmap says where", "offsets": "; offsets say where"}.get(form, "")
    return pattern, f"its zeros ({100 * share:.1f} %) are anywhere{how}; {found[1]}"


def _count_kept(w: Any, pattern: Pattern) -> int:
    """The weights of an array in units of an unstructured pattern that are not all zero."""
    report = _check(w, Pattern(1, 0, pattern.block, pattern.axis), "weight")
    return report.non_zeros if report.first_violation is None else report.first_violation.count


def _detect_along(view: _arrays.View, axis: int, least: float
                  ) -> tuple[Pattern | None, str]:
    found, reason = lib.NmPattern(), ctypes.c_void_p()
    lib.check(lib.runtime.nmDetectPattern(view.tensor(), axis, least, found, reason))
    text = lib.take_text(reason.value)
    if found.n == 0:
        return None, text
    return Pattern(found.n, found.m, (found.bk, found.bn), found.dim), text


def compress(w: Any, pattern: str | Pattern, block: Block = None,
             axis: int | None = None, name: str = "weight",
             index_form: str | None = None) -> SparseTensor:
    """The condensed form of a dense weight that obeys an N:M pattern.

    Args:
        w, pattern, block, axis, name: as in nm.check. Elements are f32, f16,
            bf16, f8E4M3FN, f8E5M2 or i8.
        index_form: of unstructured weights ``"bitmap"`` or ``"offsets"``; None for that
            of fewest bytes: offsets where less than about an eighth is kept.

    Returns:
        a SparseTensor, whose `index_form` says which; `w` is not needed after the call.

    Raises:
        PatternError: a window has more than N non-zero units, a block is larger than
            `w`, or `index_form` is given with an N:M pattern. Nothing is ever dropped
            here; nm.prune does that.
        ShapeError, DTypeError: `w` is no such matrix.
    """
    found = parse_pattern(pattern, block, axis)
    check_fits(found, tuple(getattr(w, "shape", ())), name)
    check_index_form(found, index_form)
    if found.is_unstructured:
        if _arrays.is_on_device(w):
            w = w.detach().cpu()
        if found.n == 0:  # No more places than there are weights.
            found = Pattern(max(_count_kept(w, found), 1), 0, found.block, found.axis)
    compressed = (_compress_on_device(w, found, name) if _arrays.is_on_device(w)
                  else _compress_on_host(w, found, name, index_form))
    if leaves_axis_open(pattern, axis) and announces_axis() and (
            _check(w, along_other_axis(found), name).holds):
        announce_axis(f"the weight {compressed.shape}")
    return compressed


def _compress_on_host(w: Any, pattern: Pattern, name: str, index_form: str | None
                      ) -> SparseTensor:
    view, _ = weight_view(w)
    check_weight_type(view.dtype)
    k, n = pattern.sizes(view.shape)
    values_shape, indices_shape = pattern.condensed_shapes(k, n)
    values = _arrays.raw_empty(values_shape, view.dtype)
    indices = np.empty(indices_shape, np.uint8)
    message = lib.runtime.nmCompress(
        view.tensor(), pattern._native(), lib.text(name),
        _arrays.raw_tensor(values, view.dtype),
        _arrays.raw_tensor(indices, "i8"))
    if message:
        raise PatternError(lib.take_text(message) + _hint(w, pattern, name))
    indices = convert_indices(pattern, k, n, indices, index_form)
    return SparseTensor(values, indices, view.shape, pattern, dtype=view.dtype)


def _compress_on_device(w: Any, pattern: Pattern, name: str) -> SparseTensor:
    from . import _on_device
    check_weight_shape(tuple(w.shape))
    element = _arrays.element_name(w.dtype)
    check_weight_type(element)
    parts = _on_device.compress(w, pattern)
    if parts is None:
        message = _check(w, pattern, name).message
        raise PatternError(message + _hint(w, pattern, name))
    # A copy, as a layer may take these arrays for its own, and views are read-only.
    values = np.array(_arrays.as_numpy(_arrays.KINDS["torch"].to_host(parts[0])))
    return SparseTensor(values, parts[1].cpu().numpy(), tuple(w.shape), pattern,
                        dtype=element)


def _hint(w: Any, pattern: Pattern, name: str) -> str:
    """What a caller who was refused may have meant."""
    other = along_other_axis(pattern)
    if _check(w, other, name).holds:
        return (f"; it holds along the other axis: axis={other.axis} takes the "
                f"weight as {'[n, k]' if other.axis else '[k, n]'}")
    return "; nm.prune makes a weight that obeys it"
