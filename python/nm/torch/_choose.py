"""Which weights a pattern keeps, chosen where the weights are."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from .._pattern import Pattern

# Elements that are looked at together: what is made of them on the way takes a few
# times their memory.
_CHUNK = 1 << 22


def choose_mask(scores: Tensor, pattern: Pattern) -> Tensor:
    """The weights that stay: of every window the N units with the largest norm of their
    scores, of equal ones the lowest. A NaN counts as an infinity.

    Args:
        scores: ``[out, in]``, such as the weight itself, on any device.
        pattern: along the inputs (axis 1).

    Returns:
        a mask of `scores`' shape, True for weights that stay, on its device.
    """
    mask = torch.empty(scores.shape, dtype=torch.bool, device=scores.device)
    block = pattern.block[1]
    rows = max(1, _CHUNK // max(scores.shape[1], 1) // block) * block
    for begin in range(0, scores.shape[0], rows):
        part = scores.detach()[begin:begin + rows]
        mask[begin:begin + rows] = _choose(part, pattern)
    return mask


def _choose(scores: Tensor, pattern: Pattern) -> Tensor:
    (n, k), (bk, bn) = scores.shape, pattern.block
    padded = functional.pad(scores.float(), (0, -k % (pattern.m * bk), 0, -n % bn))
    units = padded.view(padded.shape[0] // bn, bn, -1, pattern.m, bk)
    energies = (units.abs().squeeze(4).squeeze(1) if bk == bn == 1
                else units.double().square().sum((1, 4)))
    energies = torch.where(energies.isnan(), torch.inf, energies)
    # Units beyond k, which have none, come after those that lose against nothing.
    order = energies.sort(dim=-1, descending=True, stable=True).indices
    kept = torch.zeros_like(energies, dtype=torch.bool).scatter_(
        -1, order[..., :pattern.n], True)
    whole = kept[:, None, :, :, None].expand(units.shape)
    return whole.reshape(padded.shape)[:n, :k]
