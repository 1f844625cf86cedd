"""Models that write out what libraries have as one call, narrow: windows that are shifted,
positions relative to each other, scans, weights of four bits, paths."""

import math

import torch
from torch import nn
from torch.nn import functional as F

WIDTH, HEADS = 64, 4
SIZE = WIDTH // HEADS


class ShiftedWindows(nn.Module):
    """Attention in windows of 4 x 4, shifted by 2, as Swin's, of images 8 x 8."""

    def __init__(self):
        super().__init__()
        self.norm, self.qkv = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.table = nn.Parameter(torch.randn(49, HEADS))
        places = torch.stack(torch.meshgrid(
            torch.arange(4), torch.arange(4), indexing="ij")).flatten(1)
        apart = (places[:, :, None] - places[:, None]).permute(1, 2, 0) + 3
        self.register_buffer("apart", apart[..., 0] * 7 + apart[..., 1])
        bands = torch.tensor([0] * 4 + [1] * 2 + [2] * 2)
        regions = self.windows((bands[:, None] * 3 + bands)[None, :, :, None]).squeeze(-1)
        differ = regions[:, None] != regions[:, :, None]
        self.register_buffer("mask", torch.where(differ, -100., 0.))

    def windows(self, x):
        batch, _, _, width = x.shape
        x = x.view(batch, 2, 4, 2, 4, width).permute(0, 1, 3, 2, 4, 5)
        return x.reshape(-1, 16, width)

    def forward(self, x):
        batch = x.shape[0]
        rows = self.windows(torch.roll(self.norm(x), (-2, -2), (1, 2)))
        q, k, v = self.qkv(rows).reshape(-1, 16, 3, HEADS, SIZE).permute(2, 0, 3, 1, 4)
        scores = (q * SIZE ** -0.5) @ k.transpose(-2, -1)
        scores = scores + self.table[self.apart.view(-1)].view(16, 16, HEADS).permute(2, 0, 1)
        scores = scores.view(batch, 4, HEADS, 16, 16) + self.mask[None, :, None].to(x.dtype)
        mixed = scores.view(-1, HEADS, 16, 16).softmax(-1) @ v
        rows = self.out(mixed.transpose(1, 2).reshape(-1, 16, WIDTH))
        rows = rows.view(batch, 2, 2, 4, 4, WIDTH).permute(0, 1, 3, 2, 4, 5)
        return x + torch.roll(rows.reshape(batch, 8, 8, WIDTH), (2, 2), (1, 2))


class Scan(nn.Module):
    """A selective state space, as Mamba's, a step after the other."""

    def __init__(self, states=16, rank=8):
        super().__init__()
        inner = 2 * WIDTH
        self.sizes = rank, states, states
        self.into, self.out = nn.Linear(WIDTH, 2 * inner), nn.Linear(inner, WIDTH)
        self.around = nn.Conv1d(inner, inner, 4, groups=inner, padding=3)
        self.parts, self.step = nn.Linear(inner, sum(self.sizes)), nn.Linear(rank, inner)
        self.decay = nn.Parameter(torch.arange(1., states + 1).log().repeat(inner, 1))
        self.skip = nn.Parameter(torch.ones(inner))

    def forward(self, x):
        x, gate = self.into(x).chunk(2, -1)
        x = F.silu(self.around(x.transpose(1, 2))[..., :x.shape[1]]).transpose(1, 2)
        step, enter, leave = self.parts(x).split(self.sizes, -1)
        step, decay = F.softplus(self.step(step)), -torch.exp(self.decay)
        state, found = 0, []
        for t in range(x.shape[1]):
            now = step[:, t, :, None]
            state = torch.exp(now * decay) * state + now * enter[:, t, None] * x[:, t, :, None]
            found.append((state * leave[:, t, None]).sum(-1))
        return self.out((torch.stack(found, 1) + x * self.skip) * F.silu(gate))


class RelativeAttention(nn.Module):
    """Transformer-XL's: scores of positions are shifted by padding and slicing."""

    def __init__(self, length=9):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.places = nn.Parameter(torch.randn(2 * length - 1, HEADS, SIZE) * 0.1)
        self.of_keys, self.of_places = (nn.Parameter(torch.randn(HEADS, SIZE)) for _ in "uv")

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, SIZE).unbind(2)
        by_key = torch.einsum("bihd,bjhd->bhij", q + self.of_keys, k)
        by_place = torch.einsum("bihd,jhd->bhij", q + self.of_places, self.places)
        by_place = F.pad(by_place, (1, 0)).view(batch, HEADS, -1, length)[:, :, 1:]
        by_place = by_place.view(batch, HEADS, length, -1)[..., :length]
        weights = ((by_key + by_place) / math.sqrt(SIZE)).softmax(-1)
        return torch.einsum("bhij,bjhd->bihd", weights, v).flatten(2)


