"""nm.torch.export: a PyTorch model as a function on tensors in MLIR.

torch.export gives the graph of core ATen operators; each has a lowering to linalg in
one of the files here, by family. Weights go to a file beside the text.
"""

from ._program import CompiledModel, ExportedModel, export

__all__ = ["CompiledModel", "ExportedModel", "export"]
