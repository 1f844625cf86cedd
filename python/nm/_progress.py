"""A bar on a terminal for what takes seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

# Seconds after which a compilation is long, and between two changes of its line.
_LONG, _OFTEN = 1.0, 0.2


def with_progress(items: Iterable[Any], total: int, what: str) -> Iterator[Any]:
    """The items, with a bar on a terminal."""
    shown = sys.stderr.isatty()
    for done, item in enumerate(items):
        if shown:
            _draw(done, total, f"{what} {item}")
        yield item
    if shown:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _draw(done: int, total: int, text: str, width: int = 24) -> None:
    filled = width * done // max(total, 1)
    bar = "#" * filled + "." * (width - filled)
    print(f"\r\x1b[K[{bar}] {done}/{total} {text[:50]}", end="", file=sys.stderr,
          flush=True)


class ProgressLine:
    """One line on a terminal that tells what is under way; nothing elsewhere."""

    def __init__(self, stream: Any):
        # Programs without a terminal may have no stderr.
        self.stream, self.shown = stream, stream is not None and stream.isatty()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: Any) -> None:
        if self.shown:
            print("\r\x1b[K", end="", file=self.stream, flush=True)

    def show(self, text: str) -> None:
        if self.shown:
            print(f"\r\x1b[K{ascii(text)[1:-1][:70]}", end="", file=self.stream,
                  flush=True)


@contextmanager
def steps_shown(what: str) -> Iterator[Callable[[bytes, object], None]]:
    """Shows `what` and the step that it is at, where it takes more than a second:
    ``compiling model.mlir: nm-pack-weights, 3 s``.

    Yields:
        a function to call with the name of each step that begins.
    """
    begin = last = time.monotonic()
    with ProgressLine(sys.stderr) as line:
        def on_step(step: bytes, _context: object) -> None:
            nonlocal last
            now = time.monotonic()
            if now - begin >= _LONG and now - last >= _OFTEN:
                last = now
                line.show(f"{what}: {step.decode(errors='replace')}, "
                          f"{now - begin:.0f} s")
        yield on_step
