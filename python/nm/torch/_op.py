"""torch.ops.nm.linear: the product, known to torch's dispatcher.

A weight is two tensors, its condensed form, and a text with its shape and pattern: a
that is exported, traced or compiled ahead of time carries all of it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from .._errors import DeviceError, DTypeError, Error, ShapeError
from .._matmul import matmul
from .._sparse import SparseTensor
from ._weights import find_weight, parse_form, tensors_of, without_elements

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.nn.functional.relu,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "silu": torch.nn.functional.silu,
}


def linear(x: Tensor, w: SparseTensor, bias: Tensor | None = None,
           activation: str | None = None) -> Tensor:
    """``activation(x · W + bias)`` with gradients for `x` and `bias`.

    Args:
        x: ``[..., k]``.
        w: the weight.
        bias: ``[n]`` or None.
        activation: as in nm.matmul. Where a gradient is needed it is an operator
            of its own.

    Returns:
        ``[..., n]``, of the type that nm.matmul gives.

    Raises:
        Error: as nm.matmul, where the operator runs.
    """
    check_activation(activation)
    if not isinstance(x, Tensor):
        raise TypeError(f"expected x to be a tensor, but got {type(x).__name__}")
    values, indices, form = tensors_of(w, x.device)
    return linear_of_tensors(x, values, indices, form, bias, activation)


def check_activation(activation: str | None) -> None:
    if activation is not None and activation not in _ACTIVATIONS:
        raise Error(f"expected activation to be one of None, "
                    f"{', '.join(_ACTIVATIONS)}, but got {activation!r}")


def linear_of_tensors(x: Tensor, values: Tensor, indices: Tensor, form: str,
                      bias: Tensor | None, activation: str | None) -> Tensor:
    """The same with a weight that is tensors."""
    if activation is None:
        return _operator(x, values, indices, form, bias, "")
    needs_gradient = torch.is_grad_enabled() and (
        x.requires_grad or (bias is not None and bias.requires_grad))
    if not needs_gradient:
        return _operator(x, values, indices, form, bias, activation)
    return _ACTIVATIONS[activation](
        _operator(x, values, indices, form, bias, ""))


_library = torch.library.Library("nm", "DEF")
# Few arguments: PyTorch takes a microsecond for each where a gradient is needed.
_library.define("linear(Tensor x, Tensor values, Tensor indices, str form, "
                "Tensor? bias, str activation) -> Tensor")
_library.define("dense_weight(Tensor like, Tensor values, Tensor indices, str form) "
                "-> Tensor")


def _linear(x: Tensor, values: Tensor, indices: Tensor, form: str,
            bias: Tensor | None, activation: str) -> Tensor:
    w = find_weight(values, indices, form)
    if not torch.is_grad_enabled():  # Which costs less than to enter no_grad.
        return matmul(x, w, bias, activation or None)
    with torch.no_grad():
        return matmul(x, w, bias, activation or None)


def _dense_weight(like: Tensor, values: Tensor, indices: Tensor, form: str) -> Tensor:
    """[n, k] on the device of `like`, kept there: a backward pass needs it every
    time."""
    w = find_weight(values, indices, form)
    kept = getattr(w, "_torch_dense", None)
    if kept is None or kept.device != like.device:
        kept = w.decompress(like=like)
        if w.pattern.axis == 0:
            kept = kept.T.contiguous()
        w._torch_dense = kept  # type: ignore[attr-defined]
    return kept.clone()


for _key in ("CPU", "CUDA"):
    _library.impl("linear", _linear, _key)
    _library.impl("dense_weight", _dense_weight, _key)
_operator = torch.ops.nm.linear.default


def _result_dtype(x: Tensor, activation: str) -> torch.dtype:
    if x.dtype == torch.int8:
        return torch.float32 if activation else torch.int32
    return torch.float32 if x.dtype == torch.float8_e4m3fn else x.dtype


@torch.library.register_fake("nm::linear", lib=_library)
def _fake_linear(x, values, indices, form, bias, activation):
    n = _check_weight(x, values, indices, form)
    check_activation(activation or None)
    if bias is not None and bias.device != x.device:
        raise DeviceError(f"expected bias on {x.device}, where x is, but it is on "
                          f"{bias.device}")
    if bias is not None and tuple(bias.shape) != (n,):
        raise ShapeError(f"expected bias of shape ({n},), but got "
                         f"{tuple(bias.shape)}")
    return x.new_empty((*x.shape[:-1], n), dtype=_result_dtype(x, activation))


def _check_weight(x, values, indices, form) -> int:
    """Refuses what would fail when the graph runs while it is being made; gives n."""
    pattern, shape = parse_form(form)
    k, n = pattern.sizes(shape)
    if values.device.type == "meta" and x.device.type != "meta":
        raise without_elements()
    if x.dim() == 0 or x.shape[-1] != k:
        raise ShapeError(f"expected x of shape [..., {k}], as the weight has k = {k}, "
                         f"but got {tuple(x.shape)}")
    if x.dtype != values.dtype:
        raise DTypeError(f"expected x of {values.dtype}, as the weight is, but got "
                         f"{x.dtype}")
    shapes = pattern.condensed_shapes(k, n)
    got = tuple(values.shape), tuple(indices.shape)
    if got != shapes:
        raise ShapeError(f"expected values {shapes[0]} and indices {shapes[1]} of a "
                         f"weight {form}, but got {got[0]} and {got[1]}")
    return n


@torch.library.register_fake("nm::dense_weight", lib=_library)
def _fake_dense_weight(like, values, indices, form):
    pattern, shape = parse_form(form)
    k, n = pattern.sizes(shape)
    return like.new_empty((n, k))


@torch.library.register_vmap("nm::linear", lib=_library)
def _vmap_linear(_info, in_dims, x, values, indices, form, bias, activation):
    """A batch is one more leading size, unless each of it has a bias."""
    x_dim, bias_dim = in_dims[0], in_dims[4]
    _check_one_weight(*in_dims[1:3])
    if x_dim is not None:
        x = x.movedim(x_dim, 0)
    if bias_dim is None:
        return _operator(x, values, indices, form, bias, activation), 0
    biases = bias.unbind(bias_dim)
    rows = [x] * len(biases) if x_dim is None else x.unbind()
    return torch.stack([_operator(each, values, indices, form, one, activation)
                        for each, one in zip(rows, biases)]), 0


def _check_one_weight(*dims: int | None) -> None:
    if any(dim is not None for dim in dims):
        raise Error("expected one weight for all of a vmap, but got a batch of them")


@torch.library.register_vmap("nm::dense_weight", lib=_library)
def _vmap_dense_weight(_info, in_dims, like, *weight):
    _check_one_weight(*in_dims[1:3])
    return torch.ops.nm.dense_weight(like.select(in_dims[0], 0), *weight), None


def _setup(ctx, inputs, output):
    _, values, indices, ctx.form, bias, activation = inputs
    if ctx.needs_input_grad[0]:
        # An error tells where they were written to since.
        ctx.save_for_backward(values, indices)
    ctx.activation = activation
    ctx.has_bias = bias is not None


def _backward(ctx, grad):
    if ctx.activation:
        raise Error("expected no fused activation where a gradient is needed; "
                    "nm.torch.linear takes care of that")
    if ctx.needs_input_grad[1]:
        raise Error("expected values that need no gradient, as a weight of nm is a "
                    "constant")
    grad_x = grad_bias = None
    if ctx.needs_input_grad[0]:
        with torch.no_grad():
            dense = torch.ops.nm.dense_weight(grad, *ctx.saved_tensors, ctx.form)
        grad_x = grad @ dense
    if ctx.has_bias and ctx.needs_input_grad[4]:
        grad_bias = grad.reshape(-1, grad.shape[-1]).sum(0)
    return grad_x, None, None, None, grad_bias, None


torch.library.register_autograd("nm::linear", _backward, setup_context=_setup,
                                lib=_library)
