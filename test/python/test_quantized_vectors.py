"""Weights of 4 and 8 bits whose columns share their rows, by strategy mma_sync on the
simulator, beside float64: drawn patterns, groups, types, sizes and schedules. Drawn
afresh; NM_TEST_SEED repeats a run."""

import os
from collections import Counter

import nm
import numpy as np
import pytest
from test_contractions import numpy_type

SEED = int(os.environ.get("NM_TEST_SEED", np.random.SeedSequence().entropy % 2 ** 31))
LIMITS = {"f16": 2e-3, "bf16": 1e-2}
CASES = 16
WAYS = Counter()

TEXT = """
#q = affine_map<(k, n) -> (k, n)>
func.func @layer(%a: tensor<MxKxE>, %q: tensor<KxNxi8, #nm.encoding<P>>,
                 %s: tensor<GxNxE>, %c: tensor<MxNxE>) -> tensor<MxNxE> {
  %e = tensor.empty() : tensor<KxNxE>
  %w = linalg.generic {indexing_maps = [#q, affine_map<(k, n) -> (k floordiv R, n)>, #q],
                       iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<KxNxi8, #nm.encoding<P>>, tensor<GxNxE>)
      outs(%e : tensor<KxNxE>) {
  ^bb0(%value: i8, %scale: E, %out: E):
    TRUNCATE
    %exact = arith.sitofp %bits : T to E
    %weight = arith.mulf %exact, %scale : E
    linalg.yield %weight : E
  } -> tensor<KxNxE>
  %r = linalg.matmul ins(%a, %w : tensor<MxKxE>, tensor<KxNxE>)
      outs(%c : tensor<MxNxE>) -> tensor<MxNxE>
  return %r : tensor<MxNxE>
}
"""


def make_text(m, k, n, pattern, group, bits, element):
    text = TEXT
    for name, value in [("MxK", f"{m}x{k}"), ("KxN", f"{k}x{n}"), ("MxN", f"{m}x{n}"),
                        ("GxN", f"{-(-k // group)}x{n}"), ("floordiv R", f"floordiv {group}"),
                        ("<P>", f"<{pattern}>"),
                        ("TRUNCATE", "%bits = arith.trunci %value : i8 to i4"
                         if bits == 4 else ""),
                        ("%bits : T", "%bits : i4" if bits == 4 else "%value : i8"),
                        ("xE>", f"x{element}>"), (": E", f": {element}"),
                        ("to E", f"to {element}")]:
        text = text.replace(name, value)
    return text


def draw_schedule(rng, slices, m, window, kept, width, group):
    """A schedule whose slices have whole squares of 16 kept rows and whole groups or
    parts of one; None for draws that have no room for three stages."""
    windows = 16 // np.gcd(16, kept) * int(rng.choice([1, 2, 4]))
    rows = int(slices * windows * window)
    if rows % group:
        rows = int(np.lcm(rows, group))
    of_slice = rows // slices
    rows_of_block = 16 if m <= 16 else int(rng.choice([32, 64]))
    if rows * rows_of_block > 8192 * (1 if m <= 16 else 2) or (
            of_slice % group and group % of_slice):
        return None
    warp = min(max(width, 16) * int(rng.choice([1, 2])), 64)
    columns = warp * int(rng.choice([1, 2]))
    parts = int(rng.choice([1, 1, 2]))
    cluster = f", cluster_k = {parts}" if parts > 1 and rng.random() < 0.5 else ""
    return (f"mma_sync<block = [{rows_of_block}, {columns}, {rows}], "
            f"warp = [16, {warp}], stages = {int(rng.choice([2, 3]))}, "
            f"slice_k = {slices}, split_k = {parts}{cluster}>")


def draw_case(rng, number):
    """Types, bits, widths and slices go round, and the rest is drawn."""
    element, bits = list(LIMITS)[number % 2], (4, 8)[number // 2 % 2]
    width, slices = (8, 16, 32, 64)[number // 3 % 4], (1, 2, 4)[number % 3]
    m = int(rng.choice([17, 40, 64] if number % 4 == 1 else [1, 7, 16]))
    schedule = None
    while schedule is None:
        window, kept = int(rng.choice([16, 32])), int(rng.choice([2, 4, 6, 8, 12]))
        group = window * int(rng.choice([1, 2, 4, 8]))
        if rng.random() < 0.2:
            group = 4096
        schedule = draw_schedule(rng, slices, m, window, kept, width, min(group, 1024)
                                 if group < 4096 else window)
    if number % 5 == 4:
        schedule = "mma_sync"
    else:
        WAYS[f"slices {slices}"] += 1
    k = window * int(rng.integers(1, 24)) - int(rng.choice([0, 0, 4]))
    n = width + int(rng.integers(0, 6)) * 16 + int(rng.choice([0, 0, 6]))
    return element, bits, window, kept, width, group, m, k, n, schedule


@pytest.mark.parametrize("number", range(CASES))
def test_products_are_those_of_dequantized_weights(number):
    rng = np.random.default_rng([SEED, number])
    element, bits, window, kept, width, group, m, k, n, schedule = draw_case(rng, number)
    pattern = f"{kept}:{window}, block = 1x{width}"
    dtype = numpy_type(element)
    print(f"NM_TEST_SEED={SEED}: {m}x{n}x{k} {pattern} {element} i{bits}/{group} {schedule}")
    weight = nm.prune(rng.standard_normal((k, n)).astype(np.float32), f"{kept}:{window}",
                      axis=0, block=(1, width)).weight
    values, scales = nm.quantize(weight, bits, group)
    scales = scales.astype(dtype)
    text = make_text(m, k, n, pattern, group, bits, element)
    module = nm.compile(text, target="sim:sm_90a", schedule=schedule)
    product = module["layer"].ops[0]
    WAYS["in registers" if f"bits = {bits}" in product.schedule else "dequantized"] += 1
    for way in (element, f"bits {bits}", f"columns {width}",
                "rows m-major" if m > 16 else "rows row-major"):
        WAYS[way] += 1
    x = rng.standard_normal((m, k)).astype(dtype)
    c = rng.standard_normal((m, n)).astype(dtype)
    y = module["layer"](x, nm.compress(values, f"{kept}:{window}", axis=0,
                                       block=(1, width)), scales, c.copy())
    every = np.repeat(scales, group, axis=0)[:k]
    dense = (values.astype(dtype) * every).astype(np.float64)
    expected = x.astype(np.float64) @ dense + c.astype(np.float64)
    error = np.abs(y.astype(np.float64) - expected).max() / np.abs(expected).max()
    assert error < LIMITS[element], (error, schedule)


def test_each_way_was_taken():
    if sum(WAYS[f"bits {bits}"] for bits in (4, 8)) < CASES:
        pytest.skip("not all cases ran")
    for way in ("in registers", "f16", "bf16", "bits 4", "bits 8", "columns 8",
                "columns 16", "columns 32", "columns 64", "rows m-major",
                "rows row-major", "slices 1", "slices 2", "slices 4"):
        assert WAYS[way] > 0, (SEED, way, dict(WAYS))
