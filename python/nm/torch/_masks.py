"""Training with masks that are chosen anew: dense layers on the way to N:M ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from .._errors import Error
from .._pattern import Block, Pattern, check_fits, parse_pattern
from .._on_device import choose_mask
from ._experts import ExpertLinears
from ._linear import NMLinear
from ._optimizers import tell_of_replaced
from ._replace import keep_belongings, keep_hooks, replace_module
from ._rules import layers_and_experts, patterns_of
from ._unfold import unfolded
from ._wrappers import takes_wrapped

RULES = ("magnitude", "sr-ste")


class MaskedLinear(nn.Linear):
    """An ``nn.Linear`` that multiplies only the weights that its mask keeps.

    The parameter `weight` stays dense, so that weights can come back when the mask is
    chosen anew; the buffer `mask`, of booleans ``[out, in]``, obeys the pattern.

    Args:
        in_features, out_features, bias, device, dtype: as nn.Linear has them.
        pattern: N:M along the inputs, N **kept** of every M.
        block: ``(bk, bn)``, bk inputs by bn outputs.
        rule: what becomes of the weights that are masked. With ``"magnitude"`` they
            get no gradient and stay as they were. With ``"sr-ste"`` the gradient goes
            straight through to them, and `decay` times their value is added to it,
            which makes the mask settle (Zhou et al., Learning N:M Fine-grained
            Structured Sparse Neural Networks From Scratch, ICLR 2021).
        decay: that factor.

    Raises:
        PatternError: `pattern` is none, or a block of it is larger than the weight.
        Error: `rule` is none.
    """

    mask: Tensor

    def __init__(self, in_features: int, out_features: int, pattern: str | Pattern,
                 block: Block = None, bias: bool = True, *, rule: str = "sr-ste",
                 decay: float = 2e-4, device: Any = None,
                 dtype: torch.dtype | None = None):
        if rule not in RULES:
            raise Error(f"expected rule to be one of {', '.join(RULES)}, but got "
                        f"{rule!r}")
        super().__init__(in_features, out_features, bias, device, dtype)
        self.pattern = parse_pattern(pattern, block, 1)
        check_fits(self.pattern, (out_features, in_features))
        self.rule, self.decay = rule, float(decay)
        self.register_buffer("mask", torch.ones_like(self.weight, dtype=torch.bool))
        if not self.weight.is_meta:
            self.choose()

    @classmethod
    def from_dense(cls, linear: nn.Linear, pattern: str | Pattern, block: Block = None,
                   **options: Any) -> MaskedLinear:
        """The layer of a dense one, with its own parameters and a mask by magnitude."""
        layer = cls(linear.in_features, linear.out_features, pattern, block,
                    linear.bias is not None, device="meta", **options)
        layer.weight, layer.bias = linear.weight, linear.bias
        layer.mask = choose_mask(layer.weight, layer.pattern)
        return layer.train(linear.training)

    def choose(self) -> float:
        """Chooses the mask by the magnitude of the weights.

        Returns:
            the share of the mask that has changed, 0 to 1.
        """
        mask = choose_mask(self.weight, self.pattern)
        changed = torch.count_nonzero(mask != self.mask).item() / max(mask.numel(), 1)
        self.mask.copy_(mask)
        return changed

    def masked_weight(self) -> Tensor:
        """The weight with zeros where it is masked, with gradients by the rule."""
        if self.rule == "magnitude":
            return self.weight * self.mask
        return _StraightThrough.apply(self.weight, self.mask, self.decay)

    def forward(self, x: Tensor) -> Tensor:
        """``[..., in]`` to ``[..., out]``."""
        return nn.functional.linear(x, self.masked_weight(), self.bias)

    def to_sparse(self) -> NMLinear:
        """The layer with the kept weights alone; it has a parameter of its own."""
        with torch.no_grad():
            pruned = self.weight * self.mask
        dense = nn.Linear(self.in_features, self.out_features, bias=False,
                          device="meta")
        dense.weight = nn.Parameter(pruned, requires_grad=self.weight.requires_grad)
        dense.bias = self.bias
        return NMLinear.from_dense(dense, self.pattern).train(self.training)

    def extra_repr(self) -> str:
        return (f"{super().extra_repr()}, pattern='{self.pattern.describe()}', "
                f"rule={self.rule}")


class _StraightThrough(torch.autograd.Function):
    """``weight * mask``, whose gradient takes no notice of the mask but for the decay
    of the weights that it drops."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, mask: Tensor, decay: float) -> Tensor:
        ctx.save_for_backward(weight, mask)
        ctx.decay = decay
        return weight * mask

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        weight, mask = ctx.saved_tensors
        return grad + ctx.decay * (weight * ~mask), None, None


