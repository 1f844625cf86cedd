"""NMLinear layers under torch's tensor parallelism: each process multiplies by a part
of the weight, which stays condensed.

    from nm.torch.parallel import (ColwiseParallel, RowwiseParallel,
                                   parallelize_module)

    parallelize_module(model, mesh, {"0": ColwiseParallel(), "1": RowwiseParallel()})

Both styles take nn.Linear and nn.Embedding as those that they are made of, of
torch.distributed.tensor.parallel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import (DTensor, Partial, Placement, Replicate, Shard,
                                      distribute_module, distribute_tensor)
from torch.distributed.tensor import parallel as _parallel

from .._errors import ShapeError
from ._linear import NMLinear
from ._op import apply_activation
from ._weights import count_writes, write_form

__all__ = ["ColwiseParallel", "RowwiseParallel", "parallelize_module"]


class _KeepsSparse:
    """A style of torch that shards an NMLinear by what `_multiplied` says a process
    multiplies: the input whole, or some of its columns."""

    _multiplied: Placement

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        if not isinstance(module, NMLinear):
            return super()._apply(module, device_mesh)
        module._leave_fusion()
        return _shard(module, device_mesh, self, _Shards(
            device_mesh, self.input_layouts, (self._multiplied,), self.output_layouts,
            self.use_local_output))


class ColwiseParallel(_KeepsSparse, _parallel.ColwiseParallel):
    """Gives each process some of the outputs of a layer.

    Its options are those of torch.distributed.tensor.parallel.ColwiseParallel. The
    output is sharded along its last dimension, unless `output_layouts` says otherwise;
    a fused activation stays fused. `values` ``[w, n]``, `indices` and `bias` become
    DTensors, sharded along n.

    Raises (in parallelize_module):
        ShapeError: the outputs are not equal numbers of whole blocks.
    """

    _multiplied = Replicate()


class RowwiseParallel(_KeepsSparse, _parallel.RowwiseParallel):
    """Gives each process some of the inputs of a layer.

    Its options are those of torch.distributed.tensor.parallel.RowwiseParallel. The
    processes' products are partial sums, to which bias and activation come after the
    reduction. `values` ``[w, n]`` and `indices` become DTensors, sharded along w, and
    `bias` a replicated one.

    Raises (in parallelize_module):
        ShapeError: the inputs are not equal numbers of whole windows.
    """

    _multiplied = Shard(-1)


def parallelize_module(module: nn.Module, device_mesh: DeviceMesh | None = None,
                       parallelize_plan: Any = None, **options: Any) -> nn.Module:
    """torch's parallelize_module, for plans that know of no NMLinear, too: for torch's
    own ColwiseParallel and RowwiseParallel those of this module are taken."""
    plan = parallelize_plan
    if isinstance(plan, Mapping):
        plan = {name: _taking_sparse(style) for name, style in plan.items()}
    elif plan is not None:
        plan = _taking_sparse(plan)
    return _parallel.parallelize_module(module, device_mesh, plan, **options)


def _taking_sparse(style: Any) -> Any:
    ours = {_parallel.ColwiseParallel: ColwiseParallel,
            _parallel.RowwiseParallel: RowwiseParallel}.get(type(style))
    if ours is None:
        return style
    made = ours()
    made.__dict__.update(style.__dict__)
    return made


@dataclass
class _Shards:
    """How a layer's activations lie over the processes, each a placement of the one
    dimension of the mesh, and what this process has of its weight.

    Attributes:
        given: of an input that is no DTensor.
        wanted: of the input that a process multiplies, whole or some of its columns.
        made: of the output.
        is_local: whether the output is a plain tensor.
    """

    mesh: DeviceMesh
    given: tuple[Placement, ...]
    wanted: tuple[Placement, ...]
    made: tuple[Placement, ...]
    is_local: bool
    _tensors: tuple[Tensor, Tensor] | None = None
    _writes: tuple[int, int] | None = None

    def tensors(self, layer: NMLinear) -> tuple[Tensor, Tensor]:
        """This process's values and indices, the same objects while they are in the
        same memory: what is packed is found again by them."""
        with torch.no_grad():
            now = layer.values.to_local(), layer.indices.to_local()
        if self._tensors is None or any(
                (a.data_ptr(), a.dtype, a.device) != (b.data_ptr(), b.dtype, b.device)
                for a, b in zip(self._tensors, now)):
            self._tensors = now
        return self._tensors

    @property
    def splits_sums(self) -> bool:
        return self.wanted != (Replicate(),)

    def multiply(self, layer: NMLinear, x: Tensor) -> Tensor:
        if not isinstance(x, DTensor):
            x = DTensor.from_local(x, self.mesh, self.given, run_check=False)
        x = x.redistribute(placements=self.wanted)
        y = (self._sum_of_parts if self.splits_sums else self._columns)(layer, x)
        return y.to_local() if self.is_local else y

    def _columns(self, layer: NMLinear, x: DTensor) -> DTensor:
        # Each process has the gradient that comes from its outputs.
        bias = None if layer.bias is None else layer.bias.to_local()
        own = self._multiply_part(layer, x.to_local(grad_placements=[Partial()]), bias,
                                  layer.activation)
        return self._distributed(own, x, layer, Shard(-1)).redistribute(
            placements=self.made)

    def _sum_of_parts(self, layer: NMLinear, x: DTensor) -> DTensor:
        own = self._multiply_part(layer, x.to_local(), None, None)
        y = self._distributed(own, x, layer, Partial()).redistribute(placements=self.made)
        if layer.bias is not None:
            y = y + layer.bias.to(y.dtype)
        return apply_activation(y, layer.activation)

    def _multiply_part(self, layer: NMLinear, x: Tensor, bias: Tensor | None,
                       activation: str | None) -> Tensor:
        if not (torch.compiler.is_compiling() or layer._is_trained()
                or layer.values.is_meta):
            self._find_weight(layer)
        return layer._multiply(x, layer.values.to_local(), layer.indices.to_local(),
                               bias, activation)

    def _find_weight(self, layer: NMLinear) -> None:
        """Has what is packed belong to tensors that stay, where the operator is given
        views of them."""
        writes = count_writes(layer.values), count_writes(layer.indices)
        if writes != self._writes:
            # PyTorch counts them for the DTensor, not for the part in it.
            layer.refresh()
            self._writes = writes
        layer._weight()

    def _distributed(self, own: Tensor, x: DTensor, layer: NMLinear,
                     placement: Placement) -> DTensor:
        # Shapes that are given need no message to learn the others' sizes.
        shape = torch.Size((*x.shape[:-1], layer.out_features))
        return DTensor.from_local(own, self.mesh, (placement,), run_check=False,
                                  shape=shape, stride=_row_major(shape))


def _row_major(shape: torch.Size) -> tuple[int, ...]:
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * size)
    return tuple(reversed(strides))


def _shard(layer: NMLinear, mesh: DeviceMesh, style: Any, shards: _Shards) -> NMLinear:
    """Leaves each process its part of the weight, all from the rank that the style
    names."""
    form = _local_form(layer, mesh, shards.splits_sums)
    place = Shard(0) if shards.splits_sums else Shard(1)

    def part(tensor: Tensor, placement: Placement) -> DTensor:
        return distribute_tensor(tensor.detach(), mesh, [placement],
                                 src_data_rank=style.src_data_rank)

    def parts_of(_name: str, _layer: nn.Module, _mesh: DeviceMesh) -> None:
        for name, placement in (
                ("values", place),
                ("bias", Replicate() if shards.splits_sums else Shard(0))):
            whole = getattr(layer, name)
            if whole is not None:
                setattr(layer, name, nn.Parameter(part(whole, placement),
                                                  requires_grad=whole.requires_grad))
        layer.indices = part(layer.indices, place)

    distribute_module(layer, mesh, parts_of)
    layer._set_shards(shards, form)
    return layer


def _local_form(layer: NMLinear, mesh: DeviceMesh, splits_sums: bool) -> str:
    """The shape and pattern of this process's part.

    Raises:
        ShapeError: torch would cut a window or a block in two, or leave a process
            without a part.
    """
    if layer.pattern.is_unstructured:
        raise ShapeError("expected a layer of an N:M pattern to shard, but got one whose "
                         f"weight is {layer.pattern.describe()}")
    bk, bn = layer.pattern.block
    sizes = [layer.out_features, layer.in_features]
    unit = layer.pattern.m * bk if splits_sums else bn
    size, count = sizes[splits_sums], mesh.size()
    units, most = -(-size // unit), -(-size // count)
    if most != -(-units // count) * unit or most * (count - 1) >= size:
        what = (f"in_features to be whole windows of {unit} inputs" if splits_sums
                else f"out_features to be whole blocks of {unit} outputs")
        raise ShapeError(f"expected {what} for each of {count} processes, as pattern "
                         f"{layer.pattern.describe()} needs, but got {size}")
    rank = mesh.get_local_rank()
    sizes[splits_sums] = min(most, size - rank * most)
    return write_form(layer.pattern, tuple(sizes))
