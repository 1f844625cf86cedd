"""Models with sparse layers, from folders and to them."""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from .. import _arrays, _safetensors
from .. import _library as lib
from .._errors import Error, FileFormatError, reading
from .._formats import compress, detect
from .._pattern import Pattern, along_other_axis, parse_pattern
from .._sparse import SparseTensor
from ..io import WeightSource, open_weights
from ..io._source import read_config
from ._attention import name_in_model, stored_name
from ._convolution import convolution_of, unfold_stored
from ._experts import ExpertLinears, experts_of, stack_name
from ._layers import Layer, find_layers, is_conv1d, is_linear
from ._linear import NMLinear
from ._quantized import NMQuantizedLinear
from ._replace import keep_belongings, replace_layer, replace_module
from ._rules import chosen_patterns, patterns_of
from ._shards import write_shards
from ._ties import untie_heads
from ._undo import written_whole
from ._unfold import unfolded
from ._weights import copy_tensors
from ._wrappers import name_without_wrappers, takes_wrapped, unwrapped

_CONFIG = "config.json"


def load(path: str | os.PathLike, model: nn.Module | None = None,
         rules: str | Pattern | Mapping[str, Any] | None = None, *,
         device: Any = None) -> nn.Module:
    """A model with the weights of a checkpoint, and an NMLinear for each nn.Linear
    whose weight is condensed there.

    Args:
        path: a folder in the form of Hugging Face, with config.json and safetensors,
            such as nm.convert and nm.torch.save write, or a file of weights.
        model: the model that is given the weights, as nn.Linear layers. One of
            transformers also takes the names that its published checkpoints have. Without
            it the package transformers makes the one that config.json names.
        rules: of a dense checkpoint, or one of compressed-tensors: the patterns of
            layers, as for nm.torch.sparsify, or ``"detect"`` for the sparsest that
            holds for each. Nothing is pruned.
        device: where the model is to be.

    Returns:
        the model, in evaluation mode.

    Raises:
        FileFormatError, OSError: the checkpoint cannot be read.
        PatternError: a weight breaks the pattern of its rule.
        Error: it lacks weights of the model, or has others. `model` is then what it was.
    """
    source = open_weights(path)
    if model is None:
        model = _model_of(Path(path), source, rules)
        return (model if device is None else model.to(device)).eval()
    with unwrapped(model) as inner, written_whole(inner):
        if _is_converted(inner, Path(path), source):
            _load_published(inner, Path(path), source, rules)
        else:
            _load(inner, source, rules, str(path))
    if device is not None:
        model.to(device)
    return model.eval()


def _is_converted(model: nn.Module, path: Path, source: WeightSource) -> bool:
    """Whether transformers has to convert what a file has for its model: the model calls a
    tensor otherwise, or the configuration alone says that stacked experts are sparse."""
    if not _is_of_transformers(model) or not _converts_weights():
        return False
    stored = (read_config(path) or {}).get("quantization_config") or {}
    if _has_sparse_stacks(source, stored):
        return True
    own = set(model.state_dict())
    for stored, name in _names_in_model(source, model).items():
        layer, _, last = name.rpartition(".")
        # An expert's layer has its number behind the name of their weight.
        if name not in own and not (last == "weight" and (
                _has_layer(model, layer) or stack_name(layer) in own)):
            return True
    return False


def _has_sparse_stacks(source: WeightSource, stored: Mapping[str, Any]) -> bool:
    """Whether a quantization_config says that stacked experts are sparse, which are dense in
    files that have them stacked."""
    return stored.get("quant_method") == "nm" and any(
        name in source for name in stored.get("layers") or ())


def _has_layer(model: nn.Module, name: str) -> bool:
    try:
        model.get_submodule(name)
    except AttributeError:
        return False
    return True


def _load_published(model: Any, path: Path, source: WeightSource, rules: Any) -> None:
    from ._published import as_folder, take_layers
    config = copy.deepcopy(model.config)
    # The files say how they are stored.
    vars(config).pop("quantization_config", None)
    config.dtype = None
    with as_folder(path, config) as folder:
        found = _load_by_transformers(type(model), folder, source, rules, config)
    writes: list[tuple] = []
    state = take_layers(model, found, lambda *write: writes.append(
        _checked(*write[:2], _stored_weight(write[2]))))
    _load_state(model, state, str(path))
    for write in writes:
        _write_sparse_layer(*write)


