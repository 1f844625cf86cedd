"""Compiling MLIR."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from . import _cache, _tables
from . import _library as lib
from ._errors import CompileError, CompilerNotFoundError, Diagnostic, Error
from ._files import read_text
from ._module import Module
from ._progress import steps_shown

# Options that take no value: nm.compile_options() has no value in their texts.
_FLAGS = ("with-reference", "profile")
_SEVERITIES = ("error", "warning", "remark", "note")


def compile(source: str | os.PathLike, target: str = "cpu", *,
            cache: bool = True, **options) -> Module:
    """Compiles an MLIR module to a callable one.

    Args:
        source: the text of a module, or the path of a file with one.
        target: ``"cpu"``, or ``"cuda"`` for the device that is there,
            ``"cuda:sm_90a"`` for any. A module for another processor,
            ``"cpu:aarch64"``, cannot be loaded here: nm.lower gives its bytes.
        cache: whether to take the module from the cache, and keep it there.
        **options: options of nm-compile with underscores, as in
            ``opt_level=2, with_reference=True``; nm.compile_options() lists
            them.

    Returns:
        the loaded module.

    Raises:
        CompileError: with the compiler's message and all diagnostics.
        CompilerNotFoundError: this machine has no compiler, and the cache does
            not have the module.
    """
    if "emit" in options:
        raise Error("expected no emit, as what is compiled is loaded; nm.lower "
                    "gives a module at a stage")
    text, name = _read_source(source)
    settings = {"target": resolve_target(target), **_settings(options)}
    content = _content_key(text, settings)
    build = compiler_build()
    found = _cache.find(content, build) if cache else None
    if found is not None:
        try:
            return Module(found)
        except Error:
            # For another processor, or of another version of the runtime.
            if build is None:
                raise
    artifact, diagnostics = _run(text, name, settings)
    about = {"name": name, "options": settings,
             "diagnostics": [str(entry) for entry in diagnostics]}
    path = _cache.store(content, lib.compiler().nmGetCompilerBuildId().decode(),
                        artifact, about)
    return Module(path, diagnostics)


def lower(source: str | os.PathLike, emit: str = "nm", target: str = "cpu",
          **options) -> str | bytes:
    """The module at a phase of its compilation, as nm-compile --emit prints it:
    text, or bytes of ``"obj"``, ``"so"`` and ``"cubin"``.

    Raises:
        CompileError, CompilerNotFoundError: as nm.compile.
    """
    text, name = _read_source(source)
    settings = {"target": resolve_target(target), "emit": emit,
                **_settings(options)}
    artifact, _ = _run(text, name, settings)
    return artifact if emit in ("obj", "so", "cubin") else artifact.decode()


def compile_to(path: str | os.PathLike, source: str | os.PathLike, target: str = "cpu",
               **options) -> tuple[Diagnostic, ...]:
    """Compiles an MLIR module to a shared object at `path`, which appears whole or
    not at all and is never held in memory.

    Returns:
        warnings and remarks.

    Raises:
        CompileError, CompilerNotFoundError: as nm.compile.
    """
    text, name = _read_source(source)
    settings = {"target": resolve_target(target), **_settings(options)}
    return _run(text, name, settings, os.fspath(path))[1]


def compile_options() -> dict[str, str]:
    """The options of nm.compile with what each does."""
    library = lib.compiler()
    info, found = lib.NmCompileOptionInfo(), {}
    for index in range(library.nmGetNumCompileOptions()):
        library.nmGetCompileOption(index, info)
        name = info.name.decode().replace("-", "_")
        value = info.value.decode()
        found[name] = (f"{value}: " if value else "") + info.help.decode()
    return found


def compiler_build() -> str | None:
    """What tells this build of the compiler from others; None without one."""
    try:
        return lib.compiler().nmGetCompilerBuildId().decode()
    except CompilerNotFoundError:
        return None


def resolve_target(target: str) -> str:
    """`target` with the chip of the device that is there, if it names none."""
    if target != "cuda":
        return str(target)
    chip = ctypes.create_string_buffer(16)
    message = lib.runtime.nmCudaGetDeviceChip(0, chip)
    if message:
        lib.take_text(message)
        return target
    return f"cuda:{chip.value.decode()}"


def _read_source(source: str | os.PathLike) -> tuple[str, str]:
    """The text, and what diagnostics call it."""
    is_path = isinstance(source, os.PathLike) or (
        isinstance(source, str) and "\n" not in source
        and (source.endswith(".mlir") or os.path.exists(source)))
    if not is_path:
        if not isinstance(source, str):
            raise TypeError("expected the text of a module or a path, but got "
                            f"{type(source).__name__}")
        return source, "module.mlir"
    try:
        return read_text(source), str(source)
    except UnicodeDecodeError:
        raise CompileError((Diagnostic(
            "error", str(source), "expected a text of MLIR"),)) from None


def _settings(options: dict) -> dict[str, str | None]:
    """Options as the compiler's text; None is the value of a flag."""
    settings: dict[str, str | None] = {}
    for name, value in options.items():
        name = name.replace("_", "-")
        if name in _FLAGS:
            if not isinstance(value, bool):
                raise Error(f"expected {name} to be True or False, as it is a flag, "
                            f"but got {value!r}")
            if value:
                settings[name] = None
        elif isinstance(value, bool):
            settings[name] = str(value).lower()
        elif isinstance(value, (tuple, list)):
            settings[name] = ",".join(str(part) for part in value)
        else:
            settings[name] = str(value)
    return settings


