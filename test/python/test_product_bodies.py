"""Bodies of contractions: nm's products take multiply and add, and what else a body has is
computed as it is written, or refused of an encoded weight. Bodies are drawn afresh in each
run, and compared with the steps of their sums in NumPy, which no compiler had a part in."""

import os
import random
from collections import Counter

import nm
import numpy as np
import pytest
from conftest import relative_error

SEED = int(os.environ.get("NM_TEST_SEED", random.SystemRandom().randrange(2 ** 31)))
TARGETS = ["cpu", "sim:sm_80", "sim:sm_90a"]

#: Loops of activations, weights and output. k is one, n is two.
FORMS = {
    "matrix": ("m k", "k n", "m n"),
    "transposed weight": ("m k", "n k", "m n"),
    "weight first": ("k m", "n k", "n m"),
    "batch": ("b m k", "k n", "b m n"),
    "vector": ("k", "k n", "n"),
}
SIZES = {"b": 2, "m": 5, "k": 12, "n": 8}

#: Functions of f32, as they are written and of numbers in float64.
FUNCTIONS = {
    "tanh": ("math.tanh {} : f32", np.tanh),
    "absf": ("math.absf {} : f32", np.abs),
    "negf": ("arith.negf {} : f32", np.negative),
    "exp": ("math.exp {} : f32", np.exp),
    "scale": ("arith.mulf {}, %scale : f32", lambda v: v * 1.5),
}
#: What a type becomes and is converted back from.
ROUND_TRIPS = {
    "truncf": ("arith.truncf {} : f32 to f16", "arith.extf {} : f16 to f32",
               lambda v: v.astype(np.float16).astype(np.float64)),
    "fptosi": ("arith.fptosi {} : f32 to i32", "arith.sitofp {} : i32 to f32", np.trunc),
}
NUMPY = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32}


class Body:
    """The lines of a body, with what they compute."""

    def __init__(self):
        self.lines = []

    def emit(self, code, *operands):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = " + code.format(*operands))
        return name

    def apply(self, kind, value):
        """`value`, a name and a function of an environment, through a function of f32."""
        if kind == "exp":
            # An exponential of exponentials would be more than f32 has.
            value = self.apply("tanh", value)
        name, compute = value
        if kind in FUNCTIONS:
            code, function = FUNCTIONS[kind]
            return self.emit(code, name), lambda env: function(compute(env))
        there, back, function = ROUND_TRIPS[kind]
        return (self.emit(back, self.emit(there, name)), lambda env: function(compute(env)))

    def extend(self, value, op, source, target):
        name, compute = value
        if op == "extui":
            unsigned = {"i8": np.uint8}[source]
            return (self.emit(f"arith.extui {{}} : {source} to {target}", name),
                    lambda env: compute(env).astype(unsigned).astype(np.int64))
        return self.emit(f"arith.{op} {{}} : {source} to {target}", name), compute


