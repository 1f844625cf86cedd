"""Models that torch.compile or DataParallel has wrapped, as a whole or in parts."""

import copy
import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from torch import nn  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", "0"))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32))
        self.head = nn.Linear(32, 8)

    def forward(self, x):
        return self.head(self.body(x))


def compile_part(model):
    model.body = torch.compile(model.body, backend="eager")
    return model


def compile_layer(model):
    model.body[0] = torch.compile(model.body[0], backend="eager")
    return model


WRAPPERS = {"whole": lambda model: torch.compile(model, backend="eager"),
            "part": compile_part, "layer": compile_layer,
            "parallel": nn.DataParallel,
            "both": lambda model: torch.compile(compile_part(model), backend="eager")}


@pytest.mark.parametrize("kind", WRAPPERS)
def test_names_are_those_of_the_model(kind, tmp_path):
    """Rules, reports and files have the names of the layers without wrappers, which are
    there again afterwards."""
    torch.manual_seed(SEED)
    plain = Model().eval()
    model = WRAPPERS[kind](copy.deepcopy(plain))
    kinds = [type(each).__name__ for each in model.modules()]
    x = torch.randn(3, 32)
    with torch.no_grad():
        model(x)  # Compiled for dense layers.
    report = nm.torch.sparsify(model, {"head": None, "*": "2:4"}, prune=True, force=True)
    assert [line.name for line in report] == ["body.0", "body.2", "head"]
    assert [line.replaced for line in report] == [True, True, False]
    nm.torch.sparsify(plain, {"head": None, "*": "2:4"}, prune=True, force=True)
    with torch.no_grad():
        want = plain(x)
        torch.testing.assert_close(model(x), want)
    nm.torch.save(model, tmp_path / "own")
    nm.torch.save(model, tmp_path / "given", state_dict=model.state_dict())
    for folder in ("own", "given") if kind != "parallel" else ("own",):
        again = nm.torch.load(tmp_path / folder, Model())
        other = nm.torch.load(tmp_path / folder, WRAPPERS[kind](Model()))
        with torch.no_grad():
            assert torch.equal(again(x), want)
            torch.testing.assert_close(other(x), want)
    nm.torch.densify(model)
    with torch.no_grad():
        torch.testing.assert_close(model(x), want)
    if kind != "layer":  # What is replaced is compiled no more.
        assert [type(each).__name__ for each in model.modules()] == kinds


@pytest.mark.parametrize("first", ["nm.torch", "accelerate"])
def test_accelerate_names_the_calls_that_load(first, tmp_path):
    """Its own loading, and after it the calls that its error names; whichever of the two
    packages is imported first."""
    pytest.importorskip("accelerate")
    pytest.importorskip("transformers")
    script = f"""
import sys
import {first}, accelerate, nm, nm.torch, torch, transformers
kind, folder = transformers.LlamaForCausalLM, sys.argv[1]
config = transformers.LlamaConfig(
    vocab_size=16, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
    intermediate_size=32)
torch.manual_seed(0)
model = kind(config).eval()
nm.torch.sparsify(model, "2:4", prune=True)
model.save_pretrained(folder)
tokens = torch.arange(8)[None]
with torch.no_grad():
    expected = model(tokens).logits
def skeleton():
    with accelerate.init_empty_weights():
        return kind(config).eval()
for load in (accelerate.load_checkpoint_and_dispatch, accelerate.load_checkpoint_in_model):
    try:
        load(skeleton(), folder, device_map={{"": "cpu"}})
        raise SystemExit("loaded")
    except nm.Error as error:
        assert "nm.torch.load(path, model)" in str(error), error
        assert "model.safetensors: expected dense weights" in str(error), error
loaded = nm.torch.load(folder, skeleton())
loaded = accelerate.dispatch_model(loaded, {{"": "cpu"}})
for each in (loaded, kind.from_pretrained(folder, device_map={{"": "cpu"}})):
    assert sum(isinstance(layer, nm.torch.NMLinear) for layer in each.modules()) == 8
    with torch.no_grad():
        assert torch.equal(each(tokens).logits, expected)
dense = nm.convert(folder, folder + "-dense", format="dense")
whole = accelerate.load_checkpoint_and_dispatch(
    skeleton(), folder + "-dense", device_map={{"": "cpu"}})
with torch.no_grad():
    assert (whole(tokens).logits - expected).abs().max() < 1e-5
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run([sys.executable, "-c", script, str(tmp_path / "folder")], text=True,
                         capture_output=True, check=False, env=environment)
    assert run.returncode == 0, run.stderr