class MaskSchedule:
    """The masked layers of a model; mask_layers makes it.

    Attributes:
        layers: the MaskedLinear layers by name.
        steps: calls of `step` so far.
    """

    def __init__(self, model: nn.Module, layers: dict[str, MaskedLinear], every: int):
        self.model, self.layers, self.every = model, layers, every
        self.steps = 0

    def step(self) -> float | None:
        """To be called after each step of the optimizer; chooses the masks anew at
        every n-th.

        Returns:
            the mean share of the masks that has changed; None where they were kept.
        """
        self.steps += 1
        if self.every == 0 or self.steps % self.every:
            return None
        changes = [layer.choose() for layer in self.layers.values()]
        return sum(changes) / len(changes)

    def finish(self) -> list[str]:
        """Puts an NMLinear with the kept weights in place of each masked layer, and
        gives their names. Optimizers are to be made anew, with the new parameters."""
        for name, layer in self.layers.items():
            sparse = layer.to_sparse()
            keep_hooks(layer, sparse)
            for parameter in (layer.weight, layer.bias):
                if parameter is not None:
                    tell_of_replaced(parameter, name)
            replace_module(self.model, name, sparse)
        return list(self.layers)

    def state_dict(self) -> dict[str, int]:
        """The count of steps; masks are in the model's own state."""
        return {"steps": self.steps}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        self.steps = int(state["steps"])


@takes_wrapped
def mask_layers(model: nn.Module, rules: str | Pattern | Mapping[str, Any], *,
                rule: str = "sr-ste", every: int = 1, decay: float = 2e-4
                ) -> MaskSchedule:
    """Puts a MaskedLinear in place of each nn.Linear that has a pattern, in the model
    itself. The parameters stay the same objects, so that an optimizer that was made
    before goes on; each expert of a stacked weight gets one of its own.

    Args:
        model: any module.
        rules: a pattern, or patterns by globs of layer names, as for
            nm.torch.sparsify.
        rule, decay: as for MaskedLinear.
        every: steps after which masks are chosen anew; 0 never does it.

    Returns:
        the schedule, whose `step` follows the optimizer's and whose `finish` makes
        NMLinear layers.

    Raises:
        Error: no layer has a rule, or `every` is no count.
        PatternError: a block is larger than the weight of a layer.
    """
    if isinstance(every, bool) or not isinstance(every, int) or every < 0:
        raise Error(f"expected every to be a number of steps from 0 on, but got "
                    f"{every!r}")
    layers = {}
    with unfolded(model):
        fitting = layers_and_experts(model)
        chosen = patterns_of(model, fitting, rules)
        found = {name: pattern for name, (pattern, _) in chosen.items()
                 if pattern is not None}
        if not found:
            raise Error("expected rules that give a layer a pattern, but none does")
        for layer in fitting:
            if layer.name in found:
                check_fits(found[layer.name], layer.shape[-2:], layer.name)
        for name, pattern in found.items():
            former = model.get_submodule(name)
            if isinstance(former, ExpertLinears):
                masked = [MaskedLinear.from_dense(expert, pattern, rule=rule, decay=decay)
                          for expert in former]
                former.replace(name, masked)
                layers.update((f"{name}.{i}", each) for i, each in enumerate(masked))
                continue
            layers[name] = MaskedLinear.from_dense(former, pattern, rule=rule, decay=decay)
            keep_belongings(former, layers[name])
            replace_module(model, name, layers[name])
    return MaskSchedule(model, layers, every)
