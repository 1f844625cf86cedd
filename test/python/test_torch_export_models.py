"""Models that become one shared object, compared with PyTorch, here and in nm-run."""

import importlib.util
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, relative_error

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from export_models import DecoderBlock, encoder  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

TOLERANCES = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}


def error_of(compiled, model, *args):
    with torch.no_grad():
        return relative_error(compiled(*args).float().numpy(),
                              model(*args).double().numpy())


def tokens(sentences, length, words=1000):
    generator = torch.Generator().manual_seed(1)
    drawn = torch.randint(1, words, (sentences, length), generator=generator)
    for i in range(sentences):
        drawn[i, length - i * 2:] = 0
    return drawn


def minilm():
    """all-MiniLM-L6-v2, with its own weights where a package has them."""
    folder = encoder.model_folder()
    if folder is not None:
        return encoder.load_encoder(nm.io.open_weights(folder / "model.safetensors"))
    torch.manual_seed(0)
    return encoder.Encoder(1000).eval()


def test_minilm(tmp_path):
    model = minilm()
    x = tokens(4, 12)
    compiled = nm.torch.export(model, x, dynamic_batch=True).compile(
        tmp_path / "minilm.so", opt_level=1)
    assert error_of(compiled, model, x) < 1e-5
    assert error_of(compiled, model, x[1:2]) < 1e-5
    assert error_of(compiled, model, torch.cat([x, x, x[:1]])) < 1e-5


@pytest.mark.parametrize("pattern", [None, "2:4"])
def test_bert_large(pattern):
    torch.manual_seed(0)
    model = encoder.Encoder(50, 1024, 16, 4096, 1).eval()
    if pattern:
        nm.torch.sparsify(model, pattern, prune=True, force=True)
    exported = nm.torch.export(model, tokens(2, 9, 50))
    assert exported.text.count("#nm.encoding<2:4") == (12 if pattern else 0)
    compiled = exported.compile(opt_level=1)
    # Queries, keys and values are one product.
    assert len(compiled.remarks) == 4
    assert error_of(compiled, model, tokens(2, 9, 50)) < 1e-5


@pytest.mark.parametrize("dtype,pattern", [
    (torch.float32, None), (torch.float32, "2:4"), (torch.float16, "2:4"),
    (torch.bfloat16, None)], ids=str)
def test_llama(dtype, pattern):
    torch.manual_seed(0)
    model = DecoderBlock(256, 8, 2, 704).to(dtype).eval()
    if pattern:
        for name, layer in list(model.named_children()):
            if isinstance(layer, nn.Linear):
                setattr(model, name, nm.torch.NMLinear.from_dense(
                    layer, pattern, prune_weight=True))
    x = torch.randn(2, 10, 256).to(dtype)
    compiled = nm.torch.export(model.eval(), x, dynamic_batch=True).compile(opt_level=1)
    for batch in (x, x[:1], torch.cat([x, 2 * x])):
        assert error_of(compiled, model, batch) < TOLERANCES[dtype]


def nm_tool(name):
    folder = Path(os.environ.get("NM_LIBRARY_DIR") or ROOT / "build" / "lib")
    tool = folder.parent / "bin" / name
    if not tool.exists():
        pytest.skip(f"no {name} beside {folder}")
    return tool


def test_the_files_and_the_tools(tmp_path):
    """nm-compile and nm-run, without Python."""
    torch.manual_seed(0)
    model = encoder.Encoder(50, 64, 4, 128, 2).eval()
    nm.torch.sparsify(model, "2:4", prune=True, force=True)
    x = tokens(3, 8, 50)
    folder = nm.torch.export(model, x).save(tmp_path / "model")
    np.save(tmp_path / "x.npy", x.numpy())
    for line in ([nm_tool("nm-compile"), "model.mlir", "--resources=model.safetensors",
                  "--opt-level=1", "-o", "model.so"],
                 [nm_tool("nm-run"), "model.so", "--input", tmp_path / "x.npy",
                  "--output", tmp_path / "y.npy"]):
        done = subprocess.run(list(map(str, line)), cwd=folder, text=True,
                              capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    with torch.no_grad():
        assert relative_error(np.load(tmp_path / "y.npy"), model(x).numpy()) < 1e-5


@pytest.mark.parametrize("target", ["cuda:sm_90a", "sim:sm_90a"])
def test_targets(target, tmp_path):
    torch.manual_seed(0)
    model = DecoderBlock(64, 4, 2, 96).eval()
    x = torch.randn(2, 6, 64)
    exported = nm.torch.export(model, x, dynamic_batch=True)
    if target.startswith("sim"):
        compiled = exported.compile(target=target, opt_level=1)
        assert error_of(compiled, model, x) < 1e-5
    else:
        exported.compile(tmp_path / "model.so", target=target, opt_level=1)


class Shared(nn.Module):
    """Attention of projections that share what they multiply, with biases or without,
    and a gate whose other half is one of another product of the same."""

    def __init__(self, bias):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(64, n, bias=bias) for n in (64, 32, 32))
        self.gate, self.up = nn.Linear(64, 48, bias=bias), nn.Linear(64, 48, bias=bias)

    def forward(self, x):
        q, k, v = (part(x).unflatten(-1, (-1, 16)).transpose(1, 2) for part in self.parts)
        y = functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
        y = x + y.transpose(1, 2).flatten(2)
        return functional.silu(self.gate(y)) * self.up(y)


