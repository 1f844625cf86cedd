"""Arrays of all kinds as memory, and results of the kind that came in.

Every library has one Kind. None is imported here unless an array of it came.
"""

from __future__ import annotations

import sys
from ctypes import (addressof, byref, c_int, c_ssize_t, c_void_p, py_object,
                    pythonapi, sizeof)
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _library as lib
from ._errors import DeviceError, DTypeError, Error

NUMPY_NAMES = {"f64": "float64", "f32": "float32", "f16": "float16",
               "bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn",
               "f8E5M2": "float8_e5m2", "i64": "int64", "i32": "int32",
               "i8": "int8"}
_ELEMENTS = {name: element for element, name in NUMPY_NAMES.items()}


@dataclass
class View:
    """Elements in someone else's memory.

    Attributes:
        data: the address of the first element.
        dtype: MLIR's name of the element type.
        shape, strides: in elements.
        device: ``(lib.CPU, 0)`` or ``(lib.CUDA, n)``.
        owner: what keeps the memory alive.
    """

    data: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device: tuple[int, int]
    owner: Any

    @property
    def is_row_major(self) -> bool:
        return is_row_major(self.shape, self.strides)

    def tensor(self) -> lib.NmTensor:
        strides = None if self.is_row_major else self.strides
        return lib.tensor(self.data, self.dtype, self.shape, strides,
                          self.device)


def is_row_major(shape, strides) -> bool:
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True


def row_major(shape) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def device_name(device: tuple[int, int]) -> str:
    return "cpu" if device[0] == lib.CPU else f"cuda:{device[1]}"


def _buffer_address(name: str) -> Any:
    """A function of Python's stable interface that writes the address of an
    object's elements to an address."""
    function = pythonapi[name]
    function.argtypes, function.restype = [py_object, c_void_p, c_void_p], c_int
    return function


# ctypes' own way, addressof, raises two audit events, each of which calls the hooks
# that other packages have set.
_read_buffer = _buffer_address("PyObject_AsReadBuffer")
_write_buffer = _buffer_address("PyObject_AsWriteBuffer")
_size = byref(c_ssize_t())
# What is strided, read-only where it is written, or of no type of C.
_NoBuffer = (TypeError, ValueError, BufferError)


def element_name(dtype: Any) -> str:
    """MLIR's name of a dtype of any library; DTypeError for others."""
    name = getattr(dtype, "name", None) or str(dtype).rpartition(".")[2]
    element = _ELEMENTS.get(name)
    if element is None:
        raise DTypeError("expected elements of "
                         f"{', '.join(_ELEMENTS)}, but got {name}")
    return element


def numpy_dtype(element: str) -> np.dtype:
    """NumPy's dtype of that name; ml_dtypes has those that NumPy has not."""
    if element in lib.EXTENSION_TYPES:
        try:
            import ml_dtypes
        except ImportError:
            raise DTypeError(f"expected the package ml_dtypes for {element} in "
                             "NumPy, but it is not installed") from None
        return np.dtype(getattr(ml_dtypes, NUMPY_NAMES[element]))
    return np.dtype(NUMPY_NAMES[element])


def typed(raw: np.ndarray, element: str) -> np.ndarray:
    """`raw`, whose type tells its numbers: bits of a type that NumPy has not are
    those of ml_dtypes then."""
    return raw.view(numpy_dtype(element)) if element in lib.EXTENSION_TYPES else raw


class _Dtypes(dict):
    """NumPy's dtypes by MLIR's names, each looked up once."""

    def __missing__(self, element: str) -> np.dtype:
        self[element] = numpy_dtype(element)
        return self[element]


_numpy_dtypes = _Dtypes()


class Slot:
    """The addresses of one call; two threads must not share them.

    Attributes:
        data: the addresses.
        address: of `data`.
        places: of each of its elements.
    """

    __slots__ = ("data", "address", "places")

    def __init__(self, count: int):
        self.data = (c_void_p * count)()
        self.address = addressof(self.data)
        self.places = tuple(self.address + i * sizeof(c_void_p)
                            for i in range(count))


