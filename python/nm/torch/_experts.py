"""Experts of transformers' models, whose weights are stacked to three dimensions, with a
layer for each expert.

transformers has a function for all such modules, which it chooses by the name in the
configuration. Here a module calls layers, one after another, each with the tokens of its
expert; an expert without tokens is not called.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .._pattern import Pattern
from ._device_hooks import change_class, is_forward_own, why_forward_is_not_own
from ._linear import NMLinear
from ._op import linear_of_tensors
from ._optimizers import tell_of_replaced
from ._weights import parse_form

# What transformers' use_experts_implementation gives a class.
_OWN = ("has_gate", "has_bias", "is_transposed", "num_experts", "_apply_gate")
_WEIGHTS = ("gate_up_proj", "up_proj", "down_proj")


class ExpertLinears(nn.ModuleList):
    """The layers of one stacked weight, called with rows that are sorted by experts."""

    #: The stacked parameter that dense layers have views of.
    _stacked: nn.Parameter | None = None
    #: Whether that has ``[experts, in, out]``.
    _transposed = False

    @property
    def shape(self) -> tuple[int, int, int]:
        """``[experts, out, in]``."""
        first = self[0]
        return len(self), first.out_features, first.in_features

    def forward(self, x: Tensor, counts: list[int] | Tensor) -> Tensor:
        """``[rows, in]`` to ``[rows, out]``; `counts` has the rows of each expert, as a
        tensor for one operator, whose rows behind those are 0."""
        if isinstance(counts, Tensor):
            return _expert_linear(x, [layer.values for layer in self],
                                  [layer.indices for layer in self], counts, self[0]._form)
        made = [layer(rows) for layer, rows in zip(self, x.split(counts)) if len(rows)]
        return torch.cat(made) if made else x.new_empty(0, self.shape[1])

    @property
    def pattern(self) -> Pattern | None:
        """The one that all experts have, as NMLinear layers."""
        patterns = {layer.pattern if isinstance(layer, NMLinear) else None
                    for layer in self}
        return patterns.pop() if len(patterns) == 1 else None

    def replace(self, name: str, layers: Iterable[nn.Module]) -> None:
        """Puts other layers in the places of those of all experts."""
        if self._stacked is not None:
            tell_of_replaced(self._stacked, name)
            self._stacked = None
        for i, layer in enumerate(layers):
            self[i] = layer.train(self.training)

    def condense(self, name: str, pattern: Pattern) -> None:
        """Makes all experts sparse.

        Raises:
            PatternError: a weight breaks the pattern.
        """
        self.replace(name, [NMLinear.from_pruned(
            layer, layer.weight.detach(), pattern, name=f"{name}.{i}")
            for i, layer in enumerate(self)])

    def stack(self) -> Tensor:
        """The dense weight as the dense module has it."""
        weight = torch.stack([layer.weight.detach() for layer in self])
        return weight.mT.contiguous() if self._transposed else weight


class SparseExperts(nn.Module):
    """What the class of experts is derived of, beside transformers' own."""

    def forward(self, hidden_states: Tensor, top_k_index: Tensor, top_k_weights: Tensor
                ) -> Tensor:
        """As transformers' experts have it."""
        if self._is_graph():
            return self._in_graph(hidden_states, top_k_index, top_k_weights)
        tokens, top_k = top_k_index.shape
        order = top_k_index.reshape(-1).argsort(stable=True)
        experts = top_k_index.reshape(-1)[order]
        # Tokens of experts that another process has are counted behind all others.
        counts = torch.bincount(experts, minlength=self.num_experts)
        counts = counts[:self.num_experts].tolist()
        order = order[:sum(counts)]
        experts = experts[:sum(counts)]
        x = hidden_states[order // top_k]
        x = self._product("gate_up_proj" if self.has_gate else "up_proj", x, counts,
                          experts)
        x = self._apply_gate(x) if self.has_gate else self.act_fn(x)
        x = self._product("down_proj", x, counts, experts)
        if getattr(self, "has_post_expert_norm", False):
            x = self.post_expert_norm(x)
        x = x * top_k_weights.reshape(-1)[order].unsqueeze(-1)
        result = x.new_zeros(tokens * top_k, x.shape[-1]).index_copy(0, order, x)
        return result.view(tokens, top_k, x.shape[-1]).sum(1).to(hidden_states.dtype)

    def _is_graph(self) -> bool:
        """Whether a graph is made for inference, where no number of rows is known."""
        if not torch.compiler.is_compiling() or torch.is_grad_enabled():
            return False
        weights = [self._modules.get(name) for name in (
            "gate_up_proj" if self.has_gate else "up_proj", "down_proj")]
        return all(isinstance(each, ExpertLinears) and each.pattern is not None
                   for each in weights)

    def _in_graph(self, hidden_states: Tensor, top_k_index: Tensor, top_k_weights: Tensor
                  ) -> Tensor:
        """The same in operators whose results have known sizes."""
        tokens, top_k = top_k_index.shape
        experts, order = top_k_index.reshape(-1).sort(stable=True)
        counts = (experts[:, None] == torch.arange(self.num_experts, device=experts.device)
                  ).sum(0)
        is_here = (experts < self.num_experts)[:, None]
        experts = experts.clamp(max=self.num_experts - 1)
        x = self._product("gate_up_proj" if self.has_gate else "up_proj",
                          hidden_states[order // top_k], counts, experts)
        x = self._apply_gate(x) if self.has_gate else self.act_fn(x)
        x = self._product("down_proj", x, counts, experts)
        if getattr(self, "has_post_expert_norm", False):
            x = self.post_expert_norm(x)
        x = (x * top_k_weights.reshape(-1)[order].unsqueeze(-1)).masked_fill(~is_here, 0)
        result = torch.zeros_like(x).index_copy(0, order, x)
        return result.view(tokens, top_k, x.shape[-1]).sum(1).to(hidden_states.dtype)

    def _product(self, name: str, x: Tensor, counts: list[int] | Tensor, experts: Tensor
                 ) -> Tensor:
        weight = getattr(self, name)
        if isinstance(weight, ExpertLinears):
            y = weight(x, counts)
        else:
            parts = [functional.linear(rows, w.mT if self.is_transposed else w)
                     for rows, w in zip(x.split(counts), weight.unbind()) if len(rows)]
            y = torch.cat(parts) if parts else x.new_empty(
                0, weight.shape[-1 if self.is_transposed else -2])
        return y + getattr(self, f"{name}_bias")[experts] if self.has_bias else y

    def __reduce_ex__(self, protocol: Any) -> Any:
        # The class is made for the one of transformers.
        return _new, (type(self)._dense_class,), self.__getstate__()


_library = torch.library.Library("nm", "FRAGMENT")
# It waits for the device, which a CUDA graph cannot.
_library.define("expert_linear(Tensor x, Tensor[] values, Tensor[] indices, Tensor counts, "
                "str form) -> Tensor",
                tags=[tag for tag in (getattr(torch.Tag, "cudagraph_unsafe", None),) if tag])


def _expert_linear_of(x: Tensor, values: list[Tensor], indices: list[Tensor],
                      counts: Tensor, form: str) -> Tensor:
    result = x.new_zeros(len(x), parse_form(form)[1][0])
    begin = 0
    for value, index, count in zip(values, indices, counts.tolist()):
        if count:
            rows = slice(begin, begin + count)
            result[rows] = linear_of_tensors(x[rows], value, index, form, None, None)
            begin += count
    return result


for _key in ("CPU", "CUDA"):
    _library.impl("expert_linear", _expert_linear_of, _key)
_expert_linear = torch.ops.nm.expert_linear.default


@torch.library.register_fake("nm::expert_linear", lib=_library)
def _fake(x, values, indices, counts, form):
    return x.new_empty(x.shape[0], parse_form(form)[1][0])


def _new(kind: type) -> nn.Module:
    made = _sparse_class(kind)
    return made.__new__(made)


@functools.cache
def _sparse_class(kind: type) -> type:
    return type(f"Sparse{kind.__name__}", (SparseExperts, kind),
                {"__module__": kind.__module__, "_dense_class": kind})


def is_experts(module: nn.Module) -> bool:
    """Whether transformers' experts functions compute a module."""
    forward: Callable = type(module).forward
    return (all(hasattr(module, name) for name in _OWN)
            and (isinstance(module, SparseExperts) or hasattr(forward, "__wrapped__"))
            and any(getattr(module._parameters.get(name), "ndim", 0) == 3
                    for name in _WEIGHTS))


def why_no_experts(module: nn.Module) -> str | None:
    """Why no layers can be made of its weights; None where they can."""
    if not is_experts(module):
        return f"{type(module).__name__} has no experts as transformers calls them"
    if not is_forward_own(module):
        return why_forward_is_not_own(module)
    kinds = {type(weight).__name__ for name in _WEIGHTS
             if (weight := module._parameters.get(name)) is not None} - {"Parameter"}
    return f"its weight is a {kinds.pop()}" if kinds else None


def unfold_experts(module: nn.Module, names: Iterable[str] = _WEIGHTS) -> None:
    """Makes a layer of each expert's weights, of which they have views. The module stays
    the same object.

    Args:
        names: of the stacked weights that are meant.
    """
    if not isinstance(module, SparseExperts):
        change_class(module, _sparse_class(type(module)))
        module.__dict__["_dense_order"] = list(module._parameters)
    # transformers would draw stacked weights otherwise.
    module._is_hf_initialized = True
    for name in names:
        stacked = module._parameters.get(name)
        if stacked is not None and stacked.dim() == 3:
            module._modules[name] = _linears(stacked, module.is_transposed).train(
                module.training)
            del module._parameters[name]


def experts_of(model: nn.Module, name: str) -> ExpertLinears | None:
    """The layers of a stacked weight by its name in the model, which are made where it is
    one of experts; None where it is not."""
    parent, _, last = name.rpartition(".")
    if last not in _WEIGHTS:
        return None
    try:
        module = model.get_submodule(parent)
    except AttributeError:
        return None
    if not isinstance(module._modules.get(last), ExpertLinears):
        if why_no_experts(module) or last not in module._parameters:
            return None
        unfold_experts(module, (last,))
    return module._modules[last]


def stack_name(layer: str) -> str | None:
    """The name of the stacked weight that a layer of this name is an expert of."""
    found = re.fullmatch(rf"(.*\.)?({'|'.join(_WEIGHTS)})\.\d+", layer)
    return layer.rpartition(".")[0] if found else None


def _linears(stacked: nn.Parameter, transposed: bool) -> ExpertLinears:
    layers = ExpertLinears()
    weights = stacked.detach().mT if transposed else stacked.detach()
    for weight in weights.unbind():
        layer = nn.Linear(weight.shape[1], weight.shape[0], bias=False, device="meta")
        layer.weight = nn.Parameter(weight, requires_grad=stacked.requires_grad)
        layers.append(layer)
    # No parameter of its own.
    vars(layers).update(_stacked=stacked, _transposed=transposed)
    return layers


def fold_experts(module: nn.Module) -> None:
    """Stacks the weights that are dense in all experts."""
    for name in _WEIGHTS:
        layers = module._modules.get(name)
        if not isinstance(layers, ExpertLinears) or any(
                type(layer) is not nn.Linear for layer in layers):
            continue
        stacked = layers._stacked
        if stacked is None:
            stacked = nn.Parameter(layers.stack(),
                                   requires_grad=layers[0].weight.requires_grad)
        del module._modules[name]
        module._parameters[name] = stacked
    if not any(isinstance(module._modules.get(name), ExpertLinears)
               for name in _WEIGHTS):
        change_class(module, type(module)._dense_class)
        for name in vars(module).pop("_dense_order"):
            module._parameters[name] = module._parameters.pop(name)
