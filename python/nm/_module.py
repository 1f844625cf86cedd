"""Compiled modules, and their functions with and without weights."""

from __future__ import annotations

import ctypes
import json
import math
import os
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _arrays
from . import _library as lib
from ._call import PreparedCall
from ._errors import (DTypeError, Error, Diagnostic, PatternError, ShapeError,
                      reading)
from ._files import written_whole
from ._pattern import Pattern, read_pattern
from ._profile import Profile, profile
from ._records import ProductRecord, read_record
from ._sparse import SparseTensor

# Bound functions and prepared calls that are kept: each bound function has a
# packed copy of its weights.
_KEPT_BINDINGS, _KEPT_CALLS = 4, 64


@dataclass(frozen=True)
class TensorType:
    """The type of an argument or a result: MLIR's name of its elements, sizes
    with None where they are dynamic, the pattern of a weight, and whether the
    function updates the argument in place."""

    dtype: str
    shape: tuple[int | None, ...]
    pattern: Pattern | None = None
    updated: bool = False

    def __str__(self) -> str:
        sizes = "".join(f"{'?' if size is None else size}x" for size in self.shape)
        encoding = f", #nm.encoding<{self.pattern}>" if self.pattern else ""
        return f"{'memref' if self.updated else 'tensor'}<{sizes}{self.dtype}{encoding}>"


def load(path: str | os.PathLike) -> Module:
    """Loads a module that nm-compile or nm.compile wrote. No compiler is needed.

    Loading runs code of the file: load only files that you trust. The module is the
    file as it is now: it can be replaced, by another module or by anything, while this
    one lives.

    Raises:
        Error: it is no such module, or needs a processor that this is not.
    """
    return Module(path)


class _LoadedModule:
    """The shared object, which lives as long as a function of it."""

    def __init__(self, path: Path):
        handle = ctypes.c_void_p()
        lib.check(lib.runtime.nmModuleLoad(os.fsencode(path.resolve()), handle))
        self.handle = lib.Handle(handle.value or 0, lib.runtime.nmModuleFree)
        with reading(path, "a manifest in JSON"):
            self.manifest = json.loads(
                lib.runtime.nmModuleGetManifest(handle.value))
        self.target: str = self.manifest["target"]

    def contents(self) -> memoryview:
        """The file that was loaded, whatever has become of it since; valid as long as
        this lives."""
        size = ctypes.c_size_t()
        address = lib.runtime.nmModuleGetContents(self.handle.address, size)
        return memoryview((ctypes.c_char * size.value).from_address(address))


