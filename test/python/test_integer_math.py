"""Ops of the math dialect on integers, against Python's own integers."""

import nm
import numpy as np
import pytest

TYPES = {"i8": np.int8, "i32": np.int32, "i64": np.int64}
SHAPE = (33, 21)


def function(op, kind, *others):
    """A function of two dimensions that maps `op` over its operands."""
    kinds = [kind, *others]
    names = [f"%x{i}" for i in range(len(kinds))]
    tensors = [f"tensor<33x21x{each}>" for each in kinds]
    signature = ", ".join(map(": ".join, zip(names, tensors)))
    elements = [f"%a{i}" for i in range(len(kinds))]
    types = kind if op != "fpowi" else ", ".join(kinds)
    return f"""
func.func @{op}_{kind}({signature}) -> {tensors[0]} {{
  %empty = tensor.empty() : {tensors[0]}
  %result = linalg.map ins({", ".join(names)} : {", ".join(tensors)})
    outs(%empty : {tensors[0]})
    ({", ".join(map(": ".join, zip(elements, kinds)))}, %out: {kind}) {{
      %value = math.{op} {", ".join(elements)} : {types}
      linalg.yield %value : {kind}
    }}
  return %result : {tensors[0]}
}}"""


def bits(value, width):
    return f"{int(value) & ((1 << width) - 1):0{width}b}"


def power(x, n):
    x, n = int(x), int(n)
    return x ** n if n >= 0 else {1: 1, -1: (-1) ** -n}.get(x, 0)


COUNTS = {
    "absi": lambda x, width: abs(int(x)),
    "ctpop": lambda x, width: bits(x, width).count("1"),
    "ctlz": lambda x, width: width - len(bits(x, width).lstrip("0")),
    "cttz": lambda x, width: width - len(bits(x, width).rstrip("0")),
}


def wrapped(values, width, dtype):
    """The lowest bits of Python's integers."""
    modulus = 1 << width
    least = -(modulus // 2)
    return np.array([(value - least) % modulus + least for value in values],
                    dtype).reshape(SHAPE)


@pytest.fixture(scope="module", params=["cpu", "sim:sm_90a"])
def module(request):
    text = "".join(function(op, kind) for op in COUNTS for kind in TYPES)
    text += "".join(function("ipowi", kind, kind) for kind in TYPES)
    text += "".join(function("fpowi", kind, "i32") for kind in ("f32", "f16"))
    return nm.compile(text + function("trunc", "f16"), target=request.param)


@pytest.mark.parametrize("kind", TYPES)
def test_counts(module, rng, kind):
    dtype = TYPES[kind]
    width, info = dtype().itemsize * 8, np.iinfo(dtype)
    x = rng.integers(info.min, info.max, SHAPE, dtype, endpoint=True)
    x >>= rng.integers(0, width, SHAPE).astype(dtype)
    x[0, :6] = [0, 1, -1, info.min, info.max, 2]
    for op, count in COUNTS.items():
        wanted = wrapped([count(value, width) for value in x.flat], width, dtype)
        np.testing.assert_array_equal(module[f"{op}_{kind}"](x), wanted, op)


@pytest.mark.parametrize("kind", TYPES)
def test_powers(module, rng, kind):
    dtype = TYPES[kind]
    x = rng.integers(-9, 10, SHAPE).astype(dtype)
    n = rng.integers(-4, 30, SHAPE).astype(dtype)
    x[0, :6], n[0, :6] = [1, -1, -1, 2, -3, 5], [-3, -3, -4, -1, -2, 0]
    n[(x == 0) & (n < 0)] = 0  # which is a division by zero
    wanted = wrapped([power(*each) for each in zip(x.flat, n.flat)],
                     dtype().itemsize * 8, dtype)
    np.testing.assert_array_equal(module[f"ipowi_{kind}"](x, n), wanted)


@pytest.mark.parametrize("dtype,tolerance", [(np.float32, 1e-5), (np.float16, 2e-3)])
def test_powers_of_floats(module, rng, dtype, tolerance):
    x = rng.uniform(0.5, 2, SHAPE).astype(dtype) * rng.choice([-1, 1], SHAPE).astype(dtype)
    n = rng.integers(-6, 7, SHAPE).astype(np.int32)
    got = module[f"fpowi_{'f32' if dtype == np.float32 else 'f16'}"](x, n)
    wanted = x.astype(np.float64) ** n
    np.testing.assert_allclose(np.asarray(got, np.float64), wanted, rtol=tolerance)


def test_truncation_of_f16(module, rng):
    x = rng.normal(0, 30, SHAPE).astype(np.float16)
    np.testing.assert_array_equal(module["trunc_f16"](x), np.trunc(x))
