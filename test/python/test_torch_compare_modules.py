"""What scripts/compare-modules draws, names and says, beside the times themselves, which need a device."""

import math
import re
from types import SimpleNamespace

import nm
import pytest

torch = pytest.importorskip("torch")
from conftest import load_script  # noqa: E402
from nm._module import TensorType  # noqa: E402
from nm._pattern import read_pattern  # noqa: E402


@pytest.fixture(scope="module")
def script():
    module = load_script("compare-modules")
    module.DEVICE = "cpu"
    return module


def function(a, b, pattern, c, dtype="f16"):
    return SimpleNamespace(args=(TensorType(dtype, a), TensorType(dtype, b, read_pattern(pattern))),
                           results=(TensorType("f32", c),))


@pytest.mark.parametrize("a, b, c, m_major, name", [
    ((16, 64), (64, 32), (16, 32), None, "16x32x64 2:4 f16 to f32"),
    ((64, 16), (64, 32), (16, 32), "k-major", "16x32x64 2:4 f16 m-major to f32"),
    ((64,), (64, 32), (32,), None, "1x32x64 2:4 f16 to f32"),
])
def test_a_product_is_named_alike_in_both_folders(script, a, b, c, m_major, name):
    assert script.name_of(function(a, b, "2:4", c), m_major) == name


@pytest.mark.parametrize("dtype", ["f32", "f16", "i8", "f8E4M3FN"])
@pytest.mark.parametrize("pattern, shape", [
    ("2:4", (64, 32)), ("6:24", (100, 30)), ("8:32, block = 1x32", (128, 70)), ("2:8, block = 4x4", (70, 37))])
def test_drawn_weights_have_their_pattern_and_no_fewer_places(script, dtype, pattern, shape):
    read = read_pattern(pattern)
    weight = script.draw_weight(shape, read, dtype, torch.Generator().manual_seed(1))
    assert tuple(weight.shape) == shape and weight.dtype == script.TYPES[dtype]
    # Raises where a window has too many.
    nm.compress(weight, read)
    share = float((weight.double() != 0).double().mean())
    # A ninth of the integers is zero, and the last window may lack rows.
    assert 0.7 * read.n / read.m <= share <= 1.35 * read.n / read.m


def test_errors_are_infinite_where_a_result_was_not_written(script):
    expected = torch.ones(4, dtype=torch.float64)
    assert script.error_of(expected, expected) == 0
    assert script.error_of(torch.tensor([1, 1, 1, math.nan]).double(), expected) == math.inf


def test_products_that_are_slower_are_said(script, capsys):
    rows = [{"product": name, "before_us": "10", "after_us": "x", "before / after": ratio,
             "strategy before": "wgmma", "strategy after": "cublas"}
            for name, ratio in (("fast", "1.200"), ("even", "0.980"), ("slow", "0.900"))]
    assert [row["product"] for row in script.summarize(rows, 1.03)] == ["slow"]
    said = capsys.readouterr().out
    assert re.search("3 products: .* mean 1.019, 0.900 to 1.200", said)
    assert "more than 3 % slower: 1" in said and "slow 10 -> x wgmma -> cublas" in said
