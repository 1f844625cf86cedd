"""nm.torch.export: a PyTorch model as a function on tensors in MLIR.

torch.export gives the graph of core ATen operators; each has a lowering to linalg in
one of the files here, by family. Weights go to a file beside the text.
"""

from ._decoder import CompiledDecoder, ExportedDecoder, export_decoder
from ._program import (CompiledFunctions, CompiledModel, ExportedFunctions,
                       ExportedModel, export, join)

__all__ = ["CompiledDecoder", "CompiledFunctions", "CompiledModel", "ExportedDecoder",
           "ExportedFunctions", "ExportedModel", "export", "export_decoder", "join"]
