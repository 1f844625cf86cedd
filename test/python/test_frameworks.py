"""Arrays of PyTorch, JAX and CuPy on the CPU; test_cuda.py has devices."""

import nm
import numpy as np
import pytest
from conftest import reference, relative_error


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def jax():
    return pytest.importorskip("jax")


def test_torch(draw, torch):
    dense = draw.weight((24, 32), "2:4", axis=1)
    w = nm.compress(torch.from_numpy(dense), "2:4", axis=1)
    bias = draw.array(24)
    for x in (draw.array(5, 32), draw.array(2, 3, 64)[..., ::2], draw.array(32)):
        y = nm.matmul(torch.from_numpy(np.ascontiguousarray(x)), w,
                      torch.from_numpy(bias), "gelu")
        assert isinstance(y, torch.Tensor) and y.dtype == torch.float32
        assert relative_error(y.numpy(), reference(x, dense, 1, bias,
                                                   "gelu")) < 2e-6
    x = torch.from_numpy(draw.array(32, 5)).T
    out = torch.empty(5, 48)[:, ::2]
    assert nm.matmul(x, w, out=out) is out
    assert relative_error(out.numpy(), reference(x.numpy(), dense, 1)) < 1e-6


@pytest.mark.parametrize("dtype,tolerance", [("float16", 2e-3),
                                             ("bfloat16", 2e-2), ("int8", 0)])
def test_torch_element_types(draw, torch, dtype, tolerance):
    kind = getattr(torch, dtype)
    dense = (torch.from_numpy(draw.array(64, 16)) * 10).to(kind)
    pruned, report = nm.prune(dense, "2:4", axis=0)
    assert pruned.dtype == kind and report.dropped > 0
    assert nm.check(pruned, "2:4", axis=0)
    x = (torch.from_numpy(draw.array(5, 64)) * 10).to(kind)
    w = nm.compress(pruned, "2:4", axis=0)
    assert torch.equal(w.decompress(like=dense), pruned)
    y = nm.matmul(x, w)
    assert y.dtype == (torch.int32 if dtype == "int8" else kind)
    exact = reference(x.double().numpy(), pruned.double().numpy(), 0)
    assert relative_error(y.double().numpy(), exact) <= tolerance


def test_torch_refuses_what_would_be_lost(draw, torch):
    w = nm.compress(draw.weight((32, 16), "2:4"), "2:4", axis=0)
    x = torch.zeros(5, 32, requires_grad=True)
    with pytest.raises(nm.Error, match="gradient"):
        nm.matmul(x, w)
    with torch.no_grad():
        assert nm.matmul(x, w).shape == (5, 16)
    with pytest.raises(nm.Error, match="to_dense"):
        nm.compress(torch.eye(8).to_sparse(), "1:8", axis=0)
    with pytest.raises(nm.DeviceError, match="meta"):
        nm.matmul(torch.zeros(5, 32, device="meta"), w)
    with pytest.raises(nm.DeviceError, match="meta"):
        nm.matmul(torch.zeros(5, 32), w, out=torch.zeros(5, 16, device="meta"))
    with pytest.raises(nm.Error, match="out without gradient"):
        nm.matmul(torch.zeros(5, 32), w,
                  out=torch.zeros(5, 16, requires_grad=True))


def test_jax(draw, jax):
    jnp = jax.numpy
    dense = draw.weight((24, 32), "2:4", axis=1)
    pruned, _ = nm.prune(jnp.asarray(dense), "2:4", axis=1)
    assert isinstance(pruned, jax.Array)
    w = nm.compress(pruned, "2:4", axis=1)
    bias = draw.array(24)
    for shape in ((5, 32), (2, 3, 32), (32,)):
        x = draw.array(*shape)
        y = nm.matmul(jnp.asarray(x), w, jnp.asarray(bias))
        assert isinstance(y, jax.Array)
        assert relative_error(y, reference(x, dense, 1, bias)) < 1e-6
    with pytest.raises(nm.Error, match="JAX are not"):
        nm.matmul(jnp.zeros((5, 32)), w, out=jnp.zeros((5, 24)))


def test_jax_layouts_and_sizes(draw, jax):
    from jax.experimental.layout import Format, Layout
    dense = draw.weight((1024, 32), "2:4", axis=1)
    w = nm.compress(dense, "2:4", axis=1)
    # The last result is larger than what JAX itself makes memory for.
    for rows in (5, 5, 600):
        x = jax.numpy.asarray(draw.array(rows, 32))
        columns = jax.device_put(x, Format(Layout((1, 0)), x.sharding))
        expected = reference(x, dense, 1)
        for given in (x, columns, x):
            y = nm.matmul(given, w)
            assert relative_error(y, expected) < 1e-6
            assert y.committed == given.committed or rows > 16
        prepared = nm.prepare(x, w)
        assert relative_error(prepared(x), expected) < 1e-6
        with pytest.raises(nm.ShapeError, match="the call was prepared for"):
            prepared(columns)


def test_jax_without_its_private_layout(draw, jax):
    """What a version of JAX without it is served by."""
    kind = nm._arrays.kind_of(jax.numpy.ones(1))
    x = jax.numpy.asarray(draw.array(5, 32))
    assert kind._public_signature(x) == kind._public_signature(x + 1)
    assert kind._public_signature(x) != kind._public_signature(x[:4])


def test_jax_inside_of_jit(draw, jax):
    dense = draw.weight((24, 32), "2:4", axis=1)
    w = nm.compress(dense, "2:4", axis=1)
    x = jax.numpy.asarray(draw.array(5, 32))
    with pytest.raises(nm.Error, match="pure_callback"):
        jax.jit(lambda x: nm.matmul(x, w))(x)
    result = jax.ShapeDtypeStruct((5, 24), x.dtype)
    y = jax.jit(lambda x: 2 * jax.pure_callback(
        lambda x: nm.matmul(np.asarray(x), w), result, x))(x)
    assert relative_error(y, 2 * reference(x, dense, 1)) < 1e-6


def test_jax_results_of_types_that_it_narrows(jax):
    """JAX has no f64 where jax_enable_x64 is not set: such memory is NumPy's."""
    widen = nm.compile("""
        func.func @widen(%x: tensor<4xf32>) -> tensor<4xf64> {
          %e = tensor.empty() : tensor<4xf64>
          %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>,
              affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
            ins(%x : tensor<4xf32>) outs(%e : tensor<4xf64>) {
          ^bb0(%v: f32, %unused: f64):
            %w = arith.extf %v : f32 to f64
            linalg.yield %w : f64
          } -> tensor<4xf64>
          return %r : tensor<4xf64>
        }""")
    np.testing.assert_array_equal(widen(jax.numpy.arange(4.0)), range(4))


def test_jax_bfloat16(draw, jax):
    jnp = jax.numpy
    dense, _ = nm.prune(jnp.asarray(draw.array(64, 16), jnp.bfloat16), "2:4", axis=0)
    x = jnp.asarray(draw.array(5, 64), jnp.bfloat16)
    y = nm.matmul(x, nm.compress(dense, "2:4", axis=0))
    assert y.dtype == jnp.bfloat16
    exact = reference(np.asarray(x, np.float64), np.asarray(dense, np.float64), 0)
    assert relative_error(np.asarray(y, np.float64), exact) < 2e-2
