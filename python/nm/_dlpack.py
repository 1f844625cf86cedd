"""DLPack: arrays of JAX and of every other library that speaks it.

https://dmlc.github.io/dlpack/latest/c_api.html
"""

from __future__ import annotations

import ctypes
import math
from ctypes import (POINTER, Structure, c_char_p, c_int32, c_int64, c_uint8,
                    c_uint16, c_uint64, c_void_p, py_object, pythonapi)
from typing import Any

import numpy as np

from . import _arrays
from . import _library as lib
from ._errors import DeviceError, DTypeError, Error

K_DL_CPU, K_DL_CUDA, K_DL_CUDA_HOST, K_DL_CUDA_MANAGED = 1, 2, 3, 13
CU_STREAM_LEGACY = 1
# DLDataTypeCode, bits.
_ELEMENTS = {(2, 64): "f64", (2, 32): "f32", (2, 16): "f16", (4, 16): "bf16",
             (10, 8): "f8E4M3FN", (12, 8): "f8E5M2", (0, 64): "i64",
             (0, 32): "i32", (0, 8): "i8"}
_CODES = {element: code for code, element in _ELEMENTS.items()}
# JAX clears what it makes. Above so many bytes that takes longer than to let it
# know memory of NumPy.
_MOST_CLEARED_BYTES = 2 << 20
_KEPT_MAKERS = 128


class _Tensor(Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32),
                ("device_id", c_int32), ("ndim", c_int32), ("code", c_uint8),
                ("bits", c_uint8), ("lanes", c_uint16),
                ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", c_uint64)]


class _Managed(Structure):
    _fields_ = [("tensor", _Tensor), ("context", c_void_p),
                ("deleter", c_void_p)]


_get_pointer = pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = c_void_p, [py_object, c_char_p]
_is_valid = pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [py_object, c_char_p]


def read(capsule: Any) -> _arrays.View:
    """The memory of a capsule, which the view keeps alive."""
    tensor = _managed(capsule).tensor
    element = _ELEMENTS.get((tensor.code, tensor.bits))
    if element is None or tensor.lanes != 1:
        raise DTypeError(f"expected elements of {', '.join(_CODES)}, but got "
                         f"DLPack type code {tensor.code} of {tensor.bits} bits "
                         f"in {tensor.lanes} lanes")
    if tensor.device_type in (K_DL_CPU, K_DL_CUDA_HOST):
        device = (lib.CPU, 0)
    elif tensor.device_type in (K_DL_CUDA, K_DL_CUDA_MANAGED):
        device = (lib.CUDA, tensor.device_id)
    else:
        raise DeviceError("expected an array on a CPU or a CUDA device, but got "
                          f"DLPack device type {tensor.device_type}")
    # A scalar may have neither sizes nor strides.
    shape = tuple(tensor.shape[:tensor.ndim]) if tensor.ndim else ()
    strides = (tuple(tensor.strides[:tensor.ndim])
               if tensor.strides and tensor.ndim else _arrays.row_major(shape))
    # An unconsumed capsule frees its tensor when it goes.
    return _arrays.View((tensor.data or 0) + tensor.byte_offset, element, shape,
                        strides, device, capsule)


class Exporter:
    """Host memory that other libraries take by from_dlpack."""

    def __init__(self, array: np.ndarray, element: str):
        self.array, self.element = array, element

    def __dlpack_device__(self) -> tuple[int, int]:
        return K_DL_CPU, 0

    def __dlpack__(self, **_unused) -> Any:
        # NumPy's deleter is no code of Python, which would crash where a library
        # lets go of its arrays after the interpreter's end. NumPy has not all
        # types.
        capsule = self.array.__dlpack__()
        tensor = _managed(capsule).tensor
        tensor.code, tensor.bits = _CODES[self.element]
        return capsule


def _managed(capsule: Any) -> _Managed:
    if not _is_valid(capsule, b"dltensor"):
        raise Error("expected a DLPack capsule named 'dltensor'")
    return _Managed.from_address(_get_pointer(capsule, b"dltensor"))


class DlpackKind(_arrays.Kind):
    """Any object with __dlpack__ of a library that has no kind of its own.
    Results are NumPy's."""

    name = "dlpack"
    must_be_held = True
    copies = False

    def hold(self, array):
        return array if isinstance(array, _arrays.View) else self.view(array)

    def store(self, array, slot, i):
        slot.data[i] = self.hold(array).data

    def _export(self, array, stream=None):
        kind, _ = array.__dlpack_device__()
        if kind in (K_DL_CPU, K_DL_CUDA_HOST):
            return array.__dlpack__()
        return array.__dlpack__(stream=stream or CU_STREAM_LEGACY)

    def view(self, array):
        return read(self._export(array, self.stream(array)))

    def empty(self, shape, element, like):
        self._expect_host(like)
        return Exporter(_arrays.raw_empty(shape, element), element)

    def store_result(self, array, slot, i):
        slot.data[i] = array.array.__array_interface__["data"][0]

    def finish(self, array):
        return self._from_dlpack(array)

    def _from_dlpack(self, array):
        """What the caller gets for an Exporter."""
        return array.array.view(_arrays.numpy_dtype(array.element))

    def _expect_host(self, like) -> None:
        if like.__dlpack_device__()[0] not in (K_DL_CPU, K_DL_CUDA_HOST):
            raise DeviceError("expected out= for an array of "
                              f"{type(like).__module__} on a device: nm does not "
                              "know how to make one")

    def contiguous(self, array):
        view = self.view(array)
        if view.is_row_major:
            return array
        self._expect_host(array)
        return np.ascontiguousarray(np.from_dlpack(array))

    def to_host(self, array):
        self._expect_host(array)
        return self.view(array)

    def from_host(self, array, like, element):
        return self._from_dlpack(Exporter(array, element))


