"""Models that keep state: buffers and arguments that they write, and language models
with a cache of keys and values, beside PyTorch and transformers' generate."""

import copy
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from nm._library import folders  # noqa: E402
from torch import nn  # noqa: E402

EXAMPLE = ROOT / "examples" / "generate"
SMALL = dict(vocab_size=128, hidden_size=64, intermediate_size=96, num_hidden_layers=2,
             num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64)
MODELS = {"LlamaConfig": SMALL, "Qwen2Config": SMALL, "MistralConfig": SMALL,
          "GPT2Config": dict(vocab_size=128, n_embd=64, n_layer=2, n_head=4,
                             n_positions=64)}


class Memory(nn.Module):
    """Writes rows of a buffer, and counts calls."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("rows", torch.zeros(4, 3))
        self.register_buffer("calls", torch.zeros(1, dtype=torch.int64))

    def forward(self, x, places):
        self.rows.index_copy_(0, places, self.linear(x))
        self.calls += 1
        return self.rows.sum(0), self.rows.argmax(1), self.calls * 2


def test_buffers_that_a_model_writes(tmp_path):
    model = Memory().eval()
    x = torch.randn(2, 3)
    compiled = nm.torch.export(model, (x, torch.tensor([2, 0]))).compile(tmp_path / "m.so")
    assert compiled.states.keys() == {"rows", "calls"}
    for _ in range(3):
        x, places = torch.randn(2, 3), torch.randperm(4)[:2]
        with torch.no_grad():
            expected = model(x, places)
        for got, want in zip(compiled(x, places), expected):
            torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(compiled.states["rows"], model.rows)
    assert compiled.states["calls"].item() == 3
    with pytest.raises(nm.Error, match="updates arguments, not its buffers rows, calls"):
        nm.torch.join(nm.torch.export(model, (x, torch.tensor([2, 0]))))


class Writer(nn.Module):
    def forward(self, x, cache, places):
        cache.index_copy_(1, places, x)
        return cache * 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_arguments_that_a_model_writes(dtype, tmp_path):
    model, x = Writer(), torch.randn(2, 1, 3).to(dtype)
    cache, place = torch.zeros(2, 5, 3, dtype=dtype), torch.tensor([4])
    compiled = nm.torch.export(model, (x, cache.clone(), place)).compile(
        tmp_path / "w.so")
    ours, theirs = cache.clone(), cache.clone()
    assert torch.equal(compiled(x, ours, place), model(x, theirs, place))
    assert torch.equal(ours, theirs)
    with pytest.raises(nm.Error, match="in place"):
        compiled(x, torch.zeros(5, 2, 3, dtype=dtype).transpose(0, 1), place)


def test_argmax_and_slices_from_the_end(tmp_path):
    class Ends(nn.Module):
        def forward(self, x):
            return x[:, -1], x[:, -2:], x.argmax(-1), x.argmax()

    x = torch.randint(-2, 3, (3, 5, 7)).float()
    x[1, 2, 3] = float("nan")
    compiled = nm.torch.export(Ends(), x, dynamic_shapes=({1: torch.export.Dim("n", min=3)},)
                               ).compile(tmp_path / "e.so")
    for given in (x, x[:, :3], torch.randn(3, 9, 7)):
        for got, want in zip(compiled(given), Ends()(given)):
            torch.testing.assert_close(got, want, equal_nan=True)


def test_functions_of_one_module(tmp_path):
    model = nn.Linear(64, 32).eval()
    small, large = torch.randn(1, 64), torch.randn(40, 64)
    exported = [nm.torch.export(model, x, name=name)
                for x, name in ((small, "one"), (large, "many"))]
    joined = nm.torch.join(*exported)
    assert len(joined.resources) == 2
    functions = joined.compile(tmp_path / "both.so")
    for x, name in ((small, "one"), (large, "many")):
        torch.testing.assert_close(functions[name](x), model(x), rtol=1e-4, atol=1e-5)
    with pytest.raises(nm.Error, match="one twice"):
        nm.torch.join(exported[0], exported[0])
    with pytest.raises(nm.Error, match="one tensor called weight"):
        nm.torch.join(exported[0], nm.torch.export(nn.Linear(64, 32).eval(), small,
                                                   name="other"))


def language_model(config):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    made = getattr(transformers, config)(**MODELS[config])
    model = transformers.AutoModelForCausalLM.from_config(made).eval()
    nm.torch.sparsify(model, "2:4", prune=True, force=True)
    return model


def greedy(model, tokens, count):
    # No token ends a sequence.
    model.generation_config.eos_token_id = None
    with torch.no_grad():
        return model.generate(tokens, max_new_tokens=count, do_sample=False,
                              pad_token_id=0)


@pytest.mark.parametrize("config", MODELS)
def test_language_models(config, tmp_path):
    model = language_model(config)
    exported = nm.torch.export_decoder(model, max_length=24, batch=2)
    decoder = exported.compile(tmp_path / "model.so", opt_level=1)
    prompts = torch.randint(1, 128, (2, 5))
    assert torch.equal(decoder.generate(prompts, 12), greedy(model, prompts, 12))
    # One token is no prefill.
    assert torch.equal(decoder.generate(prompts[:, :1], 3),
                       greedy(model, prompts[:, :1], 3))
    with pytest.raises(nm.Error, match="fit in 24 places"):
        decoder.generate(prompts, 21)


def alone(model, prompts, lengths, count):
    """What follows each prompt where it is the only one."""
    return [greedy(model, prompt[None, :length], count)[0]
            for prompt, length in zip(prompts, lengths.tolist())]


@pytest.mark.parametrize("config", ["LlamaConfig", "GPT2Config"])
def test_prompts_of_different_lengths(config, tmp_path):
    model = language_model(config)
    exported = nm.torch.export_decoder(model, max_length=24, batch=3, lengths=True)
    decoder = exported.compile(tmp_path / "model.so", opt_level=1)
    assert "lengths(" in exported.text.split("@decode")[1]
    prompts = torch.randint(1, 128, (3, 7))
    for lengths in (torch.tensor([7, 1, 4]), torch.tensor([2, 6, 5], dtype=torch.int32)):
        # Whatever the padding is.
        prompts[torch.arange(7) >= lengths[:, None]] = int(torch.randint(0, 128, ()))
        got = decoder.generate(prompts, 12, lengths)
        for row, length, want in zip(got, lengths, alone(model, prompts, lengths, 12)):
            assert torch.equal(row[:length + 12], want) and not row[length + 12:].any()
    # All of one length, and of one token.
    assert torch.equal(decoder.generate(prompts, 5), greedy(model, prompts, 5))
    assert torch.equal(decoder.generate(prompts[:, :1], 5, torch.ones(3)),
                       greedy(model, prompts[:, :1], 5))
    assert torch.equal(decoder.generate(prompts, 0, lengths)[0, :2], prompts[0, :2])
    for wrong in (torch.tensor([0, 1, 2]), torch.tensor([8, 1, 2]), torch.tensor([1, 2])):
        with pytest.raises(nm.Error, match="length from 1 to 7 for each of 3 prompts"):
            decoder.generate(prompts, 2, wrong)
    plain = nm.torch.export_decoder(model, max_length=8, batch=3)
    with pytest.raises(nm.Error, match="lengths=True"):
        plain.compile(tmp_path / "plain.so", opt_level=1).generate(prompts, 1, lengths)


def test_different_lengths_on_the_simulator(tmp_path):
    model = language_model("LlamaConfig")
    decoder = nm.torch.export_decoder(model, max_length=8, batch=2, lengths=True).compile(
        tmp_path / "model.so", target="sim:sm_90a")
    prompts, lengths = torch.randint(1, 128, (2, 4)), torch.tensor([4, 2])
    got = decoder.generate(prompts, 3, lengths)
    for row, length, want in zip(got, lengths, alone(model, prompts, lengths, 3)):
        assert torch.equal(row[:length + 3], want)


def test_a_decoder_on_the_simulator(tmp_path):
    model = language_model("LlamaConfig")
    decoder = nm.torch.export_decoder(model, max_length=8).compile(
        tmp_path / "model.so", target="sim:sm_80")
    prompt = torch.randint(1, 128, (1, 3))
    assert torch.equal(decoder.generate(prompt, 3), greedy(model, prompt, 3))


class RotaryStep(nn.Module):
    """Keys and values of a step to their caches, as transformers' models put them."""

    def __init__(self, width, heads, groups, head):
        super().__init__()
        self.parts = [heads * head, groups * head, groups * head]
        self.head, self.qkv = head, nn.Linear(width, sum(self.parts))

    def rotate(self, x, cos, sin):
        a, b = x[..., :x.shape[-1] // 2], x[..., x.shape[-1] // 2:]
        return x * cos + torch.cat((-b, a), -1) * sin

    def forward(self, x, cos, sin, places, keys, values):
        query, key, value = (y.unflatten(-1, (-1, self.head)).transpose(1, 2)
                             for y in self.qkv(x).split(self.parts, -1))
        query, key = self.rotate(query, cos, sin), self.rotate(key, cos, sin)
        keys.index_copy_(2, places, key)
        values.index_copy_(2, places, value)
        return nn.functional.scaled_dot_product_attention(query, keys, values,
                                                          enable_gqa=True)


def kernels_of(compiled, text):
    return sum(text in str(line) for line in compiled.module.diagnostics)


# What a step's rows are, whether their number is known, and so many heads and elements
# of each.
STEPS = {"one": (1, 1, False, 4, 2, 8), "few": (3, 1, False, 3, 1, 10),
         "prefill": (2, 5, False, 6, 3, 14), "dynamic": (3, 1, True, 4, 2, 10)}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("step", STEPS)
def test_rotary_embedding_into_caches(dtype, step, tmp_path):
    """What stands between a step's product and its attention is one kernel, which
    leaves the rest of the caches as it was."""
    batch, tokens, dynamic, heads, groups, head = STEPS[step]
    model = RotaryStep(24, heads, groups, head).eval().to(dtype)

    def operands(batch):
        shapes = [(batch, tokens, 24), (tokens, head), (tokens, head)]
        return [*(torch.randn(shape).to(dtype) for shape in shapes),
                torch.randperm(7)[:tokens],
                *(torch.randn(batch, groups, 7, head).to(dtype) for _ in range(2))]

    sizes = torch.export.Dim("batch", min=2) if dynamic else None
    shapes = tuple({0: sizes} if i in (0, 4, 5) else None for i in range(6))
    compiled = nm.torch.export(model, tuple(operands(batch)),
                               dynamic_shapes=shapes if dynamic else None).compile(
        tmp_path / "m.so", target="sim:sm_90a", opt_level=1)
    tolerance = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}[dtype]
    for size in (batch, batch + 2) if dynamic else (batch,):
        given = operands(size)
        exact = [x.double() if x.is_floating_point() else x.clone() for x in given]
        with torch.no_grad():
            expected = copy.deepcopy(model).double()(*exact)
        got = compiled(*given)
        for a, b in [(got, expected), *zip(given[4:], exact[4:])]:
            assert (a.double() - b).norm() / b.norm() < tolerance
    assert kernels_of(compiled, "is a part of the loop that reads it") >= 1
    # The embedding of queries and the copies of keys and values.
    assert kernels_of(compiled, "is one kernel with one before it") >= 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("batch", [1, 2])
