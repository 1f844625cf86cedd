"""The two libraries behind the package, by ctypes: libnm_runtime, which needs
nothing, and libnm_compiler, which is loaded at the first compilation.

The declarations here follow include/nm-c; nothing else of the libraries is used.
"""

from __future__ import annotations

import ctypes
import os
import re
import threading
import weakref
from collections.abc import Callable
from ctypes import (CDLL, POINTER, Structure, c_char, c_char_p, c_double, c_int,
                    c_int32, c_int64, c_size_t, c_void_p)
from pathlib import Path

from ._distribution import check_alone
from ._errors import CompilerNotFoundError, Error

check_alone()

CPU, CUDA = 0, 1

#: NmElementType, by the names that MLIR has for the types.
ELEMENT_TYPES = {"f64": 0, "f32": 1, "f16": 2, "bf16": 3, "f8E4M3FN": 4,
                 "i64": 5, "i32": 6, "i8": 7, "f8E5M2": 8}
ELEMENT_SIZES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "f8E4M3FN": 1,
                 "f8E5M2": 1, "i64": 8, "i32": 4, "i8": 1}
#: The same by NmElementType.
ELEMENT_BYTES = {number: ELEMENT_SIZES[name] for name, number in ELEMENT_TYPES.items()}
#: Those that NumPy has not, but ml_dtypes.
EXTENSION_TYPES = ("bf16", "f8E4M3FN", "f8E5M2")


class NmTensor(Structure):
    _fields_ = [("data", c_void_p), ("type", c_int), ("rank", c_int32),
                ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("device", c_int), ("deviceId", c_int32)]


class NmPattern(Structure):
    _fields_ = [(name, c_int64) for name in ("n", "m", "bk", "bn", "dim")]


class NmPatternReport(Structure):
    _fields_ = [("pattern", NmPattern), ("holds", c_int32)] + [
        (name, c_int64) for name in
        ("violations", "windows", "columnBegin", "columnEnd", "kBegin", "kEnd",
         "count", "elements", "nonZeros", "negativeZeros")]


class NmPruneReport(Structure):
    _fields_ = [("nonZeros", c_int64), ("dropped", c_int64),
                ("droppedEnergy", c_double)]


class NmCompileOption(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class NmCompileOptionInfo(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p), ("help", c_char_p)]


class NmDiagnostic(Structure):
    _fields_ = [("severity", c_int), ("place", c_char_p), ("message", c_char_p)]


# The step that a compilation begins, and a context.
NmStepCallback = ctypes.CFUNCTYPE(None, c_char_p, c_void_p)