def _content_key(text: str, settings: dict) -> str:
    # Compiled code is for the processor at hand and its number of threads,
    # unless an option says otherwise.
    native = "mcpu" not in settings
    resources = [_cache.digest(path) for path in
                 (settings.get("resources") or "").split(",") if path]
    settings = {**settings, "resources": resources} if resources else settings
    if tables := _tables.digests(settings):
        settings = {**settings, "tables": tables}
    return _cache.key(text=text, settings=settings,
                      processor=_cache.processor() if native else "",
                      threads=lib.runtime.nmGetNumThreads()
                      if settings["target"] == "cpu" else 0)


def _run(text: str, name: str, settings: dict[str, str | None],
         output: str | None = None) -> tuple[bytes, tuple[Diagnostic, ...]]:
    """The artifact, which is empty where it is written to the file `output`."""
    library = lib.compiler()
    if settings["target"] == "cpu" and "threads" not in settings:
        settings = {**settings, "threads": str(lib.runtime.nmGetNumThreads())}
    options = (lib.NmCompileOption * len(settings))(*(
        lib.NmCompileOption(lib.text(key),
                            None if value is None else lib.text(value))
        for key, value in settings.items()))
    encoded = text.encode(errors="replace")
    with steps_shown(f"compiling {name}") as on_step:
        compilation = library.nmCompileTo(
            None if output is None else lib.text(output), encoded, len(encoded),
            lib.text(name), options, len(settings), lib.NmStepCallback(on_step), None)
    try:
        diagnostics = _diagnostics(library, compilation)
        if library.nmCompilationFailed(compilation):
            raise CompileError(diagnostics)
        size = ctypes.c_size_t()
        data = library.nmCompilationGetArtifact(compilation, size)
        return ctypes.string_at(data, size.value), diagnostics
    finally:
        library.nmCompilationFree(compilation)


def _diagnostics(library, compilation) -> tuple[Diagnostic, ...]:
    entry, found = lib.NmDiagnostic(), []
    for index in range(library.nmCompilationGetNumDiagnostics(compilation)):
        library.nmCompilationGetDiagnostic(compilation, index, entry)
        found.append(Diagnostic(_SEVERITIES[entry.severity],
                                entry.place.decode(errors="replace"),
                                entry.message.decode(errors="replace")))
    return tuple(found)
