"""Graphs with nm's layers that leave their process: exported, traced, and compiled
ahead of time."""

import gc
import os
import subprocess
import sys

import pytest
from conftest import relative_error

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from nm.torch import NMLinear  # noqa: E402
from torch import nn  # noqa: E402


def sparse_layer(out, k, seed, **options):
    torch.manual_seed(seed)
    return NMLinear.from_dense(nn.Linear(k, out), "2:4", prune_weight=True, **options)


def make_model(seed=0):
    return nn.Sequential(sparse_layer(48, 64, seed, activation="gelu"),
                         sparse_layer(64, 48, seed + 1)).eval()


# Of another process: the product of a file on x.pt, where other layers of the same
# shapes may have been made before: one process for each. Checks how many weights were
# packed.
LOADER = """
import os
import sys
import torch
import nm.torch
from nm.torch import _op, _weights
from test_torch_export import make_model

def multiply(path, has_others):
    x, expected = torch.load("x.pt")
    if has_others:
        kept = [make_model(7), make_model(8)]
        for model in kept:
            model(x)
    found = []
    make_weight = _weights._make_weight
    _weights._make_weight = lambda *args: found.append(args) or make_weight(*args)
    load = {"pt2": lambda path: torch.export.load(path).module(), "jit": torch.jit.load,
            "aoti": torch._inductor.aoti_load_package}[path.split(".")[0]]
    model = load(path)
    with torch.no_grad():
        for _ in range(3):
            y = model(x)
    torch.testing.assert_close(y, expected, rtol=1e-5, atol=1e-5)
    assert len(found) == 2, "each weight is packed once"

# Imports, which take seconds, are made once.
child = os.fork()
multiply(sys.argv[1], has_others=child == 0)
if child:
    assert os.waitpid(child, 0)[1] == 0
print("done", child)
"""


@pytest.fixture
def elsewhere(tmp_path):
    """Runs LOADER on a file in processes of their own."""
    paths = [os.path.dirname(__file__), *filter(None, sys.path)]

    def run(path):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", LOADER, path.name],
            cwd=tmp_path, text=True, capture_output=True, check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
        assert done.returncode == 0, (done.returncode, done.stderr)
        assert done.stdout.count("done") == 2

    return run


@pytest.fixture
def saved(tmp_path):
    """A model, an input, and what it gives, also in a file."""
    model, x = make_model(), torch.randn(5, 64)
    with torch.no_grad():
        torch.save((x, model(x)), tmp_path / "x.pt")
    return model, x


@pytest.mark.parametrize("strict", [False, True])
def test_exported(saved, elsewhere, tmp_path, strict):
    model, x = saved
    with torch.no_grad():
        program = torch.export.export(model, (x,), strict=strict)
    assert not any(isinstance(value, torch.Tensor) and value.numel() == 48 * 64
                   for value in program.state_dict.values()), "a dense weight"
    torch.export.save(program, tmp_path / "pt2.pt2")
    elsewhere(tmp_path / "pt2.pt2")


@pytest.mark.filterwarnings("ignore")
def test_traced(saved, elsewhere, tmp_path):
    model, x = saved
    with torch.no_grad():
        torch.jit.trace(model, (x,)).save(tmp_path / "jit.pt")
    elsewhere(tmp_path / "jit.pt")


# Of another process: a package of PyTorch's own layers.
DENSE_PACKAGE = """
import torch
model, x = torch.nn.Sequential(torch.nn.Linear(64, 48), torch.nn.GELU()), torch.randn(5, 64)
with torch.no_grad():
    path = torch._inductor.aoti_compile_and_package(torch.export.export(model, (x,)))
    torch._inductor.aoti_load_package(path)(x)
"""


