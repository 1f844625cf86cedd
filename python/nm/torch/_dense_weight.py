"""NMLinear.weight: a dense weight that is made where its elements are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from .._errors import Error
from ._decompress import decompress

_Disabled = torch._C.DisableTorchFunctionSubclass
# What is known without elements.
_FACTS = {
    Tensor.shape.__get__, Tensor.dtype.__get__, Tensor.device.__get__,
    Tensor.layout.__get__, Tensor.ndim.__get__, Tensor.requires_grad.__get__,
    Tensor.is_cuda.__get__, Tensor.is_cpu.__get__, Tensor.is_meta.__get__,
    Tensor.is_sparse.__get__, Tensor.is_quantized.__get__, Tensor.is_nested.__get__,
    Tensor.itemsize.__get__, Tensor.nbytes.__get__, Tensor.size, Tensor.dim,
    Tensor.numel, Tensor.nelement, Tensor.element_size, Tensor.is_floating_point,
    Tensor.is_complex, Tensor.get_device, Tensor.__len__, Tensor.stride,
    Tensor.is_contiguous, Tensor.__hash__, torch.numel, torch.is_floating_point,
    torch.is_complex}
_SETTERS = {Tensor.data.__set__, Tensor.grad.__set__}
# These want a tensor that nothing was computed for.
_COPIES = {Tensor.__deepcopy__, Tensor.__reduce_ex__}


class ReadOnlyTensor(Tensor):
    """A dense weight, or a view of one, that was made for someone to read: writes,
    which would be lost, are refused."""

    @classmethod
    def __torch_function__(cls, func: Callable, types: Any, args: Any = (),
                           kwargs: Any = None) -> Any:
        given, _ = tree_flatten((args, kwargs or {}))
        return _call(func, args, kwargs or {},
                     [each for each in given if isinstance(each, ReadOnlyTensor)])


class DenseWeight(Tensor):
    """The dense weight of a layer: its shape, type and device at once, its elements
    where they are read, with gradients for the kept values of the layer."""

    _layer: Any

    @staticmethod
    def __new__(cls, layer: Any) -> DenseWeight:
        values = layer._parts()[0]
        weight = torch.Tensor._make_wrapper_subclass(
            cls, layer._dense_shape(), dtype=values.dtype, device=values.device,
            requires_grad=values.requires_grad)
        weight._layer = layer
        # What transformers looks for where it would draw random weights.
        weight._is_hf_initialized = True
        return weight

    @classmethod
    def __torch_function__(cls, func: Callable, types: Any, args: Any = (),
                           kwargs: Any = None) -> Any:
        if func in _FACTS:
            with _Disabled():
                return func(*args, **(kwargs or {}))
        if func == Tensor.grad.__get__:
            return args[0]._layer._dense_gradient()
        if func in (Tensor.requires_grad.__set__, Tensor.requires_grad_):
            args[0]._layer._parts()[0].requires_grad_(*args[1:], **(kwargs or {}))
            return args[0]._layer.weight
        flat, tree = tree_flatten((args, kwargs or {}))
        if func in _SETTERS and isinstance(args[0], DenseWeight):
            raise _written(func)
        made: dict[int, Tensor] = {}
        for i, each in enumerate(flat):
            if isinstance(each, DenseWeight):
                layer = each._layer
                if id(layer) not in made:
                    made[id(layer)] = layer.dense_weight()
                flat[i] = made[id(layer)]
        dense, options = tree_unflatten(flat, tree)
        if func in _COPIES:
            with _Disabled():
                return func(dense[0].detach(), *dense[1:])
        others = [each for each in flat if isinstance(each, ReadOnlyTensor)]
        return _call(func, dense, options, [*made.values(), *others])

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (),
                           kwargs: Any = None) -> Any:
        # What PyTorch calls without its functions, as of a graph's inputs.
        def dense(each: Any) -> Any:
            return (each._layer.dense_weight().detach()
                    if isinstance(each, DenseWeight) else each)
        if func._schema.is_mutable:
            raise _written(func)
        return func(*tree_map(dense, args), **tree_map(dense, kwargs or {}))


def dense_of_parts(values: Tensor, indices: Tensor, form: str) -> Tensor:
    """The elements, as a tensor whose writes are counted."""
    with torch.inference_mode(False):
        if values.is_inference():
            values, indices = values.clone(), indices.clone()
        return decompress(values, indices, form)


def _call(func: Callable, args: Any, options: Any, made: list[Tensor]) -> Any:
    """A function of tensors that were made for it, none of which it may write to."""
    if func in _SETTERS and any(args[0] is each for each in made):
        raise _written(func)
    if func == Tensor.requires_grad_ and any(args[0] is each for each in made):
        raise Error("expected a copy of NMLinear.weight, as by weight.detach().clone(), "
                    "for a tensor with a gradient of its own, but got what is read-only")
    with _Disabled():
        before = [_writes(each) for each in made]
        result = func(*args, **options)
        if [_writes(each) for each in made] != before:
            raise _written(func)
        return tree_map(lambda each: _guarded(each, made), result)


def _writes(tensor: Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version


def _guarded(result: Any, made: list[Tensor]) -> Any:
    """What a function gave, read-only where it is a view of what was made for it."""
    if type(result) is Tensor and any(_shares(result, each) for each in made):
        return result.as_subclass(ReadOnlyTensor)
    if type(result).__module__ == "numpy" and getattr(result, "ndim", 0) and any(
            _begins_in(result.__array_interface__["data"][0], each) for each in made):
        result.flags.writeable = False
    return result


def _shares(a: Tensor, b: Tensor) -> bool:
    try:
        return a.untyped_storage()._cdata == b.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):
        # A tensor of a transform of torch.func, which has no storage.
        return False


def _begins_in(address: int, tensor: Tensor) -> bool:
    begin = tensor.untyped_storage().data_ptr()
    return begin <= address < begin + max(tensor.untyped_storage().nbytes(), 1)


def _written(func: Any) -> Error:
    name = getattr(func, "__name__", str(func))
    if name == "__set__":
        name = f"its {func.__self__.__name__} set"
    return Error(
        "expected no write to what NMLinear.weight gave, which is made where it is read, "
        f"but got {name}; a tensor that obeys the pattern can be assigned to `weight`, "
        "`values` is the parameter with the kept weights, and nm.torch.densify(model) "
        "puts nn.Linear layers back, whose weights may become anything")
