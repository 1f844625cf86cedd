"""Products of f32 by the tensor cores, as sums of bf16 splits: see
nm/Format/SplitFloats.h."""

import nm
import numpy as np
import pytest
from product_text import PRODUCT_OPS, text_of
from test_special_values import exact_product

TARGET = "sim:sm_90a"


def strategy_of(pattern):
    """The exact gather for columns that keep the same rows, else the sparse
    operand."""
    columns = int(pattern.split("x")[1]) if "x" in pattern else 1
    return "wgmma" if columns >= 64 else "wgmma_sp"


def compile_terms(m, k, n, pattern, arithmetic="f32", schedule=None, text=None):
    if schedule is None:
        schedule = strategy_of(pattern)
    return nm.compile(text or text_of(m, k, n, pattern), target=TARGET,
                      schedule=schedule, arithmetic=arithmetic,
                      # wgmma_sp stores zeros where a pattern keeps less than two
                      # of four, which dense_fallback=False forbids.
                      dense_fallback=schedule.startswith("wgmma_sp"), cache=False)


def relative_error(result, exact):
    return np.linalg.norm(result - exact) / np.linalg.norm(exact)


# Of whole tiles, and with odd edges of m, k and n; units of a vector's columns
# and blocks that are tiles by themselves; weights that tensor cores skip the
# zeros of, whose groups of four keep two, or fewer, of one window or of two.
SIZES = {
    "8:32, block = 1x128": (128, 256, 128),
    "16:32, block = 1x128": (130, 200, 257),
    "4:32, block = 1x64": (100, 161, 192),
    "5:20, block = 1x192": (67, 110, 200),
    "2:4, block = 64x64": (65, 520, 130),
    "3:8, block = 1x256": (1, 97, 256),
    "2:4": (128, 256, 128),
    "2:4, block = 1x4": (130, 200, 257),
    "1:2, block = 2x6": (33, 97, 70),
    "1:4": (67, 110, 200),
    "2:8": (200, 161, 64),
    "1:3": (1, 130, 130),
}


@pytest.mark.parametrize("pattern", SIZES)
@pytest.mark.parametrize("data", ["normal", "uniform", "binades"])
def test_error(draw, rng, pattern, data):
    m, k, n = SIZES[pattern]
    w, x = draw.weight((k, n), pattern, axis=0), draw.array(m, k)
    if data == "uniform":
        w, x = np.abs(w), rng.random((m, k), dtype=np.float32)
    elif data == "binades":
        x *= np.exp2(rng.uniform(-20, 20, x.shape)).astype(np.float32)
        w *= np.exp2(rng.uniform(-20, 20, w.shape)).astype(np.float32)
    exact = x.astype(np.float64) @ w.astype(np.float64)
    module = compile_terms(m, k, n, pattern)
    assert "splits = 3" in module.remarks[0]
    assert relative_error(module(x, w), exact) < 3e-7


@pytest.mark.parametrize("pattern", ["8:32, block = 1x128", "2:4"])
@pytest.mark.parametrize("arithmetic, least, most", [
    ("f32", 0, 3e-7), ("bf16x3", 1e-7, 2e-5), ("tf32", 1e-7, 2e-5)])
def test_arithmetic(draw, pattern, arithmetic, least, most):
    w, x = draw.weight((256, 128), pattern, axis=0), draw.array(128, 256)
    module = compile_terms(128, 256, 128, pattern, arithmetic)
    exact = x.astype(np.float64) @ w.astype(np.float64)
    assert least <= relative_error(module(x, w), exact) < most


def test_is_the_default():
    pattern = "8:32, block = 1x128"
    module = compile_terms(512, 1024, 1024, pattern, schedule="")
    assert "strategy wgmma" in module.remarks[0]
    assert "splits = 3" in module.remarks[0]
    ieee = compile_terms(512, 1024, 1024, pattern, "ieee", schedule="")
    assert "strategy simt" in ieee.remarks[0]


@pytest.mark.parametrize("pattern, message", [
    ("8:32, block = 1x128", "multiplies f16, bf16, i8, f8E4M3FN and f8E5M2"),
    ("2:4", "expected weights of f16, bf16")])
def test_ieee_has_none(pattern, message):
    with pytest.raises(nm.Error, match=message):
        compile_terms(128, 256, 128, pattern, "ieee")


