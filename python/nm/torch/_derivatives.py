"""Derivatives of nm's operators, backward and forward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

_are_transforms_active = torch._C._are_functorch_transforms_active
# What carries tangents, of the types that have derivatives.
_FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def register_derivatives(library: torch.library.Library, operator: Any,
                         backward: Callable[..., Any], setup: Callable[..., None],
                         in_plain_operators: Callable[..., Tensor],
                         other: tuple[Callable[..., bool], Callable[..., Tensor]]
                         | None = None) -> None:
    """Gives an operator its gradient, and the derivatives of forward mode and of
    torch.func.

    PyTorch has no way to register either: its register_autograd passes over tangents,
    which are zero then, and refuses torch.func.grad. So while a level of forward mode
    is open, or a transform that no vmap has taken, the operator is computed by others
    that have derivatives of every kind.

    Args:
        library, operator: the operator `operator` was defined in `library`.
        backward, setup: as for torch.library.register_autograd.
        in_plain_operators: computes the same by differentiable operators.
        other: when the operator has no gradient by itself, and what has.
    """
    name = operator._schema.name
    torch.library.register_autograd(name, backward, setup_context=setup, lib=library)
    with_gradient = _autograd_kernel(operator, backward, setup)

    def kernel(keyset, *args):
        if ((forward_ad._current_level >= 0 or _are_transforms_active())
                and args[0].dtype in _FLOATS):
            return in_plain_operators(*args)
        if other is not None and other[0](*args):
            return other[1](*args)
        return with_gradient(keyset, *args)

    library.impl(operator, kernel, "Autograd", with_keyset=True)


def _autograd_kernel(operator: Any, backward: Callable[..., Any],
                     setup: Callable[..., None]) -> Callable[..., Tensor]:
    """What register_autograd makes of the two."""
    from torch._library.autograd import Info, make_autograd_impl
    return make_autograd_impl(operator, Info(backward, setup))
