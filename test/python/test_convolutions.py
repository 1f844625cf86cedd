"""Convolutions with pruned filters: drawn forms, sizes, strides, dilations, padding,
groups, patterns in both orders of the reduction, element types and epilogues, against
sums over taps in float64. Drawn afresh; NM_TEST_SEED repeats a run."""

import itertools
import os
import re
from collections import Counter

import nm
import numpy as np
import pytest
from conftest import relative_error

SEED = int(os.environ.get("NM_TEST_SEED", np.random.SeedSequence().entropy % 2 ** 31))
LIMITS = {"f32": 1e-5, "f16": 2e-3, "bf16": 1e-2, "i8": 0}
#: Dimensions of image, filter and output: batch n, group g, channels c and f, and the
#: places x, y and z of both the image and the filter's taps.
FORMS = {
    "conv_1d_nwc_wcf": ("nxc", "xcf", "nxf"),
    "conv_1d_ncw_fcw": ("ncx", "fcx", "nfx"),
    "conv_2d_nhwc_hwcf": ("nyxc", "yxcf", "nyxf"),
    "conv_2d_nhwc_fhwc": ("nyxc", "fyxc", "nyxf"),
    "conv_2d_nchw_fchw": ("ncyx", "fcyx", "nfyx"),
    "conv_2d_nhwc_hwcf_q": ("nyxc", "yxcf", "nyxf"),
    "conv_2d_nchw_fchw_q": ("ncyx", "fcyx", "nfyx"),
    "conv_2d_ngchw_fgchw": ("ngcyx", "fgcyx", "ngfyx"),
    "conv_2d_ngchw_gfchw": ("ngcyx", "gfcyx", "ngfyx"),
    "conv_2d_nhwgc_gfhwc": ("nyxgc", "gfyxc", "nyxgf"),
    "conv_2d_nhwc_fhwc_q": ("nyxc", "fyxc", "nyxf"),
    "conv_2d_ngchw_gfchw_q": ("ngcyx", "gfcyx", "ngfyx"),
    "conv_2d_nhwgc_gfhwc_q": ("nyxgc", "gfyxc", "nyxgf"),
    "conv_3d_ndhwc_dhwcf_q": ("nzyxc", "zyxcf", "nzyxf"),
    "conv_3d_ndhwc_dhwcf": ("nzyxc", "zyxcf", "nzyxf"),
    "conv_3d_ncdhw_fcdhw": ("nczyx", "fczyx", "nfzyx"),
}
PATTERNS = ("2:4", "1:4", "3:8", "4:16, block = 1x8", "8:32, block = 1x16",
            "1:2, block = 4x4", "2:4, block = 1x3")
UNSTRUCTURED = "unstructured"
#: So many constants may become code, too, where an N:M pattern is found that keeps 1.5 times as many:
#: kMostConstantWeights is 4096.
MOST_CONSTANT_WEIGHTS = 2048
ACTIVATIONS = {"none": lambda v: v, "relu": lambda v: np.maximum(v, 0),
               "relu6": lambda v: np.clip(v, 0, 6),
               "silu": lambda v: v / (1 + np.exp(-v))}


def numpy_type(element):
    if element == "bf16":
        return np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    return np.dtype({"f32": np.float32, "f16": np.float16, "i8": np.int8,
                     "i32": np.int32}[element])


def type_text(array, element):
    return "tensor<" + "".join(f"{size}x" for size in array.shape) + f"{element}>"


def constant_text(array, kind):
    return f'arith.constant dense<"0x{array.tobytes().hex()}"> : {kind}'


def prune(matrix, pattern, zeros):
    """The largest of each window of B[k x n], by the sums of squares of units; or anywhere, all
    but a share of `zeros` at least."""
    if pattern == UNSTRUCTURED:
        sizes = np.abs(matrix.astype(np.float64))
        return np.where(sizes > np.quantile(sizes, zeros), matrix, 0).astype(matrix.dtype)
    n, m, bk, bn = (int(number) for number in
                    re.fullmatch(r"(\d+):(\d+)(?:, block = (\d+)x(\d+))?",
                                 pattern).groups(1))
    k, columns = matrix.shape
    pruned = np.zeros_like(matrix)
    for row in range(0, k, m * bk):
        for column in range(0, columns, bn):
            part = np.s_[row:row + m * bk, column:column + bn]
            units = [np.s_[i:i + bk] for i in range(0, len(matrix[part]), bk)]
            norms = [np.sum(matrix[part][unit].astype(np.float64) ** 2)
                     for unit in units]
            for unit in np.argsort(norms)[-n:]:
                pruned[part][units[unit]] = matrix[part][units[unit]]
    return pruned


