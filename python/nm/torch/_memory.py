"""What the layers of a model take of memory."""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass

import torch
from torch import nn

from .._packed import packed_bytes
from .._sparse import SparseTensor
from ._linear import NMLinear
from ._weights import known_weight


@dataclass(frozen=True)
class MemoryReport:
    """Bytes of the NMLinear layers of a model, and of the process.

    Attributes:
        dense: of the same weights with their zeros.
        condensed: of values and indices that lie in memory, or on their device.
        mapped: of those that lie in a file, or of a device's on the host, until something
            reads them.
        packed: of the forms that products read.
        resident: what the process has of the host's memory now; None where the system
            does not tell.
        peak: the most that it had.
        device: what PyTorch and packed forms have of the memory of the layers' device, a
            CUDA device; None of a CPU.
        device_peak: the most that PyTorch had there, and the packed forms now.
    """

    dense: int
    condensed: int
    mapped: int
    packed: int
    resident: int | None
    peak: int
    device: int | None = None
    device_peak: int | None = None

    @property
    def share(self) -> float | None:
        """Condensed and packed forms in memory over dense weights."""
        return (self.condensed + self.packed) / self.dense if self.dense else None

    def __str__(self) -> str:
        share = "" if self.share is None else f", {self.share:.2f} of dense"
        resident = "" if self.resident is None else f" has {_megabytes(self.resident)},"
        return (f"weights: dense {_megabytes(self.dense)}, condensed "
                f"{_megabytes(self.condensed)} in memory and {_megabytes(self.mapped)} "
                f"mapped, packed {_megabytes(self.packed)}{share}; the process"
                f"{resident} had {_megabytes(self.peak)} at most{self._of_device()}")

    def _of_device(self) -> str:
        if self.device is None or self.device_peak is None:
            return ""
        return (f"; the device has {_megabytes(self.device)}, had "
                f"{_megabytes(self.device_peak)} at most")


def memory(model: nn.Module) -> MemoryReport:
    """What the NMLinear layers of a model take now; it changes as they are called. A
    weight that several layers share counts once."""
    layers = {id(layer.values): layer for layer in model.modules()
              if isinstance(layer, NMLinear)}.values()
    dense = condensed = mapped = 0
    weights: dict[int, SparseTensor] = {}
    for layer in layers:
        values, indices = layer._tensors()
        size = values.nbytes + indices.nbytes
        dense += layer.in_features * layer.out_features * values.element_size()
        # Of layers that are fused one has the weight of all.
        holder = layer if layer._fused is None else layer._fused[0].layer
        if holder._lies_in_file or holder._lies_on_host:
            mapped += size
        else:
            condensed += size
        for w in {known_weight(values), known_weight(holder.values)} - {None}:
            weights.update({id(each): each for each in (w, *w._torch_converted.values())})
    packed = packed_bytes(*weights.values()) if weights else 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    devices = {layer.values.device for layer in layers if layer.values.is_cuda}
    return MemoryReport(dense, condensed, mapped, packed, _resident(), peak,
                        *(_of_devices(devices, packed) if devices else ()))


def _of_devices(devices: set[torch.device], packed: int) -> tuple[int, int]:
    return (packed + sum(map(torch.cuda.memory_allocated, devices)),
            packed + sum(map(torch.cuda.max_memory_allocated, devices)))


def _resident() -> int | None:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError, IndexError):
        return None


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