# Messages are c_void_p: ctypes would copy a c_char_p and lose what to free.
_Tensors, _Sizes = POINTER(NmTensor), POINTER(c_int64)
_Text = POINTER(c_void_p)
_RUNTIME = {
    "nmMessageFree": (None, [c_void_p]),
    "nmGetNumThreads": (c_int32, []),
    "nmSetNumThreads": (None, [c_int32]),
    "nmIsDeterministic": (c_int32, []),
    "nmSetDeterministic": (None, [c_int32]),
    "nmSetThreadTeam": (None, [c_void_p]),
    "nmGetStream": (c_void_p, []),
    "nmCudaGetDeviceCount": (c_void_p, [POINTER(c_int32)]),
    "nmCudaGetDeviceChip": (c_void_p, [c_int32, c_char * 16]),
    "nmModuleLoad": (c_void_p, [c_char_p, _Text]),
    "nmModuleFree": (None, [c_void_p]),
    "nmModuleGetManifest": (c_char_p, [c_void_p]),
    "nmModuleGetContents": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "nmFunctionCreate": (c_void_p, [c_void_p, c_char_p, _Text]),
    "nmFunctionFree": (None, [c_void_p]),
    "nmFunctionSetDevice": (c_void_p, [c_void_p, c_int32]),
    "nmFunctionSetWeight": (c_void_p, [c_void_p, c_int64, _Tensors]),
    "nmFunctionLendCondensedWeight": (c_void_p,
                                      [c_void_p, c_int64, _Tensors, _Tensors]),
    "nmFunctionPackWeights": (c_void_p, [c_void_p]),
    "nmFunctionShareWeights": (c_void_p, [c_void_p, c_void_p, POINTER(c_int32)]),
    "nmFunctionMakeWeights": (c_void_p, [c_void_p, c_void_p, POINTER(c_int32)]),
    "nmFunctionGetPackedWeight": (c_void_p, [c_void_p, c_int64, _Tensors,
                                             POINTER(c_int32)]),
    "nmCallCreate": (c_void_p, [c_void_p, _Tensors, c_int64, _Tensors, c_int64,
                                _Text]),
    "nmCallFree": (None, [c_void_p]),
    # An address, so that ctypes makes no object for a pointer.
    "nmCallRun": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "nmCallKeepGraphs": (c_void_p, [c_void_p, c_int64]),
    "nmCallProfile": (c_void_p, [c_void_p, c_void_p, c_void_p, c_int64,
                                 POINTER(c_double), POINTER(c_double)]),
    "mgpuStreamSynchronize": (None, [c_void_p]),
    "nmPatternParse": (c_void_p, [c_char_p, POINTER(NmPattern)]),
    "nmPatternVerify": (c_void_p, [POINTER(NmPattern)]),
    "nmPatternPrint": (c_void_p, [POINTER(NmPattern), _Text]),
    "nmCheckPattern": (c_void_p, [_Tensors, POINTER(NmPattern),
                                  POINTER(NmPatternReport)]),
    "nmPatternReportDescribe": (c_void_p, [POINTER(NmPatternReport), c_char_p,
                                           _Text]),
    "nmDetectPattern": (c_void_p, [_Tensors, c_int64, c_double,
                                   POINTER(NmPattern), _Text]),
    "nmFindNearPattern": (c_void_p, [_Tensors, c_int64, c_double,
                                     POINTER(NmPattern), POINTER(c_int64)]),
    "nmPrune": (c_void_p, [_Tensors, _Tensors, POINTER(NmPattern), _Tensors,
                           POINTER(NmPruneReport)]),
    "nmCondensedShape": (c_void_p, [POINTER(NmPattern), c_int64, c_int64,
                                    _Sizes, _Sizes]),
    "nmCompress": (c_void_p, [_Tensors, POINTER(NmPattern), c_char_p, _Tensors,
                              _Tensors]),
    "nmVerifyCondensed": (c_void_p, [POINTER(NmPattern), c_int64, c_int64,
                                     c_char_p, _Tensors, _Tensors]),
    "nmIndexShape": (c_void_p, [POINTER(NmPattern), c_int64, c_int64, _Tensors,
                                c_int32, _Sizes]),
    "nmConvertIndices": (c_void_p, [POINTER(NmPattern), c_int64, c_int64, _Tensors,
                                    _Tensors]),
    "nmDecompress": (c_void_p, [_Tensors, _Tensors, POINTER(NmPattern),
                                _Tensors]),
}
_COMPILER = {
    "nmFree": (None, [c_void_p]),
    "nmGetNumCompileOptions": (c_int64, []),
    "nmGetCompileOption": (c_int, [c_int64, POINTER(NmCompileOptionInfo)]),
    "nmGetCompilerBuildId": (c_char_p, []),
    "nmCompileTo": (c_void_p, [c_char_p, c_char_p, c_size_t, c_char_p,
                               POINTER(NmCompileOption), c_int64, NmStepCallback,
                               c_void_p]),
    "nmCompilationFree": (None, [c_void_p]),
    "nmCompilationFailed": (c_int, [c_void_p]),
    "nmCompilationGetArtifact": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "nmCompilationGetNumDiagnostics": (c_int64, [c_void_p]),
    "nmCompilationGetDiagnostic": (c_int, [c_void_p, c_int64,
                                           POINTER(NmDiagnostic)]),
}


def folders() -> list[Path]:
    """Where the libraries are looked for, in order: NM_LIBRARY_DIR, the
    package's own, and the build folder of a checkout."""
    here = Path(__file__).resolve().parent
    places = [here / "_lib", here.parent.parent / "build" / "lib"]
    given = os.environ.get("NM_LIBRARY_DIR")
    # Absolute: the compiler asks the dynamic linker where it lies itself.
    return [Path(given).absolute()] if given else places


