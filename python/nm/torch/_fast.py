"""Calls of layers that Python takes no part in.

Where nothing but the product itself is asked for, no transform, mode or trace, a layer
calls torch.ops.nm.product, a kernel in C++ that runs what was prepared for an input of the
same shape. It knows nothing else: where it gives None, the layer goes the way of
torch.ops.nm.linear, after which the next call of the kind is known. Where a gradient is
needed, an autograd node calls it: PyTorch's stable C functions make none.

From PyTorch 2.14 the stable C functions take tensors of Python, and the layer's checks are
in C++, too: make_layer_call gives them.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from .. import _arrays
from .. import _library as lib
from .._call import PreparedCall
from .._sparse import SparseTensor

# Inputs of so many shapes are known; then all are forgotten.
_MOST_CALLS = 64

_FUNCTIONS = {
    "nmTorchRegister": (ctypes.c_void_p, [ctypes.c_char_p]),
    "nmTorchAddWeight": (ctypes.c_int64, [ctypes.c_void_p, ctypes.c_void_p]),
    "nmTorchAddProduct": (ctypes.c_int32, [
        ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64), ctypes.c_int32,
        ctypes.c_void_p]),
    "nmTorchDropWeight": (None, [ctypes.c_int64]),
    "nmTorchFindPython": (ctypes.c_int32, []),
}
_count_modes = torch._C._len_torch_dispatch_stack
_has_transforms = torch._C._are_functorch_transforms_active
_has_autocast = getattr(torch._C, "_is_any_autocast_enabled", lambda: True)
_tracing_state = torch._C._get_tracing_state
# A profiler is shown torch.ops.nm.product.
_is_profiled = torch._C._autograd._profiler_enabled


def is_plain(x: Any) -> bool:
    """Whether a call with `x` is nothing but a product, and perhaps its gradient."""
    return not _has_autocast() and is_plain_but_for_autocast(x)


def is_plain_but_for_autocast(x: Any) -> bool:
    """Whether a call with `x` would be nothing but that without torch.autocast."""
    return (type(x) is Tensor and not _count_modes() and not _has_transforms()
            and forward_ad._current_level < 0 and _tracing_state() is None)


class FastCalls:
    """The calls that torch.ops.nm.product knows of a weight.

    Attributes:
        number: the weight's in the library.
        weight: the weight, whose calls these are.
        writes: how often its two tensors had been written to.
    """

    __slots__ = ("__weakref__", "_calls", "number", "places", "weight", "writes")

    def __init__(self, w: SparseTensor, values: Tensor, indices: Tensor):
        self.weight = w
        self.writes = values._version, indices._version
        self.places = values.data_ptr(), indices.data_ptr()
        self._calls: list[PreparedCall] = []
        self.number = _library.nmTorchAddWeight(*self.places)
        weakref.finalize(self, _library.nmTorchDropWeight, self.number).atexit = False
        w._fast_calls.add(self)

    def drop(self) -> None:
        """Forgets the calls, after those that run."""
        _library.nmTorchDropWeight(self.number)
        self._calls.clear()
        self.number = -1

    def add(self, x: Tensor, bias: Tensor | None, activation: str | None) -> bool:
        """Has the kernel know the call for inputs like `x`, which it did not on this
        thread."""
        kind = _arrays.KINDS["torch"]
        key = (type(x), kind.signature(x), activation, None,
               None if bias is None else (type(bias), kind.signature(bias)), None)
        call = self.weight._prepared.get(key)
        if call is None or not call.depends_on_addresses_alone(x):
            return False
        if len(self._calls) >= _MOST_CALLS:
            self.drop()
            return False
        alignments = call.alignments_on_device()
        if bias is None:
            alignments.insert(1, 0)
        added = _library.nmTorchAddProduct(
            self.number, self.weight.n, (ctypes.c_int64 * 3)(*alignments),
            call._on_cuda, call._address)
        if added:
            self._calls.append(call)
        return bool(added)


def learn(known: FastCalls | None, w: SparseTensor, parts: tuple[Tensor, Tensor],
          x: Tensor, bias: Tensor | None, activation: str | None) -> FastCalls | None:
    """What knows the call that was just made, where it can be known."""
    values, indices = parts
    if values.is_inference() or indices.is_inference():
        return None
    if known is None or known.number < 0 or known.weight is not w or (
            known.places != (values.data_ptr(), indices.data_ptr())
            or known.writes != (values._version, indices._version)):
        known = FastCalls(w, values, indices)
    with torch.no_grad():
        if product(x, values, indices, values if bias is None else bias,
                   known.number) is None:
            known.add(x, bias, activation)
    return known


def _load() -> ctypes.CDLL | None:
    """The library with the kernel, or None where PyTorch does not take it."""
    try:
        library = lib._open("libnm_torch.so", _FUNCTIONS)
    except OSError:
        return None
    folder = os.path.join(os.path.dirname(torch.__file__), "lib")
    message = library.nmTorchRegister(os.fsencode(folder))
    lib.take_text(message)
    return None if message else library


_definition = torch.library.Library("nm", "FRAGMENT")
_definition.define("product(Tensor x, Tensor values, Tensor indices, Tensor bias, "
                   "int weight) -> Tensor")
_definition.impl("product", torch.library.fallthrough_kernel, "Autograd")
#: None where there is no kernel in C++.
_library = _load()
product: Any = None if _library is None else torch.ops.nm.product.default._op


def make_layer_call(node: type[torch.autograd.Function],
                    lower_node: type[torch.autograd.Function]) -> Callable[..., Any] | None:
    """A function (layer, x) in C++ that gives what a layer's forward gives where that is a
    known product, and None elsewhere. Where a gradient is needed, it makes a `node`, or a
    `lower_node` under autocast, with a forward in C++. None where PyTorch is too old.
    """
    if _library is None or not _library.nmTorchFindPython():
        return None
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)
    make_forward = make(("nmTorchMakeForward", _library))

    def apply(node):
        forward = staticmethod(make_forward(node.forward))
        # Function.apply looks for transforms of torch.func first, of which there are none.
        return super(torch.autograd.Function,
                     type(node.__name__, (node,), {"forward": forward})).apply

    return make(("nmTorchMakeCall", _library))((
        Tensor, torch.nn.Parameter, forward_ad,
        (_count_modes, torch._C._len_torch_function_stack, _has_transforms, _tracing_state,
         _is_profiled), apply(node), apply(lower_node),
        (_has_autocast, torch.is_autocast_enabled, torch.get_autocast_dtype,
         torch.bfloat16, torch.float16)))
