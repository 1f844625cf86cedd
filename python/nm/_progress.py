"""A bar on a terminal for what takes seconds."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any


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
        self.stream, self.shown = stream, stream.isatty()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: Any) -> None:
        if self.shown:
            print("\r\x1b[K", end="", file=self.stream, flush=True)

    def show(self, text: str) -> None:
        if self.shown:
            print(f"\r\x1b[K{ascii(text)[1:-1][:70]}", end="", file=self.stream,
                  flush=True)