class Case:
    def __init__(self, rng, form=None, pattern=None, most=8, element=None,
                 channels=(4, 5, 16, 32), channels_first=.5, constant=.5):
        self.rng = rng
        self.form = form or str(rng.choice(list(FORMS)))
        self.of_image, self.of_filter, self.of_output = FORMS[self.form]
        self.quantized = self.form.endswith("_q")
        self.element = "i8" if self.quantized else str(rng.choice(list(LIMITS)))
        self.element = element or self.element
        self.output_element = "i32" if self.element == "i8" else self.element
        self.pattern = pattern or str(rng.choice(PATTERNS))
        self.zeros = float(rng.choice([.5, .8, .9, .95]))
        self.axes = [axis for axis in "zyx" if axis in self.of_image]
        few = 4 if len(self.axes) == 3 else 8
        self.outputs = {axis: int(rng.integers(1, few)) for axis in self.axes}
        self.outputs["x"] = int(rng.integers(1, most))
        isPoint = rng.random() < .2
        self.taps = {axis: 1 if isPoint else int(rng.integers(1, 4))
                     for axis in self.axes}
        self.strides = {axis: 1 if isPoint and rng.random() < .5
                        else int(rng.integers(1, 4)) for axis in self.axes}
        self.dilations = {axis: int(rng.integers(1, 3)) for axis in self.axes}
        self.sizes = {"n": int(rng.choice([1, 1, 2, 3])),
                      "c": int(rng.choice(channels)),
                      "f": int(rng.choice([16, 18, 33, 64])), "g": 3}
        # What the image has beyond what is taken of it.
        reach = {axis: (self.outputs[axis] - 1) * self.strides[axis]
                 + (self.taps[axis] - 1) * self.dilations[axis] + 1 for axis in self.axes}
        self.padding = {}
        for axis in self.axes:
            low = int(rng.integers(0, min(3, reach[axis])))
            high = int(rng.integers(0, min(3, reach[axis] - low)))
            spare = int(rng.integers(0, self.strides[axis]))
            self.padding[axis] = (low, high)
            self.sizes[axis] = reach[axis] + spare - low - high
        self.image = self.draw([self.sizes[each] for each in self.of_image])
        self.channels_first = bool(rng.random() < channels_first)
        self.draw_filter(constant)
        self.start = self.draw(self.output_shape(), self.output_element)
        self.zero_point = int(rng.integers(-9, 9)) * self.quantized
        # With an encoding no sum of weights is known.
        if self.encoded:
            self.zero_point = 0
        self.epilogue = self.element != "i8" and bool(rng.random() < .6)
        self.activation = str(rng.choice(list(ACTIVATIONS))) if self.epilogue else "none"
        self.residual = self.epilogue and bool(rng.random() < .5)
        self.scale, self.bias = (self.draw([self.sizes["f"]]) for _ in "ab")
        self.residuals = self.draw(self.output_shape(), self.output_element)

    def draw(self, shape, element=None):
        element = element or self.element
        if element in ("i8", "i32"):
            return self.rng.integers(-20, 20, shape).astype(numpy_type(element))
        return self.rng.standard_normal(shape).astype(numpy_type(element))

    def output_shape(self):
        return [self.outputs.get(each, self.sizes[each]) for each in self.of_output]

    def draw_filter(self, constant):
        """Pruned along k in one of two orders, which is its matrix's; a constant by chance."""
        sizes = {**self.sizes, **self.taps}
        axes = "".join(self.axes)
        self.order = "c" + axes if self.channels_first else axes + "c"
        groups = []
        for _ in range(self.sizes["g"] if "g" in self.of_filter else 1):
            k = int(np.prod([sizes[each] for each in self.order]))
            self.matrix = prune(self.draw([k, sizes["f"]]), self.pattern, self.zeros)
            groups.append(self.matrix.reshape([*(sizes[each] for each in self.order),
                                               sizes["f"]]))
        grouped = np.stack(groups)
        of_grouped = "g" + self.order + "f"
        kept = self.of_filter if "g" in self.of_filter else "g" + self.of_filter
        self.filter = np.ascontiguousarray(
            grouped.transpose([of_grouped.index(each) for each in kept]))
        if "g" not in self.of_filter:
            self.filter = self.filter[0]
        k, n = self.matrix.shape
        fits = re.search(r"(\d+)x(\d+)", self.pattern)
        self.encoded = ("g" not in self.of_filter and bool(self.rng.random() >= constant) and (
            not fits or (int(fits[1]) <= k and int(fits[2]) <= n)))
        # A constant has an encoding, too, in places.
        self.loaded = self.encoded and bool(self.rng.random() < 1 - constant / 2)
        if self.pattern == UNSTRUCTURED and self.encoded:
            self.pattern += f", kept = {max(1, np.count_nonzero(self.matrix))}"

    def filter_lines(self):
        kind = type_text(self.filter, self.element)
        if not self.encoded:
            return [f"%w = {constant_text(self.filter, kind)}"]
        rows = self.order + "f"
        shape = [{**self.sizes, **self.taps}[each] for each in rows]
        expanded = "tensor<" + "".join(f"{size}x" for size in shape) + self.element + ">"
        groups = f"[{list(range(len(self.order)))}, [{len(self.order)}]]"
        matrix = type_text(self.matrix, f"{self.element}, #nm.encoding<{self.pattern}>")
        lines = [] if self.loaded else [f"%w_ = {constant_text(self.matrix, matrix)}"]
        lines += [f"%v = tensor.expand_shape %w_ {groups} output_shape {shape} : {matrix} "
                 f"into {expanded}"]
        permutation = [rows.index(each) for each in self.of_filter]
        return [*lines, f"%we = tensor.empty() : {kind}",
                f"%w = linalg.transpose ins(%v : {expanded}) outs(%we : {kind}) "
                f"permutation = {permutation}"]

    def padded(self):
        return np.pad(self.image, [self.padding.get(each, (0, 0))
                                   for each in self.of_image],
                      constant_values=self.zero_point)

    def text(self):
        image = type_text(self.image, self.element)
        padded = type_text(self.padded(), self.element)
        out = type_text(self.start, self.output_element)
        low, high = ([self.padding.get(each, (0, 0))[i] for each in self.of_image]
                     for i in range(2))
        zero = "0" if self.element == "i8" else "0.0"
        lines = self.filter_lines()
        lines += [f"%zero = arith.constant {self.zero_point or zero} : {self.element}",
                  f"%p = tensor.pad %x low{low} high{high} {{\n"
                  f"^bb0({', '.join(f'%i{i}: index' for i in range(len(low)))}):\n"
                  f"tensor.yield %zero : {self.element}\n}} : {image} to {padded}"]
        kind = type_text(self.filter, self.element)
        values = [f"dense<[{', '.join(str(each[axis]) for axis in self.axes)}]> : "
                  f"tensor<{len(self.axes)}xi64>"
                  for each in (self.strides, self.dilations)]
        points, kinds = "", ""
        if self.quantized:
            lines += [f"%zx = arith.constant {self.zero_point} : i32",
                      "%zw = arith.constant 0 : i32"]
            points, kinds = ", %zx, %zw", ", i32, i32"
        lines += [f"%r = linalg.{self.form} {{strides = {values[0]}, "
                  f"dilations = {values[1]}}} ins(%p, %w{points} : {padded}, "
                  f"{kind}{kinds}) outs(%c : {out}) -> {out}"]
        result = "%r"
        if self.epilogue:
            lines += self.epilogue_lines(out)
            result = "%e"
        weight = type_text(self.matrix, f"{self.element}, #nm.encoding<{self.pattern}>")
        arguments = [f"%x: {image}", f"%c: {out}",
                     f"%s: {type_text(self.scale, self.element)}",
                     f"%b: {type_text(self.bias, self.element)}", f"%q: {out}"]
        if self.loaded:
            arguments.append(f"%w_: {weight}")
        return (f"func.func @f({', '.join(arguments)}) -> {out} {{\n"
                + "\n".join(lines) + f"\nreturn {result} : {out}\n}}\n")

    def epilogue_lines(self, out):
        loops = ", ".join(f"d{i}" for i in range(len(self.of_output)))
        channel = f"d{self.of_output.index('f')}"
        all_of, one = (f"affine_map<({loops}) -> ({each})>" for each in (loops, channel))
        maps = ", ".join([all_of, one, one, all_of, all_of])
        element = self.element
        vector = type_text(self.bias, element)
        body = ["%m = arith.mulf %a, %g : f32", "%h = arith.addf %m, %k : f32"]
        names = {"a": "%ai", "g": "%gi", "k": "%ki", "l": "%li"}
        casts = [f"%{name} = arith.extf {given} : {element} to f32"
                 for name, given in names.items()]
        if element == "f32":
            casts = []
            names = {name: f"%{name}" for name in names}
        last = "%h"
        if self.residual:
            body.append("%h2 = arith.addf %h, %l : f32")
            last = "%h2"
        consts = ["%zf = arith.constant 0.0 : f32", "%six = arith.constant 6.0 : f32",
                  "%one = arith.constant 1.0 : f32"]
        body += {"none": [], "relu": [f"%t = arith.maximumf {last}, %zf : f32"],
                 "relu6": [f"%t0 = arith.maximumf {last}, %zf : f32",
                           "%t = arith.minimumf %t0, %six : f32"],
                 "silu": [f"%n = arith.negf {last} : f32", "%ex = math.exp %n : f32",
                          "%d = arith.addf %one, %ex : f32",
                          f"%t = arith.divf {last}, %d : f32"]}[self.activation]
        last = last if self.activation == "none" else "%t"
        end = [f"linalg.yield {last} : f32"]
        if element != "f32":
            end = [f"%o = arith.truncf {last} : f32 to {element}",
                   f"linalg.yield %o : {element}"]
        given = ", ".join(f"{names[name]}: {element}" for name in "agkl")
        kinds = ", ".join('"parallel"' for _ in self.of_output)
        return [*consts, f"%eo = tensor.empty() : {out}",
                f"%e = linalg.generic {{indexing_maps = [{maps}], iterator_types = "
                f"[{kinds}]}} ins(%r, %s, %b, %q : {out}, {vector}, {vector}, {out}) "
                f"outs(%eo : {out}) {{", f"^bb0({given}, %old: {element}):",
                *casts, *body, *end, f"}} -> {out}"]

    def arguments(self):
        given = [self.image, self.start, self.scale, self.bias, self.residuals]
        return [*given, self.matrix] if self.loaded else given

    def expected(self):
        wide = np.int64 if self.element == "i8" else np.float64
        image = self.padded().astype(wide) - self.zero_point
        filter_ = self.filter.astype(wide)
        result = self.start.astype(wide)
        for tap in np.ndindex(*self.taps.values()):
            at = dict(zip(self.axes, tap))
            part = image[tuple(
                slice(at[each] * self.dilations[each],
                      at[each] * self.dilations[each]
                      + (self.outputs[each] - 1) * self.strides[each] + 1,
                      self.strides[each]) if each in at else slice(None)
                for each in self.of_image)]
            weights = filter_[tuple(at.get(each, slice(None)) for each in self.of_filter)]
            of_weights = "".join(each for each in self.of_filter if each not in at)
            result = result + np.einsum(
                f"{self.of_image},{of_weights}->{self.of_output}", part, weights)
        if not self.epilogue:
            return result
        shape = [-1 if each == "f" else 1 for each in self.of_output]
        result = (result * self.scale.astype(wide).reshape(shape)
                  + self.bias.astype(wide).reshape(shape))
        if self.residual:
            result = result + self.residuals.astype(wide)
        return ACTIVATIONS[self.activation](result)


