"""A layer in place of torch.nn.Linear."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .. import _arrays
from .._errors import Error, PatternError, ShapeError
from .._formats import compress, prune
from .._pattern import Block, Pattern, parse_pattern
from .._sparse import SparseTensor
from ._op import check_activation, linear_by_number, register_weight


class NMLinear(nn.Module):
    """``activation(x · Wᵀ + bias)`` with an N:M weight ``[out, in]``.

    The weight is a constant, in two buffers: `values` and `indices`, its
    condensed form. They are in the module's state_dict, beside the pattern, and
    move with the module. It is packed anew where they have changed.

    Args:
        in_features, out_features: k and n.
        pattern: N:M along the inputs, N **kept** of every M.
        block: ``(bk, bn)``, bk inputs by bn outputs.
        bias: whether there is one.
        activation: fused to the product, as in nm.matmul.
        device, dtype: of the buffers and the bias.
    """

    values: Tensor
    indices: Tensor

    def __init__(self, in_features: int, out_features: int,
                 pattern: str | Pattern, block: Block = None, bias: bool = True,
                 activation: str | None = None, device: Any = None,
                 dtype: torch.dtype = torch.float32):
        super().__init__()
        self._sparse: SparseTensor | None = None
        self.in_features, self.out_features = in_features, out_features
        self.pattern = parse_pattern(pattern, block, 1)
        check_activation(activation)
        self.activation = activation
        values, indices = self.pattern.condensed_shapes(in_features, out_features)
        self.register_buffer("values", torch.zeros(values, dtype=dtype,
                                                   device=device))
        # The lowest units of each window, until a weight is loaded.
        kept = torch.arange(indices[0], device=device) % self.pattern.n
        self.register_buffer("indices", kept.to(torch.uint8)[:, None].repeat(
            1, indices[1]))
        self.bias = (nn.Parameter(torch.zeros(out_features, dtype=dtype,
                                              device=device)) if bias else None)
        self.refresh()

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
        return cls.from_sparse(compress(weight, found, name=name), linear.bias,
                               activation, weight.device)

    @classmethod
    def from_sparse(cls, w: SparseTensor, bias: Tensor | None = None,
                    activation: str | None = None, device: Any = None
                    ) -> NMLinear:
        """The layer of a condensed weight ``[out, in]``."""
        if w.pattern.axis != 1:
            raise ShapeError("expected a weight [out, in], compressed with axis=1, "
                             f"but got {w}")
        kind = _arrays.KINDS["torch"]
        host = torch.empty(0)
        layer = cls(w.k, w.n, w.pattern, bias=False, activation=activation,
                    dtype=kind.dtypes[w.dtype])
        layer.values = kind.from_host(w._values.copy(), host, w.dtype)
        layer.indices = torch.from_numpy(w._indices.copy())
        if bias is not None and not isinstance(bias, nn.Parameter):
            bias = nn.Parameter(bias, requires_grad=bias.requires_grad)
        layer.bias = bias
        layer.refresh()
        return layer if device is None else layer.to(device)

    @property
    def weight(self) -> Tensor:
        """The dense weight, made at each use."""
        self._follow_buffers()
        if self._sparse is None:
            raise Error("expected a layer with elements, but its weight is on the "
                        "meta device")
        return self._sparse.decompress(like=self.values)

    def refresh(self) -> None:
        """Verifies and packs the weight anew where its buffers have changed. Calls
        see for themselves, compiled ones too; a CUDA graph, which keeps what it
        captured, is to be captured again."""
        self._packed = self._buffer_states()
        if self.values.is_meta:
            self._number, self._sparse = 0, None
            return
        view = _arrays.KINDS["torch"].to_host(self.values)
        values = _arrays.as_numpy(view)
        indices = self.indices.detach().cpu().numpy()
        known = self._sparse
        if known is not None and known.dtype == view.dtype and np.array_equal(
                values, known._values) and np.array_equal(indices,
                                                          known._indices):
            return
        self._sparse = SparseTensor(
            np.array(values), np.array(indices),
            (self.out_features, self.in_features), self.pattern, view.dtype)
        self._number = register_weight(self._sparse, self)

    def forward(self, x: Tensor) -> Tensor:
        """``[..., in]`` to ``[..., out]``."""
        number = self._number
        if torch.compiler.is_compiling():
            # Of code that outlives this weight.
            number = -number
        else:
            self._follow_buffers()
            number = self._number
        if number == 0 and not x.is_meta:
            raise Error("expected a layer with elements, but its weight is on the "
                        "meta device")
        return linear_by_number(x, self.bias, number, self.out_features,
                                self.activation)

    def current_weight(self) -> SparseTensor | None:
        """The weight of the buffers as they are."""
        self._follow_buffers()
        return self._sparse

    def extra_repr(self) -> str:
        return (f"in_features={self.in_features}, "
                f"out_features={self.out_features}, "
                f"pattern='{self.pattern.describe()}', "
                f"bias={self.bias is not None}, activation={self.activation}")

    # What keeps the packed weight in step with its buffers.

    def _buffer_states(self) -> tuple:
        """The buffers, and how often each was written to."""
        buffers: Any = self._buffers["values"], self._buffers["indices"]
        return tuple((part, -1 if part.is_inference() else part._version)
                     for part in buffers)

    def _follow_buffers(self) -> None:
        if self._packed is not None and (not self._packed or any(
                part is not packed or version != packed_version
                for (part, version), (packed, packed_version)
                in zip(self._buffer_states(), self._packed))):
            self.refresh()

    def _replicate_for_data_parallel(self):
        replica = super()._replicate_for_data_parallel()
        # Its buffers are copies of these.
        replica._packed = None
        return replica

    def _apply(self, *args, **options):
        had_memory = not self.values.is_meta
        result = super()._apply(*args, **options)
        try:
            self.refresh()
        except PatternError:
            # to_empty gives memory that a state_dict is about to fill.
            if had_memory:
                raise
            self._number, self._sparse, self._packed = 0, None, ()
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
        state = dict(self.__dict__)
        # Compiled code and packed weights belong to this process.
        for name in ("_number", "_sparse", "_packed"):
            state.pop(name, None)
        return state

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self._sparse = None
        self.refresh()
