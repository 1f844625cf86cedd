"""Choices of code while a model is traced: those that depend on no argument are made, and
transformers' for infinities in f16 becomes arithmetic."""

from __future__ import annotations

import functools
import math
import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils.weak import WeakIdKeyDictionary

from ..._errors import Error

#: Methods whose results are Python's.
_ASKS = (Tensor.item, Tensor.tolist, Tensor.__bool__, Tensor.__int__, Tensor.__float__,
         Tensor.__index__)
_CLAMPS = (torch.clamp, Tensor.clamp)
#: Begins of names of functions whose results nobody knows before.
_DRAWS = ("rand", "multinomial", "bernoulli", "normal", "poisson", "dropout", "empty",
          "new_empty", "exponential", "uniform", "geometric", "log_normal", "cauchy")
#: The most elements of a tensor that is computed here.
_MOST = 2 ** 20


def traced(model: nn.Module, trace: Callable[[], ExportedProgram]
           ) -> tuple[ExportedProgram, list[str]]:
    """The program that `trace` makes of the model, and what was made other than the
    model has it. To watch every call of a function takes a fifth of a trace, so that a
    trace is first tried without: where that fails in the model's code or leaves
    elements that Python asks for, the model is traced again with its choices made."""
    try:
        with _forward_of(model, _plain):
            program = trace()
        if not _asks(program):
            return program, []
    except _UnmadeError:
        pass
    remarks: list[str] = []
    with _forward_of(model, functools.partial(_chosen, remarks)):
        return trace(), remarks


class _UnmadeError(Exception):
    """The model's code failed, maybe for a choice that was not made."""


def _plain(forward: Callable, *args: Any, **kwargs: Any) -> Any:
    try:
        return forward(*args, **kwargs)
    except Exception as error:
        raise _UnmadeError from error


def _chosen(remarks: list[str], forward: Callable, *args: Any, **kwargs: Any) -> Any:
    try:
        with _Choices() as choices:
            result = forward(*args, **kwargs)
            choices.expect_no_clamp()
    except GuardOnDataDependentSymNode as error:
        raise _ChoiceError(
            "expected a model whose sizes and choices of code do not depend on "
            f"elements of its arguments, but got {_place_of(error)}") from error
    if choices.clamps:
        remarks.append(
            f"{choices.clamps} clamps of f16: the model clamps all of a tensor where "
            "one element is infinite, a compiled function the infinite elements alone")
    return result


@contextmanager
def _forward_of(model: nn.Module, around: Callable) -> Iterator[None]:
    """Has calls of the model be those of `around`, with the model's own forward."""
    forward = model.forward
    own = vars(model).get("forward")

    @functools.wraps(forward)
    def called(*args: Any, **kwargs: Any) -> Any:
        return around(forward, *args, **kwargs)

    model.forward = called
    try:
        yield
    finally:
        del model.forward
        if own is not None:
            model.forward = own


def _asks(program: ExportedProgram) -> bool:
    """Whether the program has elements that Python asks for."""
    return any(node.target in (torch.ops.aten.item.default,
                               torch.ops.aten._local_scalar_dense.default)
               for node in program.graph.nodes)


class _ChoiceError(Error):
    """A model's code depends on elements of its arguments."""

    @property
    def partial_fx_graph(self) -> str:
        """torch.export prints this, pages of it, where an error has it."""
        raise AttributeError

    @partial_fx_graph.setter
    def partial_fx_graph(self, _: str) -> None:
        pass


