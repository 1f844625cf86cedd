"""A layer in place of torch.nn.Linear."""

from __future__ import annotations

import json
from typing import Any

import torch
from torch import Tensor, nn

from .. import _arrays
from .._errors import Error, PatternError, ShapeError
from .._formats import compress
from .._pattern import Block, Pattern, parse_pattern
from .._prune import prune
from .._sparse import SparseTensor
from ._decompress import decompress
from ._op import (ACTIVATION_MODULES, apply_activation, check_activation,
                  check_types, linear_of_tensors)
from ._weights import (LOWER_TYPES, copy_tensors, find_weight, forget_weight,
                       keep_weight, share_tensors, write_form)


class NMLinear(nn.Module):
    """``activation(x · Wᵀ + bias)`` with an N:M weight ``[out, in]``.

    The weight is in its condensed form: `values` is a parameter, the kept weights,
    and `indices` a buffer, where each was. They are in the module's state_dict,
    beside the pattern, and move with the module.

    Where `values` needs a gradient and the module is in training mode, the weight
    changes at every step: the product is then PyTorch's own of the dense weight, and
    the gradient of `values` that of the dense weight at the kept places. In evaluation
    mode, without gradients, and where `values` needs none, nm's kernel computes it;
    the first call packs the weight, and another after a change.

    Args:
        in_features, out_features: k and n.
        pattern: N:M along the inputs, N **kept** of every M.
        block: ``(bk, bn)``, bk inputs by bn outputs.
        bias: whether there is one.
        activation: fused to the product, as in nm.matmul.
        device, dtype: of the buffers and the bias.
    """

    values: nn.Parameter
    indices: Tensor
    #: What multiplies where nm.torch.parallel has sharded the weight.
    _shards: Any = None

    def __init__(self, in_features: int, out_features: int,
                 pattern: str | Pattern, block: Block = None, bias: bool = True,
                 activation: str | None = None, device: Any = None,
                 dtype: torch.dtype = torch.float32):
        super().__init__()
        self._shared: SparseTensor | None = None
        self.in_features, self.out_features = in_features, out_features
        self.pattern = parse_pattern(pattern, block, 1)
        self._form = write_form(self.pattern, (out_features, in_features))
        check_activation(activation)
        self.activation = activation
        values, indices = self.pattern.condensed_shapes(in_features, out_features)
        self.values = _parameter(torch.zeros(values, dtype=dtype, device=device))
        # The lowest units of each window, until a weight is loaded.
        kept = torch.arange(indices[0], device=device) % self.pattern.n
        self.register_buffer("indices", kept.to(torch.uint8)[:, None].repeat(
            1, indices[1]))
        self.bias = (nn.Parameter(torch.zeros(out_features, dtype=dtype,
                                              device=device)) if bias else None)

    @classmethod
    def from_dense(cls, linear: nn.Linear, pattern: str | Pattern,
                   block: Block = None, *, prune_weight: bool = False,
                   activation: str | None = None, name: str = "weight") -> NMLinear:
        """The layer of a dense one, on its device and with its bias.

        Args:
            prune_weight: whether the weight is pruned by magnitude; otherwise it
                must obey the pattern.

        Raises:
            PatternError: the weight breaks the pattern.
        """
        found = parse_pattern(pattern, block, 1)
        weight = linear.weight.detach()
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
        return cls._from_own(linear, compress(weight, pattern, name=name), activation)

    @classmethod
    def _from_own(cls, linear: nn.Linear, w: SparseTensor,
                  activation: str | None = None) -> NMLinear:
        """The layer of a dense one with a condensed weight that nothing else knows:
        its arrays need no copy."""
        layer = cls._without_memory(w, linear.bias, activation)
        values, indices = share_tensors(w)
        device = linear.weight.device
        layer.values = nn.Parameter(
            values.to(device), requires_grad=linear.weight.requires_grad
            and _has_gradient(values.dtype))
        layer.indices = indices.to(device)
        if device.type not in ("cpu", "meta"):
            # Copies on a device: calls need not read them back.
            keep_weight(layer.values, layer.indices, layer._form, w)
        return layer

    @classmethod
    def from_sparse(cls, w: SparseTensor, bias: Tensor | None = None,
                    activation: str | None = None, device: Any = None
                    ) -> NMLinear:
        """The layer of a condensed weight ``[out, in]``."""
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

    @property
    def weight(self) -> Tensor:
        """The dense weight, made at each use; of a sharded one this process's part."""
        return self.sparse_weight().decompress(like=self._tensors()[0])

    def to_dense(self) -> nn.Module:
        """An ``nn.Linear`` with the same weight, zeros included, and the same bias; a
        sequence of it and the activation where one is fused.

        Raises:
            Error: the layer is sharded.
        """
        self.check_whole()
        dense = nn.Linear(self.in_features, self.out_features, bias=False,
                          device="meta")
        with torch.no_grad():
            dense.weight = nn.Parameter(
                decompress(self.values, self.indices, self._form),
                requires_grad=self.values.requires_grad)
        dense.bias = self.bias
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
        return find_weight(*self._tensors(), self._form)

    def refresh(self, known: SparseTensor | None = None) -> None:
        """Verifies and packs the weight anew where its buffers have changed.

        Calls see for themselves the steps of optimizers and what PyTorch counts as a
        write, compiled ones too; it does not count writes through ``.data``, through
        NumPy, and to tensors of the inference mode. Compiled calls do not see writes
        to the DTensors of nm.torch.parallel. A CUDA graph, which keeps what it
        captured, is to be captured again.
        """
        tensors = self._tensors()
        known = forget_weight(tensors[0]) or known
        if not self.values.is_meta:
            find_weight(*tensors, self._form, known)

    def forward(self, x: Tensor) -> Tensor:
        """``[..., in]`` to ``[..., out]``."""
        if self._shards is not None:
            return self._shards.multiply(self, x)
        return self._multiply(x, self.values, self.indices, self.bias, self.activation)

    def _multiply(self, x: Tensor, values: Tensor, indices: Tensor,
                  bias: Tensor | None, activation: str | None) -> Tensor:
        if self._is_trained():
            check_types(x, values)
            weight = decompress(values, indices, self._form)
            return apply_activation(nn.functional.linear(x, weight, bias), activation)
        if self._shared is not None:
            keep_weight(values, indices, self._form, self._shared)
        return linear_of_tensors(x, values, indices, self._form, bias, activation)

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
                and not torch.compiler.is_exporting())

    def extra_repr(self) -> str:
        return (f"in_features={self.in_features}, "
                f"out_features={self.out_features}, "
                f"pattern='{self.pattern.describe()}', "
                f"bias={self.bias is not None}, activation={self.activation}")

    def _replicate_for_data_parallel(self):
        replica = super()._replicate_for_data_parallel()
        # Its buffers are copies of these, made for each call of the model.
        replica._shared = self.sparse_weight()
        return replica

    def _apply(self, *args, **options):
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

    def _load_from_state_dict(self, *args, **options):
        super()._load_from_state_dict(*args, **options)
        self.refresh()

    def __getstate__(self) -> dict:
        # A packed weight belongs to this process.
        return {**self.__dict__, "_shared": None}


def _parameter(values: Tensor) -> nn.Parameter:
    """Kept values; whole numbers and fp8 have no gradients."""
    return nn.Parameter(values, requires_grad=_has_gradient(values.dtype))


def _has_gradient(dtype: torch.dtype) -> bool:
    return dtype in (torch.float64, torch.float32, *LOWER_TYPES)
