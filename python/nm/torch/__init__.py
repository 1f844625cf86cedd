"""N:M-sparse layers for PyTorch.

    import nm.torch

    model.fc1 = nm.torch.NMLinear.from_dense(model.fc1, "2:4")
    report = nm.torch.sparsify(model, {"encoder.*": "2:4"}, example)
    nm.torch.quantize(model.to(torch.bfloat16), bits=4, group=128)
    schedule = nm.torch.mask_layers(model, "2:4", rule="sr-ste", every=10)
    compiled = nm.torch.export(model, example).compile("model.so")

    model = AutoModel.from_pretrained("sparse-folder")      # transformers, too

The operator behind them, torch.ops.nm.linear, works under torch.compile and in CUDA
graphs, and has gradients for its activations, its bias and the kept weights.
"""

from ._attention import NMMultiheadAttention
from ._convolution import NMConv1d, NMConv2d, NMConv3d
from ._densify import densify
from ._export import (CompiledDecoder, CompiledFunctions, CompiledModel,
                      ExportedDecoder, ExportedFunctions, ExportedModel, export,
                      export_decoder, join)
from ._linear import NMLinear
from ._fuse import FusedLayers, FuseReport, fuse, unfuse
from ._import_hook import after_import as _after_import
from ._load import load, save
from ._masks import MaskedLinear, MaskSchedule, mask_layers
from ._memory import MemoryReport, memory
from ._op import linear
from ._permute_inputs import PermutedLayer, PermuteReport, permute_inputs
from ._quantized import NMQuantizedLinear, quantize
from ._search import LayerChoice, SearchReport, search
from ._sparsify import LayerReport, SparsifyReport, sparsify
from ._threads import share_threads as _share_threads

__all__ = ["CompiledDecoder", "CompiledFunctions", "CompiledModel", "ExportedDecoder",
           "ExportedFunctions", "ExportedModel", "FuseReport", "FusedLayers",
           "LayerChoice", "LayerReport", "MaskSchedule", "MaskedLinear", "MemoryReport",
           "NMConv1d", "NMConv2d", "NMConv3d", "NMLinear", "NMMultiheadAttention",
           "NMQuantizedLinear", "PermuteReport", "PermutedLayer", "SearchReport",
           "SparsifyReport", "densify", "export", "export_decoder", "fuse", "join",
           "linear", "load", "mask_layers", "memory", "permute_inputs", "quantize", "save",
           "search", "sparsify", "unfuse"]

_share_threads()


def _register() -> None:
    """Lets transformers load and save sparse models. An older transformers keeps working
    without."""
    import warnings
    from importlib.metadata import version
    try:
        from ._quantizer import register
        register()
    except ImportError as error:
        warnings.warn("from_pretrained and save_pretrained do not know of sparse layers: "
                      "expected transformers 4.57, or 5.17 and newer, but got "
                      f"{version('transformers')} ({error})", stacklevel=2)


def _register_accelerate() -> None:
    from ._accelerate import register
    register()


_after_import("transformers.modeling_utils", _register)
_after_import("accelerate.utils.modeling", _register_accelerate)


def __getattr__(name: str):
    if name == "Config":  # Which is one of transformers' classes.
        # `_quantizer` imports this file too, after which `_register` runs: that would
        # find `_quantizer` half imported.
        import transformers.modeling_utils  # noqa: F401

        from ._quantizer import Config
        return Config
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
