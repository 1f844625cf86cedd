"""A layer in place of torch.nn.Linear."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .. import _arrays
from .._errors import Error, ShapeError
from .._formats import compress, prune
from .._pattern import Pattern, parse_pattern
from .._sparse import SparseTensor
from ._op import linear_by_number, register_weight


class NMLinear(nn.Module):
    """``activation(x · Wᵀ + bias)`` with an N:M weight ``[out, in]``.

    The weight is a constant, in two buffers: `values` and `indices`, its
    condensed form. They are in the module's state_dict, beside the pattern, and
    move with the module. Who changes them in place calls `refresh` afterwards.

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
                 pattern: str | Pattern, block=None, bias: bool = True,
                 activation: str | None = None, device: Any = None,
                 dtype: torch.dtype = torch.float32):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.pattern = parse_pattern(pattern, block, 1)
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
    def from_dense(cls, linear: nn.Linear, pattern: str | Pattern, block=None, *,
                   prune_weight: bool = False, activation: str | None = None,
                   name: str = "weight") -> NMLinear:
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
        return self._sparse.decompress(like=self.values)

    def refresh(self) -> None:
        """Verifies and packs the weight anew, after its buffers have changed."""
        kind = _arrays.KINDS["torch"]
        if self.values.is_meta:
            self._number = 0
            return
        view = kind.to_host(self.values)
        self._sparse = SparseTensor(
            np.array(_arrays.as_numpy(view)),
            self.indices.detach().cpu().numpy().copy(),
            (self.out_features, self.in_features), self.pattern, view.dtype)
        self._number = register_weight(self._sparse)

    def forward(self, x: Tensor) -> Tensor:
        """``[..., in]`` to ``[..., out]``."""
        return linear_by_number(x, self.bias, self._number, self.out_features,
                                self.activation)

    def extra_repr(self) -> str:
        return (f"in_features={self.in_features}, "
                f"out_features={self.out_features}, "
                f"pattern='{self.pattern.describe()}', "
                f"bias={self.bias is not None}, activation={self.activation}")

    # What keeps the packed weight in step with its buffers.

    def _apply(self, *args, **options):
        result = super()._apply(*args, **options)
        self.refresh()
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
        del state["_number"], state["_sparse"]
        return state

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self.refresh()
