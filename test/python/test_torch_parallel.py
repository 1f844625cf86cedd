"""Layers that torch's tensor parallelism shards over two processes give what one
process gives. What a test checks runs in both processes, which talk by gloo."""

import copy
import datetime
import traceback

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import torch.distributed as dist  # noqa: E402
from conftest import relative_error  # noqa: E402
from nm.torch import NMLinear, _weights  # noqa: E402
from nm.torch.parallel import (ColwiseParallel, RowwiseParallel,  # noqa: E402
                               parallelize_module)
from torch import multiprocessing, nn  # noqa: E402
from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.distributed.tensor import DTensor, Replicate, Shard  # noqa: E402
from torch.distributed.tensor import parallel as upstream  # noqa: E402


def work(rank, folder, pipe):
    """Runs the functions that come through the pipe, and sends their errors back."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank,
                            world_size=2, timeout=datetime.timedelta(seconds=60))
    mesh = init_device_mesh("cpu", (2,))
    for function, args in iter(pipe.recv, None):
        torch.manual_seed(0)
        try:
            function(mesh, *args)
            pipe.send(None)
        except Exception:  # Whatever it is, the test is to fail with it.
            pipe.send(traceback.format_exc())
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Runs a function in two processes at once, with their mesh and arguments."""
    if not dist.is_available() or not dist.is_gloo_available():
        pytest.skip("this torch has no gloo")
    folder = tmp_path_factory.mktemp("gloo")
    spawn = multiprocessing.get_context("spawn")
    pipes, processes = [], []
    for rank in range(2):
        pipe, end = spawn.Pipe()
        processes.append(spawn.Process(target=work, args=(rank, folder, end),
                                       daemon=True))
        processes[-1].start()
        end.close()
        pipes.append(pipe)

    def run(function, *args):
        for pipe in pipes:
            pipe.send((function, args))
        errors = [error for error in [pipe.recv() for pipe in pipes] if error]
        assert not errors, "\n".join(errors)

    yield run
    for pipe, process in zip(pipes, processes):
        pipe.send(None)
        process.join(20)
        process.terminate()


def sparse_layer(k, n, pattern="2:4", bias=True, **options):
    return NMLinear.from_dense(nn.Linear(k, n, bias), pattern, prune_weight=True,
                               **options)


def feed_forward(pattern="2:4", width=64, inner=128, dtype=torch.float32):
    return nn.Sequential(sparse_layer(width, inner, pattern, activation="gelu"),
                         sparse_layer(inner, width, pattern)).to(dtype)


PLAN = {"0": ColwiseParallel(), "1": RowwiseParallel()}


def sharded(model, mesh, plan=None):
    return parallelize_module(copy.deepcopy(model), mesh, plan or PLAN)


def assert_near(got, expected, tolerance=1e-6):
    assert not isinstance(got, DTensor) and got.shape == expected.shape
    assert relative_error(got.detach().double().numpy(),
                          expected.detach().double().numpy()) < tolerance


def check_forward(mesh, pattern, dtype):
    model = feed_forward(pattern, dtype=dtype).eval()
    parallel = sharded(model, mesh)
    x = torch.randn(3, 5, 64, dtype=dtype)
    with torch.no_grad():
        expected = nn.Sequential(*(layer.to_dense() for layer in model)).double()
        assert_near(parallel(x), expected(x.double()),
                    1e-6 if dtype == torch.float32 else 1e-2)
    for one, both in zip(model, parallel):
        own = both.values.to_local()
        assert own.numel() * 2 == one.values.numel() and own.dtype == dtype
        assert both.sparse_weight().pattern == one.pattern
        assert both.indices.to_local().dtype == torch.uint8


