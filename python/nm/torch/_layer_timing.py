"""What a layer takes beside the dense one."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from .._matmul import prepare
from .._pattern import Pattern
from .._records import ProductRecord
from ._inputs import GroupedInput
from ._linear import NMLinear
from ._timing import cuda_times, host_times


@dataclass(frozen=True)
class Timing:
    """Of one layer for one shape of its input.

    Attributes:
        kernel: the strategy that was chosen.
        estimated, measured: the speed-up over the dense layer, or None.
        dense, sparse: the seconds that were measured, or None where they did not
            repeat.
    """

    kernel: str
    estimated: float | None
    dense: float | None
    sparse: float | None

    @property
    def measured(self) -> float | None:
        if self.dense is None or self.sparse is None:
            return None
        return self.dense / self.sparse


def timing_key(layer: nn.Linear, pattern: Pattern, x: Tensor | GroupedInput) -> tuple:
    """What the time of a layer depends on: never the numbers in it."""
    if isinstance(x, GroupedInput):
        each = x.convolution
        return (*timing_key(layer, pattern, x.image), each.groups, each.kernel_size,
                each.stride, each.padding, each.dilation)
    return (pattern, tuple(layer.weight.shape), layer.weight.dtype, tuple(x.shape),
            x.stride(), x.dtype, x.device, layer.bias is None)


def time_layer(dense: nn.Linear, sparse: NMLinear, x: Tensor | GroupedInput) -> Timing:
    """Estimate and measurement for the very input. Of groups all of the convolution is
    timed."""
    with torch.no_grad():
        if isinstance(x, GroupedInput):
            around, x = x.convolution, x.image
            dense, sparse = around.with_product(dense).to_dense(), around.with_product(sparse)
            record, speedup = sparse.record_of_groups(x), None
        else:
            bias = None if sparse.bias is None else sparse.bias.detach()
            record = prepare(x, sparse._weight(), bias).record
            speedup = record.speedup
        timed = [lambda: dense(x), lambda: sparse(x)]
        times = cuda_times(timed) if x.is_cuda else host_times(timed)
    taken = times or (None, None)
    return Timing(record.strategy or "?", _estimate(speedup, record, taken[0]), *taken)


def _estimate(speedup: float | None, record: ProductRecord, dense: float | None
              ) -> float | None:
    """The speed-up that is estimated; where our time alone is, that beside the
    measured dense one, in seconds. Of groups no dense time is estimated but one of a
    weight with the zeros between them."""
    if speedup is not None or dense is None or not record.estimate_us:
        return speedup
    return dense / (record.estimate_us * 1e-6)
