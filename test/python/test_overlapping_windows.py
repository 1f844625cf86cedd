"""Windows that keep M - 2 of M rows, as groups of four that overlap, whose rows tensor
copies of an m-major A repeat: drawn sizes, patterns, types, weights of calls and constant
ones, against float64. Drawn afresh; NM_TEST_SEED repeats a run."""

import os
from collections import Counter

import nm
import numpy as np
import pytest
from conftest import relative_error

SEED = int(os.environ.get("NM_TEST_SEED", np.random.SeedSequence().entropy % 2 ** 31))
LIMITS = {"f16": 2e-3, "bf16": 1e-2}
PATTERNS = ("4:6", "6:8", "8:10", "14:16", "2:3", "4:5", "5:8", "4:6, block = 1x8")
TEXT = """
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @f(%x: tensor<{k}x{m}x{t}>{argument}, %c: tensor<{m}x{n}x{t}>)
    -> tensor<{m}x{n}x{t}> {{
  {constant}
  %r = linalg.matmul indexing_maps = [#km, #kn, #mn]
    ins(%x, %w : tensor<{k}x{m}x{t}>, {weight}) outs(%c : tensor<{m}x{n}x{t}>)
    -> tensor<{m}x{n}x{t}>
  return %r : tensor<{m}x{n}x{t}>
}}
"""


def numpy_type(element):
    if element == "bf16":
        return np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    return np.dtype(np.float16)


class Case:
    """A drawn product. Turns have whole tiles of 16 windows, some rows behind these, and
    fewer windows; each with weights of calls and constant ones."""

    def __init__(self, number):
        rng = self.rng = np.random.default_rng([SEED, number])
        self.pattern = PATTERNS[number % len(PATTERNS)]
        kept, m = (int(size) for size in self.pattern.split(",")[0].split(":"))
        self.kept, self.window = (kept, m) if m % 2 == 0 else (2 * kept, 2 * m)
        self.columns = 8 if "block" in self.pattern else 1
        self.element = ("f16", "bf16")[number // 2 % 2]
        together = 16 * self.window
        self.k = (together * int(rng.integers(1, 3)),
                  together + int(rng.integers(1, together)),
                  int(rng.integers(self.window, together)))[number % 3]
        self.m, self.n = 8 * int(rng.integers(8, 24)), 8 * int(rng.integers(4, 20))
        self.is_constant = number % 4 < 2

    def weight(self):
        """Rows that are kept are anywhere in each window."""
        w = self.rng.standard_normal((self.k, self.n))
        m = int(self.pattern.split(",")[0].split(":")[1])
        kept = int(self.pattern.split(":")[0])
        for row in range(0, self.k, m):
            for column in range(0, self.n, self.columns):
                rows = self.rng.permutation(m)[kept:] + row
                w[rows[rows < self.k], column:column + self.columns] = 0
        return w.astype(numpy_type(self.element))

    def compile(self, w):
        kind = f"tensor<{self.k}x{self.n}x{self.element}"
        constant = argument = ""
        if self.is_constant:
            constant = f'%w = arith.constant dense<"0x{w.tobytes().hex()}"> : {kind}>'
            weight = kind + ">"
        else:
            weight = f"{kind}, #nm.encoding<{self.pattern}>>"
            argument = f", %w: {weight}"
        text = TEXT.format(k=self.k, m=self.m, n=self.n, t=self.element,
                           argument=argument, constant=constant, weight=weight)
        return nm.compile(text, target="sim:sm_90a", schedule="wgmma_sp", cache=False)

    def ways(self, remark):
        repeats = "which tensor copies repeat" in remark
        tiles, behind = divmod(self.k, 16 * self.window)
        return [f"{'constant' if self.is_constant else 'of calls'}, {way}"
                for way, takes in (("windows", repeats and tiles != 0),
                                   ("rows twice", repeats and behind != 0)) if takes]


def test_drawn_products():
    ways = Counter()
    for number in range(24):
        case = Case(number)
        w = case.weight()
        x = case.rng.standard_normal((case.k, case.m)).astype(w.dtype)
        c = case.rng.standard_normal((case.m, case.n)).astype(w.dtype)
        module = case.compile(w)
        got = module(x, *(() if case.is_constant else (w,)), c)
        expected = x.astype(np.float64).T @ w.astype(np.float64) + c.astype(np.float64)
        error = relative_error(got.astype(np.float64), expected)
        remark = " ".join(module.remarks)
        assert error <= LIMITS[case.element], (SEED, number, vars(case), error, remark)
        ways.update(case.ways(remark))
    missing = {f"{weight}, {way}" for weight in ("constant", "of calls")
               for way in ("windows", "rows twice")} - set(ways)
    assert not missing, (SEED, missing, ways)
