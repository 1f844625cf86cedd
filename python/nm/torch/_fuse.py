"""One product for layers that one tensor is fed to, as query, key and value are, or gate
and up.

The condensed weights of such layers stand beside one another in one pair of tensors, of
which each layer's own values, indices and bias are views: states, files and gradients
stay each layer's own. The first of the layers that is called with a tensor multiplies it
with all of the weights, and the others find their part of the result.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from .._errors import Error
from .._table import format_table
from ._fast import is_plain
from ._inputs import run_examples
from ._linear import NMLinear, _has_gradient
from ._mapped import map_tensors
from ._op import apply_activation
from ._optimizers import tell_of_replaced
from ._traced import MOST_LAYERS, PRODUCTS, State, TracedProduct
from ._weights import HOLDER, forget_weight
from ._wrappers import takes_wrapped

_PARTS = ("values", "indices", "bias")


@dataclass(frozen=True)
class FusedLayers:
    """What became of the layers of one module that are fed one tensor.

    Attributes:
        module: its name.
        layers: their names in it, in the order of their calls.
        shape: of the weight that they have together, ``[out, in]``; None where they
            stay as they are.
        reason: why, then.
    """

    module: str
    layers: tuple[str, ...]
    shape: tuple[int, int] | None
    reason: str = ""


@dataclass(frozen=True)
class FuseReport:
    """What nm.torch.fuse found; prints as a table."""

    groups: tuple[FusedLayers, ...] = ()

    def __str__(self) -> str:
        rows = [[group.module or "-", ", ".join(group.layers),
                 "x".join(map(str, group.shape)) if group.shape else "-",
                 group.reason or "one product"] for group in self.groups]
        return format_table(["module", "layers", "shape", "reason"], rows)


class Fusion:
    """The layers of one product.

    Attributes:
        layer: all of them as one, which is no part of the model.
    """

    def __init__(self, layers: Sequence[NMLinear]):
        self._sizes = [layer.out_features for layer in layers]
        number = self._number = next(_numbers)
        # What a graph that broke off before the last layer has left.
        weakref.finalize(self, PRODUCTS.pop, number, None).atexit = False
        self._members = [weakref.ref(layer) for layer in layers]
        self._state: State | None = None
        self._places: list[tuple] = []
        self.layer = _merged(layers)
        block = layers[0].pattern.block[1]
        begin = 0
        traced = TracedProduct(self.layer, self._sizes)
        for i, (layer, size) in enumerate(zip(layers, self._sizes)):
            forget_weight(layer.values)
            columns = slice(begin, begin + size)
            values = self.layer.values.detach()[:, columns]
            layer._parameters["values"] = nn.Parameter(
                values, requires_grad=layer.values.requires_grad)
            setattr(layer.values, HOLDER, self.layer.values)
            layer._buffers["indices"] = self.layer.indices[
                :, begin // block:(begin + size) // block]
            if layer.bias is not None:
                layer.bias.data = self.layer.bias.detach()[columns]
            layer._fast = None
            layer._fused = (self, i)
            # Which is no part of the model.
            layer.__dict__["_traced"] = traced
            layer._part = number * MOST_LAYERS + i
            self._places.append(_places(layer))
            begin += size

    def is_whole(self, i: int, layer: NMLinear) -> bool:
        """Whether the layer's tensors are still where they were put."""
        return self._places[i] == _places(layer)

    def part(self, i: int, x: Tensor) -> Tensor:
        """The product of the layer with a number, which needs no gradient."""
        state = self._state
        if state is None or state.x is not x or i not in state.left or (
                state.version != _version(x)):
            # Neither modules nor Tensor.split are called: they take time, in which a step
            # of decoding waits for the host.
            state = self._state = State(
                x, _version(x), self.layer.forward(x).split_with_sizes(self._sizes, -1),
                list(range(len(self._sizes))))
        state.left.remove(i)
        if not state.left:
            self._state = None
        return state.parts[i]

    def dissolve(self) -> None:
        """Gives each layer memory of its own."""
        self._state = None
        PRODUCTS.pop(self._number, None)
        forget_weight(self.layer.values)
        shared = {name: getattr(self.layer, name) for name in _PARTS}
        for reference in self._members:
            layer = reference()
            if layer is None or layer._fused is None or layer._fused[0] is not self:
                continue
            layer._fused = layer._traced = layer._part = layer._fast = None
            layer._is_mapped = layer._lies_in_file = layer._lies_on_host = False
            with torch.inference_mode(False), torch.no_grad():
                for name in _PARTS:
                    own = getattr(layer, name)
                    if own is not None and _share_memory(own, shared[name]):
                        own.data = own.detach().clone(
                            memory_format=torch.contiguous_format)
                if hasattr(layer.values, HOLDER):
                    delattr(layer.values, HOLDER)