def _load(model: nn.Module, source: WeightSource, rules: Any, path: str) -> None:
    with unfolded(model, experts=False):
        for name in source:
            stack = stack_name(name.removesuffix(".weight"))
            if stack is not None:
                experts_of(model, stack)
        names = _names_in_model(source, model)
        for name in source:
            of_filter = (None if source.condensed(name) is None else
                         unfold_stored(model, names[name]))
            names[name] = of_filter or names[name]
        condensed = _condensed_weights(source, names, model, rules)
        stored = {names[name]: name for name in source}
        # Layers have further names, by which a file may have them, too.
        done: set[int] = set()
        writes: list[tuple] = []
        for name, w in condensed.items():
            scales = (None if w._quantization is None else
                      _tensor(source, f"{stored[name]}_scale"))
            _put_sparse_layer(model, name.removesuffix(".weight"), w, scales, done, writes)
        state = {names[name]: _tensor(source, name) for name in source
                 if names[name] not in condensed}
        _load_state(model, state, path)
        for write in writes:
            _write_sparse_layer(*write)


@takes_wrapped
def save(model: nn.Module, folder: str | os.PathLike, *,
         max_shard_size: int | str | None = None,
         state_dict: Mapping[str, Tensor] | None = None, write: bool = True) -> None:
    """Writes a model as a folder that `load` and transformers' from_pretrained read: its
    NMLinear weights condensed, its other tensors as they are, and its configuration
    where transformers made it. Its save_pretrained does the same.

    Args:
        max_shard_size: of a file, a number of bytes or a text as ``"5GB"``; there are
            several files and an index where the weights take more.
        state_dict: the tensors, where they are not the model's own.
        write: whether this process writes.

    Raises:
        Error: an NMLinear has an activation of its own, which no checkpoint has, or is
            sharded, or a tensor has no elements.
        OSError: the folder cannot be written.
    """
    target = Path(folder)
    sparse = {name: layer for name, layer in model.named_modules(remove_duplicate=False)
              if isinstance(layer, NMLinear)}
    for name, layer in sparse.items():
        layer.check_whole(f"'{name}'")
        if layer.activation is not None:
            raise Error(f"expected '{name}' without a fused activation, but it has "
                        f"{layer.activation}")
    if not write:
        return
    quantized = {name: layer for name, layer in model.named_modules(
        remove_duplicate=False) if isinstance(layer, NMQuantizedLinear)}
    own = {f"{name}.{part}" for name in {**sparse, **quantized}
           for part in ("values", "indices", "_extra_state")}
    tensors: dict[str, Tensor] = {}
    seen: dict[tuple, str] = {}
    for given, tensor in (state_dict or model.state_dict()).items():
        name = name_without_wrappers(given)
        if tensor.is_meta:
            raise Error(f"expected '{name}' to have elements, but it is on the meta device, "
                        "where it has none, or accelerate has offloaded it")
        place = (tensor.data_ptr(), tensor.shape, tensor.stride())
        # Tied weights are written once, as other writers of safetensors do.
        if name in own or (tensor.numel() and seen.setdefault(place, name) != name):
            continue
        tensors[_scale_name(model, name, quantized)] = tensor
    # As are weights of a layer with several names, and of layers that share one.
    first = {id(layer.values): name for name, layer in reversed(sparse.items())}
    weights = {}
    for name in [*sorted(first.values()), *quantized]:
        w = (_stored_weight(sparse[name]) if name in sparse
             else quantized[name].stored_weight())
        around = convolution_of(model, name)
        w._taps = None if around is None else model.get_submodule(around).kernel_size
        weights[stored_name(model, name)] = w
    if _is_of_transformers(model) and _converts_weights():
        from ._original_names import original_names
        tensors, weights = original_names(model, tensors, weights)
    target.mkdir(parents=True, exist_ok=True)
    write_shards(target, {name: _stored(tensor) for name, tensor in tensors.items()},
                 weights, max_shard_size)
    _save_configuration(model, target)


def _scale_name(model: nn.Module, name: str, quantized: Mapping[str, nn.Module]) -> str:
    """What a file calls scales."""
    layer, _, last = name.rpartition(".")
    return (f"{stored_name(model, layer)}_scale" if last == "scales" and layer in quantized
            else name)


def _is_of_transformers(model: nn.Module) -> bool:
    module = sys.modules.get("transformers.modeling_utils")
    return module is not None and isinstance(model, module.PreTrainedModel)


def _converts_weights() -> bool:
    """Whether transformers' models call weights otherwise than published checkpoints, as
    they do from version 5 on."""
    return importlib.util.find_spec("transformers.core_model_loading") is not None


def _stored_weight(layer: NMLinear) -> SparseTensor:
    """The weight as the dense layer has it; a condensed form is the same along either
    axis."""
    w = layer._weight()
    if layer._transposed_class is None:
        return w
    return SparseTensor(w._values, w._indices, (w.k, w.n), along_other_axis(w.pattern),
                        w.dtype)