@pytest.mark.parametrize("pattern", ["8:32, block = 1x64", "1:4"])
def test_small_numbers(draw, pattern):
    """Down to subnormal ones, splits keep all bits."""
    m, k, n = 64, 96, 64
    w, x = draw.weight((k, n), pattern, axis=0), draw.array(m, k)
    module = compile_terms(m, k, n, pattern)
    for scale_x, scale_w in [(2.0 ** -140, 2.0 ** 30), (2.0 ** -100, 2.0 ** -5),
                             (2.0 ** 30, 2.0 ** -140)]:
        xs = (x * scale_x).astype(np.float32)
        ws = (w * scale_w).astype(np.float32)
        exact = xs.astype(np.float64) @ ws.astype(np.float64)
        assert relative_error(module(xs, ws).astype(np.float64), exact) < 1e-6


@pytest.mark.parametrize("pattern", ["8:32, block = 1x64", "1:4"])
def test_zeros(draw, pattern):
    """Sums start at zero, so that those of negative zeros are zero."""
    w, x = draw.weight((64, 64), pattern, axis=0), draw.array(32, 64)
    x[:] = -0.0
    result = compile_terms(32, 64, 64, pattern)(x, np.abs(w))
    assert not result.any() and not np.signbit(result).any()


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:overflow")
@pytest.mark.parametrize("pattern", SIZES)
def test_values_that_are_no_terms(draw, rng, pattern):
    m, k, n = SIZES[pattern]
    w, x = draw.weight((k, n), pattern, axis=0), draw.array(m, k)
    for value in (np.inf, -np.inf, np.nan, 1e30, -3e38, 2e13):
        x[rng.integers(m), rng.integers(k)] = value
    kept = np.argwhere(w != 0)
    for value in (1e20, -1e38):
        row, column = kept[rng.integers(len(kept))]
        w[row, column] = value
    exact = exact_product(x, w).astype(np.float32)
    result = compile_terms(m, k, n, pattern)(x, w)
    finite = np.isfinite(exact)
    assert not finite.all() and finite.any()
    np.testing.assert_array_equal(result[~finite], exact[~finite])
    np.testing.assert_allclose(result[finite], exact[finite], rtol=1e-5,
                               atol=1e-5)


@pytest.mark.parametrize("pattern", ["8:32, block = 1x64", "1:4"])
def test_infinite_weight(draw, pattern):
    w, x = draw.weight((64, 64), pattern, axis=0), draw.array(32, 64)
    row, column = np.argwhere(w != 0)[5]
    w[row, column] = np.inf
    result = compile_terms(32, 64, 64, pattern)(x, w)
    expected = np.copysign(np.inf, x[:, row])
    np.testing.assert_array_equal(result[:, column], expected)
    assert np.isfinite(np.delete(result, column, axis=1)).all()


