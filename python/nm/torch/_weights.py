"""The packed weight of a pair of tensors.

torch.ops.nm.linear takes a weight as tensors, so that graphs carry it. What is
compiled and packed for them is found again by the tensors themselves: who they are,
and how often each was written to.
"""

from __future__ import annotations

import re
import weakref
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils._python_dispatch import _disable_current_modes

from .. import _arrays
from .._errors import DeviceError, DTypeError, Error, PatternError
from .._index_form import convert_indices, index_form_of
from .._pattern import Pattern, read_pattern
from .._sparse import SparseTensor, find_sparse
from ._mapped import bring_back, host_of, map_tensors


#: The types that a weight of floats may be multiplied in, beside its own.
LOWER_TYPES = (torch.float16, torch.bfloat16)
#: What a tensor of values that is a part of another has that one as.
HOLDER = "_nm_holder"
#: Products of these are float32.
FLOAT8_TYPES = (torch.float8_e4m3fn, torch.float8_e5m2)


class _Kept:
    """A weight that was packed, and the state of the tensors that it was made of."""

    __slots__ = ("indices", "state", "form", "weight", "owned", "reference")

    def __init__(self, values: Tensor, indices: Tensor, form: str,
                 w: SparseTensor, owns: bool):
        self.indices, self.form = indices, form
        self.state = _state(values, indices)
        self.weight = weakref.ref(w)
        self.owned = w if owns else None
        number, place = id(values), _place(values)
        _numbers[place] = number

        def forget(_):
            # The number of a tensor that is gone may become another's.
            _kept.pop(number, None)
            if _numbers.get(place) == number:
                del _numbers[place]

        self.reference = weakref.ref(values, forget)

    def has(self, values: Tensor, indices: Tensor) -> bool:
        """Whether two tensors are those that the weight was made of, or aliases of
        them, as autograd's graphs call operators with, and hold what they held."""
        if self.state != _state(values, indices):
            return False
        own = self.reference()
        if own is values and self.indices is indices:
            return True
        # Where a tensor was put to other memory, another may have its former one.
        return (own is not None and self.state == _state(own, self.indices)
                and (own.shape, own.dtype, self.indices.shape)
                == (values.shape, values.dtype, indices.shape))


_kept: dict[int, _Kept] = {}
# The numbers of the tensors by where their elements are. Of several layers' weights in one
# tensor the first begins where that does.
_numbers: dict[tuple, int] = {}


def _place(values: Tensor) -> tuple:
    return values.data_ptr(), values.shape


def _state(values: Tensor, indices: Tensor) -> tuple[int, int, int, int]:
    """Where the elements are, and how often they were written to."""
    return (values.data_ptr(), count_writes(values),
            indices.data_ptr(), count_writes(indices))


def count_writes(tensor: Tensor) -> int:
    """How many PyTorch has counted; it does not for tensors of the inference mode."""
    return -1 if tensor.is_inference() else tensor._version


def find_weight(values: Tensor, indices: Tensor, form: str,
                known: SparseTensor | None = None) -> SparseTensor:
    """The weight that two tensors hold, made and verified where they are new or have
    changed.

    Args:
        values, indices: the condensed form, on any device.
        form: shape and pattern, as write_form gives them.
        known: a weight that may be the same.

    Raises:
        PatternError, ShapeError, DTypeError: they are no such weight.
    """
    kept = _kept.get(id(values))
    if kept is None:
        kept = _kept.get(_numbers.get(_place(values), -1))
    if kept is not None and kept.form == form and kept.has(values, indices):
        w = kept.weight()
        if w is not None:
            return w
    w = _make_weight(values, indices, form, known)
    keep_weight(values, indices, form, w)
    return w


def keep_weight(values: Tensor, indices: Tensor, form: str, w: SparseTensor,
                owns: bool = True) -> None:
    """Says that two tensors hold `w`, which then lives as long as `values`. `owns` is
    False where `w` itself keeps the tensors alive."""
    _kept[id(values)] = _Kept(values, indices, form, w, owns)


def known_weight(values: Tensor) -> SparseTensor | None:
    """The weight that was made of `values` last, if any was."""
    kept = _kept.get(id(values))
    return kept.weight() if kept is not None else None


