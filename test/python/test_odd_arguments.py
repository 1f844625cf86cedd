"""Arguments that are nearly right: each is refused with a reason, or taken as it is
meant; none is cut, wrapped or written to a copy without a word."""

import nm
import numpy as np
import pytest
from conftest import reference, relative_error
from test_modules import TWO


@pytest.fixture
def dense(draw):
    return draw.weight((64, 32), "2:4")


@pytest.mark.parametrize("numbers", [
    (2 ** 64 + 2, 4), (2.0, 4), ("2", 4), (None, 4), (2, 4, (1,)), (2, 4, 5),
    (2, 4, (1, 1, 1)), (2, 4, (1.5, 1)), (2, 4, (2 ** 64 + 1, 1)),
    (2, 4, (1, 1), 2), (2, 4, (1, 1), -1)])
def test_patterns_of_other_numbers(numbers):
    with pytest.raises(nm.PatternError, match="expected"):
        nm.Pattern(*numbers)


def test_patterns_of_numpy():
    pattern = nm.Pattern(np.int64(2), np.int8(4), [np.int32(1), 1], np.int8(0))
    same = nm.Pattern(2, 4, axis=0)
    assert pattern == same and hash(pattern) == hash(same)


@pytest.mark.parametrize("text", ["2:4\0", "2:4\0, dim = 1", "\ud800", "2:4\n"])
def test_pattern_texts_that_c_would_cut(dense, text):
    with pytest.raises(nm.PatternError, match="expected a pattern"):
        nm.check(dense, text, axis=0)


@pytest.mark.parametrize("block", [(1.5, 32), "1_0x1", "1x32x1", "x", "", 5,
                                   (2 ** 64 + 1, 1)])
def test_odd_blocks(dense, block):
    with pytest.raises(nm.PatternError, match="expected a block"):
        nm.check(dense, "2:4", block=block, axis=0)


@pytest.mark.parametrize("axis", [2, 5, "1", 2 ** 70])
def test_odd_axes(dense, axis):
    for call in (lambda: nm.check(dense, "2:4", axis=axis),
                 lambda: nm.detect(dense, axis=axis)):
        with pytest.raises(nm.PatternError, match="expected axis 0 or 1"):
            call()


def test_odd_weights(dense):
    for array in (dense.astype(">f4"), dense.astype(object), dense != 0,
                  dense.astype(complex)):
        for call in (nm.check, nm.prune, nm.compress):
            with pytest.raises(nm.DTypeError, match="expected elements"):
                call(array, "2:4")
    with pytest.raises(TypeError, match="without a mask"):
        nm.compress(np.ma.masked_array(dense), "2:4", axis=0)
    with pytest.raises(nm.PatternError, match=r"'a\?b\?'"):
        nm.compress(np.ones((4, 4), np.float32), "2:4", name="a\0b\ud800", axis=0)
    with pytest.raises(nm.ShapeError, match="expected activations"):
        nm.prune(dense, "2:4", activations=np.float32(1), axis=0)
    with pytest.raises(nm.PatternError, match="min_sparsity"):
        nm.detect(dense, min_sparsity=float("nan"), axis=0)
    for strided in (dense[::-1, ::-1], np.asfortranarray(dense), odd_copy(dense),
                    at_odd_address(dense)):
        assert np.array_equal(nm.compress(strided, "2:4", axis=0).decompress(), strided)
        assert np.array_equal(nm.prune(strided, "2:4", axis=0).weight, strided)


def odd_copy(array):
    """A copy with strides that are no multiple of an element."""
    width = array.itemsize + 1
    other = np.ndarray(array.shape, array.dtype, bytearray(array.size * width + 1),
                       1, (array.shape[1] * width, width))
    other[...] = array
    return other


def at_odd_address(array):
    other = np.ndarray(array.shape, array.dtype, bytearray(array.nbytes + 1), 1)
    other[...] = array
    return other


@pytest.mark.parametrize("change", [
    lambda v: v.astype(">f4"), lambda v: v.view(np.int32), lambda v: v.tolist(),
    lambda v: v.astype(np.float16)])
def test_parts_of_another_type(dense, change):
    w = nm.compress(dense, "2:4", axis=0)
    assert nm.SparseTensor(w.values.view(np.uint32), w.indices, w.shape, "2:4, dim = 0",
                           "f32").dtype == "f32"
    with pytest.raises(nm.DTypeError, match="expected values of f32"):
        nm.SparseTensor(change(w.values), w.indices, w.shape, "2:4, dim = 0", "f32")


@pytest.mark.parametrize("shape", [(2 ** 64 + 64, 32), (-64, 32), (64.0, 32), 64,
                                   (64, 32, 1), None])
def test_parts_of_another_shape(dense, shape):
    w = nm.compress(dense, "2:4", axis=0)
    with pytest.raises(nm.ShapeError, match="expected"):
        nm.SparseTensor(w.values, w.indices, shape, "2:4, dim = 0")


def test_saved_weights_are_condensed(dense, tmp_path):
    with pytest.raises(TypeError, match="expected a to be an nm.SparseTensor"):
        nm.save_weights(tmp_path / "w.safetensors", {"a": dense})