def test_steps_by_a_graph(batch, tmp_path, monkeypatch):
    """On a device the steps behind the first are replays of a CUDA graph."""
    model = language_model("LlamaConfig").half()
    decoder = nm.torch.export_decoder(model, max_length=40, batch=batch).compile(
        tmp_path / "model.so", target="cuda")
    for length in (1, 5):
        prompts = torch.randint(1, 128, (batch, length), device="cuda")
        replayed = [decoder.generate(prompts, count) for count in (30, 30, 3)]
        with monkeypatch.context() as patch:
            patch.setattr("nm.torch._export._decoder._STEPS_OF_GRAPH", 100)
            called = decoder.generate(prompts, 30)
        assert torch.equal(replayed[0], called) and torch.equal(replayed[1], called)
        assert torch.equal(replayed[2], called[:, :length + 3])


def by_nm_run(path, prompt, count, folder):
    """The tokens that follow, by a run of the tool for each step: it writes the cache,
    which the functions update, behind the results."""
    names = ["following", "logits", *(f"cache{i}" for i in range(4))]
    files = [folder / f"{name}.npy" for name in names]
    module = nm.load(path)
    assert module["decode"].temporary_bytes > 0
    for file, type_ in zip(files[2:], module["decode"].args[2:]):
        np.save(file, np.zeros(type_.shape, np.float32))
    tokens, begin, found = np.array([prompt]), 0, []
    while len(found) < count:
        np.save(folder / "tokens.npy", tokens)
        np.save(folder / "positions.npy", np.arange(begin, begin + tokens.shape[1]))
        given = [folder / "tokens.npy", folder / "positions.npy", *files[2:]]
        tool = Path(folders()[0]).parent / "bin" / "nm-run"
        subprocess.run([str(tool), str(path),
                        f"--function={'decode' if found else 'prefill'}",
                        *(f"--input={file}" for file in given),
                        *(f"--output={file}" for file in files)], check=True)
        begin += tokens.shape[1]
        tokens = np.load(files[0])[:, None]
        found.append(int(tokens[0, 0]))
    return found


