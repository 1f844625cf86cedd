"""Sparse products of other libraries, each where this machine has the library.

XNNPACK (Debian's libxnnpack-dev) convolves planes of channels by 1x1 filters, whose zeros it skips.
oneDNN (PyPI's onednn-cpu-gomp; DNNL_LIBRARY names another file) multiplies a matrix in CSR, by as
many threads as OMP_NUM_THREADS says. MKL (PyTorch's) does, too.

`XNNPACK(threads)`, `OneDNN()` and `MKL()` give callables product(weight, x, out): out[n x m] =
weight[n x k] x[k x m], tensors of f32. OSError says that there is no such library.
"""

import ctypes
import ctypes.util
import os
import sys
from pathlib import Path

import torch


def load(name, *files):
    for file in (*files, ctypes.util.find_library(name)):
        if file and (os.sep not in str(file) or os.path.exists(file)):
            return ctypes.CDLL(str(file))
    raise OSError(f"lib{name} was not found")


def check(status):
    if status != 0:
        raise RuntimeError(f"a call of a library ended with {status}")


def as_floats(tensor):
    return ctypes.cast(tensor.data_ptr(), ctypes.POINTER(ctypes.c_float))


class XNNPACK:
    """Of Debian's version, whose convolutions know no cache of weights."""

    def __init__(self, threads):
        self.library, pool = load("XNNPACK"), load("pthreadpool")
        pool.pthreadpool_create.restype = ctypes.c_void_p
        self.pool = ctypes.c_void_p(pool.pthreadpool_create(ctypes.c_size_t(threads)))
        if hasattr(self.library, "xnn_reshape_convolution2d_nchw_f32"):
            raise OSError("XNNPACK is of a later version than Debian 12 has")
        check(self.library.xnn_initialize(None))

    def __call__(self, weight, x, out):
        columns, k = weight.shape
        sizes = [ctypes.c_uint32(each) for each in (0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1)]
        channels = [ctypes.c_size_t(each) for each in (k, columns, k, columns)]
        operator = ctypes.c_void_p()
        infinity = float("inf")
        check(self.library.xnn_create_convolution2d_nchw_f32(
            *sizes, *channels, as_floats(weight), None, ctypes.c_float(-infinity),
            ctypes.c_float(infinity), ctypes.c_uint32(0), ctypes.byref(operator)))
        check(self.library.xnn_setup_convolution2d_nchw_f32(
            operator, ctypes.c_size_t(1), ctypes.c_size_t(1), ctypes.c_size_t(x.shape[1]),
            as_floats(x), as_floats(out), self.pool))
        return lambda kept=(x, out): check(self.library.xnn_run_operator(operator, self.pool))


class Argument(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("memory", ctypes.c_void_p)]


class OneDNN:
    F32, S32, ROW_MAJOR = 3, 4, 3
    SOURCE, DESTINATION, WEIGHTS = 1, 17, 33

    def __init__(self):
        self.library = load("dnnl", os.environ.get("DNNL_LIBRARY"),
                            Path(sys.prefix) / "lib" / "libdnnl.so.3")
        if not hasattr(self.library, "dnnl_memory_create_v2"):
            raise OSError("oneDNN was built without sparse products")
        self.engine = self.make("dnnl_engine_create", 1, ctypes.c_size_t(0))
        self.stream = self.make("dnnl_stream_create", self.engine, 1)

    def make(self, function, *arguments):
        made = ctypes.c_void_p()
        check(getattr(self.library, function)(ctypes.byref(made), *arguments))
        return made

    def dense(self, tensor):
        sizes = (ctypes.c_int64 * 12)(*tensor.shape)
        described = self.make("dnnl_memory_desc_create_with_tag", 2, sizes, self.F32,
                              self.ROW_MAJOR)
        return described, self.make("dnnl_memory_create", described, self.engine,
                                    ctypes.c_void_p(tensor.data_ptr()))

    def sparse(self, matrix, parts):
        sizes = (ctypes.c_int64 * 12)(*matrix.shape)
        described = self.make("dnnl_memory_desc_create_with_csr_encoding", 2, sizes, self.F32,
                              ctypes.c_int64(len(parts[0])), self.S32, self.S32)
        places = (ctypes.c_void_p * 3)(*(part.data_ptr() for part in parts))
        return described, self.make("dnnl_memory_create_v2", described, self.engine, 3, places)

    def __call__(self, weight, x, out):
        csr = weight.to_sparse_csr()
        parts = (csr.values(), csr.col_indices().int(), csr.crow_indices().int())
        operands = [self.sparse(weight, parts), self.dense(x), self.dense(out)]
        (a, _), (b, _), (c, _) = operands
        described = self.make("dnnl_matmul_primitive_desc_create", self.engine, a, b, None, c, None)
        primitive = self.make("dnnl_primitive_create", described)
        kinds = (self.SOURCE, self.WEIGHTS, self.DESTINATION)
        arguments = (Argument * 3)(*(Argument(kind, memory.value)
                                     for kind, (_, memory) in zip(kinds, operands)))

        def call(kept=(parts, x, out)):
            check(self.library.dnnl_primitive_execute(primitive, self.stream, 3, arguments))
            check(self.library.dnnl_stream_wait(self.stream))
        return call


class MKL:
    def __init__(self):
        if not torch.backends.mkl.is_available():
            raise OSError("PyTorch was built without MKL")

    def __call__(self, weight, x, out):
        csr = weight.to_sparse_csr()
        return lambda: torch.mm(csr, x, out=out)
