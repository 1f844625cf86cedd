"""The names and forms that a model of transformers has in its published checkpoints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers.core_model_loading import revert_weight_conversion

from .._sparse import SparseTensor
from ._experts import ExpertLinears, stack_name


def original_names(model: Any, tensors: Mapping[str, Tensor],
                   weights: Mapping[str, SparseTensor]
                   ) -> tuple[dict[str, Tensor], dict[str, SparseTensor]]:
    """Tensors and condensed weights by the names that published checkpoints have; by the
    model's own, which transformers reads as well, where those would have a condensed
    weight in another form, as a part of a larger one. Stacked experts that cannot be cut
    into published weights are dense: the configuration says that they are sparse."""
    weights, stacks = dict(weights), {}
    for layers in (each for each in model.named_modules()
                   if isinstance(each[1], ExpertLinears)):
        _take_stack(*layers, weights, stacks)
    tensors = {name: tensor for name, tensor in tensors.items()
               if stack_name(name.removesuffix(".weight")) not in stacks}
    tensors.update(_dense({name: layers for name, layers in stacks.items()
                           if layers.pattern is None}))
    stacks = {name: layers for name, layers in stacks.items() if layers.pattern}
    ignored = [name for name in tensors
               if name in (getattr(model, "_keys_to_ignore_on_save", None) or ())]
    kept = {name: tensor for name, tensor in tensors.items() if name not in ignored}
    renamed = {}
    for name, w in weights.items():
        standing = {name: torch.empty(w.shape, device="meta")}
        try:
            (other, tensor), = revert_weight_conversion(model, standing).items()
        except (ValueError, KeyError, RuntimeError, AttributeError, IndexError):
            return {**kept, **_dense(stacks)}, weights
        if tensor is not standing[name]:
            return {**kept, **_dense(stacks)}, weights
        renamed[other] = w
    for name, layers in stacks.items():
        cut = _cut(model, name, layers)
        if cut is None:
            kept[name] = layers.stack()
        else:
            renamed.update(cut)
    return revert_weight_conversion(model, kept), renamed


def _take_stack(name: str, layers: ExpertLinears, weights: dict[str, SparseTensor],
                stacks: dict[str, ExpertLinears]) -> None:
    for i in range(len(layers)):
        weights.pop(f"{name}.{i}.weight", None)
    stacks[name] = layers


def _dense(stacks: Mapping[str, ExpertLinears]) -> dict[str, Tensor]:
    return {name: layers.stack() for name, layers in stacks.items()}


def _cut(model: Any, name: str, layers: ExpertLinears) -> dict[str, SparseTensor] | None:
    """The published weights that a stacked one is made of, by their names; None where
    those are no rows of it."""
    _, n, k = layers.shape
    cut = None if layers._transposed else rows_of(model, name, layers.shape[:2])
    if cut is None:
        return None
    found, wide = {}, layers.pattern.block[1]
    for other, rows in cut.items():
        expert, begin = divmod(rows.start, n)
        count = len(rows)
        if begin + count > n or begin % wide or count % wide and begin + count < n:
            return None
        w = layers[expert].sparse_weight()
        end = -(-(begin + count) // wide)
        found[other] = SparseTensor(
            np.ascontiguousarray(w._values[:, begin:end * wide]),
            np.ascontiguousarray(w._indices[:, begin // wide:end]), (count, k),
            w.pattern, w.dtype)
    return found


def rows_of(model: Any, name: str, sizes: tuple[int, ...]) -> dict[str, range] | None:
    """The rows that published weights are of a weight of the model, by their names, where
    it has `sizes` before its columns; None where they are no rows of it."""
    # A column of the numbers of all rows goes the way that the weight would go.
    numbers = torch.arange(math.prod(sizes)).view(*sizes, 1)
    try:
        cut = revert_weight_conversion(model, {name: numbers})
    except (ValueError, KeyError, RuntimeError, AttributeError, IndexError):
        return None
    found = {}
    for other, rows in cut.items():
        flat = rows.reshape(-1)
        if rows.shape[-1:] != (1,) or not len(flat) or not torch.equal(
                flat, torch.arange(len(flat)) + flat[0]):
            return None
        found[other] = range(int(flat[0]), int(flat[0]) + len(flat))
    return found
