"""nm.attention against float64: drawn sizes, orders of dimensions, groups of heads, masks
and element types. Drawn afresh; NM_TEST_SEED repeats a run."""

import os
import platform

import nm
import numpy as np
import pytest
from conftest import relative_error
from test_contractions import LIMITS, numpy_type

SEED = int(os.environ.get("NM_TEST_SEED", np.random.SeedSequence().entropy % 2 ** 31))


# What a CPU's vectors may be: 16, 8 and 4 floats.
PROCESSORS = [{}] if platform.machine() != "x86_64" else [
    {}, {"mcpu": "x86-64-v3"}, {"mcpu": "x86-64-v3", "mattr": "-avx2"}]


class Case:
    """`far` makes it long enough for several tiles of rows and keys, and `kernel` one
    that a GPU's kernel takes."""

    def __init__(self, rng, far=False, kernel=False):
        self.rng = rng
        self.batches = "bh"[:int(rng.integers(0, 3))]
        self.groups = "g"[:int(rng.integers(0, 2))]
        self.sizes = {loop: int(rng.integers(1, 4)) for loop in "bhg"}
        self.sizes.update({loop: int(rng.integers(1, 20)) for loop in "mn"})
        self.sizes.update({loop: int(rng.choice([8, 16, 24, 7])) for loop in "de"})
        if far:
            self.sizes["m"] = int(rng.choice([1, 3, rng.integers(5, 90)]))
            self.sizes["n"] = int(rng.integers(1, 200))
            self.sizes.update({loop: int(rng.choice([8, 32, 33, 64, 130]))
                               for loop in "de"})
        if kernel:
            self.sizes.update({loop: int(rng.choice([16, 32, 48, 64, 128]))
                               for loop in "de"})
        self.unknown = {loop for loop in "bmn" if rng.random() < .3}
        self.element = str(rng.choice(["f16", "bf16"] if kernel else list(LIMITS)))
        self.causal = bool(rng.random() < .4)
        self.scale = float(np.float32(rng.uniform(.1, 1)))
        self.loops = {"q": self.shuffled(self.batches + self.groups + "md"),
                      "k": self.shuffled(self.batches + "nd"),
                      "v": self.shuffled(self.batches + "ne"),
                      "o": self.shuffled(self.batches + self.groups + "me")}
        self.arrays = {name: self.draw(self.loops[name]) for name in "qkv"}
        self.mask = str(rng.choice(["", "i1", "f32", self.element]))
        if self.mask:
            kept = [loop for loop in self.batches + self.groups + "m"
                    if rng.random() < .5]
            self.loops["x"] = self.shuffled([*kept, "n"])
            shape = [self.sizes[loop] for loop in self.loops["x"]]
            self.arrays["x"] = rng.random(shape) < .7
            if self.mask != "i1":
                self.arrays["x"] = np.where(self.arrays["x"], rng.standard_normal(shape),
                                            -np.inf).astype(numpy_type(self.mask))

        self.lengths = str(rng.choice(["", "i32", "i64"]))
        if self.lengths:
            self.draw_lengths()

    def draw_lengths(self):
        """Some below zero, of none, of all and of more keys than there are."""
        self.loops["l"] = self.shuffled(
            [loop for loop in self.batches if self.rng.random() < .7])
        keys = self.sizes["n"]
        self.arrays["l"] = self.rng.choice(
            [-3, 0, keys, keys + 5, *self.rng.integers(0, keys + 1, 8)],
            [self.sizes[loop] for loop in self.loops["l"]]).astype(
                {"i32": np.int32, "i64": np.int64}[self.lengths])

    def shuffled(self, loops):
        loops = list(loops)
        self.rng.shuffle(loops)
        return loops

    def draw(self, loops):
        return self.rng.standard_normal([self.sizes[loop] for loop in loops]).astype(
            numpy_type(self.element))

    def type_of(self, name, element=None):
        return "tensor<" + "".join(
            f"{'?' if loop in self.unknown else self.sizes[loop]}x"
            for loop in self.loops[name]) + f"{element or self.element}>"

    def text(self):
        domain = self.batches + self.groups + "mnde"
        names = ["q", "k", "v", *("x" if self.mask else ""),
                 *("l" if self.lengths else ""), "o"]
        maps = ", ".join(f"affine_map<({', '.join(domain)}) -> "
                         f"({', '.join(self.loops[name])})>" for name in names)
        types = {name: self.type_of(name) for name in "qkvo"}
        masked, mask_argument, lines = "", "", []
        if self.mask:
            # Callers have a byte for a boolean.
            given = self.type_of("x", "i8" if self.mask == "i1" else self.mask)
            types["x"] = self.type_of("x", self.mask)
            mask_argument = f", %x_: {given}"
            lines.append(f"%x = arith.trunci %x_ : {given} to {types['x']}"
                         if self.mask == "i1" else
                         f"%x = tensor.cast %x_ : {given} to {given}")
            masked = f" mask(%x : {types['x']})"
        if self.lengths:
            types["l"] = self.type_of("l", self.lengths)
            mask_argument += f", %l: {types['l']}"
            masked += f" lengths(%l : {types['l']})"
        causal = " causal" if self.causal else ""
        return "\n".join([
            f"func.func @f(%q: {types['q']}, %k: {types['k']}, %v: {types['v']}, "
            f"%o: {types['o']}{mask_argument}) -> {types['o']} {{", *lines,
            f"%r = nm.attention indexing_maps = [{maps}] scale = {self.scale:.9e}{causal} "
            f"ins(%q, %k, %v : {types['q']}, {types['k']}, {types['v']}){masked} "
            f"outs(%o : {types['o']}) -> {types['o']}",
            f"return %r : {types['o']}", "}"])

    def expected(self):
        wide = {name: np.asarray(array, np.float64) for name, array in self.arrays.items()}
        of = {name: "".join(loops) for name, loops in self.loops.items()}
        rows = self.batches + self.groups + "m"
        scores = self.scale * np.einsum(f"{of['q']},{of['k']}->{rows}n", wide["q"],
                                        wide["k"])
        if self.mask:
            full = np.einsum(f"{of['x']},{rows}n->{rows}n",
                             np.ones(wide["x"].shape), np.ones(scores.shape))
            order = [loop for loop in rows + "n" if loop in of["x"]]
            x = wide["x"].transpose([of["x"].index(loop) for loop in order])
            x = x.reshape([self.sizes[loop] if loop in order else 1
                           for loop in rows + "n"])
            scores = (np.where(x * full != 0, scores, -np.inf) if self.mask == "i1"
                      else scores + x)
        if self.causal:
            seen = np.tri(self.sizes["m"], self.sizes["n"], dtype=bool)
            scores = np.where(seen, scores, -np.inf)
        if self.lengths:
            scores = np.where(self.is_within(rows), scores, -np.inf)
        most = scores.max(-1, keepdims=True)
        powers = np.exp(scores - np.where(np.isinf(most), 0, most))
        total = powers.sum(-1, keepdims=True)
        weights = np.divide(powers, total, out=np.zeros_like(powers), where=total != 0)
        return np.einsum(f"{rows}n,{of['v']}->{of['o']}", weights, wide["v"])


    def is_within(self, rows):
        """Which keys are before the length of their row's batch."""
        order = [loop for loop in rows if loop in self.loops["l"]]
        lengths = self.arrays["l"].transpose([self.loops["l"].index(loop)
                                              for loop in order])
        lengths = lengths.reshape([self.sizes[loop] if loop in order else 1
                                   for loop in rows + "n"])
        return np.arange(self.sizes["n"]) < lengths

    def poison_behind_lengths(self):
        """What is behind has no effect, whatever it is."""
        for name in "kv":
            loops = self.loops[name]
            order = [*self.batches, "n", *(loop for loop in loops if loop in "de")]
            array = self.arrays[name].transpose([loops.index(loop) for loop in order])
            array[~np.broadcast_to(self.is_within(self.batches), array.shape[:-1])] = np.nan


