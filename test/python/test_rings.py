"""Products of blocks that take turns at tiles of C, whose tiles of A and weights go through
a ring of any number of stages: a turn begins in the slot behind the last one of the turn
before. Drawn sizes, in tiles of one, two and three warpgroups beside producers, against
float64, in the simulator. Drawn afresh; NM_TEST_SEED repeats a run."""

import os

import nm
import numpy as np
import pytest
from conftest import relative_error

SEED = int(os.environ.get("NM_TEST_SEED", np.random.SeedSequence().entropy % 2 ** 31))
TEXT = """
#mk = affine_map<(m, n, k) -> ({rows})>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @f(%x: tensor<{a}x{t}>, %w: tensor<{k}x{n}x{t}, #nm.encoding<{pattern}>>,
             %c: tensor<{m}x{n}x{r}>) -> tensor<{m}x{n}x{r}> {{
  %y = linalg.matmul indexing_maps = [#mk, #kn, #mn]
    ins(%x, %w : tensor<{a}x{t}>, tensor<{k}x{n}x{t}, #nm.encoding<{pattern}>>)
    outs(%c : tensor<{m}x{n}x{r}>) -> tensor<{m}x{n}x{r}>
  return %y : tensor<{m}x{n}x{r}>
}}
"""
# Of each type, the error that is allowed, the type of sums, and the elements of a line.
TYPES = {"f16": (2e-3, "f16", 64), "bf16": (1e-2, "bf16", 64), "i8": (0, "i32", 128),
         "f8E4M3FN": (1e-5, "f32", 128)}
SCHEDULE = "wgmma_sp<block = [{0}, {1}, {line}], warpgroup = [{2}, {3}], stages = {stages}, " \
           "producers = 4, blocks = {blocks}>"
# Tiles, the stages that shared memory has room for, and types.
CASES = [((192, 128, 192, 64), (3, 4, 5, 6), ("f16", "bf16", "i8", "f8E4M3FN")),
         ((192, 192, 192, 64), (3, 4, 5), ("f16", "bf16", "i8")),
         ((128, 192, 128, 64), (3, 4, 5, 6, 7), ("f16", "bf16", "i8")),
         ((192, 256, 192, 128), (3, 4, 5), ("bf16", "i8")),
         ((256, 128, 256, 64), (3, 4, 5), ("f16", "i8")),
         ((64, 64, 64, 64), (3, 7, 9, 12), ("f16", "f8E4M3FN"))]


def numpy_type(name):
    if name == "f32":
        return np.dtype(np.float32)
    if name in ("bf16", "f8E4M3FN"):
        types = pytest.importorskip("ml_dtypes")
        return np.dtype(types.bfloat16 if name == "bf16" else types.float8_e4m3fn)
    return np.dtype({"f16": np.float16, "i8": np.int8, "i32": np.int32}[name])


def drawn(rng, shape, kind):
    values = rng.integers(-9, 10, shape) if kind == "i8" else rng.standard_normal(shape)
    return values.astype(numpy_type(kind))


def pruned(rng, values):
    """Keeps two of each aligned four rows, anywhere."""
    kept = rng.random((values.shape[0] // 4, 4, values.shape[1])).argsort(axis=1) < 2
    return values * kept.reshape(values.shape)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_rings_of_any_number_of_stages(number):
    tile, all_stages, types = CASES[number]
    rng = np.random.default_rng([SEED, number])
    turns = []
    for index, stages in enumerate(all_stages):
        kind = types[(index + int(rng.integers(len(types)))) % len(types)]
        tolerance, result, line = TYPES[kind]
        is_m_major = kind in ("f16", "bf16") and bool(rng.integers(2))
        m, n = (int(rng.integers(size + 8, 3 * size) // 8 * 8) for size in tile[:2])
        k, blocks = line * int(rng.integers(1, 3 * stages)), int(rng.integers(1, 4))
        turns.append(-(-m // tile[0]) * -(-n // tile[1]) > blocks)
        x, w = drawn(rng, (m, k), kind), pruned(rng, drawn(rng, (k, n), kind))
        c = drawn(rng, (m, n), kind).astype(numpy_type(result))
        a = f"{k}x{m}" if is_m_major else f"{m}x{k}"
        call = nm.compile(
            TEXT.format(rows="k, m" if is_m_major else "m, k", a=a, m=m, n=n, k=k, t=kind,
                        r=result, pattern="2:4"),
            target="sim:sm_90a", cache=False,
            schedule=SCHEDULE.format(*tile, line=line, stages=stages, blocks=blocks))
        expected = x.astype(float) @ w.astype(float) + c.astype(float)
        y = call(np.ascontiguousarray(x.T) if is_m_major else x, w, c)
        error = relative_error(y, expected)
        assert error <= tolerance, f"{SEED}: {kind} {m}x{n}x{k}, {stages} stages, {blocks}"
    assert any(turns), f"{SEED}: no block took turns"