def _save_configuration(model: nn.Module, target: Path) -> None:
    config = getattr(model, "config", None)
    if not hasattr(config, "save_pretrained"):
        return
    config = copy.deepcopy(config)
    # transformers makes the same class of it again.
    config.architectures = [type(model).__name__]
    if _is_of_transformers(model):
        from ._quantizer import config_of
        config.dtype = str(model.dtype).rpartition(".")[2]
        config.quantization_config = config_of(model).to_dict()
        if not config.quantization_config["layers"]:
            del config.quantization_config
    config.save_pretrained(target)
    if getattr(model, "generation_config", None) is not None and model.can_generate():
        model.generation_config.save_pretrained(target)


_KINDS = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16",
          torch.bfloat16: "BF16", torch.float8_e4m3fn: "F8_E4M3",
          torch.float8_e5m2: "F8_E5M2", torch.int64: "I64", torch.int32: "I32",
          torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL"}


def _stored(tensor: Tensor) -> _safetensors.StoredTensor:
    flat = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    return _safetensors.StoredTensor(_KINDS[tensor.dtype], tuple(tensor.shape),
                                     flat.numpy())


def _model_of(folder: Path, source: WeightSource, rules: Any) -> nn.Module:
    """The model that config.json names, as transformers loads it."""
    try:
        import transformers
    except ImportError:
        raise Error("expected the package transformers, which makes the model that "
                    "config.json names, but it is not installed; nm.torch.load(path, "
                    "model) takes one that is there") from None
    if not (folder / _CONFIG).is_file():
        raise FileFormatError(f"{folder}: expected a folder with {_CONFIG}, or a model "
                              "beside the path, but found neither")
    with reading(folder / _CONFIG, "a configuration in JSON"):
        fields = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
        names = fields.get("architectures") or []
    if not names:
        warnings.warn(f"{folder / _CONFIG} names no class of a model in its "
                      "architectures: AutoModel is taken, which may be another than the "
                      "one that was saved", stacklevel=3)
    kind = getattr(transformers, names[0] if names else "AutoModel", None)
    if kind is None:
        raise Error(f"expected a model of transformers, but {folder / _CONFIG} names "
                    f"{names[0]}")
    return _load_by_transformers(kind, folder, source, rules)


def _load_by_transformers(kind: Any, folder: Path, source: WeightSource, rules: Any,
                          config: Any = None) -> nn.Module:
    import transformers
    stored = transformers.AutoConfig.from_pretrained(folder)
    former = getattr(stored, "quantization_config", None) or {}
    if config is None:
        config = stored
    config.dtype = stored.dtype
    options: dict[str, Any] = {}
    if _has_sparse_stacks(source, former) or any(
            source.condensed(name) is not None for name in source):
        config.quantization_config = {
            "quant_method": "nm", **(former if former.get("quant_method") == "nm" else {})}
    else:
        # How other weights are stored is told by the files.
        if former:
            vars(config).pop("quantization_config", None)
            options["state_dict"] = {name: _tensor(source, name) for name in source}
    # It takes tensors or a folder.
    model, found = kind.from_pretrained(None if options else folder, config=config, dtype="auto",
                                        output_loading_info=True,
                                        ignore_mismatched_sizes=True, **options)
    if options and (folder / "generation_config.json").is_file() and model.can_generate():
        model.generation_config = transformers.GenerationConfig.from_pretrained(folder)
    for what, keys in (("tensors of the model, but it has no", "unexpected_keys"),
                       ("all weights of the model, but it lacks", "missing_keys"),
                       ("tensors of the model's shapes, but others are",
                        "mismatched_keys")):
        if found[keys]:
            listed = sorted(map(str, found[keys]))[:8]
            raise Error(f"{source.path}: expected {what} {', '.join(listed)}")
    if rules is not None:
        _condense_layers(model, rules)
    return model


def _condense_layers(model: nn.Module, rules: Any) -> None:
    """Puts NMLinear in place of the layers that rules mean.

    Raises:
        PatternError: a weight breaks the pattern of its rule.
    """
    with unfolded(model):
        _condense_unfolded(model, rules)


