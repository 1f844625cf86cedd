"""The kernels of a weight: compiled for it, packed with it, and kept with it."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Hashable
from typing import Any

from . import _library as lib
from ._call import PreparedCall
from ._compile import compile
from ._errors import CompileError, CompilerNotFoundError, DeviceError
from ._forms import (can_make, choose_function, choose_with_form, common_schedule,
                     find_about_as_fast, is_replaced, most_forms, should_pack_few)
from ._matmul_text import Product
from ._module import BoundFunction, Function, Module
from ._packed import keep_within_limit
from ._sparse import SparseTensor

#: Up to this many rows, every number of rows has a kernel of its own.
FEW_ROWS = 16
# On a GPU the first larger numbers of rows that come have one, too: a model sees
# few shapes or any. Each takes a compilation, and a packed copy of the weight.
_EXACT_KERNELS = 3
# Kept with a weight: calls and bound functions are small, packed forms are not, which
# functions share where they can: of a CPU so many, of a GPU as _forms says.
_KEPT_CALLS, _KEPT_BOUND, _KEPT_FORMS = 128, 48, 4
# In place of a number of rows, where what is bound takes an image.
_IMAGE = -1


def keep_call(w: SparseTensor, key: tuple, call: PreparedCall) -> None:
    """Has `w` find a prepared call by its key again."""
    w._prepared[key] = call
    if len(w._prepared) > _KEPT_CALLS:
        _pop_oldest(w._prepared)


def find_kernel(product: Product, device: tuple[int, int]) -> BoundFunction:
    """The compiled product with the packed weight: the one that the weight has kept,
    or a new one, which it keeps.

    Raises:
        CompilerNotFoundError: there is no compiler, and no such kernel in the cache.
    """
    on_cuda = device[0] == lib.CUDA
    rows = _kernel_rows(product, on_cuda)
    target = _target_of(device)
    try:
        return _bind(product, device, rows, target)
    except CompilerNotFoundError:
        if rows is None:
            raise
        # The machine that compiled for this one need not have known the rows.
        try:
            return _bind(product, device, None, target)
        except CompilerNotFoundError as error:
            raise CompilerNotFoundError(
                f"no kernel for {rows} rows in the cache, nor one for any number "
                f"of rows; nm.precompile makes them where there is a compiler\n"
                f"{error}") from None


def compile_product(product: Product, rows: int | None, target: str,
                    schedule: str | None = None) -> Module:
    """The product for a number of rows, None for any, from the cache where it is; by a
    schedule, or by the fastest."""
    options = {} if schedule is None else {"schedule": schedule}
    return compile(product.text(rows), target, **options, **_host_options(target))


def _target_of(device: tuple[int, int]) -> str:
    return f"cuda:{_device_chip(device[1])}" if device[0] == lib.CUDA else "cpu"


def _host_options(target: str) -> dict[str, Any]:
    """Where the host only launches, what it compiles to need not be of the very processor,
    and can be carried to another machine."""
    launches = target.startswith("cuda") and os.uname().machine == "x86_64"
    return {"mcpu": "x86-64-v3"} if launches else {}


def _kernel_rows(product: Product, on_cuda: bool) -> int | None:
    """The number of rows that a kernel is made for; None for any."""
    if product.rows <= FEW_ROWS:
        return product.rows
    if not on_cuda:
        return None
    known = {key[1] for key in list(product.w._bound) if (key[1] or 0) > FEW_ROWS}
    return (product.rows if product.rows in known or len(known) < _EXACT_KERNELS
            else None)


def _bind(product: Product, device: tuple[int, int], rows: int | None, target: str
          ) -> BoundFunction:
    w, key = product.w, (device, rows, product.epilogue)
    bound = w._bound.get(key)
    if bound is None:
        function = compile_product(product, rows, target).only_function()
        if device[0] == lib.CUDA:
            function, like, make_of = _choose(product, device, rows, target, function)
        else:
            like, make_of = _bound_on(w, device), []
        bound = function.bind(w, device=device[1], like=like, make_of=make_of)
        _forget_replaced(w, device, bound)
        w._bound[key] = bound
        _forget_surplus(w, device)
        keep_within_limit(w)
    return bound


def bind_convolution(w: SparseTensor, device: tuple[int, int], what: Hashable,
                     most: int, write: Callable[[], str],
                     accept: Callable[[Function], bool], otherwise: str | None
                     ) -> BoundFunction | None:
    """A convolution with a weight, compiled where `device` is, with `w` packed for it, which
    keeps it; None where `w` has kept `most` others, or where no kernel will do.

    Args:
        what: tells it from other convolutions with the weight.
        write: gives the module.
        accept: whether a kernel will do. Of `most` convolutions that have none, no further
            ones are compiled.
        otherwise: the schedule of a kernel that is taken where the fastest will not do, and
            is not estimated to be much faster.

    Raises:
        CompilerNotFoundError: there is no compiler, and no such module in the cache.
    """
    key = (device, _IMAGE, what)
    bound = w._bound.get(key)
    if bound is None:
        if is_refused(w, device, what, most):
            return None
        function = _compile_convolution(w, device, write(), accept, otherwise)
        if function is None:
            w._refused[key] = None
            return None
        bound = function.bind(w, device=device[1], like=_bound_on(w, device))
        w._bound[key] = bound
        _forget_surplus(w, device)
        keep_within_limit(w)
    return bound


def is_refused(w: SparseTensor, device: tuple[int, int], what: Hashable, most: int) -> bool:
    """Whether it is known that there is no such convolution."""
    key = (device, _IMAGE, what)
    return key not in w._bound and (key in w._refused or max(
        _count_images(w._bound, device), _count_images(w._refused, device)) >= most)


def _count_images(kept: dict, device: tuple[int, int]) -> int:
    return sum(key[:2] == (device, _IMAGE) for key in list(kept))


def _compile_convolution(w: SparseTensor, device: tuple[int, int], text: str,
                         accept: Callable[[Function], bool], otherwise: str | None
                         ) -> Function | None:
    """The fastest kernel; on a GPU, where the weight has as many packed forms as it may, the
    fastest that reads one of them."""
    target = _target_of(device)

    def compile_by(schedule: str) -> Function | None:
        try:
            function = compile(text, target, schedule=schedule,
                               **_host_options(target)).only_function()
        except (CompileError, CompilerNotFoundError):
            return None
        return function if accept(function) else None

    own: Function | None = compile(text, target, **_host_options(target)).only_function()
    if not accept(own):
        own = find_about_as_fast(own, otherwise, compile_by)
    if own is None or device[0] != lib.CUDA:
        return own
    return choose_with_form(own, [other.function for other in _bound_on(w, device)], compile_by)


def _bound_on(w: SparseTensor, device: tuple[int, int]) -> list[BoundFunction]:
    return [other for (where, *_), other in list(w._bound.items()) if where == device]


def _choose(product: Product, device: tuple[int, int], rows: int | None, target: str,
            own: Function) -> tuple[Function, list[BoundFunction], list[BoundFunction]]:
    """The kernel that a weight takes on a GPU, the bound ones that may have packed it
    alike, and those of whose packed form calls make its own."""
    like = _bound_on(product.w, device)
    if should_pack_few(own) and not like:
        try:
            _bind(product.with_rows(1), device, 1, target)
        except CompilerNotFoundError:
            # It packs its own.
            pass
        like = _bound_on(product.w, device)
    packed = [other for other in like if not other.is_made]
    kept = [other.function for other in packed]
    function = choose_function(
        own, kept, common_schedule(product, target),
        lambda schedule: _try_schedule(product, rows, target, schedule))
    return function, like, packed if can_make(function, kept) else []


def _forget_replaced(w: SparseTensor, device: tuple[int, int], bound: BoundFunction
                     ) -> None:
    """Forgets packed forms that calls make of that of `bound` from now on."""
    for key, other in list(w._bound.items()):
        if (key[0] == device and not other.is_made
                and is_replaced(other.function, bound.function)):
            _forget(w, key)


def _try_schedule(product: Product, rows: int | None, target: str, schedule: str
                  ) -> Function | None:
    """The product by a schedule, None where it has none."""
    try:
        return compile_product(product, rows, target, schedule).only_function()
    except (CompileError, CompilerNotFoundError):
        return None


def compile_common(product: Product, rows: int | None, target: str) -> None:
    """Has the cache know the kernel that few rows take where many have packed a weight."""
    schedule = common_schedule(product, target)
    if target.startswith("cuda") and schedule is not None:
        _try_schedule(product, rows, target, schedule)


def _forget_surplus(w: SparseTensor, device: tuple[int, int]) -> None:
    """Forgets what was bound longest ago, and with it forms that no one else reads."""
    most = most_forms() if device[0] == lib.CUDA else _KEPT_FORMS
    while len(w._bound) > _KEPT_BOUND or _count_forms(w, device) > most:
        _forget_oldest(w, device)


def _count_forms(w: SparseTensor, device: tuple[int, int]) -> int:
    return len({min(bound.packed_parts(), default=0)
                for (where, *_), bound in list(w._bound.items()) if where == device})


def _pop_oldest(kept: dict) -> Any:
    # A list is made at once, while another thread may change what it is of.
    for key in list(kept)[:1]:
        return kept.pop(key, None)


def _forget_oldest(w: SparseTensor, device: tuple[int, int]) -> None:
    own = next((key for key in list(w._bound) if key[0] == device), None)
    _forget(w, next(iter(list(w._bound)), None) if own is None else own)


def _forget(w: SparseTensor, key: Any) -> None:
    w._drop_calls()
    bound = w._bound.pop(key, None)
    if w._retired is not None and bound is not None and bound.device[0] == lib.CUDA:
        w._retired.append(bound)
    for key, call in list(w._prepared.items()):
        if call._bound is bound:
            w._prepared.pop(key, None)


def _device_chip(device: int) -> str:
    """What to compile for so that it runs best on a CUDA device: ``sm_90a``."""
    chip = ctypes.create_string_buffer(16)
    lib.check(lib.runtime.nmCudaGetDeviceChip(device, chip), DeviceError)
    return chip.value.decode()
