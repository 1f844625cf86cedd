"""Kernels of windows on a GPU, in the simulator: drawn pools of images against PyTorch in
float64, and bit for bit against the op's order. On a device:

    cd test/python && python3 -m pytest -p on_device test_window_kernels.py
"""

import collections
import copy
import os
import random

import nm
import numpy as np
import pytest

torch = pytest.importorskip("torch")
import nm.torch  # noqa: E402, F811
from conftest import relative_error  # noqa: E402
from test_torch_windows import BOUNDS, CASES  # noqa: E402
from torch import nn  # noqa: E402
from window_programs import FLOATS, WindowProgram, infinity  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", random.SystemRandom().randrange(2 ** 31)))
LIMITS = {"f64": 1e-14, "f32": 1e-5, "f16": 3e-3, "bf16": 2e-2}
#: What remarks say of each way, so that one that is never taken is noticed.
WAYS = {"vectors": "neighbours of vectors", "one by one": "neighbours one by one",
        "single": "whose threads make 1 element", "image": "reads the image without",
        "places": "threads behind each other share", "taps": "threads side by side share",
        "epilogue": "with the op behind it"}
#: Those of the ways in which threads share windows.
SHARED = {"places", "taps"}


def dtype_of(element):
    if element == "bf16":
        return np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    kinds = {"f64": np.float64, "f32": np.float32, "f16": np.float16}
    return np.dtype(kinds.get(element) or f"int{element[1:]}")


def widened(values):
    """Floats in float64, which has a NaN that is equal to others."""
    return values if values.dtype.kind == "i" else values.astype(np.float64)


def ways_of(module):
    lines = [str(line) for line in module.diagnostics if "kernel of windows" in str(line)]
    return {way for way, text in WAYS.items() for line in lines if text in line}


def run(program, draw, target):
    """The results of the kernel, in float64, and in the op's order; which way it went."""
    dtype, wide = dtype_of(program.element), dtype_of(program.wide)
    arguments = program.arguments(draw, dtype, wide)
    before = [each.copy() for each in arguments]
    module = nm.compile(program.text(), target=target, cache=False)
    result = np.asarray(module(*arguments))
    assert all(now.tobytes() == was.tobytes() for now, was in zip(arguments, before))
    with np.errstate(all="ignore"):
        return result, program.exact(*before), program.in_order(*before, wide), \
            ways_of(module)


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:overflow")
@pytest.mark.parametrize("element", [*LIMITS, "i8", "i32", "i64"])
@pytest.mark.parametrize("target", ["sim:sm_90a", "sim:sm_80"])
def test_drawn_windows(target, element):
    taken = collections.Counter()
    for i in range(40):
        rng = random.Random(f"{target} {element} {SEED} {i}")
        program = WindowProgram(rng, element)
        if i < 4:
            program.make_ways(last=i % 2 == 0, whole=i > 1)
        if rng.random() < 0.2:
            program.other = infinity(element, 1) if rng.random() < 0.5 else \
                "1.5" if element in FLOATS else "7"
        place = f"NM_TEST_SEED={SEED}, draw {i}:\n{program.text()}"
        try:
            result, exact, in_order, ways = run(program, np.random.default_rng([SEED, i]),
                                                target)
        except nm.Error as error:
            raise AssertionError(place) from error
        # Of others, rows and those of few elements have other kernels.
        has_windows = np.prod(program.taps) <= 64 and any(
            many > 1 and tap > 1 for many, tap in zip(program.places(), program.taps))
        assert ways or not has_windows, place
        assert not has_windows or not ways & SHARED, place
        if ways and any([*program.low, *program.high]):
            assert "image" in ways, place
        if ways and program.has_epilogue() and program.begins == "fill":
            assert "epilogue" in ways, place
        taken.update(ways)
        # The order of a share is another one, and a product is rounded or not.
        if element not in FLOATS or not ways & SHARED and program.kind != "products":
            np.testing.assert_array_equal(widened(result), widened(in_order), place)
        if element in FLOATS:
            result = widened(result)
            is_finite = np.isfinite(exact) & np.isfinite(result)
            np.testing.assert_array_equal(result[~is_finite], exact[~is_finite], place)
            error = relative_error(result[is_finite], exact[is_finite])
            assert error < LIMITS[element], place
    needed = set(WAYS) - ({"epilogue"} if element not in FLOATS else set())
    assert set(taken) == needed, f"NM_TEST_SEED={SEED}: of all ways only {taken}"


