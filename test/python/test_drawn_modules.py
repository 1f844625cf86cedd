"""Modules of several ops whose shapes and types coincide, so that passes that take equal
ops for one, or reuse memory, meet what no module of one op has: drawn products, sparse
and dense, with operands used twice, and ops around them, against float64. Drawn afresh;
NM_TEST_SEED repeats a run."""

import os

import nm
import numpy as np
import pytest
from test_contractions import numpy_type

SEED = int(os.environ.get("NM_TEST_SEED", np.random.SeedSequence().entropy % 2 ** 31))
# A chain of up to eight roundings.
LIMITS = {"f32": 3e-5, "f16": 1.2e-2, "bf16": 9e-2}
TARGETS = ("sim:sm_80", "sim:sm_90a", "cpu")
SAME = "d0, d1"


class Value:
    """A tensor of the module: its name in the text and its elements in float64."""

    def __init__(self, name, element, array, encoding=""):
        self.name, self.element = name, element
        self.array = np.asarray(array, np.float64)
        self.shape = self.array.shape
        self.type = tensor_type(self.shape, element, encoding)


def tensor_type(shape, element, encoding=""):
    return "tensor<" + "".join(f"{size}x" for size in shape) + f"{element}{encoding}>"


class Case:
    def __init__(self, rng):
        self.rng, self.lines, self.names = rng, [], 0
        self.size = int(rng.choice([1, 4, 8, 16, 16, 17, 32]))
        self.element = str(rng.choice(list(LIMITS)))
        self.arguments, self.arrays = [], []
        self.values, self.weights = [], []
        for _ in range(rng.integers(1, 3)):
            self.argument()
        for _ in range(rng.integers(2, 9)):
            OPS[rng.integers(len(OPS))](self)
        made = self.values[-3:]
        # One may be returned twice, or be an argument.
        self.results = [made[-1], *rng.choice(made, rng.integers(0, 3))]

    def name(self):
        self.names += 1
        return f"%v{self.names}"

    def argument(self):
        array = self.rng.standard_normal((self.size, self.size)).astype(
            numpy_type(str(self.rng.choice([self.element, "f32"]))))
        name = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}[array.dtype.name]
        self.arguments.append(Value(f"%a{len(self.arguments)}", name, array))
        self.arrays.append(array)
        self.values.append(self.arguments[-1])

    def pick(self, wanted=lambda value: True):
        """One of the values, or None; often one of the last."""
        found = [value for value in self.values if wanted(value)]
        if self.rng.random() < .5:
            found = found[-2:]
        return found[self.rng.integers(len(found))] if found else None

    def result(self, text, array, element):
        """The value that the op `text` makes, whose name stands for RESULT."""
        value = Value(self.name(), element, np.asarray(array).astype(
            numpy_type(element)))
        self.lines.append(text.replace("RESULT", value.name))
        self.values.append(value)
        return value

    def empty(self, shape, element):
        name = self.name()
        self.lines.append(f"{name} = tensor.empty() : {tensor_type(shape, element)}")
        return name

    def filled(self, shape, number):
        name, kind = self.name(), tensor_type(shape, "f32")
        self.lines += [
            f"{name}c = arith.constant {number} : f32",
            f"{name} = linalg.fill ins({name}c : f32) "
            f"outs({self.empty(shape, 'f32')} : {kind}) -> {kind}"]
        return name

    def generic(self, inputs, maps, body, array, element, out=None,
                iterators=("parallel", "parallel")):
        """A generic whose body makes %r, in f32, of %x0, %x1 and so on."""
        kind = tensor_type(np.shape(array), element)
        lines = [f"%x{i} = arith.extf %i{i} : {value.element} to f32"
                 if value.element != "f32" else
                 f"%x{i} = arith.addf %i{i}, %nothing : f32"
                 for i, value in enumerate(inputs)]
        narrow = element != "f32"
        lines += [*body, f"%t = arith.truncf %r : f32 to {element}" if narrow else "",
                  f"linalg.yield {'%t' if narrow else '%r'} : {element}"]
        of = ", ".join(f"affine_map<(d0, d1) -> ({each})>" for each in maps)
        turns = ", ".join(f'"{each}"' for each in iterators)
        entry = ", ".join(f"%i{i}: {value.element}" for i, value in enumerate(inputs))
        names = ", ".join(value.name for value in inputs)
        types = ", ".join(value.type for value in inputs)
        return self.result(
            f"RESULT = linalg.generic {{indexing_maps = [{of}], iterator_types = "
            f"[{turns}]}} ins({names} : {types}) "
            f"outs({out or self.empty(np.shape(array), element)} : {kind}) {{\n"
            f"^bb0({entry}, %o: {element}):\n" + "\n".join(lines) + f"\n}} -> {kind}",
            array, element)

    def multiply(self, a, b):
        """Their product, added to a value or to zeros, and divided so that chains of
        products stay small."""
        start = self.pick(lambda value: value.element == "f32")
        if start is None or self.rng.random() < .7:
            start = Value(self.filled(a.shape, 0.0), "f32", np.zeros(a.shape))
        product = self.result(
            f"RESULT = linalg.matmul ins({a.name}, {b.name} : {a.type}, {b.type}) "
            f"outs({start.name} : {start.type}) -> {start.type}",
            start.array + a.array @ b.array, "f32")
        factor = 2.0 ** -np.ceil(np.log2(max(np.abs(product.array).max(), 1)))
        self.generic([product], [SAME] * 2,
                     [f"%c = arith.constant {factor:.12e} : f32",
                      "%r = arith.mulf %x0, %c : f32"], product.array * factor,
                     str(self.rng.choice([self.element, "f32"])))

    def text(self):
        kinds = ", ".join(value.type for value in self.results)
        names = ", ".join(value.name for value in self.results)
        arguments = ", ".join(f"{value.name}: {value.type}" for value in self.arguments)
        return "\n".join([f"func.func @f({arguments}) -> ({kinds}) {{",
                          "%nothing = arith.constant -0.0 : f32", *self.lines,
                          f"return {names} : {kinds}", "}"])


