"""Condensed weights on their way through transformers' names and conversions.

A checkpoint's names may be others than the model's, and one weight of the model may be
made of several of the checkpoint. A condensed weight is two tensors of a file,
`NAME.values` and `NAME.indices`. Where NAME becomes the weight of an nn.Linear as it
is, an NMLinear takes that layer's place and the two become its parts; elsewhere, as of
experts that are stacked, the dense weight goes the way that it would have gone, and is
condensed where it arrives.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

import torch
from torch import Tensor, nn
from transformers.core_model_loading import (WeightConverter, WeightRenaming, dot_natural_key,
                                             rename_source_key)

from .._errors import Error
from .._pattern import Pattern
from .._sparse import SparseTensor
from ._arrived import LoadingLinear
from ._convolution import unfold_stored
from ._decompress import decompress
from ._layers import is_conv1d, is_linear
from ._quantized import NMQuantizedLinear
from ._replace import keep_belongings, replace_module
from ._ties import untie_heads
from ._weights import LOWER_TYPES, write_form

_UNUSED = ".nm_unused"


class _Table:
    """Shared by the copies of conversions that transformers makes.

    Attributes:
        names: what becomes of the names of parts, after all other renamings.
        indices: of sparse layers, by the model's names.
        integers: of quantized layers, by the model's names of their values.
        plain: dense weights that no other conversion takes, by those.
        dense: all dense weights, by the names of their values in the file.
        attentions: the patterns of plain weights, by the model's names, of which those
            of nn.MultiheadAttention become layers.
        stacks: the patterns of what stacked experts are made of, by the model's names.
    """

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.indices: dict[str, SparseTensor] = {}
        self.integers: dict[str, SparseTensor] = {}
        self.plain: dict[str, SparseTensor] = {}
        self.dense: dict[str, SparseTensor] = {}
        self.stacks: dict[str, set[Pattern]] = {}
        self.attentions: dict[str, Pattern] = {}

    def __deepcopy__(self, memo: Any) -> _Table:
        return self


class _PartNames(WeightRenaming):
    """Behind all other renamings."""

    __slots__ = ("table",)

    def __init__(self, table: _Table):
        super().__init__(r"\Anm parts\Z", "nm parts")
        self.table = table

    def rename_source_key(self, source_key: str) -> tuple[str, str | None]:
        return self.table.names.get(source_key, source_key), None


class _Parts(WeightConverter):
    """Before all other converters."""

    __slots__ = ("table",)

    def __init__(self, table: _Table):
        super().__init__(r"\Anm weights\Z", "nm weights", [_Nothing()])
        self.table = table

    def rename_source_key(self, source_key: str) -> tuple[str, str | None]:
        known = any(source_key in each for each in (
            self.table.indices, self.table.integers, self.table.plain))
        return source_key, self.source_patterns[0] if known else None

    def convert(self, layer_name: str, *_: Any, **__: Any) -> dict[str, Tensor]:
        source, = next(iter(self.layer_targets.values()))
        part, = next(iter(self.materialize_tensors().values()))
        w = self.table.dense.get(source)
        if w is not None:
            return {layer_name: _dense(part, w)}
        for known, array in ((self.table.indices, "_indices"),
                             (self.table.integers, "_values")):
            for name, w in known.items():
                if layer_name == name or layer_name.endswith(f".{name}"):
                    return {layer_name: torch.from_numpy(getattr(w, array).copy()).to(
                        part.device)}
        raise KeyError(layer_name)


class _Nothing:
    """What a converter has to have."""

    supports_many_to_many = False


def _dense(values: Tensor, w: SparseTensor) -> Tensor:
    indices = torch.from_numpy(w._indices.copy()).to(values.device)
    dense = decompress(values, indices, write_form(w.pattern, w.shape))
    return dense if w.pattern.axis == 1 else dense.T.contiguous()


class _LaterDense(Future):
    """The dense weight of values that are being read."""

    def __init__(self, values: Future, w: SparseTensor):
        super().__init__()
        self._values, self._weight, self._dense = values, w, None

    def result(self, timeout: float | None = None) -> Tensor:
        if self._dense is None:
            self._dense = _dense(self._values.result(timeout), self._weight)
        return self._dense


def _take_condensed(converter: WeightConverter, table: _Table) -> None:
    """Has a converter of the model be given dense weights."""
    kind = type(converter)

    def add_tensor(self, target_key: str, source_key: str, source_pattern: str,
                   future: Any) -> None:
        w = table.dense.get(source_key)
        if w is not None:
            future = (_LaterDense(future, w) if isinstance(future, Future)
                      else _later(future, w))
        kind.add_tensor(self, target_key, source_key, source_pattern, future)

    converter.__class__ = type(kind.__name__, (kind,), {
        "__slots__": (), "add_tensor": add_tensor})


def _later(read: Callable[[], Tensor], w: SparseTensor) -> Callable[[], Tensor]:
    return lambda: _dense(read(), w)


def plan_conversions(model: Any, conversions: list,
                     condensed: Mapping[str, SparseTensor]) -> list:
    """Puts NMLinear layers into a model without memory, for the condensed weights of a
    checkpoint, and gives the conversions that load them."""
    renamings = [each for each in conversions if isinstance(each, WeightRenaming)]
    converters = [each for each in conversions if isinstance(each, WeightConverter)]
    prefix = model.base_model_prefix
    filters = _unfold_filters(model, condensed, prefix, copy.deepcopy(renamings))
    state = model.state_dict()
    # Copies, as some renamings remember what they have seen.
    of_parts, of_weights, of_finals, of_scales, of_biases = (copy.deepcopy(renamings)
                                                             for _ in range(5))
    table, sparse, ignored = _Table(), {}, set()
    for name in sorted(condensed, key=dot_natural_key):
        w = condensed[name]
        values, indices = (_renamed(f"{name}.{part}", of_parts)
                           for part in ("values", "indices"))
        key = _renamed(name, of_weights)
        final, pattern = rename_source_key(name, of_finals, converters, prefix, state)
        if final not in state and name in state:
            key = final = name
        if name in filters:
            final, pattern = filters[name], None
            bias = _renamed(f"{name.removesuffix('.weight')}.bias", of_biases)
            table.names[bias] = f"{final.removesuffix('.weight')}.bias"
        elif final not in state and pattern is None:
            continue  # transformers tells of it.
        layer = final.removesuffix(".weight")
        if pattern is None and layer != final and _takes(model, layer, w):
            sparse[layer] = w
            table.names[values], table.names[indices] = f"{layer}.values", f"{layer}.indices"
            table.indices[f"{layer}.indices"] = w
            if w._quantization is not None:
                scales = _renamed(f"{name}_scale", of_scales)
                table.names[scales] = f"{layer}.scales"
                table.integers[f"{layer}.values"] = w
            continue
        if w._quantization is not None:
            raise Error(f"expected '{final}' to be the weight of an nn.Linear, as that of "
                        f"{name} is of {w._quantization[0]} bits, but it is not")
        table.dense[f"{name}.values"] = w
        table.names[values], table.names[indices] = key, f"{key}{_UNUSED}"
        ignored.add(f"{re.escape(_UNUSED)}$")
        if pattern is None:
            table.plain[key] = w
            table.attentions[final] = w.pattern
        else:
            table.stacks.setdefault(final, set()).add(w.pattern)
    for converter in converters:
        _take_condensed(converter, table)
    for name, w in sparse.items():
        _replace(model, name, w)
    untie_heads(model)
    model._nm_stacks, model._nm_attentions = table.stacks, table.attentions
    model._keys_to_ignore_on_load_unexpected = ignored | set(
        model._keys_to_ignore_on_load_unexpected or ())
    return [*renamings, _PartNames(table), _Parts(table), *converters]


def _renamed(name: str, renamings: list[WeightRenaming]) -> str:
    """A name after all renamings, one after the other."""
    for renaming in renamings:
        name, _ = renaming.rename_source_key(name)
    return name


def _unfold_filters(model: Any, condensed: Mapping[str, SparseTensor], prefix: str,
                    renamings: list[WeightRenaming]) -> dict[str, str]:
    """Makes layers of the convolutions whose filters are condensed; gives what the model
    calls those, by their names in the file."""
    found = {}
    for name in condensed:
        for stored in (name, _renamed(name, renamings)):
            for each in (stored, f"{prefix}.{stored}", stored.removeprefix(f"{prefix}.")):
                own = unfold_stored(model, each)
                if own is not None:
                    found.setdefault(name, own)
    return found


def _takes(model: nn.Module, name: str, w: SparseTensor) -> bool:
    """Whether the layer is one whose weight stays condensed."""
    layer = model.get_submodule(name)
    transposed = is_conv1d(layer)
    if not transposed and not is_linear(layer):
        return False
    if w.pattern.axis != (0 if transposed else 1):
        return False
    shape = tuple(layer.weight.shape)
    if shape != w.shape:
        raise Error(f"expected a weight {shape} of '{name}', but got {w.shape}")
    return True


def _replace(model: nn.Module, name: str, w: SparseTensor) -> None:
    layer = model.get_submodule(name)
    pattern = w.pattern if w.pattern.axis == 1 else type(w.pattern)(
        w.pattern.n, w.pattern.m, w.pattern.block, 1)
    if w._quantization is not None:
        if layer.weight.dtype not in LOWER_TYPES:
            raise Error("expected dtype=torch.float16 or dtype=torch.bfloat16, which "
                        f"'{name}' of {w._quantization[0]} bits is multiplied in, but got "
                        f"{layer.weight.dtype}")
        sparse = NMQuantizedLinear(w.k, w.n, pattern, *w._quantization, bias=False,
                                   device="meta", dtype=layer.weight.dtype)
        sparse.bias = layer.bias
        keep_belongings(layer, sparse)
        replace_module(model, name, sparse)
        return
    sparse = LoadingLinear(w.k, w.n, pattern, bias=False, device="meta",
                           dtype=layer.weight.dtype)
    sparse.bias, sparse.dtype = layer.bias, layer.weight.dtype
    sparse._shape_indices(w._indices.shape)
    if is_conv1d(layer):
        sparse._transposed_class = type(layer)
    keep_belongings(layer, sparse)
    replace_module(model, name, sparse)
