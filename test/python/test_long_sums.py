"""Sums over a long k keep their precision: see nm/Support/SumChains.h."""

import nm
import numpy as np
import pytest

TEXT = """
func.func @f(%x: tensor<MxKxf32>, %w: tensor<KxNxf32, #nm.encoding<PATTERN>>)
    -> tensor<MxNxf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<MxNxf32>
  %y = linalg.fill ins(%zero : f32) outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  %r = linalg.matmul
    ins(%x, %w : tensor<MxKxf32>, tensor<KxNxf32, #nm.encoding<PATTERN>>)
    outs(%y : tensor<MxNxf32>) -> tensor<MxNxf32>
  return %r : tensor<MxNxf32>
}
"""

# One accumulator for all of k has errors of 6e-6 to 1e-4 here.
CASES = {
    # Tiles of k in a loop, and one tile of many steps.
    "gemv": (1, 60000, "2:4", "gemv<slice_k = 4, split_k = 1>"),
    "gemv, 4 rows": (4, 16000, "1:4", "gemv<slice_k = 1>"),
    "gemv, one tile": (1, 16000, "2:4", "gemv<slice_k = 1, split_k = 1>"),
    "simt, 4 x 4": (32, 16000, "2:4, block = 1x32", "simt<split_k = 1>"),
    "simt, 8 x 8": (64, 16000, "8:32, block = 1x32",
                    "simt<block = [64, 128, 128], warp = [64, 32], "
                    "thread = [8, 8], split_k = 1, slice_k = 2>"),
}


@pytest.mark.parametrize("case", CASES)
def test_equal_terms(case):
    m, k, pattern, schedule = CASES[case]
    n = 128 if "8 x 8" in case else 32
    kept, window = map(int, pattern.split(",")[0].split(":"))
    text = TEXT.replace("PATTERN", pattern)
    for name, size in zip("MKN", (m, k, n)):
        text = text.replace(f"{name}x", f"{size}x")
    w = np.zeros((k, n), np.float32)
    w[np.arange(k) % window < kept] = 0.1
    module = nm.compile(text, target="sim:sm_90a", dense_fallback=False,
                        cache=False, schedule=schedule)
    result = module(np.ones((m, k), np.float32), w)
    exact = w.astype(np.float64).sum(axis=0)
    assert np.abs(result / exact - 1).max() <= 2e-6
