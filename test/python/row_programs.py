"""Programs of row-wise ops, drawn: elementwise ops, reductions and ops on what they
make of rows, as MLIR and in float64."""

import numpy as np

#: Of two elements, a number for their row and one for their column.
ELEMENTWISE = {
    "add": ("%y = arith.addf %a, %b : f32", lambda a, b, s, w: a + b),
    "center": ("%y = arith.subf %a, %s : f32", lambda a, b, s, w: a - s),
    "weigh": ("%y = arith.mulf %a, %w : f32", lambda a, b, s, w: a * w),
    "scale": ("""%p = math.absf %s : f32
    %q = arith.addf %p, %one : f32
    %y = arith.divf %a, %q : f32""", lambda a, b, s, w: a / (abs(s) + 1)),
    "exponential": ("""%p = arith.subf %a, %s : f32
    %q = math.absf %p : f32
    %n = arith.negf %q : f32
    %y = math.exp %n : f32""", lambda a, b, s, w: np.exp(-abs(a - s))),
    "accumulate": ("%y = arith.addf %a, %b : f32", lambda a, b, s, w: a + b),
    "place": ("""%i = linalg.index DIM : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %h = arith.mulf %k, %tiny : f32
    %y = arith.addf %a, %h : f32""",
              lambda a, b, s, w: a + np.arange(a.shape[-1]) / 4096),
}
#: What is summed, or the like, and from which number on.
REDUCTIONS = {
    "sum": ("%y = arith.addf %c, %a : f32", 0, lambda a, b: a.sum(-1)),
    "squares": ("""%p = arith.mulf %a, %a : f32
    %y = arith.addf %p, %c : f32""", 0, lambda a, b: (a * a).sum(-1)),
    "products": ("""%p = arith.mulf %a, %b : f32
    %y = arith.addf %c, %p : f32""", 0.5, lambda a, b: (a * b).sum(-1) + 0.5),
    "greatest": ("%y = arith.maximumf %a, %c : f32", "0xFF800000",
                 lambda a, b: a.max(-1)),
    "least": ("%y = arith.minimumf %c, %a : f32", "0x7F800000", lambda a, b: a.min(-1)),
}
NUMBERS = {
    "mean": ("%y = arith.divf %s, %length : f32", lambda s, length: s / length),
    "root": ("""%p = math.absf %s : f32
    %q = arith.addf %p, %one : f32
    %y = math.rsqrt %q : f32""", lambda s, length: 1 / np.sqrt(abs(s) + 1)),
}
LENGTHS = (1, 2, 7, 8, 24, 33, 64, 100, 197, 256, 1000, 1024, 1032, 2048, 4097)


