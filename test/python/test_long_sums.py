"""Sums over a long k keep their precision: see nm/Schedule/SumChains.h."""

import re

import nm
import numpy as np
import pytest
from product_text import text_of


def compile_product(m, k, n, pattern, schedule, target="sim:sm_90a"):
    options = {"schedule": schedule} if schedule else {}
    return nm.compile(text_of(m, k, n, pattern), target=target,
                      dense_fallback=False, cache=False, **options)


def relative_error(m, k, n, pattern, schedule, target="sim:sm_90a"):
    """The largest of a product of ones and 0.1."""
    sizes = re.findall(r"(\d+):(\d+)(?:, block = (\d+)x)?", pattern)[0]
    kept, window, rows = (int(size or 1) for size in sizes)
    w = np.zeros((k, n), np.float32)
    w[np.arange(k) // rows % window < kept] = 0.1
    module = compile_product(m, k, n, pattern, schedule, target)
    result = module(np.ones((m, k), np.float32), w)
    return np.abs(result / w.astype(np.float64).sum(axis=0) - 1).max()


# One accumulator for all of k has errors of 6e-6 to 3e-4 here. Strategy simt
# is promoted in shared memory for more than 24 576 kept rows.
CASES = {
    # Tiles of k in a loop, and one tile of many steps.
    "gemv": (1, 60000, "2:4", "gemv<slice_k = 4, split_k = 1>"),
    "gemv, 4 rows": (4, 16000, "1:4", "gemv<slice_k = 1>"),
    "gemv, one tile": (1, 16000, "2:4", "gemv<slice_k = 1, split_k = 1>"),
    "simt, 4 x 4": (32, 52000, "2:4, block = 1x32",
                    "simt<thread = [4, 4], split_k = 1>"),
    "simt, 8 x 8": (64, 100000, "8:32, block = 1x32",
                    "simt<block = [64, 128, 128], warp = [64, 32], "
                    "thread = [8, 8], split_k = 1, slice_k = 2>"),
    "simt, 16 x 8": (16, 100000, "16:32, block = 1x32",
                     "simt<block = [128, 256, 32], warp = [128, 32], "
                     "thread = [16, 8], stages = 2, split_k = 1>"),
    "simt, 6 warps": (96, 60000, "2:4, block = 1x32",
                      "simt<block = [96, 64, 32], warp = [32, 32], "
                      "thread = [8, 4], split_k = 1>"),
    # Tiles longer than a chain, of which the last is ragged.
    "simt, long tiles": (32, 100010, "48:128, block = 1x32",
                         "simt<block = [32, 64, 256], warp = [32, 32], "
                         "thread = [8, 4], split_k = 1>"),
    "simt, cluster": (32, 100000, "2:4, block = 1x4",
                      "simt<block = [32, 64, 32], warp = [32, 32], "
                      "thread = [8, 4], split_k = 5, cluster_k = 5, "
                      "promote = true>"),
}


@pytest.mark.parametrize("case", CASES)
def test_equal_terms(case):
    m, k, pattern, schedule = CASES[case]
    n = {"simt, 8 x 8": 128, "simt, 16 x 8": 256,
         "simt, 6 warps": 64}.get(case, 32)
    assert relative_error(m, k, n, pattern, schedule) <= 2e-6


# What the cost model chooses, gemv or simt, of its own accord or where it is
# the only one.
CHOSEN = {
    "few rows": (2, 32, "2:4", ""),
    "scattered": (8, 32, "2:4", "simt"),
    "vectors": (8, 64, "8:32, block = 1x32", "simt"),
    "short vectors": (8, 64, "16:32, block = 1x4", "simt"),
    "blocks": (8, 32, "2:4, block = 4x4", "simt"),
}


@pytest.mark.parametrize("case", CHOSEN)
def test_chosen_schedule(case):
    m, n, pattern, schedule = CHOSEN[case]
    assert relative_error(m, 100000, n, pattern, schedule) <= 1e-6


def test_terms_of_f32():
    """Equal terms, uniform and normal ones, in the fewest parts of k that the
    cost model cuts long sums of strategy wgmma into."""
    m, k, n, pattern = 64, 100000, 64, "2:4, block = 1x64"
    module = compile_product(m, k, n, pattern, "wgmma<split_k = 7>")
    assert "splits = 3" in module.remarks[0]
    rng = np.random.default_rng(5)
    w = np.full((k, n), np.float32(0.1))
    x = np.ones((m, k), np.float32)
    w[:, 16:40] = rng.random((k, 24), dtype=np.float32)
    x[16:40] = rng.random((24, k), dtype=np.float32)
    w[:, 40:] = rng.standard_normal((k, n - 40), dtype=np.float32)
    x[40:] = rng.standard_normal((m - 40, k), dtype=np.float32)
    w[np.arange(k) % 4 >= 2] = 0
    exact = x.astype(np.float64) @ w.astype(np.float64)
    result = module(x, w)
    for rows in slice(16), slice(16, 40), slice(40, m):
        part, expected = result[rows, rows], exact[rows, rows]
        error = np.linalg.norm(part - expected) / np.linalg.norm(expected)
        assert error <= 1e-6
    assert np.abs(result[:16, :16] / exact[:16, :16] - 1).max() <= 1e-6


@pytest.mark.parametrize("schedule", ["simt", "gemv"])
def test_infinite_and_nan_terms(schedule):
    """An infinite sum stays infinite in chains and totals, and NaN is of its row
    alone."""
    m, n, k = 8, 32, 60000
    w = np.zeros((k, n), np.float32)
    w[np.arange(k) % 4 < 2] = 0.1
    x = np.ones((m, k), np.float32)
    x[1, 0] = np.inf
    x[2, 30001] = -np.inf
    x[3, 59996] = np.nan
    x[4, [4, 40000]] = np.inf, -np.inf
    x[5, 2] = np.nan  # meets a pruned weight
    result = compile_product(m, k, n, "2:4", schedule)(x, w)
    assert np.all(result[1] == np.inf)
    assert np.all(result[2] == -np.inf)
    assert np.isnan(result[3:5]).all()
    assert np.isfinite(np.delete(result, range(1, 5), axis=0)).all()


def test_random_terms(draw):
    """Every element, of drawn weights, in one wave of tiles with edges."""
    m, n, k = 20, 70, 60002
    w = draw.array(k, n)
    w *= np.arange(k)[:, None] % 4 < 2
    x = draw.array(m, k)
    result = compile_product(m, k, n, "2:4", "simt")(x, w)
    expected = x.astype(np.float64) @ w.astype(np.float64)
    error = np.linalg.norm(result - expected) / np.linalg.norm(expected)
    assert error < 1e-6


def test_given_totals():
    """A schedule says whether there are totals, whatever the length."""
    m, k, n = 32, 20000, 32
    schedule = "simt<thread = [4, 4], split_k = 1, totals = {}>"
    args = m, k, n, "2:4, block = 1x32"
    assert relative_error(*args, schedule.format("true")) <= 2e-6
    assert relative_error(*args, schedule.format("false")) > 5e-6


# Vectors along m, whose tiles of k keep twice the rows of a chain, and along n.
ON_A_CPU = {
    "along m": (64, "vector<block = [64, 48, 256], thread = [32, 3]>"),
    "along n": (2, "vector"),
}


@pytest.mark.parametrize("case", ON_A_CPU)
def test_equal_terms_on_a_cpu(case):
    m, schedule = ON_A_CPU[case]
    assert relative_error(m, 100000, 48, "2:4", schedule, "cpu") <= 1e-6