def test_scales(draw, dense):
    w, x = nm.compress(dense, "2:4", axis=0), draw.array(3, 64)
    exact = reference(x, dense, 0, scale=2)
    for scale in (2, 2.0, np.float32(2), np.int64(2), np.full(32, 2, np.float32)):
        assert relative_error(nm.matmul(x, w, scale=scale), exact) < 1e-6
    # A call like these is known by now.
    for scale in (float("nan"), float("inf"), 1e40, 10 ** 400, np.float32("nan"),
                  np.full(32, np.nan, np.float32)):
        with pytest.raises(nm.Error, match="expected (a )?finite scale"):
            nm.matmul(x, w, scale=scale)
        with pytest.raises(nm.Error, match="expected (a )?finite scale"):
            nm.prepare(x, w, scale=scale)


def test_odd_arrays(draw, dense):
    w, x = nm.compress(dense, "2:4", axis=0), draw.array(3, 64)
    expected = nm.matmul(x, w)
    for array in (odd_copy(x), at_odd_address(x), np.asfortranarray(x), np.repeat(x, 2, 1)[:, ::2]):
        assert np.array_equal(nm.matmul(array, w), expected)
        out = odd_copy(np.zeros_like(expected))
        assert nm.matmul(array, w, out=out) is out
        assert np.array_equal(out, expected)


def test_results_share_no_memory(draw):
    module = nm.compile(TWO.partition("func.func @same")[0])
    x, whole = draw.array(4), np.zeros(8, np.float32)
    for out in ((whole[:4], whole[:4]), (whole[:4], whole[2:6])):
        with pytest.raises(nm.Error, match="0 and 1 share memory"):
            module(x, out=out)
    total, square = module(x, out=(whole[:4], whole[4:]))
    assert np.array_equal(total, 2 * x) and np.array_equal(square, x * x)
    # The argument is read until all results are there.
    y = x.copy()
    module(y, out=(y, whole[4:]))
    assert np.array_equal(whole[4:], x * x)


def test_odd_compilations(dense):
    with pytest.raises(nm.Error, match="nm.lower"):
        nm.compile(TWO, emit="nm")
    for target in ("cpu\0x", 5, None):
        with pytest.raises(nm.CompileError, match="unknown target"):
            nm.compile(TWO, target)
    with pytest.raises(nm.CompileError):
        nm.compile("\ud800\n")
    w = nm.compress(dense, "2:4", axis=0)
    for rows in (-1, True, 1.5, "1", [1, "2"]):
        with pytest.raises(nm.ShapeError, match="numbers of rows"):
            nm.precompile(w, rows)


def test_numbers_of_threads():
    default = nm.get_num_threads()
    # As an integer of C it would be 1.
    nm.set_num_threads(1 - 2 ** 32)
    assert nm.get_num_threads() == default
    with pytest.raises(TypeError):
        nm.set_num_threads(1.5)


def strided(shape, strides, offset=0):
    memory = np.zeros(64, np.float32)
    return np.lib.stride_tricks.as_strided(memory[offset:], shape, strides)


@pytest.mark.parametrize("strides", [(0, 4), (4, 4), (8, 4), (12, 0), (2, 20), (-4, 4)])
def test_out_must_have_memory_for_each_element(draw, strides):
    w = nm.compress(draw.weight((8, 4), "2:4"), "2:4", axis=0)
    x = np.ones((3, 8), np.float32)
    out = strided((3, 4), strides, 8)
    for call in (lambda: nm.matmul(x, w, out=out), lambda: nm.prepare(x, w)(x, out)):
        with pytest.raises(nm.Error, match="memory of its own for each element"):
            call()
    assert not out.any()


@pytest.mark.parametrize("strides", [
    (16, 4), (4, 12), (32, 8), (8, 28), (-16, 4), (18, 4), (8, 12)])
def test_out_may_have_any_other_strides(draw, strides):
    w = nm.compress(draw.weight((8, 2), "2:4"), "2:4", axis=0)
    x = draw.array(3, 8)
    out = strided((3, 2), strides, 16)
    np.testing.assert_array_equal(nm.matmul(x, w, out=out), nm.matmul(x, w))


class Interface:
    def __init__(self, **parts):
        self.__array_interface__ = {"shape": (3, 8), "typestr": "<f4", "version": 3,
                                    **parts}


def test_interfaces_without_memory(draw):
    w = nm.compress(draw.weight((8, 4), "2:4"), "2:4", axis=0)
    null = Interface(data=(0, False))
    for call in (lambda: nm.matmul(null, w), lambda: nm.check(null, "2:4", axis=0),
                 lambda: nm.matmul(np.ones((3, 8), np.float32), w, out=null)):
        with pytest.raises(nm.Error, match=r"null pointer, with shape \(3, 8\)"):
            call()
    with pytest.raises(nm.Error, match="that of Interface does not"):
        nm.matmul(Interface(data=None), w)
    empty = Interface(data=(0, False), shape=(0, 8))
    assert nm.matmul(empty, w).shape == (0, 4)
