"""Calls whose shapes, strides and types are known beforehand.

This is the path that small products spend their time on: what depends on shapes
is done once, and a call fills in addresses.
"""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from . import _arrays
from . import _library as lib
from ._arrays import Slot
from ._errors import DeviceError, DTypeError, Error, ShapeError

if TYPE_CHECKING:
    from ._module import BoundFunction

#: Sizes and strides that the compiled function takes for an array; no strides where
#: only a copy has those sizes.
Layout = tuple[tuple[int, ...], "tuple[int, ...] | None"]


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
        self._on_cuda = bound.device[0] == lib.CUDA
        self._kinds = [_arrays.kind_of(array) for array in arrays]
        self._types = [type(array) for array in arrays]
        self._signatures = [kind.signature(array)
                            for kind, array in zip(self._kinds, arrays)]
        self._updated = [bound.function.args[bound._positions[i]].updated
                         for i in range(len(arrays))]
        self._stores = [self._store_of_updated(i) if updated else kind.store
                        for i, (kind, updated) in enumerate(zip(self._kinds,
                                                                self._updated))]
        layouts = layouts or [None] * len(arrays)
        self._copied: list[bool] = []
        self._extents: list[tuple[int, int]] = []
        args = [self._argument(i, array, layouts[i])
                for i, array in enumerate(arrays)]
        self._any_copied = any(self._copied)
        self._any_held = any(kind.must_be_held for kind in self._kinds)
        self._alignments = bound.alignments()
        self._result_shapes, self._result_types = result_shapes, result_types
        self._result_kind = (self._kinds[0] if arrays
                             else _arrays.KINDS["numpy"])
        results = [lib.tensor(0, dtype, shape, None, bound.device)
                   for dtype, shape in zip(result_types,
                                           native_shapes or result_shapes)]
        self._single = len(result_shapes) == 1
        self._result_bytes = [
            math.prod(shape) * lib.ELEMENT_SIZES[element]
            for shape, element in zip(result_shapes, result_types)]
        self._count = len(arrays)
        self._handle = self._create(args, results)
        self._address = self._handle.address
        self._run = lib.runtime.nmCallRun
        self._is_simple = (self._single and self._count > 0
                           and not self._on_cuda and not self._any_copied
                           and not self._any_held)
        kind = self._result_kind
        self._empty, self._finish_on_host = kind.empty, kind.finish_on_host
        self._store_result = kind.store_result
        self._free: list[Slot] = []

    def _create(self, args: list[lib.NmTensor], results: list[lib.NmTensor]
                ) -> lib.Handle:
        handle = ctypes.c_void_p()
        lib.check(lib.runtime.nmCallCreate(
            self._bound._handle.address, (lib.NmTensor * len(args))(*args), len(args),
            (lib.NmTensor * len(results))(*results), len(results), handle),
            ShapeError)
        call = lib.Handle(handle.value or 0, lib.runtime.nmCallFree,
                          self._bound._handle)
        if self._bound.graphs:
            lib.check(lib.runtime.nmCallKeepGraphs(call.address, self._bound.graphs))
        return call

    def _argument(self, i: int, array: Any, layout: Layout | None
                  ) -> lib.NmTensor:
        kind, bound = self._kinds[i], self._bound
        view = kind.view(array)
        if view.device != bound.device:
            raise DeviceError(
                f"argument {bound._positions[i]} of @{bound.function.name}: "
                f"expected an array on "
                f"{_arrays.device_name(bound.device)}, but it is on "
                f"{_arrays.device_name(view.device)}")
        shape, strides = layout or (view.shape, view.strides)
        # Kernels take row-major memory. The runtime copies what is not, but a
        # library's own memory and kernels for that are better known to it.
        copied = strides is None or (
            self._on_cuda and kind.copies
            and not _arrays.is_row_major(shape, strides)
        ) or kind.needs_copy(array)
        if copied:
            strides = _arrays.row_major(shape)
        self._copied.append(copied)
        row_major = _arrays.is_row_major(shape, strides)
        self._extents.append(_extent(shape, strides, view.dtype))
        return lib.tensor(0, view.dtype, shape, None if row_major else strides,
                          bound.device)

    def _store_of_updated(self, i: int) -> Callable[[Any, Slot, int], None]:
        """Puts the address of an array that the function updates to its place."""
        type_ = self._bound.function.args[self._bound._positions[i]]

        def store(array: Any, slot: Slot, at: int) -> None:
            kind = self._kinds[i]
            shape = kind.view(array).shape
            alignment = self._alignments[i] if self._on_cuda else 1
            if (kind.store_out(array, shape, type_.dtype, self._bound.device, slot, at)
                    and (slot.data[at] or 0) % alignment == 0):
                return
            raise Error(f"argument {self._bound._positions[i]} of "
                        f"@{self._bound.function.name}: expected a row-major array "
                        f"that can be written, at multiples of {alignment} bytes, as "
                        "the function updates it in place")
        return store

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

    def depends_on_addresses_alone(self, x: Any) -> bool:
        """Whether the runtime makes the call without help: one result of the type of
        `x`, which is the first argument, and nothing to copy."""
        kind = self._kinds[0]
        return (self._single and not self._any_copied and not self._any_held
                and kind.view(x).dtype == self._result_types[0])

    def alignments_on_device(self) -> list[int]:
        """What addresses must be multiples of, of each argument and result; 1 on a
        host, where the runtime copies what is not."""
        count = self._count + len(self._result_shapes)
        return list(self._alignments[:count]) if self._on_cuda else [1] * count

    def _mismatch(self, array: Any, signature: tuple) -> str:
        got = _arrays.kind_of(array).signature(array)
        return ("expected an array like that which the call was prepared for, "
                f"{signature}, but got {type(array).__name__} {got}")

    def run(self, arrays: Sequence[Any], out: Any = None) -> Any:
        """The same, unchecked."""
        if self._is_simple:
            return self._run_simple(arrays, out)
        if self._any_copied:
            arrays = [kind.contiguous(array) if copied else array
                      for kind, array, copied in
                      zip(self._kinds, arrays, self._copied)]
        # Another thread may take the last one at any time.
        try:
            slot = self._free.pop()
        except IndexError:
            slot = Slot(self._count + len(self._result_shapes))
        held = arrays
        if self._any_held:
            held = [kind.hold(array) for kind, array in zip(self._kinds, arrays)]
        at = 0
        for store, array in zip(self._stores, held):
            store(array, slot, at)
            at += 1
        if self._on_cuda:
            arrays = self._align(slot, arrays)
        if out is not None:
            return self._run_into(slot, arrays, out)
        kind = self._result_kind
        like = arrays[0] if arrays else None
        results = []
        for shape, element in zip(self._result_shapes, self._result_types):
            result = kind.empty(shape, element, like)
            kind.store_result(result, slot, at)
            at += 1
            results.append(result)
        message = self._run(self._address, slot.address,
                            kind.stream(like) if self._on_cuda else None)
        self._free.append(slot)
        if message:
            raise Error(lib.take_text(message))
        if self._single:
            return kind.finish(results[0])
        return tuple(kind.finish(result) for result in results)

    def _run_simple(self, arrays: Sequence[Any], out: Any) -> Any:
        """One result on the host, and no argument to copy."""
        free = self._free
        try:
            slot = free.pop()
        except IndexError:
            slot = Slot(self._count + 1)
        at = 0
        for store in self._stores:
            store(arrays[at], slot, at)
            at += 1
        if out is None:
            result = self._empty(self._result_shapes[0], self._result_types[0],
                                 arrays[0])
            self._store_result(result, slot, at)
        else:
            result = out
            if not _arrays.kind_of(out).store_out(
                    out, self._result_shapes[0], self._result_types[0],
                    self._bound.device, slot, at) or self._overlaps(slot, 0):
                return self._run_into(slot, arrays, out)
        message = self._run(self._address, slot.address, None)
        free.append(slot)
        if message:
            raise Error(lib.take_text(message))
        return self._finish_on_host(result) if out is None else out

    def _align(self, slot: Slot, arrays: Sequence[Any]) -> Sequence[Any]:
        """Copies what is not where kernels read several elements at once."""
        data = slot.data
        for i, alignment in enumerate(self._alignments[:self._count]):
            if (data[i] or 0) % alignment and self._kinds[i].copies:
                arrays = list(arrays)
                arrays[i] = self._kinds[i].copy(arrays[i])
                self._stores[i](arrays[i], slot, i)
        return arrays

    def _run_into(self, slot: Slot, arrays: Sequence[Any], out: Any) -> Any:
        outs = (out,) if self._single else tuple(out)
        if len(outs) != len(self._result_shapes):
            raise ShapeError(f"expected {len(self._result_shapes)} arrays in "
                             f"out, but got {len(outs)}")
        if not self._single:
            _check_apart(outs)
        copies = []
        for i, array in enumerate(outs):
            kind = _arrays.kind_of(array)
            if not self._store_out(slot, i, array, kind):
                fresh = kind.empty(self._result_shapes[i], self._result_types[i],
                                   array)
                kind.store_result(fresh, slot, self._count + i)
                copies.append((array, kind.finish(fresh)))
        like = arrays[0] if arrays else outs[0]
        stream = _arrays.kind_of(like).stream(like) if self._on_cuda else None
        message = self._run(self._address, slot.address, stream)
        self._free.append(slot)
        if message:
            raise Error(lib.take_text(message))
        for array, fresh in copies:
            array[...] = fresh
        return out

    def _store_out(self, slot: Slot, i: int, array: Any, kind: _arrays.Kind
                   ) -> bool:
        """Puts the address of an array for results to its place; False where
        only a copy can be written to."""
        at = self._count + i
        if not kind.store_out(array, self._result_shapes[i],
                              self._result_types[i], self._bound.device, slot, at):
            view = self._check_out(i, array, kind)
            # Where a copy was needed, the view is of the copy.
            if not view.is_row_major or kind.needs_copy(array):
                return False
            slot.data[at] = view.data
        if (self._on_cuda and kind.copies
                and (slot.data[at] or 0) % self._alignments[at]):
            return False
        return not self._overlaps(slot, i)

    def _check_out(self, i: int, array: Any, kind: _arrays.Kind) -> _arrays.View:
        kind.check_writable(array)
        view = kind.view(array)
        if view.dtype != self._result_types[i]:
            raise DTypeError(f"expected out of {self._result_types[i]}, but got "
                             f"{view.dtype}")
        if not view.is_row_major or kind.needs_copy(array):
            _check_elements_apart(array, view, kind)
        if view.shape != self._result_shapes[i]:
            raise ShapeError(f"expected out of shape {self._result_shapes[i]}, "
                             f"but got {view.shape}")
        if view.device != self._bound.device:
            raise DeviceError(
                f"expected out on {_arrays.device_name(self._bound.device)}, but "
                f"it is on {_arrays.device_name(view.device)}")
        return view

    def _overlaps(self, slot: Slot, i: int) -> bool:
        """Whether results would be written over arguments that are still read."""
        begin = slot.data[self._count + i] or 0
        end = begin + self._result_bytes[i]
        found = False
        for place, (low, high) in enumerate(self._extents):
            data = slot.data[place] or 0
            if begin < data + high and data + low < end:
                if self._updated[place]:
                    raise Error(f"out of @{self._bound.function.name}: expected memory "
                                f"of its own, but it overlaps argument "
                                f"{self._bound._positions[place]}, which the function "
                                "updates in place")
                found = True
        return found


