"""torch.ops.nm.decompress: the dense weight of a condensed one, in PyTorch's own
operators, on any device and with gradients.

Both directions are linear and each is the other's derivative: `decompress` puts kept
values to their places among zeros, `kept_values` takes them from there. So the gradient
of the kept values is the dense weight's, masked.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from .._pattern import Pattern
from ._derivatives import register_derivatives
from ._weights import FLOAT8_TYPES, parse_form


def kept_values(dense: Tensor, indices: Tensor, form: str) -> Tensor:
    """The elements ``[w, np]`` of a matrix ``[n, k]`` at the kept places.

    Args:
        dense: ``[n, k]``.
        indices, form: of the condensed weight, as in find_weight.
    """
    pattern, (n, k) = _sizes(form)
    if pattern.is_unstructured:
        return _kept_anywhere(dense, indices, n, k, pattern.condensed_shapes(k, n)[0][1])
    rows, columns = _padded(pattern, n, k)
    padded = functional.pad(dense.mT, (0, columns - n, 0, rows - k))
    count = rows // pattern.m // pattern.block[0]
    windows = padded.reshape(count, pattern.m, *_unit_shape(pattern, columns))
    kept = windows.gather(1, _places(indices, pattern))
    return kept.reshape(count * pattern.n * pattern.block[0], columns)


def _scatter(values: Tensor, indices: Tensor, form: str) -> Tensor:
    if values.dtype in FLOAT8_TYPES:  # Which scatter does not know.
        return _scatter(values.view(torch.uint8), indices, form).view(values.dtype)
    return _with_zeros(values, indices, form, Tensor.scatter_)


def _with_zeros(values: Tensor, indices: Tensor, form: str,
                scatter: Callable[..., Tensor]) -> Tensor:
    pattern, (n, k) = _sizes(form)
    if pattern.is_unstructured:
        return _put_anywhere(values, indices, n, k)
    rows, columns = _padded(pattern, n, k)
    unit = _unit_shape(pattern, columns)
    count = rows // pattern.m // pattern.block[0]
    windows = scatter(values.new_zeros(count, pattern.m, *unit), 1,
                      _places(indices, pattern), values.reshape(count, pattern.n, *unit))
    return windows.view(rows, columns)[:k, :n].mT.contiguous()


def _in_plain_operators(values: Tensor, indices: Tensor, form: str) -> Tensor:
    """The same in PyTorch's own operators, which have all derivatives. Zeros that are
    written to are no part of a batch where only the indices are."""
    return _with_zeros(values, indices, form, Tensor.scatter)


def _mask_and_places(indices: Tensor, n: int, k: int) -> tuple[Tensor, Tensor]:
    """Of unstructured weights ``[n, k]`` the mask of those that are kept, and each kept
    weight's number among them."""
    if indices.shape[0] != 1:
        mask = _mask_of_offsets(indices, n, k)
    else:
        bits = indices.reshape(n, -1, 1) >> torch.arange(8, device=indices.device)
        mask = (bits & 1).reshape(n, -1)[:, :k].bool()
    return mask, (mask.reshape(-1).cumsum(0) - 1).clamp(min=0).reshape(n, k)


def _mask_of_offsets(indices: Tensor, n: int, k: int) -> Tensor:
    """The mask of weights whose indices are offsets and gaps: nm/Format/Offsets.h."""
    numbers = indices.reshape(-1).long()
    gaps = numbers[4 * (n + 1):]
    bytes_of = 256 ** torch.arange(4, device=indices.device)
    begins = (numbers[:4 * (n + 1)].reshape(n + 1, 4) * bytes_of).sum(1)
    keeps = gaps != 255
    # The row behind each gap, counted from the first row of all columns.
    behind = (gaps + keeps).cumsum(0)
    before = functional.pad(behind, (1, 0))[begins[:-1]]
    column = torch.searchsorted(begins[1:], torch.arange(len(gaps), device=indices.device),
                                right=True)
    place = column * k + behind - before[column] - 1
    # Gaps that keep no row write behind all weights.
    mask = torch.zeros(n * k + 1, dtype=torch.bool, device=indices.device).scatter(
        0, torch.where(keeps, place, n * k), True)
    return mask[:n * k].reshape(n, k)


def _put_anywhere(values: Tensor, indices: Tensor, n: int, k: int) -> Tensor:
    mask, places = _mask_and_places(indices, n, k)
    kept = values.reshape(-1)[places]
    return torch.where(mask, kept, torch.zeros((), dtype=values.dtype,
                                               device=values.device))


def _kept_anywhere(dense: Tensor, indices: Tensor, n: int, k: int, count: int) -> Tensor:
    mask, places = _mask_and_places(indices, n, k)
    # Pruned weights are put behind all kept ones.
    at = torch.where(mask, places, count).reshape(-1)
    kept = dense.new_zeros(count + 1).scatter(0, at, dense.reshape(-1))
    return kept[:count].reshape(1, count)


def _sizes(form: str) -> tuple[Pattern, tuple[int, int]]:
    """The pattern, and n and k; a condensed form is the same along either axis."""
    pattern, shape = parse_form(form)
    k, n = pattern.sizes(shape)
    return pattern, (n, k)


def _padded(pattern: Pattern, n: int, k: int) -> tuple[int, int]:
    """k in whole windows, and n in whole blocks."""
    bk, bn = pattern.block
    window = pattern.m * bk
    return -(-k // window) * window, -(-n // bn) * bn


def _unit_shape(pattern: Pattern, columns: int) -> tuple[int, int, int]:
    bk, bn = pattern.block
    return bk, columns // bn, bn


def _places(indices: Tensor, pattern: Pattern) -> Tensor:
    """The unit in its window that each kept element is of."""
    bk, bn = pattern.block
    units = indices.reshape(indices.shape[0] // pattern.n, pattern.n, 1, indices.shape[1], 1).long()
    return units.expand(-1, -1, bk, -1, bn)


# An operator of its own keeps the indices for the backward pass as bytes; autograd
# would keep the 64-bit places that scatter takes.
_library = torch.library.Library("nm", "FRAGMENT")
_library.define("decompress(Tensor values, Tensor indices, str form) -> Tensor")
_library.impl("decompress", _scatter, "CompositeExplicitAutograd")
decompress = torch.ops.nm.decompress.default


@torch.library.register_fake("nm::decompress", lib=_library)
def _fake_decompress(values, indices, form):
    return values.new_empty(_sizes(form)[1])


def _setup(ctx, inputs, output):
    _, indices, ctx.form = inputs
    ctx.save_for_backward(indices)


def _backward(ctx, grad):
    return kept_values(grad, *ctx.saved_tensors, ctx.form), None, None


register_derivatives(_library, decompress, _backward, _setup, _in_plain_operators)


@torch.library.register_vmap("nm::decompress", lib=_library)
def _vmap_decompress(_info, in_dims, values, indices, form):
    if in_dims[1] is not None:
        return torch.stack([decompress(each, places, form) for each, places in zip(
            _unbound(values, in_dims[0], indices.shape[in_dims[1]]),
            indices.unbind(in_dims[1]))]), 0
    return torch.stack([decompress(each, indices, form)
                        for each in values.unbind(in_dims[0])]), 0


def _unbound(tensor: Tensor, dim: int | None, count: int):
    return [tensor] * count if dim is None else tensor.unbind(dim)
