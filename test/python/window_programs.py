"""Reductions of windows, drawn: pools, and convolutions of each channel by itself, as MLIR,
as PyTorch has them in float64, and as the op combines them one after the other."""

import itertools

import numpy as np
import torch
from torch.nn import functional

#: The combination, as what becomes of an element %a and a result %c, and as NumPy has it.
KINDS = {
    "max": ("arith.maximumf %a, %c", "arith.maxsi %a, %c", np.maximum),
    "min": ("arith.minimumf %a, %c", "arith.minsi %a, %c", np.minimum),
    "sum": ("arith.addf %a, %c", "arith.addi %a, %c", np.add),
    "products": ("arith.addf %c, %v", "arith.addi %c, %v", np.add),
}
FLOATS = {"f64": 11, "f32": 8, "f16": 5, "bf16": 8}


def bits_of(element):
    return int(element.lstrip("bfi"))


def infinity(element, sign):
    """An infinity, or the greatest or least integer."""
    bits = bits_of(element)
    if element not in FLOATS:
        return str(2 ** (bits - 1) - 1 if sign > 0 else -2 ** (bits - 1))
    exponent = (1 << FLOATS[element]) - 1
    value = exponent << (bits - 1 - FLOATS[element]) | (1 << (bits - 1) if sign < 0 else 0)
    return f"0x{value:0{bits // 4}X}"


