"""Models in the shapes that people have, for the tests of nm.torch.export: the encoder
of examples/sentence-encoder, and a layer of Llama."""

import sys

import torch
from conftest import ROOT
from torch import nn
from torch.nn import functional as F

sys.path.append(str(ROOT / "examples" / "sentence-encoder"))
import encoder  # noqa: E402, F401


class Function(nn.Module):
    """A function of tensors as a model."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


class RMSNorm(nn.Module):
    """As Llama's code has it, in f32 throughout."""

    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * wide.to(x.dtype)


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


class DecoderBlock(nn.Module):
    """A layer of Llama: RMS norms, rotary embedding, causal attention with fewer
    heads of keys, and a gated feed-forward block."""

    def __init__(self, width, heads, kept, inner):
        super().__init__()
        self.size, self.base = width // heads, 10000.0
        self.q = nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(width, kept * self.size, bias=False)
                          for _ in range(2))
        self.o = nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, width, bias=False)
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)

    def forward(self, x):
        def heads(part):
            return part.unflatten(-1, (-1, self.size)).transpose(1, 2)

        steps = torch.arange(0, self.size, 2, dtype=torch.float32) / self.size
        places = torch.arange(x.shape[1], dtype=torch.float32)
        angles = torch.outer(places, self.base ** -steps)
        angles = torch.cat([angles, angles], -1)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        normed = self.norm1(x)
        mixed = F.scaled_dot_product_attention(
            rotate(heads(self.q(normed)), cos, sin),
            rotate(heads(self.k(normed)), cos, sin), heads(self.v(normed)),
            is_causal=True, enable_gqa=True)
        x = x + self.o(mixed.transpose(1, 2).flatten(2))
        normed = self.norm2(x)
        return x + self.down(F.silu(self.gate(normed)) * self.up(normed))
