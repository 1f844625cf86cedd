"""Drawn products whose A and C are views of larger tensors, as attention makes them:
slices at known and unknown offsets, transpositions, reshapes, parts of the result of a
batched product. Each case is a function of a module, its arguments and what float64
makes of them."""

import dataclasses

import ml_dtypes
import nm
import numpy as np

DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
          "i8": np.int8, "i32": np.int32, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
          "f8E5M2": ml_dtypes.float8_e5m2}
LIMITS = {"f32": 1e-5, "f16": 2e-3, "bf16": 1e-2, "i32": 0}
#: N, M and the block of patterns, by kind.
BLOCKS = {"elements": [(2, 4, 1, 1), (1, 4, 1, 1), (2, 8, 1, 1), (3, 6, 1, 1)],
          "vectors": [(8, 32, 1, 64), (2, 8, 1, 32), (3, 7, 1, 64), (4, 16, 1, 128),
                      (2, 4, 1, 16), (1, 2, 1, 8)],
          "row-major vectors": [(2, 4, 1, 32), (2, 8, 1, 64), (1, 4, 1, 16)],
          "blocks": [(1, 2, 16, 64), (2, 4, 32, 64), (1, 4, 16, 16), (2, 4, 64, 64)]}
#: Shares of what is between an argument and A, and between C and the result.
STEPS = {"slice": 4, "transpose": 3, "collapse": 2, "expand": 2, "elementwise": 1,
         "attention": 2, "pad": 1, "drop": 1}
FORMS_OF_C = ["new", "argument", "slice", "filled slice"]
STEPS_OF_C = {"slice": 2, "transpose": 3, "collapse": 2, "expand": 2, "elementwise": 1,
              "insert": 2}


@dataclasses.dataclass(frozen=True)
class Dim:
    size: int
    dynamic: bool = False

    def __str__(self):
        return "?" if self.dynamic else str(self.size)


@dataclasses.dataclass
class Value:
    """A tensor of the function, and what it holds."""
    name: str
    dims: list
    element: str
    held: np.ndarray

    @property
    def type(self):
        return f"tensor<{'x'.join([*map(str, self.dims), self.element])}>"

    @property
    def shape(self):
        return [dim.size for dim in self.dims]


def identity_map(rank):
    names = ", ".join(f"d{i}" for i in range(rank))
    return f"affine_map<({names}) -> ({names})>"


