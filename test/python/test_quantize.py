"""nm.quantize, and a compiled product of what it gives."""

import nm
import numpy as np
import pytest

TEXT = """
#q = affine_map<(k, n) -> (k, n)>
func.func @layer(%a: tensor<?x200xf16>, %q: tensor<200x48xi8, #nm.encoding<2:4>>,
                 %s: tensor<7x48xf16>, %c: tensor<?x48xf16>) -> tensor<?x48xf16> {
  %e = tensor.empty() : tensor<200x48xf16>
  %w = linalg.generic {indexing_maps = [#q, affine_map<(k, n) -> (k floordiv 32, n)>, #q],
                       iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<200x48xi8, #nm.encoding<2:4>>, tensor<7x48xf16>)
      outs(%e : tensor<200x48xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    TRUNCATE
    %exact = arith.sitofp %bits : TYPE to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<200x48xf16>
  %r = linalg.matmul ins(%a, %w : tensor<?x200xf16>, tensor<200x48xf16>)
      outs(%c : tensor<?x48xf16>) -> tensor<?x48xf16>
  return %r : tensor<?x48xf16>
}
"""


def text_of(bits):
    if bits == 8:
        return (TEXT.replace("TRUNCATE", "").replace("%bits :", "%value :")
                .replace("TYPE", "i8"))
    return (TEXT.replace("TRUNCATE", "%bits = arith.trunci %value : i8 to i4")
            .replace("TYPE", "i4"))


def dequantized(values, scales, group):
    every = np.repeat(scales, group, axis=0)[:len(values)]
    return (values.astype(scales.dtype) * every).astype(np.float64)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("axis", [0, 1])
def test_values_are_within_half_a_step(draw, bits, axis):
    weight = draw.weight((200, 48) if axis == 0 else (48, 200), "2:4", axis=axis)
    weight[:, 0] = 0
    values, scales = nm.quantize(weight, bits, 32, axis)
    assert values.dtype == np.int8 and scales.dtype == weight.dtype
    assert scales.shape == ((7, 48) if axis == 0 else (48, 7))
    assert np.all(values[weight == 0] == 0)
    assert np.abs(values).max() == 2 ** (bits - 1) - 1
    if axis == 1:
        weight, values, scales = weight.T, values.T, scales.T
    step = np.repeat(scales, 32, axis=0)[:200]
    assert np.all(np.abs(weight - values * step) <= 0.5001 * step + 1e-12)
    nm.compress(np.ascontiguousarray(values), "2:4", axis=0)


def test_tensors_are_quantized_as_arrays_are(draw):
    torch = pytest.importorskip("torch")
    weight = draw.array(100, 24)
    for axis in (0, 1):
        ours, theirs = nm.quantize(weight, 4, 48, axis), nm.quantize(
            torch.from_numpy(weight), 4, 48, axis)
        assert np.array_equal(ours.values, theirs.values.numpy())
        assert np.array_equal(ours.scales, theirs.scales.numpy())


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a"])
@pytest.mark.parametrize("bits", [4, 8])
def test_products_of_what_it_gives(draw, target, bits):
    weight = draw.weight((200, 48), "2:4", dtype=np.float16)
    values, scales = nm.quantize(weight, bits, 32)
    layer = nm.compile(text_of(bits), target=target)["layer"]
    x, c = draw.array(5, 200, dtype=np.float16), draw.array(5, 48, dtype=np.float16)
    y = layer(x, nm.compress(values, "2:4", axis=0), scales, c)
    expected = x.astype(np.float64) @ dequantized(values, scales, 32) + c
    error = np.abs(y - expected).max() / np.abs(expected).max()
    assert error < 2e-3


@pytest.mark.parametrize("given, message", [
    ({"bits": 5}, "expected 4 or 8 bits, but got 5"),
    ({"group": 0}, "expected a group of at least one row of k, but got 0"),
    ({"axis": 2}, "expected axis 0 or 1, the one that k is, but got 2"),
])
def test_refusals(draw, given, message):
    with pytest.raises(nm.Error, match=message):
        nm.quantize(draw.array(8, 8), **given)


def test_refusals_of_arrays(draw):
    with pytest.raises(nm.DTypeError, match="expected a weight of .*, but got int8"):
        nm.quantize(draw.array(8, 8, dtype=np.int8))
    with pytest.raises(nm.ShapeError, match="expected a weight of two dimensions"):
        nm.quantize(draw.array(8))