class Module:
    """A compiled module; call it where it has one function.

    Attributes:
        path: its shared object.
        functions: its functions by name.
        target: ``"cpu"``, ``"cuda"`` or ``"sim"``.
        diagnostics: what the compiler said, if this process compiled it.
    """

    def __init__(self, path: str | os.PathLike,
                 diagnostics: tuple[Diagnostic, ...] = ()):
        self.path = Path(path)
        self.diagnostics = diagnostics
        self._loaded = loaded = _LoadedModule(self.path)
        self.target = loaded.target
        self.chips: tuple[str, ...] = tuple(loaded.manifest.get("chips") or ())
        self.functions = {entry["name"]: Function(loaded, entry)
                          for entry in loaded.manifest["functions"]}

    @property
    def remarks(self) -> tuple[str, ...]:
        """How each product was compiled, with the estimate and the reason."""
        return tuple(op.remark for function in self.functions.values()
                     for op in function.ops)

    def __getitem__(self, name: str) -> Function:
        if name not in self.functions:
            raise KeyError(f"expected a function among "
                           f"{', '.join(self.functions)}, but got {name}")
        return self.functions[name]

    def only_function(self) -> Function:
        """Its function, where it has one."""
        if len(self.functions) != 1:
            raise Error("expected a module with one function, but it has "
                        f"{', '.join(self.functions)}; module['name'] is one")
        return next(iter(self.functions.values()))

    def __call__(self, *args: Any, out: Any = None) -> Any:
        """Calls the module's only function; see Function."""
        return self.only_function()(*args, out=out)

    def profile(self, *args: Any, runs: int = 20) -> Profile:
        """The time of each step of the module's only function; see
        Function.profile."""
        return self.only_function().profile(*args, runs=runs)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the shared object that was loaded to `path`, for nm.load and nm-run,
        also where another has taken its place since."""
        with written_whole(path) as file:
            file.write(self._loaded.contents())

    def __repr__(self) -> str:
        return f"nm.Module({', '.join(map(str, self.functions.values()))})"


def _tensor_type(entry: dict) -> TensorType:
    return TensorType(entry["dtype"],
                      tuple(None if size < 0 else size
                            for size in entry["shape"]),
                      read_pattern(entry["encoding"])
                      if entry.get("encoding") else None, entry.get("updated", False))


class Function:
    """A function of a compiled module.

    Called with all arguments in order, it gives the result, or a tuple of them,
    of the kind of the first argument that is no weight. A weight is given as an
    nm.SparseTensor, as a dense array with its zeros, which is checked and
    compressed at each call, or as ``(values, indices)``. `bind` gives weights
    once.

    Attributes:
        name: its name.
        args, results: their types.
        ops: an nm.ProductRecord of every product: its schedule, what it was
            chosen by, and why.
        temporary_bytes: what a call takes beside its arguments, results and the
            module's constants, on a CUDA device of its memory. Temporaries whose
            sizes a call tells are not in it.
    """

    def __init__(self, module: _LoadedModule, entry: dict):
        self._module = module
        self._entry = entry
        self.name: str = entry["name"]
        self.target = module.target
        self.args = tuple(_tensor_type(arg) for arg in entry["args"])
        self.results = tuple(_tensor_type(result) for result in entry["results"])
        self.ops: tuple[ProductRecord, ...] = tuple(
            map(read_record, entry.get("ops") or ()))
        self.temporary_bytes: int = entry.get("temporary_bytes") or 0
        self.weights = tuple(i for i, arg in enumerate(self.args) if arg.pattern)
        self._bound: OrderedDict = OrderedDict()
        self._graphs = 0

    @property
    def graphs(self) -> int:
        """How many CUDA graphs calls of this function keep, as `bind` says; none at
        first. Of a function that `bind` gave its weights bind's argument counts."""
        return self._graphs

    @graphs.setter
    def graphs(self, count: int) -> None:
        check_graphs(count, self.target)
        self._graphs = count
        self._bound.clear()

    def bind(self, *weights: Any, device: int = 0,
             like: Iterable[BoundFunction] = (), graphs: int = 0,
             make_of: Iterable[BoundFunction] = ()) -> BoundFunction:
        """The function with its weights packed for it, one for each encoded
        argument in order; `device` is the CUDA device that it then runs on.
        `like` are functions with the same weights: what one of them has packed
        as this one wants it is kept once. `make_of` are functions with the same
        weights, too: where the runtime can make what this one wants of what one of
        them has packed, each call does so, and nothing is packed.

        With `graphs`, calls on a CUDA device are replayed as CUDA graphs, in which the
        launches of a function's kernels have no gaps: one for each kind of arguments and
        each set of addresses that comes a second time, of which the last `graphs` are
        kept. Give `out` and the same arrays, or arrays of a library that hands out the
        same memory again, as PyTorch does. A call that a stream is capturing, and one
        whose kernels check indices, is made as it is.

        Raises:
            PatternError: a weight breaks its pattern.
            Error: `graphs` is negative, or given for a module that is not for CUDA.
        """
        return BoundFunction(self, weights, device, like, graphs, make_of)

    def __call__(self, *args: Any, out: Any = None) -> Any:
        if len(args) != len(self.args):
            raise Error(f"@{self.name}: expected {len(self.args)} arguments, but "
                        f"got {len(args)}")
        weights = [args[i] for i in self.weights]
        plain = [arg for i, arg in enumerate(args) if i not in self.weights]
        device = self._device_of(plain)
        if not all(isinstance(weight, SparseTensor) for weight in weights):
            return self.bind(*weights, device=device)(*plain, out=out)
        key = (device, *map(id, weights))
        # With the weights, whose addresses must not become those of others.
        kept = self._bound.pop(key, None) or (
            self.bind(*weights, device=device, graphs=self.graphs), weights)
        self._bound[key] = kept
        if len(self._bound) > _KEPT_BINDINGS:
            self._bound.popitem(last=False)
        return kept[0](*plain, out=out)

    def profile(self, *args: Any, runs: int = 20) -> Profile:
        """The time of each step of the function on `args`, which are those of a call:
        the median of `runs` runs after one that is not timed. An argument that the
        function updates is updated by every run. On a CUDA device the call is a graph,
        in which no kernel starts before the one before it ends. Each step has its share
        of the roofline too, for which a CPU's memory is read for about half a second,
        in up to 1 GiB.

        Raises:
            Error: the module was compiled without ``profile=True``, or memory is short.
        """
        if len(args) != len(self.args):
            raise Error(f"@{self.name}: expected {len(self.args)} arguments, but "
                        f"got {len(args)}")
        weights = [args[i] for i in self.weights]
        plain = tuple(arg for i, arg in enumerate(args) if i not in self.weights)
        bound = self.bind(*weights, device=self._device_of(list(plain)))
        return bound.profile(*plain, runs=runs)

    def _device_of(self, arrays: list) -> int:
        if self.target != "cuda" or not arrays:
            return 0
        return _arrays.kind_of(arrays[0]).view(arrays[0]).device[1]

    def __str__(self) -> str:
        args = ", ".join(map(str, self.args))
        results = ", ".join(map(str, self.results))
        return f"@{self.name}({args}) -> ({results})"