@pytest.mark.parametrize("pattern", ["2:4", "8:32, block = 1x32", "3:8, block = 2x4"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_forward(both, pattern, dtype):
    both(check_forward, pattern, dtype)


def check_gradients(mesh, training):
    model = feed_forward().train(training)
    parallel = sharded(model, mesh)
    x = torch.randn(3, 5, 64)
    upstream_gradient = torch.randn(3, 5, 64)
    inputs = [x.clone().requires_grad_(), x.clone().requires_grad_()]
    for part, given in zip((model, parallel), inputs):
        part(given).backward(upstream_gradient)
    assert_near(inputs[1].grad, inputs[0].grad)
    for (name, one), (_, both) in zip(model.named_parameters(),
                                      parallel.named_parameters()):
        assert both.placements == both.grad.placements
        assert_near(both.grad.full_tensor(), one.grad)


@pytest.mark.parametrize("training", [True, False])
def test_gradients(both, training):
    both(check_gradients, training)


def check_optimizer(mesh):
    model = feed_forward()
    parallel = sharded(model, mesh)
    x, y = torch.randn(64, 64), torch.randn(64, 64)
    for part in (model, parallel):
        optimizer = torch.optim.AdamW(part.parameters(), 0.01)
        for _ in range(5):
            optimizer.zero_grad()
            (part(x) - y).square().mean().backward()
            optimizer.step()
    assert_near(parallel(x), model(x), 1e-4)
    with torch.no_grad():  # The kernel is that of the weights that were trained.
        assert_near(parallel.eval()(x), model.eval()(x), 1e-4)


def test_optimizer(both):
    both(check_optimizer)


def check_layouts(mesh):
    """Activations that are sharded along the rows in between, and DTensors."""
    model = feed_forward().eval()
    parallel = sharded(model, mesh, {
        "0": ColwiseParallel(input_layouts=Shard(1), use_local_output=False),
        "1": RowwiseParallel(output_layouts=Shard(1))})
    x = torch.randn(3, 6, 64)
    rows = x.chunk(2, 1)[mesh.get_local_rank()]
    expected = model(x).chunk(2, 1)[mesh.get_local_rank()]
    assert_near(parallel(rows), expected)
    gathered = sharded(model, mesh, {
        "0": ColwiseParallel(output_layouts=Replicate()),
        "1": RowwiseParallel(input_layouts=Replicate())})
    assert_near(gathered(x), model(x))


def test_layouts(both):
    both(check_layouts)


def check_activation_after_the_sum(mesh):
    layer = sparse_layer(64, 48, activation="relu").eval()
    parallel = sharded(layer, mesh, RowwiseParallel(input_layouts=Replicate()))
    x = torch.randn(5, 64)
    assert_near(parallel(x), layer(x))
    assert (parallel(x) == 0).any()


def test_activation_after_the_sum(both):
    both(check_activation_after_the_sum)


def check_plan_of_torch(mesh):
    model = nn.Sequential(sparse_layer(64, 128), nn.Linear(128, 32))
    plan = {"0": upstream.ColwiseParallel(), "1": upstream.RowwiseParallel()}
    parallel = parallelize_module(copy.deepcopy(model).eval(), mesh, plan)
    assert type(plan["0"]) is upstream.ColwiseParallel
    x = torch.randn(5, 64)
    assert_near(parallel(x), model.eval()(x))
    assert isinstance(parallel[1].weight, DTensor)


def test_plan_of_torch(both):
    both(check_plan_of_torch)


def check_packed_once(mesh):
    parallel = sharded(feed_forward().eval(), mesh)
    made, make = [], _weights._make_weight
    _weights._make_weight = lambda *args: made.append(args) or make(*args)
    x = torch.randn(5, 64)
    try:
        with torch.no_grad():
            for _ in range(3):
                parallel(x)
        assert len(made) == 2, "one for each layer"
        for parameter in parallel.parameters():
            parameter.requires_grad_(False)
        for _ in range(3):
            parallel(x.requires_grad_()).sum().backward()
        assert len(made) == 2 and x.grad.any()
    finally:
        _weights._make_weight = make


def test_packed_once(both):
    both(check_packed_once)


def check_writes_are_seen(mesh):
    """Also those of an optimizer that does not count them."""
    model = feed_forward().eval()
    parallel = sharded(model, mesh)
    x = torch.randn(5, 64)

    def compare():
        with torch.no_grad():
            assert_near(parallel(x), model(x), 1e-5)

    compare()
    with torch.no_grad():
        for part in (model, parallel):
            for parameter in part.parameters():
                parameter.mul_(2)
    compare()
    for options in ({"fused": True}, {"foreach": True}):
        for part in (model, parallel):
            optimizer = torch.optim.AdamW(part.parameters(), 0.01, eps=1e-3,
                                          **options)
            part(x).square().mean().backward()
            optimizer.step()
        compare()


def test_writes_are_seen(both):
    both(check_writes_are_seen)


def check_unequal_parts(mesh):
    """Of 7 columns 4 and 3, and of a ragged last window the rest."""
    x = torch.randn(5, 64)
    layer = sparse_layer(64, 7).eval()
    columns = sharded(layer, mesh, ColwiseParallel(output_layouts=Replicate()))
    assert_near(columns(x), layer(x))
    layer = sparse_layer(31, 8, "4:16").eval()
    rows = sharded(layer, mesh, RowwiseParallel(input_layouts=Replicate()))
    assert_near(rows(x[:, :31]), layer(x[:, :31]))


def test_unequal_parts(both):
    both(check_unequal_parts)


def check_refused_sizes(mesh):
    for k, n, pattern, style, message in (
            (36, 8, "2:4", RowwiseParallel(), "in_features to be whole windows of 4 "
             "inputs for each of 2 processes, as pattern 2:4.* needs, but got 36"),
            (64, 96, "8:32, block = 1x32", ColwiseParallel(),
             "out_features to be whole blocks of 32 outputs"),
            (4, 8, "2:4", RowwiseParallel(), "whole windows .* but got 4"),
            (8, 1, "2:4", ColwiseParallel(), "whole blocks of 1 .* but got 1")):
        layer = sparse_layer(k, n, pattern)
        with pytest.raises(nm.ShapeError, match=message):
            parallelize_module(layer, mesh, style)
        assert type(layer.values) is nn.Parameter, "left as it was"


def test_refused_sizes(both):
    both(check_refused_sizes)


def check_weights_of_the_first_process(mesh):
    torch.manual_seed(mesh.get_local_rank())
    own = feed_forward().eval()
    parallel = sharded(own, mesh)
    torch.manual_seed(0)
    first, x = feed_forward().eval(), torch.randn(5, 64)
    assert_near(parallel(x), first(x))


def test_weights_of_the_first_process(both):
    both(check_weights_of_the_first_process)


def check_state(mesh):
    """The whole state of a sharded model is that of the one it was made of."""
    from torch.distributed.checkpoint import state_dict as states
    model = feed_forward().eval()
    parallel = sharded(model, mesh)
    state = states.get_model_state_dict(
        parallel, options=states.StateDictOptions(full_state_dict=True))
    for name, tensor in model.state_dict().items():
        assert torch.equal(state[name], tensor), name
    other = sharded(feed_forward().eval(), mesh)
    other.load_state_dict(parallel.state_dict())
    x = torch.randn(5, 64)
    assert_near(other(x), model(x))


def test_state(both):
    both(check_state)


def check_parts_are_no_model(mesh):
    """A part is never taken for the whole."""
    parallel = sharded(nn.Sequential(sparse_layer(64, 32, bias=False)), mesh,
                       {"0": ColwiseParallel()})
    with pytest.raises(nm.Error, match="expected '0' to have all of its weight"):
        nm.torch.save(parallel, "never-written")
    with pytest.raises(nm.Error, match="expected the layer to have all of its"):
        parallel[0].to_dense()


def test_parts_are_no_model(both):
    both(check_parts_are_no_model)


def check_compiled(mesh):
    model = feed_forward().eval()
    parallel = sharded(model, mesh)
    compiled = torch.compile(parallel, backend="aot_eager", fullgraph=True)
    x = torch.randn(5, 64)
    with torch.no_grad():
        for _ in range(2):
            assert_near(compiled(x), model(x))
    for part in (model, parallel):
        part(x).square().mean().backward()
        torch.optim.AdamW(part.parameters(), 0.01, eps=1e-3, foreach=True).step()
    with torch.no_grad():
        assert_near(compiled(x), model(x), 1e-5)
        for part in (model, parallel):
            for layer in part:
                layer.values.mul_(2)
                layer.refresh()  # Compiled calls see no such write to a DTensor.
        assert_near(compiled(x), model(x), 1e-5)


def test_compiled(both):
    both(check_compiled)
