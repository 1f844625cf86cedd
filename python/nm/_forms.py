"""Which packed form of a weight the kernels of a GPU read.

Kernels of few and of many rows are fastest on forms of their own. A weight keeps few of
them: a product takes a kernel that reads a form which the weight has, or which all numbers
of rows can read, where that is about as fast. The form of many rows of f32, three bf16 of
each weight, is larger than that of few rows: calls make the former of the latter.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable

from ._errors import Error
from ._matmul_text import Product
from ._module import Function

#: How long a product may take by such a form, or by another kernel that is asked for, over its
#: own.
_SHARED_SHARE = 1.25
_MOST = 2
#: How long a call may take to make its form, over the product, for a weight that no few
#: rows have packed.
_MAKE_SHARE = 0.1
#: A kernel that makes a form reads and writes so many bytes in a microsecond, behind its
#: launch.
_MAKE_BYTES, _MAKE_LAUNCH = 3.8e6, 2.0


def _check_count(count: object, name: str) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise Error(f"expected {name} to be a number of forms from 1 on, but got "
                    f"{count!r}")
    return count


def _read_count(text: str) -> int:
    return _check_count(int(text) if text.isdecimal() else text, "NM_PACKED_FORMS")


_asked = os.environ.get("NM_PACKED_FORMS")
_most: int | None = None if _asked is None else _read_count(_asked)


def set_packed_forms(count: int | None) -> None:
    """Sets how many packed forms a weight keeps on a GPU at most, as NM_PACKED_FORMS does
    for a process.

    None, from the start, is two, but of f32 at 2:4 one: calls of many rows make their
    form, three bf16 of each weight, of that of few rows, in memory that calls share. With 2
    such a weight keeps both, and calls make none. With 1 all numbers of rows are multiplied
    by kernels that read the form which was packed first, or make theirs of it: the least
    memory, and products of few or of many rows may take longer. Forms that are packed stay.
    """
    global _most
    _most = None if count is None else _check_count(count, "count")


def most_forms() -> int:
    return _MOST if _most is None else _most


def _is_split(form: tuple) -> bool:
    """Whether a form is one that calls can make of that of few rows."""
    return bool(form) and all("wgmma_pairs, splits = 3" in layout for layout, *_ in form)


def _is_whole(form: tuple) -> bool:
    """Whether splits can be made of a form; the runtime has the last word."""
    return bool(form) and all("index_bits = 2, chunk_rows = 4, index_rows" in layout
                              for layout, *_ in form)


def can_make(own: Function, kept: Iterable[Function]) -> bool:
    """Whether calls of a kernel make its form of one that a weight has packed, rather than
    that another is packed."""
    return (_most in (None, 1) and _is_split(form_of(own))
            and any(_is_whole(form_of(function)) for function in kept))


def should_pack_few(own: Function) -> bool:
    """Whether the form of few rows is to be packed in place of a kernel's own, of which
    calls then make it in little of the product's time."""
    return (_most is None and _is_split(form_of(own))
            and _make_time(own) <= _MAKE_SHARE * _estimate(own) < float("inf"))


def is_replaced(function: Function, by: Function) -> bool:
    """Whether the packed form of a kernel goes where another's is packed, of which calls
    can make it."""
    return (_most is None and _is_split(form_of(function))
            and _is_whole(form_of(by)))


def _make_time(own: Function) -> float:
    """Microseconds in which a call makes the form of a kernel."""
    elements = sum(math.prod(weight["values"]["shape"])
                   for weight in own._entry["pack"]["weights"])
    # Written are 2 bytes for each split, a third of which are f32 to be read.
    return _MAKE_LAUNCH + elements * (2 + 4 / 3) / _MAKE_BYTES


def form_of(function: Function) -> tuple:
    """A key that is equal for kernels that read the same packed weight; empty where the
    module does not say."""
    weights = (function._entry.get("pack") or {}).get("weights") or ()
    if not weights or not all(weight.get("layout") for weight in weights):
        return ()
    return tuple((weight["layout"], str(weight["values"]), str(weight["indices"]))
                 for weight in weights)


def common_schedule(product: Product, target: str) -> str | None:
    """The schedule of kernels for few rows that read what those for many do."""
    pattern = product.w.pattern
    if (pattern.n, pattern.m, tuple(pattern.block)) != (2, 4, (1, 1)) or (
            product.w.dtype not in ("f16", "bf16")):
        return None
    return "mma_sp<pairs = true>" if "sm_90" in target else "mma_sp"


