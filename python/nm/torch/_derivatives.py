"""Derivatives of nm's operators, backward and forward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

# What carries tangents, of the types that have derivatives.
_FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def register_derivatives(library: torch.library.Library, operator: Any,
                         backward: Callable[..., Any], setup: Callable[..., None],
                         in_plain_operators: Callable[..., Tensor],
                         other: tuple[Callable[..., bool], Callable[..., Tensor]]
                         | None = None) -> None:
    """Gives an operator its gradient, and the derivatives of forward mode and of
    torch.func.

    torch.library.register_autograd has neither: it passes over tangents, which are zero
    then, and refuses torch.func.grad. So this kernel is written against the dispatcher,
    as that function's is: while a level of forward mode is open, or a transform that no
    vmap has taken, the operator is computed by others that have derivatives of every
    kind.

    Args:
        library, operator: the operator `operator` was defined in `library`.
        backward, setup: as for torch.library.register_autograd.
        in_plain_operators: computes the same by differentiable operators.
        other: when the operator has no gradient by itself, and what has.
    """
    are_transforms_active = torch._C._are_functorch_transforms_active
    needs_gradient, is_grad_enabled = torch._C._any_requires_grad, torch.is_grad_enabled
    below, behind = torch._C._AutoDispatchBelowAutograd, torch._C._after_autograd_keyset
    redispatch = operator.redispatch

    class Derivative(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *args):
            *args, keyset = args
            with below():
                result = redispatch(keyset & behind, *args)
                setup(ctx, args, result)
            return result

        @staticmethod
        def backward(ctx, grad):
            return *backward(ctx, grad), None

    def kernel(keyset, *args):
        if ((forward_ad._current_level >= 0 or are_transforms_active())
                and args[0].dtype in _FLOATS):
            return in_plain_operators(*args)
        if is_grad_enabled() and needs_gradient(*args):
            if other is not None and other[0](*args):
                return other[1](*args)
            return Derivative.apply(*args, keyset)
        with below():
            return redispatch(keyset & behind, *args)

    # The definition of the operator has put a kernel there. PyTorch before 2.12 replaces
    # one only where that is asked for.
    library.impl(operator, kernel, "Autograd", with_keyset=True, allow_override=True)
