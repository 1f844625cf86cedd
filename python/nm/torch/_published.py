"""Checkpoints whose names are not those of the model, for a model that is there: one of
transformers whose published files have others.

transformers makes a second model of the same configuration and loads the files into that,
as from_pretrained does. The model is then given its layers and tensors.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from .._errors import Error
from ._attention import unfold_attention
from ._convolution import convolution_of, unfold_stored
from ._experts import ExpertLinears, SparseExperts, experts_of
from ._linear import NMLinear
from ._own_names import own_state
from ._quantized import NMQuantizedLinear
from ._replace import keep_belongings, replace_module

_SPARSE = (NMLinear, NMQuantizedLinear)
_CONDENSED = ("values", "indices", "scales", "_extra_state")


@contextmanager
def as_folder(path: Path, config: Any) -> Iterator[Path]:
    """A folder that transformers loads, of a folder or of a file of weights or their
    index."""
    folder = path.parent if path.name.endswith(".index.json") else path
    if (folder / "config.json").is_file():
        yield folder
        return
    files = ({each.name: each for each in folder.iterdir()} if folder.is_dir() else
             {"model.safetensors": path})
    with tempfile.TemporaryDirectory() as made:
        for name, file in files.items():
            (Path(made) / name).symlink_to(file.resolve())
        config.save_pretrained(made)
        yield Path(made)


def take_layers(model: nn.Module, found: nn.Module,
                write: Callable[[NMLinear, str, NMLinear], None]) -> dict[str, Tensor]:
    """Puts the sparse layers of `found` in the places of those of a model of the same
    class, which keep their hooks and attributes. Gives the state that is left to load, in
    which a tensor with several names is once.

    Args:
        write: writes the weight of a layer of `found` to one that is sparse in the model.

    Raises:
        Error: a layer of the model is quantized in another way, or it has no such layer.
    """
    _unfold_alike(model, found)
    sparse = {name: layer for name, layer in found.named_modules() if isinstance(layer, _SPARSE)}
    for name, layer in sparse.items():
        _take_layer(model, name, layer, write)
    state: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in found.state_dict(keep_vars=True).items():
        layer, _, part = name.rpartition(".")
        if id(tensor) not in seen and not (layer in sparse and part in _CONDENSED):
            seen.add(id(tensor))
            state[name] = tensor
    return dict(own_state(model, state))


def _unfold_alike(model: nn.Module, found: nn.Module) -> None:
    """Makes layers of what multiplies by weights of its own, where it has them in
    `found`."""
    for name, module in found.named_modules():
        if isinstance(module, SparseExperts):
            for last, layers in module.named_children():
                if isinstance(layers, ExpertLinears):
                    experts_of(model, f"{name}.{last}")
        elif isinstance(module, nn.MultiheadAttention):
            own = model.get_submodule(name)
            if type(module) is not type(own) and type(own) is nn.MultiheadAttention:
                unfold_attention(own)
        elif convolution_of(found, name) is not None:
            unfold_stored(model, name)


def _take_layer(model: nn.Module, name: str, layer: nn.Module,
                write: Callable[[NMLinear, str, NMLinear], None]) -> None:
    former = model.get_submodule(name)
    if former is layer:
        return
    if isinstance(former, NMLinear) and isinstance(layer, NMLinear):
        write(former, name, layer)
        return
    if isinstance(former, _SPARSE):
        raise Error(f"expected '{name}' to be {type(layer).__name__}, as the file has it, but "
                    f"it is {type(former).__name__}; nm.torch.densify(model) makes layers that "
                    "take any")
    keep_belongings(former, layer)
    replace_module(model, name, layer)