def choose_function(own: Function, kept: Iterable[Function], common: str | None,
                    compile_by: Callable[[str], Function | None]) -> Function:
    """The kernel that a weight takes.

    Args:
        own: the fastest.
        kept: those whose packed forms the weight has.
        common: a schedule whose form all numbers of rows can read, if there is one.
        compile_by: gives the kernel by a schedule, or None where there is none.
    """
    known = {form_of(function): function for function in kept}
    known.pop((), None)
    if not form_of(own) or form_of(own) in known:
        return own
    if _most is None and _is_whole(form_of(own)):
        # Another order of the same would be a second form.
        whole = {form: each for form, each in known.items() if _is_whole(form)}
        if (found := _fastest_reader(whole, compile_by)) is not None:
            return found
    if _estimate(own) == float("inf"):
        # Of a table of measured schedules.
        other = None if common is None or _most == 1 else compile_by(common)
        return own if other is None or _estimate(other) > _dense(other) else other
    if can_make(own, known.values()):
        return _make_or_read(own, known, compile_by)
    may_add = len(known) < most_forms()
    schedules = {schedule: None for form, function in known.items()
                 for schedule in _schedules_of(form, function)}
    if common is not None:
        schedules[common] = None
    best, time = None, float("inf")
    for schedule in schedules:
        other = compile_by(schedule)
        if schedule == common and other is not None and form_of(other) == form_of(own):
            # Nothing would be shared by the slower of the two.
            return own
        if other is None or (form_of(other) not in known
                             and not (may_add and schedule == common)):
            continue
        estimate = _estimate(other)
        if best is None or estimate < time:
            best, time = other, estimate
    if best is None or may_add and time > min(_SHARED_SHARE * _estimate(own), _dense(own)):
        return own
    return best


def find_about_as_fast(own: Function, schedule: str | None,
                       compile_by: Callable[[str], Function | None]) -> Function | None:
    """The kernel by a schedule, where there is one and `own` is not much faster."""
    other = None if schedule is None else compile_by(schedule)
    if other is None or _estimate(other) > _SHARED_SHARE * _estimate(own):
        return None
    return other


def choose_with_form(own: Function, kept: Iterable[Function],
                     compile_by: Callable[[str], Function | None]) -> Function | None:
    """The kernel that a weight takes that is not to be packed in more forms than it may:
    `own`, or the fastest that reads one of those of `kept`, if there is any."""
    known = {form_of(function): function for function in kept}
    known.pop((), None)
    if form_of(own) in known or len(known) < most_forms():
        return own
    return _fastest_reader(known, compile_by)


def _fastest_reader(known: dict[tuple, Function],
                    compile_by: Callable[[str], Function | None]) -> Function | None:
    """The kernel that reads one of the forms, if there is any."""
    found = [other for form, function in known.items()
             for schedule in _schedules_of(form, function)
             if (other := compile_by(schedule)) is not None and form_of(other) in known]
    return min(found, key=_estimate, default=None)


def _make_or_read(own: Function, known: dict[tuple, Function],
                  compile_by: Callable[[str], Function | None]) -> Function:
    """The kernel whose form calls make, or a faster one that reads a form there is."""
    found = _fastest_reader(known, compile_by)
    if found is None or _estimate(found) >= _estimate(own) + _make_time(own):
        return own
    return found


def _estimate(function: Function) -> float:
    """Microseconds; none are known of a schedule that the model would not have made."""
    if not function.ops or function.ops[0].estimate_us is None:
        return float("inf")
    return function.ops[0].estimate_us


def _dense(function: Function) -> float:
    """Microseconds of the dense product."""
    dense = function.ops[0].dense_us if function.ops else None
    return float("inf") if dense is None else dense


def _schedules_of(form: tuple, function: Function) -> list[str]:
    """Schedules whose kernels may read a form."""
    layout = form[0][0]
    if "wgmma_pairs" in layout:
        return ["mma_sp<pairs = true>", "wgmma_sp"]
    record = function.ops[0] if function.ops else None
    if record is None or not record.strategy:
        return []
    packing = re.search(r"packing = <[^<>]*>", record.schedule)
    return [f"{record.strategy}<{packing[0]}>" if packing else record.strategy]