class RowProgram:
    """A function of x, r [rows x length] and w [length], of `element`, and c [rows]."""

    def __init__(self, rng, element, dtype, lengths=LENGTHS):
        self.element, self.dtype, self.rng = element, dtype, rng
        self.length = rng.choice(lengths)
        rank = rng.choice((0, 1, 1, 2))
        self.rows = [rng.choice((1, 2, 3, 5)) for _ in range(rank)]
        self.shape = [*self.rows, self.length]
        #: Dimensions that the compiler does not know.
        self.dynamic = [rng.random() < 0.25 for _ in self.shape]
        #: What x is a slice of.
        self.start = [rng.choice((0, 0, 1, 3, 8)) for _ in self.shape]
        self.isSliced = rng.random() < 0.3
        self.lines, self.values, self.numbers, self.steps = [], [], [], []
        self.is_rounded = lambda value: value.astype(dtype).astype(np.float64)

    def tensor(self, shape, element=None, dynamic=None):
        dynamic = self.dynamic if dynamic is None else dynamic
        sizes = ["?" if unknown else str(size) for size, unknown in zip(shape, dynamic)]
        return "tensor<" + "".join(size + "x" for size in sizes) + \
            f"{element or self.element}>"

    def loops(self, last=True):
        return [f"d{i}" for i in range(len(self.rows) + last)]

    def map(self, dims):
        return f"affine_map<({', '.join(self.loops())}) -> ({', '.join(dims)})>"

    def full(self, element=None):
        return self.tensor(self.shape, element)

    def number(self):
        return self.tensor(self.rows, "f32")

    def empty(self, shape, element):
        sizes = [f"%size{i}" for i, (_, dynamic) in
                 enumerate(zip(shape, self.dynamic)) if dynamic]
        name = self.fresh()
        kind = self.tensor(shape, element)
        self.lines.append(f"{name} = tensor.empty({', '.join(sizes)}) : {kind}")
        return name

    def fresh(self):
        self.names = getattr(self, "names", 0) + 1
        return f"%v{self.names}"

    def extend(self, name, element, result):
        if element == "f32":
            return f"{result} = arith.addf {name}, %zero : f32"
        return f"{result} = arith.extf {name} : {element} to f32"

    def add_elementwise(self, kind, values):
        body, function = ELEMENTWISE[kind]
        element = self.rng.choice((self.element, "f32"))
        (a, ea, na), (b, eb, nb) = self.rng.choice(values), self.rng.choice(values)
        s, ns = self.rng.choice(self.numbers) if self.numbers else (None, None)
        if s is None and "%s" in body:
            kind, s, ns = "add", None, None
            body, function = ELEMENTWISE[kind]
        loops, out = self.loops(), None
        if kind == "accumulate":
            # In the memory of an operand, where nothing else reads that.
            out, element = b, eb
        else:
            out = self.empty(self.shape, element)
        operands = [(a, self.full(ea), loops, "%a0", ea), (b, self.full(eb), loops, "%b0", eb),
                    ("%w", self.tensor([self.length], dynamic=self.dynamic[-1:]), loops[-1:],
                     "%w0", self.element)]
        if s is not None:
            operands.append((s, self.number(), loops[:-1], "%s", "f32"))
        ends = f"%y0 = arith.addf %y, %zero : f32" if element == "f32" else \
            f"%y0 = arith.truncf %y : f32 to {element}"
        name = self.generic(operands, (out, self.full(element), loops, "%o", element),
                            ["parallel"] * len(loops),
                            [self.extend("%a0", ea, "%a"), self.extend("%b0", eb, "%b"),
                             self.extend("%o" if kind == "accumulate" else "%w0",
                                         element if kind == "accumulate" else self.element,
                                         "%w1"),
                             body.replace("DIM", str(len(self.rows))).replace("%w", "%w1")
                             .replace("%b", "%w1" if kind == "accumulate" else "%b"),
                             ends, f"linalg.yield %y0 : {element}"])
        make = (lambda values: function(na(values), nb(values),
                                        None if ns is None else ns(values)[..., None],
                                        values["w"]))
        rounded = make if element == "f32" else lambda values: self.is_rounded(make(values))
        self.values.append((name, element, cached(rounded, name)))

    def add_reduction(self, kind, values):
        body, start, function = REDUCTIONS[kind]
        (a, ea, na), (b, eb, nb) = self.rng.choice(values), self.rng.choice(values)
        loops = self.loops()
        first = self.fresh()
        constant = start if isinstance(start, str) else f"{float(start)}"
        self.lines.append(f"{first} = arith.constant {constant} : f32")
        filled, before = "%start", lambda values: values["c"]
        if kind not in ("sum", "squares") or self.rng.random() < 0.6:
            empty, filled, before = self.empty(self.rows, "f32"), self.fresh(), None
            self.lines.append(f"{filled} = linalg.fill ins({first} : f32) "
                              f"outs({empty} : {self.number()}) -> {self.number()}")
        name = self.generic(
            [(a, self.full(ea), loops, "%a0", ea), (b, self.full(eb), loops, "%b0", eb)],
            (filled, self.number(), loops[:-1], "%c", "f32"),
            ["parallel"] * len(self.rows) + ["reduction"],
            [self.extend("%a0", ea, "%a"), self.extend("%b0", eb, "%b"), body,
             "linalg.yield %y : f32"])
        self.numbers.append((name, cached(
            lambda values: np.asarray(function(na(values), nb(values))) +
            (before(values) if before else 0), name)))

    def add_number(self, kind):
        if not self.numbers or not self.rows:
            return
        body, function = NUMBERS[kind]
        s, ns = self.rng.choice(self.numbers)
        out = self.empty(self.rows, "f32")
        loops = self.loops(last=False)
        identity = f"affine_map<({', '.join(loops)}) -> ({', '.join(loops)})>"
        name = self.fresh()
        kinds = ", ".join(['"parallel"'] * len(loops))
        self.lines.append(
            f"{name} = linalg.generic {{indexing_maps = [{identity}, {identity}], "
            f"iterator_types = [{kinds}]}} ins({s} : {self.number()}) "
            f"outs({out} : {self.number()}) {{\n  ^bb0(%s: f32, %o: f32):\n    {body}\n"
            f"    linalg.yield %y : f32\n  }} -> {self.number()}")
        self.numbers.append((name, cached(
            lambda values: function(ns(values), self.length), name)))

    def generic(self, operands, output, iterators, body):
        maps = ", ".join(self.map(dims) for _, _, dims, _, _ in [*operands, output])
        kinds = ", ".join(f'"{kind}"' for kind in iterators)
        arguments = ", ".join(f"{argument}: {element}"
                              for _, _, _, argument, element in [*operands, output])
        name = self.fresh()
        values = ", ".join(value for value, *_ in operands)
        types = ", ".join(kind for _, kind, *_ in operands)
        lines = "\n    ".join(body)
        self.lines.append(
            f"{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
            f"ins({values} : {types}) outs({output[0]} : {output[1]}) {{\n"
            f"  ^bb0({arguments}):\n    {lines}\n  }} -> {output[1]}")
        return name

    def make(self, count, isNorm=False):
        """Adds `count` ops; of a norm, the first reduces and the next takes the sum."""
        rng, x = self.rng, "%x"
        outer = [a + b + 8 - b % 8 for a, b in zip(self.shape, self.start)] \
            if self.isSliced else self.shape
        self.outer = outer
        constants = [("zero", 0.0), ("one", 1.0), ("tiny", 1 / 4096),
                     ("length", float(self.length))]
        for name, value in constants:
            self.lines.append(f"%{name} = arith.constant {value} : f32")
        for i, dynamic in enumerate(self.dynamic):
            if dynamic:
                self.lines.append(f"%c{i} = arith.constant {i} : index")
                self.lines.append(f"%size{i} = tensor.dim %r, %c{i} : {self.full()}")
        if self.isSliced:
            sizes = [f"%size{i}" if dynamic else str(size)
                     for i, (size, dynamic) in enumerate(zip(self.shape, self.dynamic))]
            x = self.fresh()
            self.lines.append(
                f"{x} = tensor.extract_slice %x[{', '.join(map(str, self.start))}] "
                f"[{', '.join(sizes)}] [{', '.join('1' for _ in sizes)}] : "
                f"{self.tensor(outer)} to {self.full()}")
        part = tuple(slice(a, a + b) for a, b in zip(self.start, self.shape)) \
            if self.isSliced else ...
        self.values = [(x, self.element, lambda values: values["x"][part]),
                       ("%r", self.element, lambda values: values["r"])]
        for number in range(count):
            choice = (0.5, 0)[number] if isNorm and number < 2 else rng.random()
            if choice < 0.4 and (self.numbers or rng.random() < 0.5):
                self.add_elementwise(rng.choice(list(ELEMENTWISE)), self.values)
            elif choice < 0.8 or not self.numbers or not self.rows:
                self.add_reduction(rng.choice(list(REDUCTIONS)), self.values)
            else:
                self.add_number(rng.choice(list(NUMBERS)))
        made = self.values[2:]
        #: The last of each kind, and perhaps others.
        self.results = [(name, self.full(element), make, element) for name, element, make in
                        made[-1:] + [value for value in made[:-1] if rng.random() < 0.3]]
        self.results += [(name, self.number(), make, "f32") for name, make in
                         self.numbers[-1:] + [number for number in self.numbers[:-1]
                                              if rng.random() < 0.3]]
        return self

    def text(self):
        values = ", ".join(name for name, *_ in self.results)
        kinds = ", ".join(kind for _, kind, *_ in self.results)
        weights = self.tensor([self.length], dynamic=self.dynamic[-1:])
        body = "\n  ".join(self.lines)
        return (f"func.func @f(%x: {self.tensor(self.outer)}, %r: {self.full()}, "
                f"%w: {weights}, %start: {self.number()}) -> ({kinds}) {{\n  {body}\n  return {values} : {kinds}\n}}\n")

    def arguments(self, numbers):
        """Drawn by NumPy's generator `numbers`."""
        drawn = {name: numbers.standard_normal(shape).astype(self.dtype)
                 for name, shape in (("x", self.outer), ("r", self.shape),
                                     ("w", [self.length]))}
        return {**drawn, "c": numbers.standard_normal(self.rows).astype(np.float32)}

    def expected(self, arguments):
        values = {name: value.astype(np.float64) for name, value in arguments.items()}
        return [make(values) for _, _, make, _ in self.results]


def cached(function, name):
    """The same, computed once for each dictionary of values."""
    def make(values):
        if name not in values:
            values[name] = function(values)
        return values[name]
    return make
