"""Products of two computed operands, as those of attention: drawn loops, layouts, slices,
transpositions, element types, and sizes that are known or not, against float64. Drawn
afresh; NM_TEST_SEED repeats a run."""

import os

import nm
import numpy as np
import pytest
from conftest import relative_error

SEED = int(os.environ.get("NM_TEST_SEED", np.random.SeedSequence().entropy % 2 ** 31))
LIMITS = {"f32": 1e-5, "f16": 2e-3, "bf16": 1e-2}


def numpy_type(element):
    if element == "bf16":
        return np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    return np.dtype({"f32": np.float32, "f16": np.float16}[element])


class Operand:
    """A tensor over `loops` that is an argument, or what a transposition or a slice
    makes of one."""

    def __init__(self, case, name, loops, element):
        self.case, self.name, self.loops, self.element = case, name, loops, element
        self.order = list(range(len(loops)))
        self.form = case.rng.choice(["plain", "transposed", "slice"])
        if self.form == "transposed":
            case.rng.shuffle(self.order)
        self.steps = [int(case.rng.integers(1, 3)) if self.form == "slice" else 1
                      for _ in loops]
        self.offsets = [int(case.rng.integers(0, 3)) if self.form == "slice" else 0
                        for _ in loops]
        # Dimension i of the operand is dimension order[i] of the argument.
        shape = [case.sizes[loop] * step + offset for loop, step, offset in
                 zip(loops, self.steps, self.offsets)]
        self.shape = [0] * len(loops)
        for dim, size in zip(self.order, shape):
            self.shape[dim] = size
        self.array = case.rng.standard_normal(self.shape).astype(numpy_type(element))

    def value(self):
        """The elements over the loops, in float64."""
        wide = np.asarray(self.array, np.float64).transpose(self.order)
        return wide[tuple(slice(offset, offset + step * self.case.sizes[loop], step)
                          for loop, step, offset in
                          zip(self.loops, self.steps, self.offsets))]

    def type(self):
        return self.case.type_of(self.loops, self.element)

    def argument_type(self):
        if self.form == "slice":
            return "tensor<" + "".join(f"{size}x" for size in self.shape) + (
                f"{self.element}>")
        loops = [None] * len(self.loops)
        for dim, loop in zip(self.order, self.loops):
            loops[dim] = loop
        return self.case.type_of(loops, self.element)

    def lines(self):
        """How the argument %NAME_ becomes %NAME."""
        source, kind = f"%{self.name}_", self.argument_type()
        if self.form == "plain":
            return [f"%{self.name} = tensor.cast {source} : {kind} to {self.type()}"]
        if self.form == "transposed":
            return [*self.case.empty(f"{self.name}e", self.loops, self.element),
                    f"%{self.name} = linalg.transpose ins({source} : {kind}) "
                    f"outs(%{self.name}e : {self.type()}) permutation = {self.order}"]
        sizes = [self.case.sizes[loop] for loop in self.loops]
        static = "tensor<" + "".join(f"{size}x" for size in sizes) + f"{self.element}>"
        return [f"%{self.name}s = tensor.extract_slice {source} {self.offsets} {sizes} "
                f"{self.steps} : {kind} to {static}",
                f"%{self.name} = tensor.cast %{self.name}s : {static} to {self.type()}"]


