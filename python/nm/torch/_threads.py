"""The threads that nm's loops run on beside PyTorch's."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import torch

from .. import _library as lib


def share_threads() -> bool:
    """Has nm run its loops on the OpenMP threads that PyTorch runs its operators on.

    They spin for some milliseconds after an operator, in case there is another: threads
    of nm's own would have to share the processors with them.

    Returns:
        False where PyTorch uses no OpenMP: then nm's threads are its own.
    """
    parallel = _parallel_function()
    if parallel is None:
        return False
    lib.runtime.nmSetThreadTeam(parallel)
    return True


def _parallel_function() -> int | None:
    """The address of GOMP_parallel in the OpenMP library that PyTorch has loaded."""
    if sys.platform != "linux":
        return None
    library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    try:
        # It is looked up in what the library depends on, too.
        function = ctypes.CDLL(str(library)).GOMP_parallel
    except (OSError, AttributeError):
        return None
    return ctypes.cast(function, ctypes.c_void_p).value
