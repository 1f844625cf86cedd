"""Writing functions of MLIR's linalg dialect as text, without MLIR."""

from ._function import FunctionText, Tensor
from ._scalars import Body, Scalar
from ._sizes import Dim, Size

__all__ = ["Body", "Dim", "FunctionText", "Scalar", "Size", "Tensor"]
