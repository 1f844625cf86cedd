"""nn.MultiheadAttention whose products are layers of their own.

PyTorch's reads its weights itself, in evaluation mode by one operator for all, so that no
other layer can take the place of a product. Here the projections are nn.Linear layers,
each of which an NMLinear can replace.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear

from .._errors import Error, ShapeError
from ._device_hooks import change_class, is_forward_own, why_forward_is_not_own
from ._linear import NMLinear
from ._op import linear_of_tensors
from ._weights import count_writes, parse_form, write_form

# The parameters that become layers, in the order of the dense module.
_WEIGHTS = {"q_proj_weight": "q_proj", "k_proj_weight": "k_proj",
            "v_proj_weight": "v_proj", "in_proj_weight": "in_proj"}


class NMMultiheadAttention(nn.MultiheadAttention):
    """An ``nn.MultiheadAttention`` whose projections are the layers `in_proj` (or
    `q_proj`, `k_proj` and `v_proj`, where keys or values have sizes of their own) and
    `out_proj`.

    nm.torch.sparsify makes it of an nn.MultiheadAttention that gets a pattern, and
    nm.torch.densify makes that again. Projections that stay dense keep the names that
    they had in a state_dict.
    """

    in_proj: nn.Linear

    @property
    def in_proj_weight(self) -> Tensor | None:
        """The weight of queries, keys and values together."""
        return self.in_proj.weight if "in_proj" in self._modules else None

    @property
    def in_proj_bias(self) -> Tensor | None:
        return (self.in_proj.bias if "in_proj" in self._modules
                else self._parameters.get("in_proj_bias"))

    @property
    def q_proj_weight(self) -> Tensor | None:
        return self._separate("q_proj")

    @property
    def k_proj_weight(self) -> Tensor | None:
        return self._separate("k_proj")

    @property
    def v_proj_weight(self) -> Tensor | None:
        return self._separate("v_proj")

    def _separate(self, name: str) -> Tensor | None:
        return self._modules[name].weight if name in self._modules else None

    def forward(self, query: Tensor, key: Tensor, value: Tensor,
                key_padding_mask: Tensor | None = None, need_weights: bool = True,
                attn_mask: Tensor | None = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
        """As nn.MultiheadAttention has it."""
        if query.is_nested or key.is_nested or value.is_nested:
            raise Error("expected no nested tensors for an attention with sparse weights; "
                        "a padded tensor and key_padding_mask say the same")
        batched = functional._mha_shape_check(query, key, value, key_padding_mask,
                                              attn_mask, self.num_heads)
        mask, is_causal = self._merged_mask(query, key, key_padding_mask, attn_mask,
                                            need_weights, is_causal)
        q, k, v = (self._heads(x, batched) for x in self._project(query, key, value))
        k, v = self._extend(k, self.bias_k), self._extend(v, self.bias_v)
        if mask is not None and mask.shape[-1] < k.shape[-2]:
            mask = functional.pad(mask, (0, k.shape[-2] - mask.shape[-1]))
        dropout = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            weights = (q * math.sqrt(1 / self.head_dim)) @ k.mT
            weights = (weights if mask is None else weights + mask).softmax(-1)
            weights = functional.dropout(weights, dropout, self.training)
            y = weights @ v
            weights = weights.mean(1) if average_attn_weights else weights
            weights = weights if batched else weights[0]
        else:
            y = functional.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal)
        y = y.transpose(1, 2).flatten(-2)
        if not batched:
            y = y[0]
        elif not self.batch_first:
            y = y.transpose(0, 1)
        return self.out_proj(y), weights

    def _heads(self, x: Tensor, batched: bool) -> Tensor:
        """``[batch, heads, length, head_dim]``."""
        if not batched:
            x = x[None]
        elif not self.batch_first:
            x = x.transpose(0, 1)
        return x.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)

    def _extend(self, x: Tensor, bias: Tensor | None) -> Tensor:
        """Keys or values with those that the module adds to each sequence."""
        if bias is not None:
            more = bias.view(1, self.num_heads, 1, self.head_dim)
            x = torch.cat([x, more.to(x.dtype).expand(x.shape[0], -1, -1, -1)], 2)
        return functional.pad(x, (0, 0, 0, 1)) if self.add_zero_attn else x

    def _merged_mask(self, query: Tensor, key: Tensor, padding: Tensor | None,
                     mask: Tensor | None, need_weights: bool, is_causal: bool
                     ) -> tuple[Tensor | None, bool]:
        """Both masks as one that is added, and whether the hint stands in for it."""
        if is_causal and mask is None:
            raise Error("expected attn_mask where is_causal says what it is, as "
                        "nn.Transformer.generate_square_subsequent_mask makes it")
        padding = functional._canonical_mask(
            padding, "key_padding_mask", functional._none_or_dtype(mask), "attn_mask",
            query.dtype)
        if is_causal and padding is None and not need_weights:
            return None, True
        axis = 1 if self.batch_first and key.dim() == 3 else 0
        rows, length = query.shape[axis], key.shape[axis]
        mask = functional._canonical_mask(mask, "attn_mask", None, "", query.dtype, False)
        if mask is not None and tuple(mask.shape[-2:]) != (rows, length):
            raise ShapeError(f"expected attn_mask of shape [..., {rows}, {length}], but "
                             f"got {tuple(mask.shape)}")
        if mask is not None and mask.dim() == 3:
            mask = mask.unflatten(0, (-1, self.num_heads))
        if padding is not None:
            padding = padding.reshape(-1, 1, 1, length)
            mask = padding if mask is None else mask + padding
        return mask, False

    def _project(self, query: Tensor, key: Tensor, value: Tensor
                 ) -> tuple[Tensor, Tensor, Tensor]:
        if "in_proj" not in self._modules:
            biases = ((0, 0, 0) if self.in_proj_bias is None
                      else self.in_proj_bias.chunk(3))
            return (self.q_proj(query) + biases[0], self.k_proj(key) + biases[1],
                    self.v_proj(value) + biases[2])
        if query is key and key is value:
            return self.in_proj(query).chunk(3, -1)
        if key is value:
            return self._part(query, 0, 1), *self._part(key, 1, 3).chunk(2, -1)
        return (self._part(query, 0, 1), self._part(key, 1, 2), self._part(value, 2, 3))

    def _part(self, x: Tensor, begin: int, end: int) -> Tensor:
        """The product with some thirds of the weight: 0 is of queries, 1 of keys and 2
        of values."""
        layer, rows = self.in_proj, slice(begin * self.embed_dim, end * self.embed_dim)
        bias = None if layer.bias is None else layer.bias[rows]
        if type(layer) not in (nn.Linear, NMLinear) or (
                layer._forward_hooks or layer._forward_pre_hooks):
            return layer(x)[..., rows]
        if type(layer) is nn.Linear or (
                layer._is_trained() or layer.values.dtype == torch.float64):
            return functional.linear(x, layer.weight[rows], bias)
        if (self.embed_dim % layer.pattern.block[1] or layer.pattern.is_unstructured
                or torch.compiler.is_compiling()
                or layer.values.is_meta or layer._shards is not None
                or torch.is_grad_enabled() and layer.values.requires_grad):
            # Blocks that two thirds share; graphs keep no slices, which have no gradient.
            return layer(x)[..., rows]
        return linear_of_tensors(x, *self._slices(rows), bias, None)

    def _slices(self, rows: slice) -> tuple[Tensor, Tensor, str]:
        """The condensed form of some rows of the weight. It is kept, as what is packed
        for it is found by its tensors."""
        layer, wide = self.in_proj, self.in_proj.pattern.block[1]
        values, indices = layer._tensors()
        state = (values.data_ptr(), count_writes(values), indices.data_ptr(),
                 count_writes(indices))
        kept = self.__dict__.setdefault("_kept_slices", {})
        found = kept.get((rows.start, rows.stop), (None,))
        if found[0] != state:
            blocks = slice(rows.start // wide, rows.stop // wide)
            _, (_, k) = parse_form(layer._form)
            found = kept[rows.start, rows.stop] = (
                state, values.detach()[:, rows].contiguous(),
                indices[:, blocks].contiguous(),
                write_form(layer.pattern, (rows.stop - rows.start, k)))
        return found[1:]

    def __getstate__(self) -> dict:
        # Slices are made again.
        return {name: value for name, value in self.__dict__.items()
                if name != "_kept_slices"}

    def _apply(self, *args: Any, **options: Any) -> nn.Module:
        self.__dict__.pop("_kept_slices", None)
        return super()._apply(*args, **options)

    def state_dict(self, *args: Any, **options: Any) -> Any:
        result = super().state_dict(*args, **options)
        prefix = options.get("prefix", args[1] if len(args) > 1 else "")
        _rename(result, {f"{prefix}{part}": f"{prefix}{dense}"
                         for part, dense in _dense_names(self)})
        return result

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        _rename(state_dict, {f"{prefix}{dense}": f"{prefix}{part}"
                             for part, dense in _dense_names(self)})
        super()._load_from_state_dict(state_dict, prefix, *args)


def _dense_names(module: NMMultiheadAttention) -> list[tuple[str, str]]:
    """The names of parameters of layers, and those that they have in a dense module."""
    names = [(f"{part}.weight", weight) for weight, part in _WEIGHTS.items()
             if part in module._modules]
    return names + [("in_proj.bias", "in_proj_bias")] * ("in_proj" in module._modules)


def _rename(tensors: Any, names: dict[str, str]) -> None:
    for name, other in names.items():
        if name in tensors:
            tensors[other] = tensors.pop(name)


def stored_name(model: nn.Module, layer: str) -> str:
    """What a checkpoint calls the weight of a layer."""
    parent, _, last = layer.rpartition(".")
    if last in _WEIGHTS.values() and isinstance(model.get_submodule(parent),
                                                NMMultiheadAttention):
        return f"{layer}_weight"
    return f"{layer}.weight"


def name_in_model(model: nn.Module, stored: str) -> str:
    """The inverse, for any tensor of a checkpoint."""
    parent, _, last = stored.rpartition(".")
    if last not in _WEIGHTS:
        return stored
    try:
        is_part = isinstance(model.get_submodule(parent), NMMultiheadAttention)
    except AttributeError:
        return stored
    return f"{stored.removesuffix('_weight')}.weight" if is_part else stored


def why_no_attention(module: nn.MultiheadAttention) -> str | None:
    """Why no layers can be made of its weights; None where they can."""
    if type(module) is not nn.MultiheadAttention:
        return f"{type(module).__name__} is no plain nn.MultiheadAttention"
    if not is_forward_own(module):
        return why_forward_is_not_own(module)
    weights = [module._parameters.get(name) for name in (
        ("in_proj_weight",) if module._qkv_same_embed_dim else list(_WEIGHTS)[:3])]
    if any(weight is None for weight in weights):
        return "its weights are computed before each call"
    kinds = {type(weight).__name__ for weight in weights} - {"Parameter"}
    return f"its weight is a {kinds.pop()}" if kinds else None


def unfold_attention(module: nn.MultiheadAttention) -> None:
    """Makes layers of the weights of an attention, which stays the same object."""
    change_class(module, NMMultiheadAttention)
    for name, part in _WEIGHTS.items():
        weight = module._parameters.pop(name, None)
        if weight is None:
            continue
        layer = nn.Linear(weight.shape[1], weight.shape[0], bias=False, device="meta")
        layer.weight = weight
        if part == "in_proj":
                layer.bias = module._parameters.pop("in_proj_bias", None)
        module._modules[part] = layer.train(module.training)
    if type(module.out_proj) is NonDynamicallyQuantizableLinear:
        change_class(module.out_proj, nn.Linear)
    # Behind the others, as it is called.
    module._modules["out_proj"] = module._modules.pop("out_proj")


def fold_attention(module: NMMultiheadAttention) -> bool:
    """The inverse, where all layers are dense and without hooks."""
    layers = [module._modules[name] for name in (*_WEIGHTS.values(), "out_proj")
              if name in module._modules]
    if any(type(layer) is not nn.Linear or layer._forward_hooks or layer._forward_pre_hooks
           or layer._parameters.get("weight") is None for layer in layers):
        return False
    change_class(module, nn.MultiheadAttention)
    others = dict(module._parameters)
    module._parameters.clear()
    module.__dict__.pop("_kept_slices", None)
    for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_weight"):
        layer = module._modules.pop(_WEIGHTS[name], None)
        module._parameters[name] = None if layer is None else layer.weight
        if name == "in_proj_weight":
            module._parameters["in_proj_bias"] = (others.pop("in_proj_bias", None)
                                                  if layer is None else layer.bias)
    module._parameters.update(others)
    change_class(module.out_proj, NonDynamicallyQuantizableLinear)
    return True