def _place_of(error: Exception) -> str:
    """The line of the model's code that an error comes from."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if f"{os.sep}torch{os.sep}" not in frame.filename]
    last = frames[-1]
    return f'File "{last.filename}", line {last.lineno}, in {last.name}: {last.line}'


class _Choices(TorchFunctionMode):
    """Computes beside the trace what depends on no argument and no weight."""

    def __init__(self) -> None:
        super().__init__()
        self._values: Any = WeakIdKeyDictionary()
        # The tensor of which another says whether elements are, or all are, finite.
        self._asked: Any = WeakIdKeyDictionary()
        self._to_clamp: Tensor | None = None
        self.clamps = 0

    def __torch_function__(self, func: Callable, types: Any, args: tuple = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        if func is Tensor.__iter__:
            with self:
                return iter(args[0].unbind(0))
        if self._to_clamp is not None and func in _CLAMPS and args[0] is self._to_clamp:
            return self._clamp(func, args, kwargs)
        known, values = self._valued((args, kwargs))
        if func in _ASKS and known:
            return _computed(func, *values)
        if func is Tensor.__bool__ and args[0] in self._asked:
            return self._answer(args[0])
        result = func(*args, **kwargs)
        if self._to_clamp is not None and isinstance(result, Tensor):
            self.expect_no_clamp()
        self._note(func, args, result)
        if known and not func.__name__.startswith(_DRAWS):
            self._remember(func, values, result)
        else:
            # add_, __iadd__ and __setitem__, but also __get__, which makes no difference.
            written = args[:1] if func.__name__.endswith("_") else ()
            self._forget(*written, *_pytree.tree_leaves(kwargs.get("out")))
        return result

    # Values

    def _valued(self, given: Any) -> tuple[bool, Any]:
        """Whether all tensors have values, and the arguments with these."""
        leaves, spec = _pytree.tree_flatten(given)
        values = []
        for leaf in leaves:
            if isinstance(leaf, Tensor):
                if leaf not in self._values:
                    return False, None
                leaf = self._values[leaf]
            elif isinstance(leaf, (torch.SymInt, torch.SymBool, torch.SymFloat)):
                return False, None
            values.append(torch.device("cpu") if isinstance(leaf, torch.device) else leaf)
        args, kwargs = _pytree.tree_unflatten(values, spec)
        if "device" in kwargs:
            kwargs = {**kwargs, "device": "cpu"}
        return True, (args, kwargs)

    def _remember(self, func: Callable, values: Any, result: Any) -> None:
        leaves = _pytree.tree_leaves(result)
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        if not tensors and func is not Tensor.__setitem__:
            return
        if not all(isinstance(size, int) for each in tensors for size in each.shape):
            return
        if sum(math.prod(each.shape) for each in tensors) > _MOST:
            return
        computed = _pytree.tree_leaves(_computed(func, *values))
        for leaf, value in zip(leaves, computed):
            if isinstance(leaf, Tensor):
                self._values[leaf] = value

    def _forget(self, *written: Any) -> None:
        """The tensors are written to with what is not known, and so are their views."""
        storages = {self._values[each].untyped_storage().data_ptr() for each in written
                    if isinstance(each, Tensor) and each in self._values}
        for each in [key for key, value in self._values.items()
                     if value.untyped_storage().data_ptr() in storages]:
            del self._values[each]

    # Clamps of f16

    def _note(self, func: Callable, args: tuple, result: Any) -> None:
        """`isfinite(x)`, `isinf(x)`, and whether all or any are."""
        name = func.__name__
        if name in ("isfinite", "isinf") and args[0].dtype == torch.float16:
            self._asked[result] = (args[0], name)
        elif name in ("all", "any") and args[0] in self._asked and not result.dim():
            x, asked = self._asked[args[0]]
            if (asked, name) in (("isfinite", "all"), ("isinf", "any")):
                self._asked[result] = (x, name)

    def _answer(self, asked: Tensor) -> bool:
        """That an element is infinite, after which the model has to clamp."""
        x, name = self._asked[asked]
        if name not in ("all", "any"):
            return bool(asked)
        self._to_clamp = x
        return name == "any"

    def _clamp(self, func: Callable, args: tuple, kwargs: dict[str, Any]) -> Tensor:
        x, self._to_clamp = args[0], None
        self.clamps += 1
        return torch.where(torch.isinf(x), func(*args, **kwargs), x)

    def expect_no_clamp(self) -> None:
        if self._to_clamp is not None:
            raise _ChoiceError("expected a model that clamps a tensor where it asks whether "
                        "elements are infinite, but got other code")


def _computed(func: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    with _disable_current_modes(), torch.no_grad():
        return func(*args, **kwargs)