def draw_product(case):
    a = case.pick()
    case.multiply(a, case.pick(lambda value: value.element == a.element))


def draw_sparse(case):
    a = case.pick()
    weight = next((each for each in case.weights if each.element == a.element), None)
    if case.size % 4:
        return
    if weight is None or case.rng.random() < .5:
        pattern = str(case.rng.choice(["2:4", "1:4"]))
        sparse = nm.prune(case.rng.standard_normal((case.size, case.size)).astype(
            numpy_type(a.element)), pattern, axis=0).weight
        weight = Value(f"%a{len(case.arguments)}", a.element, np.asarray(sparse),
                       f", #nm.encoding<{pattern}>")
        case.arguments.append(weight)
        case.arrays.append(sparse)
        case.weights.append(weight)
    case.multiply(a, weight)


def draw_elements(case):
    """Of two values, of which one may be transposed, and which may be one value."""
    a, b = case.pick(), case.pick()
    op, function = [("arith.addf", np.add), ("arith.subf", np.subtract),
                    ("arith.maximumf", np.maximum)][case.rng.integers(3)]
    turned = case.rng.random() < .3
    case.generic([a, b], [SAME, "d1, d0" if turned else SAME, SAME],
                 [f"%s = {op} %x0, %x1 : f32", "%r = math.tanh %s : f32"],
                 np.tanh(function(a.array, b.array.T if turned else b.array)),
                 str(case.rng.choice([case.element, "f32"])))


def draw_triangle(case):
    """One value above the diagonal and another below."""
    a, b = case.pick(), case.pick()
    case.generic([a, b], [SAME] * 3,
                 ["%i = linalg.index 0 : index", "%j = linalg.index 1 : index",
                  "%c = arith.cmpi sge, %i, %j : index",
                  "%r = arith.select %c, %x0, %x1 : f32"],
                 np.where(np.tri(case.size) > 0, a.array, b.array), a.element)


def draw_transposed(case):
    a = case.pick()
    case.result(f"RESULT = linalg.transpose ins({a.name} : {a.type}) "
                f"outs({case.empty(a.shape, a.element)} : {a.type}) permutation = [1, 0]",
                a.array.T, a.element)


def draw_inserted(case):
    """A corner of one value written into another."""
    a = case.pick()
    b = case.pick(lambda value: value.element == a.element)
    size = int(case.rng.integers(1, case.size + 1))
    kind, array = tensor_type((size, size), a.element), a.array.copy()
    array[case.size - size:, case.size - size:] = b.array[:size, :size]
    at, name = case.size - size, case.name()
    case.lines.append(f"{name} = tensor.extract_slice {b.name}[0, 0] [{size}, {size}] "
                      f"[1, 1] : {b.type} to {kind}")
    case.result(f"RESULT = tensor.insert_slice {name} into {a.name}[{at}, {at}] "
                f"[{size}, {size}] [1, 1] : {kind} into {a.type}", array, a.element)


def draw_sums(case):
    """Sums of rows, or of columns, subtracted from a value's rows or columns."""
    a, b, axis = case.pick(), case.pick(), int(case.rng.integers(2))
    iterators = ["parallel"] * 2
    iterators[axis] = "reduction"
    factor = 1 / case.size
    sums = case.generic([a], [SAME, f"d{1 - axis}"],
                        [f"%c = arith.constant {factor:.12e} : f32",
                         "%m = arith.mulf %x0, %c : f32", "%r = arith.addf %o, %m : f32"],
                        a.array.mean(axis), "f32", case.filled((case.size,), 0.0),
                        iterators)
    case.values.pop()
    over = int(case.rng.integers(2))
    case.generic([b, sums], [SAME, f"d{over}", SAME], ["%r = arith.subf %x0, %x1 : f32"],
                 b.array - np.expand_dims(sums.array, 1 - over), b.element)


OPS = [draw_product] * 3 + [draw_sparse] * 2 + [
    draw_elements, draw_elements, draw_triangle, draw_transposed, draw_inserted,
    draw_sums]


@pytest.mark.parametrize("number", range(18))
def test_drawn(number):
    case = Case(np.random.default_rng([SEED, number]))
    text, target = case.text(), TARGETS[number % 3]
    module = nm.compile(text, target=target, cache=False)
    results = tuple(np.full(value.shape, np.nan, numpy_type(value.element))
                    for value in case.results)
    module(*case.arrays, out=results if len(results) > 1 else results[0])
    limit = max(LIMITS[value.element] for value in case.values)
    for got, value in zip(results, case.results):
        # Differences of values of about 1 may be zero, but for their roundings.
        size = max(np.linalg.norm(value.array), .1 * np.sqrt(value.array.size))
        error = np.linalg.norm(got.astype(np.float64) - value.array) / size
        assert error <= limit, f"NM_TEST_SEED={SEED}: {target}: {error}\n{text}"