def map_weight(values: Tensor, indices: Tensor, form: str) -> bool:
    """Moves the tensors of a weight that is packed out of memory, of the host or of a
    device: calls read its packed form alone. Returns whether they are there now."""
    w = find_weight(values, indices, form)
    if not (w._bound and (w._is_lent or values.is_cuda)
            and map_tensors((values, indices))):
        return False
    if w._is_lent or w._is_private:
        w._values, w._indices, _ = _arrays_of(values, indices)
        w._is_lent = True
    keep_weight(values, indices, form, w)
    return True


def bring_back_weight(values: Tensor, indices: Tensor, form: str) -> None:
    """Moves the tensors of a weight on a device to its memory, and keeps what is packed."""
    w = find_weight(values, indices, form)
    bring_back((values, indices))
    if w._is_lent:
        # Its arrays are what the tensors were.
        w._is_lent, w._is_private = False, True
    keep_weight(values, indices, form, w)


def _arrays_of(values: Tensor, indices: Tensor) -> tuple[np.ndarray, np.ndarray, str]:
    """The elements on the host, without a copy where they are there, and their type."""
    values, indices = (_on_host(tensor.detach()) for tensor in (values, indices))
    view = _arrays.KINDS["torch"].to_host(values)
    return _arrays.as_numpy(view), indices.cpu().numpy(), view.dtype


def _on_host(tensor: Tensor) -> Tensor:
    host = host_of(tensor)
    if host is None:
        return tensor
    torch.cuda.current_stream(tensor.device).synchronize()
    return host


def forget_weight(values: Tensor) -> SparseTensor | None:
    """Has the next find_weight read the tensors, or an alias of them, again; gives what
    was known, unless that is in the very memory."""
    holder = getattr(values, HOLDER, None)
    if holder is not None:
        forget_weight(holder)
    places = id(values), _numbers.get(_place(values), -1)
    kept = [_kept.pop(place) for place in places if place in _kept]
    w = kept[0].weight() if kept else None
    if w is not None:
        w._drop_calls()
    return None if w is None or w._is_lent else w


def _forget_what_was_optimized(optimizer: torch.optim.Optimizer, *_: Any) -> None:
    """Fused optimizers write to parameters without counting it, and no optimizer
    counts what it writes to the local part of a DTensor."""
    if not _kept:
        return
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            with torch.no_grad():
                part = getattr(parameter, "to_local", lambda own=parameter: own)()
            try:
                forget_weight(part)
            except RuntimeError:  # A kind of tensor that has no memory of its own.
                continue


register_optimizer_step_post_hook(_forget_what_was_optimized)


def _make_weight(values: Tensor, indices: Tensor, form: str,
                 known: SparseTensor | None) -> SparseTensor:
    for name, tensor in (("values", values), ("indices", indices)):
        if tensor.is_meta:
            raise without_elements()
        if tensor.is_cuda and torch.cuda.is_current_stream_capturing():
            raise DeviceError(
                f"expected {name} that a call before the capture of a CUDA graph has "
                "packed, but they are new or have changed; call once before it")
    raw, places, dtype = _arrays_of(values, indices)
    pattern, shape = parse_form(form)
    if (known is not None and known.dtype == dtype and known.pattern == pattern
            and known.shape == shape
            and np.array_equal(raw, known._values)
            and np.array_equal(places, known._indices)):
        return known
    if not (values.is_cpu or host_of(values) is not None):
        w = SparseTensor(np.array(raw), np.array(places), shape, pattern, dtype)
        w._is_private = True
        return w
    # Without a copy: it is known as long as no one has written to the tensors.
    w = SparseTensor(raw, places, shape, pattern, dtype)
    w._is_lent = True
    return w


def check_indices(indices: Tensor, form: str) -> None:
    """Verifies the places of a weight of any type.

    Raises:
        PatternError: they are none of the pattern.
    """
    if indices.is_meta:
        return
    pattern, shape = parse_form(form)
    places = indices.detach().cpu().numpy()
    sizes = pattern.condensed_shapes(*pattern.sizes(shape))[0]
    SparseTensor(np.zeros(sizes, np.int8), places, shape, pattern)


def bitmap_of(indices: Tensor, form: str) -> Tensor:
    """The indices of a weight, a bitmap where they are offsets: what does not change its
    shape with the weight, and what compiled modules take."""
    pattern, shape = parse_form(form)
    if index_form_of(pattern, tuple(indices.shape)) != "offsets" or indices.is_meta:
        return indices
    k, n = pattern.sizes(shape)
    bits = convert_indices(pattern, k, n, np.ascontiguousarray(
        _on_host(indices.detach()).cpu().numpy()), "bitmap")
    return torch.from_numpy(bits).to(indices.device)


