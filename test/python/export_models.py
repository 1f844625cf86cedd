"""Models in the shapes that people have, for the tests of nm.torch.export."""

import torch
from torch import nn
from torch.nn import functional as F


class EncoderLayer(nn.Module):
    """A layer of BERT."""

    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.mixed = (
            nn.Linear(width, width) for _ in range(4))
        self.fc1, self.fc2 = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm1, self.norm2 = (nn.LayerNorm(width, eps=1e-12) for _ in range(2))

    def forward(self, x, mask):
        def heads(part):
            return part.unflatten(-1, (self.heads, -1)).transpose(1, 2)

        mixed = F.scaled_dot_product_attention(
            heads(self.query(x)), heads(self.key(x)), heads(self.value(x)), mask)
        x = self.norm1(x + self.mixed(mixed.transpose(1, 2).flatten(2)))
        return self.norm2(x + self.fc2(F.gelu(self.fc1(x))))


class Encoder(nn.Module):
    """Tokens, 0 for none, to an embedding of each sentence."""

    def __init__(self, width, heads, inner, layers, words=1000):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(512, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(EncoderLayer(width, heads, inner)
                                    for _ in range(layers))

    def forward(self, tokens):
        there = tokens != 0
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.norm(self.words(tokens) + self.positions(places))
        for layer in self.layers:
            x = layer(x, there[:, None, None, :])
        kept = there[..., None].to(x.dtype)
        return F.normalize((x * kept).sum(1) / kept.sum(1), dim=-1)


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
