"""With batch_invariant a row's bits do not depend on how many rows come along."""

import os

import nm
import numpy as np
import pytest
from conftest import relative_error
from product_text import text_of
from test_rows import TEXT

PATTERNS = ["2:4", "1:4", "1:8", "3:7, block = 3x5", "8:32, block = 1x32", "4:4"]


def draw_rows(few):
    """Numbers of rows around those at which schedules change, and drawn ones."""
    rng = np.random.default_rng(int(os.environ.get("NM_TEST_SEED", "0")))
    drawn = rng.integers(2, 200 if few > 3 else 40, few)
    return sorted({1, 16, 17, *map(int, drawn)})


def result_of(rows, x, w, pattern, **options):
    module = nm.compile(text_of(rows, *w.shape, pattern, TEXT), batch_invariant=True,
                        **options)
    return np.asarray(module(x, w, np.zeros((len(x), w.shape[1]), np.float32)))


@pytest.mark.parametrize("target, k, few", [("cpu", 1000, 8), ("sim:sm_80", 96, 2),
                                            ("sim:sm_90a", 128, 1)])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_row_has_the_same_bits(draw, target, k, few, pattern):
    if target != "cpu" and pattern not in ("2:4", "1:8", "8:32, block = 1x32"):
        pytest.skip("one pattern of each kind is enough of what is simulated")
    rows = draw_rows(few)
    w, x = draw.weight((k, 64), pattern, axis=0), draw.array(max(rows), k)
    results = {m: result_of(m, x[:m], w, pattern, target=target) for m in rows}
    results["?"] = result_of("?", x[:max(rows)], w, pattern, target=target)
    last = results["?"]
    assert relative_error(last, x.astype(np.float64) @ w) < 1e-5
    for m, result in results.items():
        np.testing.assert_array_equal(result, last[:len(result)], err_msg=f"m = {m}")
