"""How far products of f32 are from exact ones, on random data of several kinds.

pytest -s test/python/test_accuracy.py prints the table of docs/results/accuracy.md.
"""

import functools

import nm
import numpy as np
import pytest
from test_cuda import no_device, run_on
from test_special_values import text_of

M, N = 64, 64
# What a strategy takes, of which each window keeps half of its rows.
PATTERNS = {"wgmma": (32, "16:32, block = 1x64"), "wgmma_sp": (4, "2:4")}
KINDS = ["normal", "uniform", "equal", "binades"]
# Draws of a short sum. Of forty binades a few results have all of the norm.
DRAWS = {"binades": 40}


def draw_operands(rng, k, kind, window):
    """A and B, of which each window keeps half of its rows for all columns."""
    x = rng.standard_normal((M, k), dtype=np.float32)
    w = rng.standard_normal((k, N), dtype=np.float32)
    if kind == "uniform":
        x, w = rng.random(x.shape, np.float32), rng.random(w.shape, np.float32)
    elif kind == "equal":
        x[:], w[:] = 1, 0.1
    elif kind == "binades":
        x *= np.exp2(rng.uniform(-20, 20, x.shape)).astype(np.float32)
        w *= np.exp2(rng.uniform(-20, 20, w.shape)).astype(np.float32)
    for first in range(0, k, window):
        rows = np.arange(first, min(first + window, k))
        w[rng.permutation(rows)[:max(0, len(rows) - window // 2)]] = 0
    return x, w


def add_in_a_chain(x, w):
    """One multiply-add in f32 after the other, each rounded once."""
    c = np.zeros((x.shape[0], w.shape[1]), np.float32)
    for k in np.flatnonzero(w.any(axis=1)):
        product = x[:, k, None].astype(np.float64) * w[k]
        c = (c + product).astype(np.float32)
    return c


def relative_error(result, exact):
    return np.linalg.norm(result - exact) / np.linalg.norm(exact)


@functools.lru_cache(maxsize=2)
def compile_product(target, k, arithmetic, schedule, pattern):
    return nm.compile(text_of(M, k, N, pattern), target=target,
                      arithmetic=arithmetic, schedule=schedule, cache=False)


def measure(target, k, arithmetic, kind, strategy="wgmma", fields="", draws=1):
    """The error of the product, and that of a chain, the root mean square of
    those of all draws."""
    window, pattern = PATTERNS[strategy]
    schedule = "simt" if arithmetic == "ieee" else strategy + fields
    module = compile_product(target, k, arithmetic, schedule, pattern)
    errors = []
    for draw in range(draws):
        x, w = draw_operands(np.random.default_rng(k + draw), k, kind, window)
        exact = x.astype(np.float64) @ w.astype(np.float64)
        errors.append((relative_error(run_on(target, module, x, w), exact),
                       relative_error(add_in_a_chain(x, w), exact)))
    error, chain = np.sqrt(np.mean(np.square(errors), axis=0))
    print(f"\n{target:>10} | {schedule:8} | k = {k:6} | {kind:8} | "
          f"{arithmetic:6} | {error:.1e} | "
          f"a chain of multiply-adds {chain:.1e}", end=" ")
    return error, chain


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [512, 4096])
@pytest.mark.parametrize("strategy", PATTERNS)
@pytest.mark.parametrize("target", ["sim:sm_90a", "cuda"])
def test_f32_is_as_accurate_as_a_chain(target, strategy, k, kind):
    if target == "cuda" and no_device():
        pytest.skip("no CUDA device")
    error, chain = measure(target, k, "f32", kind, strategy)
    assert error <= chain


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kept", [16, 32, 48, 64, 128, 256])
@pytest.mark.parametrize("strategy", PATTERNS)
@pytest.mark.parametrize("target", ["sim:sm_90a", "cuda"])
def test_short_sums(target, strategy, kept, kind):
    """A sum of forty binades is one large product and little else, which a
    chain rounds once."""
    if target == "cuda" and no_device():
        pytest.skip("no CUDA device")
    error, chain = measure(target, 2 * kept, "f32", kind, strategy,
                           draws=DRAWS.get(kind, 1))
    assert error <= chain


@pytest.mark.parametrize("kept", [16, 32, 48, 64])
@pytest.mark.parametrize("strategy", PATTERNS)
def test_short_sums_without_residuals(strategy, kept):
    """They are less accurate than a chain."""
    error, chain = measure("sim:sm_90a", 2 * kept, "f32", "binades", strategy,
                           fields="<compensated = false>",
                           draws=DRAWS["binades"])
    assert error > chain


@pytest.mark.parametrize("kind", KINDS)
def test_ieee(kind):
    error, chain = measure("sim:sm_90a", 512, "ieee", kind)
    assert error <= 1.5 * chain


@pytest.mark.parametrize("strategy", PATTERNS)
@pytest.mark.parametrize("kind", KINDS)
def test_bf16x3(strategy, kind):
    error, _ = measure("sim:sm_90a", 512, "bf16x3", kind, strategy)
    assert error < 2e-5


@pytest.mark.parametrize("strategy, k, kind, most", [
    ("wgmma", 49152, "equal", 5e-6), ("wgmma", 100000, "equal", 1e-5),
    ("wgmma", 100000, "uniform", 1e-6), ("wgmma_sp", 49152, "equal", 1e-5),
    ("wgmma_sp", 65536, "equal", 5e-6), ("wgmma_sp", 100000, "uniform", 1e-6)])
def test_long_sums(strategy, k, kind, most):
    """The sums of tiles are added up one after the other. Those of 32 kept rows
    are more than those of 64, but for 65536, which is in parts."""
    error, _ = measure("sim:sm_90a", k, "f32", kind, strategy)
    assert error < most