def skip_where_dense_packages_crash(folder):
    """A C++ compiler may be there whose code this PyTorch cannot load."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", DENSE_PACKAGE],
                          cwd=folder, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("AOTInductor's packages of dense layers do not run here either: exit "
                    f"code {done.returncode} {done.stderr[-200:]}")


@pytest.mark.filterwarnings("ignore")
def test_compiled_ahead_of_time(saved, elsewhere, tmp_path):
    if not hasattr(torch._inductor, "aoti_compile_and_package"):
        pytest.skip("this torch has no AOTInductor packages")
    model, x = saved
    path = tmp_path / "aoti.pt2"
    try:
        with torch.no_grad():
            torch._inductor.aoti_compile_and_package(
                torch.export.export(model, (x,)), package_path=str(path))
    except Exception as error:
        if not type(error).__module__.startswith("torch._inductor.exc"):
            raise
        pytest.skip(f"AOTInductor does not compile here: {error}")
    try:
        elsewhere(path)
    except AssertionError:
        skip_where_dense_packages_crash(tmp_path)
        raise
    # Constants that are loaded later count.
    runner = torch._inductor.aoti_load_package(str(path))
    other = make_model(3)
    names = runner.get_constant_fqns()
    for each in (other, model, other):
        state = each.state_dict()
        runner.load_constants({name: state[name].detach().clone() for name in names},
                              check_full_update=True)
        with torch.no_grad():
            assert relative_error(runner(x).numpy(), each(x).double().numpy()) < 1e-5


def test_exported_programs_follow_their_weights():
    model, x = make_model(), torch.randn(5, 64)
    with torch.no_grad():
        module = torch.export.export(model, (x,)).module()
        once = module(x) - model[1].bias
        module.get_parameter("1.values").mul_(2)
        assert torch.allclose(module(x) - model[1].bias, 2 * once, atol=1e-5)


class Closure(nn.Module):
    """Uses an nm.SparseTensor that is no buffer."""

    def __init__(self, seed=0):
        super().__init__()
        self.w = nm.compress(sparse_layer(48, 64, seed).weight, "2:4", axis=1)

    def forward(self, x):
        return nm.torch.linear(x, self.w, None, "relu")


@pytest.mark.parametrize("strict", [False, True])
def test_sparse_tensors_become_constants(tmp_path, strict):
    model, x = Closure(), torch.randn(5, 64)
    with torch.no_grad():
        program = torch.export.export(model, (x,), strict=strict)
        torch.export.save(program, tmp_path / "c.pt2")
        assert torch.equal(torch.export.load(tmp_path / "c.pt2").module()(x), model(x))


def test_compiled_code_follows_a_sparse_tensor():
    model, x = Closure(), torch.randn(5, 64)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    with torch.no_grad():
        for seed in (1, 2):
            assert torch.equal(compiled(x), model(x))
            model.w = Closure(seed).w
            assert torch.equal(compiled(x), model(x))


def set_part(name, part):
    def change(layer):
        setattr(layer, name, part(getattr(layer, name)))
    return change


@pytest.mark.parametrize("change,k,text", [
    (lambda layer: None, 63, "k = 64"),
    (nn.Module.half, 64, "expected x of f16, as the weight is, but got f32"),
    (set_part("values", lambda values: nn.Parameter(values[:4])), 64,
     r"values \(32, 48\)"),
    (set_part("bias", lambda bias: nn.Parameter(bias[:3])), 64,
     r"bias of shape \(48,\)"),
])
def test_graphs_that_cannot_work_are_refused(change, k, text):
    layer = sparse_layer(48, 64, 0)
    change(layer)
    with torch.no_grad(), pytest.raises(nm.Error, match=text):
        torch.export.export(layer, (torch.randn(5, k),))


def test_models_compiled_to_one_path(tmp_path):
    """Each answers as the model that it was compiled from."""
    torch.manual_seed(0)
    x, path, compiled = torch.randn(3, 16), tmp_path / "same.so", []
    for _ in range(3):
        model = nn.Sequential(nn.Linear(16, 8), nn.ReLU()).eval()
        exported = nm.torch.export(model, (x,))
        compiled.append((model, exported.compile(path)))
        for each, module in compiled:
            with torch.no_grad():
                assert torch.allclose(module(x), each(x), atol=1e-5)


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_is_collected_after_an_export(enabled):
    was_enabled = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        nm.torch.export(make_model(), torch.zeros(2, 64))
        assert gc.isenabled() == enabled
        with pytest.raises(nm.Error, match="training mode"):
            nm.torch.export(nn.Dropout().train(), torch.zeros(2, 64))
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()


@pytest.mark.parametrize("target,graphs,text", [
    ("cpu", 2, "expected a module for cuda with graphs, but got one for cpu"),
    ("cuda:sm_90a", -1, "expected 0 graphs or more, but got -1")])
def test_graphs_are_checked_before_a_compilation(target, graphs, text, tmp_path):
    exported = nm.torch.export(nn.Linear(4, 4), torch.randn(2, 4))
    with pytest.raises(nm.Error, match=text):
        exported.compile(tmp_path / "model.so", target, graphs=graphs)
    assert not list(tmp_path.iterdir())


def test_profile_of_a_model():
    model, x = make_model(), torch.randn(3, 64)
    profile = nm.torch.export(model, (x,)).compile(profile=True).profile(x, runs=2)
    assert profile.runs == 2 and sum("nm.spmm <2:4>" in step.name for step in profile) == 2
    with pytest.raises(nm.Error, match="profile=True"):
        nm.torch.export(model, (x,)).compile().profile(x)
    with pytest.raises(nm.Error, match="expected arguments"):
        nm.torch.export(model, (x,)).compile(profile=True).profile(x, x)
