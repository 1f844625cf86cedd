"""What transformers calls a quantizer: from_pretrained makes NMLinear layers of folders
with condensed weights, and save_pretrained writes such folders.

    import nm.torch

    model = AutoModelForCausalLM.from_pretrained("sparse-folder")
    model = AutoModelForCausalLM.from_pretrained(
        "dense-folder", quantization_config=nm.torch.Config("2:4"))

This file is read where transformers is there.
"""

from __future__ import annotations

import copy
import functools
import importlib.util
import warnings
from typing import Any

from torch import nn
from transformers.modeling_utils import PreTrainedModel
from transformers.quantizers.auto import (AUTO_QUANTIZER_MAPPING, AutoHfQuantizer,
                                          register_quantization_config, register_quantizer)
from transformers.quantizers.base import HfQuantizer
from transformers.utils.quantization_config import QuantizationConfigMixin

from .._errors import FileFormatError
from .._pattern import Pattern
from .._sparse import SparseTensor
from ..io import WeightSource, open_weights
from ..io._shards import check_shards
from ._arrived import LoadingLinear, cast, condense_attentions, condense_stacks
from ._densify import densify, densify_some
from ._experts import stack_name
from ._layers import find_layers
from ._linear import NMLinear
from ._load import save
from ._quantized import NMQuantizedLinear
from ._sparsify import SparsifyReport, sparsify
from ._unfold import unfolded

METHOD = "nm"


class Config(QuantizationConfigMixin):
    """How transformers makes the layers of a model sparse.

    Args:
        rules: of a dense or masked checkpoint: a pattern for all layers, or patterns by
            globs of layer names, as for nm.torch.sparsify.
        modules_to_not_convert: parts of the names of layers that stay dense; the head
            of a language model, and what is tied, where it is None. In a folder that nm
            wrote, those that become dense, zeros included, once they are loaded.
        prune: as for nm.torch.sparsify. Where it is None, weights that break their
            pattern are pruned by magnitude, and a warning says how much that took.
        layers: the patterns of the layers by name, in a folder that nm wrote.
        quantized: the bits and the group of those that are quantized.
    """

    def __init__(self, rules: Any = None, *,
                 modules_to_not_convert: list[str] | None = None, prune: Any = None,
                 layers: dict[str, str] | None = None,
                 quantized: dict[str, dict[str, int]] | None = None, **_: Any):
        self.quant_method = METHOD
        self.rules, self.prune, self.quantized = rules, prune, quantized
        self.modules_to_not_convert, self.layers = modules_to_not_convert, layers

    def to_dict(self) -> dict[str, Any]:
        fields = {"quant_method": METHOD, "version": 1}
        if self.layers is not None:
            fields["layers"] = self.layers
        if self.quantized is not None:
            fields["quantized"] = self.quantized
        if self.rules is not None:
            fields["rules"] = _as_text(self.rules)
        if self.modules_to_not_convert is not None:
            fields["modules_to_not_convert"] = list(self.modules_to_not_convert)
        if isinstance(self.prune, (bool, str)):
            fields["prune"] = self.prune
        return fields


def _as_text(rules: Any) -> Any:
    if isinstance(rules, dict):
        return {glob: _as_text(rule) for glob, rule in rules.items()}
    return str(rules) if isinstance(rules, Pattern) else rules