def test_zero_that_is_kept(draw):
    """It meets an infinite activation, which a pruned weight beside it, in
    whose place a zero fills up, does not."""
    m, k, n = 64, 128, 64
    w = np.zeros((k, n), np.float32)
    w[::4] = draw.array(k // 4, n)
    # Of a window of zeros the first is kept.
    w[12, 5] = 0
    x = draw.array(m, k)
    x[2, 12], x[4, 13] = np.inf, np.inf
    result = compile_terms(m, k, n, "1:4")(x, w)
    assert np.isnan(result[2, 5])
    assert np.isinf(np.delete(result[2], 5)).all()
    rows = np.arange(m) != 2
    expected = np.where(np.isinf(x), 0, x) @ w
    np.testing.assert_allclose(result[rows], expected[rows], rtol=1e-4,
                               atol=1e-5)


# k in parts: of one tile each, of several, and a last one that has fewer tiles,
# or ends inside of one. 3001 rows of 2:4 in tiles of 128 are 6 parts of 4.
PARTS = {
    "8:32, block = 1x128": (128, 1024, 128, 2),
    "16:32, block = 1x128": (70, 1000, 257, 4),
    "5:20, block = 1x192": (67, 1110, 200, 3),
    "2:4, block = 1x64": (33, 3001, 65, 6),
    "1:4, block = 32x64": (130, 1500, 130, 2),
    "2:4": (128, 1024, 128, 2),
    "1:4": (70, 576, 130, 3),
}


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:overflow")
@pytest.mark.parametrize("pattern", PARTS)
def test_parts_of_k(draw, rng, pattern):
    """With values that are no splits, each of which is in one part."""
    m, k, n, parts = PARTS[pattern]
    module = compile_terms(
        m, k, n, pattern, schedule=f"{strategy_of(pattern)}<split_k = {parts}>")
    assert f"split_k = {parts}, " in module.remarks[-1]
    w, x = draw.weight((k, n), pattern, axis=0), draw.array(m, k)
    exact = x.astype(np.float64) @ w.astype(np.float64)
    assert relative_error(module(x, w), exact) < 3e-7
    for value in (np.inf, -np.inf, np.nan, 1e20, -3e15):
        x[rng.integers(m), rng.integers(k)] = value
    # Infinite in the last part, beside one that is finite.
    used = np.flatnonzero(w[:, 0])
    x[0, used[[0, -1]]] = -1e20, np.inf
    kept = np.argwhere(w != 0)
    for value in (1e13, -2e13):
        row, column = kept[rng.integers(len(kept))]
        w[row, column] = value
    exact = exact_product(x, w).astype(np.float32)
    result = module(x, w)
    finite = np.isfinite(exact)
    assert not finite[0, 0] and finite.any()
    np.testing.assert_array_equal(result[~finite], exact[~finite])
    np.testing.assert_allclose(result[finite], exact[finite], rtol=1e-5,
                               atol=1e-5)


# m, or batch dimensions and m, of which some are not known before the call.
UNKNOWN = {
    "?": [(1,), (63,), (64,), (130,)],
    "3x?": [(3, 1), (3, 65)],
    "?x20": [(1, 20), (9, 20)],
    "?x?": [(2, 33), (5, 128)],
}


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("rows", UNKNOWN)
@pytest.mark.parametrize("pattern", ["8:32, block = 1x64", "3:4, block = 32x64",
                                     "1:4"])
def test_rows_that_are_not_known(draw, rows, pattern, transposed):
    """Row-major or m-major, with an infinite activation."""
    k, n = 200, 130
    dims = ", ".join(f"b{i}" for i in range(rows.count("x") + 1))
    batch = ", ".join(dims.split(", ")[:-1] + ["k"])
    last = dims.split(", ")[-1]
    of_a = f"{batch}, {last}" if transposed else f"{dims}, k"
    sizes = rows.split("x")
    shape = "x".join(sizes[:-1] + [str(k), sizes[-1]] if transposed
                     else sizes + [str(k)])
    text = f"""
#a = affine_map<({dims}, n, k) -> ({of_a})>
#b = affine_map<({dims}, n, k) -> (k, n)>
#c = affine_map<({dims}, n, k) -> ({dims}, n)>
!w = tensor<{k}x{n}xf32, #nm.encoding<{pattern}>>
func.func @f(%x: tensor<{shape}xf32>, %w: !w, %y: tensor<{rows}x{n}xf32>)
    -> tensor<{rows}x{n}xf32> {{
  %r = linalg.generic {{indexing_maps = [#a, #b, #c], iterator_types = [
      {'"parallel", ' * len(sizes)} "parallel", "reduction"]}}
    ins(%x, %w : tensor<{shape}xf32>, !w) outs(%y : tensor<{rows}x{n}xf32>) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }} -> tensor<{rows}x{n}xf32>
  return %r : tensor<{rows}x{n}xf32>
}}
"""
    module = compile_terms(0, 0, 0, pattern, text=text)
    assert "splits = 3" in module.remarks[0]
    w = draw.weight((k, n), pattern, axis=0)
    for known in UNKNOWN[rows]:
        x, y = draw.array(*known, k), draw.array(*known, n)
        x[(-1,) * len(known) + (7,)] = np.inf
        exact = exact_product(x.reshape(-1, k), w).reshape(y.shape) + y
        given = np.ascontiguousarray(np.moveaxis(x, -1, -2)) if transposed else x
        result = module(given, w, y)
        np.testing.assert_allclose(result, exact, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("pattern", ["8:32, block = 1x128", "2:4"])
def test_sums_are_added_to_c_and_take_an_epilogue(draw, pattern):
    m, k, n = 70, 128, 130
    text = text_of(m, k, n, pattern, """
func.func @f(%x: tensor<MxKxf32>, %w: tensor<KxNxf32, #nm.encoding<PATTERN>>,
             %b: tensor<Nxf32>, %c: tensor<MxNxf32>) -> (tensor<MxNxf32>, tensor<MxNxf32>) {
""" + PRODUCT_OPS + """
  %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>,
                                        affine_map<(m, n) -> (n)>,
                                        affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%r, %b : tensor<MxNxf32>, tensor<Nxf32>) outs(%e : tensor<MxNxf32>) {
  ^bb0(%sum: f32, %bias: f32, %out: f32):
    %0 = arith.addf %sum, %bias : f32
    %1 = arith.maximumf %0, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<MxNxf32>
  %t = linalg.matmul
    ins(%x, %w : tensor<MxKxf32>, tensor<KxNxf32, #nm.encoding<PATTERN>>)
    outs(%c : tensor<MxNxf32>) -> tensor<MxNxf32>
  return %s, %t : tensor<MxNxf32>, tensor<MxNxf32>
}
""")
    module = compile_terms(m, k, n, pattern, text=text)
    w, x = draw.weight((k, n), pattern, axis=0), draw.array(m, k)
    b, c = draw.array(n), draw.array(m, n)
    x[3, 5] = np.inf
    exact = exact_product(x, w)
    biased, added = module(x, w, b, c)
    np.testing.assert_allclose(biased, np.maximum(exact + b, 0), atol=1e-5)
    np.testing.assert_allclose(added, exact + c, atol=1e-5)


NORM = """
#x = affine_map<(m, k) -> (m, k)>
#r = affine_map<(m, k) -> (m)>
func.func @f(%x: tensor<MxKxf32>, %w: tensor<KxNxf32, #nm.encoding<PATTERN>>)
    -> tensor<MxNxf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant K.0 : f32
  %least = arith.constant 0.001 : f32
  SIZE
  %unset = tensor.empty(DYNAMIC) : tensor<Mxf32>
  %clear = linalg.fill ins(%zero : f32) outs(%unset : tensor<Mxf32>) -> tensor<Mxf32>
  %squares = linalg.generic {indexing_maps = [#x, #r], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<MxKxf32>) outs(%clear : tensor<Mxf32>) {
  ^bb0(%a: f32, %out: f32):
    %p = arith.mulf %a, %a : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<Mxf32>
  %to = tensor.empty(DYNAMIC) : tensor<MxKxf32>
  %y = linalg.generic {indexing_maps = [#x, #r, #x], iterator_types = ["parallel", "parallel"]}
    ins(%x, %squares : tensor<MxKxf32>, tensor<Mxf32>) outs(%to : tensor<MxKxf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %mean = arith.divf %b, %count : f32
    %safe = arith.addf %mean, %least : f32
    %root = math.rsqrt %safe : f32
    %p = arith.mulf %a, %root : f32
    linalg.yield %p : f32
  } -> tensor<MxKxf32>
  %e = tensor.empty(DYNAMIC) : tensor<MxNxf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  %z = linalg.matmul
    ins(%y, %w : tensor<MxKxf32>, tensor<KxNxf32, #nm.encoding<PATTERN>>)
    outs(%c : tensor<MxNxf32>) -> tensor<MxNxf32>
  return %z : tensor<MxNxf32>
}
"""


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("pattern", ["8:32, block = 1x64", "2:4"])
def test_norm_before(draw, pattern, known):
    """It stores the splits, and no kernel makes them."""
    for m, k, n in [(130, 200, 70), (33, 1030, 64), (64, 1600, 64)]:
        text = NORM if known else NORM.replace("Mx", "?x").replace(
            "SIZE", "%c0 = arith.constant 0 : index\n"
            "  %m = tensor.dim %x, %c0 : tensor<?xKxf32>").replace("DYNAMIC", "%m")
        text = text.replace("SIZE", "").replace("DYNAMIC", "").replace("K.0", f"{k}.0")
        text = text_of(m, k, n, pattern, text)
        module = compile_terms(m, k, n, pattern, text=text)
        lines = [str(line) for line in module.diagnostics]
        assert any("stored transposed, as splits" in line for line in lines)
        assert not any("split a tile" in line for line in lines)
        for rows in [m] if known else [1, 15, 64, 100]:
            w, x = draw.weight((k, n), pattern, axis=0), draw.array(rows, k)
            exact = x.astype(np.float64)
            exact = exact / np.sqrt((exact ** 2).mean(-1, keepdims=True) + 0.001) @ w
            assert relative_error(module(x, w), exact) < 5e-7, (rows, k, n)
