"""Compiled modules on disk.

    <folder>/<key of content, options and processor>/<key of the compiler>.json
    <folder>/<the same>/<sha256 of the artifact>.so

The record names the artifact by its hash and is written last, each by a rename:
two processes may compile the same at once, and a damaged file is compiled again.
What is in the folder is run: it must be as trusted as the package itself.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
import threading
import warnings
from pathlib import Path

from ._files import check_end, written_whole

_lock = threading.Lock()
_fallback: Path | None = None
# What `key` gives.
_KEY = re.compile("[0-9a-f]{40}")


class CacheWarning(UserWarning):
    """The cache folder cannot be written; kernels are compiled again by each
    process."""


def cache_dir() -> Path:
    """Where compiled modules are kept: NM_CACHE_DIR, or nm in XDG_CACHE_HOME or
    ~/.cache."""
    given = os.environ.get("NM_CACHE_DIR")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base) / "nm"
    try:
        home = Path.home()
    except RuntimeError:
        # A user that the system does not know, as in containers.
        home = Path("/")
    return home / ".cache" / "nm"


def clear_cache() -> int:
    """Deletes what nm wrote to cache_dir(), and nothing else that may be there;
    returns how many modules there were. Modules that are loaded stay usable."""
    count = 0
    try:
        folders = [entry for entry in cache_dir().iterdir()
                   if _KEY.fullmatch(entry.name)
                   and entry.is_dir() and not entry.is_symlink()]
    except OSError:
        return 0
    for folder in folders:
        count += _clear_folder(folder)
    return count


def _clear_folder(folder: Path) -> int:
    """Deletes the records and artifacts of a folder, and itself if it is empty then."""
    files = [file for file in folder.iterdir()
             if file.is_file() and not file.is_symlink()]
    records = {file: digest for file in files if (digest := _digest_of(file))}
    artifacts = [file for file in files if file.suffix == ".so" and (
        file.stem in records.values() or _is_artifact(file))]
    for file in [*records, *artifacts]:
        file.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        folder.rmdir()
    return len(records)


def _digest_of(record: Path) -> str | None:
    """The artifact that a file names, if it is a record of nm, whose own name is the
    key of the compiler in it."""
    try:
        about = json.loads(record.read_text(encoding="utf-8"))
        is_own = record.name == f"{key(compiler=about['compiler'])}.json"
        return str(about["sha256"]) if is_own else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _is_artifact(file: Path) -> bool:
    """Whether it has the contents that it was written with, by its name. A truncated
    library would end the process where it is mapped."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest() == file.stem
    except OSError:
        return False


def processor() -> str:
    """What compiled code may use of this machine, as one text."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = {line.partition(":")[0].strip(): line.partition(":")[2]
                     for line in file.read().split("\n\n")[0].splitlines()}
    except OSError:
        lines = {}
    machine = os.uname().machine
    known = "".join(lines.get(name, "") for name in
                    ("vendor_id", "cpu family", "model", "flags", "Features"))
    return f"{machine}-{hashlib.sha256(known.encode()).hexdigest()[:16]}"


def key(**parts) -> str:
    """A key of whatever a module depends on."""
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def digest(path: str) -> str:
    """A key of a file's contents."""
    found = hashlib.sha256()
    check_end(path)
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            found.update(part)
    return found.hexdigest()


def find(content: str, compiler: str | None) -> Path | None:
    """The artifact for `content` by the build `compiler`, or by any build where
    there is no compiler: the newest one."""
    folder = cache_dir() / content
    name = "*" if compiler is None else key(compiler=compiler)
    try:
        records = sorted(folder.glob(f"{name}.json"), key=_age)
    except OSError:
        # A folder that may not be looked into.
        records = []
    if _fallback and not records:
        records = sorted((_fallback / content).glob(f"{name}.json"))
    for record in records:
        artifact = _read(record)
        if artifact:
            return artifact
    return None


def _age(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0


def _read(record: Path) -> Path | None:
    try:
        digest = json.loads(record.read_text(encoding="utf-8"))["sha256"]
        artifact = record.parent / f"{digest}.so"
        if _is_artifact(artifact):
            return artifact
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return None


def store(content: str, compiler: str, artifact: bytes, about: dict) -> Path:
    """Writes an artifact; where the folder cannot be written, to one of this
    process, after a warning."""
    try:
        return _store(cache_dir(), content, compiler, artifact, about)
    except OSError as error:
        folder = _process_folder(error)
        return _store(folder, content, compiler, artifact, about)


def _store(root: Path, content: str, compiler: str, artifact: bytes,
           about: dict) -> Path:
    folder = root / content
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256(artifact).hexdigest()
    path = folder / f"{digest}.so"
    _write(path, artifact)
    record = {**about, "sha256": digest, "compiler": compiler}
    _write(folder / f"{key(compiler=compiler)}.json",
           json.dumps(record, indent=1).encode())
    return path


def _write(path: Path, contents: bytes) -> None:
    with written_whole(path, 0o600) as file:
        file.write(contents)


def _process_folder(error: OSError) -> Path:
    global _fallback
    with _lock:
        if _fallback is None:
            _fallback = Path(tempfile.mkdtemp(prefix="nm-cache-"))
            atexit.register(shutil.rmtree, _fallback, ignore_errors=True)
            warnings.warn(
                f"cannot write the cache folder '{cache_dir()}' ({error}); "
                "compiled kernels live as long as this process. NM_CACHE_DIR "
                "sets another folder", CacheWarning, stacklevel=6)
    return _fallback