def check(case, target, **options):
    text = case.text()
    module = nm.compile(text, target=target, cache=False, **options)
    got = module(*case.arguments())
    error = relative_error(got, case.expected())
    assert error <= LIMITS[case.element], f"NM_TEST_SEED={SEED}: {options} {error}\n{text}"


#: How many drawn products of a test read the image itself, and how many did not.
WAYS = {name: Counter() for name in ("simt_columns", "simt_columns, code", "simt", "mma_sync",
                                     "mma_image", "wgmma_sp")}


def check_image(case, strategy, schedule):
    """As check, and counts whether the image is read in place, and by code of constants."""
    options = {"schedule": strategy + schedule}
    chosen = nm.lower(case.text(), "schedule", "sim:sm_90a", **options)
    is_code = re.search(r"#nm\.simt_columns<.*thread = \[\d+, (?!1\])", chosen)
    WAYS[strategy + ", code" * bool(is_code)]["nm.patches" in chosen] += 1
    check(case, "sim:sm_90a", **options)


#: Of drawn products with unstructured filters, for a CPU or a GPU and for each kind of form, how
#: many read the weights that are kept alone, and how many did not; and by which strategies.
UNSTRUCTURED_WAYS, UNSTRUCTURED_STRATEGIES = Counter(), Counter()