class Case:
    def __init__(self, rng):
        self.rng = rng
        while True:
            counts = [int(rng.integers(0, 3)) for _ in range(4)]
            if counts[3] and counts[1] + counts[2]:
                break
        self.roles = [role for role, count in zip("bmnk", counts) for _ in range(count)]
        loops = range(len(self.roles))
        self.sizes = [int(rng.integers(8, 20)) if role == "k" and counts[3] == 1
                      else int(rng.integers(3, 9)) if role == "k"
                      else int(rng.choice([1, 2, 3, 5, 9, 17])) for role in self.roles]
        self.unknown = [bool(rng.random() < .25) for _ in loops]
        self.element = str(rng.choice(list(LIMITS)))
        others = {"a": self.element, "b": self.element}
        if rng.random() < .2:
            others[rng.choice(["a", "b"])] = "f32"
        self.element_of_c = "f32"
        if others["a"] == others["b"] and rng.random() < .5:
            self.element_of_c = self.element
        of = {"a": "bmk", "b": "bnk", "c": "bmn"}
        over = {name: [loop for loop in loops if self.roles[loop] in of[name]]
                for name in of}
        for each in over.values():
            rng.shuffle(each)
        self.operands = [Operand(self, name, over[name], others[name]) for name in "ab"]
        self.loops_of_c = over["c"]
        # Sums that are added to what is there already, or to zeros.
        self.accumulates = bool(rng.random() < .3)
        self.start = rng.standard_normal([self.sizes[loop] for loop in over["c"]]).astype(
            numpy_type(self.element_of_c))

    def type_of(self, loops, element):
        return "tensor<" + "".join(
            ("?" if self.unknown[loop] else str(self.sizes[loop])) + "x"
            for loop in loops) + f"{element}>"

    def empty(self, name, loops, element):
        sizes = ", ".join(f"%size{loop}" for loop in loops if self.unknown[loop])
        return [f"%{name} = tensor.empty({sizes}) : {self.type_of(loops, element)}"]

    def text(self):
        a, b = self.operands
        c = self.type_of(self.loops_of_c, self.element_of_c)
        domain = ", ".join(f"d{i}" for i in range(len(self.roles)))
        maps = [f"affine_map<({domain}) -> ({', '.join(f'd{loop}' for loop in each)})>"
                for each in (a.loops, b.loops, self.loops_of_c)]
        kinds = ", ".join('"reduction"' if role == "k" else '"parallel"'
                          for role in self.roles)
        lines = ["%zero = arith.constant 0.0 : " + self.element_of_c]
        lines += [self.dim(loop) for loop, unknown in enumerate(self.unknown) if unknown]
        lines += [*a.lines(), *b.lines()]
        init = "%c_"
        if not self.accumulates:
            lines += [*self.empty("ce", self.loops_of_c, self.element_of_c),
                      f"%c = linalg.fill ins(%zero : {self.element_of_c}) "
                      f"outs(%ce : {c}) -> {c}"]
            init = "%c"
        lines += [
            f"%r = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
            f"iterator_types = [{kinds}]}} ins(%a, %b : {a.type()}, {b.type()}) "
            f"outs({init} : {c}) {{",
            f"^bb0(%x: {a.element}, %y: {b.element}, %z: {self.element_of_c}):",
            *self.body(), f"}} -> {c}", f"return %r : {c}"]
        return (f"func.func @f(%a_: {a.argument_type()}, %b_: {b.argument_type()}, "
                f"%c_: {c}) -> {c} {{\n" + "\n".join(lines) + "\n}\n")

    def dim(self, loop):
        """The size of an argument that has the loop, or else a number."""
        known = [("c", self.loops_of_c, range(8),
                  self.type_of(self.loops_of_c, self.element_of_c))]
        known += [(each.name, each.loops, each.order, each.argument_type())
                  for each in self.operands if each.form != "slice"]
        for name, loops, order, kind in known:
            if loop in loops:
                return (f"%i{loop} = arith.constant {order[loops.index(loop)]} : index\n"
                        f"%size{loop} = tensor.dim %{name}_, %i{loop} : {kind}")
        return f"%size{loop} = arith.constant {self.sizes[loop]} : index"

    def body(self):
        """In f32, and rounded where C is narrower."""
        lines, names = [], {}
        for name, element in (("x", self.operands[0].element),
                              ("y", self.operands[1].element), ("z", self.element_of_c)):
            names[name] = f"%{name}"
            if element != "f32":
                lines.append(f"%w{name} = arith.extf %{name} : {element} to f32")
                names[name] = f"%w{name}"
        lines += [f"%p = arith.mulf {names['x']}, {names['y']} : f32",
                  f"%s = arith.addf {names['z']}, %p : f32"]
        if self.element_of_c == "f32":
            return [*lines, "linalg.yield %s : f32"]
        return [*lines, f"%t = arith.truncf %s : f32 to {self.element_of_c}",
                f"linalg.yield %t : {self.element_of_c}"]

    def expected(self):
        a, b = self.operands
        letters = "abcdefgh"

        def named(loops):
            return "".join(letters[loop] for loop in loops)

        sums = np.einsum(f"{named(a.loops)},{named(b.loops)}->{named(self.loops_of_c)}",
                         a.value(), b.value())
        return sums + (np.asarray(self.start, np.float64) if self.accumulates else 0)


@pytest.mark.parametrize("number", range(48))
def test_drawn(number):
    case = Case(np.random.default_rng([SEED, number]))
    chip = ("sim:sm_80", "sim:sm_90a")[number % 2]
    text = case.text()
    module = nm.compile(text, target=chip, cache=False)
    got = module(*(operand.array for operand in case.operands), case.start)
    error = relative_error(got, case.expected())
    assert error <= LIMITS[case.element], f"NM_TEST_SEED={SEED}: {error}\n{text}"