class Floats:
    """A body on f32, or on f16 that sums in f32 or in its own type."""

    def __init__(self, rng, is_plain):
        self.element = rng.choice(["f32", "f16"])
        self.result = "f32"
        narrow = rng.random()
        self.tags = [self.element]
        body = Body()
        a, b = ("%a", lambda env: env["a"]), ("%b", lambda env: env["b"])
        self.is_product = True
        rounds_product = False
        if self.element == "f16" and is_plain and narrow < 0.5:
            # Products and sums of nm are in f32 all the same.
            self.result = "f16"
            self.tags.append("all in f16")
            kind = "f16"
        elif self.element == "f16" and not is_plain and narrow < 0.3:
            rounds_product, self.is_product = True, False
            self.tags.append("product in f16")
            kind = "f16"
        else:
            kind = "f32"
            if self.element == "f16":
                a, b = (body.extend(v, "extf", "f16", "f32") for v in (a, b))
            if not is_plain:
                a, b = self.change(rng, body, a), self.change(rng, body, b)
        if rng.random() < 0.5:
            a, b = b, a
        start = ("%s", lambda env: env["s"])
        if kind == "f32" and is_plain and self.element == "f16" and narrow > 0.75:
            self.result = "f16"
            self.tags.append("rounded sums")
            start = body.extend(start, "extf", "f16", "f32")
        if rng.random() < 0.25 and not rounds_product:
            self.tags.append("fma")
            name = body.emit(f"math.fma {{}}, {{}}, {{}} : {kind}", a[0], b[0], start[0])
            total = (name, lambda env: start[1](env) + a[1](env) * b[1](env))
        else:
            total = self.add(rng, body, kind, a, b, start, is_plain, rounds_product)
        if not is_plain and rng.random() < 0.5 and not rounds_product:
            total = self.change(rng, body, total, ["tanh", "negf", "absf"], "of the sum")
        if self.result == "f16" and kind == "f32":
            name = body.emit("arith.truncf {} : f32 to f16", total[0])
            total = (name, total[1])
        self.body, self.yielded = body, total

    def change(self, rng, body, value, kinds=(*FUNCTIONS, *ROUND_TRIPS), where=""):
        if rng.random() < 0.5:
            return value
        kind = rng.choice(list(kinds))
        self.tags.append(f"{kind} {where}".strip())
        self.is_product = False
        return body.apply(kind, value)

    def add(self, rng, body, kind, a, b, start, is_plain, rounds_product):
        name = body.emit(f"arith.mulf {{}}, {{}} : {kind}", a[0], b[0])
        product = (name, lambda env: a[1](env) * b[1](env))
        if rounds_product:
            rounded = product[1]
            product = (body.emit("arith.extf {} : f16 to f32", name),
                       lambda env: rounded(env).astype(np.float16).astype(np.float64))
            kind = "f32"
        elif not is_plain and kind == "f32":
            product = self.change(rng, body, product, where="of the product")
        ops = {"addf": np.add}
        if not is_plain:
            ops |= {"subf": np.subtract, "maximumf": np.maximum}
        op = rng.choice(list(ops))
        self.tags.append(op)
        self.is_product &= op == "addf"
        operands = [start, product]
        if op != "subf":
            rng.shuffle(operands)
        x, y = operands
        name = body.emit(f"arith.{op} {{}}, {{}} : {kind}", x[0], y[0])
        return name, lambda env: ops[op](x[1](env), y[1](env))

    def draw(self, data, shape):
        values = data.standard_normal(shape) * (2 if self.element == "f32" else 1)
        return values.astype(NUMPY[self.element])

    def tolerance(self):
        return 1e-5 if self.result == "f32" else 2e-3


class Integers:
    """A body on i8 that sums in i32."""

    element, result = "i8", "i32"

    def __init__(self, rng, is_plain):
        width = rng.choice([16, 32] if is_plain else [8, 16, 32])
        product_type = f"i{width}"
        body = Body()
        factors, signs = [], []
        for value in (("%a", lambda env: env["a"]), ("%b", lambda env: env["b"])):
            op = "extsi" if is_plain else rng.choice(["extsi", "extui"])
            if width != 8:
                signs.append(op)
                value = body.extend(value, op, "i8", product_type)
            factors.append(value)
        rng.shuffle(factors)
        (a_name, a), (b_name, b) = factors
        name = body.emit(f"arith.muli {{}}, {{}} : {product_type}", a_name, b_name)
        wrapped = {8: np.int8, 16: np.int16, 32: np.int32}[width]
        if width != 32:
            name = body.emit(f"arith.extsi {{}} : {product_type} to i32", name)
        op = "addi" if is_plain else rng.choice(["addi", "subi", "maxsi"])
        total = body.emit(f"arith.{op} {{}}, {{}} : i32", "%s", name)
        combine = {"addi": np.add, "subi": np.subtract, "maxsi": np.maximum}[op]
        self.body = body
        self.yielded = (total, lambda env: combine(
            env["s"], (a(env) * b(env)).astype(wrapped).astype(np.int64)))
        self.is_product = width != 8 and op == "addi" and "extui" not in signs
        self.tags = ["i8", f"product in i{width}", op, *set(signs)]

    def draw(self, data, shape):
        return data.integers(-128, 128, shape, dtype=np.int8)

    def tolerance(self):
        return 0


