"""The N:M pattern."""

from __future__ import annotations

import ctypes
import operator
import re
import warnings
from dataclasses import dataclass
from typing import Union

from . import _library as lib
from ._errors import PatternError

#: (bk, bn), or a text like "1x32".
Block = Union[tuple[int, int], str, None]


class AxisWarning(FutureWarning):
    """A weight whose axis of k was not said was taken as ``[out, in]``, where nm took
    it as ``[k, n]`` before. Shown once; to say `axis` avoids it."""


_announced = False


def announces_axis() -> bool:
    """Whether the change of the default is still to be told."""
    return not _announced


def announce_axis(what: str, stacklevel: int = 3) -> None:
    """Tells, once in a process, that the former default would have given another
    result."""
    global _announced
    if _announced:
        return
    _announced = True
    warnings.warn(
        f"no axis was given, so {what} is [out, in], with k on axis 1; nm took axis 0 "
        "before, which gives another result here. axis=1 or axis=0 says which it is",
        AxisWarning, stacklevel=stacklevel)


@dataclass(frozen=True)
class Pattern:
    """``n`` pruning units are **kept** of every ``m`` consecutive ones along k.

    Unstructured weights, pattern ``"unstructured"``, have no windows: `m` is 0, and `n` is how
    many of all weights are kept at most, 0 for any number. With a block, units of it are kept
    whole.

    Attributes:
        n, m: kept units, and units in a window.
        block: ``(bk, bn)``, the rows along k and the columns of one unit.
        axis: where k is in the dense weight's shape: 1 of ``[out, in]``, as PyTorch
            has it (the default), 0 of ``[k, n]``.
    """

    n: int
    m: int
    block: tuple[int, int] = (1, 1)
    axis: int = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        is_open = self.axis is None
        if is_open:
            object.__setattr__(self, "axis", 1)
        try:
            n, m, axis = (_int64(getattr(self, name)) for name in ("n", "m", "axis"))
            bk, bn = (_int64(size) for size in self.block)
        except (TypeError, ValueError):
            raise PatternError(
                "expected integers n and m, a block (bk, bn) and an axis, but got "
                f"{self.n!r}, {self.m!r}, {self.block!r} and {self.axis!r}"
            ) from None
        for name, value in (("n", n), ("m", m), ("block", (bk, bn)),
                            ("axis", axis)):
            object.__setattr__(self, name, value)
        lib.check(lib.runtime.nmPatternVerify(self._native()), PatternError)
        if is_open:
            announce_axis(f"a weight of nm.Pattern({n}, {m})", stacklevel=4)

    @property
    def sparsity(self) -> float:
        """The share of weights that is pruned, 1 - n/m; 0 of unstructured ones, whose
        size says it."""
        return 0.0 if self.is_unstructured else 1 - self.n / self.m

    @property
    def is_unstructured(self) -> bool:
        """Whether weights may be kept anywhere."""
        return self.m == 0

    def sizes(self, shape) -> tuple[int, int]:
        """k and n of a dense weight of `shape`."""
        return shape[self.axis], shape[1 - self.axis]

    def shape(self, k: int, n: int) -> tuple[int, int]:
        """The dense shape of a weight with these sizes."""
        return (k, n) if self.axis == 0 else (n, k)

    def condensed_shapes(self, k: int, n: int):
        """The shapes of the condensed values and indices of k x n weights."""
        values, indices = lib.sizes([0, 0]), lib.sizes([0, 0])
        lib.check(lib.runtime.nmCondensedShape(self._native(), k, n, values,
                                               indices), PatternError)
        return tuple(values), tuple(indices)

    def __str__(self) -> str:
        """``8:32, block = 1x32, dim = 1``: the text of ``#nm.encoding``."""
        text = ctypes.c_void_p()
        lib.check(lib.runtime.nmPatternPrint(self._native(), text), PatternError)
        return lib.take_text(text.value)

    def describe(self) -> str:
        """The pattern and its sparsity, for people."""
        if self.is_unstructured:
            return str(self)
        return f"{self} ({100 * self.sparsity:.4g} % sparse)"

    def _native(self) -> lib.NmPattern:
        return lib.NmPattern(self.n, self.m, *self.block, self.axis)


def read_pattern(text: str) -> Pattern:
    """The pattern of a text as ``#nm.encoding`` has it, whose dim is 0 if not given."""
    native = lib.NmPattern()
    lib.check(lib.runtime.nmPatternParse(lib.text(text), native), PatternError)
    return Pattern(native.n, native.m, (native.bk, native.bn), native.dim)