def _open(name: str, functions: dict) -> CDLL:
    tried = []
    for folder in folders():
        path = folder / name
        if not path.exists():
            tried.append(f"{path}: no such file")
            continue
        try:
            library = CDLL(str(path))
        except OSError as error:
            tried.append(str(error))
            continue
        for symbol, (result, arguments) in functions.items():
            try:
                function = getattr(library, symbol)
            except AttributeError:
                tried.append(f"{path}: expected the function {symbol}, which "
                             "this build of the library has not")
                break
            function.restype, function.argtypes = result, arguments
        else:
            return library
    raise OSError(f"expected {name}, but found none that loads:\n  "
                  + "\n  ".join(tried)
                  + "\nNM_LIBRARY_DIR names the folder of another build")


try:
    runtime = _open("libnm_runtime.so", _RUNTIME)
except OSError as error:
    raise ImportError(str(error)) from error

_compiler: CDLL | None = None
_compiler_error: str | None = None
_lock = threading.Lock()


def compiler() -> CDLL:
    """libnm_compiler; CompilerNotFoundError where it does not load."""
    global _compiler, _compiler_error
    with _lock:
        if _compiler is None and _compiler_error is None:
            try:
                _compiler = _open("libnm_compiler.so", _COMPILER)
            except OSError as error:
                _compiler_error = f"{error}{_what_to_install(str(error))}"
    if _compiler is None:
        raise CompilerNotFoundError(_compiler_error)
    return _compiler


def _what_to_install(reason: str) -> str:
    """Of the libraries that libnm_compiler.so itself did not find, if those are."""
    missing = re.search(r"lib(MLIR|LLVM)[-.\w]*: cannot open shared object", reason)
    if missing is None:
        return ""
    return ("\nCompiling needs LLVM and MLIR 22, which this machine has not: on Debian "
            "and Ubuntu, `apt-get install libmlir-22`; elsewhere a package with "
            "libMLIR.so.22.1 and libLLVM.so.22.1, in a folder that the dynamic linker "
            "searches or LD_LIBRARY_PATH names. Loading and running compiled modules, "
            "and kernels in the cache, need neither")


def has_compiler() -> bool:
    """Whether this machine can compile; loading and running need no compiler."""
    try:
        compiler()
    except CompilerNotFoundError:
        return False
    return True


def take_text(pointer: int | None) -> str:
    """The text at `pointer`, which is given back to the library."""
    if not pointer:
        return ""
    text = ctypes.string_at(pointer).decode(errors="replace")
    runtime.nmMessageFree(pointer)
    return text


def check(message: int | None, error: type[Error] = Error) -> None:
    """Raises `error` with the library's message, if there is one."""
    if message:
        raise error(take_text(message))


class Handle:
    """What the runtime made, which goes back to it after all that needs it.

    Objects of Python go in any order where they refer to each other in a circle;
    `needed`, the handles that this one is a part of, stay until it has gone. At the
    process's end nothing is given back: other threads may be calling.
    """

    def __init__(self, address: int, free: Callable[[int], None],
                 *needed: Handle):
        self.address = address
        weakref.finalize(self, _give_back, free, address,
                         needed).atexit = False

    def __reduce_ex__(self, _protocol):
        raise TypeError("cannot copy or pickle a loaded module, its functions or "
                        "calls: they belong to their process; nm.Module.save "
                        "writes a module to a file that nm.load reads")


def _give_back(free: Callable[[int], None], address: int, _needed: tuple) -> None:
    free(address)


def text(value: object) -> bytes:
    """A text for the library. What C cannot hold, an end inside and half of a
    character, becomes a question mark."""
    return str(value).encode(errors="replace").replace(b"\0", b"?")


def sizes(values) -> ctypes.Array:
    """An array of int64 in memory."""
    return (c_int64 * len(values))(*values)


def tensor(data: int, dtype: str, shape, strides=None, device=(CPU, 0)) -> NmTensor:
    """Describes elements in memory, which the caller keeps alive."""
    # The arrays of sizes stay alive as long as the struct: ctypes keeps what is
    # assigned to its pointers.
    result = NmTensor(data, ELEMENT_TYPES[dtype], len(shape))
    result.shape = sizes(shape)
    if strides is not None:
        result.strides = sizes(strides)
    result.device, result.deviceId = device
    return result