class Case:
    """A contraction, drawn: its text, operands and result."""

    def __init__(self, rng, data):
        is_plain = rng.random() < 0.35
        self.steps = (Integers if rng.random() < 0.25 else Floats)(rng, is_plain)
        self.form = rng.choice(list(FORMS))
        self.operand = rng.choice(["encoded", "constant", "dense"])
        self.loops = [text.split() for text in FORMS[self.form]]
        self.x = self.steps.draw(data, self.shape(0))
        w = self.steps.draw(data, self.shape(1))
        self.axis = self.loops[1].index("k")
        if self.operand != "dense":
            w = nm.prune(w, "2:4", axis=self.axis).weight
        self.w = np.asarray(w)
        self.start = self.steps.draw(data, self.shape(2)).astype(NUMPY[self.steps.result])

    def shape(self, operand):
        return tuple(SIZES[loop] for loop in self.loops[operand])

    def text(self):
        element, result = self.steps.element, self.steps.result

        def tensor(operand, element, encoding=""):
            return ("tensor<" + "".join(f"{size}x" for size in self.shape(operand))
                    + element + encoding + ">")

        encoding = f", #nm.encoding<2:4, dim = {self.axis}>" if self.operand == "encoded" else ""
        x, w, s = tensor(0, element), tensor(1, element, encoding), tensor(2, result)
        arguments, constant = f"%x: {x}, %w: {w}, ", ""
        if self.operand == "constant":
            arguments = f"%x: {x}, "
            constant = f'%w = arith.constant dense<"0x{self.w.tobytes().hex()}"> : {w}'
        loops = [loop for loop in "bmnk" if any(loop in used for used in self.loops)]
        maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join(used)})>"
                         for used in self.loops)
        iterators = ", ".join('"reduction"' if loop == "k" else '"parallel"' for loop in loops)
        code = "\n    ".join(self.steps.body.lines)
        return f"""
func.func @f({arguments}%o: {s}) -> {s} {{
  {constant}
  %scale = arith.constant 1.5 : f32
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
    ins(%x, %w : {x}, {w}) outs(%o : {s}) {{
  ^bb0(%a: {element}, %b: {element}, %s: {result}):
    {code}
    linalg.yield {self.steps.yielded[0]} : {result}
  }} -> {s}
  return %r : {s}
}}
"""

    def evaluate(self):
        wide = np.int64 if self.steps.element == "i8" else np.float64
        letters = self.loops[2]

        def slice_of(array, operand, k):
            """Of one k, with the output's dimensions."""
            used = self.loops[operand]
            taken = np.take(array, k, axis=used.index("k"))
            rest = [loop for loop in used if loop != "k"]
            order = [rest.index(loop) for loop in letters if loop in rest]
            taken = taken.transpose(order) if order else taken
            shape = [SIZES[loop] if loop in rest else 1 for loop in letters]
            return taken.reshape(shape).astype(wide)

        total = self.start.astype(wide)
        with np.errstate(over="ignore"):
            for k in range(SIZES["k"]):
                env = {"a": slice_of(self.x, 0, k), "b": slice_of(self.w, 1, k), "s": total}
                total = np.broadcast_to(self.steps.yielded[1](env), total.shape)
        return total

    def arguments(self):
        if self.operand == "constant":
            return self.x, self.start
        if self.operand == "encoded":
            return self.x, nm.compress(self.w, "2:4", axis=self.axis), self.start
        return self.x, self.w, self.start


#: What each run has to have had, on every target...
OUTCOMES = {(operand, outcome) for operand in ("encoded", "constant", "dense")
            for outcome in ("product", "linalg")} - {("encoded", "linalg")} | {
                ("encoded", "refused")}
#: ...and on one.
WAYS = {*FORMS, *FUNCTIONS, *ROUND_TRIPS, "f32", "f16", "i8", "fma", "addf", "subf",
        "maximumf", "all in f16", "rounded sums", "product in f16", "product in i8",
        "product in i16", "extui", "maxsi"}