def kind_of(case):
    layout = ("groups" if "g" in case.of_filter else
              "channels last" if case.of_image.endswith("c") else "planes")
    return layout + ", quantized" * case.quantized


def strategies_of(case, target):
    """Those of products that read the weights of their columns that are kept, and the others; which
    have dense weights, or an N:M pattern that a constant obeys."""
    ways = re.findall(r"nm\.spmm <([^>]*)>.* schedule #nm\.(\w+)", nm.lower(
        case.text(), "schedule", target))
    columns = {("1:1", each) for each in ("vector", "simt_columns", "gemv_columns")}
    return ({strategy for way, strategy in ways if (way, strategy) in columns},
            {strategy for way, strategy in ways if (way, strategy) not in columns})


def check_unstructured(rng, form, target, kept):
    """A filter of which all products read the kept weights alone, or none does."""
    while True:
        case = Case(rng, form, UNSTRUCTURED)
        of_kept, others = strategies_of(case, target)
        if (of_kept if kept else others) and not (others if kept else of_kept):
            break
    processor = target.split(":")[0]
    UNSTRUCTURED_WAYS[processor, kind_of(case), kept] += 1
    for strategy in of_kept | others:
        UNSTRUCTURED_STRATEGIES[processor, strategy, kept] += 1
    check(case, target)


