"""An exported model, and a compiled one."""

from __future__ import annotations

import gc
import math
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sympy
import torch
from torch import Tensor, nn
from torch.utils import _pytree

from ... import _compile, _safetensors
from ..._errors import Error
from ..._files import written_whole
from ..._module import Module, check_graphs
from ..._profile import Profile
from ._choices import traced
from ._context import ELEMENTS
from ._experts import experts_of_all_tokens
from ._graph import Lowered, channels_last_order, core_aten, lower
from ._simplify import simplify

_TEXT, _WEIGHTS = "model.mlir", "model.safetensors"


def export(model: nn.Module, example: Any, kwargs: Mapping[str, Any] | None = None, *,
           dynamic_batch: bool = False, dynamic_shapes: Any = None,
           name: str = "forward", channels_last: bool = False) -> ExportedModel:
    """The model as a function on tensors in MLIR, for nm-compile.

    Layers of nm.torch keep their N:M weights; of other weights those that obey a
    pattern get it when the text is compiled.

    Args:
        model: in evaluation mode.
        example: its arguments, a tensor or a tuple, on which it is traced.
        kwargs: further arguments by name.
        dynamic_batch: whether the first size of every tensor among the arguments may
            be any, and the same for all.
        dynamic_shapes: which sizes may be any, as torch.export.export has it.
        name: of the function.
        channels_last: whether images, all arguments and results of four or five
            dimensions, have their channels last in memory: the function has them
            [batch, places, channels]. The compiled model is called with images of the
            model's shape, in torch.channels_last without a copy, and gives such ones.

    Raises:
        Error: the model has an operator, a type or a size that is not exported; all
            operators are named, with the places where the model has them. Or kwargs is
            no mapping.
    """
    args = example if isinstance(example, tuple) else (example,)
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise Error("expected further arguments by name in kwargs, but got "
                    f"{type(kwargs).__name__}; several arguments are a tuple")
    if dynamic_batch:
        if dynamic_shapes is not None:
            raise Error("expected dynamic_batch or dynamic_shapes, but got both")
        dynamic_shapes = _any_batch(model, args, dict(kwargs or {}))
    with torch.no_grad(), _without_collection():
        with experts_of_all_tokens(model) as remarks:
            program, made = traced(model, lambda: _trace(
                model, args, dict(kwargs or {}), dynamic_shapes))
        remarks += made
        program = core_aten(program)
        remarks += simplify(program)
        return ExportedModel(lower(program, name, channels_last), program.call_spec, tuple(remarks))


@contextmanager
def _without_collection() -> Iterator[None]:
    """Python looks for garbage after every so many new objects, of which a trace makes
    millions that live on: an eighth of the time of an export."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _trace(model: nn.Module, args: tuple, kwargs: dict[str, Any],
           dynamic_shapes: Any) -> torch.export.ExportedProgram:
    try:
        return torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes,
                                   strict=False)
    except (RuntimeError, ValueError) as error:
        found = re.match("(Found|Unsupported input type) <class '(.*?)'>", str(error))
        if not found:
            raise
        place = "a result" if found[1] == "Found" else "an argument"
        advice = ("; a cache of keys and values is left out by use_cache=False, as an "
                  "argument or in the model's config" if "Cache" in found[2] else "")
        raise Error("expected arguments and results that are tensors, numbers and "
                    f"containers of them, but got {place} of {found[2]}{advice}") from error


def _any_batch(model: nn.Module, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What torch.export takes for the first size of every tensor."""
    tensors = [leaf for leaf in _pytree.tree_leaves((args, kwargs))
               if isinstance(leaf, Tensor) and leaf.dim()]
    sizes = {len(tensor) for tensor in tensors}
    if len(sizes) != 1 or sizes <= {0, 1}:
        raise Error("expected an example with a batch of at least 2, the same of every "
                    f"tensor, for a dynamic batch, but got {sorted(sizes)}")
    shapes = torch.export.ShapesCollection()
    for tensor in tensors:
        shapes[tensor] = {0: torch.export.Dim("batch")}
    return shapes.dynamic_shapes(model, args, kwargs)


