"""Windows that are combined without channels: depthwise convolutions and pooling of drawn sizes,
strides, dilations, padding and element types, against loops over taps in float64. Drawn afresh;
NM_TEST_SEED repeats a run."""

import os

import nm
import numpy as np
import pytest
from conftest import relative_error

SEED = int(os.environ.get("NM_TEST_SEED", np.random.SeedSequence().entropy % 2 ** 31))
LIMITS = {"f32": 1e-5, "f16": 2e-3, "bf16": 1e-2}
#: Dimensions of image and result, and of the filter or the window: batch n, channels c, places
#: z, y and x.
FORMS = {
    "depthwise_conv_1d_ncw_cw": ("ncx", "cx"),
    "depthwise_conv_2d_nchw_chw": ("ncyx", "cyx"),
    "depthwise_conv_2d_nhwc_hwc": ("nyxc", "yxc"),
    "depthwise_conv_3d_ncdhw_cdhw": ("nczyx", "czyx"),
    "depthwise_conv_3d_ndhwc_dhwc": ("nzyxc", "zyxc"),
    "pooling_nchw_max": ("ncyx", "yx"),
    "pooling_nchw_sum": ("ncyx", "yx"),
    "pooling_nhwc_max": ("nyxc", "yx"),
    "pooling_nhwc_sum": ("nyxc", "yx"),
}


class Case:
    def __init__(self, rng, form):
        self.form, self.rng = form, rng
        self.of_image, self.of_window = FORMS[form]
        self.element = str(rng.choice(list(LIMITS)))
        self.kind = {"f32": np.dtype("f4"), "f16": np.dtype("f2")}.get(self.element)
        if self.kind is None:
            self.kind = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
        self.axes = [axis for axis in "zyx" if axis in self.of_image]
        most = 6 if len(self.axes) == 3 else 40
        self.outputs = {axis: int(rng.integers(1, most)) for axis in self.axes}
        self.taps = {axis: int(rng.choice([1, 2, 3, 5, 7, 17], p=[.1, .1, .3, .3, .1, .1]))
                     for axis in self.axes}
        # Sums of a pooling are of its elements' type, rounded at each step.
        if form.endswith("sum") and self.element != "f32":
            self.taps = {axis: min(3, taps) for axis, taps in self.taps.items()}
        if len(self.axes) == 3:
            self.taps["z"] = min(3, self.taps["z"])
        self.strides, self.dilations = (
            {axis: int(rng.choice([1, 2, 3], p=[.6, .3, .1])) for axis in self.axes}
            for _ in "sd")
        self.sizes = {"n": int(rng.choice([1, 1, 2])), "c": int(rng.choice([1, 3, 16, 37]))}
        self.padding = {}
        for axis in self.axes:
            reach = ((self.outputs[axis] - 1) * self.strides[axis]
                     + (self.taps[axis] - 1) * self.dilations[axis] + 1)
            low, high = (int(each) for each in rng.integers(0, 3, 2))
            low = min(low, reach - 1)
            high = min(high, reach - 1 - low)
            self.padding[axis] = (low, high)
            self.sizes[axis] = reach - low - high
        self.image = self.draw(self.sizes[each] for each in self.of_image)
        self.window = self.draw(self.taps.get(each, self.sizes.get(each))
                                for each in self.of_window)
        # What the result is added to, or compared with.
        self.start = self.draw(self.outputs.get(each, self.sizes[each])
                               for each in self.of_image)

    def draw(self, shape):
        return self.rng.standard_normal(tuple(shape)).astype(self.kind)

    def padded(self):
        return np.pad(self.image, [self.padding.get(each, (0, 0)) for each in self.of_image])

    def text(self):
        def kind(array):
            return "tensor<" + "".join(f"{each}x" for each in array.shape) + self.element + ">"

        low, high = ([self.padding.get(each, (0, 0))[i] for each in self.of_image]
                     for i in range(2))
        strides, dilations = (
            f"dense<[{', '.join(str(each[axis]) for axis in self.axes)}]> : "
            f"tensor<{len(self.axes)}xi64>" for each in (self.strides, self.dilations))
        image, padded, window, out = map(kind, (self.image, self.padded(), self.window,
                                                self.start))
        at = ", ".join(f"%i{i}: index" for i in range(len(low)))
        return f"""
func.func @f(%x: {image}, %w: {window}, %c: {out}) -> {out} {{
  %zero = arith.constant 0.0 : {self.element}
  %p = tensor.pad %x low{low} high{high} {{
  ^bb0({at}):
    tensor.yield %zero : {self.element}
  }} : {image} to {padded}
  %r = linalg.{self.form} {{strides = {strides}, dilations = {dilations}}}
    ins(%p, %w : {padded}, {window}) outs(%c : {out}) -> {out}
  return %r : {out}
}}
"""

    def expected(self):
        image, window = self.padded().astype(np.float64), self.window.astype(np.float64)
        result = self.start.astype(np.float64)
        for tap in np.ndindex(*self.taps.values()):
            at = dict(zip(self.axes, tap))
            part = image[tuple(
                slice(at[each] * self.dilations[each],
                      at[each] * self.dilations[each]
                      + (self.outputs[each] - 1) * self.strides[each] + 1, self.strides[each])
                if each in at else slice(None) for each in self.of_image)]
            if self.form.startswith("pooling"):
                combine = np.maximum if self.form.endswith("max") else np.add
                result = combine(result, part)
                continue
            weights = window[tuple(at.get(each, slice(None)) for each in self.of_window)]
            shape = [-1 if each == "c" else 1 for each in self.of_image]
            result = result + part * weights.reshape(shape)
        return result


@pytest.mark.parametrize("number", range(54))
def test_drawn(number):
    form = list(FORMS)[number % len(FORMS)]
    case = Case(np.random.default_rng([SEED, number]), form)
    text = case.text()
    got = nm.compile(text, target="cpu", cache=False)(case.image, case.window, case.start)
    error = relative_error(got, case.expected())
    limit = LIMITS[case.element]
    assert error <= limit, f"NM_TEST_SEED={SEED}: {error}\n{text}"