class WindowProgram:
    """A function of x, an image or what makes one, and of w, the weights of each channel."""

    def __init__(self, rng, element, kind=None, last=None, rank=None):
        self.rng, self.element = rng, element
        self.kind = kind or rng.choice(list(KINDS))
        #: Whether channels are the last dimension.
        self.last = rng.random() < 0.5 if last is None else last
        self.rank = rank or rng.choice((1, 2, 2, 2, 3))
        most = 3 if self.rank == 3 else 4
        self.taps = [rng.randint(1, most) for _ in range(self.rank)]
        if max(self.taps) == 1:
            self.taps[-1] = 2
        self.stride = [rng.choice((1, 2, 2, 3)) for _ in range(self.rank)]
        self.dilation = [rng.choice((1, 1, 2)) for _ in range(self.rank)]
        self.low, self.high = ([rng.choice((0, 1, 1, 2)) for _ in range(self.rank)]
                               for _ in range(2))
        if rng.random() < 0.25:
            self.low = self.high = [0] * self.rank
        #: Whether one window has all of the image.
        self.isWhole = rng.random() < 0.25
        if self.isWhole:
            self.make_whole()
        self.sizes = [self.draw_size(dim) for dim in range(self.rank)]
        self.batch, self.channels = rng.choice((1, 2, 3)), rng.choice((1, 3, 8, 16, 24))
        #: Sizes that the compiler does not know.
        self.dynamic = rng.random() < 0.25
        #: Whether sums are of a wider type, and divided.
        self.averages = self.kind == "sum" and element in FLOATS and rng.random() < 0.5
        #: Who makes the image: the caller, an op that writes it, or one that transposes.
        self.origin = rng.choice(("argument", "computed", "transposed"))
        self.pads = rng.choice(("insert", "pad"))
        #: What windows begin with: the least, or what the caller has.
        self.begins = rng.choice(("fill", "fill", "argument"))
        self.taps_first = rng.random() < 0.5

    def make_ways(self, last, whole):
        """Has threads make several elements, of whichever type, or share them."""
        self.last, self.rank, self.dynamic, self.isWhole = last, 2, False, whole
        self.taps, self.stride, self.dilation = [3, 3], [1, 1], [1, 1]
        self.low, self.high, self.sizes, self.channels = [1, 1], [1, 1], [5, 8], 8
        if whole:
            self.make_whole()
            self.low = self.high = [0, 0]
            self.sizes, self.averages = self.taps, self.element in FLOATS
            self.kind, self.begins = "sum", "fill"

    def make_whole(self):
        most = 40 if self.rank == 1 else 12 if self.rank == 2 else 5
        self.taps = [self.rng.randint(2, most) for _ in range(self.rank)]
        self.taps[-1] = max(self.taps[-1], 4)
        self.dilation = [1] * self.rank
        if self.rng.random() < 0.5:
            self.low = self.high = [0] * self.rank

    def draw_size(self, dim):
        """A size for a number of places that is a multiple of accesses, or odd."""
        places = 1 if self.isWhole else self.rng.choice((1, 2, 3, 4, 5, 8, 8, 12, 16))
        reach = (places - 1) * self.stride[dim] + (self.taps[dim] - 1) * self.dilation[dim] + 1
        size = reach - self.low[dim] - self.high[dim] + self.rng.choice((0, 0, 0, 1))
        if size < 1:
            self.low[dim] = self.high[dim] = 0
            size = reach
        return size

    @property
    def wide(self):
        return {"f16": "f32", "bf16": "f32"}.get(self.element, self.element) \
            if self.averages or self.kind == "products" else self.element

    @property
    def border(self):
        """What is around the image: as pools have it, or another value."""
        return self.first if not hasattr(self, "other") else self.other

    @property
    def first(self):
        sign = {"max": -1, "min": 1}.get(self.kind)
        if sign:
            return infinity(self.element, sign)
        return "0.0" if self.element in FLOATS else "0"

    def places(self):
        return [(size + low + high - (tap - 1) * apart - 1) // step + 1
                for size, low, high, tap, apart, step in
                zip(self.sizes, self.low, self.high, self.taps, self.dilation, self.stride)]

    def shape(self, sizes):
        return [self.batch, *sizes, self.channels] if self.last \
            else [self.batch, self.channels, *sizes]

    def type(self, sizes, element=None, whole=True):
        shape = [str(size) for size in (self.shape(sizes) if whole else sizes)]
        if whole and self.dynamic:
            shape[0] = "?"
        return f"tensor<{''.join(size + 'x' for size in shape)}{element or self.element}>"

    def text(self):
        size = "%n" if self.dynamic else ""
        padded = [size + low + high for size, low, high in
                  zip(self.sizes, self.low, self.high)]
        wide, out = self.wide, self.places()
        lines = [f"%first = arith.constant {self.first} : {wide}",
                 f"%border = arith.constant {self.border} : {self.element}",
                 "%c0 = arith.constant 0 : index",
                 f"%n = tensor.dim %x, %c0 : {self.type(self.sizes)}"]
        lines += self.image(size)
        lines += self.padded(size, padded)
        taps = "x".join(str(tap) for tap in self.taps)
        ys, ts = ([f"{name}{i}" for i in range(self.rank)] for name in "yt")
        at = ", ".join(f"{y} * {step} + {t} * {apart}" for y, t, step, apart in
                       zip(ys, ts, self.stride, self.dilation))
        inner = ", ".join(ys)
        loops = ["n", *ys, "c", *ts] if self.last else ["n", "c", *ys[:-1], *ts, ys[-1]]
        if self.taps_first:
            loops = ["n", "c", *ts, *ys]
        kinds = ", ".join('"reduction"' if loop in ts else '"parallel"' for loop in loops)
        of = ", ".join(loops)
        ordered = (lambda places: f"n, {places}, c") if self.last else \
            (lambda places: f"n, c, {places}")
        weights = f"{', '.join(ts)}, c" if self.last else f"c, {', '.join(ts)}"
        window = weights if self.kind == "products" else ", ".join(ts)
        given, of_given = "%w", f"tensor<{self.weights_shape()}x{self.element}>"
        if self.kind != "products":
            given, of_given = "%window", f"tensor<{taps}x{self.element}>"
            lines.append(f"%window = tensor.empty() : {of_given}")
        before = "%o"
        if self.begins == "fill":
            lines += [f"%e2 = tensor.empty({size}) : {self.type(out, wide)}",
                      f"%before = linalg.fill ins(%first : {wide}) outs(%e2 : "
                      f"{self.type(out, wide)}) -> {self.type(out, wide)}"]
            before = "%before"
        lines += [
            f"%r = linalg.generic {{indexing_maps = [affine_map<({of}) -> ({ordered(at)})>, "
            f"affine_map<({of}) -> ({window})>, affine_map<({of}) -> ({ordered(inner)})>], "
            f"iterator_types = [{kinds}]}} ins(%p, {given} : {self.type(padded)}, {of_given}) "
            f"outs({before} : {self.type(out, wide)}) {{",
            f"^bb0(%a0: {self.element}, %w0: {self.element}, %c: {wide}):"]
        lines += self.body()
        lines += [f"linalg.yield %y : {wide}", f"}} -> {self.type(out, wide)}"]
        lines += self.ending(size)
        arguments = f"%x: {self.type(self.sizes)}, %w: tensor<{self.weights_shape()}x" \
            f"{self.element}>, %o: {self.type(out, wide)}"
        body = "\n  ".join(lines)
        return f"func.func @f({arguments}) -> {self.type(out)} {{\n  {body}\n}}\n"

    def weights_shape(self):
        taps = "x".join(str(tap) for tap in self.taps)
        return f"{taps}x{self.channels}" if self.last else f"{self.channels}x{taps}"

    def image(self, size):
        """The op that makes the image %i of %x: itself, twice over, or through what
        transposes it there and back."""
        kind = self.type(self.sizes)
        if self.origin == "argument":
            return [f"%i = tensor.cast %x : {kind} to {kind}"]
        add = "arith.addf" if self.element in FLOATS else "arith.addi"
        loops = ", ".join(f"d{i}" for i in range(self.rank + 2))
        same = f"affine_map<({loops}) -> ({loops})>"
        kinds = ", ".join(['"parallel"'] * (self.rank + 2))
        lines = [f"%e0 = tensor.empty({size}) : {kind}",
                 f"%made = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = "
                 f"[{kinds}]}} ins(%x : {kind}) outs(%e0 : {kind}) {{",
                 f"^bb0(%a: {self.element}, %b: {self.element}):",
                 f"%s = {add} %a, %a : {self.element}",
                 f"linalg.yield %s : {self.element}", f"}} -> {kind}"]
        if self.origin == "computed":
            return [*lines, f"%i = tensor.cast %made : {kind} to {kind}"]
        shape = kind[len("tensor<"):-1].split("x")
        turned = f"tensor<{'x'.join([*shape[-2::-1], shape[-1]])}>"
        order = ", ".join(str(i) for i in reversed(range(self.rank + 2)))
        return [*lines, f"%e3 = tensor.empty({size}) : {turned}",
                f"%turned = linalg.transpose ins(%made : {kind}) outs(%e3 : {turned}) "
                f"permutation = [{order}]", f"%e4 = tensor.empty({size}) : {kind}",
                f"%i = linalg.transpose ins(%turned : {turned}) outs(%e4 : {kind}) "
                f"permutation = [{order}]"]

    def padded(self, size, padded):
        kind, inner = self.type(padded), self.type(self.sizes)
        if not any([*self.low, *self.high]):
            return [f"%p = tensor.cast %i : {inner} to {kind}"]
        low, high = ([0, *each, 0] if self.last else [0, 0, *each]
                     for each in (self.low, self.high))
        if self.pads == "pad":
            indices = ", ".join(f"%d{i}: index" for i in range(self.rank + 2))
            return [f"%p = tensor.pad %i low{low} high{high} {{ ^bb0({indices}): "
                    f"tensor.yield %border : {self.element} }} : {inner} to {kind}"]
        sizes = ", ".join(["%n" if self.dynamic else str(self.batch),
                           *(str(each) for each in self.shape(self.sizes)[1:])])
        ones = ", ".join(["1"] * (self.rank + 2))
        return [f"%e1 = tensor.empty({size}) : {kind}",
                f"%around = linalg.fill ins(%border : {self.element}) outs(%e1 : {kind}) "
                f"-> {kind}",
                f"%p = tensor.insert_slice %i into %around{low} [{sizes}] [{ones}] : "
                f"{inner} into {kind}"]

    def body(self):
        float_, whole, _ = KINDS[self.kind]
        lines, names = [], {"%a": "%a0"}
        if self.wide != self.element:
            lines.append(f"%a1 = arith.extf %a0 : {self.element} to {self.wide}")
            names["%a"] = "%a1"
        if self.kind == "products":
            weight = "%w0"
            if self.wide != self.element:
                lines.append(f"%w1 = arith.extf %w0 : {self.element} to {self.wide}")
                weight = "%w1"
            mul = "arith.mulf" if self.element in FLOATS else "arith.muli"
            lines.append(f"%v = {mul} {names['%a']}, {weight} : {self.wide}")
        body = float_ if self.element in FLOATS else whole
        return [*lines, f"%y = {body.replace('%a', names['%a'])} : {self.wide}"]

    def has_epilogue(self):
        return self.averages or self.wide != self.element

    def ending(self, size):
        """The average, or what else becomes of the result."""
        kind, wide = self.type(self.places()), self.type(self.places(), self.wide)
        if not self.has_epilogue():
            return [f"return %r : {kind}"]
        loops = ", ".join(f"d{i}" for i in range(self.rank + 2))
        same = f"affine_map<({loops}) -> ({loops})>"
        kinds = ", ".join(['"parallel"'] * (self.rank + 2))
        count = float(np.prod(self.taps)) if self.averages else 1.0
        lines = [f"%count = arith.constant {count} : {self.wide}",
                 f"%e5 = tensor.empty({size}) : {kind}",
                 f"%mean = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = "
                 f"[{kinds}]}} ins(%r : {wide}) outs(%e5 : {kind}) {{",
                 f"^bb0(%s: {self.wide}, %b: {self.element}):",
                 f"%q = arith.divf %s, %count : {self.wide}"]
        result = "%q"
        if self.wide != self.element:
            lines.append(f"%t = arith.truncf %q : {self.wide} to {self.element}")
            result = "%t"
        return [*lines, f"linalg.yield {result} : {self.element}", f"}} -> {kind}",
                f"return %mean : {kind}"]

    # Numbers

    def arguments(self, draw, dtype, wide):
        def numbers(shape, of):
            if self.element in FLOATS:
                return draw.standard_normal(shape).astype(of)
            limits = np.iinfo(of)
            return draw.integers(limits.min, limits.max, shape, of, endpoint=True)

        x = numbers(self.shape(self.sizes), dtype)
        if self.element in FLOATS and self.rng.random() < 0.5:
            for value in (np.nan, np.inf, -np.inf):
                x.reshape(-1)[draw.integers(x.size, size=2)] = value
        weights = [int(size) for size in self.weights_shape().split("x")]
        return x, numbers(weights, dtype), numbers(self.shape(self.places()), wide)

    def image_of(self, x):
        """The image, channels first."""
        image = x if self.origin == "argument" else x + x
        return np.moveaxis(image, -1, 1) if self.last else image

    def border_of(self, dtype):
        value = self.border
        if not value.startswith("0x"):
            return np.array(float(value) if self.element in FLOATS else int(value)) \
                .astype(dtype)
        return np.array(np.inf if value == infinity(self.element, 1) else -np.inf).astype(dtype)

    def exact(self, x, w, before):
        """What PyTorch makes of it in float64, with channels where they are."""
        image = torch.from_numpy(self.image_of(x).astype(np.float64))
        border = float(self.border_of(x.dtype))
        around = [each for pair in zip(reversed(self.low), reversed(self.high))
                  for each in pair]
        image = functional.pad(image, around, value=border)
        if self.kind in ("max", "min"):
            pool = (functional.max_pool1d, functional.max_pool2d,
                    functional.max_pool3d)[self.rank - 1]
            sign = 1 if self.kind == "max" else -1
            result = sign * pool(sign * image, self.taps, self.stride, 0, self.dilation)
        else:
            convolve = (functional.conv1d, functional.conv2d,
                        functional.conv3d)[self.rank - 1]
            weights = torch.ones(self.channels, 1, *self.taps, dtype=torch.float64)
            if self.kind == "products":
                of = np.moveaxis(w, -1, 0) if self.last else w
                weights = torch.from_numpy(of.astype(np.float64)).unsqueeze(1)
            result = convolve(image, weights, None, self.stride, 0, self.dilation,
                              self.channels)
        result = result.numpy()
        if self.begins == "argument":
            first = np.moveaxis(before, -1, 1) if self.last else before
            result = KINDS[self.kind][2](result, first.astype(np.float64))
        if self.averages:
            result = result / np.prod(self.taps)
        return np.moveaxis(result, 1, -1) if self.last else result

    def in_order(self, x, w, before, wide):
        """What the op makes of it, rounded as it is, but for sums of products, which may
        be rounded once or twice."""
        image = self.image_of(x)
        image = np.pad(image, [(0, 0), (0, 0), *zip(self.low, self.high)],
                       constant_values=self.border_of(x.dtype))
        out = self.places()
        result = np.full((self.batch, self.channels, *out),
                         {"max": -np.inf, "min": np.inf}.get(self.kind, 0)
                         if self.element in FLOATS else int(self.first)).astype(wide)
        if self.begins == "argument":
            result = np.moveaxis(before, -1, 1) if self.last else before
        for tap in itertools.product(*(range(tap) for tap in self.taps)):
            at = tuple(slice(t * apart, t * apart + (many - 1) * step + 1, step)
                       for t, apart, many, step in
                       zip(tap, self.dilation, out, self.stride))
            with np.errstate(all="ignore"):
                taken = image[(slice(None), slice(None), *at)].astype(wide)
                if self.kind == "products":
                    of = w[tap] if self.last else w[(slice(None), *tap)]
                    taken *= of.astype(wide).reshape(-1, *([1] * self.rank))
                result = KINDS[self.kind][2](taken, result).astype(wide)
        if self.averages:
            result = (result / wide.type(np.prod(self.taps))).astype(x.dtype)
        return np.moveaxis(result, 1, -1) if self.last else result
