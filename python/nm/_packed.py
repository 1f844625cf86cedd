"""The memory of packed weights: how much there is, a limit to it, and freeing."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ._errors import Error
from ._sparse import SparseTensor, living_weights

_SUFFIXES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def _read_limit(text: str) -> int | None:
    """The bytes of NM_PACKED_LIMIT, as ``"8G"``."""
    if not text:
        return None
    number, suffix = (text[:-1], text[-1].upper()) if text[-1].isalpha() else (text, "")
    if not number.isdecimal() or suffix not in _SUFFIXES:
        raise Error("expected NM_PACKED_LIMIT to be a number of bytes, as 500M or 8G, "
                    f"but got {text!r}")
    return int(number) * _SUFFIXES[suffix]


_limit = _read_limit(os.environ.get("NM_PACKED_LIMIT", ""))


def packed_bytes(*weights: SparseTensor) -> int:
    """The bytes of the packed forms that are kept for weights, of all that live where
    none is given. A form that several kernels of a weight share counts once."""
    parts: dict[int, int] = {}
    for w in weights or living_weights():
        for bound in [*w._bound.values(), *(w._retired or ())]:
            parts.update(bound.packed_parts())
    return sum(parts.values())


def free_packed(*weights: SparseTensor) -> int:
    """Frees the packed forms of weights, of all that live where none is given. The next
    call with one packs it anew. Returns how many bytes there were.

    A CUDA graph that has captured calls with a weight keeps what it reads until it is
    destroyed, which is not counted here.
    """
    before = packed_bytes(*weights)
    for w in weights or living_weights():
        w._drop_calls()
        w._prepared.clear()
        w._bound.clear()
        w._refused.clear()
        w._retired = None
    return before


def set_packed_limit(limit: int | None) -> None:
    """Sets how many bytes of packed forms are kept at most, None for any number, as
    NM_PACKED_LIMIT does before the first. Where a weight is packed that exceeds them,
    those of the weights that were packed longest ago are freed, as by free_packed."""
    global _limit
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)
                              or limit < 0):
        raise Error(f"expected a number of bytes or None, but got {limit!r}")
    _limit = limit
    keep_within_limit()


# Weights by when they were packed last.
_order: dict[int, None] = {}


def keep_within_limit(packed: SparseTensor | None = None) -> None:
    """Frees what exceeds the limit, but never what `packed`, which was packed now,
    needs."""
    if packed is not None:
        _order.pop(id(packed), None)
        _order[id(packed)] = None
    if _limit is None:
        return
    for w in _oldest_first(living_weights()):
        if packed_bytes() <= _limit:
            return
        if w is not packed:
            free_packed(w)


def _oldest_first(weights: Iterable[SparseTensor]) -> list[SparseTensor]:
    places = {number: place for place, number in enumerate(_order)}
    for number in set(_order) - {id(w) for w in weights}:
        _order.pop(number, None)
    return sorted((w for w in weights if w._bound),
                  key=lambda w: places.get(id(w), -1))
