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


# A layer norm behind a residual add. KEPT is for what is stored as it is computed, and
# TRANSPOSED for one op that computes and transposes, or one that transposes what is kept.
NORM = """
#x = affine_map<(a, b, k) -> (a, b, k)>
#r = affine_map<(a, b, k) -> (a, b)>
#w = affine_map<(a, b, k) -> (k)>
#t = affine_map<(a, b, k) -> (k, a, b)>
func.func @f(%x: tensor<ROWSxKxE>, %add: tensor<ROWSxKxE>, %w: tensor<KxE>) -> RESULTS {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant LENGTH : f32
  %c0 = arith.constant 0 : index
  SIZES
  %none = tensor.empty(DYNAMIC) : tensor<ROWSxKxE>
  %h = linalg.generic {indexing_maps = [#x, #x, #x],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %add : tensor<ROWSxKxE>, tensor<ROWSxKxE>) outs(%none : tensor<ROWSxKxE>) {
  ^bb0(%p: E, %q: E, %out: E):
    %s = arith.addf %p, %q : E
    linalg.yield %s : E
  } -> tensor<ROWSxKxE>
  %unset = tensor.empty(DYNAMIC) : tensor<ROWSxf32>
  %clear = linalg.fill ins(%zero : f32) outs(%unset : tensor<ROWSxf32>) -> tensor<ROWSxf32>
  %sum = linalg.generic {indexing_maps = [#x, #r],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h : tensor<ROWSxKxE>) outs(%clear : tensor<ROWSxf32>) {
  ^bb0(%p: E, %out: f32):
    %e = WIDE(p)
    %s = arith.addf %out, %e : f32
    linalg.yield %s : f32
  } -> tensor<ROWSxf32>
  %squares = linalg.generic {indexing_maps = [#x, #r, #r],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %sum : tensor<ROWSxKxE>, tensor<ROWSxf32>) outs(%clear : tensor<ROWSxf32>) {
  ^bb0(%p: E, %m: f32, %out: f32):
    %e = WIDE(p)
    %mean = arith.divf %m, %count : f32
    %d = arith.subf %e, %mean : f32
    %q = arith.mulf %d, %d : f32
    %s = arith.addf %out, %q : f32
    linalg.yield %s : f32
  } -> tensor<ROWSxf32>
  %to = tensor.empty(DYNAMIC) : tensor<OUT>
  %y = linalg.generic {indexing_maps = [#x, #r, #r, #w, MAP],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%h, %sum, %squares, %w
          : tensor<ROWSxKxE>, tensor<ROWSxf32>, tensor<ROWSxf32>, tensor<KxE>)
      outs(%to : tensor<OUT>) {
  ^bb0(%p: E, %m: f32, %v: f32, %g: E, %out: E):
    %one = arith.constant 1.0 : f32
    %e = WIDE(p)
    %f = WIDE(g)
    %mean = arith.divf %m, %count : f32
    %var = arith.divf %v, %count : f32
    %safe = arith.addf %var, %one : f32
    %root = math.rsqrt %safe : f32
    %d = arith.subf %e, %mean : f32
    %n = arith.mulf %d, %root : f32
    %s = arith.mulf %n, %f : f32
    %t = NARROW(s)
    linalg.yield %t : E
  } -> tensor<OUT>
  RETURN
}
"""
TURN = """%flat = tensor.collapse_shape %y [[0, 1], [2]]
    : tensor<ROWSxKxE> into tensor<FLATxKxE>
  %empty = tensor.empty() : tensor<KxFLATxE>
  %z = linalg.transpose ins(%flat : tensor<FLATxKxE>) outs(%empty : tensor<KxFLATxE>)
    permutation = [1, 0]
  return %y, %z : tensor<ROWSxKxE>, tensor<KxFLATxE>"""


def norm_text(rows, length, element, both, dynamic, behind=TURN):
    """Returns a transposed norm, or it and the norm as it is."""
    shape = f"?x{rows[1]}" if dynamic else f"{rows[0]}x{rows[1]}"
    wide = element == "f32"
    text = NORM.replace("RETURN", behind if both else "return %y : tensor<OUT>")
    text = text.replace("RESULTS", "(tensor<ROWSxKxE>, tensor<KxFLATxE>)" if both
                        else "tensor<OUT>").replace("MAP", "#x" if both else "#t")
    text = text.replace("OUT", "ROWSxKxE" if both else "KxROWSxE")
    text = text.replace("SIZES", "%rows = tensor.dim %x, %c0 : tensor<ROWSxKxE>"
                        if dynamic else "")
    text = text.replace("DYNAMIC", "%rows" if dynamic else "")
    text = re.sub(r"%(\w+) = WIDE\((\w+)\)", r"%\1 = arith.addf %\2, %zero : f32" if wide
                  else rf"%\1 = arith.extf %\2 : {element} to f32", text)
    text = re.sub(r"%(\w+) = NARROW\((\w+)\)", r"%\1 = arith.addf %\2, %zero : f32" if wide
                  else rf"%\1 = arith.truncf %\2 : f32 to {element}", text)
    text = text.replace("ROWS", shape).replace("FLAT", str(rows[0] * rows[1]))
    text = text.replace("LENGTH", f"{length}.0")
    return re.sub(r"(?<=[<x])K(?=x)", str(length),
                  re.sub(r"\bE\b|(?<=x)E(?=>)", element, text))


