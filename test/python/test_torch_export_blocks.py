"""Blocks of the models that people export, narrow but of their own shapes, compiled to
shared objects for GPUs: attention makes products whose operands are views. Models that write
out what libraries have as one call are run, beside PyTorch in float64."""

import copy

import nm
import pytest

torch = pytest.importorskip("torch")
import nm.torch  # noqa: E402
import written_models  # noqa: E402
from conftest import relative_error  # noqa: E402
from export_models import DecoderBlock  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402


class SelfAttention(nn.Module):
    """Of a joined projection or of three; `causal`, as GPT-2 has it."""

    def __init__(self, width, heads, joined=False, causal=False, key_bias=True):
        super().__init__()
        self.heads, self.joined, self.causal = heads, joined, causal
        if joined:
            self.qkv = nn.Linear(width, 3 * width)
        else:
            self.q, self.v = nn.Linear(width, width), nn.Linear(width, width)
            self.k = nn.Linear(width, width, bias=key_bias)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, rows, width = x.shape
        if self.joined:
            parts = self.qkv(x).view(batch, rows, 3, self.heads, -1)
            q, k, v = parts.permute(2, 0, 3, 1, 4)
        else:
            q, k, v = (layer(x).view(batch, rows, self.heads, -1).transpose(1, 2)
                       for layer in (self.q, self.k, self.v))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(mixed.transpose(1, 2).reshape(batch, rows, width))


class Block(nn.Module):
    """Norms before attention and the feed-forward block, or after, as BERT has them."""

    def __init__(self, width, attention, inner, after=False, gelu="none"):
        super().__init__()
        self.attention, self.after, self.gelu = attention, after, gelu
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def feed_forward(self, x):
        return self.down(F.gelu(self.up(x), approximate=self.gelu))

    def forward(self, x):
        if self.after:
            x = self.norm1(x + self.attention(x))
            return self.norm2(x + self.feed_forward(x))
        x = x + self.attention(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))


class QwenBlock(DecoderBlock):
    """Llama's with biases of the projections."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        for name in "qkv":
            layer = getattr(self, name)
            setattr(self, name, nn.Linear(layer.in_features, layer.out_features))


def encoder_block(width, heads, **options):
    norm = {name: options.pop(name) for name in ("after", "gelu") if name in options}
    return Block(width, SelfAttention(width, heads, **options), 4 * width, **norm)


#: A block, and the shape of what it takes.
MODELS = {
    "minilm": (lambda: encoder_block(96, 12, after=True), (3, 12, 96)),
    "bert": (lambda: encoder_block(128, 2, after=True), (2, 24, 128)),
    "vit": (lambda: encoder_block(128, 2, joined=True), (8, 197, 128)),
    "llama": (lambda: DecoderBlock(256, 8, 2, 896), (1, 64, 256)),
    "llama, a token": (lambda: DecoderBlock(256, 8, 2, 896), (16, 1, 256)),
    "gpt2": (lambda: encoder_block(96, 3, joined=True, causal=True, gelu="tanh"),
             (2, 33, 96)),
    "whisper": (lambda: encoder_block(128, 2, key_bias=False), (2, 150, 128)),
    "qwen": (lambda: QwenBlock(224, 7, 1, 1216), (2, 17, 224)),
}
DTYPES = [torch.float32, torch.float16, torch.bfloat16]
#: In turn, so that each model has one, and each type and chip several.
PATTERNS = [None, "2:4", "8:32, block = 1x32", "1:2, block = 16x16"]


def cases():
    """Each model in each type for one of the chips, in turn, with a batch that is
    known or not."""
    for turn, (name, dtype) in enumerate(
            (name, dtype) for name in MODELS for dtype in DTYPES):
        yield pytest.param(name, dtype, ("sm_90a", "sm_80")[turn % 2],
                           PATTERNS[turn % len(PATTERNS)], turn // 2 % 2 == 1,
                           id=f"{name}-{dtype}".replace("torch.", ""))


@pytest.mark.parametrize("name,dtype,chip,pattern,dynamic", list(cases()))
def test_block_compiles(name, dtype, chip, pattern, dynamic, tmp_path):
    torch.manual_seed(0)
    make, shape = MODELS[name]
    model = make().to(dtype).eval()
    if pattern:
        nm.torch.sparsify(model, pattern, prune=True, force=True)
    x = torch.randn(*shape).to(dtype)
    dynamic = dynamic and shape[0] > 1
    nm.torch.export(model, x, dynamic_batch=dynamic).compile(
        tmp_path / "block.so", target=f"cuda:{chip}")


TOLERANCES = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}
RUNS = [(torch.float32, "cpu", None), (torch.float16, "cpu", "2:4"),
        (torch.float16, "sim:sm_90a", "8:32, block = 1x32"), (torch.bfloat16, "sim:sm_80", "2:4")]


@pytest.mark.parametrize("dtype,target,pattern", RUNS, ids=str)
@pytest.mark.parametrize("name", written_models.MODELS)
def test_written_models(name, dtype, target, pattern):
    """With a batch that is known on the simulated sm_90a, and else one that is not. An error
    is at most twice PyTorch's own where that is more than the tolerance."""
    torch.manual_seed(0)
    make, shape = written_models.MODELS[name]
    model = make().to(dtype).eval()
    if pattern:
        nm.torch.sparsify(model, pattern, prune=True, force=True)
    dense = copy.deepcopy(model)
    if pattern:
        nm.torch.densify(dense)
    expected = copy.deepcopy(dense).double()
    dynamic = target != "sim:sm_90a"
    compiled = nm.torch.export(model, torch.randn(*shape).to(dtype), dynamic_batch=dynamic
                               ).compile(target=target, opt_level=1)
    for batch in (shape[0], 1, 4) if dynamic else shape[:1]:
        x = torch.randn(batch, *shape[1:]).to(dtype)
        with torch.no_grad():
            got, by_pytorch, want = compiled(x), dense(x), expected(x.double())
        assert got.dtype == by_pytorch.dtype and got.shape == want.shape
        own = relative_error(by_pytorch.double().numpy(), want.numpy())
        error = relative_error(got.double().numpy(), want.numpy())
        assert error < max(TOLERANCES[dtype], 2 * own), (error, own)
