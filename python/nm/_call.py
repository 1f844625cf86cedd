"""Calls whose shapes, strides and types are known beforehand.

This is the path that small products spend their time on: what depends on shapes
is done once, and a call fills in addresses.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Sequence

from . import _arrays
from . import _library as lib
from ._errors import DeviceError, DTypeError, Error, ShapeError

if TYPE_CHECKING:
    from ._module import BoundFunction

#: Sizes and strides that the compiled function takes for an array.
Layout = tuple[tuple[int, ...], tuple[int, ...]]


class _Slot:
    """The descriptors of one call; two threads must not share them."""

    def __init__(self, args: list[lib.NmTensor], results: list[lib.NmTensor]):
        self._args = (lib.NmTensor * len(args))(*args)
        self._results = (lib.NmTensor * len(results))(*results)
        # ctypes makes a new object for each element that is asked for.
        self.args = list(self._args)
        self.results = list(self._results)
        self.args_address = ctypes.addressof(self._args)
        self.results_address = ctypes.addressof(self._results)
        self._kept = args, results


class PreparedCall:
    """A call for arguments of fixed kinds, shapes, strides, types and device.

    Args:
        bound: what is called.
        arrays: arguments like those of the calls.
        result_shapes, result_types: of the results.
        layouts: of each argument the layout that the function takes where it is
            not the array's own, or None.
        native_shapes: of each result the shape that the function gives, where
            it is not that of the result.
    """

    def __init__(self, bound: BoundFunction, arrays: Sequence[Any],
                 result_shapes: list[tuple[int, ...]], result_types: list[str],
                 layouts: Sequence[Layout | None] | None = None,
                 native_shapes: list[tuple[int, ...]] | None = None):
        self._bound = bound
        self._handle = bound._handle
        self._on_cuda = bound.device[0] == lib.CUDA
        self._kinds = [_arrays.kind_of(array) for array in arrays]
        self._types = [type(array) for array in arrays]
        self._signatures = [kind.signature(array)
                            for kind, array in zip(self._kinds, arrays)]
        layouts = layouts or [None] * len(arrays)
        self._copied, self._args, self._extents = [], [], []
        for i, array in enumerate(arrays):
            self._add_argument(i, array, layouts[i])
        self._any_copied = any(self._copied)
        self._result_shapes, self._result_types = result_shapes, result_types
        self._result_kind = (self._kinds[0] if arrays
                             else _arrays.KINDS["numpy"])
        self._native_shapes = native_shapes or result_shapes
        self._results = [lib.tensor(0, dtype, shape, None, bound.device)
                         for dtype, shape in zip(result_types,
                                                 self._native_shapes)]
        self._single = len(result_shapes) == 1
        self._free: list[_Slot] = []

    def _add_argument(self, i: int, array: Any, layout: Layout | None) -> None:
        kind, bound = self._kinds[i], self._bound
        view = kind.view(array)
        if view.device != bound.device:
            raise DeviceError(
                f"argument {i} of @{bound.function.name}: expected an array on "
                f"{_arrays.device_name(bound.device)}, but it is on "
                f"{_arrays.device_name(view.device)}")
        shape, strides = layout or (view.shape, view.strides)
        # Kernels take row-major memory; on the host the runtime copies.
        copied = strides is None or (
            self._on_cuda and not _arrays.is_row_major(shape, strides)
        ) or kind.needs_copy(array)
        if copied:
            strides = _arrays.row_major(shape)
        self._copied.append(copied)
        row_major = _arrays.is_row_major(shape, strides)
        self._args.append(lib.tensor(0, view.dtype, shape,
                                     None if row_major else strides,
                                     bound.device))
        self._extents.append(_extent(shape, strides, view.dtype))

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """Calls the function on arrays like those that it was prepared for.

        Raises:
            ShapeError: they are not like them.
        """
        for array, type_, kind, signature in zip(
                arrays, self._types, self._kinds, self._signatures):
            if type(array) is not type_ or kind.signature(array) != signature:
                raise ShapeError(self._mismatch(array, signature))
        if len(arrays) != len(self._types):
            raise ShapeError(f"expected {len(self._types)} arrays, as the call "
                             f"was prepared for, but got {len(arrays)}")
        return self.run(arrays, out)

    def _mismatch(self, array: Any, signature: tuple) -> str:
        got = _arrays.kind_of(array).signature(array)
        return ("expected an array like that which the call was prepared for, "
                f"{signature}, but got {type(array).__name__} {got}")

    def run(self, arrays: Sequence[Any], out: Any = None) -> Any:
        """The same, unchecked."""
        kinds = self._kinds
        if self._any_copied:
            arrays = [kind.contiguous(array) if copied else array for
                      kind, array, copied in zip(kinds, arrays, self._copied)]
        try:
            slot = self._free.pop()
        except IndexError:
            slot = _Slot(self._args, self._results)
        for i, array in enumerate(arrays):
            slot.args[i].data = kinds[i].pointer(array)
        if out is None:
            kind = self._result_kind
            like = arrays[0] if arrays else None
            results = [kind.empty(shape, element, like) for shape, element in
                       zip(self._result_shapes, self._result_types)]
            for i, result in enumerate(results):
                slot.results[i].data = kind.result_pointer(result)
            self._call(slot, kind, like)
            if self._single:
                return kind.finish(results[0])
            return tuple(kind.finish(result) for result in results)
        return self._run_into(slot, arrays, out)

    def _call(self, slot: _Slot, kind: _arrays.Kind, like: Any) -> None:
        if self._on_cuda:
            message = lib.runtime.nmFunctionCallOnStream(
                self._handle, slot.args_address, len(slot.args),
                slot.results_address, len(slot.results), kind.stream(like))
        else:
            message = lib.runtime.nmFunctionCall(
                self._handle, slot.args_address, len(slot.args),
                slot.results_address, len(slot.results))
        self._free.append(slot)
        if message:
            raise Error(lib.take_text(message))

    def _run_into(self, slot: _Slot, arrays: Sequence[Any], out: Any) -> Any:
        outs = (out,) if self._single else tuple(out)
        if len(outs) != len(self._result_shapes):
            raise ShapeError(f"expected {len(self._result_shapes)} arrays in "
                             f"out, but got {len(outs)}")
        copies = []
        for i, array in enumerate(outs):
            kind = _arrays.kind_of(array)
            view = kind.view(array)
            self._check_out(i, array, kind, view)
            if view.is_row_major and not self._overlaps(slot, view):
                slot.results[i].data = view.data
                continue
            fresh = kind.empty(self._result_shapes[i], self._result_types[i],
                               array)
            slot.results[i].data = kind.result_pointer(fresh)
            copies.append((array, kind.finish(fresh)))
        like = arrays[0] if arrays else outs[0]
        self._call(slot, _arrays.kind_of(like), like)
        for array, fresh in copies:
            array[...] = fresh
        return out

    def _check_out(self, i: int, array: Any, kind: _arrays.Kind,
                   view: _arrays.View) -> None:
        kind.check_writable(array)
        if view.dtype != self._result_types[i]:
            raise DTypeError(f"expected out of {self._result_types[i]}, but got "
                             f"{view.dtype}")
        if view.shape != self._result_shapes[i]:
            raise ShapeError(f"expected out of shape {self._result_shapes[i]}, "
                             f"but got {view.shape}")
        if view.device != self._bound.device:
            raise DeviceError(
                f"expected out on {_arrays.device_name(self._bound.device)}, but "
                f"it is on {_arrays.device_name(view.device)}")

    def _overlaps(self, slot: _Slot, view: _arrays.View) -> bool:
        """Whether results would be written over arguments that are still read."""
        begin, end = _extent(view.shape, view.strides, view.dtype)
        begin, end = begin + view.data, end + view.data
        for tensor, (low, high) in zip(slot.args, self._extents):
            data = tensor.data or 0
            if begin < data + high and data + low < end:
                return True
        return False


def _extent(shape, strides, element: str) -> tuple[int, int]:
    """The bytes that an array covers, from its first element."""
    low = high = 0
    for size, stride in zip(shape, strides):
        if size == 0:
            return 0, 0
        reach = (size - 1) * stride
        low, high = low + min(reach, 0), high + max(reach, 0)
    width = lib.ELEMENT_SIZES[element]
    return low * width, (high + 1) * width
