"""Tables of measured schedules, which compilations look products up in."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from . import _cache


def user_table() -> Path:
    """The table that nm.tune writes unless told another."""
    return _cache.cache_dir() / "schedules.yaml"


def digests(settings: dict[str, str | None]) -> list[str]:
    """A key of the tables, outside the compiler, that a compilation with `settings` reads."""
    named = settings.get("schedule-table") or os.environ.get("NM_SCHEDULE_TABLE", "")
    files = [file for file in named.split(",") if file]
    if "none" in files or settings.get("schedule"):
        return []
    found = []
    for file in [*files, str(user_table())]:
        # One that is not there is the compiler's to report.
        with contextlib.suppress(OSError):
            found.append(_cache.digest(file))
    return found
