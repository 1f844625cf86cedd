"""The patterns of weights in files, along the axis that the file or its user says."""

from __future__ import annotations

from dataclasses import dataclass

from ._formats import check, detect
from ._pattern import Pattern, parse_pattern
from .io._source import WeightSource

# Shares of zeros are compared with a pattern's; a few more zeros come by chance.
_NEAR = 0.02


@dataclass(frozen=True)
class Found:
    """The pattern that a weight obeys, or None; why; a hint, or ""; and the share of its
    elements that are zero."""

    pattern: Pattern | None
    reason: str
    hint: str
    zeros: float


def find_pattern(source: WeightSource, name: str, axis: int | None) -> Found:
    """Searches for the sparsest pattern of a weight along `axis`, or where that is None
    along the one that the file says, or that of ``[out, in]``. The hint tells of a
    sparser one along the other axis where no one said which it is."""
    w = source.weight(name)
    told = source.axis(name) if axis is None else axis
    found, reason = detect(w, axis=1 if told is None else told)
    zeros = check(w, Pattern(1, 1, axis=1), name=name).sparsity
    hint = ""
    if told is None and (found.sparsity if found else 0) < zeros - _NEAR:
        other, _ = detect(w, axis=0)
        if other and other.sparsity > (found.sparsity if found else 0) + _NEAR:
            hint = (f"along axis 0 it is {other.n}:{other.m}, as of [in, out]: axis=0 "
                    "(--axis=0) takes it so")
    return Found(found, reason, hint, zeros)


def pattern_along(source: WeightSource, name: str, pattern: str | Pattern,
                  axis: int | None) -> Pattern:
    """The pattern that a user gave, along the axis of k of one weight."""
    if isinstance(pattern, Pattern) or "dim" in pattern:
        return parse_pattern(pattern, None, axis)
    return parse_pattern(pattern, None, axis if axis is not None else source.axis(name))
