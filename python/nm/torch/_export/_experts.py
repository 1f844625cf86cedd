"""Experts of transformers' models in operators whose results have known sizes: each expert
for all tokens, of which those that chose the expert count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import MethodType

import torch
from torch import Tensor, nn
from torch.nn import functional

from .._device_hooks import is_forward_own
from .._experts import ExpertLinears, SparseExperts, is_experts


@contextmanager
def experts_of_all_tokens(model: nn.Module) -> Iterator[list[str]]:
    """Has the experts of a model compute so within the context, and gives remarks on
    those that were called."""
    found = {module: name for name, module in model.named_modules()
             if (isinstance(module, SparseExperts) or is_experts(module))
             and is_forward_own(module)}
    before = {module: vars(module).get("forward") for module in found}
    chosen: dict[str, tuple[int, int]] = {}
    remarks: list[str] = []

    def forward(module: nn.Module, hidden_states: Tensor, top_k_index: Tensor,
                top_k_weights: Tensor) -> Tensor:
        chosen[found[module]] = (module.num_experts, top_k_index.shape[-1])
        return _all_tokens(module, hidden_states, top_k_index, top_k_weights)

    for module in found:
        vars(module)["forward"] = MethodType(forward, module)
    try:
        yield remarks
    finally:
        for module, own in before.items():
            del vars(module)["forward"]
            if own is not None:
                vars(module)["forward"] = own
    remarks += _remarks(chosen)


def _remarks(chosen: dict[str, tuple[int, int]]) -> Iterator[str]:
    for kind in dict.fromkeys(chosen.values()):
        names = [name or "the model" for name, each in chosen.items() if each == kind]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield (f"{names[0]}{more}: computes {kind[0]} experts for all tokens, of which a "
               f"token chooses {kind[1]}, for a compiled function does not sort tokens by "
               f"experts: {kind[0] / kind[1]:.3g} times the products that are chosen")


def _all_tokens(module: nn.Module, x: Tensor, top_k_index: Tensor, top_k_weights: Tensor
                ) -> Tensor:
    """Sums are in f32 at least, as those of transformers' functions."""
    total = None
    first = "gate_up_proj" if module.has_gate else "up_proj"
    for expert in range(module.num_experts):
        y = _product(module, first, expert, x)
        y = module._apply_gate(y) if module.has_gate else module.act_fn(y)
        y = _product(module, "down_proj", expert, y)
        if getattr(module, "has_post_expert_norm", False):
            y = module.post_expert_norm(y)
        is_chosen = top_k_index == expert
        weight = torch.where(is_chosen, top_k_weights, 0).sum(-1, keepdim=True)
        y = y * weight.to(top_k_weights.dtype)
        # What an expert makes of tokens that did not choose it may be infinite.
        y = torch.where(is_chosen.any(-1, keepdim=True), y, 0)
        wide = y.to(torch.promote_types(y.dtype, torch.float32))
        total = wide if total is None else total + wide
    return total.to(x.dtype)


def _product(module: nn.Module, name: str, expert: int, x: Tensor) -> Tensor:
    weights = getattr(module, name)
    if isinstance(weights, ExpertLinears):
        y = weights[expert](x)
    elif module.is_transposed:
        y = x.to(weights.dtype) @ weights[expert]
    else:
        y = functional.linear(x.to(weights.dtype), weights[expert])
    return y + getattr(module, f"{name}_bias")[expert] if module.has_bias else y
