"""Condensed weights that are packed lie in files, and come back where they are read.

A product reads the packed form alone. The condensed one is needed to save a layer, to
move it, to train it: until then its memory is another program's. Its tensors stay as they
are, and become a private mapping of a file that no one else can open: what is read of it
is read from there, what is written is memory of this process, as ever.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Sequence

import torch
from torch import Tensor

#: Where the files are; NM_MAP_DIR in place of the folder of temporary ones, empty for
#: none, which leaves condensed weights in memory.
_FOLDER = "NM_MAP_DIR"
#: Smaller ones are not worth a file.
LEAST_BYTES = 1 << 18
# These are memory, too.
_IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs", "hugetlbfs")
# What stays free of a disk, as a part of what was.
_FREE_PART = 4


def map_tensors(tensors: Sequence[Tensor]) -> bool:
    """Moves the elements of tensors on the host to a file and maps it; the tensors are
    the same objects afterwards. False where there is no room, or no need."""
    size = sum(tensor.nbytes for tensor in tensors)
    folder = _folder(size)
    if size < LEAST_BYTES or folder is None or not all(map(_can_move, tensors)):
        return False
    try:
        mapped = [_map(tensor, folder) for tensor in tensors]
    except OSError:
        return False
    for tensor, elements in zip(tensors, mapped):
        tensor.data = elements
    return True


def _can_move(tensor: Tensor) -> bool:
    """Whether its memory is a plain tensor's, whole and no one else's."""
    return (tensor.is_cpu and tensor.is_contiguous() and not tensor.is_inference()
            and not tensor.is_shared() and tensor.storage_offset() == 0
            and tensor.untyped_storage().nbytes() == tensor.nbytes > 0)


def _folder(size: int) -> str | None:
    folder = os.environ.get(_FOLDER, tempfile.gettempdir())
    if not folder or _is_in_memory(folder):
        return None
    try:
        disk = os.statvfs(folder)
    except OSError:
        return None
    return folder if size < disk.f_bavail * disk.f_frsize // _FREE_PART else None


def _is_in_memory(folder: str) -> bool:
    """Whether a folder's files are; also where the system does not tell."""
    device = os.stat(folder).st_dev if os.path.isdir(folder) else None
    wanted = "" if device is None else f"{os.major(device)}:{os.minor(device)}"
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                own, _, kind = line.partition(" - ")
                if own.split()[2] == wanted:
                    return kind.split()[0] in _IN_MEMORY
    except (OSError, IndexError):
        return True
    # Of a filesystem whose files have a device of their own, as overlays and btrfs.
    return False


def _map(tensor: Tensor, folder: str) -> Tensor:
    raw = tensor.detach().view(torch.uint8).reshape(-1)
    with tempfile.TemporaryFile(dir=folder, prefix="nm-") as file:
        file.write(memoryview(raw.numpy()))
        file.flush()
        memory = mmap.mmap(file.fileno(), raw.numel(), mmap.MAP_PRIVATE,
                           mmap.PROT_READ | mmap.PROT_WRITE)
    # The tensor keeps the mapping.
    return torch.frombuffer(memory, dtype=torch.uint8).view(tensor.dtype).view(
        tensor.shape)
