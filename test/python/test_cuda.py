"""Arrays on a CUDA device, of the libraries that are there.

On a machine with a device and no compiler, the kernels come with it:

    NM_CACHE_DIR=kernels python3 test_cuda.py CHIP      # where the compiler is
    NM_CACHE_DIR=kernels python3 -m pytest test_cuda.py # where the device is
"""

import ctypes
import sys

import nm
import numpy as np
import pytest
from conftest import reference, relative_error
from nm import _library

K, N = 192, 136
PATTERNS = (("2:4", (1, 1), 1), ("8:32", (1, 8), 0))
# 45 has no kernel of its own: the one for any number does it.
ROWS = (1, 6, 33, None)
EPILOGUES = ((None, False, False), ("gelu", True, False), ("relu", True, True))


def make_weight(pattern, block, axis):
    rng = np.random.default_rng(5)
    shape = (K, N) if axis == 0 else (N, K)
    return nm.prune(rng.standard_normal(shape).astype(np.float32), pattern, block,
                    axis).weight


def precompile(chip):
    for pattern, block, axis in PATTERNS:
        w = nm.compress(make_weight(pattern, block, axis), pattern, block, axis)
        for activation, bias, scale in EPILOGUES:
            nm.precompile(w, ROWS, f"cuda:{chip}", bias=bias, scale=scale,
                          activation=activation)


def precompile_types(chip):
    for dtype in ("f16", "bf16", "i8", "f8E4M3FN", "f8E5M2"):
        parts = zero_parts(f"u{_library.ELEMENT_SIZES[dtype]}")
        if dtype == "i8":
            parts = zero_parts("i1")
        w = nm.SparseTensor(*parts, (N, K), "2:4, dim = 1", dtype)
        nm.precompile(w, (1, 33), f"cuda:{chip}")


def zero_parts(dtype):
    """A weight of zeros, which has the kernels of any other."""
    values, indices = nm.Pattern(2, 4, axis=1).condensed_shapes(K, N)
    positions = np.arange(indices[0], dtype=np.uint8)[:, None] % 2
    return np.zeros(values, dtype), np.broadcast_to(positions, indices).copy()


def no_device():
    count = ctypes.c_int32()
    message = _library.runtime.nmCudaGetDeviceCount(count)
    return _library.take_text(message) if message else ""


def run_on(target, module, *arrays):
    """What `module` of `target` gives for NumPy's arrays, which are put there."""
    if target != "cuda":
        return np.asarray(module(*arrays))
    torch = pytest.importorskip("torch")

    def put(array):
        if array.dtype.name != "bfloat16":
            return torch.from_numpy(np.ascontiguousarray(array)).cuda()
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16).cuda()

    result = module(*map(put, arrays)).cpu()
    return (result.float() if result.dtype == torch.bfloat16 else result).numpy()


needs_device = pytest.mark.skipif(bool(no_device()), reason=no_device()[:60])


class TorchDevice:
    def __init__(self):
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("torch has no CUDA")

    def put(self, array):
        return self.torch.from_numpy(np.ascontiguousarray(array)).cuda()

    def get(self, array):
        assert isinstance(array, self.torch.Tensor) and array.is_cuda
        return array.cpu().numpy()


class CupyDevice:
    def __init__(self):
        self.cupy = pytest.importorskip("cupy")

    def put(self, array):
        return self.cupy.asarray(array)

    def get(self, array):
        assert isinstance(array, self.cupy.ndarray)
        return self.cupy.asnumpy(array)


class JaxDevice:
    def __init__(self):
        self.jax = pytest.importorskip("jax")
        if self.jax.default_backend() != "gpu":
            pytest.skip("jax has no CUDA")

    def put(self, array):
        return self.jax.numpy.asarray(array)

    def get(self, array):
        assert isinstance(array, self.jax.Array)
        assert next(iter(array.devices())).platform == "gpu"
        return np.asarray(array)


@pytest.fixture(params=[TorchDevice, CupyDevice, JaxDevice],
                ids=["torch", "cupy", "jax"])
def library(request):
    return request.param()


@needs_device
@pytest.mark.parametrize("pattern,block,axis", PATTERNS)
@pytest.mark.parametrize("activation,with_bias,with_scale", EPILOGUES)
def test_products(draw, library, pattern, block, axis, activation, with_bias,
                  with_scale):
    dense = make_weight(pattern, block, axis)
    w = nm.compress(library.put(dense), pattern, block, axis)
    bias, scale = draw.array(N), draw.array(N)
    for shape in ((1, K), (K,), (2, 3, K), (33, K), (45, K)):
        x = draw.array(*shape)
        y = nm.matmul(library.put(x), w, library.put(bias) if with_bias else None,
                      activation,
                      scale=library.put(scale) if with_scale else None)
        expected = reference(x, dense, axis, bias if with_bias else None,
                             activation, scale if with_scale else None)
        assert y.shape == expected.shape
        assert relative_error(library.get(y), expected) < 2e-6