class _Exported:
    """The text of functions and its constants.

    Attributes:
        text: a module of MLIR. Its constants have names.
        resources: the tensors of these names.
    """

    def __init__(self, text: str, resources: dict[str, Tensor]):
        self.text, self.resources = text, resources

    def save(self, folder: str | os.PathLike) -> Path:
        """Writes model.mlir and model.safetensors, for

            nm-compile model.mlir --resources=model.safetensors -o model.so
        """
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        with written_whole(place / _TEXT) as file:
            file.write(self.text.encode())
        write_resources(place / _WEIGHTS, self.resources)
        return place

    def _compile(self, path: str | os.PathLike | None, target: str, options: dict
                 ) -> Module:
        with tempfile.TemporaryDirectory(prefix="nm-export-") as folder:
            weights = Path(folder) / _WEIGHTS
            write_resources(weights, self.resources, sums=False)
            options["resources"] = str(weights)
            if path is None:
                return _compile.compile(self.text, target, **options)
            said = _compile.compile_to(path, self.text, target, **options)
            return Module(path, said)

    def _described(self) -> str:
        size = sum(tensor.nbytes for tensor in self.resources.values())
        return f"{len(self.resources)} resources of {size / 1e6:.1f} MB"


class ExportedModel(_Exported):
    """A model's text and its weights.

    Attributes:
        text: a module of MLIR with one function. Its constants have names.
        resources: the tensors of these names.
        remarks: what of the model runs slower than it may, and what to do.
    """

    def __init__(self, lowered: Lowered, call_spec: Any, remarks: tuple[str, ...] = ()):
        super().__init__(lowered.text, lowered.resources)
        self.lowered, self.call_spec, self.remarks = lowered, call_spec, remarks

    def compile(self, path: str | os.PathLike | None = None, target: str = "cpu", *,
                graphs: int = 0, **options) -> CompiledModel:
        """The model compiled to one shared object, weights included.

        Args:
            path: where it is written to; without one it is in the cache.
            target, options: as in nm.compile.
            graphs: how many CUDA graphs calls keep, in which launches have no gaps, as
                nm.Function.bind says.

        Raises:
            CompileError, CompilerNotFoundError: as nm.compile.
            Error: `graphs` is negative, or given for another target than cuda.
        """
        check_graphs(graphs, str(target).partition(":")[0])
        model = CompiledModel(self._compile(path, target, options), self.lowered,
                              self.call_spec)
        model.module.only_function().graphs = graphs
        return model

    def __repr__(self) -> str:
        return f"ExportedModel({self.text.split(' {', 1)[0]}, {self._described()})"


class ExportedFunctions(_Exported):
    """Several exported models as one module, whose functions share constants.

    Attributes:
        text: a module of MLIR. Its constants have names.
        resources: the tensors of these names.
    """

    def __init__(self, models: Mapping[str, ExportedModel], resources: dict[str, Tensor]):
        super().__init__("".join(model.text for model in models.values()), resources)
        self._models = models

    def compile(self, path: str | os.PathLike | None = None, target: str = "cpu",
                **options) -> CompiledFunctions:
        """All functions compiled to one shared object; as ExportedModel.compile."""
        module = self._compile(path, target, options)
        return CompiledFunctions(module, {
            name: CompiledModel(module, model.lowered, model.call_spec, name)
            for name, model in self._models.items()})

    def __repr__(self) -> str:
        return f"ExportedFunctions({', '.join(self._models)}, {self._described()})"


def _is_same(a: Tensor, b: Tensor) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape or a.device != b.device:
        return False
    is_one = a.data_ptr() == b.data_ptr() and a.stride() == b.stride()
    return is_one or torch.equal(a, b)


def join(*models: ExportedModel) -> ExportedFunctions:
    """Exported models as functions of one module. Constants that have one name, as the
    weights of a model that was exported for several kinds of arguments, are one.

    Raises:
        Error: two functions or two constants that differ have one name, or a model
            writes to its buffers, which no other function would see.
    """
    functions: dict[str, ExportedModel] = {}
    resources: dict[str, Tensor] = {}
    for model in models:
        name = model.lowered.name
        if name in functions:
            raise Error(f"expected functions with names of their own, but got {name} "
                        "twice; export has the argument name")
        if model.lowered.states:
            raise Error(f"{name}: expected a model that updates arguments, not its "
                        f"buffers {', '.join(model.lowered.states)}")
        functions[name] = model
        for key, tensor in model.resources.items():
            if not _is_same(resources.setdefault(key, tensor), tensor):
                raise Error(f"expected one tensor called {key}, but {name} has another")
    return ExportedFunctions(functions, resources)


