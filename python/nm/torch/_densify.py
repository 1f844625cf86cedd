"""Dense layers in place of a model's sparse ones."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from ._fuse import unfuse
from ._linear import NMLinear
from ._optimizers import tell_of_replaced
from ._quantized import NMQuantizedLinear
from ._replace import keep_belongings, replace_module
from ._unfold import fold_dense
from ._wrappers import takes_wrapped


@takes_wrapped
def densify(model: nn.Module) -> list[str]:
    """Puts an nn.Linear with the same weight, zeros included, in place of each
    NMLinear and NMQuantizedLinear of a model, in the model itself: as it was before
    nm.torch.sparsify, but pruned. Weights may become anything then, as where PEFT merges an
    adapter into them.

    nn.MultiheadAttention and experts are what they were before, too. Layers that share a
    weight do so afterwards. An activation that is fused becomes a
    module behind the layer.

    Returns:
        the names of the layers.

    Raises:
        Error: a layer is sharded, or the model itself is one.
    """
    return densify_some(model, lambda name: True)


@takes_wrapped
def densify_some(model: nn.Module, is_meant: Callable[[str], bool]) -> list[str]:
    """The same for the layers whose names are meant."""
    unfuse(model)
    sparse = {name: layer for name, layer in model.named_modules()
              if isinstance(layer, NMLinear) and is_meant(name)}
    for name, layer in sparse.items():
        layer.check_whole(f"'{name}'")
    weights: dict[int, nn.Parameter] = {}
    for name, layer in sparse.items():
        dense = layer._to_dense(layer.bias)
        first = dense[0] if layer.activation is not None else dense
        first.weight = weights.setdefault(id(layer.values), first.weight)
        keep_belongings(layer, dense)
        tell_of_replaced(layer.values, name)
        replace_module(model, name, dense)
    quantized = {name: layer for name, layer in model.named_modules()
                 if isinstance(layer, NMQuantizedLinear) and is_meant(name)}
    for name, layer in quantized.items():
        dense = nn.Linear(layer.in_features, layer.out_features, bias=False, device="meta")
        dense.weight, dense.bias = nn.Parameter(layer.dense_weight()), layer.bias
        keep_belongings(layer, dense)
        replace_module(model, name, dense)
    fold_dense(model)
    return [*sparse, *quantized]

