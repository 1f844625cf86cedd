"""Sizes of tensors that are known when the function runs, and reshapes with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence, Union


@dataclass(frozen=True)
class Size:
    """A number times sizes with names, as 4·batch·tokens."""

    factor: int
    symbols: tuple[str, ...]

    def __str__(self) -> str:
        factor = [str(self.factor)] if self.factor != 1 else []
        return "*".join([*factor, *self.symbols])


Dim = Union[int, Size]


def symbol(name: str) -> Size:
    return Size(1, (name,))


def product(dims: Sequence[Dim]) -> Dim:
    factor, symbols = 1, []
    for dim in dims:
        factor *= dim if isinstance(dim, int) else dim.factor
        symbols += () if isinstance(dim, int) else dim.symbols
    return Size(factor, tuple(sorted(symbols))) if symbols and factor else factor


def quotient(a: Dim, b: Dim) -> Dim | None:
    """a / b, if that is a whole number whatever the sizes are."""
    over, under = _parts(a), _parts(b)
    symbols = list(over[1])
    for name in under[1]:
        if name not in symbols:
            return None
        symbols.remove(name)
    if under[0] == 0 or over[0] % under[0]:
        return None
    return product([over[0] // under[0], *map(symbol, symbols)])


def _parts(dim: Dim) -> tuple[int, tuple[str, ...]]:
    return (dim, ()) if isinstance(dim, int) else (dim.factor, dim.symbols)


#: Neighbours of one shape, and those of the other that they become.
Group = tuple[range, range]


def reshape_groups(old: Sequence[Dim], new: Sequence[Dim]) -> list[Group]:
    """Cuts two shapes with as many elements into the most parts that have as many.

    >>> reshape_groups([2, 3, 8], [6, 2, 4])
    [(range(0, 2), range(0, 1)), (range(2, 3), range(1, 3))]
    """
    groups, i, j = [], 0, 0
    while i < len(old) or j < len(new):
        first = i, j
        a, i = (old[i], i + 1) if i < len(old) else (1, i)
        b, j = (new[j], j + 1) if j < len(new) else (1, j)
        while a != b:
            if i < len(old) and (quotient(b, a) is not None or quotient(a, b) is None
                                 or j == len(new)):
                a, i = product([a, old[i]]), i + 1
            elif j < len(new):
                b, j = product([b, new[j]]), j + 1
            else:
                raise ValueError(f"expected shapes with as many elements, but got "
                                 f"{describe(old)} and {describe(new)}")
        # What is left of ones at an end has no partner of its own.
        if j == len(new):
            while i < len(old) and old[i] == 1:
                i += 1
        if i == len(old):
            while j < len(new) and new[j] == 1:
                j += 1
        groups.append((range(first[0], i), range(first[1], j)))
    return _with_partners(groups)


def _with_partners(groups: list[Group]) -> list[Group]:
    """Joins a group that has ones of just one shape to its neighbour."""
    joined: list[Group] = []
    for old, new in groups:
        if joined and (not old or not new or not joined[-1][0] or not joined[-1][1]):
            before = joined.pop()
            old = range(before[0].start, old.stop)
            new = range(before[1].start, new.stop)
        joined.append((old, new))
    return joined


def describe(shape: Sequence[Dim]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