def _check_elements_apart(array: Any, view: _arrays.View, kind: _arrays.Kind) -> None:
    """Refuses an array some of whose elements are in the same memory."""
    strides, width = view.strides, 1
    if kind.needs_copy(array):
        # The view is of a copy; only the array's own strides, in bytes, tell.
        given = array if hasattr(array, "strides") else np.asarray(array)
        strides, width = given.strides, given.itemsize
    if _are_apart(view.shape, strides, width):
        return
    raise Error("expected out with memory of its own for each element, but with shape "
                f"{view.shape} and strides {strides} some share theirs")


def _are_apart(shape: Sequence[int], strides: Sequence[int], width: int) -> bool:
    steps = sorted((abs(stride), size) for size, stride in zip(shape, strides)
                   if size > 1)
    if 0 in shape:
        return True
    reach = width
    for step, size in steps:
        if step < reach:
            break
        reach += step * (size - 1)
    else:
        return True
    if not steps[0][0]:
        return False
    # Steps that cross, as of a window that slides, or of rows between each other.
    places = np.zeros(1, np.int64)
    for step, size in steps:
        places = np.add.outer(places, np.arange(size) * step).ravel()
    return bool((np.diff(np.sort(places)) >= width).all())


def _check_apart(outs: Sequence[Any]) -> None:
    """Refuses arrays that would be written over each other. Of strided ones, which
    may lie between each other, those with the same first element."""
    views = [_arrays.kind_of(array).view(array) for array in outs]
    places: list[tuple[int, int]] = []
    for i, view in enumerate(views):
        low, high = _extent(view.shape, view.strides, view.dtype)
        begin, end = view.data + low, view.data + high
        for j, (other_begin, other_end) in enumerate(places):
            if begin < other_end and other_begin < end and (
                    view.data == views[j].data
                    or (view.is_row_major and views[j].is_row_major)):
                raise Error("expected out to be arrays apart from each other, but "
                            f"{j} and {i} share memory")
        places.append((begin, end))


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