_numbers = itertools.count()


def _places(layer: NMLinear) -> tuple:
    parameters = layer._parameters
    bias = parameters["bias"] if "bias" in parameters else layer.bias
    return (parameters["values"].data_ptr(), layer._buffers["indices"].data_ptr(),
            None if bias is None else bias.data_ptr())


def _version(x: Tensor) -> int | None:
    """How often it was written to, where that is counted and may change."""
    if torch.compiler.is_dynamo_compiling() or x.is_inference():
        return None
    return x._version


def _share_memory(a: Tensor, b: Tensor | None) -> bool:
    return b is not None and (a.untyped_storage().data_ptr()
                              == b.untyped_storage().data_ptr())


def _merged(layers: Sequence[NMLinear]) -> NMLinear:
    """A layer with the weights and biases of all, one behind another."""
    first = layers[0]
    outputs = sum(layer.out_features for layer in layers)
    merged = NMLinear(first.in_features, outputs, first.pattern, bias=False,
                      activation=first.activation, device="meta",
                      dtype=first.values.dtype)
    with torch.inference_mode(False), torch.no_grad():
        values = torch.cat([layer.values for layer in layers], 1)
        indices = torch.cat([layer.indices for layer in layers], 1)
        biases = [layer.bias for layer in layers if layer.bias is not None]
        bias = torch.cat([
            biases[0].new_zeros(layer.out_features) if layer.bias is None else layer.bias
            for layer in layers]) if biases else None
    # Where products read the packed form alone, before views of the tensors are made.
    is_moved = map_tensors((values, indices))
    merged._lies_on_host = is_moved and values.is_cuda
    merged._lies_in_file = is_moved and not values.is_cuda
    merged._is_mapped = True
    merged.values = nn.Parameter(values, requires_grad=False)
    # Which the layer keeps as a buffer: see TracedProduct.
    merged._buffers["indices"] = nn.Parameter(indices, requires_grad=False)
    merged.bias = None if bias is None else nn.Parameter(bias, requires_grad=False)
    return merged.eval()


@takes_wrapped
def fuse(model: nn.Module, example: Any = None, *,
         run: Callable[[nn.Module], Any] | None = None) -> FuseReport:
    """Has NMLinear layers that one tensor is fed to multiply it at once, as query, key and
    value do, and gate and up: one product for two or three.

    It is for inference, on the device and in the type that the model stays in. Layers
    multiply for themselves where a gradient is needed and in training mode. Training, a
    load of other weights, and a move of the model undo it, and `fuse` can be called again
    afterwards. Names in state_dict and in files stay as they were. Compiled calls do not
    see where ``.data`` of a layer's tensors is put elsewhere.

    Layers are fused where they are parts of one module, are called once in a pass, with the
    same tensor, and have one pattern and type.

    Args:
        model: with NMLinear layers, as nm.torch.sparsify makes them.
        example: the model's input, a tuple of them, or a dict by name.
        run: runs the model in place of ``model(*example)``.

    Returns:
        a report of the layers that are fed the same tensor.

    Raises:
        Error: there is neither an example nor `run`.
    """
    check_example(example, run)
    groups = []
    for module, layers in _fed_alike(model, example, run):
        for names, why in _split(model, module, layers):
            found = [model.get_submodule(f"{module}.{name}" if module else name)
                     for name in names]
            shape = None
            if why == "":
                for name, layer in zip(names, found):
                    tell_of_replaced(layer.values, f"{module}.{name}")
                shape = Fusion(found).layer._dense_shape()
            groups.append(FusedLayers(module, tuple(names), shape, why))
    return FuseReport(tuple(groups))


