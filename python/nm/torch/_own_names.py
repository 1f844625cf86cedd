"""States by the names of published checkpoints, for a sparse model's load_state_dict: as
transformers' Trainer loads those that it wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from .._formats import compress
from .._weightfile import unpack_indices
from ._attention import stored_name
from ._experts import ExpertLinears, stack_name
from ._linear import NMLinear
from ._original_names import rows_of
from ._quantized import NMQuantizedLinear
from ._weights import share_tensors

_SUFFIXES = ("", ".values", ".indices", "_scale")
_PARTS = ("values", "indices", "scales", "_extra_state")


def own_state(model: Any, state: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """The state by the model's own names. A file may have a part of a weight, where others
    are in another shard: the rest is as in the model.

    Raises:
        PatternError: a dense weight of an expert breaks the pattern of its layer.
    """
    layers = {f"{name}.weight": layer for name, layer in model.named_modules()
              if isinstance(layer, (NMLinear, NMQuantizedLinear))}
    own = model.state_dict()
    known = {*own, *(name + suffix for name in layers for suffix in _SUFFIXES)}
    if not layers or known.issuperset(state):
        return state
    left: dict[str, Tensor] = dict(state)
    made: dict[str, Tensor] = {}
    stacks = {name: stack for name, stack in model.named_modules()
              if isinstance(stack, ExpertLinears)}
    for name, stack in stacks.items():
        made.update(_experts(model, name, stack, left))
    for name, sizes in _sizes(layers, own):
        layer = name.removesuffix(".weight")
        if (stack_name(layer) in stacks
                or any(name + suffix in left for suffix in _SUFFIXES)):
            continue
        rows = rows_of(model, stored_name(model, layer) if name in layers else name, sizes)
        if rows and len(rows) > 1 and name in own:
            made.update(_joined(name, own[name], rows, left))
        elif rows and len(rows) == 1:
            other, = rows
            made.update({name + suffix: left.pop(other + suffix) for suffix in _SUFFIXES
                         if other + suffix in left})
    return {**left, **made}


def _sizes(layers: Mapping[str, nn.Module], own: Mapping[str, Tensor]
           ) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The weights of layers and all other tensors, with their sizes before the columns."""
    for name, layer in layers.items():
        is_transposed = getattr(layer, "_transposed_class", None) is not None
        yield name, (layer.in_features if is_transposed else layer.out_features,)
    for name, tensor in own.items():
        layer, _, part = name.rpartition(".")
        if part not in _PARTS or f"{layer}.weight" not in layers:
            yield name, tuple(tensor.shape[:-1] if tensor.dim() > 1 else tensor.shape)


def _joined(name: str, tensor: Tensor, rows: Mapping[str, range], left: dict[str, Tensor]
            ) -> dict[str, Tensor]:
    """A dense tensor that a file has in parts."""
    found = [other for other in rows if other in left]
    if not found:
        return {}
    whole = tensor.detach().clone(memory_format=torch.contiguous_format)
    flat = whole.view(-1, whole.shape[-1])
    for other in found:
        part = left.pop(other)
        flat[rows[other].start:rows[other].stop] = part.reshape(-1, part.shape[-1])
    return {name: whole}


def _experts(model: Any, name: str, stack: ExpertLinears, left: dict[str, Tensor]
             ) -> dict[str, Tensor]:
    """The layers of a stacked weight, by the names of each."""
    rows = None if stack._transposed else rows_of(model, name, stack.shape[:2])
    # As it is where it cannot be cut into published weights, or is one of those.
    whole = [each for each in (name, *(rows or {})) if each in left and left[each].dim() == 3]
    if whole:
        stacked = left.pop(whole[0])
        slices = (stacked.mT if stack._transposed else stacked).unbind()
        return {f"{name}.{i}.weight": each.contiguous() for i, each in enumerate(slices)}
    made: dict[str, Tensor] = {}
    for other, numbers in (rows or {}).items():
        expert, begin = divmod(numbers.start, stack.shape[1])
        layer, span = stack[expert], slice(begin, begin + len(numbers))
        if isinstance(layer, NMLinear):
            _put_part(made, f"{name}.{expert}", layer, span, other, left)
        elif other in left:
            whole = made.setdefault(f"{name}.{expert}.weight", layer.weight.detach().clone())
            whole[span] = left.pop(other)
    return made


def _put_part(made: dict[str, Tensor], name: str, layer: NMLinear, span: slice, other: str,
              left: dict[str, Tensor]) -> None:
    """Writes columns of a condensed weight, `span` of what the layer gives."""
    if other in left:
        parts = share_tensors(compress(left.pop(other).to(layer.values.dtype).contiguous(),
                                       layer.pattern, name=other))
    elif f"{other}.values" in left and f"{other}.indices" in left:
        values, indices = left.pop(f"{other}.values"), left.pop(f"{other}.indices")
        shape = span.stop - span.start, layer.in_features
        parts = values, indices if indices.dim() > 1 else torch.from_numpy(unpack_indices(
            indices.cpu().numpy(), layer.pattern, shape, f"{other}.indices"))
    else:
        return
    wide = layer.pattern.block[1]
    for part, tensor, width in (("values", parts[0], 1), ("indices", parts[1], wide)):
        whole = made.setdefault(f"{name}.{part}", getattr(layer, part).detach().clone())
        begin = span.start // width
        whole[:, begin:begin + tensor.shape[1]] = tensor
    made[f"{name}._extra_state"] = layer.get_extra_state()
