"""Layers on a CUDA device: what they take of its memory, and graphs that were captured.

On a machine with a device and no compiler, the kernels come with it:

    NM_CACHE_DIR=kernels python3 test_torch_device.py CHIP   # where the compiler is
    NM_CACHE_DIR=kernels python3 -m pytest test_torch_device.py
"""

import copy
import gc
import sys

import nm
import pytest

torch = pytest.importorskip("torch")
if __name__ != "__main__" and not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)

import nm.torch  # noqa: E402
from torch import nn  # noqa: E402

OUTPUTS, INPUTS, ROWS = 4096, 4096, (1, 8, 64, 512)
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
LIMITS = {"bf16": 1e-2, "f16": 2e-3, "f32": 1e-5}


def make_layer(dtype="bf16", pattern="2:4"):
    torch.manual_seed(3)
    dense = nn.Linear(INPUTS, OUTPUTS, bias=False).to("cuda", TYPES[dtype]).eval()
    return nm.torch.NMLinear.from_dense(dense, pattern, prune_weight=True).eval()


def check(layer, rows, dtype="bf16"):
    x = torch.randn(rows, INPUTS, device="cuda", dtype=layer.values.dtype)
    wanted = x.double() @ layer.dense_weight().detach().double().T
    error = (layer(x).double() - wanted).norm() / wanted.norm()
    assert error < LIMITS[dtype], (rows, error)


@pytest.mark.parametrize("dtype", TYPES)
def test_one_form_and_no_condensed_one_stay_on_the_device(dtype):
    layer = make_layer(dtype)
    before, state = layer.to_dense(), copy.deepcopy(layer.state_dict())
    # The first product of cuBLAS has memory made that stays.
    torch.eye(8, device="cuda", dtype=torch.float64) @ torch.ones(
        8, 8, device="cuda", dtype=torch.float64)
    held = torch.cuda.memory_allocated()
    with torch.no_grad():
        for rows in ROWS:
            check(layer, rows, dtype)
    report = nm.torch.memory(layer)
    # Blocks of 64 columns fill up nothing here.
    assert report.share < 0.6, report
    assert report.condensed == 0 and report.mapped == layer.values.nbytes + (
        layer.indices.nbytes)
    assert report.device_peak >= report.device >= report.packed
    assert torch.cuda.memory_allocated() <= held - report.mapped + (1 << 20)
    # The tensors are what they were.
    assert layer.values.is_cuda and layer.indices.is_cuda
    for name, tensor in layer.state_dict().items():
        assert torch.equal(tensor, state[name]), name
    assert torch.equal(layer.to_dense().weight, before.weight)
    twin = copy.deepcopy(layer)
    with torch.no_grad():
        check(twin, 1, dtype)
        layer.values.mul_(2)
        check(layer, 8, dtype)
    assert torch.equal(layer.to_dense().weight, 2 * before.weight)
    assert torch.equal(twin.to_dense().weight, before.weight)


def test_a_gradient_brings_the_condensed_form_back():
    layer = make_layer()
    with torch.no_grad():
        check(layer, 8)
    assert layer._lies_on_host
    x = torch.randn(8, INPUTS, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    layer(x).sum().backward()
    assert not layer._lies_on_host
    assert x.grad is not None and layer.values.grad is not None
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    optimizer.step()
    with torch.no_grad():
        check(layer, 8)
    layer.train()
    layer(x).sum().backward()
    optimizer.step()
    layer.eval()
    with torch.no_grad():
        check(layer, 8)


def test_forms_of_two_and_of_one():
    for count, most in ((2, 1.2), (1, 0.8)):
        nm.set_packed_forms(count)
        try:
            layer = make_layer("f32")
            with torch.no_grad():
                for rows in (1, 512):
                    check(layer, rows, "f32")
            assert nm.torch.memory(layer).share < most + 0.2
        finally:
            nm.set_packed_forms(None)


def free_bytes():
    """Of the device, but for what PyTorch keeps for later."""
    gc.collect()
    torch.cuda.empty_cache()
    return torch.cuda.mem_get_info()[0]


@torch.no_grad()
def test_splits_that_calls_make_are_those_that_are_packed():
    """On several streams, and in a graph."""
    layer, x = make_layer("f32"), torch.randn(512, INPUTS, device="cuda")
    nm.set_packed_forms(2)
    try:
        wanted = layer(x)
        nm.free_packed()
    finally:
        nm.set_packed_forms(None)
    layer(x[:1])
    streams = [torch.cuda.Stream() for _ in range(3)]
    results = []
    for stream in streams * 4:
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            results.append(layer(x))
    torch.cuda.synchronize()
    assert all(torch.equal(each, wanted) for each in results)
    assert nm.torch.memory(layer).share < 0.6
    # Splits that are packed first go when few rows come.
    nm.free_packed()
    for rows in (512, 1, 512):
        check(layer, rows, "f32")
    assert nm.torch.memory(layer).share < 0.6


@pytest.mark.parametrize("rows, dtype", [(1, "bf16"), (64, "bf16"), (512, "f32")])
def test_captured_graphs_outlive_what_they_read(rows, dtype):
    layer = make_layer(dtype)
    x = torch.randn(rows, INPUTS, device="cuda", dtype=TYPES[dtype])
    with torch.no_grad():
        layer(x[:1])
        wanted = layer(x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = layer(x)
        nm.free_packed()
        del layer
        # What was freed becomes another's.
        others = [torch.full((OUTPUTS, INPUTS), torch.nan, device="cuda") for _ in range(8)]
        y.fill_(7)
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(y, wanted)
        held = free_bytes()
        del graph, others
        # What the graph kept, and the others, are free again.
        assert free_bytes() > held


@torch.no_grad()
def test_a_module_ends_while_a_graph_is_captured(tmp_path):
    """As where Python's garbage collector ends one in the middle of a capture."""
    x = torch.randn(8, 64, device="cuda")
    models = [nn.Linear(64, 48 + 16 * i).cuda() for i in range(2)]
    kept, ended = (nm.torch.export(model, x).compile(tmp_path / f"{i}.so", target="cuda")
                   for i, model in enumerate(models))
    wanted = kept(x)
    ended(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        del ended
        gc.collect()
        y = kept(x)
    y.fill_(7)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(y, wanted)


def precompile(chip):
    pattern = nm.Pattern(2, 4, axis=1)
    for dtype, kind in TYPES.items():
        dense = torch.zeros(OUTPUTS, INPUTS, dtype=kind)
        nm.precompile(nm.compress(dense, pattern), ROWS, f"cuda:{chip}")


if __name__ == "__main__":
    precompile(sys.argv[1])
