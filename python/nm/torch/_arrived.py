"""What is left to do once transformers has loaded the weights of a sparse model."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from .._errors import PatternError
from .._pattern import read_pattern
from ._attention import name_in_model, unfold_attention, why_no_attention
from ._experts import ExpertLinears, experts_of, fold_experts
from ._linear import NMLinear
from ._replace import keep_belongings, replace_module
from ._weights import LOWER_TYPES


class LoadingLinear(NMLinear):
    """An NMLinear that transformers loads: it has no state beside its tensors.

    Attributes:
        dtype: the type that from_pretrained was asked for.
    """

    dtype: torch.dtype
    get_extra_state = nn.Module.get_extra_state
    set_extra_state = nn.Module.set_extra_state

    def finish(self) -> None:
        """Makes it an NMLinear of its type."""
        self.__class__ = NMLinear
        cast(self.values, vars(self).pop("dtype"))


def cast(parameter: nn.Parameter, dtype: torch.dtype) -> None:
    """Makes a parameter of floats, of 16 bits or more, one of another such type."""
    floats = (*LOWER_TYPES, torch.float32, torch.float64)
    if parameter.dtype != dtype and parameter.dtype in floats and dtype in floats:
        parameter.data = parameter.data.to(dtype)


def condense_stacks(model: Any, layers: Mapping[str, str]) -> None:
    """Has experts be sparse that are in a checkpoint, or that the configuration calls so,
    once transformers has stacked their weights."""
    wanted = {name: {read_pattern(text)} for name, text in layers.items()}
    for name, patterns in {**wanted, **vars(model).pop("_nm_stacks", {})}.items():
        parent, _, last = name.rpartition(".")
        try:
            if isinstance(getattr(model.get_submodule(parent), last), ExpertLinears):
                continue
        except AttributeError:
            continue
        experts = experts_of(model, name)
        for pattern in sorted(patterns, key=lambda each: -each.sparsity):
            if experts is None:
                break
            try:
                experts.condense(name, pattern)
                break
            except PatternError as error:
                why = error
        else:
            fold_experts(model.get_submodule(parent))
            warnings.warn(f"{name} stays dense: no pattern of its parts is one of all "
                          f"experts: {str(why).splitlines()[0]}", stacklevel=2)


def condense_attentions(model: Any) -> None:
    """Has nn.MultiheadAttention call layers where some of its weights are condensed in a
    checkpoint."""
    condensed = vars(model).pop("_nm_attentions", {})
    for name, module in list(model.named_modules()):
        if not isinstance(module, nn.MultiheadAttention) or why_no_attention(module):
            continue
        own = {key: pattern for key, pattern in condensed.items()
               if key.rpartition(".")[0] == name}
        if not own and not isinstance(module.out_proj, NMLinear):
            continue
        unfold_attention(module)
        for key, pattern in own.items():
            layer = name_in_model(model, key).removesuffix(".weight")
            dense = model.get_submodule(layer)
            sparse = NMLinear.from_pruned(dense, dense.weight.detach(), pattern, name=key)
            sparse.bias = dense.bias
            keep_belongings(dense, sparse)
            replace_module(model, layer, sparse)
