"""nm: products with N:M-sparse weights, compiled for the machine at hand.

    import nm

    w = nm.compress(weight, "2:4", axis=1)    # a PyTorch-style [n, k] weight
    y = nm.matmul(x, w, bias, "gelu")         # x of any array library

docs/Python.md of the repository is the guide.
"""

from . import io
from ._cache import CacheWarning, cache_dir, clear_cache
from ._checkpoint import Converted, ConvertReport, convert
from ._compile import compile, compile_options, compiler_build, lower
from ._errors import (CompileError, CompilerNotFoundError, DeviceError,
                      Diagnostic, DTypeError, Error, FileFormatError, FileWarning,
                      PatternError, ShapeError)
from ._formats import CheckReport, Window, check, compress, detect
from ._forms import set_packed_forms
from ._library import has_compiler
from ._matmul import PreparedMatmul, matmul, precompile, prepare
from ._module import BoundFunction, Function, Module, TensorType, load
from ._packed import free_packed, packed_bytes, set_packed_limit
from ._pattern import AxisWarning, Pattern
from ._profile import Profile, Step
from ._prune import Pruned, PruneReport, prune, wanda_scores
from ._quantize import Quantized, quantize
from ._records import Alternative, ProductRecord
from ._runtime import (get_num_threads, is_deterministic, set_deterministic,
                       set_num_threads)
from ._sparse import SparseTensor
from ._tune import Product, TuneReport, Tuned, tune
from ._weightfile import load_weights, save_weights

__version__ = "0.1.0"

__all__ = [
    "Alternative", "AxisWarning", "BoundFunction", "CacheWarning", "CheckReport", "CompileError",
    "CompilerNotFoundError", "ConvertReport", "Converted", "DTypeError", "DeviceError",
    "Diagnostic", "Error",
    "FileFormatError", "FileWarning", "Function", "Module", "Pattern", "PatternError",
    "PreparedMatmul", "Product", "ProductRecord", "Profile", "PruneReport", "Pruned",
    "Quantized", "ShapeError", "SparseTensor", "Step", "TensorType", "TuneReport", "Tuned",
    "Window", "cache_dir", "check", "clear_cache",
    "compile", "compile_options", "compiler_build", "compress", "convert", "detect",
    "free_packed", "get_num_threads", "has_compiler", "io", "is_deterministic", "load", "load_weights", "lower",
    "matmul", "packed_bytes", "precompile", "prepare", "prune", "quantize", "save_weights",
    "set_deterministic", "set_num_threads", "set_packed_forms", "set_packed_limit", "tune",
    "wanda_scores",
]
