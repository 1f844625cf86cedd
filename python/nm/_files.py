"""Files that are read to an end that they have, and written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from ._errors import FileFormatError


# Of a pipe; more is no text that anyone wrote.
_MOST_OF_PIPE = 1 << 30


def check_end(path: str | os.PathLike) -> int:
    """The mode of a file or a pipe.

    Raises:
        FileFormatError: it is a device, which may have no end.
    """
    # A device is only looked at.
    mode = os.stat(path).st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise FileFormatError(f"{os.fspath(path)}: expected a file or a pipe, but got a "
                              "device")
    return mode


def read_text(path: str | os.PathLike) -> str:
    """The text of a file or a pipe.

    Raises:
        FileFormatError: it is a device, which may have no end, or a pipe without one.
        OSError, UnicodeDecodeError: it cannot be read.
    """
    mode = check_end(path)
    with open(path, "rb") as file:
        text = file.read(_MOST_OF_PIPE + 1 if stat.S_ISFIFO(mode) else -1)
    if stat.S_ISFIFO(mode) and len(text) > _MOST_OF_PIPE:
        raise FileFormatError(f"{os.fspath(path)}: expected at most 1 GiB from a pipe, "
                              "but got more")
    return text.decode()


@contextmanager
def written_whole(path: str | os.PathLike, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path`, or of the file that
    `path` links to, when all has been written. `mode` is what the process's mask
    then leaves of it. A pipe or a device stays what it is and is written to.

    Raises:
        OSError: of `path`, also where the file beside it is meant.
    """
    path = os.fspath(path)
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    target = os.path.realpath(path)
    temporary = f"{target}.tmp.{secrets.token_hex(8)}"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.replace(temporary, target)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError) and error.filename == temporary:
            raise OSError(error.errno, error.strerror, path) from None
        raise