def check_fits(pattern: Pattern, shape: tuple[int, ...], name: str = "weight") -> None:
    """Refuses a weight that is smaller than one block of a pattern.

    Raises:
        PatternError: it is.
    """
    if len(shape) != 2:  # Which is told of where the elements are read.
        return
    (k, n), (bk, bn) = pattern.sizes(shape), pattern.block
    if k < bk > 1 or n < bn > 1:
        raise PatternError(f"'{name}': expected a block {bk}x{bn} to fit in k x n = "
                           f"{k}x{n}, but it is larger than the weight")


def keep_share(pattern: Pattern, shape: tuple[int, ...], sparsity: float | None
               ) -> Pattern:
    """The unstructured pattern of a weight of which `sparsity` is pruned.

    Raises:
        PatternError: `sparsity` is no share, or is given with an N:M pattern.
    """
    if sparsity is None:
        return pattern
    if not pattern.is_unstructured or pattern.n:
        raise PatternError("expected sparsity with pattern 'unstructured' alone, as "
                           f"others say it themselves, but got {pattern}")
    if not 0 <= sparsity < 1:
        raise PatternError(f"expected sparsity from 0 to below 1, but got {sparsity!r}")
    size = shape[0] * shape[1] if len(shape) == 2 else 0
    return Pattern(max(size - round(sparsity * size), pattern.block[0] * pattern.block[1]),
                   0, pattern.block, pattern.axis)


def along_other_axis(pattern: Pattern) -> Pattern:
    """The same with k on the other axis."""
    return Pattern(pattern.n, pattern.m, pattern.block, 1 - pattern.axis)


def leaves_axis_open(pattern: str | Pattern, axis: int | None) -> bool:
    """Whether parse_pattern has to take the default."""
    # Unstructured weights obey their pattern along either axis.
    return (axis is None and isinstance(pattern, str) and "dim" not in pattern
            and "unstructured" not in pattern)


def parse_pattern(pattern: str | Pattern, block: Block = None,
                  axis: int | None = None) -> Pattern:
    """The pattern that a call means.

    Args:
        pattern: ``"2:4"``, ``"8:32, block = 1x32, dim = 1"``, ``"unstructured"``,
            ``"unstructured, kept = 100, block = 4x4"``, or a Pattern.
        block: ``(bk, bn)`` or ``"1x32"``, where the text has none.
        axis: the axis of k, 0 or 1 (or negative), where the text has none; 1, that
            of ``[out, in]``, where it is not given either.

    Raises:
        PatternError: it is no pattern, or `block` or `axis` says otherwise.
    """
    if isinstance(pattern, Pattern):
        found, has_block, has_axis = pattern, True, True
    elif isinstance(pattern, str):
        found = read_pattern(pattern)
        has_block, has_axis = "block" in pattern, "dim" in pattern
        if axis is None and not has_axis:
            axis = 1
    else:
        raise PatternError("expected a pattern as a text like '2:4' or an "
                           f"nm.Pattern, but got {type(pattern).__name__}")
    if block is not None:
        found = _with_block(found, _parse_block(block), has_block)
    if axis is not None:
        found = _with_axis(found, axis, has_axis)
    return found


def _with_block(found: Pattern, block: tuple[int, int], given: bool) -> Pattern:
    if given and found.block != block:
        raise PatternError(f"expected one block, but got {found} and block "
                           f"{block[0]}x{block[1]}")
    return Pattern(found.n, found.m, block, found.axis)


def _with_axis(found: Pattern, axis: int, given: bool) -> Pattern:
    axis = parse_axis(axis)
    if given and found.axis != axis:
        raise PatternError(f"expected one axis, but got {found} and axis {axis}")
    return Pattern(found.n, found.m, found.block, axis)


def parse_axis(axis: int) -> int:
    """0 or 1, also of a negative axis."""
    if axis not in (-2, -1, 0, 1):
        raise PatternError(f"expected axis 0 or 1 to be k, but got {axis!r}")
    return int(axis) % 2


def _parse_block(block) -> tuple[int, int]:
    try:
        if isinstance(block, str):
            found = re.fullmatch(r"\s*(\d+)\s*x\s*(\d+)\s*", block, re.ASCII)
            sizes = [int(part) for part in found.groups()] if found else []
        else:
            sizes = block
        bk, bn = (_int64(size) for size in sizes)
    except (TypeError, ValueError):
        raise PatternError("expected a block like (1, 32) or '1x32', but got "
                           f"{block!r}") from None
    return bk, bn


def _int64(value) -> int:
    """The integer, which the library would cut to 64 bits."""
    value = operator.index(value)
    if not -2 ** 63 <= value < 2 ** 63:
        raise ValueError
    return value