@needs_device
def test_one_scale_for_all(draw, library):
    pattern, block, axis = PATTERNS[0]
    dense = make_weight(pattern, block, axis)
    w = nm.compress(dense, pattern, block, axis)
    x, bias = draw.array(6, K), draw.array(N)
    for scale in (0.5, 3):
        y = nm.matmul(library.put(x), w, library.put(bias), "relu", scale=scale)
        expected = reference(x, dense, axis, bias, "relu", scale)
        assert relative_error(library.get(y), expected) < 2e-6


@needs_device
def test_pruning_stays_on_the_device(draw, library):
    dense = draw.array(64, 32)
    pruned, report = nm.prune(library.put(dense), "2:4", axis=0)
    np.testing.assert_array_equal(library.get(pruned),
                                  nm.prune(dense, "2:4", axis=0).weight)
    assert report.dropped == 1024 and nm.check(pruned, "2:4", axis=0)


@needs_device
def test_wrong_devices(draw, library):
    pattern, block, axis = PATTERNS[0]
    w = nm.compress(make_weight(*PATTERNS[0]), pattern, block, axis)
    x, bias = draw.array(6, K), draw.array(N)
    with pytest.raises(nm.DeviceError, match="bias on cuda:0, where x is"):
        nm.matmul(library.put(x), w, bias)
    with pytest.raises(nm.DeviceError, match="expected out on cuda:0"):
        nm.matmul(library.put(x), w, out=np.zeros((6, N), np.float32))


@needs_device
def test_torch_strides_and_out(draw):
    library = TorchDevice()
    dense = make_weight(*PATTERNS[0])
    w = nm.compress(dense, *PATTERNS[0])
    x = draw.array(6, 2 * K)
    expected = reference(x[:, ::2], dense, 1)
    device_x = library.put(x)[:, ::2]
    assert relative_error(library.get(nm.matmul(device_x, w)), expected) < 2e-6
    out = library.put(np.zeros((6, 2 * N), np.float32))
    part = out[:, ::2]
    assert nm.matmul(device_x, w, out=part) is part
    assert relative_error(library.get(part), expected) < 2e-6
    assert not library.get(out[:, 1::2]).any()
    whole = library.put(np.zeros((6, N), np.float32))
    assert nm.matmul(device_x, w, out=whole) is whole
    assert relative_error(library.get(whole), expected) < 2e-6


@needs_device
@pytest.mark.parametrize("dtype,tolerance", [
    ("float16", 1e-3), ("bfloat16", 8e-3), ("int8", 0), ("float8_e4m3fn", 3e-4),
    ("float8_e5m2", 3e-4)])
def test_torch_element_types(draw, dtype, tolerance):
    library = TorchDevice()
    torch = library.torch
    kind = getattr(torch, dtype)
    dense = (library.put(draw.array(N, K)) * 10).to(kind)
    pruned = nm.prune(dense, "2:4", axis=1).weight
    w = nm.compress(pruned, "2:4", axis=1)
    for rows in (1, 33):
        x = (library.put(draw.array(rows, K)) * 10).to(kind)
        y = nm.matmul(x, w)
        assert y.dtype == {"int8": torch.int32, "float8_e4m3fn": torch.float32,
                           "float8_e5m2": torch.float32}.get(dtype, kind)
        exact = reference(library.get(x.double()), library.get(pruned.double()),
                          1)
        assert relative_error(library.get(y.double()), exact) <= tolerance


@needs_device
def test_torch_odd_addresses(draw):
    library = TorchDevice()
    dense = make_weight(*PATTERNS[0])
    w = nm.compress(dense, *PATTERNS[0])
    x = library.put(draw.array(6 * K + 1))[1:].view(6, K)
    out = library.put(np.zeros(6 * N + 1, np.float32))[1:].view(6, N)
    assert x.data_ptr() % 16 and out.data_ptr() % 16
    nm.matmul(x, w, out=out)
    assert relative_error(library.get(out),
                          reference(library.get(x), dense, 1)) < 2e-6


@needs_device
def test_torch_streams_and_graphs(draw):
    library = TorchDevice()
    torch = library.torch
    dense = make_weight(*PATTERNS[0])
    w = nm.compress(dense, *PATTERNS[0])
    x = library.put(draw.array(33, K))
    product = nm.prepare(x, w)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        # Late input: a kernel on another stream would read the old one.
        torch.cuda._sleep(20_000_000)
        x.copy_(library.put(draw.array(33, K)))
        y = product(x)
    stream.synchronize()
    assert relative_error(library.get(y),
                          reference(library.get(x), dense, 1)) < 2e-6
    out = torch.empty_like(y)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        product(x, out=out)
    x.copy_(library.put(draw.array(33, K)))
    graph.replay()
    assert relative_error(library.get(out),
                          reference(library.get(x), dense, 1)) < 2e-6


