"""Weights that are written anew where they are.

A server that loads other weights into a model that runs keeps the tensors and the CUDA
graphs that read them. What is packed of a weight lies elsewhere, and graphs have captured
that place: it is packed anew where it is.
"""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from .. import _library as lib
from .._errors import Error
from .._module import BoundFunction
from .._sparse import SparseTensor
from ._mapped import host_of
from ._weights import (_arrays_of, find_weight, forget_weight, keep_weight, known_weight)


def keep_forms(values: Tensor, indices: Tensor, form: str) -> None:
    """Has all packed forms of a weight stay that a CUDA graph may read: rewrite_weight
    writes to them. Those that a graph has captured stay in any case."""
    find_weight(values, indices, form)._retired = []


def rewrite_weight(values: Tensor, indices: Tensor, form: str,
                   new: tuple[Tensor, Tensor]) -> None:
    """Has two tensors, and what is packed of them, hold another weight of the same form.

    Args:
        values, indices, form: the weight, as find_weight takes it.
        new: values and indices of the other one.

    Raises:
        PatternError, ShapeError, DTypeError: they are no such weight.
        Error: packed forms were freed on a device, which CUDA graphs may still read.
    """
    w, other = known_weight(values), find_weight(*new, form)
    if values.is_cuda and (w is None or w._retired is None):
        raise Error("expected a weight all of whose packed forms are kept, as CUDA graphs "
                    "may read those that nm.free_packed or NM_PACKED_LIMIT has freed; load "
                    "the model anew")
    forget_weight(values)
    with torch.no_grad():
        values.copy_(new[0])
        indices.copy_(new[1])
    if w is None:
        return
    # The arrays of `other` may be those of `new`.
    other._take_own()
    written: set[int] = set()
    for bound in [*w._bound.values(), *(w._retired or ())]:
        if not bound.is_made:
            _pack_in_place(bound, other, written)
    w._is_lent = values.is_cpu or host_of(values) is not None
    w._values, w._indices = (_arrays_of(values, indices)[:2] if w._is_lent else
                             (other._values, other._indices))
    for lower in w._torch_converted.values():
        lower._drop_calls()
    w._torch_converted.clear()
    keep_weight(values, indices, form, w)


def _pack_in_place(bound: BoundFunction, other: SparseTensor, written: set[int]) -> None:
    """Writes the parts of a packed form whose places are not among `written`."""
    parts = bound.packed_parts()
    if written.issuperset(parts):
        return
    fresh = BoundFunction(bound.function, (other,), bound.device[1])
    for (to, size), (begin, found) in zip(parts.items(), fresh.packed_parts().items()):
        if size != found:
            raise Error(f"expected a packed form of {size} bytes, but got {found}")
        if size:
            _copy(to, begin, size, bound.device)
    written.update(parts)


def _copy(to: int, begin: int, size: int, device: tuple[int, int]) -> None:
    if device[0] != lib.CUDA:
        ctypes.memmove(to, begin, size)
        return
    with torch.cuda.device(device[1]), torch.no_grad():
        target, source = (torch.as_tensor(_Bytes(place, size), device=f"cuda:{device[1]}")
                          for place in (to, begin))
        target.copy_(source)
        # The source is freed then.
        torch.cuda.current_stream().synchronize()


class _Bytes:
    """Memory of a device as an array."""

    def __init__(self, place: int, size: int):
        self.__cuda_array_interface__ = {
            "data": (place, False), "shape": (size,), "typestr": "|u1", "strides": None,
            "version": 3}
