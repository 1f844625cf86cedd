"""An exported model, and a compiled one."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import _pytree

from ... import _compile, _safetensors
from ..._errors import Error
from ..._files import written_whole
from ..._module import Module
from ._context import ELEMENTS
from ._graph import Lowered, core_aten, lower

_TEXT, _WEIGHTS = "model.mlir", "model.safetensors"


def export(model: nn.Module, example: Any, kwargs: Mapping[str, Any] | None = None, *,
           dynamic_batch: bool = False, dynamic_shapes: Any = None,
           name: str = "forward") -> ExportedModel:
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

    Raises:
        Error: the model has an operator, a type or a size that is not exported; all
            operators are named, with the places where the model has them.
    """
    args = example if isinstance(example, tuple) else (example,)
    if dynamic_batch:
        if dynamic_shapes is not None:
            raise Error("expected dynamic_batch or dynamic_shapes, but got both")
        dynamic_shapes = _any_batch(model, args, dict(kwargs or {}))
    with torch.no_grad():
        program = _trace(model, args, dict(kwargs or {}), dynamic_shapes)
        program = core_aten(program)
        return ExportedModel(lower(program, name), program.call_spec)


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


class ExportedModel:
    """A model's text and its weights.

    Attributes:
        text: a module of MLIR with one function. Its constants have names.
        resources: the tensors of these names.
    """

    def __init__(self, lowered: Lowered, call_spec: Any):
        self._lowered, self._call_spec = lowered, call_spec
        self.text = lowered.text
        self.resources = lowered.resources

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

    def compile(self, path: str | os.PathLike | None = None, target: str = "cpu",
                **options) -> CompiledModel:
        """The model compiled to one shared object, weights included.

        Args:
            path: where it is written to; without one it is in the cache.
            target, options: as in nm.compile.

        Raises:
            CompileError, CompilerNotFoundError: as nm.compile.
        """
        with tempfile.TemporaryDirectory(prefix="nm-export-") as folder:
            weights = Path(folder) / _WEIGHTS
            write_resources(weights, self.resources)
            options["resources"] = str(weights)
            if path is None:
                module = _compile.compile(self.text, target, **options)
            else:
                said = _compile.compile_to(path, self.text, target, **options)
                module = Module(path, said)
        return CompiledModel(module, self._lowered, self._call_spec)

    def __repr__(self) -> str:
        size = sum(tensor.nbytes for tensor in self.resources.values())
        return (f"ExportedModel({self.text.split(' {', 1)[0]}, {len(self.resources)} "
                f"resources of {size / 1e6:.1f} MB)")


class CompiledModel:
    """A compiled model; called as the model was.

    Attributes:
        module: the nm.Module, whose functions take tensors in order.
    """

    def __init__(self, module: Module, lowered: Lowered, call_spec: Any):
        self.module, self._lowered, self._spec = module, lowered, call_spec
        self._call = module.only_function()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, spec = _pytree.tree_flatten((args, kwargs))
        if spec != self._spec.in_spec:
            raise Error(f"expected arguments {self._spec.in_spec}, but got {spec}")
        tensors = [_without_bools(leaves[place]) for place in self._lowered.inputs]
        given = self._call(*tensors)
        results = given if isinstance(given, tuple) else (given,)
        results = [result.bool() if is_bool else result
                   for result, is_bool in zip(results, self._lowered.bools)]
        flat = [results[value] if is_tensor else value
                for is_tensor, value in self._lowered.results]
        return _pytree.tree_unflatten(flat, self._spec.out_spec)

    def save(self, path: str | os.PathLike) -> None:
        """Copies the shared object, for nm.load and nm-run."""
        self.module.save(path)

    @property
    def remarks(self) -> tuple[str, ...]:
        """How each product was compiled, with the estimate and the reason."""
        return self.module.remarks


def _without_bools(tensor: Tensor) -> Tensor:
    return tensor.view(torch.int8) if tensor.dtype == torch.bool else tensor


def write_resources(path: str | os.PathLike, resources: Mapping[str, Tensor]) -> None:
    """Writes tensors to a file of safetensors."""
    stored = {}
    for key, tensor in resources.items():
        element = "u8" if tensor.dtype == torch.uint8 else ELEMENTS[tensor.dtype]
        host = tensor.detach().to("cpu").contiguous()
        stored[key] = _safetensors.StoredTensor(
            _safetensors.name_of("bool" if element == "i1" else element),
            tuple(host.shape), host.reshape(-1).view(torch.uint8).numpy())
    _safetensors.write(path, stored, {"format": "pt"})