def _condense_unfolded(model: nn.Module, rules: Any) -> None:
    layers = [layer for layer in find_layers(model) if layer.why_not is None]
    patterns = ({layer.name: (_detect(layer), "") for layer in layers} if rules == "detect"
                else patterns_of(model, layers, rules))
    for layer in layers:
        pattern, _ = patterns[layer.name]
        if pattern is not None and isinstance(layer.module, ExpertLinears):
            layer.module.condense(layer.name, parse_pattern(pattern, None, 1))
        elif pattern is not None:
            dense = layer.as_linear()
            sparse = NMLinear.from_pruned(dense, dense.weight.detach(),
                                          parse_pattern(pattern, None, 1),
                                          name=f"{layer.name}.weight")
            if is_conv1d(layer.module):
                sparse._transposed_class = type(layer.module)
            replace_layer(model, layer.name, sparse)
    untie_heads(model)


def _detect(layer: Layer) -> Pattern | None:
    """The sparsest pattern of a layer; of experts one that all have."""
    if not isinstance(layer.module, ExpertLinears):
        return detect(layer.as_linear().weight.detach(), axis=1)[0]
    found = [detect(each.weight.detach(), axis=1)[0] for each in layer.module]
    return None if None in found else max(found, key=lambda pattern: -pattern.sparsity)


def _names_in_model(source: WeightSource, model: nn.Module) -> dict[str, str]:
    """What the model calls the tensors of a checkpoint: a part of a model, or a model
    around one, has another beginning of its names."""
    own = set(model.state_dict())
    prefix = getattr(model, "base_model_prefix", "")
    names = {}
    for name in source:
        candidates = (name, f"{prefix}.{name}", name.removeprefix(f"{prefix}."))
        names[name] = name_in_model(model, next(
            (each for each in candidates if each in own), name))
    return names


def _condensed_weights(source: WeightSource, names: Mapping[str, str],
                       model: nn.Module, rules: Any) -> dict[str, SparseTensor]:
    """The weights of layers that become sparse, by the model's names."""
    found = {}
    patterns = {} if rules is None or rules == "detect" else chosen_patterns(model, rules)
    matrices, own = set(source.matrices()), set(model.state_dict())
    for name in source:
        layer = names[name].removesuffix(".weight")
        w = source.condensed(name)
        if (w is None and name in matrices and layer != names[name]
                and _is_linear(model, layer)):
            w = _compress(source, name, patterns.get(layer), rules == "detect")
        # A tensor of no layer, as a buffer, is dense.
        if w is not None and (_takes_condensed(model, layer, w) if _has_layer(model, layer)
                              else names[name] not in own):
            found[names[name]] = w
    return found


def _takes_condensed(model: nn.Module, name: str, w: SparseTensor) -> bool:
    """Whether a layer multiplies with a condensed weight. One that looks rows up, as an
    embedding, or has k along the other axis, gets the dense weight."""
    layer = model.get_submodule(name)
    axis = 1 if isinstance(layer, nn.Linear) else 0 if is_conv1d(layer) else None
    return w.pattern.axis == axis


def _is_linear(model: nn.Module, name: str) -> bool:
    try:
        return is_linear(model.get_submodule(name))
    except AttributeError:
        return False


def _compress(source: WeightSource, name: str, pattern: Any, detects: bool
              ) -> SparseTensor | None:
    found = source.integers(name)
    dense = source[name] if found is None else found[0]
    if detects:
        pattern, _ = detect(dense, axis=1)
    if pattern is None:
        return None
    w = compress(dense, parse_pattern(pattern, None, 1), name=name)
    if found is not None:
        w._quantization = found[1:]
    return w


def _put_sparse_layer(model: nn.Module, name: str, w: SparseTensor,
                      scales: Tensor | None, done: set[int], writes: list[tuple]) -> None:
    """Adds what is to be written in place, once nothing is refused any more, to `writes`."""
    try:
        layer = model.get_submodule(name)
    except AttributeError:
        raise Error(f"expected a model with the layer '{name}', whose weight is "
                    "condensed, but it has none") from None
    if isinstance(layer, (NMLinear, NMQuantizedLinear)):
        if isinstance(layer, NMLinear) and id(layer) not in done:
            writes.append(_checked(layer, name, w))
        return
    if not is_linear(layer) and not is_conv1d(layer):
        raise Error(f"expected '{name}', whose weight is condensed, to be an nn.Linear, "
                    f"but it is {type(layer).__name__}")
    if tuple(layer.weight.shape) != w.shape:
        raise Error(f"expected a weight {tuple(layer.weight.shape)} of '{name}', but "
                    f"got {w.shape}")
    siblings = [(each, other) for each, other in model.named_modules()
                if other is not layer and type(other) is nn.Linear
                and other.weight is layer.weight]
    sparse = (sparse_of_stored(w, layer) if scales is None else
              NMQuantizedLinear.from_sparse(w, scales, *w._quantization, layer.bias))
    keep_belongings(layer, sparse)
    replace_module(model, name, sparse)
    done.add(id(sparse))
    for each, other in siblings:
        twin = (sparse.sibling(other.bias) if scales is None else
                NMQuantizedLinear.from_sparse(w, scales, *w._quantization, other.bias))
        keep_belongings(other, twin)
        replace_module(model, each, twin)
        done.add(id(twin))


