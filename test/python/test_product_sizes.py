"""Products whose sizes the types leave open, with a weight that knows them."""

import nm
import numpy as np
import pytest
from conftest import relative_error
from test_sizes import SEED, TARGETS, change, floats, longer, shorter, some

BODY = """{{
  ^bb0(%x: {t}, %y: {t}, %z: {t}):
    %p = arith.mulf %x, %y : {t}
    %s = arith.addf %p, %z : {t}
    linalg.yield %s : {t}
  }}"""
VECMAT = """
func.func @f(%x: tensor<?x{t}>, %w: tensor<64x48x{t}, {e}>, %c: tensor<?x{t}>)
    -> tensor<?x{t}> {{
  %r = linalg.vecmat ins(%x, %w : tensor<?x{t}>, tensor<64x48x{t}, {e}>)
    outs(%c : tensor<?x{t}>) -> tensor<?x{t}>
  return %r : tensor<?x{t}>
}}
"""
BATCHED = """
func.func @f(%a: tensor<?x?x?x{t}>, %w: tensor<64x48x{t}, {e}>, %c: tensor<?x?x?x{t}>)
    -> tensor<?x?x?x{t}> {{
  %r = linalg.generic {{indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
      affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
    ins(%a, %w : tensor<?x?x?x{t}>, tensor<64x48x{t}, {e}>)
    outs(%c : tensor<?x?x?x{t}>) """ + BODY + """ -> tensor<?x?x?x{t}>
  return %r : tensor<?x?x?x{t}>
}}
"""
TRANSPOSED = """
func.func @f(%a: tensor<?x?x{t}>, %w: tensor<48x64x{t}, #nm.encoding<2:4, dim = 1>>,
             %b: tensor<?x{t}>, %c: tensor<?x?x{t}>) -> tensor<?x?x{t}> {{
  %p = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (k, m)>,
      affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
    ins(%a, %w : tensor<?x?x{t}>, tensor<48x64x{t}, #nm.encoding<2:4, dim = 1>>)
    outs(%c : tensor<?x?x{t}>) """ + BODY + """ -> tensor<?x?x{t}>
  %r = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (n)>,
      affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}}
    ins(%b : tensor<?x{t}>) outs(%p : tensor<?x?x{t}>) {{
  ^bb0(%x: {t}, %y: {t}):
    %s = arith.addf %x, %y : {t}
    linalg.yield %s : {t}
  }} -> tensor<?x?x{t}>
  return %r : tensor<?x?x{t}>
}}
"""
CHAINED = """
func.func @f(%a: tensor<?x?x{t}>, %w: tensor<64x48x{t}, {e}>,
             %v: tensor<48x32x{t}, {e}>, %c: tensor<?x?x{t}>, %d: tensor<?x?x{t}>)
    -> tensor<?x?x{t}> {{
  %p = linalg.matmul ins(%a, %w : tensor<?x?x{t}>, tensor<64x48x{t}, {e}>)
    outs(%c : tensor<?x?x{t}>) -> tensor<?x?x{t}>
  %r = linalg.matmul ins(%p, %v : tensor<?x?x{t}>, tensor<48x32x{t}, {e}>)
    outs(%d : tensor<?x?x{t}>) -> tensor<?x?x{t}>
  return %r : tensor<?x?x{t}>
}}
"""
DENSE = """
func.func @f(%a: tensor<?x?x{t}>, %b: tensor<?x?x{t}>, %c: tensor<?x?x{t}>)
    -> tensor<?x?x{t}> {{
  %r = linalg.matmul ins(%a, %b : tensor<?x?x{t}>, tensor<?x?x{t}>)
    outs(%c : tensor<?x?x{t}>) -> tensor<?x?x{t}>
  return %r : tensor<?x?x{t}>
}}
"""
WRITTEN = """
func.func @f(%a: tensor<?x?x{t}>, %v: tensor<32x48x{t}>, %i: tensor<32x48xi8>,
             %b: tensor<?xf32>, %c: tensor<?x?x{t}>) -> tensor<?x?x{t}> {{
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<?x?x{t}>, tensor<32x48x{t}>, tensor<32x48xi8>)
    outs(%c : tensor<?x?x{t}>) -> tensor<?x?x{t}>
    epilogue ins(%b : tensor<?xf32>) maps [affine_map<(m, n) -> (n)>] {{
    ^bb0(%s: f32, %x: f32):
      %y = arith.addf %s, %x : f32
      {round}
      nm.yield %z : {t}
    }}
  return %r : tensor<?x?x{t}>
}}
"""


