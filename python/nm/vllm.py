"""A plug-in of vLLM: N:M weights by nm's kernels. It has not been run on vLLM itself.

    llm = vllm.LLM("condensed-folder", load_format="nm")        # nm.torch.save, nm.convert
    llm = vllm.LLM("bitmask-folder", load_format="nm")          # sparse-24-bitmask
    llm = vllm.LLM("quantized-folder", load_format="nm")        # nm.torch.quantize
    llm = vllm.LLM("masked-folder", quantization="nm")          # dense, with zeros

vLLM finds `register` by the entry point vllm.general_plugins where nm is installed. It is
written against vLLM's register_quantization_config, QuantizationConfig, LinearMethodBase,
register_model_loader, BaseModelLoader, and the layerwise loading of its newer versions.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


def register() -> None:
    """Tells vLLM of the quantization "nm" and the load format "nm", once."""
    from vllm.model_executor.layers import quantization
    if "nm" in quantization.QUANTIZATION_METHODS:
        return
    quantization.register_quantization_config("nm")(_config_class())
    from vllm.model_executor.model_loader import register_model_loader
    register_model_loader("nm")(_loader_class())


# What vLLM deletes where it loads a layer anew: it asks to process all layers behind a load,
# those too that were processed as soon as they were whole.
_PROCESSED = "_already_called_process_weights_after_loading"


def _layerwise() -> Callable[[Any], None] | None:
    """What has vLLM load and process a layer by itself; None where it cannot."""
    try:
        from vllm.model_executor.model_loader.reload.layerwise import (
            initialize_online_processing)
    except ImportError:
        return None
    return initialize_online_processing


def _config_class() -> type:
    import torch
    from vllm.model_executor.layers.linear import (LinearBase, LinearMethodBase,
                                                   UnquantizedLinearMethod)
    from vllm.model_executor.layers.quantization.base_config import QuantizationConfig

    from .torch._serving import ServedConfig, ServedLinear

    layerwise = _layerwise()

    class NMLinearMethod(ServedLinear, LinearMethodBase):
        """Products with condensed weights. Dense ones have no memory until all of a layer
        has come, and are then condensed."""

        uses_meta_device = layerwise is not None

        def create_weights(self, layer: Any, *sizes: Any, **attributes: Any) -> None:
            if layerwise is None:
                super().create_weights(layer, *sizes, **attributes)
                return
            with torch.device("meta"):
                super().create_weights(layer, *sizes, **attributes)
            layerwise(layer)

        def process_weights_after_loading(self, layer: Any) -> None:
            if not getattr(layer, _PROCESSED, False):
                super().process_weights_after_loading(layer)
                setattr(layer, _PROCESSED, True)

    class NMConfig(ServedConfig, QuantizationConfig):
        """What vLLM asks about the layers of a model."""

        linear_layer, dense_method = LinearBase, UnquantizedLinearMethod
        linear_method = NMLinearMethod

    return NMConfig


def _loader_class() -> type:
    from vllm.model_executor.model_loader.base_loader import BaseModelLoader

    from .torch._serving import served_weights

    class NMModelLoader(BaseModelLoader):
        """Gives a model the dense tensors of any folder that nm reads, floats or integers
        with scales: vLLM splits and merges them, and NMLinearMethod condenses what comes
        of it."""

        def download_model(self, model_config: Any) -> None:
            self._folder(model_config)

        def load_weights(self, model: Any, model_config: Any) -> None:
            model.load_weights(served_weights(self._folder(model_config), model))

        def _folder(self, model_config: Any) -> str:
            if os.path.isdir(model_config.model):
                return model_config.model
            from huggingface_hub import snapshot_download
            return snapshot_download(
                model_config.model, revision=getattr(model_config, "revision", None),
                cache_dir=getattr(self.load_config, "download_dir", None),
                allow_patterns=["*.safetensors", "*.json"])

    return NMModelLoader