def test_without_pytorch(tmp_path):
    """nm-run and the examples of C++ and Python say what generate says."""
    model = language_model("LlamaConfig")
    path = tmp_path / "model.so"
    nm.torch.export_decoder(model, max_length=24).compile(path, opt_level=1)
    prompt = torch.randint(1, 128, (1, 5))
    expected = greedy(model, prompt, 8)[0, 5:].tolist()
    arguments = [str(path), "8", *map(str, prompt[0].tolist())]

    def printed(command):
        done = subprocess.run([*command, *arguments], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return list(map(int, done.stdout.split()))

    assert printed([sys.executable, str(EXAMPLE / "generate.py")]) == expected
    assert by_nm_run(path, prompt[0].tolist(), 8, tmp_path) == expected
    compiler = shutil.which("c++") or shutil.which("clang++-22")
    if compiler is None:
        pytest.skip("no C++ compiler")
    program, library = tmp_path / "generate", folders()[0]
    subprocess.run([compiler, "-std=c++17", str(EXAMPLE / "generate.cpp"),
                    f"-I{ROOT / 'include'}", f"-L{library}", "-lnm_runtime",
                    f"-Wl,-rpath,{library}", "-o", str(program)], check=True)
    assert printed([str(program)]) == expected


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_calls_by_graphs(tmp_path):
    """Calls of an exported model are replayed where its option asks for it."""
    model = nn.Sequential(nn.Linear(64, 96), nn.GELU(), nn.LayerNorm(96)).cuda().eval()
    x = torch.randn(32, 64, device="cuda")
    exported = nm.torch.export(model, x)
    compiled = exported.compile(tmp_path / "m.so", target="cuda", graphs=2)
    assert compiled.module.only_function().graphs == 2
    for _ in range(5):
        x.normal_()
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-5)