def run(case, target):
    """How the case was computed, if it was; its result is compared."""
    try:
        function = nm.compile(case.text(), target, opt_level=1)["f"]
    except nm.CompileError as error:
        assert case.operand == "encoded" and not case.steps.is_product, case.text()
        assert "to be the weight of a contraction: " in str(error)
        return "refused"
    expected = case.evaluate()
    got = function(*case.arguments())
    error = relative_error(got, expected)
    assert error <= case.steps.tolerance(), (
        f"seed {SEED}, {target}: {error:.3g} of\n{case.text()}")
    return "product" if function.ops else "linalg"


def folds(steps):
    """Whether a body may be folded to a product before nm sees it: two signs cancel, and
    f16 that was extended is rounded to itself."""
    kinds = {tag.split()[0] for tag in steps.tags}
    return "negf" in kinds or ("truncf" in kinds and steps.element == "f16")


@pytest.mark.parametrize("target", TARGETS)
def test_drawn_bodies(target):
    rng, data = random.Random(SEED), np.random.default_rng(SEED)
    wanted = OUTCOMES | (WAYS if target == "cpu" else set())
    taken = Counter()
    for drawn in range(400):
        if drawn >= 30 and wanted <= set(taken):
            break
        case = Case(rng, data)
        outcome = run(case, target)
        assert outcome != "product" or case.steps.is_product or folds(case.steps), case.text()
        taken.update([(case.operand, outcome), case.form, *case.steps.tags])
    print(f"seed {SEED}, {target}:", *sorted(taken.items(), key=str), sep="\n  ")
    assert wanted <= set(taken), wanted - set(taken)


ROUNDED = """
func.func @f(%x: tensor<4x8xTYPE>, %w: tensor<8x8xTYPE>, %o: tensor<4x8xRESULT>)
    -> tensor<4x8xRESULT> {
  %r = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                     affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : tensor<4x8xTYPE>, tensor<8x8xTYPE>) outs(%o : tensor<4x8xRESULT>) {
  ^bb0(%a: TYPE, %b: TYPE, %s: RESULT):
    %p = arith.mul %a, %b : TYPE
    %q = arith.ext %p : TYPE to RESULT
    %y = arith.add %s, %q : RESULT
    linalg.yield %y : RESULT
  } -> tensor<4x8xRESULT>
  return %r : tensor<4x8xRESULT>
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_products_that_leave_their_type(target):
    """300 * 300 is infinity in f16, and 16 * 16 is 0 in i8."""
    text = ROUNDED.replace("TYPE", "f16").replace("RESULT", "f32")
    for op in ("mul", "ext", "add"):
        text = text.replace(f"arith.{op} ", f"arith.{op}f ")
    out = nm.compile(text, target, opt_level=1)["f"](
        np.full((4, 8), 300, np.float16), np.full((8, 8), 300, np.float16),
        np.zeros((4, 8), np.float32))
    assert np.isposinf(out).all()
    text = ROUNDED.replace("TYPE", "i8").replace("RESULT", "i32")
    text = text.replace("arith.ext ", "arith.extsi ")
    for op in ("mul", "add"):
        text = text.replace(f"arith.{op} ", f"arith.{op}i ")
    out = nm.compile(text, target, opt_level=1)["f"](
        np.full((4, 8), 16, np.int8), np.full((8, 8), 16, np.int8), np.ones((4, 8), np.int32))
    assert (out == 1).all()


@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize("target", TARGETS)
def test_elementwise_operations_round_each(target, element):
    """x * w less its rounded value is 0."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    text = """
func.func @f(%x: TENSOR, %w: TENSOR, %o: TENSOR) -> TENSOR {
  %p = arith.mulf %x, %w : TENSOR
  %y = arith.subf %p, %o : TENSOR
  return %y : TENSOR
}
""".replace("TENSOR", f"tensor<4x8x{element}>")
    dtype = np.float16 if element == "f16" else ml_dtypes.bfloat16
    x, w = (np.random.default_rng(seed).standard_normal((4, 8)).astype(dtype)
            for seed in (1, 2))
    rounded = (x.astype(np.float32) * w.astype(np.float32)).astype(dtype)
    out = nm.compile(text, target, opt_level=1)["f"](x, w, rounded)
    assert (out.astype(np.float32) == 0).all()