@pytest.mark.parametrize("number", range(36))
def test_drawn(number):
    target = ("cpu", "sim:sm_80", "sim:sm_90a")[number % 3]
    check(Case(np.random.default_rng([SEED, number])), target)


@pytest.mark.parametrize("number", range(36))
def test_drawn_tiles(number):
    """Few rows and tiles of rows, for each width of vectors."""
    rng = np.random.default_rng([SEED, 100 + number])
    case = Case(rng, far=True)
    check(case, "cpu", **PROCESSORS[number % len(PROCESSORS)])


@pytest.mark.parametrize("number", range(36))
def test_drawn_kernels(number):
    """Tiles of rows, and few rows whose keys several blocks have."""
    case = Case(np.random.default_rng([SEED, 200 + number]), far=True, kernel=True)
    check(case, ("sim:sm_80", "sim:sm_90a")[number % 2])


@pytest.mark.parametrize("target", ["sim:sm_80", "sim:sm_90a"])
@pytest.mark.parametrize("keys", [1, 70, 128, 129])
def test_few_rows_of_few_keys(target, keys):
    """Up to 128 keys are one part of few rows, which is the result."""
    case = Case(np.random.default_rng([SEED, 400, keys]), kernel=True)
    case.sizes.update({"m": 4, "n": keys})
    case.unknown, case.mask, case.lengths = set(), "", ""
    for name in "qkv":
        case.arrays[name] = case.draw(case.loops[name])
    check(case, target)


