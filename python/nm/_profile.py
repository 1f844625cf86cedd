"""The time of each step of a call."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _library as lib
from ._errors import Error
from ._table import format_table

if TYPE_CHECKING:
    from ._module import BoundFunction


@dataclass(frozen=True)
class Step:
    """A step of a function, between two times that it takes: a launch, a loop, a copy
    or a call.

    Attributes:
        loc: ``file:line:column``; empty where the module does not say.
        name: the ops that it computes, as ``"nm.spmm <2:4> simt + linalg.fill"``.
        kernel: the kernel; empty for what is no launch.
        us: its time, the median over the runs, in microseconds.
        bytes: of its operands, each counted once; None where sizes are dynamic.
        floor_us: the least time that it can take, in microseconds: ``bytes`` at the
            rate at which memory can be read, or what a GPU's multipliers take where
            that is longer; None where neither is known. A CPU's rate is measured, on
            nm's threads; a GPU's is what its clocks allow.
    """

    loc: str
    name: str
    kernel: str
    us: float
    bytes: int | None
    floor_us: float | None

    @property
    def bytes_per_second(self) -> float | None:
        """The rate at which its operands pass; None where sizes are dynamic."""
        return self.bytes / self.us * 1e6 if self.bytes and self.us else None

    @property
    def roofline(self) -> float | None:
        """The share of its roofline, ``floor_us / us``: 0.5 of a step that takes twice
        the least time. It may be above 1 where caches hold operands. None where
        ``floor_us`` is."""
        return self.floor_us / self.us if self.floor_us and self.us else None


@dataclass(frozen=True)
class Profile:
    """The times of the steps of a function, in the order in which they run.

    Attributes:
        function: its name.
        runs: how many runs each time is the median of.
        steps: the steps.
    """

    function: str
    runs: int
    steps: tuple[Step, ...]

    @property
    def us(self) -> float:
        """The sum of the steps' times in microseconds."""
        return sum(step.us for step in self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __str__(self) -> str:
        rows = [[f"{step.us:.2f}", f"{100 * step.us / (self.us or 1):.0f} %",
                 f"{step.bytes_per_second / 1e9:.4g}" if step.bytes_per_second else "-",
                 f"{100 * step.roofline:.0f} %" if step.roofline else "-",
                 step.loc, step.name, step.kernel] for step in self.steps]
        return (f"@{self.function}: {self.us:.2f} us in {len(self.steps)} steps, medians "
                f"of {self.runs} runs\n"
                + format_table(["us", "share", "GB/s", "roofline", "place", "computes",
                                "kernel"], rows))


def profile(function: BoundFunction, arrays: tuple[Any, ...], runs: int) -> Profile:
    """The times of `function`'s steps on `arrays`."""
    entry = function.function._entry.get("steps") or []
    name = function.function.name
    if not entry:
        raise Error(f"@{name}: expected a module compiled with profile=True, but this "
                    "one takes no times")
    if runs < 1:
        raise Error(f"expected 1 run or more, but got {runs}")
    seconds, floors = ((ctypes.c_double * len(entry))() for _ in range(2))
    # Not one of those that are kept: it is called once, in a way of its own.
    call = function.prepare(*arrays)
    call._run = lambda address, data, stream: lib.runtime.nmCallProfile(
        address, data, stream, runs, seconds, floors)
    call.run(arrays)
    return Profile(name, runs, tuple(
        Step(step["loc"], step["name"], step["kernel"], time * 1e6,
             step["bytes"] if step["bytes"] >= 0 else None, floor * 1e6 or None)
        for step, time, floor in zip(entry, seconds, floors)))