@pytest.mark.parametrize("element", list(LIMITS))
@pytest.mark.parametrize("target", ["sim:sm_90a", "sim:sm_80"])
@pytest.mark.parametrize("both", [False, True])
def test_transposed_norm(target, element, both):
    """Of rows that are many and few, even and odd, and longer than a tile has room for."""
    for i, (rows, length) in enumerate([
            ((1, 1), 40), ((2, 197), 64), ((1, 16), 1024), ((3, 11), 1000), ((7, 5), 33),
            ((2, 24), 1032), ((1, 35), 2048), ((1, 20), 4096), ((2, 9), 9001)]):
        draw = np.random.default_rng([SEED, i])
        shape, dtype = (*rows, length), dtype_of(element)
        x, add = (draw.standard_normal(shape).astype(dtype) for _ in range(2))
        w = draw.standard_normal(length).astype(dtype)
        # The caller cannot allocate a result whose rows are a product of sizes.
        dynamic = i % 3 == 2 and not both
        text = norm_text(rows, length, element, both, dynamic)
        module = nm.compile(text, target=target, cache=False)
        taken = any("stored transposed" in str(line) for line in module.diagnostics)
        assert taken == (rows != (1, 1) and length <= 2048)
        results = module(x, add, w)
        h = (x + add).astype(np.float64)
        h = h - h.mean(-1, keepdims=True)
        exact = h / np.sqrt((h * h).mean(-1, keepdims=True) + 1) * w.astype(np.float64)
        turned = np.moveaxis(exact, -1, 0)
        place = f"NM_TEST_SEED={SEED}, {rows} x {length}"
        if both:
            kept, results = results
            turned = turned.reshape(length, -1)
            assert error_of(np.asarray(kept, np.float64), exact) < LIMITS[element], place
        assert error_of(np.asarray(results, np.float64), turned) < LIMITS[element], place


# Splits of a norm, or of what transposes it, where OF is [k x m].
SPLIT = """%flat = tensor.collapse_shape %y [[0, 1], [2]]
    : tensor<ROWSxKxE> into tensor<FLATxKxE>
  TURN
  %unsplit = tensor.empty() : tensor<KxCOLUMNSxbf16>
  %z = nm.split_floats SPLITS ins(%given : tensor<OFxf32>)
    outs(%unsplit : tensor<KxCOLUMNSxbf16>) -> tensor<KxCOLUMNSxbf16>
  return %y, %z : tensor<ROWSxKxE>, tensor<KxCOLUMNSxbf16>"""


