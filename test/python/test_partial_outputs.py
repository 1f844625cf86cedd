"""Ops that write a part of their output: the rest stays what it was. Drawn afresh in
each run, and compared with loops in Python."""

import itertools
import os
import random

import nm
import numpy as np
import pytest

SEED = int(os.environ.get("NM_TEST_SEED", random.SystemRandom().randrange(2 ** 31)))

#: What a dimension of an output is of loop `d` of `size`: the text, the element, and
#: how many elements the dimension has at least.
STEPS = {
    "plain": lambda d, size: (f"{d}", lambda i: i, size),
    "stride": lambda d, size: (f"{d} * 2", lambda i: 2 * i, 2 * size - 1),
    "offset": lambda d, size: (f"{d} + 3", lambda i: i + 3, size + 3),
    "both": lambda d, size: (f"{d} * 3 + 1", lambda i: 3 * i + 1, 3 * size - 1),
    "reversed": lambda d, size: (f"{size} - {d}", lambda i: size - i, size + 1),
}
#: What the output is before.
STARTS = {
    "fill": """%z = arith.constant 2.5 : f32
  %e = tensor.empty() : OUT
  %o = linalg.fill ins(%z : f32) outs(%e : OUT) -> OUT""",
    "argument": "",
    "constant": "%o = arith.constant dense<2.5> : OUT",
    "sum": "%o = arith.addf %s, %s : OUT",
}
BODIES = {
    "copy": ("", lambda x, out: x),
    "square": ("%y = arith.mulf %a, %a : f32", lambda x, out: x * x),
    "accumulate": ("%y = arith.addf %a, %b : f32", lambda x, out: x + out),
}
#: What the cases of a run have had, each at least once.
WAYS = {*STEPS, *STARTS, *BODIES, "diagonal", "fixed", "no other dimension",
        True, False, None, 0, 3}


def tensor(shape, dynamic=False):
    return "tensor<" + "".join("?x" if dynamic else f"{size}x" for size in shape) + "f32>"


class Case:
    """An op of one input, drawn."""

    def __init__(self, rng):
        self.sizes = [rng.choice((1, 5, 8)) for _ in range(rng.choice((1, 2)))]
        self.loops = len(self.sizes)
        #: A reduction, whose last element stays, or that may have no elements.
        self.reduced = rng.choice((None, None, 0, 3))
        self.dynamic = rng.random() < 0.3
        kinds = [rng.choice(list(STEPS)) for _ in self.sizes]
        order = list(range(self.loops))
        rng.shuffle(order)
        dims = [STEPS[kinds[loop]](f"d{loop}", self.sizes[loop]) + (loop,)
                for loop in order]
        self.kinds = set(kinds)
        extra = rng.choice((None, None, "diagonal", "fixed"))
        if extra == "diagonal":
            dims.append((f"d{order[0]}", lambda i: i, self.sizes[order[0]], order[0]))
        elif extra == "fixed":
            dims.append(("2", lambda i: 2, 3, 0))
        self.kinds.add(extra or "no other dimension")
        self.dims = dims
        self.shape = [least + rng.choice((0, 0, 2)) if text not in names(self.loops)
                      else least for text, _, least, _ in dims]
        self.start = rng.choice(list(STARTS))
        if self.dynamic and self.start != "sum":
            self.start = "argument"
        self.body = rng.choice(list(BODIES))

    def text(self):
        loops = names(self.loops + (self.reduced is not None))
        iterators = ["parallel"] * self.loops
        if self.reduced is not None:
            iterators.append("reduction")
        space = ", ".join(loops)
        written = ", ".join(text for text, *_ in self.dims)
        source = tensor(self.input_shape(), self.dynamic)
        code = BODIES[self.body][0]
        out = tensor(self.shape, self.dynamic)
        head = STARTS[self.start].replace("OUT", out)
        given = {"argument": "%o", "sum": "%s"}.get(self.start, "%unused")
        return f"""
func.func @f(%x: {source}, {given}: {out}) -> {out} {{
  {head}
  %r = linalg.generic {{
    indexing_maps = [affine_map<({space}) -> ({space})>, affine_map<({space}) -> ({written})>],
    iterator_types = [{", ".join(f'"{name}"' for name in iterators)}]
  }} ins(%x : {source}) outs(%o : {out}) {{
  ^bb0(%a: f32, %b: f32):
    {code}
    linalg.yield {"%y" if code else "%a"} : f32
  }} -> {out}
  return %r : {out}
}}
"""

    def input_shape(self):
        return self.sizes + ([] if self.reduced is None else [self.reduced])

    def evaluate(self, x, given):
        out = {"argument": given, "sum": given + given}.get(
            self.start, np.full(self.shape, 2.5)).astype(np.float64)
        for at in itertools.product(*map(range, x.shape)):
            where = tuple(place(at[loop]) for _, place, _, loop in self.dims)
            out[where] = BODIES[self.body][1](float(x[at]), out[where])
        return out


def names(count):
    return [f"d{loop}" for loop in range(count)]


@pytest.mark.parametrize("target", ["cpu", "sim:sm_80"])
def test_drawn_outputs(target):
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    data = np.random.default_rng(SEED)
    seen = set()
    for drawn in range(200):
        if drawn >= 20 and (seen == WAYS or target != "cpu"):
            break
        case = Case(rng)
        x = data.standard_normal(case.input_shape()).astype(np.float32)
        given = data.standard_normal(case.shape).astype(np.float32)
        expected = case.evaluate(x, given)
        got = nm.compile(case.text(), target, opt_level=1)["f"](x, given)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6,
                                   err_msg=f"seed {SEED}:{case.text()}")
        seen |= case.kinds | {case.start, case.body, case.dynamic, case.reduced}
    assert seen == WAYS or target != "cpu"
