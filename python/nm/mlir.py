"""The nm dialect in upstream's Python package `mlir`, of MLIR 22.

    from mlir import ir
    import nm.mlir

    with nm.mlir.context(), ir.Location.unknown():
        nm_ops = nm.mlir.ops()            # nm_ops.SpMMOp, nm_ops.spmm, ...
        ...
        nm_ops.SpMMOp([c.type], "2:4", a, values, indices, [], c, 0)

The classes are those that `mlir-tblgen -gen-python-op-bindings` makes of the
dialect. docs/Embedding.md has an example that builds a product op by op.
"""

import ctypes
import importlib
import importlib.util
import sys

from ._library import compiler, folders

__all__ = ["ops", "register", "context"]

# A function that every MLIR has, and two of which are of two MLIRs.
_OF_MLIR = "_ZN4mlir11MLIRContextC1ENS0_9ThreadingE"


# How attributes are written that builders take as strings.
_ATTRIBUTES = {
    "NM_PatternAttr": "#nm.pattern<{}>",
    "NM_AllowedArithmetic": "#nm.arithmetic<{}>",
    "NM_CopyKindAttr": "#nm.copy_kind<{}>",
    "NM_SyncScopeAttr": "#nm.sync_scope<{}>",
    "NM_PackedFormAttrInterface": "#nm.{}",
    "NM_PackingAttr": "#nm.{}",
    "NM_RowListAttr": "#nm.row_list<{}>",
    "NM_ScheduleAttrInterface": "#nm.{}",
}


def _add_attribute_builders(ir) -> None:
    for kind, text in _ATTRIBUTES.items():
        def build(value, context, text=text):
            return ir.Attribute.parse(text.format(value), context=context)
        ir.AttrBuilder.insert(kind, build, replace=True)


def ops(package: str = "mlir"):
    """The module with a class and a function for each op of the dialect.

    `package` is where upstream's bindings are, such as `mlir` or another
    project's copy of them. Attributes of the dialect may be strings: "2:4" is
    `#nm.pattern<2:4>`, and "simt<stages = 3>" a schedule. Raises ImportError
    where there are no bindings.
    """
    # Where upstream looks for the classes of ops that it meets.
    name = f"{package}.dialects.nm"
    if name in sys.modules:
        return sys.modules[name]
    importlib.import_module(f"{package}.dialects._ods_common")
    tried = []
    for folder in folders():
        path = folder / "_nm_ops_gen.py"
        if not path.exists():
            tried.append(str(path))
            continue
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        _add_attribute_builders(importlib.import_module(f"{package}.ir"))
        return module
    raise ImportError("expected the bindings of the nm dialect at "
                      + " or ".join(tried))


class _Handle(ctypes.Structure):
    """Objects of MLIR's C API, by value."""

    _fields_ = [("pointer", ctypes.c_void_p)]


def _unwrap(capsule) -> _Handle:
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype = ctypes.c_void_p
    get.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return _Handle(get(capsule, get_name(capsule)))


def _check_one_mlir(package: str, library: ctypes.CDLL) -> None:
    """Two copies of MLIR in a process do not know each other's types."""
    extension = importlib.import_module(f"{package}._mlir_libs._mlir")
    places = []
    for loaded in (ctypes.CDLL(extension.__file__), library):
        function = getattr(loaded, _OF_MLIR, None)
        places.append(ctypes.cast(function, ctypes.c_void_p).value
                      if function else None)
    if places[0] is None or places[0] != places[1]:
        raise ImportError(
            f"expected {package} to have the libMLIR.so that libnm_compiler.so "
            "is linked with, but it has an MLIR of its own: ops of dialect nm can "
            "be built in a context that allows unregistered dialects, and are "
            "verified when they are compiled")


def register(registry, package: str = "mlir") -> None:
    """Adds the dialect, and those of upstream that its pipelines use, to an
    `ir.DialectRegistry`.

    Raises ImportError where `package` is not linked with the libMLIR.so that
    libnm_compiler.so is linked with.
    """
    library = compiler()
    _check_one_mlir(package, library)
    register_all = library.nmRegisterAllDialects
    register_all.restype, register_all.argtypes = None, [_Handle]
    register_all(_unwrap(registry._CAPIPtr))
    # So that pass managers parse the names of nm's passes.
    library.nmRegisterAllPasses()


def context(package: str = "mlir"):
    """A new `ir.Context` with the dialect, for a `with` statement.

    Where `package` has an MLIR of its own the context allows unregistered
    dialects: ops can be built and printed, and are verified by nm.compile.
    """
    ir = importlib.import_module(f"{package}.ir")
    made = ir.Context()
    registry = ir.DialectRegistry()
    try:
        register(registry, package)
    except ImportError:
        made.allow_unregistered_dialects = True
    else:
        made.append_dialect_registry(registry)
    made.load_all_available_dialects()
    return made
