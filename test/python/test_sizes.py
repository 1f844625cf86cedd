"""Sizes that are known when a function is called: those that agree give the right
result, and those that do not an error that names the operand, what was expected and
what came, before memory is touched. Drawn afresh; NM_TEST_SEED repeats a run."""

import os
import re

import nm
import numpy as np
import pytest
from conftest import relative_error

SEED = int(os.environ.get("NM_TEST_SEED", np.random.SeedSequence().entropy % 2 ** 31))
TARGETS = ["cpu", "sim:sm_80"]
GENERIC = """
func.func @f(%a: tensor<?xf32>, %k: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i * 2 + j * 3 + 1)>,
      affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
    ins(%a, %k : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %p, %z : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
"""


class Case:
    """A function, arrays that fit it, its result, and what is wrong with others."""

    def __init__(self, text, draw, expected, wrong, targets=TARGETS):
        self.text, self.draw, self.expected = text, draw, expected
        self.wrong, self.targets = wrong, targets


def floats(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def some(rng, low=1, high=7):
    return int(rng.integers(low, high))


# Products

def product(constant):
    return f"""
func.func @f(%a: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {{
  %w = arith.constant dense<{constant}> : tensor<64x8xf32>
  %r = linalg.matmul ins(%a, %w : tensor<?x?xf32>, tensor<64x8xf32>)
    outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}}
"""


ATTENTION = """
func.func @f(%q: tensor<?x?x?xf32>, %k: tensor<?x?x?xf32>, %v: tensor<?x?x?xf32>,
             %o: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %r = nm.attention indexing_maps = [affine_map<(h, m, n, d, e) -> (h, m, d)>,
                                     affine_map<(h, m, n, d, e) -> (h, n, d)>,
                                     affine_map<(h, m, n, d, e) -> (h, n, e)>,
                                     affine_map<(h, m, n, d, e) -> (h, m, e)>]
    scale = 0.5
    ins(%q, %k, %v : tensor<?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>)
    outs(%o : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
"""


def draw_attention(rng):
    h, m, n, d, e = (some(rng, 2, 7) for _ in range(5))
    return [floats(rng, h, m, d), floats(rng, h, n, d), floats(rng, h, n, e),
            floats(rng, h, m, e)]


def attention(q, k, v, _):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    weights = np.exp(np.einsum("hmd,hnd->hmn", q, k) / 2)
    return np.einsum("hmn,hne->hme", weights / weights.sum(-1, keepdims=True), v)


WEIGHT = nm.prune(floats(np.random.default_rng(3), 64, 8), "2:4", axis=0).weight


def draw_window(rng):
    o, k = some(rng), some(rng)
    return [floats(rng, 2 * o + 3 * k - 3), floats(rng, k), floats(rng, o)]


def window(a, k, o):
    return np.array([o[i] + sum(a[2 * i + 3 * j + 1] * k[j] for j in range(len(k)))
                     for i in range(len(o))], np.float32)


def draw_pool(rng):
    n, h, w, c, kh, kw = (some(rng, 1, 4) for _ in range(6))
    a = floats(rng, n, 2 * (h - 1) + kh, w - 1 + kw, c)
    return [a, np.zeros((kh, kw), np.float32), floats(rng, n, h, w, c) - 9]


def pool(a, k, o):
    (n, h, w, c), (kh, kw) = o.shape, k.shape
    return np.array([[[[max(o[b, i, j, d], a[b, 2 * i:2 * i + kh, j:j + kw, d].max())
                        for d in range(c)] for j in range(w)] for i in range(h)]
                     for b in range(n)], np.float32)


def draw_depthwise(rng):
    sizes = [some(rng, 1, 4) for _ in range(8)]
    n, d, h, w, c, kd, kh, kw = sizes
    return [floats(rng, n, d - 1 + kd, h - 1 + kh, w - 1 + kw, c),
            floats(rng, kd, kh, kw, c), floats(rng, n, d, h, w, c)]


def depthwise(a, k, o):
    result = o.astype(np.float64)
    for z, y, x in np.ndindex(k.shape[:3]):
        d, h, w = o.shape[1:4]
        result += a[:, z:z + d, y:y + h, x:x + w] * k[z, y, x].astype(np.float64)
    return result


def shorter(array, dim):
    return np.ascontiguousarray(np.take(array, range(array.shape[dim] - 1), dim))


def longer(array, dim):
    return np.concatenate([array, np.take(array, [0], dim)], dim)


def change(position, dim, by=shorter):
    return lambda arrays: [by(a, dim) if i == position else a
                           for i, a in enumerate(arrays)]


def put(position, value):
    return lambda arrays: [np.array(value, a.dtype).reshape(np.shape(value))
                           if i == position else a for i, a in enumerate(arrays)]


POOL = """
func.func @f(%a: tensor<?x?x?x?xf32>, %k: tensor<?x?xf32>, %o: tensor<?x?x?x?xf32>)
    -> tensor<?x?x?x?xf32> {
  %r = linalg.pooling_nhwc_max {strides = dense<[2, 1]> : tensor<2xi64>}
    ins(%a, %k : tensor<?x?x?x?xf32>, tensor<?x?xf32>)
    outs(%o : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}
"""
DEPTHWISE = """
func.func @f(%a: tensor<?x?x?x?x?xf32>, %k: tensor<?x?x?x?xf32>,
             %o: tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32> {
  %r = linalg.depthwise_conv_3d_ndhwc_dhwc
    ins(%a, %k : tensor<?x?x?x?x?xf32>, tensor<?x?x?x?xf32>)
    outs(%o : tensor<?x?x?x?x?xf32>) -> tensor<?x?x?x?x?xf32>
  return %r : tensor<?x?x?x?x?xf32>
}
"""
CAST = """
func.func @f(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %s = tensor.cast %a : tensor<?x?xf32> to tensor<4x?xf32>
  %e = math.absf %s : tensor<4x?xf32>
  %r = tensor.cast %e : tensor<4x?xf32> to tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""
SLICE = """
func.func @f(%a: tensor<?x5xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %b, %c0 : tensor<?xf32>
  %s = tensor.extract_slice %a[2, 3] [%n, 1] [3, 1]
    : tensor<?x5xf32> to tensor<?xf32>
  %r = arith.addf %s, %b : tensor<?xf32>
  return %r : tensor<?xf32>
}
"""
INSERT = """
func.func @f(%a: tensor<?x5xf32>, %b: tensor<?x2xf32>) -> tensor<?x5xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %b, %c0 : tensor<?x2xf32>
  %r = tensor.insert_slice %b into %a[1, 3] [%n, 2] [1, 1]
    : tensor<?x2xf32> into tensor<?x5xf32>
  return %r : tensor<?x5xf32>
}
"""
EXPAND = """
func.func @f(%a: tensor<?xf32>, %b: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %b, %c0 : tensor<?x3xf32>
  %s = tensor.expand_shape %a [[0, 1]] output_shape [%n, 3]
    : tensor<?xf32> into tensor<?x3xf32>
  %r = arith.mulf %s, %b : tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
"""
CHAIN = """
func.func @f(%a: tensor<?x4xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %s = tensor.collapse_shape %a [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %t = math.absf %s : tensor<?xf32>
  %r = arith.subf %b, %t : tensor<?xf32>
  return %r : tensor<?xf32>
}
"""
BROADCAST = """
func.func @f(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %p = math.absf %b : tensor<?xf32>
  %s = linalg.broadcast ins(%p : tensor<?xf32>) outs(%e : tensor<?x?xf32>)
    dimensions = [0]
  %r = arith.addf %a, %s : tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""
CONCAT = """
func.func @f(%a: tensor<?x3xf32>, %b: tensor<?x2xf32>, %c: tensor<?x5xf32>)
    -> tensor<?x5xf32> {
  %s = tensor.concat dim(1) %a, %b : (tensor<?x3xf32>, tensor<?x2xf32>)
    -> tensor<?x5xf32>
  %r = arith.addf %c, %s : tensor<?x5xf32>
  return %r : tensor<?x5xf32>
}
"""
OFFSET = """
func.func @f(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>, %i: tensor<1xi64>)
    -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %b, %c0 : tensor<?x3xf32>
  %v = tensor.extract %i[%c0] : tensor<1xi64>
  %o = arith.index_cast %v : i64 to index
  %s = tensor.extract_slice %a[%o, 0] [%n, 3] [1, 1]
    : tensor<?x3xf32> to tensor<?x3xf32>
  %r = arith.addf %s, %b : tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
"""
# The offset is computed of what was computed, so the check is amid the function.
AMID = """
func.func @f(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>, %i: tensor<?xi64>)
    -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %n = tensor.dim %b, %c0 : tensor<?x3xf32>
  %e = tensor.empty() : tensor<i64>
  %f = linalg.fill ins(%zero : i64) outs(%e : tensor<i64>) -> tensor<i64>
  %t = linalg.reduce ins(%i : tensor<?xi64>) outs(%f : tensor<i64>) dimensions = [0]
    (%x: i64, %y: i64) { %z = arith.addi %x, %y : i64  linalg.yield %z : i64 }
  %q = math.absf %a : tensor<?x3xf32>
  %v = tensor.extract %t[] : tensor<i64>
  %o = arith.index_cast %v : i64 to index
  %s = tensor.extract_slice %q[%o, 0] [%n, 3] [1, 1]
    : tensor<?x3xf32> to tensor<?x3xf32>
  %r = arith.addf %s, %b : tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
"""
LOOP = """
func.func @f(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %b, %c0 : tensor<?x3xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %b) -> (tensor<?x3xf32>) {
    %d = arith.addi %i, %i : index
    %s = tensor.extract_slice %a[%d, 0] [1, 3] [1, 1]
      : tensor<?x3xf32> to tensor<1x3xf32>
    %e = math.absf %s : tensor<1x3xf32>
    %u = tensor.insert_slice %e into %t[%i, 0] [1, 3] [1, 1]
      : tensor<1x3xf32> into tensor<?x3xf32>
    scf.yield %u : tensor<?x3xf32>
  }
  return %r : tensor<?x3xf32>
}
"""
GATHER = """
func.func @f(%t: tensor<?x3xf32>, %i: tensor<?xi32>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %i, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%i : tensor<?xi32>) outs(%e : tensor<?x3xf32>) {
  ^bb0(%x: i32, %y: f32):
    %p = arith.index_cast %x : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%p, %j] : tensor<?x3xf32>
    linalg.yield %v : f32
  } -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
"""
GENERATE = """
func.func @f(%t: tensor<?xf32>, %n: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %n, %c0 : tensor<?xf32>
  %g = tensor.generate %m {
  ^bb0(%i: index):
    %p = arith.addi %i, %c2 : index
    %v = tensor.extract %t[%p] : tensor<?xf32>
    tensor.yield %v : f32
  } : tensor<?xf32>
  %r = arith.addf %n, %g : tensor<?xf32>
  return %r : tensor<?xf32>
}
"""
ASSERT = """
func.func @f(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %h = arith.cmpi slt, %n, %c4 : index
  cf.assert %h, "fewer than four"
  %r = math.absf %a : tensor<?xf32>
  return %r : tensor<?xf32>
}
"""


RESHAPE = """
func.func @f(%a: tensor<?xf32>, %s: tensor<2xi64>, %b: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %t = tensor.reshape %a(%s) : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %r = arith.addf %b, %t : tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""
VECTOR = """
func.func @f(%a: tensor<?xf32>, %s: tensor<1xi64>, %b: tensor<4xf32>)
    -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 1.0 : f32
  %l = tensor.extract %s[%c0] : tensor<1xi64>
  %n = arith.index_cast %l : i64 to index
  %v = vector.transfer_read %a[%n], %z {in_bounds = [true]}
    : tensor<?xf32>, vector<4xf32>
  %r = vector.transfer_write %v, %b[%c0] {in_bounds = [true]}
    : vector<4xf32>, tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
TEMPORARY = """
func.func @f(%s: tensor<1xi64>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 2.0 : f32
  %l = tensor.extract %s[%c0] : tensor<1xi64>
  %n = arith.index_cast %l : i64 to index
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %g = math.sqrt %f : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>,
      affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%g : tensor<?xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %t = arith.mulf %p, %p : f32
    %m = arith.addf %t, %q : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""


def rows(rng, *counts_and_widths):
    return [floats(rng, *shape) for shape in counts_and_widths]


def draw_slice(rng):
    n = some(rng)
    return rows(rng, (3 * n + some(rng, 0, 3), 5), (n,))


def draw_offset(rng):
    n, before = some(rng), some(rng)
    return [*rows(rng, (n + before, 3), (n, 3)), np.array([before], np.int64)]


def draw_amid(rng):
    n = some(rng)
    places = rng.integers(0, 4, some(rng))
    return [*rows(rng, (n + int(places.sum()), 3), (n, 3)), places]


def draw_gather(rng):
    n = some(rng)
    return [floats(rng, n, 3), rng.integers(0, n, some(rng)).astype(np.int32)]


def draw_pair(first, second):
    def draw(rng):
        n = some(rng)
        return rows(rng, first(n), second(n))
    return draw


CASES = {
    "product": Case(
        product(np.array2string(WEIGHT, separator=",", threshold=10 ** 6)),
        lambda rng: (lambda m: rows(rng, (m, 64), (m, 8)))(some(rng)),
        lambda a, c: a.astype(np.float64) @ WEIGHT + c, [
            (change(0, 1), r"operand 0 \(argument 0\) to be 64, .* but got 63"),
            (change(0, 1, longer), "to be 64, as dimension 0 of operand 1 is, but got "
                                   "65"),
            (lambda given: [given[0][:, :0], given[1]], "to be 64, .* but got 0"),
            (change(1, 1), r"operand 2 \(argument 1\) to be 8, .* but got 7"),
            (change(1, 0), "argument 1 of @f: expected dimension 0")]),
    "window": Case(GENERIC, draw_window, window, [
        (change(0, 0), r"linalg.generic: expected dimension 0 of operand 0 "
                       r"\(argument 0\) to be at least \d+, which the loops reach"),
        (change(1, 0, longer), "to be at least"),
        (change(2, 0, longer), "to be at least")]),
    "pool": Case(POOL, draw_pool, pool, [
        (change(0, 1), r"expected dimension 1 of operand 0 \(argument 0\) to be at "
                       "least"),
        (change(0, 2), "expected dimension 2 of operand 0"),
        (change(1, 1, longer), "expected dimension 2 of operand 0"),
        (change(2, 3, longer), "argument 2 of @f: expected dimension 3")]),
    "attention": Case(ATTENTION, draw_attention, attention, [
        (change(1, 0), "nm.attention: expected dimension 0 of k to be"),
        (change(1, 2, longer), "expected dimension 2 of k to be"),
        (change(2, 1, longer), "expected dimension 1 of v to be"),
        (change(3, 1), "expected dimension 1 of out to be")]),
    "depthwise": Case(DEPTHWISE, draw_depthwise, depthwise, [
        (change(0, 1), "expected dimension 1 of operand 0"),
        (change(0, 3), "expected dimension 3 of operand 0"),
        (change(1, 2, longer), "expected dimension 3 of operand 0")]),
    "cast": Case(CAST, lambda rng: rows(rng, (4, some(rng))), np.abs, [
        (change(0, 0), r"tensor.cast: .* operand 0 \(argument 0\) to be 4, but got 3"),
        (change(0, 0, longer), "to be 4, but got 5")]),
    "slice": Case(SLICE, draw_slice, lambda a, b: a[2::3, 3][:len(b)] + b, [
        (lambda given: [given[0][:2], given[1]],
         r"tensor.extract_slice: expected size 0 to be from 0 to 0, .* but got \d"),
        (lambda given: [given[0][:1], given[1]],
         "expected offset 0 to be from 0 to 1, but got 2")]),
    "insert": Case(INSERT, draw_pair(lambda n: (n + 1, 5), lambda n: (n, 2)),
                   lambda a, b: np.concatenate(
                       [a[:1], np.concatenate([a[1:, :3], b], 1)]), [
        (change(1, 0, longer), "tensor.insert_slice: expected size 0 to be from 0"),
        (change(0, 0), "tensor.insert_slice: expected size 0 to be from 0")]),
    "expand": Case(EXPAND, draw_pair(lambda n: (3 * n,), lambda n: (n, 3)),
                   lambda a, b: a.reshape(b.shape) * b, [
        (change(0, 0), r"expected dimensions 0 to 1 of its result to have the \d+ "
                       r"elements of dimension 0 of operand 0 \(argument 0\), but"),
        (change(1, 0, longer), "expected dimensions 0 to 1")]),
    "chain": Case(CHAIN, draw_pair(lambda n: (n, 4), lambda n: (4 * n,)),
                  lambda a, b: b - np.abs(a.reshape(-1)), [
        (change(1, 0), r"operand 1 to be \d+, as that of operand 0"),
        (change(0, 0, longer), "arith.subf: expected dimension 0 of operand 1")]),
    "broadcast": Case(BROADCAST, draw_pair(lambda n: (3, n), lambda n: (n,)),
                      lambda a, b: a + np.abs(b), [
        (change(1, 0), "argument 1 of @f: expected dimension 0 to be"),
        (change(1, 0, longer), "argument 1 of @f: expected dimension 0 to be")]),
    "concat": Case(CONCAT, lambda rng: (lambda n: rows(rng, (n, 3), (n, 2), (n, 5)))(
                       some(rng)),
                   lambda a, b, c: c + np.concatenate([a, b], 1), [
        (change(1, 0), r"tensor.concat: .* operand 1 \(argument 1\) to be"),
        (change(1, 0, longer), "tensor.concat: expected dimension 0 of operand 1")]),
    "offset": Case(OFFSET, draw_offset,
                   lambda a, b, i: a[i[0]:i[0] + len(b)] + b, [
        (put(2, [-1]), "expected offset 0 to be from 0 to .*, but got -1"),
        (put(2, [2 ** 62]), f"expected offset 0 .*, but got {2 ** 62}"),
        (change(0, 0), "expected size 0 to be from 0 to")], ["cpu"]),
    "amid": Case(AMID, draw_amid,
                 lambda a, b, i: np.abs(a)[sum(i):sum(i) + len(b)] + b, [
        (put(2, [-1]), "expected offset 0 to be from 0 to .*, but got -1"),
        (change(0, 0), "expected size 0 to be from 0 to")], ["cpu"]),
    "loop": Case(LOOP, draw_pair(lambda n: (2 * n - 1, 3), lambda n: (n, 3)),
                 lambda a, b: np.abs(a[::2]), [
        (change(0, 0), "expected (offset 0|size 0) to be from 0 to")]),
    "gather": Case(GATHER, draw_gather, lambda t, i: t[i], [
        (put(1, [0, -1]), r"tensor.extract: expected an index from 0 to below \d+ in "
                          "dimension 0, but got -1"),
        (put(1, [2 ** 31 - 1]), f"but got {2 ** 31 - 1}"),
        (lambda given: [given[0][:0], given[1]],
         "expected dimension 0 of the tensor that it reads to be at least 1, but got "
         "0")]),
    "generate": Case(GENERATE, draw_pair(lambda n: (n + 2,), lambda n: (n,)),
                     lambda t, n: t[2:] + n, [
        (change(0, 0), "tensor.generate: expected dimension 0 of the tensor that it "
                       "reads to be at least")]),
    "reshape": Case(RESHAPE, lambda rng: (lambda m, n: [
        floats(rng, m * n), np.array([m, n], np.int64), floats(rng, m, n)])(
            some(rng), some(rng)), lambda a, s, b: a.reshape(s) + b, [
        (change(0, 0, longer), r"tensor.reshape: .* the \d+ elements of operand 0"),
        (put(1, [-2, -3]), "expected dimension 0 of its result to be at least 0"),
        (put(1, [2 ** 33, 2 ** 31]), "tensor.reshape: expected its result")], ["cpu"]),
    "vector": Case(VECTOR, lambda rng: (lambda i: [
        floats(rng, i + 4), np.array([i], np.int64), floats(rng, 4)])(some(rng)),
        lambda a, s, b: a[s[0]:s[0] + 4], [
        (change(0, 0), r"transfer_read: expected an index of at most \d+"),
        (put(1, [-1]), "expected an index of at least 0 in dimension 0, but got -1"),
        (put(1, [2 ** 63 - 2]), "expected an index of at most")], ["cpu"]),
    "temporary": Case(TEMPORARY, lambda rng: [rng.integers(0, 9, 1), floats(rng, 4)],
                      lambda s, b: b + 2 * s[0], [
        (put(0, [-3]), "expected dimension 0 of its result to be at least 0, but got"),
        (put(0, [2 ** 44]), f"expected memory for a temporary of {2 ** 44} elements"),
        (put(0, [2 ** 60]), "which memory has room for")], ["cpu"]),
    "assert": Case(ASSERT, lambda rng: rows(rng, (some(rng, 0, 4),)), np.abs, [
        (put(0, [1, 2, 3, 4]), "cf.assert: fewer than four")]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("target", TARGETS)
def test_sizes(name, target):
    case = CASES[name]
    if target not in case.targets:
        with pytest.raises(nm.CompileError, match="runs on the host, but its memory"):
            nm.compile(case.text, target=target, opt_level=1)
        return
    rng = np.random.default_rng([SEED, list(CASES).index(name)])
    call = nm.compile(case.text, target=target, opt_level=1)["f"]
    for i in range(4):
        arrays = case.draw(rng)
        place = f"{name} on {target}, NM_TEST_SEED={SEED}, draw {i}: " + str(
            [a.shape for a in arrays])
        got, expected = call(*arrays), case.expected(*arrays)
        assert got.shape == expected.shape, place
        assert got.size == 0 or relative_error(got, expected) < 1e-5, place
        for spoil, text in case.wrong:
            with pytest.raises(nm.Error) as error:
                call(*spoil(arrays))
            assert re.search(text, str(error.value), re.DOTALL), (
                f"{place}: expected {text}, but got {error.value}")
    # The ways that were taken.
    print(f"{name} on {target}: 4 draws right, {4 * len(case.wrong)} refused")


def test_empty_windows():
    """Where there is nothing to compute, nothing needs to fit."""
    call = nm.compile(GENERIC, opt_level=1)["f"]
    empty = np.zeros(0, np.float32)
    assert call(empty, np.ones(3, np.float32), empty).shape == (0,)
    o = np.ones(2, np.float32)
    assert np.array_equal(call(empty, empty, o), o)


def test_threads_tell_their_errors():
    """Whichever thread finds an index out of range, the call fails by it."""
    call = nm.compile(GATHER, opt_level=1)["f"]
    places = np.zeros(1 << 18, np.int32)
    for wrong in (0, 1 << 17, (1 << 18) - 1):
        places[:] = 1
        places[wrong] = 7
        with pytest.raises(nm.Error, match="below 5 in dimension 0, but got 7"):
            call(np.ones((5, 3), np.float32), places)
        places[wrong] = 4
        assert call(np.ones((5, 3), np.float32), places).min() == 1
