"""A layer in place of torch.nn.Linear."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from .. import _arrays
from .._errors import Error, PatternError, ShapeError
from .._formats import compress
from .._index_form import indices_fit
from .._pattern import Block, Pattern, check_fits, parse_pattern
from .._prune import prune
from .._sparse import SparseTensor
from .._weightfile import unpack_indices
from ._autocast import call_in_autocast, call_layer
from ._decompress import decompress
from ._dense_weight import DenseWeight, ReadOnlyTensor, dense_of_parts
from ._fast import FastCalls, is_plain, learn, product
from ._op import (ACTIVATION_MODULES, apply_activation, check_activation,
                  multiply_tensors, product_with_gradient)
from ._traced import traced_part
from ._weights import (LOWER_TYPES, bring_back_weight, check_indices, copy_tensors, find_weight,
                       forget_weight, keep_weight, map_weight, parse_form, share_tensors,
                       write_form)

is_grad_enabled = torch.is_grad_enabled
is_dynamo_compiling = torch.compiler.is_dynamo_compiling


class NMLinear(nn.Linear):
    """``activation(x · Wᵀ + bias)`` with an N:M weight ``[out, in]``.

    The weight is in its condensed form: `values` is a parameter, the kept weights,
    and `indices` a buffer, where each was (of unstructured weights a bitmap or offsets,
    as SparseTensor.index_form says; a layer takes either of a state). They are in the module's state_dict,
    beside the pattern, and move with the module. It is an nn.Linear to those who look
    for one, as PEFT does; `weight` is no parameter.

    Where `values` needs a gradient and the module is in training mode, the weight
    changes at every step: the product is then PyTorch's own of the dense weight, and
    the gradient of `values` that of the dense weight at the kept places. In evaluation
    mode, without gradients, and where `values` needs none, nm's kernel computes it;
    the first call packs the weight, and another after a change. Derivatives of forward
    mode and of torch.func, and products in float64, are PyTorch's own, too.

    Args:
        in_features, out_features: k and n.
        pattern: N:M along the inputs, N **kept** of every M.
        block: ``(bk, bn)``, bk inputs by bn outputs.
        bias: whether there is one.
        activation: fused to the product, as in nm.matmul.
        device, dtype: of the buffers and the bias.

    Raises:
        PatternError: `pattern` is none, or a block of it is larger than the weight.
    """

    values: nn.Parameter
    indices: Tensor
    #: What multiplies where nm.torch.parallel has sharded the weight.
    _shards: Any = None
    #: The nm.torch.fuse that it is part of, and its number there.
    _fused: Any = None
    #: What is read of that while the layer is compiled, and its number there.
    _traced: Any = None
    _part: int | None = None
    _lies_on_host = False
    #: The class of the dense layer, where that has a weight ``[in, out]``.
    _transposed_class: type | None = None

    def __init__(self, in_features: int, out_features: int,
                 pattern: str | Pattern, block: Block = None, bias: bool = True,
                 activation: str | None = None, device: Any = None,
                 dtype: torch.dtype = torch.float32):
        nn.Module.__init__(self)
        self._shared: SparseTensor | None = None
        self._fast: FastCalls | None = None
        # Of the weight in the type of torch.autocast.
        self._fast_lower: FastCalls | None = None
        # Whether its condensed weight was to be moved to a file, or from a device to the
        # host, and lies there.
        self._is_mapped = self._lies_in_file = self._lies_on_host = False
        self.in_features, self.out_features = in_features, out_features
        self.pattern = parse_pattern(pattern, block, 1)
        check_fits(self.pattern, (out_features, in_features))
        self._form = write_form(self.pattern, (out_features, in_features))
        check_activation(activation)
        self.activation = activation
        values, indices = self.pattern.condensed_shapes(in_features, out_features)
        self.values = _parameter(torch.zeros(values, dtype=dtype, device=device))
        self.register_buffer("indices", _first_indices(self.pattern, indices, device))
        self.bias = (nn.Parameter(torch.zeros(out_features, dtype=dtype,
                                              device=device)) if bias else None)

    @classmethod
    def from_dense(cls, linear: nn.Linear, pattern: str | Pattern,
                   block: Block = None, *, prune_weight: bool = False,
                   activation: str | None = None, name: str = "weight") -> NMLinear:
        """The layer of a dense one, on its device and with a copy of its bias.

        Args:
            prune_weight: whether the weight is pruned by magnitude; otherwise it
                must obey the pattern.

        Raises:
            PatternError: the weight breaks the pattern, or a block is larger.
        """
        found = parse_pattern(pattern, block, 1)
        weight = linear.weight.detach()
        check_fits(found, weight.shape, name)
        if prune_weight:
            weight = prune(weight, found).weight
        return cls.from_pruned(linear, weight, found, activation=activation, name=name)

    @classmethod
    def from_pruned(cls, linear: nn.Linear, weight: Tensor, pattern: Pattern, *,
                    activation: str | None = None, name: str = "weight") -> NMLinear:
        """The layer of a dense one with another weight, which obeys the pattern.

        Raises:
            PatternError: it breaks it.
        """
        return cls._from_own(linear, compress(weight, pattern, name=name), activation,
                             _copy(linear.bias))

    @classmethod
    def _from_own(cls, linear: nn.Linear, w: SparseTensor, activation: str | None,
                  bias: Tensor | None) -> NMLinear:
        """The layer of a dense one with a condensed weight that nothing else knows:
        its arrays need no copy. `bias` becomes the layer's."""
        layer = cls._without_memory(w, bias, activation)
        values, indices = share_tensors(w)
        device = linear.weight.device
        layer.values = nn.Parameter(
            values.to(device), requires_grad=linear.weight.requires_grad
            and _has_gradient(values.dtype))
        layer.indices = indices.to(device)
        if device.type not in ("cpu", "meta"):
            # Copies on a device: calls need not read them back.
            w._is_private = True
            keep_weight(layer.values, layer.indices, layer._form, w)
        return layer

    @classmethod
    def from_sparse(cls, w: SparseTensor, bias: Tensor | None = None,
                    activation: str | None = None, device: Any = None
                    ) -> NMLinear:
        """The layer of a condensed weight ``[out, in]``; it shares nothing with `w`
        and `bias`."""
        return cls._with_bias(w, _copy(bias), activation, device)

    @classmethod
    def _with_bias(cls, w: SparseTensor, bias: Tensor | None = None,
                   activation: str | None = None, device: Any = None) -> NMLinear:
        """The same with `bias` itself."""
        if w.pattern.axis != 1:
            raise ShapeError("expected a weight [out, in], compressed with axis=1, "
                             f"but got {w}")
        layer = cls._without_memory(w, bias, activation)
        values, layer.indices = copy_tensors(w)
        layer.values = _parameter(values)
        keep_weight(layer.values, layer.indices, layer._form, w)
        return layer if device is None else layer.to(device)

    @classmethod
    def _without_memory(cls, w: SparseTensor, bias: Tensor | None,
                        activation: str | None) -> NMLinear:
        layer = cls(w.k, w.n, w.pattern, bias=False, activation=activation,
                    device="meta", dtype=_arrays.KINDS["torch"].dtypes[w.dtype])
        if bias is not None and not isinstance(bias, nn.Parameter):
            bias = nn.Parameter(bias, requires_grad=bias.requires_grad)
        layer.bias = bias
        return layer

    def sibling(self, bias: nn.Parameter | None) -> NMLinear:
        """A layer with this one's weight, which they share, and a bias of its own."""
        layer = NMLinear(self.in_features, self.out_features, self.pattern, bias=False,
                         activation=self.activation, device="meta",
                         dtype=self.values.dtype)
        layer.values, layer.indices, layer.bias = self.values, self.indices, bias
        return layer

    @property
    def weight(self) -> Tensor:
        """The dense weight ``[out, in]``, whose elements are made where they are read;
        of a sharded one this process's part. Its gradients reach `values`.

        It cannot be written to. A tensor that obeys the pattern can be assigned, which
        writes to `values` and `indices`; others are refused with a PatternError.
        """
        if is_dynamo_compiling():
            return decompress(*self._parts(), self._form)
        return DenseWeight(self)

    @weight.setter
    def weight(self, weight: Any) -> None:
        self.check_whole("a layer whose weight is assigned")
        if not isinstance(weight, Tensor) or tuple(weight.shape) != self._dense_shape():
            got = (tuple(weight.shape) if isinstance(weight, Tensor)
                   else type(weight).__name__)
            raise ShapeError("expected a tensor of shape "
                             f"{self._dense_shape()} as the weight, but got {got}")
        if weight.is_meta and self.values.is_meta:
            return
        values, indices = share_tensors(compress(
            weight.detach().to(self.values.dtype), self.pattern))
        with torch.no_grad():
            self.values.copy_(values)
            self._shape_indices(tuple(indices.shape))
            self.indices.copy_(indices)
        if not self.values.is_meta:
            self.refresh()

    def _shape_indices(self, shape: tuple[int, ...]) -> None:
        """Has the buffer the shape of other indices of the pattern: those of unstructured
        weights may be a bitmap, or offsets of any number of bytes."""
        if tuple(self.indices.shape) != shape and indices_fit(
                self.pattern, self.in_features, self.out_features, shape):
            self.indices = self.indices.new_zeros(shape)

    def dense_weight(self) -> Tensor:
        """The dense weight as a new tensor, with gradients for `values`."""
        return dense_of_parts(*self._parts(), self._form)

    def _dense_gradient(self) -> Tensor | None:
        """The gradient of the weight, which is zero where nothing is kept."""
        values, indices = self._parts()
        if values.grad is None:
            return None
        with torch.no_grad():
            return dense_of_parts(values.grad, indices, self._form).as_subclass(
                ReadOnlyTensor)

    def _dense_shape(self) -> tuple[int, int]:
        return parse_form(self._form)[1]

    def _parts(self) -> tuple[Tensor, Tensor]:
        """The values and indices that this process has, with gradients."""
        if self._shards is None:
            return self.values, self.indices
        return self.values.to_local(), self.indices.to_local()

    def register_parameter(self, name: str, param: nn.Parameter | None) -> None:
        if name == "weight":  # As nn.Module does with a parameter that is assigned.
            type(self).weight.fset(self, param)
        else:
            self._leave_fusion()
            super().register_parameter(name, param)

    def reset_parameters(self) -> None:
        """Draws the kept weights and the bias as nn.Linear draws its own."""
        bound = 1 / math.sqrt(self.in_features) if self.in_features else 0.0
        for parameter in (self.values, self.bias):
            if parameter is not None:
                nn.init.uniform_(parameter, -bound, bound)

    def to_dense(self) -> nn.Module:
        """An ``nn.Linear`` (a Conv1D where the layer was one) with the same weight,
        zeros included, and the same bias; it shares nothing with the layer. A sequence
        of it and the activation where one is fused.

        Raises:
            Error: the layer is sharded.
        """
        return self._to_dense(_copy(self.bias))

    def _to_dense(self, bias: nn.Parameter | None) -> nn.Module:
        self.check_whole()
        with torch.no_grad():
            weight = self.dense_weight()
        if self._transposed_class is None:
            dense = nn.Linear(self.in_features, self.out_features, bias=False,
                              device="meta")
        else:
            with torch.device("meta"):
                dense = self._transposed_class(self.out_features, self.in_features)
            weight = weight.T.contiguous()
        dense.weight = nn.Parameter(weight, requires_grad=self.values.requires_grad)
        dense.bias = bias
        layer = dense if self.activation is None else nn.Sequential(
            dense, ACTIVATION_MODULES[self.activation]())
        return layer.train(self.training)

    def check_whole(self, name: str = "the layer") -> None:
        """Refuses a layer that nm.torch.parallel has sharded.

        Raises:
            Error: it is.
        """
        if self._shards is not None:
            raise Error(
                f"expected {name} to have all of its weight, but this process has a "
                "part; torch.distributed.checkpoint.state_dict.get_model_state_dict "
                "with full_state_dict=True gives all of it, for a model in one process")

    def sparse_weight(self) -> SparseTensor:
        """The weight that the buffers hold, as it is packed."""
        return self._weight()._take_own()

    def _weight(self) -> SparseTensor:
        """The same, whose arrays may be the layer's own."""
        return find_weight(*self._tensors(), self._form)

    def refresh(self, known: SparseTensor | None = None) -> None:
        """Verifies and packs the weight anew where its buffers have changed.

        Calls see for themselves the steps of optimizers and what PyTorch counts as a
        write, compiled ones too; it does not count writes through ``.data``, through
        NumPy, and to tensors of the inference mode. Compiled calls do not see writes
        to the DTensors of nm.torch.parallel. A CUDA graph, which keeps what it
        captured, is to be captured again.
        """
        self._leave_fusion()
        tensors = self._tensors()
        self._fast = self._fast_lower = None
        self._is_mapped = self._lies_in_file = self._lies_on_host = False
        known = forget_weight(tensors[0]) or known
        if self.values.dtype == torch.float64:
            check_indices(tensors[1], self._form)
        elif not self.values.is_meta:
            find_weight(*tensors, self._form, known)

    def forward(self, x: Tensor) -> Tensor:
        """``[..., in]`` to ``[..., out]``."""
        if is_dynamo_compiling():
            return trace(self, x)
        if call_layer is not None:
            y = call_layer(self, x)
            if y is not None:
                return y
        if self._shards is not None:
            return self._shards.multiply(self, x)
        if self._fused is not None and self._uses_fusion(x):
            fusion, number = self._fused
            return fusion.part(number, x)
        if torch.compiler.is_compiling() or not is_plain(x):
            y = None if torch.compiler.is_compiling() else call_in_autocast(self, x)
            return y if y is not None else self._multiply(
                x, self.values, self.indices, self.bias, self.activation)
        fast, parameters = self._fast, self._parameters
        if fast is not None and "values" in parameters:
            # Attributes of modules take longer.
            values, indices = parameters["values"], self._buffers["indices"]
            bias = parameters["bias"] if "bias" in parameters else self.bias
            if fast.writes == (values._version, indices._version):
                y = None
                if not (is_grad_enabled() and (
                        x.requires_grad or values.requires_grad
                        or (bias is not None and bias.requires_grad))):
                    y = product(x, values, indices, values if bias is None else bias,
                                fast.number)
                elif self.activation is None and not self._lies_on_host and not (
                        self.training and values.requires_grad):
                    return product_with_gradient(x, values, bias, self)
                if y is not None:
                    return y
        return self._first_call(x, self.values, self.indices, self.bias)

    def _uses_fusion(self, x: Tensor) -> bool:
        """Whether the layer's part of a product for several layers is what is asked for."""
        if self._needs_own(x) or not is_plain(x):
            return False
        fusion, number = self._fused
        if fusion.is_whole(number, self):
            return True
        fusion.dissolve()
        return False

    def _needs_own(self, x: Tensor) -> bool:
        """Whether only a product of its own has what is asked for, as gradients."""
        return self.training or torch.is_grad_enabled() and (
            x.requires_grad or any(each.requires_grad for each in self.parameters()))

    def _leave_fusion(self) -> None:
        if self._fused is not None:
            self._fused[0].dissolve()

    def train(self, mode: bool = True) -> NMLinear:
        if mode:
            self._leave_fusion()
            self._bring_back()
        return super().train(mode)

    def _move_out(self, values: Tensor, indices: Tensor) -> None:
        """Moves the condensed weight, which products do not read, out of memory."""
        self._is_mapped = True
        is_moved = map_weight(values, indices, self._form)
        self._lies_on_host = is_moved and values.is_cuda
        self._lies_in_file = is_moved and not values.is_cuda

    def _bring_back(self) -> None:
        """Moves the condensed weight back to its device, where gradients read it."""
        if self._lies_on_host:
            self._lies_on_host, self._fast = False, None
            bring_back_weight(*self._tensors(), self._form)

    def _first_call(self, x: Tensor, values: Tensor, indices: Tensor,
                    bias: Tensor | None) -> Tensor:
        """A call after which others like it need less."""
        if self._lies_on_host and torch.is_grad_enabled():
            self._bring_back()
        y = self._multiply(x, values, indices, bias, self.activation)
        if values.is_meta or values.dtype == torch.float64 or self._is_trained():
            return y
        if not self._is_mapped and not (values.is_cuda and torch.is_grad_enabled()):
            self._move_out(values, indices)
        if product is not None:
            self._learn(x, values, indices, bias, self.activation)
        return y

    def _learn(self, x: Tensor, values: Tensor, indices: Tensor, bias: Tensor | None,
               activation: str | None) -> None:
        """Has the next call like this one go by the kernel in C++."""
        w = find_weight(values, indices, self._form)
        self._fast = learn(self._fast, w, (values, indices), x, bias, activation)

    def _multiply(self, x: Tensor, values: Tensor, indices: Tensor,
                  bias: Tensor | None, activation: str | None) -> Tensor:
        if self._shared is not None:
            keep_weight(values, indices, self._form, self._shared)
        return multiply_tensors(x, (values, indices, bias), self._form, activation,
                                self._is_trained())

    def _tensors(self) -> tuple[Tensor, Tensor]:
        """The values and indices that this process has, without gradients."""
        if self._shards is None:
            return self.values, self.indices
        return self._shards.tensors(self)

    def _set_shards(self, shards: Any, form: str) -> None:
        """Says that `values`, `indices` and `bias` are DTensors of which this process
        has parts, those of a weight of `form`, and what multiplies them."""
        self._shards, self._form = shards, form

    def _is_trained(self) -> bool:
        """Whether the weight is about to change. An exported graph is for inference."""
        return (self.training and self.values.requires_grad
                and torch.is_grad_enabled() and not self.values.is_meta
                and not _is_exporting())

    def extra_repr(self) -> str:
        return (f"in_features={self.in_features}, "
                f"out_features={self.out_features}, "
                f"pattern='{self.pattern.describe()}', "
                f"bias={self.bias is not None}, activation={self.activation}")

    def _replicate_for_data_parallel(self):
        replica = super()._replicate_for_data_parallel()
        # Its buffers are copies of these, made for each call of the model.
        replica._shared = self.sparse_weight()
        replica._fused = replica._traced = replica._part = None
        return replica

    def _apply(self, *args, **options):
        self._leave_fusion()
        had_memory = not self.values.is_meta
        known = forget_weight(self._tensors()[0])
        result = super()._apply(*args, **options)
        try:
            self.refresh(known)
        except PatternError:
            # to_empty gives memory that a state_dict is about to fill.
            if had_memory:
                raise
        return result

    def get_extra_state(self) -> Tensor:
        # A tensor, as nothing else goes into a file of safetensors.
        return torch.tensor(list(self._description().encode()), dtype=torch.uint8)

    def set_extra_state(self, state: Any) -> None:
        try:
            got = bytes(state.tolist()).decode()
        except (AttributeError, TypeError, ValueError):
            got = repr(state)
        if got != self._description():
            raise Error(f"expected a state of {self._description()}, but got {got}")

    def _description(self) -> str:
        return json.dumps({"format": "nm.linear", "version": 1,
                           "pattern": str(self.pattern)})

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if self._fused is not None and not keep_vars:
            # Files take no tensors that share memory.
            for name in ("values", "indices", "bias"):
                if f"{prefix}{name}" in destination:
                    destination[f"{prefix}{name}"] = destination[
                        f"{prefix}{name}"].clone(memory_format=torch.contiguous_format)

    def _load_from_state_dict(self, state_dict, prefix, *args):
        try:
            state_dict = self._own_state(state_dict, prefix)
        except Error as error:
            args[-1].append(str(error))
            return
        indices = state_dict.get(f"{prefix}indices")
        if indices is not None and self._shards is None:
            self._shape_indices(tuple(indices.shape))
        super()._load_from_state_dict(state_dict, prefix, *args)
        self.refresh()

    def _own_state(self, state: Mapping[str, Tensor], prefix: str) -> Mapping[str, Tensor]:
        """A state that has the layer's tensors by their own names, of one that has them as
        files do, as transformers' Trainer loads those, or has the dense weight.

        Raises:
            PatternError: the dense weight breaks the pattern.
            ShapeError: it has another shape, or the indices have.
        """
        name = f"{prefix}weight"
        parts = [state.get(f"{name}.{part}") for part in ("values", "indices")]
        if f"{prefix}values" in state or self._shards is not None:
            return state
        if name in state and not state[name].is_meta:
            dense = state[name].detach()
            if self._transposed_class is not None:
                dense = dense.T
            if tuple(dense.shape) != self._dense_shape():
                raise ShapeError(f"expected '{name}' of shape {self._dense_shape()}, but got "
                                 f"{tuple(dense.shape)}")
            parts = list(share_tensors(compress(
                dense.to(self.values.dtype).contiguous(), self.pattern, name=name)))
        elif parts[1] is not None and parts[1].dim() == 1 and not parts[1].is_meta:
            parts[1] = torch.from_numpy(unpack_indices(
                parts[1].cpu().numpy(), self.pattern, self._dense_shape(), f"{name}.indices"))
        if any(part is None for part in parts):
            return state
        own = {key: tensor for key, tensor in state.items()
               if key != name and not key.startswith(f"{name}.")}
        return {**own, f"{prefix}values": parts[0], f"{prefix}indices": parts[1],
                f"{prefix}_extra_state": self.get_extra_state()}

    def __getstate__(self) -> dict:
        # A packed weight belongs to this process.
        return {**self.__dict__, "_shared": None, "_fast": None, "_fast_lower": None,
                "_fused": None, "_traced": None, "_part": None, "_is_mapped": False,
                "_lies_in_file": False, "_lies_on_host": False}