PLACES = """
func.func @places(%x: tensor<BxKxNxf32>, %last: tensor<BxNxi32>) -> tensor<BxNxi32> {
  %end = arith.constant 0x7FFFFFFF : i32
  %r = linalg.generic {indexing_maps = [affine_map<(b, k, n) -> (b, k, n)>, affine_map<(b, k, n) -> (b, n)>],
                       iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<BxKxNxf32>) outs(%last : tensor<BxNxi32>) {
  ^bb0(%a: f32, %before: i32):
    %zero = arith.constant 0.0 : f32
    %b = linalg.index 0 : index
    %k = linalg.index 1 : index
    %n = linalg.index 2 : index
    %bk = arith.addi %b, %k : index
    %all = arith.muli %bk, %n : index
    %here = arith.index_cast %all : index to i32
    %is = arith.cmpf ogt, %a, %zero : f32
    %one = arith.select %is, %here, %end : i32
    %least = arith.minsi %one, %before : i32
    linalg.yield %least : i32
  } -> tensor<BxNxi32>
  return %r : tensor<BxNxi32>
}
"""


@pytest.mark.parametrize("batch,k,n", [(1, 8, 12), (3, 41, 7), (2, 100, 64)])
def test_windows_that_read_indices(batch, k, n):
    """The least (b + k) n where an element is above zero, along k."""
    text = PLACES.replace("Bx", f"{batch}x").replace("Kx", f"{k}x").replace("Nx", f"{n}x")
    draw = np.random.default_rng(SEED)
    x = draw.standard_normal((batch, k, n)).astype(np.float32)
    last = draw.integers(0, 3 * k * n, (batch, n)).astype(np.int32)
    module = nm.compile(text, target="sim:sm_90a", cache=False)
    assert ways_of(module) == {"places"}
    b, rows, columns = np.indices(x.shape)
    places = np.where(x > 0, (b + rows) * columns, 2 ** 31 - 1).min(1)
    np.testing.assert_array_equal(np.asarray(module(x, last)), np.minimum(places, last),
                                  f"NM_TEST_SEED={SEED}")


GLOBAL = {
    "all of an image": (nn.AdaptiveAvgPool2d(1), (2, 24, 7, 7)),
    "all of many pixels": (nn.AdaptiveAvgPool2d(1), (1, 5, 33, 20)),
    "all of a volume": (nn.AdaptiveAvgPool3d(1), (2, 3, 4, 5, 6)),
    "quarters": (nn.AdaptiveAvgPool2d(2), (2, 6, 8, 12)),
    "the mean, padded": (nn.AvgPool2d(3, 2, 1), (2, 8, 14, 14)),
    "the mean of pixels alone": (nn.AvgPool2d((3, 2), (2, 1), 1, count_include_pad=False),
                                 (2, 8, 13, 8)),
    "the mean of a row's pixels": (nn.AvgPool1d(4, 3, 2, count_include_pad=False), (2, 3, 17)),
}


@pytest.mark.parametrize("dtype", BOUNDS, ids=str)
@pytest.mark.parametrize("case", [*CASES, *GLOBAL])
def test_exported_layers(case, dtype):
    """With an op before, which makes the image, and one behind."""
    layer, shape = {**CASES, **GLOBAL}[case]
    layer = nn.Sequential(nn.ReLU6(), copy.deepcopy(layer), nn.ReLU6()).to(dtype).eval()
    torch.manual_seed(SEED)
    x = 3 * torch.randn(shape).to(dtype)
    module = nm.torch.export(layer, x).compile(target="sim:sm_90a")
    ways = ways_of(module.module)
    assert "epilogue" in ways
    assert ("image" in ways) == bool(np.any(getattr(layer[1], "padding", 0)))
    with torch.no_grad():
        expected = layer.double()(x.double())
        got = module(x)
    assert got.dtype == dtype
    error = relative_error(got.double().numpy(), expected.numpy())
    assert error < 2 * BOUNDS[dtype], f"NM_TEST_SEED={SEED}"