def splits_of(x, splits):
    """The bits that nm/Format/SplitFloats.h says of `x`, [m x k]: [k x splits of 64 m]."""
    bf16 = pytest.importorskip("ml_dtypes").bfloat16
    bits, huge = x.view(np.uint32), ~(np.abs(x) < 2.0 ** 44)
    rest = np.where(huge, 0, x * np.float32(2 ** 16))
    parts = []
    for split in range(splits):
        parts.append(rest.astype(bf16).view(np.uint16))
        rest = rest - parts[-1].view(bf16).astype(np.float32)
    of_huge = [0x7fc0, np.where(np.isnan(x), 0x7fc0, bits >> 16), bits & 0xffff]
    parts = [np.where(huge, other, part) for part, other in zip(parts, of_huge)]
    m, k = x.shape
    filled = np.zeros((splits, -(-m // 64) * 64, k), np.uint16)
    filled[:, :m] = parts
    return filled.reshape(splits, -1, 64, k).transpose(3, 1, 0, 2).reshape(k, -1)


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:overflow")
@pytest.mark.parametrize("target", ["sim:sm_90a", "sim:sm_80"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("splits", [2, 3])
def test_norm_stores_splits(target, splits, turned):
    """Of rows that are no multiple of 64, of a block's 16 and 8, and of more bytes than it
    has room for; bit for bit, with values that are no splits."""
    for i, (rows, length, taken) in enumerate([
            ((1, 16), 40, True), ((5, 13), 64, True), ((2, 40), 1000, True),
            ((7, 5), 33, True), ((1, 35), 1536, True), ((2, 9), 2052, True),
            ((1, 12), 40, True), ((1, 7), 40, False), ((1, 17), 3100, False)]):
        draw = np.random.default_rng([SEED, i])
        count = rows[0] * rows[1]
        of = f"{length}x{count}" if turned else f"{count}x{length}"
        text = SPLIT.replace("TURN", f"""%e = tensor.empty() : tensor<{of}xf32>
  %given = linalg.transpose ins(%flat : tensor<{count}x{length}xf32>)
    outs(%e : tensor<{of}xf32>) permutation = [1, 0]""" if turned else "")
        text = text.replace("%given", "%given" if turned else "%flat")
        text = text.replace("OF", of).replace("SPLITS", f"{splits}" if turned
                                              else f"{splits} transpose")
        columns = -(-count // 64) * 64 * splits
        text = norm_text(rows, length, "f32", True, False, text).replace(
            f"{length}xCOLUMNS", f"{length}x{columns}").replace(
            f"tensor<{length}x{count}xf32>)", f"tensor<{length}x{columns}xbf16>)", 1)
        module = nm.compile(text, target=target, cache=False)
        lines = [str(line) for line in module.diagnostics]
        assert any("as splits, by blocks" in line for line in lines) == taken, lines
        assert any("split a tile" in line for line in lines) != taken, lines
        x, add = (draw.standard_normal((*rows, length)).astype(np.float32)
                  for _ in range(2))
        w = draw.standard_normal(length).astype(np.float32)
        w[draw.integers(length, size=4)] = 1e20, -3e30, np.inf, 1e-39
        place = f"NM_TEST_SEED={SEED}, {rows} x {length}"
        kept, parts = (np.asarray(result) for result in module(x, add, w))
        h = (x + add).astype(np.float64)
        h = h - h.mean(-1, keepdims=True)
        exact = h / np.sqrt((h * h).mean(-1, keepdims=True) + 1) * w.astype(np.float64)
        np.testing.assert_allclose(kept, exact, rtol=2e-4, atol=1e-5, err_msg=place)
        np.testing.assert_array_equal(parts.view(np.uint16),
                                      splits_of(kept.reshape(count, length), splits), place)


QUANTIZED = """
func.func @f(%x: tensor<MxKxf16>, %w: tensor<Kxf16>, %scale: tensor<f32>) -> tensor<MxKxi8> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<Mxf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<Mxf32>) -> tensor<Mxf32>
  %squares = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<MxKxf16>) outs(%start : tensor<Mxf32>) {
  ^bb0(%a: f16, %sum: f32):
    %wide = arith.extf %a : f16 to f32
    %square = arith.mulf %wide, %wide : f32
    %more = arith.addf %sum, %square : f32
    linalg.yield %more : f32
  } -> tensor<Mxf32>
  %bytes = tensor.empty() : tensor<MxKxi8>
  %y = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>,
      affine_map<(m, k) -> (k)>, affine_map<(m, k) -> ()>, affine_map<(m, k) -> (m, k)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %squares, %w, %scale : tensor<MxKxf16>, tensor<Mxf32>, tensor<Kxf16>, tensor<f32>)
      outs(%bytes : tensor<MxKxi8>) {
  ^bb0(%a: f16, %sum: f32, %g: f16, %s: f32, %old: i8):
    %length = arith.constant LENGTH : f32
    %epsilon = arith.constant 1.0e-5 : f32
    %least = arith.constant -127.0 : f32
    %most = arith.constant 127.0 : f32
    %mean = arith.divf %sum, %length : f32
    %shifted = arith.addf %mean, %epsilon : f32
    %root = math.rsqrt %shifted : f32
    %wide = arith.extf %a : f16 to f32
    %weight = arith.extf %g : f16 to f32
    %scaled = arith.mulf %wide, %root : f32
    %normed = arith.mulf %scaled, %weight : f32
    %parts = arith.divf %normed, %s : f32
    %whole = math.roundeven %parts : f32
    %above = arith.maximumf %whole, %least : f32
    %inside = arith.minimumf %above, %most : f32
    %byte = arith.fptosi %inside : f32 to i8
    linalg.yield %byte : i8
  } -> tensor<MxKxi8>
  return %y : tensor<MxKxi8>
}
"""


def check_quantized_norm(rng, rows, length, target):
    """Compares an RMS norm to i8 with float64; returns the lines of its compilation."""
    text = re.sub(r"\bK(?=x)|(?<=x)K(?=x)", str(length), QUANTIZED)
    text = re.sub(r"\bM(?=x)", str(rows), text).replace("LENGTH", f"{length}.0")
    module = nm.compile(text, target=target, cache=False)
    x = rng.standard_normal((rows, length)).astype(np.float16)
    w = rng.standard_normal(length).astype(np.float16)
    scale = np.float32(0.02)
    wide = x.astype(np.float64)
    normed = wide / np.sqrt((wide * wide).mean(-1, keepdims=True) + 1e-5)
    parts = normed * w.astype(np.float64) / scale
    got = np.asarray(module(x, w, np.array(scale))).astype(np.int64)
    # A value half-way between two bytes may round to either.
    assert (np.abs(got - np.clip(parts, -127, 127)) < 0.501).all(), (rows, length)
    return [str(line) for line in module.diagnostics]


@pytest.mark.parametrize("target", ["sim:sm_90a", "sim:sm_80"])
def test_norm_stores_bytes(rng, target):
    """An RMS norm and its quantization to i8 are one kernel, for odd sizes, too."""
    for rows, length in ((1, 40), (37, 1000), (5, 333), (3, 4097)):
        lines = check_quantized_norm(rng, rows, length, target)
        assert any("2 ops around it are one kernel" in line for line in lines), lines