def _checked(layer: NMLinear, name: str, w: SparseTensor) -> tuple[NMLinear, SparseTensor]:
    """A layer that was sparse before, and the weight that is to be written to it.

    Raises:
        Error: they do not fit.
    """
    pattern = (w.pattern if layer._transposed_class is None else
               along_other_axis(w.pattern))
    if layer.pattern != pattern or w._quantization is not None:
        integers = "" if w._quantization is None else " of integers"
        raise Error(f"expected '{name}' to have {layer.pattern}, as the layer of the model, "
                    f"but the file has {pattern}{integers}; nm.torch.densify(model) makes "
                    "layers that take any pattern")
    shape = layer._dense_shape()
    if layer._transposed_class is not None:
        shape = shape[::-1]
    if w.shape != shape:
        raise Error(f"expected a weight {shape} of '{name}', but got {w.shape}")
    return layer, w


def _write_sparse_layer(layer: NMLinear, w: SparseTensor) -> None:
    values, indices = copy_tensors(w)
    with torch.no_grad():
        layer.values.copy_(values)
        layer._shape_indices(tuple(indices.shape))
        layer.indices.copy_(indices)
    layer.refresh()


def sparse_of_stored(w: SparseTensor, layer: nn.Module) -> NMLinear:
    """The layer of a weight as it is in a file, in place of a dense one."""
    transposed = is_conv1d(layer)
    if w.pattern.axis != (0 if transposed else 1):
        raise Error(f"expected a weight with k at axis {0 if transposed else 1}, as "
                    f"{type(layer).__name__} has it, but got {w}")
    if transposed:
        w = SparseTensor(w._values, w._indices, (w.n, w.k), along_other_axis(w.pattern),
                         w.dtype)
    sparse = NMLinear._with_bias(w, layer.bias)
    if transposed:
        sparse._transposed_class = type(layer)
    return sparse


def _tensor(source: WeightSource, name: str) -> Tensor:
    element, array = source.raw(name)
    # Memory of its own, as the model may write to it.
    copy = torch.from_numpy(array.copy())
    return (copy.view(_arrays.KINDS["torch"].dtypes[element])
            if element in lib.EXTENSION_TYPES else copy)


def _load_state(model: nn.Module, state: dict[str, Tensor], path: str) -> None:
    ties = _tied_names(model)
    try:
        result = model.load_state_dict(state, strict=False, assign=True)
    except RuntimeError as error:
        raise Error(f"{path}: {error}") from error
    if hasattr(model, "tie_weights"):
        untie_heads(model)
        model.tie_weights()
    absent = set(result.missing_keys)
    for names in ties:
        there = [name for name in names if name not in absent]
        for name in names if there else ():
            if name in absent:
                _set_parameter(model, name, model.get_parameter(there[0]))
                absent.discard(name)
    if result.unexpected_keys:
        raise Error(f"{path}: expected tensors of the model, but it has no "
                    f"{', '.join(sorted(result.unexpected_keys)[:8])}")
    # Tied weights are in a checkpoint once; buffers may be computed.
    missing = [name for name, tensor in model.named_parameters() if tensor.is_meta]
    tied = set(getattr(model, "all_tied_weights_keys", None) or ())
    missing += [name for name in absent
                if name not in tied and not name.endswith("_extra_state")
                and not _is_condensed_part(model, name) and name not in missing]
    if missing:
        raise Error(f"{path}: expected all weights of the model, but it lacks "
                    f"{', '.join(sorted(missing)[:8])}")


def _tied_names(model: nn.Module) -> list[list[str]]:
    """The names of each parameter and buffer that has several."""
    names: dict[int, list[str]] = {}
    for tensors in (model.named_parameters, model.named_buffers):
        for name, tensor in tensors(remove_duplicate=False):
            names.setdefault(id(tensor), []).append(name)
    return [each for each in names.values() if len(each) > 1]


def _set_parameter(model: nn.Module, name: str, tensor: Tensor) -> None:
    layer, _, last = name.rpartition(".")
    setattr(model.get_submodule(layer), last, tensor)


def _is_condensed_part(model: nn.Module, name: str) -> bool:
    layer, _, part = name.rpartition(".")
    return part in ("values", "indices", "scales") and isinstance(
        model.get_submodule(layer), (NMLinear, NMQuantizedLinear))
