"""N:M-sparse layers for PyTorch.

    import nm.torch

    model.fc1 = nm.torch.NMLinear.from_dense(model.fc1, "2:4")
    report = nm.torch.sparsify(model, {"encoder.*": "2:4"}, example)

The operator behind them, torch.ops.nm.linear, works under torch.compile and in CUDA
graphs, and has gradients for its activations and its bias. Weights are constants.
"""

from ._linear import NMLinear
from ._op import linear
from ._sparsify import LayerReport, SparsifyReport, sparsify

__all__ = ["LayerReport", "NMLinear", "SparsifyReport", "linear", "sparsify"]
