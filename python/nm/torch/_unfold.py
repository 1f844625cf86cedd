"""Modules that multiply by several weights of their own, as modules of layers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn

from ._attention import (NMMultiheadAttention, fold_attention, unfold_attention,
                         why_no_attention)
from ._convolution import (_Convolution, fold_convolution, unfold_convolution,
                           why_no_convolution)
from ._experts import SparseExperts, fold_experts, unfold_experts, why_no_experts


@contextmanager
def unfolded(model: nn.Module, experts: bool = True) -> Iterator[None]:
    """Has modules that multiply by weights of their own call layers for it, which can be
    replaced meanwhile. Those whose layers are all dense in the end are then as before.

    Args:
        experts: whether those whose weights are stacked, and convolutions, are among
            them.
    """
    found = [module for module in list(model.modules())
             if (experts or isinstance(module, nn.MultiheadAttention))
             and unfold(module)]
    try:
        yield
    finally:
        for module in found:
            fold(module)


def unfold(module: nn.Module) -> bool:
    """Makes layers of the weights of one module; says whether it has such now."""
    if isinstance(module, nn.MultiheadAttention):
        if isinstance(module, NMMultiheadAttention) or why_no_attention(module):
            return False
        unfold_attention(module)
        return True
    if why_no_convolution(module) is None:
        unfold_convolution(module)
        return True
    if why_no_experts(module) is None:
        unfold_experts(module)
        return True
    return False


def fold(module: nn.Module) -> None:
    """The inverse, for what of it is dense."""
    if isinstance(module, NMMultiheadAttention):
        fold_attention(module)
    elif isinstance(module, _Convolution):
        fold_convolution(module)
    elif isinstance(module, SparseExperts):
        fold_experts(module)


def fold_dense(model: nn.Module) -> None:
    """Folds what is dense of all modules of a model."""
    for module in list(model.modules()):
        fold(module)
