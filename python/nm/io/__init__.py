"""Reading weights from where they come.

    source = nm.io.open_weights("model.safetensors")
    w = nm.compress(source["layers.0.fc1.weight"], "2:4", axis=1)

`open_weights` reads dense safetensors (one file, shards with an index, or a
folder of either), compressed-tensors' sparse-24-bitmask and sparse-bitmask, .npy,
.npz and the weights of .onnx, and says of each its axis, scales and zero points where the
file does. Forms that come as arrays have a function each:
`from_bitmask`, `from_cutlass`, `apply_mask`; `to_bitmask` is the way back.
"""

from ._bitmask import apply_mask, from_bitmask, to_bitmask
from ._cutlass import from_cutlass
from ._source import WeightSource, load_dense, open_weights

__all__ = ["WeightSource", "apply_mask", "from_bitmask", "from_cutlass",
           "load_dense", "open_weights", "to_bitmask"]