class Kind:
    """What nm needs from one library of arrays."""

    name = ""
    #: Whether the elements may live no longer than what described them.
    must_be_held = False
    #: Whether the library copies, on a device, what kernels cannot take as it is;
    #: else the runtime does.
    copies = True

    def view(self, array: Any) -> View:
        """The memory of `array`, ready for work on the current stream."""
        raise NotImplementedError

    def signature(self, array: Any) -> tuple:
        """What a prepared call depends on; two arrays of one type and signature
        differ in their address alone."""
        view = self.view(array)
        return view.dtype, view.shape, view.strides, view.device

    def hold(self, array: Any) -> Any:
        """What `store` takes in place of `array`, and keeps its elements alive
        as long as it lives itself."""
        return array

    def store(self, array: Any, slot: Slot, i: int) -> None:
        """Puts the address of the elements, ready for work on the current
        stream, to place `i`."""
        slot.data[i] = self.view(array).data

    def store_result(self, array: Any, slot: Slot, i: int) -> None:
        """The same of what `empty` made."""
        self.store(array, slot, i)

    def store_out(self, array: Any, shape, element: str,
                  device: tuple[int, int], slot: Slot, i: int) -> bool:
        """The same of an array that results can be written to as it is; False
        where that needs a closer look."""
        return False

    def needs_copy(self, array: Any) -> bool:
        """Whether strides in elements cannot describe the array."""
        return False

    def empty(self, shape, element: str, like: Any) -> Any:
        """A new array on the device of `like`, to be written."""
        raise NotImplementedError

    def contiguous(self, array: Any) -> Any:
        """`array`, or a row-major copy of it."""
        raise NotImplementedError

    def copy(self, array: Any) -> Any:
        """A row-major copy in fresh memory on the array's device."""
        raise NotImplementedError

    def to_host(self, array: Any) -> View:
        """The elements on the host: of the array itself where it is there."""
        raise NotImplementedError

    def from_host(self, array: np.ndarray, like: Any, element: str) -> Any:
        """An array of this kind, on the device of `like`, from raw elements."""
        raise NotImplementedError

    def stream(self, array: Any) -> int:
        """The handle of the caller's current stream on the array's device."""
        return 0

    def check_writable(self, array: Any) -> None:
        """Raises where results cannot be written to `array`."""

    def finish(self, array: Any) -> Any:
        """What the caller gets for an array from `empty`."""
        return array

    def finish_on_host(self, array: Any) -> Any:
        """The same of an array that is known to be on the host."""
        return self.finish(array)


