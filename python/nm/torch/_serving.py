"""Layers of servers, vLLM and SGLang, whose loaded weights become condensed: what the
plug-ins nm.vllm and nm.sglang have in common."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from .._errors import PatternError
from .._formats import compress, detect
from .._pattern import Pattern, read_pattern
from ..io import open_weights
from ._linear import NMLinear
from ._load import _tensor
from ._mapped import LEAST_BYTES
from ._op import linear_of_tensors
from ._quantized import NMQuantizedLinear
from ._rewrite import keep_forms, rewrite_weight
from ._weights import LOWER_TYPES, bitmap_of, map_weight, parse_form

METHOD = "nm"
# What a layer that is loaded as integers has the names of its parts as.
INTEGERS = "nm_integers"
# What a layer whose weights were loaded has its _Served as.
_SERVED = "_nm_served"
TYPES = [torch.float16, torch.bfloat16, torch.float32]
# Weights that servers read themselves.
_READ_BY_OTHERS = ("kv_b_proj",)


class ServedConfig:
    """What a configuration of a server says, whatever server that is.

    Attributes:
        layers: the patterns of layers by the names of a checkpoint; None where they are
            found in the weights.
        quantized: the bits and the group of layers whose weights are integers, where the
            server's loader is nm's.
    """

    layers: dict[str, str] | None = None
    quantized: dict[str, dict[str, int]] | None = None
    # The server's class of linear layers, its method for dense ones, and ServedLinear as
    # a method of the server.
    linear_layer: type
    dense_method: type
    linear_method: type

    def get_name(self) -> str:
        return METHOD

    @classmethod
    def get_min_capability(cls) -> int:
        return 80

    def get_supported_act_dtypes(self) -> list[torch.dtype]:
        return TYPES

    @staticmethod
    def get_config_filenames() -> list[str]:
        return []  # config.json has it, or no one.

    def get_scaled_act_names(self) -> list[str]:
        return []

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> ServedConfig:
        made = cls()
        if config.get("quant_method") == METHOD and config.get("layers") is not None:
            made.layers = dict(config["layers"])
            made.quantized = dict(config.get("quantized") or {})
        return made

    @classmethod
    def override_quantization_method(cls, hf_quant_cfg: Any, user_quant: str | None,
                                     *_: Any, **__: Any) -> str | None:
        """Takes folders of compressed-tensors whose weights are bitmasks and no integers."""
        if user_quant == METHOD:
            return METHOD
        config = hf_quant_cfg if isinstance(hf_quant_cfg, Mapping) else {}
        sparsity = config.get("sparsity_config") or {}
        is_bitmask = str(sparsity.get("format", "")).endswith("bitmask")
        return METHOD if is_bitmask and not config.get("config_groups") else None

    def get_quant_method(self, layer: Any, prefix: str) -> Any:
        """None for embeddings, experts and attention, which stay dense."""
        if not isinstance(layer, self.linear_layer):
            return None
        patterns = self.patterns_of(prefix)
        dense = self.dense_method()
        return dense if patterns == [] else self.linear_method(
            dense, patterns, prefix, self.integers_of(prefix))

    def patterns_of(self, prefix: str) -> list[Pattern] | None:
        """The patterns that a layer may have, the sparsest first; None where the weight
        tells, and none for a layer that stays dense.

        Args:
            prefix: the name of the layer, which may be of several in the checkpoint, as
                qkv_proj is of q_proj, k_proj and v_proj.
        """
        if any(part in prefix for part in _READ_BY_OTHERS):
            return []
        if self.layers is None:
            return None
        names = self._stored_names(prefix)
        found = [self.layers[layer] for layer in _layers_of(names, self.layers)]
        if len(found) < len(names):
            return []
        return sorted({read_pattern(text) for text in found}, key=_density)

    def integers_of(self, prefix: str) -> Integers | None:
        """How the weights are quantized that a layer has, all alike; None where they are
        not."""
        names, quantized = self._stored_names(prefix), self.quantized or {}
        layers = _layers_of(names, quantized)
        kinds = {(quantized[layer]["bits"], quantized[layer]["group"]) for layer in layers}
        if len(layers) < len(names) or len(kinds) != 1:
            return None
        return Integers(*kinds.pop(), tuple(layers))

    def _stored_names(self, prefix: str) -> list[str]:
        parent, _, last = prefix.rpartition(".")
        parts = getattr(self, "packed_modules_mapping", {}).get(last, [last])
        return [f"{parent}.{part}" if parent else part for part in parts]


class Integers(NamedTuple):
    """Weights of integers: bits, group of inputs, and the layers of the checkpoint."""

    bits: int
    group: int
    layers: tuple[str, ...]


def _layers_of(names: Iterable[str], layers: Iterable[str]) -> list[str]:
    """Those of `layers` that are meant: servers and checkpoints may begin names
    otherwise."""
    return [layer for name in names for layer in layers
            if layer == name or layer.endswith(f".{name}") or name.endswith(f".{layer}")]


def _density(pattern: Pattern) -> float:
    return 1 - pattern.sparsity


class _Served(NamedTuple):
    """What became of a layer.

    Attributes:
        patterns: the one that its weight has; none of a layer that stays dense.
        tensors: those that calls read, by their names in the layer.
    """

    patterns: list[Pattern]
    tensors: dict[str, nn.Parameter]

    def rewrite(self, form: str, new: dict[str, Tensor]) -> None:
        rewrite_weight(self.tensors["nm_values"], self.tensors["nm_indices"], form,
                       (new["nm_values"], new["nm_indices"]))
        if "nm_scales" in new:
            with torch.no_grad():
                self.tensors["nm_scales"].copy_(new["nm_scales"])


class ServedLinear:
    """The linear method of a server: dense weights are loaded as its own method does it,
    split over processes and merged, and condensed afterwards.

    Args:
        dense: the server's method for weights that are not quantized.
        patterns: as ServedConfig.patterns_of gives them.
        prefix: the name of the layer.
        integers: of a layer whose weights are loaded as integers and scales.
    """

    def __init__(self, dense: Any, patterns: list[Pattern] | None, prefix: str,
                 integers: Integers | None = None):
        self.dense, self.patterns, self.prefix = dense, patterns, prefix
        self.integers = integers

    def create_weights(self, layer: nn.Module, input_size_per_partition: int,
                       output_partition_sizes: list[int], input_size: int,
                       output_size: int, params_dtype: torch.dtype,
                       **attributes: Any) -> None:
        integers = self.integers
        if integers is None or params_dtype not in LOWER_TYPES or (
                input_size_per_partition < input_size
                and input_size_per_partition % integers.group):
            # Floats, which a loader makes of integers that are not asked for.
            self.dense.create_weights(
                layer, input_size_per_partition, output_partition_sizes, input_size,
                output_size, params_dtype, **attributes)
            return
        n, k = sum(output_partition_sizes), input_size_per_partition
        for name, columns, dtype in (("weight", k, torch.int8), (
                "weight_scale", -(-k // integers.group), params_dtype)):
            parameter = nn.Parameter(torch.empty(n, columns, dtype=dtype),
                                     requires_grad=False)
            # As servers' loaders split and merge it.
            for key, value in {"input_dim": 1, "output_dim": 0, **attributes}.items():
                setattr(parameter, key, value)
            layer.register_parameter(name, parameter)
        setattr(layer, INTEGERS, integers.layers)

    def process_weights_after_loading(self, layer: nn.Module) -> None:
        """Condenses what was loaded. Where a server loads other weights into a layer that
        it has called, as vLLM's layerwise reload does, they become the tensors that calls
        and CUDA graphs read.

        Raises:
            PatternError: other weights break the pattern of those before.
        """
        served = layer.__dict__.get(_SERVED)
        patterns = self.patterns if served is None else served.patterns
        has_integers = hasattr(layer, INTEGERS)
        made = (self._integers if has_integers else self._floats)(
            layer, patterns, is_first=served is None)
        if made is None:
            if has_integers:
                self._spread_integers(layer)
            self.dense.process_weights_after_loading(layer)
            layer.__dict__[_SERVED] = _Served([], {})
            return
        # Other weights that a reload brings have as large a bitmap, but not as many offsets.
        tensors = {"nm_values": made.values.detach(),
                   "nm_indices": bitmap_of(made.indices, made._form)}
        if has_integers:
            tensors["nm_scales"] = made.scales
            del layer.weight_scale
            layer.nm_group = made.group
        del layer.weight
        is_first = served is None
        if served is None:
            served = _Served([made.pattern], {
                name: nn.Parameter(tensor, requires_grad=False)
                for name, tensor in tensors.items()})
            layer.nm_form, layer.__dict__[_SERVED] = made._form, served
        else:
            served.rewrite(made._form, tensors)
        # Servers copy to parameters what a reload makes, not to all buffers.
        for name, parameter in served.tensors.items():
            layer.register_parameter(name, parameter)
        if is_first:
            self._pack(layer)

    def _pack(self, layer: nn.Module) -> None:
        """Packs a weight and moves the condensed one, which calls do not read, out of
        memory, as NMLinear does."""
        parts = layer.nm_values, layer.nm_indices, layer.nm_form
        if layer.nm_values.is_cuda:
            keep_forms(*parts)
        if layer.nm_values.nbytes < LEAST_BYTES:
            return
        x = getattr(layer, "nm_scales", layer.nm_values)
        with torch.no_grad():
            self.apply(layer, x.new_zeros(1, parse_form(layer.nm_form)[1][1]))
        map_weight(*parts)

    def _integers(self, layer: nn.Module, patterns: list[Pattern], is_first: bool
                  ) -> NMQuantizedLinear | None:
        integers, weight = self.integers, layer.weight.detach()
        for pattern in patterns:
            try:
                w = compress(weight, pattern, name=self.prefix)
            except PatternError:
                if not is_first:
                    raise
                continue
            return NMQuantizedLinear.from_sparse(w, layer.weight_scale.detach().clone(),
                                                 integers.bits, min(integers.group, w.k))
        if is_first:
            warnings.warn(f"{self.prefix} stays dense: its integers break the pattern "
                          f"{patterns[-1]}", stacklevel=3)
        return None

    def _spread_integers(self, layer: nn.Module) -> None:
        """Makes a dense weight of integers and their scales."""
        weight, scales = layer.weight.detach(), layer.weight_scale.detach()
        del layer.weight, layer.weight_scale
        spread = scales.repeat_interleave(self.integers.group, 1)[:, :weight.shape[1]]
        layer.weight = nn.Parameter(weight.to(scales.dtype) * spread, requires_grad=False)

    def _floats(self, layer: nn.Module, patterns: list[Pattern] | None, is_first: bool
                ) -> NMLinear | None:
        weight = layer.weight.detach()
        is_named = patterns is not None
        if patterns is None:
            found, _ = detect(weight.cpu(), axis=1)
            patterns = [] if found is None or found.n == found.m else [found]
        why = ""
        for pattern in patterns:
            dense = nn.Linear(weight.shape[1], weight.shape[0], bias=False, device="meta")
            dense.weight = nn.Parameter(weight, requires_grad=False)
            try:
                return NMLinear.from_pruned(dense, weight, pattern, name=self.prefix)
            except PatternError as error:
                if not is_first:
                    raise
                why = str(error).splitlines()[0]
        if is_named and why:
            warnings.warn(f"{self.prefix} stays dense: {why}", stacklevel=3)
        return None

    def apply(self, layer: nn.Module, x: Tensor, bias: Tensor | None = None) -> Tensor:
        if not hasattr(layer, "nm_form"):
            return self.dense.apply(layer, x, bias)
        if hasattr(layer, INTEGERS):
            return torch.ops.nm.quantized_linear(
                x, layer.nm_values, layer.nm_indices, layer.nm_scales, layer.nm_form,
                self.integers.bits, layer.nm_group, bias)
        return linear_of_tensors(x, layer.nm_values, layer.nm_indices, layer.nm_form, bias,
                                 None)


def served_weights(folder: str, model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """The tensors of a folder, whatever form its weights have, as dense ones by the names
    of the layers' weights. Layers of the model that want integers get those, as a dense
    matrix, and their scales behind."""
    source = open_weights(folder)
    wanted = {f"{name}.weight" for layer in model.modules()
              for name in getattr(layer, INTEGERS, ())}
    for name in source:
        w = source.condensed(name) if name in wanted else None
        if w is None or w._quantization is None:
            yield name, _tensor(source, name)
        else:
            yield name, torch.from_numpy(w.decompress())
            yield f"{name}_scale", _tensor(source, f"{name}_scale")
