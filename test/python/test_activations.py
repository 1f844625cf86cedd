"""Activations on all kinds of numbers, against float64."""

import math

import nm
import numpy as np
import pytest
from test_cuda import no_device, run_on

HALVES = """
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %w = arith.addf %one, %f : f32
  %h = arith.mulf %v, %half : f32
  %y = arith.mulf %h, %w : f32
"""
BODIES = {
    "erf": "%y = math.erf %v : f32",
    "gelu": """
  %c = arith.constant 0.707106769 : f32
  %z = arith.mulf %v, %c : f32
  %f = math.erf %z : f32""" + HALVES,
    # The same, divided and multiplied in another order.
    "gelu_divided": """
  %c = arith.constant 1.41421354 : f32
  %two = arith.constant 2.0 : f32
  %half = arith.constant 0.5 : f32
  %z = arith.divf %v, %c : f32
  %f = math.erf %z : f32
  %g = arith.mulf %f, %half : f32
  %w = arith.addf %g, %half : f32
  %y = arith.mulf %w, %v : f32""",
    "gelu_tanh": """
  %a = arith.constant 0.044715 : f32
  %c = arith.constant 0.797884583 : f32
  %s = arith.mulf %v, %v : f32
  %t = arith.mulf %s, %v : f32
  %u = arith.mulf %t, %a : f32
  %sum = arith.addf %v, %u : f32
  %z = arith.mulf %sum, %c : f32
  %f = math.tanh %z : f32""" + HALVES,
    "sigmoid": """
  %one = arith.constant 1.0 : f32
  %z = arith.negf %v : f32
  %f = math.exp %z : f32
  %w = arith.addf %f, %one : f32
  %y = arith.divf %one, %w : f32""",
    "silu": """
  %one = arith.constant 1.0 : f32
  %z = arith.negf %v : f32
  %f = math.exp %z : f32
  %w = arith.addf %f, %one : f32
  %y = arith.divf %v, %w : f32""",
}


def erf(v):
    return np.vectorize(math.erf)(v)


def in_float64(name, v):
    # exp and the cube are infinite where float32's are.
    with np.errstate(all="ignore"):
        if name == "erf":
            return erf(v)
        if name.startswith("gelu_tanh"):
            z = np.sqrt(2 / np.pi) * (v + 0.044715 * v ** 3)
            return 0.5 * v * (1 + np.tanh(z))
        if name.startswith("gelu"):
            return 0.5 * v * (1 + erf(v / np.sqrt(2)))
        sigmoid = 1 / (1 + np.exp(-v))
        return sigmoid if name == "sigmoid" else v * sigmoid


def numbers(rng):
    """A dense grid, small and subnormal numbers, huge ones, infinity and NaN."""
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-39, 3e38,
               -3e38, 1e20, -1e20, 88.0, -88.0, 90.0, -90.0, 5.6, -5.6]
    small = np.ldexp(rng.uniform(-1, 1, 3000), rng.integers(-120, 0, 3000))
    values = np.concatenate([np.linspace(-13, 13, 12001), small, special])
    return np.resize(values, 16384).astype(np.float32)


def text_of(body):
    return f"""
#id = affine_map<(m, n) -> (m, n)>
func.func @f(%x: tensor<128x128xf32>) -> tensor<128x128xf32> {{
  %e = tensor.empty() : tensor<128x128xf32>
  %r = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
    ins(%x : tensor<128x128xf32>) outs(%e : tensor<128x128xf32>) {{
  ^bb0(%v: f32, %o: f32):
    {body}
    linalg.yield %y : f32
  }} -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}}
"""


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a", "cuda"])
@pytest.mark.parametrize("name", BODIES)
def test_activation(rng, target, name):
    if target == "cuda" and no_device():
        pytest.skip("no CUDA device")
    module = nm.compile(text_of(BODIES[name]), target=target)
    x = numbers(rng)
    result = run_on(target, module, x.reshape(128, 128))
    result = result.reshape(-1).astype(np.float64)
    v = x.astype(np.float64)
    exact = in_float64(name, v)
    np.testing.assert_array_equal(np.isnan(result), np.isnan(exact))
    finite = np.isfinite(exact)
    np.testing.assert_array_equal(result[np.isinf(exact)],
                                  exact[np.isinf(exact)])
    with np.errstate(invalid="ignore"):
        error = np.abs(result - exact)
    # Of a factor between 0 and 1: three times what 1 + erf is rounded by.
    scale = 1.0 if name in ("erf", "sigmoid") else np.maximum(np.abs(v), 1e-30)
    assert (error / scale)[finite].max() < 2e-7
    # Where nothing cancels, a few units in the last place.
    near = finite & (np.abs(v) < 0.5) & (np.abs(v) > 1e-30)
    assert (error[near] / np.abs(exact[near])).max() < 5e-7


def assert_close(result, exact):
    """Equal infinities and NaN, and normal numbers within a few units in the last place.
    Subnormal ones may be zero."""
    info = np.finfo(np.float32)
    exact = np.where(np.abs(exact) > info.max, np.copysign(np.inf, exact), exact)
    np.testing.assert_array_equal(np.isnan(result), np.isnan(exact))
    # Both sides of the largest number are as good.
    is_edge = np.abs(np.abs(exact) / info.max - 1) < 1e-6
    known = ~np.isnan(exact) & ~is_edge
    np.testing.assert_array_equal(np.isinf(result[known]), np.isinf(exact[known]))
    finite = known & np.isfinite(exact)
    error = np.abs(result[finite] - exact[finite])
    assert (error <= 4e-7 * np.abs(exact[finite]) + info.tiny).all()


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@pytest.mark.parametrize("target", ["sim:sm_90a", "cuda"])
def test_exponential(rng, target):
    """Of the whole range: a GPU makes a power of two."""
    if target == "cuda" and no_device():
        pytest.skip("no CUDA device")
    module = nm.compile(text_of("%y = math.exp %v : f32"), target=target)
    x = numbers(rng)
    x[:8000] = np.linspace(-110, 92, 8000)
    result = run_on(target, module, x.reshape(128, 128)).reshape(-1)
    assert_close(result.astype(np.float64), np.exp(x.astype(np.float64)))


DIVIDED = """
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
func.func @f(%x: tensor<128x128xf32>, %d: tensor<128xf32>) -> tensor<128x128xf32> {
  %e = tensor.empty() : tensor<128x128xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %d : tensor<128x128xf32>, tensor<128xf32>) outs(%e : tensor<128x128xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %y = arith.divf %v, %w : f32
    linalg.yield %y : f32
  } -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}
"""


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value",
                            "ignore:divide by zero")
@pytest.mark.parametrize("target", ["sim:sm_90a", "cuda"])
def test_rows_by_one_divisor(rng, target):
    """Of all sizes: a GPU makes products with a reciprocal."""
    if target == "cuda" and no_device():
        pytest.skip("no CUDA device")
    module = nm.compile(DIVIDED, target=target)
    x = numbers(rng)
    x[:8000] = np.ldexp(rng.uniform(-1, 1, 8000), rng.integers(-126, 127, 8000))
    rng.shuffle(x)
    divisors = np.ldexp(rng.uniform(.5, 1, 128), rng.integers(-148, 129, 128))
    divisors[:7] = [0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3e38]
    divisors = divisors.astype(np.float32)
    result = run_on(target, module, x.reshape(128, 128), divisors)
    exact = x.reshape(128, 128).astype(np.float64) / divisors[:, None].astype(np.float64)
    assert_close(result.astype(np.float64), exact)
