"""Runs a function once another package's module has been imported."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any


def after_import(name: str, function: Callable[[], None]) -> None:
    """Calls `function` after the import of the module `name`, at once where that was
    imported already: none is imported for it."""
    if name in sys.modules:
        function()
    else:
        sys.meta_path.insert(0, _Finder(name, function))


class _Finder:
    def __init__(self, name: str, function: Callable[[], None]):
        self._name, self._function = name, function

    def find_spec(self, name: str, path: Any = None, target: Any = None
                  ) -> ModuleSpec | None:
        if name != self._name or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            _run_after(spec.loader, self._function)
        return spec


def _run_after(loader: Any, function: Callable[[], None]) -> None:
    execute = loader.exec_module

    def exec_module(module: Any) -> None:
        execute(module)
        function()

    loader.exec_module = exec_module