@pytest.mark.parametrize("number", range(6 * len(FORMS)))
def test_drawn(number):
    part, form = number // len(FORMS), list(FORMS)[number % len(FORMS)]
    rng = np.random.default_rng([SEED, number])
    if part < 4:
        check(Case(rng, form), "cpu")
    else:
        check_unstructured(rng, form, "cpu", kept=part == 4)


@pytest.mark.parametrize("number", range(4 * len(FORMS)))
def test_drawn_on_gpus(number):
    part, form = number // len(FORMS), list(FORMS)[number % len(FORMS)]
    rng = np.random.default_rng([SEED, 100 + number])
    target = ("sim:sm_80", "sim:sm_90a")[(part + number * (part > 1)) % 2]
    if part < 2:
        check(Case(rng, form), target)
    else:
        check_unstructured(rng, form, target, kept=part == 2)


def test_unstructured_ways_were_taken():
    if UNSTRUCTURED_WAYS.total() < 4 * len(FORMS):
        pytest.skip("not all of the drawn products ran before")
    kinds = [layout + quantized for layout in ("planes", "channels last", "groups")
             for quantized in ("", ", quantized")]
    missed = [way for way in itertools.product(("cpu", "sim"), kinds, (True, False))
              if not UNSTRUCTURED_WAYS[way]]
    assert not missed, f"NM_TEST_SEED={SEED}: {missed}"
    missed = [way for way in (("cpu", "vector", True), ("cpu", "vector", False),
                              ("sim", "simt_columns", True), ("sim", "gemv_columns", True),
                              ("sim", "gemv", False)) if not UNSTRUCTURED_STRATEGIES[way]]
    assert not missed, f"NM_TEST_SEED={SEED}: {missed} of {UNSTRUCTURED_STRATEGIES}"