def trace(layer: NMLinear, x: Tensor) -> Tensor:
    """The layer's product in a graph that torch.compile makes. All that is read here of the
    layer is compared before each call of the graph, and so is where the layer has no
    attribute for a method that is called: no more is read than is needed."""
    # A layer that is set to training leaves its fusion.
    if layer._part is not None and not _is_exporting() and not (is_grad_enabled() and (
            x.requires_grad or any(each.requires_grad for each in layer.parameters()))):
        return traced_part(layer, x)
    if layer._shards is not None:
        return layer._shards.multiply(layer, x)
    return multiply_tensors(x, (layer.values, layer._buffers["indices"], layer.bias),
                            layer._form, layer.activation,
                            is_grad_enabled() and layer._is_trained())


def _first_indices(pattern: Pattern, shape: tuple[int, int], device: Any) -> Tensor:
    """Until a weight is loaded: the lowest units of each window, or none of weights that
    may be anywhere."""
    if pattern.is_unstructured:
        return torch.zeros(shape, dtype=torch.uint8, device=device)
    kept = torch.arange(shape[0], device=device) % pattern.n
    return kept.to(torch.uint8)[:, None].repeat(1, shape[1])


def _is_exporting() -> bool:
    """As torch.compiler.is_exporting, which dynamo of PyTorch 2.11 takes to be true in all
    that it traces."""
    return getattr(torch.compiler, "_is_exporting_flag", False)


def _parameter(values: Tensor) -> nn.Parameter:
    """Kept values; whole numbers and fp8 have no gradients."""
    return nn.Parameter(values, requires_grad=_has_gradient(values.dtype))


def _copy(bias: Tensor | None) -> nn.Parameter | None:
    """A parameter that shares nothing."""
    return None if bias is None else nn.Parameter(bias.detach().clone(),
                                                  requires_grad=bias.requires_grad)


def _has_gradient(dtype: torch.dtype) -> bool:
    return dtype in (torch.float64, torch.float32, *LOWER_TYPES)