class CappedBlock(nn.Module):
    """As Gemma 2's: scores and logits that a tanh bounds, and norms by 1 + weight."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(WIDTH) * 0.1)
        self.q, self.kv = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.gate, self.up = nn.Linear(WIDTH, 128), nn.Linear(WIDTH, 128)
        self.down = nn.Linear(128, WIDTH)

    def norm(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return (wide * (1 + self.scale.float())).type_as(x)

    def forward(self, x):
        def heads(y):
            return y.unflatten(-1, (-1, SIZE)).transpose(1, 2)

        y, length = self.norm(x), x.shape[1]
        k, v = (each.repeat_interleave(2, 1) for each in heads(self.kv(y)).split(2, 1))
        scores = torch.tanh(heads(self.q(y)) @ k.mT * SIZE ** -0.5 / 50) * 50
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, torch.finfo(x.dtype).min)
        x = x + (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)
        y = self.norm(x)
        x = x + self.down(F.gelu(self.gate(y), approximate="tanh") * self.up(y))
        return torch.tanh(x / 30) * 30


class FourBits(nn.Module):
    """A weight whose numbers of four bits lie two in a byte, and eight in an i32."""

    def __init__(self):
        super().__init__()
        self.register_buffer("bytes", torch.randint(0, 256, (WIDTH, WIDTH // 2)).byte())
        self.register_buffer("words", torch.randint(-2 ** 31, 2 ** 31, (WIDTH // 8, WIDTH)).int())
        self.scales = nn.Parameter(torch.rand(WIDTH, 4) * 0.1)
        self.after = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        weight = torch.stack([self.bytes & 15, self.bytes >> 4], -1).flatten(-2).to(x.dtype) - 8
        weight = (weight.view(WIDTH, 4, 16) * self.scales.unsqueeze(-1)).view(WIDTH, WIDTH)
        shifts = torch.arange(0, 32, 4, dtype=torch.int32)[None, :, None]
        other = ((self.words.unsqueeze(1) >> shifts) & 15).reshape(WIDTH, WIDTH)
        return self.after(F.linear(x, weight)) + x @ (other.to(x.dtype) - 8) * 0.01


class Path(nn.Module):
    """The sum over all paths of a conditional random field, and the length of the best."""

    def __init__(self, tags=7):
        super().__init__()
        self.scores, self.next = nn.Linear(WIDTH, tags), nn.Parameter(torch.randn(tags, tags))

    def forward(self, x):
        scores = self.scores(x)
        total = best = scores[:, 0]
        for t in range(1, x.shape[1]):
            total = torch.logsumexp(total.unsqueeze(2) + self.next + scores[:, t, None], 1)
            best = (best.unsqueeze(2) + self.next).max(1).values + scores[:, t]
        return torch.stack([torch.logsumexp(total, -1), best.max(-1).values], -1)


class Modulated(nn.Module):
    """A block of a diffusion transformer, whose last token is its condition."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH, elementwise_affine=False, eps=1e-6)
        self.change, self.qkv = nn.Linear(WIDTH, 6 * WIDTH), nn.Linear(WIDTH, 3 * WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 256), nn.Linear(256, WIDTH)
        self.q_norm, self.k_norm = nn.RMSNorm(SIZE, eps=1e-6), nn.RMSNorm(SIZE, eps=1e-6)

    def forward(self, x):
        x, condition = x[:, :-1], x[:, -1]
        change = self.change(F.silu(condition)).unsqueeze(1).chunk(6, -1)
        y = self.norm(x) * (1 + change[1]) + change[0]
        q, k, v = self.qkv(y).unflatten(-1, (3, HEADS, SIZE)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(self.q_norm(q), self.k_norm(k), v)
        x = x + change[2] * mixed.transpose(1, 2).flatten(2)
        y = self.norm(x) * (1 + change[4]) + change[3]
        return x + change[5] * self.down(F.gelu(self.up(y), approximate="tanh"))


#: A model, and the shape of what it takes.
MODELS = {"shifted windows": (ShiftedWindows, (2, 8, 8, WIDTH)), "scan": (Scan, (2, 6, WIDTH)),
          "relative attention": (RelativeAttention, (2, 9, WIDTH)),
          "capped": (CappedBlock, (2, 11, WIDTH)), "four bits": (FourBits, (2, 5, WIDTH)),
          "path": (Path, (3, 6, WIDTH)), "modulated": (Modulated, (2, 10, WIDTH))}
