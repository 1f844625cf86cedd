"""A plug-in of SGLang: N:M weights by nm's kernels. It has not been run on SGLang itself.

    python -m sglang.launch_server --model masked-folder --quantization nm

SGLang loads folders with dense weights, whose zeros obey patterns; `python -m nm convert
FOLDER -o OTHER --format=dense` makes one of a condensed folder. It finds `register` by the
entry point sglang.srt.plugins where nm is installed.
"""

from __future__ import annotations

from typing import Any


def register() -> None:
    """Tells SGLang of the quantization "nm", once."""
    from sglang.srt.layers import quantization
    if "nm" in quantization.QUANTIZATION_METHODS:
        return
    quantization.QUANTIZATION_METHODS["nm"] = _config_class()
    from sglang.srt.server_args import add_quantization_method_choices
    add_quantization_method_choices(["nm"])


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