def convert_weight(w: SparseTensor, dtype: torch.dtype) -> SparseTensor:
    """The weight in another type, rounded once and kept with `w`.

    Raises:
        DTypeError: it is none of LOWER_TYPES, or `w` is not of floats.
    """
    kind = _arrays.KINDS["torch"]
    own = kind.dtypes[w.dtype]
    if dtype not in LOWER_TYPES or own not in (*LOWER_TYPES, torch.float32):
        raise wrong_type(dtype, own)
    kept = w._torch_converted
    if dtype not in kept:
        lower = copy_tensors(w)[0].to(dtype)
        kept[dtype] = SparseTensor(_arrays.as_numpy(kind.to_host(lower)).copy(),
                                   w._indices, w.shape, w.pattern, kind.elements[dtype])
    return kept[dtype]


def wrong_type(got: torch.dtype, weight: torch.dtype) -> DTypeError:
    own, other = (str(dtype).rpartition(".")[2] for dtype in (weight, got))
    names = {name: element for element, name in _arrays.NUMPY_NAMES.items()}
    return DTypeError(f"expected x of {names.get(own, own)}, as the weight is, but got "
                      f"{names.get(other, other)}")


def without_elements() -> Error:
    return Error("expected a weight with elements, but it is on the meta device")


def write_form(pattern: Pattern, shape: tuple[int, ...]) -> str:
    """A weight's shape and pattern as one text, ``"48x64, 2:4, dim = 1"``."""
    return f"{shape[0]}x{shape[1]}, {pattern}"


@lru_cache(maxsize=None)
def parse_form(form: str) -> tuple[Pattern, tuple[int, int]]:
    shape, _, pattern = form.partition(", ")
    sizes = re.fullmatch(r"(\d+)x(\d+)", shape, re.ASCII)
    if sizes is None:
        raise PatternError("expected a weight's shape and pattern, as in '48x64, 2:4, "
                           f"dim = 1', but got {form!r}")
    return read_pattern(pattern), (int(sizes[1]), int(sizes[2]))


def tensors_of(w: SparseTensor, device: torch.device
               ) -> tuple[Tensor, Tensor, str]:
    """The condensed form of `w` on a device, kept with it, and what it means."""
    if not isinstance(w, SparseTensor):
        raise TypeError("expected w to be an nm.SparseTensor, as nm.compress "
                        f"makes, but got {type(w).__name__}")
    if torch.compiler.is_dynamo_compiling():
        # Its number, which the graph is then only for.
        return _constant_tensors(id(w), device)
    return _kept_tensors(w, device)


@torch.compiler.assume_constant_result
def _constant_tensors(number: int, device: torch.device
                      ) -> tuple[Tensor, Tensor, str]:
    """Those of the weight with a number; dynamo takes no weight as an argument here."""
    return _kept_tensors(find_sparse(number), device)


def _kept_tensors(w: SparseTensor, device: torch.device
                  ) -> tuple[Tensor, Tensor, str]:
    made = w._torch_tensors.get(device)
    return _make_tensors(w, device) if made is None else made


def _make_tensors(w: SparseTensor, device: torch.device
                  ) -> tuple[Tensor, Tensor, str]:
    # Elements, also while a graph is made of tensors without, and plain tensors, which
    # are kept, within a transform of torch.func.
    with _disable_current_modes(), torch._C._DisableFuncTorch():
        values, indices = copy_tensors(w)
        made = values.to(device), indices.to(device), write_form(w.pattern, w.shape)
    if device.type != "meta":
        keep_weight(*made, w, owns=False)
    w._torch_tensors[device] = made
    return made


def copy_tensors(w: SparseTensor) -> tuple[Tensor, Tensor]:
    """Values and indices on the host, whose writes are counted."""
    with torch.inference_mode(False):
        values, indices = share_tensors(w)
        return values.clone(), indices.clone()


def share_tensors(w: SparseTensor) -> tuple[Tensor, Tensor]:
    """The same without a copy, of a weight that no one uses afterwards; of a file's,
    which cannot be written, PyTorch wants one."""
    kind = _arrays.KINDS["torch"]
    values, indices = (array if array.flags.writeable else array.copy()
                       for array in (w._values, w._indices))
    with torch.inference_mode(False):
        return (kind.from_host(values, torch.empty(0), w.dtype),
                torch.from_numpy(indices))
