"""The products that convolutions in groups are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..._formats import compress
from ..._mlir import Tensor
from ..._mlir._function import EncodedTensor
from ..._pattern import Pattern
from .._channel_groups import are_apart, are_one_product, whole_matrix
from .._decompress import decompress
from .._weights import parse_form, share_tensors, write_form
from ._context import Constant, Context


def condensed_filters(c: Context, values: Any, indices: Any, form: str, groups: int,
                      reduced: Sequence[int]) -> list[Tensor]:
    """The filter of all groups, or those of each.

    Args:
        reduced: the taps, and the channels of one group.
    """
    if not isinstance(values, Constant) or not isinstance(indices, Constant):
        raise c.refuse("a weight in groups that is a parameter of the model, not one that "
                       "is computed")
    pattern, (out, _) = parse_form(form)
    with torch.no_grad():
        dense = decompress(values.tensor, indices.tensor, form)
    key = values.key.removesuffix(".values")
    if not are_apart(pattern, out // groups, groups):
        return [_whole(c, key, dense, groups, reduced)]
    return [c.fn.filter(_encoded(c, f"{key}.group{i}", part, pattern), reduced)
            for i, part in enumerate(dense.chunk(groups))]


def whole_filter(c: Context, weight: Constant, groups: int) -> Tensor | None:
    """That of a dense one ``[out, channels of a group, taps...]``; None where each group is a
    product of its own."""
    if not are_one_product(weight.tensor, groups):
        return None
    matrix = weight.tensor.movedim(1, -1).flatten(1)
    return _whole(c, weight.key, matrix, groups, [*weight.shape[2:], weight.shape[1]])


def _whole(c: Context, key: str, matrix: torch.Tensor, groups: int, reduced: Sequence[int]
           ) -> Tensor:
    *taps, channels = reduced
    weight = _encoded(c, f"{key}.groups", whole_matrix(matrix, groups, channels),
                      "unstructured")
    return c.fn.filter_of_channels(weight, [groups * channels, *taps])


def _encoded(c: Context, key: str, matrix: torch.Tensor, pattern: str | Pattern
             ) -> EncodedTensor:
    w = compress(matrix, pattern, axis=1)
    values, indices = share_tensors(w)
    return c.condensed(Constant(f"{key}.values", values), Constant(f"{key}.indices", indices),
                       write_form(w.pattern, w.shape))
