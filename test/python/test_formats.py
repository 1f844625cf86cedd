"""nm.check, nm.prune, nm.compress, nm.detect and nm.SparseTensor."""

import math
import warnings

import nm
import numpy as np
import pytest


def test_check_holds(draw):
    w = draw.weight((16, 6), "2:4")
    w[0, 0] = -0.0
    report = nm.check(w, "2:4", axis=0)
    assert report and report.holds and report.violations == 0
    assert report.windows == 24 and report.elements == 96
    assert report.non_zeros == np.count_nonzero(w)
    assert report.negative_zeros == np.sum(np.signbit(w) & (w == 0))
    assert report.sparsity == 1 - np.count_nonzero(w) / 96
    assert report.first_violation is None


def test_check_names_the_first_bad_window(draw):
    w = draw.weight((6, 16), "2:4", axis=1)
    w[3, 8:11] = 1
    w[3, 11] = 0
    w[5, :] = 1
    report = nm.check(w, "2:4", axis=1, name="layer.3")
    assert not report and report.violations == 5
    assert report.first_violation == nm.Window((3, 4), (8, 12), 3)
    assert "'layer.3'" in report.message
    assert "3 in column 3, k 8..11" in report.message
    assert report.to_dict()["pattern"] == "2:4, dim = 1"


@pytest.mark.parametrize("pattern,block,axis,shape", [
    ("1:4", None, 0, (17, 5)), ("8:32", (1, 16), 0, (70, 37)),
    ("1:2", "4x4", 1, (19, 21)), ("3:5", (2, 3), 1, (8, 23)),
])
def test_prune_compress_decompress(draw, pattern, block, axis, shape):
    dense = draw.array(*shape)
    assert not nm.check(dense, pattern, block, axis)
    pruned, report = nm.prune(dense, pattern, block, axis)
    assert nm.check(pruned, pattern, block, axis)
    assert report.non_zeros == dense.size
    assert report.dropped == dense.size - np.count_nonzero(pruned)
    energy = np.sum(np.square(dense - pruned, dtype=np.float64)) / np.sum(
        np.square(dense, dtype=np.float64))
    assert math.isclose(report.dropped_energy, energy, rel_tol=1e-5)
    assert math.isclose(report.relative_error, math.sqrt(energy), rel_tol=1e-5)
    w = nm.compress(pruned, pattern, block, axis)
    assert w.shape == shape and w.dtype == "f32" and w.pattern.axis == axis
    np.testing.assert_array_equal(w.decompress(), pruned)


def test_prune_measures_the_error_on_activations(draw):
    dense, x = draw.array(6, 32), draw.array(3, 10, 32)
    pruned, report = nm.prune(dense, "2:4", axis=1, activations=x)
    exact = x.astype(np.float64) @ dense.T
    expected = np.linalg.norm(exact - x.astype(np.float64) @ pruned.T)
    assert report.measured
    assert math.isclose(report.relative_error, expected / np.linalg.norm(exact),
                        rel_tol=1e-6)


def test_strided_and_read_only_weights(draw):
    wide = draw.weight((16, 12), "2:4")
    wide.setflags(write=False)
    for view, axis in ((wide, 0), (wide.T, 1), (wide[:, ::2], 0),
                       (wide[:, ::-1], 0)):
        w = nm.compress(view, "2:4", axis=axis)
        np.testing.assert_array_equal(w.decompress(), view)


@pytest.mark.parametrize("dtype", ["f16", "i8", "bf16", "f8E4M3FN", "f8E5M2"])
def test_element_types(draw, dtype):
    if dtype in ("bf16", "f8E4M3FN", "f8E5M2"):
        ml_dtypes = pytest.importorskip("ml_dtypes")
        kind = {"bf16": ml_dtypes.bfloat16,
                "f8E4M3FN": ml_dtypes.float8_e4m3fn,
                "f8E5M2": ml_dtypes.float8_e5m2}[dtype]
    else:
        kind = {"f16": np.float16, "i8": np.int8}[dtype]
    dense = draw.weight((16, 8), "2:4", dtype=kind)
    w = nm.compress(dense, "2:4", axis=0)
    assert w.dtype == dtype and w.values.dtype == dense.dtype
    assert w.decompress().tobytes() == dense.tobytes()


def test_compress_refuses_and_hints(draw):
    w = draw.weight((8, 16), "2:4", axis=1)
    with pytest.raises(nm.PatternError, match=r"axis=1 takes .*\[n, k\]"):
        nm.compress(w, "2:4", name="fc1", axis=0)
    dense = draw.array(8, 16)
    with pytest.raises(nm.PatternError, match="'fc1'.*nm.prune makes"):
        nm.compress(dense, "2:4", name="fc1", axis=0)