@pytest.mark.parametrize("target", ["sim:sm_80", "sim:sm_90a"])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("heads,tiles", [(1, 1), (3, 2), (2, 3), (5, 4), (90, 3)])
def test_order_of_causal_blocks(target, known, heads, tiles):
    """Blocks of all heads whose rows see the most keys begin together where sizes are
    known, and up to 264 blocks go back from the middle on; 90 x 3 are more."""
    case = Case(np.random.default_rng([SEED, 600, heads, tiles]), kernel=True)
    case.batches, case.groups, case.causal = "h", "", True
    case.sizes.update({"h": heads, "m": 64 * tiles - 5, "n": 64 * tiles, "d": 16, "e": 16})
    case.unknown, case.mask, case.lengths = set() if known else {"m"}, "", ""
    case.loops = {"q": list("hmd"), "k": list("hnd"), "v": list("hne"), "o": list("hme")}
    case.arrays = {name: case.draw(case.loops[name]) for name in "qkv"}
    check(case, target)


@pytest.mark.parametrize("target", ["sim:sm_80", "sim:sm_90a"])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("number", range(6))
def test_rows_whose_keys_blocks_share(target, number, known):
    """Tiles of rows of so few heads that their keys are parts: with a mask, lengths, some
    of which end before parts begin, and causal. Where sizes are not known, there are a
    kernel for parts and one for all keys."""
    case = Case(np.random.default_rng([SEED, 600, number]), kernel=True)
    case.sizes.update({"b": 2, "m": int(case.rng.integers(17, 80)),
                       "n": int(case.rng.integers(1024, 1400))})
    case.batches, case.groups, case.unknown = "b", "g", set() if known else set("mn")
    case.loops = {"q": list("bgmd"), "k": list("bnd"), "v": list("bne"), "o": list("bgme")}
    case.causal = number == 1
    case.mask, case.lengths = "f32" if number == 2 else "", "i32" if number > 2 else ""
    case.sizes["g"] = 1 if case.causal else max(case.sizes["g"], 1)
    if case.causal:
        case.sizes.update({"b": 1, "m": 1050, "d": 16, "e": 32})
    case.arrays = {name: case.draw(case.loops[name]) for name in "qkv"}
    if case.mask:
        case.loops["x"] = ["m", "n"]
        case.arrays["x"] = np.where(case.rng.random([case.sizes[loop] for loop in "mn"])
                                    < .02, 1, -np.inf).astype(np.float32)
    if case.lengths:
        case.draw_lengths()
    kernels = nm.lower(case.text(), "gpu", target.replace("sim", "cuda"))
    assert kernels.count("gpu.launch blocks") == (2 if known else 3), f"NM_TEST_SEED={SEED}"
    check(case, target)