class NumpyKind(Kind):
    name = "numpy"

    def store(self, array, slot, i):
        # Half of the time of __array_interface__, which has to describe all.
        try:
            _read_buffer(array, slot.places[i], _size)
        except _NoBuffer:
            slot.data[i] = array.__array_interface__["data"][0]

    def store_out(self, array, shape, element, device, slot, i):
        if (array.shape != shape or array.dtype != _numpy_dtypes[element]
                or device[0] != lib.CPU):
            return False
        try:
            _write_buffer(array, slot.places[i], _size)
        except _NoBuffer:
            return False
        return True

    def view(self, array: np.ndarray) -> View:
        array = np.asarray(array)
        element = element_name(array.dtype)
        if not array.dtype.isnative:
            raise DTypeError(f"expected elements in this machine's byte order, "
                             f"but got {array.dtype}")
        size = array.itemsize
        if any(stride % size for stride in array.strides):
            array = np.ascontiguousarray(array)
        return View(array.__array_interface__["data"][0], element, array.shape,
                    tuple(stride // size for stride in array.strides),
                    (lib.CPU, 0), array)

    def signature(self, array):
        return array.dtype, array.shape, array.strides

    def needs_copy(self, array):
        return any(stride % array.itemsize for stride in array.strides)

    def empty(self, shape, element, like):
        return np.empty(shape, _numpy_dtypes[element])

    def contiguous(self, array):
        return np.ascontiguousarray(array)

    def to_host(self, array):
        return self.view(array)

    def from_host(self, array, like, element):
        return typed(array, element)

    def check_writable(self, array):
        if not array.flags.writeable:
            raise Error("expected out to be writable, but it is read-only")


class TorchKind(Kind):
    name = "torch"

    def __init__(self) -> None:
        import torch
        self.torch, self._forward_ad = torch, torch.autograd.forward_ad
        self.elements = {getattr(torch, name): element for element, name in
                         NUMPY_NAMES.items() if hasattr(torch, name)}
        self.dtypes = {element: dtype for dtype, element in
                       self.elements.items()}
        # What torch's own compiled code calls: a twentieth of the time of
        # current_stream(device).cuda_stream.
        self._raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def _element(self, tensor) -> str:
        element = self.elements.get(tensor.dtype)
        if element is None:
            raise DTypeError(f"expected elements of {', '.join(_ELEMENTS)}, but "
                             f"got {tensor.dtype}")
        return element

    def view(self, array):
        if array.layout is not self.torch.strided or array.is_nested:
            raise self._not_dense(array)
        if type(array).__name__.startswith("SparseSemiStructured"):
            raise Error(f"expected a dense tensor, but got "
                        f"{type(array).__name__}; tensor.to_dense() makes one, "
                        "and nm.io.from_cutlass reads the CUTLASS form")
        if array.is_neg():
            raise self._negated()
        kind = array.device.type
        if kind not in ("cpu", "cuda"):
            raise DeviceError("expected a tensor on a CPU or a CUDA device, but "
                              f"it is on {array.device}")
        device = (lib.CPU, 0) if kind == "cpu" else (lib.CUDA,
                                                     array.device.index or 0)
        return View(self._address(array), self._element(array),
                    tuple(array.shape), array.stride(), device, array)

    def _address(self, tensor) -> int:
        """That of the elements, which tensors that stand for others lack."""
        try:
            address = tensor.data_ptr()
        except RuntimeError:
            address = 0
        if address == 0 and tensor.numel():
            raise Error("expected a tensor with elements of its own, but got "
                        f"{type(tensor).__name__} of {tuple(tensor.shape)} "
                        "without; under torch's transforms and with fake tensors "
                        "nm.torch.linear works")
        return address

    def _not_dense(self, tensor) -> Error:
        what = "a nested one" if tensor.is_nested else str(tensor.layout)
        return Error(f"expected a dense tensor, but got {what}; "
                     "tensor.to_dense() or to_padded_tensor() makes one")

    def _negated(self) -> Error:
        return Error("expected a tensor whose memory holds its elements, but it "
                     "is the negative of its memory, as of the imaginary part of "
                     "a conjugate; tensor.resolve_neg() makes one")

    def signature(self, array):
        if array.requires_grad and self.torch.is_grad_enabled():
            raise Error("expected a tensor without gradient, which would be "
                        "lost here; nm.torch has modules and functions with "
                        "gradients, torch.no_grad() goes without")
        if self._forward_ad._current_level >= 0 and self._has_tangent(array):
            raise Error("expected a tensor without a tangent of forward mode, which "
                        "would be lost here; nm.torch.linear has derivatives")
        if array.is_neg():
            raise self._negated()
        try:
            return array.dtype, array.shape, array.stride(), array.device
        except RuntimeError:
            raise self._not_dense(array) from None

    def _has_tangent(self, array) -> bool:
        return self._forward_ad.unpack_dual(array).tangent is not None

    def store(self, array, slot, i):
        slot.data[i] = array.data_ptr()

    def store_out(self, array, shape, element, device, slot, i):
        is_there = (array.is_cpu if device[0] == lib.CPU else
                    array.is_cuda and array.get_device() == device[1])
        if (not is_there or array.shape != shape or array.requires_grad
                or array.dtype != self.dtypes[element]
                or not array.is_contiguous()):
            return False
        slot.data[i] = array.data_ptr()
        return True

    def empty(self, shape, element, like):
        return self.torch.empty(shape, dtype=self.dtypes[element],
                                device=like.device)

    def contiguous(self, array):
        return array.contiguous()

    def copy(self, array):
        return array.clone(memory_format=self.torch.contiguous_format)

    def to_host(self, array):
        return self.view(array.detach().cpu())

    def from_host(self, array, like, element):
        bits = {1: self.torch.int8, 2: self.torch.int16, 4: self.torch.int32,
                8: self.torch.int64}[array.itemsize]
        raw = self.torch.from_numpy(
            array.view(f"i{array.itemsize}")).to(bits)
        return raw.view(self.dtypes[element]).to(like.device)

    def check_writable(self, array):
        if array.requires_grad and self.torch.is_grad_enabled():
            raise Error("expected out without gradient, but it requires one")

    def stream(self, array):
        if self._raw_stream is not None:
            return self._raw_stream(array.get_device())
        return self.torch.cuda.current_stream(array.device).cuda_stream


class CupyKind(Kind):
    name = "cupy"

    def __init__(self) -> None:
        import cupy
        self.cupy = cupy

    def view(self, array):
        size = array.itemsize
        return View(array.data.ptr, element_name(array.dtype), array.shape,
                    tuple(stride // size for stride in array.strides),
                    (lib.CUDA, array.device.id), array)

    def signature(self, array):
        return array.dtype, array.shape, array.strides, array.device.id

    def store(self, array, slot, i):
        slot.data[i] = array.data.ptr

    def needs_copy(self, array):
        return any(stride % array.itemsize for stride in array.strides)

    def empty(self, shape, element, like):
        with like.device:
            return self.cupy.empty(shape, numpy_dtype(element))

    def contiguous(self, array):
        with array.device:
            return self.cupy.ascontiguousarray(array)

    def copy(self, array):
        with array.device:
            return array.copy(order="C")

    def to_host(self, array):
        return KINDS["numpy"].view(self.cupy.asnumpy(array))

    def from_host(self, array, like, element):
        with like.device:
            return self.cupy.asarray(array.view(numpy_dtype(element)))

    def stream(self, array):
        return self.cupy.cuda.get_current_stream().ptr


def _from_interface(array: Any) -> np.ndarray:
    """The memory that __array_interface__ describes, as NumPy's array."""
    try:
        return np.asarray(array)
    except (TypeError, ValueError) as error:
        interface = getattr(array, "__array_interface__", None)
        data = interface.get("data") if isinstance(interface, dict) else None
        reason = str(error)
        if isinstance(data, tuple) and data and not data[0]:
            reason = f"its data is a null pointer, with shape {interface.get('shape')}"
        raise Error("expected __array_interface__ to describe an array's memory, but "
                    f"that of {type(array).__name__} does not: {reason}") from None


class InterfaceKind(NumpyKind):
    """Anything else with __array_interface__; results are NumPy's."""

    name = "array interface"
    must_be_held = True

    def view(self, array):
        return super().view(_from_interface(array))

    def hold(self, array):
        return _from_interface(array)

    def signature(self, array):
        return super().signature(_from_interface(array))

    def store_out(self, array, shape, element, device, slot, i):
        return super().store_out(_from_interface(array), shape, element, device, slot,
                                 i)

    def needs_copy(self, array):
        return super().needs_copy(_from_interface(array))

    def empty(self, shape, element, like):
        return np.empty(shape, numpy_dtype(element))

    def contiguous(self, array):
        return np.ascontiguousarray(_from_interface(array))

    def check_writable(self, array):
        if not _from_interface(array).flags.writeable:
            raise Error("expected out to be writable, but it is read-only")


class _Kinds(dict):
    """The kinds by name, each made when it is first needed."""

    def __missing__(self, name: str) -> Kind:
        if name in ("jax", "dlpack"):
            from . import _dlpack
            kind: Kind = (_dlpack.JaxKind if name == "jax" else _dlpack.DlpackKind)()
        else:
            kind = {"numpy": NumpyKind, "torch": TorchKind, "cupy": CupyKind,
                    "interface": InterfaceKind}[name]()
        self[name] = kind
        return kind


KINDS = _Kinds()
_kind_by_type: dict[type, Kind] = {}


def kind_of(array: Any) -> Kind:
    """The kind of an array; TypeError for what is none."""
    kind = _kind_by_type.get(type(array))
    if kind is None:
        kind = _find_kind(array)
        _kind_by_type[type(array)] = kind
    return kind


def _is_instance(array: Any, module: str, name: str) -> bool:
    """isinstance without an import: an array of a library is a proof that the
    library is loaded."""
    loaded = sys.modules.get(module)
    base = getattr(loaded, name, None)
    return base is not None and isinstance(array, base)


def _find_kind(array: Any) -> Kind:
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError("expected an array without a mask, whose elements would "
                        "count; array.filled(0) makes one")
    if isinstance(array, (np.ndarray, np.generic)):
        return KINDS["numpy"]
    for module, name, kind in (("torch", "Tensor", "torch"),
                               ("cupy", "ndarray", "cupy"),
                               ("jax", "Array", "jax"),
                               ("nm._raw", "RawArray", "raw")):
        if _is_instance(array, module, name):
            return KINDS[kind]
    if hasattr(type(array), "__dlpack__"):
        return KINDS["dlpack"]
    if hasattr(array, "__array_interface__"):
        return KINDS["interface"]
    raise TypeError("expected an array with __dlpack__ or __array_interface__, "
                    f"but got {type(array).__name__}")


def host_array(array: Any) -> tuple[View, Kind]:
    """The elements of any array on the host, and the kind that it is of."""
    kind = kind_of(array)
    view = kind.to_host(array)
    if view.data % lib.ELEMENT_SIZES[view.dtype]:
        # The library reads whole elements.
        copy = as_numpy(view).copy()
        view = View(copy.__array_interface__["data"][0], view.dtype, view.shape,
                    row_major(view.shape), view.device, copy)
    return view, kind


def is_on_device(array: Any) -> bool:
    """Whether an array is a tensor of PyTorch on a CUDA device, where PyTorch's own
    operators look at it."""
    return kind_of(array).name == "torch" and array.is_cuda


def as_numpy(view: View) -> np.ndarray:
    """A view on the host as an array of NumPy's own types, without a copy."""
    dtype = raw_empty((), view.dtype).dtype
    interface = {
        "data": (view.data, True), "shape": view.shape, "version": 3,
        "typestr": dtype.str,
        "strides": tuple(stride * dtype.itemsize for stride in view.strides)}
    return np.asarray(_Memory(interface, view.owner))


class _Memory:
    def __init__(self, interface: dict, owner: Any):
        self.__array_interface__, self.owner = interface, owner


def raw_empty(shape, element: str) -> np.ndarray:
    """Memory for elements of any type, also of one that NumPy has not: those are
    unsigned integers then."""
    if element in lib.EXTENSION_TYPES:
        return np.empty(shape, f"u{lib.ELEMENT_SIZES[element]}")
    return np.empty(shape, NUMPY_NAMES[element])


def raw_tensor(array: np.ndarray, element: str) -> lib.NmTensor:
    """Describes an array from raw_empty."""
    return lib.tensor(array.__array_interface__["data"][0], element, array.shape)