@pytest.mark.parametrize("call,error,text", [
    (lambda w: nm.check(w, "4 of 2"), nm.PatternError, "expected a pattern like"),
    (lambda w: nm.check(w, "5:4", axis=0), nm.PatternError, "expected 1 <= N <= M"),
    (lambda w: nm.check(w, "2:4", axis=2), nm.PatternError, "axis 0 or 1"),
    (lambda w: nm.check(w, "2:4", block="big"), nm.PatternError, "a block like"),
    (lambda w: nm.check(w, "2:4, dim = 1", axis=0), nm.PatternError, "one axis"),
    (lambda w: nm.check(w, 24, axis=0), nm.PatternError, "a text like '2:4'"),
    (lambda w: nm.check(w[0], "2:4", axis=0), nm.ShapeError, "2 dimensions"),
    (lambda w: nm.check(w.astype(complex), "2:4", axis=0), nm.DTypeError, "complex128"),
    (lambda w: nm.check([[1.0]], "2:4", axis=0), TypeError, "__dlpack__"),
    (lambda w: nm.compress(w.astype(np.float64), "2:4", axis=0), nm.DTypeError, "f64"),
])
def test_errors(draw, call, error, text):
    with pytest.raises(error, match=text):
        call(draw.weight((8, 8), "2:4"))


def test_detect(draw):
    pattern, reason = nm.detect(draw.weight((64, 32), "4:16", block=(1, 8)), axis=0)
    assert pattern == nm.Pattern(4, 16, (1, 8), 0) and reason
    assert nm.detect(draw.array(64, 32), axis=0)[0] is None
    assert nm.detect(draw.weight((64, 32), "2:4"), min_sparsity=0.6, axis=0)[0] is None


def test_parts_are_verified(draw):
    w = nm.compress(draw.weight((8, 3), "2:4"), "2:4", axis=0)
    again = nm.SparseTensor(w.values, w.indices, (8, 3), "2:4, dim = 0")
    np.testing.assert_array_equal(again.decompress(), w.decompress())
    bad = w.indices.copy()
    bad[1] = bad[0]
    with pytest.raises(nm.PatternError, match="indices.*k 0"):
        nm.SparseTensor(w.values, bad, (8, 3), "2:4, dim = 0")
    with pytest.raises(nm.PatternError, match="expected"):
        nm.SparseTensor(w.values[:2], w.indices, (8, 3), "2:4, dim = 0")
    with pytest.raises(nm.DTypeError, match="uint8 or int8"):
        nm.SparseTensor(w.values, w.indices.astype(int), (8, 3), "2:4, dim = 0")


def test_pattern_text():
    pattern = nm.Pattern(8, 32, (1, 16), 1)
    assert str(pattern) == "8:32, block = 1x16, dim = 1"
    assert pattern.describe().endswith("(75 % sparse)")
    assert pattern.sparsity == 0.75


def test_pruned_is_a_pair(draw):
    pruned = nm.prune(draw.array(8, 8), "2:4", axis=1)
    assert len(pruned) == 2 and pruned[-1] is pruned.report
    assert pruned[0] is pruned.weight and pruned[:1] == (pruned.weight,)
    with pytest.raises(IndexError):
        pruned[2]


@pytest.fixture
def untold(monkeypatch):
    """As in a process that the change of the default was not told to."""
    monkeypatch.setattr(nm._pattern, "_announced", False)


def square_weight(axis):
    """2:4 along `axis` and not along the other."""
    weight = np.zeros((8, 8), np.float32)
    weight[:, ::2] = np.arange(1, 33).reshape(8, 4)
    return weight if axis == 1 else weight.T.copy()


@pytest.mark.parametrize("call", [
    lambda w: nm.prune(w, "1:4"), lambda w: nm.check(w, "2:4"), nm.detect,
    lambda w: nm.Pattern(2, 4),
    lambda w: nm.compress(np.eye(8, dtype=np.float32), "2:4"),
    lambda w: nm.SparseTensor(np.ones((4, 8), np.float32), np.array(
        [[0] * 8, [1] * 8] * 2, np.uint8), (8, 8), "2:4")])
def test_k_is_last_and_the_change_is_told_once(untold, call):
    w = square_weight(1)
    with pytest.warns(nm.AxisWarning, match=r"is \[out, in\]") as told:
        call(w)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(w)


def test_k_is_last_without_a_warning_where_nothing_changes(untold):
    weight = square_weight(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Before, this was refused.
        assert nm.compress(weight, "2:4").pattern == nm.Pattern(2, 4, axis=1)
        assert nm.check(np.eye(8), "2:4").pattern.axis == 1
        assert nm.detect(np.ones((8, 8)))[0] is None
        assert nm.prune(np.eye(8), "2:4").report.pattern.axis == 1
        for pattern in ("2:4, dim = 0", nm.Pattern(2, 4, axis=0)):
            assert nm.prune(weight, pattern).report.pattern.axis == 0
        with pytest.raises(nm.PatternError, match=r"axis=0 takes the weight as \[k, n\]"):
            nm.compress(square_weight(0), "2:4")


def test_k_is_last_by_default(untold):
    with pytest.warns(nm.AxisWarning):
        pruned, report = nm.prune(square_weight(1), "2:4")
    np.testing.assert_array_equal(pruned, square_weight(1))
    assert report.dropped == 0 and report.pattern.axis == 1