@pytest.mark.parametrize("number", range(24))
def test_drawn_images(number):
    """By threads that read the image themselves, whose padding is in no memory: of weights that are
    loaded, and of constants as code."""
    rng = np.random.default_rng([SEED, 200 + number])
    forms = forms_of_planes()
    is_code = number % 3 == 2
    case = None
    while case is None or (is_code and np.count_nonzero(case.matrix) > MOST_CONSTANT_WEIGHTS):
        case = Case(rng, forms[number // 3 % len(forms)], UNSTRUCTURED,
                    element=str(rng.choice(["f32", "f16", "bf16"])), constant=int(is_code))
    schedule = ""
    lane, slices = int(rng.choice([1, 2, 4])), int(rng.choice([1, 2, 3]))
    if is_code:
        columns = int(rng.choice([4, 8, 16]))
        schedule = (f"<block = [{32 * lane}, {columns}, 1], warp = [{32 * lane}, {columns}], "
                    f"thread = [{lane}, {columns}], slice_k = {slices}>")
    elif rng.random() < .5:
        schedule = (f"<block = [{64 * lane}, 4, 1], warp = [{32 * lane}, 1], "
                    f"thread = [{lane}, 1], slice_k = {slices}>")
    check_image(case, "simt_columns", schedule)


def forms_of_planes():
    """Those of images in planes, NCHW and the like."""
    return [form for form, (image, *_) in FORMS.items()
            if image.startswith("nc") and not form.endswith("_q")]


def leaves_rows_out(case, schedule):
    """Whether listed rows are fewer than all: few channels may be windows of which all are kept."""
    try:
        nm.lower(case.text(), "schedule", "sim:sm_90a", schedule="simt" + schedule)
    except nm.CompileError as error:
        if "no rows of A would be left out" not in str(error):
            raise
        return False
    return True


@pytest.mark.parametrize("number", range(24))
def test_drawn_images_in_shared_memory(number):
    """Staged element by element from the image; blocks that split k, or stage listed rows."""
    rng = np.random.default_rng([SEED, 400 + number])
    forms = forms_of_planes()
    pattern = str(rng.choice([*PATTERNS, "8:32, block = 1x32", "2:32, block = 1x32"]))
    case = Case(rng, forms[number % len(forms)], pattern, most=20, element="f32")
    ways = ["", "<split_k = 2>", "<stages = 3>"]
    packed = "<block = [64, 32, 64], warp = [32, 16], thread = [4, 4], pack = true>"
    if pattern == "2:32, block = 1x32" and leaves_rows_out(case, packed):
        ways.append(packed)
    check_image(case, "simt", str(rng.choice(ways)))


def suits(case, strategy, *expected):
    """Whether `strategy` has the product, also of a pattern that is found in a filter which is a
    constant; where it has not, it must say one of what was `expected`."""
    try:
        nm.lower(case.text(), "schedule", "sim:sm_90a", schedule=strategy)
    except nm.CompileError as error:
        if not any(f"strategy {strategy} expected {what}" in str(error) for what in expected):
            raise
        return False
    return True


def has_wide_units(case):
    return suits(case, "mma_sync", "units of a multiple of 8 columns")


@pytest.mark.parametrize("number", range(24))
def test_drawn_images_of_16_bits(number):
    """Through registers, in pairs of places; of tiles of whole windows, or of listed rows."""
    rng = np.random.default_rng([SEED, 500 + number])
    forms = [form for form in FORMS if not form.endswith("_q")]
    wide = "2:32, block = 1x64"
    pattern = str(rng.choice(["4:16, block = 1x8", "8:32, block = 1x16", wide, wide]))
    element = str(rng.choice(["f16", "bf16"]))
    case = Case(rng, forms[number % len(forms)], pattern, most=20, element=element)
    # Units may be as wide as the filter, of which each column may keep all rows.
    while case.sizes["f"] % 8 or not has_wide_units(case):
        case = Case(rng, case.form, pattern, most=20, element=element)
    ways = ["", "<split_k = 2>", "<stages = 3>"]
    # A filter that is a constant may obey a shorter pattern, too.
    if pattern == wide and case.encoded and len(case.matrix) >= 32:
        ways += [f"<block = [{rows}, 64, 64], warp = [32, 32], pack = true>" for rows in (32, 64)]
    check_image(case, "mma_sync", str(rng.choice(ways)))


@pytest.mark.parametrize("number", range(32))
def test_drawn_parts_of_images(number):
    """By blocks that have the rows of an image that their places take: some of its rows, or all,
    by accesses of one element or of several; of kept rows that are no multiple of 16, too."""
    rng = np.random.default_rng([SEED, 600 + number])
    forms = forms_of_planes()
    wide = "2:32, block = 1x64"
    pattern = str(rng.choice(["4:16, block = 1x16", "8:32, block = 1x32", "2:8, block = 1x16",
                              wide]))
    element = str(rng.choice(["f16", "bf16"]))
    expected = ("the patches of an image in planes", "units of a multiple of 16 columns, and "
                "windows that keep an even number of rows")
    case = None
    # A 1x1 filter without padding has no patches.
    while case is None or not suits(case, "mma_image", *expected):
        case = Case(rng, forms[number % len(forms)], pattern, most=20, element=element)
    ways = ["", "<slice_k = 2>", "<block = [64, 16, 1], warp = [32, 16], slice_k = 4>",
            "<block = [32, 16, 1], warp = [16, 16], stages = 3>"]
    check_image(case, "mma_image", str(rng.choice(ways)))


@pytest.mark.parametrize("number", range(4))
def test_parts_of_images_and_fewer_rows_than_a_window_keeps(number):
    """Rows behind k, of which a condensed form has places, are in no image."""
    rng = np.random.default_rng([SEED, 700 + number])
    forms = forms_of_planes()
    case = None
    while (case is None or not case.encoded or not 0 < len(case.matrix) % 32 < 8
           or not suits(case, "mma_image", "the patches of an image in planes")):
        case = Case(rng, forms[number % len(forms)], "8:32, block = 1x32", most=20,
                    element="f16")
    check(case, "sim:sm_90a", schedule="mma_image")


def forms_without_groups():
    return [form for form, (image, *_) in FORMS.items()
            if "g" not in image and not form.endswith("_q")]


@pytest.mark.parametrize("number", range(28))
def test_drawn_images_by_tensor_copies(number):
    """By tensor copies of pixels, whose channels are whole lines, or are put last before; of
    boxes that go on in the next row and the next image, and that end behind the last one."""
    rng = np.random.default_rng([SEED, 800 + number])
    forms = forms_without_groups()
    element = str(rng.choice(["f16", "bf16", "i8"]))
    pattern = str(rng.choice(["2:4", "1:4", "2:4, block = 1x8"]))
    line = 128 if element == "i8" else 64
    case = None
    while case is None or np.prod(list(case.outputs.values())) * case.sizes["n"] < 48:
        case = Case(rng, forms[number % len(forms)], pattern, most=60, element=element,
                    channels=[line, line, 2 * line, 3 * line], channels_first=.1)
    small = f"block = [64, 64, {line}], warpgroup = [64, 64], producers = 4"
    parts = 2 if len(case.matrix) // line % 2 == 0 else 1
    ways = ["", "", f"<{small}>", f"<{small}, split_k = {parts}>"]
    check_image(case, "wgmma_sp", str(rng.choice(ways)))


@pytest.mark.parametrize("strategy, drawn", [("simt_columns", 16), ("simt_columns, code", 8),
                                             ("simt", 24), ("mma_sync", 24),
                                             ("mma_image", 32), ("wgmma_sp", 28)])
def test_images_were_read_in_place(strategy, drawn):
    """Padding of one tap and dense products have patches, and few drawn ones are such; images in
    planes that are larger than their patches, and few places of a batch, have them by tensor
    copies, too."""
    if WAYS[strategy].total() < drawn:
        pytest.skip("not all of the drawn products ran before")
    least = drawn / 10 if strategy == "wgmma_sp" else drawn / 2
    assert WAYS[strategy][True] > least, f"NM_TEST_SEED={SEED}: {WAYS[strategy]}"


@pytest.mark.parametrize("number", range(24))
def test_drawn_rows_of_pixels(number):
    """By vectors along rows of an image, or along parts of those that are wide."""
    rng = np.random.default_rng([SEED, 300 + number])
    forms = [form for form, (image, *_) in FORMS.items() if image.startswith("nc")]
    pattern = (UNSTRUCTURED, None)[number % 2]
    form = forms[number // 2 % len(forms)]
    case = Case(rng, form, pattern, most=300 if "1d" in form else 40)
    check(case, "cpu", threads=str(rng.choice([1, 2, 3, 8])))
