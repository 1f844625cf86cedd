"""Layers of one product while torch.compile makes a graph of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torch import Tensor, nn

from ._op import multiply_tensors

#: In a fusion, whose number times this and a layer's number in it are the layer's `_part`.
MOST_LAYERS = 1024


class State(NamedTuple):
    """A product whose parts not all of the layers have taken."""

    x: Tensor
    version: int | None
    parts: Sequence[Tensor]
    left: list[int]


#: The products of fusions in the graph that is compiled, by the fusions' numbers.
PRODUCTS: dict[int, State] = {}


class TracedProduct(nn.Module):
    """What the first layer of a product reads of it while it is compiled.

    torch.compile compares what was read before each call. It passes over tensors and plain
    values in a dict in which nothing has been assigned since, but compares which of those that
    are no parameters are one another: so the indices are a parameter here. It compares more of
    each module: so this is one for all layers, and each has its number in `_part`.
    """

    def __init__(self, layer: Any, sizes: list[int]):
        super().__init__()
        self._parameters = {"values": layer.values, "indices": layer._buffers["indices"],
                            "bias": layer.bias}
        self.form, self.activation, self.sizes = layer._form, layer.activation, tuple(sizes)


def traced_part(layer: Any, x: Tensor) -> Tensor:
    """As Fusion.part, in a graph that is compiled."""
    number, i = divmod(layer._part, MOST_LAYERS)
    state = PRODUCTS.get(number)
    if state is None or state.x is not x or i not in state.left:
        product = layer._traced
        tensors = product._parameters
        y = multiply_tensors(x, (tensors["values"], tensors["indices"], tensors["bias"]),
                             product.form, product.activation, False)
        parts = y.split_with_sizes(product.sizes, -1)
        state = PRODUCTS[number] = State(x, None, parts, list(range(len(parts))))
    state.left.remove(i)
    if not state.left:
        del PRODUCTS[number]
    return state.parts[i]