class Quantizer(HfQuantizer):
    """Makes the layers of a model sparse while transformers loads it.

    Attributes:
        report: of nm.torch.sparsify, where a dense checkpoint was loaded.
    """

    report: SparsifyReport | None = None
    quantization_config: Config

    def _process_model_before_weight_loading(self, model: nn.Module, **options: Any
                                             ) -> None:
        self._condensed: dict[str, SparseTensor] = {}
        self._model = model
        files = options.get("checkpoint_files") or ()
        check_shards(file for file in files if str(file).endswith(".safetensors"))
        if not self.pre_quantized:
            return
        self._dtypes = {name: each.dtype for name, each in model.named_parameters()}
        self._find_condensed([open_weights(path) for path in files], files)

    def _find_condensed(self, sources: list[WeightSource], files: Any) -> None:
        names: set[str] = set()
        for source in sources:
            names.update(source)
            self._condensed.update({name: w for name in source
                                    if (w := source.condensed(name)) is not None})
        # Experts that are stacked in the files, too, are dense there.
        if not self._condensed and not any(
                name.endswith(layer) for layer in self.quantization_config.layers or ()
                for name in names):
            raise FileFormatError(
                "expected condensed weights in the files of the model, as its "
                f"quantization_config says, but {files} have "
                "none; nm.torch.save or nm.convert write them")

    def update_weight_conversions(self, weight_conversions: list, *_: Any) -> list:
        # Newer versions give the model here, too.
        if not self.pre_quantized:
            return weight_conversions
        from ._names import plan_conversions
        return plan_conversions(self._model, weight_conversions, self._condensed)

    def _process_model_after_weight_loading(self, model: Any, **_: Any) -> None:
        self._model = None
        if self.pre_quantized:
            # Some versions of transformers leave tensors that they rename as files have them.
            for name, parameter in model.named_parameters():
                cast(parameter, self._dtypes.get(name, parameter.dtype))
            for layer in model.modules():
                if type(layer) is LoadingLinear:
                    layer.finish()
            condense_attentions(model)
            condense_stacks(model, self.quantization_config.layers or {})
            self._densify(model)
        else:
            self._sparsify(model)
        model.config.quantization_config = config_of(model)

    def _densify(self, model: Any) -> None:
        """Of a folder with condensed weights, the layers that are to be dense."""
        parts = self.quantization_config.modules_to_not_convert
        if parts:
            densify_some(model, lambda name: _is_part(name, parts))

    def _sparsify(self, model: Any) -> None:
        with unfolded(model):
            self._sparsify_unfolded(model)

    def _sparsify_unfolded(self, model: Any) -> None:
        config = self.quantization_config
        dense = self.get_modules_to_not_convert(model, config.modules_to_not_convert)
        rules = dict.fromkeys((layer.name for layer in find_layers(model)
                               if layer.why_not is None
                               and _is_part(layer.name, dense)), None)
        given = config.rules if isinstance(config.rules, dict) else {"*": config.rules}
        prune = True if config.prune is None else config.prune
        self.report = sparsify(model, {**rules, **given}, prune=prune)
        lost = [layer for layer in self.report if layer.replaced and layer.dropped]
        if lost and config.prune is None:
            share = sum(layer.dropped for layer in lost) / len(lost)
            warnings.warn(
                f"{len(lost)} weights broke their pattern and were pruned by magnitude, "
                f"which dropped {share:.0%} of their non-zeros; prune=False leaves such "
                "layers dense, prune=True says that this is meant", stacklevel=2)

    def is_serializable(self, *_: Any, **__: Any) -> bool:
        return True

    @property
    def is_trainable(self) -> bool:
        return True

    @property
    def is_qat_trainable(self) -> bool:
        return True

    @property
    def is_compileable(self) -> bool:
        return True

    def _dequantize(self, model: Any, dtype: Any = None) -> Any:
        densify(model)
        return model if dtype is None else model.to(dtype)


def _is_part(name: str, parts: list[str]) -> bool:
    return any(name == part or name.startswith(f"{part}.") or f".{part}." in f".{name}."
               for part in parts)


def config_of(model: nn.Module) -> Config:
    """What a folder of the model says of its layers."""
    quantized = {name: layer for name, layer in model.named_modules()
                 if isinstance(layer, NMQuantizedLinear)}
    layers = {stack_name(name) or name: str(layer.pattern) for name, layer
              in model.named_modules() if isinstance(layer, NMLinear) or name in quantized}
    return Config(layers=layers, quantized={
        name: {"bits": layer.bits, "group": layer.group}
        for name, layer in quantized.items()} or None)


_merge = AutoHfQuantizer.merge_quantization_configs.__func__


