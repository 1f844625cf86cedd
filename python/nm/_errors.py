"""Exceptions. All are nm.Error, so that one except clause takes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class Error(Exception):
    """Something that nm refuses, with what it expected and what it got."""


class PatternError(Error, ValueError):
    """Weights that break their N:M pattern, or a text that is no pattern."""


class ShapeError(Error, ValueError):
    """An array of a shape that does not fit."""


class DTypeError(Error, TypeError):
    """An array of an element type that does not fit."""


class DeviceError(Error, ValueError):
    """An array on another device than the one it is needed on."""


class FileFormatError(Error, ValueError):
    """A file that is damaged, or of a format that is not read."""


@contextmanager
def reading(place: object, what: str) -> Iterator[None]:
    """Makes a FileFormatError of whatever damaged contents make a reader raise:
    those of zip, JSON and NumPy have no exceptions in common."""
    try:
        yield
    except Error:
        raise
    except Exception as error:
        # A file that cannot be opened has a name.
        if isinstance(error, OSError) and error.filename is not None:
            raise
        reason = str(error) or type(error).__name__
        raise FileFormatError(f"{place}: expected {what}, but it is damaged "
                              f"({reason})") from None


class FileWarning(UserWarning):
    """A file of weights that was passed over."""


class CompilerNotFoundError(Error, ImportError):
    """libnm_compiler, or LLVM that it needs, is not on this machine. Loading
    compiled modules and running them still works."""


@dataclass(frozen=True)
class Diagnostic:
    """One thing that the compiler had to say.

    Attributes:
        severity: ``"error"``, ``"warning"``, ``"remark"`` or ``"note"``.
        place: ``file:line:column``, or empty.
        message: the text.
    """

    severity: str
    place: str
    message: str

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        return f"{place}{self.severity}: {self.message}"


class CompileError(Error):
    """The compiler refused a module.

    Attributes:
        diagnostics: all that it said, in order.
    """

    def __init__(self, diagnostics: tuple[Diagnostic, ...]):
        self.diagnostics = diagnostics
        super().__init__("\n".join(
            str(entry) for entry in diagnostics
            if entry.severity in ("error", "note")) or "compilation failed")

    def __reduce__(self):
        return CompileError, (self.diagnostics,)