@pytest.mark.parametrize("target", ["cpu", "sim:sm_80", "sim:sm_90a"])
def test_rows_of_the_least_number(target):
    """All keys of such a row are as good as one another; of -infinity it is zero."""
    case = Case(np.random.default_rng([SEED, 400]), kernel=True)
    case.sizes.update({"m": 20, "n": 9, "d": 16, "e": 16})
    case.batches = case.groups = ""
    case.unknown, case.causal, case.mask, case.element = set(), False, "f32", "f16"
    case.lengths = ""
    case.loops = {"q": ["m", "d"], "k": ["n", "d"], "v": ["n", "e"], "o": ["m", "e"],
                  "x": ["m", "n"]}
    case.arrays = {name: case.draw(case.loops[name]) for name in "qkv"}
    case.arrays["x"] = np.zeros((20, 9), np.float32)
    case.arrays["x"][3] = np.finfo(np.float32).min
    case.arrays["x"][5] = -np.inf
    got = check(case, target)
    mean = case.arrays["v"].astype(np.float64).mean(0)
    np.testing.assert_allclose(got[3], mean, atol=2e-3)
    assert (got[5] == 0).all()


@pytest.mark.parametrize("target", ["cpu", "sim:sm_80", "sim:sm_90a"])
def test_as_many_keys_as_columns(target):
    """Scores and sums are of one type, and one tile has all of either."""
    case = Case(np.random.default_rng([SEED, 300]))
    case.sizes.update({"m": 9, "n": 8, "d": 8, "e": 8})
    case.batches = case.groups = ""
    case.loops = {"q": list("md"), "k": list("nd"), "v": list("ne"), "o": list("me")}
    case.element, case.causal, case.mask, case.unknown = "f16", False, "", set()
    case.lengths = ""
    for name in "qkv":
        case.arrays[name] = case.draw(case.loops[name])
    check(case, target)


@pytest.mark.parametrize("target", ["cpu", "sim:sm_80", "sim:sm_90a"])
@pytest.mark.parametrize("mask", ["i1", "f32"])
@pytest.mark.parametrize("kernel", [False, True])
@pytest.mark.parametrize("rows", [2, 9, 70])
def test_rows_that_see_nothing(target, mask, kernel, rows):
    """They are zero, beside rows that see something."""
    case = Case(np.random.default_rng([SEED, rows]), kernel=kernel)
    case.sizes["m"] = rows
    case.causal, case.unknown, case.lengths = False, set(), ""
    for name in "qkv":
        case.arrays[name] = case.draw(case.loops[name])
    case.mask, case.loops["x"] = mask, ["m", "n"]
    seen = np.ones((rows, case.sizes["n"]), bool)
    seen[::2] = False
    case.arrays["x"] = seen if mask == "i1" else np.where(
        seen, 0, -np.inf).astype(np.float32)
    got = check(case, target)
    hidden = np.take(got, range(0, rows, 2), axis=case.loops["o"].index("m"))
    assert not hidden.any()


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("target", ["cpu", "sim:sm_80", "sim:sm_90a"])
@pytest.mark.parametrize("rows,causal", [(1, False), (3, True), (70, False), (70, True)])
def test_lengths(target, element, rows, causal):
    """Of none, one, all but one, all and too many keys, at the ends of tiles too: those
    of tiles of rows, of few rows whose keys several blocks have, and of no kernel."""
    case = Case(np.random.default_rng([SEED, 500, rows]), kernel=True)
    lengths = [-1, 0, 1, 63, 64, 65, 128, 299, 300, 301]
    case.sizes.update({"b": len(lengths), "g": 2, "m": rows, "n": 300, "d": 32, "e": 16})
    case.batches, case.groups, case.unknown = "b", "g", set()
    case.causal, case.mask, case.element, case.lengths = causal, "", element, "i64"
    case.loops = {"q": list("bgmd"), "k": list("bnd"), "v": list("bne"),
                  "o": list("bgme"), "l": ["b"]}
    case.arrays = {name: case.draw(case.loops[name]) for name in "qkv"}
    case.arrays["l"] = np.array(lengths)
    got = check(case, target)
    assert not got[:2].any() and got[2:].any((1, 2, 3)).all()


