"""Kernels of row-wise ops on a GPU, in the simulator: drawn programs against float64,
norms and softmax of odd rows, and numbers that are not finite."""

import os
import random
import re

import nm
import numpy as np
import pytest
from conftest import relative_error
from row_programs import LENGTHS, RowProgram

SEED = int(os.environ.get("NM_TEST_SEED", random.SystemRandom().randrange(2 ** 31)))
LIMITS = {"f32": 1e-5, "f16": 2e-3, "bf16": 1e-2}


def dtype_of(element):
    if element != "bf16":
        return np.dtype({"f32": np.float32, "f16": np.float16}[element])
    return np.dtype(pytest.importorskip("ml_dtypes").bfloat16)


@pytest.mark.parametrize("element", list(LIMITS))
@pytest.mark.parametrize("target", ["sim:sm_90a", "sim:sm_80"])
def test_drawn_programs(target, element):
    for i in range(25):
        rng = random.Random(f"{target} {element} {SEED} {i}")
        lengths = (*LENGTHS, 9000, 40001)
        program = RowProgram(rng, element, dtype_of(element), lengths)
        program.make(rng.randint(1, 8))
        arguments = program.arguments(np.random.default_rng(rng.randrange(2 ** 31)))
        place = f"NM_TEST_SEED={SEED}, draw {i}:\n{program.text()}"
        try:
            module = nm.compile(program.text(), target=target)
            results = module(*arguments.values())
        except nm.Error as error:
            raise AssertionError(place) from error
        results = results if isinstance(results, tuple) else (results,)
        others = [program.expected(each) for each in nudged(arguments)]
        for result, exact, *moved, (*_, kind) in zip(
                results, program.expected(arguments), *others, program.results):
            limit = LIMITS[kind if kind == "f32" else element]
            error = error_of(np.asarray(result, np.float64), exact)
            change = max(error_of(each, exact) for each in moved)
            assert error < limit + min(10 * change, 99 * limit), place


def nudged(arguments):
    """The arguments, each off by a rounding of f32, up or down, all up, and all down: what
    that changes of a result, sums whose terms cancel, their order may change, too. Of a
    long sum changes up and down cancel; a sum of squares that is off by its own rounding
    moves all that is rounded to f16 behind it."""
    rng = np.random.default_rng(0)
    return [{name: value.astype(np.float64) * (1 + signs(value.shape) * 2.0 ** -24)
             for name, value in arguments.items()}
            for signs in (lambda shape: rng.choice([-1, 1], shape), np.ones,
                          lambda shape: -np.ones(shape))]


def error_of(result, exact):
    """The relative error where `exact` is finite; infinite where others differ from it:
    sums of squares may be more than f16 has."""
    is_finite = np.isfinite(exact)
    if not np.array_equal(result[~is_finite], exact[~is_finite], equal_nan=True):
        return np.inf
    return relative_error(result[is_finite], exact[is_finite])


SOFTMAX = """
func.func @f(%x: tensor<RxLxT>) -> tensor<RxLxT> {
  %e = tensor.empty() : tensor<RxLxT>
  %y = linalg.softmax dimension(1) ins(%x : tensor<RxLxT>) outs(%e : tensor<RxLxT>)
    -> tensor<RxLxT>
  return %y : tensor<RxLxT>
}
"""


def softmax(x):
    with np.errstate(invalid="ignore"):
        y = np.exp(x - x.max(-1, keepdims=True))
    return y / y.sum(-1, keepdims=True)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("target", ["sim:sm_90a", "sim:sm_80"])
@pytest.mark.parametrize("length", [1, 7, 32, 33, 197, 1024, 4097, 40000, 128256, 152064])
def test_softmax(rng, length, target):
    x = rng.standard_normal((6, length)).astype(np.float32)
    x[1, rng.integers(length)] = np.nan
    x[2, rng.integers(length)] = np.inf
    x[3, rng.integers(length)] = -np.inf
    text = SOFTMAX.replace("R", "6").replace("L", str(length)).replace("T", "f32")
    result = np.asarray(nm.compile(text, target=target)(x))
    exact = softmax(x.astype(np.float64))
    np.testing.assert_array_equal(np.isnan(result), np.isnan(exact))
    np.testing.assert_allclose(result, exact, rtol=1e-5, atol=1e-30)


REDUCE = """
func.func @f(%x: tensor<RxLxT>) -> tensor<RxT> {
  %first = arith.constant START : T
  %e = tensor.empty() : tensor<RxT>
  %o = linalg.fill ins(%first : T) outs(%e : tensor<RxT>) -> tensor<RxT>
  %y = linalg.reduce { arith.OP } ins(%x : tensor<RxLxT>) outs(%o : tensor<RxT>)
    dimensions = [1]
  return %y : tensor<RxT>
}
"""


def reduce(operation, start, x, target="sim:sm_90a"):
    kind = {"float64": "f64", "float32": "f32", "float16": "f16"}.get(x.dtype.name, "i" + x.dtype.name[3:])
    text = REDUCE
    for name, value in (("R", x.shape[0]), ("L", x.shape[1])):
        text = re.sub(rf"{name}x", f"{value}x", text)
    text = text.replace("xT", "x" + kind).replace(": T", f": {kind}")
    text = text.replace("START", str(start)).replace("OP", operation)
    return np.asarray(nm.compile(text, target=target)(x))


@pytest.mark.parametrize("length", [1, 5, 64, 1000, 4097])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_integers_are_exact(rng, dtype, length):
    limits = np.iinfo(dtype)
    x = rng.integers(limits.min, limits.max, (5, length), dtype=dtype, endpoint=True)
    with np.errstate(over="ignore"):
        for operation, start, exact in (
                ("addi", 3, x.sum(-1, dtype=dtype) + dtype(3)),
                ("maxsi", limits.min, x.max(-1)), ("minsi", limits.max, x.min(-1)),
                ("xori", 0, np.bitwise_xor.reduce(x, -1)),
                ("muli", 1, np.multiply.reduce(x, -1, dtype=dtype))):
            np.testing.assert_array_equal(reduce(operation, start, x), exact)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("length", [3, 100, 4097])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_least_and_greatest(rng, dtype, length):
    """Which of them passes on a NaN is in the name of the op."""
    x = rng.standard_normal((40, length)).astype(dtype)
    for row in range(20):
        x[row, rng.integers(length)] = (np.nan, np.inf, -np.inf)[row % 3]
    infinity = {np.float64: ("0xFFF0000000000000", "0x7FF0000000000000"),
                np.float32: ("0xFF800000", "0x7F800000"),
                np.float16: ("0xFC00", "0x7C00")}[dtype]
    for operation, start, exact in (
            ("maximumf", infinity[0], x.max(-1)), ("minimumf", infinity[1], x.min(-1)),
            ("maxnumf", infinity[0], np.fmax.reduce(x, -1)),
            ("minnumf", infinity[1], np.fmin.reduce(x, -1))):
        np.testing.assert_array_equal(reduce(operation, start, x), exact)
