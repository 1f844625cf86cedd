"""What a row of a result owes to the number of rows that come along."""

import nm
import numpy as np
import pytest
from conftest import relative_error
from product_text import text_of

PATTERNS = ["2:4", "1:4", "1:8", "3:7, block = 3x5", "8:32, block = 1x32", "4:4"]
ROWS = [1, 2, 3, 15, 16, 17, 33, 128]
TEXT = """
func.func @f(%x: tensor<MxKxf32>, %w: tensor<KxNxf32, #nm.encoding<PATTERN>>,
             %y: tensor<MxNxf32>) -> tensor<MxNxf32> {
  %r = linalg.matmul
    ins(%x, %w : tensor<MxKxf32>, tensor<KxNxf32, #nm.encoding<PATTERN>>)
    outs(%y : tensor<MxNxf32>) -> tensor<MxNxf32>
  return %r : tensor<MxNxf32>
}
"""


def result_of(rows, x, w, pattern, **options):
    """The product where the compiler knows of `rows` rows, which may be "?"."""
    module = nm.compile(text_of(rows, *w.shape, pattern, TEXT), **options)
    return np.asarray(module(x, w, np.zeros((len(x), w.shape[1]), np.float32)))


@pytest.mark.parametrize("target, schedule, size", [
    ("cpu", "vector<thread = [1, 64]>", 1000),
    ("sim:sm_80", "simt<block = [32, 32, 32], split_k = 1>", 96)])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_one_schedule_gives_the_same_bits(draw, target, schedule, size, pattern):
    k, n = size, 64
    w, x = draw.weight((k, n), pattern, axis=0), draw.array(max(ROWS), k)
    few = ROWS if target == "cpu" else [1, 17, 33]
    results = [result_of(m, x[:m], w, pattern, target=target, schedule=schedule,
                         dense_fallback=False) for m in few]
    results.append(result_of("?", x[:40], w, pattern, target=target, schedule=schedule,
                             dense_fallback=False))
    for result in results:
        np.testing.assert_array_equal(result[0], results[0][0])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_other_schedules_differ_by_rounding(draw, pattern):
    w, x = draw.weight((512, 96), pattern, axis=0), draw.array(max(ROWS), 512)
    weight = nm.compress(w, pattern, axis=0)
    alone = np.asarray(nm.matmul(x[:1], weight))[0]
    for m in ROWS:
        together = np.asarray(nm.matmul(x[:m], weight))[0]
        assert relative_error(together, alone) < 2e-6