def check_example(example: Any, run: Any) -> None:
    if example is None and run is None:
        raise Error("expected an example of the model's input, which tells what layers are "
                    "fed the same tensor")


@takes_wrapped
def unfuse(model: nn.Module) -> None:
    """Has each layer of a model multiply for itself, with memory of its own."""
    for layer in model.modules():
        if isinstance(layer, NMLinear):
            layer._leave_fusion()


def _fed_alike(model: nn.Module, example: Any, run: Any) -> list[tuple[str, list[str]]]:
    """The layers, by the names of the modules that they are parts of, that are fed the same
    tensor, each once."""
    # Tensors are kept, so that no other gets the number of one.
    calls: dict[str, list[tuple[Tensor, int | None]]] = {}

    def hook_for(name: str):
        def hook(module, args):
            if args and isinstance(args[0], Tensor):
                calls.setdefault(name, []).append((args[0], _version(args[0])))
        return hook

    layers = {name: layer for name, layer in model.named_modules()
              if isinstance(layer, NMLinear)}
    handles = [layer.register_forward_pre_hook(hook_for(name))
               for name, layer in layers.items()]
    unpacked = [layer for layer in layers.values() if _multiply_unpacked(layer)]
    try:
        run_examples(model, [] if example is None else [example], run)
    finally:
        for handle in handles:
            handle.remove()
        for layer in unpacked:
            del layer.forward
    alike: dict[tuple, list[str]] = {}
    for name, found in calls.items():
        if len(found) == 1:
            x, version = found[0]
            parent, _, last = name.rpartition(".")
            alike.setdefault((parent, id(x), version), []).append(last)
    return [(parent, names) for (parent, _, _), names in alike.items() if len(names) > 1]


def _multiply_unpacked(layer: NMLinear) -> bool:
    """Has a layer multiply by its dense weight, where it can: to pack a weight takes time,
    and weights that become one are packed together."""
    if layer._shards is not None or layer._fused is not None or "forward" in vars(layer) or (
            not _has_gradient(layer.values.dtype) or layer.values.is_meta):
        return False

    def forward(x: Tensor) -> Tensor:
        weight = layer.dense_weight().detach()
        return apply_activation(nn.functional.linear(x, weight, layer.bias),
                                layer.activation)

    layer.forward = forward  # type: ignore[method-assign]
    return True


def _split(model: nn.Module, module: str, names: list[str]
           ) -> list[tuple[list[str], str]]:
    """The layers that can be fused, and those that cannot, with the reason."""
    sets: dict[tuple, list[str]] = {}
    found = []
    for name in names:
        layer = model.get_submodule(f"{module}.{name}" if module else name)
        why = _why_alone(model, layer)
        if why:
            found.append(([name], why))
            continue
        sets.setdefault((str(layer.pattern), layer.values.dtype, layer.values.device,
                         layer.activation), []).append(name)
    for same in sets.values():
        found.append((same, "" if len(same) > 1 else
                      "the others have another pattern, type, device or activation"))
    return found


def _why_alone(model: nn.Module, layer: NMLinear) -> str:
    """Why a layer cannot be fused; empty where it can."""
    if layer._fused is not None:
        return "it is fused already"
    if layer._shards is not None:
        return "it is sharded"
    if layer.values.is_meta or layer.values.dtype == torch.float64:
        return "no kernel multiplies it"
    if layer.pattern.is_unstructured:
        return "its weight is unstructured"
    if layer.out_features % layer.pattern.block[1]:
        return f"its {layer.out_features} outputs are no whole blocks"
    others = [each for each in model.modules() if isinstance(each, NMLinear)
              and each is not layer and each.values is layer.values]
    return "it shares its weight with another layer" if others else ""
