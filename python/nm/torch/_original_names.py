"""The names and forms that a model of transformers has in its published checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from transformers.core_model_loading import revert_weight_conversion

from .._sparse import SparseTensor


def original_names(model: Any, tensors: Mapping[str, Tensor],
                   weights: Mapping[str, SparseTensor]
                   ) -> tuple[dict[str, Tensor], dict[str, SparseTensor]]:
    """Tensors and condensed weights by the names that published checkpoints have; by the
    model's own, which transformers reads as well, where those would have a condensed
    weight in another form, as a part of a larger one."""
    ignored = [name for name in tensors
               if name in (getattr(model, "_keys_to_ignore_on_save", None) or ())]
    kept = {name: tensor for name, tensor in tensors.items() if name not in ignored}
    renamed = {}
    for name, w in weights.items():
        standing = {name: torch.empty(w.shape, device="meta")}
        try:
            (other, tensor), = revert_weight_conversion(model, standing).items()
        except (ValueError, KeyError, RuntimeError, AttributeError, IndexError):
            return kept, dict(weights)
        if tensor is not standing[name]:
            return kept, dict(weights)
        renamed[other] = w
    return revert_weight_conversion(model, kept), renamed
