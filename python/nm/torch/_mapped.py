"""Condensed weights that are packed lie in files, and come back where they are read.

A product reads the packed form alone. The condensed one is needed to save a layer, to
move it, to train it: until then its memory is another program's. Its tensors stay as they
are, and become a private mapping of a file that no one else can open: what is read of it
is read from there, what is written is memory of this process, as ever.

Those of a CUDA device move to page-locked memory of the host, at which the device's own
accesses arrive: they stay tensors of the device, that can be read and written.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
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
# The device's tensors that lie on the host, by address.
_hosts: weakref.WeakValueDictionary[int, Tensor] = weakref.WeakValueDictionary()


def map_tensors(tensors: Sequence[Tensor]) -> bool:
    """Moves the elements of tensors on the host to a file and maps it; the tensors are
    the same objects afterwards. False where there is no room, or no need."""
    size = sum(tensor.nbytes for tensor in tensors)
    if size < LEAST_BYTES or not all(map(_can_move, tensors)):
        return False
    if tensors[0].is_cuda:
        return _park(tensors)
    folder = _folder(size)
    if folder is None:
        return False
    try:
        mapped = [_map(tensor, folder) for tensor in tensors]
    except OSError:
        return False
    for tensor, elements in zip(tensors, mapped):
        tensor.data = elements
    return True


def bring_back(tensors: Sequence[Tensor]) -> None:
    """Puts tensors of a device that lie on the host into its own memory again."""
    for tensor in tensors:
        if host_of(tensor) is not None:
            tensor.data = tensor.detach().clone()


def host_of(tensor: Tensor) -> Tensor | None:
    """The elements of a device's tensor that lies on the host, as one of the host."""
    host = _hosts.get(tensor.data_ptr()) if tensor.is_cuda else None
    # A view of it may begin where it does.
    is_whole = host is not None and (host.shape, host.dtype, host.stride()) == (
        tensor.shape, tensor.dtype, tensor.stride())
    return host if is_whole else None


class _OnHost:
    """Memory of the host as arrays of a device, which keep it."""

    def __init__(self, host: Tensor):
        self.host = host
        self.__cuda_array_interface__ = {
            "data": (host.data_ptr(), False), "shape": (host.nbytes,), "typestr": "|u1",
            "strides": None, "version": 3}


def _park(tensors: Sequence[Tensor]) -> bool:
    device = tensors[0].device
    if not os.environ.get(_FOLDER, "/") or torch.cuda.is_current_stream_capturing():
        return False
    hosts, views = [], []
    try:
        with torch.cuda.device(device), torch.inference_mode(False), torch.no_grad():
            for tensor in tensors:
                host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
                host.copy_(tensor)
                raw = torch.as_tensor(_OnHost(host))
                if raw.device != device or raw.data_ptr() != host.data_ptr():
                    return False
                hosts.append(host)
                views.append(raw.view(tensor.dtype).view(tensor.shape))
    except (RuntimeError, TypeError):
        # No room on the host, or a device that does not see its memory.
        return False
    for tensor, host, view in zip(tensors, hosts, views):
        tensor.data = view
        _hosts[view.data_ptr()] = host
    return True


def _can_move(tensor: Tensor) -> bool:
    """Whether its memory is a plain tensor's, whole and no one else's."""
    is_shared = tensor.is_cpu and tensor.is_shared()
    return ((tensor.is_cpu or tensor.is_cuda) and tensor.is_contiguous()
            and not tensor.is_inference() and not is_shared
            and tensor.storage_offset() == 0 and host_of(tensor) is None
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
