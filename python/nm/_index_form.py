"""The forms of the indices of unstructured weights: a bitmap, or offsets and gaps.

A bitmap ``[1, n * ceil(k/8)]`` has a bit for each weight. Offsets ``[s, 1]`` have a byte
for each kept weight, the rows between it and the one before in its column, and four bytes
for each column: fewer where less than an eighth of the weights is kept. The shape tells
which it is, and the values are the same. include/nm/Format/Offsets.h has it to the bit;
what chooses between them is the runtime's.
"""

from __future__ import annotations

import numpy as np

from . import _arrays
from . import _library as lib
from ._errors import PatternError
from ._pattern import Pattern

#: What `index_form` of a SparseTensor may be, and the number of nm-c/Format.h.
_NUMBERS = {None: 0, "bitmap": 1, "offsets": 2}


def check_index_form(pattern: Pattern, form: str | None) -> None:
    """Refuses a form that there is not.

    Raises:
        PatternError: it is none, or `pattern` is N:M.
    """
    if form is None:
        return
    if form not in _NUMBERS:
        raise PatternError("expected index_form to be None, 'bitmap' or 'offsets', but got "
                           f"{form!r}")
    if not pattern.is_unstructured:
        raise PatternError(f"expected index_form with an unstructured pattern alone, but got "
                           f"{form!r} with {pattern}")


def index_form_of(pattern: Pattern, shape: tuple[int, ...]) -> str:
    """What indices of a shape are: ``"positions"`` of an N:M pattern."""
    if not pattern.is_unstructured:
        return "positions"
    return "bitmap" if shape[0] == 1 else "offsets"


def indices_fit(pattern: Pattern, k: int, n: int, shape: tuple[int, ...]) -> bool:
    """Whether condensed k x n weights may have indices of a shape."""
    if shape == pattern.condensed_shapes(k, n)[1]:
        return True
    return (pattern.is_unstructured and len(shape) == 2 and shape[1] == 1
            and shape[0] >= 4 * (n + 1))


def convert_indices(pattern: Pattern, k: int, n: int, indices: np.ndarray,
                    form: str | None) -> np.ndarray:
    """The indices of k x n weights in a form, of fewest bytes where it is None: `indices`
    themselves where they have it.

    Raises:
        PatternError: `form` is none, `pattern` is N:M, or the indices are none of it.
    """
    check_index_form(pattern, form)
    if not pattern.is_unstructured:
        return indices
    given, shape = _arrays.raw_tensor(indices, "i8"), lib.sizes([0, 0])
    lib.check(lib.runtime.nmIndexShape(pattern._native(), k, n, given, _NUMBERS[form],
                                       shape), PatternError)
    if tuple(shape) == indices.shape:
        return indices
    converted = np.empty(tuple(shape), np.uint8)
    lib.check(lib.runtime.nmConvertIndices(pattern._native(), k, n, given,
                                           _arrays.raw_tensor(converted, "i8")),
              PatternError)
    return converted