@pytest.mark.parametrize("target", ["cpu", "sim:sm_80", "sim:sm_90a"])
@pytest.mark.parametrize("dtype,bias,pattern,shape", [
    (torch.float32, True, "2:4", (1, 2)), (torch.float16, False, "2:4", (1, 1)),
    (torch.bfloat16, True, "8:32, block = 1x32", (1, 19)), (torch.float16, True, None, (3, 4)),
], ids=str)
def test_products_that_share_a(target, dtype, bias, pattern, shape):
    torch.manual_seed(int(os.environ.get("NM_TEST_SEED", 0)))
    model = Shared(bias).to(dtype).eval()
    if pattern:
        nm.torch.sparsify(model, pattern, prune=True, force=True)
    x = torch.randn(*shape, 64).to(dtype)
    compiled = nm.torch.export(model, x).compile(target=target, opt_level=1)
    # Gate and up, too, where blocks of few rows combine both. On an A100, so small
    # a product of f32 is estimated to take no longer by simt, which pairs nothing.
    is_by_simt = dtype == torch.float32 and target == "sim:sm_80"
    is_paired = pattern == "2:4" and target != "cpu" and not is_by_simt
    assert len(compiled.remarks) == (2 if is_paired else 3)
    assert error_of(compiled, model, x) < TOLERANCES[dtype]


@pytest.mark.parametrize("name", ["BertModel", "LlamaForCausalLM"])
def test_transformers(name):
    if importlib.util.find_spec("transformers") is None:
        pytest.skip("the package transformers is not installed")
    import transformers
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4,
             "intermediate_size": 64, "vocab_size": 100}
    config = (transformers.BertConfig(**sizes) if name == "BertModel" else
              transformers.LlamaConfig(num_key_value_heads=2, use_cache=False, **sizes))
    model = getattr(transformers, name)(config).eval()
    x = tokens(3, 8, 100).clamp(min=1)
    args = (x, torch.ones_like(x)) if name == "BertModel" else (x,)
    compiled = nm.torch.export(model, args, dynamic_batch=True).compile(opt_level=1)
    with torch.no_grad():
        got, expected = compiled(*args), model(*args)
    assert type(got) is type(expected)
    assert relative_error(got[0].numpy(), expected[0].double().numpy()) < 1e-5


# What is refused

class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(3, dtype=torch.bool))

    def forward(self, x):
        self.seen.logical_or_(x > 0)
        return x + self.seen


class Searcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 3), nn.Fold((2, 2), (1, 1)))

    def forward(self, x):
        return torch.cummax(self.inner[0](x), 0)[0] + torch.logcumsumexp(x, -1)


class Longer(nn.Module):
    def forward(self, x):
        return torch.cat([x, x[:1]])


class Chooser(nn.Module):
    def forward(self, x):
        return x + 1 if x.sum() > 0 else x


class DynamicCache:
    """What no one has told torch the parts of."""


class Cached(nn.Module):
    def forward(self, x, cache=None):
        return x if cache else (x, DynamicCache())


@pytest.mark.parametrize("model,example,options,text", [
    (Cached(), torch.randn(3), {},
     "but got a result of .*DynamicCache; a cache .* is left out by use_cache=False"),
    (Cached(), (torch.randn(3), DynamicCache()), {}, "but got an argument of .*DynamicCache"),
    (Chooser(), torch.randn(3), {}, r"not depend on elements .*test_torch_export_models.py.*, in "
     r"forward: return x \+ 1 if x.sum\(\) > 0 else x"),
    (nn.Dropout(0.5), torch.randn(3), {}, "native_dropout.*call its eval"),
    (nn.BatchNorm1d(3), torch.randn(2, 3), {}, "call its eval"),
    (Writer(), torch.randn(3), {}, "argument seen: expected numbers"),
    (Searcher(), torch.randn(2, 3), {}, r"aten.cummax.default in .*test_torch_export_mod"),
    (Searcher(), torch.randn(2, 3), {}, "aten.logcumsumexp.default"),
    (Longer(), torch.randn(2, 3), {"dynamic_batch": True}, r"but got \[s.* \+ 1, 3\]"),
    (Longer(), torch.randn(1, 3), {"dynamic_batch": True}, "at least 2"),
    (nn.Tanh(), torch.zeros(3, dtype=torch.int16), {}, "but got int16"),
    (nn.Tanh(), torch.randn(2), {"dynamic_batch": True, "dynamic_shapes": {}}, "both"),
    (nn.Bilinear(2, 2, 2), torch.randn(2), {"kwargs": torch.randn(2)}, "arguments are a tuple"),
], ids=str)
def test_refusals(model, example, options, text):
    with pytest.raises(nm.Error, match=text):
        nm.torch.export(model, example, **options)


def test_calls_that_do_not_fit():
    compiled = nm.torch.export(nn.Linear(4, 3).eval(), torch.randn(2, 4)).compile(
        opt_level=1)
    for args, text in ([(torch.randn(2, 5),), "tensor<2x4xf32>"],
                       [(torch.randn(2, 4).half(),), "f32"],
                       [(torch.randn(2, 4), 1), "expected arguments"]):
        with pytest.raises(nm.Error, match=text):
            compiled(*args)
