"""Layers of servers, vLLM and SGLang, whose loaded weights become condensed: what the
plug-ins nm.vllm and nm.sglang have in common."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from .._errors import PatternError
from .._formats import detect
from .._pattern import Pattern, read_pattern
from ..io import open_weights
from ._linear import NMLinear
from ._load import _tensor
from ._op import linear_of_tensors

METHOD = "nm"
TYPES = [torch.float16, torch.bfloat16, torch.float32]
# Weights that servers read themselves.
_READ_BY_OTHERS = ("kv_b_proj",)


class ServedConfig:
    """What a configuration of a server says, whatever server that is.

    Attributes:
        layers: the patterns of layers by the names of a checkpoint; None where they are
            found in the weights.
    """

    layers: dict[str, str] | None = None
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
        return dense if patterns == [] else self.linear_method(dense, patterns, prefix)

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
        parent, _, last = prefix.rpartition(".")
        parts = getattr(self, "packed_modules_mapping", {}).get(last, [last])
        names = [f"{parent}.{part}" if parent else part for part in parts]
        # Servers and checkpoints may begin names otherwise.
        found = [text for name in names for layer, text in self.layers.items()
                 if layer == name or layer.endswith(f".{name}")
                 or name.endswith(f".{layer}")]
        if len(found) < len(names):
            return []
        return sorted({read_pattern(text) for text in found}, key=_density)


def _density(pattern: Pattern) -> float:
    return pattern.n / pattern.m


class ServedLinear:
    """The linear method of a server: dense weights are loaded as its own method does it,
    split over processes and merged, and condensed afterwards.

    Args:
        dense: the server's method for weights that are not quantized.
        patterns: as ServedConfig.patterns_of gives them.
        prefix: the name of the layer.
    """

    def __init__(self, dense: Any, patterns: list[Pattern] | None, prefix: str):
        self.dense, self.patterns, self.prefix = dense, patterns, prefix

    def create_weights(self, layer: nn.Module, *args: Any, **options: Any) -> None:
        self.dense.create_weights(layer, *args, **options)

    def process_weights_after_loading(self, layer: nn.Module) -> None:
        sparse = self._condensed(layer.weight.detach())
        if sparse is None:
            self.dense.process_weights_after_loading(layer)
            return
        del layer.weight
        layer.register_parameter("nm_values", nn.Parameter(sparse.values.detach(),
                                                           requires_grad=False))
        layer.register_buffer("nm_indices", sparse.indices, persistent=False)
        layer.nm_form = sparse._form

    def _condensed(self, weight: Tensor) -> NMLinear | None:
        patterns = self.patterns
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
                why = str(error).splitlines()[0]
        if self.patterns:
            warnings.warn(f"{self.prefix} stays dense: {why}", stacklevel=2)
        return None

    def apply(self, layer: nn.Module, x: Tensor, bias: Tensor | None = None) -> Tensor:
        if not hasattr(layer, "nm_form"):
            return self.dense.apply(layer, x, bias)
        return linear_of_tensors(x, layer.nm_values, layer.nm_indices, layer.nm_form, bias,
                                 None)


def dense_weights(folder: str, skip: Iterable[str] = ()) -> Iterator[tuple[str, Tensor]]:
    """The tensors of a folder, whatever form its weights have, as dense ones by the names
    of the layers' weights."""
    source, left_out = open_weights(folder), set(skip)
    for name in source:
        if name not in left_out:
            yield name, _tensor(source, name)