def test_every_way_of_lengths_is_drawn():
    cases = [Case(np.random.default_rng([SEED, 100 * (number // 36) + number % 36]),
                  far=number >= 36, kernel=number >= 72) for number in range(108)]
    found = {}
    for case in cases:
        if case.lengths:
            way = ("causal" if case.causal else "", "mask" if case.mask else "")
            for each in (way, case.lengths, "".join(sorted(case.loops["l"])),
                         "few" if case.sizes["m"] <= 4 else "many"):
                found[each] = found.get(each, 0) + 1
    print(found)
    wanted = {("", ""), ("causal", ""), ("", "mask"), ("causal", "mask"), "i32", "i64", "",
              "b", "bh", "few", "many"}
    assert wanted <= found.keys(), f"NM_TEST_SEED={SEED}: {found}"


def check(case, target, **options):
    text = case.text()
    module = nm.compile(text, target=target, cache=False, **options)
    o = np.full_like(case.draw(case.loops["o"]), np.nan)
    mask = [case.arrays["x"].astype(np.int8) if case.mask == "i1" else case.arrays["x"]
            ] if case.mask else []
    lengths = [case.arrays["l"]] if case.lengths else []
    expected = case.expected()
    if case.lengths:
        case.poison_behind_lengths()
    got = module(*(case.arrays[name] for name in "qkv"), o, *mask, *lengths)
    error = relative_error(got, expected)
    assert error <= LIMITS[case.element], f"NM_TEST_SEED={SEED}: {error} {options}\n{text}"
    return got


# Attention, whose result a product takes [k x m].
PROJECTED = """
#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>
func.func @f(%q: QUERIES, %k: KEYS, %v: KEYS, %w: tensor<KxNxf16, #nm.encoding<8:32, block = 1x64>>)
    -> RESULTS {
  %none = tensor.empty() : QUERIES
  %o = nm.attention indexing_maps = [#q, #k, #v, #o] scale = 0.25 CAUSAL
    ins(%q, %k, %v : QUERIES, KEYS, KEYS) outs(%none : QUERIES) -> QUERIES
  %a = tensor.collapse_shape %o [[0, 1], [2, 3]] : QUERIES into tensor<MxKxf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<MxNxf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
      affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<MxKxf16>, tensor<KxNxf16, #nm.encoding<8:32, block = 1x64>>)
    outs(%c : tensor<MxNxf32>) {
  ^bb0(%p: f16, %q_: f16, %s: f32):
    %x = arith.extf %p : f16 to f32
    %z = arith.extf %q_ : f16 to f32
    %u = arith.mulf %x, %z : f32
    %t = arith.addf %s, %u : f32
    linalg.yield %t : f32
  } -> tensor<MxNxf32>
  return VALUES
}
"""


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kept", [False, True])
def test_result_is_stored_transposed(draw, kept, causal):
    """For a product alone; where it is returned, too, a kernel transposes it."""
    for b, m, n, h, width, columns in [(2, 65, 65, 3, 16, 64), (3, 20, 90, 2, 64, 130),
                                       (1, 200, 40, 4, 48, 70)]:
        queries, keys = (f"tensor<{b}x{size}x{h}x{width}xf16>" for size in (m, n))
        product = f"tensor<{b * m}x{columns}xf32>"
        text = PROJECTED.replace("QUERIES", queries).replace("KEYS", keys).replace(
            "RESULTS", f"({product}, {queries})" if kept else product).replace(
            "VALUES", f"%y, %o : {product}, {queries}" if kept else f"%y : {product}")
        text = text.replace("CAUSAL", "causal" if causal else "").replace(
            "MxN", f"{b * m}x{columns}").replace("MxK", f"{b * m}x{h * width}").replace(
            "KxN", f"{h * width}x{columns}")
        module = nm.compile(text, target="sim:sm_90a", schedule="wgmma", cache=False)
        lines = [str(line) for line in module.diagnostics]
        assert any("stores its result transposed" in line for line in lines) != kept, lines
        assert any("linalg.transpose is a kernel" in line for line in lines) == kept, lines
        q, k, v = (draw.array(b, size, h, width).astype(np.float16) for size in (m, n, n))
        w = draw.weight((h * width, columns), "8:32, block = 1x64", dtype=np.float16)
        scores = np.einsum("bmhd,bnhd->bhmn", q.astype(np.float64), k) * 0.25
        if causal:
            scores = np.where(np.tri(m, n, dtype=bool), scores, -np.inf)
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        powers /= powers.sum(-1, keepdims=True)
        o = np.einsum("bhmn,bnhe->bmhe", powers, v.astype(np.float64))
        results = module(q, k, v, w)
        if kept:
            results, given = results
            assert relative_error(given, o) < LIMITS["f16"]
        exact = o.reshape(b * m, -1) @ w.astype(np.float64)
        assert relative_error(results, exact) < LIMITS["f16"], (b, m, n, h, width)