class Writer:
    """Writes ops, and computes what they make as it does."""

    def __init__(self, name, rng, computes=True):
        self.name, self.rng, self.computes = name, rng, computes
        self.lines, self.parameters, self.arguments = [], [], []
        self.count = 0

    def fresh(self):
        self.count += 1
        return f"%v{self.count}"

    def line(self, text):
        self.lines.append("  " + text)

    def op(self, text, dims, element, compute):
        """`compute` makes what the result holds."""
        value = Value(self.fresh(), dims, element,
                      compute() if self.computes else None)
        self.line(f"{value.name} = {text.replace('RESULT', value.type)}")
        return value

    def argument(self, dims, element, type=None, given=None):
        value = Value(f"%a{len(self.parameters)}", dims, element, None)
        if self.computes:
            if given is None:
                given = self.draw([dim.size for dim in dims], element)
            value.held = given.astype(np.float64)
        self.parameters.append(f"{value.name}: {type or value.type}")
        self.arguments.append(given)
        return value

    def draw(self, shape, element):
        if element in ("i8", "i32"):
            return self.rng.integers(-60, 60, shape).astype(DTYPES[element])
        return self.rng.standard_normal(shape).astype(DTYPES[element])

    def constant(self, number):
        name = self.fresh()
        self.line(f"{name} = arith.constant {number} : index")
        return name

    def size_of(self, value, dim):
        """The size as an operand: its number, or an op's result."""
        if not value.dims[dim].dynamic:
            return str(value.dims[dim].size)
        place, name = self.constant(dim), self.fresh()
        self.line(f"{name} = tensor.dim {value.name}, {place} : {value.type}")
        return name

    def unknown(self, number):
        """A number that the compiler does not know: the size of an argument."""
        carrier = self.argument([Dim(number + 1, True)], "i8")
        size, one, name = self.size_of(carrier, 0), self.constant(1), self.fresh()
        self.line(f"{name} = arith.subi {size}, {one} : index")
        return name

    def size(self, dim, source=None, place=0):
        """That of `dim`, which is the one of `source` where they are as large."""
        if not dim.dynamic:
            return str(dim.size)
        if source is not None and source.dims[place] == dim:
            return self.size_of(source, place)
        return self.unknown(dim.size)

    def sizes(self, dims, source=None):
        same = source is not None and len(source.dims) == len(dims)
        return [self.size(dim, source if same else None, place)
                for place, dim in enumerate(dims)]

    def empty(self, dims, element, sizes=None):
        sizes = self.sizes(dims) if sizes is None else sizes
        unknown = ", ".join(size for size in sizes if size.startswith("%"))
        return self.op(f"tensor.empty({unknown}) : RESULT", dims, element, lambda: None)

    def fill(self, dims, element, sizes=None):
        empty, zero = self.empty(dims, element, sizes), self.fresh()
        number = "0" if element.startswith("i") else "0.0"
        self.line(f"{zero} = arith.constant {number} : {element}")
        return self.op(f"linalg.fill ins({zero} : {element}) outs({empty.name} : "
                       f"{empty.type}) -> RESULT", dims, element,
                       lambda: np.zeros([dim.size for dim in dims]))

    # What makes a tensor of another

    def slice(self, source, dims, offsets, strides, dropped=()):
        """`dims` and the others are of all of the source's, `dropped` are left out."""
        written = [self.unknown(number) if unknown else str(number)
                   for number, unknown in offsets]
        sizes = [self.size(dim, source, place) for place, dim in enumerate(dims)]
        places = tuple(np.s_[start:start + (dim.size - 1) * step + 1:step]
                       for (start, _), dim, step in zip(offsets, dims, strides))
        kept = [dim for place, dim in enumerate(dims) if place not in dropped]
        return self.op(
            f"tensor.extract_slice {source.name}[{', '.join(written)}] "
            f"[{', '.join(sizes)}] [{', '.join(map(str, strides))}] : "
            f"{source.type} to RESULT", kept, source.element,
            lambda: source.held[places].reshape([dim.size for dim in kept]))

    def insert(self, source, target, offsets):
        written = [self.unknown(number) if unknown else str(number)
                   for number, unknown in offsets]
        sizes = [self.size_of(source, place) for place in range(len(source.dims))]

        def compute():
            held = target.held.copy()
            held[tuple(np.s_[start:start + size] for (start, _), size in
                       zip(offsets, source.shape))] = source.held
            return held

        return self.op(
            f"tensor.insert_slice {source.name} into {target.name}"
            f"[{', '.join(written)}] [{', '.join(sizes)}] "
            f"[{', '.join(['1'] * len(sizes))}] : {source.type} into RESULT",
            target.dims, target.element, compute)

    def transpose(self, source, order):
        dims = [source.dims[place] for place in order]
        sizes = [self.size_of(source, place) for place in order]
        empty = self.empty(dims, source.element, sizes)
        return self.op(
            f"linalg.transpose ins({source.name} : {source.type}) outs({empty.name} : "
            f"{empty.type}) permutation = [{', '.join(map(str, order))}]", dims,
            source.element, lambda: source.held.transpose(order))

    def collapse(self, source, place):
        """Dimensions `place` and `place + 1` to one."""
        a, b = source.dims[place:place + 2]
        dims = list(source.dims)
        dims[place:place + 2] = [Dim(a.size * b.size, a.dynamic or b.dynamic)]
        return self.op(
            f"tensor.collapse_shape {source.name} {self.groups(len(dims), place)} : "
            f"{source.type} into RESULT", dims, source.element,
            lambda: source.held.reshape([dim.size for dim in dims]))

    def expand(self, source, place, pair):
        dims = list(source.dims)
        dims[place:place + 1] = pair
        sizes = [self.size(dim) for dim in dims]
        return self.op(
            f"tensor.expand_shape {source.name} {self.groups(len(dims) - 1, place)} "
            f"output_shape [{', '.join(sizes)}] : {source.type} into RESULT", dims,
            source.element,
            lambda: source.held.reshape([dim.size for dim in dims]))

    @staticmethod
    def groups(count, place):
        """A reassociation to `count` dimensions, of which `place` has two."""
        groups, next_dim = [], 0
        for group in range(count):
            size = 2 if group == place else 1
            groups.append(list(range(next_dim, next_dim + size)))
            next_dim += size
        return str(groups)

    def elementwise(self, source, out=None):
        """The negative, in `out` or a new tensor."""
        plain, element = identity_map(len(source.dims)), source.element
        if out is None:
            out = self.empty(source.dims, element, [
                self.size_of(source, place) for place in range(len(source.dims))])
        if element.startswith("i"):
            code = (f"%zero = arith.constant 0 : {element} "
                    f"%r = arith.subi %zero, %x : {element}")
        else:
            code = f"%r = arith.negf %x : {element}"
        iterators = ", ".join(['"parallel"'] * len(source.dims))
        return self.op(
            f"linalg.generic {{indexing_maps = [{plain}, {plain}], iterator_types = "
            f"[{iterators}]}} ins({source.name} : {source.type}) outs({out.name} : "
            f"{out.type}) {{ ^bb0(%x: {element}, %o: {element}): {code} "
            f"linalg.yield %r : {element} }} -> RESULT", out.dims, element,
            lambda: -source.held)

    def attention(self, probabilities, width):
        """Of each batch the product with values that come with the call."""
        batch, rows, inner = probabilities.dims
        values = self.argument([batch, inner, width], probabilities.element)
        sizes = [self.size_of(probabilities, 0), self.size_of(probabilities, 1),
                 self.size_of(values, 2)]
        out = self.fill([batch, rows, width], probabilities.element, sizes)
        return self.op(
            f"linalg.batch_matmul ins({probabilities.name}, {values.name} : "
            f"{probabilities.type}, {values.type}) outs({out.name} : {out.type}) -> "
            "RESULT", out.dims, out.element, lambda: probabilities.held @ values.held)

    def text(self, result):
        body = "\n".join(self.lines)
        return (f"func.func @{self.name}({', '.join(self.parameters)}) -> "
                f"{result.type} {{\n{body}\n  return {result.name} : "
                f"{result.type}\n}}\n")