def widened(values, indices):
    """The dense weight of condensed parts at 2:4."""
    dense = np.zeros((2 * len(values), values.shape[1]))
    rows = np.arange(len(values))[:, None] // 2 * 4 + indices
    np.put_along_axis(dense, rows, values, 0)
    return dense


def draw_written(rng):
    weight = nm.prune(floats(rng, 64, 48), "2:4", axis=0).weight
    condensed = nm.compress(weight.astype(np.float16).astype(np.float32), "2:4", axis=0)
    m = some(rng)
    return [floats(rng, m, 64), np.asarray(condensed.values),
            np.asarray(condensed.indices).astype(np.int8), floats(rng, 48),
            floats(rng, m, 48)]


def draw_weights(*shapes):
    def draw(rng):
        size = {"m": some(rng), "b": some(rng, 1, 4)}
        return [nm.prune(floats(rng, *shape[1:]), "2:4", axis=shape[0]).weight
                if shape[0] in (0, 1) else
                floats(rng, *[size.get(each, each) for each in shape])
                for shape in shapes]
    return draw


PRODUCTS = {
    "vecmat": (VECMAT, draw_weights((64,), (0, 64, 48), (48,)),
               lambda x, w, c: x @ w + c, [(0, 0), (2, 0)]),
    "batched": (BATCHED, draw_weights(("b", "m", 64), (0, 64, 48), ("b", "m", 48)),
                lambda a, w, c: a @ w + c, [(0, 2), (0, 1), (2, 2), (2, 0)]),
    "transposed": (TRANSPOSED, draw_weights((64, "m"), (1, 48, 64), (48,), ("m", 48)),
                   lambda a, w, b, c: a.T @ w.T + b + c,
                   [(0, 0), (0, 1), (2, 0), (3, 1)]),
    "chained": (CHAINED, draw_weights(("m", 64), (0, 64, 48), (0, 48, 32), ("m", 48),
                                      ("m", 32)),
                lambda a, w, v, c, d: (a @ w + c) @ v + d,
                [(0, 1), (3, 0), (3, 1), (4, 0), (4, 1)]),
    "dense": (DENSE, draw_weights(("m", 24), (24, 7), ("m", 7)),
              lambda a, b, c: a @ b + c, [(0, 1), (1, 0), (1, 1), (2, 0)]),
    "written": (WRITTEN, draw_written,
                lambda a, v, i, b, c: a @ widened(v, i) + b,
                [(3, 0), (4, 0), (4, 1)]),
}


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("target", [*TARGETS, "sim:sm_90a"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name, target, element):
    text, draw, expected, wrong = PRODUCTS[name]
    rng = np.random.default_rng([SEED, 99, list(PRODUCTS).index(name)])
    call = nm.compile(text.format(
        t=element, e="#nm.encoding<2:4>",
        round="%z = arith.truncf %y : f32 to f16" if element == "f16" else
        "%z = arith.addf %y, %y : f32"), target=target, opt_level=1)["f"]
    narrow = np.float16 if element == "f16" else np.float32
    for i in range(2):
        arrays = [a.astype(narrow) if a.dtype == np.float32 and (name, j) !=
                  ("written", 3) else a for j, a in enumerate(draw(rng))]
        place = f"{name} on {target}, {element}, NM_TEST_SEED={SEED}, draw {i}"
        right = expected(*(a.astype(np.float64) if a.dtype != np.int8 else a
                           for a in arrays))
        if name == "written" and element == "f32":
            right = 2 * right
        limit = 4e-3 if element == "f16" else 1e-5
        assert relative_error(call(*arrays), right) < limit, place
        for position, dim in wrong:
            for by in (shorter, longer):
                with pytest.raises(nm.Error, match="expected .*, but got"):
                    call(*change(position, dim, by)(arrays))
