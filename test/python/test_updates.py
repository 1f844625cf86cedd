"""Arguments that a function updates in place, on memory of the caller, and
tensor.scatter. Drawn afresh; NM_TEST_SEED repeats a run."""

import os

import nm
import numpy as np
import pytest

SEED = int(os.environ.get("NM_TEST_SEED", np.random.SeedSequence().entropy % 2 ** 31))
TARGETS = ["cpu", "sim:sm_80"]
ELEMENTS = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i64": np.int64}


def text_of(shape, dim, rows, element, index="i64"):
    """Slices of `x` go to places `p` of dimension `dim` of an argument, whose elements
    are the result."""
    def sizes(shape):
        return "x".join(map(str, shape))
    source = [rows, *shape[:dim], 1, *shape[dim + 1:]]
    full, part = (f"tensor<{sizes(s)}x{element}>" for s in (shape, source))
    return f"""
func.func @f(%x: {part}, %p: tensor<{rows}x1x{index}>,
             %c: memref<{sizes(shape)}x{element}>) -> {full} {{
  %t = bufferization.to_tensor %c restrict writable
    : memref<{sizes(shape)}x{element}> to {full}
  %u = tensor.scatter %x into %t[%p] scatter_dims([{dim}]) unique
    : ({part}, {full}, tensor<{rows}x1x{index}>) -> {full}
  bufferization.materialize_in_destination %u in restrict writable %c
    : ({full}, memref<{sizes(shape)}x{element}>) -> ()
  return %u : {full}
}}"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element", ELEMENTS)
def test_scatter(target, element):
    rng = np.random.default_rng(SEED)
    shape = tuple(int(size) for size in rng.integers(1, 9, size=rng.integers(1, 5)))
    dim = int(rng.integers(len(shape)))
    rows = int(rng.integers(1, shape[dim] + 1))
    function = nm.compile(text_of(shape, dim, rows, element), target).only_function()
    for _ in range(3):
        before = rng.integers(-9, 9, shape).astype(ELEMENTS[element])
        x = rng.integers(-9, 9, (rows, *shape[:dim], 1, *shape[dim + 1:])).astype(
            ELEMENTS[element])
        places = rng.permutation(shape[dim])[:rows]
        cache, expected = before.copy(), before.copy()
        for place, part in zip(places, x):
            expected[(slice(None),) * dim + (slice(place, place + 1),)] = part
        result = function(x, places[:, None], cache)
        np.testing.assert_array_equal(cache, expected)
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("target", TARGETS)
def test_one_element(target):
    """Its loop has one iteration, which folds."""
    function = nm.compile(text_of((1, 4, 1), 1, 1, "f32"), target).only_function()
    cache = np.arange(4, dtype=np.float32).reshape(1, 4, 1)
    result = function(np.full((1, 1, 1, 1), 7, np.float32), np.array([[2]]), cache)
    np.testing.assert_array_equal(cache.ravel(), [0, 1, 7, 3])
    np.testing.assert_array_equal(result, cache)
    with pytest.raises(nm.Error, match="but got 4"):
        function(np.zeros((1, 1, 1, 1), np.float32), np.array([[4]]), cache)
    np.testing.assert_array_equal(cache.ravel(), [0, 1, 7, 3])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("index", ["i64", "i32"])
def test_a_place_outside_fails_and_writes_nothing(target, index):
    function = nm.compile(text_of((4, 3), 0, 2, "f32", index), target).only_function()
    cache = np.arange(12, dtype=np.float32).reshape(4, 3)
    for bad in (4, -1, 100):
        places = np.array([[1], [bad]], dtype=index.replace("i", "int"))
        with pytest.raises(nm.Error, match=f"index from 0 to below 4 in dimension 0, but "
                                           f"got {bad}"):
            function(np.full((2, 1, 3), 7, np.float32), places, cache)
        np.testing.assert_array_equal(cache[[0, 2, 3]],
                                      np.arange(12).reshape(4, 3)[[0, 2, 3]])


@pytest.mark.parametrize("target", TARGETS)
def test_memory_that_cannot_be_updated(target):
    function = nm.compile(text_of((4, 3), 0, 1, "f32"), target).only_function()
    x, place = np.ones((1, 1, 3), np.float32), np.array([[2]])
    whole = np.zeros((4, 3), np.float32)
    function(x, place, whole)
    strided = np.zeros((4, 6), np.float32)[:, ::2]
    fixed = np.zeros((4, 3), np.float32)
    fixed.flags.writeable = False
    for wrong in (strided, fixed, np.zeros((3, 4), np.float32).T):
        with pytest.raises(nm.Error, match="in place"):
            function(x, place, wrong)
        assert not wrong.any()
    with pytest.raises(nm.Error, match="expected memref<4x3xf32>"):
        function(x, place, np.zeros((4, 3)))
    shared = np.zeros((5, 3), np.float32)
    with pytest.raises(nm.Error, match="memory of its own"):
        function(x, place, shared[:4], out=shared[1:])
    with pytest.raises(nm.Error, match="memory of its own"):
        function(shared[:1, None], place, shared[:4])
    assert not shared.any()


def test_an_argument_that_is_updated_says_so():
    module = nm.compile(text_of((4, 3), 0, 1, "f32"))
    function = module.only_function()
    assert [arg.updated for arg in function.args] == [False, False, True]
    assert str(function.args[2]) == "memref<4x3xf32>"
    with pytest.raises(nm.CompileError, match="update no argument with with-reference"):
        nm.compile(text_of((4, 3), 0, 1, "f32"), with_reference=True)
    with pytest.raises(nm.CompileError, match="or a row-major memref"):
        nm.compile("func.func @f(%c: memref<4xf32, strided<[2]>>) -> tensor<1xf32> {\n"
                   "%0 = tensor.empty() : tensor<1xf32>\nreturn %0 : tensor<1xf32>\n}")
