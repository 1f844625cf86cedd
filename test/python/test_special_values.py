"""Infinite, NaN and subnormal numbers, the same on every target."""

import nm
import numpy as np
import pytest
from product_text import text_of
from test_cuda import no_device, run_on


def exact_product(x, w):
    """Sums over the weights that are not zero alone."""
    terms = x.astype(np.float64)[:, :, None] * w[None]
    with np.errstate(invalid="ignore"):
        return np.where(w[None] != 0, terms, 0).sum(axis=1)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("target, strategy", [
    ("cpu", ""), ("cpu", "loops"), ("sim:sm_90a", "simt"),
    ("sim:sm_90a", "gemv"), ("sim:sm_90a", "loops")])
@pytest.mark.parametrize("pattern", ["3:4", "2:4", "8:32, block = 1x32"])
def test_drawn_activations(draw, rng, target, strategy, pattern):
    m, k, n = (4 if strategy == "gemv" else 33), 62, 64
    w = draw.weight((k, n), pattern, axis=0)
    x = draw.array(m, k)
    for value in (np.inf, -np.inf, np.nan):
        x[rng.integers(m), rng.integers(k)] = value
    module = nm.compile(text_of(m, k, n, pattern), target=target,
                        schedule=strategy, dense_fallback=False)
    result, exact = module(x, w), exact_product(x, w)
    finite = np.isfinite(exact)
    assert not finite.all() and finite.any()
    np.testing.assert_array_equal(result[~finite], exact[~finite])
    np.testing.assert_allclose(result[finite], exact[finite], atol=1e-5)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float8_e5m2"])