@functools.wraps(_merge)
def _merge_configs(cls: type, quantization_config: Any, quantization_config_from_args: Any,
                   *others: Any) -> Any:
    """transformers takes what a folder says alone. What layers are to be dense is asked for
    by who loads it."""
    stored, given = map(_as_config, (quantization_config, quantization_config_from_args))
    if stored is None or given is None:
        return _merge(cls, quantization_config, quantization_config_from_args, *others)
    if given.rules is not None:
        warnings.warn(
            "the weights of the folder are condensed already and keep their patterns: the "
            f"rules {_as_text(given.rules)!r} are for dense checkpoints; python -m nm convert "
            "--format=dense makes one", stacklevel=2)
    merged = copy.copy(stored)
    merged.modules_to_not_convert = given.modules_to_not_convert
    return merged


def _as_config(config: Any) -> Config | None:
    if isinstance(config, dict) and config.get("quant_method") == METHOD:
        return Config(**config)
    return config if isinstance(config, Config) else None


_save_pretrained = PreTrainedModel.save_pretrained


@functools.wraps(_save_pretrained)
def _save_sparse(self: Any, save_directory: Any, *args: Any, **options: Any) -> Any:
    is_sparse = any(isinstance(layer, (NMLinear, NMQuantizedLinear)) for layer in self.modules())
    if getattr(self, "_hf_peft_config_loaded", False):
        # Only adapters are written.
        return _save_pretrained(self, save_directory, *args, **options)
    if not is_sparse:
        _forget_quantizer(self)
        return _save_pretrained(self, save_directory, *args, **options)
    save(self, save_directory, **_options_of_save(*args, **options))
    return None


_load_state_dict = PreTrainedModel.load_state_dict


@functools.wraps(_load_state_dict)
def _load_published(self: Any, state_dict: Any, *args: Any, **options: Any) -> Any:
    """Trainer gives what save_pretrained wrote, which has the names of published files."""
    from ._own_names import own_state
    return _load_state_dict(self, own_state(self, state_dict), *args, **options)


_get_resized_head = PreTrainedModel._get_resized_lm_head


@functools.wraps(_get_resized_head)
def _resize_head(self: Any, old_lm_head: Any, *args: Any, **options: Any) -> Any:
    head = _get_resized_head(self, old_lm_head, *args, **options)
    if isinstance(old_lm_head, NMLinear) and head is not old_lm_head:
        pattern = old_lm_head.pattern
        warnings.warn(
            f"the head, which was {pattern.n}:{pattern.m}, is a dense nn.Linear again, as new "
            "rows obey no pattern; nm.torch.sparsify(model, {'lm_head': "
            f"'{pattern.n}:{pattern.m}'}}, prune=True) makes it sparse", stacklevel=4)
    return head


def _options_of_save(is_main_process: bool = True, state_dict: dict | None = None,
                     push_to_hub: bool = False, max_shard_size: int | str = "50GB",
                     variant: str | None = None, *_: Any, **others: Any) -> dict[str, Any]:
    """What of save_pretrained's options nm.torch.save has."""
    from .._errors import Error
    refused = [name for name, given in (
        ("push_to_hub", push_to_hub), ("variant", variant),
        ("distributed_checkpoint", others.get("distributed_checkpoint"))) if given]
    if refused:
        raise Error(f"expected no {refused[0]} where a model has NMLinear layers, but got "
                    "it; save to a folder, which huggingface_hub.upload_folder sends")
    return {"max_shard_size": max_shard_size, "state_dict": state_dict,
            "write": is_main_process}


def _forget_quantizer(model: Any) -> None:
    """Of a model whose layers are dense again."""
    if isinstance(getattr(model, "hf_quantizer", None), Quantizer):
        model.hf_quantizer.remove_quantization_config(model)


def register() -> None:
    """Tells transformers, once.

    Raises:
        ImportError: it is of a version that loads weights in yet another way.
    """
    if METHOD not in AUTO_QUANTIZER_MAPPING:
        quantizer = Quantizer
        if importlib.util.find_spec("transformers.core_model_loading") is None:
            from ._transformers4 import register_loading
            quantizer = register_loading()
        else:
            from . import _names  # noqa: F401
            PreTrainedModel.load_state_dict = _load_published
        register_quantization_config(METHOD)(Config)
        register_quantizer(METHOD)(quantizer)
        AutoHfQuantizer.merge_quantization_configs = classmethod(_merge_configs)
        PreTrainedModel.save_pretrained = _save_sparse
        PreTrainedModel._get_resized_lm_head = _resize_head