class JaxKind(DlpackKind):
    """Arrays of JAX are immutable, and have no stream that a caller sees."""

    name = "jax"
    must_be_held = False

    def __init__(self) -> None:
        import jax
        self.jax = jax
        self._makers: dict[tuple, Any] = {}

    def _from_dlpack(self, array):
        return self.jax.dlpack.from_dlpack(array)

    def signature(self, array):
        # Without a capsule, which takes longer than a small product. Nor with the
        # array's format, which is made of these each time.
        try:
            return array.dtype, array.shape, array._pjrt_layout, array.sharding
        except (AttributeError, RuntimeError):
            return self._public_signature(array)

    def _public_signature(self, array):
        try:
            return array.dtype, array.shape, array.format
        except AttributeError:
            return super().signature(array)

    def empty(self, shape, element, like):
        # The same wherever `like` is.
        make = self._makers.get((shape, element))
        if make is not None:
            return make(like)
        is_on_host = like.__dlpack_device__()[0] == K_DL_CPU
        size = math.prod(shape) * lib.ELEMENT_SIZES[element]
        is_narrowed = (element in ("f64", "i64")
                       and not self.jax.config.jax_enable_x64)
        if is_on_host and (is_narrowed or size > _MOST_CLEARED_BYTES):
            return Exporter(_aligned_empty(shape, element), element)
        if is_narrowed:
            raise DTypeError(f"expected jax_enable_x64 for a result of {element}")
        is_everywhere = (size <= _MOST_CLEARED_BYTES
                         and element not in ("f64", "i64"))
        return self._maker(shape, element, is_everywhere)(like)

    def _maker(self, shape, element: str, is_everywhere: bool) -> Any:
        """A function of JAX that makes an array where its argument is: all other
        ways take longer than a small product."""
        key = (shape, element) if is_everywhere else (shape, element, "device")
        make = self._makers.get(key)
        if make is None:
            dtype = _arrays.NUMPY_NAMES[element]
            make = self.jax.jit(lambda like: self.jax.numpy.empty(shape, dtype),
                                keep_unused=True)
            # A list is made at once, while another thread may change the keys.
            for oldest in list(self._makers)[:1 - _KEPT_MAKERS]:
                self._makers.pop(oldest, None)
            self._makers[key] = make
        return make

    def view(self, array):
        if isinstance(array, self.jax.core.Tracer):
            raise Error("expected an array with elements, but got one that is "
                        "traced; inside of jax.jit, jax.pure_callback calls nm")
        if len(array.devices()) > 1:
            raise DeviceError("expected an array on one device, but it is on "
                              f"{len(array.devices())}")
        # Memory that is still being computed on a stream that nobody sees.
        return super().view(array.block_until_ready())

    def store(self, array, slot, i):
        array.block_until_ready()
        slot.data[i] = array.unsafe_buffer_pointer()

    def store_result(self, array, slot, i):
        if isinstance(array, Exporter):
            super().store_result(array, slot, i)
        else:
            self.store(array, slot, i)

    def stream(self, array):
        return CU_STREAM_LEGACY

    def finish(self, array):
        if not isinstance(array, Exporter) and (
                next(iter(array.devices())).platform != "cpu"):
            # What JAX does next with it is queued on a stream of its own.
            lib.runtime.mgpuStreamSynchronize(CU_STREAM_LEGACY)
        return self.finish_on_host(array)

    def finish_on_host(self, array):
        return self._from_dlpack(array) if isinstance(array, Exporter) else array

    def contiguous(self, array):
        return array

    def to_host(self, array):
        return _arrays.KINDS["numpy"].view(np.asarray(array))

    def from_host(self, array, like, element):
        return self.jax.device_put(
            self.jax.dlpack.from_dlpack(Exporter(array, element)),
            next(iter(like.devices())))

    def check_writable(self, array):
        raise Error("expected out to be writable, but arrays of JAX are not")


def _aligned_empty(shape, element: str) -> np.ndarray:
    """Memory at a multiple of 64 bytes: JAX copies what is not."""
    size = lib.ELEMENT_SIZES[element]
    count = int(np.prod(shape, dtype=np.int64))
    raw = np.empty(count * size + 64, np.uint8)
    start = -raw.__array_interface__["data"][0] % 64
    dtype = _arrays.raw_empty((), element).dtype
    return raw[start:start + count * size].view(dtype).reshape(shape)