@pytest.mark.parametrize("schedule", ["", "mma_sp", "wgmma_sp", "mma_sync", "wgmma", "cublas"])
@pytest.mark.parametrize("pattern", ["1:4", "2:8", "3:6", "1:4, block = 1x32"])
def test_no_zero_meets_an_activation(draw, rng, kind, schedule, pattern):
    """Where dense weights are forbidden, a schedule keeps the pattern or is refused."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(kind if kind == "float16" else getattr(ml_dtypes, kind))
    mlir = {"float16": "f16", "bfloat16": "bf16", "float8_e5m2": "f8E5M2"}[kind]
    m, k, n = 33, 192, 64
    text = (f"func.func @f(%x: tensor<{m}x{k}x{mlir}>, %w: tensor<{k}x{n}x{mlir}, "
            f"#nm.encoding<{pattern}>>, %c: tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32> {{\n"
            f"  %r = linalg.matmul ins(%x, %w : tensor<{m}x{k}x{mlir}>, tensor<{k}x{n}x{mlir}, "
            f"#nm.encoding<{pattern}>>) outs(%c : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>\n"
            f"  return %r : tensor<{m}x{n}xf32>\n}}\n")
    try:
        # A Hopper has no mma.sp of 8-bit floats.
        chip = "sm_89" if (kind, schedule) == ("float8_e5m2", "mma_sp") else "sm_90a"
        module = nm.compile(text, target=f"sim:{chip}", schedule=schedule, dense_fallback=False)
    except nm.CompileError as error:
        assert schedule
        assert "dense-fallback=false" in str(error) or f"strategy {schedule}" in str(error)
        return
    w = draw.weight((k, n), pattern, axis=0).astype(dtype)
    x = draw.array(m, k).astype(dtype)
    for value in (np.inf, -np.inf, np.nan):
        x[rng.integers(m), rng.integers(k)] = value
    result = module(x, w, np.zeros((m, n), np.float32))
    exact = exact_product(x.astype(np.float64), w.astype(np.float64))
    assert not np.isfinite(exact).all()
    np.testing.assert_array_equal(np.isnan(result), np.isnan(exact))
    np.testing.assert_array_equal(np.isfinite(result), np.isfinite(exact))


def test_dense_fallback_says_so(draw):
    text = text_of(128, 256, 256, "63:64")
    note = "dense-fallback=false prevents"
    assert any(note in remark for remark in nm.compile(text).remarks)
    sparse = nm.compile(text, dense_fallback=False)
    assert not any(note in remark for remark in sparse.remarks)
    w, x = draw.weight((256, 256), "63:64", axis=0), draw.array(128, 256)
    x[0, 0] = np.inf
    pruned = w[0] == 0
    assert pruned.any()
    assert np.isfinite(sparse(x, w)[0, pruned]).all()


@pytest.mark.parametrize("m", [1, 16, 128])
def test_tiles_without_zeros_say_so(draw, m):
    """Tiles of AMX multiply the zeros that are not kept, unless dense_fallback is off."""
    kind = pytest.importorskip("ml_dtypes").bfloat16
    text = text_of(m, 256, 256, "2:4").replace("f32", "bf16")
    w, x = draw.weight((256, 256), "2:4", axis=0).astype(kind), draw.array(m, 256).astype(kind)
    x[0, 0] = np.nan
    pruned = w[0] == 0
    assert pruned.any() and not pruned.all()
    for options in ({}, {"dense_fallback": False}):
        module = nm.compile(text, target="cpu", **options)
        result = np.asarray(module(x, w), dtype=np.float64)
        expands = any("packed without their zeros" in remark for remark in module.remarks)
        says = any("dense-fallback=false prevents" in remark for remark in module.remarks)
        assert not (expands and options) and (says or not expands)
        assert np.isnan(result[0, ~pruned]).all()
        assert np.isfinite(result[1:]).all()
        assert np.isnan(result[0, pruned]).all() if says else (
            np.isfinite(result[0, pruned]).all())


def flushes_subnormals(module):
    return any("subnormal numbers are zero" in remark for remark in module.remarks)


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a", "cuda"])
@pytest.mark.parametrize("m", [1, 32])
def test_subnormal_bfloat16(target, m):
    """Results are rounded to subnormal numbers, not to zero, where no remark says so."""
    kind = pytest.importorskip("ml_dtypes").bfloat16
    if target == "cuda" and no_device():
        pytest.skip("no CUDA device")
    text = text_of(m, 64, 32, "2:4").replace("f32", "bf16")
    module = nm.compile(text, target=target, dense_fallback=False)
    w = np.zeros((64, 32), kind)
    w[0] = 2.0 ** -64
    x = np.zeros((m, 64), kind)
    x[:, 0] = 2.0 ** -65
    result = run_on(target, module, x, w).astype(np.float64)
    flushes = flushes_subnormals(module)
    assert not flushes or (target == "cpu" and m > 1)
    np.testing.assert_array_equal(result, 0 if flushes else 2.0 ** -129)


def test_subnormal_bfloat16_of_many_rows():
    """Tiles of AMX and pairs of AVX512_BF16 make zeros of them, and say so; other vectors do not."""
    kind = pytest.importorskip("ml_dtypes").bfloat16
    text = text_of(128, 256, 256, "8:32, block = 1x32").replace("f32", "bf16")
    w, x = np.zeros((256, 256), kind), np.zeros((128, 256), kind)
    w[0], x[:, 0] = 2.0 ** -64, 2.0 ** -65
    for options in ({}, {"schedule": "vector"}, {"schedule": "vector", "mattr": "-avx512bf16"}):
        module = nm.compile(text, target="cpu", **options)
        result = np.asarray(module(x, w), dtype=np.float64)
        flushes = flushes_subnormals(module)
        assert not (flushes and "mattr" in options)
        np.testing.assert_array_equal(result, 0 if flushes else 2.0 ** -129)


def test_rounding_to_bfloat16(rng):
    """Drawn bits, halfway cases among them, vectors and what is left of them."""
    bfloat16 = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    size = 16 * 999 + 7
    bits = rng.integers(0, 2**32, size, dtype=np.uint32)
    bits[::3] = bits[::3] & 0xffff0000 | 0x8000
    bits[:4] = [0x7f800001, 0xffffffff, 0x7f7fffff, 0xff800000]
    x = bits.view(np.float32)
    module = nm.compile(f"""
        #map = affine_map<(i) -> (i)>
        func.func @f(%x: tensor<{size}xf32>) -> tensor<{size}xbf16> {{
          %e = tensor.empty() : tensor<{size}xbf16>
          %r = linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel"]}}
            ins(%x : tensor<{size}xf32>) outs(%e : tensor<{size}xbf16>) {{
          ^bb0(%a: f32, %o: bf16):
            %h = arith.truncf %a : f32 to bf16
            linalg.yield %h : bf16
          }} -> tensor<{size}xbf16>
          return %r : tensor<{size}xbf16>
        }}""")
    with np.errstate(invalid="ignore", over="ignore"):
        result, wanted = module(x), x.astype(bfloat16)
    result = np.asarray(result).view(np.uint16)
    isnan = np.isnan(x)
    assert isnan.any() and not isnan.all()
    assert (result[isnan] == 0x7fc0).all()
    np.testing.assert_array_equal(result[~isnan], wanted.view(np.uint16)[~isnan])


@pytest.mark.parametrize("pattern, m, n", [
    ("2:4", 37, 40), ("2:4", 5, 24), ("1:4", 33, 23), ("8:32, block = 1x32", 45, 96)])
def test_bfloat16_epilogue(rng, pattern, m, n):
    """A bias, a scale of rows and a residual of bf16, each result rounded once."""
    bfloat16 = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    k = 192
    x = rng.integers(-8, 9, (m, k)).astype(bfloat16)
    w, _ = nm.prune(rng.integers(-8, 9, (k, n)).astype(np.float32), pattern, axis=0)
    w = w.astype(bfloat16)
    bias, scale, residual = (rng.standard_normal(shape).astype(bfloat16)
                             for shape in (n, m, (m, n)))
    module = nm.compile(f"""
        #mn = affine_map<(i, j) -> (i, j)>
        #m = affine_map<(i, j) -> (i)>
        #n = affine_map<(i, j) -> (j)>
        func.func @f(%x: tensor<{m}x{k}xbf16>, %w: tensor<{k}x{n}xbf16, #nm.encoding<{pattern}>>,
                     %b: tensor<{n}xbf16>, %s: tensor<{m}xbf16>, %y: tensor<{m}x{n}xbf16>)
            -> tensor<{m}x{n}xbf16> {{
          %zero = arith.constant 0.0 : f32
          %e = tensor.empty() : tensor<{m}x{n}xf32>
          %c = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
          %p = linalg.matmul ins(%x, %w : tensor<{m}x{k}xbf16>,
              tensor<{k}x{n}xbf16, #nm.encoding<{pattern}>>)
            outs(%c : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
          %h = tensor.empty() : tensor<{m}x{n}xbf16>
          %r = linalg.generic {{indexing_maps = [#mn, #n, #m, #mn, #mn],
                                iterator_types = ["parallel", "parallel"]}}
            ins(%p, %b, %s, %y : tensor<{m}x{n}xf32>, tensor<{n}xbf16>, tensor<{m}xbf16>,
                tensor<{m}x{n}xbf16>) outs(%h : tensor<{m}x{n}xbf16>) {{
          ^bb0(%sum: f32, %bias: bf16, %scale: bf16, %residual: bf16, %o: bf16):
            %narrow = arith.truncf %sum : f32 to bf16
            %biased = arith.addf %narrow, %bias : bf16
            %scaled = arith.mulf %biased, %scale : bf16
            %all = arith.addf %scaled, %residual : bf16
            linalg.yield %all : bf16
          }} -> tensor<{m}x{n}xbf16>
          return %r : tensor<{m}x{n}xbf16>
        }}""")
    result = np.asarray(module(x, w, bias, scale, residual))
    exact = (x.astype(np.float64) @ w.astype(np.float64)).astype(np.float32).astype(bfloat16)
    # ml_dtypes, too, computes each operation in f32 and rounds its result.
    wanted = (exact + bias[None]) * scale[:, None] + residual
    np.testing.assert_array_equal(result.view(np.uint16), wanted.view(np.uint16))