def check_graphs(count: int, target: str) -> None:
    """Raises an Error where calls of a function for `target` cannot keep `count` CUDA
    graphs."""
    if count < 0:
        raise Error(f"expected 0 graphs or more, but got {count}")
    if count and target != "cuda":
        raise Error(f"expected a module for cuda with graphs, but got one for {target}")


class BoundFunction:
    """A function with its weights; called with the other arguments in order.

    Attributes:
        function: the function.
        device: ``(0, 0)`` for the host, ``(1, n)`` for CUDA device n.
        graphs: how many CUDA graphs each kind of call keeps.
        is_made: whether each call makes its packed weights of those of another.
    """

    def __init__(self, function: Function, weights: tuple, device: int,
                 like: Iterable[BoundFunction] = (), graphs: int = 0,
                 make_of: Iterable[BoundFunction] = ()):
        check_graphs(graphs, function.target)
        self.function = function
        self.graphs = graphs
        # The simulator takes memory of the host.
        on_cuda = function.target == "cuda"
        self.device = (lib.CUDA, device) if on_cuda else (lib.CPU, 0)
        module, handle = function._module.handle, ctypes.c_void_p()
        lib.check(lib.runtime.nmFunctionCreate(
            module.address, function.name.encode(), handle))
        self._handle = lib.Handle(handle.value or 0, lib.runtime.nmFunctionFree,
                                  module)
        if on_cuda:
            lib.check(lib.runtime.nmFunctionSetDevice(self._handle.address,
                                                      device))
        if len(weights) != len(function.weights):
            raise Error(f"@{function.name}: expected {len(function.weights)} "
                        f"weights, but got {len(weights)}")
        self.is_made = False
        if not any(map(self._shares_with, like)) and not any(
                map(self._makes_of, make_of)):
            for arg, weight in zip(function.weights, weights):
                self._set_weight(arg, weight)
            lib.check(lib.runtime.nmFunctionPackWeights(self._handle.address))
        self.args = tuple(arg for arg in function.args if not arg.pattern)
        self._positions = [i for i, arg in enumerate(function.args)
                           if not arg.pattern]
        self._calls: OrderedDict = OrderedDict()

    def _shares_with(self, other: BoundFunction) -> bool:
        """Takes the packed weights of another, where they are packed alike."""
        shared = ctypes.c_int32()
        lib.check(lib.runtime.nmFunctionShareWeights(
            self._handle.address, other._handle.address, shared))
        self.is_made = bool(shared.value) and other.is_made
        return bool(shared.value)

    def _makes_of(self, other: BoundFunction) -> bool:
        """Has each call make its packed weights of another's, where the runtime can."""
        made = ctypes.c_int32()
        lib.check(lib.runtime.nmFunctionMakeWeights(
            self._handle.address, other._handle.address, made))
        self.is_made = bool(made.value)
        return self.is_made

    def packed_parts(self) -> dict[int, int]:
        """The bytes of each part of its packed weights, by where it is."""
        found: dict[int, int] = {}
        parts, count = (lib.NmTensor * 3)(), ctypes.c_int32()
        for arg in self.function.weights:
            lib.check(lib.runtime.nmFunctionGetPackedWeight(
                self._handle.address, arg, parts, count))
            for part in parts[:count.value]:
                found[part.data or 0] = math.prod(
                    part.shape[:part.rank]) * lib.ELEMENT_BYTES[part.type]
        return found

    def _set_weight(self, arg: int, weight: Any) -> None:
        type_ = self.function.args[arg]
        place = f"argument {arg} of @{self.function.name}"
        if isinstance(weight, SparseTensor):
            if (weight.dtype, weight.shape, weight.pattern) != (
                    type_.dtype, type_.shape, type_.pattern):
                raise PatternError(f"{place}: expected {type_}, but got {weight}")
            values, indices = weight._tensors()
        elif isinstance(weight, (tuple, list)):
            if len(weight) != 2:
                raise ShapeError(f"{place}: expected (values, indices), but got "
                                 f"{len(weight)} parts")
            k, n = type_.shape
            parts = SparseTensor(weight[0], weight[1], (k or 0, n or 0),
                                 type_.pattern or "", type_.dtype)
            values, indices = parts._tensors()
        else:
            view, _ = _arrays.host_array(weight)
            lib.check(lib.runtime.nmFunctionSetWeight(
                self._handle.address, arg, view.tensor()), PatternError)
            return
        # Packed before __init__ returns, while their arrays are alive.
        lib.check(lib.runtime.nmFunctionLendCondensedWeight(
            self._handle.address, arg, values, indices), PatternError)

    def __call__(self, *args: Any, out: Any = None) -> Any:
        """Calls the function on arrays of any library.

        Args:
            *args: the arguments that are no weights.
            out: an array, or a tuple of them, that the results are written to.

        Returns:
            the result, or a tuple of them: `out`, or new arrays of the kind of
            the first argument. On a CUDA device the work is queued on the
            caller's current stream.

        Raises:
            ShapeError, DTypeError, DeviceError: an argument does not fit.
        """
        key = tuple((type(arg), _arrays.kind_of(arg).signature(arg))
                    for arg in args)
        call = self._calls.get(key)
        if call is None:
            call = self.prepare(*args)
            self._calls[key] = call
            if len(self._calls) > _KEPT_CALLS:
                self._calls.popitem(last=False)
        return call.run(args, out)

    def profile(self, *args: Any, runs: int = 20) -> Profile:
        """The time of each step of a call on `args`; see Function.profile."""
        return profile(self, args, runs)

    def prepare(self, *args: Any) -> PreparedCall:
        """A call for arguments of just these kinds, shapes, strides and types,
        which spares what depends on them alone."""
        if len(args) != len(self.args):
            raise Error(f"@{self.function.name}: expected {len(self.args)} "
                        f"arguments that are no weights, but got {len(args)}")
        views = [_arrays.kind_of(arg).view(arg) for arg in args]
        for position, type_, view in zip(self._positions, self.args, views):
            self._check(position, type_, view)
        return PreparedCall(self, args, self._result_shapes(views),
                            [type_.dtype for type_ in self.function.results])

    def alignments(self) -> list[int]:
        """What the addresses of the arguments, then of the results, must be
        multiples of on a CUDA device."""
        entry = self.function._entry
        places = [entry["args"][i] for i in self._positions] + entry["results"]
        return [place.get("alignment") or 1 for place in places]

    def _check(self, position: int, type_: TensorType, view: _arrays.View) -> None:
        place = f"argument {position} of @{self.function.name}"
        if view.dtype != type_.dtype:
            raise DTypeError(f"{place}: expected {type_}, but got elements of "
                             f"{view.dtype}")
        if len(view.shape) != len(type_.shape) or any(
                size not in (None, got)
                for size, got in zip(type_.shape, view.shape)):
            raise ShapeError(f"{place}: expected {type_}, but got shape "
                             f"{view.shape}")

    def _result_shapes(self, views: list[_arrays.View]) -> list[tuple[int, ...]]:
        shapes = []
        for result in self.function._entry["results"]:
            sizes = result.get("dims") or result["shape"]
            shapes.append(tuple(self._size(size, views) for size in sizes))
        return shapes

    def _size(self, size: int | dict, views: list[_arrays.View]) -> int:
        if isinstance(size, int):
            return size
        arg = size["arg"]
        if arg in self._positions:
            return views[self._positions.index(arg)].shape[size["dim"]]
        return self.function.args[arg].shape[size["dim"]]