LINEAR = """
func.func @linear(%x: tensor<33x192xf32>, %w: tensor<192x136xf32, #nm.encoding<2:4>>) -> tensor<33x136xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<33x136xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<33x136xf32>) -> tensor<33x136xf32>
  %p = linalg.matmul ins(%x, %w : tensor<33x192xf32>, tensor<192x136xf32, #nm.encoding<2:4>>)
    outs(%z : tensor<33x136xf32>) -> tensor<33x136xf32>
  %r = linalg.exp ins(%p : tensor<33x136xf32>) outs(%e : tensor<33x136xf32>) -> tensor<33x136xf32>
  return %r : tensor<33x136xf32>
}
"""


@needs_device
def test_calls_are_replayed_as_graphs(draw):
    torch = pytest.importorskip("torch")
    dense = draw.weight((K, N), "2:4") / 16
    function = nm.compile(LINEAR, "cuda")["linear"]
    bound = function.bind(nm.compress(dense, "2:4", axis=0), graphs=2)
    arrays = [torch.empty(33, K, device="cuda") for _ in range(3)]
    out = torch.empty(33, N, device="cuda")
    # As it is, captured, replayed; three sets of addresses for two graphs.
    for turn in range(5):
        for x in arrays:
            x.normal_()
            out.fill_(float("nan"))
            bound(x, out=out)
            expected = np.exp(reference(x.cpu().numpy(), dense, 0))
            assert relative_error(out.cpu().numpy(), expected) < 1e-5


@needs_device
def test_steps_have_times(draw):
    torch = pytest.importorskip("torch")
    w = nm.compress(draw.weight((K, N), "2:4") / 16, "2:4", axis=0)
    profile = nm.compile(LINEAR, "cuda", profile=True).profile(
        torch.randn(33, K, device="cuda"), w, runs=5)
    assert all(0 < step.us < 1e4 for step in profile)
    product = next(step for step in profile if "nm.spmm" in step.name)
    assert product.kernel
    # No memory reads 20 TB/s, and kernels of these sizes wait for their launches.
    assert product.floor_us * 1e-6 > product.bytes / 20e12
    assert 0 < product.roofline == product.floor_us / product.us < 1
    assert "roofline" in str(profile)


@needs_device
def test_torch_layer(draw):
    """NMLinear on a device, compiled, with CUDA graphs of torch's own, and with
    gradients."""
    library = TorchDevice()
    torch = library.torch
    import nm.torch
    dense = make_weight(*PATTERNS[0])
    linear = torch.nn.Linear(K, N, bias=False).cuda()
    linear.weight.data = library.put(dense)
    layer = nm.torch.NMLinear.from_dense(linear, "2:4")
    assert layer.values.is_cuda
    x = library.put(draw.array(33, K))
    expected = reference(library.get(x), dense, 1)
    with torch.no_grad():
        compiled = torch.compile(layer, fullgraph=True, mode="reduce-overhead")
        for _ in range(3):
            assert relative_error(library.get(compiled(x)), expected) < 2e-6
    grads = []
    for call in (linear, layer):
        given = x.clone().requires_grad_()
        torch.square(call(given)).sum().backward()
        grads.append(library.get(given.grad))
    assert relative_error(grads[1], grads[0].astype(np.float64)) < 1e-5
    assert layer.cpu().weight.equal(torch.from_numpy(dense))


@needs_device
def test_torch_sparsify(draw):
    library = TorchDevice()
    torch = library.torch
    import nm.torch
    model = torch.nn.Sequential(torch.nn.Linear(K, N, bias=False)).cuda()
    model[0].weight.data = library.put(make_weight(*PATTERNS[0]))
    x = library.put(draw.array(33, K))
    with torch.no_grad():
        expected = library.get(model(x)).astype(np.float64)
    report = nm.torch.sparsify(model, "2:4", x, force=True)
    print(report)
    assert report.layers[0].replaced and report.layers[0].measured > 0
    with torch.no_grad():
        assert relative_error(library.get(model(x)), expected) < 2e-6


@needs_device
def test_torch_call_overhead(draw):
    import time
    library = TorchDevice()
    w = nm.compress(make_weight(*PATTERNS[0]), *PATTERNS[0])
    x = library.put(draw.array(1, K))
    product = nm.prepare(x, w)
    out = product(x)
    times = {}
    for name, call in (("nm.matmul(x, w)", lambda: nm.matmul(x, w)),
                       ("prepared(x, out)", lambda: product(x, out))):
        least = float("inf")
        for _ in range(40):
            start = time.perf_counter()
            for _ in range(50):
                call()
            least = min(least, (time.perf_counter() - start) / 50 * 1e6)
            library.torch.cuda.synchronize()
        times[name] = least
    print("\n".join(f"{name:<20} {time_:6.2f} us" for name, time_ in times.items()))
    assert all(time_ < 30 for time_ in times.values())


if __name__ == "__main__":
    precompile(sys.argv[1])
    precompile_types(sys.argv[1])