def pick(rng, shares):
    names = list(shares)
    weights = np.array([shares[name] for name in names], float)
    return names[rng.choice(len(names), p=weights / weights.sum())]


class Source:
    """What A is made of, chosen from A back to an argument."""

    def __init__(self, rng, dims, element):
        self.rng, self.dims, self.element = rng, list(dims), element
        self.steps, self.names = [], []

    def chance(self, share):
        return self.rng.random() < share

    def add(self, name):
        step = getattr(self, name)()
        if step is None:
            return
        self.steps.append(step)
        self.names.append(name)

    def slice(self, drops=False):
        before, whole, offsets, strides = list(self.dims), [], [], []
        for place, dim in enumerate(before):
            last = place == len(before) - 1
            if not self.chance(0.6):
                whole.append(dim)
                offsets.append((0, False))
                strides.append(1)
                continue
            step = 2 if self.chance(0.08 if last else 0.15) else 1
            unit = int(self.rng.choice([1, 1, 2, 4, 8, 16]))
            start, end = (int(self.rng.integers(0, 3)) * unit for _ in range(2))
            whole.append(Dim((dim.size - 1) * step + 1 + start + end,
                             self.chance(0.3)))
            offsets.append((start, self.chance(0.3)))
            strides.append(step)
        dropped = ()
        if drops:
            place = int(self.rng.integers(0, len(before) + 1))
            dropped = (place,)
            size = int(self.rng.integers(1, 4))
            whole.insert(place, Dim(size, self.chance(0.2)))
            before.insert(place, Dim(1))
            offsets.insert(place, (int(self.rng.integers(0, size)), self.chance(0.4)))
            strides.insert(place, 1)
        self.dims = whole
        return lambda writer, value: writer.slice(value, before, offsets, strides,
                                                  dropped)

    def drop(self):
        return self.slice(drops=True) if len(self.dims) < 4 else None

    def transpose(self):
        if len(self.dims) < 2:
            return None
        order = self.rng.permutation(len(self.dims)).tolist()
        self.dims = [self.dims[place] for place in np.argsort(order)]
        return lambda writer, value: writer.transpose(value, order)

    def factor(self, size):
        factors = [f for f in range(1, size + 1) if size % f == 0]
        return int(self.rng.choice(factors))

    def collapse(self):
        if len(self.dims) > 4:
            return None
        place = int(self.rng.integers(0, len(self.dims)))
        dim = self.dims[place]
        a = self.factor(dim.size)
        pair = [Dim(a), Dim(dim.size // a)]
        if dim.dynamic:
            which = int(self.rng.integers(0, 2))
            pair[which] = Dim(pair[which].size, True)
        self.dims[place:place + 1] = pair
        return lambda writer, value: writer.collapse(value, place)

    def expand(self):
        if len(self.dims) < 2:
            return None
        place = int(self.rng.integers(0, len(self.dims) - 1))
        pair = self.dims[place:place + 2]
        if pair[0].dynamic and pair[1].dynamic:
            return None
        self.dims[place:place + 2] = [Dim(pair[0].size * pair[1].size,
                                          pair[0].dynamic or pair[1].dynamic)]
        return lambda writer, value: writer.expand(value, place, pair)

    def elementwise(self):
        if self.element.startswith("f8"):
            return None
        return lambda writer, value: writer.elementwise(value)

    def pad(self):
        """Into zeros, at an offset of each dimension."""
        inner, offsets = [], []
        for dim in self.dims:
            start = int(self.rng.integers(0, 3)) if dim.size > 4 else 0
            inner.append(Dim(dim.size - start, dim.dynamic))
            offsets.append((start, self.chance(0.3)))
        outer = list(self.dims)
        self.dims = inner
        return lambda writer, value: writer.insert(
            value, writer.fill(outer, value.element), offsets)

    def attention(self):
        if len(self.dims) != 3 or self.element not in ("f32", "f16", "bf16"):
            return None
        width = self.dims[2]
        self.dims[2] = Dim(int(self.rng.integers(3, 20)), self.chance(0.2))
        return lambda writer, value: writer.attention(value, width)

    def write(self, writer):
        value = writer.argument(self.dims, self.element)
        for step in reversed(self.steps):
            value = step(writer, value)
        return value


def change_result(writer, value, name, rng):
    """What a reader of C makes of it."""
    rank = len(value.dims)
    if name == "transpose" and rank > 1:
        return writer.transpose(value, rng.permutation(rank).tolist())
    if name == "collapse" and rank > 1:
        return writer.collapse(value, int(rng.integers(0, rank - 1)))
    if name == "expand" and rank < 5:
        place = int(rng.integers(0, rank))
        dim = value.dims[place]
        a = int(rng.choice([f for f in range(1, dim.size + 1) if dim.size % f == 0]))
        return writer.expand(value, place, [Dim(a), Dim(dim.size // a, dim.dynamic)])
    if name == "elementwise":
        return writer.elementwise(value)
    if name == "slice":
        dims, offsets = [], []
        for dim in value.dims:
            start = int(rng.integers(0, 3)) if dim.size > 4 else 0
            dims.append(Dim(dim.size - start, dim.dynamic))
            offsets.append((start, bool(rng.random() < 0.3)))
        return writer.slice(value, dims, offsets, [1] * rank)
    if name == "insert":
        return insert_in_larger(writer, value, rng)
    return value


def surround(dims, rng):
    """Dimensions of a tensor that has `dims` inside, and where."""
    whole, offsets = [], []
    for dim in dims:
        unit = int(rng.choice([0, 0, 1, 4, 8]))
        start, end = (int(rng.integers(0, 3)) * unit for _ in range(2))
        unknown = dim.dynamic or bool(rng.random() < 0.2)
        whole.append(Dim(dim.size + start + end, unknown))
        offsets.append((start, bool(rng.random() < 0.3)))
    return whole, offsets


def insert_in_larger(writer, value, rng):
    whole, offsets = surround(value.dims, rng)
    return writer.insert(value, writer.argument(whole, value.element), offsets)


@dataclasses.dataclass
class Case:
    """A product: `ways` says what it has that others have not."""
    text: str
    arguments: list
    expected: np.ndarray
    limit: float
    ways: set

    def error_of(self, result):
        got = np.asarray(result).astype(np.float64)
        if self.limit == 0:
            return float(np.abs(got - self.expected).max(initial=0))
        norm = max(np.linalg.norm(self.expected), 1e-30)
        error = np.linalg.norm(got - self.expected) / norm
        return error if np.isfinite(error) else np.inf


def draw_large_dims(rng):
    k, n = (int(rng.choice([768, 1000, 1024, 3072, 4096, 14336])) for _ in range(2))
    rows = int(rng.choice([1, 16, 37, 77, 128, 197, 512, 1000, 2048]))
    dims = [Dim(rows, bool(rng.random() < 0.35))]
    if rng.random() < 0.5:
        dims.insert(0, Dim(int(rng.choice([1, 3, 8, 16])), bool(rng.random() < 0.3)))
    return dims, k, n


def draw_dims(rng, kind, pattern, large):
    """The batches and rows of A, and k and n."""
    if large:
        return draw_large_dims(rng)
    _, m, bk, bn = pattern
    unit = max(m * bk, 16) if kind.startswith("row-major") else m * bk
    k = unit * int(rng.integers(1, max(2, 260 // unit)))
    if rng.random() < 0.3 and kind != "row-major vectors":
        k += int(rng.integers(1, unit)) if kind != "blocks" else bk
    n = int(rng.integers(1, 4)) * max(bn, 32)
    if rng.random() < 0.3:
        n += int(rng.integers(1, 32))
    rows = int(rng.choice([1, 3, 8, 16, 24, 33, 64, 100, 128, 130, 197]))
    dims = [Dim(rows, bool(rng.random() < 0.35))]
    for _ in range(int(rng.choice([0, 0, 1, 1, 2]))):
        dims.insert(0, Dim(int(rng.integers(1, 4)), bool(rng.random() < 0.2)))
    return dims, k, n


def write_product(writer, a, weight, weight_type, out, turns):
    """`turns` says whether A, the weight and C have their last two dimensions the
    other way round."""
    batch = len(a.dims) - 2
    names = [f"b{i}" for i in range(batch)]
    loops = [*names, "m", "n", "k"]

    def operand(last, turned):
        return ", ".join([*names, *(reversed(last) if turned else last)])

    head = f"({', '.join(loops)}) -> "
    maps = [operand(["m", "k"], turns[0]), ", ".join(
        ["n", "k"] if turns[1] else ["k", "n"]), operand(["m", "n"], turns[2])]
    maps = ", ".join(f"affine_map<{head}({text})>" for text in maps)
    iterators = ", ".join(['"parallel"'] * (len(loops) - 1) + ['"reduction"'])
    kind, total = a.element, out.element
    wide = "" if kind == total else (
        f"%p = arith.{'extsi' if kind == 'i8' else 'extf'} %x : {kind} to {total} "
        f"%q = arith.{'extsi' if kind == 'i8' else 'extf'} %y : {kind} to {total} ")
    p, q = ("%p", "%q") if wide else ("%x", "%y")
    letter = "i" if total == "i32" else "f"

    def compute():
        x = a.held.swapaxes(-1, -2) if turns[0] else a.held
        held = x @ (weight.held.T if turns[1] else weight.held)
        return out.held + (held.swapaxes(-1, -2) if turns[2] else held)

    return writer.op(
        f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} "
        f"ins({a.name}, {weight.name} : {a.type}, {weight_type}) outs({out.name} : "
        f"{out.type}) {{ ^bb0(%x: {kind}, %y: {kind}, %o: {total}): {wide}"
        f"%s = arith.mul{letter} {p}, {q} : {total} %t = arith.add{letter} %s, %o : "
        f"{total} linalg.yield %t : {total} }} -> RESULT", out.dims, total, compute)


def draw_output(writer, a, n, turned, element, rng, a_turned, kind):
    """C as the product takes it, and what it is then inserted in, if so."""
    dims = a.dims[:-2] + [a.dims[-1 if a_turned else -2]]
    place = len(dims) - 1
    sizes = [writer.size_of(a, i) for i in range(place)]
    sizes.append(writer.size_of(a, place + 1 if a_turned else place))
    dims.insert(place if turned else place + 1, Dim(n))
    sizes.insert(place if turned else place + 1, str(n))
    if kind == "new":
        return writer.fill(dims, element, sizes), None
    if kind == "argument":
        return writer.argument(dims, element), None
    whole, offsets = surround(dims, rng)
    outer = writer.argument(whole, element)
    out = writer.slice(outer, dims, offsets, [1] * len(dims))
    if kind == "filled slice":
        zero = writer.fresh()
        number = "0" if element.startswith("i") else "0.0"
        writer.line(f"{zero} = arith.constant {number} : {element}")
        out = writer.op(f"linalg.fill ins({zero} : {element}) outs({out.name} : "
                        f"{out.type}) -> RESULT", dims, element,
                        lambda: np.zeros([dim.size for dim in dims]))
    return out, (outer, offsets)


def draw_source(rng, of_a, element, step):
    """What A is made of; `step` last, where A has the dimensions for it."""
    source = Source(rng, of_a, element)
    source.add(step)
    for _ in range(int(rng.integers(0, 3))):
        source.add(pick(rng, STEPS))
    return source


def draw_case(name, element, kind, rng, step, form, computes=True):
    """A case of patterns of `kind`, one of BLOCKS, of which `step` makes A, one of
    STEPS, and C is one of FORMS_OF_C; one that is only compiled has the sizes of
    models."""
    pattern = BLOCKS[kind][int(rng.integers(0, len(BLOCKS[kind])))]
    kept, m, bk, bn = pattern
    writer = Writer(name, rng, computes)
    dims, k, n = draw_dims(rng, kind, pattern, large=not computes)
    if step == "attention":
        dims = [*dims[-2:], Dim(3)][:2]
    turns = [bool(rng.random() < share) for share in (0.4, 0.4, 0.3)]
    if kind == "row-major vectors":
        turns[0] = turns[2] = False
    of_a = [*dims, Dim(k)]
    if turns[0]:
        of_a[-2:] = reversed(of_a[-2:])
    source = draw_source(rng, of_a, element, step)
    a = source.write(writer)
    axis = 1 if turns[1] else 0
    sizes = [n, k] if turns[1] else [k, n]
    dense = None
    if computes:
        dense = nm.prune(writer.draw(sizes, element),
                         nm.Pattern(kept, m, (bk, bn), axis)).weight
    shape = "x".join(map(str, sizes))
    encoding = f"#nm.encoding<{kept}:{m}, block = {bk}x{bn}, dim = {axis}>"
    encoded = f"tensor<{shape}x{element}, {encoding}>"
    weight = writer.argument([Dim(size) for size in sizes], element, encoded, dense)
    total = {"i8": "i32", "f8E4M3FN": "f32", "f8E5M2": "f32"}.get(element, element)
    if total == element and rng.random() < 0.2:
        total = "f32"
    out, outer = draw_output(writer, a, n, turns[2], total, rng, turns[0], form)
    result = write_product(writer, a, weight, encoded, out, turns)
    ways = {f"A by {name}" for name in source.names} | {f"C: {form}", kind, element}
    ways |= {"column-major A"} if turns[0] else set()
    ways |= {"column-major C"} if turns[2] else set()
    ways |= {"unknown rows"} if any(dim.dynamic for dim in a.dims) else set()
    ways |= {"batches"} if len(dims) > 1 else set()
    if outer:
        result = writer.insert(result, outer[0], outer[1])
    elif rng.random() < 0.5:
        step = pick(rng, STEPS_OF_C)
        result = change_result(writer, result, step, rng)
        ways.add(f"C to {step}")
    # A caller allocates results by the sizes of arguments.
    if any(dim.dynamic for dim in result.dims) and not outer:
        given = writer.argument(result.dims, result.element)
        result = (writer.insert(result, given, [(0, False)] * len(given.dims))
                  if rng.random() < 0.3 else writer.elementwise(result, given))
    limit = max(LIMITS[total], LIMITS.get(element, 0))
    return Case(writer.text(result), writer.arguments, result.held, limit, ways)
