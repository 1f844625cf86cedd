"""The text of functions that nm.torch.export writes, without PyTorch."""

import doctest

import nm
import numpy as np
import pytest
from nm._mlir import Body, FunctionText, Size, _sizes
from nm._mlir._scalars import literal

BATCH = Size(1, ("batch",))


def test_examples_of_sizes():
    assert doctest.testmod(_sizes).failed == 0


@pytest.mark.parametrize("old,new,groups", [
    ([4, 6], [24], [((0, 1), (0,))]),
    ([24], [4, 6], [((0,), (0, 1))]),
    ([4, 6], [6, 4], [((0, 1), (0, 1))]),
    ([1, 4, 1], [4], [((0, 1, 2), (0,))]),
    ([4], [1, 4, 1, 1], [((0,), (0, 1, 2, 3))]),
    ([2, 1, 3], [2, 3], [((0,), (0,)), ((1, 2), (1,))]),
    ([BATCH, 16, 8], [BATCH, 16, 2, 4], [((0,), (0,)), ((1,), (1,)), ((2,), (2, 3))]),
    ([BATCH, 16, 8], [Size(16, ("batch",)), 8], [((0, 1), (0,)), ((2,), (1,))]),
    ([Size(4, ("batch",))], [BATCH, 4], [((0,), (0, 1))]),
    ([1, 1], [], [((0, 1), ())]),
])
def test_reshapes(old, new, groups):
    found = _sizes.reshape_groups(old, new)
    assert [(tuple(a), tuple(b)) for a, b in found] == groups


def test_reshapes_of_other_sizes():
    with pytest.raises(ValueError, match=r"\[4, 6\] and \[5, batch\]"):
        _sizes.reshape_groups([4, 6], [5, BATCH])


@pytest.mark.parametrize("value,element,text", [
    (1, "f32", "1.0 : f32"), (1e-12, "f32", "1.0e-12 : f32"), (True, "i1", "true"),
    (float("-inf"), "f32", "0xFF800000 : f32"), (3, "i64", "3 : i64"),
    (float("inf"), "f16", "0x7C00 : f16"), (float("inf"), "bf16", "0x7F80 : bf16"),
    (1.5e300, "f64", "1.5e+300 : f64"),
])
def test_literals(value, element, text):
    assert literal(value, element) == text


def compiled(fn, *results):
    return nm.compile(fn.text(results), opt_level=1)


def test_a_function_of_any_batch():
    fn = FunctionText("scaled")
    x = fn.argument([BATCH, 6], "f32")
    wide = fn.reshape(x, [BATCH, 2, 3])
    sums = fn.reduce([wide], [1], 0, "f32", lambda body, x, total: body.sum(total, x))

    def code(body: Body, s):
        return body.mul(s, body.cast(body.loop(1), "f32"))

    module = compiled(fn, fn.elementwise([sums], sums.shape, "f32", code))
    for batch in (1, 5):
        given = np.arange(6 * batch, dtype=np.float32).reshape(batch, 6)
        expected = given.reshape(batch, 2, 3).sum(1) * np.arange(3)
        np.testing.assert_array_equal(module(given), expected)


def test_places():
    fn = FunctionText("places")
    x = fn.argument([4, 5], "i32")
    parts = [fn.slice(x, 1, 1, 2, 2), fn.slice(x, 1, 4, 1)]
    joined = fn.concatenate(parts, 1, [4, 3])
    padded = fn.insert(joined, fn.fill(-1, [5, 3], "i32"), [1, 0])
    given = np.arange(20, dtype=np.int32).reshape(4, 5)
    got = compiled(fn, fn.transpose(padded, [1, 0]))(given)
    expected = np.full((5, 3), -1)
    expected[1:] = given[:, [1, 3, 4]]
    np.testing.assert_array_equal(got, expected.T)


def test_casts():
    fn = FunctionText("casts")
    x = fn.argument([6], "f32")
    kinds = ["f64", "f16", "bf16", "i64", "i32", "i8", "i1"]
    there = [fn.elementwise([x], [6], kind, lambda body, x, kind=kind: body.cast(
        x, kind)) for kind in kinds]
    back = [fn.elementwise([y], [6], "f32", lambda body, y: body.cast(y, "f32"))
            for y in there]
    given = np.array([0, 1, -2, 3.75, -0.5, 100], np.float32)
    *floats, i64, i32, i8, i1 = compiled(fn, *back)(given)
    for each in floats:
        np.testing.assert_array_equal(each, given)
    for each in (i64, i32, i8):
        np.testing.assert_array_equal(each, np.trunc(given))
    np.testing.assert_array_equal(i1, given != 0)


def test_names_of_resources():
    fn = FunctionText("f")
    fn.resource('odd "name" \\', (2,), "f32")
    assert r'dense_resource<"odd \"name\" \\">' in fn.text([])
