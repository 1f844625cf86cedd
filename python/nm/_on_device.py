"""Formats in PyTorch's operators, for weights on a device that nm's library cannot
read: the same results as the library's, bit by bit.

Each function walks over the columns of a weight in parts, so that what it makes on the
way takes little memory beside the weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from . import _prune
from ._pattern import Pattern

# Elements of a part.
_PART = 1 << 22
_EXACT_AS_F32 = (torch.float32, torch.float16, torch.bfloat16)
_WORDS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def choose_mask(scores: Tensor, pattern: Pattern) -> Tensor:
    """The elements that stay: of every window the N units with the largest norm of
    their scores, of equal ones the lowest. A NaN counts as an infinity.

    Args:
        scores: of the shape of the weight, such as the weight itself.

    Returns:
        a mask of the same shape, True for what stays, on the device of `scores`.
    """
    if not scores.is_cuda and scores.dtype in _EXACT_AS_F32:
        # The library's threads are quicker than the operators of a host.
        ones = torch.ones(scores.shape, dtype=torch.int8)
        kept, _ = _prune.prune_on_host(ones, pattern, scores.detach())
        return kept.view(torch.bool)
    mask = torch.empty(scores.shape, dtype=torch.bool, device=scores.device)
    target = _by_columns(mask, pattern)
    for begin, part in _parts(_by_columns(scores.detach(), pattern), pattern):
        target[begin:begin + len(part)] = _choose(part, pattern)
    return mask


def prune(w: Tensor, pattern: Pattern, scores: Tensor | None
          ) -> tuple[Tensor, tuple[int, int, float]]:
    """A pruned copy; and its non-zeros before, how many were dropped, and their share
    of the squares."""
    given = w.detach()
    result = torch.empty_like(given, memory_format=torch.contiguous_format)
    target = _by_columns(result, pattern)
    chosen = given if scores is None else torch.as_tensor(scores, device=w.device)
    by = _by_columns(chosen, pattern)
    counts = torch.zeros(4, dtype=torch.float64, device=w.device)
    for begin, part in _parts(_by_columns(given, pattern), pattern):
        end = begin + len(part)
        kept = _choose(by[begin:end], pattern)
        words = _words(part)
        _words(target)[begin:end] = torch.where(kept, words, torch.zeros_like(words))
        counts += _counts(part, kept)
    non_zeros, dropped, squares, lost = counts.tolist()
    energy = lost / squares if squares else 0.0
    return result, (int(non_zeros), int(dropped), energy)


def count_units(w: Tensor, pattern: Pattern) -> Tensor:
    """The units of each window with a non-zero element, ``[block columns, windows]``,
    on the host."""
    k, n = pattern.sizes(w.shape)
    counts = torch.empty(-(-n // pattern.block[1]), -(-k // _window(pattern)),
                         dtype=torch.int16)
    at = 0
    for _, part in _parts(_by_columns(w.detach(), pattern), pattern):
        found = _units(_non_zero(part), pattern).any(4).any(1).sum(-1)
        counts[at:at + len(found)] = found
        at += len(found)
    return counts


def count_zeros(w: Tensor, pattern: Pattern) -> tuple[int, int]:
    """The elements that are not zero, and those that are -0.0."""
    non_zeros = negative = 0
    for _, part in _parts(_by_columns(w.detach(), pattern), pattern):
        words = _words(part)
        is_zero = ~_non_zero(part)
        non_zeros += part.numel() - int(torch.count_nonzero(is_zero))
        negative += int(torch.count_nonzero(is_zero & (words != 0)))
    return non_zeros, negative


def compress(w: Tensor, pattern: Pattern) -> tuple[Tensor, Tensor] | None:
    """Values ``[w, np]`` and indices ``[w/bk, np/bn]`` where `w` is, or None where a
    window has more than N units."""
    values, indices = [], []
    bk, bn = pattern.block
    for _, part in _parts(_by_columns(w.detach(), pattern), pattern):
        occupied = _units(_non_zero(part), pattern).any(4).any(1)
        if bool((occupied.sum(-1) > pattern.n).any()):
            return None
        # The occupied ones, then the lowest others.
        order = (~occupied).to(torch.uint8).sort(dim=-1, stable=True).indices
        places = order[..., :pattern.n].sort(dim=-1).values
        units = _units(_canonical(part), pattern)
        index = places[:, None, :, :, None].expand(-1, bn, -1, -1, bk)
        kept = units.gather(3, index).permute(2, 3, 4, 0, 1)
        values.append(kept.flatten(3).flatten(0, 2))
        indices.append(places.permute(1, 2, 0).flatten(0, 1).to(torch.uint8))
    if not values:
        k, n = pattern.sizes(w.shape)
        shapes = pattern.condensed_shapes(k, n)
        return w.new_empty(shapes[0]), torch.empty(shapes[1], dtype=torch.uint8)
    return torch.cat(values, 1).view(w.dtype), torch.cat(indices, 1)


def product_error(w: Tensor, pruned: Tensor, activations: Any, axis: int) -> float:
    """As nm._prune.product_error, in f32."""
    x = torch.as_tensor(activations, device=w.device).detach()
    x = x.reshape(-1, x.shape[-1]).float()
    exact = difference = 0.0
    before, after = (t.detach() if axis == 1 else t.detach().mT for t in (w, pruned))
    for begin in range(0, len(before), 1024):
        part = before[begin:begin + 1024].float()
        exact += float((x @ part.mT).square().sum(dtype=torch.float64))
        part = part - after[begin:begin + 1024].float()
        difference += float((x @ part.mT).square().sum(dtype=torch.float64))
    return math.sqrt(difference / exact) if exact else 0.0


def _by_columns(w: Tensor, pattern: Pattern) -> Tensor:
    """``[n, k]``."""
    return w if pattern.axis == 1 else w.mT


def _parts(w: Tensor, pattern: Pattern) -> Iterator[tuple[int, Tensor]]:
    """Whole blocks of the columns of ``[n, k]``, and where they begin."""
    bn = pattern.block[1]
    columns = max(1, _PART // max(w.shape[1], 1) // bn) * bn
    for begin in range(0, len(w), columns):
        yield begin, w[begin:begin + columns]


def _window(pattern: Pattern) -> int:
    return pattern.m * pattern.block[0]


def _units(part: Tensor, pattern: Pattern) -> Tensor:
    """``[block columns, bn, windows, M, bk]``, filled up with zeros."""
    bk, bn = pattern.block
    n, k = part.shape
    padded = functional.pad(part, (0, -k % _window(pattern), 0, -n % bn))
    return padded.reshape(padded.shape[0] // bn, bn, -1, pattern.m, bk)


def _choose(scores: Tensor, pattern: Pattern) -> Tensor:
    """The mask of a part, ``[columns, k]``."""
    values = _units(_magnitudes(scores), pattern)
    # One element is compared as it is: its square may not be as exact.
    energies = (values.squeeze(4).squeeze(1) if pattern.block == (1, 1)
                else values.double().square().sum((1, 4)))
    energies = torch.where(energies.isnan(), torch.inf, energies)
    order = energies.sort(dim=-1, descending=True, stable=True).indices
    kept = torch.zeros_like(energies, dtype=torch.bool).scatter_(
        -1, order[..., :pattern.n], True)
    whole = kept[:, None, :, :, None].expand(values.shape)
    return whole.flatten(2).flatten(0, 1)[:scores.shape[0], :scores.shape[1]]


def _magnitudes(w: Tensor) -> Tensor:
    exact = torch.double if w.element_size() >= 4 and w.dtype != torch.float else (
        torch.float)
    return w.to(exact).abs()


def _words(w: Tensor) -> Tensor:
    """The bits of elements, as integers."""
    return w.view(_WORDS[w.element_size()])


def _non_zero(w: Tensor) -> Tensor:
    """Whether elements are other than 0.0 and -0.0, by their bits."""
    words = _words(w)
    if w.dtype.is_floating_point:
        words = words & torch.iinfo(words.dtype).max
    return words != 0


def _canonical(w: Tensor) -> Tensor:
    """The bits of elements, with +0.0 for -0.0."""
    words = _words(w)
    return torch.where(_non_zero(w), words, torch.zeros_like(words))


def _counts(part: Tensor, kept: Tensor) -> Tensor:
    non_zero = _non_zero(part)
    squares = _magnitudes(part).double().square()
    return torch.stack([
        non_zero.sum().double(), (non_zero & ~kept).sum().double(), squares.sum(),
        torch.where(kept, torch.zeros_like(squares), squares).sum()])
