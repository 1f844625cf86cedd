"""A plug-in of SGLang: N:M weights by nm's kernels. It has not been run on SGLang itself.

    python -m sglang.launch_server --model condensed-folder    # nm.torch.save, nm.convert
    python -m sglang.launch_server --model quantized-folder    # nm.torch.quantize
    python -m sglang.launch_server --model masked-folder --quantization nm

SGLang finds `register` by the entry point sglang.srt.plugins where nm is installed. It has
no registry of loaders: for the quantization "nm" its DefaultModelLoader is given the tensors
that nm reads, by its method _get_all_weights.
"""

from __future__ import annotations

import functools
from typing import Any


def register() -> None:
    """Tells SGLang of the quantization "nm", once."""
    from sglang.srt.layers import quantization
    if "nm" in quantization.QUANTIZATION_METHODS:
        return
    quantization.QUANTIZATION_METHODS["nm"] = _config_class()
    from sglang.srt.server_args import add_quantization_method_choices
    add_quantization_method_choices(["nm"])
    from sglang.srt.model_loader.loader import DefaultModelLoader
    _read_by_nm(DefaultModelLoader)


def _read_by_nm(loader: type) -> None:
    """Has a class of loaders take all forms of weights that nm reads."""
    own = loader._get_all_weights

    @functools.wraps(own)
    def get_all_weights(self: Any, model_config: Any, model: Any) -> Any:
        if model_config.quantization != "nm":
            return own(self, model_config, model)
        from .torch._serving import served_weights
        folder = self._prepare_weights(model_config.model_path, model_config.revision,
                                       fall_back_to_pt=False)[0]
        return served_weights(folder, model)

    loader._get_all_weights = get_all_weights


def _config_class() -> type:
    from sglang.srt.layers.linear import LinearBase
    from sglang.srt.layers.quantization.base_config import (LinearMethodBase,
                                                            QuantizationConfig)
    from sglang.srt.layers.quantization.unquant import UnquantizedLinearMethod

    from .torch._serving import ServedConfig, ServedLinear

    class NMLinearMethod(ServedLinear, LinearMethodBase):
        """Products with condensed weights."""

    class NMConfig(ServedConfig, QuantizationConfig):
        """What SGLang asks about the layers of a model."""

        linear_layer, dense_method = LinearBase, UnquantizedLinearMethod
        linear_method = NMLinearMethod

        @classmethod
        def override_quantization_method(cls, hf_quant_cfg: Any, user_quant: Any
                                         ) -> str | None:
            """SGLang's loader knows of no bitmasks."""
            return "nm" if user_quant == "nm" else None

    return NMConfig