class CompiledModel:
    """A compiled model; called as the model was.

    Attributes:
        module: the nm.Module, whose functions take tensors in order.
        states: the buffers that the model writes, by name: a call updates them in
            place. They begin as the model's were, on the device of the arguments.
    """

    def __init__(self, module: Module, lowered: Lowered, call_spec: Any,
                 name: str | None = None):
        self.module, self._lowered, self._spec = module, lowered, call_spec
        self._call = module.only_function() if name is None else module[name]
        self.states = {name: tensor.clone(memory_format=torch.contiguous_format)
                       for name, tensor in lowered.states.items()}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tensors = self._tensors(args, kwargs)
        given = self._call(*tensors)
        results = given if isinstance(given, tuple) else (given,)
        results = list(map(_as_given, results, self._lowered.dtypes, self._lowered.joined))
        for place in self._lowered.last_results:
            results[place] = results[place].movedim(-1, 1)
        flat = [results[value] if is_tensor else self._number(value, tensors)
                for is_tensor, value in self._lowered.results]
        return _pytree.tree_unflatten(flat, self._spec.out_spec)

    def _number(self, value: Any, tensors: list[Tensor]) -> Any:
        """A result that is no tensor, of a call with these arguments."""
        if not isinstance(value, sympy.Expr):
            return value
        sizes = {symbol: tensors[argument].shape[dim]
                 for symbol, (argument, dim) in self._lowered.sizes.items()}
        return int(value.subs(sizes))

    def profile(self, *args: Any, runs: int = 20, **kwargs: Any) -> Profile:
        """The time of each step of a call of the model: the median of `runs` calls,
        each of which updates the states; see nm.Function.profile.

        Raises:
            Error: the model was compiled without ``profile=True``.
        """
        return self._call.profile(*self._tensors(args, kwargs), runs=runs)

    def _tensors(self, args: tuple, kwargs: dict) -> list[Tensor]:
        """The arguments of the compiled function for those of the model."""
        leaves, spec = _pytree.tree_flatten((args, kwargs))
        if spec != self._spec.in_spec:
            raise Error(f"expected arguments {self._spec.in_spec}, but got {spec}")
        images = self._lowered.last_inputs
        tensors = [_as_passed(_with_channels_last(leaves[place]) if i in images
                              else leaves[place], type_.updated)
                   for i, (place, type_) in enumerate(zip(self._lowered.inputs,
                                                          self._call.args))]
        if self.states and tensors:
            self.states = {name: state.to(tensors[0].device)
                           for name, state in self.states.items()}
        return [*tensors, *self.states.values()]

    def save(self, path: str | os.PathLike) -> None:
        """Copies the shared object, for nm.load and nm-run."""
        self.module.save(path)

    @property
    def remarks(self) -> tuple[str, ...]:
        """How each product was compiled, with the estimate and the reason."""
        return self.module.remarks


class CompiledFunctions(Mapping[str, CompiledModel]):
    """The functions of one shared object, by name.

    Attributes:
        module: the nm.Module.
    """

    def __init__(self, module: Module, functions: dict[str, CompiledModel]):
        self.module, self._functions = module, functions

    def __getitem__(self, name: str) -> CompiledModel:
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)


def _with_channels_last(image: Tensor) -> Tensor:
    """The image [batch, places, channels]. The function refuses a tensor that is none."""
    return image.permute(channels_last_order(image.dim())) if image.dim() > 2 else image


def _as_given(result: Tensor, dtype: torch.dtype, joined: list[int]) -> Tensor:
    """A result of the function in the model's type and shape."""
    if dtype == torch.bool:
        result = result.bool()
    if len(joined) != result.dim():
        sizes = iter(result.shape)
        result = result.reshape([math.prod(next(sizes) for _ in range(count))
                                 for count in joined])
    return result if result.dtype == dtype else result.view(dtype)


def _as_passed(tensor: Tensor, is_updated: bool) -> Tensor:
    """Bools and bytes without a sign as bytes. On the host a copy, as of an image whose channels are last, is
    faster by PyTorch, which has vectors for it and threads. An argument that the
    function updates is passed itself: updates of a copy would be lost."""
    if tensor.dtype in (torch.bool, torch.uint8):
        tensor = tensor.view(torch.int8)
    if is_updated or tensor.device.type != "cpu":
        return tensor
    return tensor.contiguous()


def write_resources(path: str | os.PathLike, resources: Mapping[str, Tensor], *,
                    sums: bool = True) -> None:
    """Writes tensors to a file of safetensors; see _safetensors.write."""
    stored = {}
    for key, tensor in resources.items():
        element = ELEMENTS[tensor.dtype]
        host = tensor.detach().to("cpu").contiguous()
        stored[key] = _safetensors.StoredTensor(
            _safetensors.name_of("bool" if element == "i1" else element),
            tuple(host.shape), host.reshape(-1).view(torch.uint8).numpy())
    _safetensors.write(path, stored, {"format": "pt"}, sums=sums)
